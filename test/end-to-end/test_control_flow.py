"""If, Loop and Scan whose way is known only when the model runs: answers as ONNX Runtime's, memory within the plan."""

import functools

import numpy as np
import pytest
from onnx import TensorProto, helper

import harness
import tiny
from tiny import FLOAT, INT64, node, numbers

BOOL = TensorProto.BOOL


def graph(nodes, inputs, outputs, constants=()):
    return helper.make_graph(nodes, "body", inputs, outputs, list(constants))


def value(name, dims=None, dtype=FLOAT):
    return tiny.value(name, dims, dtype)


HEADER = [value("i", [], INT64), value("go", [], BOOL)]


def branches():
    """Each branch reads values and weights from outside; a third one hands an input through."""
    dense = graph([node("MatMul", "x w", "m"), node("Relu", "m", "then_y"), node("Identity", "x", "same")], [],
                  [value("then_y"), value("same")])
    other = graph([node("Sub", "h one", "s"), node("Mul", "s s", "else_y"), node("Neg", "x", "negative")], [],
                  [value("else_y"), value("negative")], [numbers("one", 1, np.float32)])
    nodes = [node("Add", "x x", "h"), node("If", "c", "y z", then_branch=dense, else_branch=other),
             node("Add", "y h", "sum")]
    return tiny.model(nodes, [value("x", [3, 8]), value("c", [], BOOL)], [value("sum"), value("z")],
                      [tiny.weights("w", 8, 8)])


def nested():
    def leaf(op, name):
        return graph([node(op, "x", name)], [], [value(name)])

    inner = graph([node("If", "b", "inner_y", then_branch=leaf("Exp", "e"), else_branch=leaf("Neg", "n")),
                   node("Add", "inner_y x", "outer_y")], [], [value("outer_y")])
    return tiny.model([node("If", "a", "y", then_branch=inner, else_branch=leaf("Abs", "f"))],
                      [value("x", [4, 5]), value("a", [1], BOOL), value("b", [], BOOL)], [value("y")])


def branches_of_two_sizes():
    """What comes after works on the size that the branch gave."""
    short = graph([node("Slice", "x from to", "short_y")], [], [value("short_y")])
    long = graph([node("Concat", "x x", "long_y", axis=0)], [], [value("long_y")])
    nodes = [node("If", "c", "picked", then_branch=short, else_branch=long), node("Relu", "picked", "r"),
             node("Add", "r r", "y"), node("ReduceSum", "r", "total", keepdims=0)]
    return tiny.model(nodes, [value("x", [6, 2]), value("c", [], BOOL)], [value("y"), value("total")],
                      [numbers("from", [1]), numbers("to", [4])])


def fixed_loop():
    """Five trips; the number of a trip is a value, and every trip's state is kept."""
    body = graph([node("Cast", "i", "f", to=FLOAT), node("Add", "h f", "a"), node("MatMul", "a w", "h2"),
                  node("Identity", "h2", "kept"), node("Identity", "go", "on")],
                 [*HEADER, value("h", [2, 4])], [value("on", [], BOOL), value("h2"), value("kept")])
    return tiny.model([node("Loop", "five _ x", "y ys", body=body)], [value("x", [2, 4])], [value("y"), value("ys")],
                      [numbers("five", 5), tiny.weights("w", 4, 4)])


def open_loop():
    """As many trips as the caller says, unless the sum gets too large first."""
    body = graph([node("Add", "s x", "s2"), node("ReduceSum", "s2", "all", keepdims=0), node("Less", "all limit", "on"),
                  node("Mul", "s2 s2", "squares")],
                 [*HEADER, value("s", [3])], [value("on", [], BOOL), value("s2"), value("squares")])
    return tiny.model([node("Loop", "n start x", "y ys", body=body), node("ReduceSum", "ys axis", "z", keepdims=0)],
                      [value("x", [3]), value("n", [], INT64), value("start", [], BOOL)],
                      [value("y"), value("ys"), value("z")], [numbers("limit", 20, np.float32), numbers("axis", [0])])


