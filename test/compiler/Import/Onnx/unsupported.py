# All operators that are not supported are named in one error, with counts, nodes and the reason; exit code 2.
# RUN: %python %s %t
# RUN: not import-onnx %t 2>&1 | FileCheck %s
# RUN: sh -c 'import-onnx %t 2>/dev/null; test $? = 2'
from models import *

# CHECK: error: 4 operators are not supported
# CHECK-NEXT: note: 2 x MaxRoiPool: not supported; nodes 'first', 'MaxRoiPool_2'
# CHECK-NEXT: note: 1 x RMSNormalization: is new in operator set 23, have 17; node 'Body_6/norm'
# CHECK-NEXT: note: 1 x Upsample: was taken out in operator set 10, have 17; node 'up'
# CHECK-NEXT: note: 9 x custom::Foo: not supported; nodes 'foo0', 'foo1', 'foo2', 'foo3', 'foo4', 'foo5', 'foo6', 'foo7' and 1 more
body = helper.make_function("local", "Body", ["a"], ["b"],
                            [node("RMSNormalization", "a a", "b", "norm")], [helper.make_opsetid("", 17)])
write(
    [
        node("Relu", "x", "y"),
        node("MaxRoiPool", "x y", "l0", "first"),
        node("MaxRoiPool", "x y", "l1"),
        node("Upsample", "x y", "u", "up"),
    ]
    + [node("Foo", "x", f"f{i}", f"foo{i}", domain="custom") for i in range(2)]
    + [node("Body", "x", "b", domain="local")]
    + [node("Foo", "x", f"f{i}", f"foo{i}", domain="custom") for i in range(2, 9)],
    [value("x", [1, 3])],
    [value("y", None)],
    functions=[body],
    opsets=[helper.make_opsetid("", 17), helper.make_opsetid("custom", 1), helper.make_opsetid("local", 1)],
)
