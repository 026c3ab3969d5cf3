/*===- plim/table.h - The step table: a compiled plan as constant data -------*- C -*-===
 *
 * `plimc` writes one table a model, position-independent and constant. The runtime validates it once (plim_table_check)
 * and then walks it; `plim-dump` decodes it back to plan IR. All numbers are little-endian. A table is one header and
 * sections of fixed-size records; references are record indices, PLIM_NONE where there is none.
 *
 * Tiers, kinds and opcodes mirror the plan dialect op for op:
 *   plan.launch  LAUNCH    plan.copy  COPY     plan.fill  FILL    plan.wait  WAIT    plan.load_scalar  LOAD
 *   plan.eval    EVAL      plan.check CHECK    plan.if    BRANCH  plan.loop  LOOP, NEXT    plan.return  RETURN
 * MARK says when a buffer is born and dies; the ledger's live bytes, poison and the independent checker read it.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_TABLE_H
#define PLIM_TABLE_H

#include "plim/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLIM_TABLE_MAGIC "PLIMTAB"
#define PLIM_TABLE_VERSION 1u
#define PLIM_NONE 0xffffffffu

typedef enum plim_tier { PLIM_RAM = 0, PLIM_PINNED = 1, PLIM_SSD = 2, PLIM_GPU = 3, PLIM_TIER_COUNT = 4 } plim_tier;

typedef enum plim_arena_kind {
  PLIM_TRANSIENT = 0,  /* a context's: contents live within one run */
  PLIM_PERSISTENT = 1, /* the weights' (constants), or the session's (states) */
  PLIM_STAGING = 2,    /* I/O rings */
  PLIM_STACKS = 3      /* worker stacks */
} plim_arena_kind;

typedef enum plim_queue_kind {
  PLIM_QUEUE_CPU = 0,
  PLIM_QUEUE_READ = 1,
  PLIM_QUEUE_WRITE = 2,
  PLIM_QUEUE_STREAM = 3
} plim_queue_kind;

typedef enum plim_opcode {
  PLIM_OP_LAUNCH = 0,
  PLIM_OP_COPY = 1,
  PLIM_OP_FILL = 2,
  PLIM_OP_WAIT = 3,
  PLIM_OP_LOAD = 4,
  PLIM_OP_EVAL = 5,
  PLIM_OP_CHECK = 6,
  PLIM_OP_BRANCH = 7,
  PLIM_OP_LOOP = 8,
  PLIM_OP_NEXT = 9,
  PLIM_OP_RETURN = 10,
  PLIM_OP_MARK = 11,
  PLIM_OP_COUNT = 12
} plim_opcode;

enum { PLIM_ACCESS_READ = 1, PLIM_ACCESS_WRITE = 2, PLIM_ACCESS_READ_WRITE = 3 };