def swapping_loop():
    """Carried values change places: both are read before either is written. A third never changes."""
    body = graph([node("Add", "a k", "a2"), node("Identity", "go", "on"), node("Identity", "k", "k2"),
                  node("Identity", "b", "b2")],
                 [*HEADER, value("a", [4]), value("b", [4]), value("k", [4])],
                 [value("on", [], BOOL), value("b2"), value("a2"), value("k2")])
    return tiny.model([node("Loop", "n _ x z k0", "y y2 k1", body=body)],
                      [value("x", [4]), value("z", [4]), value("n", [], INT64)], [value("y"), value("y2"), value("k1")],
                      [numbers("k0", [1, 2, 3, 4], np.float32)])


def growing_loop():
    """What is carried grows by a row in each trip."""
    body = graph([node("Concat", "h row", "h2", axis=0), node("Identity", "go", "on")],
                 [*HEADER, value("h", ["R", 3])], [value("on", [], BOOL), value("h2")])
    return tiny.model([node("Loop", "n _ x", "y", body=body), node("ReduceSum", "y axis", "z", keepdims=0)],
                      [value("x", [1, 3]), value("row", [1, 3]), value("n", [], INT64)], [value("y"), value("z")],
                      [numbers("axis", [0])])


def loop_in_branch():
    body = graph([node("Mul", "h half", "h2"), node("Identity", "go", "on")],
                 [*HEADER, value("h", [2, 3])], [value("on", [], BOOL), value("h2")])
    loop = graph([node("Loop", "n _ x", "looped", body=body)], [], [value("looped")])
    plain = graph([node("Add", "x half", "plain")], [], [value("plain")])
    return tiny.model([node("If", "c", "y", then_branch=loop, else_branch=plain)],
                      [value("x", [2, 3]), value("c", [], BOOL), value("n", [], INT64)], [value("y")],
                      [numbers("half", 0.5, np.float32)])


def branch_in_loop():
    even = graph([node("Add", "h x", "even_y")], [], [value("even_y")])
    odd = graph([node("Mul", "h x", "odd_y")], [], [value("odd_y")])
    body = graph([node("Mod", "i two", "m"), node("Equal", "m zero", "is_even"),
                  node("If", "is_even", "h2", then_branch=even, else_branch=odd), node("Identity", "go", "on")],
                 [*HEADER, value("h", [5])], [value("on", [], BOOL), value("h2")])
    return tiny.model([node("Loop", "n _ x", "y", body=body)], [value("x", [5]), value("n", [], INT64)], [value("y")],
                      [numbers("two", 2), numbers("zero", 0)])


def nested_loops():
    inner = graph([node("Add", "t row", "t2"), node("Identity", "inner_go", "inner_on")],
                  [value("j", [], INT64), value("inner_go", [], BOOL), value("t", [3])],
                  [value("inner_on", [], BOOL), value("t2")])
    body = graph([node("Gather", "x i", "row", axis=0), node("Loop", "m _ h", "h2", body=inner),
                  node("Identity", "go", "on"), node("Identity", "h2", "each")],
                 [*HEADER, value("h", [3])], [value("on", [], BOOL), value("h2"), value("each")])
    return tiny.model([node("Loop", "four _ h0", "y ys", body=body)],
                      [value("x", [4, 3]), value("h0", [3]), value("m", [], INT64)], [value("y"), value("ys")],
                      [numbers("four", 4)])


def setup_in_loop():
    """Work on weights alone inside of a loop is done before the model runs."""
    body = graph([node("Transpose", "w", "wt", perm=[1, 0]), node("Mul", "wt gain", "ww"), node("MatMul", "h ww", "m"),
                  node("Tanh", "m", "h2"), node("Identity", "go", "on")],
                 [*HEADER, value("h", [2, 24])], [value("on", [], BOOL), value("h2")], [tiny.weights("gain", 1, 24)])
    return tiny.model([node("Loop", "n _ x", "y", body=body)], [value("x", [2, 24]), value("n", [], INT64)],
                      [value("y")], [tiny.weights("w", 24, 24)])


