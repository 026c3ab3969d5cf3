// Types of the model's inputs, from what the model declares and what the user said.
#include "compiler/Import/Onnx/ModelImporter.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

/// A dimension that is neither fixed nor bounded.
struct OpenDimension {
  StringRef input, name;
  unsigned index;
  std::string suggestion;
};

} // namespace

std::string plim::onnx::quotedNames(ArrayRef<StringRef> names) {
  std::string text;
  for (StringRef name : names)
    text += (text.empty() ? "'" : ", '") + name.str() + "'";
  return text.empty() ? "none" : text;
}

/// `--shape x=1x3x?x?` with what is known filled in.
static std::string suggestShape(StringRef input, ArrayRef<graph::Dim> dims) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "--shape '" << input << "=";
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (i)
      out << "x";
    if (dim.isStatic())
      out << dim.lo;
    else
      out << "SIZE";
  }
  out << "'";
  return text;
}

LogicalResult ModelImporter::listInputs() {
  const wire::Graph &graph = *model.graph;
  // Before IR version 4 every initializer was also listed as an input.
  llvm::StringSet<> initializers, names;
  for (const wire::Tensor &tensor : graph.initializers)
    initializers.insert(toRef(tensor.name));
  for (const wire::ValueInfo &info : graph.inputs) {
    if (initializers.contains(toRef(info.name)))
      continue;
    if (!names.insert(toRef(info.name)).second)
      return error(fileLocation()) << "input '" << toRef(info.name) << "' is declared twice";
    inputs.push_back({&info, {}, {}});
  }
  return success();
}

std::string ModelImporter::inputNames() const {
  return quotedNames(llvm::map_to_vector(inputs, [](const Input &input) { return toRef(input.info->name); }));
}

