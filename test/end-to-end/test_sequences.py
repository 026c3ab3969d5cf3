"""Sequences of tensors, resolved when a model is imported, give what ONNX Runtime gives."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import harness


def test_parts_mapped_and_joined(tmp_path):
    """A picture's rows in parts, each scaled by the body of a SequenceMap, joined in another order, and counted."""
    tensor = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
    body = helper.make_graph([helper.make_node("Mul", ["part", "factor"], ["scaled"]),
                              helper.make_node("Add", ["scaled", "shift"], ["moved"])], "body",
                             [tensor("part"), tensor("factor")], [tensor("moved")])
    nodes = [
        helper.make_node("SplitToSequence", ["x", "sizes"], ["parts"], axis=0),
        helper.make_node("SequenceMap", ["parts", "factor"], ["moved"], body=body),
        helper.make_node("SequenceAt", ["moved", "last"], ["tail"]),
        helper.make_node("SequenceErase", ["moved", "last"], ["rest"]),
        helper.make_node("SequenceInsert", ["rest", "tail", "zero"], ["turned"]),
        helper.make_node("ConcatFromSequence", ["turned"], ["y"], axis=0),
        helper.make_node("SequenceLength", ["turned"], ["n"]),
    ]
    weights = [numpy_helper.from_array(np.array([3, 1, 4], np.int64), "sizes"),
               numpy_helper.from_array(np.array(-1, np.int64), "last"),
               numpy_helper.from_array(np.array(0, np.int64), "zero"),
               numpy_helper.from_array(np.float32(0.5), "shift")]
    graph = helper.make_graph(nodes, "parts", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 5]),
                                               helper.make_tensor_value_info("factor", TensorProto.FLOAT, [5])],
                              [tensor("y"), helper.make_tensor_value_info("n", TensorProto.INT64, [])], weights)
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), path)
    rng = np.random.default_rng(3)
    inputs = {"x": rng.random((8, 5), np.float32), "factor": rng.random(5, np.float32)}
    want = harness.ort_outputs(path, inputs)
    harness.compile_model(path, tmp_path / "out")
    _, have = harness.run_model(tmp_path / "out", inputs, tmp_path, outputs=list(want))
    np.testing.assert_allclose(have["y"], want["y"], rtol=1e-6)
    assert have["n"] == want["n"] == 3
