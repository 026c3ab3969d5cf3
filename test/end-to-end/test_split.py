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


PARTS = "pieces=4 parts=4 keep=ReduceMean_4@1; pieces=4 parts=4 keep=ConvTranspose_18@1"


@pytest.mark.parametrize("steps", ["", "copy=Relu_1,Relu_1#2,HardSwish_3,Mul_9 for=Concat_15; "])
def test_pieces_made_in_parts_and_copies_give_the_same_bits(whole, tmp_path, steps):
    model, x, _, y = whole
    harness.compile_model(model, tmp_path / "out", f"--split={steps}{PARTS}", "--workers=1")
    stats, have = harness.run_model(tmp_path / "out", x, tmp_path, outputs=["y"])
    assert same_bits(have["y"], y)
    ram = stats["tiers"]["ram"]
    assert ram["live"] == ram["live_planned"] and ram["touched"] == ram["touched_planned"]
    rows = [s["piece"]["rows"] for s in harness.plan_of(tmp_path / "out")["programs"][0]["steps"]
            if "piece" in s and s["source"] == "HardSwish_3"]
    assert (rows.count([0, 8]) == 3) == bool(steps), "made for the mean, for what follows, and for the concat"


def test_pieces_that_begin_between_tiles_differ_by_rounding_only(whole, tmp_path):
    model, x, _, y = whole
    harness.compile_model(model, tmp_path / "out", f"--split=loose=HardSwish_3,Conv_16; {PARTS}", "--workers=1")
    have = harness.run_model(tmp_path / "out", x, tmp_path, outputs=["y"])[1]["y"]
    begins = [s["piece"]["rows"][0] for s in harness.plan_of(tmp_path / "out")["programs"][0]["steps"]
              if s.get("kernel") == "conv.nhwc_winograd"]
    assert any(row % 4 for row in begins)
    assert np.allclose(have, y, rtol=1e-4, atol=1e-5) and not same_bits(have, y)


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


def peak_of(folder):
    return harness.plan_of(folder)["programs"][0]["peak"]["ram"]


def test_a_reused_input_is_overwritten_and_each_run_gets_it_anew(whole, tmp_path):
    model, x, _, y = whole
    plan = "--split=pieces=8 keep=ReduceMean_4@1; pieces=8 keep=ConvTranspose_18@1"
    kept = harness.compile_model(model, tmp_path / "kept", plan, "--workers=1", "--explain")
    done = harness.compile_model(model, tmp_path / "out", plan, "--workers=1", "--reuse-inputs", "--explain")
    assert "a run overwrites these inputs after their last read: x" in done.stdout + done.stderr
    assert "a run overwrites" not in kept.stdout + kept.stderr
    assert harness.plan_of(tmp_path / "out")["programs"][0]["inputs"][0]["reused"] is True
    assert "; a run overwrites it */" in (tmp_path / "out" / "model.h").read_text()
    stats, have = harness.run_model(tmp_path / "out", x, tmp_path, "--reps=3", "--warmup=1", outputs=["y"])
    assert same_bits(have["y"], y)
    ram = stats["tiers"]["ram"]
    assert ram["live"] == ram["live_planned"] and ram["touched"] == ram["touched_planned"]


def test_without_pieces_a_reused_input_takes_the_place_of_later_maps(tmp_path):
    net = tiny.Network()
    x = "x"
    for _ in range(3):
        x = net.add("MatMul", x, (np.random.default_rng(1).standard_normal((64, 64)) / 8).astype(np.float32))
    net.nodes[-1].output[0] = "y"
    model = tiny.save(tiny.model(net.nodes, [tiny.value("x", [4096, 64])], [tiny.value("y", [4096, 64])], net.weights),
                      tmp_path / "m.onnx")
    given = {"x": np.random.default_rng(2).standard_normal((4096, 64)).astype(np.float32)}
    peaks, results = [], []
    for folder, flags in (("kept", []), ("reused", ["--reuse-inputs"])):
        harness.compile_model(model, tmp_path / folder, "--workers=1", *flags)
        peaks.append(peak_of(tmp_path / folder))
        results.append(harness.run_model(tmp_path / folder, given, tmp_path, "--reps=2", outputs=["y"])[1]["y"])
    assert peaks[1] <= peaks[0] - (1 << 20)
    assert same_bits(*results)


