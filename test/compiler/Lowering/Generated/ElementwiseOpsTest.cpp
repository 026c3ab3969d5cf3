//===- ElementwiseOpsTest.cpp - All elementwise graph ops -----------------===//
#include "GraphRunner.h"
#include "mlir/IR/Verifier.h"

using namespace plim;
using namespace plim::gen;

/// Whatever the dialect calls elementwise must compile, without this folder knowing the op.
TEST(ElementwiseOps, CompileWithoutBeingNamedHereWithTheSameBitsOnBothLevels) {
  GraphRunner runner;
  mlir::MLIRContext *context = &runner.mlirContext();
  mlir::OpBuilder b(context);
  constexpr int64_t n = 203;
  struct Made {
    std::string name;
    KernelInfo kernel;
    size_t operands, bytes, resultBytes;
  };
  std::vector<Made> made;
  mlir::Block block;
  for (mlir::RegisteredOperationName name : context->getRegisteredOperations()) {
    if (name.getDialectNamespace() != "graph" || !name.hasInterface<graph::ScalarBodyOpInterface>())
      continue;
    bool any = false;
    for (mlir::Type element : {mlir::Type(b.getF32Type()), mlir::Type(b.getI64Type()), mlir::Type(b.getI1Type())})
      for (unsigned operands = 1; operands <= 3; ++operands) {
        mlir::OperationState state(runner.loc(), name);
        for (unsigned i = 0; i < operands; ++i)
          state.addOperands(block.addArgument(
              mlir::RankedTensorType::get({n}, i || operands < 3 ? element : b.getI1Type()), runner.loc()));
        if (name.getStringRef() == "graph.cast")
          state.addAttribute(
              "to", mlir::TypeAttr::get(element.isF32() ? mlir::Type(b.getI64Type()) : mlir::Type(b.getF32Type())));
        mlir::ScopedDiagnosticHandler quiet(context, [](mlir::Diagnostic &) {});
        auto *inferring = name.getInterface<mlir::InferTypeOpInterface>();
        mlir::OwningOpRef<mlir::Operation *> op;
        {
          state.addTypes(mlir::RankedTensorType::get({n}, element));
          op = mlir::Operation::create(state);
          if (operands != 1 + name.hasTrait<mlir::OpTrait::NOperands<2>::Impl>() +
                              2 * name.hasTrait<mlir::OpTrait::NOperands<3>::Impl>())
            continue;
          llvm::SmallVector<mlir::Type> types;
          if (mlir::failed(inferring->inferReturnTypes(context, runner.loc(), op->getOperands(),
                                                       op->getAttrDictionary(), op->getPropertiesStorage(), {}, types)))
            continue;
          op->getResult(0).setType(types[0]);
        }
        if (mlir::failed(mlir::verify(op.get())))
          continue;
        // Integers divide by what may be zero.
        if (element.isInteger() && llvm::is_contained({"graph.div", "graph.mod", "graph.pow"}, name.getStringRef()))
          continue;
        auto parts = regionsFromOp(op.get());
        ASSERT_TRUE(mlir::succeeded(parts)) << name.getStringRef().str();
        auto bytes = [](mlir::Value v) { return size_t(graph::elementBytes(graph::elementTypeOf(v))); };
        made.push_back({name.getStringRef().str(), runner.KernelRunner::add(*parts), operands,
                        bytes(op->getOperand(operands - 1)), bytes(op->getResult(0))});
        any = true;
      }
    EXPECT_TRUE(any) << name.getStringRef().str() << " has no operands that this test knows";
  }
  EXPECT_GE(made.size(), 60u);
  runner.load();
  std::vector<float> special = specialFloats();
  for (const Made &m : made) {
    std::vector<float> f = randomFloats(n, 1), g = randomFloats(n, 2);
    std::copy(special.begin(), special.end(), f.begin());
    std::copy(special.begin(), special.end(), g.begin() + 7);
    std::vector<int64_t> i64(n), j64(n);
    std::vector<uint8_t> bits(n), other(n);
    for (int64_t i = 0; i < n; ++i) {
      i64[i] = (i - 100) * 1234567;
      j64[i] = i % 70;
      bits[i] = i % 2;
      other[i] = i % 3 == 0;
    }
    std::vector<void *> buffers;
    for (size_t i = 0; i < m.operands; ++i) {
      bool condition = m.operands == 3 && i == 0;
      if (condition || m.bytes == 1)
        buffers.push_back(i % 2 ? other.data() : bits.data());
      else if (m.bytes == 4)
        buffers.push_back(i % 2 ? g.data() : f.data());
      else
        buffers.push_back(i % 2 ? j64.data() : i64.data());
    }
    std::vector<unsigned char> first, out(n * m.resultBytes);
    buffers.push_back(out.data());
    for (plim_isa isa : KernelRunner::levels()) {
      runner.run(m.kernel, isa, buffers);
      if (first.empty())
        first = out;
      EXPECT_TRUE(first == out) << m.name;
    }
  }
}
