"""ONNX's node tests pass, or are known gaps: a list that can only shrink."""

import numpy as np
import pytest

import harness
import onnx_nodes


@pytest.fixture(scope="module")
def results():
    return onnx_nodes.run_all()


def test_gaps_are_those_listed(results):
    assert len(results) > 1700
    lines = onnx_nodes.disagreements(results, onnx_nodes.read_gaps())
    assert not lines, "\n".join(lines)


def test_most_tests_of_tensors_pass(results):
    tensors = [name for name in results if onnx_nodes.Test(onnx_nodes.DATA / name).is_tensor]
    passed = [name for name in tensors if results[name][0] in ("passed", "constants")]
    assert len(passed) >= 0.85 * len(tensors), f"{len(passed)} of {len(tensors)}"


def test_page_is_that_of_the_gaps():
    assert onnx_nodes.PAGE.read_text() == onnx_nodes.page(), "rewrite it by tools/dev onnx-nodes --page"


@pytest.mark.parametrize("path", sorted((onnx_nodes.DATA.parent / "light").glob("*.onnx")), ids=lambda p: p.stem)
def test_network_shapes_give_what_onnx_runtime_gives(path, tmp_path):
    """Nine known networks whose weights are one number a tensor."""
    import onnx

    graph = onnx.load(path).graph
    weights = {tensor.name for tensor in graph.initializer}
    rng = np.random.default_rng(1)
    inputs = {value.name: rng.random([d.dim_value for d in value.type.tensor_type.shape.dim], np.float32)
              for value in graph.input if value.name not in weights}
    harness.compile_model(path, tmp_path / "out")
    harness.run_like_ort(path, tmp_path / "out", inputs, tmp_path, "--no-poison")
