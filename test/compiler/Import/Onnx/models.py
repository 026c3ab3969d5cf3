"""Short ways to write small ONNX models; used by the tests of this folder."""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name, shape, dtype=F32):
    return helper.make_tensor_value_info(name, dtype, shape)


def raw(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def ints(name, *numbers):
    return raw(name, np.array(numbers, np.int64))


def node(op, inputs, outputs, name=None, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name=name, **attributes)


def write(nodes, inputs, outputs, weights=(), opset=17, path=None, functions=(), opsets=None, **kwargs):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(weights))
    opsets = opsets or [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=8, **kwargs)
    path = path or sys.argv[1]
    with open(path, "wb") as out:
        out.write(model.SerializeToString())
    return model
