/*===- plim/plim.h - Running a compiled model ---------------------------------*- C -*-===
 *
 *   #include "plim/plim.h"
 *   extern const plim_model det_model;                     // from model.o; or dlsym(model.so, "det_model")
 *
 *   int main(void) {
 *     static float x[1 * 3 * 960 * 960], y[1 * 1 * 960 * 960];
 *     plim_scope scope;                                    // which programs of the model
 *     plim_weights *weights = NULL;
 *     plim_context *context = NULL;
 *     plim_session *session = NULL;
 *     plim_status st = plim_find(&det_model, "forward", NULL, &scope);
 *     if (!st) st = plim_weights_create(&det_model, scope, "det.weights", NULL, &weights);
 *     if (!st) st = plim_context_create(weights, scope, NULL, &context);
 *     if (!st) st = plim_session_create(weights, scope, NULL, &session);
 *     int64_t dims[] = {1, 3, 960, 960};
 *     if (!st) st = plim_bind_input(session, PLIM_NONE, "x", x, sizeof x, dims, 4);
 *     if (!st) st = plim_bind_output(session, PLIM_NONE, "y", y, sizeof y);
 *     if (!st) st = plim_run(session, context, PLIM_NONE, NULL);
 *     if (st) fprintf(stderr, "%s: %s\n", plim_last_error()->where, plim_last_error()->message);
 *     plim_session_destroy(session);                       // NULL is allowed
 *     plim_context_destroy(context);
 *     plim_weights_destroy(weights);
 *     return st != PLIM_OK;
 *   }
 *   cc main.c model.o -lplim_rt -lplim_kernels -lpthread -lm
 *
 * Three objects, three lifetimes:
 *   weights  constants, read-only. Shared by any number of contexts and sessions, from any threads; outlives them.
 *   context  transient memory, worker threads, spill file, tables of the walk. Serves one run at a time; sessions may
 *            take turns.
 *   session  states (contents that last from run to run) and the bindings of inputs and outputs.
 * The model and its table stay the caller's and outlive all three.
 *
 * Memory. Each object is one region, in the caller's memory or the runtime's own, sized by plim_query_sizes. It is
 * populated when it is created, and its size is the planned size to the byte. From the return of plim_session_create
 * until plim_session_destroy nothing is allocated or mapped.
 *
 * Errors. Every function that can fail returns a plim_status; plim_last_error() tells this thread more. A function that
 * fails has changed nothing unless it says so. Sizes are bytes, times nanoseconds of CLOCK_MONOTONIC.
 * Thread-safety. Functions on distinct objects may run at once. On one object: as each function says; where it says
 * nothing, the caller lets one thread at a time call it.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_PLIM_H
#define PLIM_PLIM_H

#include "plim/check.h"
#include "plim/status.h"
#include "plim/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plim_weights plim_weights;
typedef struct plim_context plim_context;
typedef struct plim_session plim_session;

/* ---- The model: what it holds. All thread-safe, no memory ---- */

/* Programs that an object serves: one (its index in the table's PROGRAMS), or all of a variant (program = PLIM_NONE),
 * which may then run in turn and share states. */
typedef struct plim_scope {
  uint32_t variant, program;
} plim_scope;

/* Finds a program and a variant by name. program NULL: all programs of the variant, or its only one. variant NULL: the
 * first, which is the one of the largest RAM peak and the fastest. PLIM_ERR_ARG lists what there is. */
plim_status plim_find(const plim_model *model, const char *program, const char *variant, plim_scope *out);

/* Likewise by number of the variant; program as above. */
plim_status plim_find_in_variant(const plim_model *model, const char *program, uint32_t variant, plim_scope *out);

/* Validates the table and that the model fits it and this runtime and CPU: kernels by name, ABI and phases, Eval
 * functions, queues and tiers. plim_weights_create calls it. PLIM_ERR_TABLE, PLIM_ERR_KERNEL, PLIM_ERR_CPU,
 * PLIM_ERR_UNSUPPORTED, PLIM_ERR_ARG. */
plim_status plim_model_check(const plim_model *model, plim_scope scope);

/* The level that kernels are picked for: the CPU's, capped by the environment variable PLIM_ISA = base | v3 | v4. */
plim_isa plim_cpu_isa(void);

