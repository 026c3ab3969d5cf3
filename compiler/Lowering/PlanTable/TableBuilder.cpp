//===- TableBuilder.cpp - Sections of a step table while it is being written ----------------------===//

#include "compiler/Lowering/PlanTable/TableBuilder.h"

#include "runtime/core/record_bytes.h"

#include <cstring>

using namespace mlir;
using namespace plim::plan;

TableBytes TableBytes::copyOf(ArrayRef<char> bytes) {
  TableBytes copy(bytes.size());
  llvm::copy(bytes, copy.writable());
  return copy;
}

uint32_t TableBuilder::once(plim_section section, std::string key, size_t unit) {
  auto [it, isNew] = known.try_emplace({section, std::move(key)}, sections[section].size() / unit);
  if (isNew)
    sections[section] += it->first.second;
  return it->second;
}

template <typename T> uint32_t TableBuilder::list(plim_section section, ArrayRef<T> items) {
  if (items.empty())
    return 0;
  return once(section, std::string(reinterpret_cast<const char *>(items.data()), items.size() * sizeof(T)), sizeof(T));
}
template uint32_t TableBuilder::list<int64_t>(plim_section, ArrayRef<int64_t>);
template uint32_t TableBuilder::list<uint32_t>(plim_section, ArrayRef<uint32_t>);

uint32_t TableBuilder::string(StringRef text) {
  hasCutText |= text.contains('\0');
  std::string key(text);
  key.push_back('\0');
  return once(PLIM_SEC_STRINGS, std::move(key), 1);
}

uint32_t TableBuilder::kernel(StringRef name, uint32_t phases) {
  plim_t_kernel record = {string(name), phases};
  uint32_t before = count<plim_t_kernel>(PLIM_SEC_KERNELS);
  uint32_t number =
      once(PLIM_SEC_KERNELS, std::string(reinterpret_cast<char *>(&record), sizeof record), sizeof record);
  if (number == before)
    kernelNames.push_back(name.str());
  return number;
}

uint32_t TableBuilder::shape(ShapeAttr shape, ArrayRef<uint32_t> scalars) {
  plim_t_shape record = {};
  record.dtype = static_cast<uint8_t>(shape.getDtype());
  record.layout = static_cast<uint8_t>(shape.getLayout());
  record.rank = shape.getRank();
  std::fill(std::begin(record.dim_scalar), std::end(record.dim_scalar), PLIM_NONE);
  std::fill(std::begin(record.stride_scalar), std::end(record.stride_scalar), PLIM_NONE);
  SmallVector<int64_t> strides = shape.getStridesAtBounds();
  for (int64_t i = 0; i < shape.getRank(); ++i) {
    record.dims[i] = shape.getBounds()[i];
    record.strides[i] = strides[i];
    if (auto symbol = dyn_cast<AffineSymbolExpr>(shape.getDims()[i]))
      record.dim_scalar[i] = scalars[symbol.getPosition()];
    if (!shape.getStrides().empty())
      if (auto symbol = dyn_cast<AffineSymbolExpr>(shape.getStrides()[i]))
        record.stride_scalar[i] = scalars[symbol.getPosition()];
  }
  record.dynamic = !shape.isStatic();
  return once(PLIM_SEC_SHAPES, std::string(reinterpret_cast<char *>(&record), sizeof record), sizeof record);
}

TableBytes TableBuilder::finish(const plim_table &header) const {
  plim_table filled = header;
  std::memcpy(filled.magic, PLIM_TABLE_MAGIC, sizeof filled.magic);
  filled.version = PLIM_TABLE_VERSION;
  filled.header_bytes = sizeof(plim_table);
  uint64_t end = sizeof(plim_table);
  for (int s = 0; s < PLIM_SEC_COUNT; ++s) {
    end = llvm::alignTo(end, 8);
    filled.sections[s] = {end, sections[s].size() / rt::kRecordBytes[s]};
    end += sections[s].size();
  }
  filled.bytes = llvm::alignTo(end, 8);
  TableBytes table(filled.bytes);
  std::memcpy(table.writable(), &filled, sizeof filled);
  for (int s = 0; s < PLIM_SEC_COUNT; ++s)
    llvm::copy(sections[s], table.writable() + filled.sections[s].offset);
  return table;
}
