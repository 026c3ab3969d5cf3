"""tools/soak.py runs fuzzers and says what they found; tools/fuzz_corpus.py makes seeds that the tools read back."""

import pathlib
import subprocess
import sys

import numpy as np
import onnx
import pytest

import harness

SOAK = harness.SOURCE / "tools" / "soak.py"
CORPUS = harness.SOURCE / "tools" / "fuzz_corpus.py"

# Stand in for libFuzzer programs: they print what those print and keep the folders that they are given.
GOOD = """#!/bin/sh
test -d "$1" && test -d "$2" || exit 9
echo "#8 NEW cov: 123 ft: 5"
echo "stat::number_of_executed_units: 456"
"""
BAD = """#!/bin/sh
for word; do case "$word" in -artifact_prefix=*) prefix=${word#*=} ;; esac; done
echo input >"${prefix}crash-1"
echo "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1"
echo "artifact_prefix='$prefix'; Test unit written to ${prefix}crash-1"
exit 77
"""


@pytest.fixture
def soak(tmp_path):
    folder = tmp_path / "build" / "test" / "fuzz"
    folder.mkdir(parents=True)
    (tmp_path / "corpus" / "arrays").mkdir(parents=True)
    (tmp_path / "corpus" / "plans").mkdir()

    def run(programs, *names):
        for name, text in programs.items():
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        return subprocess.run([sys.executable, SOAK, "--build", tmp_path / "build", "--corpus", tmp_path / "corpus",
                               "--seconds", "1", *names], capture_output=True, text=True, timeout=60)

    return run


def test_fuzzers_that_find_nothing_pass_with_their_figures(soak):
    done = soak({"fuzz-npy": GOOD, "fuzz-plan": GOOD}, "fuzz-npy", "fuzz-plan")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == ["fuzz-npy: 456 inputs in 1 s, 123 edges covered",
                                        "fuzz-plan: 456 inputs in 1 s, 123 edges covered", "2 passed, 0 failed"]


def test_a_find_is_said_with_its_reason_and_its_input(soak, tmp_path):
    done = soak({"fuzz-npy": BAD, "fuzz-plan": GOOD}, "fuzz-npy", "fuzz-plan")
    assert done.returncode == 1
    first, _, last = done.stdout.splitlines()
    kept = tmp_path / "build" / "test" / "fuzz" / "failed" / "fuzz-npy" / "crash-1"
    assert "FAILED: ERROR: AddressSanitizer: heap-buffer-overflow" in first and str(kept) in first
    assert kept.read_text() == "input\n"
    assert last == "1 passed, 1 failed"


def test_a_fuzzer_that_is_not_there_is_refused(soak):
    done = soak({}, "fuzz-everything")
    assert done.returncode == 2 and "no soak fuzz-everything; there are fuzz-onnx-wire" in done.stderr
    done = soak({}, "fuzz-npy")
    assert done.returncode == 4 and "need " in done.stderr and "tools/dev soak" in done.stderr


def test_seeds_of_a_node_test_are_its_model_its_arrays_its_plan_and_its_table(tmp_path):
    done = subprocess.run([sys.executable, CORPUS, "--tools", pathlib.Path(harness.tool("plimc")).parent, "--out",
                           tmp_path, "--tests", "test_relu"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    seeds = {kind: [p for p in (tmp_path / kind).iterdir()] for kind in ("models", "arrays", "plans", "tables")}
    assert [len(seeds[kind]) for kind in ("models", "arrays", "tables")] == [1, 2, 1]
    assert onnx.load(seeds["models"][0]).graph.node[0].op_type == "Relu"
    assert {np.load(p).shape for p in seeds["arrays"]} == {(3, 4, 5)}
    table = tmp_path / "plan.table"
    table.write_bytes(seeds["tables"][0].read_bytes()[1:])
    plan = harness.run([harness.tool("plim-dump"), table]).stdout.encode()
    assert plan in {p.read_bytes() for p in seeds["plans"]}
    assert '"plan.program"' in (tmp_path / "plans.dict").read_text()
