//===- kernels/recurrent/net.h - The operands of a recurrence by name -------------------------===//
//
// Internal linkage throughout: files of several instruction sets include it.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_RECURRENT_NET_H
#define PLIM_KERNELS_RECURRENT_NET_H

#include "kernels/attrs.h"
#include "kernels/recurrent/recurrent.h"
#include "plim/kernel.h"

namespace plim {
namespace {

struct Operand {
  void *data = nullptr;
  const plim_shape *shape = nullptr; // null: left out

  explicit operator bool() const { return shape != nullptr; }
  /// Elements from the start to index (i, j, ...) of the outermost dimensions.
  int64_t at(int64_t i, int64_t j = 0, int64_t k = 0) const {
    return i * shape->strides[0] + (shape->rank > 1 ? j * shape->strides[1] : 0) +
           (shape->rank > 2 ? k * shape->strides[2] : 0);
  }
};

struct GateFunction {
  plim_gate_function kind;
  double alpha, beta;
};

struct Net {
  int kind, gates;
  int64_t flags;
  double clip;
  int64_t steps, sequences, directions, size;
  GateFunction functions[2][3];
  Operand projected, recurrent, bias, peepholes, lengths, hidden, cell, scale, zero, sequence, lastHidden, lastCell;

  bool has(int64_t flag) const { return (flags & flag) != 0; }
  bool isReverse(int64_t direction) const { return direction == 1 || has(PLIM_RECURRENT_REVERSE); }
  /// Steps of a sequence; outside [0, steps] where the lengths are wrong.
  int64_t lengthOf(int64_t sequence) const {
    if (!lengths)
      return steps;
    const int64_t at = lengths.at(sequence);
    return lengths.shape->dtype == PLIM_I32 ? ((const int32_t *)lengths.data)[at] : ((const int64_t *)lengths.data)[at];
  }
};

inline bool hasDims(const Operand &operand, uint8_t rank, int64_t d0, int64_t d1, int64_t d2, int64_t d3 = 0) {
  const int64_t dims[] = {d0, d1, d2, d3};
  if (operand.shape->rank != rank)
    return false;
  for (uint8_t i = 0; i < rank; ++i)
    if (operand.shape->dims[i] != dims[i])
      return false;
  return true;
}

/// Names the operands and checks what all kernels need of them but types and strides; false where that is not given.
inline bool readNet(const plim_launch *launch, Net &net) {
  const void *attrs = launch->attrs;
  net.flags = plim_attr_int(attrs, PLIM_RECURRENT_FLAGS);
  const int64_t kind = plim_attr_int(attrs, PLIM_RECURRENT_KIND);
  if (kind < PLIM_LSTM || kind > PLIM_RNN)
    return false;
  net.kind = (int)kind;
  net.gates = plim_recurrent_gates(net.kind);
  net.clip = plim_attr_double(attrs, PLIM_RECURRENT_CLIP);

  uint32_t index = 0;
  bool complete = true;
  auto next = [&](Operand &operand, bool present) {
    if (!present)
      return;
    complete &= index < launch->operands;
    if (complete)
      operand = {launch->buf[index], launch->shape[index]};
    ++index;
  };
  const bool isLstm = net.kind == PLIM_LSTM;
  next(net.projected, true);
  next(net.recurrent, true);
  next(net.bias, net.has(PLIM_RECURRENT_BIAS));
  next(net.peepholes, net.has(PLIM_RECURRENT_PEEPHOLES));
  next(net.lengths, net.has(PLIM_RECURRENT_LENGTHS));
  next(net.hidden, net.has(PLIM_RECURRENT_HIDDEN));
  next(net.cell, net.has(PLIM_RECURRENT_CELL));
  next(net.scale, net.has(PLIM_RECURRENT_QUANTIZED));
  next(net.zero, net.has(PLIM_RECURRENT_QUANTIZED));
  next(net.sequence, net.has(PLIM_RECURRENT_SEQUENCE));
  next(net.lastHidden, true);
  next(net.lastCell, isLstm);
  if (!complete || index != launch->operands)
    return false;
  const plim_shape &projected = *net.projected.shape, &last = *net.lastHidden.shape;
  if (projected.rank != 3 || last.rank != 3)
    return false;
  net.steps = projected.dims[0];
  net.sequences = projected.dims[1];
  net.directions = last.dims[0];
  net.size = last.dims[2];

  const int functions = plim_recurrent_functions(net.kind);
  if (net.directions < 1 || net.directions > 2 ||
      launch->attr_words < PLIM_RECURRENT_FUNCTIONS + 3 * functions * (uint32_t)net.directions)
    return false;
  for (int64_t d = 0; d < net.directions; ++d)
    for (int f = 0; f < functions; ++f) {
      const int word = PLIM_RECURRENT_FUNCTIONS + 3 * ((int)d * functions + f);
      const int64_t function = plim_attr_int(attrs, word);
      if (function < 0 || function >= PLIM_GATE_FUNCTION_COUNT)
        return false;
      net.functions[d][f] = {(plim_gate_function)function, plim_attr_double(attrs, word + 1),
                             plim_attr_double(attrs, word + 2)};
    }

  const int64_t t = net.steps, b = net.sequences, d = net.directions, h = net.size, g = net.gates;
  auto fits = [](const Operand &operand, uint8_t rank, int64_t d0, int64_t d1, int64_t d2, int64_t d3 = 0) {
    return !operand || hasDims(operand, rank, d0, d1, d2, d3);
  };
  const bool isGru = net.kind == PLIM_GRU;
  return projected.dims[2] == d * g * h && fits(net.bias, 2, d, h, 0) && fits(net.peepholes, 2, d, 3 * h, 0) &&
         fits(net.lengths, 1, b, 0, 0) && fits(net.hidden, 3, d, b, h) && fits(net.cell, 3, d, b, h) &&
         (fits(net.scale, 2, d, 1, 0) || fits(net.scale, 2, d, g * h, 0)) &&
         (!net.zero || hasDims(net.zero, 2, d, net.scale.shape->dims[1], 0)) && fits(net.sequence, 4, t, d, b, h) &&
         fits(net.lastHidden, 3, d, b, h) && fits(net.lastCell, 3, d, b, h) &&
         (!net.lengths || net.lengths.shape->dtype == PLIM_I32 || net.lengths.shape->dtype == PLIM_I64) &&
         (isLstm || !(net.cell || net.peepholes || net.scale || net.has(PLIM_RECURRENT_INPUT_FORGET))) &&
         net.has(PLIM_RECURRENT_BIAS) <= (isGru && net.has(PLIM_RECURRENT_LINEAR_BEFORE_RESET));
}

/// Whether the lengths of sequences [begin, end) lie within the steps.
inline bool areLengthsValid(const Net &net, int64_t begin, int64_t end) {
  for (int64_t b = begin; b < end; ++b)
    if (net.lengthOf(b) < 0 || net.lengthOf(b) > net.steps)
      return false;
  return true;
}

/// The place in time of a sequence's step.
inline int64_t timeOf(const Net &net, int64_t direction, int64_t length, int64_t step) {
  return net.isReverse(direction) ? length - 1 - step : step;
}

} // namespace
} // namespace plim

#endif