/* Sections, in file order. "bytes": count is in bytes; "words": 8-byte words; else records of the named struct. */
typedef enum plim_section {
  PLIM_SEC_STRINGS = 0,    /* bytes, NUL-terminated strings; a name is its byte offset */
  PLIM_SEC_WORDS = 1,      /* words: launch attributes, fill patterns */
  PLIM_SEC_INDICES = 2,    /* uint32_t lists: scalar numbers, token numbers */
  PLIM_SEC_KERNELS = 3,    /* plim_t_kernel */
  PLIM_SEC_SHAPES = 4,     /* plim_t_shape */
  PLIM_SEC_CONSTANTS = 5,  /* plim_t_constant */
  PLIM_SEC_STATES = 6,     /* plim_t_state */
  PLIM_SEC_ARENAS = 7,     /* plim_t_arena */
  PLIM_SEC_VIEWS = 8,      /* plim_t_view */
  PLIM_SEC_BUFFERS = 9,    /* plim_t_buffer */
  PLIM_SEC_RESIDENTS = 10, /* plim_t_resident, of one program contiguous */
  PLIM_SEC_SYMBOLS = 11,   /* plim_t_symbol, of one program contiguous */
  PLIM_SEC_IOS = 12,       /* plim_t_io, of one program contiguous */
  PLIM_SEC_OPERANDS = 13,  /* plim_t_operand, of one launch contiguous */
  PLIM_SEC_LAUNCHES = 14,  /* plim_t_launch */
  PLIM_SEC_COPIES = 15,    /* plim_t_copy */
  PLIM_SEC_FILLS = 16,     /* plim_t_fill */
  PLIM_SEC_WAITS = 17,     /* plim_t_wait */
  PLIM_SEC_LOADS = 18,     /* plim_t_load */
  PLIM_SEC_EVALS = 19,     /* plim_t_eval */
  PLIM_SEC_CHECKS = 20,    /* plim_t_check */
  PLIM_SEC_BRANCHES = 21,  /* plim_t_branch */
  PLIM_SEC_LOOPS = 22,     /* plim_t_loop, for LOOP and NEXT */
  PLIM_SEC_MARKS = 23,     /* plim_t_mark */
  PLIM_SEC_STEPS = 24,     /* plim_t_step, of one program contiguous */
  PLIM_SEC_PROGRAMS = 25,  /* plim_t_program, of one variant contiguous */
  PLIM_SEC_VARIANTS = 26,  /* plim_t_variant, by falling RAM peak */
  PLIM_SEC_COUNT = 27
} plim_section;

typedef struct plim_t_span {
  uint64_t offset; /* bytes from the header's first byte, a multiple of 8 */
  uint64_t count;
} plim_t_span;

/* The table is this struct followed by the sections; 64-byte aligned in memory. */
typedef struct plim_table {
  char magic[8];
  uint32_t version, header_bytes;
  uint64_t bytes;                       /* of the whole table */
  uint64_t hash;                        /* XXH3-64 of everything after this field to the end of the table */
  uint32_t kernel_abi;                  /* PLIM_KERNEL_ABI of the compiler */
  uint32_t workers;                     /* the largest number of workers a context may have */
  uint32_t io_depth;                    /* pieces of at most 1 MiB in flight on one of the queues read and write */
  uint32_t isa_min;                     /* a plim_isa: the lowest CPU level that may run it */
  uint64_t stack_bytes;                 /* of one worker, a multiple of 4096 */
  uint64_t weights_bytes, weights_hash; /* of the weight file: its length, and XXH3-64 of its header block */
  plim_t_span sections[PLIM_SEC_COUNT];
} plim_table;

typedef struct plim_t_kernel {
  uint32_t name, phases;
} plim_t_kernel;

/* dims[i] is fixed, or the value of scalar dim_scalar[i] with dims[i] its upper bound. Likewise strides. */
typedef struct plim_t_shape {
  uint8_t dtype, layout, rank, reserved;
  uint32_t dynamic; /* 1 where any scalar is named */
  int64_t dims[PLIM_MAX_RANK], strides[PLIM_MAX_RANK];
  uint32_t dim_scalar[PLIM_MAX_RANK], stride_scalar[PLIM_MAX_RANK];
} plim_t_shape;

typedef struct plim_t_constant {
  uint32_t name, shape;
  uint64_t offset, bytes; /* within the data part of the weight file; offset is a multiple of 64 */
  uint64_t hash;          /* XXH3-64 of the bytes */
} plim_t_constant;

typedef struct plim_t_state {
  uint32_t name, shape;
  uint64_t bytes;
  uint32_t init; /* constant to start from, or PLIM_NONE for zeros */
  uint32_t durable;
} plim_t_state;

typedef struct plim_t_arena {
  uint32_t tier, kind;
  uint64_t bytes;   /* a multiple of 64 (4096 on the ssd) */
  uint64_t touched; /* end of the highest byte that any step may touch */
} plim_t_arena;

typedef enum plim_view_base { PLIM_BASE_ARENA = 0, PLIM_BASE_IO = 1, PLIM_BASE_CONSTANT_FILE = 2 } plim_view_base;

