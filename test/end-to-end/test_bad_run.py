"""Inputs, weight files, tables and machines that plim-run cannot use."""

import os
import shutil
import signal
import struct
import subprocess
import time

import numpy as np
import pytest

import harness
import tiny
from errors import expect
from harness import DIFFERS, ENVIRONMENT, MODEL, USAGE

OUTPUT = "save_infer_model/scale_0.tmp_1"


@pytest.fixture
def run(cls, tmp_path):
    """run(*flags): plim-run on the classifier; arrays by name become .npy files in its folder."""

    def go(*flags, out=cls.out, env=None, **arrays):
        for name, array in arrays.items():
            np.save(tmp_path / f"{name}.npy", array)
        return harness.run([harness.tool("plim-run"), out, *flags], check=False, cwd=tmp_path, env=env, timeout=120)

    return go


@pytest.fixture
def copy(cls, tmp_path):
    """A copy of the artifact, to damage."""
    shutil.copytree(cls.out, tmp_path / "copy")
    return tmp_path / "copy"


def test_an_input_of_another_shape(run):
    expect(run("--input=x=@a.npy", a=np.zeros((1, 3, 48, 193), np.float32)), MODEL,
           "input 'x': need f32[1, 3, 48, 192], have f32[1, 3, 48, 193]")


def test_an_input_of_another_rank(run):
    expect(run("--input=x=@a.npy", a=np.zeros((3, 48, 192), np.float32)), MODEL,
           "input 'x': need f32[1, 3, 48, 192], have f32[3, 48, 192]")


def test_an_input_of_another_type(run):
    expect(run("--input=x=@a.npy", a=np.zeros((1, 3, 48, 192))), MODEL,
           "input 'x': need f32[1, 3, 48, 192], have f64[1, 3, 48, 192]")


def test_an_input_in_fortran_order(run):
    expect(run("--input=x=@a.npy", a=np.asfortranarray(np.zeros((1, 3, 48, 192), np.float32))), MODEL,
           "need C order, have Fortran order")


def test_all_problems_of_inputs_and_outputs_at_once(run):
    done = run("--input=y=@a.npy", "--output=zz=@q.npy", f"--expected={OUTPUT}=@e.npy",
               a=np.zeros(2, np.float32), e=np.zeros((2, 2), np.float32))
    expect(done, MODEL, "--input 'y': the model has x f32[1, 3, 48, 192]",
           f"--output 'zz': the model has {OUTPUT} f32[1, 2]", "input 'x': need f32[1, 3, 48, 192]: give --input",
           f"--expected '{OUTPUT}': need f32[1, 2], have f32[2, 2]")


def test_a_truncated_array_file(run, tmp_path):
    np.save(tmp_path / "whole.npy", np.zeros((1, 3, 48, 192), np.float32))
    (tmp_path / "part.npy").write_bytes((tmp_path / "whole.npy").read_bytes()[:5000])
    expect(run("--input=x=@part.npy"), MODEL, "truncated: need 110592 bytes of data, have 4872")


def test_a_file_that_is_no_array(run, tmp_path):
    (tmp_path / "text.npy").write_text("not an array at all")
    expect(run("--input=x=@text.npy"), MODEL, "not a .npy file: need the magic bytes")


def test_a_missing_array_file(run):
    expect(run("--input=x=@none.npy"), ENVIRONMENT, "input 'x': none.npy: No such file or directory")


@pytest.mark.parametrize("flags, texts", [
    ([], []),
    (["--bogus", "--threads=0", "--reps=x", "--rtol=-1", "--stats=xml", "--input=x"],
     ["unknown option '--bogus'", "--threads: need a number from 1 to 1024, have '0'", "--reps: need ", "--rtol: need ",
      "--stats: need text or json, have 'xml'", "--input: need NAME=@FILE.npy, have 'x'"]),
    (["--seed"], ["--seed: need a value"]),
    (["--input=x=@a.npy", "--input=x=@b.npy"], ["--input: 'x' is given twice"]),
    (["another"], ["need one folder, have '"]),
])
def test_flags_that_make_no_sense(run, flags, texts):
    done = run(*flags) if flags else harness.run([harness.tool("plim-run")], check=False)
    expect(done, USAGE, *(texts or ["need the folder that plimc wrote"]))


def test_a_program_or_variant_that_is_not_there(run):
    expect(run("--input-random", "--program=train"), MODEL, "train", "main")
    expect(run("--input-random", "--variant=small"), MODEL, "small")


def test_a_folder_without_an_artifact(run, tmp_path):
    expect(run(out=tmp_path / "none"), ENVIRONMENT, "no such folder or file")
    expect(run(out=tmp_path), ENVIRONMENT, "model.plan.json: cannot be read")


def test_a_plan_file_that_plimc_did_not_write(run, copy):
    for text in ("", "{", "[]", '{"model": 3}', '{"inner": {"model": "x"}}', "x" * 100):
        (copy / "model.plan.json").write_text(text)
        expect(run("--input-random", out=copy), MODEL, "not a plan that plimc wrote")


def test_a_missing_shared_object(run, copy):
    (copy / "model.so").unlink()
    expect(run("--input-random", out=copy), ENVIRONMENT, "model.so", "No such file")


def test_a_truncated_weight_file(run, copy):
    size = (copy / "model.weights").stat().st_size
    os.truncate(copy / "model.weights", size - 5000)
    expect(run("--input-random", out=copy), MODEL,
           "the weight file has another length than when the model was compiled", f"need {size}, have {size - 5000}")


