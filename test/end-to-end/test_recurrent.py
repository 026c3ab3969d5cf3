"""LSTM, GRU and RNN with options at random, beside ONNX Runtime."""

import numpy as np
import pytest

import harness
import recurrent
import tiny


def check(case, folder, *flags):
    model = tiny.save(case.model, folder / "net.onnx")
    harness.compile_model(model, folder / "out", *flags)
    harness.run_like_ort(model, folder / "out", case.inputs, folder, "--threads=2")


@pytest.mark.parametrize("seed", range(24))
def test_any_options_give_onnx_runtimes_answers(tmp_path, seed):
    check(recurrent.Case(seed, op=list(recurrent.GATES)[seed % 3]), tmp_path)


@pytest.mark.parametrize("op", list(recurrent.GATES))
def test_weights_that_are_inputs_run_the_reference_kernel(tmp_path, op):
    check(recurrent.Case(100, op=op, weights=False), tmp_path)
    assert "recurrent.reference" in harness.kernels_of(tmp_path / "out")


@pytest.mark.parametrize("op", list(recurrent.GATES))
def test_steps_and_sequences_may_be_open(tmp_path, op):
    case = recurrent.Case(200, op=op, open_sizes=True)
    check(case, tmp_path, "--bound", "T=1..40", "--bound", "N=1..7")
    model = tmp_path / "net.onnx"
    for steps, sequences in [(1, 1), (40, 7), (13, 2)]:
        case.steps, case.sequences = steps, sequences
        inputs = {name: array for name, array in case.arrays().items() if name in case.inputs}
        harness.run_like_ort(model, tmp_path / "out", inputs, tmp_path)


def test_a_length_beyond_the_steps_is_an_error_of_the_run(tmp_path):
    case = next(c for c in (recurrent.Case(s) for s in range(50)) if "lengths" in c.inputs)
    model = tiny.save(case.model, tmp_path / "net.onnx")
    harness.compile_model(model, tmp_path / "out")
    inputs = {**case.inputs, "lengths": np.full_like(case.inputs["lengths"], case.steps + 1)}
    done, _ = harness.run_model(tmp_path / "out", inputs, tmp_path, check=False)
    assert done.returncode != 0 and "net" in done.stderr


@pytest.mark.parametrize("seed", range(12))
def test_one_step_of_8_bits_is_onnx_runtimes(tmp_path, seed):
    """States and inputs are the same floats on both sides, so their bytes are too: only sums in float differ."""
    check(recurrent.QuantizedCase(seed, steps=1), tmp_path)
    assert "recurrent.quantized" in harness.kernels_of(tmp_path / "out")


@pytest.mark.parametrize("seed", range(6))
def test_many_steps_of_8_bits_differ_by_roundings_of_states(tmp_path, seed):
    """A state on the edge between two of 256 steps may go the other way: 1/255 of its range, a few at a time."""
    case = recurrent.QuantizedCase(seed, steps=20)
    model = tiny.save(case.model, tmp_path / "net.onnx")
    harness.compile_model(model, tmp_path / "out")
    want = harness.ort_outputs(model, case.inputs)
    _, have = harness.run_model(tmp_path / "out", case.inputs, tmp_path, "--threads=2", outputs=case.outputs)
    for name in ("Y", "Y_h"):
        error = np.abs(have[name] - want[name])
        assert error.max() <= 1 / 255 and error.mean() <= 1e-4, f"{name}: {error.max()}, mean {error.mean()}"


@pytest.mark.parametrize("name, shape, pairs", [("silero", "input=1x576", {"state": "stateN"}),
                                                ("silero_seq", "input=3x576", {"h": "hn", "c": "cn"})])
def test_states_stay_in_the_session(model_file, tmp_path, name, shape, pairs):
    """Three runs of a session go on from each other, as a loop around ONNX Runtime does that hands the states on."""
    row, path = model_file(name)
    harness.compile_model(path, tmp_path / "out", "--shape", shape, *(f"--state={a}={b}" for a, b in pairs.items()))
    states = {n: np.zeros(row.inputs[n][0], np.float32) for n in pairs}
    dims = [int(d) for d in shape.split("=")[1].split("x")]
    rng = np.random.default_rng(3)
    command, wanted = [harness.tool("plim-run"), tmp_path / "out"], []
    for turn in range(3):
        audio = (0.3 * rng.standard_normal(dims)).astype(np.float32)
        want = harness.ort_outputs(path, {"input": audio, **states})
        states = {a: want[b] for a, b in pairs.items()}
        output = next(n for n in want if n not in pairs.values())
        wanted.append(want[output])
        np.save(tmp_path / f"in{turn}.npy", audio)
        command += ["--then"] if turn else []
        command += [f"--input=input=@{tmp_path}/in{turn}.npy", f"--output={output}=@{tmp_path}/out{turn}.npy"]
    harness.run(command)
    for turn, want in enumerate(wanted):
        assert harness.largest_error(np.load(tmp_path / f"out{turn}.npy"), want)[1] <= 1, f"run {turn}"
    assert not np.allclose(wanted[0], wanted[2], rtol=1e-3), "the states make no difference"