/* A byte range [offset, offset + bytes) of an arena, of a caller's buffer (an io of the program that uses the view), or
 * of the data part of the weight file. With offset_scalar the scalar's value is added and `bytes` ends at its bound. */
typedef struct plim_t_view {
  uint32_t base, index;
  uint64_t offset, bytes;
  uint32_t offset_scalar, reserved;
} plim_t_view;

/* A live range: one birth, one death (in program order); `source` names the node it comes from. Two that are alive at
 * once share no byte, but for a slide (plim_t_copy). */
typedef struct plim_t_buffer {
  uint32_t view, source;
} plim_t_buffer;

/* Where a constant or a state of this program lives. */
typedef struct plim_t_resident {
  uint32_t is_state, index, view, reserved;
} plim_t_resident;

/* A host scalar that the caller's dimensions give: lower <= value <= upper is checked before the first step. */
typedef struct plim_t_symbol {
  uint32_t name, scalar;
  int64_t lower, upper;
} plim_t_symbol;

typedef struct plim_t_io {
  uint32_t name, shape;
  uint8_t is_output, is_reused; /* is_reused: an input that may hold other buffers after its last read */
  uint16_t zero;
  uint32_t state; /* index where this io is a state, else PLIM_NONE */
  uint64_t bytes; /* at the bound; row layout, no gaps */
} plim_t_io;

typedef struct plim_t_operand {
  uint32_t view, shape, access;
  uint32_t buffer; /* whose live range the access falls in; PLIM_NONE for io, constants and states */
} plim_t_operand;

typedef struct plim_t_launch {
  uint32_t kernel, first_operand, operands, source;
  uint32_t first_attr, attr_words;      /* in WORDS */
  uint32_t first_scalar, scalars;       /* read; in INDICES */
  uint32_t first_result, results;       /* written; in INDICES */
  uint32_t tasks, tasks_scalar;         /* tasks_scalar: the value comes from this scalar, `tasks` is its bound */
  uint32_t workspace;                   /* view of shared + min(workers, tasks) * scratch bytes, or PLIM_NONE */
  uint32_t instance;                    /* 0, or the number of a clone (recomputation) */
  uint64_t shared_bytes, scratch_bytes; /* multiples of 64 */
} plim_t_launch;

/* Inside the RAM a copy is done when the next step starts, and the two views may overlap. A copy from an arena on the
 * SSD or from the weight file (on queue read) or to an arena on the SSD (on queue write) is in flight until its token
 * is waited on: until then nothing reads dst, and nothing writes src or dst. Without a token, or on queue cpu, it is
 * done when the next step starts. Its other side is an arena in RAM; both offsets are multiples of 4096, `bytes` may be
 * any number. A queue serves its copies in order.
 *
 * Slide. A copy inside one arena whose views overlap moves a buffer to another place at no extra room. Its steps are
 *     MARK birth of the target, ..., COPY, ..., MARK death of the source
 * where nothing but other MARKs may stand between. The two live ranges may share bytes if and only if such a COPY of
 * one into the other is the first access of the target and the last of the source. Birth and death then say nothing
 * about the shared bytes: the birth leaves what the COPY reads, the death what it wrote. */
typedef struct plim_t_copy {
  uint32_t src, dst;    /* views of at least `bytes` */
  uint64_t bytes, hash; /* hash: XXH3-64 that the bytes have after the copy, 0 for none */
} plim_t_copy;

typedef struct plim_t_fill {
  uint32_t view, first_word; /* the 8-byte pattern in WORDS, repeated from the view's start */
} plim_t_fill;

/* on_queue: PLIM_NONE waits on the host, else that queue waits (this runtime then waits on the host too). */
typedef struct plim_t_wait {
  uint32_t first_token, tokens; /* in INDICES */
  uint32_t on_queue, reserved;
} plim_t_wait;

