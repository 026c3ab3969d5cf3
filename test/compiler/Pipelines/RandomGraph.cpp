//===- RandomGraph.cpp - The skeletons of random graphs -------------------------------------===//
#include "test/compiler/Pipelines/RandomGraph.h"

using namespace mlir;

namespace plim::test {

OpMaker::OpMaker(MLIRContext &context, unsigned seed)
    : module(ModuleOp::create(UnknownLoc::get(&context))), b(&context), loc(b.getUnknownLoc()), random(seed) {
  b.setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(b, loc, "main", b.getFunctionType({}, {}));
  block = function.addEntryBlock();
  b.setInsertionPointToEnd(block);
}

Value OpMaker::argument(ArrayRef<int64_t> dims, Type element, int64_t limit) {
  indexLimits.push_back(limit);
  return block->addArgument(RankedTensorType::get(dims, element), loc);
}
Value OpMaker::parameter(ArrayRef<int64_t> dims) { return argument(dims, b.getF32Type(), 0); }
Value OpMaker::indices(ArrayRef<int64_t> dims, int64_t limit) {
  return argument(dims, chance(75) ? b.getI64Type() : b.getI32Type(), limit);
}
Value OpMaker::maskParameter(ArrayRef<int64_t> dims) { return argument(dims, b.getI1Type(), 0); }

ArrayRef<int64_t> OpMaker::dimsOf(Value v) { return cast<RankedTensorType>(v.getType()).getShape(); }

namespace {

class GraphMaker : public OpMaker {
public:
  using OpMaker::OpMaker;

  RandomGraph make() {
    isImage = chance(50);
    setChannelsLast(chance(50));
    // The runtime keeps launches of less than 32 KiB on one thread; one graph in eight has larger ones.
    int64_t scale = chance(12) ? 3 : 1;
    Value x = isImage ? parameter(imageDims(oneOf<int64_t>({2, 4, 8}), scale * pick(4, 11), scale * pick(4, 11)))
                      : parameter({pick(1, 2), scale * scale * pick(3, 9), scale * oneOf<int64_t>({8, 12, 16})});
    int64_t skeleton = pick(0, 4);
    if (skeleton == 0)
      x = layers(x);
    else if (skeleton == 1)
      x = seriesParallel(x, pick(2, 4));
    else if (skeleton == 2)
      x = residuals(x);
    else if (skeleton == 3)
      x = isImage ? uNet(x, pick(1, 3)) : uNetOfSequences(x);
    else
      x = isImage ? imageThenTokens(x) : transformer(x);
    addOutputs(x);
    return {std::move(module), function, indexLimits};
  }

private:
  SmallVector<int64_t> imageDims(int64_t channels, int64_t rows, int64_t columns) {
    int64_t batch = chance(25) ? 2 : 1;
    if (channelsLast)
      return {batch, rows, columns, channels};
    return {batch, channels, rows, columns};
  }

  Value layer(Value x) {
    if (chance(40))
      return keep(anywhere(x));
    return keep(isImage ? image(x) : (chance(30) ? attention(x) : project(x, dimsOf(x).back())));
  }

  Value layers(Value x) {
    SmallVector<Value> all = {x};
    for (int64_t i = pick(6, 22); i > 0; --i) {
      auto recent = [&] { return all[size_t(pick(std::max<int64_t>(0, int64_t(all.size()) - 4), all.size() - 1))]; };
      all.push_back(chance(35) ? keep(join(recent(), recent())) : layer(recent()));
    }
    return all.back();
  }

  Value seriesParallel(Value x, int64_t depth) {
    if (depth == 0)
      return layer(x);
    if (chance(45))
      return seriesParallel(seriesParallel(x, depth - 1), depth - 1);
    return keep(join(seriesParallel(x, depth - 1), chance(30) ? x : seriesParallel(x, depth - 1)));
  }

  Value residuals(Value x) {
    for (int64_t blocks = pick(2, 5); blocks > 0; --blocks) {
      Value inner = x;
      for (int64_t i = pick(1, 3); i > 0; --i)
        inner = layer(inner);
      x = keep(graph::AddOp::create(b, loc, x, inner));
      if (chance(50))
        x = keep(unary(x));
    }
    return x;
  }

  Value uNet(Value x, int64_t depth) {
    Value skip = layer(x);
    ArrayRef<int64_t> size = spatial(x);
    if (depth == 0 || size[0] < 4 || size[1] < 4)
      return skip;
    int64_t channels = dimsOf(x)[channelAxis()];
    Value down = chance(50) ? pool(skip, true) : conv(skip, channels, 2);
    Value up = resize(uNet(keep(down), depth - 1), size[0], size[1]);
    Value both = graph::ConcatOp::create(b, loc, ValueRange{skip, keep(up)}, channelAxis());
    return keep(conv(keep(both), channels));
  }

  /// Skips over halves of the time axis.
  Value uNetOfSequences(Value x) {
    SmallVector<Value> skips;
    for (int64_t i = pick(2, 4); i > 0; --i)
      skips.push_back(x = layer(x));
    for (Value skip : llvm::reverse(skips)) {
      Value both = graph::ConcatOp::create(b, loc, ValueRange{x, skip}, 2);
      x = keep(project(keep(both), dimsOf(skip).back()));
    }
    return x;
  }

  Value transformer(Value x) {
    for (int64_t blocks = pick(1, 3); blocks > 0; --blocks)
      x = keep(transformerBlock(x));
    return chance(30) ? keep(project(x, 5)) : x;
  }

  Value imageThenTokens(Value x) {
    x = layer(layer(x));
    SmallVector<int64_t> dims(dimsOf(x));
    if (!channelsLast)
      x = graph::TransposeOp::create(b, loc, x, ArrayRef<int64_t>{0, 2, 3, 1});
    x = graph::ReshapeOp::create(b, loc, x, ArrayRef<int64_t>{dims[0], -1, dims[size_t(channelAxis())]});
    isImage = false;
    x = keep(transformerBlock(keep(project(x, 8))));
    return keep(project(x, 3));
  }

  /// Several outputs, among them at times an input, a value twice, or a reshape of another output.
  void addOutputs(Value last) {
    SmallVector<Value> outputs = {last};
    for (int64_t i = pick(0, 3); i > 0; --i)
      outputs.push_back(made[size_t(pick(0, int64_t(made.size()) - 1))]);
    if (chance(20))
      outputs.push_back(outputs[size_t(pick(0, int64_t(outputs.size()) - 1))]);
    if (chance(20))
      outputs.push_back(block->getArgument(unsigned(pick(0, block->getNumArguments() - 1))));
    if (chance(20))
      outputs.push_back(graph::ReshapeOp::create(b, loc, outputs[0], ArrayRef<int64_t>{-1}));
    func::ReturnOp::create(b, loc, outputs);
    function.setFunctionType(b.getFunctionType(block->getArgumentTypes(), ValueRange(outputs).getTypes()));
  }

  bool isImage = false;
};

} // namespace

RandomGraph makeRandomGraph(MLIRContext &context, unsigned seed) { return GraphMaker(context, seed).make(); }

} // namespace plim::test
