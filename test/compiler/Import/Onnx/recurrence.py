"""What graph.recurrence means, with numpy in double precision."""
import re

import numpy as np

GATES = {"lstm": 4, "gru": 3, "rnn": 1}
FUNCTIONS = {"lstm": 3, "gru": 2, "rnn": 1}
FUNCTION = {
    "sigmoid": lambda x, a, b: 1 / (1 + np.exp(-x)), "tanh": lambda x, a, b: np.tanh(x),
    "relu": lambda x, a, b: np.maximum(x, 0), "affine": lambda x, a, b: a * x + b,
    "leaky_relu": lambda x, a, b: np.where(x < 0, a * x, x), "thresholded_relu": lambda x, a, b: np.where(x < a, 0, x),
    "scaled_tanh": lambda x, a, b: a * np.tanh(b * x), "hard_sigmoid": lambda x, a, b: np.clip(a * x + b, 0, 1),
    "elu": lambda x, a, b: np.where(x < 0, a * np.expm1(x), x), "softsign": lambda x, a, b: x / (1 + np.abs(x)),
    "softplus": lambda x, a, b: np.log1p(np.exp(x))}


def products(kind, linear_before_reset):
    return [2, 1] if kind == "gru" and not linear_before_reset else [GATES[kind]]


def unpacked(weights, directions, size, parts):
    """Packed weights [H, columns] as [D, G*H, H]."""
    if weights.ndim == 3:
        return weights
    filled = [-(-n * size // 32) * 32 for n in parts]
    each = weights.T.reshape(directions, sum(filled), size)
    starts = np.cumsum([0] + filled)
    return np.concatenate([each[:, s:s + n * size] for s, n in zip(starts, parts)], axis=1)


def quantized(states, running):
    """The states in 8 bits, with one scale and zero point, as numbers again."""
    x = states.astype(np.float32)
    low, high = min(x[running].min(), np.float32(0)), max(x[running].max(), np.float32(0))
    scale = np.float32(1) if low == high else (high - low) / np.float32(255)
    zero = np.rint(np.clip(-low / scale, 0, 255))
    return (np.clip(np.rint(x / scale) + zero, 0, 255) - zero).astype(np.float64) * np.float64(scale)


def recurrence(v, a, _):
    present = a["operandSegmentSizes"]
    values = iter(v)
    projected, weights, bias, peepholes, lengths, hidden, cell, scale, zero = (
        next(values) if n else None for n in present)
    kind, directions = a["kind"], 2 if a["direction"] == "bidirectional" else 1
    gates, (steps, sequences, columns) = GATES[kind], projected.shape
    size = columns // directions // gates
    linear = a["linear_before_reset"]
    clip = a["clip"] or np.inf
    weights = unpacked(weights, directions, size, products(kind, linear)).astype(np.float64)
    if scale is not None:
        weights = (weights - zero.astype(np.float64)[:, :, None]) * scale[:, :, None]
    names = re.findall(r"<(\w+)>", a["activations"])
    y = np.zeros((steps, directions, sequences, size))
    last = [np.zeros((directions, sequences, size)) for _ in range(2)]
    lengths = np.full(sequences, steps) if lengths is None else lengths
    for d in range(directions):
        reverse = d == 1 or a["direction"] == "reverse"
        n = FUNCTIONS[kind]
        f = [lambda x, i=i: FUNCTION[names[i]](x, a["alphas"][i], a["betas"][i]) for i in range(d * n, d * n + n)]
        bounded = [lambda x, g=g: g(np.clip(x, -clip, clip)) for g in f]
        h = np.zeros((sequences, size)) if hidden is None else hidden[d].astype(np.float64)
        c = np.zeros((sequences, size)) if cell is None else cell[d].astype(np.float64)
        for step in range(steps):
            running = step < lengths
            if not running.any():
                break
            times = np.where(reverse, np.maximum(lengths, 1) - 1 - step, step)
            x = projected[np.where(running, times, 0), np.arange(sequences)].astype(np.float64)
            x = np.split(x[:, d * gates * size:(d + 1) * gates * size], gates, axis=1)
            r = np.split(weights[d], gates)
            states = quantized(h, running) if scale is not None else h
            if kind == "rnn":
                h2, c2 = bounded[0](x[0] + states @ r[0].T), c
            elif kind == "gru":
                z, reset = (bounded[0](x[k] + states @ r[k].T) for k in range(2))
                inner = 0 if bias is None else bias[d]
                product = reset * (states @ r[2].T + inner) if linear else (reset * h) @ r[2].T
                h2, c2 = (1 - z) * bounded[1](x[2] + product) + z * h, c
            else:
                p = np.zeros((3, size)) if peepholes is None else peepholes[d].reshape(3, size)
                i = bounded[0](x[0] + states @ r[0].T + p[0] * c)
                forget = 1 - i if a["input_forget"] else bounded[0](x[2] + states @ r[2].T + p[2] * c)
                c2 = forget * c + i * bounded[1](x[3] + states @ r[3].T)
                h2 = bounded[0](x[1] + states @ r[1].T + p[1] * c2) * f[2](c2)
            h, c = (np.where(running[:, None], new, old) for new, old in ((h2, h), (c2, c)))
            y[times[running], d, np.flatnonzero(running)] = h[running]
        for state, to in ((h, last[0]), (c, last[1])):
            to[d] = np.where(lengths[:, None] > 0, state, 0)
    return (y, *last) if kind == "lstm" else (y, last[0])
