#include "WireWriter.h"
#include "compiler/Import/Onnx/Wire/Model.h"
#include "compiler/Import/Onnx/Wire/TensorData.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

using namespace plim::onnx::wire;
using namespace plim::onnx::wire::test;

namespace {

std::string errorOf(std::string_view bytes) {
  std::string error;
  EXPECT_FALSE(decodeModel(bytes, error).has_value());
  return error;
}

std::string decoded(const Tensor &tensor, std::string_view file, std::string &error) {
  std::string out;
  return decodeElements(tensor, file, [&](std::string_view piece) { out += piece; }, error) ? out : "";
}

/// Reads every part of a model, as the importer does.
void touch(std::string_view bytes, const Model &model) {
  ExternalFolder folder("/nonexistent-folder/model.onnx");
  for (const Tensor &tensor : model.graph->initializers) {
    std::string error;
    FileRange range;
    if (tensor.isExternal)
      folder.locate(tensor, 16, range, error);
    else
      decodeElements(tensor, bytes, [](std::string_view) {}, error);
  }
}

class Folder : public ::testing::Test {
protected:
  void SetUp() override {
    const auto *info = ::testing::UnitTest::GetInstance()->current_test_info();
    path =
        std::filesystem::temp_directory_path() / (std::string("plim-wire-") + std::to_string(getpid()) + info->name());
    std::filesystem::create_directories(path / "model");
  }
  void TearDown() override { std::filesystem::remove_all(path); }
  std::string locate(std::string_view location, uint64_t need, std::string_view offset = "0") {
    ExternalFolder folder(path / "model" / "m.onnx");
    Tensor tensor;
    tensor.external = {{"location", location}, {"offset", offset}};
    std::string error;
    FileRange range;
    return folder.locate(tensor, need, range, error) ? range.path : error;
  }
  std::filesystem::path path;
};

} // namespace

TEST(OnnxWire, DecodesEveryPartOfAModel) {
  const Message message = smallModel();
  std::string error;
  auto model = decodeModel(message.str(), error);
  ASSERT_TRUE(model) << error;
  EXPECT_EQ(model->irVersion, 8);
  ASSERT_EQ(model->operatorSets.size(), 2u);
  EXPECT_EQ(model->operatorSets[0].version, 17);
  const Graph &graph = *model->graph;
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.nodes[0].opType, "Conv");
  EXPECT_EQ(graph.nodes[0].attributes[0].ints, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(graph.nodes[1].attributes[0].graph->nodes[0].opType, "Relu");
  EXPECT_EQ(graph.inputs[1].type.shape->at(0).name, "N");
  EXPECT_FALSE(graph.inputs[1].type.shape->at(0).value);
  EXPECT_EQ(graph.inputs[1].type.shape->at(1).value, 4);
  ASSERT_EQ(model->functions.size(), 1u);
  EXPECT_EQ(model->functions[0].nodes[0].inputs, (std::vector<std::string_view>{"a", "a"}));
}

TEST(OnnxWire, ReadsTheSameElementsFromEveryStorage) {
  const Message message = smallModel();
  std::string error;
  auto model = decodeModel(message.str(), error);
  ASSERT_TRUE(model) << error;
  const auto &weights = model->graph->initializers;
  const float floats[4] = {1, 2, 3, 4};
  const std::string raw(reinterpret_cast<const char *>(floats), 16);
  std::optional<std::string_view> inPlace;
  for (unsigned i : {0u, 1u}) {
    ASSERT_TRUE(bytesInModel(weights[i], message.str(), inPlace, error)) << error;
    ASSERT_TRUE(inPlace);
    EXPECT_EQ(*inPlace, raw);
  }
  ASSERT_TRUE(bytesInModel(weights[2], message.str(), inPlace, error));
  EXPECT_FALSE(inPlace) << "floats with a tag each are not one run of bytes";
  const float loose[2] = {1.5f, 2.5f};
  EXPECT_EQ(decoded(weights[2], message.str(), error), std::string(reinterpret_cast<const char *>(loose), 8));
  const int64_t ints[3] = {1, -1, int64_t(1) << 40};
  EXPECT_EQ(decoded(weights[3], message.str(), error), std::string(reinterpret_cast<const char *>(ints), 24));
  EXPECT_EQ(decoded(weights[4], message.str(), error), "\x01\x80\x7f");
}

