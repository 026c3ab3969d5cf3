"""ONNX models of one operation with seeded weights, and the work that a run is."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
ATTENTION_OPSET = 23  # the first with an operator for it
CONVOLUTIONS = [  # name, channels in, channels out, side, kernel, groups
    ("conv1x1 64->256 56", 64, 256, 56, 1, 1), ("conv1x1 256->64 56", 256, 64, 56, 1, 1),
    ("conv1x1 512->512 14", 512, 512, 14, 1, 1), ("conv3x3 64 56", 64, 64, 56, 3, 1),
    ("conv3x3 128 28", 128, 128, 28, 3, 1), ("conv3x3 256 14", 256, 256, 14, 3, 1),
    ("conv3x3 256 28", 256, 256, 28, 3, 1), ("conv3x3 96->24 240", 96, 24, 240, 3, 1),
    ("depthwise3x3 64 112", 64, 64, 112, 3, 64), ("depthwise3x3 256 28", 256, 256, 28, 3, 256),
    ("depthwise5x5 256 28", 256, 256, 28, 5, 256)]


class Case:
    """flops: floating-point operations of a run as its definition has them. bytes: what a run reads and writes of
    weights, inputs and outputs, each once."""

    def __init__(self, name, flops, spec, graph, opset=OPSET):
        self.name, self.flops, self.spec = name, flops, spec
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)],
                                       ir_version=8 if opset == OPSET else 11)
        onnx.checker.check_model(self.model)
        values = [*graph.input, *graph.output]
        elements = sum(np.prod([d.dim_value for d in v.type.tensor_type.shape.dim]) for v in values)
        stored = (np.prod(w.dims) * helper.tensor_dtype_to_np_dtype(w.data_type).itemsize for w in graph.initializer)
        self.bytes = int(4 * elements + sum(stored))

    def shape_flags(self):
        return [f"--shape={name}={'x'.join(map(str, dims))}" for name, (dims, _) in self.spec.items()]


def value(name, dims):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)


def weight(name, dims, fan_in):
    values = np.random.default_rng(11).standard_normal(dims, dtype=np.float32) / np.float32(np.sqrt(fan_in))
    return numpy_helper.from_array(values, name)


def gemm(m, k, n):
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="matmul")
    graph = helper.make_graph([node], "gemm", [value("x", [m, k])], [value("y", [m, n])], [weight("w", [k, n], k)])
    return Case(f"gemm {m}x{k}x{n}", 2 * m * k * n, {"x": ([m, k], "f32")}, graph)


def gemm_by_bytes(m, k, n):
    """A product by int8 weights with one scale a column, as weight-only quantisers write it."""
    random = np.random.default_rng(11)
    stored = numpy_helper.from_array(random.integers(-127, 128, [k, n]).astype(np.int8), "w")
    scale = numpy_helper.from_array((random.uniform(0.5, 1.5, [1, n]) / (73 * np.sqrt(k))).astype(np.float32), "s")
    nodes = [helper.make_node("Cast", ["w"], ["wide"], name="widen", to=TensorProto.FLOAT),
             helper.make_node("Mul", ["wide", "s"], ["scaled"], name="scale"),
             helper.make_node("MatMul", ["x", "scaled"], ["y"], name="matmul")]
    graph = helper.make_graph(nodes, "gemm", [value("x", [m, k])], [value("y", [m, n])], [stored, scale])
    return Case(f"gemm int8 {m}x{k}x{n}", 2 * m * k * n, {"x": ([m, k], "f32")}, graph)


def convolution(name, cin, cout, side, kernel, groups):
    shape = [cout, cin // groups, kernel, kernel]
    node = helper.make_node("Conv", ["x", "w", "b"], ["y"], name="conv", kernel_shape=[kernel, kernel],
                            pads=[kernel // 2] * 4, group=groups)
    fan_in = shape[1] * kernel * kernel
    graph = helper.make_graph([node], "conv", [value("x", [1, cin, side, side])], [value("y", [1, cout, side, side])],
                              [weight("w", shape, fan_in), weight("b", [cout], 1)])
    return Case(name, 2 * cout * side * side * fan_in, {"x": ([1, cin, side, side], "f32")}, graph)


def transposed_convolution(cin, cout, side, kernel):
    node = helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], name="conv", kernel_shape=[kernel, kernel],
                            strides=[kernel, kernel])
    out = side * kernel
    graph = helper.make_graph([node], "conv", [value("x", [1, cin, side, side])], [value("y", [1, cout, out, out])],
                              [weight("w", [cin, cout, kernel, kernel], cin), weight("b", [cout], 1)])
    return Case(f"conv_transpose{kernel}x{kernel} {cin}->{cout} {side}", 2 * cin * cout * out * out,
                {"x": ([1, cin, side, side], "f32")}, graph)


def attention(heads, length, depth, causal=False):
    """softmax(q k / sqrt(depth)) v as exporters write it, with k already transposed; a causal mask is the upper
    triangle of a constant."""
    scale = numpy_helper.from_array(np.float32(1 / np.sqrt(depth)), "scale")
    square = numpy_helper.from_array(np.array([length, length]), "square")
    low = numpy_helper.from_array(np.array([-np.inf], np.float32), "low")
    triangle = [helper.make_node("ConstantOfShape", ["square"], ["lows"], name="lows", value=low),
                helper.make_node("Constant", [], ["one"], name="one", value_int=1),
                helper.make_node("Trilu", ["lows", "one"], ["mask"], name="mask", upper=1)]
    nodes = [*(triangle if causal else []),
             helper.make_node("MatMul", ["q", "k"], ["s"], name="scores"),
             helper.make_node("Mul", ["s", "scale"], ["scaled"], name="scale_scores"),
             *([helper.make_node("Add", ["scaled", "mask"], ["masked"], name="mask_scores")] if causal else []),
             helper.make_node("Softmax", ["masked" if causal else "scaled"], ["p"], name="softmax", axis=-1),
             helper.make_node("MatMul", ["p", "v"], ["y"], name="mix")]
    row, column = [1, heads, length, depth], [1, heads, depth, length]
    graph = helper.make_graph(nodes, "attention", [value("q", row), value("k", column), value("v", row)],
                              [value("y", row)], [scale, *([square] if causal else [])])
    spec = {"q": (row, "f32"), "k": (column, "f32"), "v": (row, "f32")}
    pairs = length * (length + 1) // 2 if causal else length * length
    return Case(f"attention {'causal ' if causal else ''}{heads}x{depth} S{length}", 4 * heads * pairs * depth, spec,
                graph)


def decode(heads, groups, length, depth):
    """One query row of each head over the keys of its group."""
    query, keys = [1, heads, 1, depth], [1, groups, length, depth]
    node = helper.make_node("Attention", ["q", "k", "v"], ["y"], name="attention")
    graph = helper.make_graph([node], "decode", [value("q", query), value("k", keys), value("v", keys)],
                              [value("y", query)])
    return Case(f"attention decode {heads}/{groups}x{depth} T{length}", 4 * heads * length * depth,
                {"q": (query, "f32"), "k": (keys, "f32"), "v": (keys, "f32")}, graph, ATTENTION_OPSET)


def chain(rows, columns):
    """Nine elementwise operators, one after the other."""
    operators = ["Mul", "Add", "Mul", "Add", "Mul", "Add", "Sigmoid", "Mul", "Add"]
    nodes = [helper.make_node(op, [f"v{i}"] + (["w"] if op != "Sigmoid" else []), [f"v{i + 1}"], name=f"{op}{i}")
             for i, op in enumerate(operators)]
    shape = [rows, columns]
    graph = helper.make_graph(nodes, "chain", [value("v0", shape)], [value("v9", shape)], [weight("w", [columns], 1)])
    return Case(f"chain of nine {rows}x{columns}", len(operators) * rows * columns, {"v0": (shape, "f32")}, graph)


def cases():
    sizes = [*((n, n, n) for n in (128, 256, 512, 1024)), *((m, 1024, 1024) for m in (1, 2, 4, 8, 16)),
             *((m, 768, 3072) for m in (2, 4, 8, 16)), (1, 4096, 4096), (1, 576, 1536), (1, 576, 49152)]
    stored_in_bytes = [(m, 4096, 4096) for m in (1, 8)] + [(128, 384, 1536)]
    return ([lambda s=s: gemm(*s) for s in sizes] + [lambda s=s: gemm_by_bytes(*s) for s in stored_in_bytes]
            + [lambda c=c: convolution(*c) for c in CONVOLUTIONS]
            + [lambda: transposed_convolution(24, 24, 240, 2), lambda: transposed_convolution(24, 1, 480, 2)]
            + [lambda n=n: attention(12, n, 64) for n in (512, 1024, 2048, 4096, 8192)]
            + [lambda n=n: attention(12, n, 64, True) for n in (512, 1024, 2048)]
            + [lambda n=n: decode(9, 3, n, 64) for n in (256, 2048)] + [lambda: chain(2048, 768)])
