// The check of a step table, in two parts: sections and records by themselves, then programs step by step.
#ifndef PLIM_RUNTIME_CORE_TABLE_CHECK_H
#define PLIM_RUNTIME_CORE_TABLE_CHECK_H

#include "runtime/core/error.h"
#include "runtime/core/table_view.h"

namespace plim::rt {

/// True where [first, first + count) lies within [0, limit).
inline bool within(uint64_t first, uint64_t count, uint64_t limit) { return count <= limit && first <= limit - count; }

/// Records of all sections, each against the sections that it names. Precondition: the sections are sound.
plim_status checkRecords(TableView t, const Owners &owners);

/// One program: its steps, regions, live ranges, tokens and states. Precondition: checkRecords passed.
plim_status checkProgram(TableView t, const Owners &owners, uint32_t program);

/// The figures of one program against what follows from the table. Precondition: checkProgram passed for all programs.
plim_status checkFigures(TableView t, const Owners &owners, uint32_t program);

} // namespace plim::rt

#endif
