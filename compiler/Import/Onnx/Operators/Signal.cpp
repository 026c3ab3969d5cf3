// Operators of signal processing: Fourier transforms as products with tables of cosines and sines, windows, mel
// filters.
#include "compiler/Import/Onnx/Operators/Term.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include <cmath>

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

constexpr int64_t mostLength = 1 << 15; // a table of its square is 4 GiB

/// cos or sin of 2 pi j k / length, [rows, columns]. The product is taken modulo the length, so that angles stay exact.
struct Tables {
  Term cos, sin;
};
Tables tablesOf(NodeImporter &n, int64_t length, int64_t rows, int64_t columns, Type element) {
  // A table costs a run nothing: in f64 its zeros are zeros after rounding.
  const Type wide = n.b.getF64Type(), index = n.b.getI64Type();
  Term product = positions(n, rows, 0, 2, index) * positions(n, columns, 1, 2, index);
  Term turns = Term(n, product ? n.make<graph::ModOp>(product, product.number(double(length)), false) : Value());
  Term angle = turns.cast(wide) * (2 * M_PI / double(length));
  return {angle.apply<graph::CosOp>().cast(element), angle.apply<graph::SinOp>().cast(element)};
}

struct Transform {
  int64_t length;
  bool inverse, oneSided;
};

/// Transforms the last dimension of a signal; the imaginary part may be null. The result has a last dimension of the
/// real and the imaginary part, or of the real part alone where the spectrum of a real signal is transformed back.
Term transform(NodeImporter &n, Term real, Term imaginary, const Transform &t) {
  if (!real)
    return real;
  const int64_t axis = real.rank() - 1, half = t.length / 2 + 1;
  const bool toReal = t.inverse && t.oneSided;
  const int64_t rows = toReal ? half : t.length, columns = t.oneSided && !t.inverse ? half : t.length;
  const auto fit = [&](Term x) {
    const int64_t have = x ? x.shape()[axis] : 0;
    return !x ? x : have > rows ? x.slice(axis, 0, rows) : x.pad(axis, 0, rows - have, 0);
  };
  real = fit(real);
  imaginary = fit(imaginary);
  if (toReal) {
    // The half that is left out is the mirror of the one that is there, but for the first and a middle element.
    SmallVector<Term> parts;
    const auto weight = [&](int64_t size, double x) {
      if (size > 0)
        parts.push_back(Term(n, n.fill({size}, x, real.element())));
    };
    const bool even = t.length % 2 == 0;
    weight(1, 1);
    weight(rows - 1 - (even && rows > 1), 2);
    weight(even && rows > 1, 1);
    Term weights = concat(n, parts, 0);
    real = real * weights;
    imaginary = imaginary ? imaginary * weights : imaginary;
    if (!real)
      return real;
  }
  const Tables tables = tablesOf(n, t.length, rows, columns, real.element());
  // e^{-i a} = cos a - i sin a forward, e^{i a} backward.
  const double sign = t.inverse ? -1 : 1, scale = t.inverse ? 1 / double(t.length) : 1;
  Term outReal = matmul(real, tables.cos), outImaginary = -matmul(real, tables.sin) * sign;
  if (imaginary) {
    outReal = outReal + matmul(imaginary, tables.sin) * sign;
    outImaginary = outImaginary + matmul(imaginary, tables.cos);
  }
  if (!outReal)
    return outReal;
  const int64_t last = outReal.rank();
  if (toReal)
    return outReal.unsqueeze(last) * scale;
  return concat(n, {outReal.unsqueeze(last), outImaginary.unsqueeze(last)}, last) * scale;
}

/// The last dimension of a signal holds a real part, or a real and an imaginary one: part `i` without that dimension.
Term partOf(Term signal, int64_t i) {
  if (!signal || i >= signal.shape().back())
    return Term(signal.importer(), {});
  return signal.slice(signal.rank() - 1, i, 1).reshape(signal.shape().drop_back());
}

