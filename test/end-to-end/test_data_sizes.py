"""Sizes that only the data says: results, bounds derived or given, what is said where one is missing or exceeded."""

import numpy as np
import pytest
from onnx import TensorProto

import harness
import tiny
from tiny import node, numbers, value

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def build(tmp_path, nodes, inputs, outputs, *flags, constants=(), check=True):
    declared = [value(name, None, I64 if element else F32) for name, _, element in (o.partition(":") for o in outputs)]
    model = tiny.save(tiny.model(nodes, inputs, declared, list(constants)), tmp_path / "m.onnx")
    done = harness.compile_model(model, tmp_path / "out", *flags, check=check)
    return model, tmp_path / "out", done


def agree(model, out, inputs, tmp_path):
    """The run gives what ONNX Runtime gives, touches nothing it should not, and stays within its plan."""
    harness.run_like_ort(model, out, inputs, tmp_path, "--red-zones", rtol=1e-5, atol=1e-6)


def test_nonzero_feeds_a_gather_and_a_sum(tmp_path):
    nodes = [node("NonZero", "x", "at"), node("Transpose", "at", "rows", perm=[1, 0]),
             node("GatherND", "x rows", "picked"), node("ReduceSum", "picked", "total", keepdims=0),
             node("Mul", "picked picked", "squares"), node("Shape", "picked", "count")]
    model, out, _ = build(tmp_path, nodes, [value("x", [4, 5])], ["at:i64", "squares", "total", "count:i64"])
    random = np.random.default_rng(0)
    for share in (0.0, 0.3, 1.0):
        x = random.standard_normal((4, 5)).astype(np.float32)
        x[random.random((4, 5)) >= share] = 0
        agree(model, out, {"x": x}, tmp_path)


def test_nonzero_of_an_open_batch(tmp_path):
    nodes = [node("NonZero", "x", "at"), node("Gather", "at zero", "rows", axis=0),
             node("Gather", "x rows", "y", axis=0)]
    model, out, _ = build(tmp_path, nodes, [value("x", ["N", 3])], ["y"], "--bound=N=0..4",
                          constants=[numbers("zero", 0)])
    for n in (0, 1, 4):
        agree(model, out, {"x": np.arange(3 * n, dtype=np.float32).reshape(n, 3) % 4}, tmp_path)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_compress(tmp_path, axis):
    nodes = [node("Compress", "x keep", "y", **({} if axis is None else {"axis": axis}))]
    model, out, _ = build(tmp_path, nodes, [value("x", [3, 4]), value("keep", [3], BOOL)], ["y"])
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    for keep in ([True, False, True], [False] * 3, [True] * 3):
        agree(model, out, {"x": x, "keep": np.array(keep)}, tmp_path)


@pytest.mark.parametrize("attributes", [{}, {"sorted": 0}, {"axis": 0}, {"axis": 1, "sorted": 0}])
def test_unique_with_all_its_outputs(tmp_path, attributes):
    nodes = [node("Unique", "x", "y first inverse counts", **attributes)]
    model, out, _ = build(tmp_path, nodes, [value("x", [4, 3])], ["y", "first:i64", "inverse:i64", "counts:i64"])
    for x in ([[1, 2, 1], [3, 3, 3], [1, 2, 1], [0, 9, 0]], np.zeros((4, 3)), np.arange(12).reshape(4, 3)):
        agree(model, out, {"x": np.array(x, np.float32)}, tmp_path)


def test_non_max_suppression_with_limits_of_the_run(tmp_path):
    nodes = [node("NonMaxSuppression", "boxes scores most overlap least", "picked")]
    inputs = [value("boxes", [2, 12, 4]), value("scores", [2, 3, 12]), value("most", [1], I64), value("overlap", [1]),
              value("least", [1])]
    model, out, _ = build(tmp_path, nodes, inputs, ["picked:i64"])
    random = np.random.default_rng(1)
    low = random.random((2, 12, 2), np.float32)
    boxes = np.concatenate([low, low + random.random((2, 12, 2), np.float32)], axis=2)
    for most, overlap, least in ((3, 0.4, 0.2), (0, 0.5, 0.0), (100, 0.9, 0.0), (5, 0.0, 2.0)):
        agree(model, out, {"boxes": boxes, "scores": random.random((2, 3, 12), np.float32), "most": np.array([most]),
                           "overlap": np.array([overlap], np.float32), "least": np.array([least], np.float32)},
              tmp_path)


def test_top_k_of_the_run(tmp_path):
    inputs = [value("x", [2, 9]), value("k", [1], I64)]
    model, out, _ = build(tmp_path, [node("TopK", "x k", "y i", axis=1)], inputs, ["y", "i:i64"])
    x = np.random.default_rng(2).random((2, 9), np.float32)
    for k in (0, 1, 9):
        agree(model, out, {"x": x, "k": np.array([k])}, tmp_path)
    done, _ = harness.run_model(out, {"x": x, "k": np.array([10])}, tmp_path, check=False)
    assert done.returncode == harness.MODEL and "10 is not in [0, 9]" in done.stderr


