"""plimc --curve: the fastest of all alternatives at each budget, which a compile for that budget gets."""

import re

import pytest

import harness
import test_split
import test_weight_pieces
import tiny

MODELS = {
    "rows": (test_split.blocks, ["--no-stream"]),
    "weights": (lambda: test_weight_pieces.tied(3), []),
}


@pytest.fixture(scope="module", params=MODELS)
def curve(request, tmp_path_factory):
    """(model, flags, what pieces it can have, the curve's points)."""
    make, flags = MODELS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    model, flags = tiny.save(make(), folder / "m.onnx"), ["--workers=1", *flags]
    harness.compile_model(model, folder / "out", "--curve", *flags)
    return model, flags, request.param, harness.plan_of(folder / "out")["programs"][0]["curve"]


def test_times_fall_from_the_need_of_a_refusal_to_the_plan_without_a_budget(curve, tmp_path):
    model, flags, kind, points = curve
    for figure, sign in (("ram", 1), ("predicted_ns", -1)):
        values = [sign * p[figure] for p in points]
        assert values == sorted(values) and len(set(values)) == len(values)
    refused = harness.compile_model(model, tmp_path / "no", *flags, "--ram=1", check=False)
    assert points[0]["ram"] == int(re.search(r"need (\d+) bytes", refused.stderr)[1])
    harness.compile_model(model, tmp_path / "out", *flags)
    assert points[-1]["predicted_ns"] == harness.plan_of(tmp_path / "out")["programs"][0]["predicted_ns"]
    assert points[0]["pieces"] == kind and points[-1]["pieces"] == "none"


def test_each_point_is_what_its_budget_gets(curve, tmp_path):
    model, flags, _, points = curve
    for point in points[:4] + points[4 :: max(1, len(points) // 6)]:
        harness.compile_model(model, tmp_path, *flags, f"--ram={point['ram']}")
        (program,) = harness.plan_of(tmp_path)["programs"]
        assert program["predicted_ns"] <= point["predicted_ns"]
        assert program["peak"]["ram"] <= point["ram"]
        names = {r["name"] for r in program["residents"]}
        if program["predicted_ns"] == point["predicted_ns"]:
            assert ("rows" in point["pieces"]) == (program["levers"]["split"] > 0)
            assert ("weights" in point["pieces"]) == any(re.search(r"\.\d+-\d+$", name) for name in names)


def test_no_point_is_slower_than_one_of_the_whole_graph(curve, tmp_path):
    model, flags, _, points = curve
    harness.compile_model(model, tmp_path / "off", "--curve", "--split=off", *flags)
    for whole in harness.plan_of(tmp_path / "off")["programs"][0]["curve"]:
        assert whole["pieces"] == "none"
        assert any(p["ram"] <= whole["ram"] and p["predicted_ns"] <= whole["predicted_ns"] for p in points)