def scan():
    """Two scanned inputs, one backwards and along axis 1; outputs stacked backwards and along axis 1."""
    body = graph([node("MatMul", "s w", "m"), node("Add", "m a", "t"), node("Tanh", "t", "s2"),
                  node("Add", "s2 b", "o"), node("Identity", "s2", "p")],
                 [value("s", [2, 4]), value("a", [2, 4]), value("b", [2, 4])], [value("s2"), value("o"), value("p")])
    return tiny.model([node("Scan", "s0 as bs", "y os ps", body=body, num_scan_inputs=2, scan_input_axes=[0, 1],
                            scan_input_directions=[0, 1], scan_output_axes=[1, 0], scan_output_directions=[0, 1])],
                      [value("s0", [2, 4]), value("as", [6, 2, 4]), value("bs", [2, 6, 4])],
                      [value("y"), value("os"), value("ps")], [tiny.weights("w", 4, 4)])


def batched_scan():
    body = graph([node("Add", "s a", "s2"), node("Identity", "s2", "o")], [value("s", [4]), value("a", [4])],
                 [value("s2"), value("o")])
    return tiny.model([node("Scan", "_ s0 as", "y os", body=body, num_scan_inputs=1, directions=[1])],
                      [value("s0", [2, 4]), value("as", [2, 5, 4])], [value("y"), value("os")], opset=8)


def guarded_loop():
    """The condition is carried by hand, and read after it changed; no number of trips."""
    body = graph([node("Not", "flag", "flag2"), node("And", "flag2 flag", "never"),
                  node("Add", "h h", "h2"), node("ReduceMin", "h2 all", "least", keepdims=0),
                  node("Less", "least limit", "on"), node("Or", "never on", "either")],
                 [*HEADER, value("h", [2]), value("flag", [], BOOL)],
                 [value("on", [], BOOL), value("h2"), value("flag2", [], BOOL), value("either", [], BOOL)])
    return tiny.model([node("Loop", "_ c x f", "y g hs", body=body)],
                      [value("x", [2]), value("c", [], BOOL), value("f", [], BOOL)],
                      [value("y"), value("g", None, BOOL), value("hs", None, BOOL)],
                      [numbers("limit", 50, np.float32), numbers("all", [0])], opset=18)


def random_loop(seed):
    """A body of random ops on three carried values and one from outside; what it gives is any of all of them."""
    rng = np.random.default_rng(seed)
    known, nodes = ["a", "b", "c", "x"], []
    for k in range(7):
        p, q = rng.choice(known, 2)
        make = [lambda o: node("Add", f"{p} {q}", o), lambda o: node("Sub", f"{p} {q}", o),
                lambda o: node("Tanh", p, o), lambda o: node("Transpose", p, o, perm=[1, 0]),
                lambda o: node("MatMul", f"{p} w", o), lambda o: node("Mul", f"{p} half", o),
                lambda o: node("Concat", f"{p} {q}", f"long{o}", axis=0)]
        kind = rng.integers(len(make))
        nodes.append(make[kind](f"t{k}"))
        if kind == 6:
            nodes.append(node("Slice", f"longt{k} two six", f"t{k}"))
        known.append(f"t{k}")
    outs = []
    for k, name in enumerate(rng.choice(known, 5)):
        nodes.append(node("Identity", name, f"o{k}"))
        outs.append(value(f"o{k}"))
    nodes.append(node("Identity", "go", "on"))
    body = graph(nodes, [*HEADER, *(value(n, [4, 4]) for n in "abc")], [value("on", [], BOOL), *outs])
    return tiny.model([node("Loop", "n _ x x z", "y0 y1 y2 s0 s1", body=body)],
                      [value("x", [4, 4]), value("z", [4, 4]), value("n", [], INT64)],
                      [value(n) for n in ("y0", "y1", "y2", "s0", "s1")],
                      [tiny.weights("w", 4, 4), numbers("half", 0.5, np.float32), numbers("two", [2]),
                       numbers("six", [6])])


