"""A stack of transformer layers whose weights are eight times the budget (examples/stack), and plim-bench stream."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import harness

sys.path.append(str(harness.SOURCE / "examples" / "stack"))
import make_stack  # noqa: E402

LAYERS, WIDTH, ROWS = 12, 256, 8
# What plim-run takes above the plan: docs/concepts/memory-contract.md.
FIXED, PER_THREAD = 9 * harness.MIB // 2, 256 << 10


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """(model, bytes of its weights, inputs)."""
    path = tmp_path_factory.mktemp("stack") / "stack.onnx"
    weights = make_stack.write(path, LAYERS, WIDTH, heads=4)
    return path, weights, {"x": np.random.default_rng(2).standard_normal((ROWS, WIDTH)).astype(np.float32)}


def test_the_stack_is_what_its_options_say_and_answers_as_onnx_runtime_does(stack, tmp_path):
    model, weights, inputs = stack
    assert weights == LAYERS * 12 * WIDTH * WIDTH * 4
    assert weights <= model.with_name("stack.onnx.data").stat().st_size < weights + LAYERS * 6 * 4096
    harness.compile_model(model, tmp_path / "out", f"--shape=x={ROWS}x{WIDTH}")
    harness.run_like_ort(model, tmp_path / "out", inputs, tmp_path)
    again = tmp_path / "again.onnx"
    make_stack.write(again, LAYERS, WIDTH, heads=4)
    assert again.with_name("again.onnx.data").read_bytes() == model.with_name("stack.onnx.data").read_bytes()


def test_weights_of_eight_budgets_are_streamed_within_the_budget_to_the_same_bits(stack, tmp_path):
    model, weights, inputs = stack
    budget, shape = weights // 8, f"--shape=x={ROWS}x{WIDTH}"
    harness.compile_model(model, tmp_path / "whole", shape)
    harness.compile_model(model, tmp_path / "out", shape, f"--ram={budget}")
    program = harness.plan_of(tmp_path / "out")["programs"][0]
    assert program["peak"]["ram"] <= budget
    assert program["streamed_bytes"] >= weights - budget
    _, want = harness.run_model(tmp_path / "whole", inputs, tmp_path, outputs=["y"])
    stats, have = harness.run_model(tmp_path / "out", inputs, tmp_path, "--threads=1", outputs=["y"])
    assert have["y"].tobytes() == want["y"].tobytes()
    ram = stats["tiers"]["ram"]
    assert ram["ledger"] == ram["planned"] <= budget
    assert (ram["live"], ram["touched"]) == (ram["live_planned"], ram["touched_planned"])
    assert stats["transfers"]["bytes_read"] == program["streamed_bytes"]
    image = (tmp_path / "out" / "model.so").stat().st_size
    assert stats["vm_hwm"] <= budget + FIXED + PER_THREAD + image


def test_odd_sizes_of_a_stack_are_refused(tmp_path):
    script = harness.SOURCE / "examples" / "stack" / "make_stack.py"
    for flags in (["--layers=0"], ["--width=100", "--heads=8"]):
        done = harness.run([sys.executable, script, tmp_path / "no.onnx", *flags], check=False)
        assert done.returncode == 2 and "multiple of the heads" in done.stderr
        assert not list(tmp_path.iterdir())


def bench(*args):
    return subprocess.run([harness.tool("plim-bench"), "stream", *map(str, args)], capture_output=True, text=True,
                          timeout=600, env={**os.environ, "PLIM_CACHE_DIR": str(harness.CACHE)})


def test_the_benchmark_measures_the_disk_the_stream_and_mmap_in_one_run(tmp_path):
    paths = [f"--{kind}={tmp_path / f'stream.{kind}'}" for kind in ("json", "markdown", "csv")]
    done = bench("stack@16", "--layers=8", "--width=256", f"--ram={4 << 20}", "--rounds=1", "--seconds=0.05",
                 f"--cache={tmp_path}", *paths)
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads((tmp_path / "stream.json").read_text())
    (row,) = document["models"]
    assert row["status"] == "ok" and row["same"] and row["memory"]["ok"]
    assert row["plan"]["peak"] <= row["plan"]["budget"] == 4 << 20
    assert row["bytes"] == row["plan"]["streamed"] > 0
    for key in ("disk", "bandwidth", "share", "slow", "io_ms"):
        assert 0 < row[key]["low"] <= row[key]["median"] <= row[key]["high"], key
    assert row["share"]["median"] == pytest.approx(row["bandwidth"]["median"] / row["disk"]["median"])
    larger = max(row["compute"]["wall_ms"]["median"], row["io_ms"]["median"])
    assert row["slow"]["median"] == pytest.approx(row["streamed"]["wall_ms"]["median"] / larger)
    assert row["mmap"].get("wall_ms") or row["mmap"]["killed"] == 1
    for text in (done.stdout, (tmp_path / "stream.markdown").read_text()):
        assert "stack@16" in text and "I/O ms" in text
    assert not [p for p in tmp_path.iterdir() if p.is_dir()], "what was streamed is gone"


def test_a_case_that_is_unknown_or_streams_nothing_is_said(tmp_path):
    done = bench("stack@7")
    assert done.returncode == 1 and "no case stack@7; there are stack@16" in done.stderr
    done = bench("stack@16", "--layers=1", "--width=64", f"--ram={64 << 20}", f"--cache={tmp_path}")
    assert done.returncode == 1 and "streams nothing" in done.stdout, done.stdout + done.stderr
