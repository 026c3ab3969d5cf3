//===- VerifyOps.cpp - What holds for one operation by itself, in every stage ---------------------===//

#include "dialects/Plan/PlanSteps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace plim::plan;

static int64_t bytesOf(Value buffer) { return cast<BufferType>(buffer.getType()).getBytes(); }
static std::optional<Tier> tierOf(Value buffer) { return cast<BufferType>(buffer.getType()).getTier(); }

LogicalResult ConstantOp::verify() {
  if (getOffset() < 0 || (!getFile() && getOffset() % kAlign))
    return emitOpError() << "need an offset in the weight file that is a multiple of " << kAlign << ", have "
                         << getOffset();
  if (getBytes() < getShape().getExtentBytes())
    return emitOpError() << "need " << getShape().getExtentBytes() << " bytes for its shape, have " << getBytes();
  if (!getShape().isStatic())
    return emitOpError() << "need a shape of numbers only";
  return success();
}

LogicalResult StateOp::verify() {
  if (getBytes() < getShape().getExtentBytes())
    return emitOpError() << "need " << getShape().getExtentBytes() << " bytes for its shape, have " << getBytes();
  if (!getShape().isStatic())
    return emitOpError() << "need a shape of numbers only";
  return success();
}

LogicalResult ArenaOp::verify() {
  BufferType type = getBufferType();
  if (!type.getTier())
    return emitOpError() << "need a tier";
  int64_t align = *type.getTier() == Tier::Ssd ? kSsdAlign : kAlign;
  if (type.getBytes() % align)
    return emitOpError() << "need a multiple of " << align << " bytes, have " << type.getBytes();
  if (getTouched() < 0 || getTouched() > type.getBytes())
    return emitOpError() << "need touched in [0, " << type.getBytes() << "], have " << getTouched();
  return success();
}

LogicalResult ResidentOp::verify() {
  if (getArena().has_value() != getOffset().has_value() || (getArena() && getInFile()))
    return emitOpError() << "need one home: an arena with an offset, or the file";
  if (getOffset() && (*getOffset() < 0 || *getOffset() % kAlign))
    return emitOpError() << "need an offset that is a multiple of " << kAlign << ", have " << *getOffset();
  if (getInFile() && tierOf(getBuffer()) != Tier::Ssd)
    return emitOpError() << "need tier ssd for what lies in the file";
  return success();
}

LogicalResult AllocOp::verify() {
  if (getAlign() < kAlign || !llvm::isPowerOf2_64(getAlign()))
    return emitOpError() << "need an alignment that is a power of two and at least " << kAlign << ", have "
                         << getAlign();
  if (tierOf(getBuffer()) == Tier::Ssd && getAlign() < kSsdAlign)
    return emitOpError() << "need an alignment of at least " << kSsdAlign << " on the ssd, have " << getAlign();
  if (getOffset() && (*getOffset() < 0 || *getOffset() % getAlign()))
    return emitOpError() << "need an offset that is a multiple of " << getAlign() << ", have " << *getOffset();
  if (getGroup().has_value() != getSizes().has_value())
    return emitOpError() << "need group and sizes together";
  if (getSizes() && (getSizes()->empty() || *llvm::max_element(*getSizes()) != bytesOf(getBuffer())))
    return emitOpError() << "need sizes whose largest is that of the type, " << bytesOf(getBuffer()) << " bytes";
  return success();
}

LogicalResult ViewOp::verify() {
  if (getArena().has_value() == bool(getBase()))
    return emitOpError() << "need one base: an arena or a buffer";
  if (getOffset() < 0)
    return emitOpError() << "need an offset of at least 0, have " << getOffset();
  if (getArena()) {
    if (getDynamic())
      return emitOpError() << "need a fixed offset in an arena";
    if (getOffset() % kAlign)
      return emitOpError() << "need an offset that is a multiple of " << kAlign << ", have " << getOffset();
    return success();
  }
  if (tierOf(getBase()) != tierOf(getBuffer()))
    return emitOpError() << "need the tier of the buffer that it is a part of";
  if (getOffset() + bytesOf(getBuffer()) > bytesOf(getBase()))
    return emitOpError() << "need a range in [0, " << bytesOf(getBase()) << "), have [" << getOffset() << ", "
                         << getOffset() + bytesOf(getBuffer()) << ")";
  if (getSource())
    return emitOpError() << "need the source on the buffer that it is a part of";
  return success();
}

