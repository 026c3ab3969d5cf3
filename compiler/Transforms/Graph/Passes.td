//===- Passes.td - Passes over the graph dialect ---------------------------------------------------===//
#ifndef PLIM_GRAPH_PASSES
#define PLIM_GRAPH_PASSES

include "mlir/Pass/PassBase.td"

def GraphInferShapes : Pass<"graph-infer-shapes", "::mlir::func::FuncOp"> {
  let summary = "Make the types of all values as precise as their operands allow";
  let description = [{
    Walks a function in order, infers the result types of each op from its operands and keeps what is known from either
    the declared or the inferred type: static sizes, else the tighter bounds. Shape arithmetic that becomes constant on
    the way is folded, so that the shapes that depend on it follow. The results of the function get the types returned. A
    branch gives what both of its ways give; what a loop carries is what it starts with or what a trip gives.

    Precondition: a verified graph. Postcondition: no declared type is less precise than the inferred one; a
    contradiction between the two is an error. Values of ops without inference (parameters, custom kernels) keep their types.

    ```mlir
    // before
    %0 = graph.relu %x : (tensor<1x8xf32>) -> tensor<?x?xf32>
    // after
    %0 = graph.relu %x : (tensor<1x8xf32>) -> tensor<1x8xf32>
    ```
  }];
}

def GraphSimplify : Pass<"graph-simplify", "::mlir::func::FuncOp"> {
  let summary = "Rewrite a graph to fewer and larger ops that compute the same";
  let description = [{
    Canonicalises; removes dead and repeated ops; moves transposes down through elementwise ops until they cancel; finds
    the activations, normalisations and affine maps that exporters write out (hard_swish, silu, gelu, layer_norm, batch norms
    and constant factors before and after a convolution) and folds bias, residual and activation into matmul and conv, and padding
    into conv and pool. New factors of weights are graph ops on the parameters, which --graph-hoist-setup moves out.
    What every trip of a loop computes alike moves in front of it.

    Precondition: none. Postcondition: the fixed point of these rewrites. Results may differ in the last bits where
    constant factors are multiplied in another order. Left alone: values with several uses that would be computed twice.

    ```mlir
    // before
    %0 = graph.conv %x, %w : ...
    %1 = graph.batch_norm %0, %scale, %bias, %mean, %variance : ...
    %2 = graph.relu %1 : ...
    // after
    %s = graph.mul %scale, %deviation : ...
    %f = graph.mul %w, %s4 : ...
    %2 = graph.conv %x, %f bias %b {activation = #graph.activation<relu>} : ...
    ```
  }];
}

def GraphFuseAttention : Pass<"graph-fuse-attention", "::mlir::func::FuncOp"> {
  let summary = "Find scaled dot-product attention and make it one op";
  let description = [{
    matmul(softmax(matmul(q, k^T) * scale + mask), v) over operands of rank 3 to 5 becomes graph.attention.

    - The scale is a factor or a divisor of the scores, the query or the key, or several of them, or is missing.
    - Masks are added, or choose between scores and a number that hides them; several are added up. A triangle of
      constants (numbers, or ranges that are compared) is the attribute `causal`. Weights that are set to 0 where they are
      NaN are weights.
    - Keys and values of fewer heads are read where they are once: heads as a dimension of their own beside their group
      (rank 5), repeated by broadcast and reshape or by a gather, or one for all.
    - Dimensions may be open, where a reshape has at most one of them.

    Precondition: canonical form (--graph-simplify before it finds more). Postcondition: no such group is left whose inner
    values have one use each. Left alone: softmax over another axis, scores or weights that are used elsewhere, a factor on
    scores that are masked already, a mask that does not hide, heads that repeat in another order.

    ```mlir
    // before
    %s = graph.matmul %q, %kt : ...
    %p = graph.softmax %s {axis = 3 : i64} : ...
    %o = graph.matmul %p, %v : ...
    // after
    %o = graph.attention %q, %k, %v {scale = 1.0 : f64} : ...
    ```
  }];
}

def GraphChooseAttention : Pass<"graph-choose-attention", "::mlir::func::FuncOp"> {
  let summary = "Say how attention is to be computed";
  let description = [{
    Sets `algorithm` (and `chunk`) on every graph.attention. `auto` leaves the choice to the planner.

    Precondition: none. Postcondition: every attention has the attributes asked for.

    ```mlir
    // before
    %o = graph.attention %q, %k, %v : ...
    // after, algorithm=flash
    %o = graph.attention %q, %k, %v {algorithm = #graph.attention_algorithm<flash>} : ...
    ```
  }];
  let options = [
    Option<"algorithm", "algorithm", "std::string", "\"auto\"", "auto, naive, chunked or flash">,
    Option<"chunk", "chunk", "int64_t", "1024", "query rows at a time of the chunked algorithm">];
}

