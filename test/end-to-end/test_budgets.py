"""Real models under many budgets: 40 of one extracted problem, and some of them compiled and run."""

import json
import re

import pytest

import harness
from harness import MIB

NAMES = list(harness.models.table())
BUDGETS = 40
# Results keep their bits between budgets where all kernels are of one numerics class.
EXACT = "--numerics=exact"
# Beside no budget. The refusals of the ResNet take long, those of the detector are in pieces; at 1920 x 1920 it has the
# same steps as at 960 x 960, and SmolLM2's prefill has the weights of its decode step.
RUNS = ["smallest", "third, ssd", "two thirds"]
FEWER = {"resnet": ["smallest"], "ppocr_det@960": ["smallest", "third"], "ppocr_det@1920": ["half"],
         "smollm2@prefill128": ["half"]}
# Models whose maps outweigh their weights, which pieces of rows help. The others are planned as they are, since a
# search over all pieces of all models would take minutes.
IN_PIECES = ["ppocr_det@960", "ppocr_det@1920", "resnet@b8"]
NEED = re.compile(r"need (\d+) bytes, have (\d+)")
PROVED = re.compile(r"proved: no plan fits: no plan needs less than (\d+) bytes of ram")


def solve(*arguments, codes=(0,)):
    done = harness.run([harness.tool("plim-solve"), *arguments, "--json"], check=False)
    assert done.returncode in codes, f"plim-solve {arguments[0]}: exit status {done.returncode}\n{done.stderr}"
    return json.loads(done.stdout)


class Solved:
    """What the budgets of a model's problem get: rows by rising budget."""

    def __init__(self, row, path, folder):
        self.problem, self.plans = folder / "problem", folder / "plans"
        self.problem.write_text(harness.run([harness.tool("plimc"), path, *row.shape_flags(), EXACT,
                                             "--emit=problem"]).stdout)
        self.bound = solve("bound", self.problem)["ram"]
        self.free = solve("fit", self.problem)
        # From below what is proved, through the smallest that is met, to beyond what the fastest plan takes.
        low, high = 0.8 * self.bound, 1.05 * self.free["peak"]["ram"]
        count = BUDGETS - 4
        spread = [int(low * (high / low) ** (k / (count - 1))) for k in range(count)]
        rows = self.fit(spread)
        self.need = rows[0]["need"]
        rows += self.fit([self.bound - 1, self.need - 4096, self.need - 1, self.need])
        self.rows = sorted(rows, key=lambda row: row["budget"])

    def fit(self, budgets):
        return solve("fit", self.problem, f"--ram={','.join(map(str, budgets))}", "-o", self.plans,
                     codes=(0, harness.BUDGET))["budgets"]


@pytest.fixture(scope="module")
def solved(model_file, tmp_path_factory):
    made = {}

    def get(name):
        if name not in made:
            made[name] = Solved(*model_file(name), tmp_path_factory.mktemp("solved"))
        return made[name]

    return get


@pytest.mark.parametrize("name", NAMES)
def test_what_is_met_is_met_by_all_larger_budgets(solved, name, capsys):
    s = solved(name)
    accepted = [row["ok"] for row in s.rows]
    with capsys.disabled():
        print(f"\n  {name}: {sum(accepted)} of {len(accepted)} budgets met, the smallest {s.need / MIB:.2f} MiB of "
              f"{s.free['peak']['ram'] / MIB:.2f}, none below {s.bound / MIB:.2f}", end="")
    assert len(s.rows) == BUDGETS
    assert accepted == sorted(accepted) and not accepted[0] and accepted[-1]
    assert all(row["budget"] >= s.need for row in s.rows if row["ok"]), "below U - 4 KiB all are refused"
    assert next(row["budget"] for row in s.rows if row["ok"]) == s.need, "the need that is named is met"
    assert {row["need"] for row in s.rows if not row["ok"]} == {s.need}


@pytest.mark.parametrize("name", NAMES)
def test_a_refusal_is_proved_below_the_bound_and_only_there(solved, name):
    s = solved(name)
    refused = [row for row in s.rows if not row["ok"]]
    assert [row["proved"] for row in refused] == [row["budget"] < s.bound for row in refused]
    assert any(row["proved"] for row in refused) and s.bound <= s.need


