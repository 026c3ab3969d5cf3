#include "test/compiler/Lowering/PlanProblem/RandomProgram.h"

using namespace mlir;
using namespace plim::plan;

namespace {

class RandomProgram {
public:
  RandomProgram(MLIRContext &context, unsigned seed) : context(context), builder(&context), random(seed) {}

  OwningOpRef<plim::plan::ModuleOp> make() {
    OwningOpRef<plim::plan::ModuleOp> module = plim::plan::ModuleOp::create(builder, builder.getUnknownLoc());
    module->setWorkers(pick(1, 4));
    builder.setInsertionPointToEnd(&module->getBody().front());
    auto type = BufferType::get(&context, 4 * kRows * 16, Tier::Ram);
    ConstantOp::create(builder, builder.getUnknownLoc(), "w", 0, 4 * kRows * 16, shape(16), 0, StringAttr());
    IOAttr in = IOAttr::get(&context, "x", false, shape(16), {}, false),
           out = IOAttr::get(&context, "y", true, shape(16), {}, false);
    auto program = ProgramOp::create(builder, builder.getUnknownLoc(), "main", Stage::Virtual, ArrayRef<SymbolAttr>(),
                                     {in, out}, {type, type});
    builder.setInsertionPointToEnd(program.getBlock());
    Value w = ResidentOp::create(builder, builder.getUnknownLoc(), BufferType::get(&context, type.getBytes()),
                                 FlatSymbolRefAttr::get(&context, "w"), FlatSymbolRefAttr(), IntegerAttr());
    values = {{program.getIOArguments()[0], 16}, {w, 16}};
    for (int64_t steps = pick(3, 25), i = 0; i < steps; ++i)
      addStep();
    launch({values.back()}, {program.getIOArguments()[1], 16}, {});
    plim::plan::ReturnOp::create(builder, builder.getUnknownLoc());
    return module;
  }

private:
  static constexpr int64_t kRows = 8;
  struct Tensor {
    Value buffer;
    int64_t columns;
  };

  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }
  ShapeAttr shape(int64_t columns) { return ShapeAttr::get(&context, DType::F32, {kRows, columns}); }
  Tensor any() { return values[pick(std::max<int64_t>(0, int64_t(values.size()) - 6), int64_t(values.size()) - 1)]; }
  Tensor fresh(int64_t columns) {
    std::string name = "t" + std::to_string(count++);
    return {AllocOp::create(builder, builder.getUnknownLoc(), BufferType::get(&context, 4 * kRows * columns), name),
            columns};
  }

  void launch(ArrayRef<Tensor> reads, Tensor result, ArrayRef<AliasAttr> aliases, bool strided = true) {
    SmallVector<Value> buffers;
    SmallVector<AccessAttr> accesses;
    for (const Tensor &t : reads) {
      buffers.push_back(t.buffer);
      accesses.push_back(AccessAttr::get(AccessMode::Read, shape(t.columns)));
    }
    buffers.push_back(result.buffer);
    accesses.push_back(AccessAttr::get(AccessMode::Write, shape(result.columns)));
    SmallVector<CandidateAttr> candidates;
    for (int64_t i = pick(1, 3); i > 0; --i)
      candidates.push_back(CandidateAttr::get(&context, CandidateSpec{.kernel = "k",
                                                                      .tasks = pick(1, 8),
                                                                      .shared = 64 * pick(0, 8),
                                                                      .scratch = 64 * pick(0, 8),
                                                                      .ns = pick(1, 100),
                                                                      .inPlace = pick(0, 3) > 0,
                                                                      .strided = strided && pick(0, 3) > 0}));
    auto op = LaunchOp::create(builder, builder.getUnknownLoc(), candidates, buffers, accesses,
                               "step" + std::to_string(count++), pick(0, 4) > 0);
    if (!aliases.empty())
      op.setAliasesAttr(builder.getArrayAttr(SmallVector<Attribute>(aliases.begin(), aliases.end())));
  }

  void addStep() {
    int64_t kind = pick(0, 9);
    if (kind < 5)
      addElementwise();
    else if (kind < 7)
      addConcat();
    else if (kind == 7)
      addPieces();
    else if (kind == 8)
      addLoop();
    else
      addFill();
  }

  void addElementwise() {
    Tensor a = any();
    Tensor result = fresh(a.columns);
    launch({a}, result, {AliasAttr::get(&context, AliasKind::InPlace, 1, 0, 0, 0, 0, 0)});
    values.push_back(result);
  }

  void addConcat() {
    Tensor a = any(), b = any();
    if (a.buffer == b.buffer || a.columns + b.columns > 64)
      return;
    Tensor result = fresh(a.columns + b.columns);
    int64_t stride = 4 * result.columns;
    launch({a, b}, result,
           {AliasAttr::get(&context, AliasKind::Into, 0, 2, 0, 4 * a.columns, stride, 10),
            AliasAttr::get(&context, AliasKind::Into, 1, 2, 4 * a.columns, 4 * b.columns, stride, 10)});
    values.push_back(result);
  }

  /// One buffer, written in halves through views by two steps.
  void addPieces() {
    Tensor result = fresh(16);
    for (int64_t half : {0, 1}) {
      int64_t bytes = 2 * kRows * 16;
      Value part = ViewOp::create(builder, builder.getUnknownLoc(), result.buffer, half * bytes, bytes);
      auto rows = ShapeAttr::get(&context, DType::F32, {kRows / 2, 16});
      auto kernel = CandidateAttr::get(&context, CandidateSpec{.kernel = "half", .ns = 5});
      LaunchOp::create(builder, builder.getUnknownLoc(), {kernel}, {values.front().buffer, part},
                       {AccessAttr::get(AccessMode::Read, rows), AccessAttr::get(AccessMode::Write, rows)}, "half");
    }
    values.push_back(result);
  }

  void addLoop() {
    Tensor a = any();
    Tensor result = fresh(a.columns);
    launch({a}, result, {});
    auto loop =
        LoopOp::create(builder, builder.getUnknownLoc(), TypeRange(), 3, Value(), ValueRange(), false, StringAttr());
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.createBlock(&loop.getBody(), {}, {builder.getIndexType()}, {builder.getUnknownLoc()});
      Tensor inner = fresh(a.columns);
      launch({result}, inner, {});
      launch({inner}, result, {});
      YieldOp::create(builder, builder.getUnknownLoc());
    }
    values.push_back(result);
  }

  void addFill() {
    Tensor result = fresh(8 * pick(1, 3));
    FillOp::create(builder, builder.getUnknownLoc(), Type(), result.buffer, 7, QueueAttr(), StringAttr());
    values.push_back(result);
  }

  MLIRContext &context;
  OpBuilder builder;
  std::mt19937 random;
  std::vector<Tensor> values;
  int count = 0;
};

} // namespace

OwningOpRef<plim::plan::ModuleOp> plim::test::randomProgram(MLIRContext &context, unsigned seed) {
  return RandomProgram(context, seed).make();
}