TEST(OnnxWire, NamesNeedHaveAndByteOfTruncation) {
  const std::string bytes = smallModel().str();
  for (size_t size = 0; size < bytes.size(); ++size) {
    // Cut after the graph, and a shorter whole model is left.
    std::string error;
    auto model = decodeModel(std::string_view(bytes).substr(0, size), error);
    if (!model) {
      EXPECT_NE(error.find("need"), std::string::npos) << error;
      EXPECT_NE(error.find("(byte "), std::string::npos) << error;
    }
  }
  EXPECT_EQ(errorOf(Message().claim(7, uint64_t(1) << 62).str()),
            "field 7 is truncated: need 4611686018427387904 bytes, have 0 (byte 0)");
  EXPECT_EQ(errorOf(""), "no graph: need field 7 of the model message, have none (byte 0)");
  EXPECT_EQ(errorOf(Message().varint(1, 8).fixed32(7, 0).str()),
            "field 'model.graph': need wire type length-delimited, have 32-bit (byte 2)");
  EXPECT_EQ(errorOf(std::string(11, '\xff')), "varint does not fit 64 bits (byte 0)");
  EXPECT_EQ(errorOf(Message().tag(3, 3).str()), "field 3 has wire type 3, which ONNX does not use (byte 0)");
}

TEST(OnnxWire, RefusesNamesWithAZeroByteAndKeepsThoseOfData) {
  const Message value = valueInfo(std::string_view("x\0y", 3), 1, {2});
  EXPECT_EQ(errorOf(Message().message(7, Message().message(11, value)).str()),
            "value_info.name has a zero byte at place 1: need text (byte 4)");
  const std::string_view bytes("a\0b", 3);
  const Message attribute = Message().bytes(1, "value_string").bytes(4, bytes).bytes(9, bytes);
  const Message message = Message().message(7, Message().message(1, Message().message(5, attribute)));
  std::string error;
  auto model = decodeModel(message.str(), error);
  ASSERT_TRUE(model) << error;
  EXPECT_EQ(model->graph->nodes[0].attributes[0].s, bytes);
  EXPECT_EQ(model->graph->nodes[0].attributes[0].strings[0], bytes);
}

TEST(OnnxWire, RefusesAnAttributeWithoutTheValueOfItsType) {
  const auto withType = [](uint64_t type) {
    return Message()
        .message(7, Message().message(1, Message().message(5, Message().bytes(1, "value").varint(20, type))))
        .str();
  };
  EXPECT_EQ(errorOf(withType(4)), "attribute 'value' of type tensor has none (byte 6)");
  EXPECT_EQ(errorOf(withType(5)), "attribute 'value' of type graph has none (byte 6)");
  std::string error;
  EXPECT_TRUE(decodeModel(withType(2), error)) << error; // an integer that is left out is 0
}

TEST(OnnxWire, RefusesEndlessNesting) {
  Message graph = Message().bytes(2, "leaf");
  for (unsigned i = 0; i < 1000; ++i)
    graph = Message().message(1, Message().message(5, Message().message(6, graph)));
  EXPECT_NE(errorOf(Message().message(7, graph).str()).find("nested deeper than 100"), std::string::npos);
}

TEST(OnnxWire, RefusesDataThatDoesNotFitItsShape) {
  auto errorOfTensor = [](const Message &tensorMessage) {
    const Message message = Message().message(7, Message().message(5, tensorMessage));
    std::string error;
    auto model = decodeModel(message.str(), error);
    if (model)
      decoded(model->graph->initializers[0], message.str(), error);
    return error;
  };
  EXPECT_EQ(errorOfTensor(tensor("t", 1, {4}).bytes(9, "12345678")).substr(0, 36),
            "need 16 bytes of data, have 8 (byte ");
  EXPECT_EQ(errorOfTensor(tensor("t", 7, {4}).packed(7, {1, 2})), "need 32 bytes of data, have 16");
  EXPECT_EQ(errorOfTensor(tensor("t", 7, {1}).packed(7, {1, 2})), "need 8 bytes of data, have 16");
  EXPECT_EQ(errorOfTensor(tensor("t", 3, {1}).packed(5, {300})), "element 0 is 300, which is no int8");
  EXPECT_EQ(errorOfTensor(tensor("t", 1, {-4})), "dimension -4 is negative");
  EXPECT_EQ(errorOfTensor(tensor("t", 1, {int64_t(1) << 40, int64_t(1) << 40})),
            "the dimensions multiply to more than 2^63 elements");
  EXPECT_EQ(errorOfTensor(tensor("t", 8, {1})), "elements of type string have no raw form");
  EXPECT_EQ(errorOfTensor(tensor("t", 99, {1})), "elements of type data type 99 have no raw form");
  EXPECT_EQ(errorOfTensor(tensor("t", 1, {int64_t(1) << 40, 0, int64_t(1) << 40})), "") << "empty is not too large";
}

