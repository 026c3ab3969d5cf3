# Functions that a model brings along are inlined, with the attributes and the optional inputs of each call.
# RUN: rm -rf %t && mkdir -p %t && %python %s %t
# RUN: import-onnx %t/call.onnx --mlir-print-debuginfo | FileCheck %s
# RUN: not import-onnx %t/recursive.onnx 2>&1 | FileCheck %s --check-prefix=RECURSIVE
# RUN: not import-onnx %t/many.onnx 2>&1 | FileCheck %s --check-prefix=MANY
from models import *

folder = sys.argv[1]
opset = [helper.make_opsetid("", 17)]


def function(name, inputs, outputs, nodes, attributes=()):
    return helper.make_function("local", name, inputs.split(), outputs.split(), nodes, opset + [helper.make_opsetid("local", 1)],
                                list(attributes))


def reference(node, attribute, source, kind):
    made = node.attribute.add(name=attribute, ref_attr_name=source)
    made.type = kind
    return node


# CHECK: %[[A:.*]] = graph.leaky_relu %{{.*}} {alpha = 5.000000e-01 : f64} {{.*}} loc(#[[INNER:.*]])
# CHECK: %[[B:.*]] = graph.leaky_relu %[[A]] {alpha = 0.00999{{.*}}} : {{.*}} loc(
# CHECK: graph.clip %[[B]] {max = 6.000000e+00 : f64}
# CHECK-DAG: #[[INNER]] = loc("outer/call/leak")
leak = reference(node("LeakyRelu", "a", "b", "leak"), "alpha", "slope", onnx.AttributeProto.FLOAT)
inner = function("Leak", "a", "b", [leak], ["slope"])
call = reference(node("Leak", "p", "q0", "call", domain="local"), "slope", "outer_slope", onnx.AttributeProto.FLOAT)
outer = function("Twice", "p low high", "q unused",
                 [call, node("Leak", "q0", "q1", domain="local"), node("Clip", "q1 low high", "q")], ["outer_slope"])
opsets = opset + [helper.make_opsetid("local", 1)]
write([node("Twice", "x", "y", "outer", domain="local", outer_slope=0.5)], [value("x", [2])], [value("y", None)],
      path=f"{folder}/call.onnx", functions=[inner, outer], opsets=opsets)
model = onnx.load(f"{folder}/call.onnx")
del model.graph.node[0].input[:]
model.graph.node[0].input.extend(["x", "", "six"])
model.graph.initializer.append(raw("six", np.float32(6)))
onnx.save(model, f"{folder}/call.onnx")

# RECURSIVE: error: function 'local::A' calls itself
write([node("A", "x", "y", domain="local")], [value("x", [2])], [value("y", None)], path=f"{folder}/recursive.onnx",
      functions=[function("A", "a", "b", [node("B", "a", "b", domain="local")]),
                 function("B", "a", "b", [node("A", "a", "b", domain="local")])], opsets=opsets)

# Each function calls the next one twice: 2^40 nodes, were they all made.
# MANY: error: inlined functions make more than {{[0-9]+}} nodes
chain = [function(f"F{i}", "a", "b", [node(f"F{i + 1}", "a", "c", domain="local"),
                                      node(f"F{i + 1}", "c", "b", domain="local")]) for i in range(40)]
write([node("F0", "x", "y", domain="local")], [value("x", [2])], [value("y", None)], path=f"{folder}/many.onnx",
      functions=chain + [function("F40", "a", "b", [node("Identity", "a", "b")])], opsets=opsets)