/// What is issued on a queue other than the cpu's runs on: without a token nobody could wait for it.
static LogicalResult verifyQueue(Operation *op, std::optional<QueueAttr> queue, Value token) {
  if (queue && (queue->getKind() != QueueKind::Cpu || queue->getNumber() != 0) && !token)
    return op->emitOpError() << "need a token on a queue that runs beside the host";
  return success();
}

static LogicalResult verifyAccess(LaunchOp launch, unsigned index, AccessAttr access) {
  int64_t bytes = bytesOf(launch.getBuffers()[index]);
  ShapeAttr shape = access.getShape();
  int64_t span = access.getSpan() ? access.getSpan() : bytes - access.getOffset();
  if (span < 0 || access.getOffset() + span > bytes)
    return launch.emitOpError() << "operand " << index << ": need a range in [0, " << bytes << "), have ["
                                << access.getOffset() << ", " << access.getOffset() + span << ")";
  if (shape.getExtentBytes() > span)
    return launch.emitOpError() << "operand " << index << ": need " << shape.getExtentBytes()
                                << " bytes for its shape, have " << span;
  if (shape.getScalarsUsed() > launch.getDims().size())
    return launch.emitOpError() << "operand " << index << ": need " << shape.getScalarsUsed()
                                << " scalars in dims for its shape, have " << launch.getDims().size();
  if (access.writes() && llvm::is_contained(shape.getStrideBounds(), 0))
    return launch.emitOpError() << "operand " << index << ": need strides other than 0 where it writes";
  return success();
}

static LogicalResult verifyAlias(LaunchOp launch, AliasAttr alias) {
  int64_t count = launch.getBuffers().size();
  if (alias.getOperand() < 0 || alias.getOperand() >= count || alias.getBase() < 0 || alias.getBase() >= count ||
      alias.getOperand() == alias.getBase())
    return launch.emitOpError() << "need two of the " << count << " operands for an alias, have " << alias.getOperand()
                                << " on " << alias.getBase();
  bool operandIsRead = alias.getKind() == AliasKind::Into;
  AccessAttr operand = launch.getAccess(alias.getOperand()), base = launch.getAccess(alias.getBase());
  if (operand.reads() != operandIsRead || base.reads() == operandIsRead || operand.writes() == operandIsRead)
    return launch.emitOpError() << "alias " << stringifyAliasKind(alias.getKind()) << ": need "
                                << (operandIsRead ? "a read operand on a written one"
                                                  : "a written operand on a read one");
  if (alias.getOffset() < 0 || alias.getRun() < 0 || (alias.getRun() && alias.getStride() < alias.getRun()))
    return launch.emitOpError() << "alias: need offset >= 0 and stride >= run >= 0";
  return success();
}

LogicalResult LaunchOp::verify() {
  if (getCandidates().empty())
    return emitOpError() << "need at least one candidate";
  if (getAccesses().size() != getBuffers().size())
    return emitOpError() << "need one access a buffer (" << getBuffers().size() << "), have " << getAccesses().size();
  for (auto [index, access] : llvm::enumerate(getAccesses().getAsRange<AccessAttr>()))
    if (failed(verifyAccess(*this, index, access)))
      return failure();
  for (CandidateAttr candidate : getCandidates().getAsRange<CandidateAttr>())
    if (!candidate.getLayouts().empty() && candidate.getLayouts().size() != getBuffers().size())
      return emitOpError() << "candidate '" << candidate.getKernel() << "': need one layout a buffer ("
                           << getBuffers().size() << "), have " << candidate.getLayouts().size();
  if (getAliases())
    for (AliasAttr alias : getAliases()->getAsRange<AliasAttr>())
      if (failed(verifyAlias(*this, alias)))
        return failure();
  int64_t reads = llvm::count_if(getAccesses().getAsRange<AccessAttr>(), [](AccessAttr a) { return a.reads(); });
  if (getSplits())
    for (SplitAttr split : getSplits()->getAsRange<SplitAttr>())
      if (int64_t(split.getHalos().size()) != 4 * reads)
        return emitOpError() << "split '" << split.getAxis() << "': need halos for " << reads << " buffers read, have "
                             << split.getHalos().size() / 4;
  if (getInstance() < 0)
    return emitOpError() << "need an instance number of at least 0, have " << getInstance();
  return verifyQueue(*this, getQueue(), getToken());
}

