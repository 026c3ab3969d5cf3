"""Weights in several files, one of them far beyond 2 GiB: the model runs, and nothing of the gaps is read or copied."""

import numpy as np
from onnx import TensorProto

import harness
import tiny
from tiny import node

FAR = 5 << 30  # the file has a hole up to there


def external(folder, name, values, location, offset):
    """A tensor that names its bytes in a file of the model's folder, written there."""
    path = folder / location
    path.parent.mkdir(exist_ok=True)
    with open(path, "r+b" if path.exists() else "w+b") as f:
        f.seek(offset)
        f.write(values.tobytes())
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=values.shape,
                         data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, "offset": offset, "length": values.nbytes}.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def test_weights_in_several_files_beyond_2_gib(tmp_path):
    rng = np.random.default_rng(3)
    w = {name: rng.standard_normal(shape).astype(np.float32)
         for name, shape in {"a": (64, 96), "b": (96, 96), "c": (96, 32), "bias": (32,)}.items()}
    tensors = [external(tmp_path, "a", w["a"], "first.bin", 64),
               external(tmp_path, "b", w["b"], "parts/second.bin", FAR),
               external(tmp_path, "c", w["c"], "parts/second.bin", 4096),
               external(tmp_path, "bias", w["bias"], "first.bin", 64 + w["a"].nbytes)]
    nodes = [node("MatMul", "x a", "h0"), node("Relu", "h0", "h1"), node("MatMul", "h1 b", "h2"),
             node("MatMul", "h2 c", "h3"), node("Add", "h3 bias", "y")]
    model = tiny.save(tiny.model(nodes, [tiny.value("x", [5, 64])], [tiny.value("y", [5, 32])], tensors),
                      tmp_path / "parts.onnx")
    x = rng.standard_normal((5, 64)).astype(np.float32)
    want = np.maximum(x.astype(np.float64) @ w["a"], 0) @ w["b"] @ w["c"] + w["bias"]

    peak = harness.peak_of([harness.tool("plimc"), model, "-o", tmp_path / "out"], tmp_path)
    assert peak < 256 * harness.MIB, "the compiler reads weights where they are, not the file"
    _, have = harness.run_model(tmp_path / "out", {"x": x}, tmp_path, outputs=["y"])
    assert harness.largest_error(have["y"], want)[1] <= 1
    assert (tmp_path / "out" / "model.weights").stat().st_size < harness.MIB
