# If, Loop and Scan become graph.if and graph.loop; what is first read inside of a region is made outside.
# RUN: rm -rf %t && mkdir -p %t && %python %s %t
# RUN: import-onnx %t/if.onnx | FileCheck %s --check-prefix=IF
# RUN: import-onnx %t/loop.onnx --bound 'again=0..7' | FileCheck %s --check-prefix=LOOP
# RUN: not import-onnx %t/loop.onnx 2>&1 | FileCheck %s --check-prefix=UNBOUNDED
# RUN: not import-onnx %t/loop.onnx --bound again=0..7 --bound other=0..7 2>&1 | FileCheck %s --check-prefix=UNUSED
# RUN: import-onnx %t/rows.onnx --bound N=1..6 | FileCheck %s --check-prefix=ROWS
# RUN: import-onnx %t/fixed.onnx | FileCheck %s --check-prefix=FIXED
# RUN: import-onnx %t/grow.onnx | FileCheck %s --check-prefix=GROW
# RUN: not import-onnx %t/double.onnx 2>&1 | FileCheck %s --check-prefix=DOUBLE
# RUN: not import-onnx %t/condition.onnx 2>&1 | FileCheck %s --check-prefix=CONDITION
# RUN: not import-onnx %t/trips.onnx 2>&1 | FileCheck %s --check-prefix=TRIPS
# RUN: import-onnx %t/scan.onnx | FileCheck %s --check-prefix=SCAN
# RUN: not import-onnx %t/axis.onnx 2>&1 | FileCheck %s --check-prefix=AXIS
# RUN: not import-onnx %t/lengths.onnx 2>&1 | FileCheck %s --check-prefix=LENGTHS
from models import *

folder = sys.argv[1]


def names(text):
    return ["" if name == "_" else name for name in text.split()]


def control(op, inputs, outputs, name, **attributes):
    return helper.make_node(op, names(inputs), outputs.split(), name=name, **attributes)


def body(nodes, inputs, outputs, weights=()):
    return helper.make_graph(nodes, "body", [value(*i) for i in inputs], [value(o, None) for o in outputs], list(weights))


def save(name, nodes, inputs, weights=(), opset=17):
    write(nodes, inputs, [value("y", None)], weights, opset, f"{folder}/{name}.onnx")


HEADER = [("i", [], I64), ("go", [], BOOL)]

# The weight is read by both branches and is not theirs.
# IF: func.func @main(%[[X:.*]]: tensor<2x300xf32> {{.*}}, %[[C:.*]]: tensor<i1>
# IF-NEXT: %[[W:.*]] = graph.parameter "w"
# IF-NEXT: graph.if %[[C]] : (tensor<i1>) -> tensor<?x300xf32, #graph.bounds<[1 to 2, 300]>> {
# IF-NEXT: %[[A:.*]] = graph.add %[[X]], %[[W]]
# IF-NEXT: graph.yield %[[A]] : tensor<2x300xf32>
# IF: graph.yield %{{.*}} : tensor<1x300xf32>
save("if", [control("If", "c", "y", "choice",
                    then_branch=body([node("Add", "x w", "a")], [], ["a"]),
                    else_branch=body([node("ReduceSum", "x zero", "s"), node("Mul", "s w", "m")], [], ["m"],
                                     [ints("zero", 0)]))],
     [value("x", [2, 300]), value("c", [], BOOL)], [raw("w", np.ones(300, np.float32))])

# Trips and condition of the run; inside of a trip the condition is true.
# LOOP: func.func @main(%[[X:.*]]: tensor<3xf32> {{.*}}, %[[N:.*]]: tensor<i64> {{.*}}, %[[C:.*]]: tensor<i1>
# LOOP: graph.loop %[[N]] while %[[C]] carry %[[X]] {max_trips = 7 : i64}
# LOOP-SAME: -> (tensor<3xf32>, tensor<?x3xf32, #graph.bounds<[0 to 7, 3]>>)
# LOOP-NEXT: ^bb0(%[[I:.*]]: tensor<i64>, %{{.*}}: tensor<i1>, %[[H:.*]]: tensor<3xf32>):
# LOOP: %[[F:.*]] = graph.cast %[[I]]
# LOOP: %[[A:.*]] = graph.add %[[H]], %[[F]]
# LOOP: graph.yield %{{.*}}, %[[A]], %[[A]] : tensor<i1>, tensor<3xf32>, tensor<3xf32>
# UNBOUNDED: error: Loop node 'again': need a bound of the number of its trips, have none: give it by --bound 'again=0..MOST'
# UNUSED: error: --bound 'other=0..7' names no
loop = body([node("Cast", "i", "f", to=F32), node("Add", "h f", "a"), node("ReduceMax", "a", "m", keepdims=0),
             node("Less", "m m", "on")], [*HEADER, ("h", [3])], ["on", "a", "a"])
