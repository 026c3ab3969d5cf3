"""What the end-to-end tests share: the tools, models, seeded inputs and ONNX Runtime's answers."""

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
import models  # noqa: E402

DTYPES = {"f32": np.float32, "i64": np.int64, "i32": np.int32, "f16": np.float16, "bool": np.bool_, "i8": np.int8,
          "u8": np.uint8}


def tool(name):
    return str(BUILD / "bin" / name)


def run(command, check=True, limit=None, timeout=600, cwd=None, env=None):
    """Runs a tool; with `limit` under RLIMIT_DATA of so many bytes. A failure shows what the tool said."""

    def set_limit():
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout, cwd=cwd, env=env,
                          preexec_fn=set_limit if limit else None)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def compile_model(model, out, *flags, check=True):
    return run([tool("plimc"), model, "-o", out, *flags], check=check)


def seeded_inputs(model, seed=7):
    """Inputs of a models.csv row: floats in [0, 1), ids below 1,000, masks of ones."""
    rng = np.random.default_rng(seed)
    out = {}
    for name, (dims, dtype) in model.inputs.items():
        if "mask" in name:
            out[name] = np.ones(dims, DTYPES[dtype])
        elif dtype.startswith("i"):
            out[name] = rng.integers(0, 255, dims).astype(DTYPES[dtype])
        else:
            out[name] = rng.random(dims, dtype=np.float32).astype(DTYPES[dtype])
    return out


def ort_outputs(path, inputs):
    """Outputs by name, computed by ONNX Runtime on one thread."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


def save_inputs(inputs, folder):
    """Writes name.npy files with C order; returns plim-run's --input flags."""
    flags = []
    for i, (name, array) in enumerate(inputs.items()):
        path = pathlib.Path(folder) / f"in{i}.npy"
        np.save(path, np.ascontiguousarray(array))
        flags.append(f"--input={name}=@{path}")
    return flags


def run_model(out, inputs, folder, *flags, outputs=(), limit=None, check=True):
    """Runs a compiled model; returns (plim-run's JSON, {name: array} for the outputs asked for)."""
    command = [tool("plim-run"), out, "--stats=json", *save_inputs(inputs, folder), *flags]
    paths = {}
    for i, name in enumerate(outputs):
        paths[name] = pathlib.Path(folder) / f"out{i}.npy"
        command.append(f"--output={name}=@{paths[name]}")
    done = run(command, limit=limit, check=check)
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
