//===- AttentionOps.cpp - Scaled dot-product attention -----------------------------------------------------------===//

#include "dialects/Graph/GraphDialect.h"
#include "mlir/IR/OpImplementation.h"
#include <cmath>

using namespace mlir;
using namespace plim::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/AttentionOps.cpp.inc"

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  StringRef name = "graph.attention";
  Dims q = dimsOf(adaptor.getQuery().getType()), k = dimsOf(adaptor.getKey().getType()),
       v = dimsOf(adaptor.getValue().getType());
  std::string have = toString(q) + ", " + toString(k) + " and " + toString(v);
  if (q.size() != 4 || k.size() != 4 || v.size() != 4)
    return shapeError(loc, name, "needs query, key and value [batch, heads, length, size], has " + Twine(have));
  bool grouped = !q[1].isStatic() || !k[1].isStatic() || (k[1].lo > 0 && q[1].lo % k[1].lo == 0);
  if (!canBeEqual(q[0], k[0]) || !canBeEqual(k[0], v[0]) || !canBeEqual(k[1], v[1]) || !grouped ||
      !canBeEqual(k[2], v[2]) || !canBeEqual(q[3], k[3]))
    return shapeError(
        loc, name, "needs [B, H, S, D], [B, Hk, T, D] and [B, Hk, T, Dv] with H a multiple of Hk, has " + Twine(have));
  types.push_back(tensorOf(Dims{q[0], q[1], q[2], v[3]}, elementTypeOf(adaptor.getQuery())));
  return success();
}

LogicalResult AttentionOp::verify() {
  Type element = elementTypeOf(getQuery());
  if (elementTypeOf(getKey()) != element || elementTypeOf(getValue()) != element)
    return emitOpError("needs query, key and value of one element type, has ")
           << element << ", " << elementTypeOf(getKey()) << " and " << elementTypeOf(getValue());
  if (getChunk() < 1)
    return emitOpError("needs a chunk of at least 1 row, has ") << getChunk();
  if (!getMask())
    return success();
  Type maskElement = elementTypeOf(getMask());
  if (maskElement != element && !maskElement.isInteger(1))
    return emitOpError("needs a mask of type ") << element << " or i1, has " << maskElement;
  Dims q = dimsOf(getQuery().getType()), k = dimsOf(getKey().getType());
  Dims scores{q[0], q[1], q[2], k[2]};
  if (!broadcastsTo(dimsOf(getMask().getType()), scores))
    return emitOpError("needs a mask that broadcasts to the scores ")
           << toString(scores) << ", has " << toString(dimsOf(getMask().getType()));
  return success();
}

double AttentionOp::getEffectiveScale() {
  if (getScale() != 0)
    return getScale();
  return 1 / std::sqrt(static_cast<double>(dimsOf(getQuery().getType())[3].lo));
}
