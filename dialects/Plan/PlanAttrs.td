//===- PlanAttrs.td - Enumerations and attributes of the plan dialect --*- tablegen -*-===//

#ifndef PLIM_PLAN_ATTRS_TD
#define PLIM_PLAN_ATTRS_TD

include "dialects/Plan/PlanDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

// The numbers are those of runtime/include/plim/{kernel,table}.h; PlanTable.cpp asserts it.
class Plan_Enum<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::plim::plan";
  let genSpecializedAttr = 0;
}

def Plan_TierEnum : Plan_Enum<"Tier", "memory tier", [
  I32EnumAttrCase<"Ram", 0, "ram">, I32EnumAttrCase<"Pinned", 1, "pinned">, I32EnumAttrCase<"Ssd", 2, "ssd">,
  I32EnumAttrCase<"Gpu", 3, "gpu">]>;
def Plan_ArenaKindEnum : Plan_Enum<"ArenaKind", "what an arena is for", [
  I32EnumAttrCase<"Transient", 0, "transient">, I32EnumAttrCase<"Persistent", 1, "persistent">,
  I32EnumAttrCase<"Staging", 2, "staging">, I32EnumAttrCase<"Stacks", 3, "stacks">]>;
def Plan_QueueKindEnum : Plan_Enum<"QueueKind", "kind of queue", [
  I32EnumAttrCase<"Cpu", 0, "cpu">, I32EnumAttrCase<"Read", 1, "read">, I32EnumAttrCase<"Write", 2, "write">,
  I32EnumAttrCase<"Stream", 3, "stream">]>;
def Plan_AccessModeEnum : Plan_Enum<"AccessMode", "access mode", [
  I32EnumAttrCase<"Read", 1, "r">, I32EnumAttrCase<"Write", 2, "w">, I32EnumAttrCase<"ReadWrite", 3, "rw">]>;
def Plan_DTypeEnum : Plan_Enum<"DType", "element type", [
  I32EnumAttrCase<"F32", 1, "f32">, I32EnumAttrCase<"F16", 2, "f16">, I32EnumAttrCase<"BF16", 3, "bf16">,
  I32EnumAttrCase<"F64", 4, "f64">, I32EnumAttrCase<"I8", 5, "i8">, I32EnumAttrCase<"I16", 6, "i16">,
  I32EnumAttrCase<"I32", 7, "i32">, I32EnumAttrCase<"I64", 8, "i64">, I32EnumAttrCase<"U8", 9, "u8">,
  I32EnumAttrCase<"U16", 10, "u16">, I32EnumAttrCase<"U32", 11, "u32">, I32EnumAttrCase<"U64", 12, "u64">,
  I32EnumAttrCase<"Bool", 13, "bool">]>;
def Plan_LayoutEnum : Plan_Enum<"Layout", "layout", [
  I32EnumAttrCase<"Row", 0, "row">, I32EnumAttrCase<"Panel32", 1, "panel32">]>;
def Plan_IsaEnum : Plan_Enum<"Isa", "level of the instruction set", [
  I32EnumAttrCase<"Base", 0, "base">, I32EnumAttrCase<"V3", 1, "v3">, I32EnumAttrCase<"V4", 2, "v4">]>;
def Plan_StageEnum : Plan_Enum<"Stage", "stage of a program", [
  I32EnumAttrCase<"Virtual", 0, "virtual">, I32EnumAttrCase<"Tiered", 1, "tiered">,
  I32EnumAttrCase<"Placed", 2, "placed">]>;
def Plan_AliasKindEnum : Plan_Enum<"AliasKind", "kind of alias", [
  I32EnumAttrCase<"InPlace", 0, "in_place">, I32EnumAttrCase<"Into", 1, "into">, I32EnumAttrCase<"View", 2, "view">]>;
def Plan_CombineEnum : Plan_Enum<"Combine", "how pieces of a split combine", [
  I32EnumAttrCase<"Concat", 0, "concat">, I32EnumAttrCase<"Sum", 1, "sum">, I32EnumAttrCase<"Max", 2, "max">]>;
def Plan_LifeEnum : Plan_Enum<"Life", "end of a live range", [
  I32EnumAttrCase<"Birth", 0, "birth">, I32EnumAttrCase<"Death", 1, "death">]>;

// With brackets, as attribute dictionaries need them; operations print the bare keyword (EnumKeyword in PlanOps.cpp).
class Plan_EnumAttr<EnumInfo info, string mnemonic> : EnumAttr<Plan_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}
def Plan_TierAttr : Plan_EnumAttr<Plan_TierEnum, "tier">;
def Plan_ArenaKindAttr : Plan_EnumAttr<Plan_ArenaKindEnum, "arena_kind">;
def Plan_DTypeAttr : Plan_EnumAttr<Plan_DTypeEnum, "dtype">;
def Plan_IsaAttr : Plan_EnumAttr<Plan_IsaEnum, "isa">;
def Plan_StageAttr : Plan_EnumAttr<Plan_StageEnum, "stage">;
def Plan_LifeAttr : Plan_EnumAttr<Plan_LifeEnum, "life">;

