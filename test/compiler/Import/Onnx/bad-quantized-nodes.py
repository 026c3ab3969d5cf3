# What is wrong with a scale or zero point is said with the node's operator and name.
# RUN: rm -rf %t && mkdir -p %t && %python %s %t
# RUN: sh -c 'for m in %t/*.onnx; do echo == $(basename $m); import-onnx $m 2>&1; test $? = 2 || echo WRONG CODE; done' | FileCheck %s
from models import *

F16, U8, I8, I16, I32 = (TensorProto.FLOAT16, TensorProto.UINT8, TensorProto.INT8, TensorProto.INT16, TensorProto.INT32)
count = 0


def save(op, inputs, types, constants, opset=21, domain="", **attributes):
    """A node on inputs x0, x1, ... (type, shape) and constants."""
    global count
    count += 1
    graph_inputs = [value(f"x{i}", shape, dtype) for i, (dtype, shape) in enumerate(types)]
    only = node(op, inputs, "y", "bad", domain=domain, **attributes)
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    write([only], graph_inputs, [value("y", None)], [raw(k, v) for k, v in constants.items()],
          path=f"{sys.argv[1]}/{count:02}.onnx", opsets=opsets)


def f32(*numbers):
    return np.array(numbers, np.float32)


one, u8, i8 = np.float32(0.5), np.uint8(3), np.int8(3)