def test_rows_inside_of_the_images_of_a_batch(tmp_path):
    net = tiny.Network()
    random = np.random.default_rng(4)

    def conv(x, inputs, outputs, stride=1):
        w = (random.standard_normal((outputs, inputs, 3, 3)) / np.sqrt(9 * inputs)).astype(np.float32)
        return net.add("Relu", net.add("Conv", x, w, pads=[1] * 4, strides=[stride] * 2))

    x = conv(conv(conv("x", 3, 32), 32, 32, 2), 32, 32, 2)
    net.add("ReduceMean", x, axes=[2, 3], keepdims=0)
    net.nodes[-1].output[0] = "y"
    model = tiny.save(tiny.model(net.nodes, [tiny.value("x", [4, 3, 96, 96])], [tiny.value("y", [4, 32])], net.weights),
                      tmp_path / "m.onnx")
    given = {"x": random.standard_normal((4, 3, 96, 96)).astype(np.float32)}
    harness.compile_model(model, tmp_path / "whole", "--split=off", "--workers=1")
    want = harness.run_model(tmp_path / "whole", given, tmp_path, outputs=["y"])[1]["y"]
    refused = harness.compile_model(model, tmp_path / "no", "--workers=1", "--ram=1KiB", "--no-stream", check=False)
    need = int(refused.stderr.split("need ")[1].split()[0])
    done = harness.compile_model(model, tmp_path / "out", "--workers=1", f"--ram={need}", "--no-stream", "--explain")
    pieces = [s["piece"] for s in harness.plan_of(tmp_path / "out")["programs"][0]["steps"] if "piece" in s]
    image = 3 * 96 * 96 * 4
    assert need < 4 * image + 2 * 32 * 96 * 96 * 4, "less than one map of an image beside the input"
    assert any(0 < p["rows"][0] < p["rows"][1] < p["extent"] for p in pieces)
    assert "computed in pieces of rows: " in done.stdout + done.stderr
    have = harness.run_model(tmp_path / "out", given, tmp_path, outputs=["y"])[1]["y"]
    assert np.allclose(have, want, rtol=1e-4, atol=1e-5)


def random_net(seed):
    """Convolutions, pools and a resize of random windows, a branch that is added back, perhaps a squeeze-and-excite."""
    random = np.random.default_rng(seed)
    net = tiny.Network()
    channels, x, side = 3, "x", 64

    def conv(x, outputs, kernel=3, stride=1, pad=None):
        nonlocal channels
        w = (random.standard_normal((outputs, channels, kernel, kernel)) / kernel / np.sqrt(channels)).astype(np.float32)
        channels = outputs
        return net.add("Conv", x, w, pads=[kernel // 2 if pad is None else pad] * 4, strides=[stride] * 2)

    for _ in range(int(random.integers(2, 5))):
        x = net.add("Relu", conv(x, int(random.choice([8, 16, 24])), int(random.choice([1, 3, 5]))))
        kind = random.integers(4)
        if kind == 0:
            x = net.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        elif kind == 1:
            x = net.add("Add", x, net.add("Sigmoid", conv(x, channels)))
        elif kind == 2:
            x = net.add("Mul", x, net.add("Sigmoid", conv(net.add("ReduceMean", x, axes=[2, 3]), channels, 1)))
        else:
            x = net.add("Relu", conv(x, channels, 3, 2))
    net.add("Tanh", conv(x, 4, 1))
    net.nodes[-1].output[0] = "y"
    return tiny.model(net.nodes, [tiny.value("x", [1, 3, side, side])], [tiny.value("y", [1, 4, None, None])],
                      net.weights)


@pytest.mark.parametrize("seed", range(6))
def test_no_plan_takes_less_than_what_a_refusal_proves(tmp_path, seed):
    """The bound covers plans in pieces: those that are found need at least that, whatever else they may use."""
    model = tiny.save(random_net(seed), tmp_path / "m.onnx")
    for flags in ([], ["--no-stream"], ["--reuse-inputs", "--no-stream"]):
        refused = harness.compile_model(model, tmp_path / "no", "--workers=1", "--ram=1KiB", *flags, check=False)
        assert refused.returncode == harness.BUDGET
        need = int(refused.stderr.split("need ")[1].split()[0])
        (proof,) = [line for line in refused.stderr.splitlines() if "proved: no plan fits" in line]
        least = int(proof.split("less than ")[1].split()[0])
        assert least <= need and "split" in proof.split("proved for any")[1].split(";")[0]
        without = int(proof.split("without split none needs less than ")[1].split()[0])
        assert least <= without
        off = harness.compile_model(model, tmp_path / "off", "--workers=1", "--ram=1KiB", "--split=off", *flags,
                                    check=False)
        assert without <= int(off.stderr.split("need ")[1].split()[0])
