//===- ModelObject.cpp - The step table and its kernels as globals of an object file ------===//
#include "compiler/Emit/ModelObject.h"
#include "kernels/registry.h"
#include "llvm/IR/Constants.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace plim::emit {
namespace {

#define PLIM_TEXT_OF(symbol) #symbol
#define PLIM_SYMBOL_TEXT(symbol) PLIM_TEXT_OF(symbol)

GlobalVariable *externalByte(Module &module, StringRef symbol) {
  if (GlobalVariable *known = module.getNamedGlobal(symbol))
    return known;
  return new GlobalVariable(module, Type::getInt8Ty(module.getContext()), /*isConstant=*/true,
                            GlobalValue::ExternalLinkage, nullptr, symbol);
}

Constant *kernelPointer(gen::ObjectBuilder &object, StringRef name) {
  if (GlobalVariable *generated = object.kernel(name))
    return generated;
  const plim_kernel_entry *entry = plim_find_kernel_entry(name.str().c_str());
  return externalByte(object.llvmModule(), entry ? StringRef(entry->symbol) : name);
}

} // namespace

void addModel(gen::ObjectBuilder &object, StringRef prefix, ArrayRef<char> bytes) {
  Module &module = object.llvmModule();
  LLVMContext &context = module.getContext();
  Type *i32 = Type::getInt32Ty(context);
  PointerType *pointer = PointerType::get(context, 0);
  auto table = reinterpret_cast<const plim_table *>(bytes.data());

  Constant *data = ConstantDataArray::getString(context, StringRef(bytes.data(), bytes.size()), /*AddNull=*/false);
  auto *tableGlobal =
      new GlobalVariable(module, data->getType(), true, GlobalValue::InternalLinkage, data, (prefix + "_table").str());
  tableGlobal->setAlignment(Align(64));
  tableGlobal->setSection(".rodata.plim." + prefix.str());

  uint64_t count = table->sections[PLIM_SEC_KERNELS].count;
  auto *kernels = static_cast<const plim_t_kernel *>(plim_table_section(table, PLIM_SEC_KERNELS));
  SmallVector<Constant *> pointers;
  for (uint64_t k = 0; k < count; ++k)
    pointers.push_back(kernelPointer(object, plim_table_string(table, kernels[k].name)));
  // An artifact without launches still has a valid pointer.
  if (pointers.empty())
    pointers.push_back(ConstantPointerNull::get(pointer));
  ArrayType *arrayType = ArrayType::get(pointer, pointers.size());
  auto *kernelArray = new GlobalVariable(module, arrayType, true, GlobalValue::InternalLinkage,
                                         ConstantArray::get(arrayType, pointers), (prefix + "_kernels").str());

  Constant *name = ConstantDataArray::getString(context, prefix);
  auto *nameGlobal = new GlobalVariable(module, name->getType(), true, GlobalValue::PrivateLinkage, name);

  StructType *type = StructType::get(context, {i32, i32, pointer, pointer, pointer, pointer, i32, i32});
  Constant *fields[] = {ConstantInt::get(i32, sizeof(plim_model)),
                        ConstantInt::get(i32, PLIM_KERNEL_ABI),
                        nameGlobal,
                        tableGlobal,
                        kernelArray,
                        ConstantPointerNull::get(pointer),
                        ConstantInt::get(i32, 0),
                        ConstantInt::get(i32, 0)};
  new GlobalVariable(module, type, true, GlobalValue::ExternalLinkage, ConstantStruct::get(type, fields),
                     (prefix + "_model").str());

  auto *abi =
      new GlobalVariable(module, pointer, true, GlobalValue::InternalLinkage,
                         externalByte(module, PLIM_SYMBOL_TEXT(PLIM_KERNEL_ABI_SYMBOL)), (prefix + "_abi").str());
  appendToUsed(module, {abi});
}

} // namespace plim::emit
