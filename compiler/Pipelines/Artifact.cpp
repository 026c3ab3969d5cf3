//===- Artifact.cpp - The files of a compiled model, written together ---------------------------===//
#include "compiler/Pipelines/Artifact.h"
#include "compiler/Pipelines/Compile.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace plim {
namespace {

constexpr const char *fileNames[] = {"model.weights",   "model.o",    "model.so",    "model.h",
                                     "model.plan.json", "model.html", "decoded.bin", "link.log"};
constexpr size_t committed = 6;
constexpr size_t fileCount = std::size(fileNames);

// For the signal handler: paths in fixed memory.
char partialFiles[fileCount][4096];
char partialFolder[4096];

std::string systemError(const std::string &path) { return path + ": " + std::strerror(errno); }

/// The folder of the libraries that models link: beside the tools in a build tree, lib in an installation.
std::string libraryFolder() {
  std::string self = llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&removePartialArtifact));
  llvm::SmallString<256> folder(llvm::sys::path::parent_path(llvm::sys::path::parent_path(self)));
  llvm::sys::path::append(folder, "lib");
  return std::string(folder);
}

} // namespace

void removePartialArtifact() {
  for (auto &file : partialFiles)
    if (file[0])
      ::unlink(file);
  if (partialFolder[0])
    ::rmdir(partialFolder);
}

PartialArtifact::~PartialArtifact() {
  if (temporary.empty())
    return;
  removePartialArtifact();
  for (auto &file : partialFiles)
    file[0] = 0;
  partialFolder[0] = 0;
}

std::string PartialArtifact::create(const std::string &outputFolder) {
  folder = outputFolder;
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return folder + ": " + error.message();
  std::string partial = folder + "/.plimc-" + std::to_string(::getpid());
  if (partial.size() + 64 > sizeof partialFolder)
    return folder + ": need a path of fewer than 4000 bytes, have " + std::to_string(folder.size());
  if (llvm::sys::fs::create_directory(partial, /*IgnoreExisting=*/true))
    return systemError(partial);
  temporary = partial;
  std::snprintf(partialFolder, sizeof partialFolder, "%s", temporary.c_str());
  for (size_t i = 0; i < fileCount; ++i)
    std::snprintf(partialFiles[i], sizeof partialFiles[i], "%s/%s", temporary.c_str(), fileNames[i]);
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
    if (llvm::sys::ExecuteAndWait(*linker, arguments, std::nullopt, redirects, 0, 0, &why) == 0)
      return "";
    if (auto text = llvm::MemoryBuffer::getFile(log))
      why += (*text)->getBuffer().str();
    return std::string(name) + " cannot link model.so: " + why;
  }
  return "need a linker (ld.lld-22, ld.lld or ld) on the PATH, have none";
}

std::string PartialArtifact::commit() {
  for (size_t i = 0; i < committed; ++i)
    if (llvm::sys::fs::exists(path(fileNames[i])) &&
        std::rename(path(fileNames[i]).c_str(), (folder + "/" + fileNames[i]).c_str()) != 0)
      return systemError(folder + "/" + fileNames[i]);
  return "";
}

} // namespace plim
