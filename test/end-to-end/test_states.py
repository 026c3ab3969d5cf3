"""Inputs that keep the value of an output: caches that grow in place, states of fixed size, several entries."""

import numpy as np
import pytest

import decoder
import harness
import tiny
from session import ARG, BOUND, CANCELLED, Refused, Session
from tiny import node, numbers

BOUND_OF_CACHE = 40
FLAGS = ["--state", "past_*=present_*", "--bound", f"P=0..{BOUND_OF_CACHE}", "--entry", "prefill:S=1..16", "--entry",
         "decode:S=1"]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("decoder")
    path = tiny.save(decoder.model(), folder / "decoder.onnx")
    done = harness.compile_model(path, folder / "out", *FLAGS)
    return path, folder / "out", done.stdout


class Decoder:
    """The compiled decoder, one piece of ids after the other."""

    def __init__(self, out):
        self.session, self.length = Session(out), 0

    def step(self, ids, entry=None, **more):
        logits = np.zeros((1, len(ids), decoder.VOCABULARY), np.float32)
        positions = np.arange(self.length, self.length + len(ids), dtype=np.int64)[None]
        self.session.run(entry or ("decode" if len(ids) == 1 else "prefill"),
                         {"input_ids": np.array([ids], np.int64), "position_ids": positions}, {"logits": logits},
                         **more)
        self.length += len(ids)
        return logits

    def rows(self):
        return int(self.session.state("P", np.int64)[0])


def agree(have, want):
    assert harness.largest_error(have, want)[1] <= 1


IDS = np.random.default_rng(5).integers(0, decoder.VOCABULARY, 64)


@pytest.mark.parametrize("pieces", [(1,), (16,), (7, 1, 1), (1, 5, 16, 1, 1), (16, 16, 1, 7)])
def test_a_cache_grows_in_place_over_entries(compiled, pieces):
    path, out, _ = compiled
    have, want, at = Decoder(out), decoder.Reference(path), 0
    for count in pieces:
        agree(have.step(IDS[at:at + count]), want.step(IDS[at:at + count]))
        at += count
        assert have.rows() == at
    for name, cache in want.caches.items():
        rows = have.session.state(name, np.float32).reshape(decoder.GROUPS, BOUND_OF_CACHE, decoder.HEAD)
        agree(rows[None, :, :at], cache)


def test_either_entry_gives_what_one_long_prefill_gives(compiled):
    path, out, _ = compiled
    want = decoder.Reference(path).step(IDS[:6])
    have = Decoder(out)
    agree(np.concatenate([have.step([i], entry="prefill" if n % 2 else "decode") for n, i in enumerate(IDS[:6])], 1),
          want)


def test_a_run_beyond_the_bound_is_refused_and_changes_nothing(compiled):
    path, out, _ = compiled
    have, want = Decoder(out), decoder.Reference(path)
    for at in (0, 16):
        have.step(IDS[at:at + 16]), want.step(IDS[at:at + 16])
    before = {name: have.session.state(name, np.uint8).copy() for name in ["P", *want.names]}
    with pytest.raises(Refused, match="state 'P' would grow beyond its bound") as refused:
        have.step(IDS[32:42])
    assert (refused.value.status, refused.value.need, refused.value.have) == (BOUND, BOUND_OF_CACHE, 42)
    for name, bytes_ in before.items():
        assert np.array_equal(have.session.state(name, np.uint8), bytes_)
    have.length = 32
    for at in range(32, BOUND_OF_CACHE):
        agree(have.step(IDS[at:at + 1]), want.step(IDS[at:at + 1]))
    with pytest.raises(Refused, match="beyond its bound"):
        have.step(IDS[:1])


def test_states_are_saved_loaded_and_reset_midway(compiled, tmp_path):
    path, out, _ = compiled
    have, want = Decoder(out), decoder.Reference(path)
    have.step(IDS[:9]), want.step(IDS[:9])
    have.session.save(tmp_path / "states")
    next_ = want.step(IDS[9:10])
    agree(have.step(IDS[9:10]), next_)
    have.session.reset()
    have.length = 0
    assert have.rows() == 0
    agree(have.step(IDS[:3]), decoder.Reference(path).step(IDS[:3]))
    other = Decoder(out)
    other.session.load(tmp_path / "states")
    other.length = other.rows()
    assert other.length == 9
    agree(other.step(IDS[9:10]), next_)