/* One input or output. Strings live as long as the table. */
typedef struct plim_io_info {
  const char *name;
  uint8_t dtype, rank, is_output, is_state; /* is_state: a state of the session; it is not bound */
  uint8_t is_reused;                        /* an input that a run destroys, as its bytes hold others later on */
  uint32_t dynamic;                         /* bit i: dimension i is given by the caller, or by the run */
  int64_t dims[PLIM_MAX_RANK];              /* upper bounds where dynamic */
  int64_t lower[PLIM_MAX_RANK];             /* equal to dims where not dynamic; 0 where the run decides */
  uint64_t bytes;                           /* at the bounds; row-major, no gaps */
} plim_io_info;

/* Inputs and outputs of a program, in the order of its signature. 0 for a program that does not exist. */
uint32_t plim_io_count(const plim_model *model, uint32_t program);
/* PLIM_ERR_ARG where there is no such program or index. */
plim_status plim_io_at(const plim_model *model, uint32_t program, uint32_t index, plim_io_info *out);

/* Bytes that each object takes in host memory; every one a multiple of PLIM_PAGE. Their sum is the planned RAM peak. */
typedef struct plim_sizes {
  uint64_t weights, context, session;
} plim_sizes;

plim_status plim_query_sizes(const plim_model *model, plim_scope scope, plim_sizes *out);

/* ---- Weights ---- */

/* Where an object is made. memory: the caller's, PLIM_PAGE-aligned, at least the queried size, valid until the object
 * is destroyed; NULL: the runtime maps its own. */
typedef struct plim_place {
  void *memory;
  uint64_t bytes;
} plim_place;

/* Checks the model, then reads and verifies the weight file: direct I/O where the file system allows it, else buffered
 * (plim_usage says which). `path` may be NULL where the model has no weights; it is not kept. `place` may be NULL.
 * PLIM_ERR_WEIGHTS names what differs (length, header, block); also PLIM_ERR_IO, PLIM_ERR_MEMORY and those of
 * plim_model_check. On failure *out is NULL. */
plim_status plim_weights_create(const plim_model *model, plim_scope scope, const char *path, const plim_place *place,
                                plim_weights **out);
/* After every context and session made from it. NULL is allowed. */
void plim_weights_destroy(plim_weights *weights);

/* ---- Context ---- */

/* How transfers between RAM and SSD run, best first. Each falls to the next where the system refuses it. */
typedef enum plim_io_way {
  PLIM_IO_ANY = 0,        /* in options: the best; in figures: the program has no transfers */
  PLIM_IO_REGISTERED = 1, /* io_uring with the arenas registered (needs RLIMIT_MEMLOCK above their size) */
  PLIM_IO_URING = 2,      /* io_uring */
  PLIM_IO_THREADS = 3     /* pread and pwrite on threads */
} plim_io_way;

/* How a file is reached. Only DIRECT keeps what is on the SSD out of the RAM. */
typedef enum plim_file_mode {
  PLIM_FILE_NONE = 0,     /* there is none */
  PLIM_FILE_DIRECT = 1,   /* direct I/O */
  PLIM_FILE_BUFFERED = 2, /* the file system refuses direct I/O: the page cache holds a copy as long as it likes */
  PLIM_FILE_IN_MEMORY = 3 /* the folder is a tmpfs: the bytes are in RAM */
} plim_file_mode;

typedef struct plim_context_options {
  uint32_t threads; /* workers that run, the calling thread included; 0: as many as the process may use CPUs. Never more
                       than the table's `workers`; results and memory do not depend on it. */
  uint32_t io_way;  /* a plim_io_way */
  plim_place place;
  /* Folder of the spill file, for programs that put buffers on the SSD. NULL: PLIM_SPILL_DIR, else plimsoll in the
   * user's cache folder (XDG_CACHE_HOME or ~/.cache). Not kept. */
  const char *spill_folder;
} plim_context_options;

/* Starts threads - 1 workers, and those of transfers, on stacks in the context's memory; creates the spill file and
 * allocates all of it. `options` may be NULL. The scope may be another than the weights', of any variant, as long as
 * the weights hold its constants. PLIM_ERR_MEMORY, PLIM_ERR_ARG, PLIM_ERR_IO for the spill folder (need and have are
 * bytes where it is full), and those of plim_model_check. On failure *out is NULL. */
