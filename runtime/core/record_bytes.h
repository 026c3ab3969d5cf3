// What one unit of a section's count stands for: the rule that whoever writes a step table and whoever reads it share.
#ifndef PLIM_RUNTIME_CORE_RECORD_BYTES_H
#define PLIM_RUNTIME_CORE_RECORD_BYTES_H

#include "plim/table.h"

namespace plim::rt {

/// Bytes of a record of each section.
inline constexpr uint32_t kRecordBytes[PLIM_SEC_COUNT] = {
    1,
    8,
    4,
    sizeof(plim_t_kernel),
    sizeof(plim_t_shape),
    sizeof(plim_t_constant),
    sizeof(plim_t_state),
    sizeof(plim_t_arena),
    sizeof(plim_t_view),
    sizeof(plim_t_buffer),
    sizeof(plim_t_resident),
    sizeof(plim_t_symbol),
    sizeof(plim_t_io),
    sizeof(plim_t_operand),
    sizeof(plim_t_launch),
    sizeof(plim_t_copy),
    sizeof(plim_t_fill),
    sizeof(plim_t_wait),
    sizeof(plim_t_load),
    sizeof(plim_t_eval),
    sizeof(plim_t_check),
    sizeof(plim_t_branch),
    sizeof(plim_t_loop),
    sizeof(plim_t_mark),
    sizeof(plim_t_step),
    sizeof(plim_t_program),
    sizeof(plim_t_variant),
};

} // namespace plim::rt

#endif
