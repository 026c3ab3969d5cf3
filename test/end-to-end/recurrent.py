"""ONNX models of one recurrent node, with options at random."""

import numpy as np
from onnx import helper, numpy_helper

import tiny

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
FUNCTIONS = {"LSTM": 3, "GRU": 2, "RNN": 1}
# Those that keep states small: with others, errors of rounding grow without bound.
NAMES = ["Sigmoid", "Tanh", "Relu", "LeakyRelu", "HardSigmoid", "Elu", "Softsign", "Softplus"]
INPUTS = {"LSTM": ["X", "W", "R", "B", "lengths", "h", "c", "P"], "GRU": ["X", "W", "R", "B", "lengths", "h"],
          "RNN": ["X", "W", "R", "B", "lengths", "h"]}


class Case:
    """model: an ONNX model; inputs: what it is run on, {name: array}; outputs: their names."""

    def __init__(self, seed, op=None, open_sizes=False, weights=True):
        rng = np.random.default_rng(seed)
        self.rng, self.seed = rng, seed
        self.op = op or rng.choice(list(GATES))
        self.size, self.depth = int(rng.integers(1, 40)), int(rng.integers(1, 20))
        self.steps, self.sequences = int(rng.integers(1, 9)), int(rng.integers(1, 6))
        self.direction = str(rng.choice(["forward", "reverse", "bidirectional"]))
        self.directions = 2 if self.direction == "bidirectional" else 1
        self.open_sizes = open_sizes
        present = ["X", "W", "R"] + [n for n in INPUTS[self.op][3:] if rng.random() < 0.6]
        self.inputs, initializers, values = {}, [], []
        for name, array in self.arrays().items():
            if name not in present:
                continue
            if weights and name in "WRBP":
                initializers.append(numpy_helper.from_array(array, name))
                continue
            self.inputs[name] = array
            values.append(tiny.value(name, self.dims(name, array), helper.np_dtype_to_tensor_dtype(array.dtype)))
        names = [n if n in present else "" for n in INPUTS[self.op]]
        while not names[-1]:
            names.pop()
        self.outputs = ["Y", "Y_h", "Y_c"] if self.op == "LSTM" else ["Y", "Y_h"]
        # Now and then only the last states are asked for.
        if rng.random() < 0.3:
            self.outputs = self.outputs[1:]
        written = [n if n in self.outputs else "" for n in ["Y", "Y_h", "Y_c"][:3 if self.op == "LSTM" else 2]]
        node = helper.make_node(self.op, names, written, name="net", **self.attributes())
        self.model = tiny.model([node], values, [tiny.value(n, None) for n in self.outputs], initializers)

    def arrays(self):
        rng, d, h, g = self.rng, self.directions, self.size, GATES[self.op]
        floats = lambda scale, *dims: (scale * rng.standard_normal(dims)).astype(np.float32)
        return {"X": floats(1, self.steps, self.sequences, self.depth), "W": floats(0.5, d, g * h, self.depth),
                "R": floats(h**-0.5, d, g * h, h), "B": floats(0.5, d, 2 * g * h),
                "lengths": rng.integers(1, self.steps + 1, self.sequences).astype(np.int32),
                "h": floats(0.5, d, self.sequences, h), "c": floats(0.5, d, self.sequences, h),
                "P": floats(0.3, d, 3 * h)}

    def dims(self, name, array):
        dims = list(array.shape)
        if self.open_sizes:
            for axis, symbol in {"X": [(0, "T"), (1, "N")], "lengths": [(0, "N")], "h": [(1, "N")],
                                 "c": [(1, "N")]}.get(name, []):
                dims[axis] = symbol
        return dims

    def attributes(self):
        rng = self.rng
        attributes = {"hidden_size": self.size, "direction": self.direction}
        if rng.random() < 0.5:
            count = FUNCTIONS[self.op] * self.directions
            attributes["activations"] = [str(n) for n in rng.choice(NAMES, count)]
            # As many as the functions take, or none: how ONNX Runtime reads fewer is its own.
            if rng.random() < 0.5:
                alphas = [n for n in attributes["activations"] if n in ("LeakyRelu", "HardSigmoid", "Elu")]
                betas = [n for n in attributes["activations"] if n == "HardSigmoid"]
                attributes["activation_alpha"] = [float(rng.uniform(0.1, 0.4)) for _ in alphas]
                attributes["activation_beta"] = [float(rng.uniform(0.3, 0.6)) for _ in betas]
                attributes = {k: v for k, v in attributes.items() if v != []}
        if rng.random() < 0.4:
            attributes["clip"] = float(rng.uniform(0.3, 2))
        if self.op == "LSTM" and rng.random() < 0.3:
            attributes["input_forget"] = 1
        if self.op == "GRU" and rng.random() < 0.5:
            attributes["linear_before_reset"] = 1
        return attributes


class QuantizedCase:
    """com.microsoft.DynamicQuantizeLSTM; `steps` as for Case."""

    def __init__(self, seed, steps):
        rng = np.random.default_rng(seed)
        size, depth, sequences = int(rng.integers(1, 70)), int(rng.integers(1, 40)), int(rng.integers(1, 4))
        direction = str(rng.choice(["forward", "reverse", "bidirectional"]))
        d = 2 if direction == "bidirectional" else 1
        dtype = np.int8 if seed % 2 else np.uint8
        # Of each column a scale, or one for all; bytes need a zero point of their own, one for all columns.
        shape = (d,) if rng.random() < 0.5 else (d, 4 * size)
        zero = 0 if dtype == np.int8 else 128
        floats = lambda scale, *dims: (scale * rng.standard_normal(dims)).astype(np.float32)

        def weights(name, rows):
            values = np.clip(np.rint(rng.standard_normal((d, rows, 4 * size)) * 40), -127, 127) + zero
            scale = rng.uniform(0.8, 1.2, shape) * rows**-0.5 / 40
            return {name: values.astype(dtype), f"{name}_scale": scale.astype(np.float32),
                    f"{name}_zero": np.full(shape, zero, dtype)}

        constants = {**weights("W", depth), **weights("R", size)}
        names = ["X", "W", "R", "", "", "", "", "", "W_scale", "W_zero", "R_scale", "R_zero"]
        self.inputs = {"X": floats(1, steps, sequences, depth)}
        optional = {3: ("B", floats(0.3, d, 8 * size)), 5: ("h", floats(0.5, d, sequences, size)),
                    6: ("c", floats(0.5, d, sequences, size)), 7: ("P", floats(0.3, d, 12 * size)[:, :3 * size])}
        for place, (name, array) in optional.items():
            if rng.random() < 0.6:
                names[place] = name
                (constants if name in "BP" else self.inputs)[name] = np.ascontiguousarray(array)
        self.outputs = ["Y", "Y_h", "Y_c"]
        node = helper.make_node("DynamicQuantizeLSTM", names, self.outputs, name="net", domain="com.microsoft",
                                hidden_size=size, direction=direction)
        values = [tiny.value(n, a.shape, helper.np_dtype_to_tensor_dtype(a.dtype)) for n, a in self.inputs.items()]
        self.model = tiny.model([node], values, [tiny.value(n, None) for n in self.outputs],
                                [numpy_helper.from_array(a, n) for n, a in constants.items()],
                                domains=["com.microsoft"])
