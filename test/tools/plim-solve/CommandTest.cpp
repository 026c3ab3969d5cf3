//===- CommandTest.cpp - plim-solve: exit codes, messages, files -------------------------------===//
#include "tools/plim-solve/Command.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace plim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char *kProblem = R"(problem 1
tier ram capacity=4096
buffer x kind=input bytes=1024
buffer h bytes=1000
buffer y kind=output bytes=1024 source=/head
step first reads=0 writes=1
  candidate fast ns=10 shared=4096 label=algorithm=fast
  candidate small ns=30 label=algorithm=small
step second reads=1 writes=2 source="/head/Relu"
  candidate relu ns=5
)";

class PlimSolve : public testing::Test {
protected:
  std::filesystem::path folder;
  std::ostringstream out, err;

  void SetUp() override {
    folder = std::filesystem::temp_directory_path() /
             ("plim-solve-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    put("problem", kProblem);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path(const char *name) const { return (folder / name).string(); }
  void put(const char *name, const std::string &text) { std::ofstream(path(name)) << text; }
  std::string get(const char *name) const {
    std::stringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }
  int run(const std::vector<std::string> &args) {
    out.str(""), err.str("");
    return runPlimSolve(args, out, err);
  }
};

TEST_F(PlimSolve, FitWritesASolutionThatCheckAccepts) {
  EXPECT_EQ(run({"fit", path("problem"), "-o", path("solution")}), kDone) << err.str();
  EXPECT_THAT(out.str(), StartsWith("peak 3072 bytes of ram: arena 1024"));
  EXPECT_THAT(out.str(), HasSubstr("predicted 35 ns"));
  EXPECT_EQ(run({"check", path("problem"), path("solution")}), kDone) << err.str();
  EXPECT_EQ(out.str(), "sound: peak 3072 bytes of ram\n");
  EXPECT_FALSE(std::filesystem::exists(path("solution.part")));
}

TEST_F(PlimSolve, ALargerBudgetBuysTime) {
  EXPECT_EQ(run({"fit", path("problem"), "--ram", "8KiB", "--json"}), kDone);
  auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["ns"], 15);
  EXPECT_EQ(json["peak"]["ram"], 7168);
}

TEST_F(PlimSolve, RefusesWithTheSmallestBudget) {
  EXPECT_EQ(run({"fit", path("problem"), "--ram", "1KiB", "-o", path("solution")}), kOverBudget);
  EXPECT_THAT(err.str(), HasSubstr("need 3072 bytes, have 1024"));
  EXPECT_THAT(err.str(), HasSubstr("peaks at step 'first'"));
  EXPECT_FALSE(std::filesystem::exists(path("solution")));
  EXPECT_EQ(run({"fit", path("problem"), "--ram", "3072"}), kDone);
  EXPECT_EQ(run({"fit", path("problem"), "--ram", "3071", "--json"}), kOverBudget);
  auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["need"], 3072);
  EXPECT_EQ(json["alternatives"][0]["label"], "algorithm=small");
}

TEST_F(PlimSolve, CheckTellsUnsoundFromOverBudget) {
  ASSERT_EQ(run({"fit", path("problem"), "-o", path("solution")}), kDone);
  std::string text = get("solution");
  text.replace(text.find("ns 35"), 5, "ns 34");
  put("changed", text);
  EXPECT_EQ(run({"check", path("problem"), path("changed")}), kBadInput);
  EXPECT_THAT(err.str(), HasSubstr("predicted ns: need 35, have 34"));
  std::string smaller = kProblem;
  smaller.replace(smaller.find("4096"), 4, "3000");
  put("smaller", smaller);
  EXPECT_EQ(run({"check", path("smaller"), path("solution")}), kOverBudget);
  EXPECT_THAT(err.str(), HasSubstr("need a peak within 3000 bytes, have 3072"));
}

TEST_F(PlimSolve, PacksInstanceFiles) {
  put("a.csv", "id,lower,upper,size\nb0,0,2,4\nb1,1,3,4\nb2,2,4,4\n");
  EXPECT_EQ(run({"pack", path("a.csv"), "--capacity", "8", "-o", path("out.csv")}), kDone) << err.str();
  EXPECT_EQ(out.str(), "height 8, largest sum alive 8, ratio 1.00000\n");
  EXPECT_EQ(get("out.csv"), "id,lower,upper,size,offset\nb0,0,2,4,0\nb1,1,3,4,4\nb2,2,4,4,0\n");
  EXPECT_EQ(run({"pack", path("a.csv"), "--capacity", "7", "-o", path("none.csv")}), kOverBudget);
  EXPECT_THAT(err.str(), HasSubstr("need 8 bytes, have 7; what is alive at one time needs 8"));
  EXPECT_FALSE(std::filesystem::exists(path("none.csv")));
}

TEST_F(PlimSolve, ReportsUsageInputAndEnvironmentErrors) {
  EXPECT_EQ(run({}), kUsage);
  EXPECT_EQ(run({"solve"}), kUsage);
  EXPECT_EQ(run({"fit"}), kUsage);
  EXPECT_EQ(run({"fit", path("problem"), "--budget", "1"}), kUsage);
  EXPECT_EQ(run({"fit", path("problem"), "--ram"}), kUsage);
  for (const char *size : {"-1", "12XB", ""}) {
    EXPECT_EQ(run({"fit", path("problem"), "--ram", size}), kUsage) << size;
    EXPECT_THAT(err.str(), HasSubstr("--ram: need a size such as 512MiB"));
  }
  EXPECT_EQ(run({"fit", path("missing")}), kEnvironment);
  EXPECT_THAT(err.str(), HasSubstr("cannot read: No such file or directory"));
  EXPECT_EQ(run({"fit", path("problem"), "-o", path("no/such/folder")}), kEnvironment);
  EXPECT_THAT(err.str(), HasSubstr("cannot write"));
  put("bad", "problem 1\nstep s reads=9 writes=- \nnonsense\n");
  EXPECT_EQ(run({"fit", path("bad"), "--json"}), kBadInput);
  EXPECT_THAT(err.str(), HasSubstr("line 3: unknown line 'nonsense'"));
  EXPECT_FALSE(nlohmann::json::parse(out.str())["ok"].get<bool>());
  put("empty", "");
  EXPECT_EQ(run({"fit", path("empty")}), kBadInput);
  EXPECT_EQ(run({"--help"}), kDone);
  EXPECT_THAT(out.str(), StartsWith("plim-solve: "));
}

} // namespace
} // namespace plim
