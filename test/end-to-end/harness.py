"""What the end-to-end tests share: the tools, models, seeded inputs and ONNX Runtime's answers."""

import contextlib
import hashlib
import json
import os
import pathlib
import resource
import subprocess
import sys

import numpy as np

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("PLIM_BUILD", SOURCE / "build"))
CACHE = pathlib.Path(os.environ.get("PLIM_CACHE_DIR", pathlib.Path.home() / ".cache" / "plimsoll"))
sys.path.insert(0, str(SOURCE / "tools"))
import demo  # noqa: E402
import models  # noqa: E402

INCLUDE = SOURCE / "runtime" / "include"
LIBRARIES = [f"-L{BUILD / 'lib'}", "-lplim_rt", "-lplim_kernels", "-lpthread", "-lm"]
ARTIFACT = ["model.h", "model.html", "model.o", "model.plan.json", "model.so", "model.weights"]
PLAN_CACHE = ".plimc-plans"
# Exit statuses, docs/errors.md.
USAGE, MODEL, BUDGET, ENVIRONMENT, DIFFERS = 1, 2, 3, 4, 5
MIB = 1 << 20
DTYPES = {"f32": np.float32, "i64": np.int64, "i32": np.int32, "f16": np.float16, "bool": np.bool_, "i8": np.int8,
          "u8": np.uint8}


def tool(name):
    return str(BUILD / "bin" / name)


def run(command, check=True, limit=None, cgroup=None, timeout=600, cwd=None, env=None):
    """Runs a tool; with `limit` under RLIMIT_DATA of so many bytes, with `cgroup` in that folder's memory cgroup;
    `env` is added to the environment. A failure shows what the tool said."""

    def enter():
        if cgroup:
            (pathlib.Path(cgroup) / "cgroup.procs").write_text(str(os.getpid()))
        if limit:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout, cwd=cwd,
                          env={**os.environ, **env} if env else None, preexec_fn=enter if limit or cgroup else None)
    if check and done.returncode != 0:
        said = f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
        raise AssertionError(f"{' '.join(map(str, command))}: {said}")
    return done


def cc(*arguments, cwd):
    """Compiles C11 as users do; LIBRARIES at the end link a compiled model."""
    return run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}", *arguments], cwd=cwd)


def compile_model(model, out, *flags, check=True, **more):
    return run([tool("plimc"), model, "-o", out, *flags], check=check, **more)


def plan_of(out):
    """model.plan.json as a dictionary."""
    return json.loads((pathlib.Path(out) / "model.plan.json").read_text())


def kernels_of(out):
    """Names of the kernels that a plan launches."""
    return {step["kernel"] for program in plan_of(out)["programs"] for step in program["steps"] if "kernel" in step}


def digests(out):
    """{file name: SHA-256} of everything in a folder, hidden files included, but for the compiler's cache of plans."""
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(pathlib.Path(out).iterdir())
            if p.name != PLAN_CACHE}


# The peak of a process that a large Python forks would be Python's, so a small one forks it and waits.
PEAK = """
import os, sys
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(pid, 0)
open(sys.argv[1], 'w').write(str(used.ru_maxrss * 1024))
sys.exit(os.waitstatus_to_exitcode(status) & 255)
"""


def peak_of(command, folder):
    """Runs a command that must succeed; its own VmHWM in bytes."""
    note = pathlib.Path(folder) / "peak"
    run([sys.executable, "-S", "-E", "-c", PEAK, note, *command])
    return int(note.read_text())


def cgroup_base():
    """(version, folder) where a nested memory cgroup can be made, or the reason why not."""
    words = run([SOURCE / "tools" / "cgroup-probe"]).stdout.strip()
    version, _, base = words.partition(" ")
    return (version, base) if version in ("v1", "v2") else words


@contextlib.contextmanager
def memory_cgroup(base, limit):
    """A nested memory cgroup of `limit` bytes and no swap; yields (its folder, function for its peak so far)."""
    version, parent = base
    folder = pathlib.Path(parent) / f"plimsoll-test-{os.getpid()}"
    folder.mkdir()
    try:
        if version == "v2":
            (folder / "memory.max").write_text(str(limit))
            with contextlib.suppress(OSError):
                (folder / "memory.swap.max").write_text("0")
            peak = folder / "memory.peak"
        else:
            (folder / "memory.limit_in_bytes").write_text(str(limit))
            with contextlib.suppress(OSError):
                (folder / "memory.swappiness").write_text("0")
            peak = folder / "memory.max_usage_in_bytes"
        yield folder, lambda: int(peak.read_text()) if peak.exists() else None
    finally:
        folder.rmdir()


