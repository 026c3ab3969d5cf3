//===- TableFile.cpp - Step tables in files of any kind ----------------------------------------------===//

#include "tools/plim-dump/TableFile.h"

#include "plim/table.h"

#include "llvm/Object/ObjectFile.h"

#include <cstring>

using namespace llvm;

namespace plim {

/// Start of the table in `bytes`, npos where there is none. Magic, version and length must all be plausible, so that a
/// tool's own copy of the magic is passed over.
static size_t findTable(StringRef bytes) {
  StringRef magic(PLIM_TABLE_MAGIC, sizeof(plim_table::magic));
  for (size_t at = bytes.find(magic); at != StringRef::npos; at = bytes.find(magic, at + 1)) {
    plim_table header;
    if (bytes.size() - at < sizeof header)
      return StringRef::npos;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    if (header.header_bytes == sizeof header && header.bytes >= sizeof header && header.bytes <= bytes.size() - at)
      return at;
  }
  return StringRef::npos;
}

static StringRef debugSection(MemoryBufferRef file) {
  Expected<std::unique_ptr<object::ObjectFile>> object = object::ObjectFile::createObjectFile(file);
  if (!object) {
    consumeError(object.takeError());
    return {};
  }
  for (const object::SectionRef &section : (*object)->sections()) {
    Expected<StringRef> name = section.getName();
    Expected<StringRef> contents = section.getContents();
    if (name && contents && *name == ".plim.debug")
      return contents->split('\0').first;
    if (!name)
      consumeError(name.takeError());
    if (!contents)
      consumeError(contents.takeError());
  }
  return {};
}

Expected<TableFile> openTableFile(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/false,
                                                                               /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(buffer.getError(), "%s: need a readable file: %s", path.str().c_str(),
                             buffer.getError().message().c_str());
  TableFile result;
  result.file = std::move(*buffer);
  StringRef bytes = result.file->getBuffer();
  size_t at = findTable(bytes);
  if (at == StringRef::npos && bytes.starts_with(PLIM_TABLE_MAGIC))
    return createStringError(inconvertibleErrorCode(), "%s: the step table is cut short: have %zu bytes",
                             path.str().c_str(), bytes.size());
  if (at == StringRef::npos)
    return createStringError(inconvertibleErrorCode(),
                             "%s: need a step table (magic %s, %zu bytes of header), have none in %zu bytes",
                             path.str().c_str(), PLIM_TABLE_MAGIC, sizeof(plim_table), bytes.size());
  uint64_t size;
  std::memcpy(&size, bytes.data() + at + offsetof(plim_table, bytes), sizeof size);
  result.table = ArrayRef<char>(bytes.data() + at, size);
  result.evalText = at == 0 ? bytes.drop_front(size) : debugSection(result.file->getMemBufferRef());
  return result;
}

} // namespace plim
