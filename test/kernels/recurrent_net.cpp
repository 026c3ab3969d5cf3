//===- recurrent_net.cpp - Recurrent nets of random options, and what they must compute ------===//

#include "test/kernels/recurrent_net.h"

#include <algorithm>
#include <cmath>

namespace plim::test {

namespace {

int64_t pick(Random &random, int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random); }
bool coin(Random &random) { return pick(random, 0, 1) == 1; }

std::vector<double> uniform(Random &random, int64_t count, double lo, double hi) {
  std::vector<double> values(static_cast<size_t>(count));
  for (double &v : values)
    v = double(float(std::uniform_real_distribution<double>(lo, hi)(random)));
  return values;
}

std::vector<double> whole(Random &random, int64_t count, int64_t lo, int64_t hi) {
  std::vector<double> values(static_cast<size_t>(count));
  for (double &v : values)
    v = double(pick(random, lo, hi));
  return values;
}

} // namespace

std::vector<int64_t> RecurrentNet::attrs() const {
  std::vector<int64_t> words = {flags, kind, word(clip)};
  for (const Function &f : functions)
    words.insert(words.end(), {f.kind, word(f.alpha), word(f.beta)});
  return words;
}

void RecurrentNet::usual() {
  functions.clear();
  for (int64_t d = 0; d < directions; ++d) {
    if (kind != PLIM_RNN)
      functions.push_back({PLIM_GATE_SIGMOID, 0, 0});
    functions.push_back({PLIM_GATE_TANH, 0, 0});
    if (kind == PLIM_LSTM)
      functions.push_back({PLIM_GATE_TANH, 0, 0});
  }
}

RecurrentNet RecurrentNet::draw(Random &random, bool quantized) {
  RecurrentNet net;
  net.kind = quantized ? PLIM_LSTM : int(pick(random, 0, 2));
  net.steps = pick(random, 0, 6);
  net.sequences = coin(random) ? 1 : pick(random, 0, 15);
  net.directions = pick(random, 1, 2);
  net.size = coin(random) ? pick(random, 1, 20) : pick(random, 16, 70);
  auto perhaps = [&](int64_t flag) { net.flags |= coin(random) ? flag : 0; };
  net.flags = 0;
  for (int64_t flag : {PLIM_RECURRENT_LENGTHS, PLIM_RECURRENT_HIDDEN, PLIM_RECURRENT_SEQUENCE, PLIM_RECURRENT_REVERSE})
    perhaps(flag);
  if (net.kind == PLIM_LSTM)
    for (int64_t flag : {PLIM_RECURRENT_PEEPHOLES, PLIM_RECURRENT_CELL, PLIM_RECURRENT_INPUT_FORGET})
      perhaps(flag);
  if (net.kind == PLIM_GRU)
    perhaps(PLIM_RECURRENT_LINEAR_BEFORE_RESET);
  if (net.has(PLIM_RECURRENT_LINEAR_BEFORE_RESET))
    perhaps(PLIM_RECURRENT_BIAS);
  if (quantized)
    net.flags |= PLIM_RECURRENT_QUANTIZED;
  if (coin(random))
    net.clip = 0.75;
  net.usual();
  if (coin(random))
    for (Function &f : net.functions)
      f = {pick(random, 0, PLIM_GATE_FUNCTION_COUNT - 1), 0.5, 0.25};
  net.fill(random);
  return net;
}

