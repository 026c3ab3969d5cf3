"""Same input and flags, same bytes out, wherever and with however many threads the compile ran."""

import shutil

import pytest

import harness


def compiled_again(cls, out, *flags, **more):
    harness.compile_model(cls.model, out, *cls.flags, *flags, **more)
    return harness.digests(out)


@pytest.fixture(scope="module")
def first(cls):
    return harness.digests(cls.out)


def test_an_artifact_is_exactly_six_files(first):
    assert sorted(first) == harness.ARTIFACT


def test_a_second_compile_gives_the_same_bytes(cls, first, tmp_path):
    assert compiled_again(cls, tmp_path / "out") == first


@pytest.mark.parametrize("jobs", [1, 3])
def test_the_number_of_compile_threads_changes_no_byte(cls, first, tmp_path, jobs):
    assert compiled_again(cls, tmp_path / "out", f"--jobs={jobs}") == first


def test_folder_and_model_path_change_no_byte(cls, first, tmp_path):
    elsewhere = tmp_path / "a folder with another name"
    elsewhere.mkdir()
    shutil.copy(cls.model, elsewhere / "m.onnx")
    harness.run([harness.tool("plimc"), "m.onnx", *cls.flags, "-o", "deep/er/out"], cwd=elsewhere,
                env={"HOME": "/nowhere", "LC_ALL": "C", "TZ": "Asia/Tokyo"})
    assert harness.digests(elsewhere / "deep" / "er" / "out") == first


def test_compiling_over_an_artifact_gives_the_same_bytes(cls, first, tmp_path):
    compiled_again(cls, tmp_path / "out", "--ram=64MiB", "--name=other")
    assert compiled_again(cls, tmp_path / "out") == first


def test_a_budget_that_binds_is_deterministic_too(cls, tmp_path):
    peak = harness.plan_of(cls.out)["programs"][0]
    flags = [f"--ram={peak['reserved_peak']['ram'] + peak['io_bytes']}"]
    assert compiled_again(cls, tmp_path / "a", *flags) == compiled_again(cls, tmp_path / "b", *flags, "--jobs=1")


def test_artifacts_name_no_path_of_the_machine(cls):
    paths = [str(p).encode() for p in (harness.SOURCE, harness.BUILD, cls.out, cls.model.parent)]
    for file in cls.out.iterdir():
        data = file.read_bytes()
        for path in (*paths, b"/home/", b"/usr/lib/llvm"):
            assert path not in data, f"{file.name} holds {path}"
