//===- PlanCache.cpp - Plans of an artifact's last compile, kept in its folder ----------------===//
#include "compiler/Pipelines/PlanCache.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"
#include <link.h>
#include <tuple>

namespace plim {

static std::unique_ptr<llvm::MemoryBuffer> contents(const llvm::Twine &path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return file ? std::move(*file) : nullptr;
}

/// The hash of all that is in the executable, as the linker has noted it there (--build-id of sha1, md5 or uuid); ""
/// where it has not.
static std::string buildId() {
  std::string id;
  auto find = [](dl_phdr_info *object, size_t, void *into) {
    for (const ElfW(Phdr) &segment : llvm::ArrayRef(object->dlpi_phdr, object->dlpi_phnum)) {
      if (segment.p_type != PT_NOTE)
        continue;
      const char *at = reinterpret_cast<const char *>(object->dlpi_addr + segment.p_vaddr);
      const char *end = at + segment.p_memsz;
      const uint64_t align = segment.p_align == 8 ? 8 : 4;
      while (size_t(end - at) > sizeof(ElfW(Nhdr))) {
        const auto &note = *reinterpret_cast<const ElfW(Nhdr) *>(at);
        const char *name = at + sizeof note, *text = name + llvm::alignTo(note.n_namesz, align);
        if (note.n_type == NT_GNU_BUILD_ID && llvm::StringRef(name, note.n_namesz) == llvm::StringRef("GNU", 4) &&
            note.n_descsz >= 16)
          *static_cast<std::string *>(into) = llvm::toHex(llvm::StringRef(text, note.n_descsz));
        at = text + llvm::alignTo(note.n_descsz, align);
      }
    }
    return 1; // the first object is the executable
  };
  ::dl_iterate_phdr(find, &id);
  return id;
}

/// Plans are a function of the planner's code, of which no version number keeps track while it is worked on: the
/// compiler's own bytes stand for it. "" where they cannot be read.
static std::string ownIdentity() {
  if (std::string id = buildId(); !id.empty())
    return id;
  const auto self = contents("/proc/self/exe");
  return self ? llvm::utohexstr(llvm::xxh3_64bits(self->getBuffer())) : "";
}

solver::PlanStore openPlanCache(const std::string &folder) {
  solver::PlanStore store(ownIdentity());
  const std::string path = folder + "/" + kPlanCacheName;
  uint64_t bytes = 0;
  if (!llvm::sys::fs::is_regular_file(path) || llvm::sys::fs::file_size(path, bytes) ||
      bytes > solver::PlanStore::kMaxBytes)
    return store;
  if (const auto file = contents(path))
    store.parse({file->getBufferStart(), file->getBufferSize()});
  return store;
}

void savePlanCache(const solver::PlanStore &store, const PartialArtifact &artifact) {
  const std::string text = store.print();
  if (!text.empty() && !artifact.write(kPlanCacheName, text).empty())
    std::ignore = llvm::sys::fs::remove(artifact.path(kPlanCacheName)); // what stays is no store, and read as none
}

} // namespace plim
