# Sizes and bounds of inputs come from flags; what is open, unknown or contradicts the model is said all at once.
# RUN: %python %s %t
# RUN: import-onnx %t --shape x=1x3x?x5 --shape 'past_*=1x0x4' --bound H=16..32 | FileCheck %s
# RUN: not import-onnx %t 2>&1 | FileCheck %s --check-prefix=OPEN
# RUN: not import-onnx %t --shape x=1x4x2x2 --shape past_0=1x2 --shape nope=1 --bound Z=1..2 2>&1 | FileCheck %s --check-prefix=BAD
# RUN: not import-onnx %t --shape x=1xx3 2>&1 | FileCheck %s --check-prefix=DIM
# RUN: not import-onnx %t --shape x 2>&1 | FileCheck %s --check-prefix=FORM
# RUN: not import-onnx %t --shape x=1x-3x2 2>&1 | FileCheck %s --check-prefix=NEGATIVE
# RUN: not import-onnx %t --bound H=4..2 2>&1 | FileCheck %s --check-prefix=ORDER
# RUN: import-onnx %t --shape x=1x3x?x5 --shape 'past_*=1x0x4' --bound H=16 | FileCheck %s --check-prefix=FIXED
from models import *

# CHECK-LABEL: @main
# CHECK-SAME: tensor<1x3x?x5xf32, #graph.bounds<[1, 3, 16 to 32, 5]>> {graph.dim_names = ["", "", "H", ""], graph.name = "x"}
# CHECK-SAME: tensor<1x0x4xf32> {graph.name = "past_0"}
# CHECK-SAME: tensor<1x0x4xf32> {graph.name = "past_1"}
# FIXED: tensor<1x3x16x5xf32> {graph.name = "x"}

# OPEN: error: 9 dimensions of the inputs are open; give each a size or a bound
# OPEN-DAG: note: input 'x', dimension 0 'N': --shape 'x=SIZEx3xSIZExSIZE' or --bound 'N=LEAST..MOST'
# OPEN-DAG: note: input 'x', dimension 3: --shape 'x=SIZEx3xSIZExSIZE'
# OPEN-DAG: note: input 'past_1', dimension 1 'P'

# BAD: error: --shape 'x=1x4x2x2': dimension 1 of input 'x' is 3 in the model, 4 in the flag
# BAD: error: --shape 'past_0=1x2': input 'past_0' has 3 dimensions, the flag 2
# BAD: error: 3 dimensions of the inputs are open
# BAD: error: --shape 'nope=1' names no input of the model; have 'x', 'past_0', 'past_1'
# BAD: error: --bound 'Z=1..2' names no open dimension of an input, and none of an output of a node

# DIM: error: --shape 'x=1xx3': '' is no dimension; need a number, a name, or ?
# FORM: error: --shape 'x': need NAME=DIMxDIM...
# NEGATIVE: error: --shape 'x=1x-3x2': dimension -3 is negative
# ORDER: error: --bound 'H=4..2': need 0 <= least <= most
write(
    [node("Relu", "x", "y"), node("Concat", "past_0 past_1", "z", axis=1)],
    [value("x", ["N", 3, "H", None]), value("past_0", ["N", "P", "D"]), value("past_1", ["N", "P", -1])],
    [value("y", None), value("z", None)],
)
