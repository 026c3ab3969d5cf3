"""The node tests of the onnx package, compiled by plimc, run by plim-run and compared with their expected outputs.

    onnx_nodes.py [--filter REGEX] [--jobs N]   runs them; prints what differs from onnx-node-gaps.txt, and a table
    onnx_nodes.py --page                        prints docs/reference/onnx-node-tests.md, from onnx-node-gaps.txt
    onnx_nodes.py --gaps                        runs them; prints what belongs into onnx-node-gaps.txt

Each test is a model of one node (or its expansion into other operators) with inputs and expected outputs. What decides
shapes is data there; real models have constants in its place. So a model that is refused is tried again with its inputs
of rank 0 and 1 as constants, then with all but the first, then with all; what passes only so is counted apart.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

import harness

DATA = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"
GAPS = pathlib.Path(__file__).with_name("onnx-node-gaps.txt")
PAGE = harness.SOURCE / "docs" / "reference" / "onnx-node-tests.md"
# From best to worst. `constants`: passes with inputs that decide shapes as constants of the model.
STATES = ["passed", "constants", "unsupported", "failed"]
TIMEOUT = 60  # seconds of one process; the slowest test takes one
ROOM = 64  # trips, or elements of a dimension, that are values of the run
INTRODUCTION = """# ONNX node tests

Printed by `tools/dev onnx-nodes --page`. The node tests of the onnx package, {version}, each compiled by `plimc`, run
by `plim-run` and compared with its expected outputs. Where the number of a loop's trips, or a size, is a value of the
run, `plimc` asks for a bound and gets one of {room}.

- *Passed with constants*: inputs that decide shapes, which are data in these tests, were made constants of the model,
  as real models have them.
- *Unsupported*: refused at compile time with a message that says why.

`tools/dev onnx-nodes` runs them. What does not pass is listed in `test/end-to-end/onnx-node-gaps.txt`; a test fails
where that list is not right, so it only shrinks.

