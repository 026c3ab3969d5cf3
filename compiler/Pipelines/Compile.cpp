//===- Compile.cpp - The whole road: a model file in, an artifact out -------------------------===//
#include "compiler/Pipelines/Compile.h"
#include "compiler/Check/CheckTable.h"
#include "compiler/Emit/ModelHeader.h"
#include "compiler/Emit/ModelObject.h"
#include "compiler/Emit/PlanReport.h"
#include "compiler/Import/Onnx/ImportOnnx.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"
#include "compiler/Lowering/PlanTable/PlanTable.h"
#include "compiler/Lowering/Setup/WriteWeights.h"
#include "compiler/Pipelines/Artifact.h"
#include "compiler/Pipelines/Inference.h"
#include "compiler/Pipelines/PieceFacts.h"
#include "compiler/Pipelines/PlanCache.h"
#include "compiler/Pipelines/Variants.h"
#include "compiler/Solver/ProblemText.h"
#include "compiler/Transforms/Graph/Split/SplitWeights.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace plim {
namespace {

class Compiler {
public:
  Compiler(const CompileOptions &options, MLIRContext &context)
      : o(options), context(context), writes(o.stage == EmitStage::Artifact && !o.planOnly) {}

  CompileResult run() {
    result.status = compile();
    return std::move(result);
  }

private:
  void phase(const char *text) {
    if (o.progress)
      o.progress(text);
  }
  CompileStatus fail(CompileStatus status, const std::string &why) {
    emitError(UnknownLoc::get(&context)) << why;
    return status;
  }
  template <typename OpT> CompileStatus show(OpT op) {
    llvm::raw_string_ostream(result.ir) << op << "\n";
    return CompileStatus::Done;
  }

  CompileStatus compile() {
    if (writes)
      if (std::string why = artifact.create(o.outputFolder); !why.empty())
        return fail(CompileStatus::Environment, why);
    plans = std::make_unique<solver::PlanStore>(writes ? openPlanCache(o.outputFolder) : solver::PlanStore(""));
    if (CompileStatus status = importGraph(); status != CompileStatus::Done || o.stage == EmitStage::Import)
      return status == CompileStatus::Done ? show(*module) : status;
    if (CompileStatus status = passGraph(); status != CompileStatus::Done || o.stage == EmitStage::Graph)
      return status == CompileStatus::Done ? show(*module) : status;
    phase("kernels");
    object = std::make_unique<gen::ObjectBuilder>(context, o.name);
    PlanChooser chooser(std::move(module), inPieces, o, *object, plans.get());
    if (o.stage == EmitStage::Virtual || o.stage == EmitStage::Problem) {
      const Alternative *alternative = chooser.asItIs();
      if (!alternative)
        return CompileStatus::Model;
      return o.stage == EmitStage::Problem ? showProblem(*alternative) : show(*alternative->lowered.module);
    }
    if (CompileStatus status = plan(chooser); status != CompileStatus::Done)
      return status;
    return emitPlan(chooser.location());
  }

  CompileStatus importGraph() {
    phase("import");
    onnx::ImportOptions importOptions = o.import;
    if (writes)
      importOptions.decodedWeightsFile = artifact.path("decoded.bin");
    onnx::ImportStatus imported = onnx::ImportStatus::Done;
    module = onnx::importModel(o.modelPath, importOptions, &context, imported);
    return module ? CompileStatus::Done : CompileStatus(onnx::exitCode(imported));
  }

  CompileStatus passGraph() {
    phase("graph passes");
    PassManager sizes(&context);
    buildSizesPipeline(sizes);
    if (failed(sizes.run(*module)))
      return CompileStatus::Model;
    PassManager passes(&context);
    buildGraphPipeline(passes);
    if (failed(passes.run(*module)))
      return CompileStatus::Internal;
    if (o.splitWeights)
      graph::splitWeights(*module, *o.splitWeights);
    if (o.split == "off" || o.split == "auto")
      return CompileStatus::Done;
    SplitAlternatives given(*module, {o.choice.exactNumerics, o.choice.attention, o.reuseInputs});
    OwningOpRef<ModuleOp> pieces = given.apply(o.split);
    if (!pieces)
      return CompileStatus::Usage;
    module = std::move(pieces);
    inPieces = true;
    return CompileStatus::Done;
  }

  /// What the planner is given, as plim-solve takes it.
  CompileStatus showProblem(const Alternative &alternative) {
    OwningOpRef<plan::ModuleOp> copy = cast<plan::ModuleOp>((*alternative.lowered.module)->clone());
    SmallVector<plan::ProgramOp> programs = llvm::to_vector(copy->getOps<plan::ProgramOp>());
    if (programs.size() != 1)
      return fail(CompileStatus::Usage, "--emit=problem: need one entry, have " + std::to_string(programs.size()));
    if (failed(plan::normalizeScalars(programs.front())))
      return CompileStatus::Internal;
    const std::optional<int64_t> ram = o.budgets.empty() ? o.ramBudget : std::optional(o.budgets.front().bytes);
    FailureOr<plan::PlanProblem> extracted =
        plan::extractProblem(programs.front(), requestFor(o, alternative, ram, nullptr));
    if (failed(extracted))
      return CompileStatus::Internal;
    result.ir = solver::printProblem(extracted->problem);
    return CompileStatus::Done;
  }

