"""An installation that is moved after it was made: other people's projects find it by CMake or pkg-config, compile a
model with it and link it with a plain C compiler."""

import re
import shutil

import pytest

import harness

MAKEFILE = """
PLIMC = $(shell pkg-config --variable=plimc plimsoll)
run_model: main.c net/model.o
\tcc -std=c11 -Wall -Wextra -Werror -Inet -DWEIGHTS='"net/model.weights"' `pkg-config --cflags plimsoll` main.c \\
\t  net/model.o `pkg-config --libs plimsoll` -o $@
net/model.o: cls.onnx
\t$(PLIMC) cls.onnx --shape=x=1x3x48x192 --name=net -o net && cp net/model.h net/net.h
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("install")
    harness.run(["cmake", "--install", harness.BUILD, "--prefix", folder / "made"])
    (folder / "made").rename(folder / "moved")
    return folder / "moved"


@pytest.fixture
def project(cls, tmp_path):
    folder = tmp_path / "project"
    shutil.copytree(harness.SOURCE / "examples" / "cmake", folder)
    shutil.copy(cls.model, folder / "cls.onnx")
    return folder


def check_run(done):
    assert "input x: 110592 bytes\n" in done.stdout
    planned, reserved = re.search(r"planned (\d+) bytes, reserved (\d+) bytes", done.stdout).groups()
    assert planned == reserved


def configure(project, build, *flags, check=True):
    return harness.run(["cmake", "-G", "Unix Makefiles", "-DCMAKE_C_COMPILER=cc", "-B", build, "-DMODEL=cls.onnx",
                        "-DSHAPE=x=1x3x48x192", "-DRAM=16MiB", *flags], cwd=project, check=check)


@pytest.mark.parametrize("found_in", ["installation", "build tree"])
def test_a_cmake_project_outside_the_tree_compiles_and_links_a_model(prefix, project, tmp_path, found_in):
    build = tmp_path / "build"
    configure(project, build, f"-DCMAKE_PREFIX_PATH={prefix if found_in == 'installation' else harness.BUILD}")
    harness.run(["cmake", "--build", build])
    check_run(harness.run([build / "run_model"]))
    stamp = (build / "net.plim" / "model.o").stat().st_mtime_ns
    harness.run(["cmake", "--build", build])
    assert (build / "net.plim" / "model.o").stat().st_mtime_ns == stamp, "an unchanged model is not compiled again"


def test_a_makefile_finds_everything_by_pkg_config(prefix, project):
    (project / "Makefile").write_text(MAKEFILE)
    env = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    harness.run(["make"], cwd=project, env=env)
    check_run(harness.run(["./run_model"], cwd=project))
    version = harness.run(["pkg-config", "--modversion", "plimsoll"], env=env).stdout.strip()
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)


def test_the_installed_tools_run_and_no_file_names_the_source_or_the_build(prefix, tmp_path):
    for tool in ("plimc", "plim-run", "plim-dump", "plim-solve", "plim-opt"):
        harness.run([prefix / "bin" / tool, "--help"])
    texts = [p for p in prefix.rglob("*") if p.suffix in (".cmake", ".pc", ".h")]
    assert {"PlimsollConfig.cmake", "plimsoll.pc", "plim.h"} <= {p.name for p in texts}
    for path in texts:
        text = path.read_text()
        assert str(harness.BUILD) not in text and str(harness.SOURCE) not in text, path


def test_a_version_that_is_not_there_is_refused(prefix, project, tmp_path):
    lists = project / "CMakeLists.txt"
    lists.write_text(lists.read_text().replace("find_package(Plimsoll 0.1", "find_package(Plimsoll 99.1"))
    done = configure(project, tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}", check=False)
    assert done.returncode != 0 and 'compatible with requested version "99.1"' in " ".join(done.stderr.split())


def test_a_model_that_does_not_compile_fails_the_build_with_its_reason(prefix, project, tmp_path):
    build = tmp_path / "build"
    configure(project, build, f"-DCMAKE_PREFIX_PATH={prefix}", "-DRAM=1KiB")
    done = harness.run(["cmake", "--build", build], check=False)
    assert done.returncode != 0
    assert "no plan found within the budget" in done.stdout + done.stderr or "no plan fits" in done.stdout + done.stderr
    assert not (build / "run_model").exists()
