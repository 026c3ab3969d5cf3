//===- reference.cpp - recurrent.reference ---------------------------------------------------===//

#include "kernels/convert.h"
#include "kernels/elementwise/scalar_math.h"
#include "kernels/recurrent/net.h"
#include "kernels/status.h"
#include "kernels/strided.h"

#include <cmath>

using namespace plim;
using namespace plim::kernels;

namespace {

double apply(const GateFunction &f, double x) {
  switch (f.kind) {
  case PLIM_GATE_SIGMOID:
    return sigmoid(x);
  case PLIM_GATE_TANH:
    return std::tanh(x);
  case PLIM_GATE_RELU:
    return relu(x);
  case PLIM_GATE_AFFINE:
    return f.alpha * x + f.beta;
  case PLIM_GATE_LEAKY_RELU:
    return leakyRelu(x, f.alpha);
  case PLIM_GATE_THRESHOLDED_RELU:
    return x < f.alpha ? 0.0 : x;
  case PLIM_GATE_SCALED_TANH:
    return f.alpha * std::tanh(f.beta * x);
  case PLIM_GATE_HARD_SIGMOID:
    return hardSigmoid(x, f.alpha, f.beta);
  case PLIM_GATE_ELU:
    return x < 0 ? f.alpha * std::expm1(x) : x;
  case PLIM_GATE_SOFTSIGN:
    return x / (1 + std::fabs(x));
  case PLIM_GATE_SOFTPLUS:
    return softplus(x);
  case PLIM_GATE_FUNCTION_COUNT:
    break;
  }
  return 0;
}

double get(const Operand &operand, int64_t offset) {
  return loadElement<double>(operand.data, operand.shape->dtype, offset);
}

void put(const Operand &operand, int64_t offset, double value) {
  storeElement(operand.data, operand.shape->dtype, offset, value);
}

/// One direction of sequences [begin, begin + rows), which go through the steps together.
class Rows {
public:
  Rows(const Net &net, int64_t direction, int64_t begin, int64_t rows, double *scratch)
      : net(net), direction(direction), begin(begin), rows(rows), hidden(scratch), factor(hidden + rows * net.size),
        cell(factor + rows * net.size), gates(cell + rows * net.size) {}

  void run() {
    int64_t longest = 0;
    for (int64_t r = 0; r < rows; ++r) {
      longest = lengthOf(r) > longest ? lengthOf(r) : longest;
      start(r);
    }
    for (int64_t step = 0; step < longest; ++step)
      advance(step);
    for (int64_t r = 0; r < rows; ++r)
      finish(r);
  }

private:
  int64_t lengthOf(int64_t row) const { return net.lengthOf(begin + row); }
  double *gate(int64_t row, int64_t number) { return gates + (row * net.gates + number) * net.size; }

  void start(int64_t row) {
    for (int64_t h = 0; h < net.size; ++h) {
      hidden[row * net.size + h] = net.hidden ? get(net.hidden, net.hidden.at(direction, begin + row, h)) : 0;
      cell[row * net.size + h] = net.cell ? get(net.cell, net.cell.at(direction, begin + row, h)) : 0;
    }
  }

  void advance(int64_t step) {
    const int64_t elements = rows * net.size;
    for (int64_t i = 0; i < elements; ++i)
      factor[i] = hidden[i];
    if (net.scale)
      quantize(step);
    const bool split = net.kind == PLIM_GRU && !net.has(PLIM_RECURRENT_LINEAR_BEFORE_RESET);
    for (int64_t r = 0; r < rows; ++r) {
      if (step >= lengthOf(r))
        continue;
      const int64_t time = timeOf(net, direction, lengthOf(r), step);
      for (int64_t g = 0; g < net.gates; ++g) {
        if (split && g == 2)
          reset(r, time);
        multiply(r, g);
      }
      if (net.kind == PLIM_LSTM)
        updateLstm(r, time);
      else if (net.kind == PLIM_GRU)
        updateGru(r, time);
      else
        updateRnn(r, time);
      for (int64_t h = 0; net.sequence && h < net.size; ++h)
        put(net.sequence, sequenceAt(time, r) + h * net.sequence.shape->strides[3], hidden[r * net.size + h]);
    }
  }

  int64_t sequenceAt(int64_t time, int64_t row) const { return net.sequence.at(time, direction, begin + row); }

  /// factor = the hidden states in 8 bits, less their zero point; the parameters in float, as users of the weights'
  /// scale expect them.
  void quantize(int64_t step) {
    float least = 0, largest = 0;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t h = 0; step < lengthOf(r) && h < net.size; ++h) {
        const float x = (float)hidden[r * net.size + h];
        least = x < least ? x : least;
        largest = x > largest ? x : largest;
      }
    hiddenScale = largest == least ? 1.0f : (largest - least) / 255.0f;
    const float zero = std::nearbyint(clampTo(-least / hiddenScale, 0.0f, 255.0f));
    for (int64_t i = 0; i < rows * net.size; ++i)
      factor[i] = clampTo(std::nearbyint((float)hidden[i] / hiddenScale), -zero, 255.0f - zero);
  }

