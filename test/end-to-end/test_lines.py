"""Convolutions and pools over one spatial dimension run the kernels of images, with ONNX Runtime's answers."""

import numpy as np
import pytest

import harness
import tiny
from tiny import node


def network(length):
    """A stem of windows over samples, then blocks with a residual, grouped and depthwise filters, and a way back up."""
    nodes = [
        node("Conv", "x stem", "a", strides=[4], pads=[3, 4]), node("Relu", "a", "b"),
        node("Conv", "b w0 bias", "c", pads=[2, 2], dilations=[2]), node("Add", "c b", "d"), node("Relu", "d", "e"),
        node("Conv", "e depthwise", "f", group=24, pads=[1, 1]), node("Conv", "f pointwise", "g"),
        node("MaxPool", "g", "h", kernel_shape=[3], strides=[2], pads=[1, 1]),
        node("AveragePool", "h", "i", kernel_shape=[2], strides=[1], pads=[0, 1]),
        node("Conv", "i grouped", "j", group=4, pads=[1, 1], strides=[2]),
        node("ConvTranspose", "j up", "k", strides=[2]), node("Sigmoid", "k", "y")]
    weights = [tiny.weights("stem", 24, 1, 8), tiny.weights("w0", 24, 24, 3), tiny.weights("bias", 24),
               tiny.weights("depthwise", 24, 1, 3), tiny.weights("pointwise", 32, 24, 1),
               tiny.weights("grouped", 40, 8, 3), tiny.weights("up", 40, 12, 2)]
    return tiny.model(nodes, [tiny.value("x", [3, 1, length])], [tiny.value("y", None)], weights)


@pytest.mark.parametrize("length", [33, 400])
def test_lines_convolve_like_onnx_runtimes(tmp_path, length):
    model = tiny.save(network(length), tmp_path / "lines.onnx")
    inputs = {"x": np.random.default_rng(length).standard_normal((3, 1, length)).astype(np.float32)}
    harness.compile_model(model, tmp_path / "out")
    harness.run_like_ort(model, tmp_path / "out", inputs, tmp_path, "--threads=2")
    assert {"conv.nhwc_direct", "conv.nhwc_pointwise", "conv.nhwc_depthwise", "conv_transpose.nhwc", "pool.nhwc_max",
            "pool.nhwc_average"} <= harness.kernels_of(tmp_path / "out")


@pytest.mark.parametrize("length", [32, 57, 96])
def test_the_length_may_be_open(tmp_path, length):
    model = tiny.save(network("L"), tmp_path / "lines.onnx")
    inputs = {"x": np.random.default_rng(length).standard_normal((3, 1, length)).astype(np.float32)}
    harness.compile_model(model, tmp_path / "out", "--bound", "L=32..96")
    harness.run_like_ort(model, tmp_path / "out", inputs, tmp_path)
