//===- Passes.td - Passes over plans ----------------------------------*- tablegen -*-===//

#ifndef PLIM_TRANSFORMS_PLAN_PASSES_TD
#define PLIM_TRANSFORMS_PLAN_PASSES_TD

include "mlir/Pass/PassBase.td"

class PlanPass<string flag> : Pass<flag, "::plim::plan::ModuleOp"> {
  let dependentDialects = ["::plim::plan::PlanDialect", "::mlir::arith::ArithDialect"];
}

// Sizes as users type them: 512, 96MiB, 1.5GB; empty for no bound.
defvar budgetOptions = [
  Option<"ram", "ram", "std::string", "", "Budget of the ram: 96MiB, 1.5GB, bytes">,
  Option<"excludeIO", "exclude-io", "bool", "false", "The caller's inputs and outputs do not count">,
];
defvar tierOptions = !listconcat(budgetOptions, [
  Option<"ssd", "ssd", "std::string", "", "Bytes that may be spilled to the ssd: 8GiB, bytes; none without it">,
  Option<"noStream", "no-stream", "bool", "false", "Keep all constants in memory">,
]);

def PlanOrderForMemory : PlanPass<"plan-order-for-memory"> {
  let summary = "Order steps so that less memory is alive at once";
  let description = [{
    Purpose: a lower peak by another order, never a higher one.
    Precondition: programs in stage virtual; those in other stages are left alone.
    Postcondition: the same steps in an order that meets all dependencies; impure steps keep theirs among each other.
    Before: `a = f(x); b = g(x); y = h(a); z = k(b)`, where a and b are large and y and z small.
    After: `a = f(x); y = h(a); b = g(x); z = k(b)`.
    Leaves alone: candidates, steps inside of regions.
  }];
  let options = [Option<"rounds", "rounds", "int", "200", "Rounds of local search">];
}

def PlanChooseCandidates : PlanPass<"plan-choose-candidates"> {
  let summary = "Keep the fastest candidates that fit a budget";
  let description = [{
    Purpose: one kernel a launch.
    Precondition: programs in stage virtual.
    Postcondition: each launch has one candidate; in the order given the program fits the budget. Without a budget the
    fastest that no flag bars. Where nothing fits, the pass fails with what would.
    Before: `plan.launch "attention.naive"<...> | "attention.flash"<...>(...)`. After: one of the two.
    Leaves alone: the order.
  }];
  let options = budgetOptions;
}

def PlanRecompute : PlanPass<"plan-recompute"> {
  let summary = "Drop values and make them again where they are needed: stage virtual to tiered";
  let description = [{
    Purpose: a budget met by running pure launches more than once, where that costs the least time.
    Precondition: programs in stage virtual.
    Postcondition: stage tiered, in the order given, each launch with its first candidate that no flag bars. A launch that
    runs again is a clone with an `instance` number of its own, right before its result is needed. Where nothing fits, the
    pass fails with what would.
    Before: `a = f(x); b = g(a); c = h(b); y = k(a, c)`, where a and b or c do not fit together.
    After: `a = f(x); b = g(a); c = h(b); a' = f(x); y = k(a', c)`.
    Leaves alone: impure launches, what branches and loops touch, what several steps write; programs in other stages.
  }];
  let options = budgetOptions;
}

def PlanMoveBuffers : PlanPass<"plan-move-buffers"> {
  let summary = "Slide live buffers inside their arena where offsets alone do not fit: stage virtual to tiered";
  let description = [{
    Purpose: no byte lost to fragmentation where the budget needs it.
    Precondition: programs in stage virtual.
    Postcondition: stage tiered, in the order given. A buffer that slides has a second instance at another offset, which may
    share bytes with the first, and a plan.copy from one to the other; nothing uses the first after it.
    Before: a of 64 bytes and b of 4096 are alive, then a dies and c of 4096 is born: 12288 bytes with b at 64.
    After: `plan.copy %b to %b1` slides b to 0 when a is dead; c lies behind it.
    Leaves alone: what is in flight, buffers of branches and loops; programs in other stages.
  }];
  let options = budgetOptions;
}

