# --state makes an input and an output one variable, --entry a function with bounds of its own; weights and variables are
# the same in all of them.
# RUN: %python %s %t
# RUN: import-onnx %t --shape h=2x32 --state 'past_*=present_*' --state h=hn --bound P=0..16 --bound S=1..4 --entry prefill --entry decode:S=1 | FileCheck %s
# RUN: import-onnx %t --shape h=2x32 --bound P=0..16 --bound S=1..4 | FileCheck %s --check-prefix=PLAIN
# RUN: not import-onnx %t --shape h=2x32 --state 'past_*=nothing_*' --state 'future=present_k' --bound P=0..16 --bound S=1..4 2>&1 | FileCheck %s --check-prefix=NONE
# RUN: not import-onnx %t --shape h=2x32 --state past_k=present_k --state past_v=present_k --state h=hn --state h=y --bound P=0..16 --bound S=1..4 2>&1 | FileCheck %s --check-prefix=TWICE
# RUN: not import-onnx %t --shape h=2x32 --state past_k=y --state h=present_v --bound P=0..16 --bound S=1..4 2>&1 | FileCheck %s --check-prefix=TYPE
# RUN: not import-onnx %t --state h=hn --bound A=1..2 --bound B=1..2 --bound P=0..16 --bound S=1..4 2>&1 | FileCheck %s --check-prefix=OPEN
# RUN: not import-onnx %t --shape h=2x32 --state 'past_*=present_*' --bound P=1..16 --bound S=1..4 2>&1 | FileCheck %s --check-prefix=EMPTY
# RUN: not import-onnx %t --shape h=2x32 --state 'past_*=present_*' --bound P=0..3 --bound S=4 2>&1 | FileCheck %s --check-prefix=SMALL
# RUN: not import-onnx %t --shape h=2x32 --state 'past_*=present_*' --bound S=1..4 --entry a:P=0..16 --entry b:P=0..8 2>&1 | FileCheck %s --check-prefix=SHARED
# RUN: not import-onnx %t --shape h=2x32 --bound P=0..16 --bound S=1..4 --entry a:T=1,P=0..2,U=3 2>&1 | FileCheck %s --check-prefix=UNKNOWN
# RUN: not import-onnx %t --shape h=2x32 --bound P=0..16 --bound S=1..4 --entry a --entry a:S=1 2>&1 | FileCheck %s --check-prefix=DUPLICATE
# RUN: not import-onnx %t --state 'a_*_*=b' 2>&1 | FileCheck %s --check-prefix=STARS
# RUN: not import-onnx %t --state 'past' 2>&1 | FileCheck %s --check-prefix=FORM
# RUN: not import-onnx %t --entry '2nd:S=1' 2>&1 | FileCheck %s --check-prefix=CNAME
# RUN: not import-onnx %t --entry 'a:S=3..1' 2>&1 | FileCheck %s --check-prefix=RANGE
# RUN: not import-onnx %t --entry 'a:S=1,S=2' 2>&1 | FileCheck %s --check-prefix=AGAIN
# RUN: not import-onnx %t --shape h=2x32 --state h=hn --bound P=0..16 --bound S=1..4 --entry a --entry h 2>&1 | FileCheck %s --check-prefix=PROGRAM
# RUN: not import-onnx %t --entry setup 2>&1 | FileCheck %s --check-prefix=SETUP
from models import *

