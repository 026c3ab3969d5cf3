/*===- plim/status.h - Status codes and the detail of the last error ---------*- C -*-===
 *
 *   if (plim_run(session, context, PLIM_NONE, NULL) != PLIM_OK) {
 *     const plim_error *e = plim_last_error();
 *     fprintf(stderr, "%s: %s: %s (need %llu, have %llu)\n", plim_status_name(e->status), e->where, e->message,
 *             (unsigned long long)e->need, (unsigned long long)e->have);
 *   }
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_STATUS_H
#define PLIM_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum plim_status {
  PLIM_OK = 0,
  PLIM_ERR_ARG = 1,         /* an argument, a name, dims, bytes or a missing binding */
  PLIM_ERR_TABLE = 2,       /* the step table is damaged, of another version, or contradicts itself */
  PLIM_ERR_KERNEL = 3,      /* a kernel returned a code (plim_error.code), or the model lacks the kernel */
  PLIM_ERR_BOUND = 4,       /* a scalar, a dimension, an offset or a number of trips beyond its bound */
  PLIM_ERR_IO = 5,          /* the system refused a read or a write (plim_error.code is errno) */
  PLIM_ERR_CPU = 6,         /* the CPU, or PLIM_ISA, is below the level that the model needs */
  PLIM_ERR_MEMORY = 7,      /* the system, or the caller, gave too little memory */
  PLIM_ERR_WEIGHTS = 8,     /* the weight file is truncated, changed or of another model */
  PLIM_ERR_CANCELLED = 9,   /* the run was cancelled; states are as before it */
  PLIM_ERR_TORN = 10,       /* an earlier run failed while it wrote states; load or reset them */
  PLIM_ERR_BUSY = 11,       /* the object is in use by another run */
  PLIM_ERR_RED_ZONE = 12,   /* a step wrote outside its declared accesses (red-zone runs only) */
  PLIM_ERR_UNSUPPORTED = 13 /* the table is sound, but names a queue or tier that this runtime does not offer */
} plim_status;

enum { PLIM_ERROR_WHERE = 112, PLIM_ERROR_MESSAGE = 256 };

/* need and have are in the unit that the message speaks of; 0 and 0 where there is no quantity. */
typedef struct plim_error {
  plim_status status;
  int32_t code; /* a kernel's code for PLIM_ERR_KERNEL, errno for PLIM_ERR_IO and PLIM_ERR_MEMORY, else 0 */
  int64_t need, have;
  uint32_t program, step;           /* indices in the table where the error has them, else PLIM_NONE (0xffffffff) */
  char where[PLIM_ERROR_WHERE];     /* lower-case, NUL-terminated; empty where there is no place to name */
  char message[PLIM_ERROR_MESSAGE]; /* likewise */
} plim_error;

/* The error of the last call of this thread that did not return PLIM_OK. Never NULL; owned by the runtime; changes with
 * the thread's next failing call. A successful call leaves it as it is. */
const plim_error *plim_last_error(void);

/* A constant string such as "PLIM_ERR_TABLE"; "unknown status" for any other number. Any thread. */
const char *plim_status_name(plim_status status);

#ifdef __cplusplus
}
#endif
#endif
