/*===- plim/weights.h - The weight file and how it is written -----------------*- C -*-===
 *
 *   plim_weight_writer *writer;
 *   plim_weight_writer_open("det.weights", data_bytes, &writer);
 *   for each constant, by rising offset:  plim_weight_writer_put(writer, offset, bytes, count);
 *   plim_weight_writer_finish(writer, &file_bytes, &header_hash);    // now the file has its name
 *
 * A weight file is a header block and a data part, little-endian:
 *   [0, 64)                   plim_weight_header
 *   [64, 64 + 8 * blocks)     XXH3-64 of each block of 1 MiB of the data part (the last may be shorter)
 *   ... zeros up to data_offset, a multiple of 4096
 *   [data_offset, + data_bytes)  the data part, data_bytes a multiple of 4096; constants at multiples of 64, zeros
 * between The layout of the data part is the layout of the weights' arena, so that loading is one straight read. A
 * table names the file by its length and the XXH3-64 of [0, data_offset).
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_WEIGHTS_H
#define PLIM_WEIGHTS_H

#include "plim/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLIM_WEIGHTS_MAGIC "PLIMWTS"
#define PLIM_WEIGHTS_VERSION 1u
#define PLIM_WEIGHTS_BLOCK (1u << 20)

typedef struct plim_weight_header {
  char magic[8];
  uint32_t version, block_bytes; /* PLIM_WEIGHTS_BLOCK */
  uint64_t header_hash;          /* XXH3-64 of [24, data_offset) */
  uint64_t data_offset, data_bytes;
  uint64_t blocks;
  uint64_t reserved[2];
} plim_weight_header;

/* Length of the header block of a file whose data part has data_bytes; data_bytes is rounded up to 4096 first. */
uint64_t plim_weight_header_bytes(uint64_t data_bytes);

/* Likewise from the length of the file; 0 where no weight file has this length. */
uint64_t plim_weight_header_bytes_of_file(uint64_t file_bytes);

/* One file being written. Not thread-safe: one thread at a time. */
typedef struct plim_weight_writer plim_weight_writer;

/* Starts "<path>.<pid>.tmp" beside the final file. data_bytes: end of the last constant. PLIM_ERR_IO, PLIM_ERR_ARG,
 * PLIM_ERR_MEMORY; then *out is NULL. The caller ends the writer by finish or abort. */
plim_status plim_weight_writer_open(const char *path, uint64_t data_bytes, plim_weight_writer **out);

/* Appends `bytes` at `offset` of the data part. Offsets rise; gaps are filled with zeros. `data` stays the caller's.
 * PLIM_ERR_ARG for an offset that goes back or an end beyond data_bytes, PLIM_ERR_IO. */
plim_status plim_weight_writer_put(plim_weight_writer *writer, uint64_t offset, const void *data, uint64_t bytes);

/* Pads, writes the header, syncs to the disk and renames to the final name. Frees the writer in any case; after an
 * error the temporary file is gone and a file of the final name is as it was. The two figures go into the table. */
plim_status plim_weight_writer_finish(plim_weight_writer *writer, uint64_t *file_bytes, uint64_t *header_hash);

/* Removes the temporary file and frees the writer. NULL is allowed. */
void plim_weight_writer_abort(plim_weight_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
