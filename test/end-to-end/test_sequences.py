"""Sequences of tensors, resolved when a model is imported, give what ONNX Runtime gives."""

import numpy as np
from onnx import helper

import harness
import tiny
from tiny import INT64, node, numbers, value


def test_parts_mapped_and_joined(tmp_path):
    """A picture's rows in parts, each scaled by the body of a SequenceMap, joined in another order, and counted."""
    body = helper.make_graph([node("Mul", "part factor", "scaled"), node("Add", "scaled shift", "moved")], "body",
                             [value("part", None), value("factor", None)], [value("moved", None)])
    nodes = [
        node("SplitToSequence", "x sizes", "parts", axis=0),
        node("SequenceMap", "parts factor", "moved", body=body),
        node("SequenceAt", "moved last", "tail"),
        node("SequenceErase", "moved last", "rest"),
        node("SequenceInsert", "rest tail zero", "turned"),
        node("ConcatFromSequence", "turned", "y", axis=0),
        node("SequenceLength", "turned", "n"),
    ]
    constants = [numbers("sizes", [3, 1, 4]), numbers("last", -1), numbers("zero", 0),
                 numbers("shift", 0.5, np.float32)]
    path = tiny.save(tiny.model(nodes, [value("x", [8, 5]), value("factor", [5])],
                                [value("y", None), value("n", [], INT64)], constants), tmp_path / "model.onnx")
    rng = np.random.default_rng(3)
    inputs = {"x": rng.random((8, 5), np.float32), "factor": rng.random(5, np.float32)}
    harness.compile_model(path, tmp_path / "out")
    _, have = harness.run_like_ort(path, tmp_path / "out", inputs, tmp_path, rtol=1e-6, atol=0)
    assert have["n"] == 3
