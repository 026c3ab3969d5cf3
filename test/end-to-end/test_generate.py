"""The text generator of examples/generate gives the ids that a loop over ONNX Runtime gives."""

import shutil
import time

import numpy as np
import pytest

import decoder
import harness
import tiny

SOURCE = harness.SOURCE / "examples" / "generate" / "main.c"
LARGEST_TENSOR = 49152 * 576 * 4  # of SmolLM2: the embedding


def link(out):
    shutil.copy(out / "model.h", out / "decoder.h")
    harness.cc("-O1", "-I.", SOURCE, "model.o", *harness.LIBRARIES, "-o", "generate", cwd=out)


def generate(out, count, prompt, check=True):
    return harness.run(["./generate", "model.weights", count, *prompt], cwd=out, check=check)


def greedy(reference, count, prompt):
    ids, logits = [], reference.step(prompt)
    while True:
        ids.append(int(np.argmax(logits[0, -1])))
        if len(ids) == count:
            return ids
        logits = reference.step(ids[-1:])


FLAGS = ["--name=decoder", "--state", "past_*=present_*", "--entry", "decode:S=1"]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    path = tiny.save(decoder.model(), folder / "decoder.onnx")
    harness.compile_model(path, folder / "out", *FLAGS, "--bound", "P=0..48", "--entry", "prefill:S=1..8")
    link(folder / "out")
    return path, folder / "out"


@pytest.mark.parametrize("length", [1, 8, 11])
def test_a_small_decoder_generates_what_onnx_runtime_does(small, length):
    path, out = small
    prompt = np.random.default_rng(length).integers(0, decoder.VOCABULARY, length).tolist()
    have = [int(word) for word in generate(out, 24, prompt).stdout.split()]
    assert have == greedy(decoder.Reference(path), 24, prompt)


def test_a_text_beyond_the_bound_ends_with_need_and_have(small):
    _, out = small
    done = generate(out, 64, [1, 2, 3], check=False)
    assert done.returncode == 1
    assert len(done.stdout.split()) == 46
    assert "state 'P' would grow beyond its bound" in done.stderr and "(need 48, have 49)" in done.stderr


def test_smollm2_generates_what_onnx_runtime_does(tmp_path):
    row = harness.models.table()["smollm2@decode255"]
    try:
        path = harness.models.fetch(row, harness.CACHE)
    except RuntimeError as error:
        pytest.skip(str(error))
    out = tmp_path / "out"
    start = time.monotonic()
    peak = harness.peak_of([harness.tool("plimc"), str(path), "-o", str(out), *FLAGS, "--bound", "P=0..2048", "--entry",
                            "prefill:S=1..512"], tmp_path)
    seconds = time.monotonic() - start
    assert peak <= 256 * harness.MIB + 2 * LARGEST_TENSOR
    assert seconds <= 30
    link(out)
    prompt = [504, 3575, 282, 4649, 314]
    have = [int(word) for word in generate(out, 64, prompt).stdout.split()]
    assert have == greedy(decoder.Reference(path, groups=3, head=64), 64, prompt)
