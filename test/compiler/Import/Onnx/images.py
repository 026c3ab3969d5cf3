"""What graph ops on images mean, with numpy in double precision: convolutions, pools, resizes."""
import itertools
import math

import numpy as np
from arithmetic import wide


def window(a, spatial):
    return (a["strides"] or [1] * spatial, a["dilations"] or [1] * spatial, (a["pads"] or [0] * 2 * spatial))


def conv(v, a, out):
    x, w = v[0].astype(np.float64), v[1].astype(np.float64)
    extra = list(v[2:])
    spatial, groups = x.ndim - 2, a["groups"]
    strides, dilations, pads = window(a, spatial)
    x = np.pad(x, [(0, 0), (0, 0)] + list(zip(pads[:spatial], pads[spatial:])))
    sizes = out[0][2:]
    result = np.zeros(out[0])
    per_in, per_out = w.shape[1], w.shape[0] // groups
    for at in itertools.product(*map(range, w.shape[2:])):
        cut = tuple(slice(p * d, p * d + (n - 1) * s + 1, s) for p, d, n, s in zip(at, dilations, sizes, strides))
        for g in range(groups):
            part = x[(slice(None), slice(g * per_in, (g + 1) * per_in)) + cut]
            kernel = w[(slice(g * per_out, (g + 1) * per_out), slice(None)) + at]
            result[:, g * per_out:(g + 1) * per_out] += np.einsum("ni...,oi->no...", part, kernel)
    if a["operandSegmentSizes"][2]:
        result += extra[0].astype(np.float64).reshape((-1,) + (1,) * spatial)
    return result


def conv_transpose(v, a, out):
    x, w = v[0].astype(np.float64), v[1].astype(np.float64)
    spatial, groups = x.ndim - 2, a["groups"]
    strides, dilations, pads = window(a, spatial)
    full = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(x.shape[2:], strides, w.shape[2:], dilations)]
    ends = [max(f, p + n) for f, p, n in zip(full, pads, out[0][2:])]
    result = np.zeros(out[0][:2] + tuple(ends))
    per_in, per_out = x.shape[1] // groups, w.shape[1]
    for at in itertools.product(*map(range, w.shape[2:])):
        cut = tuple(slice(p * d, p * d + (n - 1) * s + 1, s) for p, d, n, s in zip(at, dilations, x.shape[2:], strides))
        for g in range(groups):
            part = np.einsum("ni...,io->no...", x[:, g * per_in:(g + 1) * per_in],
                             w[(slice(g * per_in, (g + 1) * per_in), slice(None)) + at])
            result[(slice(None), slice(g * per_out, (g + 1) * per_out)) + cut] += part
    result = result[(slice(None), slice(None)) + tuple(slice(p, p + n) for p, n in zip(pads, out[0][2:]))]
    if a["operandSegmentSizes"][2]:
        result = result + v[2].astype(np.float64).reshape((-1,) + (1,) * spatial)
    return result


def pool(v, a, out):
    x = wide(v[0])
    spatial = x.ndim - 2
    strides, dilations, pads = window(a, spatial)
    result = np.zeros(out[0], x.dtype)
    for at in itertools.product(*map(range, out[0][2:])):
        spots, counted = [], []
        for i, position in enumerate(at):
            start = position * strides[i] - pads[i]
            every = [start + k * dilations[i] for k in range(a["kernel"][i])]
            spots.append([p for p in every if 0 <= p < x.shape[i + 2]])
            counted.append(sum(p < x.shape[i + 2] + pads[i + spatial] for p in every))
        part = x[np.ix_(range(x.shape[0]), range(x.shape[1]), *spots)].reshape(x.shape[:2] + (-1,))
        if a["kind"] == "max":
            value = part.max(-1)
        else:
            value = part.sum(-1) / (math.prod(counted) if a["count_include_pad"] else part.shape[-1])
        result[(slice(None), slice(None)) + at] = value
    return result


def cubic(t, c):
    t = abs(t)
    if t <= 1:
        return (c + 2) * t**3 - (c + 3) * t**2 + 1
    return c * t**3 - 5 * c * t**2 + 8 * c * t - 4 * c if t < 2 else 0.0


def resize(v, a, out):
    x = wide(v[0])
    for i, size in enumerate(out[0][2:]):
        old = x.shape[i + 2]
        scale = a["scales"][i] if a["scales"] else size / old
        matrix = np.zeros((size, old))
        for o in range(size):
            mode = a["coordinate_mode"]
            if mode == "asymmetric":
                c = o / scale
            elif mode == "align_corners":
                c = o * (old - 1) / (old * scale - 1) if old * scale != 1 else 0.0
            elif mode == "half_pixel_symmetric":
                c = old / 2 * (1 - size / (scale * old)) + (o + 0.5) / scale - 0.5
            else:
                c = 0.0 if mode == "pytorch_half_pixel" and size == 1 else (o + 0.5) / scale - 0.5
            clamp = lambda p: min(max(int(p), 0), old - 1)
            if a["mode"] == "nearest":
                pick = {"round_prefer_floor": math.ceil(c - 0.5), "round_prefer_ceil": math.floor(c + 0.5),
                        "floor": math.floor(c), "ceil": math.ceil(c)}[a["nearest_mode"]]
                matrix[o, clamp(pick)] += 1
            elif a["mode"] == "linear":
                c = min(max(c, 0), old - 1)
                low = math.floor(c)
                matrix[o, clamp(low)] += 1 - (c - low)
                matrix[o, clamp(low + 1)] += c - low
            else:
                low = math.floor(c)
                for p in range(low - 1, low + 3):
                    matrix[o, clamp(p)] += cubic(c - p, a["cubic_coefficient"])
        x = np.moveaxis(np.tensordot(matrix, x, (1, i + 2)), 0, i + 2)
    return x
