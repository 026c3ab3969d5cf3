//===- Artifact.cpp - The files of a compiled model, written together ---------------------------===//
#include "compiler/Pipelines/Artifact.h"
#include "compiler/Pipelines/Compile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace plim {
namespace {

constexpr const char *fileNames[] = {"model.weights", "model.o",         "model.so",
                                     "model.h",       "model.plan.json", "model.html"};

// For the signal handler: paths in fixed memory.
char partialFolder[4096];
// The output folder, and how much of its path was there before: folders made for it go again while they are empty.
char outputPath[4096];
size_t keptLength;

/// Holds signals back while it lives, for this thread and the processes that it starts.
class SignalsWait {
public:
  SignalsWait() {
    sigset_t interrupts;
    ::sigemptyset(&interrupts);
    ::sigaddset(&interrupts, SIGINT);
    ::sigaddset(&interrupts, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &interrupts, &before);
  }
  ~SignalsWait() { ::pthread_sigmask(SIG_SETMASK, &before, nullptr); }

private:
  sigset_t before;
};

std::string systemError(const std::string &path) { return path + ": " + std::strerror(errno); }

/// The folder of the libraries that models link: beside the tools in a build tree, lib in an installation.
std::string libraryFolder() {
  std::string self = llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&removePartialArtifact));
  llvm::SmallString<256> folder(llvm::sys::path::parent_path(llvm::sys::path::parent_path(self)));
  llvm::sys::path::append(folder, "lib");
  return std::string(folder);
}

} // namespace

/// Everything in the temporary folder, under whatever name a writer has it for the moment. Only system calls: this runs
/// in a signal handler, perhaps while the main thread goes on writing.
static void emptyPartialFolder() {
  struct Entry { // as getdents64 gives it
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[1];
  };
  int folder = ::open(partialFolder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return;
  alignas(Entry) char buffer[4096];
  for (long bytes; (bytes = ::syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0;)
    for (long at = 0; at < bytes;) {
      auto *entry = reinterpret_cast<Entry *>(buffer + at);
      if (std::strcmp(entry->name, ".") != 0 && std::strcmp(entry->name, "..") != 0)
        ::unlinkat(folder, entry->name, 0);
      at += entry->length;
    }
  ::close(folder);
}

void removePartialArtifact() {
  if (!partialFolder[0])
    return;
  for (int tries = 0; tries < 100; ++tries) {
    emptyPartialFolder();
    if (::rmdir(partialFolder) == 0 || errno != ENOTEMPTY)
      break;
  }
  for (size_t length = std::strlen(outputPath); length > keptLength;) {
    if (::rmdir(outputPath) != 0 && errno != ENOENT)
      return; // it holds an artifact
    while (length > keptLength && outputPath[length - 1] != '/')
      outputPath[--length] = 0;
    while (length > keptLength && outputPath[length - 1] == '/')
      outputPath[--length] = 0;
  }
}

PartialArtifact::~PartialArtifact() {
  if (temporary.empty())
    return;
  removePartialArtifact();
  partialFolder[0] = 0;
}

std::string PartialArtifact::create(const std::string &outputFolder) {
  folder = outputFolder;
  while (folder.size() > 1 && folder.back() == '/')
    folder.pop_back();
  std::string partial = folder + "/.plimc-" + std::to_string(::getpid());
  if (partial.size() + 64 > sizeof partialFolder)
    return folder + ": need a path of fewer than 4000 bytes, have " + std::to_string(folder.size());
  llvm::StringRef kept = folder;
  while (!kept.empty() && !llvm::sys::fs::exists(kept))
    kept = llvm::sys::path::parent_path(kept);
  keptLength = kept.size();
  std::snprintf(outputPath, sizeof outputPath, "%s", folder.c_str());
  std::snprintf(partialFolder, sizeof partialFolder, "%s", partial.c_str());
  temporary = partial;
  if (std::error_code error = llvm::sys::fs::create_directories(partial, true, llvm::sys::fs::all_all))
    return folder + ": " + error.message();
  return "";
}

std::string PartialArtifact::write(const char *name, std::string_view text) const {
  std::FILE *file = std::fopen(path(name).c_str(), "wb");
  if (!file)
    return systemError(path(name));
  bool ok = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  ok = std::fclose(file) == 0 && ok;
  return ok ? "" : systemError(path(name));
}

std::string PartialArtifact::linkShared() const {
  for (const char *name : {"ld.lld-22", "ld.lld", "ld"}) {
    llvm::ErrorOr<std::string> linker = llvm::sys::findProgramByName(name);
    if (!linker)
      continue;
    std::string object = path("model.o"), out = path("model.so"), log = path("link.log"),
                library = "-L" + libraryFolder();
    llvm::StringRef arguments[] = {*linker,
                                   "-shared",
                                   "--build-id=none",
                                   "--gc-sections",
                                   "-z",
                                   "now",
                                   "-z",
                                   "noexecstack",
                                   "-o",
                                   out,
                                   object,
                                   library,
                                   "-lplim_kernels",
                                   "-lplim_rt",
                                   "--exclude-libs",
                                   "libplim_kernels.a"};
    std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), llvm::StringRef(log), llvm::StringRef(log)};
    std::string why;
    // The linker has files of its own beside its output; it removes them if it may come to its end.
    SignalsWait wait;
    if (llvm::sys::ExecuteAndWait(*linker, arguments, std::nullopt, redirects, 0, 0, &why) == 0)
      return "";
    // lld writes through a mapping: a full disk is a SIGBUS to it.
    struct statvfs disk{};
    if (why == ::strsignal(SIGBUS) || (::statvfs(temporary.c_str(), &disk) == 0 && disk.f_bavail == 0))
      return out + ": " + std::strerror(ENOSPC);
    if (auto text = llvm::MemoryBuffer::getFile(log))
      why += llvm::join(llvm::split((*text)->getBuffer().trim(), '\n'), "; ");
    return std::string(name) + " cannot link model.so: " + why;
  }
  return "need a linker (ld.lld-22, ld.lld or ld) on the PATH, have none";
}

std::string PartialArtifact::commit() {
  for (size_t i = 0; i < std::size(fileNames); ++i)
    if (std::string target = folder + "/" + fileNames[i]; llvm::sys::fs::is_directory(target))
      return target + ": need a place for a file, have a folder";
  SignalsWait wait; // until the files are all there
  std::string why;
  for (size_t i = 0; i < std::size(fileNames) && why.empty(); ++i) {
    std::string from = path(fileNames[i]), to = folder + "/" + fileNames[i];
    // What an earlier artifact had and this one has not (weights) goes.
    int failed = llvm::sys::fs::exists(from) ? std::rename(from.c_str(), to.c_str()) : ::unlink(to.c_str());
    if (failed && errno != ENOENT)
      why = systemError(to);
  }
  if (std::string cache = path(kPlanCacheName); why.empty() && llvm::sys::fs::exists(cache))
    std::rename(cache.c_str(), (folder + "/" + kPlanCacheName).c_str());
  return why;
}

} // namespace plim
