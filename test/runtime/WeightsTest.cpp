// The weight file: written, read into planned memory, and refused where it is not the one that the table names.
#include "test/runtime/Running.h"

#include "plim/weights.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace plim::test;

namespace {

namespace fs = std::filesystem;

/// y = w1 + w2, constants of n floats each in a file; state s starts as w2.
struct WeightsModel {
  explicit WeightsModel(int64_t n = 300000) : n(n), w1(static_cast<size_t>(n)), w2(static_cast<size_t>(n)) {
    for (size_t i = 0; i < w1.size(); ++i) {
      w1[i] = static_cast<float>(i);
      w2[i] = 0.5f;
    }
    uint64_t bytes = w1.size() * 4, second = (bytes + 63) / 64 * 64 + 4096;
    plim_weight_writer *writer;
    EXPECT_EQ(plim_weight_writer_open(path.c_str(), second + bytes, &writer), PLIM_OK) << lastError();
    EXPECT_EQ(plim_weight_writer_put(writer, 0, w1.data(), 100), PLIM_OK);
    EXPECT_EQ(plim_weight_writer_put(writer, 100, w1.data() + 25, bytes - 100), PLIM_OK);
    EXPECT_EQ(plim_weight_writer_put(writer, second, w2.data(), bytes), PLIM_OK);
    EXPECT_FALSE(fs::exists(path)) << "it has its name only when it is complete";
    EXPECT_EQ(plim_weight_writer_finish(writer, &b.weightsBytes, &b.weightsHash), PLIM_OK) << lastError();
    uint32_t arena = b.arena(PLIM_PERSISTENT, (second + bytes + 63) / 64 * 64), states = b.arena(PLIM_PERSISTENT, 4096);
    uint32_t vector = b.shape({n}), four = b.shape({4});
    uint32_t c1 = b.constant("w1", vector, 0, bytes, XXH3_64bits(w1.data(), bytes));
    uint32_t c2 = b.constant("w2", vector, second, bytes, XXH3_64bits(w2.data(), bytes));
    uint32_t c3 = b.constant("w3", four, second + 64, 16);
    uint32_t s = b.state("s", four, 16, c3);
    b.beginVariant("only");
    b.beginProgram("forward");
    uint32_t v1 = b.resident(false, c1, arena, 0, bytes), v2 = b.resident(false, c2, arena, second, bytes);
    b.resident(false, c3, arena, second + 64, 16);
    uint32_t home = b.resident(true, s, states, 0, 16);
    uint32_t y = b.ioView(b.output("y", vector)), z = b.ioView(b.output("z", four));
    b.launch("test.add", {b.read(v1, vector), b.read(v2, vector), b.write(y, vector)});
    b.copy(home, z, 16);
    b.endProgram();
    uint32_t less = b.arena(PLIM_PERSISTENT, (bytes + 63) / 64 * 64);
    b.beginVariant("less");
    b.beginProgram("forward");
    uint32_t v = b.resident(false, c1, less, 0, bytes);
    b.copy(v, b.ioView(b.output("y", vector)), bytes);
    b.endProgram();
  }
  ~WeightsModel() { fs::remove_all(folder); }

  int64_t n;
  std::vector<float> w1, w2;
  std::string folder = makeFolder(), path = folder + "/model.weights";
  TableBuilder b;