bool needSignal(NodeImporter &n) {
  if (!n.needStatic(n[0], n.opType()))
    return false;
  const auto shape = n.type(0).getShape();
  if (!isa<FloatType>(n.type(0).getElementType())) {
    (void)n.error("need a signal of floats");
    return false;
  }
  if (shape.size() >= 2 && (shape.back() == 1 || shape.back() == 2))
    return true;
  (void)n.error("need a last dimension of 1 (real) or 2 (complex), have " + graph::toString(graph::dimsOf(n.type(0))));
  return false;
}

/// The axis is an attribute before operator set 20, input 2 from then on.
LogicalResult dft(NodeImporter &n) {
  Transform t{0, n.integer("inverse", 0) != 0, n.integer("onesided", 0) != 0};
  int64_t axis = n.version < 20 ? n.integer("axis", 1) : -2;
  if (n.version >= 20 && n[2]) {
    const auto given = n.needInt(2, "axis");
    if (!given)
      return failure();
    axis = *given;
  }
  if (!needSignal(n))
    return failure();
  const auto shape = n.type(0).getShape();
  const int64_t rank = shape.size();
  const auto at = n.axisOf(axis, rank);
  if (!at)
    return failure();
  if (*at == rank - 1)
    return n.error("axis " + Twine(axis) + " holds the real and imaginary parts");
  t.length = t.inverse && t.oneSided ? 2 * (shape[*at] - 1) : shape[*at];
  if (n[1]) {
    const auto given = n.needInt(1, "dft_length");
    if (!given)
      return failure();
    t.length = *given;
  }
  if (t.length < 1 || t.length > mostLength)
    return n.error("the length is " + Twine(t.length) + ": need 1 to " + Twine(mostLength));
  // The axis becomes the last one and goes back in front of the parts.
  Ints order;
  for (int64_t i = 0; i < rank - 1; ++i)
    if (i != *at)
      order.push_back(i);
  order.push_back(*at);
  Ints back = invertPermutationVector(order);
  back.push_back(rank - 1);
  Term signal(n, n[0]), imaginary = partOf(signal, 1);
  Term result = transform(n, partOf(signal, 0).transpose(order), imaginary ? imaginary.transpose(order) : imaginary, t);
  return n.finish(result.transpose(back));
}

/// Frames of a signal [batch, length, parts] that start `frame_step` apart, each times a window, each transformed.
LogicalResult stft(NodeImporter &n) {
  Transform t{0, false, n.integer("onesided", 1) != 0};
  const auto step = n.needInt(1, "frame_step");
  if (!step || !needSignal(n))
    return failure();
  const auto shape = n.type(0).getShape();
  if (shape.size() != 3)
    return n.error("need a signal [batch, length, parts], have " + graph::toString(graph::dimsOf(n.type(0))));
  if (n[3]) {
    const auto given = n.needInt(3, "frame_length");
    if (!given)
      return failure();
    t.length = *given;
  } else if (n[2] && n.type(2).hasStaticShape() && n.type(2).getRank() == 1) {
    t.length = n.type(2).getDimSize(0);
  } else {
    return n.error("need a window or a frame_length");
  }
  if (n[2] && (n.type(2).getRank() != 1 || n.type(2).getDimSize(0) != t.length))
    return n.error("need a window [" + Twine(t.length) + "], have " + graph::toString(graph::dimsOf(n.type(2))));
  if (t.length < 1 || t.length > std::min(mostLength, shape[1]) || *step < 1)
    return n.error("need frames of 1 to " + Twine(std::min(mostLength, shape[1])) +
                   " elements at least 1 apart, have " + Twine(t.length) + " and " + Twine(*step));
  if (t.oneSided && shape[2] == 2)
    return n.error("a complex signal has no one-sided spectrum");
  const int64_t frames = (shape[1] - t.length) / *step + 1;
  const Type index = n.b.getI64Type();
  Term at = positions(n, frames, 0, 2, index) * double(*step) + positions(n, t.length, 1, 2, index);
  const auto framesOf = [&](int64_t part) {
    Term all = partOf(Term(n, n[0]), part);
    Term cut = all ? all.gather(at, 1) : all;
    return cut && n[2] ? cut * Term(n, n[2]) : cut;
  };
  return n.finish(transform(n, framesOf(0), framesOf(1), t));
}

