"""Compiled models in other people's programs: a plain C compiler links them, one or several."""

import re
import shutil

import numpy as np
import pytest

import harness
import tiny
from harness import INCLUDE, LIBRARIES, cc

MAIN = """
#include <stdlib.h>
%(includes)s
static int run(const plim_model *model, const char *weight_file, float first, float *out, size_t bytes) {
  static _Alignas(64) float in[2 * 64];
  plim_scope scope;
  plim_weights *weights = NULL;
  plim_context *context = NULL;
  plim_session *session = NULL;
  for (int i = 0; i < 2 * 64; ++i)
    in[i] = first + (float)i / 128;
  plim_status st = plim_find(model, NULL, NULL, &scope);
  if (!st) st = plim_weights_create(model, scope, weight_file, NULL, &weights);
  if (!st) st = plim_context_create(weights, scope, NULL, &context);
  if (!st) st = plim_session_create(weights, scope, NULL, &session);
  if (!st) st = plim_bind_input(session, PLIM_NONE, "x", in, sizeof in, NULL, 0);
  if (!st) st = plim_bind_output(session, PLIM_NONE, "y", out, bytes);
  if (!st) st = plim_run(session, context, PLIM_NONE, NULL);
  if (st) fprintf(stderr, "%%s\\n", plim_last_error()->message);
  plim_session_destroy(session);
  plim_context_destroy(context);
  plim_weights_destroy(weights);
  return st;
}
int main(int argc, char **argv) {
  static _Alignas(64) float y[2 * 64];
  (void)argc;
%(runs)s
  return 0;
}
"""


def undefined_symbols(file):
    return re.findall(r"^\s*[Uwv] (\S+)", harness.run(["nm", "-u", file]).stdout, re.M)


def is_cxx(symbol):
    return symbol.startswith(("_Z", "__cxa_", "__gxx_")) and not symbol.startswith("__cxa_finalize")


def test_the_detector_example_runs(compiled_real, tmp_path):
    detector = compiled_real("ppocr_det@960")
    harness.compile_model(detector.model, tmp_path, *detector.flags, "--name=det", "--ram=96MiB")
    shutil.copy(tmp_path / "model.h", tmp_path / "det.h")
    cc("-O1", harness.SOURCE / "examples" / "detect" / "main.c", "model.o", "-I.", *LIBRARIES, "-o", "detect",
       cwd=tmp_path)
    done = harness.run(["./detect", "model.weights"], cwd=tmp_path)
    mean, planned, reserved = re.fullmatch(r"mean ([\d.]+), planned (\d+) bytes, reserved (\d+) bytes\n",
                                           done.stdout).groups()
    assert planned == reserved
    assert 0 <= float(mean) <= 1
    assert harness.run(["./detect"], cwd=tmp_path, check=False).returncode == 1
    wrong = harness.run(["./detect", "model.h"], cwd=tmp_path, check=False)
    assert wrong.returncode == 1 and wrong.stderr.startswith("open: ")


@pytest.mark.parametrize("file", ["model.o", "libplim_rt.a", "libplim_kernels.a"])
def test_nothing_needs_a_cxx_library(cls, file):
    path = cls.out / file if file == "model.o" else harness.BUILD / "lib" / file
    symbols = undefined_symbols(path)
    assert symbols
    if file == "libplim_rt.a":  # members call each other by mangled names
        defined = set(re.findall(r" [TtDdBbRrVW] (\S+)", harness.run(["nm", path]).stdout))
        symbols = [s for s in symbols if s not in defined]
    if file == "libplim_kernels.a":
        defined = set(re.findall(r" [TtDdBbRrVW] (\S+)", harness.run(["nm", path]).stdout))
        symbols = [s for s in symbols if s not in defined]
    assert [s for s in symbols if is_cxx(s)] == []


def test_the_shared_object_needs_only_the_c_library(cls):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", harness.run(["readelf", "-d", cls.out / "model.so"]).stdout)
    assert all(n.startswith(("libc.", "libm.", "libpthread.", "ld-linux")) for n in needed), needed
    assert [s for s in undefined_symbols(cls.out / "model.so") if is_cxx(s)] == []


