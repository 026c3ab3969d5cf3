"""What the tools print: help, figures, traces, plans and charts."""

import html.parser
import json
import re

import numpy as np
import pytest

import decoder
import harness
import tiny

OUTPUT = "save_infer_model/scale_0.tmp_1"
OPTIONS = {
    "plimc": ["-o", "--shape", "--bound", "--ram", "--exclude-io", "--name", "--workers", "--jobs", "--target-cpu",
              "--numerics", "--attention", "--explain", "--plan-only", "--emit"],
    "plim-run": ["--input", "--input-random", "--seed", "--output", "--expected", "--rtol", "--atol", "--reps",
                 "--warmup", "--threads", "--stats", "--trace", "--program", "--variant", "--no-poison", "--red-zones"],
    "plim-dump": ["--json", "--encode", "-o"],
    "plim-opt": ["--graph-simplify", "--graph-infer-shapes", "--graph-fuse-attention", "--graph-assign-layouts",
                 "--graph-fuse-elementwise", "--graph-hoist-setup"],
    "plim-solve": [],
}


@pytest.fixture
def run(cls, tmp_path):
    """run(*flags): plim-run on the classifier with random inputs in an empty folder."""

    def go(*flags, out=cls.out, **more):
        return harness.run([harness.tool("plim-run"), out, "--input-random", *flags], cwd=tmp_path, **more)

    return go


@pytest.mark.parametrize("name", OPTIONS)
def test_help_names_every_option(name):
    done = harness.run([harness.tool(name), "--help"])
    for option in OPTIONS[name]:
        assert re.search(rf"(^|[\s,]){option}\b", done.stdout, re.M), f"{name} --help says nothing of {option}"
    assert len(done.stdout.splitlines()) >= 5


def test_json_figures_have_their_schema(run):
    done = run("--stats=json", "--reps=3", "--warmup=1", "--threads=2")
    (line,) = done.stdout.splitlines()
    stats = json.loads(line)
    ram = stats["tiers"]["ram"]
    for key in ("planned", "ledger", "live", "live_planned", "touched", "touched_planned"):
        assert isinstance(ram[key], int) and ram[key] > 0, key
    for key in ("time_ms", "cpu_ms"):
        assert 0 < stats[key]["min"] <= stats[key]["median"]
    assert stats["reps"] == 3 and stats["threads"] <= 2 and stats["model"] == "model"
    assert stats["vm_hwm"] > ram["ledger"] and stats["io_bytes"] == 110600 and stats["steps"] > 0
    assert isinstance(stats["weights_buffered"], bool) and stats["comparisons"] == {}
    assert json.loads(run("--stats=json", "--no-poison").stdout)["tiers"]["ram"]["touched"] is None


def test_comparisons_are_in_the_json_figures(run):
    run(f"--output={OUTPUT}=@y.npy")
    stats = json.loads(run("--stats=json", f"--expected={OUTPUT}=@y.npy").stdout)
    assert stats["comparisons"] == {OUTPUT: {"largest_error": 0.0, "outside": 0, "elements": 2}}


def test_text_figures_put_planned_and_measured_side_by_side(run):
    text = run().stdout
    for row in ("reserved (the peak)", "live", "touched"):
        planned, measured = re.search(rf"^  {re.escape(row)} +(\d+) +(\d+) ", text, re.M).groups()
        assert int(planned) > 0 and int(measured) > 0
        assert (planned == measured) == (row not in re.findall(r"^  (.+?)  .*DIFFERS", text, re.M))


def test_seeds_decide_random_inputs(run, tmp_path):
    def output(seed):
        run(f"--seed={seed}", f"--output={OUTPUT}=@y.npy")
        return np.load(tmp_path / "y.npy").tobytes()

    assert output(1) == output(1) != output(2)


def test_a_trace_is_a_chrome_trace_of_every_step(run, cls, tmp_path):
    run("--trace=t.json", "--threads=2")
    trace = json.loads((tmp_path / "t.json").read_text())
    steps = harness.plan_of(cls.out)["programs"][0]["steps"]
    events = trace["traceEvents"]
    for e in events:
        assert e["ph"] == "X" and e["ts"] >= 0 and e["dur"] >= 0 and e["pid"] == 1 and 0 <= e["tid"] < 2
    kernels = {s["kernel"] for s in steps if "kernel" in s}
    assert kernels <= {e["name"] for e in events}
    launches = {e["args"]["step"] for e in events if e["name"] in kernels}
    assert len(launches) == sum("kernel" in s for s in steps)


