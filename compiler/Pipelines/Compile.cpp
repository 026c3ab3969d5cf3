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
#include "compiler/Pipelines/FitModule.h"
#include "compiler/Pipelines/Inference.h"
#include "compiler/Pipelines/PieceFacts.h"
#include "compiler/Pipelines/PiecesOfWeights.h"
#include "compiler/Pipelines/PlanCache.h"
#include "compiler/Pipelines/PriceKernels.h"
#include "compiler/Pipelines/SplitAlternatives.h"
#include "compiler/Solver/ProblemText.h"
#include "compiler/Transforms/Graph/Split/SplitWeights.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace plim {
namespace {

/// A plan in pieces needs at least this part of its estimate.
constexpr double kSurely = 0.95;

class Compiler {
public:
  Compiler(const CompileOptions &options, MLIRContext &context)
      : o(options), context(context),
        ramBudget(o.budgets.empty() ? o.ramBudget : std::optional(o.budgets.front().bytes)) {}

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
    bool writes = o.stage == EmitStage::Artifact && !o.planOnly;
    if (writes)
      if (std::string why = artifact.create(o.outputFolder); !why.empty())
        return fail(CompileStatus::Environment, why);
    if (writes)
      plans = std::make_unique<solver::PlanStore>(openPlanCache(o.outputFolder));
    phase("import");
    onnx::ImportOptions importOptions = o.import;
    if (writes)
      importOptions.decodedWeightsFile = artifact.path("decoded.bin");
    onnx::ImportStatus imported = onnx::ImportStatus::Done;
    module = onnx::importModel(o.modelPath, importOptions, &context, imported);
    if (!module)
      return CompileStatus(onnx::exitCode(imported));
    if (o.stage == EmitStage::Import)
      return show(*module);

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
    if (o.split != "off" && o.split != "auto")
      if (CompileStatus status = splitAsAsked(); status != CompileStatus::Done)
        return status;
    if (o.stage == EmitStage::Graph)
      return show(*module);
    const bool isPlanned = o.stage != EmitStage::Virtual && o.stage != EmitStage::Problem;
    CompileStatus status = isPlanned && ramBudget && o.split == "auto" ? lowerAlternatives() : lower();
    if (status == CompileStatus::Done && o.stage == EmitStage::Problem)
      return showProblem();
    for (Diagnostic &diagnostic : refusal)
      context.getDiagEngine().emit(std::move(diagnostic));
    if (!o.budgets.empty() && status == CompileStatus::Budget)
      reportRefused(lowered.module->getLoc(), o.budgets, need);
    if (virtualForm && status == CompileStatus::Done)
      status = planVariants();
    if (status != CompileStatus::Done)
      return status;
    return o.stage == EmitStage::Virtual ? show(*lowered.module) : emitPlan(writes);
  }

  graph::SplitKernels splitKernels() const { return {o.choice.exactNumerics, o.choice.attention, o.reuseInputs}; }

  CompileStatus splitAsAsked() {
    SplitAlternatives given(*module, o.split, splitKernels());
    if (!given.problem().empty())
      return fail(CompileStatus::Usage, "--split: " + given.problem());
    OwningOpRef<ModuleOp> pieces = given.apply(0);
    if (!pieces)
      return CompileStatus::Usage;
    module = std::move(pieces);
    inPieces = true;
    return CompileStatus::Done;
  }

  /// From the graph to stage placed, where the budgets are known; a refusal of the (smallest) one goes to `refusal`.
  CompileStatus lower() {
    phase("kernels");
    object = std::make_unique<gen::ObjectBuilder>(context, o.name);
    lowering::GraphToPlanOptions lowering;
    lowering.workers = o.workers;
    lowering.choice = o.choice;
    lowering.generate = lowering::generatorInto(*object);
    lowering.reuseInputs = o.reuseInputs;
    lowering.splits =
        ramBudget && o.split == "auto" && !inPieces && SplitAlternatives::arePossible(*module, splitKernels());
    FailureOr<lowering::GraphToPlanResult> result = lowering::graphToPlan(lowering::entriesOf(*module), lowering);
    if (failed(result))
      return CompileStatus::Model;
    lowered = std::move(*result);
    priceKernels(*lowered.module, o.profile);
    if (o.stage == EmitStage::Virtual || o.stage == EmitStage::Problem)
      return CompileStatus::Done;
    phase("plan");
    if (!o.budgets.empty() || o.variants)
      virtualForm = cast<plan::ModuleOp>((*lowered.module)->clone());
    refusal.clear();
    if (o.variants)
      return CompileStatus::Done;
    ScopedDiagnosticHandler keep(&context, [this](Diagnostic &diagnostic) {
      refusal.push_back(std::move(diagnostic));
      return success();
    });
    return fit(*lowered.module);
  }

