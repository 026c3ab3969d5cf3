//===- kernels/recurrent/steps_x86.h - Some sequences of one direction through all steps ------===//
//
// Sequences that go through the steps together share each read of the recurrent weights; nothing that is computed for
// one depends on the others, but for what the product itself takes from all (the scale of quantised states).
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_RECURRENT_STEPS_X86_H
#define PLIM_KERNELS_RECURRENT_STEPS_X86_H

#include "kernels/recurrent/gates_x86.h"
#include "kernels/recurrent/recurrent_cost.h"

#include <string.h>

namespace plim {
namespace {

/// Rows of scratch, one a sequence: states of `row.state` floats, products of `row.columns`.
struct Steps {
  const Net &net;
  plim_recurrent_row row;
  int64_t direction, begin, rows; // sequences [begin, begin + rows)
  float *hidden, *cell, *factor, *products;

  Steps(const Net &net, int64_t direction, int64_t begin, int64_t rows, float *scratch)
      : net(net), row(plim_recurrent_row_of(net.kind, net.flags, net.size)), direction(direction), begin(begin),
        rows(rows), hidden(scratch), cell(hidden + rows * row.state), factor(cell + rows * row.state),
        products(factor + rows * row.state) {}

  int64_t lengthOf(int64_t r) const { return net.lengthOf(begin + r); }
  bool splits() const { return net.kind == PLIM_GRU && !net.has(PLIM_RECURRENT_LINEAR_BEFORE_RESET); }
};

inline void loadState(const Steps &s, const Operand &from, float *to) {
  for (int64_t r = 0; r < s.rows; ++r) {
    if (from)
      memcpy(to + r * s.row.state, (const float *)from.data + from.at(s.direction, s.begin + r),
             (size_t)s.net.size * sizeof(float));
    const int64_t filled = from ? s.net.size : 0;
    memset(to + r * s.row.state + filled, 0, (size_t)(s.row.state - filled) * sizeof(float));
  }
}

inline void storeState(const Steps &s, const float *from, const Operand &to) {
  for (int64_t r = 0; r < s.rows; ++r) {
    float *state = (float *)to.data + to.at(s.direction, s.begin + r);
    if (s.lengthOf(r) > 0)
      memcpy(state, from + r * s.row.state, (size_t)s.net.size * sizeof(float));
    else
      memset(state, 0, (size_t)s.net.size * sizeof(float));
  }
}

/// multiply(step, number, states): product `number` of the states, rows of s.row.state floats, into s.products.
template <typename Multiply> inline void runSteps(Steps &s, Multiply multiply) {
  const Net &net = s.net;
  const Cell cell = cellOf(net, s.direction);
  const size_t stateBytes = (size_t)net.size * sizeof(float);
  loadState(s, net.hidden, s.hidden);
  loadState(s, net.cell, s.cell);
  int64_t longest = 0;
  for (int64_t r = 0; r < s.rows; ++r)
    longest = s.lengthOf(r) > longest ? s.lengthOf(r) : longest;

  CellStep at = {};
  for (int gate = 0; gate < net.gates; ++gate)
    at.at[gate] = gate * net.size;
  if (s.splits())
    at.at[2] = (2 * net.size + 31) / 32 * 32;
  auto forEach = [&](int64_t step, auto update) {
    for (int64_t r = 0; r < s.rows; ++r) {
      const int64_t length = s.lengthOf(r);
      if (step >= length)
        continue;
      const int64_t time = timeOf(net, s.direction, length, step);
      at.products = s.products + r * s.row.columns;
      at.projected =
          (const float *)net.projected.data + net.projected.at(time, s.begin + r, s.direction * net.gates * net.size);
      at.hidden = s.hidden + r * s.row.state;
      at.cell = s.cell + r * s.row.state;
      at.factor = s.factor + r * s.row.state;
      update(time, r);
    }
  };
  for (int64_t step = 0; step < longest; ++step) {
    multiply(step, 0, s.hidden);
    if (s.splits()) {
      // Rows that have ended are multiplied too; their factor is whatever it was, which must be a number.
      if (step == 0)
        memset(s.factor, 0, (size_t)(s.rows * s.row.state) * sizeof(float));
      forEach(step, [&](int64_t, int64_t) { resetGru(cell, at); });
      multiply(step, 1, s.factor);
    }
    forEach(step, [&](int64_t time, int64_t r) {
      if (net.kind == PLIM_LSTM)
        updateLstm(cell, at);
      else if (net.kind == PLIM_GRU)
        updateGru(cell, at);
      else
        updateRnn(cell, at);
      if (net.sequence)
        memcpy((float *)net.sequence.data + net.sequence.at(time, s.direction, s.begin + r), at.hidden, stateBytes);
    });
  }

  for (int64_t r = 0; net.sequence && r < s.rows; ++r)
    for (int64_t time = s.lengthOf(r); time < net.steps; ++time)
      memset((float *)net.sequence.data + net.sequence.at(time, s.direction, s.begin + r), 0, stateBytes);
  storeState(s, s.hidden, net.lastHidden);
  if (net.lastCell)
    storeState(s, s.cell, net.lastCell);
}

/// Whether a launch has what both kernels ask for: f32 with an innermost stride of 1, and weights in panels.
inline bool isFastNet(const plim_launch *launch, const Net &net) {
  for (uint32_t i = 0; i < launch->operands; ++i) {
    const plim_shape &s = *launch->shape[i];
    if (&s == net.recurrent.shape || &s == net.lengths.shape || &s == net.zero.shape)
      continue;
    if (s.dtype != PLIM_F32 || s.layout != PLIM_ROW || (s.dims[s.rank - 1] > 1 && s.strides[s.rank - 1] != 1))
      return false;
  }
  const plim_recurrent_row row = plim_recurrent_row_of(net.kind, net.flags, net.size);
  return net.recurrent.shape->layout == PLIM_PANEL32 &&
         hasDims(net.recurrent, 2, net.size, net.directions * row.columns, 0);
}

} // namespace
} // namespace plim

#endif