/// a - b cos(2 pi i / period) + c cos(4 pi i / period)
LogicalResult window(NodeImporter &n, double a, double b, double c) {
  const bool periodic = n.integer("periodic", 1) != 0;
  const Type element = n.elementType(n.integer("output_datatype", 1));
  const auto size = n.needInt(0, "size");
  if (!element || !size)
    return failure();
  if (*size < 1 || *size > INT32_MAX)
    return n.error("the size is " + Twine(*size) + ": need at least 1");
  if (!isa<FloatType>(element))
    return n.error("attribute 'output_datatype' must be a type of floats");
  const double period = std::max<double>(double(*size - !periodic), 1);
  const Type wide = element.isF64() ? element : Type(n.b.getF32Type());
  Term at = positions(n, *size, 0, 1, wide);
  const auto wave = [&](double turns) { return (at * (2 * M_PI * turns / period)).apply<graph::CosOp>(); };
  Term result = wave(1) * -b + a;
  if (c != 0)
    result = result + wave(2) * c;
  return n.finish(result.cast(element));
}

LogicalResult blackman(NodeImporter &n) { return window(n, 0.42, 0.5, 0.08); }
LogicalResult hamming(NodeImporter &n) { return window(n, 25.0 / 46.0, 21.0 / 46.0, 0); }
LogicalResult hann(NodeImporter &n) { return window(n, 0.5, 0.5, 0); }

/// Triangles over the bins of a spectrum, [dft_length / 2 + 1, bins]: evenly spaced on the mel scale.
LogicalResult melWeightMatrix(NodeImporter &n) {
  const auto bins = n.needInt(0, "num_mel_bins"), length = n.needInt(1, "dft_length"),
             rate = n.needInt(2, "sample_rate");
  const auto low = n.needReals(3, "lower_edge_hertz"), high = n.needReals(4, "upper_edge_hertz");
  const Type element = n.elementType(n.integer("output_datatype", 1));
  if (!bins || !length || !rate || !low || !high || !element)
    return failure();
  if (*bins < 1 || *bins > INT16_MAX || *length < 1 || *length > INT32_MAX || *rate < 1 || low->size() != 1 ||
      high->size() != 1 || !(low->front() >= 0) || !(high->front() >= low->front()) || high->front() > double(*rate))
    return n.error("need positive sizes and 0 <= lower edge <= upper edge <= sample rate");
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double first = mel(low->front()), step = (mel(high->front()) - first) / double(*bins + 2);
  // Left edge, middle and right edge of each triangle, in bins of the spectrum.
  SmallVector<double> edges;
  for (int64_t i = 0; i < *bins + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (double(i) * step + first) / 2595) - 1);
    edges.push_back(std::floor(double(*length + 1) * hertz / double(*rate)));
  }
  const Type wide = element.isF64() ? element : Type(n.b.getF32Type());
  const auto edge = [&](size_t from) { return numbers(n, ArrayRef(edges).slice(from, *bins), {1, *bins}, wide); };
  Term left = edge(0), middle = edge(1), right = edge(2), at = positions(n, *length / 2 + 1, 0, 2, wide);
  Term rise = middle - left, fall = right - middle, one = left.number(1), zero = left.number(0);
  Term rising = both(left <= at, at <= middle), falling = both(middle <= at, at < right);
  Term up = select(rise == zero, one, (at - left) / max(rise, one)), down = (right - at) / max(fall, one);
  Term result = select(falling, down, select(rising, up, zero));
  return n.finish(result.cast(element));
}

constexpr const char *sizeLimit = "the size must be known at compile time";

constexpr OperatorRow rows[] = {
    {"BlackmanWindow", 1, 1, blackman, 17, noVersion, "", sizeLimit},
    {"DFT", 1, 3, dft, 17, noVersion, "", "static shapes; dft_length and axis must be known at compile time"},
    {"HammingWindow", 1, 1, hamming, 17, noVersion, "", sizeLimit},
    {"HannWindow", 1, 1, hann, 17, noVersion, "", sizeLimit},
    {"MelWeightMatrix", 5, 5, melWeightMatrix, 17, noVersion, "", "all inputs must be known at compile time"},
    {"STFT", 2, 4, stft, 17, noVersion, "", "static shapes; frame_step and frame_length must be known at compile time"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::signalOperators() { return rows; }
