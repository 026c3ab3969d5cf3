//===- Operands.cpp - Buffers of values, and the ranges of a launch's operands --------------===//
#include "compiler/Lowering/GraphToPlan/ProgramLowering.h"

using namespace mlir;

namespace plim::lowering {

graph::LaunchOperand ProgramLowering::naturalOperand(Value value) const {
  graph::LaunchOperand o;
  o.value = value;
  o.dims = Sizes(sizes.sizesOf(value));
  o.strides = sizes.stridesOf(value);
  return o;
}

plan::ShapeAttr ProgramLowering::shapeAttr(const graph::LaunchOperand &operand) const {
  plim_shape s = largestShape(sizes, operand);
  ArrayRef<int64_t> bounds(s.dims, s.rank), strideBounds(s.strides, s.rank);
  // Products of sizes that a contiguous tensor has for strides need no saying.
  bool open = !llvm::all_of(operand.dims, [](AffineExpr e) { return constantOf(e).has_value(); });
  SizesRef strides = operand.strides;
  if (open && strides == SizesRef(rowMajor(operand.dims)))
    strides = {}, strideBounds = {};
  return plan::ShapeAttr::getNormalized(context, plan::DType(s.dtype), plan::Layout(s.layout), operand.dims, bounds,
                                        strides, strideBounds);
}

std::optional<int64_t> ProgramLowering::fixedOffset(const graph::LaunchOperand &operand) {
  if (!operand.offset)
    return 0;
  std::optional<int64_t> elements = constantOf(operand.offset);
  return elements ? std::optional(*elements * graph::elementBytes(graph::elementTypeOf(operand.value))) : std::nullopt;
}

plan::AccessAttr ProgramLowering::accessAttr(const graph::LaunchOperand &operand) const {
  plan::ShapeAttr shape = shapeAttr(operand);
  int64_t offset = fixedOffset(operand).value_or(0);
  int64_t whole = sizes.largestBytes(operand.value), extent = shape.getExtentBytes();
  // What starts at a place of the run goes to the end of its value as far as a plan can say.
  bool all = !fixedOffset(operand) || (offset == 0 && (extent == whole || shape.getLayout() != plan::Layout::Row));
  auto mode = operand.access == graph::Access::Read    ? plan::AccessMode::Read
              : operand.access == graph::Access::Write ? plan::AccessMode::Write
                                                       : plan::AccessMode::ReadWrite;
  return plan::AccessAttr::get(context, mode, offset, all ? 0 : extent, shape);
}

Value ProgramLowering::bufferOf(Value value, StringRef source) {
  Value root = storageOf(value);
  if (Value known = buffers.lookup(root))
    return known;
  int64_t bytes = sizes.largestBytes(root);
  Operation *op = root.getDefiningOp();
  if (isa<graph::ParameterOp, graph::ConstantOp>(op))
    return buffers[root] = residentOf(op, bytes);
  return buffers[root] = plan::AllocOp::create(b, op->getLoc(), plan::BufferType::get(context, bytes), source);
}

Value ProgramLowering::residentOf(Operation *op, int64_t bytes) {
  std::string name = shared.nameOf(op);
  Value &home = homes[name];
  if (home)
    return home;
  shared.declare(op, name, shapeAttr(naturalOperand(op->getResult(0))), bytes);
  return home = addResident(name, bytes, op->getLoc());
}

Value ProgramLowering::addResident(StringRef name, int64_t bytes, Location loc) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(program.getBlock());
  return plan::ResidentOp::create(b, loc, plan::BufferType::get(context, bytes), FlatSymbolRefAttr::get(context, name),
                                  FlatSymbolRefAttr(), IntegerAttr());
}

Value ProgramLowering::startOf(const graph::LaunchOperand &operand, Value buffer) {
  if (fixedOffset(operand))
    return buffer;
  AffineExpr bytes = operand.offset * graph::elementBytes(graph::elementTypeOf(operand.value));
  Value scalar = scalarsOf({bytes})[0];
  return plan::ViewOp::create(b, function.getLoc(), buffer, 0, sizes.largestBytes(operand.value), scalar);
}

} // namespace plim::lowering
