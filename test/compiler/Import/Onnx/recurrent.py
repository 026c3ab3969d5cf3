# LSTM, GRU and RNN become a product and a recurrence; what is wrong with one is said with its name.
# RUN: rm -rf %t && mkdir -p %t && %python %s %t
# RUN: import-onnx %t/gru.onnx | FileCheck %s --check-prefix=GRU
# RUN: import-onnx %t/quantized.onnx | FileCheck %s --check-prefix=QUANTIZED
# RUN: sh -c 'for m in %t/bad-*.onnx; do import-onnx $m 2>&1; test $? = 2 || echo WRONG CODE; done' | FileCheck %s
import numpy as np
from models import *

STEPS, BATCH, DEPTH, SIZE = 5, 2, 3, 4
count = 0


def save(op, gates, shapes=None, name=None, weights=(), domain="", names="X W R", **attributes):
    """A node named 'net' whose inputs are X, W, R and what else `shapes` has."""
    global count
    count += 1
    every = {"X": [STEPS, BATCH, DEPTH], "W": [1, gates * SIZE, DEPTH], "R": [1, gates * SIZE, SIZE], **(shapes or {})}
    constants = {w.name for w in weights}
    inputs = [value(n, every[n]) for n in names.split() if n in every and n not in constants]
    nodes = [helper.make_node(op, [n if n != "-" else "" for n in names.split()], ["Y", "Y_h"], name="net", domain=domain,
                              **attributes)]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    write(nodes, inputs, [value("Y", None), value("Y_h", None)], weights, opsets=opsets,
          path=f"{sys.argv[1]}/{name or f'bad-{count:02}'}.onnx")


# The batch comes first: the projection is transposed, which costs nothing, and so are the results. The biases are added,
# but for the h gate's inside the product with r.
# GRU: %[[P:.*]] = graph.matmul %{{.*}}, %{{.*}} bias %{{.*}} {transpose_rhs = true} : (tensor<2x5x3xf32>, tensor<12x3xf32>, tensor<12xf32>) -> tensor<2x5x12xf32>
# GRU: %[[T:.*]] = graph.transpose %[[P]] {permutation = array<i64: 1, 0, 2>}
# GRU: %[[B:.*]] = graph.slice %{{.*}} {sizes = array<i64: 1, 4>, starts = array<i64: 0, 20>}
# GRU: graph.recurrence gru reverse %[[T]], %{{.*}} bias %[[B]] {activations = [#graph.gate_function<leaky_relu>, #graph.gate_function<tanh>], alphas = array<f64: 5.000000e-01, 0.000000e+00>, betas = array<f64: 0.000000e+00, 0.000000e+00>, clip = 2.000000e+00 : f64, linear_before_reset = true}
# GRU: graph.transpose %{{.*}} {permutation = array<i64: 2, 0, 1, 3>}
# GRU: graph.transpose %{{.*}} {permutation = array<i64: 1, 0, 2>}
save("GRU", 3, {"X": [BATCH, STEPS, DEPTH], "B": [1, 24]}, "gru", names="X W R B", direction="reverse", layout=1,
     linear_before_reset=1, clip=2.0, activations=["leakyrelu", "Tanh"], activation_alpha=[0.5])

# Bytes stay bytes: the inputs are quantised by their range, the states by the recurrence.
# QUANTIZED: graph.integer_matmul %{{.*}}, %{{.*}} lhs_zero %{{.*}} : (tensor<5x2x3xui8>, tensor<3x16xi8>, tensor<ui8>) -> tensor<5x2x16xi32>
# QUANTIZED: graph.recurrence lstm forward %{{.*}} scale %{{.*}} zero_point %{{.*}} : (tensor<5x2x16xf32>, tensor<1x16x4xi8>, tensor<1x1xf32>, tensor<1x1xi8>)
NAMES = "X W R - - - - - Ws Wz Rs Rz"


def quantized(name=None, scale=0.01, zero=np.int8, names=NAMES, scales=(1,)):
    weights = [raw("W", np.ones((1, DEPTH, 16), np.int8)), raw("R", np.ones((1, SIZE, 16), np.int8)),
               raw("Ws", np.full(scales, scale, np.float32)), raw("Wz", np.zeros(1, zero)),
               raw("Rs", np.full(1, 0.01, np.float32)), raw("Rz", np.zeros(1, np.int8))]
    save("DynamicQuantizeLSTM", 4, name=name, weights=[w for w in weights if w.name in names.split()],
         domain="com.microsoft", names=names)


quantized("quantized")

# CHECK-NOT: WRONG CODE
# CHECK: error: LSTM node 'net': attribute 'direction' is 'sideways': need forward, reverse or bidirectional
save("LSTM", 4, direction="sideways")
# CHECK: error: LSTM node 'net': attribute 'activations': need 3 functions, have 1
save("LSTM", 4, activations=["Tanh"])
# CHECK: error: RNN node 'net': attribute 'activations': function 'Sine' is not known
save("RNN", 1, activations=["Sine"])
# CHECK: error: RNN node 'net': function 'Affine' needs activation_alpha and activation_beta
save("RNN", 1, activations=["Affine"], activation_alpha=[0.5])
# CHECK: error: GRU node 'net': attribute 'clip' is -1.000000: need at least 0
save("GRU", 3, clip=-1.0)
# CHECK: error: LSTM node 'net': attribute 'hidden_size' is 5, input 2 'R' has 4
save("LSTM", 4, hidden_size=5)
# CHECK: error: LSTM node 'net': input 1 'W': need shape [1, 16, 7], have [1, 12, 7]
save("LSTM", 4, {"X": [STEPS, BATCH, 7], "W": [1, 12, 7]})
# CHECK: error: LSTM node 'net': input 0 'X': need shape [?, ?, 3], have [5, 2, 9]
save("LSTM", 4, {"X": [STEPS, BATCH, 9]})
# CHECK: error: GRU node 'net': input 2 'R': need shape [2, 12, 4], have [1, 12, 4]
save("GRU", 3, {"W": [2, 12, DEPTH]}, direction="bidirectional")
# CHECK: error: RNN node 'net': input 3 'B': need shape [1, 8], have [1, 4]
save("RNN", 1, {"B": [1, 4]}, names="X W R B")
# CHECK: error: RNN node 'net': input 5 'initial_h': need shape [1, ?, 4], have [2, 2, 4]
save("RNN", 1, {"h": [2, 2, 4]}, names="X W R - - h")
# CHECK: error: LSTM node 'net': need inputs X, W and R of 3 dimensions, have 2, 3 and 3
save("LSTM", 4, {"X": [BATCH, DEPTH]})
# CHECK: error: DynamicQuantizeLSTM node 'net': input 8 'W_scale': need scales above 0, have 0.000000
quantized(scale=0)
# CHECK: error: DynamicQuantizeLSTM node 'net': input 8 'W_scale': need scales above 0, have nan
quantized(scale=np.nan)
# CHECK: error: DynamicQuantizeLSTM node 'net': input 9 'W_zero_point': need i8 of shape [1] or [1, 16], have tensor<1xui8>
quantized(zero=np.uint8)
# CHECK: error: DynamicQuantizeLSTM node 'net': input 8 'W_scale': need f32 of shape [1] or [1, 16], have tensor<3xf32>
quantized(scales=(3,))
# CHECK: error: DynamicQuantizeLSTM node 'net': input 10 'R_scale' is missing
quantized(names="X W R - - - - - Ws Wz")
