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

// h is needed again at the end, long after its first use; to make it again costs 10 ns, and without it there is room
// for the 4,096 bytes of `big`.
constexpr const char *kLongLived = R"(problem 1
levers order choose alias
link from=ram to=ssd bps=1000000000 latency=0
link from=ssd to=ram bps=1000000000 latency=0
buffer x kind=input bytes=64
buffer h bytes=65536
buffer a bytes=4096
buffer c bytes=4096
buffer big bytes=65536
buffer b bytes=4096
buffer y kind=output bytes=64
step h reads=0 writes=1
  candidate k ns=10
step a reads=1 writes=2
  candidate k ns=10
step c reads=2 writes=3
  candidate k ns=100000
step big reads=3 writes=4
  candidate k ns=100000
step b reads=4 writes=5
  candidate k ns=100000
step y reads=1,5 writes=6
  candidate k ns=10
)";

TEST_F(PlimSolve, LeversReplaceThoseOfTheProblem) {
  put("long", kLongLived);
  EXPECT_EQ(run({"fit", path("long"), "--ram", "80000"}), kOverBudget);
  EXPECT_THAT(err.str(), HasSubstr("with recompute the need is 69760 bytes: saves 65536; the budget is then met"));
  EXPECT_EQ(run({"fit", path("long"), "--ram=80000", "--levers=order,choose,alias,recompute"}), kDone) << err.str();
  EXPECT_THAT(out.str(), HasSubstr("1 steps run again"));
  EXPECT_THAT(out.str(), HasSubstr("predicted 300040 ns"));
  EXPECT_EQ(run({"fit", path("long"), "--levers", "-", "--ram", "160000"}), kDone) << err.str();
  EXPECT_EQ(run({"fit", path("long"), "--levers", "order,magic"}), kUsage);
  EXPECT_THAT(err.str(), HasSubstr("--levers: line 2: need the name of a lever, have 'magic'"));
}

TEST_F(PlimSolve, TheSsdIsUsedWhereItsBudgetIsGiven) {
  put("long", kLongLived);
  ASSERT_EQ(run({"fit", path("long"), "--ram", "80000", "--ssd", "256KiB", "-o", path("solution"), "--json"}), kDone)
      << err.str();
  auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["written"], 1);
  EXPECT_EQ(json["read"], 1);
  EXPECT_EQ(json["peak"]["ssd"], 65536);
  EXPECT_LE(json["peak"]["ram"], 80000);
  EXPECT_EQ(run({"fit", path("long"), "--ram", "80000", "--ssd", "16KiB"}), kOverBudget);
  EXPECT_THAT(err.str(), HasSubstr("with --ssd 64KiB the need is "));
}

TEST_F(PlimSolve, ASolutionIsCheckedUnderTheOptionsThatItWasMadeWith) {
  put("long", kLongLived);
  ASSERT_EQ(run({"fit", path("long"), "--ram", "80000", "--ssd", "256KiB", "-o", path("solution")}), kDone);
  EXPECT_EQ(run({"check", path("long"), path("solution")}), kBadInput) << "the problem gives no leave to spill";
  EXPECT_EQ(run({"check", path("long"), path("solution"), "--ram=80000", "--ssd=64KiB"}), kDone) << err.str();
  EXPECT_EQ(run({"check", path("long"), path("solution"), "--ram=80000", "--ssd=32KiB"}), kOverBudget);
  EXPECT_EQ(run({"check", path("long"), path("solution"), "--ram=60000", "--ssd=64KiB"}), kOverBudget);
  EXPECT_EQ(run({"check", path("long"), path("solution"), "--ram=80000,90000", "--ssd=64KiB"}), kUsage);
}

