//===- recurrent_net.h - Recurrent nets of random options, and what they must compute --------===//
#ifndef PLIM_TEST_KERNELS_RECURRENT_NET_H
#define PLIM_TEST_KERNELS_RECURRENT_NET_H

#include "kernels/recurrent/recurrent.h"
#include "test/kernels/launch.h"

#include <cmath>
#include <memory>

namespace plim::test {

/// The operands of a recurrence in natural order, values that every dtype holds.
struct RecurrentNet {
  int kind = PLIM_LSTM;
  int64_t steps = 3, sequences = 2, directions = 1, size = 5;
  int64_t flags = PLIM_RECURRENT_SEQUENCE;
  double clip = INFINITY;
  struct Function {
    int64_t kind;
    double alpha, beta;
  };
  std::vector<Function> functions; // of both directions
  std::vector<double> projected, weights, bias, peepholes, hidden, cell, scale, zero;
  std::vector<int64_t> lengths;
  std::vector<double> wantSequence, wantHidden, wantCell;

  int64_t gates() const { return plim_recurrent_gates(kind); }
  bool has(int64_t flag) const { return (flags & flag) != 0; }
  std::vector<int64_t> attrs() const;
  /// Sets functions to the usual ones.
  void usual();
  /// Options, sizes and values at random.
  static RecurrentNet draw(Random &random, bool quantized);
  /// Values of the operands that the flags ask for.
  void fill(Random &random);
  /// The results in double, by the equations of ONNX.
  void compute();

private:
  double apply(const Function &function, double x) const;
  void runOne(int64_t direction, const std::vector<int64_t> &sequences);
};

/// The tensors of a launch.
struct RecurrentLaunch {
  std::vector<std::unique_ptr<Tensor>> tensors;
  std::vector<Tensor *> operands;
  uint32_t outputs;
  Tensor *sequence = nullptr, *lastHidden = nullptr, *lastCell = nullptr;

  /// recurrent.reference of floats of `dtype` in tensors of this form.
  RecurrentLaunch(const RecurrentNet &net, uint8_t dtype, Form form, Random &random);
  /// recurrent.packed or recurrent.quantized; `gaps` between the rows of all tensors.
  RecurrentLaunch(const RecurrentNet &net, uint8_t weights, bool gaps);

private:
  Tensor *add(uint8_t dtype, const Dims &dims, const std::vector<double> *values);
  void addAll(const RecurrentNet &net, uint8_t dtype, Tensor weights, uint8_t weightType);

  Form form = Form::Row;
  Random *random = nullptr;
  bool gaps = false;
};

} // namespace plim::test

#endif
