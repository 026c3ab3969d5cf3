"""Evaluates an imported graph with numpy: what each graph op means, written a second time and the plainest way.

    results = evaluate(generic_ir, inputs)

reads the generic form (`--mlir-print-op-generic`) of a module with one function and static shapes.
"""
import re

import numpy as np
from arithmetic import clip, divide, erf, gelu, shift, wide
from generic_ir import attribute, split, tensor_type
from images import conv, conv_transpose, pool, resize
from recurrence import recurrence


def evaluate(text, inputs):
    names = re.search(r"\^bb0\((.*)\):", text)
    arguments = [a.split(":")[0].strip() for a in split(names.group(1))] if names else []
    values = dict(zip(arguments, inputs))
    line_form = re.compile(r'^ *(?:(%\S+?)(?::\d+)? = )?"graph\.(\w+)"\((.*?)\)(?: <\{(.*)\}>)? : \((.*)\) -> (.*)$')
    for line in text.splitlines():
        if '"func.return"' in line:
            return [values[v] for v in split(re.search(r"\((.*?)\)", line).group(1))]
        match = line_form.match(line)
        if not match:
            continue
        name, op, operands, properties, _, result = match.groups()
        attributes = {k.strip(): attribute(v.strip()) for k, _, v in (p.partition("=") for p in split(properties or ""))}
        types = [tensor_type(t) for t in split(result.strip("()") if result.startswith("(") else result)]
        arguments = [values[o] for o in split(operands)]
        out = OPS[op](arguments, attributes, types[0])
        out = out if isinstance(out, tuple) else (out,)
        for i, (one, (shape, dtype)) in enumerate(zip(out, types)):
            one = np.asarray(one)
            assert one.shape == shape, f"{op}: have shape {one.shape}, need {shape}"
            values[name if len(out) == 1 else f"{name}#{i}"] = one.astype(dtype)
    raise ValueError("no return")


# --- Ops --------------------------------------------------------------------------------------------------------------


def integer_product(product):
    def run(v, a, out):
        sizes, operands = a["operandSegmentSizes"], iter(v)
        x, w, x_zero, w_zero = (next(operands).astype(np.int64) if n else np.int64(0) for n in sizes)
        return product(x, w, x_zero, w_zero, a, out).astype(np.int64).astype(np.int32)
    return run


def integer_conv(x, w, x_zero, w_zero, a, out):
    if np.size(w_zero) > 1:
        w_zero = w_zero.reshape((-1,) + (1,) * (w.ndim - 1))
    return conv([x - np.reshape(x_zero, ()), w.astype(np.int64) - w_zero], {**a, "operandSegmentSizes": [1, 1, 0, 0]}, out)


def normalise(x, axes, epsilon):
    x = x.astype(np.float64)
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def per_channel(c, rank):
    return c.astype(np.float64).reshape((-1,) + (1,) * (rank - 2))


def layer_norm(v, a, _):
    out = normalise(v[0], tuple(range(a["axis"], v[0].ndim)), a["epsilon"])
    rest = list(v[1:])
    out = out * rest.pop(0) if a["operandSegmentSizes"][1] else out
    return out + rest.pop(0) if a["operandSegmentSizes"][2] else out


def rms_norm(v, a, _):
    x = v[0].astype(np.float64)
    square = (x * x).mean(tuple(range(a["axis"], x.ndim)), keepdims=True)
    return x / np.sqrt(square + a["epsilon"]) * (v[1] if len(v) > 1 else 1)


def batch_norm(v, a, _):
    scale, bias, mean, variance = (per_channel(c, v[0].ndim) for c in v[1:])
    return (v[0].astype(np.float64) - mean) / np.sqrt(variance + a["epsilon"]) * scale + bias


def group_norm(v, a, groups):
    x = v[0]
    split_ = x.reshape((x.shape[0], groups, -1))
    out = normalise(split_, (2,), a["epsilon"]).reshape(x.shape)
    return out * per_channel(v[1], x.ndim) + per_channel(v[2], x.ndim)


def reduce(v, a, _):
    x, axes, keep = wide(v[0]), tuple(a["axes"]), a["keep_dims"]
    with np.errstate(all="ignore"):
        least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        most = np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).max
        return {
            "sum": lambda: x.sum(axes, keepdims=keep), "prod": lambda: x.prod(axes, keepdims=keep),
            "mean": lambda: x.mean(axes, keepdims=keep),
            "max": lambda: x.max(axes, keepdims=keep, initial=least),
            "min": lambda: x.min(axes, keepdims=keep, initial=most),
            "l1": lambda: abs(x).sum(axes, keepdims=keep),
            "l2": lambda: np.sqrt((x.astype(np.float64) ** 2).sum(axes, keepdims=keep)),
            "sum_square": lambda: (x * x).sum(axes, keepdims=keep),
            "log_sum": lambda: np.log(x.sum(axes, keepdims=keep)),
            "log_sum_exp": lambda: np.log(np.exp(x).sum(axes, keepdims=keep)),
        }[a["kind"]]()