void RecurrentNet::fill(Random &random) {
  const int64_t d = directions, b = sequences, h = size, g = gates();
  // Small weights, so that states stay small with functions that have no bound.
  projected = uniform(random, steps * b * d * g * h, -1, 1);
  weights = has(PLIM_RECURRENT_QUANTIZED) ? whole(random, d * g * h * h, 0, 127)
                                          : uniform(random, d * g * h * h, -1.0 / double(h), 1.0 / double(h));
  bias = uniform(random, d * h, -1, 1);
  peepholes = uniform(random, d * 3 * h, -0.5, 0.5);
  hidden = uniform(random, d * b * h, -1, 1);
  cell = uniform(random, d * b * h, -1, 1);
  const int64_t parameters = coin(random) ? 1 : g * h;
  scale = uniform(random, d * parameters, 0.002, 0.003);
  zero = whole(random, d * parameters, 40, 80);
  lengths.clear();
  for (int64_t i = 0; i < b; ++i)
    lengths.push_back(pick(random, 0, steps));
}

double RecurrentNet::apply(const Function &f, double x) const {
  switch (f.kind) {
  case PLIM_GATE_SIGMOID:
    return 1 / (1 + std::exp(-x));
  case PLIM_GATE_TANH:
    return std::tanh(x);
  case PLIM_GATE_RELU:
    return std::max(x, 0.0);
  case PLIM_GATE_AFFINE:
    return f.alpha * x + f.beta;
  case PLIM_GATE_LEAKY_RELU:
    return x >= 0 ? x : f.alpha * x;
  case PLIM_GATE_THRESHOLDED_RELU:
    return x >= f.alpha ? x : 0;
  case PLIM_GATE_SCALED_TANH:
    return f.alpha * std::tanh(f.beta * x);
  case PLIM_GATE_HARD_SIGMOID:
    return std::min(std::max(f.alpha * x + f.beta, 0.0), 1.0);
  case PLIM_GATE_ELU:
    return x >= 0 ? x : f.alpha * (std::exp(x) - 1);
  case PLIM_GATE_SOFTSIGN:
    return x / (1 + std::abs(x));
  default:
    return std::log(1 + std::exp(x));
  }
}

