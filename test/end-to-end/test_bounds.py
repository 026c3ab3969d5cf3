"""One artifact for all sizes within `--bound`: answers right at the ends and between, peak at most the planned."""

import numpy as np
import pytest

import harness
import tiny
from tiny import node, numbers


def mlp():
    nodes = [node("Gemm", "x w0 b0", "h"), node("Relu", "h", "r"), node("MatMul", "r w1", "m"),
             node("Add", "m b1", "a"), node("Softmax", "a", "y", axis=-1)]
    weights = [tiny.weights("w0", 20, 33), tiny.weights("b0", 33), tiny.weights("w1", 33, 10), tiny.weights("b1", 10)]
    return tiny.model(nodes, [tiny.value("x", ["N", 20])], [tiny.value("y", None)], weights)


def convolutions():
    nodes = [node("Conv", "x w0 b0", "c", strides=[2, 2], pads=[1, 1, 1, 1]), node("Relu", "c", "r"),
             node("Conv", "r w1", "d", group=8, pads=[1, 1, 1, 1]), node("Add", "d r", "e"),
             node("MaxPool", "e", "p", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
             node("AveragePool", "p", "q", kernel_shape=[2, 2], strides=[1, 1], ceil_mode=1),
             node("Conv", "q w2", "f"), node("Sigmoid", "f", "y"), node("GlobalAveragePool", "f", "z")]
    weights = [tiny.weights("w0", 8, 3, 3, 3), tiny.weights("b0", 8), tiny.weights("w1", 8, 1, 3, 3),
               tiny.weights("w2", 16, 8, 1, 1)]
    return tiny.model(nodes, [tiny.value("x", ["N", 3, "H", "W"])], [tiny.value("y", None), tiny.value("z", None)],
                      weights)


def block():
    """A transformer's block over S tokens: the heads come apart by a reshape, and together by one that an exporter
    computes from the shape of x."""
    nodes = [node("LayerNormalization", "x gain shift", "l", axis=-1)]
    for n in "qkv":
        nodes += [node("MatMul", f"l w{n}", f"{n}0"), node("Reshape", f"{n}0 heads", f"{n}1"),
                  node("Transpose", f"{n}1", n, perm=[0, 2, 3, 1] if n == "k" else [0, 2, 1, 3])]
    nodes += [node("MatMul", "q k", "scores"), node("Softmax", "scores", "shares", axis=-1),
              node("MatMul", "shares v", "mixed"), node("Transpose", "mixed", "back", perm=[0, 2, 1, 3]),
              node("Shape", "x", "shape"), node("Gather", "shape one", "length", axis=0),
              node("Unsqueeze", "length axis", "lengths"), node("Concat", "batch lengths width", "joined", axis=0),
              node("Reshape", "back joined", "flat"), node("Add", "flat x", "sum"), node("Erf", "sum", "y")]
    constants = [tiny.weights("gain", 64), tiny.weights("shift", 64), *(tiny.weights(f"w{n}", 64, 64) for n in "qkv"),
                 numbers("heads", [1, -1, 4, 16]), numbers("one", 1), numbers("axis", [0]), numbers("batch", [1]),
                 numbers("width", [64])]
    return tiny.model(nodes, [tiny.value("x", [1, "S", 64])], [tiny.value("y", None)], constants)


def pieces():
    """Slices, concatenations, pads and gathers along an open dimension and beside it."""
    nodes = [node("Slice", "x from to along", "s"), node("Concat", "x s x", "c", axis=1),
             node("Pad", "c border", "p", mode="constant"), node("Transpose", "p", "t", perm=[1, 0]),
             node("Gather", "t picks", "g", axis=1), node("ReduceMax", "g", "m", axes=[1], keepdims=0),
             node("Concat", "m m", "y", axis=0)]
    constants = [numbers("from", [1]), numbers("to", [5]), numbers("along", [1]), numbers("border", [0, 2, 0, 1]),
                 numbers("picks", [0, 2, 1])]
    return tiny.model(nodes, [tiny.value("x", [3, "L"])], [tiny.value("y", None)], constants)


def crops():
    """Slices beside open dimensions: where they start depends on the sizes of a run."""
    nodes = [node("Split", "x", "a b c", axis=1), node("Slice", "b from to along", "d"),
             node("Concat", "a c", "e", axis=1), node("Slice", "x from far rows", "f"),
             node("ReduceSum", "f lengths", "g", keepdims=1), node("Mul", "d a", "h"),
             node("Concat", "h e g", "y", axis=1)]
    constants = [numbers("from", [1]), numbers("to", [2]), numbers("along", [0]), numbers("far", [2**31 - 1]),
                 numbers("rows", [1]), numbers("lengths", [1])]
    return tiny.model(nodes, [tiny.value("x", [2, 6, "H", "W"])], [tiny.value("y", None)], constants)


def heads():
    """A block over N x S tokens as PyTorch exports it: the sizes of every reshape come from a shape, positions are the
    first S of a table, and what the shape leaves is a -1."""
    nodes = [node("Shape", "x", "shape"), node("Gather", "shape zero", "n", axis=0),
             node("Gather", "shape one", "s", axis=0), node("Unsqueeze", "n axis", "n1"),
             node("Unsqueeze", "s axis", "s1"), node("Unsqueeze", "s axis", "end"),
             node("Slice", "table axis end axis", "places"), node("Add", "x places", "p"),
             node("LayerNormalization", "p gain shift", "l", axis=-1),
             node("Concat", "n1 s1 rest width", "split", axis=0), node("Concat", "n1 s1 all", "join", axis=0)]
    for n in "qkv":
        nodes += [node("MatMul", f"l w{n}", f"{n}0"), node("Reshape", f"{n}0 split", f"{n}1"),
                  node("Transpose", f"{n}1", n, perm=[0, 2, 3, 1] if n == "k" else [0, 2, 1, 3])]
    nodes += [node("MatMul", "q k", "scores"), node("Softmax", "scores", "shares", axis=-1),
              node("MatMul", "shares v", "mixed"), node("Transpose", "mixed", "back", perm=[0, 2, 1, 3]),
              node("Reshape", "back join", "flat"), node("Add", "flat x", "sum"), node("Mul", "sum sum", "square"),
              node("Sigmoid", "square", "gate"), node("Mul", "gate sum", "y"),
              node("Equal", "join minus", "missing"), node("Where", "missing ones join", "whole"),
              node("Expand", "gain whole", "z")]
    constants = [tiny.weights("gain", 64), tiny.weights("shift", 64), tiny.weights("table", 96, 64),
                 *(tiny.weights(f"w{n}", 64, 64) for n in "qkv"), numbers("zero", 0), numbers("one", 1),
                 numbers("axis", [0]), numbers("rest", [-1]), numbers("width", [16]), numbers("all", [64]),
                 numbers("minus", -1), numbers("ones", [1, 1, 1])]
    return tiny.model(nodes, [tiny.value("x", ["N", "S", 64])], [tiny.value("y", None), tiny.value("z", None)],
                      constants)


def rows():
    """Chains over rows of a fixed length, which become one loop: a number a row, a number a column, a reduction."""
    nodes = [node("Mul", "x scale", "a"), node("Add", "a row", "b"), node("ReduceMax", "b", "m", axes=[2]),
             node("Sub", "b m", "c"), node("Exp", "c", "d"), node("ReduceSum", "d along", "t"), node("Div", "d t", "y"),
             node("Relu", "row", "z")]
    constants = [tiny.weights("scale", 37), numbers("along", [2])]
    return tiny.model(nodes, [tiny.value("x", ["N", "S", 37]), tiny.value("row", ["N", "S", 1])],
                      [tiny.value("y", None), tiny.value("z", None)], constants)


CASES = {
    "mlp": (mlp, ["N=1..32"], [(1, 20), (7, 20), (32, 20)]),
    "mlp_of_none": (mlp, ["N=0..5"], [(0, 20), (5, 20)]),
    "convolutions": (convolutions, ["N=1..3", "H=6..40", "W=5..50"],
                     [(1, 3, 6, 5), (2, 3, 17, 31), (3, 3, 40, 50), (1, 3, 40, 6), (3, 3, 7, 50)]),
    "block": (block, ["S=1..96"], [(1, 1, 64), (1, 2, 64), (1, 50, 64), (1, 95, 64), (1, 96, 64)]),
    "crops": (crops, ["H=1..9", "W=1..30"], [(2, 6, 1, 1), (2, 6, 4, 17), (2, 6, 9, 30), (2, 6, 9, 1)]),
    "heads": (heads, ["N=1..3", "S=1..96"], [(1, 1, 64), (2, 2, 64), (1, 95, 64), (3, 96, 64)]),
    "pieces": (pieces, ["L=5..70"], [(3, 5), (3, 33), (3, 70)]),
}


@pytest.mark.parametrize("name, dims", [(name, dims) for name, case in CASES.items() for dims in case[2]])
def test_every_size_within_the_bounds_is_right(compiled_case, tmp_path, name, dims):
    model, out = compiled_case(name)
    x = {"x": np.random.default_rng(3).standard_normal(dims).astype(np.float32)}
    stats, _ = harness.run_like_ort(model, out, x, tmp_path, "--red-zones")
    ram = stats["tiers"]["ram"]
    largest = dims == max(CASES[name][2], key=np.prod)
    assert not largest or (ram["ledger"], ram["live"]) == (ram["planned"], ram["live_planned"])


def test_rows_of_a_fixed_length_are_one_loop(tmp_path):
    model = tiny.save(rows(), tmp_path / "m.onnx")
    harness.compile_model(model, tmp_path / "out", "--bound=N=0..5", "--bound=S=1..70")
    kernels = harness.kernels_of(tmp_path / "out")
    assert any("_gen_" in kernel for kernel in kernels), kernels
    random = np.random.default_rng(4)
    for n, s in ((1, 1), (5, 70), (3, 33), (0, 70), (1, 70)):
        x = {"x": random.standard_normal((n, s, 37)).astype(np.float32),
             "row": random.standard_normal((n, s, 1)).astype(np.float32)}
        harness.run_like_ort(model, tmp_path / "out", x, tmp_path, "--red-zones")


# Of each model: flags, then sizes by name of the dimension; the last ones are the bounds.
REAL = {
    "minilm3": (["--bound=batch_size=1..2", "--bound=sequence_length=1..512"],
                [{"batch_size": 1, "sequence_length": 1}, {"batch_size": 2, "sequence_length": 2},
                 {"batch_size": 1, "sequence_length": 511}, {"batch_size": 2, "sequence_length": 512}]),
    "magika": (["--shape=bytes=Nx2048", "--bound=N=1..4"], [{0: 1}, {0: 3}, {0: 4}]),
    "ppocr_rec": (["--shape=x=Nx3x48xW", "--bound=N=1..2", "--bound=W=8..640"],
                  [{0: 1, 3: 8}, {0: 2, 3: 320}, {0: 1, 3: 333}, {0: 2, 3: 640}]),
}


@pytest.mark.parametrize("name", REAL)
def test_a_real_model_at_and_within_its_bounds(model_file, tmp_path, name):
    import onnx

    row, path = model_file(name)
    flags, cases = REAL[name]
    harness.compile_model(path, tmp_path / "out", *flags)
    names = {value.name: [d.dim_param for d in value.type.tensor_type.shape.dim]
             for value in onnx.load(path, load_external_data=False).graph.input}
    for sizes in cases:
        inputs = {}
        for key, (dims, dtype) in row.inputs.items():
            shape = [sizes.get(d, sizes.get(names[key][d], size)) for d, size in enumerate(dims)]
            random = np.random.default_rng(sum(shape))
            inputs[key] = (np.ones(shape) if "mask" in key else random.integers(0, 255, shape) if dtype.startswith("i")
                           else random.random(shape)).astype(harness.DTYPES[dtype])
        stats, _ = harness.run_like_ort(path, tmp_path / "out", inputs, tmp_path)
    ram = stats["tiers"]["ram"]
    assert (ram["ledger"], ram["live"]) == (ram["planned"], ram["live_planned"])
    beyond = {key: np.repeat(value, 2, axis=0) for key, value in inputs.items()}
    done, _ = harness.run_model(tmp_path / "out", beyond, tmp_path, check=False)
    assert done.returncode == harness.MODEL and "need " in done.stderr


def test_a_real_model_with_an_open_batch(model_file, tmp_path):
    row, path = model_file("ppocr_cls")
    dims = row.inputs["x"][0]
    harness.compile_model(path, tmp_path / "out", f"--shape=x=Nx{'x'.join(map(str, dims[1:]))}", "--bound=N=1..4")
    for batch in (1, 3, 4):
        x = {"x": np.random.default_rng(batch).random((batch, *dims[1:]), np.float32)}
        harness.run_like_ort(path, tmp_path / "out", x, tmp_path)


def test_sizes_that_an_op_needs_equal_are_checked_before_anything_is_written(tmp_path):
    model = tiny.model([node("Add", "x z", "y")], [tiny.value("x", ["N"]), tiny.value("z", ["M"])],
                       [tiny.value("y", None)])
    harness.compile_model(tiny.save(model, tmp_path / "m.onnx"), tmp_path / "out", "--bound=N=2..8", "--bound=M=2..8")
    x, z = np.ones(5, np.float32), np.ones(6, np.float32)
    _, have = harness.run_model(tmp_path / "out", {"x": x, "z": z[:5]}, tmp_path, outputs=["y"])
    assert np.array_equal(have["y"], x + 1)
    done, _ = harness.run_model(tmp_path / "out", {"x": x, "z": z}, tmp_path, check=False)
    assert done.returncode == 2 and "sizes that must be equal differ" in done.stderr
