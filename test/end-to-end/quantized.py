"""Small quantised ONNX models, as quantisers write them."""

import numpy as np
from onnx import TensorProto

import tiny
from tiny import value

MICROSOFT = "com.microsoft"


class Network(tiny.Network):
    def quantized(self, *shape, axis=None, dtype=np.int8, zero=False):
        """A random weight as (stored, scale, zero point) names, one scale for each index of `axis`."""
        w = self.random.standard_normal(shape).astype(np.float32)
        over = None if axis is None else tuple(i for i in range(len(shape)) if i != axis)
        info = np.iinfo(dtype)
        low, high = w.min(over, keepdims=True), w.max(over, keepdims=True)
        if zero:
            scale = ((high - low) / (info.max - info.min)).astype(np.float32)
            point = np.rint(info.min - low / scale)
        else:
            middle = (info.max + info.min + 1) // 2
            scale = (np.maximum(-low, high) / (info.max - middle)).astype(np.float32)
            point = np.full(scale.shape, middle, np.float32)
        stored = np.clip(np.rint(w / scale) + point, info.min, info.max).astype(dtype)
        flat = (lambda a: a.reshape(-1)) if axis is not None else (lambda a: a.reshape(()))
        return self.constant(stored), self.constant(flat(scale)), self.constant(flat(point).astype(dtype))

    def model(self, result, inputs, dims, dtype=TensorProto.FLOAT, opset=17, domains=()):
        self.add("Identity", result, outputs="y")
        return tiny.model(self.nodes, inputs, [value("y", dims, dtype)], self.weights, opset, domains)


def qdq_mlp(batch=5, per_channel=True, asymmetric=False):
    """Dense layers, weights and activations quantised statically, between QuantizeLinear and DequantizeLinear."""
    n = Network()
    x = "x"
    for width in (64, 48):
        scale, zero = n.constant(0.04, np.float32), n.constant(128, np.uint8)
        x = n.add("DequantizeLinear", n.add("QuantizeLinear", x, scale, zero), scale, zero)
        w, s, z = n.quantized(64, width, axis=1 if per_channel else None, zero=asymmetric)
        weight = n.add("DequantizeLinear", w, s, z, **({"axis": 1} if per_channel else {}))
        x = n.add("Add", n.add("MatMul", x, weight), n.constant(n.random.standard_normal(width), np.float32))
        x = n.add("Relu", x)
    return n.model(x, [value("x", [batch, 64])], [batch, 48], opset=13)


def weight_only(batch=5, kind="columns", transposed=False):
    """A product by weights alone in 8 bits: Cast and Mul, as weight-only exporters write it."""
    n = Network(2)
    w = n.random.integers(-127, 128, (96, 64)).astype(np.int8)
    shape = {"columns": (1, 64), "rows": (96, 1), "all": (), "wide": (1, 64)}[kind]
    scale = n.random.uniform(0.001, 0.02, shape).astype(np.float32)
    if transposed:
        w, scale = w.T, scale.T
    stored = n.constant(w)
    if kind == "wide":  # by way of i32, less a zero point
        stored = n.add("Sub", n.add("Cast", stored, to=TensorProto.INT32), n.constant(-5, np.int32))
    weight = n.add("Mul", n.add("Cast", stored, to=TensorProto.FLOAT), n.constant(scale))
    if transposed:
        weight = n.add("Transpose", weight, perm=[1, 0])
    y = n.add("Add", n.add("MatMul", "x", weight), n.constant(n.random.standard_normal(64), np.float32))
    return n.model(n.add("Tanh", y), [value("x", ["N" if batch is None else batch, 96])],
                   ["N" if batch is None else batch, 64])


def half_weights(dtype=TensorProto.FLOAT16):
    """Weights stored as halves, cast to f32."""
    n = Network(3)
    stored = n.add("Cast", n.constant(n.random.standard_normal((96, 64)).astype(np.float16)), to=dtype)
    y = n.add("MatMul", "x", n.add("Cast", stored, to=TensorProto.FLOAT))
    return n.model(y, [value("x", [3, 96])], [3, 64])


