//===- PlanMaker.cpp - Makes steps of a random plan ------------------------------------------===//
#include "test/compiler/Contract/PlanMaker.h"

using namespace mlir;
using namespace plim::plan;

namespace plim::test {

static ShapeAttr shapeOf(MLIRContext *context, Matrix m) {
  return ShapeAttr::get(context, DType::U32, {m.rows, m.columns});
}

void PlanMaker::Operands::add(Matrix m, AccessMode mode) {
  buffers.push_back(m.buffer);
  accesses.push_back(AccessAttr::get(mode, shapeOf(m.buffer.getContext(), m)));
}

PlanMaker::PlanMaker(MLIRContext &context, unsigned seed, PlanStyle style)
    : style(style), random(seed), builder(&context) {
  made.module = plan::ModuleOp::create(builder, loc());
  made.module->setWorkers(pick(1, 4));
  made.module->setStackBytes(65536);
  builder.setInsertionPointToEnd(&made.module->getBody().front());
  const int64_t rows = 4 * pick(2, 6), columns = style.large ? 32 * pick(8, 24) : 16 * pick(2, 8);
  auto declare = [&](bool isState) {
    Matrix m{{}, rows, columns};
    std::string symbol = name(isState ? "s" : "w");
    if (isState) {
      StateOp::create(builder, loc(), symbol, m.bytes(), shapeOf(&context, m), FlatSymbolRefAttr(), false);
      states.push_back(m);
      return;
    }
    m.rows *= style.large && chance(40) ? pick(2, 5) : 1;
    ConstantOp::create(builder, loc(), symbol, constantBytes, m.bytes(), shapeOf(&context, m), 0, StringAttr());
    constantBytes += (m.bytes() + 63) / 64 * 64;
    weights.push_back(m);
  };
  llvm::SmallVector<std::string> symbols;
  for (int64_t n = pick(1, 4), i = 0; i < n; ++i)
    symbols.push_back("w" + std::to_string(count)), declare(false);
  for (int64_t n = chance(40) ? pick(1, 2) : 0, i = 0; i < n; ++i)
    symbols.push_back("s" + std::to_string(count)), declare(true);
  made.hasState = !states.empty();

  Matrix outer{{}, rows, columns}, one{{}, 1, 8};
  auto io = [&](StringRef name, bool output, ShapeAttr shape) {
    return IOAttr::get(&context, name, output, shape, {}, false);
  };
  auto flagShape = ShapeAttr::get(&context, DType::I32, {1});
  auto ram = [&](int64_t bytes) { return BufferType::get(&context, bytes, Tier::Ram); };
  program = ProgramOp::create(builder, loc(), "main", Stage::Virtual, ArrayRef<SymbolAttr>(),
                              {io("x", false, shapeOf(&context, outer)), io("flag", false, flagShape),
                               io("y", true, shapeOf(&context, outer)), io("z", true, shapeOf(&context, one))},
                              {ram(outer.bytes()), ram(4), ram(outer.bytes()), ram(one.bytes())});
  builder.setInsertionPointToEnd(program.getBlock());
  input = outer, input.buffer = program.getIOArguments()[0];
  flag = program.getIOArguments()[1];
  for (auto [m, symbol] : llvm::zip(llvm::concat<Matrix>(weights, states), symbols))
    m.buffer = ResidentOp::create(builder, loc(), type(m.bytes()), FlatSymbolRefAttr::get(&context, symbol),
                                  FlatSymbolRefAttr(), IntegerAttr());
}

RandomPlan PlanMaker::finish() {
  plan::ReturnOp::create(builder, loc());
  return std::move(made);
}

Matrix PlanMaker::weight() { return weights[size_t(pick(0, int64_t(weights.size()) - 1))]; }

Matrix PlanMaker::alloc(int64_t rows, int64_t columns, StringRef source) {
  Matrix m{{}, rows, columns};
  m.buffer = AllocOp::create(builder, loc(), type(m.bytes()), source);
  return m;
}

LaunchOp PlanMaker::launch(ArrayRef<CandidateAttr> candidates, const Operands &operands, StringRef source, bool pure,
                           ArrayRef<AliasAttr> aliases, ValueRange scalars) {
  auto op = LaunchOp::create(builder, loc(), candidates, operands.buffers, operands.accesses, source, pure, scalars);
  if (!aliases.empty())
    op.setAliasesAttr(builder.getArrayAttr(SmallVector<Attribute>(aliases.begin(), aliases.end())));
  return op;
}

SmallVector<CandidateAttr> PlanMaker::mixers(int64_t reads) {
  const int64_t salt = int64_t(random());
  auto one = [&](StringRef kernel, bool inPlace, StringRef numerics) {
    const int64_t words = 8 * pick(0, 4), tasks = pick(1, 8);
    const int64_t attrs[] = {reads, salt, words};
    return CandidateAttr::get(builder.getContext(), CandidateSpec{.kernel = kernel,
                                                                  .tasks = tasks,
                                                                  .attrs = attrs,
                                                                  .shared = inPlace ? 64 * pick(1, 8) : 0,
                                                                  .scratch = 8 * words,
                                                                  .phases = inPlace ? 2 : 1,
                                                                  .ns = pick(100, 20000),
                                                                  .numerics = numerics,
                                                                  .inPlace = inPlace,
                                                                  .strided = chance(80)});
  };
  SmallVector<CandidateAttr> all = {one("mix.two", true, "mix")};
  if (chance(40))
    all.push_back(one("mix.one", false, "mix"));
  if (chance(15))
    all.push_back(one("mix.other", true, "other"));
  return all;
}

CandidateAttr PlanMaker::mover(StringRef kernel, ArrayRef<int64_t> attrs) {
  return CandidateAttr::get(builder.getContext(),
                            CandidateSpec{.kernel = kernel, .tasks = 1, .attrs = attrs, .ns = 2000, .strided = true});
}

Matrix PlanMaker::mix(ArrayRef<Matrix> reads, int64_t rows, int64_t columns, bool pure) {
  const std::string source = name("mix");
  Operands operands;
  SmallVector<AliasAttr> aliases;
  Matrix result = alloc(rows, columns, source);
  for (auto [i, read] : llvm::enumerate(reads)) {
    operands.add(read, AccessMode::Read);
    if (read.bytes() == result.bytes())
      aliases.push_back(
          AliasAttr::get(builder.getContext(), AliasKind::InPlace, int64_t(reads.size()), int64_t(i), 0, 0, 0, 0));
  }
  operands.add(result, AccessMode::Write);
  launch(mixers(int64_t(reads.size())), operands, source, pure && chance(90), aliases);
  return result;
}

void PlanMaker::mixInto(ArrayRef<Matrix> reads, Matrix result, ValueRange scalars) {
  Operands operands;
  for (Matrix read : reads)
    operands.add(read, AccessMode::Read);
  operands.add(result, AccessMode::Write);
  launch(mixers(int64_t(reads.size())).front(), operands, name("part"), /*pure=*/false, {}, scalars);
}

void PlanMaker::writeOutput(ArrayRef<Matrix> reads, unsigned output) {
  Matrix y = output == 0 ? input : Matrix{{}, 1, 8};
  y.buffer = program.getIOArguments()[2 + output];
  mixInto(reads, y);
}

Matrix PlanMaker::join(ArrayRef<Matrix> parts, int64_t axis) {
  const std::string source = "join" + std::to_string(moves++);
  int64_t rows = axis == 0 ? 0 : parts[0].rows, columns = axis == 1 ? 0 : parts[0].columns;
  for (Matrix part : parts)
    (axis == 0 ? rows : columns) += axis == 0 ? part.rows : part.columns;
  Matrix result = alloc(rows, columns, source);
  Operands operands;
  SmallVector<AliasAttr> aliases;
  int64_t at = 0;
  for (auto [i, part] : llvm::enumerate(parts)) {
    operands.add(part, AccessMode::Read);
    const int64_t run = axis == 1 ? 4 * part.columns : 0, stride = axis == 1 ? 4 * columns : 0;
    aliases.push_back(AliasAttr::get(builder.getContext(), AliasKind::Into, int64_t(i), int64_t(parts.size()), at, run,
                                     stride, 2000 / int64_t(parts.size())));
    at += axis == 1 ? run : part.bytes();
  }
  operands.add(result, AccessMode::Write);
  launch(mover("join", {axis}), operands, source, true, aliases);
  return result;
}

Matrix PlanMaker::cut(Matrix x, int64_t axis, int64_t begin, int64_t extent) {
  const std::string source = "cut" + std::to_string(moves++);
  Matrix result = alloc(axis == 0 ? extent : x.rows, axis == 1 ? extent : x.columns, source);
  Operands operands;
  operands.add(x, AccessMode::Read), operands.add(result, AccessMode::Write);
  const bool strided = axis == 1 && extent < x.columns;
  auto view = AliasAttr::get(builder.getContext(), AliasKind::View, 1, 0, 4 * begin * (axis == 0 ? x.columns : 1),
                             strided ? 4 * extent : 0, strided ? 4 * x.columns : 0, 2000);
  launch(mover("cut", {axis, begin}), operands, source, true, view);
  return result;
}

Matrix PlanMaker::reshaped(Matrix x) {
  auto under = [&](Matrix m, int64_t rows, int64_t columns) {
    const std::string source = name("reshape");
    Matrix result = alloc(rows, columns, source);
    Operands operands;
    operands.add(m, AccessMode::Read), operands.add(result, AccessMode::Write);
    auto view = AliasAttr::get(builder.getContext(), AliasKind::View, 1, 0, 0, 0, 0, 2000);
    launch(mover("reshape", {}), operands, source, true, view);
    return result;
  };
  if (x.rows % 2)
    return mix(x);
  return under(mix(under(x, x.rows / 2, 2 * x.columns)), x.rows, x.columns);
}

Matrix PlanMaker::sliced(Matrix x) {
  const int64_t axis = pick(0, 1), extent = axis == 0 ? x.rows : x.columns;
  if (extent < 2)
    return mix(x);
  const int64_t at = pick(1, extent - 1);
  Matrix low = cut(x, axis, 0, at), high = cut(x, axis, at, extent - at);
  return join({mix(low), chance(50) ? mix(high) : high}, axis);
}

Matrix PlanMaker::rowsOf(Matrix x, Matrix result, int64_t top, int64_t first, uint64_t salt, StringRef source) {
  Operands operands;
  operands.add(x, AccessMode::Read), operands.add(result, AccessMode::Write);
  const int64_t attrs[] = {int64_t(salt), top, first};
  auto kernel = CandidateAttr::get(
      builder.getContext(),
      CandidateSpec{.kernel = "rows", .tasks = 3, .attrs = attrs, .ns = 300 * result.rows, .strided = true});
  launch(kernel, operands, source, true);
  return result;
}

// Pieces read slices with a row more on each side, as far as there is one, and lie in the whole.
Matrix PlanMaker::image(Matrix x) {
  const std::string source = name("image");
  const uint64_t salt = random();
  const int64_t pieces = std::min<int64_t>(pick(1, 4), x.rows);
  if (!style.inPieces || pieces == 1)
    return rowsOf(x, alloc(x.rows, x.columns, source), 0, 0, salt, source);
  SmallVector<Matrix> parts;
  for (int64_t p = 0; p < pieces; ++p) {
    const int64_t begin = x.rows * p / pieces, end = x.rows * (p + 1) / pieces;
    const int64_t low = std::max<int64_t>(0, begin - 1), high = std::min(x.rows, end + 1);
    const std::string piece = source + ".piece" + std::to_string(p);
    parts.push_back(
        rowsOf(cut(x, 0, low, high - low), alloc(end - begin, x.columns, piece), begin - low, begin, salt, piece));
  }
  return join(parts, 0);
}

Matrix PlanMaker::reduced(Matrix x) {
  Matrix sum = mix(x, 1, 8);
  return mix({x, chance(50) ? mix({sum, weight()}) : sum});
}

Matrix PlanMaker::filled(Matrix x) {
  if (x.rows % 2)
    return mix(x);
  Matrix whole = alloc(x.rows, x.columns, name("filled")), half{{}, x.rows / 2, x.columns};
  if (chance(50))
    FillOp::create(builder, loc(), Type(), whole.buffer, int64_t(random()), QueueAttr(), StringAttr());
  for (int64_t part : {0, 1}) {
    half.buffer = ViewOp::create(builder, loc(), whole.buffer, part * half.bytes(), half.bytes());
    mixInto({x, weight()}, half);
  }
  return whole;
}

Matrix PlanMaker::looped(Matrix x) {
  made.hasLoop = true;
  Matrix carried = alloc(x.rows, x.columns, name("carried"));
  mixInto(x, carried);
  auto loop = LoopOp::create(builder, loc(), TypeRange(), pick(1, 4), Value(), ValueRange(), false,
                             builder.getStringAttr(name("loop")));
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&loop.getBody(), {}, {builder.getIndexType()}, {loc()});
  Matrix a = alloc(x.rows, x.columns, ""), b = alloc(1, 8, "");
  mixInto({carried, weight()}, a, body->getArgument(0));
  mixInto({a, x}, b);
  mixInto({carried, b}, carried);
  YieldOp::create(builder, loc());
  return carried;
}