@pytest.mark.parametrize("name", ["ppocr_cls", "resnet", "minilm3"])
def test_the_number_of_threads_changes_no_bit(compiled_real, tmp_path, name):
    compiled = compiled_real(name)
    outputs = [o["name"] for o in harness.plan_of(compiled.out)["programs"][0]["outputs"]]
    inputs = harness.seeded_inputs(compiled.row)
    results = []
    for threads in (1, 2, 5):
        stats, have = harness.run_model(compiled.out, inputs, tmp_path, f"--threads={threads}", "--no-poison",
                                        outputs=outputs)
        assert stats["threads"] == threads
        results.append({n: a.tobytes() for n, a in have.items()})
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("name", ["ppocr_cls", "ppocr_det@960", "resnet", "minilm3"])
def test_levels_of_the_instruction_set_give_the_same_bits(compiled_real, tmp_path, name):
    """Every kernel of these models has twins for x86-64-v3 and v4, or one code for all levels."""
    compiled = compiled_real(name)
    outputs = [o["name"] for o in harness.plan_of(compiled.out)["programs"][0]["outputs"]]
    inputs = harness.seeded_inputs(compiled.row)
    results = []
    for isa in ("v3", "v4"):
        _, have = harness.run_model(compiled.out, inputs, tmp_path, "--no-poison", outputs=outputs,
                                    env={"PLIM_ISA": isa})
        results.append({n: a.tobytes() for n, a in have.items()})
    assert results[0] == results[1]


@pytest.mark.parametrize("name", ["ppocr_cls", "minilm3"])
def test_red_zones_find_no_stray_write(compiled_real, tmp_path, name):
    compiled = compiled_real(name)
    harness.run_model(compiled.out, harness.seeded_inputs(compiled.row), tmp_path, "--red-zones")


def test_the_artifact_may_be_named_by_its_shared_object(cls, run, tmp_path):
    run(out=cls.out / "model.so")
    harness.run([harness.tool("plim-run"), "model.so", "--input-random"], cwd=cls.out)


def test_plan_only_prints_the_peak_and_writes_nothing(cls, tmp_path):
    command = [harness.tool("plimc"), cls.model, *cls.flags, "--plan-only"]
    done = harness.run(command, cwd=tmp_path)
    plan = harness.plan_of(cls.out)["programs"][0]
    reserved = plan["reserved_peak"]["ram"]
    assert f"peak {(reserved + plan['io_bytes']) / harness.MIB:.2f} MiB of RAM, budget none" in done.stdout
    assert f"the runtime reserves {reserved / harness.MIB:.2f} MiB" in done.stdout
    assert list(tmp_path.iterdir()) == []
    harness.run([*command, "-o", tmp_path / "out"])
    assert list(tmp_path.iterdir()) == []


def test_explain_names_the_peak_step_and_its_buffers(cls, tmp_path):
    done = harness.compile_model(cls.model, tmp_path / "out", *cls.flags, "--explain")
    assert re.search(r"most is alive at step \d+ of \d+, [\d.]+ MiB: \S+ \S+", done.stdout)
    count = int(re.search(r"alive there \((\d+) buffers", done.stdout)[1])
    assert len(re.findall(r"^ +[\d.]+ (?:B|KiB|MiB)  steps \[\d+, \d+\)  \S+", done.stdout, re.M)) == min(count, 10)
    assert harness.digests(tmp_path / "out") == harness.digests(cls.out), "--explain changes no file"


@pytest.mark.parametrize("stage", ["import", "graph", "virtual", "plan"])
def test_emit_prints_ir_that_parses(cls, tmp_path, stage):
    done = harness.run([harness.tool("plimc"), cls.model, *cls.flags, f"--emit={stage}"], cwd=tmp_path)
    (tmp_path / "m.mlir").write_text(done.stdout)
    harness.run([harness.tool("plim-opt"), tmp_path / "m.mlir", "-o", "/dev/null"])