class Plan_Attr<string name, string attrMnemonic> : AttrDef<Plan_Dialect, name> { let mnemonic = attrMnemonic; }

def Plan_QueueAttr : Plan_Attr<"Queue", "queue"> {
  let summary = "A queue of a device: its kind and number";
  let parameters = (ins EnumParameter<Plan_QueueKindEnum>:$kind, DefaultValuedParameter<"int64_t", "0">:$number);
  let assemblyFormat = "`<` $kind (`,` $number^)? `>`";
  let genVerifyDecl = 1;
}

def Plan_ShapeAttr : Plan_Attr<"Shape", "shape"> {
  let summary = "How a tensor lies in a buffer";
  let description = [{
    `#plan.shape<f32[s0 max 32, 3, s0 * 2 + 1 max 65] strides [200, 65, 1] panel32>`

    A dimension or stride is an affine expression of scalars; `s0` is the first entry of the op's scalar list (`dims` of a
    launch, the symbols of a program). What is not a number has its upper bound behind `max`. Strides count elements; they
    are left out where they are those of a contiguous row-major tensor, and 0 repeats an element. The layout is left out
    where it is `row`.
  }];
  let parameters = (ins
    EnumParameter<Plan_DTypeEnum>:$dtype, EnumParameter<Plan_LayoutEnum>:$layout,
    ArrayRefParameter<"::mlir::AffineExpr">:$dims, ArrayRefParameter<"int64_t">:$bounds,
    ArrayRefParameter<"::mlir::AffineExpr">:$strides, ArrayRefParameter<"int64_t">:$strideBounds);
  let builders = [
    AttrBuilder<(ins "::plim::plan::DType":$dtype, "::llvm::ArrayRef<int64_t>":$dims,
                     CArg<"::plim::plan::Layout", "::plim::plan::Layout::Row">:$layout,
                     CArg<"::llvm::ArrayRef<int64_t>", "{}">:$strides)>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Drops strides that are those of a contiguous tensor; all ways to make a shape go through it.
    static ShapeAttr getNormalized(::mlir::MLIRContext *context, DType dtype, Layout layout,
                                   ::llvm::ArrayRef<::mlir::AffineExpr> dims, ::llvm::ArrayRef<int64_t> bounds,
                                   ::llvm::ArrayRef<::mlir::AffineExpr> strides, ::llvm::ArrayRef<int64_t> strideBounds);
    int64_t getRank() const { return getDims().size(); }
    bool isStatic() const;
    /// Strides at the bounds: as given, else those of a contiguous tensor whose dimensions are at their bounds.
    ::llvm::SmallVector<int64_t> getStridesAtBounds() const;
    int64_t getElementBytes() const;
    /// Bytes from the first to the end of the last element at the bounds.
    int64_t getExtentBytes() const;
    /// One past the largest scalar number that a dimension or stride names.
    unsigned getScalarsUsed() const;
    /// Every dimension and stride is a number or one scalar, as a step table holds them.
    bool isTableForm() const;
  }];
}

def Plan_AccessAttr : Plan_Attr<"Access", "access"> {
  let summary = "What a launch does with a buffer";
  let description = [{
    `#plan.access<r at 64 span 128 f32[32]>`: reads the bytes [64, 192) of the buffer as 32 numbers. Without `span` the
    range goes to the end of the buffer.
  }];
  let parameters = (ins EnumParameter<Plan_AccessModeEnum>:$mode, DefaultValuedParameter<"int64_t", "0">:$offset,
                        DefaultValuedParameter<"int64_t", "0">:$span, "::plim::plan::ShapeAttr":$shape);
  let builders = [AttrBuilderWithInferredContext<(ins "::plim::plan::AccessMode":$mode, "::plim::plan::ShapeAttr":$shape),
                              [{ return $_get(shape.getContext(), mode, 0, 0, shape); }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool reads() const { return static_cast<uint32_t>(getMode()) & 1; }
    bool writes() const { return static_cast<uint32_t>(getMode()) & 2; }
  }];
}

