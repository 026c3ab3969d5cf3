# Nodes are taken in dependency order; cycles, unknown and repeated names are errors that name the nodes.
# RUN: rm -rf %t && mkdir -p %t && %python %s %t
# RUN: import-onnx %t/unsorted.onnx | FileCheck %s
# RUN: not import-onnx %t/cycle.onnx 2>&1 | FileCheck %s --check-prefix=CYCLE
# RUN: not import-onnx %t/unknown.onnx 2>&1 | FileCheck %s --check-prefix=UNKNOWN
# RUN: not import-onnx %t/twice.onnx 2>&1 | FileCheck %s --check-prefix=TWICE
# RUN: not import-onnx %t/output.onnx 2>&1 | FileCheck %s --check-prefix=OUTPUT
from models import *


def save(name, nodes, outputs="y", weights=()):
    write(nodes, [value("x", [2])], [value(o, None) for o in outputs.split()], weights,
          path=f"{sys.argv[1]}/{name}.onnx")


# CHECK: %[[R:.*]] = graph.relu
# CHECK: %[[T:.*]] = graph.tanh %[[R]]
# CHECK: return %[[T]]
save("unsorted", [node("Tanh", "r", "y"), node("Relu", "x", "r")])
# CYCLE: error: the graph has a cycle: 'a' -> 'b' -> 'c' -> 'a'
save("cycle", [node("Relu", "x", "free"), node("Add", "free q", "p", "a"), node("Relu", "p", "o", "b"), node("Relu", "o", "q", "c"),
               node("Relu", "q", "y")])
# UNKNOWN: error: node 'n' reads 'ghost', which no node, input or initializer defines
# UNKNOWN: error: node 'm' reads 'spectre', which no node, input or initializer defines
save("unknown", [node("Add", "x ghost", "z", "n"), node("Add", "z spectre", "y", "m")])
# TWICE: error: value 'y' is defined twice: by node 'n' and by node 'm'
# TWICE: error: value 'x' is defined twice: by node 'o' and by an input or initializer
save("twice", [node("Relu", "x", "y", "m"), node("Relu", "x", "y", "n"), node("Relu", "y", "x", "o")])
# OUTPUT: error: value 'nothing' is not defined by any node, input or initializer
save("output", [node("Relu", "x", "y")], "y nothing")