/* scalar = the element at `offset` of the view; outside [lower, upper] the run ends with PLIM_ERR_BOUND. */
typedef struct plim_t_load {
  uint32_t view, dtype;
  uint64_t offset;
  int64_t lower, upper;
  uint32_t scalar, source;
} plim_t_load;

typedef struct plim_t_eval {
  uint32_t function;                       /* index in plim_model.evals */
  uint32_t first_in, ins, first_out, outs; /* in INDICES */
  uint32_t reserved;
} plim_t_eval;

typedef struct plim_t_check {
  uint32_t scalar, message;
  int64_t lower, upper;
} plim_t_check;

/* Goes to step `target` (of the program) where the scalar is 0; always, where scalar is PLIM_NONE. target is ahead. */
typedef struct plim_t_branch {
  uint32_t scalar, target;
} plim_t_branch;

/* LOOP: counter = 0; goes to `end` where no trip is due. NEXT: ++counter; goes to `body` while trips are due. A trip is
 * due while counter < trips (a scalar, or max_trips where PLIM_NONE) and the scalar `condition` (if any) is not 0.
 * More trips than max_trips end the run with PLIM_ERR_BOUND. */
typedef struct plim_t_loop {
  uint32_t trips, condition, counter, reserved;
  uint64_t max_trips;
  uint32_t body, end; /* steps of the program: the one after LOOP, the one after NEXT */
} plim_t_loop;

typedef struct plim_t_mark {
  uint32_t buffer, is_death;
} plim_t_mark;

typedef struct plim_t_step {
  uint8_t opcode, queue; /* queue: kind in the low 4 bits, number in the high 4 */
  uint16_t reserved;
  uint32_t record; /* in the opcode's section; LAUNCHES, COPIES, ... */
  uint32_t token;  /* produced, or PLIM_NONE; LAUNCH, COPY, FILL */
  uint32_t source; /* in STRINGS: the node it comes from */
} plim_t_step;

typedef struct plim_t_program {
  uint32_t name, variant;
  uint32_t first_step, steps;
  uint32_t first_io, ios;
  uint32_t first_symbol, symbols;
  uint32_t first_resident, residents;
  uint32_t scalars, tokens;                /* how many of each the program numbers */
  uint32_t first_commit_step;              /* of the program; `steps` where it writes no state */
  uint32_t max_operands;                   /* of any launch */
  uint32_t dynamic_shapes, reserved;       /* most dynamic shapes of any launch */
  uint64_t budget[PLIM_TIER_COUNT];        /* as asked; UINT64_MAX for no bound */
  uint64_t reserved_peak[PLIM_TIER_COUNT]; /* what the runtime reserves for one session of this program, all counted */
  uint64_t live_peak[PLIM_TIER_COUNT];     /* largest sum of live buffers, io and residents */
} plim_t_program;

typedef struct plim_t_variant {
  uint32_t name, first_program, programs, reserved;
  uint64_t peak[PLIM_TIER_COUNT];
} plim_t_variant;

/* First record of a section; the section's count says how many follow. The table must have passed plim_table_check. */
static inline const void *plim_table_section(const plim_table *table, plim_section section) {
  return (const char *)table + table->sections[section].offset;
}

/* A name of the table; "" for PLIM_NONE. */
static inline const char *plim_table_string(const plim_table *table, uint32_t name) {
  return name == PLIM_NONE ? "" : (const char *)plim_table_section(table, PLIM_SEC_STRINGS) + name;
}

/* Scalars in, scalars out; generated. */
typedef void (*plim_eval_fn)(const int64_t *in, int64_t *out);

/* What model.o exports as <name>_model. */
typedef struct plim_model {
  uint32_t struct_bytes, kernel_abi;
  const char *name;
  const plim_table *table;
  const plim_kernel *const *kernels; /* one a record of KERNELS */
  const plim_eval_fn *evals;
  uint32_t eval_count, reserved;
} plim_model;

#ifdef __cplusplus
}
#endif
#endif
