//===- OpDemandsTest.cpp - Every registered graph op has what its kind must have ----------------------------===//

#include "dialects/Graph/GraphDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include <gtest/gtest.h>
#include <map>

using namespace mlir;
using namespace plim::graph;

namespace {

/// Ops whose result types do not follow from operands and attributes, and why.
const std::map<std::string, std::string> kWithoutShape = {
    {"graph.parameter", "its type is what the file holds"},
    {"graph.fill", "its type is its only description"},
    {"graph.variable", "a symbol without results"},
    {"graph.read", "has the type of the variable, which its verifier looks up"},
    {"graph.assign", "has no results"},
    {"graph.yield", "has no results"},
    {"graph.fused", "has the types that its region yields"},
    {"graph.if", "has the types that its regions yield"},
    {"graph.loop", "has the types that its region yields"},
    {"graph.custom", "a user's kernel says nothing of shapes"},
};

class OpDemands : public testing::Test {
protected:
  OpDemands() {
    context.loadDialect<GraphDialect, arith::ArithDialect, math::MathDialect>();
    for (RegisteredOperationName name : context.getRegisteredOperations())
      if (name.getDialectNamespace() == "graph")
        names.push_back(name);
  }

  /// An instance of an elementwise op on `count` operands, or null if the op does not take these.
  Operation *makeElementwise(OpBuilder &b, OperationName name, size_t count, Type first, Type rest) {
    OperationState state(b.getUnknownLoc(), name);
    for (size_t i = 0; i < count; ++i) {
      auto type = RankedTensorType::get({4}, i == 0 ? first : rest);
      state.addOperands(b.getBlock()->addArgument(type, b.getUnknownLoc()));
    }
    if (name.getStringRef() == CastOp::getOperationName())
      state.addAttribute("to", TypeAttr::get(b.getF16Type()));
    Operation *op = nullptr;
    for (Type element : {first, rest, Type(b.getI1Type()), Type(b.getF16Type())}) {
      state.types.assign({RankedTensorType::get({4}, element)});
      op = b.create(state);
      if (succeeded(verify(op)))
        return op;
      op->erase();
    }
    return nullptr;
  }

  MLIRContext context;
  SmallVector<RegisteredOperationName> names;
};

TEST_F(OpDemands, EveryOpInfersItsTypesOrSaysWhyNot) {
  ASSERT_GT(names.size(), 100u);
  for (RegisteredOperationName name : names) {
    bool infers = name.hasInterface<InferTypeOpInterface>();
    bool excused = kWithoutShape.count(name.getStringRef().str()) != 0;
    EXPECT_NE(infers, excused) << name.getStringRef().str();
  }
}

TEST_F(OpDemands, EveryElementwiseOpHasShapeAliasAndLayout) {
  size_t elementwise = 0;
  for (RegisteredOperationName name : names) {
    if (!name.hasInterface<ScalarBodyOpInterface>())
      continue;
    ++elementwise;
    EXPECT_TRUE(name.hasInterface<InferTypeOpInterface>()) << name.getStringRef().str();
    EXPECT_TRUE(name.hasInterface<AliasOpInterface>()) << name.getStringRef().str();
    EXPECT_TRUE(name.hasInterface<LayoutOpInterface>()) << name.getStringRef().str();
  }
  EXPECT_GE(elementwise, 65u);
}

TEST_F(OpDemands, EveryNormAndSoftmaxDecomposes) {
  for (RegisteredOperationName name : names)
    if (name.getStringRef().ends_with("_norm") || name.getStringRef() == "graph.softmax")
      EXPECT_TRUE(name.hasInterface<DecomposeOpInterface>()) << name.getStringRef().str();
}

TEST_F(OpDemands, EveryOpIsPureOrActsOnState) {
  for (RegisteredOperationName name : names) {
    StringRef op = name.getStringRef();
    bool mayAct = op == "graph.variable" || op == "graph.if" || op == "graph.loop";
    EXPECT_TRUE(mayAct || name.hasInterface<MemoryEffectOpInterface>()) << op.str();
  }
}

// On scalars and on vectors, for each element type the op takes, the body has the element type of the result.
TEST_F(OpDemands, EveryScalarBodyGivesTheElementOfTheResult) {
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  for (RegisteredOperationName name : names) {
    if (!name.hasInterface<ScalarBodyOpInterface>())
      continue;
    size_t built = 0;
    OpBuilder b(&context);
    const Type elements[] = {b.getF32Type(), b.getF16Type(), b.getI64Type(), b.getI8Type(), b.getI1Type()};
    for (size_t count = 1; count <= 3; ++count) {
      for (Type first : elements) {
        Type rest = count == 3 ? Type(b.getF32Type()) : first;
        OwningOpRef<ModuleOp> module = ModuleOp::create(b.getUnknownLoc());
        Block block;
        b.setInsertionPointToStart(&block);
        Operation *op = makeElementwise(b, name, count, first, rest);
        if (!op)
          continue;
        ++built;
        for (bool isVector : {false, true}) {
          auto like = [&](Type element) -> Type { return isVector ? Type(VectorType::get({8}, element)) : element; };
          SmallVector<Value> args;
          for (Value operand : op->getOperands())
            args.push_back(block.addArgument(like(elementTypeOf(operand)), b.getUnknownLoc()));
          Value body = cast<ScalarBodyOpInterface>(op).buildScalar(b, b.getUnknownLoc(), args);
          EXPECT_EQ(body.getType(), like(elementTypeOf(op->getResult(0)))) << name.getStringRef().str();
          if (Operation *last = body.getDefiningOp())
            EXPECT_TRUE(succeeded(verify(last))) << name.getStringRef().str();
        }
      }
    }
    EXPECT_GT(built, 0u) << name.getStringRef().str() << " took no operands that the test knows";
  }
}

TEST_F(OpDemands, TryCreateReportsWhatACreateWouldStopOn) {
  std::string message;
  ScopedDiagnosticHandler keep(&context, [&](Diagnostic &d) {
    message = d.str();
    return success();
  });
  OpBuilder b(&context);
  Block block;
  b.setInsertionPointToStart(&block);
  Value x = block.addArgument(RankedTensorType::get({4, 3}, b.getF32Type()), b.getUnknownLoc());
  EXPECT_TRUE(failed(tryCreate<MatmulOp>(b, b.getUnknownLoc(), x, x)));
  EXPECT_EQ(message, "'graph.matmul' op needs as many columns on the left as rows on the right, has [4, 3] and [4, 3]");
  EXPECT_TRUE(block.empty());
}

TEST_F(OpDemands, TryCreateOrFoldGivesConstantsForShapeArithmetic) {
  OpBuilder b(&context);
  Block block;
  b.setInsertionPointToStart(&block);
  Value x = block.addArgument(RankedTensorType::get({4, 3}, b.getF32Type()), b.getUnknownLoc());
  FailureOr<Value> shape = tryCreateOrFold<ShapeOfOp>(b, b.getUnknownLoc(), x);
  ASSERT_TRUE(succeeded(shape));
  FailureOr<Value> sum = tryCreateOrFold<AddOp>(b, b.getUnknownLoc(), *shape, *shape);
  ASSERT_TRUE(succeeded(sum));
  auto constant = sum->getDefiningOp<ConstantOp>();
  ASSERT_TRUE(constant);
  EXPECT_EQ(constant.getValue(), DenseElementsAttr::get(constant.getType(), ArrayRef<int64_t>{8, 6}));
}

} // namespace
