"""The peers of a benchmark: other runtimes, each in fresh processes of its own (peer_process.py), so that its time and
its peak are its own. ONNX Runtime is always one; OpenVINO and IREE are where their packages are installed."""

import importlib.metadata
import json
import os
import pathlib
import sys

import iree_compile
from failure import Failure

NAMES = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO", "iree": "IREE"}
PACKAGES = {"onnxruntime": ["onnxruntime"], "openvino": ["openvino"],
            "iree": ["iree-base-runtime", "iree-base-compiler"]}
PROGRAM = pathlib.Path(__file__).with_name("peer_process.py")
# Option sets of ONNX Runtime that may lower its peak; which does best depends on the model.
SMALL = ("no-pattern", "no-arena", "no-arena,no-pattern")
# Without this, glibc raises the size from which it maps blocks of their own and keeps freed ones in a fragmented heap.
SMALL_ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": "65536"}
SMALL_REPS = 2


def version(peer):
    """That of the peer's first package; none where one of them is not installed."""
    try:
        return [importlib.metadata.version(package) for package in PACKAGES[peer]][0]
    except importlib.metadata.PackageNotFoundError:
        return None


def installed():
    """{peer: version} of those that can run here, ONNX Runtime first."""
    return {peer: version(peer) for peer in NAMES if version(peer)}


def prepare(peer, model, dims, cache):
    """The file that the peer's process loads: the model itself, or what the peer's own compiler makes of it."""
    return iree_compile.compiled(model, dims, cache) if peer == "iree" else model


def spawn(peer, options, model, folder, threads, reps, seconds, out=None, environment=None):
    """Figures of a peer with these options in a fresh process, which stops after `reps` runs or so many seconds."""
    from plimsoll import RUN_TIMEOUT, execute

    command = [sys.executable, "-B", PROGRAM, peer, options, model, folder, threads, reps, seconds,
               *([out] if out else [])]
    done = execute(command, RUN_TIMEOUT, {**os.environ, **(environment or {})})
    if done.returncode:
        raise Failure(2, f"{NAMES[peer]}: {last_words(done)}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def last_words(done):
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return lines[-1] if lines else f"exit status {done.returncode}"


def smallest(model, folder, threads):
    """Figures of ONNX Runtime's option set of the least peak; one process each, since a peak needs no rounds."""
    runs = [{"options": options, **spawn("onnxruntime", options, model, folder, threads, SMALL_REPS, 0,
                                         environment=SMALL_ENVIRONMENT)} for options in SMALL]
    return min(runs, key=lambda run: run["peak"])
