/*===- plim/limits.h - How much memory this process may use, and which variant fits it ---*- C -*-===
 *
 *   plim_memory_limits m;
 *   uint32_t variant;
 *   plim_status st = plim_memory_limits_read(NULL, &m);            // NULL: this machine
 *   if (!st) st = plim_pick_variant(&det_model, &m, &variant);
 *   if (!st) st = plim_find_in_variant(&det_model, "forward", variant, &scope);
 *
 * Read from /proc/meminfo and from the memory cgroups of this process (v1, v2, or both mounted), from its own up to the
 * root: the tightest counts. Nothing is allocated. Any thread.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_LIMITS_H
#define PLIM_LIMITS_H

#include "plim/status.h"
#include "plim/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum plim_limit_source {
  PLIM_LIMIT_HOST = 0,
  PLIM_LIMIT_CGROUP_V1 = 1,
  PLIM_LIMIT_CGROUP_V2 = 2
} plim_limit_source;

/* By the used share of the limit: moderate from 70 %, high from 85 %, critical from 95 %. One level more where tasks
 * waited for memory in 10 % of the last ten seconds, critical where all of them did. */
typedef enum plim_pressure {
  PLIM_PRESSURE_OK = 0,
  PLIM_PRESSURE_MODERATE = 1,
  PLIM_PRESSURE_HIGH = 2,
  PLIM_PRESSURE_CRITICAL = 3
} plim_pressure;

enum { PLIM_LIMIT_WHERE = 256 };

typedef struct plim_memory_limits {
  /* Bytes. limit: the smallest of the host's memory and all limits up the hierarchy; used: at the level of the limit,
   * without what the kernel can take back at once (inactive pages of files). */
  uint64_t limit, used;
  /* The smallest room of any level: its limit less its use; of the host: MemAvailable. */
  uint64_t available;
  plim_limit_source source;        /* of `limit` */
  plim_pressure level;             /* of used / limit and the stalls */
  uint32_t some_avg10, full_avg10; /* shares of the last ten seconds in hundredths of a percent; 0 where not offered */
  char where[PLIM_LIMIT_WHERE];    /* the folder that `limit` comes from; empty for the host; the end of a long one */
} plim_memory_limits;

/* `root` is put before all paths (a folder with proc/ and sys/ for tests); NULL or "" for this machine. PLIM_ERR_IO
 * where proc/meminfo cannot be read or is not understood. A cgroup that cannot be read is as one without a limit. */
plim_status plim_memory_limits_read(const char *root, plim_memory_limits *out);

/* The variant of largest ram peak, hence the fastest, whose ram is within limit and available. PLIM_ERR_MEMORY with the
 * smallest variant's need where none is; *out is then that variant. PLIM_ERR_ARG without a model. */
plim_status plim_pick_variant(const plim_model *model, const plim_memory_limits *limits, uint32_t *out);

#ifdef __cplusplus
}
#endif
#endif
