//===- PlanCache.h - Plans of an artifact's last compile, kept in its folder ------------------===//
#ifndef PLIM_COMPILER_PIPELINES_PLANCACHE_H
#define PLIM_COMPILER_PIPELINES_PLANCACHE_H

#include "compiler/Pipelines/Artifact.h"
#include "compiler/Solver/PlanStore.h"

namespace plim {

/// A store with the plans that the folder's file has, where this very compiler has written it; else an empty one.
solver::PlanStore openPlanCache(const std::string &folder);

/// Puts the store's plans, where it has any, into the file that takes the old one's place with the artifact. Whether
/// that succeeds changes nothing but the time of later compiles.
void savePlanCache(const solver::PlanStore &store, const PartialArtifact &artifact);

} // namespace plim

#endif
