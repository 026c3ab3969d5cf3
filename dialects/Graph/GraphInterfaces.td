//===- GraphInterfaces.td - What passes ask of graph ops -----------------------------------------===//
#ifndef PLIM_GRAPH_INTERFACES
#define PLIM_GRAPH_INTERFACES

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

// Shape: result types, static dimensions and bounds, follow from operands and attributes. A declared result type may say
// more (a static dimension, narrower bounds) or less than the inferred one, but may not contradict it.
defvar Graph_Shape = InferTypeOpAdaptorWithIsCompatible;

def Graph_ScalarBody : OpInterface<"ScalarBodyOpInterface"> {
  let cppNamespace = "::plim::graph";
  let description = [{
    An elementwise op with numpy broadcasting: element i of the result depends on element i of each (broadcast) operand.
  }];
  let methods = [InterfaceMethod<[{
      Emits the body on scalars or on vectors of one length, as `arith` and `math` ops. `args` have the element types of
      the operands (vectors of them), the value returned has that of the result. Unsigned integers are passed signless.
    }], "::mlir::Value", "buildScalar",
    (ins "::mlir::OpBuilder &":$b, "::mlir::Location":$loc, "::mlir::ValueRange":$args)>];
}

def Graph_Decompose : OpInterface<"DecomposeOpInterface"> {
  let cppNamespace = "::plim::graph";
  let description = "An op that equals a few elementwise, broadcast and reduce ops.";
  let methods = [InterfaceMethod<[{
      Builds those ops at the insertion point and returns a value for each result, or fails where this instance has no
      such form (an attribute or a type that it does not cover).
    }], "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose", (ins "::mlir::OpBuilder &":$b)>];
}

def Graph_Alias : OpInterface<"AliasOpInterface"> {
  let cppNamespace = "::plim::graph";
  let description = "An op whose result may share the bytes of an operand.";
  let methods = [InterfaceMethod<"The sharings that are allowed; a plan may use none of them.",
    "::llvm::SmallVector<::plim::graph::Alias>", "getAliases">];
}

def Graph_Layout : OpInterface<"LayoutOpInterface"> {
  let cppNamespace = "::plim::graph";
  let description = "How an op behaves when the dimensions of its operands are permuted.";
  let methods = [
    InterfaceMethod<[{
        `Transparent`: op(permute(x)) = permute(op'(x)) where op' differs in attributes only; `Wants`: has an nhwc form
        that is faster; `Blocks`: neither.
      }], "::plim::graph::LayoutBehaviour", "getLayoutBehaviour">,
    InterfaceMethod<[{
        For transparent ops: changes the attributes so that the op on operands permuted by `permutation` (dimension i of
        the new operand is dimension permutation[i] of the old one; all operands have the result's rank) gives the old
        result permuted likewise. Fails where no attributes do that, and then leaves the op as it was.
      }], "::llvm::LogicalResult", "permuteAttributes", (ins "::llvm::ArrayRef<int64_t>":$permutation), [{}],
      [{ return ::mlir::success(); }]>];
}

// The following are implemented outside the dialect, as external models.

def Graph_Candidates : OpInterface<"CandidatesOpInterface"> {
  let cppNamespace = "::plim::graph";
  let description = "An op that library kernels can run; compiler/Lowering implements it for each family.";
  let methods = [InterfaceMethod<[{
      Appends the kernels that can run this instance, with their costs at the largest sizes; the order is stable.
    }], "void", "getCandidates", (ins "const ::plim::graph::SizeSource &":$sizes,
                                  "::llvm::SmallVectorImpl<::plim::graph::KernelCandidate> &":$candidates)>];
}

def Graph_Differentiate : OpInterface<"DifferentiateOpInterface"> {
  let cppNamespace = "::plim::graph";
  let description = "An op with a gradient; compiler/Autodiff implements it for each family.";
  let methods = [InterfaceMethod<[{
      Builds the gradients of the operands from those of the results; a null value stands for a gradient that is zero.
    }], "::llvm::LogicalResult", "differentiate",
    (ins "::mlir::OpBuilder &":$b, "::mlir::ValueRange":$resultGradients,
         "::llvm::SmallVectorImpl<::mlir::Value> &":$operandGradients)>];
}

#endif
