# An If whose condition is known takes its branch; the other one is not looked at, whatever it holds. Of one that is not
# known both are imported, and must agree.
# RUN: rm -rf %t && mkdir -p %t && %python %s %t
# RUN: import-onnx %t/known.onnx | FileCheck %s
# RUN: not import-onnx %t/open.onnx 2>&1 | FileCheck %s --check-prefix=OPEN
# RUN: not import-onnx %t/inside.onnx 2>&1 | FileCheck %s --check-prefix=INSIDE
from models import *

folder = sys.argv[1]


def branch(op, **attributes):
    return helper.make_graph([node(op, "x", "r", **attributes)], op, [], [value("r", None)])


def save(name, condition, then, other, weights=()):
    write([condition, node("If", "c", "y", "choice", then_branch=then, else_branch=other)],
          [value("x", [2, 1]), value("flag", [], BOOL)], [value("y", None)], weights, path=f"{folder}/{name}.onnx")


# The branches have different ranks, and the one left out an operator that is not supported.
# CHECK-NOT: graph.if
# CHECK: graph.reshape %{{.*}} {shape = array<i64: 2>} : (tensor<2x1xf32>) -> tensor<2xf32>
size_is_two = node("Equal", "n two", "c")
known = [node("Size", "x", "n"), size_is_two]
write(known + [node("If", "c", "y", "choice", then_branch=branch("Squeeze"), else_branch=branch("NotThere"))],
      [value("x", [2, 1])], [value("y", None)], [raw("two", np.int64(2))], path=f"{folder}/known.onnx")

# OPEN: error: If node 'choice': output 0: need one element type and rank on both ways, have [2] of f32 and [2, 1] of f32
save("open", node("Identity", "flag", "c"), branch("Squeeze"), branch("Relu"))

# INSIDE: error: 1 operator is not supported
# INSIDE-NEXT: note: 1 x NotThere: not supported; node 'choice/NotThere_0'
save("inside", node("Identity", "yes", "c"), branch("NotThere"), branch("Relu"), [raw("yes", np.bool_(True))])
