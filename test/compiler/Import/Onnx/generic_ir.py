"""Reads types and attributes of MLIR's generic form (`--mlir-print-op-generic`)."""
import math
import re

import ml_dtypes
import numpy as np

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i1": np.bool_,
          "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
          "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64}


def split(text):
    """Splits at commas outside of brackets and strings."""
    parts, depth, quoted, start = [], 0, False, 0
    for i, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif not quoted and c in "[({<":
            depth += 1
        elif not quoted and c in "])}>" and text[i - 1] != "-":
            depth -= 1
        elif not quoted and not depth and c == ",":
            parts.append(text[start:i])
            start = i + 1
    return [p.strip() for p in parts + [text[start:]] if p.strip()]


def tensor_type(text):
    dims = re.match(r"tensor<(.*?)(, #.*)?>$", text).group(1).split("x")
    return tuple(int(d) for d in dims[:-1]), DTYPES[dims[-1]]


def number(text, dtype):
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("0x"):
        size = np.dtype(dtype).itemsize
        return np.frombuffer(int(text, 16).to_bytes(size, "little"), dtype)[0]
    return float(text) if re.search(r"[.e]", text) else int(text)


def dense(text):
    body, type_ = re.match(r"dense<(.*)> : (tensor<.*>)$", text, re.S).groups()
    shape, dtype = tensor_type(type_)
    if body.startswith('"0x'):
        data = np.frombuffer(bytes.fromhex(body[3:-1]), dtype)
        return data.reshape(shape) if len(data) == math.prod(shape) else np.full(shape, data[0])
    values = [number(v, dtype) for v in re.findall(r"[^\s,\[\]]+", body)]
    flat = np.array(values if len(values) != 1 else values * math.prod(shape)).astype(dtype)
    return flat.reshape(shape)


def attribute(text):
    if text.startswith("dense<"):
        return dense(text)
    if text.startswith("array<"):
        return [number(v.strip(), np.float64) for v in text[6:-1].partition(":")[2].split(",") if v.strip()]
    if text.startswith("#"):
        return re.search(r"(\w+)>$", text).group(1)
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"'):
        return text[1:-1]
    match = re.match(r"(\S+) : (\w+)$", text)
    return number(match.group(1), DTYPES[match.group(2)]) if match else text
