"""A nearest resize up inside a generated kernel gives what ONNX Runtime's resize and addition give."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import harness


def model(size, scales, coordinate, nearest, both):
    """relu(resize(x) + y), or with `both` relu(resize(x) + resize(z) * y), in the layout NCHW."""
    n, c, h, w = size
    out = [n, c, h * scales[0], w * scales[1]]
    attributes = {"mode": "nearest", "coordinate_transformation_mode": coordinate, "nearest_mode": nearest}
    nodes = [helper.make_node("Resize", ["x", "", "scales"], ["r"], **attributes)]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, size)]
    product = "y"
    if both:
        small = [n, c, h, w * scales[1]]
        inputs.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, small))
        nodes += [helper.make_node("Resize", ["z", "", "rows"], ["t"], **attributes),
                  helper.make_node("Mul", ["t", "y"], ["m"])]
        product = "m"
    inputs.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, out))
    nodes += [helper.make_node("Add", ["r", product], ["a"]), helper.make_node("Relu", ["a"], ["o"])]
    constants = [helper.make_tensor("scales", TensorProto.FLOAT, [4], [1, 1, *map(float, scales)]),
                 helper.make_tensor("rows", TensorProto.FLOAT, [4], [1, 1, float(scales[0]), 1])]
    graph = helper.make_graph(nodes, "repeats", inputs, [helper.make_tensor_value_info("o", TensorProto.FLOAT, out)],
                              constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.parametrize("coordinate,nearest", [("asymmetric", "floor"), ("half_pixel", "round_prefer_floor")])
@pytest.mark.parametrize("size,scales", [((1, 5, 3, 4), (2, 2)), ((2, 17, 1, 3), (3, 1)), ((1, 64, 2, 2), (4, 8))])
@pytest.mark.parametrize("both", [False, True])
def test_a_fused_resize_equals_onnx_runtime_bit_for_bit(tmp_path, size, scales, coordinate, nearest, both):
    path = tmp_path / "repeats.onnx"
    onnx.save(model(list(size), scales, coordinate, nearest, both), path)
    rng = np.random.default_rng(3)
    shapes = {"x": size, "y": (size[0], size[1], size[2] * scales[0], size[3] * scales[1])}
    if both:
        shapes["z"] = (size[0], size[1], size[2], size[3] * scales[1])
    inputs = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    harness.compile_model(path, tmp_path / "out")
    _, have = harness.run_model(tmp_path / "out", inputs, tmp_path, outputs=["o"])
    want = harness.ort_outputs(path, inputs)["o"]
    assert np.allclose(have["o"], want, rtol=1e-6, atol=1e-6)
    if not both:  # one rounding: no freedom
        assert np.array_equal(have["o"], want)
