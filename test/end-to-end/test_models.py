"""Real models: right results, and a memory peak that is the planned one by every account."""

import os

import numpy as np
import pytest

import harness
from harness import MIB

NAMES = ["ppocr_cls", "ppocr_det@960", "ppocr_det@1920", "resnet", "resnet@b8", "minilm3", "silero", "silero_seq",
         "voicefilter_int8"]
THREADS = 2

# docs/concepts/memory-contract.md, "What the operating system sees": what plim-run takes besides the plan.
PROCESS_BYTES = 4 * MIB + MIB // 2  # VmHWM of plim-run and its libraries without a model
COUNTER_SLACK = MIB // 4  # the kernel counts a thread's pages in batches
DATA_OVERHEAD = MIB  # under RLIMIT_DATA
CGROUP_OVERHEAD = 2 * MIB

no_memory_tests = pytest.mark.skipif("PLIM_SKIP_MEMORY_TESTS" in os.environ,
                                     reason="a sanitizer's own memory is not planned")


class Outcome:
    """One run of a model beside ONNX Runtime's results."""

    def __init__(self, compiled, folder):
        self.compiled, self.folder = compiled, folder
        self.plan = harness.plan_of(compiled.out)["programs"][0]
        self.inputs = harness.seeded_inputs(compiled.row)
        self.want = harness.ort_outputs(compiled.model, self.inputs)
        self.stats, self.have = harness.run_model(compiled.out, self.inputs, folder, f"--threads={THREADS}",
                                                  outputs=list(self.want))
        self.ram = self.stats["tiers"]["ram"]
        # Inputs are read from mapped files: they are not private memory of the process.
        self.private = self.ram["planned"] - sum(a.nbytes for a in self.inputs.values())

    def again(self, **limits):
        return harness.run_model(self.compiled.out, self.inputs, self.folder, f"--threads={THREADS}", "--no-poison",
                                 check=False, **limits)[0]


@pytest.fixture(scope="module")
def outcome(compiled_real, tmp_path_factory):
    made = {}

    def get(name):
        if name not in made:
            made[name] = Outcome(compiled_real(name), tmp_path_factory.mktemp("run"))
        return made[name]

    return get


@pytest.mark.parametrize("name", NAMES)
def test_outputs_equal_onnx_runtimes(outcome, name, capsys):
    run = outcome(name)
    assert set(run.have) == {o["name"] for o in run.plan["outputs"]}
    for output, want in run.want.items():
        have = run.have[output]
        assert have.shape == want.shape and have.dtype == want.dtype, output
        assert np.isfinite(have).all(), output
        if want.dtype == np.float32:
            assert want.size == 1 or want.std() > 1e-3, f"{output}: hardly anything to compare"
        error, share = harness.largest_error(have, want)
        with capsys.disabled():
            print(f"\n  {name} {output}: largest error {error:.3g}, {share:.3f} of the tolerance", end="")
        assert share <= 1, f"{output}: {error} is {share} times the tolerance"


@pytest.mark.parametrize("name", NAMES)
def test_reserved_bytes_are_the_planned_ones(outcome, name, capsys):
    run = outcome(name)
    with capsys.disabled():
        print(f"\n  {name}: planned {run.ram['planned']} bytes, {run.ram['planned'] / MIB:.2f} MiB", end="")
    assert run.ram["ledger"] == run.ram["planned"]
    assert run.ram["planned"] == run.plan["reserved_peak"]["ram"] + run.plan["io_bytes"]


@pytest.mark.parametrize("name", NAMES)
def test_live_bytes_are_the_planned_ones(outcome, name):
    ram = outcome(name).ram
    assert ram["live"] == ram["live_planned"] > 0


def short_workspaces(run):
    """Workspaces of the plan, largest first: where fewer bytes are touched than planned, one of them is too large."""
    steps = [s for s in run.plan["steps"] if s.get("workspace")]
    steps.sort(key=lambda s: -s["workspace"])
    return [f"{s['kernel']} '{s['source']}' {s['workspace']}" for s in steps[:5]]


@pytest.mark.parametrize("name", NAMES)
def test_touched_bytes_are_the_planned_ones(outcome, name):
    run = outcome(name)
    assert run.ram["touched"] == run.ram["touched_planned"], short_workspaces(run)


@no_memory_tests
@pytest.mark.parametrize("name", NAMES)
def test_process_peak_follows_its_formula(outcome, name):
    run = outcome(name)
    image = (run.compiled.out / "model.so").stat().st_size
    slack = THREADS * COUNTER_SLACK
    assert run.ram["planned"] - slack <= run.stats["vm_hwm"]
    assert run.stats["vm_hwm"] <= run.ram["planned"] + PROCESS_BYTES + image + slack


@no_memory_tests
@pytest.mark.parametrize("name", NAMES)
def test_runs_under_a_data_limit_of_the_planned_peak(outcome, name):
    run = outcome(name)
    done = run.again(limit=run.private + DATA_OVERHEAD)
    assert done.returncode == 0, done.stderr


@no_memory_tests
def test_a_data_limit_below_the_planned_peak_is_refused_with_need(outcome):
    run = outcome("ppocr_det@960")
    done = run.again(limit=run.private - MIB)
    assert done.returncode == harness.ENVIRONMENT
    assert "the system refused the memory (need " in done.stderr


@no_memory_tests
@pytest.mark.parametrize("name", NAMES)
def test_runs_in_a_memory_cgroup_of_the_planned_peak(outcome, name):
    base = harness.cgroup_base()
    if isinstance(base, str):
        pytest.skip(f"nested memory cgroup: {base}")
    run = outcome(name)
    with harness.memory_cgroup(base, run.private + run.private // 512 + CGROUP_OVERHEAD) as (folder, _):
        done = run.again(cgroup=folder)
    assert done.returncode == 0, done.stderr


@no_memory_tests
def test_a_memory_cgroup_below_the_planned_peak_kills_the_run(outcome):
    base = harness.cgroup_base()
    if isinstance(base, str):
        pytest.skip(f"nested memory cgroup: {base}")
    run = outcome("ppocr_det@960")
    with harness.memory_cgroup(base, run.private - MIB) as (folder, _):
        assert run.again(cgroup=folder).returncode == -9


@no_memory_tests
@pytest.mark.parametrize("name", ["ppocr_det@1920", "resnet", "minilm3"])
def test_compilers_own_peak_is_bounded_by_the_largest_tensor(model_file, name, tmp_path, capsys):
    row, path = model_file(name)
    peak = harness.peak_of([harness.tool("plimc"), path, *row.shape_flags(), "-o", tmp_path / "out"], tmp_path)
    plan = harness.plan_of(tmp_path / "out")["programs"][0]
    tensors = [t["bytes"] for kind in ("inputs", "outputs", "residents", "buffers") for t in plan[kind]]
    with capsys.disabled():
        print(f"\n  {name}: plimc's peak {peak / MIB:.0f} MiB, largest tensor {max(tensors) / MIB:.0f} MiB", end="")
    assert peak <= 256 * MIB + 2 * max(tensors)
