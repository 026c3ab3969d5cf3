// The file of a session's durable states, little-endian:
//   [0, 64)         StateHeader
//   StateEntry      one a state, in the table's order
//   bytes           of the states, one after the other, without gaps
// It names states by the hash of their names and their sizes, so that every variant of a model reads it.
#ifndef PLIM_RUNTIME_IO_STATE_FILE_H
#define PLIM_RUNTIME_IO_STATE_FILE_H

#include "runtime/core/objects.h"

namespace plim::rt {

plim_status saveStates(const plim_session &session, const char *path);

/// Reads the whole file and compares: PLIM_ERR_ARG for damage or another model. Changes nothing; `hash` is that of the
/// states' bytes.
plim_status verifyStates(const plim_session &session, const char *path, uint64_t &hash);

/// Reads the states of a file that verifyStates accepted. PLIM_ERR_ARG where they are no longer those of `hash`.
plim_status loadStates(plim_session &session, const char *path, uint64_t hash);

} // namespace plim::rt

#endif
