//===- TableReader.h - Typed access to a checked step table ----------------------------*- C++ -*-===//
#pragma once

#include "compiler/Lowering/PlanTable/PlanTable.h"

namespace plim::plan {

/// Precondition of everything here: the table has passed plim_table_check.
class TableReader {
public:
  explicit TableReader(const plim_table *table) : header(*table), base(reinterpret_cast<const char *>(table)) {}

  template <typename Record> llvm::ArrayRef<Record> all(plim_section section) const {
    const plim_t_span &span = header.sections[section];
    return {reinterpret_cast<const Record *>(base + span.offset), size_t(span.count)};
  }
  /// "" where there is none.
  llvm::StringRef string(uint32_t offset) const {
    return offset == PLIM_NONE ? "" : llvm::StringRef(base + header.sections[PLIM_SEC_STRINGS].offset + offset);
  }
  llvm::ArrayRef<int64_t> words(uint32_t first, uint32_t count) const {
    return count ? all<int64_t>(PLIM_SEC_WORDS).slice(first, count) : llvm::ArrayRef<int64_t>();
  }
  llvm::ArrayRef<uint32_t> indices(uint32_t first, uint32_t count) const {
    return count ? all<uint32_t>(PLIM_SEC_INDICES).slice(first, count) : llvm::ArrayRef<uint32_t>();
  }
  llvm::ArrayRef<plim_t_step> steps(const plim_t_program &program) const {
    return all<plim_t_step>(PLIM_SEC_STEPS).slice(program.first_step, program.steps);
  }

  const plim_table &header;

private:
  const char *base;
};

} // namespace plim::plan
