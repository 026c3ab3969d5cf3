//===- ByteSize.h - Sizes as users type them -----------------------------------------------===//
#ifndef PLIM_TOOLS_OPTIONS_BYTESIZE_H
#define PLIM_TOOLS_OPTIONS_BYTESIZE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace plim {

/// "512", "96MiB", "1.5GB": KB, MB, GB, TB are powers of 1000, KiB to TiB powers of 1024, a bare number is bytes.
/// Returns "" and sets `bytes` (rounded down), or what is wrong.
std::string parseByteSize(std::string_view text, int64_t &bytes);

} // namespace plim

#endif
