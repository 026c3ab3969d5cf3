/*===- plim/check.h - Validates a step table and says what it will reserve ---*- C -*-===
 *
 * Used by the runtime when a model is opened and by the compiler when it emits one, so that both have one truth:
 *
 *   plim_table *table = ...;                                       // all but the peaks and the hash filled in
 *   plim_table_seal(table);                                        // the peaks by plim_reserved_bytes, then the hash
 *   if (plim_table_check(table, table->bytes) != PLIM_OK) ...      // plim_last_error says need, have, where
 *
 * All functions are thread-safe, allocate nothing and keep nothing.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_CHECK_H
#define PLIM_CHECK_H

#include "plim/status.h"
#include "plim/table.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  PLIM_PAGE = 4096,
  PLIM_MAX_ARENAS = 1024,   /* of a table */
  PLIM_MAX_WORKERS = 1024,  /* of a table */
  PLIM_MAX_NESTING = 64,    /* of branches and loops */
  PLIM_MIN_SCALAR_LIST = 64 /* a launch or eval may list this many scalars, or as many as its program has */
};

/* Validates a whole table once: after PLIM_OK a walk stays inside its arenas whatever the scalars are. `table` must be
 * 64-byte aligned with `bytes` readable bytes, and is not changed. Checked: magic, version, kernel ABI, hash, every
 * section and reference, enum ranges, strings, views inside arenas, inputs and the weight file, operands inside views,
 * alignment, homes of constants and states, workspace = shared + min(workers, tasks) * scratch, nesting of branches and
 * loops, live ranges and tokens, no state written before first_commit_step, and both peaks. PLIM_ERR_TABLE or
 * PLIM_ERR_ARG. */
plim_status plim_table_check(const void *table, uint64_t bytes);

/* What one session of `program` makes the runtime reserve, by tier: weights + context + session + worker stacks + their
 * tables, every part rounded up to PLIM_PAGE. This is plim_t_program.reserved_peak. Caller-owned inputs and outputs are
 * not in it: see plim_io_bytes. PLIM_ERR_ARG where there is no such program.
 * Precondition of this and the functions below: the table's sections and references are sound (peaks and hash need not
 * be). */
plim_status plim_reserved_bytes(const plim_table *table, uint32_t program, uint64_t out[PLIM_TIER_COUNT]);

/* Likewise for a session that may run all programs of a variant, one at a time: plim_t_variant.peak. */
plim_status plim_variant_reserved_bytes(const plim_table *table, uint32_t variant, uint64_t out[PLIM_TIER_COUNT]);

/* Bytes of the caller's inputs and outputs at their bounds, those that are states left out. */
uint64_t plim_io_bytes(const plim_table *table, uint32_t program);

/* Largest sum, over the program's steps in order, of live buffers, inputs, outputs and residents:
 * plim_t_program.live_peak. */
void plim_live_bytes(const plim_table *table, uint32_t program, uint64_t out[PLIM_TIER_COUNT]);

/* Writes reserved_peak, live_peak, variants' peaks, every arena's `touched` and the hash into a table that is otherwise
 * complete. */
void plim_table_seal(plim_table *table);

/* The same figures before there is a table. arenas: records that the table will have, of all programs; programs: those
 * that one session serves, 1 for plim_t_program.reserved_peak; the others are the fields of the program's record. */
typedef struct plim_reserve_terms {
  uint32_t workers, arenas, programs, ios, scalars, tokens, max_operands, dynamic_shapes;
  uint64_t stack_bytes;   /* of one worker, a multiple of PLIM_PAGE */
  uint64_t weights_bytes; /* length of the weight file, 0 for none */
  uint32_t io_depth;      /* the table's where a program has a copy from or to the SSD or the weight file, else 0 */
  uint32_t reserved;
  uint64_t spill_bytes; /* arenas on the SSD, page-rounded: the largest sum of one program */
} plim_reserve_terms;

/* Host memory besides the arenas: three objects, their tables, the weight file's header, worker stacks (the calling
 * thread has its own, so workers - 1 of them), and for transfers the rings, their threads' stacks and 4 bytes for each
 * 4096 of spill_bytes. reserved RAM = this + the sum over RAM arenas of plim_page(bytes). */
uint64_t plim_reserved_overhead(const plim_reserve_terms *terms);

static inline uint64_t plim_page(uint64_t bytes) { return (bytes + PLIM_PAGE - 1) / PLIM_PAGE * PLIM_PAGE; }

/* An upper bound of the bytes that an operand of this shape spans (from its first to the end of its last element, with
 * dims and strides as written); UINT64_MAX where they overflow or where a field is out of range. */
uint64_t plim_shape_span(const plim_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
