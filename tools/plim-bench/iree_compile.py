"""What IREE's compiler makes of an ONNX model whose input sizes are known: a module in the cache, made once."""

import hashlib
import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from failure import Failure

TIMEOUT = 900  # seconds of each of its two programs
OPSET = 17  # the least that its importer reads
FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
         "--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O2",
         "--iree-llvmcpu-stack-allocation-limit=1048576"]  # its default stops the compile of some models


def fixed(model, dims, folder):
    """A copy of the model in `folder` with these sizes of inputs, its external data beside it; (path, names)."""
    import onnx

    proto = onnx.load(model, load_external_data=False)
    stored = {w.name for w in proto.graph.initializer}
    inputs = [i for i in proto.graph.input if i.name not in stored]
    for value in inputs:
        shape = value.type.tensor_type.shape
        for dim, size in zip(shape.dim, dims[value.name]):
            dim.Clear()
            dim.dim_value = size
    for value in proto.graph.output:  # what these say belongs to other sizes
        for dim in value.type.tensor_type.shape.dim:
            dim.Clear()
    del proto.graph.value_info[:]
    path = folder / "model.onnx"
    onnx.save(proto, path)
    for data in {entry.value for w in proto.graph.initializer for entry in w.external_data if entry.key == "location"}:
        shutil.copyfile(pathlib.Path(model).resolve().parent / data, folder / data)  # links are refused by the checker
    return path, {"inputs": [i.name for i in inputs], "outputs": [o.name for o in proto.graph.output]}


def run(command):
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace",
                              timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise Failure(2, f"IREE: no end of its compile after {TIMEOUT} s") from None
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        reason = next((line for line in lines if "error:" in line), lines[-1] if lines else "no reason given")
        raise Failure(2, f"IREE cannot compile it: {reason[:300]}")


def compiled(model, dims, cache):
    """Path of the module for this model at these sizes ({input: dims}); the names of its inputs lie beside it."""
    version = importlib.metadata.version("iree-base-compiler")
    key = hashlib.sha256(json.dumps([str(model), os.stat(model).st_size, dims, version, FLAGS]).encode()).hexdigest()
    target = pathlib.Path(cache) / "iree" / f"{key[:16]}.vmfb"
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as work:
        folder = pathlib.Path(work)
        path, names = fixed(model, dims, folder)
        run([sys.executable, "-m", "iree.compiler.tools.import_onnx", path, "--opset-version", OPSET, "--data-prop",
             "-o", folder / "model.mlir"])
        run([pathlib.Path(sys.executable).with_name("iree-compile"), folder / "model.mlir", "-o", folder / "module",
             *FLAGS])
        pathlib.Path(f"{target}.json").write_text(json.dumps(names))
        (folder / "module").rename(target)
    return target
