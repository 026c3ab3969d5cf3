//===- PlanCache.cpp - Plans of an artifact's last compile, kept in its folder ----------------===//
#include "compiler/Pipelines/PlanCache.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"
#include <tuple>

namespace plim {

static std::unique_ptr<llvm::MemoryBuffer> contents(const llvm::Twine &path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return file ? std::move(*file) : nullptr;
}

/// Plans are a function of the planner's code, of which no version number keeps track while it is worked on: the
/// compiler's own bytes stand for it. "" where they cannot be read.
static std::string ownIdentity() {
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
