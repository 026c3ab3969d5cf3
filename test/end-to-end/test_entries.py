"""Entries of one module share their weights and states: one budget holds each of them with all that any keeps."""

import json
import re

import numpy as np
import pytest

import harness
import tiny

NEED = re.compile(r"need (\d+) bytes, have (\d+)")
WIDTH, LAYERS, ROWS = 512, 6, 512
FLAGS = [f"--bound=N=1..{ROWS}", f"--entry=many:N={ROWS}", "--entry=one:N=1", "--state=h=hn", "--workers=2", "--split=off"]


def stack():
    """Dense layers of 1 MiB, every third of 2 MiB, over N rows; a state of one row is added to them."""
    net = tiny.Network()
    v, width = net.add("Add", "x", "h"), WIDTH
    for layer in range(LAYERS):
        wide = WIDTH if layer % 3 else 2 * WIDTH
        w = (net.random.standard_normal((width, wide)) / np.sqrt(width)).astype(np.float32)
        v, width = net.add("Relu", net.add("MatMul", v, w)), wide
    w = (net.random.standard_normal((width, WIDTH)) / np.sqrt(width)).astype(np.float32)
    net.add("MatMul", v, w, outputs="y")
    net.add("ReduceMean", "y", axes=[0], keepdims=1, outputs="hn")
    return tiny.model(net.nodes, [tiny.value("x", ["N", WIDTH]), tiny.value("h", [1, WIDTH])],
                      [tiny.value("y", ["N", WIDTH]), tiny.value("hn", [1, WIDTH])], net.weights)


def plan(model, ram, tmp_path):
    """(sum of predicted ns, plan as JSON), or what was refused."""
    done = harness.run([harness.tool("plimc"), model, *FLAGS, f"--ram={ram}", "-o", tmp_path / "out"], check=False)
    if done.returncode == harness.BUDGET:
        return None, done.stderr
    assert done.returncode == 0, done.stderr
    have = harness.plan_of(tmp_path / "out")
    return sum(p["predicted_ns"] for p in have["programs"]), have


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    """(model, smallest budget, what is enough for the fastest plans)."""
    folder = tmp_path_factory.mktemp("entries")
    model = tiny.save(stack(), folder / "entries.onnx")
    _, refusal = plan(model, 1, folder)
    harness.compile_model(model, folder / "whole", *FLAGS)
    most = max(p["peak"]["ram"] for p in harness.plan_of(folder / "whole")["programs"])
    return model, max(int(need) for need, _ in NEED.findall(refusal)), most


def test_the_need_is_met_and_one_byte_less_is_not(entries, tmp_path):
    model, need, most = entries
    assert need < most
    ns, have = plan(model, need, tmp_path)
    assert ns and all(p["peak"]["ram"] <= need for p in have["programs"])
    ns, refusal = plan(model, need - 1, tmp_path)
    assert ns is None and f"need {need} bytes, have {need - 1}" in refusal


def test_more_memory_never_makes_the_entries_slower(entries, tmp_path):
    model, need, most = entries
    rng, before = np.random.default_rng(4), None
    streamed = set()
    want = {}
    for ram in [need - 4096, *range(need, most, (most - need) // 5), most]:
        ns, have = plan(model, ram, tmp_path)
        assert (ns is not None) == (ram >= need), ram
        if ns is None:
            continue
        assert before is None or ns <= before, ram
        before = ns
        kept = {p["name"]: {r["name"] for r in p["residents"] if r["kind"] == "constant"} for p in have["programs"]}
        streamed.add(have["programs"][0]["streamed_bytes"])
        assert all(p["peak"]["ram"] <= ram for p in have["programs"])
        for name, rows in (("many", ROWS), ("one", 1)):
            if name not in want:
                want[name] = {"x": rng.standard_normal((rows, WIDTH)).astype(np.float32)}, None
            inputs, first = want[name]
            stats, outputs = harness.run_model(tmp_path / "out", inputs, tmp_path, f"--program={name}", outputs=["y"])
            assert stats["tiers"]["ram"]["ledger"] == stats["tiers"]["ram"]["planned"] <= ram
            want[name] = inputs, outputs["y"].tobytes()
            assert first in (None, want[name][1]), "what is kept changes no bit"
        assert kept
    assert len(streamed) > 2, "budgets between keep some of the weights"


def test_variants_of_entries(entries, tmp_path):
    model, need, most = entries
    harness.compile_model(model, tmp_path / "out", *FLAGS, f"--ram={need + 65536},{(need + most) // 2},{2 * most}")
    for p in harness.plan_of(tmp_path / "out")["programs"]:
        assert p["peak"]["ram"] <= p["budget"]["ram"]
        done = harness.run([harness.tool("plim-run"), tmp_path / "out", f"--variant={p['variant']}",
                            f"--program={p['name']}", "--input-random", "--stats=json"])
        assert json.loads(done.stdout)["tiers"]["ram"]["planned"] == p["peak"]["ram"]