def seeded_inputs(model, seed=7):
    """Inputs of a models.csv row: floats in [0, 1), ids below 255, masks of ones, positions that count up; a page of
    lines for the text detector, which answers noise with zeros everywhere."""
    if model.name.startswith("ppocr_det"):
        return {name: demo.draw(dims[-1]) for name, (dims, _) in model.inputs.items()}
    rng = np.random.default_rng(seed)
    out = {}
    for name, (dims, dtype) in model.inputs.items():
        if name in model.counted:
            first = model.counted[name]
            out[name] = np.arange(first, first + np.prod(dims), dtype=DTYPES[dtype]).reshape(dims)
        elif "token_type" in name:
            out[name] = np.zeros(dims, DTYPES[dtype])
        elif "mask" in name:
            out[name] = np.ones(dims, DTYPES[dtype])
        elif dtype.startswith("i"):
            out[name] = rng.integers(0, 255, dims).astype(DTYPES[dtype])
        else:
            out[name] = rng.random(dims, dtype=np.float32).astype(DTYPES[dtype])
    return out


def ort_outputs(path, inputs):
    """Outputs by name, computed by ONNX Runtime on one thread, the model as it is written: with its graph
    optimizations, ONNX Runtime itself is up to three times the tolerance away from that on pages for the text
    detector."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


def save_inputs(inputs, folder):
    """Writes name.npy files with C order; returns plim-run's --input flags."""
    flags = []
    for i, (name, array) in enumerate(inputs.items()):
        path = pathlib.Path(folder) / f"in{i}.npy"
        np.save(path, np.asarray(array, order="C"))
        flags.append(f"--input={name}=@{path}")
    return flags


def run_model(out, inputs, folder, *flags, outputs=(), check=True, **more):
    """Runs a compiled model; returns (plim-run's JSON, {name: array} for the outputs asked for). `more` is run()'s."""
    command = [tool("plim-run"), out, "--stats=json", *save_inputs(inputs, folder), *flags]
    paths = {}
    for i, name in enumerate(outputs):
        paths[name] = pathlib.Path(folder) / f"out{i}.npy"
        command.append(f"--output={name}=@{paths[name]}")
    done = run(command, check=check, **more)
    if not check:
        return done, None
    stats = json.loads(done.stdout.strip().splitlines()[-1])
    return stats, {name: np.load(path) for name, path in paths.items()}


def largest_error(have, want):
    """Largest absolute difference, and largest |have - want| / (atol + rtol |want|) at rtol 1e-3, atol 1e-4."""
    have, want = have.astype(np.float64), want.astype(np.float64)
    diff = np.abs(have - want)
    if diff.size == 0:
        return 0.0, 0.0
    return float(diff.max()), float((diff / (1e-4 + 1e-3 * np.abs(want))).max())


def run_like_ort(model, out, inputs, folder, *flags, rtol=1e-3, atol=1e-4, **more):
    """Runs a compiled model, whose outputs must be those of ONNX Runtime and whose memory at most the planned; returns
    (plim-run's JSON, {name: array}). `more` is run()'s."""
    want = ort_outputs(model, inputs)
    stats, have = run_model(out, inputs, folder, *flags, outputs=list(want), **more)
    for name, expected in want.items():
        types = [f"{array.dtype}{list(array.shape)}" for array in (expected, have[name])]
        assert types[0] == types[1], f"{name}: need {types[0]}, have {types[1]}"
        np.testing.assert_allclose(have[name], expected, rtol, atol, equal_nan=False, err_msg=name)
    ram = stats["tiers"]["ram"]
    for executed, planned in (("ledger", "planned"), ("live", "live_planned"), ("touched", "touched_planned")):
        if ram[executed] is not None:  # touched bytes are measured by poison runs only
            assert ram[executed] <= ram[planned], f"{executed}: planned {ram[planned]} bytes, executed {ram[executed]}"
    return stats, have
