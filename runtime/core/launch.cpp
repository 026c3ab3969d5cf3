// LAUNCH: operands, shapes and scalars as a kernel sees them, then its phases on the workers.
#include "runtime/core/run.h"

#include <string.h>

namespace plim::rt {
namespace {

// Below this many bytes of operands a launch is not worth waking a worker.
constexpr uint64_t kParallelBytes = 32768;

/// What the workers share while a launch runs.
struct Job {
  const Run &run;
  plim_launch launch;
  plim_kernel_fn function;
  char *scratch;
  uint64_t scratchBytes;
  bool scratchByTask;           // fewer tasks than workers: scratch goes with the first task of a piece
  std::atomic<int32_t> code{0}; // the first kernel code that is not 0
};

void runPiece(void *data, uint32_t worker, uint32_t first, uint32_t last) {
  Job &job = *static_cast<Job *>(data);
  if (job.code.load(std::memory_order_relaxed))
    return;
  uint64_t begin = job.run.options.trace ? nowNs() : 0;
  void *scratch = job.scratchBytes ? job.scratch + (job.scratchByTask ? first : worker) * job.scratchBytes : nullptr;
  int32_t code = job.function(&job.launch, scratch, first, last), none = 0;
  if (code)
    job.code.compare_exchange_strong(none, code);
  if (job.run.options.trace)
    traceEvent(job.run, {begin, nowNs(), job.run.index, job.run.step, static_cast<uint16_t>(worker),
                         static_cast<uint16_t>(job.launch.phase), first, last});
}

/// A number that may come from a scalar: within [0, bound].
plim_status boundedScalar(const Run &run, uint32_t scalar, int64_t bound, const char *what, uint32_t at, int64_t &out) {
  out = bound;
  if (scalar == PLIM_NONE)
    return PLIM_OK;
  out = run.scalar(scalar);
  if (out < 0 || out > bound)
    return run.fail(PLIM_ERR_BOUND)
        .need(static_cast<uint64_t>(bound))
        .have(static_cast<uint64_t>(out))
        .say("%s %u is beyond its bound", what, at);
  return PLIM_OK;
}

plim_status materialise(const Run &run, const plim_t_shape &s, uint32_t operand, plim_shape &out) {
  out = {s.dtype, s.layout, s.rank, 0, 0, {}, {}};
  for (uint32_t d = 0; d < s.rank; ++d) {
    if (plim_status st = boundedScalar(run, s.dim_scalar[d], s.dims[d], "dimension of operand", operand, out.dims[d]))
      return st;
    if (plim_status st =
            boundedScalar(run, s.stride_scalar[d], s.strides[d], "stride of operand", operand, out.strides[d]))
      return st;
  }
  return PLIM_OK;
}

/// Fills in context.operands and context.shapes; `bytes` is what the operands' views hold together.
plim_status prepareOperands(Run &run, const plim_t_launch &l, uint64_t &bytes) {
  plim_context &c = run.context;
  uint32_t dynamicShapes = 0;
  bytes = 0;
  for (uint32_t i = 0; i < l.operands; ++i) {
    const plim_t_operand &o = run.t.operand(l.first_operand + i);
    const plim_t_shape &s = run.t.shape(o.shape);
    const plim_t_view &v = run.t.view(o.view);
    Bytes view;
    if (plim_status st = run.resolve(o.view, view))
      return st;
    // A fixed shape has the layout of plim_shape in its first fields.
    const plim_shape *shape = reinterpret_cast<const plim_shape *>(&s);
    if (s.dynamic) {
      plim_shape &own = c.dynamicShapes[dynamicShapes++];
      if (plim_status st = materialise(run, s, i, own))
        return st;
      shape = &own;
    }
    // At its bounds the shape fits the whole view; the check of the table has shown that.
    if (view.bytes < v.bytes && plim_shape_span(shape) > view.bytes)
      return run.fail(PLIM_ERR_BOUND)
          .need(plim_shape_span(shape))
          .have(view.bytes)
          .say("operand %u ends beyond the bytes that this run has for it", i);
    if (v.offset_scalar != PLIM_NONE && reinterpret_cast<uintptr_t>(view.data) % plim_dtype_bytes(s.dtype) != 0)
      return run.fail(PLIM_ERR_BOUND)
          .need(plim_dtype_bytes(s.dtype))
          .have(static_cast<uint64_t>(run.scalar(v.offset_scalar)))
          .say("operand %u is moved to an address that is not aligned", i);
    c.operands[i] = view.data;
    c.shapes[i] = shape;
    bytes += view.bytes;
  }
  return PLIM_OK;
}

plim_kernel_fn pick(const plim_kernel &kernel, int isa) {
  while (isa > 0 && !kernel.fn[isa])
    --isa;
  return kernel.fn[isa];
}

} // namespace

void traceEvent(const Run &run, const plim_trace_event &event) {
  plim_trace &trace = *run.options.trace;
  uint64_t n = __atomic_fetch_add(&trace.written, 1, __ATOMIC_RELAXED);
  trace.events[n % trace.capacity] = event;
}

plim_status runLaunch(Run &run, const plim_t_launch &l) {
  plim_context &c = run.context;
  uint64_t bytes;
  if (plim_status st = prepareOperands(run, l, bytes))
    return st;
  int64_t tasks;
  if (plim_status st = boundedScalar(run, l.tasks_scalar, l.tasks, "number of tasks of step", run.step, tasks))
    return st;
  for (uint32_t i = 0; i < l.scalars; ++i)
    c.listIn[i] = run.scalar(run.t.indices()[l.first_scalar + i]);
  char *workspace = nullptr;
  if (l.workspace != PLIM_NONE) {
    const plim_t_view &v = run.t.view(l.workspace);
    workspace = run.arenaBase(v.index) + v.offset;
    if (run.poison())
      poisonWorkspace(run, l);
  }
  memset(c.listOut, 0, l.results * sizeof *c.listOut);
  const plim_kernel &kernel = *run.session.weights->model->kernels[l.kernel];
  Job job{run,
          {run.t.words() + l.first_attr, c.operands, c.shapes, l.scalars ? c.listIn : nullptr,
           l.results ? c.listOut : nullptr, l.shared_bytes ? workspace : nullptr, 0, static_cast<uint32_t>(tasks),
           l.operands, l.attr_words},
          pick(kernel, run.session.weights->isa),
          workspace + l.shared_bytes,
          l.scratch_bytes,
          l.tasks < run.t.t->workers};
  for (uint32_t phase = 0; phase < kernel.phases && !job.code.load(); ++phase) {
    job.launch.phase = phase;
    c.pool.run(runPiece, &job, static_cast<uint32_t>(tasks), bytes >= kParallelBytes);
  }
  if (int32_t code = job.code.load())
    return run.fail(PLIM_ERR_KERNEL).code(code).say("kernel %s returned code %d", kernel.name, code);
  for (uint32_t i = 0; i < l.results; ++i)
    c.scalars[run.t.indices()[l.first_result + i]] = c.listOut[i];
  if (run.poison() && workspace)
    measureWorkspace(run, l);
  return PLIM_OK;
}

} // namespace plim::rt
