//===- PriceKernels.cpp - Predicted times of kernels on another machine ------------------------===//
#include "compiler/Pipelines/PriceKernels.h"
#include "kernels/registry.h"

using namespace mlir;

namespace plim {
namespace {

plim_shape shapeOf(plan::ShapeAttr attr) {
  plim_shape shape = {};
  shape.dtype = uint8_t(attr.getDtype());
  shape.layout = uint8_t(attr.getLayout());
  shape.rank = uint8_t(attr.getRank());
  SmallVector<int64_t> strides = attr.getStridesAtBounds();
  for (int64_t d = 0; d < attr.getRank(); ++d)
    shape.dims[d] = attr.getBounds()[d], shape.strides[d] = strides[d];
  return shape;
}

int64_t priceOf(plan::LaunchOp launch, plan::CandidateAttr candidate, const solver::MachineProfile &profile) {
  plim_machine machine = solver::machineFor(profile, std::string_view(candidate.getKernel()));
  const plim_kernel_entry *entry = plim_find_kernel_entry(candidate.getKernel().str().c_str());
  double ns = std::max(double(candidate.getFlops()) / machine.flops_per_ns,
                       double(candidate.getBytes()) / machine.bytes_per_ns); // of a generated kernel
  if (entry) {
    auto shapes = llvm::map_to_vector(launch.getAccesses().getAsRange<plan::AccessAttr>(),
                                      [](plan::AccessAttr access) { return shapeOf(access.getShape()); });
    auto pointers = llvm::map_to_vector(shapes, [](const plim_shape &shape) { return &shape; });
    ns = entry->cost(pointers.data(), uint32_t(pointers.size()), candidate.getAttrs().data(), &machine).ns;
  }
  return std::max<int64_t>(1, int64_t(ns));
}

} // namespace

void priceKernels(plan::ModuleOp module, const solver::MachineProfile &profile) {
  const solver::MachineProfile builtIn;
  if (profile == builtIn)
    return;
  const double slower = builtIn.memoryBytesPerSecond / profile.memoryBytesPerSecond; // copies are bound by the memory
  Builder builder(module.getContext());
  module.walk([&](plan::LaunchOp launch) {
    SmallVector<Attribute> candidates, aliases;
    for (plan::CandidateAttr candidate : launch.getCandidates().getAsRange<plan::CandidateAttr>()) {
      plan::CandidateSpec spec = candidate.getSpec();
      spec.ns = priceOf(launch, candidate, profile);
      candidates.push_back(plan::CandidateAttr::get(module.getContext(), spec));
    }
    launch.setCandidatesAttr(builder.getArrayAttr(candidates));
    if (!launch.getAliases())
      return;
    for (plan::AliasAttr a : launch.getAliases()->getAsRange<plan::AliasAttr>())
      aliases.push_back(plan::AliasAttr::get(module.getContext(), a.getKind(), a.getOperand(), a.getBase(),
                                             a.getOffset(), a.getRun(), a.getStride(),
                                             int64_t(double(a.getSavedNs()) * slower)));
    launch.setAliasesAttr(builder.getArrayAttr(aliases));
  });
}

} // namespace plim
