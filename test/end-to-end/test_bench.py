"""plim-bench runs a real model and writes figures of the documented form."""

import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys

from harness import CACHE, SOURCE, tool

sys.path.append(str(SOURCE / "tools" / "plim-bench"))
import bench_models  # noqa: E402
import budgets as bench_budgets  # noqa: E402
import peers  # noqa: E402

NUMBER = (int, float)
SPREAD = {"median": NUMBER, "low": NUMBER, "high": NUMBER}
ROUNDS = {"cpu_ms": SPREAD, "wall_ms": SPREAD}
MODEL = {
    "model": str, "status": str, "exit_status": int, "threads": int, "rounds": int, "reps": int, "missed": list,
    "compile": {"seconds": NUMBER, "cpu_seconds": NUMBER, "vm_hwm": int, "vm_hwm_bound": int, "largest_tensor": int,
                "ok": bool},
    "plan": {"reserved": int, "live": int, "inputs": int, "outputs": int, "minus_inputs": int, "weights": int},
    "unavailable": dict, "best_peer": {"name": str, "peak": int, "fraction": NUMBER},
    "runtimes": {"plimsoll": ROUNDS, "onnxruntime": {**ROUNDS, "peak": int},
                 "onnxruntime_small": {"options": str, "cpu_ms": NUMBER, "wall_ms": NUMBER, "peak": int}},
    "ratios": {"onnxruntime": {"cpu": SPREAD, "wall": SPREAD, "peak": NUMBER}, "onnxruntime_small": {"peak": NUMBER}},
    "error": {"largest": NUMBER, "largest_value": NUMBER, "of_tolerance": NUMBER, "rtol": NUMBER, "atol": NUMBER,
              "ok": bool},
    "c1": {"planned": int, "ledger": int, "live_planned": int, "live": int, "touched_planned": int, "touched": int,
           "differ": list, "ok": bool},
    "c3": {"vm_hwm": int, "low": int, "high": int, "ok": bool},
}


def bench(*args):
    return subprocess.run([tool("plim-bench"), *map(str, args)], capture_output=True, text=True, timeout=600,
                          env={**os.environ, "PLIM_CACHE_DIR": str(CACHE)})


def check(value, form, where):
    if isinstance(form, dict):
        assert isinstance(value, dict) and form.keys() <= value.keys(), f"{where}: need {list(form)}, have {value}"
        for key, inner in form.items():
            check(value[key], inner, f"{where}.{key}")
    else:
        assert isinstance(value, form), f"{where}: need {form}, have {value!r}"


def test_a_quick_run_writes_figures_of_the_documented_form(tmp_path):
    paths = [f"--{kind}={tmp_path / f'bench.{kind}'}" for kind in ("json", "csv", "html", "markdown")]
    done = bench("models", "ppocr_cls", "--threads", "1,2", "--rounds", 1, "--seconds", 0.1, *paths)
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads((tmp_path / "bench.json").read_text())
    assert (document["format"], document["version"]) == ("plim-bench-models", 2)
    row, two = document["models"]
    check(row, MODEL, "models[0]")
    check(two, MODEL, "models[1]")
    assert (row["threads"], two["threads"]) == (1, 2) and row["plan"] == two["plan"]
    assert document["summary"]["rows"] == 2
    assert row["best_peer"]["peak"] == min(r["peak"] for name, r in row["runtimes"].items() if name != "plimsoll")
    assert row["plan"]["minus_inputs"] == row["c1"]["planned"] - row["plan"]["inputs"]
    assert row["c1"]["ok"] and row["c3"]["ok"] and row["error"]["ok"] and row["compile"]["ok"]
    line, _ = csv.DictReader((tmp_path / "bench.csv").open())
    assert line["model"] == "ppocr_cls" and int(line["c1.planned"]) == row["c1"]["planned"]
    page = (tmp_path / "bench.html").read_text()
    assert "ppocr_cls" in page and "http" not in page
    assert "ppocr_cls" in done.stdout
    tables = (tmp_path / "bench.markdown").read_text()
    assert "1 of 1 models compile" in tables and "| ppocr_cls x2 | " in tables and "`x:1x3x48x192:f32`" in tables


POINT = {
    "label": str, "peak": int, "minus_inputs": int, "ssd": int, "read_bytes": int, "predicted_ms": NUMBER,
    "predicted": NUMBER, "cpu_ms": SPREAD, "wall_ms": SPREAD, "cpu": SPREAD, "wall": SPREAD, "levers": dict, "steps": int,
    "compile_cpu_seconds": NUMBER, "c1": MODEL["c1"], "c3": MODEL["c3"], "within": bool, "same_bits": bool,
    "of_tolerance": NUMBER,
}


