//===- ProfileTest.cpp - Machine profiles: what is read, and what is refused ------------------------===//
#include "compiler/Solver/Profile/MachineProfile.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

namespace plim::solver {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;

Json sound() {
  return Json::parse(R"({"version": 1, "name": "box", "launch_ns": 1500,
    "flops": {"default": 1e11, "conv": 9e10, "attention": 7e10},
    "memory": {"bytes_per_second": 2e10},
    "disk": {"read_bytes_per_second": 3e9, "write_bytes_per_second": 2e9, "read_latency_ns": 70000,
             "write_latency_ns": 20000}})");
}

std::vector<std::string> faultsOf(const std::string &text) {
  std::vector<std::string> errors;
  const auto profile = parseProfile(text, "box.json", errors);
  EXPECT_EQ(profile.has_value(), errors.empty());
  return errors;
}

TEST(Profile, IsReadAndGivesKernelsTheFiguresOfTheirFamily) {
  std::vector<std::string> errors;
  const auto p = parseProfile(sound().dump(), "box.json", errors);
  ASSERT_TRUE(p) << errors.front();
  EXPECT_EQ(p->name, "box");
  EXPECT_EQ(machineFor(*p, "conv.nhwc_direct").flops_per_ns, 90);
  EXPECT_EQ(machineFor(*p, "matmul.panel32").flops_per_ns, 100);
  EXPECT_EQ(machineFor(*p, "convoy.x").flops_per_ns, 100);
  EXPECT_EQ(machineFor(*p, "attention").bytes_per_ns, 20);
  EXPECT_EQ(machineFor(*p, "attention").launch_ns, 1500);
  Problem problem;
  problem.links = linksOf(*p);
  EXPECT_EQ(problem.link(Tier::Ssd, Tier::Ram)->bytesPerSecond, 3'000'000'000);
  EXPECT_EQ(problem.link(Tier::Ram, Tier::Ssd)->latencyNs, 20'000);
  EXPECT_EQ(problem.link(Tier::Ram, Tier::Ram)->bytesPerSecond, 10'000'000'000);
  EXPECT_THAT(validate(problem), testing::IsEmpty());
}

TEST(Profile, TheBuiltInOneIsWhatKernelsAssume) {
  const MachineProfile built;
  EXPECT_EQ(built.name, "default");
  const plim_machine machine = machineFor(built, "matmul.panel32");
  EXPECT_EQ(machine.flops_per_ns, plim_default_machine.flops_per_ns);
  EXPECT_EQ(machine.bytes_per_ns, plim_default_machine.bytes_per_ns);
  EXPECT_EQ(machine.launch_ns, plim_default_machine.launch_ns);
  EXPECT_EQ(built.diskReadBytesPerSecond, 1.2e9);
  EXPECT_EQ(built.diskWriteBytesPerSecond, 0.9e9);
}

TEST(Profile, IsPrintedAsItIsRead) {
  std::vector<std::string> errors;
  const auto p = parseProfile(sound().dump(), "box.json", errors);
  EXPECT_EQ(parseProfile(printProfile(*p), "again", errors), p);
}

TEST(Profile, FiguresThatNoMachineHasAreRefused) {
  const std::pair<const char *, const char *> cases[] = {
      {"/memory/bytes_per_second", "memory.bytes_per_second: need a number in [1e+06, 1e+15], have "},
      {"/flops/default", "flops.default: need a number in [100000, 1e+17], have "},
      {"/flops/conv", "flops.conv: need a number in [100000, 1e+17], have "},
      {"/disk/read_bytes_per_second", "disk.read_bytes_per_second: need a number in [10000, 1e+14], have "},
      {"/disk/write_latency_ns", "disk.write_latency_ns: need a number in [0, 1e+11], have "},
      {"/launch_ns", "launch_ns: need a number in [1, 1e+09], have "}};
  for (const auto &[key, message] : cases)
    for (const Json &value : {Json(-3), Json(1e300), Json("fast"), Json(), Json(true), Json::array({1})}) {
      Json root = sound();
      root[Json::json_pointer(key)] = value;
      EXPECT_THAT(faultsOf(root.dump()), ElementsAre("box.json: " + std::string(message) + value.dump()));
    }
  Json zero = sound();
  zero["memory"]["bytes_per_second"] = 0;
  zero["disk"]["read_bytes_per_second"] = 0.0;
  EXPECT_EQ(faultsOf(zero.dump()).size(), 2u);
}

TEST(Profile, KeysAreAllThereAndAllKnownAndThereOnce) {
  for (const char *key : {"/version", "/name", "/launch_ns", "/flops", "/memory", "/disk", "/flops/default",
                          "/memory/bytes_per_second", "/disk/read_latency_ns"}) {
    const Json::json_pointer pointer(key);
    Json root = sound();
    (pointer.parent_pointer().empty() ? root : root[pointer.parent_pointer()]).erase(pointer.back());
    EXPECT_THAT(faultsOf(root.dump()), ElementsAre(HasSubstr(pointer.back() + ": need "))) << key;
  }
  Json more = sound();
  more["flops"]["fft"] = 1e9;
  more["cores"] = 8;
  EXPECT_THAT(faultsOf(more.dump()),
              ElementsAre("box.json: cores: need one of the keys version, name, launch_ns, flops, memory, disk; this "
                          "is none",
                          HasSubstr("box.json: flops.fft: need one of the keys default, attention, conv, ")));
  std::string twice = sound().dump();
  twice.insert(1, R"("launch_ns": 5, )");
  EXPECT_THAT(faultsOf(twice), ElementsAre("box.json: launch_ns: need each key once, have it twice"));
}

TEST(Profile, BrokenTextAndNamesAreRefused) {
  for (const char *text : {"", "{", "[1, 2]", "nonsense", "{\"version\": 1e999}", "\xff\xfe", "null"})
    EXPECT_THAT(faultsOf(text), ElementsAre(HasSubstr("box.json: need a JSON object, have "))) << text;
  EXPECT_THAT(faultsOf(std::string(1'100'000, ' ')), ElementsAre("box.json: need at most 1048576 bytes, have 1100000"));
  EXPECT_THAT(faultsOf(std::string(100'000, '[')), ElementsAre(HasSubstr("need a JSON object")));
  for (const Json &name : {Json(""), Json("a b"), Json(7), Json("x/y"), Json(std::string(65, 'a')), Json("\n")}) {
    Json root = sound();
    root["name"] = name;
    EXPECT_THAT(faultsOf(root.dump()), ElementsAre(HasSubstr("name: need 1 to 64 letters, digits and ._- , have ")));
  }
  Json built = sound();
  built["name"] = "default";
  EXPECT_THAT(faultsOf(built.dump()), ElementsAre(HasSubstr("name: need another name than that of the built-in")));
  Json old = sound();
  old["version"] = 2;
  EXPECT_THAT(faultsOf(old.dump()), ElementsAre("box.json: version: need 1, have 2"));
}

} // namespace
} // namespace plim::solver
