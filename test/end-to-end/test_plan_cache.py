"""plimc keeps the plans of a compile in the output folder: they save time and change no byte of an artifact."""

import random

import pytest

import harness
import test_streaming
import tiny

FLAGS = ["--workers=2", "--split=off"]
BUDGETS = [2 * test_streaming.LAYER_BYTES + harness.MIB, 4 * test_streaming.LAYER_BYTES + harness.MIB]


def compiled(model, out, budget):
    """Digests of the artifact."""
    harness.compile_model(model, out, *FLAGS, f"--ram={budget}")
    return harness.digests(out)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny.save(test_streaming.stack(), tmp_path_factory.mktemp("model") / "stack.onnx")


@pytest.fixture(scope="module")
def alone(model, tmp_path_factory):
    """{budget: artifact that was compiled into an empty folder}."""
    folder = tmp_path_factory.mktemp("alone")
    return {budget: compiled(model, folder / str(budget), budget) for budget in BUDGETS}


def test_the_same_model_under_another_budget_gives_the_same_bytes(model, alone, tmp_path):
    cache = tmp_path / harness.PLAN_CACHE
    assert compiled(model, tmp_path, BUDGETS[0]) == alone[BUDGETS[0]]
    first = cache.read_bytes()
    assert compiled(model, tmp_path, BUDGETS[1]) == alone[BUDGETS[1]]
    second = cache.read_bytes()
    assert len(second) > len(first), "both budgets' plans are there"
    assert compiled(model, tmp_path, BUDGETS[0]) == alone[BUDGETS[0]]
    assert cache.read_bytes() == second, "nothing was looked for that was not there"


def test_an_artifact_without_a_budget_has_no_cache(model, tmp_path):
    harness.compile_model(model, tmp_path / "out", *FLAGS)
    assert not (tmp_path / "out" / harness.PLAN_CACHE).exists()


def damaged(cache, how):
    data = cache.read_bytes()
    if how == "folder":
        cache.unlink()
        cache.mkdir()
        return
    generator = random.Random(5)
    flipped = bytearray(data)
    flipped[generator.randrange(len(data))] ^= 16
    cache.write_bytes({"empty": b"", "cut": data[:len(data) // 2], "flipped": bytes(flipped), "foreign": b"\0" * 5000,
                       "other compiler": data.replace(data.split(b"\n")[0], b"plim-plans 1 0123456789ABCDEF", 1),
                       "other version": data.replace(b"plim-plans 1", b"plim-plans 9", 1)}[how])


@pytest.mark.parametrize("how", ["empty", "cut", "flipped", "foreign", "other compiler", "other version", "folder"])
def test_a_damaged_or_foreign_cache_is_not_taken(model, alone, tmp_path, how):
    compiled(model, tmp_path, BUDGETS[0])
    cache = tmp_path / harness.PLAN_CACHE
    before = cache.read_bytes()
    damaged(cache, how)
    harness.compile_model(model, tmp_path, *FLAGS, f"--ram={BUDGETS[0]}")
    if how == "folder":
        cache.rmdir()
    else:
        assert cache.read_bytes() == before, "it is written anew"
    assert harness.digests(tmp_path) == alone[BUDGETS[0]]
