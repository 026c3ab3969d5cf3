// libFuzzer target: any bytes at all are decoded or refused. Run: build/test/fuzz/fuzz-onnx-wire -max_total_time=60
#include "compiler/Import/Onnx/Wire/Model.h"
#include "compiler/Import/Onnx/Wire/TensorData.h"

using namespace plim::onnx::wire;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char *>(data), size);
  std::string error;
  auto model = decodeModel(bytes, error);
  if (!model)
    return 0;
  ExternalFolder folder("/nonexistent-folder/model.onnx");
  for (const Tensor &tensor : model->graph->initializers) {
    FileRange range;
    if (tensor.isExternal)
      folder.locate(tensor, 16, range, error);
    else
      decodeElements(tensor, bytes, [](std::string_view) {}, error);
  }
  return 0;
}