def PlanAssignTiers : PlanPass<"plan-assign-tiers"> {
  let summary = "Spill values to the ssd and stream constants from the weight file: stage virtual to tiered";
  let description = [{
    Purpose: a budget of the ram met by the ssd. Transfers run beside the steps: they are issued as early as there is room,
    and waited for when their bytes are needed. When they are issued decides what must be in memory meanwhile, so there is
    no pass that schedules them afterwards.
    Precondition: programs in stage virtual.
    Postcondition: stage tiered, in the order given. `plan.copy ... on <write>` and `on <read>` with a token, and a plan.wait
    for it. A streamed constant is `plan.resident @w in_file`, lies at a multiple of 4096 in the file, behind those that
    stay in memory, and is read into a buffer of the run for each time that it is needed; it is never written.
    Before: `plan.launch "k"(r %a ..., w %b ...)`, ..., `plan.launch "m"(r %a ...)`.
    After: `%t = plan.copy %a to %s on <write>`, `plan.wait %t`, ..., `%u = plan.copy %s to %a1 on <read>`, `plan.wait %u`,
    `plan.launch "m"(r %a1 ...)`.
    Leaves alone: constants below 64 KiB, states, inputs and outputs; what branches and loops touch; programs in other
    stages.
  }];
  let options = tierOptions;
}

def PlanFitBudget : PlanPass<"plan-fit-budget"> {
  let summary = "Use all levers to meet a budget: stage virtual to tiered";
  let description = [{
    Purpose: the fastest plan found that fits, or a refusal with need, have, the peak step and what is alive there.
    Precondition: programs in stage virtual.
    Postcondition: stage tiered: order, candidates, aliases, homes, workspaces and offsets are decided; launches run again,
    buffers slide, values are spilled and constants streamed as in the passes above where that is the fastest way to meet
    the budget. Predicted time never rises with a larger budget.
    Before: `%b = plan.alloc : <4096>`, `plan.launch "a"<...> | "b"<...>(r %x ..., w %b ...)`.
    After: `%b = plan.alloc at 128 : <ram, 4096>`, `plan.launch "b"<...>(...) workspace(%w : ...)`.
    Leaves alone: programs in other stages.
  }];
  let options = tierOptions;
}

def PlanAssignOffsets : PlanPass<"plan-assign-offsets"> {
  let summary = "Turn recorded offsets into views, or pack where none are recorded: to stage placed";
  let description = [{
    Purpose: the form that a step table has.
    Precondition: programs in stage tiered, or in stage virtual (they are packed in the order given, each launch with its
    first candidate that no flag bars).
    Postcondition: stage placed: no allocs; arenas, views, births and deaths; one kernel a launch. Where all programs are
    placed, peaks and touched bytes are recorded.
    Before: `%b = plan.alloc at 128 : <ram, 64>`.
    After: `%b = plan.view @arena0[128] : <ram, 64>`, `plan.mark birth %b`, ..., `plan.mark death %b`.
    Leaves alone: the order, programs that are placed already.
  }];
}

def PlanCheck : PlanPass<"plan-check"> {
  let summary = "Check placed programs with code that the planner does not share";
  let description = [{
    Purpose: no unsound plan leaves the compiler. Encodes the module, has the runtime validate the table, and replays it:
    dependencies, overlap of what is alive, accesses inside of views, transfers in flight, peaks.
    Precondition: programs in stage placed.
    Postcondition: none; the IR is not changed. Every fault is an error.
  }];
}

def PlanToLLVM : Pass<"plan-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Turn placed programs into a constant step table and the functions that it calls";
  let description = [{
    Purpose: what a model's object file holds, generated kernels apart.
    Precondition: each plan.module has programs in stage placed only, and evals with bodies.
    Postcondition: LLVM dialect: `@<name>_table`, the table's bytes; `@<name>_kernels`, pointers to kernels, which are
    declared; `@<name>_eval_0`, ..., functions `void(const int64_t *in, int64_t *out)`; `@<name>_model`, a plim_model.
    Before: `plan.module @det { plan.program @main placed ... }`. After: `llvm.mlir.global external constant @det_model()`.
    Leaves alone: what is not a plan.module.
  }];
  let options = [Option<"name", "name", "std::string", "\"model\"", "Prefix of symbols where a plan.module has no name">];
}

#endif
