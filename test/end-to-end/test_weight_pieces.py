"""Large weights in pieces: the same bits, under budgets that the largest weight alone would not meet."""

import re

import numpy as np
import pytest

import decoder
import harness
import quantized
import tiny

NEED = re.compile(r"need (\d+) bytes, have (\d+)")
ROWS, WIDTH = 8200, 192  # of a table of 6.0 MiB; the last piece of rows is a small one
TABLE = ROWS * WIDTH * 4
PIECES = "--split=weights=1MiB"


def tied(tokens):
    """A table whose rows are picked, which is then the transposed matrix of the last product, and a packed weight of the
    same size between them."""
    net = tiny.Network(seed=11)
    table = net.constant(net.random.standard_normal((ROWS, WIDTH)).astype(np.float32))
    x = net.add("Gather", table, "ids", axis=0)
    wide = (net.random.standard_normal((WIDTH, ROWS)) / 14).astype(np.float32)
    y = net.add("Relu", net.add("Add", net.add("MatMul", x, wide), net.random.standard_normal(ROWS).astype(np.float32)))
    narrow = net.add("MatMul", y, (net.random.standard_normal((ROWS, WIDTH)) / 90).astype(np.float32))
    net.add("Gemm", narrow, table, transB=1, outputs="y")
    return tiny.model(net.nodes, [tiny.value("ids", [tokens], tiny.INT64)], [tiny.value("y", [tokens, ROWS])],
                      net.weights)


def borders(tokens):
    """Rows at the borders of pieces of 1 MiB, counted from both ends, and others."""
    each = 1184  # rows of a piece: ceil(8200 / 7) up to a multiple of 32
    ids = [0, ROWS - 1, -1, -ROWS] + [n * each + d for n in range(1, 7) for d in (-1, 0)]
    ids += [i - ROWS for i in ids if i >= 0]
    return np.resize(np.array(ids, np.int64), tokens)


def same_bits(have, want):
    return have.dtype == want.dtype and have.tobytes() == want.tobytes()


def refused(model, *flags):
    done = harness.run([harness.tool("plimc"), model, "--ram=1", "--plan-only", *flags], check=False)
    assert done.returncode == harness.BUDGET, done.stdout + done.stderr
    return int(NEED.search(done.stderr)[1])


def whole(tokens, folder):
    """(.onnx file, inputs, output of the whole weights)."""
    model = tiny.save(tied(tokens), folder / "m.onnx")
    inputs = {"ids": borders(tokens)}
    harness.compile_model(model, folder / "out", "--split=off")
    _, want = harness.run_model(folder / "out", inputs, folder, outputs=["y"])
    return model, inputs, want["y"]


@pytest.fixture(scope="module", params=[1, 3, 40])
def net(request, tmp_path_factory):
    return whole(request.param, tmp_path_factory.mktemp("tied"))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return whole(3, tmp_path_factory.mktemp("small"))


def test_pieces_that_are_asked_for_give_the_same_bits(net, tmp_path):
    model, inputs, want = net
    harness.compile_model(model, tmp_path / "out", PIECES)
    launched = harness.kernels_of(tmp_path / "out")
    assert "gather.partial" in launched and "gather.axis" not in launched
    stats, have = harness.run_model(tmp_path / "out", inputs, tmp_path, outputs=["y"])
    assert same_bits(have["y"], want)
    ram = stats["tiers"]["ram"]
    assert (ram["ledger"], ram["live"]) == (ram["planned"], ram["live_planned"])
    assert ram["touched"] == ram["touched_planned"]