  /// What the planner is given, as plim-solve takes it.
  CompileStatus showProblem() {
    SmallVector<plan::ProgramOp> programs = llvm::to_vector(lowered.module->getOps<plan::ProgramOp>());
    if (programs.size() != 1)
      return fail(CompileStatus::Usage, "--emit=problem: need one entry, have " + std::to_string(programs.size()));
    if (failed(plan::normalizeScalars(programs.front())))
      return CompileStatus::Internal;
    FailureOr<plan::PlanProblem> extracted = plan::extractProblem(programs.front(), request(ramBudget));
    if (failed(extracted))
      return CompileStatus::Internal;
    result.ir = solver::printProblem(extracted->problem);
    return CompileStatus::Done;
  }

  /// The module that was lowered last, under each of the budgets.
  CompileStatus planVariants() {
    phase("variants");
    std::vector<Budget> budgets = o.budgets;
    if (o.variants)
      budgets = proposeBudgets(*virtualForm, request(std::nullopt), o.variants);
    if (budgets.empty())
      return CompileStatus::Internal;
    return statusOf(fitVariants(*virtualForm, request(std::nullopt), budgets, o.curve, lowered.module, facts).status);
  }

  /// A module and what became of it.
  struct Attempt {
    CompileStatus status = CompileStatus::Budget;
    OwningOpRef<ModuleOp> module;
    std::unique_ptr<gen::ObjectBuilder> object;
    lowering::GraphToPlanResult lowered;
    OwningOpRef<plan::ModuleOp> virtualForm;
    std::vector<Diagnostic> refusal;
    int64_t need = INT64_MAX;
    bool inPieces = false;
    emit::PlanFacts facts;

    bool fits() const { return status == CompileStatus::Done; }
    int64_t predictedNs() const { return facts.predictedNs(); }
  };

  Attempt take(CompileStatus status) {
    return {
        status, std::move(module), std::move(object), std::move(lowered), std::move(virtualForm), std::move(refusal),
        need,   inPieces,          std::move(facts)};
  }
  CompileStatus put(Attempt a) {
    module = std::move(a.module), object = std::move(a.object), lowered = std::move(a.lowered);
    virtualForm = std::move(a.virtualForm), refusal = std::move(a.refusal), need = a.need;
    inPieces = a.inPieces, facts = std::move(a.facts);
    return a.status;
  }

  /// Notes of refusals that say what is proved, by refusal.
  using Proofs = std::vector<std::vector<std::string>>;

  static bool isProof(StringRef note) { return note.starts_with("proved") || note.starts_with("what is proved"); }

  static Proofs proofsOf(std::vector<Diagnostic> &refusal) {
    Proofs proofs;
    for (Diagnostic &diagnostic : refusal) {
      proofs.emplace_back();
      for (Diagnostic &note : diagnostic.getNotes())
        if (isProof(note.str()))
          proofs.back().push_back(note.str());
    }
    return proofs;
  }

  /// Lowers a module, whose maps are in pieces of rows or whole. It replaces `best` where it is faster, or asks for
  /// less where no plan fits yet. Fails where there is no plan for another reason than the budget, which is then its
  /// status. `proofs` gets what is proved of its plans.
  bool attempt(OwningOpRef<ModuleOp> alternative, bool rows, Attempt &best, Proofs *proofs = nullptr) {
    module = std::move(alternative), inPieces = rows;
    const CompileStatus status = module ? lower() : CompileStatus::Internal;
    if (proofs)
      *proofs = proofsOf(refusal);
    Attempt made = take(status);
    const bool isPlanned = made.fits() || status == CompileStatus::Budget;
    if (!isPlanned ||
        (made.fits() ? !best.fits() || made.predictedNs() < best.predictedNs() : !best.fits() && made.need < best.need))
      best = std::move(made);
    return isPlanned;
  }

  /// The first plan in pieces of rows that beats `best`.
  bool attemptRows(ModuleOp unsplit, Attempt &best) {
    const bool fits = best.fits();
    SplitAlternatives alternatives(unsplit, "auto", splitKernels(), fits ? best.predictedNs() : INT64_MAX);
    for (size_t i = 0; i < alternatives.size() || alternatives.more(); ++i) {
      // One that will not fit is planned only to say what would.
      const bool surely = double(alternatives.estimatedBytes(i)) * kSurely > double(*ramBudget);
      if (surely && (fits || i + 1 < alternatives.size() || alternatives.more()))
        continue;
      const int64_t before = best.fits() ? best.predictedNs() : INT64_MAX;
      if (!attempt(alternatives.apply(i), true, best))
        return false;
      if (best.fits() && best.predictedNs() < before)
        break;
    }
    return true;
  }

