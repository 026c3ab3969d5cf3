"""Writes SmolLM2-135M, a language model, as an ONNX decoder (opset 17) with a KV cache, from its GGUF file.

    tools/make_smollm2.py MODEL.gguf OUT.onnx [--layers N]

Inputs   input_ids i64[1,S], position_ids i64[1,S], past_k.L and past_v.L f32[1,3,P,64] for every layer L
Outputs  logits f32[1,S,49152], present_k.L and present_v.L f32[1,3,P+S,64]

Position P is the number of tokens in the cache: a first run has P = 0 and position_ids 0..S-1, a decode step S = 1 and
position_ids P. Weights are dequantised to f32, 517 MiB in OUT.onnx.data.
"""

import argparse
import pathlib
import sys

import numpy as np
import onnx
from gguf import GGUFReader
from gguf.quants import dequantize
from onnx import TensorProto, helper, numpy_helper

MAX_POSITIONS = 8192  # rows of the rotation tables
MASKED = -1e9  # added to the score of a key that a query must not see


class Sizes:
    """Sizes of the network, from the GGUF file's metadata."""

    def __init__(self, reader):
        def field(name):
            return reader.fields[f"llama.{name}"].contents()

        self.layers, self.width = field("block_count"), field("embedding_length")
        self.heads, self.kv_heads = field("attention.head_count"), field("attention.head_count_kv")
        self.head = self.width // self.heads
        self.rope_base, self.epsilon = field("rope.freq_base"), field("attention.layer_norm_rms_epsilon")


