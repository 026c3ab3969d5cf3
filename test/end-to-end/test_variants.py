"""Several budgets in one artifact: each variant keeps to its budget and to the bits, and a state outlives a switch."""

import json
import re
import shutil

import numpy as np
import pytest

import decoder
import harness
import test_split
import tiny

WIDTH, LAYERS, BATCH = 1024, 4, 4
RAM = "7MiB,16MiB,64MiB"
FLAGS = ["--state=h=hn", "--split=off"]
SOURCE = harness.SOURCE / "examples" / "variants" / "main.c"


def recurrent():
    """hn = tanh(dense layers of x + h), y = -hn; each layer has 4 MiB of parameters."""
    net = tiny.Network()
    v = "x"
    for _ in range(LAYERS):
        w = (net.random.standard_normal((WIDTH, WIDTH)) / np.sqrt(WIDTH)).astype(np.float32)
        v = net.add("Relu", net.add("MatMul", v, w))
    net.add("Neg", net.add("Tanh", net.add("Add", v, "h"), outputs="hn"), outputs="y")
    shape = [BATCH, WIDTH]
    return tiny.model(net.nodes, [tiny.value("x", shape), tiny.value("h", shape)],
                      [tiny.value("y", shape), tiny.value("hn", shape)], net.weights)


def convolutions():
    """A small CNN whose feature maps are larger than its weights."""
    net = tiny.Network()
    v, channels = "x", 3
    for width in (16, 16, 8):
        w = (net.random.standard_normal((width, channels, 3, 3)) / 6).astype(np.float32)
        v, channels = net.add("Relu", net.add("Conv", v, w, kernel_shape=[3, 3], pads=[1, 1, 1, 1])), width
    net.add("GlobalAveragePool", v, outputs="y")
    return tiny.model(net.nodes, [tiny.value("x", [1, 3, 96, 96])], [tiny.value("y", [1, 8, 1, 1])], net.weights)


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    """(model, artifact with the variants of RAM)."""
    folder = tmp_path_factory.mktemp("net")
    model = tiny.save(recurrent(), folder / "net.onnx")
    harness.compile_model(model, folder / "out", *FLAGS, f"--ram={RAM}", "--name=net")
    return model, folder / "out"


def run(out, variant, *flags):
    command = [harness.tool("plim-run"), out, f"--variant={variant}", "--input-random", "--stats=json", *flags]
    done = harness.run(command)
    return json.loads(done.stdout)


def variants_of(out):
    return [v["name"] for v in harness.plan_of(out)["variants"]]


def outputs(out, folder, name="y"):
    """{variant: bytes of the output}, each variant within its plan."""
    result = {}
    for program in harness.plan_of(out)["programs"]:
        variant = program["variant"]
        stats = run(out, variant, f"--output={name}=@{folder / variant}.npy")
        ram = stats["tiers"]["ram"]
        assert stats["variant"] == variant
        assert ram["planned"] == ram["ledger"] == program["peak"]["ram"] <= program["budget"]["ram"]
        result[variant] = (folder / f"{variant}.npy").read_bytes()
    return result


def test_each_budget_is_a_variant_by_falling_peak(net):
    plan = harness.plan_of(net[1])
    assert [p["name"] for p in plan["programs"]] == ["main"] * 3
    assert [p["variant"] for p in plan["programs"]] == variants_of(net[1]) == ["64MiB", "16MiB", "7MiB"]
    reserved = [v["reserved_peak"]["ram"] for v in plan["variants"]]
    assert reserved == sorted(reserved, reverse=True)
    times = [p["predicted_ns"] for p in plan["programs"]]
    assert times == sorted(times) and len(set(times)) == len(times)


def test_all_variants_give_the_same_bits(net, tmp_path):
    bits = outputs(net[1], tmp_path)
    assert len(bits) == 3 and len(set(bits.values())) == 1


def test_weights_are_there_once(net, tmp_path):
    model, out = net
    harness.compile_model(model, tmp_path / "one", *FLAGS)
    one, several = ((folder / "model.weights").stat().st_size for folder in (tmp_path / "one", out))
    # Layers that some variant reads while it runs start at pages.
    assert one <= several <= one + LAYERS * 4096


def test_a_variant_reserves_only_the_start_of_the_weights_that_it_keeps(net):
    kept = {}
    for p in harness.plan_of(net[1])["programs"]:
        arena = max((a["bytes"] for a in p["arenas"] if a["kind"] == "persistent"))
        kept[p["variant"]] = arena // (WIDTH * WIDTH * 4)
        assert p["streamed_bytes"] == (LAYERS - kept[p["variant"]]) * WIDTH * WIDTH * 4
    assert kept["64MiB"] == LAYERS > kept["16MiB"] > kept["7MiB"]