LogicalResult ModelImporter::readInputs(StringRef entry, ArrayRef<BoundFlag> bounds) {
  llvm::BitVector shapeUsed(options.shapes.size()), ownUsed(bounds.size());
  llvm::SetVector<StringRef> openNames; // of dimensions, for messages
  SmallVector<OpenDimension> open;
  bool bad = false;
  for (Input &into : inputs) {
    const wire::ValueInfo *input = into.info;
    const StringRef name = toRef(input->name);
    if (input->type.kind != wire::Type::Kind::Tensor) {
      error(fileLocation()) << "input '" << name << "' is no tensor: sequences, maps, optional and sparse values are "
                            << "not supported";
      bad = true;
      continue;
    }
    const Type element = elementType(input->type.element);
    if (!element) {
      error(fileLocation()) << "input '" << name << "': elements of type " << wire::typeName(input->type.element)
                            << " are not supported";
      bad = true;
      continue;
    }
    // The last flag that names the input wins, an exact name over a glob.
    const ShapeFlag *flag = nullptr;
    for (auto [i, candidate] : llvm::enumerate(options.shapes))
      if (matchesName(candidate.pattern, name)) {
        shapeUsed.set(i);
        if (!flag || flag->pattern != name || candidate.pattern == name)
          flag = &candidate;
      }
    if (!input->type.shape && !flag) {
      error(fileLocation()) << "input '" << name << "' has an unknown rank: give its shape by --shape '" << name
                            << "=DIMxDIM...'";
      status = ImportStatus::Usage;
      bad = true;
      continue;
    }
    if (flag && input->type.shape && flag->dimensions.size() != input->type.shape->size()) {
      error(fileLocation()) << "--shape '" << flag->text << "': input '" << name << "' has "
                            << input->type.shape->size() << " dimensions, the flag " << flag->dimensions.size();
      status = ImportStatus::Usage;
      bad = true;
      continue;
    }
    const size_t rank = flag ? flag->dimensions.size() : input->type.shape->size();
    graph::Dims dims;
    SmallVector<StringRef> dimNames(rank);
    SmallVector<OpenDimension> openHere;
    for (size_t i = 0; i < rank; ++i) {
      std::optional<int64_t> declared, given;
      if (input->type.shape) {
        const wire::Dimension &dimension = (*input->type.shape)[i];
        // Some exporters write -1 for an open dimension.
        if (dimension.value && *dimension.value >= 0)
          declared = dimension.value;
        dimNames[i] = toRef(dimension.name);
      }
      if (flag) {
        given = flag->dimensions[i].size;
        if (!flag->dimensions[i].name.empty())
          dimNames[i] = flag->dimensions[i].name;
      }
      if (declared && given && *declared != *given) {
        error(fileLocation()) << "--shape '" << flag->text << "': dimension " << i << " of input '" << name << "' is "
                              << *declared << " in the model, " << *given << " in the flag";
        status = ImportStatus::Usage;
        bad = true;
      }
      graph::Dim dim;
      bool known = true;
      if (given || declared) {
        dim = graph::Dim(given ? *given : *declared);
      } else {
        known = false;
        for (auto [j, bound] : llvm::enumerate(options.bounds))
          if (!dimNames[i].empty() && matchesName(bound.pattern, dimNames[i])) {
            dim = graph::Dim(bound.lower, bound.upper);
            boundUsed.set(j);
            known = true;
          }
        for (auto [j, bound] : llvm::enumerate(bounds))
          if (!dimNames[i].empty() && bound.pattern == dimNames[i]) {
            dim = graph::Dim(bound.lower, bound.upper);
            ownUsed.set(j);
            known = true;
          }
        if (!dimNames[i].empty())
          openNames.insert(dimNames[i]);
      }
      if (dim.isStatic())
        dimNames[i] = "";
      if (!known)
        openHere.push_back({name, dimNames[i], unsigned(i), ""});
      dims.push_back(dim);
    }
    for (OpenDimension &dimension : openHere) {
      dimension.suggestion = suggestShape(name, dims);
      open.push_back(dimension);
    }
    if (!isPlausible(dims)) {
      error(fileLocation()) << "input '" << name << "' " << graph::toString(dims) << " is too large";
      bad = true;
      continue;
    }
    into.type = graph::tensorOf(dims, element);
    NamedAttrList list;
    list.set("graph.name", builder.getStringAttr(name));
    if (llvm::any_of(dimNames, [](StringRef dimension) { return !dimension.empty(); }))
      list.set("graph.dim_names", builder.getStrArrayAttr(dimNames));
    into.attributes = list.getDictionary(context);
  }

  if (!open.empty()) {
    status = ImportStatus::Usage;
    bad = true;
    auto diagnostic = error(fileLocation());
    if (open.size() == 1)
      diagnostic << "1 dimension of the inputs is open; give it a size or a bound";
    else
      diagnostic << open.size() << " dimensions of the inputs are open; give each a size or a bound";
    for (const OpenDimension &dimension : open) {
      Diagnostic &note = diagnostic.attachNote();
      note << "input '" << dimension.input << "', dimension " << dimension.index;
      if (!dimension.name.empty())
        note << " '" << dimension.name << "'";
      note << ": " << dimension.suggestion;
      if (!dimension.name.empty())
        note << " or --bound '" << dimension.name << "=LEAST..MOST'";
    }
  }
  for (size_t i = 0; i < options.shapes.size(); ++i)
    if (!shapeUsed.test(i)) {
      error(fileLocation()) << "--shape '" << options.shapes[i].text << "' names no input of the model; have "
                            << inputNames();
      status = ImportStatus::Usage;
      bad = true;
    }
  if (bad)
    reportUnusedBounds();
  for (size_t i = 0; i < bounds.size(); ++i)
    if (!ownUsed.test(i)) {
      error(fileLocation()) << "--entry '" << entry << "': '" << bounds[i].text
                            << "' names no open dimension of an input; have " << quotedNames(openNames.getArrayRef());
      status = ImportStatus::Usage;
      bad = true;
    }
  return failure(bad);
}
