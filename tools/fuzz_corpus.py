"""Seeds for the fuzzers of build-fuzz, made from ONNX's node tests: models for the reader and the importer, arrays for
the .npy reader, plans and step tables of the node tests that compile; plans of the project's tests too.

    tools/fuzz_corpus.py --tools build/bin --out FOLDER [--most-bytes N] [--tests 'test_*']

FOLDER gets one folder a kind: models, arrays, plans, tables. Names are the digests of the bytes, so that a second run
adds nothing. plans.dict holds the words that plans are written in.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

SOURCE = pathlib.Path(__file__).resolve().parent.parent
NODE_TESTS = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"
COMPILE_TIMEOUT = 60  # seconds


class Corpus:
    def __init__(self, folder, most_bytes):
        self.folder, self.most_bytes = folder, most_bytes

    def add(self, kind, data):
        if 0 < len(data) <= self.most_bytes:
            folder = self.folder / kind
            folder.mkdir(parents=True, exist_ok=True)
            (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


def arrays_of(test):
    """The tensors of a node test as the bytes of .npy files."""
    for path in sorted(test.glob("test_data_set_0/*.pb")):
        tensor = onnx.TensorProto()
        try:
            tensor.ParseFromString(path.read_bytes())
            array = numpy_helper.to_array(tensor)
        except Exception:  # sequences and optional values are files of the same name, and no tensors
            continue
        if array.dtype.kind in "biuf":
            out = io.BytesIO()
            np.save(out, array)
            yield out.getvalue()


def plan_of(tools, model):
    """(plan, step table) of a model as bytes, or nothing where it does not compile."""
    with tempfile.TemporaryDirectory(prefix="plim-corpus-") as folder:
        plan, table = pathlib.Path(folder) / "plan.mlir", pathlib.Path(folder) / "plan.table"
        try:
            with open(plan, "wb") as out:
                done = subprocess.run([tools / "plimc", model, "--emit=plan"], stdout=out, stderr=subprocess.DEVNULL,
                                      timeout=COMPILE_TIMEOUT)
            if done.returncode:
                return None
            done = subprocess.run([tools / "plim-dump", "--encode", plan, "-o", table], stderr=subprocess.DEVNULL,
                                  timeout=COMPILE_TIMEOUT)
        except subprocess.TimeoutExpired:
            return None
        return plan.read_bytes(), table.read_bytes() if done.returncode == 0 else b""


def tested_plans():
    """Plans that tests of dialects and passes are about: all stages, loops, branches, states."""
    for path in sorted((SOURCE / "test").rglob("*.mlir")):
        for part in path.read_text().split("// -----"):
            if "plan." in part:
                yield "".join(line for line in part.splitlines(True) if not line.lstrip().startswith("//")).encode()


def dictionary(plans):
    """libFuzzer's dictionary: words that at least two plans have."""
    counts = collections.Counter()
    for plan in plans:
        counts.update(set(re.findall(r"[#!@%]?[a-z][a-z_0-9.]*[a-z0-9]", plan.decode(errors="ignore"))))
    return "".join(f'"{word}"\n' for word, count in sorted(counts.items()) if count >= 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=pathlib.Path, required=True, metavar="DIR",
                        help="where plimc and plim-dump are")
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="FOLDER")
    parser.add_argument("--most-bytes", type=int, default=16384, metavar="N", help="largest seed (default 16384)")
    parser.add_argument("--tests", default="*", metavar="GLOB", help="node tests to take (default: all)")
    args = parser.parse_args()
    missing = [str(args.tools / tool) for tool in ("plimc", "plim-dump") if not (args.tools / tool).exists()]
    if missing:
        print(f"fuzz_corpus.py: need {', '.join(missing)}; tools/dev build makes them", file=sys.stderr)
        return 4
    corpus = Corpus(args.out, args.most_bytes)
    tests = sorted(path.parent for path in NODE_TESTS.glob(f"{args.tests}/model.onnx"))
    for test in tests:
        corpus.add("models", (test / "model.onnx").read_bytes())
        for data in arrays_of(test):
            corpus.add("arrays", data)
    for plan in tested_plans():
        corpus.add("plans", plan)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for made in pool.map(lambda test: plan_of(args.tools, test / "model.onnx"), tests):
            if made:
                plan, table = made
                corpus.add("plans", plan)
                corpus.add("tables", b"\0" + table if table else b"")  # the first byte: the rest is a whole table
    (args.out / "plans.dict").write_text(dictionary(path.read_bytes() for path in (args.out / "plans").iterdir()))
    kinds = [path for path in sorted(args.out.iterdir()) if path.is_dir()]
    print(", ".join(f"{sum(1 for _ in kind.iterdir())} {kind.name}" for kind in kinds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
