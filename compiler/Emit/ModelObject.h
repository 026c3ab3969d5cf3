//===- ModelObject.h - The step table and its kernels as globals of an object file --------===//
//
// model.o holds, beside the generated kernels, the table (constant, no relocations) and one small struct of pointers,
// <name>_model. It refers to library kernels by symbol, so that a program links just those it uses, and to the symbol
// of the kernel ABI, so that another runtime fails at link time.
//
//===---------------------------------------------------------------------------------------===//
#ifndef PLIM_COMPILER_EMIT_MODELOBJECT_H
#define PLIM_COMPILER_EMIT_MODELOBJECT_H

#include "compiler/Lowering/Generated/ObjectBuilder.h"
#include "plim/table.h"

namespace plim::emit {

/// Adds <prefix>_model and what it points to. `table` is the whole step table; its kernels are the builder's own,
/// library kernels, or C symbols of the user's.
void addModel(gen::ObjectBuilder &object, llvm::StringRef prefix, llvm::ArrayRef<char> table);

} // namespace plim::emit

#endif
