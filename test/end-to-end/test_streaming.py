"""Models under less RAM than they would like: constants stream from the weight file, values go to a spill file and back,
and every output keeps its bits."""

import json
import re

import numpy as np
import pytest

import harness
import tiny

NEED = re.compile(r"need (\d+) bytes, have (\d+)")
WIDTH, LAYERS = 1024, 6
LAYER_BYTES = WIDTH * WIDTH * 4


def stack(batch=4):
    """Dense layers, each with 4 MiB of parameters."""
    net = tiny.Network()
    h = "x"
    for _ in range(LAYERS):
        w = net.random.standard_normal((WIDTH, WIDTH)).astype(np.float32) / np.sqrt(WIDTH)
        h = net.add("Relu", net.add("MatMul", h, w.astype(np.float32)))
    net.add("Neg", h, outputs="y")
    return tiny.model(net.nodes, [tiny.value("x", [batch, WIDTH])], [tiny.value("y", [batch, WIDTH])], net.weights)


def there_and_back(side=512, depth=8):
    """Layers of one shared weight whose results are needed again in reverse order, as a backward pass needs them."""
    net = tiny.Network()
    w = net.constant((net.random.standard_normal((side, side)) / np.sqrt(side)).astype(np.float32))
    kept, h = [], "x"
    for _ in range(depth):
        h = net.add("Tanh", net.add("MatMul", h, w))
        kept.append(h)
    for value in reversed(kept):
        h = net.add("Mul", net.add("MatMul", h, w), value)
    net.add("Neg", h, outputs="y")
    return tiny.model(net.nodes, [tiny.value("x", [side, side])], [tiny.value("y", [side, side])], net.weights)


def levers_of(out):
    return harness.plan_of(out)["programs"][0]["levers"]


def refused(model, *flags):
    """The smallest budget that the refusal of one byte names."""
    done = harness.run([harness.tool("plimc"), model, "--ram=1", "--plan-only", *flags], check=False)
    assert done.returncode == harness.BUDGET, done.stdout + done.stderr
    return int(NEED.search(done.stderr)[1])


@pytest.fixture(scope="module")
def dense(tmp_path_factory):
    """(model, inputs, outputs without a budget)."""
    folder = tmp_path_factory.mktemp("dense")
    model = tiny.save(stack(), folder / "stack.onnx")
    inputs = {"x": np.random.default_rng(3).standard_normal((4, WIDTH)).astype(np.float32)}
    harness.compile_model(model, folder / "out")
    assert levers_of(folder / "out")["streamed"] == 0, "without a budget all constants stay in memory"
    _, outputs = harness.run_model(folder / "out", inputs, folder, outputs=["y"])
    return model, inputs, outputs


@pytest.mark.parametrize("layers", [2, 3, 5])
def test_weights_above_the_budget_are_streamed_and_outputs_keep_their_bits(dense, layers, tmp_path):
    model, inputs, want = dense
    budget = layers * LAYER_BYTES + harness.MIB
    harness.compile_model(model, tmp_path / "out", f"--ram={budget}")
    program = harness.plan_of(tmp_path / "out")["programs"][0]
    assert program["levers"]["streamed"] > 0
    assert program["peak"]["ram"] <= budget
    assert program["streamed_bytes"] >= (LAYERS - layers) * LAYER_BYTES
    stats, have = harness.run_model(tmp_path / "out", inputs, tmp_path, outputs=["y"])
    assert have["y"].tobytes() == want["y"].tobytes()
    ram = stats["tiers"]["ram"]
    assert (ram["ledger"], ram["live"]) == (ram["planned"], ram["live_planned"])


