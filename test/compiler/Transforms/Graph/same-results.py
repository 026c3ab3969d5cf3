# Every graph that the other tests rewrite computes the same before and after, on random inputs and weights.
# RUN: %python %s plim-opt %S/simplify.mlir --graph-simplify
# RUN: %python %s plim-opt %S/fuse-attention.mlir --graph-fuse-attention
# RUN: %python %s plim-opt %S/assign-layouts.mlir --graph-assign-layouts
# RUN: %python %s plim-opt %S/assign-layouts-recurrent.mlir --graph-assign-layouts
# RUN: %python %s plim-opt %S/fuse-elementwise.mlir --graph-fuse-elementwise
# RUN: %python %s plim-opt %S/fold-dequantize.mlir --graph-fold-dequantize
# RUN: %python %s plim-opt %S/fold-dequantize.mlir --graph-simplify --graph-fold-dequantize --graph-assign-layouts --graph-simplify
# RUN: %python %s plim-opt %S/simplify.mlir --graph-simplify --graph-assign-layouts --graph-simplify --graph-fuse-elementwise
# RUN: %python %s plim-opt %S/assign-layouts.mlir --graph-simplify --graph-assign-layouts --graph-simplify --graph-fuse-elementwise
# RUN: %python %s plim-opt %S/fuse-attention.mlir --graph-simplify --graph-fuse-attention --graph-assign-layouts --graph-fuse-elementwise
import math
import re
import subprocess
import sys
import zlib

import evaluate as ev
import numpy as np

ACTIVATIONS = {
    "none": lambda x, a, b: x, "relu": lambda x, a, b: np.maximum(x, 0),
    "leaky_relu": lambda x, a, b: np.where(x < 0, a * x, x), "clip": lambda x, a, b: np.clip(x, a, b),
    "hard_sigmoid": lambda x, a, b: np.clip(a * x + b, 0, 1), "hard_swish": lambda x, a, b: x * np.clip(x / 6 + 0.5, 0, 1),
    "sigmoid": lambda x, a, b: ev.sigmoid(x), "silu": lambda x, a, b: x * ev.sigmoid(x),
    "tanh": lambda x, a, b: np.tanh(x), "gelu": lambda x, a, b: ev.gelu(x, False),
    "gelu_tanh": lambda x, a, b: ev.gelu(x, True)}


def epilogue(function):
    """The op without a residual and an activation, then those two."""
    def run(v, a, out):
        sizes = a["operandSegmentSizes"]
        residual = v[-1] if sizes[3] else 0
        plain = function(v[:len(v) - sizes[3]], {**a, "operandSegmentSizes": sizes[:3] + [0]}, out)
        return ACTIVATIONS[a["activation"]](plain + residual, a["alpha"], a["beta"])
    return run


def filter_of(w, a, transposed):
    """A filter of an nhwc convolution as one of nchw."""
    kernel, k = a["kernel"], len(a["kernel"])
    if transposed:
        return np.moveaxis(w.reshape([w.shape[0]] + kernel + [-1]), -1, 1)
    if w.ndim == 2:
        return np.moveaxis(w.reshape(kernel + [-1, w.shape[1]]), [k + 1, k], [0, 1])
    return np.moveaxis(w, -1, 0)[:, None]


def in_nchw(function, transposed=None):
    def run(v, a, out):
        if a["layout"] == "nchw":
            return function(v, a, out)
        v = list(v)
        v[0] = np.moveaxis(v[0], -1, 1)
        if transposed is not None:
            v[1] = filter_of(v[1], a, transposed)
        shape = (out[0][0], out[0][-1]) + out[0][1:-1]
        return np.moveaxis(function(v, a, (shape, out[1])), 1, -1)
    return run


