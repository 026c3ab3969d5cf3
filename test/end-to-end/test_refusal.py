"""A budget that is too small is refused with what it would take; what the message promises holds."""

import re

import pytest

import harness
import tiny

NEED = re.compile(r"need (\d+) bytes, have (\d+)")


@pytest.fixture(scope="module")
def plan(cls, tmp_path_factory):
    """plan(budget, *flags): plimc --plan-only of the classifier."""

    def run(budget, *flags, model=cls.model, shapes=tuple(cls.flags)):
        command = [harness.tool("plimc"), model, *shapes, f"--ram={budget}", "--plan-only", *flags]
        return harness.run(command, check=False)

    return run


@pytest.fixture(scope="module")
def least(plan):
    """The smallest budget that the refusal names, in bytes."""
    done = plan(1)
    assert done.returncode == harness.BUDGET
    return int(NEED.search(done.stderr)[1])


def test_message_names_need_have_peak_step_and_buffers(plan, cls):
    done = plan("1MiB")
    assert done.returncode == harness.BUDGET
    need, have = map(int, NEED.search(done.stderr).groups())
    assert have == harness.MIB < need
    lines = done.stderr.splitlines()
    assert lines[0].startswith(f"plimc: error: {cls.model}: no plan found within the budget of tier ram")
    proof = re.fullmatch(r"  proved: no plan fits: no plan needs less than (\d+) bytes of ram: .+; proved for any .+",
                         lines[1])
    assert have < int(proof[1]) <= need
    peak = re.fullmatch(r"  the plan of least memory peaks at step '.+' from '(.+)', where these are in memory:",
                        lines[2])
    assert peak
    buffers = [m for m in (re.match(r" +(\d+) +[\d.]+ [KMG]?i?B  (.+)", line) for line in lines[3:]) if m]
    assert len(buffers) >= 10
    sizes = [int(b[1]) for b in buffers]
    # Arenas are whole pages, and between buffers there may be gaps.
    assert 0.95 * need < sum(sizes) <= need, "the list adds up to what is needed"
    named = sizes[:-1] if "smaller ones" in buffers[-1][2] else sizes
    assert named == sorted(named, reverse=True)
    assert any(peak[1] in b[2] for b in buffers), "the peak step's own buffers are in the list"


def test_the_budget_that_a_refusal_proposes_is_met(plan):
    proposed = re.search(r"^  a budget of (\S+) is met$", plan(1).stderr, re.M)[1]
    assert plan(proposed).returncode == 0


def test_the_need_that_a_refusal_names_is_enough(cls, least, tmp_path):
    harness.compile_model(cls.model, tmp_path / "out", *cls.flags, f"--ram={least}")
    stats, _ = harness.run_model(tmp_path / "out", harness.seeded_inputs(cls.row), tmp_path)
    assert stats["tiers"]["ram"]["ledger"] == stats["tiers"]["ram"]["planned"] <= least
    assert harness.plan_of(tmp_path / "out")["programs"][0]["budget"]["ram"] == least


def test_a_page_less_than_the_need_is_refused(plan, least):
    assert plan(least).returncode == 0
    assert plan(least - 4096).returncode == harness.BUDGET
    assert plan(least - 1).returncode == harness.BUDGET


def test_accepted_budgets_are_closed_upwards(plan, least):
    budgets = [least // 2, least - 8192, least - 4096, least, least + 1, least + 4096, least + 65536, least * 9 // 8,
               least * 5 // 4, least * 3 // 2, 2 * least, 100 * least]
    accepted = [plan(b).returncode for b in budgets]
    assert accepted == [harness.BUDGET if b < least else 0 for b in budgets]


def test_a_refused_compile_leaves_nothing(cls, tmp_path):
    done = harness.compile_model(cls.model, tmp_path / "made" / "out", *cls.flags, "--ram=1MiB", check=False)
    assert done.returncode == harness.BUDGET
    assert list(tmp_path.iterdir()) == []


def test_a_refused_compile_leaves_an_older_artifact_as_it_was(cls, tmp_path):
    out = tmp_path / "out"
    harness.compile_model(cls.model, out, *cls.flags)
    before = harness.digests(out)
    assert harness.compile_model(cls.model, out, *cls.flags, "--ram=1MiB", check=False).returncode == harness.BUDGET
    assert harness.digests(out) == before


def test_exclude_io_takes_inputs_and_outputs_out_of_the_budget(plan, cls, least):
    io_bytes = harness.plan_of(cls.out)["programs"][0]["io_bytes"]
    inside = int(NEED.search(plan(1, "--exclude-io").stderr)[1])
    assert inside == least - io_bytes
    assert plan(inside, "--exclude-io").returncode == 0
    assert plan(inside - 4096, "--exclude-io").returncode == harness.BUDGET


def test_other_attention_algorithms_are_priced_by_solving(plan, tmp_path):
    model = tiny.save(tiny.attention(), tmp_path / "attention.onnx")

    def need(*flags):
        done = plan(1, *flags, model=model, shapes=())
        assert done.returncode == harness.BUDGET
        return int(NEED.search(done.stderr)[1]), done.stderr

    naive, text = need("--attention=naive")
    for algorithm in ("flash", "chunked"):
        price = re.search(rf"attention={algorithm} needs (at least )?(\d+) bytes: (saves|costs) (\d+|nothing) "
                          r"\(forbidden by --attention=naive\)", text)
        other = need(f"--attention={algorithm}")[0]
        if not price:
            assert other > naive, "what saves memory is named"
        elif price[1]:
            assert naive < int(price[2]) <= other, "what costs memory is proved to"
        else:
            assert int(price[2]) == other <= naive, "the price is what a compile with it needs"
            assert price[3] == "saves" and naive - other == (0 if price[4] == "nothing" else int(price[4]))
    assert need()[0] <= naive, "auto is never worse than one algorithm"


def test_the_least_budget_runs_with_the_same_results(cls, least, tmp_path):
    inputs = harness.seeded_inputs(cls.row)
    want = harness.ort_outputs(cls.model, inputs)
    harness.compile_model(cls.model, tmp_path / "out", *cls.flags, f"--ram={least}")
    _, have = harness.run_model(tmp_path / "out", inputs, tmp_path, outputs=list(want))
    for name in want:
        assert harness.largest_error(have[name], want[name])[1] <= 1
