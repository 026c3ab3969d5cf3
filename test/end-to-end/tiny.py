"""Small ONNX models, sound and broken, written with the onnx package."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def value(name, dims, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, dims)


def model(nodes, inputs, outputs, initializers=(), opset=17, domains=()):
    graph = helper.make_graph(list(nodes), "tiny", list(inputs), list(outputs), list(initializers))
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def node(op, inputs, outputs, **attributes):
    """A node named as its first output; names are given in one string, `_` for an input that is left out."""
    names = ["" if name == "_" else name for name in inputs.split()]
    return helper.make_node(op, names, outputs.split(), name=outputs.split()[0], **attributes)


def numbers(name, values, dtype=np.int64):
    return numpy_helper.from_array(np.array(values, dtype), name)


class Network:
    """Nodes and weights as they are added; names of values come back. Arrays among the inputs become weights."""

    def __init__(self, seed=1):
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(seed)

    def constant(self, array, dtype=None):
        self.weights.append(numbers(f"c{len(self.weights)}", array, dtype))
        return self.weights[-1].name

    def add(self, op, *inputs, outputs=1, **attributes):
        """`outputs`: how many, or the name of the only one."""
        at = len(self.nodes)
        names = [outputs] if isinstance(outputs, str) else [f"v{at}_{i}" for i in range(outputs)]
        inputs = [x if isinstance(x, str) else self.constant(x) for x in inputs]
        self.nodes.append(helper.make_node(op, inputs, names, name=f"{op}_{at}", **attributes))
        return names[0] if len(names) == 1 else names


def save(proto, path):
    path.write_bytes(proto.SerializeToString())
    return path


def weights(name, *dims, seed=1):
    values = np.random.default_rng(seed).standard_normal(dims).astype(np.float32) / np.sqrt(dims[0])
    return numpy_helper.from_array(values.astype(np.float32), name)


def relu(dims=(4,)):
    """y = max(x, 0): the least a model can do."""
    return model([helper.make_node("Relu", ["x"], ["y"], name="only")], [value("x", dims)], [value("y", dims)])


def mlp(batch=2, width=64):
    """Two dense layers with parameters of width * width floats."""
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["h1"], name="first"),
        helper.make_node("Add", ["h1", "b1"], ["h2"], name="bias"),
        helper.make_node("Relu", ["h2"], ["h3"], name="relu"),
        helper.make_node("MatMul", ["h3", "w2"], ["y"], name="second"),
    ]
    constants = [weights("w1", width, width), weights("b1", width, seed=2), weights("w2", width, width, seed=3)]
    return model(nodes, [value("x", [batch, width])], [value("y", [batch, width])], constants)


def attention(length=512, heads=2, depth=16):
    """softmax(q k^T / sqrt(depth)) v: the scores are length * length * heads floats."""
    dims = [1, heads, length, depth]
    nodes = [
        helper.make_node("Transpose", ["k"], ["kt"], name="transpose_k", perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["q", "kt"], ["scores"], name="scores"),
        helper.make_node("Mul", ["scores", "scale"], ["scaled"], name="scale"),
        helper.make_node("Softmax", ["scaled"], ["weights"], name="softmax", axis=-1),
        helper.make_node("MatMul", ["weights", "v"], ["y"], name="mix"),
    ]
    scale = numpy_helper.from_array(np.array(1 / np.sqrt(depth), np.float32), "scale")
    return model(nodes, [value(n, dims) for n in "qkv"], [value("y", dims)], [scale])


def long_runner(dim=1024, layers=6):
    """Products large enough that a run can be interrupted."""
    nodes = [helper.make_node("MatMul", [f"x{i}" if i else "x", "w"], [f"x{i + 1}"], name=f"layer{i}")
             for i in range(layers)]
    nodes[-1].output[0] = "y"
    return model(nodes, [value("x", [dim, dim])], [value("y", [dim, dim])], [weights("w", dim, dim)])


def unsupported():
    """Three nodes of two operators that no importer knows."""
    nodes = [
        helper.make_node("Warp", ["x"], ["a"], name="warp_one", domain="custom"),
        helper.make_node("Warp", ["a"], ["b"], name="warp_two", domain="custom"),
        helper.make_node("Twist", ["b"], ["y"], name="twist_one", domain="custom"),
    ]
    return model(nodes, [value("x", [4])], [value("y", [4])], domains=["custom"])


def cycle():
    nodes = [helper.make_node("Add", ["x", "b"], ["a"], name="forth"),
             helper.make_node("Relu", ["a"], ["b"], name="back"),
             helper.make_node("Relu", ["b"], ["y"], name="out")]
    return model(nodes, [value("x", [4])], [value("y", [4])])


def disagreeing_shapes():
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    return model(nodes, [value("x", [2, 8])], [value("y", [2, 4])], [weights("w", 7, 4)])


def unknown_type():
    proto = relu()
    proto.graph.input[0].type.tensor_type.elem_type = 99
    return proto


def open_dimensions():
    nodes = [helper.make_node("Add", ["x", "z"], ["y"], name="sum")]
    return model(nodes, [value("x", ["batch", "width"]), value("z", ["batch", "width"])],
                 [value("y", ["batch", "width"])])


def external(location, offset=0, length=64 * 64 * 4):
    """mlp() whose first parameter's bytes are in the file `location`."""
    proto = mlp()
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, text in (("location", location), ("offset", str(offset)), ("length", str(length))):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, text
    return proto


def short_raw_data():
    proto = mlp()
    tensor = proto.graph.initializer[0]
    tensor.raw_data = tensor.raw_data[:100]
    return proto


def undefined_value():
    proto = mlp()
    proto.graph.node[1].input[1] = "nowhere"
    return proto