def blocks(axis=0):
    """Weights with one scale and zero for 16 rows and a column (opset 21)."""
    n = Network(4)
    w = n.random.integers(-128, 128, (96, 64) if axis == 0 else (64, 96)).astype(np.int8)
    shape = (6, 64) if axis == 0 else (64, 6)
    scale, zero = n.random.uniform(0.001, 0.02, shape).astype(np.float32), n.random.integers(-9, 9, shape)
    weight = n.add("DequantizeLinear", n.constant(w), n.constant(scale), n.constant(zero, np.int8), axis=axis,
                   block_size=16)
    if axis == 1:
        weight = n.add("Transpose", weight, perm=[1, 0])
    return n.model(n.add("MatMul", "x", weight), [value("x", [3, 96])], [3, 64], opset=21)


def dynamic(opset=17):
    """DynamicQuantizeLinear, MatMulInteger, Cast, Mul: what dynamic quantisation makes of a dense layer."""
    n = Network(5)
    x = "x"
    for width in (64, 48):
        w, s, z = n.quantized(64, width, axis=1)
        q, scale, zero = n.add("DynamicQuantizeLinear", x, outputs=3)
        sums = n.add("Cast", n.add("MatMulInteger", q, w, zero, z), to=TensorProto.FLOAT)
        x = n.add("Add", n.add("Mul", sums, n.add("Mul", scale, s)),
                  n.constant(n.random.standard_normal(width), np.float32))
        x = n.add("Relu", x)
    return n.model(x, [value("x", [7, 64])], [7, 48], opset=opset)


def dynamic_microsoft():
    """The same by operators of com.microsoft."""
    n = Network(6)
    w, s, z = n.quantized(64, 64, axis=1)
    bias = n.constant(n.random.standard_normal(64), np.float32)
    x = n.add("DynamicQuantizeMatMul", "x", w, s, z, bias, domain=MICROSOFT)
    q, scale, zero = n.add("DynamicQuantizeLinear", x, outputs=3)
    w, s, z = n.quantized(64, 48, dtype=np.uint8, zero=True)
    y = n.add("MatMulIntegerToFloat", q, w, scale, s, zero, z, domain=MICROSOFT)
    return n.model(y, [value("x", [7, 64])], [7, 48], domains=[MICROSOFT])