class Graph:
    """Nodes, initializers, and the constants already made."""

    def __init__(self):
        self.nodes, self.initializers, self.constants = [], [], {}

    def weight(self, name, value):
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def constant(self, value, dtype=np.int64):
        key = (str(value), np.dtype(dtype).name)
        if key not in self.constants:
            self.constants[key] = self.weight(f"const{len(self.constants)}", np.array(value, dtype))
        return self.constants[key]

    def node(self, op, inputs, outputs=1, **attributes):
        """Adds a node; `outputs` is how many to name, or the name of the one. Returns the name or the list of names."""
        index = len(self.nodes)
        names = [outputs] if isinstance(outputs, str) else [f"{op}_{index}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=f"n{index}_{op}", **attributes))
        return names[0] if len(names) == 1 else names


class Decoder(Graph):
    """The whole network. Inputs and outputs of a step are value names."""

    def __init__(self, weights, sizes, layers):
        super().__init__()
        self.weights, self.sizes = weights, sizes
        self.rotation_tables()
        self.mask = self.visible_keys()
        x = self.node("Gather", [self.weight("embedding", weights["token_embd.weight"]), "input_ids"], axis=0)
        for layer in range(layers):
            x = self.node("Add", [x, self.attention(x, layer)])
            x = self.node("Add", [x, self.feed_forward(x, layer)])
        x = self.node("Reshape", [self.norm(x, "output_norm.weight", "output_norm"), self.constant([-1, sizes.width])])
        # The head is tied to the embedding; transB keeps one table where a folded Transpose would make a second.
        self.node("Unsqueeze", [self.node("Gemm", [x, "embedding"], transB=1), self.constant([0])], "logits")

    def rotation_tables(self):
        frequency = 1.0 / self.sizes.rope_base ** (np.arange(0, self.sizes.head, 2) / self.sizes.head)
        angle = np.concatenate([np.outer(np.arange(MAX_POSITIONS), frequency)] * 2, axis=1)
        tables = (self.weight("cos_table", np.cos(angle).astype(np.float32)),
                  self.weight("sin_table", np.sin(angle).astype(np.float32)))
        self.cos, self.sin = (self.node("Unsqueeze", [self.node("Gather", [t, "position_ids"], axis=0),
                                                      self.constant([1])]) for t in tables)

    def visible_keys(self):
        """0 where a query sees a key, MASKED where it does not: f32[S,P+S]."""
        past = self.node("Gather", [self.node("Shape", ["past_k.0"]), self.constant(2)], axis=0)
        step = self.node("Gather", [self.node("Shape", ["input_ids"]), self.constant(1)], axis=0)
        keys = self.node("Range", [self.constant(0), self.node("Add", [past, step]), self.constant(1)])
        visible = self.node("LessOrEqual", [self.node("Unsqueeze", [keys, self.constant([0])]),
                                            self.node("Transpose", ["position_ids"], perm=[1, 0])])
        return self.node("Where", [visible, self.constant(0.0, np.float32), self.constant(MASKED, np.float32)])

    def norm(self, x, source, name):
        self.weight(name, self.weights[source])
        mean = self.node("ReduceMean", [self.node("Mul", [x, x])], axes=[-1])
        root = self.node("Sqrt", [self.node("Add", [mean, self.constant(self.sizes.epsilon, np.float32)])])
        return self.node("Mul", [self.node("Div", [x, root]), name])

    def linear(self, x, source, name, rotated_heads=0):
        w = self.weights[source]
        if rotated_heads:  # GGUF interleaves the halves of each head of q and k; the rotation here splits them
            w = w.reshape(rotated_heads, self.sizes.head // 2, 2, -1).swapaxes(1, 2).reshape(w.shape)
        return self.node("MatMul", [x, self.weight(name, w.T)])

    def split_heads(self, x, heads):
        x = self.node("Reshape", [x, self.constant([1, -1, heads, self.sizes.head])])
        return self.node("Transpose", [x], perm=[0, 2, 1, 3])

    def rotate(self, x):
        first, second = self.node("Split", [x], 2, axis=3)
        turned = self.node("Concat", [self.node("Neg", [second]), first], axis=-1)
        return self.node("Add", [self.node("Mul", [x, self.cos]), self.node("Mul", [turned, self.sin])])

    def attention(self, x, layer):
        s, block = self.sizes, f"blk.{layer}."
        y = self.norm(x, block + "attn_norm.weight", f"attn_norm.{layer}")
        q = self.linear(y, block + "attn_q.weight", f"q.{layer}", s.heads)
        k = self.linear(y, block + "attn_k.weight", f"k.{layer}", s.kv_heads)
        v = self.linear(y, block + "attn_v.weight", f"v.{layer}")
        q, k = self.rotate(self.split_heads(q, s.heads)), self.rotate(self.split_heads(k, s.kv_heads))
        k = self.node("Concat", [f"past_k.{layer}", k], f"present_k.{layer}", axis=2)
        v = self.node("Concat", [f"past_v.{layer}", self.split_heads(v, s.kv_heads)], f"present_v.{layer}", axis=2)
        # Queries of the heads that share a key head lie side by side: [1, kv_heads, group, S, head].
        q = self.node("Reshape", [self.node("Mul", [q, self.constant(s.head ** -0.5, np.float32)]),
                                  self.constant([1, s.kv_heads, s.heads // s.kv_heads, -1, s.head])])
        k = self.node("Unsqueeze", [self.node("Transpose", [k], perm=[0, 1, 3, 2]), self.constant([2])])
        p = self.node("Softmax", [self.node("Add", [self.node("MatMul", [q, k]), self.mask])], axis=-1)
        o = self.node("MatMul", [p, self.node("Unsqueeze", [v, self.constant([2])])])
        o = self.node("Reshape", [o, self.constant([1, s.heads, -1, s.head])])
        o = self.node("Reshape", [self.node("Transpose", [o], perm=[0, 2, 1, 3]), self.constant([1, -1, s.width])])
        return self.linear(o, block + "attn_output.weight", f"o.{layer}")

    def feed_forward(self, x, layer):
        block = f"blk.{layer}."
        y = self.norm(x, block + "ffn_norm.weight", f"ffn_norm.{layer}")
        gate = self.linear(y, block + "ffn_gate.weight", f"gate.{layer}")
        gate = self.node("Mul", [gate, self.node("Sigmoid", [gate])])
        up = self.linear(y, block + "ffn_up.weight", f"up.{layer}")
        return self.linear(self.node("Mul", [gate, up]), block + "ffn_down.weight", f"down.{layer}")


def model_of(graph, layers):
    s = graph.sizes
    value, f32, i64 = helper.make_tensor_value_info, TensorProto.FLOAT, TensorProto.INT64
    caches = [f"{kind}.{layer}" for layer in range(layers) for kind in "kv"]
    vocabulary = graph.weights["token_embd.weight"].shape[0]
    inputs = [value("input_ids", i64, [1, "S"]), value("position_ids", i64, [1, "S"])]
    inputs += [value(f"past_{c}", f32, [1, s.kv_heads, "P", s.head]) for c in caches]
    outputs = [value("logits", f32, [1, "S", vocabulary])]
    outputs += [value(f"present_{c}", f32, [1, s.kv_heads, "T", s.head]) for c in caches]
    proto = helper.make_graph(graph.nodes, "smollm2_135m", inputs, outputs, graph.initializers)
    return helper.make_model(proto, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def convert(gguf, out, layers=None):
    """Writes OUT and OUT.data; `layers` leaves the later ones out."""
    out = pathlib.Path(out)
    reader = GGUFReader(gguf)
    sizes = Sizes(reader)
    weights = {t.name: dequantize(t.data, t.tensor_type).astype(np.float32).reshape([int(n) for n in t.shape[::-1]])
               for t in reader.tensors}
    layers = sizes.layers if layers is None else layers
    model = model_of(Decoder(weights, sizes, layers), layers)
    onnx.save(model, out, save_as_external_data=True, location=f"{out.name}.data")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gguf")
    parser.add_argument("out")
    parser.add_argument("--layers", type=int, help="only the first N layers")
    args = parser.parse_args()
    convert(args.gguf, args.out, args.layers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