LogicalResult CopyOp::verify() {
  if (bytesOf(getSrc()) != bytesOf(getDst()))
    return emitOpError() << "need buffers of equal sizes, have " << bytesOf(getSrc()) << " and " << bytesOf(getDst());
  bool fromSsd = tierOf(getSrc()) == Tier::Ssd, toSsd = tierOf(getDst()) == Tier::Ssd;
  if (fromSsd && toSsd)
    return emitOpError() << "need one end in the ram, have both on the ssd";
  QueueKind need = fromSsd ? QueueKind::Read : QueueKind::Write;
  if ((fromSsd || toSsd) && getQueue() && !llvm::is_contained({need, QueueKind::Cpu}, getQueue()->getKind()))
    return emitOpError() << "need queue " << stringifyQueueKind(need) << (fromSsd ? " from" : " to") << " the ssd";
  return verifyQueue(*this, getQueue(), getToken());
}

LogicalResult FillOp::verify() { return verifyQueue(*this, getQueue(), getToken()); }

LogicalResult WaitOp::verify() {
  if (getTokens().empty())
    return emitOpError() << "need at least one token";
  return success();
}

LogicalResult CheckOp::verify() {
  if (getLower() > getUpper())
    return emitOpError() << "need lower <= upper, have [" << getLower() << ", " << getUpper() << "]";
  return success();
}

LogicalResult LoadScalarOp::verify() {
  if (llvm::is_contained({DType::F32, DType::F16, DType::BF16, DType::F64}, getDtype()))
    return emitOpError() << "need an integer type, have " << stringifyDType(getDtype());
  int64_t size = ShapeAttr::get(getContext(), getDtype(), ArrayRef<int64_t>{1}).getElementBytes();
  int64_t offset = getOffset();
  if (offset < 0 || offset % size || offset + size > bytesOf(getBuffer()))
    return emitOpError() << "need an aligned element in [0, " << bytesOf(getBuffer()) << "), have [" << offset << ", "
                         << offset + size << ")";
  if (getLower() > getUpper())
    return emitOpError() << "need lower <= upper, have [" << getLower() << ", " << getUpper() << "]";
  return success();
}

LogicalResult EvalOp::verify() {
  if (getFunction().has_value() != getBody().empty())
    return emitOpError() << "need a body or the number of a function";
  return success();
}

/// The region ends by yielding `count` scalars.
static LogicalResult verifyYield(Operation *op, Region &region, size_t count) {
  auto yield = region.front().empty() ? nullptr : dyn_cast<YieldOp>(region.front().back());
  if (!yield)
    return op->emitOpError() << "need plan.yield at the end of its region";
  if (yield.getValues().size() != count)
    return yield.emitOpError() << "need " << count << " scalars, have " << yield.getValues().size();
  return success();
}

LogicalResult EvalOp::verifyRegions() {
  if (getBody().empty())
    return success();
  if (getBody().getNumArguments() != getInputs().size())
    return emitOpError() << "need one region argument an input";
  for (Operation &op : getBody().front())
    if (!isa<YieldOp>(op) && op.getName().getDialectNamespace() != "arith")
      return op.emitOpError() << "need arith operations in plan.eval";
  return verifyYield(*this, getBody(), getNumResults());
}

LogicalResult IfOp::verifyRegions() {
  if (getElseRegion().empty() && getNumResults())
    return emitOpError() << "need an else region where it has results";
  if (failed(verifyYield(*this, getThenRegion(), getNumResults())))
    return failure();
  return getElseRegion().empty() ? success() : verifyYield(*this, getElseRegion(), getNumResults());
}

LogicalResult LoopOp::verifyRegions() {
  if (getMaxTrips() < 0)
    return emitOpError() << "need max trips of at least 0, have " << getMaxTrips();
  if (getConditional() && getInits().empty())
    return emitOpError() << "need a carried scalar as the condition of while";
  if (getBody().getNumArguments() != getInits().size() + 1 || getNumResults() != getInits().size())
    return emitOpError() << "need one argument and one result a carried scalar, and the trip's number";
  return verifyYield(*this, getBody(), getNumResults());
}
