"""Random models under budgets, from the file to the run: a budget is met if it is at least the need that a refusal names,
the bits are those of the compile without a budget, memory is as planned, and answers are those of ONNX Runtime."""

import re

import numpy as np
import pytest

import harness
import tiny
from tiny import FLOAT, INT64

MODELS = 12
NEED = re.compile(r"need (\d+) bytes, have (\d+)")
PAGE = 4096


class Maker:
    """A network at random; values are 4-dimensional images or [rows, width]."""

    def __init__(self, seed):
        self.net, self.random = tiny.Network(seed), np.random.default_rng(seed)
        self.inputs, self.outputs, self.states = {}, [], {}

    def pick(self, low, high):
        return int(self.random.integers(low, high + 1))

    def chance(self, percent):
        return self.pick(1, 100) <= percent

    def input(self, name, *dims):
        self.inputs[name] = self.random.standard_normal(dims).astype(np.float32)
        return name

    def weight(self, *dims):
        fan = np.prod(dims[1:]) if len(dims) == 4 else dims[0]
        return (self.random.standard_normal(dims) / np.sqrt(fan)).astype(np.float32)

    def activation(self, x):
        return self.net.add(["Relu", "Sigmoid", "Tanh", "HardSwish"][self.pick(0, 3)], x)

    # Images [1, channels, side, side].

    def conv(self, x, channels, outputs, kernel=3, stride=1):
        bias = self.random.standard_normal(outputs).astype(np.float32) / 8
        return self.net.add("Conv", x, self.weight(outputs, channels, kernel, kernel), bias,
                            pads=[kernel // 2] * 4, strides=[stride] * 2)

    def excited(self, x, channels):
        mean = self.net.add("GlobalAveragePool", x)
        gate = self.net.add("Relu", self.conv(mean, channels, 4, 1))
        return self.net.add("Mul", x, self.net.add("Sigmoid", self.conv(gate, 4, channels, 1)))

    def image_block(self, x, channels):
        way = self.pick(0, 4)
        if way == 0:
            return self.excited(x, channels)
        if way == 1:
            return self.net.add("Add", x, self.activation(self.conv(self.activation(self.conv(x, channels, channels)),
                                                                    channels, channels)))
        if way == 2:
            low = self.activation(self.conv(x, channels, 2 * channels, stride=2))
            up = self.net.add("Resize", low, "", np.array([1, 1, 2, 2], np.float32), mode="nearest",
                              coordinate_transformation_mode="asymmetric", nearest_mode="floor")
            return self.conv(self.net.add("Concat", x, up, axis=1), 3 * channels, channels)
        if way == 3:
            return self.net.add("MaxPool", x, kernel_shape=[3, 3], pads=[1] * 4, strides=[1, 1])
        return self.activation(self.conv(x, channels, channels, 1))

    def images(self):
        channels, side = 4 * self.pick(2, 4), 8 * self.pick(3, 6)
        x = self.activation(self.conv(self.input("x", 1, 3, side, side), 3, channels))
        for _ in range(self.pick(3, 6)):
            x = self.image_block(x, channels)
        self.outputs.append(self.conv(x, channels, 2, 1))
        if self.chance(50):
            self.outputs.append(self.net.add("GlobalAveragePool", x))

    # Sequences [length, width].

    def dense(self, x, width, outputs):
        return self.net.add("MatMul", x, self.weight(width, outputs))

    def sequence_block(self, x, length, width):
        way = self.pick(0, 3)
        if way == 0:
            q, k, v = (self.dense(x, width, width) for _ in range(3))
            scores = self.net.add("MatMul", q, self.net.add("Transpose", k, perm=[1, 0]))
            scaled = self.net.add("Mul", scores, np.array(1 / np.sqrt(width), np.float32))
            mixed = self.net.add("MatMul", self.net.add("Softmax", scaled, axis=-1), v)
            return self.net.add("Add", x, self.dense(mixed, width, width))
        if way == 1:
            ones, zeros = np.ones(width, np.float32), np.zeros(width, np.float32)
            normed = self.net.add("LayerNormalization", x, ones, zeros, axis=-1)
            wide = self.activation(self.dense(normed, width, 4 * width))
            return self.net.add("Add", x, self.dense(wide, 4 * width, width))
        if way == 2:
            halves = self.net.add("Split", x, np.array([width // 2, width - width // 2], np.int64), axis=1, outputs=2)
            worked = self.activation(halves[0])
            return self.dense(self.net.add("Concat", worked, halves[1], x, axis=1), 2 * width, width)
        mean = self.net.add("ReduceMean", x, axes=[0])
        return self.net.add("Sub", self.activation(x), mean)

    def sequences(self):
        length, width = 32 * self.pick(1, 6), 32 * self.pick(2, 5)
        x = self.dense(self.input("x", length, 16), 16, width)
        for _ in range(self.pick(3, 5)):
            x = self.sequence_block(x, length, width)
        self.outputs.append(self.dense(x, width, 8))

    def stateful(self):
        rows, width = self.pick(2, 6), 32 * self.pick(1, 4)
        x, state = self.input("x", rows, width), self.input("past", rows, width)
        self.inputs[state][:] = 0
        mixed = self.net.add("Add", self.dense(x, width, width), self.dense(state, width, width))
        following = self.net.add("Tanh", mixed, outputs="next")
        y = self.net.add("Concat", following, state if self.chance(50) else x, axis=1)
        for _ in range(self.pick(1, 3)):
            y = self.sequence_block(y, rows, 2 * width)
        self.outputs.append(y)
        self.states[state] = following

    def branching(self):
        rows, width = 8 * self.pick(1, 6), 32 * self.pick(2, 5)
        x = self.dense(self.input("x", rows, 16), 16, width)
        x = self.sequence_block(x, rows, width)

        def graph(name, nodes, inputs, outputs):
            return tiny.helper.make_graph(nodes, name, inputs, [tiny.value(o, d, t) for o, d, t in outputs])

        w, v = self.net.constant(self.weight(width, width)), self.net.constant(self.weight(width, width))
        if self.chance(50):
            self.inputs["c"] = np.array(self.chance(50))
            ways = [graph(f"way{i}", [tiny.node("MatMul", f"{x} {m}", f"m{i}"), tiny.node(op, f"m{i}", f"way{i}")], [],
                          [(f"way{i}", None, FLOAT)]) for i, (m, op) in enumerate([(w, "Relu"), (v, "Tanh")])]
            x = self.net.add("If", "c", then_branch=ways[0], else_branch=ways[1])
        else:
            body = graph("body", [tiny.node("MatMul", f"h {w}", "m"), tiny.node("Tanh", "m", "t"),
                                  tiny.node("Add", f"t {x}", "h2"), tiny.node("Identity", "go", "on")],
                         [tiny.value("i", [], INT64), tiny.value("go", [], tiny.TensorProto.BOOL),
                          tiny.value("h", [rows, width])],
                         [("on", [], tiny.TensorProto.BOOL), ("h2", [rows, width], FLOAT)])
            x = self.net.add("Loop", np.array(self.pick(2, 4), np.int64), "", x, body=body)
        x = self.sequence_block(x, rows, width)
        self.outputs.append(self.dense(x, width, 8))

    def model(self):
        types = {np.dtype(np.float32): FLOAT, np.dtype(np.bool_): tiny.TensorProto.BOOL}
        inputs = [tiny.value(name, array.shape, types[array.dtype]) for name, array in self.inputs.items()]
        outputs = [tiny.value(name, None) for name in [*self.outputs, *self.states.values()]]
        return tiny.model(self.net.nodes, inputs, outputs, self.net.weights)


KINDS = [Maker.images, Maker.sequences, Maker.stateful, Maker.branching]


def made(seed):
    maker = Maker(seed)
    KINDS[seed % len(KINDS)](maker)
    return maker


def run_twice(out, maker, folder, *flags):
    """Two runs of one session, the second with the states of the first: (figures, outputs of both by name)."""
    folder.mkdir()
    given = {name: array for name, array in maker.inputs.items() if name not in maker.states}
    inputs = harness.save_inputs(given, folder)
    paths = {(run, name): folder / f"{run}-{i}.npy" for run in (0, 1) for i, name in enumerate(maker.outputs)}
    command = [harness.tool("plim-run"), out, *flags]
    for run in (0, 1):
        command += inputs + [f"--output={name}=@{paths[run, name]}" for name in maker.outputs]
        command += ["--then"] if run == 0 else ["--stats=json"]
    done = harness.run(command)
    return harness.json.loads(done.stdout.strip().splitlines()[-1]), {at: np.load(path) for at, path in paths.items()}


def reference(path, maker):
    """The same by ONNX Runtime."""
    inputs, outputs = dict(maker.inputs), {}
    for run in (0, 1):
        answers = harness.ort_outputs(path, inputs)
        outputs.update({(run, name): answers[name] for name in maker.outputs})
        inputs.update({state: answers[following] for state, following in maker.states.items()})
    return outputs


@pytest.mark.parametrize("seed", range(MODELS))
def test_budgets_change_no_bits(seed, tmp_path):
    maker = made(seed)
    model = tiny.save(maker.model(), tmp_path / "m.onnx")
    flags = ["--numerics=exact", "--target-cpu=x86-64-v3", f"--workers={1 + seed % 3}",
             *(f"--state={state}={following}" for state, following in maker.states.items())]
    if seed // 4 % 2:
        flags.append("--ssd=64MiB")
    spill = [f"--spill-dir={tmp_path}"]

    harness.compile_model(model, tmp_path / "whole", *flags)
    stats, want = run_twice(tmp_path / "whole", maker, tmp_path / "whole-run", *spill)
    for at, expected in reference(model, maker).items():
        assert harness.largest_error(want[at], expected)[1] <= 1, f"run {at[0]}, {at[1]}"
    most = stats["tiers"]["ram"]["planned"]

    def compiled(budget, *more):
        return harness.compile_model(model, tmp_path / f"out{budget}", *flags, f"--ram={budget}", *more, check=False)

    refused = compiled(1, "--plan-only")
    assert refused.returncode == harness.BUDGET, refused.stderr
    need = int(NEED.search(refused.stderr)[1])
    assert need <= most
    below = compiled(need - PAGE - 1, "--plan-only")
    assert below.returncode == harness.BUDGET, f"need {need}, met {need - PAGE - 1}"
    for budget in {need, (need + most) // 2}:
        done = compiled(budget)
        assert done.returncode == 0, f"need {need}, budget {budget}: {done.stderr}"
        stats, have = run_twice(tmp_path / f"out{budget}", maker, tmp_path / f"run{budget}", *spill)
        for at, expected in want.items():
            assert have[at].tobytes() == expected.tobytes(), f"budget {budget}, run {at[0]}, {at[1]}"
        ram = stats["tiers"]["ram"]
        assert ram["ledger"] == ram["planned"] <= budget
        for executed, planned in (("live", "live_planned"), ("touched", "touched_planned")):
            if any(node.op_type == "If" for node in maker.net.nodes):
                assert ram[executed] <= ram[planned]
            else:
                assert ram[executed] == ram[planned], executed