TEST(OnnxWire, SurvivesMutation) {
  const std::string bytes = smallModel().str();
  std::mt19937 random(7);
  unsigned readable = 0;
  for (unsigned round = 0; round < 20000; ++round) {
    std::string mutated = bytes;
    for (unsigned edits = 1 + random() % 4; edits; --edits) {
      const size_t at = random() % mutated.size();
      switch (random() % 4) {
      case 0:
        mutated[at] = static_cast<char>(random());
        break;
      case 1:
        mutated[at] = static_cast<char>(mutated[at] ^ (1 << random() % 8));
        break;
      case 2:
        mutated.erase(at, 1 + random() % 8);
        break;
      case 3:
        mutated.insert(at, 1 + random() % 12, static_cast<char>(0xff));
        break;
      }
      if (mutated.empty())
        mutated = bytes;
    }
    // An exact heap block, so that a sanitizer sees a read past the end.
    const std::vector<char> exact(mutated.begin(), mutated.end());
    const std::string_view view(exact.data(), exact.size());
    std::string error;
    if (auto model = decodeModel(view, error)) {
      ++readable;
      touch(view, *model);
    } else {
      ASSERT_NE(error.find("(byte "), std::string::npos) << error;
    }
  }
  EXPECT_GT(readable, 100u) << "mutations reach past the first check";
}

TEST_F(Folder, ExternalDataMustLieInside) {
  std::ofstream(path / "model" / "w.bin") << "0123456789";
  std::ofstream(path / "secret.bin") << "0123456789";
  std::filesystem::create_directory(path / "model" / "sub");
  std::ofstream(path / "model" / "sub" / "w.bin") << "0123456789";
  std::filesystem::create_symlink(path / "secret.bin", path / "model" / "link.bin");
  std::filesystem::create_symlink(path, path / "model" / "up");
  std::filesystem::create_symlink("w.bin", path / "model" / "alias.bin");

  EXPECT_EQ(locate("w.bin", 10), path / "model" / "w.bin");
  EXPECT_EQ(locate("sub/w.bin", 4, "6"), path / "model" / "sub" / "w.bin");
  EXPECT_EQ(locate("alias.bin", 10), path / "model" / "alias.bin");
  EXPECT_EQ(locate("../secret.bin", 1), "external data '../secret.bin': the location has a '..'");
  EXPECT_EQ(locate("sub/../../secret.bin", 1), "external data 'sub/../../secret.bin': the location has a '..'");
  EXPECT_EQ(locate("/etc/passwd", 1), "external data '/etc/passwd': the location is an absolute path");
  EXPECT_EQ(locate("link.bin", 1), "external data 'link.bin': a symbolic link leads out of the model's folder");
  EXPECT_EQ(locate("up/secret.bin", 1),
            "external data 'up/secret.bin': a symbolic link leads out of the model's folder");
  EXPECT_EQ(locate("sub", 1), "external data 'sub': not a regular file");
  EXPECT_EQ(locate("", 1), "external data '': the location is empty");
  EXPECT_EQ(locate("none.bin", 1), "external data 'none.bin': No such file or directory");
  EXPECT_EQ(locate("w.bin", 11), "external data 'w.bin': need 11 bytes at byte 0, have a file of 10 bytes");
  EXPECT_EQ(locate("w.bin", 1, "18446744073709551615"),
            "external data 'w.bin': need 1 bytes at byte 18446744073709551615, have a file of 10 bytes");
  EXPECT_EQ(locate("w.bin", 1, "-1"), "external data: offset '-1' is not a number");
}

TEST_F(Folder, AModelIsMappedNotCopied) {
  // 256 MiB of weights in a sparse file: reading the model must not make them resident.
  const uint64_t weightBytes = uint64_t(256) << 20;
  Message head = tensor("w", 1, {int64_t(weightBytes / 4)}).claim(9, weightBytes);
  Message graph = Message().claim(5, head.str().size() + weightBytes).append(head.str().data(), head.str().size());
  const Message top = Message().varint(1, 8).claim(7, graph.str().size() + weightBytes);
  const std::filesystem::path model = path / "model" / "big.onnx";
  std::ofstream(model, std::ios::binary) << top.str() << graph.str();
  std::filesystem::resize_file(model, top.str().size() + graph.str().size() + weightBytes);

  auto residentKiB = [] {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.rfind("VmRSS:", 0) == 0)
        return std::stol(line.substr(6));
    return 0L;
  };
  const long before = residentKiB();
  std::string error;
  auto file = MappedFile::open(model, error);
  ASSERT_TRUE(file) << error;
  auto read = readModel(std::move(*file), error);
  ASSERT_TRUE(read) << error;
  EXPECT_EQ(read->graph->initializers[0].raw->size(), weightBytes);
  EXPECT_LT(residentKiB() - before, 4096);

  EXPECT_FALSE(MappedFile::open(path / "model" / "none.onnx", error));
  EXPECT_NE(error.find("No such file"), std::string::npos);
  EXPECT_FALSE(MappedFile::open(path / "model", error));
  EXPECT_NE(error.find("need a regular file"), std::string::npos);
}
