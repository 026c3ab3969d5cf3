"""LSTM, GRU and RNN with options at random, beside ONNX Runtime."""

import numpy as np
import pytest

import harness
import recurrent
import tiny


def check(case, folder, *flags):
    model = tiny.save(case.model, folder / "net.onnx")
    harness.compile_model(model, folder / "out", *flags)
    want = harness.ort_outputs(model, case.inputs)
    stats, have = harness.run_model(folder / "out", case.inputs, folder, "--threads=2", outputs=case.outputs)
    for name in case.outputs:
        assert have[name].shape == want[name].shape, name
        error, share = harness.largest_error(have[name], want[name])
        assert share <= 1, f"{name}: {error} is {share} times the tolerance"
    return stats


@pytest.mark.parametrize("seed", range(24))
def test_any_options_give_onnx_runtimes_answers(tmp_path, seed):
    check(recurrent.Case(seed, op=list(recurrent.GATES)[seed % 3]), tmp_path)


@pytest.mark.parametrize("op", list(recurrent.GATES))
def test_weights_that_are_inputs_run_the_reference_kernel(tmp_path, op):
    check(recurrent.Case(100, op=op, weights=False), tmp_path)
    kernels = {s.get("kernel") for s in harness.plan_of(tmp_path / "out")["programs"][0]["steps"]}
    assert "recurrent.reference" in kernels


@pytest.mark.parametrize("op", list(recurrent.GATES))
def test_steps_and_sequences_may_be_open(tmp_path, op):
    case = recurrent.Case(200, op=op, open_sizes=True)
    check(case, tmp_path, "--bound", "T=1..40", "--bound", "N=1..7")
    model = tmp_path / "net.onnx"
    for steps, sequences in [(1, 1), (40, 7), (13, 2)]:
        case.steps, case.sequences = steps, sequences
        inputs = {name: array for name, array in case.arrays().items() if name in case.inputs}
        want = harness.ort_outputs(model, inputs)
        _, have = harness.run_model(tmp_path / "out", inputs, tmp_path, outputs=case.outputs)
        for name in case.outputs:
            assert have[name].shape == want[name].shape
            assert harness.largest_error(have[name], want[name])[1] <= 1, name


def test_a_length_beyond_the_steps_is_an_error_of_the_run(tmp_path):
    case = next(c for c in (recurrent.Case(s) for s in range(50)) if "lengths" in c.inputs)
    model = tiny.save(case.model, tmp_path / "net.onnx")
    harness.compile_model(model, tmp_path / "out")
    inputs = {**case.inputs, "lengths": np.full_like(case.inputs["lengths"], case.steps + 1)}
    done, _ = harness.run_model(tmp_path / "out", inputs, tmp_path, check=False)
    assert done.returncode != 0 and "net" in done.stderr
