# Arithmetic on shapes, as exporters write it, is gone after import: only its results are left, as attributes.
# RUN: %python %s %t && import-onnx %t --shape x=2x6x4 | FileCheck %s
# RUN: import-onnx %t --shape x=Nx6x4 --bound N=1..8 | FileCheck %s --check-prefix=OPEN
from models import *

# CHECK: func.func @main(%[[X:.*]]: tensor<2x6x4xf32> {graph.name = "x"}) -> (tensor<2x3x8xf32> {graph.name = "y"})
# CHECK-NEXT: %[[R:.*]] = graph.reshape %[[X]] {shape = array<i64: 2, 3, 8>}
# CHECK-NEXT: return %[[R]]

# An open dimension takes the place of one entry.
# OPEN: %[[X:.*]]: tensor<?x6x4xf32, #graph.bounds<[1 to 8, 6, 4]>> {graph.dim_names = ["N", "", ""], graph.name = "x"}
# OPEN: graph.reshape %[[X]] {shape = array<i64: -1, 3, 8>}
# OPEN-SAME: tensor<?x3x8xf32, #graph.bounds<[1 to 8, 3, 8]>>
write(
    [
        node("Shape", "x", "s"),
        node("Gather", "s zero", "batch"),
        node("Gather", "s one", "rows"),
        node("Unsqueeze", "batch zero1", "batch1"),
        node("Div", "rows two", "half"),
        node("Unsqueeze", "half zero1", "half1"),
        node("Slice", "s two1 three1", "tail"),
        node("Mul", "tail two1", "tail2"),
        node("Concat", "batch1 half1 tail2", "target", axis=0),
        node("Reshape", "x target", "y"),
    ],
    [value("x", ["N", 6, 4])],
    [value("y", None)],
    [raw("zero", np.int64(0)), raw("one", np.int64(1)), raw("two", np.int64(2)),
     ints("zero1", 0), ints("two1", 2), ints("three1", 3)],
)
