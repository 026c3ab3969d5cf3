// libFuzzer target: any bytes are imported as a graph or refused with an error. What is imported has passed the
// verifier and can be printed; what is refused as a model had at least one error emitted.
#include "compiler/Import/Onnx/ImportOnnx.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <unistd.h>

using namespace plim::onnx;

namespace {

/// A folder in memory for the model's file and for the weights that the import decodes.
class Folder {
public:
  Folder() {
    if (!mkdtemp(path))
      abort();
  }
  ~Folder() {
    unlink(model().c_str());
    unlink(weights().c_str());
    rmdir(path);
  }
  std::string model() const { return std::string(path) + "/model.onnx"; }
  std::string weights() const { return std::string(path) + "/decoded"; }

private:
  char path[32] = "/dev/shm/fuzz-onnx-XXXXXX";
};

void write(const std::string &path, const uint8_t *data, size_t size) {
  FILE *file = fopen(path.c_str(), "wb");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file))
    abort();
}

/// A context keeps every type and attribute it has seen, so it is made anew after so many imports.
constexpr unsigned importsPerContext = 256;

ImportOptions optionsIn(const Folder &folder) {
  ImportOptions options;
  options.decodedWeightsFile = folder.weights();
  return options;
}

/// With sizes for dimensions that a model leaves open, which end an import early.
ImportOptions boundedIn(const Folder &folder) {
  ImportOptions options = optionsIn(folder);
  std::string error;
  options.bounds.push_back(*BoundFlag::parse("*=0..4", error));
  return options;
}

void importOnce(const Folder &folder, const ImportOptions &options, mlir::MLIRContext &context, ImportStatus &status) {
  unsigned errors = 0;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    llvm::nulls() << diagnostic;
    return mlir::success();
  });
  auto module = importModel(folder.model(), options, &context, status);
  if (module)
    module->print(llvm::nulls());
  if (static_cast<bool>(module) != (status == ImportStatus::Done) || (!module && errors == 0))
    abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Folder folder;
  static const ImportOptions options = optionsIn(folder), bounded = boundedIn(folder);
  static std::unique_ptr<mlir::MLIRContext> context;
  static unsigned imports = 0;
  if (!context || ++imports % importsPerContext == 0)
    context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  write(folder.model(), data, size);
  ImportStatus status;
  importOnce(folder, options, *context, status);
  if (status == ImportStatus::Usage)
    importOnce(folder, bounded, *context, status);
  return 0;
}
