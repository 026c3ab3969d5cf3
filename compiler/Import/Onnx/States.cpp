// Inputs that keep the value of an output from run to run: pairs by --state, variables of the module.
#include "compiler/Import/Onnx/ModelImporter.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

LogicalResult ModelImporter::pairStates() {
  const std::vector<wire::ValueInfo> &outputs = model.graph->outputs;
  const auto outputName = [](const wire::ValueInfo &output) { return toRef(output.name); };
  std::vector<std::string> ownerOf(outputs.size());
  bool bad = false;
  const auto fail = [&](const StateFlag &flag, const Twine &why) {
    error(fileLocation()) << "--state '" << flag.text << "': " << why;
    bad = true;
  };
  for (const StateFlag &flag : options.states) {
    bool used = false;
    for (Input &input : inputs) {
      const StringRef name = toRef(input.info->name);
      const std::optional<StringRef> star = flag.match(name);
      if (!star)
        continue;
      used = true;
      const std::string wanted = flag.outputFor(*star);
      const auto found = llvm::find_if(outputs, [&](const auto &output) { return outputName(output) == wanted; });
      if (found == outputs.end()) {
        fail(flag, "input '" + name + "' needs an output '" + wanted + "'; have " +
                       quotedNames(llvm::map_to_vector(outputs, outputName)));
        continue;
      }
      const size_t number = found - outputs.begin();
      if (input.state >= 0 && size_t(input.state) != number)
        fail(flag, "input '" + name + "' is already the state of output '" + outputName(outputs[input.state]) + "'");
      else if (!ownerOf[number].empty() && ownerOf[number] != name)
        fail(flag, "output '" + wanted + "' is claimed twice, by inputs '" + ownerOf[number] + "' and '" + name + "'");
      input.state = int(number);
      ownerOf[number] = name.str();
    }
    if (!used)
      fail(flag, "names no input of the model; have " + inputNames());
  }
  if (bad)
    status = ImportStatus::Usage;
  return failure(bad);
}

/// The name of the dimension of an input that is open: the model's, else one made of input and number.
static std::string openDimName(StringRef input, DictionaryAttr attributes, int64_t dimension) {
  const auto names = attributes.getAs<ArrayAttr>("graph.dim_names");
  const StringRef name = names ? cast<StringAttr>(names[dimension]).getValue() : StringRef();
  return name.empty() ? (input + "." + Twine(dimension)).str() : name.str();
}

LogicalResult ModelImporter::declareVariables(StringRef entry, ModuleOp module) {
  bool bad = false;
  const auto fail = [&](StringRef name) -> InFlightDiagnostic {
    bad = true;
    return error(fileLocation()) << "state '" << name << "': ";
  };
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  for (const Input &input : inputs) {
    if (input.state < 0)
      continue;
    const StringRef name = toRef(input.info->name);
    const auto type = cast<RankedTensorType>(input.type);
    if (name == entry || name == "setup") {
      fail(name) << "the name is that of a program; "
                 << (name == entry ? "give the entry another one by --entry" : "it prepares weights");
      continue;
    }
    graph::VariableOp &variable = variables[name];
    if (variable) {
      if (variable.getTensorType() != type)
        fail(name) << "entry '" << entry << "' needs it as " << graph::toString(graph::dimsOf(type))
                   << ", the entries before it have " << graph::toString(graph::dimsOf(variable.getTensorType()))
                   << "; all entries share one";
      continue;
    }
    if (type.getNumDynamicDims() > 1) {
      fail(name) << "need at most 1 open dimension, have " << type.getNumDynamicDims() << ": "
                 << graph::toString(graph::dimsOf(type));
      continue;
    }
    std::string size;
    for (auto [d, dim] : llvm::enumerate(graph::dimsOf(type))) {
      if (dim.isStatic())
        continue;
      size = openDimName(name, input.attributes, int64_t(d));
      if (dim.lo != 0)
        fail(name) << "dimension " << d << " '" << size << "': need a bound from 0, as it starts empty, have "
                   << graph::toString(dim);
    }
    variable = graph::VariableOp::create(builder, fileLocation(), name, type, /*file=*/"", /*offset=*/0, /*bytes=*/0,
                                         /*durable=*/true, size.empty() ? StringAttr() : builder.getStringAttr(size));
    builder.setInsertionPointAfter(variable);
  }
  if (bad)
    status = ImportStatus::Usage;
  return failure(bad);
}

LogicalResult ModelImporter::checkAssignable(ArrayRef<Value> outputs) {
  bool bad = false;
  for (const Input &input : inputs) {
    if (input.state < 0)
      continue;
    const StringRef name = toRef(input.info->name);
    graph::VariableOp variable = variables.lookup(name);
    const auto need = variable.getTensorType(), have = cast<RankedTensorType>(outputs[input.state].getType());
    const graph::Dims wanted = graph::dimsOf(need), given = graph::dimsOf(have);
    bool fits = need.getElementType() == have.getElementType() && wanted.size() == given.size();
    int64_t beyond = -1;
    for (size_t d = 0; fits && d < wanted.size(); ++d) {
      fits = graph::canBeEqual(wanted[d], given[d]);
      if (!fits && int64_t(d) == variable.getOpenDim() && given[d].lo > wanted[d].hi)
        beyond = int64_t(d);
    }
    if (fits)
      continue;
    bad = true;
    InFlightDiagnostic diagnostic = error(fileLocation());
    diagnostic << "state '" << name << "': output '" << toRef(model.graph->outputs[input.state].name) << "' ";
    if (beyond >= 0)
      diagnostic << "has at least " << given[beyond].lo << " in dimension '" << *variable.getSize()
                 << "', beyond its bound of " << wanted[beyond].hi;
    else
      diagnostic << "needs the type of the input, " << need << ", has " << have;
  }
  if (bad)
    status = ImportStatus::Usage;
  return failure(bad);
}