def test_a_cancelled_run_leaves_states_as_they_were(compiled):
    path, out, _ = compiled
    have, want = Decoder(out), decoder.Reference(path)
    have.step(IDS[:5]), want.step(IDS[:5])
    with pytest.raises(Refused) as refused:
        have.step(IDS[5:9], stop_at=3)
    assert refused.value.status == CANCELLED
    have.length = 5
    assert have.rows() == 5
    agree(have.step(IDS[5:9]), want.step(IDS[5:9]))


def test_a_decode_step_copies_no_cache(compiled):
    """Of all that a step touches only attention reads as many bytes as there are rows: what else moves stays small."""
    _, out, _ = compiled
    plan = {p["name"]: p for p in harness.plan_of(out)["programs"]}["decode"]
    cache = decoder.GROUPS * BOUND_OF_CACHE * decoder.HEAD * 4
    assert not [s for s in plan["steps"] if s["op"] == "copy"]
    assert max(b["bytes"] for b in plan["buffers"]) < cache
    kernels = [s["kernel"] for s in plan["steps"] if s["op"] == "launch"]
    assert sum(k.startswith("attention") for k in kernels) == 2


def test_entries_share_weights_and_states(compiled):
    _, out, said = compiled
    prefill, decode = harness.plan_of(out)["programs"]
    assert [prefill["name"], decode["name"]] == ["prefill", "decode"]
    first, second = said.splitlines()[:2]
    assert first.startswith("entry prefill: peak") and second.startswith("entry decode: peak")
    homes = [{(r["name"], r["arena"], r["offset"]) for r in p["residents"] if r["kind"] == "state"}
             for p in (prefill, decode)]
    assert homes[0] == homes[1]
    assert {name for name, _, _ in homes[0]} == {"P", "past_k.0", "past_v.0", "past_k.1", "past_v.1"}
    weights = [{(r["name"], r["offset"]) for r in p["residents"] if r["kind"] == "constant" and r["bytes"] > 1024}
               for p in (prefill, decode)]
    assert weights[0] == weights[1]
    header = (out / "model.h").read_text()
    assert '#define MODEL_PREFILL "prefill"' in header and '#define MODEL_DECODE "decode"' in header
    assert '#define MODEL_STATE_PAST_K_0 "past_k.0"' in header


def test_plim_run_keeps_the_session_between_runs(compiled, tmp_path):
    path, out, _ = compiled
    want, flags, at = decoder.Reference(path), [], 0
    for n, count in enumerate((7, 1, 1, 4)):
        ids = IDS[at:at + count]
        arrays = {"input_ids": np.array([ids], np.int64),
                  "position_ids": np.arange(at, at + count, dtype=np.int64)[None]}
        flags += ["--then"] if n else []
        flags += ["--program", "decode" if count == 1 else "prefill"]
        for name, array in arrays.items():
            np.save(tmp_path / f"{name}{n}.npy", array)
            flags.append(f"--input={name}=@{tmp_path / f'{name}{n}.npy'}")
        np.save(tmp_path / f"want{n}.npy", want.step(ids))
        flags.append(f"--expected=logits=@{tmp_path / f'want{n}.npy'}")
        at += count
    stats, _ = harness.run_model(out, {}, tmp_path, *flags, "--save-state", tmp_path / "states")
    assert sorted(stats["comparisons"]) == [f"{n}:logits" for n in range(1, 5)]
    ram = stats["tiers"]["ram"]
    assert ram["ledger"] <= ram["planned"] and ram["live"] <= ram["live_planned"]
    # From the states that were left it goes on; from fresh ones it does not.
    ids, positions = IDS[at:at + 2], np.arange(at, at + 2, dtype=np.int64)[None]
    np.save(tmp_path / "next.npy", want.step(ids))
    next_ = ({"input_ids": np.array([ids], np.int64), "position_ids": positions}, tmp_path, "--program", "prefill",
             f"--expected=logits=@{tmp_path / 'next.npy'}")
    harness.run_model(out, *next_, "--load-state", tmp_path / "states")
    assert harness.run_model(out, *next_, check=False)[0].returncode == harness.DIFFERS


