//===- CommandTest.cpp - plim-mem: profiles are measured, shown and refused --------------------------===//
#include "tools/plim-mem/Command.h"
#include "compiler/Solver/Profile/MachineProfile.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <filesystem>
#include <fstream>
#include <sstream>

namespace plim {
namespace {

using testing::HasSubstr;

class PlimMem : public testing::Test {
protected:
  std::filesystem::path folder;
  std::ostringstream out, err;

  void SetUp() override {
    folder = std::filesystem::temp_directory_path() /
             ("plim-mem-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path(const char *name) const { return (folder / name).string(); }
  int run(const std::vector<std::string> &args) {
    out.str(""), err.str("");
    return runPlimMem(args, out, err);
  }
};

TEST_F(PlimMem, MeasuresAProfileThatCanBeReadAndLeavesNothingElse) {
  ASSERT_EQ(run({"profile", "-o", path("box.json"), "--quick"}), 0) << err.str();
  std::stringstream text;
  text << std::ifstream(path("box.json")).rdbuf();
  std::vector<std::string> errors;
  const auto profile = solver::parseProfile(text.str(), "box.json", errors);
  ASSERT_TRUE(profile) << errors.front();
  EXPECT_EQ(profile->name, "box");
  for (const char *family : {"matmul", "conv", "attention", "softmax", "norm", "elementwise", "reduce"})
    EXPECT_TRUE(profile->familyFlopsPerSecond.count(family)) << family;
  EXPECT_EQ(profile->flopsPerSecond, profile->familyFlopsPerSecond.at("matmul"));
  // What is measured is not what is built in.
  EXPECT_NE(profile->memoryBytesPerSecond, solver::MachineProfile().memoryBytesPerSecond);
  EXPECT_NE(profile->diskReadBytesPerSecond, solver::MachineProfile().diskReadBytesPerSecond);
  EXPECT_GT(profile->diskReadLatencyNs, 0);
  const auto files = std::distance(std::filesystem::directory_iterator(folder), {});
  EXPECT_EQ(files, 1);
  const std::string printed = out.str();
  EXPECT_THAT(printed, HasSubstr("profile box\n"));
  ASSERT_EQ(run({"show", path("box.json")}), 0);
  EXPECT_EQ(out.str().substr(0, 12), printed.substr(0, 12));
}

TEST_F(PlimMem, NamesTheProfileAsAsked) {
  ASSERT_EQ(run({"profile", "-o", path("a b.json"), "--quick"}), 1);
  EXPECT_THAT(err.str(), HasSubstr("--name: name: need 1 to 64 letters, digits and ._- , have \"a b\""));
  ASSERT_EQ(run({"profile", "-o", path("a b.json"), "--quick", "--name", "server-7"}), 0) << err.str();
  EXPECT_THAT(out.str(), HasSubstr("profile server-7\n"));
}

TEST_F(PlimMem, FoldersThatCannotBeMeasuredAreRefused) {
  EXPECT_EQ(run({"profile", "-o", path("p.json"), "--folder", path("none"), "--quick"}), 4);
  EXPECT_THAT(err.str(),
              HasSubstr("/none: cannot measure the disk: need a folder where a file can be written and read, "
                        "have: No such file or directory"));
  std::ofstream(path("file")) << "x";
  EXPECT_EQ(run({"profile", "-o", path("p.json"), "--folder", path("file"), "--quick"}), 4);
  EXPECT_FALSE(std::filesystem::exists(path("p.json")));
}

TEST_F(PlimMem, ShowsAllThatIsWrongWithAFile) {
  std::ofstream(path("bad.json")) << R"({"version": 1, "name": "x", "launch_ns": 0, "flops": {"default": 1e11},
    "memory": {"bytes_per_second": -1}, "disk": {}})";
  EXPECT_EQ(run({"show", path("bad.json")}), 2);
  EXPECT_THAT(err.str(), HasSubstr("bad.json: launch_ns: need a number in [1, 1e+09], have 0"));
  EXPECT_THAT(err.str(), HasSubstr("memory.bytes_per_second: need a number in [1e+06, 1e+15], have -1"));
  EXPECT_THAT(err.str(), HasSubstr("disk.write_latency_ns: need a number in [0, 1e+11], have none"));
  EXPECT_EQ(run({"show", path("none.json")}), 4);
  EXPECT_EQ(run({"show", folder.string()}), 4);
}

TEST_F(PlimMem, SaysHowItIsUsed) {
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_THAT(out.str(), HasSubstr("plim-mem profile -o FILE"));
  EXPECT_EQ(run({}), 1);
  EXPECT_EQ(run({"profil"}), 1);
  EXPECT_THAT(err.str(), HasSubstr("need a command: profile or show, have 'profil'"));
  EXPECT_EQ(run({"profile"}), 1);
  EXPECT_EQ(run({"profile", "-o"}), 1);
  EXPECT_EQ(run({"profile", "-o", "x", "--fast"}), 1);
  EXPECT_THAT(err.str(), HasSubstr("'profile' has no argument '--fast'"));
  EXPECT_EQ(run({"show"}), 1);
}

} // namespace
} // namespace plim
