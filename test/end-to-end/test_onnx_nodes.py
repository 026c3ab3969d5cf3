"""ONNX's node tests pass, or are known gaps: a list that can only shrink."""

import pytest

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
    assert len(passed) >= 0.6 * len(tensors), f"{len(passed)} of {len(tensors)}"


def test_page_is_that_of_the_gaps():
    assert onnx_nodes.PAGE.read_text() == onnx_nodes.page(), "rewrite it by tools/dev onnx-nodes --page"