def test_emit_problem_is_what_the_planner_plans(cls, tmp_path):
    command = [harness.tool("plimc"), cls.model, *cls.flags, "--emit=problem", "--ram=3MiB"]
    (tmp_path / "problem").write_text(harness.run(command).stdout)
    done = harness.run([harness.tool("plim-solve"), "fit", tmp_path / "problem", "--json"])
    harness.compile_model(cls.model, tmp_path / "out", *cls.flags, "--ram=3MiB", "--split=off")
    plan = harness.plan_of(tmp_path / "out")["programs"][0]
    have = json.loads(done.stdout)
    assert have["ns"] == plan["predicted_ns"]
    assert have["peak"]["ram"] == plan["peak"]["ram"] <= 3 * harness.MIB


def test_emit_problem_is_of_one_entry(tmp_path):
    model = tiny.save(decoder.model(), tmp_path / "decoder.onnx")
    done = harness.run([harness.tool("plimc"), model, "--state=past_*=present_*", "--bound=P=0..40",
                        "--entry=prefill:S=1..16", "--entry=decode:S=1", "--emit=problem"], check=False)
    assert done.returncode == harness.USAGE and "--emit=problem: need one entry, have 2" in done.stderr


def test_dump_decodes_the_table_of_every_file_that_holds_it(cls):
    texts = [harness.run([harness.tool("plim-dump"), cls.out / file]).stdout for file in ("model.o", "model.so")]
    assert texts[0] == texts[1] and "plan.program" in texts[0]
    summary = json.loads(harness.run([harness.tool("plim-dump"), "--json", cls.out / "model.so"]).stdout)
    plan = harness.plan_of(cls.out)["programs"][0]
    assert summary["programs"][0]["reserved_peak"]["ram"] == plan["reserved_peak"]["ram"]
    assert summary["weights_bytes"] == (cls.out / "model.weights").stat().st_size


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.text = [], []

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key in ("src", "href", "action", "data") and not (value or "").startswith("#"):
                self.found.append((tag, key, value))
        if tag in ("link", "iframe", "object", "embed", "base"):
            self.found.append((tag, "", ""))

    def handle_data(self, data):
        self.text.append(data)


def test_the_chart_is_one_file_that_holds_the_plan(cls):
    page = (cls.out / "model.html").read_text()
    links = Links()
    links.feed(page)
    assert links.found == [], "it loads nothing"
    assert "http://" not in page.replace("http://www.w3.org", "") and "https://" not in page and "@import" not in page
    plan = harness.plan_of(cls.out)["programs"][0]
    assert str(plan["reserved_peak"]["ram"]) in page or f"{plan['reserved_peak']['ram'] / harness.MIB:.2f}" in page
    for source in {b["source"] for b in plan["buffers"]}:
        assert source in page or json.dumps(source)[1:-1] in page, source


def test_the_plan_file_adds_up(cls):
    plan = harness.plan_of(cls.out)
    assert plan["format"] == "plimsoll-plan" and plan["version"] == 1
    (program,) = plan["programs"]
    steps = len(program["steps"])
    arenas = {a["index"]: a["bytes"] for a in program["arenas"]}
    for b in program["buffers"]:
        assert 0 <= b["birth"] < b["death"] <= steps
        if b["base"] == "arena":
            assert b["offset"] + b["bytes"] <= arenas[b["index"]]
    homes = [b for b in program["buffers"] if b["base"] == "arena"]
    for i, a in enumerate(homes):
        for b in homes[i + 1:]:
            if a["index"] == b["index"] and a["birth"] < b["death"] and b["birth"] < a["death"]:
                apart = a["offset"] + a["bytes"] <= b["offset"] or b["offset"] + b["bytes"] <= a["offset"]
                assert apart or "of" in a or "of" in b, (a, b)
    assert sum(r["bytes"] for r in program["residents"]) == program["resident_bytes"]
    ios = program["inputs"] + program["outputs"]
    assert sum(t["bytes"] for t in ios) == program["io_bytes"] == 110600
