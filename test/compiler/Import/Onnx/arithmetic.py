"""What graph ops on single elements mean, with numpy in double precision."""
import math

import ml_dtypes
import numpy as np


def wide(x):
    return x.astype(np.float64) if x.dtype in (np.float16, np.float32, ml_dtypes.bfloat16) else x


def divide(a, b):
    if a.dtype.kind in "iu":
        quotient = np.abs(a.astype(object)) // np.abs(b.astype(object))
        return quotient * np.sign(a.astype(object)) * np.sign(b.astype(object))
    return a / b


erf = np.vectorize(math.erf, otypes=[np.float64])


def gelu(x, approximate):
    if approximate:
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def clip(x, a):
    x = np.maximum(x, a["min"]) if "min" in a else x
    return np.minimum(x, a["max"]) if "max" in a else x


def shift(x, n, left):
    bits = x.dtype.itemsize * 8
    moved = x << np.minimum(n, bits - 1) if left else x >> np.minimum(n, bits - 1)
    return np.where(n >= bits, 0, moved)
