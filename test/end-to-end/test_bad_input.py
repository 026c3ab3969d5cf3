"""Models, budgets and places that plimc cannot use: a message, an exit status, and nothing left behind."""

import json
import os
import random
import shutil
import signal
import subprocess

import numpy as np
import pytest

import harness
import tiny
from errors import expect
from harness import BUDGET, ENVIRONMENT, MODEL, USAGE


class Bench:
    """compile(proto or bytes) writes m.onnx and compiles it to out, which a failure must not leave behind."""

    def __init__(self, folder):
        self.folder, self.out = folder, folder / "out"

    def compile(self, model, *flags, **more):
        path = self.folder / "m.onnx"
        if isinstance(model, bytes):
            path.write_bytes(model)
        else:
            tiny.save(model, path)
        done = harness.compile_model(path, self.out, *flags, check=False, timeout=120, **more)
        if done.returncode != 0:
            assert not self.out.exists(), "a failed compile leaves no folder"
        return done


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def test_a_missing_model_file(bench):
    done = harness.compile_model(bench.folder / "none.onnx", bench.out, check=False)
    expect(done, ENVIRONMENT, "cannot open", "No such file or directory")


@pytest.mark.parametrize("keep", [0, 1, 7, 100, 16000, 33000])
def test_a_truncated_model(bench, keep):
    data = tiny.mlp().SerializeToString()
    assert keep < len(data)
    expect(bench.compile(data[:keep]), MODEL, "not a readable ONNX model", "need ", "(byte ")


@pytest.mark.parametrize("length", [b"\xff\xff\xff\xff\x0f", b"\xff" * 9 + b"\x01", b"\xff" * 9 + b"\x7f"])
def test_a_length_beyond_the_file(bench, length):
    expect(bench.compile(b"\x3a" + length + bytes(50)), MODEL, "not a readable ONNX model", "(byte ")


def test_a_file_that_is_no_model(bench):
    expect(bench.compile(bytes(range(256)) * 20), MODEL, "not a readable ONNX model", "need ")


def test_corrupted_models_never_crash_the_compiler(bench):
    data = tiny.mlp(width=8).SerializeToString()
    rng = random.Random(11)
    outcomes = set()
    for _ in range(40):
        broken = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        done = bench.compile(bytes(broken), "--shape=*=2x8")
        assert done.returncode in (0, USAGE, MODEL), f"{done.returncode}\n{bytes(broken)!r}\n{done.stderr}"
        assert done.returncode == 0 or done.stderr.startswith("plimc: error: ")
        outcomes.add(done.returncode)
        shutil.rmtree(bench.out, ignore_errors=True)
    assert MODEL in outcomes


def test_names_that_are_no_text(bench):
    """Names are bytes of a stranger's file: what is printed and written of them is text without control characters."""
    data = tiny.mlp().SerializeToString()
    odd = data.replace(b"second", b"s\xff\x1b[2m").replace(b"bias", b"b\n\x01s")
    assert bench.compile(odd).returncode == 0
    assert {n["source"] for n in harness.plan_of(bench.out)["programs"][0]["steps"]}
    (bench.out / "model.html").read_text()
    harness.run([harness.tool("plim-run"), bench.out, "--input-random", f"--trace={bench.folder / 't.json'}"])
    json.loads((bench.folder / "t.json").read_text())
    shutil.rmtree(bench.out)
    cycle = tiny.cycle().SerializeToString().replace(b"forth", b"f\x1b\xffh\n").replace(b"back", b"b\xe2\x82k")
    done = bench.compile(cycle)
    expect(done, MODEL, "the graph has a cycle")
    assert "\x1b" not in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_cycle_is_shown_node_by_node(bench):
    expect(bench.compile(tiny.cycle()), MODEL, "the graph has a cycle: 'forth' -> 'back' -> 'forth'")


def test_a_value_that_nothing_defines(bench):
    expect(bench.compile(tiny.undefined_value()), MODEL, "node 'bias' reads 'nowhere'")