X = np.random.default_rng(11)


def floats(*dims):
    return X.standard_normal(dims).astype(np.float32)


def truth(flag, dims=()):
    return np.full(dims, flag, np.bool_)


def count(n):
    return np.array(n, np.int64)


CASES = {
    "branches": (branches, [], [{"x": floats(3, 8), "c": truth(c)} for c in (True, False)]),
    "nested": (nested, [], [{"x": floats(4, 5), "a": truth(a, (1,)), "b": truth(b)}
                            for a in (True, False) for b in (True, False)]),
    "branches_of_two_sizes": (branches_of_two_sizes, [], [{"x": floats(6, 2), "c": truth(c)} for c in (True, False)]),
    "fixed_loop": (fixed_loop, [], [{"x": floats(2, 4)}]),
    "open_loop": (open_loop, ["y=0..9"],
                  [{"x": np.array([1, 2, 1], np.float32), "n": count(n), "start": truth(s)}
                   for n, s in ((0, True), (1, True), (3, True), (9, True), (9, False))]),
    "swapping_loop": (swapping_loop, ["y=0..6"],
                      [{"x": floats(4), "z": floats(4), "n": count(n)} for n in (0, 1, 2, 5, 6)]),
    "growing_loop": (growing_loop, ["y=0..5"],
                     [{"x": floats(1, 3), "row": floats(1, 3), "n": count(n)} for n in (0, 1, 4, 5)]),
    "loop_in_branch": (loop_in_branch, ["*looped=0..8"],
                       [{"x": floats(2, 3), "c": truth(c), "n": count(n)}
                        for c, n in ((True, 3), (False, 3), (True, 0))]),
    "branch_in_loop": (branch_in_loop, ["y=0..8"], [{"x": floats(5), "n": count(n)} for n in (0, 1, 2, 7, 8)]),
    "nested_loops": (nested_loops, ["*h2=0..6"],
                     [{"x": floats(4, 3), "h0": floats(3), "m": count(m)} for m in (0, 1, 6)]),
    "setup_in_loop": (setup_in_loop, ["y=0..4"], [{"x": floats(2, 24), "n": count(n)} for n in (0, 1, 4)]),
    "guarded_loop": (guarded_loop, ["y=0..9"],
                     [{"x": np.array(v, np.float32), "c": truth(c), "f": truth(f)}
                      for v, c, f in (([1, 2], True, True), ([60, 3], True, False), ([1, 1], False, True))]),
    **{f"random{seed}": (functools.partial(random_loop, seed), ["y0=0..3"],
                         [{"x": floats(4, 4), "z": floats(4, 4), "n": count(n)} for n in (0, 1, 3)])
       for seed in range(12)},
    "scan": (scan, [], [{"s0": floats(2, 4), "as": floats(6, 2, 4), "bs": floats(2, 6, 4)}]),
    "batched_scan": (batched_scan, [], [{"s0": floats(2, 4), "as": floats(2, 5, 4)}]),
}


@pytest.mark.parametrize("name, number", [(name, i) for name, case in CASES.items() for i in range(len(case[2]))])
def test_every_way_is_right(compiled_case, tmp_path, name, number):
    model, out = compiled_case(name)
    inputs = CASES[name][2][number]
    harness.run_like_ort(model, out, inputs, tmp_path, "--red-zones")


def test_executed_memory_equals_the_plan_where_every_step_runs(compiled_case, tmp_path):
    _, out = compiled_case("fixed_loop")
    stats, _ = harness.run_model(out, CASES["fixed_loop"][2][0], tmp_path)
    ram = stats["tiers"]["ram"]
    assert (ram["ledger"], ram["live"]) == (ram["planned"], ram["live_planned"])
    assert ram["touched"] == ram["touched_planned"]