@pytest.mark.parametrize("name", NAMES)
def test_more_memory_never_makes_a_plan_slower(solved, name):
    s = solved(name)
    times = [row["ns"] for row in s.rows if row["ok"]]
    assert times == sorted(times, reverse=True)
    assert times[-1] == s.free["ns"]


@pytest.mark.parametrize("name", NAMES)
def test_each_plan_is_sound_and_within_its_budget(solved, name):
    s = solved(name)
    checked = set()
    for row in s.rows:
        if row["ok"]:
            assert row["peak"]["ram"] <= row["budget"]
            plan = s.plans / f"{row['budget']}.solution"
            text = plan.read_text()
            if text not in checked:  # budgets share plans
                solve("check", s.problem, plan, f"--ram={row['budget']}")
            checked.add(text)


class Compiled:
    """A model compiled under a budget, or without one, and run once in poison mode. One folder is compiled into again
    and again, where plimc finds its earlier plans."""

    def __init__(self, model, row, inputs, folder, budget, *flags):
        harness.compile_model(model, folder / "out", *flags_of(row), *flags, *([f"--ram={budget}"] if budget else []))
        self.program = harness.plan_of(folder / "out")["programs"][0]
        names = [output["name"] for output in self.program["outputs"]]
        self.stats, self.outputs = harness.run_model(folder / "out", inputs, folder, "--threads=2",
                                                     f"--spill-dir={folder}", outputs=names)
        ram = self.stats["tiers"]["ram"]
        assert ram["ledger"] == ram["planned"] == self.program["peak"]["ram"]
        assert (ram["live"], ram["touched"]) == (ram["live_planned"], ram["touched_planned"])
        assert not budget or ram["ledger"] <= budget

    def same_bits(self, other):
        return all(self.outputs[name].tobytes() == other.outputs[name].tobytes() for name in other.outputs)


def flags_of(row):
    return [*row.shape_flags(), EXACT, f"--split={'auto' if row.name in IN_PIECES else 'off'}"]


def refused(path, row, folder, budget, *flags):
    """The smallest budget that plimc names where it refuses this one, and its message."""
    done = harness.compile_model(path, folder / "out", *flags_of(row), f"--ram={budget}", *flags, check=False)
    assert done.returncode == harness.BUDGET, done.stdout + done.stderr
    return int(NEED.search(done.stderr)[1]), done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_compiled_at_its_budgets_a_model_peaks_as_planned_with_the_same_bits(model_file, solved, name, tmp_path,
                                                                              capsys):
    row, path = model_file(name)
    runs = FEWER.get(name, RUNS)
    inputs = harness.seeded_inputs(row)
    free = Compiled(path, row, inputs, tmp_path, None)
    top = free.program["peak"]["ram"]
    ssd = ["--ssd=4GiB"]
    budgets = {"half": top // 2}
    if runs != ["half"]:
        need, said = refused(path, row, tmp_path, 1)
        assert need <= top
        proved = PROVED.search(said)
        # Pieces may ask for less than what is proved of whole maps; then nothing is said to be proved.
        assert 1 < int(proved[1]) <= need if proved else need < solved(name).need
        between = (top - need) // 3
        budgets |= {"smallest": need, "third": need + between, "two thirds": need + 2 * between}
        budgets["third, ssd"] = budgets["third"]
    times = []
    for label in runs:
        at = Compiled(path, row, inputs, tmp_path, budgets[label], *(ssd if "ssd" in label else []))
        assert at.same_bits(free), label
        times.append(at.program["predicted_ns"])
        with capsys.disabled():
            print(f"\n  {name} {label}: {budgets[label] / MIB:.2f} MiB, predicted "
                  f"{times[-1] / free.program['predicted_ns']:.2f} of the time without a budget", end="")
    times.append(free.program["predicted_ns"])
    assert times == sorted(times, reverse=True)
    if name not in FEWER:
        assert refused(path, row, tmp_path, need - 4096)[0] == need
