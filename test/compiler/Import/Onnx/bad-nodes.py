# What is wrong with a node is said with its operator and name.
# RUN: rm -rf %t && mkdir -p %t && %python %s %t
# RUN: sh -c 'for m in %t/*.onnx; do echo == $(basename $m); import-onnx $m 2>&1; test $? = 2 || echo WRONG CODE; done' | FileCheck %s
from models import *

count = 0


def save(nodes, shapes, weights=(), opset=17, dtype=F32, **kwargs):
    global count
    count += 1
    inputs = [value(f"x{i}", shape, dtype) for i, shape in enumerate(shapes)]
    write([nodes], inputs, [value("y", None)], weights, path=f"{sys.argv[1]}/{count:02}.onnx", opset=opset, **kwargs)


# CHECK-NOT: WRONG CODE
# CHECK: == 01.onnx
# CHECK-NEXT: error: Add node 'bad': {{.*}}[2, 3]{{.*}}[4, 5]
save(node("Add", "x0 x1", "y", "bad"), [[2, 3], [4, 5]])
# CHECK: == 02.onnx
# CHECK-NEXT: error: Conv node 'bad': attribute 'strides' holds 0: need at least 1
save(node("Conv", "x0 x1", "y", "bad", strides=[1, 0]), [[1, 3, 8, 8], [4, 3, 3, 3]])
# CHECK: == 03.onnx
# CHECK-NEXT: error: Conv node 'bad': attribute 'pads': need 4 entries, have 2
save(node("Conv", "x0 x1", "y", "bad", pads=[1, 1]), [[1, 3, 8, 8], [4, 3, 3, 3]])
# CHECK: == 04.onnx
# CHECK-NEXT: error: Softmax node 'bad': axis 2: need -2 to 1
save(node("Softmax", "x0", "y", "bad", axis=2), [[2, 3]])
# CHECK: == 05.onnx
# CHECK-NEXT: error: Gather node 'bad': input 1 is missing; need 2, have 1
save(node("Gather", "x0", "y", "bad"), [[2, 3]])
# CHECK: == 06.onnx
# CHECK-NEXT: error: Relu node 'bad': attribute 'colour' is not one of this operator's
save(node("Relu", "x0", "y", "bad", colour=1), [[2, 3]])
# CHECK: == 07.onnx
# CHECK-NEXT: error: Elu node 'bad': attribute 'alpha' must be a float
save(node("Elu", "x0", "y", "bad", alpha=1), [[2, 3]])
# CHECK: == 08.onnx
# CHECK-NEXT: error: Reshape node 'bad': {{.*}}
save(node("Reshape", "x0 s", "y", "bad"), [[2, 3]], [ints("s", 4, 2)])
# CHECK: == 09.onnx
# CHECK-NEXT: error: Relu node 'bad': output 1 'i' is not supported
save(node("Relu", "x0", "y i", "bad"), [[1, 3, 8, 8]])
# CHECK: == 10.onnx
# CHECK-NEXT: error: the model asks for operator set 28: need 7 to 27
save(node("Relu", "x0", "y", "bad"), [[2]], opsets=[helper.make_opsetid("", 28)])
# CHECK: == 11.onnx
# CHECK-NEXT: error: the model asks for two operator sets of domain '': 17 and 13
save(node("Relu", "x0", "y", "bad"), [[2]], opsets=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx", 13)])
# CHECK: == 12.onnx
# CHECK-NEXT: error: Relu node 'bad': need at most 1 inputs, have 2
save(node("Relu", "x0 x0", "y", "bad"), [[2]])
# CHECK: == 13.onnx
# CHECK-NEXT: error: Sqrt node 'bad': {{.*}}
save(node("Sqrt", "x0", "y", "bad"), [[2]], dtype=I64)
# CHECK: == 14.onnx
# CHECK-NEXT: error: MatMul node 'bad': {{.*}}
save(node("MatMul", "x0 x1", "y", "bad"), [[2, 3], [4, 5]])
# CHECK: == 15.onnx
# CHECK-NEXT: error: input 'x0': elements of type string are not supported
save(node("Identity", "x0", "y", "bad"), [[2, 3]], dtype=TensorProto.STRING)
# CHECK: == 16.onnx
# CHECK-NEXT: error: MaxPool node 'bad': the window reaches over 9 elements of spatial dimension 0, which has 8 with its pads
save(node("MaxPool", "x0", "y", "bad", kernel_shape=[9, 2]), [[1, 3, 8, 8]])
# CHECK: == 17.onnx
# CHECK-NEXT: error: TopK node 'bad': K is 9: need 0 to 3
save(node("TopK", "x0 k", "y i", "bad"), [[2, 3]], [ints("k", 9)])
# CHECK: == 18.onnx
# CHECK-NEXT: error: TopK node 'bad': input 1{{.*}}missing{{.*}}
save(node("TopK", "x0", "y i", "bad"), [[2, 3]])
# CHECK: == 19.onnx
# CHECK-NEXT: error: Constant node 'bad': attribute 'value' must be a tensor
empty = node("Constant", "", "y", "bad")
empty.attribute.add(name="value")
save(empty, [[2, 3]])