"""
# numpy has no bfloat16: plim-run reads and writes it as 16-bit words.
BF16 = TensorProto.BFLOAT16


class Test:
    def __init__(self, folder):
        self.folder, self.name = folder, folder.name
        self.model = onnx.load(folder / "model.onnx")
        graph = self.model.graph
        self.inputs, self.outputs = list(graph.input), list(graph.output)
        values = self.inputs + self.outputs
        training = any(n.domain == "ai.onnx.preview.training" or
                       any(a.name == "training_mode" and a.i for a in n.attribute) for n in graph.node)
        self.is_tensor = all(v.type.HasField("tensor_type") for v in values) and not training

    def operator(self):
        """The operator that is tested: that of the node, or of the test whose expansion this is."""
        base = self.folder.with_name(re.sub(r"_expanded.*$", "", self.name))
        node = (onnx.load(base / "model.onnx") if base != self.folder and base.exists() else self.model).graph.node[0]
        return f"{node.domain}.{node.op_type}" if node.domain else node.op_type

    def value(self, kind, index, path="test_data_set_0"):
        tensor = TensorProto()
        tensor.ParseFromString((self.folder / path / f"{kind}_{index}.pb").read_bytes())
        return tensor

    def data(self):
        """Tensors of inputs and outputs, or None where one is no tensor."""
        if not all(v.type.HasField("tensor_type") for v in self.inputs + self.outputs):
            return None
        return ([self.value("input", i) for i in range(len(self.inputs))],
                [self.value("output", i) for i in range(len(self.outputs))])

    def variants(self, inputs):
        """Indices of the inputs that become constants, variant by variant."""
        n = len(inputs)
        small = [i for i in range(n) if len(inputs[i].dims) <= 1 and (i or n == 1)]
        seen = []
        for chosen in ([], small, list(range(1, n)), list(range(n))):
            if chosen not in seen:
                seen.append(chosen)
                yield chosen

    def with_constants(self, inputs, chosen):
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        del model.graph.input[:]
        for i, (info, tensor) in enumerate(zip(self.inputs, inputs)):
            if i in chosen:
                model.graph.initializer.add().CopyFrom(tensor)
                model.graph.initializer[-1].name = info.name
            else:
                model.graph.input.add().CopyFrom(info)
        return model


def array_of(tensor):
    """The elements as an array that .npy can hold, and as they count in a comparison."""
    array = numpy_helper.to_array(tensor)
    if tensor.data_type == BF16:
        return array.view(np.uint16), array.astype(np.float32)
    return array, array


def difference(want_tensor, have):
    """What is wrong with an output, or None."""
    stored, want = array_of(want_tensor)
    if have.dtype != stored.dtype or have.shape != stored.shape:
        return f"need {stored.dtype}{list(stored.shape)}, have {have.dtype}{list(have.shape)}"
    if want_tensor.data_type == BF16:
        have = (have.astype(np.uint32) << 16).view(np.float32)
    if want.dtype.kind in "biu":
        wrong = have != want
    else:
        rtol, atol = (1e-2, 1e-3) if stored.dtype.itemsize < 4 else (1e-3, 1e-6)
        with np.errstate(all="ignore"):
            wrong = ~np.isclose(have.astype(np.float64), want.astype(np.float64), rtol, atol, equal_nan=True)
    if wrong.any():
        at = np.unravel_index(np.argmax(wrong), wrong.shape)
        return f"{int(wrong.sum())} of {wrong.size} elements differ; at {list(map(int, at))} need {want[at]}, " \
               f"have {have[at]}"
    return None


def call(command):
    """(exit status or a word for a crash or a hang, what it said)"""
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return "hang", f"no end after {TIMEOUT} s"
    said = done.stderr.decode(errors="replace").strip()
    return ("crash" if done.returncode < 0 or done.returncode >= 70 else done.returncode), said


def compile_model(path, out, flags):
    return call([harness.tool("plimc"), str(path), "-o", str(out), "--jobs=1", *flags])


def attempt(test, inputs, outputs, chosen, folder):
    """(state, why) of one variant; state `refused` where plimc says no."""
    path, out = folder / "model.onnx", folder / "out"
    path.write_bytes(test.with_constants(inputs, chosen).SerializeToString())
    flags = []
    status, said = compile_model(path, out, flags)
    # Where trips or sizes are values of the run, the error says how to bound them.
    while status == harness.MODEL and len(flags) < 4 and (asked := re.search(r"--bound '([^'=]+)=\w+\.\.MOST'", said)):
        flags.append(f"--bound={asked[1]}=0..{ROOM}")
        status, said = compile_model(path, out, flags)
    if status != 0:
        return ("failed", f"plimc: {status}: {said}") if isinstance(status, str) else ("refused", said)
    command = [harness.tool("plim-run"), str(out), "--threads=1"]
    for i, tensor in enumerate(inputs):
        if i not in chosen:
            np.save(folder / f"in{i}.npy", array_of(tensor)[0])
            command.append(f"--input={test.inputs[i].name}=@{folder}/in{i}.npy")
    for i in range(len(outputs)):
        command.append(f"--output={test.outputs[i].name}=@{folder}/out{i}.npy")
    status, said = call(command)
    if status != 0:
        return "failed", f"plim-run: {status}: {said}"
    for i, want in enumerate(outputs):
        if why := difference(want, np.load(folder / f"out{i}.npy")):
            return "failed", f"output '{test.outputs[i].name}': {why}"
    return "passed", ""


def run_test(name):
    """(name, state, why)"""
    test = Test(DATA / name)
    data = test.data()
    with tempfile.TemporaryDirectory(prefix="plim-node-") as temporary:
        if data is None:  # sequences, optional values: as far as the import says no, no data are needed
            status, said = call([harness.tool("plimc"), str(test.folder / "model.onnx"), "-o", f"{temporary}/out"])
            return name, "unsupported" if isinstance(status, int) and status else "failed", said
        for chosen in test.variants(data[0]):
            folder = pathlib.Path(temporary) / str(len(os.listdir(temporary)))
            folder.mkdir()
            state, why = attempt(test, *data, chosen, folder)
            if state != "refused":
                return name, "constants" if state == "passed" and chosen else state, why
            # Constants help no operator that is not there.
            if re.search(r"operators? (is|are) not supported", why):
                break
        return name, "unsupported", why


def names(pattern=""):
    return sorted(f.name for f in DATA.iterdir() if re.search(pattern, f.name))


def run_all(pattern="", jobs=None):
    """{name: (state, why)}"""
    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        return {name: (state, why) for name, state, why in pool.map(run_test, names(pattern))}


def read_gaps():
    """{name: state} of the tests that do not pass as they are."""
    gaps = {}
    for line in GAPS.read_text().splitlines():
        if line and not line.startswith("#"):
            name, state = line.split()
            gaps[name] = state
    return gaps


def disagreements(results, gaps):
    """What a run and the file of gaps do not agree on."""
    lines = []
    for name, (state, why) in results.items():
        known = gaps.get(name, "passed")
        if state != known:
            better = STATES.index(state) < STATES.index(known)
            lines.append(f"{name}: {state}, but {GAPS.name} has {known}" +
                         ("; correct the file" if better else f": {why}"))
    return lines


def summary(states):
    """Markdown: totals, then a line an operator, from {name: state}."""
    tests = {name: Test(DATA / name) for name in states}
    total, tensors = collections.Counter(), collections.Counter()
    rows = collections.defaultdict(collections.Counter)
    for name, state in states.items():
        total[state] += 1
        rows[tests[name].operator()][state] += 1
        if tests[name].is_tensor:
            tensors[state] += 1

    def line(head, counts):
        return f"| {head} | {sum(counts.values())} | " + " | ".join(str(counts[s]) for s in STATES) + " |"

    head = " | tests | passed | passed with constants | unsupported | failed |\n|---|---|---|---|---|---|\n"
    lines = ["| tests of" + head + line("all", total), line("tensors, outside training", tensors), ""]
    share = 100 * (tensors["passed"] + tensors["constants"]) / max(1, sum(tensors.values()))
    lines.append(f"Of the tests of tensors outside training {share:.1f} % pass.\n")
    lines.append("| operator" + head + "\n".join(line(k, rows[k]) for k in sorted(rows)))
    return "\n".join(lines) + "\n"


def page():
    gaps = read_gaps()
    states = {name: gaps.get(name, "passed") for name in names()}
    return INTRODUCTION.format(version=onnx.__version__, room=ROOM) + summary(states)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="only tests whose name matches")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--gaps", action="store_true")
    parser.add_argument("--why", action="store_true", help="say of each test that does not pass why")
    args = parser.parse_args()
    if args.page:
        sys.stdout.write(page())
        return 0
    results = run_all(args.filter, args.jobs)
    if args.gaps:
        for name, (state, _) in results.items():
            if state != "passed":
                print(name, state)
        return 0
    if args.why:
        for name, (state, why) in results.items():
            if state not in ("passed", "constants"):
                print(f"{name}: {state}: {why}")
    lines = disagreements(results, read_gaps() if GAPS.exists() else {})
    sys.stdout.write(summary({name: state for name, (state, _) in results.items()}))
    print("\n".join(lines))
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