def test_a_changed_weight_file(run, copy):
    data = bytearray((copy / "model.weights").read_bytes())
    for at in (5000, len(data) // 2, len(data) - 100):
        data[at] ^= 1
        (copy / "model.weights").write_bytes(data)
        expect(run("--input-random", out=copy), MODEL, "of the weight file were changed")
        data[at] ^= 1
    data[100] ^= 1
    (copy / "model.weights").write_bytes(data)
    expect(run("--input-random", out=copy), MODEL, "model.weights")


def test_weights_of_another_model(run, copy, compiled_tiny):
    shutil.copy(compiled_tiny("mlp").out / "model.weights", copy / "model.weights")
    expect(run("--input-random", out=copy), MODEL, "model.weights")


def test_a_missing_weight_file(run, copy):
    (copy / "model.weights").unlink()
    expect(run("--input-random", out=copy), ENVIRONMENT, "cannot open the weight file")


def patched(copy, field, value):
    """Overwrites a u32 of the step table's head in model.so."""
    data = bytearray((copy / "model.so").read_bytes())
    at = data.index(b"PLIMTAB\0")
    struct.pack_into("<I", data, at + field, value)
    (copy / "model.so").write_bytes(data)


def test_a_table_of_another_version(run, copy):
    patched(copy, 8, 2)
    expect(run("--input-random", out=copy), MODEL, "version")


def test_a_damaged_table(run, copy):
    patched(copy, 40, 3)  # workers: the hash no longer fits
    expect(run("--input-random", out=copy), MODEL, "hash")


def test_a_cpu_below_the_models_level(run):
    expect(run("--input-random", env={"PLIM_ISA": "base"}), ENVIRONMENT, "the model needs x86-64-v3", "need ")


def test_an_output_that_cannot_be_written(run):
    expect(run("--input-random", f"--output={OUTPUT}=@/proc/none/y.npy"), ENVIRONMENT, "--output /proc/none/y.npy")
    expect(run("--input-random", "--trace=/proc/none/t.json"), ENVIRONMENT, "--trace /proc/none/t.json")


def test_an_output_that_differs(run, tmp_path):
    run("--input-random", f"--output={OUTPUT}=@y.npy")
    want = np.load(tmp_path / "y.npy")
    same = run("--input-random", f"--expected={OUTPUT}=@y.npy", "--rtol=0", "--atol=0")
    assert same.returncode == 0, same.stderr
    off = want + np.array([0, 0.01], np.float32)
    done = run("--input-random", f"--expected={OUTPUT}=@off.npy", off=off)
    expect(done, DIFFERS, "an output differs from what was expected")
    assert "1 of 2 elements outside the tolerance" in done.stdout
    nan = want * np.float32("nan")
    expect(run("--input-random", f"--expected={OUTPUT}=@nan.npy", nan=nan), DIFFERS)


@pytest.mark.parametrize("delay", [0.05, 0.5, 1.0])
def test_an_interrupted_run_writes_no_output(compiled_tiny, tmp_path, delay):
    out = compiled_tiny("long_runner").out
    process = subprocess.Popen([harness.tool("plim-run"), out, "--input-random", "--reps=100000", "--no-poison",
                                f"--output=y=@{tmp_path / 'y.npy'}", f"--trace={tmp_path / 'trace.json'}"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    _, said = process.communicate(timeout=60)
    assert time.monotonic() - start < 20, "a run stops at its next step"
    if process.returncode == -signal.SIGINT:  # before the run began
        assert delay < 0.1
    else:
        assert process.returncode == ENVIRONMENT and "cancel" in said
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def bounded(tmp_path_factory):
    """y = x + z with two open dimensions: batch 1..4, width 1..8."""
    folder = tmp_path_factory.mktemp("bounded")
    model = tiny.save(tiny.open_dimensions(), folder / "m.onnx")
    harness.compile_model(model, folder / "out", "--bound=batch=1..4", "--bound=width=2..8")
    return folder / "out"


@pytest.mark.parametrize("dims", [(1, 2), (3, 5), (4, 8)])
def test_dimensions_within_their_bounds_run(bounded, tmp_path, dims):
    x = np.random.default_rng(1).random((2, *dims), np.float32)
    stats, have = harness.run_model(bounded, {"x": x[0], "z": x[1]}, tmp_path, outputs=["y"])
    assert np.array_equal(have["y"], x[0] + x[1])
    ram = stats["tiers"]["ram"]
    assert ram["ledger"] <= ram["planned"] and ram["live"] <= ram["live_planned"]


@pytest.mark.parametrize("dims", [(5, 5), (0, 5), (3, 9), (3, 1)])
def test_a_dimension_beyond_its_bound(run, bounded, dims):
    done = run("--input=x=@a.npy", "--input=z=@a.npy", out=bounded, a=np.zeros(dims, np.float32))
    expect(done, MODEL, f"input 'x': need f32[1..4, 2..8], have f32[{dims[0]}, {dims[1]}]", "input 'z': need ")


def test_inputs_that_give_one_dimension_two_sizes(run, bounded):
    done = run("--input=x=@a.npy", "--input=z=@b.npy", out=bounded, a=np.zeros((3, 5), np.float32),
               b=np.zeros((2, 5), np.float32))
    expect(done, MODEL, "gives otherwise")