plim_status plim_context_create(const plim_weights *weights, plim_scope scope, const plim_context_options *options,
                                plim_context **out);
/* While no run uses it. Ends and joins the workers. NULL is allowed. */
void plim_context_destroy(plim_context *context);
/* Threads that run, the calling one included. */
uint32_t plim_context_threads(const plim_context *context);

/* ---- Session ---- */

/* States start from their constants or zeros. `place` may be NULL. Scope and errors as for a context. */
plim_status plim_session_create(const plim_weights *weights, plim_scope scope, const plim_place *place,
                                plim_session **out);
/* While it does not run. NULL is allowed. */
void plim_session_destroy(plim_session *session);

/* The session goes on with the programs of another variant (its number; PLIM_ERR_ARG where it has no counterpart for
 * each): states and bindings stay, figures start anew. Runs then need a context of that variant, and weights that hold
 * its constants: make the weights for the variant that keeps most. Program indices are those of the new variant. While
 * it does not run; a session that it refuses is as it was. */
plim_status plim_session_switch(plim_session *session, uint32_t variant);

/* Binds an input of a program (its index; PLIM_NONE: the scope's only one). `data` stays the caller's, is aligned to
 * its element, and is only read, during runs; an input with is_reused is overwritten by each. dims: row-major, `rank`
 * of them, each equal to the model's or within its bounds; NULL where no dimension is dynamic. bytes must equal the
 * elements' bytes. A binding lasts until the next one. PLIM_ERR_ARG for name, rank, dims, bytes, alignment;
 * PLIM_ERR_BOUND for a dimension beyond its bounds. */
plim_status plim_bind_input(plim_session *session, uint32_t program, const char *name, const void *data, uint64_t bytes,
                            const int64_t *dims, uint32_t rank);

/* Binds an output. `bytes` is the room at `data`: at least the output's bytes, which the inputs' dimensions decide; at
 * its bounds where the run decides them. */
plim_status plim_bind_output(plim_session *session, uint32_t program, const char *name, void *data, uint64_t bytes);

/* Dimensions of an input or output in the last run of the program. dims has room for PLIM_MAX_RANK. PLIM_ERR_ARG where
 * the name is unknown or the program has not run. */
plim_status plim_io_dims(const plim_session *session, uint32_t program, const char *name, int64_t *dims,
                         uint32_t *rank);

/* ---- Run ---- */

/* One piece of work of one worker. */
typedef struct plim_trace_event {
  uint64_t begin_ns, end_ns;
  uint32_t program, step; /* step of the program */
  uint16_t worker, phase; /* worker: PLIM_TRACE_READ or _WRITE for a transfer, from its first byte to its last */
  uint32_t first_task, last_task; /* [first, last) for a launch; 0, 0 for other steps */
} plim_trace_event;

enum { PLIM_TRACE_READ = 0xfff0, PLIM_TRACE_WRITE = 0xfff1 };

/* A ring that the caller owns; event number n is at n % capacity, so the last `capacity` of `written` are there. */
typedef struct plim_trace {
  plim_trace_event *events;
  uint64_t capacity;
  uint64_t written; /* set by the run; starts from what it was */
} plim_trace;

/* Called by the calling thread before each step with the step about to run. Not 0: cancel. It must not call functions
 * on the objects of the run except plim_cancel. */
typedef int32_t (*plim_progress_fn)(void *data, uint32_t step, uint32_t steps);

enum {
  /* Transient memory is filled with a pattern when the run starts, when a buffer is born and when it dies, workspaces
   * before and outputs at the start, so that a read of stale bytes gives garbage; the highest byte that the steps
   * change is measured in every arena. Every second poison run uses the complement of the pattern: after two runs the
   * measure is exact, whatever the data. A transfer moves its bytes when it is waited on, at the last moment that the
   * plan allows; until then the memory that it fills holds the pattern. */
  PLIM_RUN_POISON = 1,
  /* Before and after every step all memory of the run outside the step's declared writes is hashed: PLIM_ERR_RED_ZONE
   * names the step that changed it. Slow; for tests. Transfers move their bytes when they are waited on. */
  PLIM_RUN_RED_ZONES = 2
};