def qlinear_convolutions(channels=24, size=13):
    """QLinearConv after QLinearConv: dense, depthwise, grouped, pointwise, with strides, pads; and a QLinearMatMul."""
    n = Network(7)
    scale, zero = n.constant(0.03, np.float32), n.constant(120, np.uint8)
    x = n.add("QuantizeLinear", "x", scale, zero)
    inputs = 3
    for outputs, groups, kernel, stride in ((channels, 1, 3, 2), (channels, channels, 3, 1), (channels, 2, 3, 1),
                                            (40, 1, 1, 1)):
        w, s, z = n.quantized(outputs, inputs // groups, kernel, kernel, axis=0)
        to_scale = n.constant(0.09 * np.sqrt(inputs // groups) * kernel / 3, np.float32)
        bias = n.constant(n.random.integers(-2000, 2000, outputs), np.int32)
        to_zero = n.constant(117, np.uint8)
        x = n.add("QLinearConv", x, scale, zero, w, s, z, to_scale, to_zero, bias, group=groups,
                  pads=[kernel // 2] * 4, strides=[stride, stride])
        scale, zero, inputs = to_scale, to_zero, outputs
    rows = n.add("Reshape", x, n.constant([40, -1], np.int64))
    w, s, z = n.quantized(((size + 1) // 2) ** 2, 30, dtype=np.uint8, zero=True)
    y = n.add("QLinearMatMul", rows, scale, zero, w, s, z, n.constant(3.0, np.float32), n.constant(128, np.uint8))
    return n.model(y, [value("x", [1, 3, size, size])], [40, 30], TensorProto.UINT8)


def qdq_convolution(groups=1):
    """A convolution between QuantizeLinear and DequantizeLinear, its weight with one scale a channel."""
    n = Network(8)
    scale, zero = n.constant(0.03, np.float32), n.constant(120, np.uint8)
    x = n.add("DequantizeLinear", n.add("QuantizeLinear", "x", scale, zero), scale, zero)
    w, s, z = n.quantized(32, 8 // groups, 3, 3, axis=0)
    weight = n.add("DequantizeLinear", w, s, z, axis=0)
    bias = n.constant(n.random.standard_normal(32), np.float32)
    y = n.add("Relu", n.add("Conv", x, weight, bias, group=groups, pads=[1, 1, 1, 1]))
    out = n.constant(0.1, np.float32), n.constant(0, np.uint8)
    y = n.add("DequantizeLinear", n.add("QuantizeLinear", y, *out), *out)
    return n.model(y, [value("x", [1, 8, 9, 9])], [1, 32, 9, 9], opset=13)


def embedding():
    """Rows of a table of 8-bit integers with one scale a row, then the product by the same table."""
    n = Network(9)
    table = n.constant(n.random.integers(-127, 128, (300, 32)), np.int8)
    scale = n.constant(n.random.uniform(0.001, 0.02, (300, 1)), np.float32)
    wide = n.add("Mul", n.add("Cast", table, to=TensorProto.FLOAT), scale)
    rows = n.add("Gather", wide, "x")
    y = n.add("MatMul", rows, n.add("Transpose", wide, perm=[1, 0]))
    return n.model(y, [value("x", [2, 5], TensorProto.INT64)], [2, 5, 300])


def qlinear_arithmetic():
    """The elementwise operators of com.microsoft on bytes."""
    n = Network(10)

    def scale(value, zero):
        return n.constant(value, np.float32), n.constant(zero, np.uint8)

    xs, ys = scale(0.03, 120), scale(0.05, 100)
    x = n.add("QuantizeLinear", "x", *xs)
    y = n.add("QLinearAdd", x, *xs, n.add("QLinearSigmoid", x, *xs, *scale(0.004, 0), domain=MICROSOFT),
              *scale(0.004, 0), *ys, domain=MICROSOFT)
    z = n.add("QLinearLeakyRelu", y, *ys, *ys, domain=MICROSOFT, alpha=0.2)
    z = n.add("QLinearMul", z, *ys, x, *xs, *scale(0.1, 90), domain=MICROSOFT)
    z = n.add("QLinearConcat", *ys, z, *scale(0.1, 90), y, *ys, domain=MICROSOFT, axis=1)
    z = n.add("QLinearGlobalAveragePool", z, *ys, *scale(0.02, 110), domain=MICROSOFT, channels_last=0)
    rows = n.add("Reshape", z, n.constant([2, 16], np.int64))
    w, s, zero = n.quantized(24, 16, axis=0)
    bias = n.constant(n.random.integers(-900, 900, 24), np.int32)
    y = n.add("QGemm", rows, *scale(0.02, 110), w, s, zero, bias, domain=MICROSOFT, transB=1)
    return n.model(y, [value("x", [2, 8, 5, 7])], [2, 24], domains=[MICROSOFT])


def halves(dtype=TensorProto.FLOAT16):
    """A convolution, a pool and a dense layer, all of whose tensors are halves."""
    n = Network(11)

    def weight(*shape):
        values = n.random.standard_normal(shape).astype(np.float16) / np.float16(np.sqrt(np.prod(shape[1:])))
        return n.add("Cast", n.constant(values), to=dtype)

    x = n.add("Relu", n.add("Conv", n.add("Cast", "x", to=dtype), weight(16, 3, 3, 3), weight(16), pads=[1, 1, 1, 1]))
    x = n.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    rows = n.add("Reshape", x, n.constant([2, -1], np.int64))
    y = n.add("Softmax", n.add("MatMul", rows, weight(16 * 16, 24)), axis=-1)
    return n.model(n.add("Cast", y, to=TensorProto.FLOAT), [value("x", [2, 3, 8, 8])], [2, 24])
