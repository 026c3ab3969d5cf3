"""A small decoder with a KV cache, as exporters write it: grouped heads, rotated positions, a mask by position."""

import numpy as np

import tiny

WIDTH, HEADS, GROUPS, HEAD, VOCABULARY, POSITIONS = 64, 4, 2, 16, 97, 64


class Writer(tiny.Network):
    def weight(self, *dims, scale=None):
        return self.constant(self.random.standard_normal(dims) * (scale or dims[0] ** -0.5), np.float32)

    def constant(self, array, dtype=None):
        return super().constant(np.atleast_1d(array), dtype)

    def ints(self, *values):
        return self.constant(values, np.int64)

    def norm(self, x):
        mean = self.add("ReduceMean", self.add("Mul", x, x), axes=[-1])
        root = self.add("Sqrt", self.add("Add", mean, self.constant(np.float32(1e-5))))
        return self.add("Mul", self.add("Div", x, root), self.weight(WIDTH, scale=1.0))

    def rotate(self, x, cos, sin):
        half = HEAD // 2
        first = self.add("Slice", x, self.ints(0), self.ints(half), self.ints(3))
        second = self.add("Slice", x, self.ints(half), self.ints(HEAD), self.ints(3))
        turned = self.add("Concat", self.add("Neg", second), first, axis=-1)
        return self.add("Add", self.add("Mul", x, cos), self.add("Mul", turned, sin))


def model(layers=2):
    """Inputs input_ids, position_ids i64[1, S], past_k.l and past_v.l f32[1, 2, P, 16]; outputs logits, present_*."""
    w = Writer(seed=3)
    angles = np.outer(np.arange(POSITIONS), 1.0 / 100 ** (np.arange(0, HEAD, 2) / HEAD))
    tables = [w.constant(f(np.concatenate([angles] * 2, axis=1)).astype(np.float32)) for f in (np.cos, np.sin)]
    cos, sin = (w.add("Unsqueeze", w.add("Gather", t, "position_ids", axis=0), w.ints(1)) for t in tables)
    scalar = w.constant(np.int64(2))
    past = w.add("Gather", w.add("Shape", "past_k.0"), scalar, axis=0)
    length = w.add("Gather", w.add("Shape", "input_ids"), w.constant(np.int64(1)), axis=0)
    keys = w.add("Range", w.constant(np.int64(0)), w.add("Add", past, length), w.constant(np.int64(1)))
    seen = w.add("LessOrEqual", w.add("Unsqueeze", keys, w.ints(0)), w.add("Transpose", "position_ids", perm=[1, 0]))
    mask = w.add("Where", seen, w.constant(np.float32(0)), w.constant(np.float32(-1e9)))
    x = w.add("Gather", w.weight(VOCABULARY, WIDTH, scale=1.0), "input_ids", axis=0)
    for layer in range(layers):
        y = w.norm(x)
        q, k, v = (w.add("Transpose", w.add("Reshape", w.add("MatMul", y, w.weight(WIDTH, heads * HEAD)),
                                            w.ints(1, -1, heads, HEAD)), perm=[0, 2, 1, 3])
                   for heads in (HEADS, GROUPS, GROUPS))
        q, k = w.rotate(q, cos, sin), w.rotate(k, cos, sin)
        k = w.add("Concat", f"past_k.{layer}", k, outputs=f"present_k.{layer}", axis=2)
        v = w.add("Concat", f"past_v.{layer}", v, outputs=f"present_v.{layer}", axis=2)
        q = w.add("Reshape", w.add("Mul", q, w.constant(np.float32(HEAD ** -0.5))),
                  w.ints(1, GROUPS, HEADS // GROUPS, -1, HEAD))
        kt = w.add("Unsqueeze", w.add("Transpose", k, perm=[0, 1, 3, 2]), w.ints(2))
        p = w.add("Softmax", w.add("Add", w.add("MatMul", q, kt), mask), axis=-1)
        o = w.add("MatMul", p, w.add("Unsqueeze", v, w.ints(2)))
        o = w.add("Transpose", w.add("Reshape", o, w.ints(1, HEADS, -1, HEAD)), perm=[0, 2, 1, 3])
        x = w.add("Add", x, w.add("MatMul", w.add("Reshape", o, w.ints(1, -1, HEADS * HEAD)),
                                  w.weight(HEADS * HEAD, WIDTH)))
        y = w.norm(x)
        gate = w.add("MatMul", y, w.weight(WIDTH, 96))
        gate = w.add("Mul", gate, w.add("Sigmoid", gate))
        x = w.add("Add", x, w.add("MatMul", w.add("Mul", gate, w.add("MatMul", y, w.weight(WIDTH, 96))),
                                  w.weight(96, WIDTH)))
    w.add("MatMul", w.norm(x), w.weight(WIDTH, VOCABULARY), outputs="logits")
    caches = [f"{kind}.{layer}" for layer in range(layers) for kind in "kv"]
    ids = [tiny.value(name, [1, "S"], tiny.INT64) for name in ("input_ids", "position_ids")]
    inputs = ids + [tiny.value(f"past_{c}", [1, GROUPS, "P", HEAD]) for c in caches]
    outputs = [tiny.value("logits", [1, "S", VOCABULARY])] + [
        tiny.value(f"present_{c}", [1, GROUPS, "T", HEAD]) for c in caches]
    return tiny.model(w.nodes, inputs, outputs, w.weights)


class Reference:
    """ONNX Runtime with the caches fed back."""

    def __init__(self, path, groups=GROUPS, head=HEAD):
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.log_severity_level = 3
        self.session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.names = [i.name for i in self.session.get_inputs() if i.name.startswith("past_")]
        self.caches = {name: np.zeros((1, groups, 0, head), np.float32) for name in self.names}
        self.length = 0

    def step(self, ids):
        """Logits of the ids, which follow those before them."""
        logits, *present = self.session.run(
            ["logits", *(n.replace("past", "present") for n in self.names)],
            {"input_ids": np.array([ids], np.int64),
             "position_ids": np.arange(self.length, self.length + len(ids), dtype=np.int64)[None], **self.caches})
        self.caches = dict(zip(self.names, present))
        self.length += len(ids)
        return logits
