"""Graphs in pieces of rows: the same bits in less memory, by a given plan and under a budget."""

import numpy as np
import pytest

import harness
import tiny


def blocks(side=128):
    """Two convolutions, a squeeze-and-excite block, a branch at half size that comes back by a nearest resize, a pool, a
    depthwise convolution and a transposed one."""
    net = tiny.Network()
    random = np.random.default_rng(3)

    def conv(x, channels, outputs, kernel, **attributes):
        scale = 1 / np.sqrt(channels * kernel * kernel / attributes.get("group", 1))
        w = random.standard_normal((outputs, channels // attributes.get("group", 1), kernel, kernel)) * scale
        bias = random.standard_normal(outputs).astype(np.float32)
        return net.add("Conv", x, w.astype(np.float32), bias, pads=[kernel // 2] * 4, **attributes)

    a = net.add("Relu", conv("x", 3, 32, 3))
    b = net.add("HardSwish", conv(a, 32, 32, 3))
    mean = net.add("ReduceMean", b, axes=[2, 3])
    gate = net.add("Sigmoid", conv(net.add("Relu", conv(mean, 32, 8, 1)), 8, 32, 1))
    c = net.add("Mul", b, gate)
    low = net.add("Relu", conv(c, 32, 32, 3, strides=[2, 2]))
    low = net.add("Relu", conv(low, 32, 32, 5, group=32))
    up = net.add("Resize", low, "", np.array([1, 1, 2, 2], np.float32), mode="nearest",
                 coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    d = conv(net.add("Concat", c, up, axis=1), 64, 24, 3)
    pooled = net.add("MaxPool", d, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
    w = (random.standard_normal((24, 4, 2, 2)) / 5).astype(np.float32)
    net.add("ConvTranspose", pooled, w, kernel_shape=[2, 2], strides=[2, 2], outputs="y")
    dims = [1, 3, side, side]
    return tiny.model(net.nodes, [tiny.value("x", dims)], [tiny.value("y", [1, 4, side, side])], net.weights)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """(.onnx file, input, peak, output) of the net without pieces."""
    folder = tmp_path_factory.mktemp("whole")
    model = tiny.save(blocks(), folder / "m.onnx")
    x = {"x": np.random.default_rng(5).standard_normal((1, 3, 128, 128)).astype(np.float32)}
    harness.compile_model(model, folder / "out", "--split=off", "--workers=1")
    stats, y = harness.run_model(folder / "out", x, folder, outputs=["y"])
    return model, x, stats["tiers"]["ram"]["planned"], y["y"]


def same_bits(a, b):
    return np.array_equal(a.view(np.uint32), b.view(np.uint32))


@pytest.mark.parametrize("pieces", [1, 3, 8])
def test_a_given_plan_gives_the_same_bits(whole, tmp_path, pieces):
    model, x, _, y = whole
    plan = f"pieces={pieces} keep=ReduceMean_4@1; pieces={pieces} keep=ConvTranspose_18@1"
    harness.compile_model(model, tmp_path / "out", f"--split={plan}", "--workers=1")
    stats, have = harness.run_model(tmp_path / "out", x, tmp_path, outputs=["y"])
    assert same_bits(have["y"], y)
    ram = stats["tiers"]["ram"]
    assert ram["live"] == ram["live_planned"] and ram["touched"] == ram["touched_planned"]


def test_a_budget_that_whole_maps_do_not_meet_is_met_in_pieces(whole, tmp_path):
    model, x, peak, y = whole
    refused = harness.compile_model(model, tmp_path / "no", "--split=off", "--no-stream", "--workers=1",
                                    f"--ram={peak // 2}", check=False)
    assert refused.returncode == harness.BUDGET
    harness.compile_model(model, tmp_path / "out", "--workers=1", "--no-stream", f"--ram={peak // 2}")
    stats, have = harness.run_model(tmp_path / "out", x, tmp_path, outputs=["y"])
    assert same_bits(have["y"], y)
    assert stats["tiers"]["ram"]["planned"] <= peak // 2


def test_a_plan_that_does_not_fit_the_model_is_a_usage_error(whole, tmp_path):
    done = harness.compile_model(whole[0], tmp_path / "out", "--split=pieces=2 keep=nobody@1", check=False)
    assert done.returncode == harness.USAGE
    assert "--split: need NAME@AXIS with the name of a value, have 'nobody@1'" in done.stderr