  /// Every entry in stage placed, once or for each of several budgets. A refusal is reported.
  CompileStatus plan(PlanChooser &chooser) {
    if (!o.budgets.empty() || o.variants) {
      const std::vector<Budget> budgets = o.variants ? proposeBudgets(chooser, o) : o.budgets;
      if (budgets.empty())
        return CompileStatus::Internal;
      if (CompileStatus status = fitVariants(chooser, o, budgets, planned, facts); status != CompileStatus::Done)
        return status;
    } else {
      ChosenPlan chosen = chooser.choose(o.ramBudget);
      for (const plan::PlanRefusal &refusal : chosen.refusals)
        refusal.emit();
      if (!chosen.fits())
        return chosen.status;
      planned = {std::move(chosen.module), chosen.alternative->lowered.constants};
      facts = std::move(chosen.facts);
    }
    facts.profile = o.profile.name;
    if (!o.curve)
      return CompileStatus::Done;
    auto curves = chooser.curves();
    if (!curves)
      return CompileStatus::Internal;
    for (auto [p, program] : llvm::enumerate(facts.programs))
      program.curve = (*curves)[p % curves->size()];
    return CompileStatus::Done;
  }

  CompileStatus emitPlan(Location loc) {
    plan::ModuleOp planModule = *planned.module;
    if (writes) {
      phase("weights");
      lowering::WeightsOptions weights;
      weights.path = artifact.path("model.weights");
      weights.threads = o.jobs;
      weights.planner = [](plan::ModuleOp m) {
        plan::ProgramOp program = *m.getOps<plan::ProgramOp>().begin();
        return success(succeeded(plan::fitProgram(program, {})) && succeeded(plan::placeProgram(program)));
      };
      switch (lowering::writeWeights(planModule, planned.constants, weights)) {
      case lowering::WeightsStatus::Done:
        break;
      case lowering::WeightsStatus::Model:
        return CompileStatus::Model;
      case lowering::WeightsStatus::Environment:
        return CompileStatus::Environment;
      }
    }
    hashStreamedConstants(planModule);
    phase("step table");
    FailureOr<plan::EncodedTable> table = plan::encodeTable(planModule);
    if (failed(table))
      return CompileStatus::Internal;
    if (std::vector<std::string> faults = check::checkTable(table->bytes.table()); !faults.empty()) {
      for (const std::string &fault : faults)
        fail(CompileStatus::Internal, "the plan fails its check: " + fault);
      return CompileStatus::Internal;
    }
    if (o.stage == EmitStage::Plan) {
      plan::recordFigures(planModule, *table);
      return show(planModule);
    }
    addPieceFacts(planModule, facts);
    emit::Json json = emit::planJson(table->bytes.table(), o.name, facts);
    result.planJson = json.dump(2, ' ', false, emit::Json::error_handler_t::replace) + "\n";
    result.explanation = emit::explainPlan(json);
    return writes ? write(*table, json, loc) : CompileStatus::Done;
  }

  CompileStatus write(const plan::EncodedTable &table, const emit::Json &json, Location loc) {
    phase("object");
    // What a region of the model does may have no machine code: that is a fault of the model.
    for (const std::string &kernel : table.kernels)
      if (failed(object->compileKernel(kernel)))
        return CompileStatus::Model;
    if (failed(emit::addModel(*object, o.name, table, loc)))
      return CompileStatus::Internal;
    if (failed(object->writeObject(artifact.path("model.o"), loc)))
      return CompileStatus::Environment;
    std::string why = artifact.write("model.h", emit::modelHeader(table.bytes.table(), o.name));
    if (why.empty())
      why = artifact.write("model.plan.json", result.planJson);
    if (why.empty())
      why = artifact.write("model.html", emit::memoryChart(json));
    if (why.empty())
      why = artifact.linkShared();
    if (why.empty()) {
      savePlanCache(*plans, artifact);
      why = artifact.commit();
    }
    return why.empty() ? CompileStatus::Done : fail(CompileStatus::Environment, why);
  }

  const CompileOptions &o;
  MLIRContext &context;
  bool writes; // an artifact
  PartialArtifact artifact;
  std::unique_ptr<solver::PlanStore> plans; // of the output folder, where there is one
  OwningOpRef<ModuleOp> module;             // until there are alternatives
  bool inPieces = false;                    // `module` is split as asked
  std::unique_ptr<gen::ObjectBuilder> object;
  JoinedVariants planned;
  emit::PlanFacts facts;
  CompileResult result;
};

} // namespace

CompileResult compileModel(const CompileOptions &options, MLIRContext &context) {
  context.loadAllAvailableDialects();
  return Compiler(options, context).run();
}

} // namespace plim