def test_shapes_that_disagree(bench):
    expect(bench.compile(tiny.disagreeing_shapes()), MODEL, "product", "[2, 8] and [7, 4]")


def test_an_unknown_element_type(bench):
    expect(bench.compile(tiny.unknown_type()), MODEL, "input 'x'", "99")


def test_unsupported_operators_are_all_listed_with_counts_and_nodes(bench):
    expect(bench.compile(tiny.unsupported()), MODEL, "2 operators are not supported",
           "1 x custom::Twist", "'twist_one'", "2 x custom::Warp", "'warp_one', 'warp_two'")


def test_open_dimensions_are_all_listed(bench):
    expect(bench.compile(tiny.open_dimensions()), USAGE, "4 dimensions of the inputs are open",
           "input 'x', dimension 0 'batch'", "input 'x', dimension 1 'width'", "input 'z', dimension 0 'batch'",
           "input 'z', dimension 1 'width'", "--shape 'x=SIZExSIZE'", "--bound 'batch=LEAST..MOST'")


def test_parameters_shorter_than_their_shape(bench):
    expect(bench.compile(tiny.short_raw_data()), MODEL, "tensor 'w1'", "need 16384 bytes of data, have 100")


@pytest.mark.parametrize("location, text", [
    ("none.bin", "No such file or directory"),
    ("short.bin", "need 16384 bytes at byte 0, have a file of 100 bytes"),
    ("../outside.bin", "the location has a '..'"),
    ("inside/../../outside.bin", "the location has a '..'"),
    ("/etc/hostname", "the location is an absolute path"),
    ("link.bin", "a symbolic link leads out of the model's folder"),
])
def test_external_data_that_cannot_be_used(bench, tmp_path_factory, location, text):
    (bench.folder / "short.bin").write_bytes(bytes(100))
    outside = tmp_path_factory.mktemp("elsewhere") / "outside.bin"
    outside.write_bytes(bytes(16384))
    (bench.folder / "link.bin").symlink_to(outside)
    expect(bench.compile(tiny.external(location)), MODEL, "tensor 'w1'", "external data", location, text)


@pytest.mark.parametrize("where", [{"offset": -5}, {"offset": 2**63}, {"length": 2**62}, {"offset": 2**62}])
def test_external_data_at_absurd_places(bench, where):
    (bench.folder / "data.bin").write_bytes(bytes(16384))
    expect(bench.compile(tiny.external("data.bin", **where)), MODEL, "tensor 'w1'", "external data")


def test_external_data_in_the_models_folder_is_read(bench):
    proto = tiny.mlp()
    (bench.folder / "data.bin").write_bytes(bytes(64) + proto.graph.initializer[0].raw_data)
    assert bench.compile(tiny.external("data.bin", offset=64)).returncode == 0
    inputs = {"x": np.linspace(-1, 1, 128, dtype=np.float32).reshape(2, 64)}
    _, have = harness.run_model(bench.out, inputs, bench.folder, outputs=["y"])
    want = harness.ort_outputs(tiny.save(proto, bench.folder / "inline.onnx"), inputs)
    assert harness.largest_error(have["y"], want["y"])[1] <= 1


@pytest.mark.parametrize("size", ["-1", "12XB", "", "MiB", "1.2.3", "0x10", "12MiB3", "9e99", "99999999TiB"])
def test_a_malformed_budget(bench, size):
    expect(bench.compile(tiny.mlp(), f"--ram={size}"), USAGE, "--ram: need a size ", f"have '{size}'")


@pytest.mark.parametrize("size", ["0", "1", "1KB"])
def test_a_budget_smaller_than_any_plan(bench, size):
    expect(bench.compile(tiny.mlp(), f"--ram={size}"), BUDGET, "no plan found within the budget", "need ")