def test_two_models_link_into_one_program(tmp_path):
    rng = np.random.default_rng(5)
    want = []
    for name, width in (("first", 64), ("second", 64)):
        proto = tiny.mlp()
        for tensor in proto.graph.initializer:
            if name == "second":
                tensor.raw_data = (rng.standard_normal(len(tensor.raw_data) // 4) / 8).astype(np.float32).tobytes()
        model = tiny.save(proto, tmp_path / f"{name}.onnx")
        out = tmp_path / name
        harness.compile_model(model, out, f"--name={name}")
        shutil.copy(out / "model.h", tmp_path / f"{name}.h")
        start = len(want)
        x = (np.float32(start) + np.arange(2 * width, dtype=np.float32) / 128).reshape(2, width)
        want.append(harness.ort_outputs(model, {"x": x})["y"].ravel())
    runs = "".join(
        f"""  if (run(&{name}_model, argv[{i + 1}], {i}, y, sizeof y)) return 1;
  for (int i = 0; i < 2 * 64; ++i) printf("%.9g\\n", (double)y[i]);
""" for i, name in enumerate(("first", "second")))
    (tmp_path / "main.c").write_text(MAIN % {"includes": '#include "first.h"\n#include "second.h"', "runs": runs})
    cc("main.c", "-I.", "first/model.o", "second/model.o", *LIBRARIES, "-o", "both", cwd=tmp_path)
    done = harness.run(["./both", "first/model.weights", "second/model.weights"], cwd=tmp_path)
    have = np.array(done.stdout.split(), np.float32)
    for i, expected in enumerate(want):
        assert harness.largest_error(have[i * 128:(i + 1) * 128], expected)[1] <= 1
    swapped = harness.run(["./both", "second/model.weights", "first/model.weights"], cwd=tmp_path, check=False)
    assert swapped.returncode == 1, "one model's weights do not serve the other"


def test_every_symbol_has_the_models_prefix(tmp_path):
    model = tiny.save(tiny.mlp(), tmp_path / "m.onnx")
    harness.compile_model(model, tmp_path / "out", "--name=det")
    defined = re.findall(r" [TDRBVW] (\S+)", harness.run(["nm", tmp_path / "out" / "model.o"]).stdout)
    assert "det_model" in defined
    assert all(s.startswith("det_") for s in defined), defined


@pytest.mark.parametrize("compiler, language", [("cc", "c99"), ("cc", "c11"), ("clang++-22", "c++11"), ("clang++-22", "c++20")])
def test_the_header_compiles_as_c99_and_cxx(cls, tmp_path, compiler, language):
    suffix = "cpp" if language.startswith("c++") else "c"
    source = tmp_path / f"user.{suffix}"
    source.write_text('#include "model.h"\n#include "model.h"\nconst plim_model *model(void);\n'
                      "const plim_model *model(void) { return &model_model; }\n")
    harness.run([compiler, f"-std={language}", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}",
                 f"-I{cls.out}", "-c", source, "-o", tmp_path / "user.o"])


def header_example(out, to):
    """The program in the comment on top of model.h, as a file."""
    header = (out / "model.h").read_text()
    comment = header[header.index("/*"):header.index("*/")]
    code = "\n".join(line[5:] for line in comment.splitlines() if line.startswith(" *   ") and " cc " not in line)
    to.write_text(code)


def test_the_usage_example_on_top_of_the_header_compiles_and_runs(cls, tmp_path):
    header_example(cls.out, tmp_path / "main.c")
    shutil.copy(cls.out / "model.weights", tmp_path)
    cc("main.c", cls.out / "model.o", f"-I{cls.out}", *LIBRARIES, "-o", "example", cwd=tmp_path)
    harness.run(["./example"], cwd=tmp_path)


def test_any_names_of_inputs_make_a_header_that_works(tmp_path):
    names = ['x"; */ #error', "y\\\n#error no", "9 lives", "9.lives", "9_lives",
             "\u00fcber \u732b", "%s ??/", "a\x01b7"]
    out = "*/ \n#error out"
    proto = tiny.model([tiny.helper.make_node("Sum", names, [out], name="sum")], [tiny.value(n, [4]) for n in names],
                       [tiny.value(out, [4])])
    harness.compile_model(tiny.save(proto, tmp_path / "m.onnx"), tmp_path / "out")
    plan = harness.plan_of(tmp_path / "out")["programs"][0]
    assert [t["name"] for t in plan["inputs"]] == names
    header_example(tmp_path / "out", tmp_path / "main.c")
    cc("main.c", "out/model.o", "-Iout", *LIBRARIES, "-o", "example", cwd=tmp_path)
    harness.run(["./example"], cwd=tmp_path)
    harness.run([harness.tool("plim-run"), tmp_path / "out", "--input-random", "--stats=json"])