def attention(v, a, _):
    q, k, x = (t.astype(np.float64) for t in v[:3])
    k, x = (np.repeat(t, q.shape[1] // t.shape[1], 1) for t in (k, x))  # query heads share those of keys and values
    scores = q @ np.swapaxes(k, -1, -2) * (a["scale"] or 1 / math.sqrt(q.shape[-1]))
    if len(v) > 3:
        scores = np.where(v[3], scores, -np.inf) if v[3].dtype == np.bool_ else scores + v[3]
    if a["causal"]:
        scores = np.where(np.tri(*scores.shape[-2:], scores.shape[-1] - scores.shape[-2]), scores, -np.inf)
    largest = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    sums = weights.sum(-1, keepdims=True)
    return weights / np.where(sums > 0, sums, 1) @ x  # a query that sees nothing gets zeros


def quantized_matmul(v, a, out):
    sizes, operands = a["operandSegmentSizes"], iter(v)
    x, w, scale, zero, bias, residual = (next(operands) if n else None for n in sizes)
    weights = ev.wide(w).astype(np.float64)
    if zero is not None:
        weights = weights - np.repeat(zero.astype(np.float64), w.shape[0] // zero.shape[0], 0)
    if scale is not None:
        weights = weights * np.repeat(scale.astype(np.float64), w.shape[0] // scale.shape[0], 0)
    sums = x.astype(np.float64) @ weights
    for more in (bias, residual):
        sums = sums if more is None else sums + more
    return ACTIVATIONS[a["activation"]](sums, a["alpha"], a["beta"])


def parameter(v, a, out):
    random = np.random.default_rng(zlib.crc32(a["name"].encode()))
    if np.dtype(out[1]).kind == "f":
        return random.uniform(0.5, 1.5, out[0]).astype(out[1])
    return random.integers(-100, 100, out[0]).astype(out[1])


ev.OPS.update({
    "parameter": parameter, "pack": lambda v, a, _: v[0], "attention": attention, "matmul": epilogue(ev.OPS["matmul"]),
    "quantized_matmul": quantized_matmul, "integer_conv": in_nchw(ev.OPS["integer_conv"], False),
    "rsqrt": lambda v, a, _: 1 / np.sqrt(ev.wide(v[0])), "pool": in_nchw(ev.OPS["pool"]),
    "resize": in_nchw(ev.OPS["resize"]), "conv": epilogue(in_nchw(ev.OPS["conv"], False)),
    "conv_transpose": epilogue(in_nchw(ev.OPS["conv_transpose"], True))})


def inline_fused(text):
    """Puts the ops of graph.fused regions in its place; the printer's names in a region differ from those outside."""
    lines, renamed, result = [], {}, None
    for line in text.splitlines():
        for old, new in renamed.items():
            line = re.sub(re.escape(old) + r"\b", new, line)
        fused = re.match(r' *(%\S+) = "graph.fused"\((.*?)\) \(\{', line)
        if fused:
            result, operands = fused.groups()
        elif result and "^bb0(" in line:
            names = [a.split(":")[0].strip() for a in ev.split(re.search(r"\((.*)\):", line).group(1))]
            inside = dict(zip(names, ev.split(operands)))
            renamed.update(inside)
        elif result and '"graph.yield"' in line:
            for name in inside:
                del renamed[name]
            # A name inside may come again in the next region: this one's result gets one of its own.
            value, type_ = re.search(r"\((.*?)\) : \((tensor<.*>)\) -> \(\)", line).groups()
            dims = ", ".join(map(str, ev.tensor_type(type_)[0]))
            renamed[result] = result + "_result"
            lines.append(f'{renamed[result]} = "graph.reshape"({value}) <{{shape = array<i64: {dims}>}}> : '
                         f"({type_}) -> {type_}")
            result = None
        else:
            lines.append(line)
    return "\n".join(lines)


def run(tool, passes, source):
    command = [tool, "-", "--mlir-print-op-generic", *passes]
    done = subprocess.run(command, input=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return inline_fused(done.stdout)


def main(tool, path, *passes):
    compared = 0
    for source in open(path).read().split("// -----"):
        if re.search(r"tensor<[^>]*\?", source):
            continue  # sizes that are open cannot be evaluated
        before = run(tool, [], source)
        types = re.search(r"func.func @\w+\((.*?)\)\s*->", source, re.S)
        random = np.random.default_rng(compared)
        inputs = []
        for text in re.findall(r"tensor<[^>]*>", types.group(1)) if types else []:
            shape, dtype = ev.tensor_type(text)
            inputs.append(random.normal(size=shape).astype(dtype) if dtype == np.float32 else np.ones(shape, dtype))
        name = re.search(r"@(\w+)", source).group(1)
        want = ev.evaluate(before, inputs)
        have = ev.evaluate(run(tool, passes, source), inputs)
        assert len(have) == len(want), f"{name}: {len(have)} results for {len(want)}"
        for h, w in zip(have, want):
            np.testing.assert_allclose(h, w, rtol=2e-5, atol=2e-5, err_msg=f"{path} @{name} after {' '.join(passes)}")
        compared += 1
    assert compared > 1
    print(f"{compared} graphs agree")


main(*sys.argv[1:])