def test_red_zones_hold_around_appends(compiled, tmp_path):
    _, out, _ = compiled
    harness.run_model(out, {}, tmp_path, "--program", "prefill", "--input-random", "--red-zones", "--then", "--program",
                      "decode")


def test_a_budget_bounds_the_largest_entry(compiled, tmp_path):
    path, out, _ = compiled
    done = harness.compile_model(path, tmp_path / "out", *FLAGS, "--ram", "64KiB", check=False)
    assert done.returncode == harness.BUDGET
    assert done.stderr.count("no plan found within the budget") == 2
    peak = max(p["peak"]["ram"] for p in harness.plan_of(out)["programs"])
    harness.compile_model(path, tmp_path / "out", *FLAGS, "--ram", str(peak + 8192))
    assert max(p["peak"]["ram"] for p in harness.plan_of(tmp_path / "out")["programs"]) <= peak + 8192


def cell():
    """States of fixed size: h is read after its next value is known, c before, and two inputs swap places."""
    nodes = [node("Add", "x c", "sum"), node("Tanh", "sum", "cn"), node("MatMul", "cn w", "m"),
             node("Sigmoid", "m", "hn"), node("Mul", "hn h", "y0"), node("Add", "y0 a", "y1"), node("Sub", "y1 b", "y"),
             node("Identity", "a", "bn"), node("Identity", "b", "an"), node("Transpose", "hn", "tn", perm=[1, 0]),
             node("MatMul", "t y", "u")]
    names = ["h", "c", "a", "b"]
    square = [tiny.value(n, [4, 4]) for n in ("x", *names, "t")]
    outputs = [tiny.value(n, [4, 4]) for n in ("u", *(f"{n}n" for n in names), "tn")]
    return tiny.model(nodes, square, outputs, [tiny.weights("w", 4, 4)])


def test_states_of_fixed_size_follow_the_model(tmp_path):
    import onnxruntime as ort

    path = tiny.save(cell(), tmp_path / "cell.onnx")
    out = tmp_path / "out"
    harness.compile_model(path, out, "--state", "h=hn", "--state", "c=cn", "--state", "a=an", "--state", "b=bn",
                          "--state", "t=tn")
    reference = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    session = Session(out)
    rng = np.random.default_rng(2)
    states = {n: np.zeros((4, 4), np.float32) for n in ("h", "c", "a", "b", "t")}
    for name in "ab":
        states[name] = rng.standard_normal((4, 4)).astype(np.float32)
        session.state(name, np.float32)[:] = states[name].ravel()
    for run in range(4):
        x = rng.standard_normal((4, 4)).astype(np.float32)
        u, *new = reference.run(["u", *(f"{n}n" for n in states)], {"x": x, **states})
        have = session.run("main", {"x": x}, {"u": np.zeros((4, 4), np.float32)})["u"]
        agree(have, u)
        states = dict(zip(states, new))
        for name, value in states.items():
            agree(session.state(name, np.float32).reshape(4, 4), value)


def test_a_state_may_be_replaced_by_a_value_of_another_size(tmp_path):
    """What does not append is copied; a size that the state has no room for is refused as the input's."""
    nodes = [node("Relu", "x", "pn"), node("ReduceSum", "p rows", "y", keepdims=0)]
    proto = tiny.model(nodes, [tiny.value("x", ["S", 4]), tiny.value("p", ["P", 4])],
                       [tiny.value("y", None), tiny.value("pn", None)],
                       [numbers("rows", [0])])
    path = tiny.save(proto, tmp_path / "m.onnx")
    harness.compile_model(path, tmp_path / "out", "--state", "p=pn", "--bound", "P=0..8", "--bound", "S=0..20")
    with Session(tmp_path / "out") as session:
        before = np.zeros((0, 4), np.float32)
        for size in (3, 8, 0, 5):
            x = np.random.default_rng(size).standard_normal((size, 4)).astype(np.float32)
            y = session.run("main", {"x": x}, {"y": np.full(4, np.nan, np.float32)})["y"]
            agree(y, before.sum(0))
            before = np.maximum(x, 0)
            assert session.state("P", np.int64)[0] == size
        with pytest.raises(Refused) as refused:
            session.run("main", {"x": np.zeros((9, 4), np.float32)}, {"y": np.zeros(4, np.float32)})
        assert refused.value.status == BOUND and refused.value.need == 8