def test_a_variant_is_as_fast_as_its_budget_alone(net, tmp_path):
    model, out = net
    for p in harness.plan_of(out)["programs"]:
        harness.compile_model(model, tmp_path, *FLAGS, f"--ram={p['variant']}")
        assert p["predicted_ns"] <= 1.05 * harness.plan_of(tmp_path)["programs"][0]["predicted_ns"]


def test_variants_of_feature_maps(tmp_path):
    model = tiny.save(convolutions(), tmp_path / "cnn.onnx")
    done = harness.compile_model(model, tmp_path / "out", "--variants=4", "--numerics=exact")
    lines = re.findall(r"^entry main\.(\S+): peak (\S+ \S+) of RAM, budget ", done.stdout, re.M)
    assert [name for name, _ in lines] == variants_of(tmp_path / "out")
    bits = outputs(tmp_path / "out", tmp_path)
    assert len(set(bits.values())) == 1


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    """(model, flags, peak of the whole maps) of a net whose maps can run in pieces of rows."""
    folder = tmp_path_factory.mktemp("blocks")
    model = tiny.save(test_split.blocks(), folder / "blocks.onnx")
    flags = ["--workers=1", "--no-stream", "--numerics=exact"]
    harness.compile_model(model, folder / "whole", "--split=off", *flags)
    return model, flags, harness.plan_of(folder / "whole")["programs"][0]["peak"]["ram"]


def pieces_of(program):
    return program["levers"].get("split", 0)


def test_each_budget_has_the_pieces_that_it_would_have_alone(blocks, tmp_path):
    model, flags, whole = blocks
    ram = f"--ram={whole // 2},{whole * 3 // 4},{whole}"
    off = harness.compile_model(model, tmp_path / "off", "--split=off", *flags, ram, check=False)
    assert off.returncode == harness.BUDGET
    assert f"refused of 3 budgets: {whole // 2}, {whole * 3 // 4} (need " in off.stderr
    harness.compile_model(model, tmp_path / "out", *flags, ram)
    programs = harness.plan_of(tmp_path / "out")["programs"]
    assert pieces_of(programs[0]) == 0 < pieces_of(programs[-1])
    assert len(set(outputs(tmp_path / "out", tmp_path).values())) == 1
    for program in programs:
        harness.compile_model(model, tmp_path / "alone", *flags, f"--ram={program['variant']}")
        (alone,) = harness.plan_of(tmp_path / "alone")["programs"]
        assert (program["predicted_ns"], pieces_of(program)) == (alone["predicted_ns"], pieces_of(alone))
    one, several = ((tmp_path / folder / "model.weights").stat().st_size for folder in ("alone", "out"))
    assert one == several, "whole maps and pieces read the same weights"


def test_chosen_budgets_start_where_pieces_do(blocks, tmp_path):
    model, flags, whole = blocks
    done = harness.compile_model(model, tmp_path / "no", *flags, "--ram=1KiB", check=False)
    least = int(re.search(r"need (\d+) bytes", done.stderr)[1])
    assert least < whole // 2
    harness.compile_model(model, tmp_path / "out", *flags, "--variants=3")
    programs = harness.plan_of(tmp_path / "out")["programs"]
    assert pieces_of(programs[0]) == 0 < pieces_of(programs[-1])
    assert least <= programs[-1]["budget"]["ram"] <= least * 65 / 64 + 4096


def test_where_one_budget_asks_for_weights_in_pieces_all_variants_have_them(net, tmp_path):
    model, _ = net
    flags = ["--state=h=hn", "--workers=1"]
    harness.compile_model(model, tmp_path / "one", *flags)
    harness.compile_model(model, tmp_path / "out", *flags, "--ram=3MiB,10MiB,64MiB")
    programs = harness.plan_of(tmp_path / "out")["programs"]
    names = [{r["name"] for r in p["residents"] if r["kind"] == "constant"} for p in programs]
    assert len(names) == 3 and names[0] == names[1] == names[2] and len(names[0]) > LAYERS
    one, several = ((tmp_path / folder / "model.weights").stat().st_size for folder in ("one", "out"))
    assert one <= several <= one + len(names[0]) * 4096, "no weight is there whole as well"
    assert len(set(outputs(tmp_path / "out", tmp_path).values())) == 1
    for p in programs:
        harness.compile_model(model, tmp_path / "alone", *flags, f"--ram={p['variant']}")
        (alone,) = harness.plan_of(tmp_path / "alone")["programs"]
        assert p["predicted_ns"] <= 1.05 * alone["predicted_ns"]