def test_a_budget_below_the_largest_weight_is_met_with_the_same_bits(net, tmp_path):
    model, inputs, want = net
    budget = TABLE * 3 // 4 + want.nbytes
    whole = harness.compile_model(model, tmp_path / "no", "--split=off", f"--ram={budget}", check=False)
    assert whole.returncode == harness.BUDGET
    harness.compile_model(model, tmp_path / "out", f"--ram={budget}")
    program = harness.plan_of(tmp_path / "out")["programs"][0]
    assert program["levers"]["streamed"] > 0 and program["peak"]["ram"] <= budget
    stats, have = harness.run_model(tmp_path / "out", inputs, tmp_path, outputs=["y"])
    assert same_bits(have["y"], want)
    assert stats["tiers"]["ram"]["ledger"] == stats["tiers"]["ram"]["planned"] <= budget


def test_the_refusal_names_what_pieces_reach(small):
    model, _, want = small
    need, whole = refused(model), refused(model, "--split=off")
    assert need < TABLE // 2 + 2 * want.nbytes and whole > TABLE
    assert refused(model, "--no-stream") > 3 * TABLE, "without streaming, pieces would lie in memory together"
    harness.run([harness.tool("plimc"), model, f"--ram={need}", "--plan-only"])


def test_an_index_outside_the_table_is_the_error_of_the_whole_table(small, tmp_path):
    model, inputs, _ = small
    said = []
    for flags in (["--split=off"], [PIECES]):
        harness.compile_model(model, tmp_path / "out", *flags)
        for bad in (ROWS, -ROWS - 1):
            ids = inputs["ids"].copy()
            ids[-1] = bad
            done, _ = harness.run_model(tmp_path / "out", {"ids": ids}, tmp_path, check=False)
            assert done.returncode != 0 and "Gather_0: kernel" in done.stderr, done.stdout + done.stderr
            said.append((done.returncode, re.sub(r"gather\.\w+|step \d+", "", done.stderr)))
    assert said[:2] == said[2:]


@pytest.mark.parametrize("kind", ["columns", "rows", "wide"])
def test_quantised_weights_in_pieces_give_the_same_bits(tmp_path, kind):
    model = tiny.save(quantized.weight_only(kind=kind), tmp_path / "m.onnx")
    inputs = {"x": np.random.default_rng(2).standard_normal((5, 96)).astype(np.float32)}
    results = []
    for flags in (["--split=off"], ["--split=weights=3KiB"]):
        harness.compile_model(model, tmp_path / "out", *flags)
        stats, have = harness.run_model(tmp_path / "out", inputs, tmp_path, outputs=["y"])
        steps = harness.plan_of(tmp_path / "out")["programs"][0]["steps"]
        results.append((sum("matmul" in step.get("kernel", "") for step in steps), have["y"]))
    assert results[1][0] == 2 * results[0][0], "the weight is in two pieces"
    assert same_bits(results[1][1], results[0][1])


def test_entries_with_states_share_pieces_under_one_budget(tmp_path):
    model = tiny.save(decoder.model(), tmp_path / "m.onnx")
    flags = ["--name=decoder", "--state", "past_*=present_*", "--bound", "P=0..48", "--entry", "prefill:S=5",
             "--entry", "decode:S=1"]
    outputs = []
    for more in (["--split=off"], ["--split=weights=8KiB"]):
        harness.compile_model(model, tmp_path / "out", *flags, *more)
        kernels = harness.kernels_of(tmp_path / "out")
        assert ("gather.partial" in kernels) == (more != ["--split=off"])
        ids = np.arange(5, dtype=np.int64).reshape(1, 5) * 20
        _, have = harness.run_model(tmp_path / "out", {"input_ids": ids, "position_ids": np.arange(5).reshape(1, 5)},
                                    tmp_path, "--program=prefill", outputs=["logits"])
        outputs.append(have["logits"])
    assert same_bits(*outputs)


def test_a_size_that_is_none_is_a_usage_error(small, tmp_path):
    for text in ("weights=0", "weights=", "weights=much"):
        done = harness.compile_model(small[0], tmp_path / "out", f"--split={text}", check=False)
        assert done.returncode == harness.USAGE and "--split: weights: " in done.stderr