  static std::string makeFolder() {
    std::string name = "/tmp/plim-weights-test-" + std::to_string(getpid());
    fs::create_directory(name);
    return name;
  }
  void change(uint64_t at) {
    std::fstream f(path, std::ios::in | std::ios::out | std::ios::binary);
    f.seekg(static_cast<long>(at));
    char byte = static_cast<char>(f.get());
    f.seekp(static_cast<long>(at));
    f.put(static_cast<char>(byte ^ 16));
  }
};

TEST(Weights, AreReadIntoPlannedMemoryAndReservedBytesEqualThePlan) {
  WeightsModel w;
  EXPECT_EQ(std::distance(fs::directory_iterator(w.folder), {}), 1) << "no temporary file is left";
  Model model(w.b);
  Running r(model.model, 1, w.path.c_str());
  PLIM_OK_OR_FAIL(r.status);
  std::vector<float> y(w.w1.size()), z(4);
  plim_bind_output(r.session, PLIM_NONE, "y", y.data(), y.size() * 4);
  plim_bind_output(r.session, PLIM_NONE, "z", z.data(), 16);
  plim_run_options options = {};
  options.flags = PLIM_RUN_POISON | PLIM_RUN_RED_ZONES;
  PLIM_OK_OR_FAIL(r.run(&options));
  for (size_t i = 0; i < y.size(); ++i)
    ASSERT_EQ(y[i], w.w1[i] + w.w2[i]) << i;
  EXPECT_EQ(z, (std::vector<float>(4, 0.5f)));
  plim_usage u = r.usage();
  EXPECT_EQ(u.reserved[PLIM_RAM], u.planned[PLIM_RAM]);
  EXPECT_EQ(u.live[PLIM_RAM], u.live_planned[PLIM_RAM]);
  EXPECT_EQ(u.touched[PLIM_RAM], u.touched_planned[PLIM_RAM]);
}

TEST(Weights, BufferedReadsServeWhereTheFileSystemRefusesDirectOnes) {
  WeightsModel w;
  Model model(w.b);
  std::string shared = "/dev/shm/plim-weights-test-" + std::to_string(getpid());
  std::error_code error;
  fs::copy_file(w.path, shared, error);
  if (error)
    GTEST_SKIP() << "no /dev/shm";
  int fd = open(shared.c_str(), O_RDONLY | O_DIRECT);
  bool refused = fd < 0 && errno == EINVAL;
  if (fd >= 0)
    close(fd);
  Running r(model.model, 1, shared.c_str());
  fs::remove(shared);
  PLIM_OK_OR_FAIL(r.status);
  if (refused) {
    EXPECT_EQ(r.usage().weights_buffered, 1u);
  }
}

TEST(Weights, EveryChangedByteOfHeaderOrDataIsFound) {
  WeightsModel w;
  Model model(w.b);
  uint64_t header = plim_weight_header_bytes_of_file(w.b.weightsBytes);
  EXPECT_EQ(header, 4096u);
  std::vector<uint64_t> places = {0, 8, 20, 70, header - 1, header, header + (1 << 20), w.b.weightsBytes - 1};
  for (uint64_t at : places) {
    w.change(at);
    Running r(model.model, 1, w.path.c_str());
    EXPECT_EQ(r.status, PLIM_ERR_WEIGHTS) << at;
    w.change(at);
  }
  Running again(model.model, 1, w.path.c_str());
  EXPECT_EQ(again.status, PLIM_OK) << lastError();
}

TEST(Weights, AVariantLoadsNoMoreThanItsConstantsAndVerifiesThem) {
  WeightsModel w;
  Model model(w.b);
  {
    Running less(model.model, 1, w.path.c_str(), nullptr, "less");
    PLIM_OK_OR_FAIL(less.status);
    std::vector<float> y(w.w1.size());
    plim_bind_output(less.session, PLIM_NONE, "y", y.data(), y.size() * 4);
    PLIM_OK_OR_FAIL(less.run());
    EXPECT_TRUE(y == w.w1);
    plim_usage u = less.usage();
    EXPECT_EQ(u.reserved[PLIM_RAM], u.planned[PLIM_RAM]);
    EXPECT_EQ(u.touched[PLIM_RAM], u.touched_planned[PLIM_RAM]);
    plim_scope all;
    plim_session *session;
    PLIM_OK_OR_FAIL(plim_find(&model.model, nullptr, "only", &all));
    EXPECT_EQ(plim_session_create(less.weights, all, nullptr, &session), PLIM_ERR_ARG);
    EXPECT_STREQ(plim_last_error()->message, "the weights were made for programs that use fewer constants");
  }
  w.change(4096 + w.w1.size() * 4 - 1); // in the block that is read in part
  Running changed(model.model, 1, w.path.c_str(), nullptr, "less");
  EXPECT_EQ(changed.status, PLIM_ERR_WEIGHTS);
  EXPECT_STREQ(plim_last_error()->message, "constant w1 of the weight file was changed");
}

TEST(Weights, AChangedBlockIsNamedByItsBytes) {
  WeightsModel w;
  Model model(w.b);
  w.change(4096 + (1 << 20) + 5);
  Running r(model.model, 1, w.path.c_str());
  EXPECT_STREQ(plim_last_error()->message, "bytes [1052672, 2101248) of the weight file were changed");
}

TEST(Weights, ATruncatedMissingOrOtherFileIsRefused) {
  WeightsModel w;
  Model model(w.b);
  fs::resize_file(w.path, w.b.weightsBytes - 4096);
  Running cut(model.model, 1, w.path.c_str());
  EXPECT_EQ(cut.status, PLIM_ERR_WEIGHTS);
  EXPECT_EQ(plim_last_error()->need, static_cast<int64_t>(w.b.weightsBytes));
  EXPECT_EQ(plim_last_error()->have, static_cast<int64_t>(w.b.weightsBytes - 4096));
  Running missing(model.model, 1, "/nonexistent/weights");
  EXPECT_EQ(missing.status, PLIM_ERR_IO);
  Running none(model.model, 1, nullptr);
  EXPECT_EQ(none.status, PLIM_ERR_ARG);
  // Another valid file of the same length.
  plim_weight_writer *writer;
  uint64_t bytes, hash;
  uint64_t dataBytes = w.b.weightsBytes - 4096;
  PLIM_OK_OR_FAIL(plim_weight_writer_open(w.path.c_str(), dataBytes, &writer));
  PLIM_OK_OR_FAIL(plim_weight_writer_finish(writer, &bytes, &hash));
  EXPECT_EQ(bytes, w.b.weightsBytes);
  Running other(model.model, 1, w.path.c_str());
  EXPECT_EQ(other.status, PLIM_ERR_WEIGHTS);
  EXPECT_STREQ(plim_last_error()->message, "the weight file is not the one that the model was compiled with");
}

TEST(Weights, AFileTruncatedOrRemovedOnceItIsOpenDoesNoHarm) {
  WeightsModel w;
  Model model(w.b);
  Running r(model.model, 1, w.path.c_str());
  PLIM_OK_OR_FAIL(r.status);
  fs::resize_file(w.path, 0);
  std::vector<float> y(w.w1.size());
  float z[4];
  EXPECT_EQ(plim_bind_output(r.session, PLIM_NONE, "y", y.data(), y.size() * 4), PLIM_OK);
  EXPECT_EQ(plim_bind_output(r.session, PLIM_NONE, "z", z, sizeof z), PLIM_OK);
  PLIM_OK_OR_FAIL(r.run());
  EXPECT_EQ(y.back(), w.w1.back() + w.w2.back());
  fs::remove(w.path);
  PLIM_OK_OR_FAIL(r.run());
  EXPECT_EQ(y.back(), w.w1.back() + w.w2.back());
}

TEST(Weights, TheWriterRefusesWhatGoesBackOrBeyondAndAbortLeavesNoFile) {
  WeightsModel w;
  std::string path = w.folder + "/other";
  plim_weight_writer *writer;
  PLIM_OK_OR_FAIL(plim_weight_writer_open(path.c_str(), 1000, &writer));
  char data[100] = {};
  PLIM_OK_OR_FAIL(plim_weight_writer_put(writer, 64, data, 100));
  EXPECT_EQ(plim_weight_writer_put(writer, 128, data, 100), PLIM_ERR_ARG);
  EXPECT_EQ(plim_weight_writer_put(writer, 960, data, 100), PLIM_ERR_ARG);
  plim_weight_writer_abort(writer);
  EXPECT_EQ(std::distance(fs::directory_iterator(w.folder), {}), 1);
  EXPECT_EQ(plim_weight_writer_open("/nonexistent/weights", 1000, &writer), PLIM_ERR_IO);
  EXPECT_EQ(writer, nullptr);
}

TEST(Weights, TheSameConstantsGiveTheSameFile) {
  WeightsModel w;
  auto read = [&] {
    std::ifstream f(w.path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(f), {});
  };
  std::string first = read();
  uint64_t bytes = w.w1.size() * 4, second = (bytes + 63) / 64 * 64 + 4096, fileBytes, hash;
  plim_weight_writer *writer;
  PLIM_OK_OR_FAIL(plim_weight_writer_open(w.path.c_str(), second + bytes, &writer));
  PLIM_OK_OR_FAIL(plim_weight_writer_put(writer, 0, w.w1.data(), bytes));
  PLIM_OK_OR_FAIL(plim_weight_writer_put(writer, second, w.w2.data(), bytes));
  PLIM_OK_OR_FAIL(plim_weight_writer_finish(writer, &fileBytes, &hash));
  EXPECT_EQ(hash, w.b.weightsHash);
  EXPECT_TRUE(read() == first);
}

TEST(Weights, HeaderBytesFollowFromTheLengthOfTheFile) {
  for (uint64_t data : {uint64_t(4096), uint64_t(1) << 20, uint64_t(504) << 20, (uint64_t(504) << 20) + 4096,
                        uint64_t(5) << 30, uint64_t(1) << 40, (uint64_t(1) << 40) + 4096}) {
    uint64_t header = plim_weight_header_bytes(data);
    EXPECT_EQ(plim_weight_header_bytes_of_file(header + data), header) << data;
  }
  EXPECT_EQ(plim_weight_header_bytes_of_file(4095), 0u);
  EXPECT_EQ(plim_weight_header_bytes_of_file(0), 0u);
}

} // namespace