def arg_reduce(v, a, _):
    x = v[0] if a["kind"] == "max" else -v[0].astype(np.float64)
    if a["last_index"]:
        index = x.shape[a["axis"]] - 1 - np.argmax(np.flip(x, a["axis"]), a["axis"])
    else:
        index = np.argmax(x, a["axis"])
    return np.expand_dims(index, a["axis"]) if a["keep_dims"] else index


def softmax(v, a, _):
    x = v[0].astype(np.float64)
    x = x - x.max(a["axis"], keepdims=True)
    total = np.exp(x).sum(a["axis"], keepdims=True)
    return x - np.log(total) if a["log"] else np.exp(x) / total


def cumsum(v, a, _):
    axis = a["axis"]
    x = np.flip(v[0], axis) if a["reverse"] else v[0]
    out = np.cumsum(x, axis) - (x if a["exclusive"] else 0)
    return np.flip(out, axis) if a["reverse"] else out


def top_k(v, a, _):
    key = -v[0].astype(np.float64) if a["largest"] else v[0]
    index = np.argsort(key, a["axis"], kind="stable")
    index = np.take(index, range(a["k"]), a["axis"])
    return np.take_along_axis(v[0], index, a["axis"]), index


def matmul(v, a, _):
    x, y = wide(v[0]), wide(v[1])
    x = np.swapaxes(x, -1, -2) if a["transpose_lhs"] else x
    y = np.swapaxes(y, -1, -2) if a["transpose_rhs"] else y
    out = np.matmul(x, y)
    return out + v[2] if a["operandSegmentSizes"][2] else out


def reshape(v, a, _):
    return v[0].reshape(a["shape"])


def broadcast(v, a, _):
    have = (1,) * (len(a["shape"]) - v[0].ndim) + v[0].shape
    return np.broadcast_to(v[0], [h if s == -1 else s for h, s in zip(have, a["shape"])])


def slice_(v, a, _):
    out = v[0]
    for axis, (start, size) in enumerate(zip(a["starts"], a["sizes"])):
        step = a["steps"][axis] if a["steps"] else 1
        count = size if size >= 0 else out.shape[axis] - start
        out = np.take(out, [start + i * step for i in range(count)], axis)
    return out


def pad(v, a, _):
    widths = list(zip(a["low"], a["high"]))
    if a["mode"] == "constant":
        return np.pad(v[0], widths, constant_values=np.asarray(a["value"]).astype(v[0].dtype))
    return np.pad(v[0], widths, mode=a["mode"])


def gather_nd(v, a, _):
    x, index, batch = v[0], v[1], a["batch_dims"]
    depth = index.shape[-1]
    out = np.empty(index.shape[:-1] + x.shape[batch + depth:], x.dtype)
    for at in np.ndindex(index.shape[:-1]):
        out[at] = x[at[:batch] + tuple(index[at])]
    return out


def scatter(out, at, update, reduction):
    old = out[at]
    out[at] = {"none": lambda: update, "add": lambda: old + update, "mul": lambda: old * update,
               "max": lambda: np.maximum(old, update), "min": lambda: np.minimum(old, update)}[reduction]()


def scatter_elements(v, a, _):
    out = v[0].copy()
    for at in np.ndindex(v[1].shape):
        target = at[:a["axis"]] + (int(v[1][at]),) + at[a["axis"] + 1:]
        scatter(out, target, v[2][at], a["reduction"])
    return out


def scatter_nd(v, a, _):
    out = v[0].copy()
    for at in np.ndindex(v[1].shape[:-1]):
        scatter(out, tuple(v[1][at]), v[2][at], a["reduction"])
    return out


def gather_elements(v, a, _):
    axis = a["axis"]
    index = v[1] % v[0].shape[axis]
    out = np.empty(index.shape, v[0].dtype)
    for at in np.ndindex(index.shape):
        out[at] = v[0][at[:axis] + (index[at],) + at[axis + 1:]]
    return out


def one_hot(v, a, _):
    index = np.where(v[0] < 0, v[0] + a["depth"], v[0])
    hot = np.expand_dims(index, a["axis"]) == np.arange(a["depth"]).reshape((-1,) + (1,) * (v[0].ndim - a["axis"]))
    return np.where(hot, v[1][1], v[1][0])


