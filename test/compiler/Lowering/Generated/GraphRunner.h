//===- GraphRunner.h - Compiles graph ops given as text -------------------===//
#pragma once
#include "KernelRunner.h"
#include "compiler/Lowering/Generated/FromGraph.h"
#include "dialects/Graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace plim::gen {

/// The first graph op of a function body given as text.
class GraphRunner : public KernelRunner {
public:
  GraphRunner() { mlirContext().getOrLoadDialect<graph::GraphDialect>(); }

  mlir::Operation *parse(const std::string &text) {
    modules.push_back(mlir::parseSourceString<mlir::ModuleOp>(text, &mlirContext()));
    mlir::Operation *found = nullptr;
    if (modules.back())
      modules.back()->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
        if (!llvm::isa<graph::GraphDialect>(op->getDialect()))
          return mlir::WalkResult::advance();
        found = op;
        return mlir::WalkResult::interrupt();
      });
    EXPECT_TRUE(found) << text;
    return found;
  }

  KernelInfo add(const std::string &text) {
    mlir::Operation *op = parse(text);
    auto parts = regionsFromOp(op, [&] { return op->emitError(); });
    EXPECT_TRUE(mlir::succeeded(parts)) << text;
    return KernelRunner::add(*parts);
  }

  std::string refusal(const std::string &text) {
    mlir::Operation *op = parse(text);
    std::string message;
    mlir::ScopedDiagnosticHandler handler(&mlirContext(), [&](mlir::Diagnostic &d) { message = d.str(); });
    EXPECT_TRUE(mlir::failed(regionsFromOp(op)));
    EXPECT_EQ(message, "") << "a quiet question must stay quiet";
    EXPECT_TRUE(mlir::failed(regionsFromOp(op, [&] { return op->emitError(); })));
    return message;
  }

private:
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

inline std::string functionOf(const std::string &arguments, const std::string &body) {
  return "func.func @f(" + arguments + ") {\n" + body + "\nreturn }";
}

} // namespace plim::gen
