//===- CheckTable.h - Does a step table keep its memory contract? ------------------------------===//
//
// Replays every program of a table over sets of bytes, knowing nothing of the planner or the plan dialect:
//   - an operand lies inside the live range that it names, between that buffer's birth and death; other memory is a
//     resident's or the caller's; constants and inputs are not written, states only from first_commit_step on;
//   - buffers that live at the same time share no byte: a birth makes the bytes undefined, so what lies in another's
//     bytes (an in-place result, a piece of a concat, a view) uses that buffer's live range. Only a buffer that slides
//     may be born on bytes of itself: its birth, the copy on the cpu and the death of the old one follow each other;
//   - a step reads only bytes that were written before on every way to it; each output is written by the end;
//   - within a launch, a written range meets another operand only where both start at one place (in-place);
//   - a workspace is 64-byte aligned, large enough for the table's workers, meets no operand, and lies in a live range
//     of its own or in none (in another's, that buffer's contents count as lost);
//   - what a transfer in flight touches is left alone until the queue or the host has waited for it;
//   - what meets the ssd starts at a multiple of 4096, and is read and written on queues of that kind;
//   - live peaks and the touched end of each arena are those of the steps, to the byte.
//
// With dynamic dimensions all ranges are those at the bounds.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_CHECK_CHECKTABLE_H
#define PLIM_CHECK_CHECKTABLE_H

#include "plim/table.h"
#include <string>
#include <vector>

namespace plim::check {

// The faults, empty where there are none. The table must have passed plim_table_check (plim/check.h), by which all its
// references are sound.
std::vector<std::string> checkTable(const plim_table *table);

} // namespace plim::check

#endif // PLIM_CHECK_CHECKTABLE_H
