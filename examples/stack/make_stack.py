"""Writes a stack of transformer layers as ONNX (opset 17) with external data, of any size: a model for budgets that are
far below its weights.

    tools/dev python examples/stack/make_stack.py OUT.onnx [--layers N] [--width N] [--heads N] [--seed N]
    plimc OUT.onnx --shape=x=16x512 --ram=24MiB -o stack.plim
    plim-run stack.plim --input-random

Input and output x, y: f32[S, width]; S is open. A layer is attention over all S rows and a feed-forward block of four
times the width, each behind a normalisation and with a residual connection: 12 * width^2 weights, the largest 4 * width^2
of them. Prints the bytes of the weights. OUT.onnx.data is written weight by weight, so a stack may be larger than the
RAM. Weights depend on the seed alone.
"""

import argparse
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

PAGE = 4096


class Stack:
    """Nodes, small constants inside the model, weights in the file beside it."""

    def __init__(self, data, location, seed):
        self.data, self.location, self.random = data, location, np.random.default_rng(seed)
        self.nodes, self.initializers = [], []
        self.weight_bytes = 0

    def constant(self, name, value, dtype=np.int64):
        self.initializers.append(numpy_helper.from_array(np.array(value, dtype), name))
        return name

    def weight(self, name, rows, columns):
        value = self.random.standard_normal((rows, columns), np.float32) / np.float32(rows ** 0.5)
        self.data.seek(-self.data.tell() % PAGE, 1)
        place = {"location": self.location, "offset": self.data.tell(), "length": value.nbytes}
        tensor = TensorProto(name=name, dims=value.shape, data_type=TensorProto.FLOAT,
                             data_location=TensorProto.EXTERNAL)
        for key, word in place.items():
            tensor.external_data.add(key=key, value=str(word))
        self.data.write(value.tobytes())
        self.initializers.append(tensor)
        self.weight_bytes += value.nbytes
        return name

    def node(self, op, name, *inputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def norm(self, x, name, width):
        scale = self.constant(f"{name}.scale", np.ones(width), np.float32)
        shift = self.constant(f"{name}.shift", np.zeros(width), np.float32)
        return self.node("LayerNormalization", name, x, scale, shift, axis=-1)

    def linear(self, x, name, rows, columns):
        return self.node("MatMul", name, x, self.weight(f"{name}.weight", rows, columns))

    def attention(self, x, layer, width):
        y = self.norm(x, f"attn_norm.{layer}", width)
        heads = {}
        for part, order in (("q", [1, 0, 2]), ("k", [1, 2, 0]), ("v", [1, 0, 2])):
            split = self.node("Reshape", f"{part}_split.{layer}", self.linear(y, f"{part}.{layer}", width, width), "split")
            heads[part] = self.node("Transpose", f"{part}_heads.{layer}", split, perm=order)
        score = self.node("Mul", f"score.{layer}", self.node("MatMul", f"qk.{layer}", heads["q"], heads["k"]), "scale")
        seen = self.node("MatMul", f"seen.{layer}", self.node("Softmax", f"share.{layer}", score, axis=-1), heads["v"])
        rows = self.node("Transpose", f"rows.{layer}", seen, perm=[1, 0, 2])
        return self.linear(self.node("Reshape", f"joined.{layer}", rows, "join"), f"o.{layer}", width, width)

    def feed_forward(self, x, layer, width):
        y = self.linear(self.norm(x, f"ffn_norm.{layer}", width), f"up.{layer}", width, 4 * width)
        gate = self.node("Mul", f"gate.{layer}", y, self.node("Sigmoid", f"sigmoid.{layer}", y))
        return self.linear(gate, f"down.{layer}", 4 * width, width)

    def build(self, layers, width, heads):
        self.constant("split", [0, heads, width // heads])
        self.constant("join", [0, width])
        self.constant("scale", (width // heads) ** -0.5, np.float32)
        x = "x"
        for layer in range(layers):
            x = self.node("Add", f"attended.{layer}", x, self.attention(x, layer, width))
            last = layer + 1 == layers
            x = self.node("Add", "y" if last else f"fed.{layer}", x, self.feed_forward(x, layer, width))
        value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["S", width]) for name in "xy"]
        graph = helper.make_graph(self.nodes, "stack", value[:1], value[1:], self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def write(out, layers=16, width=512, heads=8, seed=1):
    """Writes OUT and OUT.data; bytes of the weights."""
    out = pathlib.Path(out)
    location = f"{out.name}.data"
    with open(out.with_name(location), "wb") as data:
        stack = Stack(data, location, seed)
        model = stack.build(layers, width, heads)
    out.write_bytes(model.SerializeToString())
    return stack.weight_bytes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--layers", type=int, default=16, help="default 16")
    parser.add_argument("--width", type=int, default=512, help="default 512")
    parser.add_argument("--heads", type=int, default=8, help="default 8; a divisor of the width")
    parser.add_argument("--seed", type=int, default=1, help="default 1")
    args = parser.parse_args()
    if min(args.layers, args.width, args.heads) < 1 or args.width % args.heads:
        parser.error("need positive sizes, and a width that is a multiple of the heads")
    print(f"{write(args.out, args.layers, args.width, args.heads, args.seed)} bytes of weights")
    return 0


if __name__ == "__main__":
    sys.exit(main())