save("loop", [control("Loop", "n c x", "y ys", "again", body=loop)],
     [value("x", [3]), value("n", [], I64), value("c", [], BOOL)])

# The number of rows bounds the trips.
# ROWS: graph.loop %{{.*}} while %{{.*}} carry %{{.*}} {max_trips = 6 : i64}
rows = body([node("Gather", "x i", "row"), node("Add", "h row", "a"), node("Identity", "go", "on")],
            [*HEADER, ("h", [3])], ["on", "a"])
save("rows", [node("Shape", "x", "s"), node("Gather", "s zero", "n"),
              control("Loop", "n _ h0", "y", "each", body=rows)], [value("x", ["N", 3]), value("h0", [3])],
     [raw("zero", np.int64(0))])

# As many slices as trips, where those are known and nothing ends the loop earlier.
# FIXED: graph.loop %{{.*}} while %{{.*}} carry %{{.*}} {max_trips = 4 : i64} : {{.*}} -> (tensor<3xf32>, tensor<4x3xf32>)
fixed = body([node("Neg", "h", "a"), node("Identity", "go", "on")], [*HEADER, ("h", [3])], ["on", "a", "a"])
save("fixed", [control("Loop", "four _ x", "h y", "again", body=fixed)], [value("x", [3])], [raw("four", np.int64(4))])

# A row more in each trip.
# GROW: graph.loop {{.*}} : (tensor<i64>, tensor<i1>, tensor<2x3xf32>) -> tensor<?x3xf32, #graph.bounds<[2 to 14, 3]>>
# DOUBLE: error: Loop node 'again': carried value 0, dimension 0: need the same growth in each trip, have [2 to 10] before and [4 to 20] after one
for name, other in (("grow", "x"), ("double", "h")):
    more = body([node("Concat", f"h {other}", "a", axis=0), node("Identity", "go", "on")], [*HEADER, ("h", ["R", 3])],
                ["on", "a"])
    save(name, [control("Loop", "n _ x", "y", "again", body=more)], [value("x", [2, 3])],
         [raw("n", np.int64(6 if name == "grow" else 4))])

# CONDITION: error: If node 'choice': the condition: need one element of i1, have [2] of i1
same = body([node("Identity", "x", "a")], [], ["a"])
save("condition", [control("If", "c", "y", "choice", then_branch=same, else_branch=same)],
     [value("x", [2]), value("c", [2], BOOL)])

# TRIPS: error: Loop node 'again': the number of trips: need one element of i64, have [] of f32
save("trips", [control("Loop", "n _ x", "y", "again", body=fixed)], [value("x", [3]), value("n", [])])

# The second input is read from its end along its second axis, the output stacked from its end.
# SCAN: func.func @main(%[[A:.*]]: tensor<5x3xf32> {{.*}}, %[[B:.*]]: tensor<3x5xf32>
# SCAN: graph.loop %{{.*}} while %{{.*}} {max_trips = 5 : i64} : (tensor<i64>, tensor<i1>) -> tensor<5x3xf32> {
# SCAN-NEXT: ^bb0(%[[I:.*]]: tensor<i64>, %{{.*}}: tensor<i1>):
# SCAN: %[[P:.*]] = graph.gather %[[A]], %[[I]]
# SCAN: %[[J:.*]] = graph.sub %{{.*}}, %[[I]]
# SCAN: %[[Q:.*]] = graph.gather %[[B]], %[[J]] {axis = 1 : i64}
# SCAN: graph.add %[[P]], %[[Q]]
# SCAN: dense<[4, 3, 2, 1, 0]>
# SCAN: graph.gather
sums = body([node("Add", "p q", "o")], [("p", [3]), ("q", [3])], ["o"])
save("scan", [control("Scan", "a b", "y", "each", body=sums, num_scan_inputs=2, scan_input_axes=[0, -1],
                      scan_input_directions=[0, 1], scan_output_directions=[1])],
     [value("a", [5, 3]), value("b", [3, 5])])

# AXIS: error: Scan node 'each': axis 2: need -2 to 1
save("axis", [control("Scan", "a b", "y", "each", body=sums, num_scan_inputs=2, scan_input_axes=[0, 2])],
     [value("a", [5, 3]), value("b", [5, 3])])

# LENGTHS: error: Scan node 'each': input 0 'sequence_lens' is not supported
save("lengths", [control("Scan", "l a b", "y", "each", body=sums, num_scan_inputs=2)],
     [value("l", [2], I64), value("a", [2, 5, 3]), value("b", [2, 5, 3])], opset=8)