TEST_F(PlimSolve, SeveralBudgetsGetWhatEachOfThemGetsAlone) {
  put("long", kLongLived);
  const std::string levers = "--levers=order,choose,alias,recompute", budgets = "1000,69000,80000,200000";
  EXPECT_EQ(run({"fit", path("long"), "--ram", budgets, levers, "-o", path("plans"), "--json"}), kOverBudget);
  const auto all = nlohmann::json::parse(out.str());
  EXPECT_FALSE(all["ok"].get<bool>());
  ASSERT_EQ(all["budgets"].size(), 4u);
  for (const auto &one : all["budgets"]) {
    const std::string ram = std::to_string(one["budget"].get<int64_t>());
    const bool met = one["ok"].get<bool>();
    EXPECT_EQ(met, one["budget"] > 69760) << ram;
    EXPECT_EQ(run({"fit", path("long"), "--ram", ram, levers, "-o", path("alone"), "--json"}),
              met ? kDone : kOverBudget);
    const auto alone = nlohmann::json::parse(out.str());
    for (const char *key : {"ns", "peak", "need", "bound", "proved"})
      EXPECT_EQ(one.value(key, nlohmann::json()), alone.value(key, nlohmann::json())) << ram << " " << key;
    EXPECT_EQ(std::filesystem::exists(folder / "plans" / (ram + ".solution")), met);
    if (met)
      EXPECT_EQ(get(("plans/" + ram + ".solution").c_str()), get("alone"));
  }
  EXPECT_EQ(run({"fit", path("long"), "--ram", "80000,200000", levers}), kDone);
  EXPECT_THAT(out.str(), HasSubstr("          budget       ram bytes       ssd bytes    predicted ns\n"));
  EXPECT_EQ(run({"fit", path("long"), "--ram", "1000,80000", levers}), kOverBudget);
  EXPECT_THAT(out.str(), HasSubstr("            1000  refused: need 69760 bytes of ram, proved\n"));
  EXPECT_EQ(run({"fit", path("long"), "--ram", "80000,"}), kUsage);
}

TEST_F(PlimSolve, RefusalsSayWhatIsProved) {
  put("long", kLongLived);
  EXPECT_EQ(run({"fit", path("long"), "--ram", "100", "--json"}), kOverBudget);
  auto json = nlohmann::json::parse(out.str());
  EXPECT_TRUE(json["proved"].get<bool>());
  EXPECT_LE(json["bound"], json["need"]);
  EXPECT_THAT(err.str(), HasSubstr("proved: no plan fits: no plan needs less than "));
  EXPECT_EQ(run({"bound", path("long")}), kDone);
  EXPECT_THAT(out.str(), HasSubstr("no plan needs less than " + std::to_string(json["bound"].get<int64_t>())));
}

TEST_F(PlimSolve, TheCurveFallsFromTheSmallestBudgetToTheFastestPlan) {
  put("long", kLongLived);
  ASSERT_EQ(run({"curve", path("long"), "--levers", "order,choose,alias,recompute", "--json"}), kDone) << err.str();
  auto points = nlohmann::json::parse(out.str())["points"];
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0]["ns"], 300040);
  EXPECT_EQ(points[1]["ns"], 300030);
  EXPECT_LT(points[0]["ram"], points[1]["ram"]);
  EXPECT_EQ(run({"curve", path("long")}), kDone);
  EXPECT_THAT(out.str(), StartsWith("          budget       ram bytes       ssd bytes    predicted ns\n"));
}

TEST_F(PlimSolve, GeneratesProblemsThatItCanPlan) {
  for (const char *shape : {"gpt", "resnet", "unet", "layered", "stream"}) {
    ASSERT_EQ(run({"generate", "--shape", shape, "--ops", "100", "--seed", "7", "--read", "1.2GB", "-o", path("p")}),
              kDone)
        << err.str();
    EXPECT_THAT(out.str(), HasSubstr(" steps, "));
    EXPECT_EQ(run({"fit", path("p")}), kDone) << shape << err.str();
  }
  EXPECT_EQ(run({"generate", "--shape", "layered", "--ops", "20"}), kDone);
  EXPECT_THAT(out.str(), StartsWith("problem 1\n"));
  EXPECT_EQ(run({"generate"}), kUsage);
  EXPECT_EQ(run({"generate", "--shape", "cube"}), kUsage);
  EXPECT_THAT(err.str(), HasSubstr("--shape: need gpt, resnet, unet, layered or stream, have 'cube'"));
  EXPECT_EQ(run({"generate", "--shape", "gpt", "--ops", "-3"}), kUsage);
  EXPECT_THAT(err.str(), HasSubstr("--ops: need a number from 1 to 10000000, have '-3'"));
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