def test_an_input_of_the_same_dimension_must_agree_with_the_state(tmp_path):
    nodes = [node("MatMul", "m p", "y"), node("Concat", "p x", "pn", axis=0)]
    proto = tiny.model(nodes, [tiny.value("x", [1, 4]), tiny.value("p", ["P", 4]), tiny.value("m", [1, "P"])],
                       [tiny.value("y", [1, 4]), tiny.value("pn", None)])
    path = tiny.save(proto, tmp_path / "m.onnx")
    harness.compile_model(path, tmp_path / "out", "--state", "p=pn", "--bound", "P=0..8")
    with Session(tmp_path / "out") as session:
        x, y = np.arange(4, dtype=np.float32)[None], np.zeros((1, 4), np.float32)
        for rows in range(3):
            session.run("main", {"x": x, "m": np.ones((1, rows), np.float32)}, {"y": y})
            agree(y, x * rows)
        with pytest.raises(Refused, match="differ"):
            session.run("main", {"x": x, "m": np.ones((1, 5), np.float32)}, {"y": y})


def test_states_of_unlike_growth_are_refused(tmp_path):
    nodes = [node("Concat", "p x", "pn", axis=0), node("Concat", "q x x", "qn", axis=0), node("Relu", "x", "y")]
    proto = tiny.model(nodes, [tiny.value("x", ["S", 4]), tiny.value("p", ["P", 4]), tiny.value("q", ["P", 4])],
                       [tiny.value("y", None), tiny.value("pn", None), tiny.value("qn", None)])
    path = tiny.save(proto, tmp_path / "m.onnx")
    done = harness.compile_model(path, tmp_path / "out", "--state", "p=pn", "--state", "q=qn", "--bound", "P=0..8",
                                 "--bound", "S=1..2", check=False)
    assert done.returncode == harness.MODEL
    assert "states of size 'P' need one size when a run has ended, have several" in done.stderr
    assert "state 'p'" in done.stderr and "state 'q'" in done.stderr


def test_flags_that_make_no_state_are_usage_errors(tmp_path):
    path = tiny.save(decoder.model(1), tmp_path / "m.onnx")
    for flags, text in [
        (["--state", "past_*=nothing_*"], "needs an output 'nothing_k.0'"),
        (["--state", "past_*=present_*", "--entry", "a:P=0..8", "--entry", "b:P=0..9"], "all entries share one"),
        (["--state", "past_*=present_*", "--entry", "a:T=1"], "'T=1' names no open dimension of an input"),
        (["--entry", "a", "--entry", "a"], "the name is given twice"),
        (["--entry", "a b"], "need NAME or NAME:DIMENSION=LEAST..MOST"),
        (["--state", "past"], "need INPUT=OUTPUT"),
    ]:
        done = harness.compile_model(path, tmp_path / "out", "--bound", "P=0..8", "--bound", "S=1..4", *flags,
                                     check=False)
        assert done.returncode == harness.USAGE, done.stderr
        assert text in done.stderr, done.stderr


def test_the_state_of_another_model_is_refused(compiled, tmp_path):
    _, out, _ = compiled
    path = tiny.save(decoder.model(1), tmp_path / "m.onnx")
    harness.compile_model(path, tmp_path / "out", "--state", "past_*=present_*", "--bound", "P=0..8", "--bound",
                          "S=1..4")
    Decoder(out).session.save(tmp_path / "states")
    with pytest.raises(Refused) as refused:
        Session(tmp_path / "out").load(tmp_path / "states")
    assert refused.value.status == ARG
