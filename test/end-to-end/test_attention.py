"""Attention as exporters write it out is one step of the plan, and gives what ONNX Runtime gives for the graph."""

import numpy as np
import pytest
from onnx import TensorProto

import harness
import tiny

B, HEADS, KEY_HEADS, S, D = 2, 6, 2, 16, 8


def heads(w, x, count, perm=(0, 2, 1, 3)):
    return w.add("Transpose", w.add("Reshape", x, np.array([B, S, count, D])), perm=list(perm))


def torch_sdpa(w, q, k, v):
    """PyTorch's decomposition: both sides by the root of the scale, a triangle chosen by Where, repeats by Expand."""
    def repeat(x):
        wide = w.add("Expand", w.add("Unsqueeze", x, np.array([2])), np.array([B, KEY_HEADS, HEADS // KEY_HEADS, S, D]))
        return w.add("Reshape", wide, np.array([B, HEADS, S, D]))

    root = np.float32(D ** -0.25)
    q = w.add("Mul", heads(w, q, HEADS), root)
    k = w.add("Mul", w.add("Transpose", repeat(heads(w, k, KEY_HEADS)), perm=[0, 1, 3, 2]), root)
    below = w.add("Trilu", np.ones((S, S), np.float32), upper=0)
    mask = w.add("Where", w.add("Cast", below, to=TensorProto.BOOL), np.float32(0), np.float32(-np.inf))
    weights = w.add("Softmax", w.add("Add", w.add("MatMul", q, k), mask), axis=-1)
    return w.add("MatMul", weights, repeat(heads(w, v, KEY_HEADS)))


def grouped(w, q, k, v):
    """Groups of heads as a dimension: keys are as many as there are."""
    q = w.add("Reshape", w.add("Mul", heads(w, q, HEADS), np.float32(D ** -0.5)),
              np.array([B, KEY_HEADS, HEADS // KEY_HEADS, S, D]))
    k = w.add("Unsqueeze", heads(w, k, KEY_HEADS, (0, 2, 3, 1)), np.array([2]))
    weights = w.add("Softmax", w.add("MatMul", q, k), axis=-1)
    out = w.add("MatMul", weights, w.add("Unsqueeze", heads(w, v, KEY_HEADS), np.array([2])))
    return w.add("Reshape", out, np.array([B, HEADS, S, D]))


def divided_with_padding(w, q, k, v):
    """BERT's: a divisor, a mask of 0 and 1 turned into numbers to add, heads taken by a Gather."""
    order = np.repeat(np.arange(KEY_HEADS), HEADS // KEY_HEADS)
    k, v = (w.add("Gather", heads(w, x, KEY_HEADS), order, axis=1) for x in (k, v))
    scores = w.add("MatMul", heads(w, q, HEADS), w.add("Transpose", k, perm=[0, 1, 3, 2]))
    scores = w.add("Div", scores, np.float32(D ** 0.5))
    keep = np.ones((B, 1, 1, S), np.float32)
    keep[1, ..., S // 2:] = 0
    hidden = w.add("Mul", w.add("Sub", np.float32(1), keep), np.float32(-10000))
    return w.add("MatMul", w.add("Softmax", w.add("Add", scores, hidden), axis=-1), v)


def einsums(w, q, k, v):
    """TensorFlow's: products as Einsum, a truth value that hides."""
    q, k, v = (w.add("Reshape", x, np.array([B, S, HEADS, D])) for x in (q, w.add("Concat", k, k, k, axis=2),
                                                                         w.add("Concat", v, v, v, axis=2)))
    scores = w.add("Mul", w.add("Einsum", q, k, equation="BTNH,BSNH->BNTS"), np.float32(0.3))
    hide = np.zeros((B, 1, S, S), np.bool_)
    hide[:, :, :, 3] = True
    weights = w.add("Softmax", w.add("Where", hide, np.float32(-1e9), scores), axis=-1)
    return w.add("Transpose", w.add("Einsum", weights, v, equation="BNTS,BSNH->BTNH"), perm=[0, 2, 1, 3])


@pytest.mark.parametrize("write", [torch_sdpa, grouped, divided_with_padding, einsums])
def test_written_out(write, tmp_path):
    w = tiny.Network()
    out = write(w, "q", "k", "v")
    w.add("Transpose", out, outputs="y", perm=[0, 2, 1, 3])
    shapes = {"q": [B, S, HEADS * D], "k": [B, S, KEY_HEADS * D], "v": [B, S, KEY_HEADS * D]}
    path = tiny.save(tiny.model(w.nodes, [tiny.value(*x) for x in shapes.items()], [tiny.value("y", None)], w.weights),
                     tmp_path / "model.onnx")
    rng = np.random.default_rng(5)
    inputs = {name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()}
    harness.compile_model(path, tmp_path / "out")
    harness.run_like_ort(path, tmp_path / "out", inputs, tmp_path, atol=1e-5)
    ir = harness.run([harness.tool("plimc"), path, "--emit", "graph"]).stdout
    assert ir.count("graph.attention") == 1 and "graph.softmax" not in ir
    if write is torch_sdpa:
        assert "causal = true" in ir
    if write is not einsums:  # where the model repeats whole keys in turn
        assert f"tensor<{B}x{KEY_HEADS}x{S}x{D}xf32>" in ir.split("graph.attention")[1]