  /// The fastest of the plans that meet the budget: of the module as it is, with large weights in pieces, with maps in
  /// pieces of rows, or with both; or the refusal that asks for least. Each has its own smallest budget, which does not
  /// depend on the one that is asked for, so that what is met under one is met under all larger ones.
  CompileStatus lowerAlternatives() {
    OwningOpRef<ModuleOp> unsplit = std::move(module);
    const PiecesOfWeights weights = o.stream ? piecesOfWeights(*unsplit) : PiecesOfWeights();
    const int64_t ram = *ramBudget;
    Attempt best;
    Proofs proofs;
    if (!weights.bytes || weights.leastWhole <= ram)
      if (!attempt(cast<ModuleOp>(unsplit->clone()), false, best, &proofs))
        return put(std::move(best));
    if (!o.budgets.empty() && best.fits())
      return put(std::move(best));
    OwningOpRef<ModuleOp> inPiecesOfWeights;
    if (weights.bytes &&
        (!best.fits() || (weights.leastBytes <= ram && waitsForWeights(*best.lowered.module, best.predictedNs())))) {
      inPiecesOfWeights = withWeightsInPieces(*unsplit, weights.bytes);
      if (!attempt(cast<ModuleOp>(inPiecesOfWeights->clone()), false, best, &proofs))
        return put(std::move(best));
      for (std::vector<std::string> &texts : proofs)
        for (std::string &text : texts)
          text += "; of weights in pieces of at most " + std::to_string(weights.bytes) + " bytes";
    }
    if (!attemptRows(*unsplit, best))
      return put(std::move(best));
    if (!best.fits() && inPiecesOfWeights && !attemptRows(*inPiecesOfWeights, best))
      return put(std::move(best));
    best.refusal = withProofs(best.refusal, proofs);
    return put(std::move(best));
  }

  /// What is proved of some pieces is not proved of others; what is proved of the whole maps' steps, which can be cut,
  /// is.
  static std::vector<Diagnostic> withProofs(std::vector<Diagnostic> &given, const Proofs &proofs) {
    std::vector<Diagnostic> result;
    for (auto [i, diagnostic] : llvm::enumerate(given)) {
      Diagnostic &copy = result.emplace_back(diagnostic.getLocation(), diagnostic.getSeverity());
      copy << diagnostic.str();
      for (const std::string &proof : i < proofs.size() ? proofs[i] : std::vector<std::string>())
        copy.attachNote(diagnostic.getLocation()) << proof;
      for (Diagnostic &note : diagnostic.getNotes())
        if (!isProof(note.str()))
          copy.attachNote(note.getLocation()) << note.str();
    }
    return result;
  }

  CompileStatus emitPlan(bool writes) {
    plan::ModuleOp planModule = *lowered.module;
    if (writes) {
      phase("weights");
      lowering::WeightsOptions weights;
      weights.path = artifact.path("model.weights");
      weights.threads = o.jobs;
      weights.planner = [](plan::ModuleOp m) {
        plan::ProgramOp program = *m.getOps<plan::ProgramOp>().begin();
        return success(succeeded(plan::fitProgram(program, {})) && succeeded(plan::placeProgram(program)));
      };
      switch (
          lowering::writeWeights(planModule, lowered.constants, module->lookupSymbol<func::FuncOp>("setup"), weights)) {
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
    return writes ? write(*object, *table, json) : CompileStatus::Done;
  }

  plan::FitRequest request(std::optional<int64_t> ram) const {
    plan::FitRequest request;
    request.budget[unsigned(plan::Tier::Ram)] = ram;
    request.budget[unsigned(plan::Tier::Ssd)] = o.ssdBudget;
    request.countIO = o.countIO;
    request.links = solver::linksOf(o.profile);
    request.options.store = plans.get();
    if (inPieces) {
      // Thousands of steps in an order that was made for few bytes.
      request.levers = {.order = false, .lend = true};
      request.options.tradeEvaluations = 200;
      request.options.alternatives = false;
    }
    request.levers.stream = request.levers.stream && o.stream;
    return request;
  }

  static CompileStatus statusOf(FitStatus status) {
    switch (status) {
    case FitStatus::Done:
      return CompileStatus::Done;
    case FitStatus::Budget:
      return CompileStatus::Budget;
    case FitStatus::Internal:
      return CompileStatus::Internal;
    }
  }

  /// Every entry from stage virtual to placed under the budget; each refusal is reported.
  CompileStatus fit(plan::ModuleOp planModule) {
    facts.profile = o.profile.name;
    FitOutcome outcome = fitModule(planModule, request(ramBudget), o.curve && !virtualForm, facts);
    need = outcome.need;
    return statusOf(outcome.status);
  }

  CompileStatus write(gen::ObjectBuilder &object, const plan::EncodedTable &table, const emit::Json &json) {
    phase("object");
    if (failed(emit::addModel(object, o.name, table, module->getLoc())))
      return CompileStatus::Internal;
    if (failed(object.writeObject(artifact.path("model.o"), module->getLoc())))
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
  PartialArtifact artifact;
  std::unique_ptr<solver::PlanStore> plans; // of the output folder, where there is one
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<gen::ObjectBuilder> object;
  lowering::GraphToPlanResult lowered;
  OwningOpRef<plan::ModuleOp> virtualForm; // of `lowered`, where there will be variants
  std::optional<int64_t> ramBudget;        // of several, the smallest
  std::vector<Diagnostic> refusal;
  int64_t need = 0;      // that the refusal names
  bool inPieces = false; // `module` is split
  emit::PlanFacts facts;
  CompileResult result;
};

} // namespace

CompileResult compileModel(const CompileOptions &options, MLIRContext &context) {
  context.loadAllAvailableDialects();
  return Compiler(options, context).run();
}

} // namespace plim