/// `together`: the sequences whose states share a scale where they are quantised.
void RecurrentNet::runOne(int64_t d, const std::vector<int64_t> &together) {
  const int64_t h = size, g = gates(), perDirection = int64_t(functions.size()) / directions;
  const bool reverse = d == 1 || has(PLIM_RECURRENT_REVERSE);
  const Function *f = functions.data() + d * perDirection;
  auto lengthOf = [&](int64_t b) { return has(PLIM_RECURRENT_LENGTHS) ? lengths[size_t(b)] : steps; };
  std::vector<std::vector<double>> state, memory;
  for (int64_t b : together) {
    auto from = [&](const std::vector<double> &initial, bool present) {
      auto at = initial.begin() + (d * sequences + b) * h;
      return present ? std::vector<double>(at, at + h) : std::vector<double>(size_t(h));
    };
    state.push_back(from(hidden, has(PLIM_RECURRENT_HIDDEN)));
    memory.push_back(from(cell, has(PLIM_RECURRENT_CELL)));
  }
  for (int64_t step = 0; step < steps; ++step) {
    float least = 0, largest = 0;
    for (size_t s = 0; s < together.size(); ++s)
      for (double x : state[s])
        if (step < lengthOf(together[s]))
          least = std::min(least, float(x)), largest = std::max(largest, float(x));
    const float stateScale = least == largest ? 1 : (largest - least) / 255;
    const float stateZero = std::nearbyint(std::min(std::max(-least / stateScale, 0.0f), 255.0f));
    for (size_t s = 0; s < together.size(); ++s) {
      const int64_t b = together[s], length = lengthOf(b);
      if (step >= length)
        continue;
      const int64_t time = reverse ? length - 1 - step : step;
      // The product of gate k's row i with a state.
      auto product = [&](int64_t k, int64_t i, const std::vector<double> &x) {
        double sum = 0;
        for (int64_t j = 0; j < h; ++j) {
          double w = weights[size_t(((d * g + k) * h + i) * h + j)], v = x[size_t(j)];
          if (has(PLIM_RECURRENT_QUANTIZED)) {
            const size_t parameter = size_t(scale.size() == size_t(directions) ? d : (d * g + k) * h + i);
            w = (w - zero[parameter]) * scale[parameter];
            const float quantized = std::nearbyint(float(v) / stateScale) + stateZero;
            v = double(std::min(std::max(quantized, 0.0f), 255.0f) - stateZero) * double(stateScale);
          }
          sum += w * v;
        }
        return sum;
      };
      auto in = [&](int64_t k, int64_t i) {
        return projected[size_t((time * sequences + b) * directions * g * h + (d * g + k) * h + i)];
      };
      auto clipped = [&](double x) { return std::min(std::max(x, -clip), clip); };
      auto peephole = [&](int64_t k, int64_t i) {
        return has(PLIM_RECURRENT_PEEPHOLES) ? peepholes[size_t((d * 3 + k) * h + i)] : 0;
      };
      const std::vector<double> old = state[s];
      std::vector<double> reset(size_t(h), 0.0);
      for (int64_t i = 0; kind == PLIM_GRU && i < h; ++i)
        reset[size_t(i)] = apply(f[0], clipped(in(1, i) + product(1, i, old)));
      std::vector<double> gated(size_t(h), 0.0);
      for (int64_t i = 0; i < h; ++i)
        gated[size_t(i)] = reset[size_t(i)] * old[size_t(i)];
      for (int64_t i = 0; i < h; ++i) {
        double &y = state[s][size_t(i)], &c = memory[s][size_t(i)];
        if (kind == PLIM_RNN) {
          y = apply(f[0], clipped(in(0, i) + product(0, i, old)));
        } else if (kind == PLIM_GRU) {
          const double z = apply(f[0], clipped(in(0, i) + product(0, i, old)));
          const double inner = has(PLIM_RECURRENT_BIAS) ? bias[size_t(d * h + i)] : 0;
          const double recurrent = has(PLIM_RECURRENT_LINEAR_BEFORE_RESET)
                                       ? reset[size_t(i)] * (product(2, i, old) + inner)
                                       : product(2, i, gated);
          y = (1 - z) * apply(f[1], clipped(in(2, i) + recurrent)) + z * old[size_t(i)];
        } else {
          const double input = apply(f[0], clipped(in(0, i) + product(0, i, old) + peephole(0, i) * c));
          const double forget = has(PLIM_RECURRENT_INPUT_FORGET)
                                    ? 1 - input
                                    : apply(f[0], clipped(in(2, i) + product(2, i, old) + peephole(2, i) * c));
          c = forget * c + input * apply(f[1], clipped(in(3, i) + product(3, i, old)));
          y = apply(f[0], clipped(in(1, i) + product(1, i, old) + peephole(1, i) * c)) * apply(f[2], c);
        }
        wantSequence[size_t(((time * directions + d) * sequences + b) * h + i)] = y;
        wantHidden[size_t((d * sequences + b) * h + i)] = y;
        wantCell[size_t((d * sequences + b) * h + i)] = c;
      }
    }
  }
}

void RecurrentNet::compute() {
  wantSequence.assign(size_t(steps * directions * sequences * size), 0);
  wantHidden.assign(size_t(directions * sequences * size), 0);
  wantCell = wantHidden;
  std::vector<int64_t> all;
  for (int64_t b = 0; b < sequences; ++b)
    all.push_back(b);
  for (int64_t d = 0; d < directions; ++d)
    runOne(d, all);
}

Tensor *RecurrentLaunch::add(uint8_t dtype, const Dims &dims, const std::vector<double> *values) {
  if (gaps) {
    // Rows of 3 more elements.
    Dims wider = dims, strides(dims.size());
    wider.back() += 3;
    int64_t stride = 1;
    for (size_t i = dims.size(); i-- > 0; stride *= wider[i])
      strides[i] = stride;
    tensors.push_back(std::make_unique<Tensor>(Tensor(dtype, wider).view(dims, strides)));
  } else {
    tensors.push_back(std::make_unique<Tensor>(dtype, dims, form, random));
  }
  Tensor *tensor = tensors.back().get();
  if (values)
    tensor->fillWith([&](int64_t i) { return (*values)[size_t(i)]; });
  operands.push_back(tensor);
  return tensor;
}