def test_a_streamed_constant_that_was_changed_is_found(dense, tmp_path):
    model, inputs, _ = dense
    out = tmp_path / "out"
    harness.compile_model(model, out, f"--ram={2 * LAYER_BYTES + harness.MIB}")
    weights = out / "model.weights"
    data = bytearray(weights.read_bytes())
    data[-LAYER_BYTES // 2] ^= 1
    weights.write_bytes(data)
    done, _ = harness.run_model(out, inputs, tmp_path, check=False)
    assert done.returncode == harness.ENVIRONMENT, done.stdout + done.stderr


def test_without_streaming_the_weights_must_fit(dense):
    model, _, _ = dense
    assert refused(model, "--no-stream") > LAYERS * LAYER_BYTES
    assert refused(model) < 3 * LAYER_BYTES


def test_the_need_of_a_refusal_is_met(dense):
    model, _, _ = dense
    for flags in ([], ["--no-stream"]):
        need = refused(model, *flags)
        harness.run([harness.tool("plimc"), model, f"--ram={need}", "--plan-only", *flags])


def test_entries_share_a_budget_that_is_below_their_weights(tmp_path):
    model = tiny.save(stack("N"), tmp_path / "entries.onnx")
    flags = ["--bound=N=1..64", "--entry=one:N=1", "--entry=many:N=64"]
    harness.compile_model(model, tmp_path / "whole", *flags)
    rng = np.random.default_rng(9)
    for layers in (2, 3, 4):
        out = tmp_path / f"out{layers}"
        budget = layers * LAYER_BYTES + 2 * harness.MIB
        harness.compile_model(model, out, *flags, f"--ram={budget}")
        for program in harness.plan_of(out)["programs"]:
            assert program["levers"]["streamed"] > 0
            assert program["peak"]["ram"] <= budget
        for entry, batch in (("one", 1), ("many", 64)):
            inputs = {"x": rng.standard_normal((batch, WIDTH)).astype(np.float32)}
            _, want = harness.run_model(tmp_path / "whole", inputs, tmp_path, f"--program={entry}", outputs=["y"])
            stats, have = harness.run_model(out, inputs, tmp_path, f"--program={entry}", outputs=["y"])
            assert have["y"].tobytes() == want["y"].tobytes()
            assert stats["tiers"]["ram"]["ledger"] <= budget


@pytest.fixture(scope="module")
def returning(tmp_path_factory):
    folder = tmp_path_factory.mktemp("returning")
    model = tiny.save(there_and_back(), folder / "returning.onnx")
    inputs = {"x": np.random.default_rng(5).standard_normal((512, 512)).astype(np.float32)}
    harness.compile_model(model, folder / "out")
    _, outputs = harness.run_model(folder / "out", inputs, folder, outputs=["y"])
    return model, inputs, outputs, harness.plan_of(folder / "out")["programs"][0]["peak"]["ram"]


def test_an_ssd_lowers_the_budget_or_the_time_and_outputs_keep_their_bits(returning, tmp_path):
    model, inputs, want, fastest = returning
    alone, helped = refused(model), refused(model, "--ssd=64MiB")
    assert helped <= alone
    budget = (helped + fastest) // 2
    times = []
    for flags in (["--ssd=64MiB"], []):
        out = tmp_path / f"out{len(times)}"
        done = harness.compile_model(model, out, f"--ram={budget}", *flags, check=False)
        if done.returncode == harness.BUDGET and not flags:
            continue
        assert done.returncode == 0, done.stderr
        program = harness.plan_of(out)["programs"][0]
        times.append(program["predicted_ns"])
        stats, have = harness.run_model(out, inputs, tmp_path, f"--spill-dir={tmp_path}", outputs=["y"])
        assert have["y"].tobytes() == want["y"].tobytes()
        assert stats["tiers"]["ram"]["ledger"] == stats["tiers"]["ram"]["planned"]
        if flags:
            assert program["levers"]["spilled"] > 0, program["levers"]
            assert program["peak"]["ssd"] <= 64 * harness.MIB
        else:
            assert program["levers"]["spilled"] == 0
    assert times == sorted(times), "the same budget and an ssd is never slower"


def test_the_curve_falls_from_the_smallest_budget_to_the_fastest_plan(dense, tmp_path):
    model, _, _ = dense
    done = harness.run([harness.tool("plimc"), model, "--plan-only", "--curve"])
    times = [float(t) for t in re.findall(r"([\d.]+) ms  \S+ +recomputed", done.stdout)]
    assert len(times) > 2
    assert times == sorted(times, reverse=True)
    harness.compile_model(model, tmp_path / "out", "--curve")
    program = harness.plan_of(tmp_path / "out")["programs"][0]
    assert program["curve"][-1]["predicted_ns"] == program["predicted_ns"]
    point = program["curve"][1]
    harness.compile_model(model, tmp_path / "point", f"--ram={point['ram']}")
    assert harness.plan_of(tmp_path / "point")["programs"][0]["predicted_ns"] <= point["predicted_ns"]


def test_a_profile_changes_predictions_and_no_bits_and_a_broken_one_is_refused(dense, tmp_path):
    model, inputs, want = dense
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    done = harness.run([harness.tool("plimc"), model, "--plan-only", f"--profile={broken}"], check=False)
    assert done.returncode == harness.USAGE
    assert str(broken) in done.stderr
    slow = {"version": 1, "name": "slow", "launch_ns": 2000, "flops": {"default": 2e9},
            "memory": {"bytes_per_second": 3e8},
            "disk": {"read_bytes_per_second": 1.2e7, "write_bytes_per_second": 9e6, "read_latency_ns": 80000,
                     "write_latency_ns": 40000}}
    path = tmp_path / "slow.json"
    path.write_text(json.dumps(slow))
    budget = f"--ram={3 * LAYER_BYTES + harness.MIB}"
    times = []
    for flags in ([], [f"--profile={path}"]):
        out = tmp_path / f"out{len(times)}"
        harness.compile_model(model, out, budget, *flags)
        assert harness.plan_of(out)["profile"] == ("slow" if flags else "default")
        times.append(harness.plan_of(out)["programs"][0]["predicted_ns"])
        _, have = harness.run_model(out, inputs, tmp_path, outputs=["y"])
        assert have["y"].tobytes() == want["y"].tobytes()
    assert times[1] > 50 * times[0]
