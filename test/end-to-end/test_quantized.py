"""Quantised models: ONNX Runtime's results, and weights that stay as narrow as they are stored."""

import numpy as np
import pytest

import harness
import quantized
import tiny
from harness import MIB


def outcome(proto, folder, inputs, *flags):
    """(plan, {name: ours}, {name: ONNX Runtime's})"""
    path = tiny.save(proto, folder / "model.onnx")
    harness.compile_model(path, folder / "out", *flags)
    want = harness.ort_outputs(path, inputs)
    _, have = harness.run_model(folder / "out", inputs, folder, "--threads=2", outputs=list(want))
    return harness.plan_of(folder / "out")["programs"][0], have, want


def weights_of(out):
    return (out / "model.weights").stat().st_size


def floats(*dims, seed=3):
    return {"x": np.random.default_rng(seed).standard_normal(dims).astype(np.float32)}


# In these every operation is one of f32, so f32's tolerance holds: sums are in another order, scales are applied to
# sums instead of weights.
@pytest.mark.parametrize("proto, inputs", [
    (quantized.weight_only(kind="columns"), floats(5, 96)),
    (quantized.weight_only(kind="rows"), floats(5, 96)),
    (quantized.weight_only(kind="all"), floats(5, 96)),
    (quantized.weight_only(kind="wide"), floats(5, 96)),
    (quantized.weight_only(batch=1, kind="columns", transposed=True), floats(1, 96)),
    (quantized.weight_only(batch=300, kind="columns"), floats(300, 96)),
    (quantized.half_weights(), floats(3, 96)),
    (quantized.blocks(0), floats(3, 96)),
    (quantized.blocks(1), floats(3, 96)),
    (quantized.embedding(), {"x": np.arange(10, dtype=np.int64).reshape(2, 5) * 31 % 300}),
], ids=["columns", "rows", "all", "by-way-of-i32", "transposed", "many-rows", "halves", "blocks", "blocks-transposed",
        "embedding"])
def test_weights_in_few_bits(proto, inputs, tmp_path):
    _, have, want = outcome(proto, tmp_path, inputs)
    assert "matmul.quantized_panel32" in harness.kernels_of(tmp_path / "out")
    error, share = harness.largest_error(have["y"], want["y"])
    assert np.abs(want["y"]).max() > 0.1
    assert share <= 1, f"error {error}, {share} of the tolerance"


def test_weights_keep_their_bytes(tmp_path):
    for name, proto, stored in (("bytes", quantized.weight_only(), 96 * 64),
                                ("halves", quantized.half_weights(), 2 * 96 * 64)):
        folder = tmp_path / name
        folder.mkdir()
        harness.compile_model(tiny.save(proto, folder / "model.onnx"), folder / "out")
        assert stored <= weights_of(folder / "out") < stored + 8192


def test_rows_may_be_open(tmp_path):
    proto = quantized.weight_only(batch=None)
    path = tiny.save(proto, tmp_path / "model.onnx")
    harness.compile_model(path, tmp_path / "out", "--bound=N=1..64")
    for rows in (1, 2, 4, 5, 28, 29, 63, 64):
        inputs = floats(rows, 96, seed=rows)
        harness.run_like_ort(path, tmp_path / "out", inputs, tmp_path, "--threads=2")


# Integers are exact, so that only the last rounding to 8 bits can go the other way: where a number lies within f32's
# error of a half, one step of the result.
def expect_steps(have, want, step, most=0.01):
    off = np.abs(have.astype(np.float64) - want.astype(np.float64)) / step
    assert off.max() <= 1.01, f"{off.max()} steps off"
    assert (off > 0.01).mean() <= most, f"{(off > 0.01).mean():.4f} of the elements are a step off"


def test_qlinear_convolutions(tmp_path):
    _, have, want = outcome(quantized.qlinear_convolutions(), tmp_path, floats(1, 3, 13, 13))
    assert {"conv.integer_nhwc", "conv.integer_nhwc_depthwise",
            "matmul.integer_panel32"} <= harness.kernels_of(tmp_path / "out")
    assert want["y"].std() > 10
    expect_steps(have["y"], want["y"], 1)


@pytest.mark.parametrize("groups", [1, 8])
def test_static_qdq_convolution(groups, tmp_path):
    _, have, want = outcome(quantized.qdq_convolution(groups), tmp_path, floats(1, 8, 9, 9))
    if groups == 1:
        assert "conv.integer_nhwc" in harness.kernels_of(tmp_path / "out")
    assert want["y"].std() > 0.5
    expect_steps(have["y"], want["y"], 0.1)


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("asymmetric", [False, True])
def test_static_qdq_dense_layers(per_channel, asymmetric, tmp_path):
    _, have, want = outcome(quantized.qdq_mlp(per_channel=per_channel, asymmetric=asymmetric), tmp_path, floats(5, 64))
    assert "matmul.integer_panel32" in harness.kernels_of(tmp_path / "out")
    # A step of the second layer's input, 0.04, times its largest weights moves the output by about 0.1.
    error = np.abs(have["y"] - want["y"])
    assert np.median(error) < 1e-4 and error.max() < 0.2, (np.median(error), error.max())
    assert want["y"].std() > 1


