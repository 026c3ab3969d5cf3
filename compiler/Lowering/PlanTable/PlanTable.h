//===- PlanTable.h - Between plan IR in stage placed and the step table ----------------*- C++ -*-===//
//
// A placed program and its step table are one thing in two notations:
//
//   FailureOr<EncodedTable> table = encodeTable(module);         // all programs of the module must be placed
//   ... table->bytes.data() is what plim_table_check and the runtime read
//   FailureOr<OwningOpRef<ModuleOp>> again = decodeTable(context, table->bytes.data(), table->evalText);
//   ... prints as `module` did, but for the names of symbols that a table does not hold
//
//===----------------------------------------------------------------------------------------------===//
#pragma once

#include "dialects/Plan/PlanDialect.h"
#include "plim/table.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <vector>

namespace plim::plan {

/// The bytes of a table at an address that is a multiple of 64, as the runtime wants them.
class TableBytes {
public:
  explicit TableBytes(size_t bytes) : size(bytes), lines((bytes + sizeof(Line) - 1) / sizeof(Line)) {}
  static TableBytes copyOf(llvm::ArrayRef<char> bytes);

  llvm::ArrayRef<char> data() const { return {reinterpret_cast<const char *>(lines.data()), size}; }
  char *writable() { return reinterpret_cast<char *>(lines.data()); }
  plim_table *table() { return reinterpret_cast<plim_table *>(lines.data()); }
  const plim_table *table() const { return reinterpret_cast<const plim_table *>(lines.data()); }

private:
  struct alignas(64) Line {
    char bytes[64] = {};
  };
  size_t size;
  std::vector<Line> lines;
};

struct EncodedTable {
  TableBytes bytes;
  /// Names of the kernels, in the order of the table's KERNELS.
  std::vector<std::string> kernels;
  /// One operation a function that EVAL steps call, in the order of their numbers. Lives as long as the module. Empty
  /// where the module has evals without bodies.
  std::vector<EvalOp> evals;
  /// The bodies of `evals` as text; belongs into a section that is not loaded.
  std::string evalText;
};

/// Encodes a module whose programs are all in stage placed. Peaks and touched bytes come from the runtime's own
/// functions, not from the attributes. Fails with diagnostics; what it returns has passed plim_table_check.
mlir::FailureOr<EncodedTable> encodeTable(ModuleOp module);

/// Sets reserved_peak and live_peak of all programs and touched of all arenas to what the table says.
void recordFigures(ModuleOp module, const EncodedTable &table);

/// Decodes a table, checking it first. Without `evalText` evals have numbers in place of bodies. Errors are emitted at
/// an unknown location.
mlir::FailureOr<mlir::OwningOpRef<ModuleOp>> decodeTable(mlir::MLIRContext *context, llvm::ArrayRef<char> bytes,
                                                         llvm::StringRef evalText = {});

/// The bodies of evals as functions @eval_0, @eval_1, ... of index scalars, in a module of their own.
mlir::OwningOpRef<mlir::ModuleOp> buildEvalFunctions(mlir::MLIRContext *context, llvm::ArrayRef<EvalOp> evals);

} // namespace plim::plan
