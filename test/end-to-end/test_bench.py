"""plim-bench runs a real model and writes figures of the documented form."""

import csv
import json
import os
import subprocess

from harness import CACHE, tool

NUMBER = (int, float)
SPREAD = {"median": NUMBER, "low": NUMBER, "high": NUMBER}
ROUNDS = {"cpu_ms": SPREAD, "wall_ms": SPREAD}
MODEL = {
    "model": str, "status": str, "exit_status": int, "threads": int, "rounds": int, "reps": int, "missed": list,
    "compile": {"seconds": NUMBER, "cpu_seconds": NUMBER, "vm_hwm": int, "vm_hwm_bound": int, "largest_tensor": int,
                "ok": bool},
    "plan": {"reserved": int, "live": int, "inputs": int, "outputs": int, "minus_inputs": int, "weights": int},
    "runtimes": {"plimsoll": ROUNDS, "onnxruntime": {**ROUNDS, "peak": int},
                 "onnxruntime_small": {"options": str, "cpu_ms": NUMBER, "wall_ms": NUMBER, "peak": int}},
    "ratios": {"cpu": SPREAD, "wall": SPREAD, "peak": {"onnxruntime": NUMBER, "onnxruntime_small": NUMBER}},
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
    paths = [f"--{kind}={tmp_path / f'bench.{kind}'}" for kind in ("json", "csv", "html")]
    done = bench("models", "ppocr_cls", "--rounds", 1, "--seconds", 0.1, *paths)
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads((tmp_path / "bench.json").read_text())
    assert (document["format"], document["version"]) == ("plim-bench-models", 1)
    (row,) = document["models"]
    check(row, MODEL, "models[0]")
    assert row["plan"]["minus_inputs"] == row["c1"]["planned"] - row["plan"]["inputs"]
    assert row["c1"]["ok"] and row["c3"]["ok"] and row["error"]["ok"] and row["compile"]["ok"]
    (line,) = csv.DictReader((tmp_path / "bench.csv").open())
    assert line["model"] == "ppocr_cls" and int(line["c1.planned"]) == row["c1"]["planned"]
    page = (tmp_path / "bench.html").read_text()
    assert "ppocr_cls" in page and "http" not in page
    assert "ppocr_cls" in done.stdout


def test_what_cannot_be_measured_is_refused_before_the_first_round(tmp_path):
    done = bench("models", "no_such_model")
    assert done.returncode == 1 and "no model no_such_model; there are ppocr_det@960" in done.stderr
    done = bench("models", "ppocr_cls", "--rounds", 0)
    assert done.returncode == 1 and "need a number of at least 1, have 0" in done.stderr
    done = bench("models", "ppocr_cls", "--json", tmp_path / "missing" / "a.json")
    assert done.returncode == 4 and "cannot write" in done.stderr
    done = bench("models", "ppocr_cls", "--tools", tmp_path)
    assert done.returncode == 4 and f"need {tmp_path / 'plimc'}" in done.stdout


def test_the_planner_benchmark_packs_instances(tmp_path):
    (tmp_path / "dsa").mkdir()
    (tmp_path / "dsa" / "three.20.csv").write_text("id,lower,upper,size\n0,0,2,10\n1,1,3,10\n2,2,4,10\n")
    done = bench("planner", "--instances", tmp_path, "--json", tmp_path / "p.json")
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads((tmp_path / "p.json").read_text())["instances"]
    assert (row["height"], row["max_live"], row["fits"]) == (20, 20, True)