Matrix PlanMaker::branched(Matrix x) {
  made.hasBranch = true;
  Matrix result = alloc(x.rows, x.columns, name("either"));
  Value which = LoadScalarOp::create(builder, loc(), builder.getIndexType(), flag, 0, DType::I32, 0, 1, StringAttr());
  auto branch = IfOp::create(builder, loc(), TypeRange(), which, builder.getStringAttr(name("if")));
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&branch.getThenRegion());
  Matrix a = alloc(x.rows, x.columns, "");
  mixInto(x, a), mixInto({a, weight()}, result);
  YieldOp::create(builder, loc());
  builder.createBlock(&branch.getElseRegion());
  mixInto({x, weight()}, result);
  YieldOp::create(builder, loc());
  return result;
}

Matrix PlanMaker::copied(Matrix x) {
  Matrix result = alloc(x.rows, x.columns, name("copy"));
  CopyOp::create(builder, loc(), Type(), x.buffer, result.buffer, ValueRange(), QueueAttr(), 0, StringAttr());
  return result;
}

// Reads the state and perhaps updates it, in place or by a copy.
Matrix PlanMaker::withState(Matrix x) {
  if (states.empty())
    return mix(x);
  Matrix state = states[size_t(pick(0, int64_t(states.size()) - 1))];
  Matrix result = mix({x, state});
  if (chance(40))
    mixInto({state, result}, state);
  else if (chance(50) && x.bytes() == state.bytes())
    CopyOp::create(builder, loc(), Type(), result.buffer, state.buffer, ValueRange(), QueueAttr(), 0, StringAttr());
  return result;
}

Matrix PlanMaker::withRest(Matrix x) {
  for (Matrix m : llvm::concat<Matrix>(weights, states))
    if (m.buffer.use_empty())
      x = mix({x, m});
  return x;
}

Matrix PlanMaker::anything(Matrix x) {
  switch (pick(0, 11)) {
  case 0:
    return image(x);
  case 1:
    return sliced(x);
  case 2:
    return reshaped(x);
  case 3:
    return reduced(x);
  case 4:
    return chance(60) ? filled(x) : copied(x);
  case 5:
    return chance(60) ? looped(x) : branched(x);
  case 6:
    return withState(x);
  case 7:
    return mix({x, weight()}, x.rows, x.columns, /*pure=*/false);
  case 8:
    return mix({x, weight()});
  default:
    return mix(x);
  }
}

} // namespace plim::test