def GraphWidenHalves : Pass<"graph-widen-halves", "::mlir::func::FuncOp"> {
  let summary = "Compute products, convolutions, attention and pools of half floats in f32";
  let description = [{
    f16 and bf16 are for memory: their arithmetic is that of f32, each result rounded once. The kernels of these ops take
    f32, so their operands are widened and their results narrowed by casts, which join the loops around them;
    --graph-fold-dequantize, which follows, keeps weights as they are stored.

    Precondition: none. Postcondition: no such op has half operands. Left alone: all other ops, whose kernels widen elements
    as they load them.

    ```mlir
    // before
    %y = graph.matmul %x, %w : (tensor<4x8xf16>, tensor<8x16xf16>) -> tensor<4x16xf16>
    // after
    %a = graph.cast %x {to = f32} : ...
    %b = graph.cast %w {to = f32} : ...
    %c = graph.matmul %a, %b : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %y = graph.cast %c {to = f16} : ...
    ```
  }];
}

def GraphFoldDequantize : Pass<"graph-fold-dequantize", "::mlir::func::FuncOp"> {
  let summary = "Keep weights as narrow as they are stored until they are multiplied";
  let description = [{
    Weights of 8-bit integers, (w - zero) * scale, or of half floats stay so in memory: a product by such a matrix becomes
    graph.quantized_matmul, whose kernel widens them as it reads them, and rows are picked from a table before they are
    widened. The scale is one for all, one a column, one a row (then it is a factor of the left side), or one for a group of
    rows and a column; so is the zero, one a row apart.

    Where the left side, or the input of a convolution, is dequantised too, from 8-bit integers with one scale, the product
    is one of integers, exact in i32, and its sums are scaled: so activations between QuantizeLinear and DequantizeLinear
    stay bytes. Sums of more than 33,025 terms could pass i32 and are left to floats.

    Precondition: none; after --graph-simplify bias and activation are part of the product. Postcondition: no f32 matmul has
    such a matrix on its right, and no gather along the first axis or slice reads a widened weight. Left alone: scales
    or zeros that are not known before a run or have other shapes, integers of other widths, arithmetic in types other
    than f32.

    ```mlir
    // before
    %f = graph.cast %w {to = f32} : (tensor<64x32xi8>) -> tensor<64x32xf32>
    %m = graph.mul %f, %scale : (tensor<64x32xf32>, tensor<1x32xf32>) -> tensor<64x32xf32>
    %y = graph.matmul %x, %m : ...
    // after
    %y = graph.quantized_matmul %x, %w scale %scale : (tensor<4x64xf32>, tensor<64x32xi8>, tensor<1x32xf32>) -> ...
    ```
  }];
}

def GraphAssignLayouts : Pass<"graph-assign-layouts", "::mlir::func::FuncOp"> {
  let summary = "Put images into nhwc and weights into the layouts that kernels read";
  let description = [{
    Convolutions, poolings and resizes go from nchw to nhwc between two transposes; then transposes move through the ops
    in between (elementwise, concat, pad, reduce, softmax) and cancel. Filters that depend on parameters only become matrices
    [kernel * channels, outputs] (depthwise ones [kernel, channels]) and are packed into panels of 32 columns, as are
    right operands of matmuls and the recurrent weights of LSTM, GRU and RNN.

    Precondition: none. Postcondition: every convolution whose filter is a weight, every pool and resize is in
    nhwc. Left alone: convolutions with computed filters, element types other than f32.

    ```mlir
    // before
    %0 = graph.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x6x6xf32>
    // after
    %p = graph.pack %matrix <panel32> : ...
    %t = graph.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : ...
    %1 = graph.conv %t, %p {kernel = array<i64: 3, 3>, layout = #graph.image_layout<nhwc>} : ...
    %0 = graph.transpose %1 {permutation = array<i64: 0, 3, 1, 2>} : ...
    ```
  }];
}

def GraphFuseElementwise : Pass<"graph-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Group elementwise, reduce and normalisation ops into loops";
  let description = [{
    Builds graph.fused groups with one result: an op joins the group of its users if all of them are in that group and it
    has the group's iteration space, so nothing is computed twice and no order changes. Values of one element a row
    (the statistics of a softmax or norm) belong to the group of their rows.

    Precondition: static shapes, after --graph-hoist-setup (weights are no work). Postcondition: no two neighbours of which
    the first could join the second are left. Left alone: single ops, ops without a loop form (see FusedOp's verifier),
    the function @setup.

    ```mlir
    // before
    %0 = graph.add %x, %y : ...
    %1 = graph.relu %0 : ...
    // after
    %1 = graph.fused(%a = %x : ..., %b = %y : ...) -> (...) { ... graph.yield ... }
    ```
  }];
}

