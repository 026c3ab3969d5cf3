"""Kernels in compiled models: which are chosen, that both instruction sets give the same bits, and their benchmark."""

import json

import numpy as np
import pytest
from onnx import TensorProto, helper

import harness
import tiny
from test_bench import bench  # which puts the folder of single_ops on the path
import single_ops


def seeded(case):
    random = np.random.default_rng(7)
    return {name: random.standard_normal(dims, dtype=np.float32) for name, (dims, _) in case.spec.items()}


def results(out, inputs, folder, isa):
    _, have = harness.run_model(out, inputs, folder, "--threads=2", outputs=["y"], env={"PLIM_ISA": isa})
    return have["y"]


@pytest.mark.parametrize("flags, kernel", [([], "conv.nhwc_winograd"), (["--numerics=exact"], "conv.nhwc_direct")])
def test_a_3x3_convolution_runs_by_winograd_unless_numerics_are_exact(tmp_path, flags, kernel):
    case = single_ops.convolution("conv", 48, 40, 30, 3, 1)
    model = tiny.save(case.model, tmp_path / "conv.onnx")
    harness.compile_model(model, tmp_path / "out", *flags)
    assert kernel in harness.kernels_of(tmp_path / "out")
    inputs = seeded(case)
    have = results(tmp_path / "out", inputs, tmp_path, "v3")
    assert harness.largest_error(have, harness.ort_outputs(model, inputs)["y"])[1] <= 1
    np.testing.assert_array_equal(have, results(tmp_path / "out", inputs, tmp_path, "v4"))


def test_one_query_of_grouped_heads_reads_its_keys_in_place(tmp_path):
    case = single_ops.decode(6, 2, 300, 32)
    model = tiny.save(case.model, tmp_path / "decode.onnx")
    harness.compile_model(model, tmp_path / "out")
    assert "attention.decode" in harness.kernels_of(tmp_path / "out")
    inputs = seeded(case)
    have = results(tmp_path / "out", inputs, tmp_path, "v3")
    assert harness.largest_error(have, harness.ort_outputs(model, inputs)["y"])[1] <= 1
    np.testing.assert_array_equal(have, results(tmp_path / "out", inputs, tmp_path, "v4"))


def test_a_tied_embedding_lies_in_memory_once(tmp_path):
    vocabulary, width = 3000, 64
    nodes = [helper.make_node("Gather", ["embedding", "ids"], ["h"], name="embed"),
             helper.make_node("Gemm", ["h", "embedding"], ["y"], name="logits", transB=1)]
    proto = tiny.model(nodes, [tiny.value("ids", [1], TensorProto.INT64)], [tiny.value("y", None)],
                       [tiny.weights("embedding", vocabulary, width)])
    model = tiny.save(proto, tmp_path / "tied.onnx")
    harness.compile_model(model, tmp_path / "out")
    program = harness.plan_of(tmp_path / "out")["programs"][0]
    assert "matmul.dot" in harness.kernels_of(tmp_path / "out")
    assert program["resident_bytes"] < 1.1 * vocabulary * width * 4
    inputs = {"ids": np.array([1234], np.int64)}
    have = results(tmp_path / "out", inputs, tmp_path, "v3")
    assert harness.largest_error(have, harness.ort_outputs(model, inputs)["y"])[1] <= 1
    np.testing.assert_array_equal(have, results(tmp_path / "out", inputs, tmp_path, "v4"))


def test_the_benchmark_of_kernels_writes_ceilings_and_shares(tmp_path):
    done = bench("kernels", "gemm 128x128x128", "--rounds", 1, "--seconds", 0.05, f"--json={tmp_path / 'kernels.json'}")
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads((tmp_path / "kernels.json").read_text())
    assert (document["format"], document["version"]) == ("plim-bench-kernels", 2)
    assert document["ceilings"]["gflops"] > 1 and document["ceilings"]["read_gb"] > 0.1
    (row,) = document["kernels"]
    assert row["status"] == "ok" and row["error"]["ok"]
    assert 0 < row["of_peak"]["flops"] < 1.5 and row["of_peak"]["read"] > 0
    assert "GFLOP/s" in done.stdout and "speed" in done.stdout
