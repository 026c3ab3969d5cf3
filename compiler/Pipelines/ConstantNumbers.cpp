//===- ConstantNumbers.cpp - Which constants of several graphs are the same bytes ---------------===//
#include "compiler/Pipelines/ConstantNumbers.h"

using namespace mlir;

namespace plim {

/// The result of @setup that a parameter without a file stands for; null where there is none.
static Value resultOfSetup(graph::ParameterOp parameter) {
  auto setup = parameter->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>("setup");
  for (unsigned r = 0; setup && r < setup.getNumResults(); ++r)
    if (setup.getResultAttrOfType<StringAttr>(r, "graph.name") == parameter.getNameAttr())
      return setup.getBody().front().getTerminator()->getOperand(r);
  return {};
}

static const void *word(int64_t value) { return reinterpret_cast<const void *>(value); }

unsigned ConstantNumbers::numberOf(const lowering::ConstantSource &source) { return numberOf(source.op->getResult(0)); }

unsigned ConstantNumbers::numberOf(graph::ParameterOp parameter) {
  if (Value made = parameter.getFile().empty() ? resultOfSetup(parameter) : Value())
    return numberOf(made);
  // The name is left out: graphs may call the same bytes by several.
  std::vector<const void *> key{parameter->getName().getAsOpaquePointer(), parameter.getType().getAsOpaquePointer(),
                                parameter.getFileAttr().getAsOpaquePointer(), word(int64_t(parameter.getOffset())),
                                word(int64_t(parameter.getBytes()))};
  if (parameter.getFile().empty())
    key.push_back(parameter.getNameAttr().getAsOpaquePointer());
  return numbers.try_emplace(std::move(key), unsigned(numbers.size())).first->second;
}

/// Values that are made inside go by their order, those from outside by their numbers.
void ConstantNumbers::appendRegions(Operation *op, std::vector<const void *> &key) {
  llvm::DenseMap<Value, int64_t> inside;
  auto declare = [&](Value value) {
    inside.try_emplace(value, int64_t(inside.size()));
    key.push_back(value.getType().getAsOpaquePointer());
  };
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      for (Value argument : block.getArguments())
        declare(argument);
      block.walk<WalkOrder::PreOrder>([&](Operation *inner) {
        key.push_back(inner->getName().getAsOpaquePointer());
        key.push_back(inner->getAttrDictionary().getAsOpaquePointer());
        for (Value operand : inner->getOperands()) {
          auto local = inside.find(operand);
          key.push_back(word(local != inside.end() ? -1 - local->second : int64_t(numberOf(operand))));
        }
        for (Value result : inner->getResults())
          declare(result);
      });
    }
}

unsigned ConstantNumbers::numberOf(Value value) {
  if (auto number = known.find(value); number != known.end())
    return number->second;
  Operation *op = value.getDefiningOp();
  unsigned number = 0;
  if (auto parameter = dyn_cast<graph::ParameterOp>(op)) {
    number = numberOf(parameter);
  } else {
    std::vector<const void *> key{op->getName().getAsOpaquePointer(), op->getAttrDictionary().getAsOpaquePointer(),
                                  value.getType().getAsOpaquePointer(),
                                  word(int64_t(cast<OpResult>(value).getResultNumber()))};
    for (Value operand : op->getOperands())
      key.push_back(word(numberOf(operand)));
    appendRegions(op, key);
    number = numbers.try_emplace(std::move(key), unsigned(numbers.size())).first->second;
  }
  return known[value] = number;
}

} // namespace plim