  /// The gate's product with `factor`.
  void multiply(int64_t row, int64_t number) {
    for (int64_t h = 0; h < net.size; ++h) {
      const int64_t column = number * net.size + h, weights = net.recurrent.at(direction, column);
      const int64_t parameter = net.scale && net.scale.shape->dims[1] > 1 ? column : 0;
      const double zero = net.zero ? get(net.zero, net.zero.at(direction, parameter)) : 0;
      double sum = 0;
      for (int64_t k = 0; k < net.size; ++k)
        sum += factor[row * net.size + k] * (get(net.recurrent, weights + k * net.recurrent.shape->strides[2]) - zero);
      if (net.scale)
        sum *= hiddenScale * get(net.scale, net.scale.at(direction, parameter));
      gate(row, number)[h] = sum;
    }
  }

  double projected(int64_t row, int64_t time, int64_t number, int64_t h) const {
    return get(net.projected, net.projected.at(time, begin + row, (direction * net.gates + number) * net.size + h));
  }
  double applied(int function, double x) const {
    return apply(net.functions[direction][function], clampTo(x, -net.clip, net.clip));
  }
  double peephole(int64_t number, int64_t h) const {
    return net.peepholes ? get(net.peepholes, net.peepholes.at(direction, number * net.size + h)) : 0;
  }

  void updateLstm(int64_t r, int64_t time) {
    for (int64_t h = 0; h < net.size; ++h) {
      double &c = cell[r * net.size + h];
      auto in = [&](int64_t number) { return gate(r, number)[h] + projected(r, time, number, h); };
      const double input = applied(0, in(0) + peephole(0, h) * c);
      const double forget = net.has(PLIM_RECURRENT_INPUT_FORGET) ? 1 - input : applied(0, in(2) + peephole(2, h) * c);
      c = forget * c + input * applied(1, in(3));
      const double output = applied(0, in(1) + peephole(1, h) * c);
      hidden[r * net.size + h] = output * apply(net.functions[direction][2], c);
    }
  }

  void reset(int64_t r, int64_t time) {
    for (int64_t h = 0; h < net.size; ++h)
      factor[r * net.size + h] = hidden[r * net.size + h] * applied(0, gate(r, 1)[h] + projected(r, time, 1, h));
  }

  void updateGru(int64_t r, int64_t time) {
    for (int64_t h = 0; h < net.size; ++h) {
      const double update = applied(0, gate(r, 0)[h] + projected(r, time, 0, h));
      double product = gate(r, 2)[h];
      if (net.has(PLIM_RECURRENT_LINEAR_BEFORE_RESET)) {
        product += net.bias ? get(net.bias, net.bias.at(direction, h)) : 0;
        product *= applied(0, gate(r, 1)[h] + projected(r, time, 1, h));
      }
      double &state = hidden[r * net.size + h];
      state = (1 - update) * applied(1, product + projected(r, time, 2, h)) + update * state;
    }
  }

  void updateRnn(int64_t r, int64_t time) {
    for (int64_t h = 0; h < net.size; ++h)
      hidden[r * net.size + h] = applied(0, gate(r, 0)[h] + projected(r, time, 0, h));
  }

  void finish(int64_t row) {
    for (int64_t time = lengthOf(row); net.sequence && time < net.steps; ++time)
      for (int64_t h = 0; h < net.size; ++h)
        put(net.sequence, sequenceAt(time, row) + h * net.sequence.shape->strides[3], 0);
    const bool ran = lengthOf(row) > 0;
    for (int64_t h = 0; h < net.size; ++h) {
      put(net.lastHidden, net.lastHidden.at(direction, begin + row, h), ran ? hidden[row * net.size + h] : 0);
      if (net.lastCell)
        put(net.lastCell, net.lastCell.at(direction, begin + row, h), ran ? cell[row * net.size + h] : 0);
    }
  }

  const Net &net;
  const int64_t direction, begin, rows;
  double *const hidden, *const factor, *const cell, *const gates;
  float hiddenScale = 1;
};

bool areFloats(const Net &net) {
  const uint8_t dtype = net.projected.shape->dtype;
  bool all = isFloatDtype(dtype);
  const Operand *floats[] = {&net.bias,  &net.peepholes, &net.hidden,     &net.cell,
                             &net.scale, &net.sequence,  &net.lastHidden, &net.lastCell};
  for (const Operand *operand : floats)
    all &= !*operand || operand->shape->dtype == dtype;
  return all;
}

int32_t run(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  Net net;
  if (!readNet(launch, net) || !areFloats(net) || net.recurrent.shape->layout != PLIM_ROW ||
      !hasDims(net.recurrent, 3, net.directions, net.gates * net.size, net.size))
    return PLIM_KERNEL_UNSUPPORTED;
  const uint8_t weights = net.recurrent.shape->dtype;
  if (net.scale ? (weights != PLIM_I8 && weights != PLIM_U8) || net.zero.shape->dtype != weights
                : weights != net.projected.shape->dtype)
    return PLIM_KERNEL_UNSUPPORTED;
  if (!areLengthsValid(net, 0, net.sequences))
    return PLIM_KERNEL_BAD_INDEX;
  if (net.sequences == 0)
    return PLIM_KERNEL_OK;
  const int64_t together = net.scale ? net.sequences : 1, groups = net.sequences / together;
  const Range range = taskRange(net.directions * groups, launch, first, last);
  for (int64_t i = range.begin; i < range.end; ++i)
    Rows(net, i / groups, i % groups * together, together, static_cast<double *>(scratch)).run();
  return PLIM_KERNEL_OK;
}

} // namespace

extern "C" const plim_kernel plim_kernel_recurrent_reference = {
    "recurrent.reference", PLIM_KERNEL_ABI, 1, {run, nullptr, nullptr}};