# CHECK: graph.variable @past_k : tensor<?x2x32xf32, #graph.bounds<[0 to 16, 2, 32]>> grows "P"
# CHECK: graph.variable @past_v : tensor<?x2x32xf32, #graph.bounds<[0 to 16, 2, 32]>> grows "P"
# CHECK: graph.variable @h : tensor<2x32xf32>
# CHECK: func.func @prefill(%[[X:.*]]: tensor<?x2x32xf32, #graph.bounds<[1 to 4, 2, 32]>>
# CHECK-SAME: graph.name = "x"}) -> (tensor<?x2x32xf32{{.*}}> {graph.name = "y"}) {
# CHECK: %[[K:.*]] = graph.read @past_k : tensor<?x2x32xf32, #graph.bounds<[0 to 16, 2, 32]>>
# CHECK: graph.parameter "w"
# CHECK: %[[PRESENT:.*]] = graph.concat %[[K]], %{{.*}} {axis = 0 : i64}
# CHECK: graph.assign @past_k, %[[PRESENT]] : tensor<?x2x32xf32, #graph.bounds<[1 to 20, 2, 32]>>
# CHECK: graph.assign @past_v,
# CHECK: graph.assign @h,
# CHECK: func.func @decode(%{{.*}}: tensor<1x2x32xf32> {graph.name = "x"})
# CHECK: graph.parameter "w"
# CHECK: graph.assign @past_k, %{{.*}} : tensor<?x2x32xf32, #graph.bounds<[1 to 17, 2, 32]>>

# PLAIN-NOT: graph.variable
# PLAIN: func.func @main(%{{.*}} {graph.dim_names = ["S", "", ""], graph.name = "x"}
# PLAIN-SAME: graph.name = "past_k"}

# NONE: error: --state 'past_*=nothing_*': input 'past_k' needs an output 'nothing_k'; have 'y', 'present_k', 'present_v', 'hn'
# NONE: error: --state 'past_*=nothing_*': input 'past_v' needs an output 'nothing_v'
# NONE: error: --state 'future=present_k': names no input of the model; have 'x', 'past_k', 'past_v', 'h'
# TWICE: error: --state 'past_v=present_k': output 'present_k' is claimed twice, by inputs 'past_k' and 'past_v'
# TWICE: error: --state 'h=y': input 'h' is already the state of output 'hn'
# TYPE: error: state 'h': output 'present_v' needs the type of the input, 'tensor<2x32xf32>', has 'tensor<?x2x32xf32
# OPEN: error: state 'h': need at most 1 open dimension, have 2: [1 to 2, 1 to 2]
# EMPTY: error: state 'past_k': dimension 0 'P': need a bound from 0, as it starts empty, have [1 to 16]
# SMALL: error: state 'past_k': output 'present_k' has at least 4 in dimension 'P', beyond its bound of 3
# SHARED: error: state 'past_k': entry 'b' needs it as [0 to 8, 2, 32], the entries before it have [0 to 16, 2, 32]; all entries share one
# SHARED: error: state 'past_v': entry 'b' needs it
# UNKNOWN: error: --entry 'a': 'T=1' names no open dimension of an input; have 'S', 'P'
# UNKNOWN: error: --entry 'a': 'U=3' names no open dimension
# DUPLICATE: error: --entry 'a:S=1': the name is given twice
# STARS: error: --state 'a_*_*=b': need one '*' on both sides or none, have 2 and 0
# FORM: error: --state 'past': need INPUT=OUTPUT, such as 'past_*=present_*'
# CNAME: error: --entry '2nd:S=1': need NAME or NAME:DIMENSION=LEAST..MOST,...
# RANGE: error: --entry 'a:S=3..1': 'S=3..1': need 0 <= least <= most
# AGAIN: error: --entry 'a:S=1,S=2': dimension 'S' is given twice
# PROGRAM: error: state 'h': the name is that of a program; give the entry another one by --entry
# SETUP: error: --entry 'setup': the name is that of the program that prepares weights
write(
    [
        node("MatMul", "x w", "k"),
        node("Concat", "past_k k", "present_k", axis=0),
        node("Concat", "past_v x", "present_v", axis=0),
        node("Relu", "h", "hn"),
        node("Add", "k h", "y"),
    ],
    [value("x", ["S", 2, 32]), value("past_k", ["P", 2, 32]), value("past_v", ["P", 2, 32]), value("h", ["A", "B"])],
    [value("y", None), value("present_k", None), value("present_v", None), value("hn", None)],
    [raw("w", np.zeros((32, 32), np.float32))],
)
