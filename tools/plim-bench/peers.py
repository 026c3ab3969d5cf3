"""ONNX Runtime, the peer, in a fresh process of its own: python peers.py OPTIONS MODEL FOLDER THREADS REPS [OUT].

OPTIONS is `default`, or a list of no-arena and no-pattern. FOLDER holds inputs.npz. Prints one
JSON line: milliseconds a run, and the peak above the process as it was with the library and the inputs loaded.
"""

import json
import os
import pathlib
import sys
import time

from failure import Failure

# Options of ONNX Runtime that may lower its peak; which does best depends on the model.
SMALL = ("no-pattern", "no-arena", "no-arena,no-pattern")
# Without this, glibc raises the size from which it maps blocks of their own and keeps freed ones in a fragmented heap.
SMALL_ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": "65536"}
SMALL_REPS = 2


def spawn(options, model, folder, threads, reps, out=None, environment=None):
    """Figures of ONNX Runtime with these options in a fresh process."""
    from plimsoll import RUN_TIMEOUT, execute

    command = [sys.executable, "-B", __file__, options, model, folder, threads, reps, *([out] if out else [])]
    done = execute(command, RUN_TIMEOUT, {**os.environ, **(environment or {})})
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        raise Failure(2, f"ONNX Runtime: {last[0]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def smallest(model, folder, threads):
    """Figures of the option set of the least peak; one process each, since a peak needs no rounds."""
    runs = [{"options": o, **spawn(o, model, folder, threads, SMALL_REPS, environment=SMALL_ENVIRONMENT)}
            for o in SMALL]
    return min(runs, key=lambda r: r["peak"])


def make_session(model, threads, choices):
    """(output names, a function that runs the model)."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
    options.enable_cpu_mem_arena = "no-arena" not in choices
    options.enable_mem_pattern = "no-pattern" not in choices
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    wanted = {i.name for i in session.get_inputs()}
    return ([o.name for o in session.get_outputs()],
            lambda inputs: session.run(None, {k: v for k, v in inputs.items() if k in wanted}))


def status(key):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise Failure(4, f"/proc/self/status has no {key}")


def baseline():
    """Resident bytes now; the peak counts from here where the kernel lets a process reset it, else from its peak."""
    try:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
        return status("VmRSS")
    except OSError:
        return status("VmHWM")


def median(values):
    values = sorted(values)
    n = len(values)
    return values[n // 2] if n % 2 else (values[n // 2 - 1] + values[n // 2]) / 2


def main(options, model, folder, threads, reps, out=None):
    import numpy as np
    import onnxruntime as _  # the library belongs to the empty process

    with np.load(pathlib.Path(folder) / "inputs.npz") as file:
        inputs = {name: file[name] for name in file.files}
    before = baseline()
    names, run = make_session(model, int(threads), options.split(","))
    results = None
    for _ in range(2):
        results = run(inputs)
    cpu, wall = [], []
    for _ in range(int(reps)):
        c, w = time.process_time(), time.monotonic()
        run(inputs)
        cpu.append(1e3 * (time.process_time() - c))
        wall.append(1e3 * (time.monotonic() - w))
    peak = status("VmHWM") - before
    if out:
        np.savez(out, **dict(zip(names, results)))
    print(json.dumps({"cpu_ms": median(cpu), "wall_ms": median(wall), "peak": peak}))


if __name__ == "__main__":
    main(*sys.argv[1:])
