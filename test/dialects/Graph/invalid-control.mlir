// Control ops are refused with what they need and what they have.
// RUN: plim-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{'graph.fused' op needs elementwise, broadcast, reduce and normalisation ops in its region, has graph.transpose}}
  %0 = graph.fused(%a = %x : tensor<4x6xf32>) -> (tensor<4x6xf32>) {
    %1 = graph.transpose %a {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
    graph.yield %a : tensor<4x6xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{'graph.fused' op needs its region to yield 'tensor<4xf32>' as value 0, has 'tensor<4x6xf32>'}}
  %0 = graph.fused(%a = %x : tensor<4x6xf32>) -> (tensor<4xf32>) {
    graph.yield %a : tensor<4x6xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %c: tensor<2xi1>) {
  // expected-error@+1 {{'graph.if' op needs a condition of one element, has 'tensor<2xi1>'}}
  %0 = graph.if %c : (tensor<2xi1>) -> tensor<4x6xf32> {
    graph.yield %x : tensor<4x6xf32>
  } else {
    graph.yield %x : tensor<4x6xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %c: tensor<i1>) {
  // expected-error@+1 {{'graph.if' op needs the else region to yield 1 values, has 0}}
  %0 = graph.if %c : (tensor<i1>) -> tensor<4x6xf32> {
    graph.yield %x : tensor<4x6xf32>
  } else {
    graph.yield
  }
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %n: tensor<i64>, %c: tensor<i1>) {
  // expected-error@+1 {{'graph.loop' op needs block arguments 'tensor<i64>', 'tensor<i1>', 'tensor<4x6xf32>', has 'tensor<i64>', 'tensor<i1>'}}
  %0 = graph.loop %n while %c carry %x {max_trips = 2 : i64} : (tensor<i64>, tensor<i1>, tensor<4x6xf32>) -> tensor<4x6xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>):
    graph.yield %go : tensor<i1>
  }
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %n: tensor<i64>, %c: tensor<i1>) {
  // expected-error@+1 {{'graph.loop' op needs block arguments 'tensor<i64>', 'tensor<i1>', 'tensor<4x6xf32>', has 'tensor<i64>', 'tensor<i1>', 'tensor<4x6xi32>'}}
  %0 = graph.loop %n while %c carry %x {max_trips = 2 : i64} : (tensor<i64>, tensor<i1>, tensor<4x6xf32>) -> tensor<4x6xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %y: tensor<4x6xi32>):
    graph.yield %go, %x : tensor<i1>, tensor<4x6xf32>
  }
  return
}

// -----

// A carried value may start narrower than it gets, but has one type from then on.
func.func @f(%x: tensor<1x6xf32>, %n: tensor<i64>, %c: tensor<i1>) {
  // expected-error@+1 {{'graph.loop' op needs a result of its carried block argument's type 'tensor<?x6xf32, #graph.bounds<[1 to 3, 6]>>', has 'tensor<1x6xf32>'}}
  %0 = graph.loop %n while %c carry %x {max_trips = 2 : i64} : (tensor<i64>, tensor<i1>, tensor<1x6xf32>) -> tensor<1x6xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %y: tensor<?x6xf32, #graph.bounds<[1 to 3, 6]>>):
    graph.yield %go, %y : tensor<i1>, tensor<?x6xf32, #graph.bounds<[1 to 3, 6]>>
  }
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %n: tensor<i64>, %c: tensor<i1>) {
  // expected-error@+1 {{'graph.loop' op needs max_trips of at least 0, has -2}}
  %0 = graph.loop %n while %c carry %x {max_trips = -2 : i64} : (tensor<i64>, tensor<i1>, tensor<4x6xf32>) -> tensor<4x6xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %y: tensor<4x6xf32>):
    graph.yield %go, %y : tensor<i1>, tensor<4x6xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{'graph.custom' op needs the name of a kernel, has an empty one}}
  %0 = graph.custom ""(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{'graph.custom' op needs at least 1 task and workspaces of at least 0 bytes, has 0, 0 and 0}}
  %0 = graph.custom "k"(%x) {tasks = 0 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}