# CHECK-NOT: WRONG CODE
# CHECK: == 01.onnx
# CHECK-NEXT: error: QuantizeLinear node 'bad': input 1: a scale must be above zero and finite, have 0.0
save("QuantizeLinear", "x0 s z", [(F32, [2, 3])], {"s": np.float32(0), "z": u8})
# CHECK: == 02.onnx
# CHECK-NEXT: error: DequantizeLinear node 'bad': input 1: a scale must be above zero and finite, have nan
save("DequantizeLinear", "x0 s z", [(U8, [2, 3])], {"s": np.float32("nan"), "z": u8})
# CHECK: == 03.onnx
# CHECK-NEXT: error: DequantizeLinear node 'bad': input 1: a scale must be above zero and finite, have -1.0
save("DequantizeLinear", "x0 s", [(U8, [2, 3])], {"s": f32(1, -1, 1)}, axis=1)
# CHECK: == 04.onnx
# CHECK-NEXT: error: DequantizeLinear node 'bad': input 1: a scale must be above zero and finite, have inf
save("DequantizeLinear", "x0 s", [(U8, [2, 3])], {"s": f32(np.inf)})
# A scale that is too large for a constant of the graph is read from its file.
# CHECK: == 05.onnx
# CHECK-NEXT: error: DequantizeLinear node 'bad': input 1: a scale must be above zero and finite, have 0.0
save("DequantizeLinear", "x0 s", [(U8, [2, 400])], {"s": np.where(np.arange(400) == 399, 0, 1).astype(np.float32)})
# CHECK: == 06.onnx
# CHECK-NEXT: error: DequantizeLinear node 'bad': input 2 'x_zero_point' must have the type of input 0 'x'
save("DequantizeLinear", "x0 s z", [(U8, [2, 3])], {"s": one, "z": i8})
# CHECK: == 07.onnx
# CHECK-NEXT: error: DequantizeLinear node 'bad': input 1: need a scale or zero point of one number or of the [2, 3] along axis 1, have [2]
save("DequantizeLinear", "x0 s", [(U8, [2, 3])], {"s": f32(1, 1)})
# CHECK: == 08.onnx
# CHECK-NEXT: error: DequantizeLinear node 'bad': input 2: need a zero point of the scale's shape [3], have [2]
save("DequantizeLinear", "x0 s z", [(U8, [2, 3])], {"s": f32(1, 1, 1), "z": np.array([1, 2], np.uint8)})
# CHECK: == 09.onnx
# CHECK-NEXT: error: DequantizeLinear node 'bad': axis 2: need -2 to 1
save("DequantizeLinear", "x0 s", [(U8, [2, 3])], {"s": f32(1, 1, 1)}, axis=2)
# CHECK: == 10.onnx
# CHECK-NEXT: error: DequantizeLinear node 'bad': input 1: need one scale or zero point for each block of 2 along axis 1 of [2, 6], have [2, 2]
save("DequantizeLinear", "x0 s", [(U8, [2, 6])], {"s": np.ones((2, 2), np.float32)}, block_size=2)
# CHECK: == 11.onnx
# CHECK-NEXT: error: QuantizeLinear node 'bad': attribute 'block_size' is -1: need at least 0
save("QuantizeLinear", "x0 s", [(F32, [2, 6])], {"s": one}, block_size=-1)
# CHECK: == 12.onnx
# CHECK-NEXT: error: QuantizeLinear node 'bad': input 2 'y_zero_point' must have the type that attribute 'output_dtype' says
save("QuantizeLinear", "x0 s z", [(F32, [2, 6])], {"s": one, "z": u8}, output_dtype=I8)
# CHECK: == 13.onnx
# CHECK-NEXT: error: QuantizeLinear node 'bad': the result must be integers of 8 or 16 bits
save("QuantizeLinear", "x0 s z", [(F32, [2, 6])], {"s": one, "z": np.int32(3)})
# CHECK: == 14.onnx
# CHECK-NEXT: error: QuantizeLinear node 'bad': elements of type float8e4m3fn are not supported
save("QuantizeLinear", "x0 s", [(F32, [2, 6])], {"s": one}, output_dtype=TensorProto.FLOAT8E4M3FN)
# CHECK: == 15.onnx
# CHECK-NEXT: error: input 'x0': elements of type int4 are not supported
save("DequantizeLinear", "x0 s", [(TensorProto.INT4, [2, 6])], {"s": one})
# CHECK: == 16.onnx
# CHECK-NEXT: error: DequantizeLinear node 'bad': input 0 'x' must be integers
save("DequantizeLinear", "x0 s", [(F32, [2, 6])], {"s": one})
# CHECK: == 17.onnx
# CHECK-NEXT: error: MatMulInteger node 'bad': input 0 'A': need integers of 8 bits, have i16
save("MatMulInteger", "x0 x1", [(I16, [2, 3]), (U8, [3, 4])], {})
# CHECK: == 18.onnx
# CHECK-NEXT: error: MatMulInteger node 'bad': input 2: need a zero point of the type of input 0
save("MatMulInteger", "x0 x1 z", [(U8, [2, 3]), (U8, [3, 4])], {"z": i8})
# CHECK: == 19.onnx
# CHECK-NEXT: error: MatMulInteger node 'bad': {{.*}}needs a rhs_zero that broadcasts to [1, 4], has [3]
save("MatMulInteger", "x0 x1 az z", [(U8, [2, 3]), (I8, [3, 4])], {"az": u8, "z": np.array([1, 2, 3], np.int8)})
# CHECK: == 20.onnx
# CHECK-NEXT: error: ConvInteger node 'bad': {{.*}}needs an input_zero of one number, has [1, 2]
save("ConvInteger", "x0 x1 z", [(U8, [1, 2, 5, 5]), (U8, [4, 2, 3, 3])], {"z": np.array([[1, 2]], np.uint8)})
# CHECK: == 21.onnx
# CHECK-NEXT: error: QLinearMatMul node 'bad': input 6: a scale must be above zero and finite, have 0.0
save("QLinearMatMul", "x0 s u x1 s u zero u", [(U8, [2, 3]), (U8, [3, 4])], {"s": one, "u": u8, "zero": np.float32(0)})
# CHECK: == 22.onnx
# CHECK-NEXT: error: QLinearConv node 'bad': input 8 'B' must be i32
save("QLinearConv", "x0 s u x1 s u s u b", [(U8, [1, 2, 5, 5]), (U8, [4, 2, 3, 3])],
     {"s": one, "u": u8, "b": f32(1, 2, 3, 4)})
# CHECK: == 23.onnx
# CHECK-NEXT: error: DynamicQuantizeMatMul node 'bad': input 0 'A' must be f32
save("DynamicQuantizeMatMul", "x0 x1 s", [(F16, [2, 3]), (U8, [3, 4])], {"s": one}, domain="com.microsoft")
# CHECK: == 24.onnx
# CHECK-NEXT: error: DynamicQuantizeMatMul node 'bad': input 2: a scale must be above zero and finite, have -0.5
save("DynamicQuantizeMatMul", "x0 x1 s", [(F32, [2, 3]), (U8, [3, 4])], {"s": -one}, domain="com.microsoft")
# CHECK: == 25.onnx
# CHECK-NEXT: error: DynamicQuantizeLinear node 'bad': input 0 'x' must be f32
save("DynamicQuantizeLinear", "x0", [(F16, [2, 3])], {})
