//===- PlanOps.td - Operations of the plan dialect ---------------------*- tablegen -*-===//

#ifndef PLIM_PLAN_OPS_TD
#define PLIM_PLAN_OPS_TD

include "dialects/Plan/PlanAttrs.td"
include "dialects/Plan/PlanTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

// A step of a program. Its effects (PlanEffects.cpp) always include a write of the program's timeline.
class Plan_Step<string mnemonic, list<Trait> traits = []>
    : Plan_Op<mnemonic, !listconcat([DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)>;

def Plan_Int : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit integer">;
def Plan_AccessArray : TypedArrayAttrBase<Plan_AccessAttr, "accesses">;
def Plan_CandidateArray : TypedArrayAttrBase<Plan_CandidateAttr, "candidates">;
def Plan_AliasArray : TypedArrayAttrBase<Plan_AliasAttr, "aliases">;
def Plan_SplitArray : TypedArrayAttrBase<Plan_SplitAttr, "splits">;
def Plan_IOArray : TypedArrayAttrBase<Plan_IOAttr, "ios">;
def Plan_SymbolArray : TypedArrayAttrBase<Plan_SymbolAttr, "symbols">;

//===----------------------------------------------------------------------===//
// The module and what its programs share
//===----------------------------------------------------------------------===//

def Plan_ModuleOp : Plan_Op<"module", [IsolatedFromAbove, SymbolTable, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "One artifact: constants, states, arenas, and programs by entry and variant";
  let description = [{
    `isa` is the lowest CPU level that may run it, `workers` the largest number of workers (a launch has scratch for
    as many of them as it has tasks), `io_depth` the transfers in flight on one queue.
  }];
  let arguments = (ins OptionalAttr<SymbolNameAttr>:$sym_name,
    DefaultValuedAttr<Plan_IsaAttr, "::plim::plan::Isa::V3">:$isa, DefaultValuedAttr<Plan_Int, "8">:$workers,
    DefaultValuedAttr<Plan_Int, "1">:$io_depth, DefaultValuedAttr<Plan_Int, "1">:$kernel_abi,
    DefaultValuedAttr<Plan_Int, "0">:$stack_bytes, DefaultValuedAttr<Plan_Int, "0">:$weights_bytes,
    DefaultValuedAttr<Plan_Int, "0">:$weights_hash);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "($sym_name^)? attr-dict-with-keyword $body";
  let builders = [OpBuilder<(ins)>];
  let skipDefaultBuilders = 1;
  let hasRegionVerifier = 1;
}

def Plan_ConstantOp : Plan_Op<"constant", [Symbol, HasParent<"ModuleOp">]> {
  let summary = "Bytes of a weight file";
  let description = [{
    `offset` counts from the data part of the weight file (`file` names another file while the model is being compiled).
    `hash` is the XXH3-64 of the bytes.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Plan_Int:$offset, Plan_Int:$bytes, Plan_ShapeAttr:$shape,
    DefaultValuedAttr<Plan_Int, "0">:$hash, OptionalAttr<StrAttr>:$file);
  let assemblyFormat = [{
    $sym_name custom<Shape>($shape) `bytes` $bytes `at` $offset (`hash` $hash^)? (`file` $file^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_StateOp : Plan_Op<"state", [Symbol, HasParent<"ModuleOp">]> {
  let summary = "Bytes kept between runs; the same in all variants";
  let arguments = (ins SymbolNameAttr:$sym_name, Plan_Int:$bytes, Plan_ShapeAttr:$shape,
    OptionalAttr<FlatSymbolRefAttr>:$init, UnitAttr:$durable);
  let assemblyFormat = [{
    $sym_name custom<Shape>($shape) `bytes` $bytes (`init` $init^)? (`durable` $durable^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_ArenaOp : Plan_Op<"arena", [Symbol, HasParent<"ModuleOp">]> {
  let summary = "Bytes of a tier that the runtime reserves";
  let description = [{
    Programs share arenas, so they are declared beside them and views name them. `touched` is the end of the highest byte
    that any step may touch. Arenas have no names in a step table: the placed form calls them @arena0, @arena1, ...
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Plan_ArenaKindAttr:$kind, TypeAttrOf<Plan_Buffer>:$type,
    DefaultValuedAttr<Plan_Int, "0">:$touched);
  let assemblyFormat = "$sym_name custom<EnumKeyword>($kind) `:` $type (`touched` $touched^)? attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    BufferType getBufferType() { return ::llvm::cast<BufferType>(getType()); }
  }];
}

def Plan_ProgramOp : Plan_Op<"program", [
    Symbol, IsolatedFromAbove, HasParent<"ModuleOp">, SingleBlock,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "An entry in one variant: a list of steps";
  let description = [{
    The block arguments are the symbols (dimensions that the caller gives), then the caller's buffers. The symbol name is
    the entry's name, followed by `.` and the variant's name if that is not empty. `commit` is the step before which no
    state is written (`first_commit_step` of the step table; absent where no state is written). `budget` is as asked,
    `reserved_peak` what the runtime reserves for a session, `live_peak` the largest sum of live buffers, io and residents.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Plan_StageAttr:$stage, Plan_SymbolArray:$symbols, Plan_IOArray:$ios,
    DefaultValuedAttr<StrAttr, "\"\"">:$variant, OptionalAttr<Plan_Int>:$commit,
    OptionalAttr<Plan_TierBytesAttr>:$budget, OptionalAttr<Plan_TierBytesAttr>:$reserved_peak,
    OptionalAttr<Plan_TierBytesAttr>:$live_peak);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "Stage":$stage, "::llvm::ArrayRef<SymbolAttr>":$symbols,
                                 "::llvm::ArrayRef<IOAttr>":$ios, "::llvm::ArrayRef<BufferType>":$ioTypes)>];
  let extraClassDeclaration = [{
    ::mlir::Block *getBlock() { return &getBody().front(); }
    ::mlir::Block::BlockArgListType getSymbolArguments();
    ::mlir::Block::BlockArgListType getIOArguments();
    SymbolAttr getSymbolAt(unsigned index) { return ::llvm::cast<SymbolAttr>(getSymbols()[index]); }
    IOAttr getIOAt(unsigned index) { return ::llvm::cast<IOAttr>(getIos()[index]); }
    /// The symbol name without the variant.
    ::llvm::StringRef getEntry();
    ModuleOp getModule() { return ::llvm::cast<ModuleOp>((*this)->getParentOp()); }
  }];
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

def Plan_ResidentOp : Plan_Op<"resident", [Pure, ParentOneOf<["ProgramOp"]>]> {
  let summary = "The home of a constant or a state in this program";
  let description = [{
    `plan.resident @w in @arena1[64]` lies in an arena for the whole run, `plan.resident @w in_file` in the weight file;
    in stage virtual the home is open.
  }];
  let arguments = (ins FlatSymbolRefAttr:$symbol, OptionalAttr<FlatSymbolRefAttr>:$arena, OptionalAttr<Plan_Int>:$offset,
    UnitAttr:$in_file);
  let results = (outs Plan_Buffer:$buffer);
  let assemblyFormat = "$symbol (`in` $arena^ `[` $offset `]`)? (`in_file` $in_file^)? attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Plan_AllocOp : Plan_Op<"alloc"> {
  let summary = "A buffer that lives within the run";
  let description = [{
    Alive from its first to its last use, both included. `at` is the recorded offset in the tier's transient arena. With a
    `group` the size depends on the choice of that group (one entry of `sizes` a choice); the type has the largest.
  }];
  let arguments = (ins DefaultValuedAttr<Plan_Int, "64">:$align, OptionalAttr<Plan_Int>:$offset, OptionalAttr<StrAttr>:$group,
    OptionalAttr<DenseI64ArrayAttr>:$sizes, OptionalAttr<StrAttr>:$source);
  let results = (outs Res<Plan_Buffer, "", [MemAlloc]>:$buffer);
  let assemblyFormat = [{
    (`align` $align^)? (`at` $offset^)? (`group` $group^ `sizes` $sizes)? (`from` $source^)? attr-dict `:` type($buffer)
  }];
  let builders = [OpBuilder<(ins "BufferType":$type, CArg<"::llvm::StringRef", "{}">:$source,
                                 CArg<"int64_t", "64">:$align)>];
  let hasVerifier = 1;
}

def Plan_ViewOp : Plan_Op<"view", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "A range of an arena or of another buffer";
  let description = [{
    `plan.view @arena0[64]` is a buffer of the run: it has one birth and one death. It never equals another one, even at
    the same offset. `plan.view %b[64]` is an alias of a part of %b. With `+ %s` the scalar is added to the offset and the
    type's bytes end at the scalar's bound.
  }];
  let arguments = (ins OptionalAttr<FlatSymbolRefAttr>:$arena, Optional<Plan_Buffer>:$base, Plan_Int:$offset,
    Optional<Index>:$dynamic, OptionalAttr<StrAttr>:$source);
  let results = (outs Plan_Buffer:$buffer);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let builders = [
    OpBuilder<(ins "::mlir::FlatSymbolRefAttr":$arena, "int64_t":$offset, "BufferType":$type,
                   CArg<"::mlir::StringAttr", "{}">:$source)>,
    OpBuilder<(ins "::mlir::Value":$base, "int64_t":$offset, "int64_t":$bytes, CArg<"::mlir::Value", "{}">:$dynamic)>];
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

def Plan_LaunchOp : Plan_Step<"launch", [AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "Runs a kernel";
  let description = [{
    `accesses` has one entry a buffer, in the order that the kernel documents. The kernel reads `scalars`; `dims` are the
    scalars of the shapes; `tasks`, if given, is the number of tasks (the candidate's is then its bound). A `pure` launch
    may run again: each clone has an `instance` number of its own and reads the same version of every state. Without a
    token the step is done when the next one starts.
  }];
  let arguments = (ins Plan_CandidateArray:$candidates, Variadic<Plan_Buffer>:$buffers, Plan_AccessArray:$accesses,
    Variadic<Index>:$scalars, Variadic<Index>:$dims, Optional<Index>:$tasks, Optional<Plan_Buffer>:$workspace,
    OptionalAttr<Plan_QueueAttr>:$queue, UnitAttr:$pure, DefaultValuedAttr<Plan_Int, "0">:$instance,
    OptionalAttr<StrAttr>:$group, OptionalAttr<Plan_AliasArray>:$aliases, OptionalAttr<Plan_SplitArray>:$splits,
    OptionalAttr<StrAttr>:$source);
  let results = (outs Variadic<Index>:$values, Optional<Plan_Token>:$token);
  let assemblyFormat = [{
    custom<Candidates>($candidates) `(` custom<Accesses>($buffers, type($buffers), $accesses) `)`
    (`scalars` `(` $scalars^ `)`)? (`dims` `(` $dims^ `)`)? (`tasks` `(` $tasks^ `)`)?
    (`workspace` `(` $workspace^ `:` type($workspace) `)`)? (`on` $queue^)? (`pure` $pure^)? (`instance` $instance^)?
    (`group` $group^)? (`aliases` $aliases^)? (`splits` $splits^)? (`from` $source^)? attr-dict
    (`->` custom<LaunchResults>(type($values), type($token))^)?
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::llvm::ArrayRef<CandidateAttr>":$candidates, "::mlir::ValueRange":$buffers,
                                 "::llvm::ArrayRef<AccessAttr>":$accesses, "::llvm::StringRef":$source,
                                 CArg<"bool", "true">:$pure, CArg<"::mlir::ValueRange", "{}">:$scalars,
                                 CArg<"::mlir::ValueRange", "{}">:$dims, CArg<"unsigned", "0">:$values)>];
  let extraClassDeclaration = [{
    AccessAttr getAccess(unsigned index) { return ::llvm::cast<AccessAttr>(getAccesses()[index]); }
    CandidateAttr getCandidate(unsigned index) { return ::llvm::cast<CandidateAttr>(getCandidates()[index]); }
  }];
}

def Plan_CopyOp : Plan_Step<"copy"> {
  let summary = "Moves bytes between any two tiers";
  let description = [{
    Copies all bytes of src to dst, which have equal sizes, once the tokens in `after` are done. `hash`, if not 0, is the
    XXH3-64 that the bytes must have. In stage placed what `after` says is a plan.wait.
  }];
  let arguments = (ins Plan_Buffer:$src, Plan_Buffer:$dst, Variadic<Plan_Token>:$after, OptionalAttr<Plan_QueueAttr>:$queue,
    DefaultValuedAttr<Plan_Int, "0">:$hash, OptionalAttr<StrAttr>:$source);
  let results = (outs Optional<Plan_Token>:$token);
  let assemblyFormat = [{
    $src `to` $dst (`after` $after^)? (`on` $queue^)? (`hash` $hash^)? (`from` $source^)? attr-dict
    `:` type($src) `to` type($dst) (`->` type($token)^)?
  }];
  let hasVerifier = 1;
}

def Plan_FillOp : Plan_Step<"fill"> {
  let summary = "Repeats an 8-byte pattern over a buffer";
  let arguments = (ins Plan_Buffer:$dst, Plan_Int:$pattern, OptionalAttr<Plan_QueueAttr>:$queue,
    OptionalAttr<StrAttr>:$source);
  let results = (outs Optional<Plan_Token>:$token);
  let assemblyFormat = [{
    $dst `with` $pattern (`on` $queue^)? (`from` $source^)? attr-dict `:` type($dst) (`->` type($token)^)?
  }];
  let hasVerifier = 1;
}

def Plan_WaitOp : Plan_Step<"wait"> {
  let summary = "Waits until steps in flight are done";
  let description = "The host waits, or with `on` only that queue does.";
  let arguments = (ins Variadic<Plan_Token>:$tokens, OptionalAttr<Plan_QueueAttr>:$queue, OptionalAttr<StrAttr>:$source);
  let assemblyFormat = "$tokens (`on` $queue^)? (`from` $source^)? attr-dict";
  let hasVerifier = 1;
}

def Plan_CheckOp : Plan_Step<"check"> {
  let summary = "Ends the run with a message unless lower <= scalar <= upper";
  let arguments = (ins Index:$scalar, Plan_Int:$lower, Plan_Int:$upper, StrAttr:$message, OptionalAttr<StrAttr>:$source);
  let assemblyFormat = "$scalar `in` ` ` `[` $lower `,` $upper `]` $message (`from` $source^)? attr-dict";
  let hasVerifier = 1;
}

def Plan_LoadScalarOp : Plan_Step<"load_scalar"> {
  let summary = "Reads one element of a buffer into a host scalar; outside its bounds the run ends";
  let arguments = (ins Plan_Buffer:$buffer, Plan_Int:$offset, Plan_DTypeAttr:$dtype, Plan_Int:$lower, Plan_Int:$upper,
    OptionalAttr<StrAttr>:$source);
  let results = (outs Index:$value);
  let assemblyFormat = [{
    $buffer `[` $offset `]` custom<EnumKeyword>($dtype) `in` ` ` `[` $lower `,` $upper `]` (`from` $source^)? attr-dict `:` type($buffer)
  }];
  let hasVerifier = 1;
}

def Plan_EvalOp : Plan_Op<"eval", [IsolatedFromAbove, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Computes host scalars from host scalars by one generated function";
  let description = [{
    The region holds arith operations over index and ends with plan.yield. A decoded step table has no bodies: `function` is
    then the number of the function, and the region is empty.
  }];
  let arguments = (ins Variadic<Index>:$inputs, OptionalAttr<Plan_Int>:$function, OptionalAttr<StrAttr>:$source);
  let results = (outs Variadic<Index>:$values);
  let regions = (region MaxSizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Plan_IfOp : Plan_Op<"if", [RecursiveMemoryEffects, NoRegionArguments]> {
  let summary = "Runs one of two regions; `then` where the scalar is not 0";
  let arguments = (ins Index:$condition, OptionalAttr<StrAttr>:$source);
  let results = (outs Variadic<Index>:$values);
  let regions = (region SizedRegion<1>:$thenRegion, MaxSizedRegion<1>:$elseRegion);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def Plan_LoopOp : Plan_Op<"loop", [AttrSizedOperandSegments, RecursiveMemoryEffects]> {
  let summary = "Runs a region for a number of trips";
  let description = [{
    The block arguments are the trip's number and the carried scalars. A trip is due while its number is below `trips`
    (`max` where that is not given) and, with `while`, the first carried scalar is not 0. More than `max` trips end the run.
  }];
  let arguments = (ins Plan_Int:$max_trips, Optional<Index>:$trips, Variadic<Index>:$inits, UnitAttr:$conditional,
    OptionalAttr<StrAttr>:$source);
  let results = (outs Variadic<Index>:$values);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def Plan_MarkOp : Plan_Step<"mark"> {
  let summary = "Birth or death of a buffer";
  let description = [{
    In stage placed every view of a transient arena has one birth before and one death after all that touches its bytes,
    in one block. Before its birth and after its death its bytes belong to others.
  }];
  let arguments = (ins Plan_LifeAttr:$life, Plan_Buffer:$buffer);
  let assemblyFormat = "custom<EnumKeyword>($life) $buffer attr-dict `:` type($buffer)";
}

def Plan_YieldOp : Plan_Op<"yield", [Pure, Terminator, ParentOneOf<["EvalOp", "IfOp", "LoopOp"]>]> {
  let summary = "Ends a region with the scalars that it gives";
  let arguments = (ins Variadic<Index>:$values);
  let assemblyFormat = "($values^)? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def Plan_ReturnOp : Plan_Step<"return", [Terminator, HasParent<"ProgramOp">]> {
  let summary = "Ends the run";
  let description = [{
    An output's size that is no number and no symbol is a scalar of the run: `sizes` are these scalars, and the shapes of
    the program's ios count them after the symbols.
  }];
  let arguments = (ins Variadic<Index>:$sizes);
  let assemblyFormat = "($sizes^)? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

#endif