def parameter(v, a, out):
    with open(a["file"], "rb") as file:
        file.seek(a.get("offset", 0))
        return np.frombuffer(file.read(a["bytes"]), out[1]).reshape(out[0])


def simple(function):
    return lambda v, a, _: function(*map(wide, v))


def with_attributes(function):
    return lambda v, a, _: function(*map(wide, v), a)


sigmoid = lambda x: 1 / (1 + np.exp(-x))
hard_sigmoid = lambda x, a: np.clip(a["alpha"] * x + a["beta"], 0, 1)

def integer_matmul(x, w, x_zero, w_zero, a, out):
    return (x.astype(np.int64) - x_zero) @ (w.astype(np.int64) - w_zero)


OPS = {
    "integer_matmul": integer_product(integer_matmul), "integer_conv": integer_product(integer_conv),
    **{name: simple(function) for name, function in {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": divide, "min": np.minimum, "max": np.maximum,
        "neg": np.negative, "abs": np.abs, "sign": np.sign, "sqrt": np.sqrt, "reciprocal": lambda x: 1 / x,
        "floor": np.floor, "ceil": np.ceil, "round": np.rint, "exp": np.exp, "log": np.log, "erf": erf, "sin": np.sin,
        "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh,
        "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
        "relu": lambda x: np.maximum(x, 0), "sigmoid": sigmoid, "silu": lambda x: x * sigmoid(x),
        "softplus": lambda x: np.logaddexp(x, 0), "softsign": lambda x: x / (1 + abs(x)),
        "prelu": lambda x, s: np.where(x < 0, x * s, x), "equal": np.equal, "not_equal": np.not_equal,
        "less": np.less, "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal,
        "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor, "not": np.logical_not,
        "bit_and": np.bitwise_and, "bit_or": np.bitwise_or, "bit_xor": np.bitwise_xor, "bit_not": np.invert,
        "shift_left": lambda x, n: shift(x, n, True), "shift_right": lambda x, n: shift(x, n, False),
        "is_nan": np.isnan, "pow": lambda x, y: np.power(x, y),
    }.items()},
    **{name: with_attributes(function) for name, function in {
        "mod": lambda x, y, a: np.fmod(x, y) if a["fmod"] else np.mod(x, y),
        "leaky_relu": lambda x, a: np.where(x < 0, a["alpha"] * x, x),
        "elu": lambda x, a: np.where(x < 0, a["alpha"] * np.expm1(x), x),
        "selu": lambda x, a: a["gamma"] * np.where(x < 0, a["alpha"] * np.expm1(x), x),
        "hard_sigmoid": hard_sigmoid, "hard_swish": lambda x, a: x * hard_sigmoid(x, a),
        "gelu": lambda x, a: gelu(x, a["approximate"]), "clip": clip,
        "is_inf": lambda x, a: (np.isposinf(x) & a["positive"]) | (np.isneginf(x) & a["negative"]),
    }.items()},
    "select": lambda v, a, _: np.where(v[0], v[1], v[2]),
    "cast": lambda v, a, out: v[0] != 0 if out[1] == np.bool_ else v[0].astype(out[1]),
    "constant": lambda v, a, _: a["value"],
    "parameter": parameter,
    "fill": lambda v, a, out: np.full(out[0], a["value"]).astype(out[1]),
    "transpose": lambda v, a, _: np.transpose(v[0], a["permutation"]),
    "reshape": reshape, "broadcast": broadcast, "slice": slice_, "pad": pad,
    "concat": lambda v, a, _: np.concatenate(v, a["axis"]),
    "gather": lambda v, a, _: np.take(v[0], v[1], a["axis"], mode="wrap"),
    "gather_elements": gather_elements, "gather_nd": gather_nd,
    "scatter_elements": scatter_elements, "scatter_nd": scatter_nd, "one_hot": one_hot,
    "range": lambda v, a, out: v[0] + np.arange(out[0][0]) * v[2],
    "shape_of": lambda v, a, _: np.array(v[0].shape, np.int64),
    "reduce": reduce, "arg_reduce": arg_reduce, "softmax": softmax, "cumsum": cumsum, "top_k": top_k,
    "matmul": matmul, "conv": conv, "conv_transpose": conv_transpose, "pool": pool, "resize": resize,
    "layer_norm": layer_norm, "rms_norm": rms_norm, "batch_norm": batch_norm,
    "recurrence": recurrence,
    "group_norm": lambda v, a, _: group_norm(v, a, a["groups"]),
    "instance_norm": lambda v, a, _: group_norm(v, a, v[0].shape[1]),
}