@pytest.mark.parametrize("proto", [quantized.dynamic(), quantized.dynamic_microsoft()], ids=["onnx", "microsoft"])
def test_dynamic_quantisation(proto, tmp_path):
    _, have, want = outcome(proto, tmp_path, floats(7, 64))
    assert "matmul.integer_panel32" in harness.kernels_of(tmp_path / "out")
    error = np.abs(have["y"] - want["y"])
    # As above: the second layer's input may round the other way by one of 255 steps of its range.
    assert np.median(error) < 1e-3 * want["y"].std() and error.max() < 0.1 * want["y"].std()


def test_microsofts_arithmetic_on_bytes(tmp_path):
    _, have, want = outcome(quantized.qlinear_arithmetic(), tmp_path, floats(2, 8, 5, 7))
    # A step of the averages, 0.02, times 16 weights of about 1.
    error = np.abs(have["y"] - want["y"])
    assert np.median(error) < 1e-4 and error.max() < 0.2 and want["y"].std() > 1


# Halves have 11 (f16) and 8 (bf16) bits; ONNX Runtime rounds where the model does, and has few kernels for bf16.
def test_halves_are_for_memory(tmp_path):
    inputs = floats(2, 3, 8, 8)
    plan, have, want = outcome(quantized.halves(), tmp_path, inputs)
    assert np.abs(have["y"] - want["y"]).max() < 2e-3 and want["y"].std() > 0.01
    assert {"conv.nhwc_direct", "matmul.quantized_panel32"} <= harness.kernels_of(tmp_path / "out")
    folder = tmp_path / "bf16"
    folder.mkdir()
    path = tiny.save(quantized.halves(quantized.TensorProto.BFLOAT16), folder / "model.onnx")
    harness.compile_model(path, folder / "out")
    _, coarse = harness.run_model(folder / "out", inputs, folder, outputs=["y"])
    assert np.abs(coarse["y"] - want["y"]).max() < 2e-2


def test_minilm6_w8_stays_in_its_bytes(compiled_real, tmp_path, capsys):
    compiled = compiled_real("minilm6_w8@128")
    plan = harness.plan_of(compiled.out)["programs"][0]
    inputs = harness.seeded_inputs(compiled.row)
    want = harness.ort_outputs(compiled.model, inputs)
    stats, have = harness.run_model(compiled.out, inputs, tmp_path, "--threads=2", outputs=list(want))
    planned = plan["reserved_peak"]["ram"]
    for name in want:
        error, share = harness.largest_error(have[name], want[name])
        assert share <= 1, f"{name}: {error} is {share} times the tolerance"
    with capsys.disabled():
        print(f"\n  minilm6_w8@128: {planned / MIB:.2f} MiB planned, largest error {error:.3g}", end="")
    assert planned <= 30 * MIB
    assert stats["tiers"]["ram"]["ledger"] == stats["tiers"]["ram"]["planned"]


def test_minilm6_w8_with_an_open_length(model_file, tmp_path):
    row, path = model_file("minilm6_w8@128")
    harness.compile_model(path, tmp_path / "out", *[f"--shape={name}=1xS" for name in row.inputs], "--bound=S=1..512")
    for length in (1, 2, 9, 511, 512):
        inputs = {name: np.ones((1, length), np.int64) for name in row.inputs}
        inputs["input_ids"] = np.random.default_rng(length).integers(0, 30000, (1, length))
        harness.run_like_ort(path, tmp_path / "out", inputs, tmp_path, "--threads=2")


@pytest.mark.skipif("avx512vl" not in open("/proc/cpuinfo").read(), reason="needs a CPU of x86-64-v4")
def test_both_levels_give_the_same_bits(tmp_path):
    for name, proto, inputs in (("weights", quantized.weight_only(), floats(5, 96)),
                                ("blocks", quantized.blocks(), floats(3, 96)),
                                ("images", quantized.qlinear_convolutions(), floats(1, 3, 13, 13)),
                                ("dynamic", quantized.dynamic(), floats(7, 64))):
        folder = tmp_path / name
        folder.mkdir()
        harness.compile_model(tiny.save(proto, folder / "model.onnx"), folder / "out")
        bits = []
        for level in ("v3", "v4"):
            _, have = harness.run_model(folder / "out", inputs, folder, outputs=["y"], env={"PLIM_ISA": level})
            bits.append(have["y"].tobytes())
        assert bits[0] == bits[1], name
