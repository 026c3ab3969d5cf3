//===- ModelHeader.h - model.h: names and sizes for C programs ---------------------------===//
#ifndef PLIM_COMPILER_EMIT_MODELHEADER_H
#define PLIM_COMPILER_EMIT_MODELHEADER_H

#include "plim/table.h"
#include <string>

namespace plim::emit {

/// The text of model.h: a usage example, then entries, inputs, outputs and sizes as constants. `prefix` is a C name.
/// The table must have passed plim_table_check.
std::string modelHeader(const plim_table *table, const std::string &prefix);

} // namespace plim::emit

#endif