def test_chosen_budgets_go_from_the_smallest_to_the_fastest(net, tmp_path):
    model, _ = net
    done = harness.run([harness.tool("plimc"), model, *FLAGS, "--ram=1", "--plan-only"], check=False)
    least = int(re.search(r"need (\d+) bytes", done.stderr)[1])
    harness.compile_model(model, tmp_path / "free", *FLAGS)
    most = harness.plan_of(tmp_path / "free")["programs"][0]
    harness.compile_model(model, tmp_path / "out", *FLAGS, "--variants=4")
    programs = harness.plan_of(tmp_path / "out")["programs"]
    assert 2 <= len(programs) <= 4
    assert least <= programs[-1]["budget"]["ram"] <= least * 65 / 64 + 4096
    assert programs[0]["predicted_ns"] == most["predicted_ns"]


def test_a_refused_budget_refuses_the_list(net, tmp_path):
    model, _ = net
    done = harness.compile_model(model, tmp_path / "out", *FLAGS, "--ram=64MiB,2MiB,1MiB", check=False)
    assert done.returncode == harness.BUDGET
    assert "refused of 3 budgets: 1MiB, 2MiB (need " in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("flags, message", [
    (["--ram=64MiB,64MiB"], "--ram: need different budgets, have '64MiB' and '64MiB'"),
    (["--ram=64MiB,,1MiB"], "--ram: need a size such as 512MiB"),
    (["--ram=64MiB", "--variants=2"], "--variants: need no --ram beside it"),
    (["--variants=0"], "--variants: need a number from 1 to 16"),
])
def test_lists_that_are_none(net, tmp_path, flags, message):
    done = harness.compile_model(net[0], tmp_path / "out", *flags, check=False)
    assert done.returncode == harness.USAGE and message in done.stderr


def test_a_budget_that_gains_nothing_gets_no_variant(net, tmp_path):
    done = harness.compile_model(net[0], tmp_path / "out", *FLAGS, "--ram=7MiB,512MiB,1GiB")
    assert variants_of(tmp_path / "out") == ["512MiB", "7MiB"]
    assert "a budget of 1GiB gains no time over 512MiB, whose variant serves it" in done.stderr


def test_entries_have_all_variants(tmp_path):
    model = tiny.save(decoder.model(), tmp_path / "decoder.onnx")
    harness.compile_model(model, tmp_path / "out", "--state=past_*=present_*", "--bound=P=0..40",
                          "--entry=prefill:S=1..16", "--entry=decode:S=1", "--variants=3")
    have = [(p["variant"], p["name"]) for p in harness.plan_of(tmp_path / "out")["programs"]]
    assert have == [(v, e) for v in variants_of(tmp_path / "out") for e in ("prefill", "decode")]


def test_auto_is_the_fastest_that_fits(net):
    # This machine has more memory free than the largest variant takes.
    assert run(net[1], "auto")["variant"] == "64MiB"


def test_auto_keeps_to_the_limit_of_a_cgroup(net):
    base = harness.cgroup_base()
    if isinstance(base, str):
        pytest.skip(base)
    limit = 12 * harness.MIB
    with harness.memory_cgroup(base, limit) as (folder, _):
        done = harness.run([harness.tool("plim-run"), net[1], "--variant=auto", "--input-random", "--stats=json"],
                           cgroup=folder)
    fitting = [v["name"] for v in harness.plan_of(net[1])["variants"] if v["reserved_peak"]["ram"] < limit]
    assert fitting == ["7MiB"] and json.loads(done.stdout)["variant"] == "7MiB"


def test_an_unknown_variant_lists_what_there_is(net):
    done = harness.run([harness.tool("plim-run"), net[1], "--variant=1GiB", "--input-random"], check=False)
    assert done.returncode == harness.MODEL and "64MiB" in done.stderr and "7MiB" in done.stderr


def test_the_example_keeps_its_state_over_switches(net, tmp_path):
    _, out = net
    for name in ("model.o", "model.weights"):
        shutil.copy(out / name, tmp_path / name)
    shutil.copy(out / "model.h", tmp_path / "net.h")
    harness.cc("-O1", "-I.", SOURCE, "model.o", *harness.LIBRARIES, "-o", "variants", cwd=tmp_path)

    def sums(*limits):
        done = harness.run(["./variants", "model.weights", *(limit * harness.MIB for limit in limits)], cwd=tmp_path)
        return re.findall(r"variant (\d) of 3: sum (\S+)", done.stdout)

    stays, switches = sums(64, 64, 64, 64), sums(64, 7, 16, 64)
    assert [v for v, _ in stays] == ["0"] * 4 and [v for v, _ in switches] == ["0", "2", "1", "0"]
    assert [s for _, s in switches] == [s for _, s in stays]
    assert len({s for _, s in stays}) == 4, "the state changes from run to run"
    assert [v for v, _ in sums(16, 64)] == ["1", "1"], "the weights are those of the first variant"
    refused = harness.run(["./variants", "model.weights", harness.MIB], cwd=tmp_path, check=False)
    assert refused.returncode == 1 and "no variant fits the memory that is free here" in refused.stderr