typedef struct plim_run_options {
  uint32_t flags; /* PLIM_RUN_* */
  uint32_t fault; /* number of a step plus 1: it fails with PLIM_ERR_IO instead of running (to test callers); 0: none */
  plim_progress_fn progress; /* NULL: none */
  void *progress_data;
  plim_trace *trace; /* NULL: none */
} plim_run_options;

/* Runs a program (its index; PLIM_NONE: the session's only one) and waits for its end. Session and context are made
 * from the same weights, and both scopes hold the program. `options` may be NULL. Missing bindings are all named at
 * once (PLIM_ERR_ARG). A run that fails before the program's first_commit_step leaves the states as they were; outputs
 * are undefined. After a later failure the session is torn: runs give PLIM_ERR_TORN until its states are loaded, copied
 * or reset. Any thread, one run at a time for each session and each context: else PLIM_ERR_BUSY. */
plim_status plim_run(plim_session *session, plim_context *context, uint32_t program, const plim_run_options *options);

/* Asks the run in progress, or else the next one, to stop before its next step: PLIM_ERR_CANCELLED, at the latest
 * before first_commit_step; later it is ignored. Any thread, also from a signal handler. */
void plim_cancel(plim_session *session);

/* ---- States ---- */

/* A state's bytes, for reading and writing between runs; they belong to the session. */
plim_status plim_state_data(plim_session *session, const char *name, void **data, uint64_t *bytes);
/* All states as after plim_session_create; mends a torn session. */
plim_status plim_state_reset(plim_session *session);
/* Copies all states from a session of the same model, perhaps of another variant; mends a torn `to`. */
plim_status plim_state_copy(plim_session *to, const plim_session *from);
/* Writes the durable states: "<path>.<pid>.tmp", fsync, rename. On failure a file at `path` is as it was.
 * PLIM_ERR_TORN, PLIM_ERR_IO, PLIM_ERR_ARG. */
plim_status plim_state_save(const plim_session *session, const char *path);
/* Reads durable states, resets the others; mends a torn session. The file is verified before a byte of the session
 * changes: PLIM_ERR_ARG for a file that is damaged or of another model. An I/O error after that leaves it torn. */
plim_status plim_state_load(plim_session *session, const char *path);

/* ---- Figures ---- */

typedef struct plim_usage {
  /* Of this session with this context and the weights, by tier. */
  uint64_t planned[PLIM_TIER_COUNT];         /* reserved_peak of the table */
  uint64_t reserved[PLIM_TIER_COUNT];        /* ledger: summed where the system was asked */
  uint64_t live_planned[PLIM_TIER_COUNT];    /* live_peak of the table */
  uint64_t live[PLIM_TIER_COUNT];            /* largest in any run of the program so far */
  uint64_t touched_planned[PLIM_TIER_COUNT]; /* sum of `touched` over the program's arenas */
  uint64_t touched[PLIM_TIER_COUNT];         /* likewise measured; transient arenas only by poison runs, else 0 */
  uint64_t io_bytes;                         /* caller's inputs and outputs in the last run */
  uint64_t runs, poison_runs;                /* that ended with PLIM_OK */
  uint64_t last_ns, total_ns;                /* of these runs */
  uint64_t steps;                            /* walked in the last run */
  uint32_t weights_buffered;                 /* 1: no direct I/O, so the page cache holds a copy of the weight file */
  uint32_t threads;
  uint32_t io_way;     /* a plim_io_way: that of the context */
  uint32_t spill_mode; /* a plim_file_mode */
  /* Between RAM and SSD, in the last run. */
  uint64_t transfers, bytes_read, bytes_written;
  uint64_t stall_ns; /* that steps waited for transfers */
} plim_usage;

/* Not during a run of either. `program` as for plim_run. */
plim_status plim_usage_of(const plim_session *session, const plim_context *context, uint32_t program, plim_usage *out);

/* One arena (its index in the table) of the program: its planned and measured `touched`. PLIM_ERR_ARG where the program
 * does not use it. */
plim_status plim_arena_touched(const plim_session *session, const plim_context *context, uint32_t program,
                               uint32_t arena, uint64_t *planned, uint64_t *measured);

/* Host memory that all objects of this process hold now, and the most they held. Any thread. */
void plim_ledger_totals(uint64_t *now, uint64_t *peak);

#ifdef __cplusplus
}
#endif
#endif