void RecurrentLaunch::addAll(const RecurrentNet &net, uint8_t dtype, Tensor weights, uint8_t weightType) {
  const int64_t t = net.steps, d = net.directions, b = net.sequences, h = net.size, g = net.gates();
  add(dtype, {t, b, d * g * h}, &net.projected);
  tensors.push_back(std::make_unique<Tensor>(std::move(weights)));
  operands.push_back(tensors.back().get());
  if (net.has(PLIM_RECURRENT_BIAS))
    add(dtype, {d, h}, &net.bias);
  if (net.has(PLIM_RECURRENT_PEEPHOLES))
    add(dtype, {d, 3 * h}, &net.peepholes);
  if (net.has(PLIM_RECURRENT_LENGTHS)) {
    std::vector<double> lengths(net.lengths.begin(), net.lengths.end());
    add(h % 2 ? PLIM_I32 : PLIM_I64, {b}, &lengths);
  }
  if (net.has(PLIM_RECURRENT_HIDDEN))
    add(dtype, {d, b, h}, &net.hidden);
  if (net.has(PLIM_RECURRENT_CELL))
    add(dtype, {d, b, h}, &net.cell);
  if (net.has(PLIM_RECURRENT_QUANTIZED)) {
    const int64_t parameters = int64_t(net.scale.size()) / d;
    add(dtype, {d, parameters}, &net.scale);
    add(weightType, {d, parameters}, &net.zero);
  }
  const size_t inputs = operands.size();
  if (net.has(PLIM_RECURRENT_SEQUENCE))
    sequence = add(dtype, {t, d, b, h}, nullptr);
  lastHidden = add(dtype, {d, b, h}, nullptr);
  if (net.kind == PLIM_LSTM)
    lastCell = add(dtype, {d, b, h}, nullptr);
  outputs = uint32_t(operands.size() - inputs);
}

RecurrentLaunch::RecurrentLaunch(const RecurrentNet &net, uint8_t dtype, Form form, Random &random)
    : form(form), random(&random) {
  const uint8_t weightType = net.has(PLIM_RECURRENT_QUANTIZED) ? uint8_t(PLIM_U8) : dtype;
  Tensor weights(weightType, {net.directions, net.gates() * net.size, net.size}, form, &random);
  weights.fillWith([&](int64_t i) { return net.weights[size_t(i)]; });
  addAll(net, dtype, std::move(weights), weightType);
}

RecurrentLaunch::RecurrentLaunch(const RecurrentNet &net, uint8_t weightType, bool gaps) : gaps(gaps) {
  const int64_t h = net.size, g = net.gates();
  const bool split = net.kind == PLIM_GRU && !net.has(PLIM_RECURRENT_LINEAR_BEFORE_RESET);
  auto filled = [](int64_t columns) { return (columns + 31) / 32 * 32; };
  const int64_t first = filled((split ? 2 : g) * h), perDirection = first + (split ? filled(h) : 0);
  Tensor weights = Tensor::panel32(weightType, h, net.directions * perDirection);
  weights.fillWith([&](int64_t i) {
    const int64_t k = i / (net.directions * perDirection), column = i % (net.directions * perDirection);
    const int64_t d = column / perDirection, at = column % perDirection;
    const int64_t natural = split && at >= first ? 2 * h + at - first : at;
    const bool isFilling = natural >= g * h || (split && at < first && at >= 2 * h);
    return isFilling ? 0.0 : net.weights[size_t((d * g * h + natural) * h + k)];
  });
  addAll(net, PLIM_F32, std::move(weights), weightType);
}

} // namespace plim::test