def test_more_trips_than_the_bound_end_the_run(compiled_case, tmp_path):
    _, out = compiled_case("swapping_loop")
    inputs = {"x": floats(4), "z": floats(4), "n": count(7)}
    done, _ = harness.run_model(out, inputs, tmp_path, check=False)
    assert done.returncode == harness.MODEL and "more trips than planned" in done.stderr


def test_work_on_weights_leaves_the_loop(compiled_case):
    _, out = compiled_case("setup_in_loop")
    loop = harness.plan_of(out)
    sources = str(loop)
    assert "MatMul" in sources or "m" in sources
    assert not any(step.get("source") in ("wt", "ww") for program in loop["programs"] for step in program["steps"])


REFUSED = {
    "a loop without a bound": (
        lambda: growing_loop(), [], "Loop node 'y': need a bound of the number of its trips, have none: give it by "
        "--bound 'y=0..MOST'"),
    "branches of two types": (
        lambda: tiny.model([node("If", "c", "y", then_branch=graph([node("Relu", "x", "a")], [], [value("a")]),
                                 else_branch=graph([node("Cast", "x", "b", to=INT64)], [], [value("b")]))],
                           [value("x", [3]), value("c", [], BOOL)], [value("y")]),
        [], "If node 'y': output 0: need one element type and rank on both ways"),
    "a condition that is no truth value": (
        lambda: tiny.model([node("If", "x", "y", then_branch=graph([node("Relu", "x", "a")], [], [value("a")]),
                                 else_branch=graph([node("Neg", "x", "b")], [], [value("b")]))],
                           [value("x", [])], [value("y")]),
        [], "If node 'y': the condition: need one element of i1, have [] of f32"),
    "a value that doubles in each trip": (
        lambda: tiny.model([node("Loop", "n _ x", "y",
                                 body=graph([node("Concat", "h h", "h2", axis=0), node("Identity", "go", "on")],
                                            [*HEADER, value("h", ["R"])], [value("on", [], BOOL), value("h2")]))],
                           [value("x", [2]), value("n", [], INT64)], [value("y")]),
        ["y=0..4"], "Loop node 'y': carried value 0, dimension 0: need the same growth in each trip"),
    "a value that changes its type": (
        lambda: tiny.model([node("Loop", "n _ x", "y",
                                 body=graph([node("Cast", "h", "h2", to=INT64), node("Identity", "go", "on")],
                                            [*HEADER, value("h", [2])], [value("on", [], BOOL), value("h2")]))],
                           [value("x", [2]), value("n", [], INT64)], [value("y")]),
        ["y=0..4"], "Loop node 'y': carried value 0: need one element type and rank in all trips"),
    "a body of too few inputs": (
        lambda: tiny.model([node("Loop", "n _ x", "y",
                                 body=graph([node("Identity", "go", "on")], HEADER, [value("on", [], BOOL)]))],
                           [value("x", [2]), value("n", [], INT64)], [value("y")]),
        ["y=0..4"], "Loop node 'y': need a body of 3 inputs and at least 2 outputs, have 2 and 1"),
    "scanned inputs of two lengths": (
        lambda: tiny.model([node("Scan", "a b", "y", num_scan_inputs=2,
                                 body=graph([node("Add", "p q", "o")], [value("p", [2]), value("q", [2])],
                                            [value("o")]))],
                           [value("a", [3, 2]), value("b", [4, 2])], [value("y")]),
        [], "Scan node 'y': need scanned inputs of one length, have 3 and 4"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_the_name_of_the_node(tmp_path, case):
    make, bounds, message = REFUSED[case]
    done = harness.compile_model(tiny.save(make(), tmp_path / "m.onnx"), tmp_path / "out",
                                 *(f"--bound={b}" for b in bounds), check=False)
    assert done.returncode == harness.MODEL and message in done.stderr, done.stderr
