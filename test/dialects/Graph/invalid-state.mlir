// State ops are refused with what they need and what they have.
// RUN: plim-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error@+1 {{'graph.parameter' op needs 16 bytes for 'tensor<4xf32>', has 8}}
  %0 = graph.parameter "w" {file = "m.onnx", bytes = 8 : i64} : tensor<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{'graph.parameter' op needs an offset of at least 0, has -1}}
  %0 = graph.parameter "w" {file = "m.onnx", bytes = 16 : i64, offset = -1 : i64} : tensor<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{'graph.parameter' op needs a static shape, has [?]}}
  %0 = graph.parameter "w" : tensor<?xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{'graph.constant' op needs at most 1024 bytes, has 1028; larger tensors are graph.parameter ops}}
  %0 = graph.constant dense<0.0> : tensor<257xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{'graph.read' op needs a graph.variable named @nothing, has none}}
  %0 = graph.read @nothing : tensor<4xf32>
  return
}

// -----

graph.variable @v : tensor<4xf32>
func.func @f(%x: tensor<5xf32>) {
  // expected-error@+1 {{'graph.assign' op needs the variable's type 'tensor<4xf32>', has 'tensor<5xf32>'}}
  graph.assign @v, %x : tensor<5xf32>
  return
}

// -----

// expected-error@+1 {{'graph.variable' op needs 16 bytes for 'tensor<4xf32>', has 4}}
graph.variable @v : tensor<4xf32> {file = "m.bin", bytes = 4 : i64}

// -----

// expected-error@+1 {{'graph.variable' op needs one open dimension with bounds from 0 to grow, has [4]}}
graph.variable @v : tensor<4xf32> grows "P"

// -----

// expected-error@+1 {{'graph.variable' op needs one open dimension with bounds from 0 to grow, has [1 to 8]}}
graph.variable @v : tensor<?xf32, #graph.bounds<[1 to 8]>> grows "P"

// -----

// expected-error@+1 {{'graph.variable' op needs one open dimension with bounds from 0 to grow, has [?, ?]}}
graph.variable @v : tensor<?x?xf32> grows "P"

// -----

// expected-error@+1 {{'graph.variable' op needs a static shape, has [?]}}
graph.variable @v : tensor<?xf32>

// -----

graph.variable @v : tensor<?x4xf32, #graph.bounds<[0 to 8, 4]>> grows "P"
func.func @f(%x: tensor<?x5xf32>) {
  // expected-error@+1 {{'graph.assign' op needs the variable's type 'tensor<?x4xf32, #graph.bounds<[0 to 8, 4]>>', has 'tensor<?x5xf32>'}}
  graph.assign @v, %x : tensor<?x5xf32>
  return
}

// -----

graph.variable @v : tensor<?x4xf32, #graph.bounds<[0 to 8, 4]>> grows "P"
func.func @f(%x: tensor<9x4xf32>) {
  // expected-error@+1 {{'graph.assign' op needs the variable's type 'tensor<?x4xf32, #graph.bounds<[0 to 8, 4]>>', has 'tensor<9x4xf32>'}}
  graph.assign @v, %x : tensor<9x4xf32>
  return
}
