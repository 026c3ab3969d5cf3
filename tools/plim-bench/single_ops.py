"""ONNX models of one operator with seeded weights, and their work in floating-point operations."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
CONVOLUTIONS = [  # name, channels in, channels out, side, kernel, groups
    ("conv1x1 64->256 56", 64, 256, 56, 1, 1), ("conv1x1 256->64 56", 256, 64, 56, 1, 1),
    ("conv1x1 512->512 14", 512, 512, 14, 1, 1), ("conv3x3 64 56", 64, 64, 56, 3, 1),
    ("conv3x3 128 28", 128, 128, 28, 3, 1), ("conv3x3 256 14", 256, 256, 14, 3, 1),
    ("depthwise3x3 64 112", 64, 64, 112, 3, 64), ("depthwise5x5 256 28", 256, 256, 28, 5, 256)]


class Case:
    def __init__(self, name, flops, spec, graph):
        self.name, self.flops, self.spec = name, flops, spec
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        onnx.checker.check_model(self.model)

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


def convolution(name, cin, cout, side, kernel, groups):
    shape = [cout, cin // groups, kernel, kernel]
    node = helper.make_node("Conv", ["x", "w", "b"], ["y"], name="conv", kernel_shape=[kernel, kernel],
                            pads=[kernel // 2] * 4, group=groups)
    fan_in = shape[1] * kernel * kernel
    graph = helper.make_graph([node], "conv", [value("x", [1, cin, side, side])], [value("y", [1, cout, side, side])],
                              [weight("w", shape, fan_in), weight("b", [cout], 1)])
    return Case(name, 2 * cout * side * side * fan_in, {"x": ([1, cin, side, side], "f32")}, graph)


def attention(heads, length, depth):
    """softmax(q k / sqrt(depth)) v as exporters write it, with k already transposed."""
    scale = numpy_helper.from_array(np.float32(1 / np.sqrt(depth)), "scale")
    nodes = [helper.make_node("MatMul", ["q", "k"], ["s"], name="scores"),
             helper.make_node("Mul", ["s", "scale"], ["t"], name="scale_scores"),
             helper.make_node("Softmax", ["t"], ["p"], name="softmax", axis=-1),
             helper.make_node("MatMul", ["p", "v"], ["y"], name="mix")]
    row, column = [1, heads, length, depth], [1, heads, depth, length]
    graph = helper.make_graph(nodes, "attention", [value("q", row), value("k", column), value("v", row)],
                              [value("y", row)], [scale])
    spec = {"q": (row, "f32"), "k": (column, "f32"), "v": (row, "f32")}
    return Case(f"attention {heads}x{depth} S{length}", 4 * heads * length * length * depth, spec, graph)


def cases():
    sizes = [(n, n, n) for n in (128, 256, 512, 1024)] + [(m, 1024, 1024) for m in (1, 4, 16)]
    return ([lambda s=s: gemm(*s) for s in sizes] + [lambda c=c: convolution(*c) for c in CONVOLUTIONS]
            + [lambda n=n: attention(12, n, 64) for n in (512, 1024, 2048)])