def GraphHoistSetup : Pass<"graph-hoist-setup", "::mlir::ModuleOp"> {
  let summary = "Move work that depends on weights only into the function @setup";
  let description = [{
    Ops of public functions whose operands are parameters, constants and other such ops move into @setup, which runs once,
    before the weights are written. Its results carry a name (result attribute `graph.name`), and the functions read them
    as parameters of that name without a file.

    Precondition: no function @setup. Postcondition: in functions other than @setup no op depends on parameters and
    constants only, apart from those two themselves and views of them. Without such work no @setup is made.

    ```mlir
    // before
    %w = graph.parameter "w" {...} : tensor<8x4xf32>
    %p = graph.pack %w <panel32> : ...
    // after
    %p = graph.parameter "w.pack" : tensor<8x4xf32, #graph.layout<panel32>>
    func.func private @setup() -> (tensor<8x4xf32, #graph.layout<panel32>> {graph.name = "w.pack"}) { ... }
    ```
  }];
}

def GraphSplit : Pass<"graph-split", "::mlir::func::FuncOp"> {
  let summary = "Run parts of a function in pieces of rows";
  let description = [{
    Runs the stages of a plan (docs/concepts/splitting.md): "pieces=8 keep=NAME@AXIS,...; ..." makes the named values in
    8 pieces along these axes, each of which computes of all other values the rows that it needs and that no earlier
    piece made. Names are those of the nodes (`print=true` lists them). Rows are graph.slice of what is there,
    graph.concat joins them; windows at the ends keep their padding; a mean over all rows becomes graph.partial_mean.

    Precondition: static sizes, no states, branches or loops; after layouts and fusion. No CSE after it: what two
    stages compute is meant to be computed twice. Postcondition: the results have the same bits. Left alone: ops that no
    stage needs, which run as they were; the function @setup.

    ```mlir
    // before
    %1 = graph.relu %x : (tensor<1x8x4x2xf32>) -> tensor<1x8x4x2xf32>
    // after, plan="pieces=2 keep=relu@1"
    %a = graph.slice %x {sizes = array<i64: 1, 4, 4, 2>, starts = array<i64: 0, 0, 0, 0>} : ...
    %b = graph.relu %a : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
    %c = graph.slice %x {sizes = array<i64: 1, 4, 4, 2>, starts = array<i64: 0, 4, 0, 0>} : ...
    %d = graph.relu %c : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
    %1 = graph.concat %b, %d {axis = 1 : i64} : ...
    ```
  }];
  let options = [
    Option<"plan", "plan", "std::string", "\"\"", "the stages">,
    Option<"exactNumerics", "exact-numerics", "bool", "false", "kernels of the most exact class only">,
    Option<"print", "print", "bool", "false", "print the split problem of each function">];
}

def GraphSplitWeights : Pass<"graph-split-weights", "::mlir::ModuleOp"> {
  let summary = "Cut large weights into constants that can be read one by one";
  let description = [{
    A weight of more than `bytes` becomes equal pieces of at most so many bytes, and not less than 32 columns or rows each:
    pieces of the columns of a matrix on the right of a product, whose results graph.concat joins; of the rows of a table
    that graph.gather reads along its first axis, which becomes a chain of graph.partial_gather. A table that is the
    transposed matrix of a product too is cut once for both. A piece is a range of the weight's file where it lies in one
    stretch of it; else work on the weight that @setup does is done on its pieces.

    Precondition: after --graph-hoist-setup and fusion. Postcondition: the results have the same bits. Left alone: weights
    with another reader, in any function, and those whose readers would cut it along different dimensions.

    ```mlir
    // before
    %w = graph.parameter "w" {bytes = 524288 : i64, file = "w.bin"} : tensor<1024x128xf32>
    %y = graph.matmul %x, %w {transpose_rhs = true} : (tensor<4x128xf32>, tensor<1024x128xf32>) -> tensor<4x1024xf32>
    // after, bytes=262144
    %a = graph.parameter "w.0-512" {bytes = 262144 : i64, file = "w.bin"} : tensor<512x128xf32>
    %b = graph.matmul %x, %a {transpose_rhs = true} : ...
    %c = graph.parameter "w.512-1024" {bytes = 262144 : i64, file = "w.bin", offset = 262144 : i64} : tensor<512x128xf32>
    %d = graph.matmul %x, %c {transpose_rhs = true} : ...
    %y = graph.concat %b, %d {axis = 1 : i64} : ...
    ```
  }];
  let options = [Option<"bytes", "bytes", "int64_t", "0", "of the largest piece">];
}

#endif
