"""Integer arithmetic: the sign of a type counts, and no divisor ends a run."""

import numpy as np
import pytest
from onnx import TensorProto, helper

import harness
import tiny

TYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: t.__name__)
def test_extremes(dtype, tmp_path):
    info = np.iinfo(dtype)
    x = np.array([info.max, info.min, 7, info.max - 1, 3, info.min, 100, 1] * 9, dtype)
    y = np.array([2, 3, 0, info.max, 5, 1, 7, info.max // 2 + 2] * 9, dtype)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    operators = ["Div", "Mod", "Max", "Min", "Less", "GreaterOrEqual"]
    value = lambda name, type_: tiny.value(name, [x.size], type_)
    results = [value(op, TensorProto.BOOL if op in ("Less", "GreaterOrEqual") else kind) for op in operators]
    path = tiny.save(tiny.model([tiny.node(op, "x y", op) for op in operators], [value("x", kind), value("y", kind)],
                                results), tmp_path / "model.onnx")
    harness.compile_model(path, tmp_path / "out")
    _, have = harness.run_model(tmp_path / "out", {"x": x, "y": y}, tmp_path, outputs=operators)
    exact = [(int(a), int(b)) for a, b in zip(x, y)]
    for i, (a, b) in enumerate(exact):
        if b != 0:
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            assert have["Div"][i] == quotient and have["Mod"][i] == a % b, (a, b)
        assert have["Max"][i] == max(a, b) and have["Min"][i] == min(a, b), (a, b)
        assert bool(have["Less"][i]) == (a < b) and bool(have["GreaterOrEqual"][i]) == (a >= b), (a, b)
