# Sequences are lists while a model is imported: nothing of them is left in the graph, and what asks for more is refused.
# RUN: rm -rf %t && mkdir -p %t && %python %s %t
# RUN: import-onnx %t/list.onnx | FileCheck %s
# RUN: sh -c 'for m in %t/bad*.onnx; do import-onnx $m 2>&1; test $? = 2 || echo WRONG CODE; done' | FileCheck %s --check-prefix=BAD
from models import *

seq = lambda name: helper.make_value_info(name, helper.make_sequence_type_proto(helper.make_tensor_type_proto(F32, None)))


def save(name, nodes, outputs, weights=(), inputs=None):
    write(nodes, inputs or [value("x", [6, 4])], outputs, list(weights), path=f"{sys.argv[1]}/{name}.onnx", opset=17)


# Two parts, one put in front once more, the last one taken away: of three slices two are left.
# CHECK-LABEL: func.func @main
# CHECK-SAME: %[[X:.*]]: tensor<6x4xf32>
# CHECK-NOT: unrealized
# CHECK: %[[A:.*]] = graph.slice %[[X]] {sizes = array<i64: 2, 4>, starts = array<i64: 0, 0>}
# CHECK-NOT: graph.slice
# CHECK: %[[C:.*]] = graph.concat %[[A]], %[[A]] {axis = 0 : i64}
# CHECK: return %[[C]]
save("list", [
    node("SplitToSequence", "x parts", "s", axis=0),
    node("SequenceAt", "s first", "a"),
    node("SequenceInsert", "s a first", "t"),
    node("SequenceErase", "t", "u"),
    node("ConcatFromSequence", "u", "y", axis=0),
], [value("y", None)], [ints("parts", 2, 4), raw("first", np.array(0, np.int64))])

# BAD-NOT: WRONG CODE
# BAD: error: SequenceAt node 'bad': position 2 of a sequence of 2
save("bad1", [node("SequenceConstruct", "x x", "s"), node("SequenceAt", "s at", "y", "bad")], [value("y", None)],
     [raw("at", np.array(2, np.int64))])
# BAD: error: Relu node 'bad': input 0 is a sequence, need a tensor
save("bad2", [node("SequenceConstruct", "x x", "s"), node("Relu", "s", "y", "bad")], [value("y", None)])
# BAD: error: output 's' is a sequence: need a tensor, as ConcatFromSequence gives
save("bad3", [node("SequenceConstruct", "x x", "s")], [seq("s")])
# BAD: error: SequenceLength node 'bad': input 0 is a tensor, need a sequence
save("bad4", [node("SequenceLength", "x", "y", "bad")], [value("y", None)])
# BAD: error: ConcatFromSequence node 'bad': need a sequence of at least 1 tensor
save("bad5", [node("SequenceEmpty", "", "s"), node("ConcatFromSequence", "s", "y", "bad", axis=0)], [value("y", None)])
# BAD: error: 2 operators are not supported
# BAD-NEXT: note: 1 x RandomNormal: random numbers are not supported: a run gives the same results each time
# BAD-NEXT: note: 1 x StringConcat: strings are not supported
save("bad6", [node("StringConcat", "x x", "y"), node("RandomNormal", "", "z", shape=[1])], [value("y", None)])