def Plan_CandidateAttr : Plan_Attr<"Candidate", "candidate"> {
  let summary = "One way to run a launch";
  let description = [{
    `#plan.candidate<"attention.flash", tasks = 8, scratch = 4096, attrs = [4, 64], ns = 1200, numerics = "flash">`

    `attrs` are the words that the kernel gets: integers, doubles bit-cast. Workspace is shared +
    min(workers, tasks) * scratch bytes. `layouts`, where given, has one entry a buffer and must agree with the accesses.
    flops, bytes and ns are the predicted cost. Candidates of equal `numerics` give equal bits. `label` is what a user
    calls the choice ("attention=flash"); `barred_by` names the flag that forbids it: never chosen, but priced by
    refusals. `in_place` and `strided` say which aliases of the launch the kernel supports.
  }];
  let parameters = (ins
    StringRefParameter<>:$kernel, ArrayRefParameter<"::plim::plan::Layout">:$layouts, "int64_t":$shared, "int64_t":$scratch,
    "int64_t":$phases, "int64_t":$tasks, "int64_t":$flops, "int64_t":$bytes, "int64_t":$ns,
    StringRefParameter<>:$numerics, ArrayRefParameter<"int64_t">:$attrs, StringRefParameter<>:$label,
    StringRefParameter<>:$barredBy, "bool":$inPlace, "bool":$strided);
  let builders = [AttrBuilder<(ins "const ::plim::plan::CandidateSpec &":$spec)>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    CandidateSpec getSpec() const;
    /// Only what a step table holds: no cost, layouts, labels or alias support.
    CandidateAttr getPlacedForm() const;
    int64_t getWorkspaceBytes(int64_t workers) const {
      return getShared() + std::min(workers, getTasks()) * getScratch();
    }
  }];
}

def Plan_AliasAttr : Plan_Attr<"Alias", "alias"> {
  let summary = "Leave to store one operand in the bytes of another";
  let description = [{
    `#plan.alias<in_place, 2 on 0>`: operand 2, written, may take over the bytes of operand 0, which this launch reads last.
    `#plan.alias<into, 0 on 2 at 64 run 32 stride 128 saves 90>`: operand 0, read, may be written by its producer straight
    into operand 2 (a piece of a concatenation); byte i lies at 64 + i / 32 * 128 + i % 32 (without run: contiguous).
    `#plan.alias<view, 1 on 0 at 64>`: operand 1, written, may be bytes of operand 0 (slice, reshape). `saves` is the
    predicted time in ns of the copy that is left out.
  }];
  let parameters = (ins EnumParameter<Plan_AliasKindEnum>:$kind, "int64_t":$operand, "int64_t":$base,
                        DefaultValuedParameter<"int64_t", "0">:$offset, DefaultValuedParameter<"int64_t", "0">:$run,
                        DefaultValuedParameter<"int64_t", "0">:$stride, DefaultValuedParameter<"int64_t", "0">:$savedNs);
  let assemblyFormat = [{
    `<` $kind `,` $operand `on` $base (`at` $offset^)? (`run` $run^ `stride` $stride)? (`saves` $savedNs^)? `>`
  }];
}

def Plan_SplitAttr : Plan_Attr<"Split", "split"> {
  let summary = "How one axis of a launch may be cut into pieces";
  let description = [{
    `#plan.split<"rows", extent = 960, min_piece = 8, concat, halos = [1, 1, 1, 1, 0, 0, 0, 1]>`: four numbers a buffer
    that the launch reads, (stride, before, after, divisor): piece [i, j) needs rows [floor(i * stride / divisor) -
    before, ceil(j * stride / divisor) + after), as far as there are such; stride 0 needs all of it, divisor 0 some part
    of it that is not known.
  }];
  let parameters = (ins StringRefParameter<>:$axis, "int64_t":$extent, "int64_t":$minPiece,
                        EnumParameter<Plan_CombineEnum>:$combine, ArrayRefParameter<"int64_t">:$halos);
  let assemblyFormat = [{
    `<` $axis `,` `extent` `=` $extent `,` `min_piece` `=` $minPiece `,` $combine `,` `halos` `=` `[` $halos `]` `>`
  }];
  let genVerifyDecl = 1;
}

def Plan_SymbolAttr : Plan_Attr<"Symbol", "symbol"> {
  let summary = "A dimension that the caller gives: name and inclusive bounds";
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$lower, "int64_t":$upper);
  let assemblyFormat = "`<` $name `in` `[` $lower `,` $upper `]` `>`";
  let genVerifyDecl = 1;
}

def Plan_IOAttr : Plan_Attr<"IO", "io"> {
  let summary = "A buffer of the caller: name, direction, shape at the bounds, and the state that it is, if any";
  let description = "An input that is `reused` may hold other buffers after its last read: a run destroys it.";
  let parameters = (ins StringRefParameter<>:$name, "bool":$output, "::plim::plan::ShapeAttr":$shape,
                        OptionalParameter<"::mlir::FlatSymbolRefAttr">:$state, "bool":$reused);
  let hasCustomAssemblyFormat = 1;
}

def Plan_TierBytesAttr : Plan_Attr<"TierBytes", "tiers"> {
  let summary = "Bytes by tier; a tier that is not given has no bound (budget) or 0 bytes (peak)";
  // Four entries in the order of Tier; -1 where the tier is not given.
  let parameters = (ins ArrayRefParameter<"int64_t">:$bytes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    std::optional<int64_t> get(Tier tier) const {
      int64_t bytes = getBytes()[static_cast<unsigned>(tier)];
      return bytes < 0 ? std::nullopt : std::optional<int64_t>(bytes);
    }
  }];
}

#endif
