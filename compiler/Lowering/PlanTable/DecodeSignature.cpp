//===- DecodeSignature.cpp - Shapes and the signature of a program, from a step table --------------------===//

#include "compiler/Lowering/PlanTable/DecodeProgram.h"

using namespace mlir;
using namespace plim::plan;

ShapeAttr plim::plan::decodeShape(MLIRContext *context, const plim_t_shape &record, SmallVectorImpl<uint32_t> &slots,
                                  bool contiguous) {
  auto expr = [&](int64_t value, uint32_t scalar) {
    if (scalar == PLIM_NONE)
      return getAffineConstantExpr(value, context);
    auto *known = llvm::find(slots, scalar);
    unsigned position = known - slots.begin();
    if (known == slots.end())
      slots.push_back(scalar);
    return getAffineSymbolExpr(position, context);
  };
  SmallVector<AffineExpr> dims, strides;
  for (unsigned i = 0; i < record.rank; ++i)
    dims.push_back(expr(record.dims[i], record.dim_scalar[i]));
  for (unsigned i = 0; i < record.rank && !contiguous; ++i)
    strides.push_back(expr(record.strides[i], record.stride_scalar[i]));
  ArrayRef<int64_t> strideBounds(record.strides, contiguous ? 0 : record.rank);
  return ShapeAttr::getNormalized(context, static_cast<DType>(record.dtype), static_cast<Layout>(record.layout), dims,
                                  ArrayRef<int64_t>(record.dims, record.rank), strides, strideBounds);
}

static TierBytesAttr tierBytes(MLIRContext *context, const uint64_t (&bytes)[PLIM_TIER_COUNT], uint64_t absent) {
  SmallVector<int64_t> known;
  for (uint64_t b : bytes)
    known.push_back(b == absent ? -1 : int64_t(b));
  return llvm::all_of(known, [](int64_t b) { return b < 0; }) ? TierBytesAttr() : TierBytesAttr::get(context, known);
}

ProgramOp plim::plan::createProgram(const TableReader &table, const DecodedShared &shared, const plim_t_program &record,
                                    SmallVectorImpl<uint32_t> &outputSizes, OpBuilder &builder) {
  MLIRContext *context = builder.getContext();
  StringRef variant = table.string(table.all<plim_t_variant>(PLIM_SEC_VARIANTS)[record.variant].name);
  SmallVector<SymbolAttr> symbols;
  SmallVector<uint32_t> symbolSlots;
  for (const plim_t_symbol &symbol :
       table.all<plim_t_symbol>(PLIM_SEC_SYMBOLS).slice(record.first_symbol, record.symbols)) {
    symbols.push_back(SymbolAttr::get(context, table.string(symbol.name), symbol.lower, symbol.upper));
    symbolSlots.push_back(symbol.scalar);
  }
  SmallVector<IOAttr> ios;
  SmallVector<BufferType> types;
  for (const plim_t_io &io : table.all<plim_t_io>(PLIM_SEC_IOS).slice(record.first_io, record.ios)) {
    ShapeAttr shape = decodeShape(context, table.all<plim_t_shape>(PLIM_SEC_SHAPES)[io.shape], symbolSlots, true);
    ios.push_back(IOAttr::get(context, table.string(io.name), io.is_output, shape,
                              io.state == PLIM_NONE ? FlatSymbolRefAttr() : shared.states[io.state], io.is_reused));
    types.push_back(BufferType::get(context, io.bytes, Tier::Ram));
  }
  outputSizes.append(symbolSlots.begin() + symbols.size(), symbolSlots.end());
  std::string name = table.string(record.name).str();
  if (!variant.empty())
    name += "." + variant.str();
  auto op = ProgramOp::create(builder, builder.getUnknownLoc(), name, Stage::Placed, symbols, ios, types);
  if (!variant.empty())
    op.setVariant(variant);
  if (record.first_commit_step != record.steps)
    op.setCommit(record.first_commit_step);
  if (auto budget = tierBytes(context, record.budget, UINT64_MAX))
    op.setBudgetAttr(budget);
  if (auto peak = tierBytes(context, record.reserved_peak, 0))
    op.setReservedPeakAttr(peak);
  if (auto peak = tierBytes(context, record.live_peak, 0))
    op.setLivePeakAttr(peak);
  return op;
}
