# Operators that become several graph ops check what they are given before they build anything.
# RUN: rm -rf %t && mkdir -p %t && %python %s %t
# RUN: sh -c 'for m in %t/*.onnx; do import-onnx $m 2>&1; test $? = 2 || echo WRONG CODE; done' | FileCheck %s
from models import *

count = 0


def save(nodes, shapes, weights=(), opset=24, dtypes=None, **kwargs):
    global count
    count += 1
    for i, name in enumerate(nodes.input):
        if name == "_":  # left out
            nodes.input[i] = ""
    inputs = [value(f"x{i}", shape, (dtypes or {}).get(i, F32)) for i, shape in enumerate(shapes)]
    write([nodes], inputs, [value("y", None)], weights, path=f"{sys.argv[1]}/{count:02}.onnx", opset=opset, **kwargs)


MICROSOFT = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
# CHECK-NOT: WRONG CODE
# CHECK: error: Attention node 'bad': attributes 'q_num_heads' and 'kv_num_heads' must be at least 1 for 3 dimensions, have 0 and 0
save(node("Attention", "x0 x0 x0", "y", "bad"), [[1, 4, 16]])
# CHECK: error: Attention node 'bad': need [batch, length, size] with a size that is a multiple of 3 heads, have [1, 4, 16]
save(node("Attention", "x0 x0 x0", "y", "bad", q_num_heads=3, kv_num_heads=3), [[1, 4, 16]])
# CHECK: error: Attention node 'bad': need both past keys and past values, or neither
save(node("Attention", "x0 x0 x0 _ x0", "y", "bad"), [[1, 2, 4, 8]])
# CHECK: error: Attention node 'bad': attribute 'qk_matmul_output_mode' is 4: need 0 to 3
save(node("Attention", "x0 x0 x0", "y", "bad", qk_matmul_output_mode=4), [[1, 2, 4, 8]])
# CHECK: error: RotaryEmbedding node 'bad': the caches of cosines and sines need 4 columns, have 3 and 3
save(node("RotaryEmbedding", "x0 x1 x1", "y", "bad"), [[1, 2, 4, 8], [1, 4, 3]])
# CHECK: error: GridSample node 'bad': need a grid [2, ..., 2] for an image [2, 3, 8, 8], have [2, 5, 5, 3]
save(node("GridSample", "x0 x1", "y", "bad"), [[2, 3, 8, 8], [2, 5, 5, 3]])
# CHECK: error: GridSample node 'bad': attribute 'mode' must be linear, nearest or cubic, have 'spline'
save(node("GridSample", "x0 x1", "y", "bad", mode="spline"), [[2, 3, 8, 8], [2, 5, 5, 2]])
# CHECK: error: RoiAlign node 'bad': attribute 'sampling_ratio' is 0: need 1 to 64{{.*}}
save(node("RoiAlign", "x0 x1 x2", "y", "bad"), [[1, 3, 8, 8], [2, 4], [2]], dtypes={2: I64})
# CHECK: error: DeformConv node 'bad': need weights [O, C / group, h, w] and offsets [N, offset_group * h * w * 2, ...], {{.*}}
save(node("DeformConv", "x0 x1 x2", "y", "bad"), [[1, 3, 8, 8], [4, 3, 3, 3], [1, 17, 6, 6]])
# CHECK: error: Col2Im node 'bad': need [N, C * 4, 9], have [1, 8, 10]
save(node("Col2Im", "x0 image block", "y", "bad"), [[1, 8, 10]], [ints("image", 4, 4), ints("block", 2, 2)])
# CHECK: error: DFT node 'bad': axis 2 holds the real and imaginary parts
save(node("DFT", "x0 _ axis", "y", "bad"), [[1, 8, 1]], [raw("axis", np.array(2, np.int64))])
# CHECK: error: DFT node 'bad': need a last dimension of 1 (real) or 2 (complex), have [1, 8]
save(node("DFT", "x0", "y", "bad"), [[1, 8]])
# CHECK: error: STFT node 'bad': need frames of 1 to 16 elements at least 1 apart, have 32 and 4
save(node("STFT", "x0 step _ length", "y", "bad"), [[1, 16, 1]],
     [raw("step", np.array(4, np.int64)), raw("length", np.array(32, np.int64))])
# CHECK: error: HannWindow node 'bad': the size is -1: need at least 1
save(node("HannWindow", "size", "y", "bad"), [], [raw("size", np.array(-1, np.int64))])
# CHECK: error: Det node 'bad': need matrices of at most 4 rows, have 5
save(node("Det", "x0", "y", "bad"), [[2, 5, 5]])
# CHECK: error: ReverseSequence node 'bad': need at least 2 dimensions and batch_axis and time_axis 0 and 1, have 2, 1 and 1
save(node("ReverseSequence", "x0 x1", "y", "bad", batch_axis=1, time_axis=1), [[4, 3], [3]], dtypes={1: I64})
# CHECK: error: NegativeLogLikelihoodLoss node 'bad': attribute 'reduction' must be none, mean or sum, have 'median'
save(node("NegativeLogLikelihoodLoss", "x0 x1", "y", "bad", reduction="median"), [[3, 5], [3]], dtypes={1: I64})
# CHECK: error: Resize node 'bad': need 4 entries of input 1 'roi', have 2
save(node("Resize", "x0 roi scales", "y", "bad", coordinate_transformation_mode="tf_crop_and_resize", axes=[2, 3]),
     [[1, 1, 4, 4]], [raw("roi", np.array([0, 1], np.float32)), raw("scales", np.array([2, 2], np.float32))])
# CHECK: error: MaxUnpool node 'bad': need as many indices as elements
save(node("MaxUnpool", "x0 x1", "y", "bad", kernel_shape=[2, 2]), [[1, 1, 2, 2], [1, 1, 2, 3]], dtypes={1: I64})
# CHECK: error: TensorScatter node 'bad': need an update of at most 8 along axis 1 of [2, 8, 4], have [2, 9, 4]
save(node("TensorScatter", "x0 x1", "y", "bad"), [[2, 8, 4], [2, 9, 4]])
# CHECK: error: LinearAttention node 'bad': update rule 'linear' takes no decay and no beta
save(node("LinearAttention", "x0 x0 x0 _ x0", "y", "bad", update_rule="linear", q_num_heads=1, kv_num_heads=1),
     [[1, 4, 8]], opset=27)
# CHECK: error: MultiHeadAttention node 'bad': attribute 'num_heads' is 0: need at least 1
save(node("MultiHeadAttention", "x0 x0 x0", "y", "bad", domain="com.microsoft"), [[1, 4, 8]], opsets=MICROSOFT)
# CHECK: error: GroupQueryAttention node 'bad': need a number of heads that is a multiple of that of keys, have 4 and 3
save(node("GroupQueryAttention", "x0 x0 x0 _ _ x1 x1", "y", "bad", domain="com.microsoft", num_heads=4, kv_num_heads=3),
     [[1, 4, 8], [1]], dtypes={1: TensorProto.INT32}, opsets=MICROSOFT)
# CHECK: error: FusedConv node 'bad': attribute 'activation' is 'Elu': need Relu, Sigmoid, Tanh, LeakyRelu, HardSigmoid or Clip
save(node("FusedConv", "x0 x1", "y", "bad", domain="com.microsoft", activation="Elu"), [[1, 3, 8, 8], [4, 3, 3, 3]],
     opsets=MICROSOFT)
# CHECK: error: DFT node 'bad': need a signal of floats
save(node("DFT", "x0", "y", "bad", inverse=1, onesided=1), [[1, 8, 2]], dtypes={0: BOOL})