def test_budgets_are_measured_from_none_to_the_smallest(tmp_path):
    paths = [f"--{kind}={tmp_path / f'bench.{kind}'}" for kind in ("json", "markdown")]
    done = bench("models", "minilm3", "--budgets", "--beside", "none", "--rounds", 1, "--seconds", 0.05, *paths)
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads((tmp_path / "bench.json").read_text())["models"]
    budgets = row["budgets"]
    assert budgets["ssd_bytes"] <= budgets["bytes"]
    assert bench_budgets.missed(budgets) == ([], 0)
    points = {point["label"]: point for point in budgets["points"]}
    for label, point in points.items():
        check(point, POINT, label)
    assert list(points)[:4] == ["none", "0.75", "0.5", "smallest"]
    assert points["none"]["peak"] == row["c1"]["planned"] and points["none"]["cpu"]["median"] == 1
    assert points["smallest"]["budget"] == budgets["bytes"] < points["0.5"]["budget"] < points["none"]["peak"]
    assert points["none"]["predicted"] == 1 < points["smallest"]["predicted"]
    for text in (done.stdout, (tmp_path / "bench.markdown").read_text()):
        assert "smallest" in text and f"{budgets['bytes'] / 2**20:.1f}" in text


def test_a_budget_whose_run_is_not_as_planned_is_said():
    ok = {"ok": True, "differ": [], "ledger": 90, "planned": 90}
    point = {"label": "none", "budget": None, "c1": ok, "c3": {"ok": True}, "within": True, "of_tolerance": 0,
             "predicted_ms": 1}
    small = {**point, "label": "smallest", "budget": 80, "predicted_ms": 2}
    good = {"bytes": 80, "refused_below": True, "points": [point, small]}
    assert bench_budgets.missed(good) == ([], 0)
    for wrong, words in [({**small, "within": False}, "budget smallest: peak 90, planned 90, of 80"),
                         ({**small, "c1": {**ok, "differ": ["live"]}}, "C1 differs in ['live']"),
                         ({**small, "c3": {"ok": False}}, "C3 outside"),
                         ({**small, "predicted_ms": 0.5}, "faster than the larger budget none")]:
        (said,), status = bench_budgets.missed({**good, "points": [point, wrong]})
        assert words in said and status == 70
    assert bench_budgets.missed({**good, "refused_below": False})[1] == 70
    assert bench_budgets.missed({**good, "points": [point, {**small, "of_tolerance": 2}]})[1] == 5


def test_what_cannot_be_measured_is_refused_before_the_first_round(tmp_path):
    done = bench("models", "no_such_model")
    assert done.returncode == 1 and "no model no_such_model; there are ppocr_det@960" in done.stderr
    done = bench("models", "ppocr_cls", "--beside", "nobody")
    assert done.returncode == 1
    assert "--beside: no peer nobody; there are onnxruntime, openvino, iree, none" in done.stderr
    done = bench("models", "ppocr_cls", "--threads", "1,0")
    assert done.returncode == 1 and "need a number of at least 1, have 0" in done.stderr
    done = bench("models", "ppocr_cls", "--rounds", 0)
    assert done.returncode == 1 and "need a number of at least 1, have 0" in done.stderr
    done = bench("models", "ppocr_cls", "--json", tmp_path / "missing" / "a.json")
    assert done.returncode == 4 and "cannot write" in done.stderr
    done = bench("models", "ppocr_cls", "--tools", tmp_path)
    assert done.returncode == 4 and f"need {tmp_path / 'plimc'}" in done.stdout


class Failing:
    """A peer that ONNX Runtime's process stands for, but for one that fails."""

    def __init__(self, spawn):
        self.spawn = spawn

    def __call__(self, peer, *arguments, **more):
        if peer != "onnxruntime":
            raise peers.Failure(2, "OpenVINO: not this model")
        return self.spawn(peer, *arguments, **more)


def test_a_peer_that_fails_is_a_dash_with_its_reason(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(peers, "spawn", Failing(peers.spawn))
    monkeypatch.setattr(peers, "installed", lambda: {"onnxruntime": "1", "openvino": "2"})
    monkeypatch.setattr(peers, "version", lambda peer: "0")
    args = argparse.Namespace(list=False, names=["ppocr_cls"], beside=None, json=tmp_path / "a.json", csv=None,
                              html=tmp_path / "a.html", markdown=None, cache=CACHE,
                              tools=pathlib.Path(tool("plimc")).parent, threads=[1], rounds=1, seconds=0.05,
                              budgets=False)
    assert bench_models.run(args) == 0
    said = capsys.readouterr().out
    assert "ppocr_cls: OpenVINO: not this model" in said
    (row,) = json.loads((tmp_path / "a.json").read_text())["models"]
    assert row["unavailable"] == {"openvino": "OpenVINO: not this model"} and "openvino" not in row["ratios"]
    line = next(line for line in said.splitlines() if line.startswith("ppocr_cls"))
    assert line.split()[-2:] == ["-", "-"]
    assert "OpenVINO: not this model" in (tmp_path / "a.html").read_text()


def test_the_planner_benchmark_packs_instances(tmp_path):
    (tmp_path / "three.20.csv").write_text("id,lower,upper,size\n0,0,2,10\n1,1,3,10\n2,2,4,10\n")
    done = bench("planner", "three", "--instances", tmp_path, "--json", tmp_path / "p.json")
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads((tmp_path / "p.json").read_text())["instances"]
    assert (row["height"], row["max_live"], row["fits"]) == (20, 20, True)


def test_the_planner_benchmark_plans_generated_graphs(tmp_path):
    done = bench("planner", "resnet 2510 ssd", "--json", tmp_path / "p.json")
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads((tmp_path / "p.json").read_text())["graphs"]
    assert row["met"] and row["peak"] <= row["budget"] and row["written"] > 0
    assert 0 <= row["overhead"] < 0.5
