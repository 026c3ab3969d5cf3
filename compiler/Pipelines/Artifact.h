//===- Artifact.h - The files of a compiled model, written together -----------------------------===//
#ifndef PLIM_COMPILER_PIPELINES_ARTIFACT_H
#define PLIM_COMPILER_PIPELINES_ARTIFACT_H

#include <string>
#include <string_view>

namespace plim {

/// A file in the artifact's folder that is a cache of the compiler's, and no part of the artifact.
inline constexpr char kPlanCacheName[] = ".plimc-plans";

/// A folder beside the artifact in which files grow; commit() moves them to their final names, the destructor removes
/// what is left. One at a time in a process.
class PartialArtifact {
public:
  ~PartialArtifact();
  /// Makes the output folder and the temporary one in it; "" or the reason.
  std::string create(const std::string &outputFolder);
  std::string path(const char *name) const { return temporary + "/" + name; }
  std::string write(const char *name, std::string_view text) const;
  /// model.so from model.o, with the library kernels and the runtime inside; "" or what the linker said.
  std::string linkShared() const;
  std::string commit();

private:
  std::string folder, temporary;
};

} // namespace plim

#endif
