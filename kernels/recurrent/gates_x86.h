//===- kernels/recurrent/gates_x86.h - Functions of gates, and the cells, on vectors ----------===//
//
// In float at the level a file is compiled for; the same bits at each.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_RECURRENT_GATES_X86_H
#define PLIM_KERNELS_RECURRENT_GATES_X86_H

#include "kernels/recurrent/net.h"
#include "kernels/x86/activation.h"

namespace plim {
namespace {

struct VectorGate {
  plim_gate_function kind;
  float alpha, beta;
};

inline VectorGate vectorGate(const GateFunction &f) { return {f.kind, (float)f.alpha, (float)f.beta}; }

/// log(1 + e^x) = max(x, 0) + 2 artanh(y / (2 + y)) where y = e^-|x|; the argument of artanh is at most 1/3.
PLIM_INLINE Vector softplus(Vector x) {
  const Vector y = exponential(-absolute(x));
  const Vector s = y / (broadcast(2.0f) + y), square = s * s;
  const Vector series =
      polynomial(square, broadcast(1.0f / 15), 1.0f / 13, 1.0f / 11, 1.0f / 9, 1.0f / 7, 1.0f / 5, 1.0f / 3, 1.0f);
  return max(zero(), x) + broadcast(2.0f) * s * series;
}

/// All but the usual ones: out of line, so that the cells stay small.
static __attribute__((noinline)) Vector applyRareGate(Vector x, const VectorGate &f) {
  const Vector alpha = broadcast(f.alpha), beta = broadcast(f.beta);
  switch (f.kind) {
  case PLIM_GATE_RELU:
    return max(zero(), x);
  case PLIM_GATE_AFFINE:
    return fma(x, alpha, beta);
  case PLIM_GATE_LEAKY_RELU:
    return selectNegative(x, x * alpha, x);
  case PLIM_GATE_THRESHOLDED_RELU:
    return selectNegative(x - alpha, zero(), x);
  case PLIM_GATE_SCALED_TANH:
    return alpha * hyperbolicTangent(beta * x);
  case PLIM_GATE_HARD_SIGMOID:
    return clamp(fma(x, alpha, beta), zero(), broadcast(1.0f));
  case PLIM_GATE_ELU:
    return selectNegative(x, alpha * (exponential(x) - broadcast(1.0f)), x);
  case PLIM_GATE_SOFTSIGN:
    return x / (broadcast(1.0f) + absolute(x));
  case PLIM_GATE_SOFTPLUS:
    return softplus(x);
  case PLIM_GATE_SIGMOID:
  case PLIM_GATE_TANH:
  case PLIM_GATE_FUNCTION_COUNT:
    break;
  }
  return x;
}

PLIM_INLINE Vector applyGate(Vector x, const VectorGate &f) {
  if (f.kind == PLIM_GATE_SIGMOID)
    return broadcast(1.0f) / (broadcast(1.0f) + exponential(-x));
  if (f.kind == PLIM_GATE_TANH)
    return hyperbolicTangent(x);
  return applyRareGate(x, f);
}

/// The first `lanes` lanes.
PLIM_INLINE Vector loadLanes(const float *p, int64_t lanes) {
  return lanes >= kLanes ? load(p) : load(p, firstLanes(lanes));
}
PLIM_INLINE void storeLanes(float *p, Vector x, int64_t lanes) {
  if (lanes >= kLanes)
    store(p, x);
  else
    store(p, x, firstLanes(lanes));
}

/// One direction of a net, as the cells see it.
struct Cell {
  int64_t size;
  VectorGate f, g, h;
  float clip;
  const float *bias, *peepholes; // null where left out
  bool inputForget, linearBeforeReset;
};

/// One sequence at one step. Gate k of the products starts at products + at[k], of the projected input at k * size.
struct CellStep {
  const float *products, *projected;
  int64_t at[4];
  float *hidden, *cell, *factor;
};

inline Cell cellOf(const Net &net, int64_t direction) {
  Cell cell = {};
  cell.size = net.size;
  cell.f = vectorGate(net.functions[direction][0]);
  if (net.kind != PLIM_RNN)
    cell.g = vectorGate(net.functions[direction][1]);
  if (net.kind == PLIM_LSTM)
    cell.h = vectorGate(net.functions[direction][2]);
  cell.clip = (float)net.clip;
  cell.bias = net.bias ? (const float *)net.bias.data + net.bias.at(direction) : nullptr;
  cell.peepholes = net.peepholes ? (const float *)net.peepholes.data + net.peepholes.at(direction) : nullptr;
  cell.inputForget = net.has(PLIM_RECURRENT_INPUT_FORGET);
  cell.linearBeforeReset = net.has(PLIM_RECURRENT_LINEAR_BEFORE_RESET);
  return cell;
}

PLIM_INLINE Vector bounded(Vector x, const Cell &cell) { return clamp(x, broadcast(-cell.clip), broadcast(cell.clip)); }

PLIM_INLINE Vector gateInput(const Cell &cell, const CellStep &s, int gate, int64_t i, int64_t lanes) {
  return loadLanes(s.products + s.at[gate] + i, lanes) + loadLanes(s.projected + gate * cell.size + i, lanes);
}

static inline void updateLstm(const Cell &cell, const CellStep &s) {
  for (int64_t i = 0; i < cell.size; i += kLanes) {
    const int64_t lanes = cell.size - i;
    auto peephole = [&](int gate, Vector x, Vector c) __attribute__((always_inline)) {
      return cell.peepholes ? fma(loadLanes(cell.peepholes + gate * cell.size + i, lanes), c, x) : x;
    };
    auto in = [&](int gate) __attribute__((always_inline)) { return gateInput(cell, s, gate, i, lanes); };
    Vector c = load(s.cell + i);
    const Vector input = applyGate(bounded(peephole(0, in(0), c), cell), cell.f);
    const Vector forget =
        cell.inputForget ? broadcast(1.0f) - input : applyGate(bounded(peephole(2, in(2), c), cell), cell.f);
    c = fma(forget, c, input * applyGate(bounded(in(3), cell), cell.g));
    const Vector output = applyGate(bounded(peephole(1, in(1), c), cell), cell.f);
    store(s.cell + i, c);
    store(s.hidden + i, output * applyGate(c, cell.h));
  }
}

/// factor = r h, the other factor of the second product.
static inline void resetGru(const Cell &cell, const CellStep &s) {
  for (int64_t i = 0; i < cell.size; i += kLanes) {
    const Vector r = applyGate(bounded(gateInput(cell, s, 1, i, cell.size - i), cell), cell.f);
    store(s.factor + i, r * load(s.hidden + i));
  }
}

static inline void updateGru(const Cell &cell, const CellStep &s) {
  for (int64_t i = 0; i < cell.size; i += kLanes) {
    const int64_t lanes = cell.size - i;
    const Vector z = applyGate(bounded(gateInput(cell, s, 0, i, lanes), cell), cell.f);
    Vector product = loadLanes(s.products + s.at[2] + i, lanes);
    if (cell.linearBeforeReset) {
      if (cell.bias)
        product = product + loadLanes(cell.bias + i, lanes);
      product = product * applyGate(bounded(gateInput(cell, s, 1, i, lanes), cell), cell.f);
    }
    const Vector in = product + loadLanes(s.projected + 2 * cell.size + i, lanes);
    const Vector candidate = applyGate(bounded(in, cell), cell.g);
    store(s.hidden + i, fma(z, load(s.hidden + i), (broadcast(1.0f) - z) * candidate));
  }
}

static inline void updateRnn(const Cell &cell, const CellStep &s) {
  for (int64_t i = 0; i < cell.size; i += kLanes)
    store(s.hidden + i, applyGate(bounded(gateInput(cell, s, 0, i, cell.size - i), cell), cell.f));
}

} // namespace
} // namespace plim

#endif