@pytest.mark.parametrize("flags, texts", [
    (["--bogus"], ["--bogus"]),
    (["--workers=0"], ["--workers: need a number from 1 to 256, have '0'"]),
    (["--workers=x", "--jobs=-1", "--attention=magic", "--name=1st", "--ram=big"],
     ["--workers: ", "--jobs: ", "--attention: need one of auto, naive, chunked, flash, have 'magic'",
      "--name: need a C name, have '1st'", "--ram: "]),
    (["--shape=x=2x"], ["--shape 'x=2x'"]),
    (["--shape=x"], ["--shape 'x'"]),
    (["--shape=y=2x64"], ["names no input of the model; have 'x'"]),
    (["--shape=x=64"], ["input 'x' has 2 dimensions, the flag 1"]),
    (["--bound=N"], ["--bound 'N'"]),
    (["--target-cpu=riscv"], ["--target-cpu: need one of x86-64-v3, have 'riscv'"]),
])
def test_flags_that_make_no_sense(bench, flags, texts):
    done = bench.compile(tiny.mlp(), *flags)
    if "--bogus" in flags:  # the option parser's own words
        assert done.returncode == USAGE and "--bogus" in done.stderr
    else:
        expect(done, USAGE, *texts)


def test_no_arguments(bench):
    done = harness.run([harness.tool("plimc")], check=False)
    expect(done, USAGE, "need a model file", "need -o DIR (or --plan-only)")


def test_a_folder_that_cannot_be_made(bench):
    model = tiny.save(tiny.mlp(), bench.folder / "m.onnx")
    (bench.folder / "file").write_text("in the way")
    for out in (bench.folder / "file" / "out", bench.folder / "file", "/proc/plimsoll"):
        expect(harness.compile_model(model, out, check=False), ENVIRONMENT, str(out))
    assert (bench.folder / "file").read_text() == "in the way"


def test_a_folder_where_a_file_belongs(bench):
    (bench.out / "model.h").mkdir(parents=True)
    model = tiny.save(tiny.mlp(), bench.folder / "m.onnx")
    expect(harness.compile_model(model, bench.out, check=False), ENVIRONMENT, "model.h: need a place for a file")
    assert [p.name for p in bench.out.iterdir()] == ["model.h"]


@pytest.fixture
def small_disk(tmp_path):
    """small_disk(KiB): a file system of that size."""
    disk = tmp_path / "disk"
    disk.mkdir()

    def mount(kib):
        command = ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "none", disk]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip(f"mount: {done.stderr.strip()}")
        return disk

    yield mount
    subprocess.run(["umount", disk], capture_output=True)


@pytest.mark.parametrize("kib", [8, 64, 200, 300])
def test_a_full_disk(bench, small_disk, kib):
    model = tiny.save(tiny.mlp(), bench.folder / "m.onnx")
    disk = small_disk(kib)
    done = harness.compile_model(model, disk / "out", check=False)
    expect(done, ENVIRONMENT, str(disk / "out"), "No space left on device")
    assert list(disk.iterdir()) == []


def test_a_read_only_folder(bench, small_disk):
    model = tiny.save(tiny.mlp(), bench.folder / "m.onnx")
    disk = small_disk(64)
    if subprocess.run(["mount", "-o", "remount,ro", disk], capture_output=True).returncode != 0:
        pytest.skip("cannot remount")
    expect(harness.compile_model(model, disk / "out", check=False), ENVIRONMENT, "Read-only file system")


def test_no_linker_on_the_path(bench):
    expect(bench.compile(tiny.mlp(), env={"PATH": "/nowhere"}), ENVIRONMENT,
           "need a linker (ld.lld-22, ld.lld or ld) on the PATH, have none")


@pytest.mark.parametrize("delay", [0.02, 0.1, 0.2, 0.4, 0.8])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_compile_leaves_all_or_nothing(cls, bench, delay, number):
    process = subprocess.Popen([harness.tool("plimc"), cls.model, *cls.flags, "-o", bench.out / "deep"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(delay)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    status = process.wait()
    assert status in (0, 128 + number, -number)
    # All of it may be there where the signal came after the last rename.
    if status == 0 or os.path.lexists(bench.out):
        assert harness.digests(bench.out / "deep") == harness.digests(cls.out)