def test_a_range_needs_a_bound_and_keeps_it(tmp_path):
    inputs = [value(n, [], I64) for n in ("from", "to", "by")]
    nodes = [node("Range", "from to by", "y")]
    _, out, done = build(tmp_path, nodes, inputs, ["y:i64"], check=False)
    assert done.returncode == harness.MODEL and "--bound 'y.0=LEAST..MOST'" in done.stderr and not out.exists()
    model, out, _ = build(tmp_path, nodes, inputs, ["y:i64"], "--bound=y.0=0..6")
    scalars = lambda *of: dict(zip(("from", "to", "by"), (np.array(v, np.int64) for v in of)))
    for limits in ((0, 6, 1), (5, -7, -2), (3, 3, 1), (10, 0, 1), (-4, 9, 5)):
        agree(model, out, scalars(*limits), tmp_path)
    done, _ = harness.run_model(out, scalars(0, 7, 1), tmp_path, check=False)
    assert done.returncode == harness.MODEL and "7 is not in [0, 6]" in done.stderr


def test_a_range_of_floats(tmp_path):
    inputs = [value(n, []) for n in ("from", "to", "by")]
    model, out, _ = build(tmp_path, [node("Range", "from to by", "y")], inputs, ["y"], "--bound=y.0=0..50")
    for limits in ((0, 1, 0.1), (2.5, -2.5, -0.75), (1, 0, 1)):
        agree(model, out, dict(zip(("from", "to", "by"), (np.array(v, np.float32) for v in limits))), tmp_path)


def test_ends_of_a_slice_that_are_inputs(tmp_path):
    inputs = [value("x", ["N", 7]), value("start", [2], I64), value("end", [2], I64)]
    model, out, _ = build(tmp_path, [node("Slice", "x start end axes steps", "y")], inputs, ["y"], "--bound=N=0..5",
                          constants=[numbers("axes", [1, 0]), numbers("steps", [2, -1])])
    for n, start, end in ((5, (1, 4), (6, 0)), (5, (-3, -1), (100, -100)), (3, (6, 2), (2, 1)), (0, (0, 0), (7, -1)),
                          (1, (2, -2), (3, -100)), (1, (-100, 100), (5, -100))):
        x = np.arange(7 * n, dtype=np.float32).reshape(n, 7)
        agree(model, out, {"x": x, "start": np.array(start), "end": np.array(end)}, tmp_path)


def test_shapes_that_are_inputs(tmp_path):
    nodes = [node("Reshape", "x shape", "a"), node("Expand", "row shape", "b"), node("ConstantOfShape", "shape", "c"),
             node("Tile", "row twice", "d")]
    inputs = [value("x", [2, 6]), value("row", [1, 1]), value("shape", [2], I64), value("twice", [2], I64)]
    model, out, _ = build(tmp_path, nodes, inputs, ["a", "b", "c", "d"], "--bound=[abcd].[01]=0..12")
    x, row = np.arange(12, dtype=np.float32).reshape(2, 6), np.array([[5]], np.float32)
    for shape, twice in (((3, 4), (1, 2)), ((12, 1), (0, 3)), ((1, 12), (12, 12))):
        agree(model, out, {"x": x, "row": row, "shape": np.array(shape), "twice": np.array(twice)}, tmp_path)
    wrong = {"x": x, "row": row, "shape": np.array((5, 2)), "twice": np.array((1, 1))}
    done, _ = harness.run_model(out, wrong, tmp_path, check=False)
    assert done.returncode == harness.MODEL and "sizes that must be equal differ" in done.stderr


def test_a_reshape_with_a_size_that_is_left_to_it(tmp_path):
    inputs = [value("x", [2, 3, 4]), value("shape", [3], I64)]
    model, out, _ = build(tmp_path, [node("Reshape", "x shape", "y")], inputs, ["y"])
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for shape in ((4, -1, 2), (0, 0, -1), (24, 1, 1), (0, 12, -1)):
        agree(model, out, {"x": x, "shape": np.array(shape)}, tmp_path)


def test_a_shape_without_a_bound_is_refused_with_what_to_give(tmp_path):
    nodes = [node("ConstantOfShape", "shape", "y")]
    _, out, done = build(tmp_path, nodes, [value("shape", [2], I64)], ["y"], check=False)
    assert done.returncode == harness.MODEL and "--bound 'y.0=LEAST..MOST'" in done.stderr and not out.exists()


def test_sizes_of_data_and_of_the_caller_in_one_shape(tmp_path):
    """[heads, tokens kept, width] where the caller gives the tokens and the data says which are kept."""
    nodes = [node("NonZero", "mask", "at"), node("Squeeze", "at zero", "rows"),
             node("Gather", "x rows", "kept", axis=0),
             node("Shape", "kept", "shape"), node("Gather", "shape first", "length", axis=0),
             node("Concat", "length heads", "split", axis=0), node("Reshape", "kept split", "r"),
             node("Transpose", "r", "t", perm=[1, 0, 2]), node("Softmax", "t", "y", axis=-1)]
    constants = [numbers("zero", [0]), numbers("first", [0]), numbers("heads", [2, 4])]
    model, out, _ = build(tmp_path, nodes, [value("mask", ["S"], BOOL), value("x", ["S", 8])], ["y"], "--bound=S=1..9",
                          constants=constants)
    random = np.random.default_rng(5)
    for s in (1, 5, 9):
        x = random.standard_normal((s, 8)).astype(np.float32)
        for mask in (np.ones(s, bool), np.zeros(s, bool), np.arange(s) % 2 == 0):
            agree(model, out, {"x": x, "mask": mask}, tmp_path)
