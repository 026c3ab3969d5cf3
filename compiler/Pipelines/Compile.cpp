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
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace plim {
namespace {

class Compiler {
public:
  Compiler(const CompileOptions &options, MLIRContext &context) : o(options), context(context) {}

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
    if (o.stage == EmitStage::Graph)
      return show(*module);
    return plan(writes);
  }

  CompileStatus plan(bool writes) {
    phase("kernels");
    gen::ObjectBuilder object(context, o.name);
    lowering::GraphToPlanOptions lowering;
    lowering.workers = o.workers;
    lowering.choice = o.choice;
    lowering.generate = lowering::generatorInto(object);
    FailureOr<lowering::GraphToPlanResult> lowered = lowering::graphToPlan(lowering::entriesOf(*module), lowering);
    if (failed(lowered))
      return CompileStatus::Model;
    plan::ModuleOp planModule = *lowered->module;
    if (o.stage == EmitStage::Virtual)
      return show(planModule);

    phase("plan");
    if (CompileStatus status = fit(planModule); status != CompileStatus::Done)
      return status;

    if (writes) {
      phase("weights");
      lowering::WeightsOptions weights;
      weights.path = artifact.path("model.weights");
      weights.threads = o.jobs;
      weights.planner = [](plan::ModuleOp m) {
        plan::ProgramOp program = *m.getOps<plan::ProgramOp>().begin();
        return success(succeeded(plan::fitProgram(program, {})) && succeeded(plan::placeProgram(program)));
      };
      switch (lowering::writeWeights(planModule, lowered->constants, module->lookupSymbol<func::FuncOp>("setup"),
                                     weights)) {
      case lowering::WeightsStatus::Done:
        break;
      case lowering::WeightsStatus::Model:
        return CompileStatus::Model;
      case lowering::WeightsStatus::Environment:
        return CompileStatus::Environment;
      }
    }
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
    emit::Json json = emit::planJson(table->bytes.table(), o.name);
    result.planJson = json.dump(2, ' ', false, emit::Json::error_handler_t::replace) + "\n";
    result.explanation = emit::explainPlan(json);
    return writes ? write(object, *table, json) : CompileStatus::Done;
  }

  /// Every entry from stage virtual to placed under the budget; each refusal is reported.
  CompileStatus fit(plan::ModuleOp planModule) {
    SmallVector<plan::ProgramOp> programs(planModule.getOps<plan::ProgramOp>());
    for (plan::ProgramOp program : programs)
      if (failed(plan::normalizeScalars(program)))
        return CompileStatus::Internal;
    CompileStatus result = CompileStatus::Done;
    for (plan::ProgramOp program : programs) {
      CompileStatus status = fit(program);
      if (status != CompileStatus::Done && status != CompileStatus::Budget)
        return status;
      result = std::max(result, status);
    }
    return result;
  }

  CompileStatus fit(plan::ProgramOp program) {
    plan::FitRequest request;
    request.budget[unsigned(plan::Tier::Ram)] = o.ramBudget;
    request.countIO = o.countIO;
    FailureOr<plan::PlanProblem> problem = plan::extractProblem(program, request);
    if (failed(problem))
      return CompileStatus::Internal;
    FailureOr<solver::Solution> solution = plan::solve(*problem, request);
    if (failed(solution))
      return CompileStatus::Budget;
    if (failed(plan::applySolution(*problem, *solution)) || failed(plan::placeProgram(program)))
      return CompileStatus::Internal;
    if (o.ramBudget)
      program.setBudgetAttr(plan::TierBytesAttr::get(&context, {*o.ramBudget, -1, -1, -1}));
    return CompileStatus::Done;
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
    if (why.empty())
      why = artifact.commit();
    return why.empty() ? CompileStatus::Done : fail(CompileStatus::Environment, why);
  }

  const CompileOptions &o;
  MLIRContext &context;
  PartialArtifact artifact;
  OwningOpRef<ModuleOp> module;
  CompileResult result;
};

} // namespace

CompileResult compileModel(const CompileOptions &options, MLIRContext &context) {
  context.loadAllAvailableDialects();
  return Compiler(options, context).run();
}

} // namespace plim
