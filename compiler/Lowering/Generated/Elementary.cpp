//===- Elementary.cpp - f32 functions by explicit fma ---------------------===//
#include "compiler/Lowering/Generated/Elementary.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include <cmath>
#include <numbers>

using namespace mlir;
namespace plim::gen {

namespace {
/// Writes functions of one argument type: f32 or a vector of it.
struct Functions {
  ImplicitLocOpBuilder b;
  Type type, bits;

  Functions(Location loc, OpBuilder &builder, Type type) : b(loc, builder), type(type) {
    bits = b.getI32Type();
    if (auto v = dyn_cast<VectorType>(type))
      bits = v.clone(bits);
  }

  Value splat(Type like, TypedAttr a) {
    if (auto v = dyn_cast<VectorType>(like))
      a = DenseElementsAttr::get(v, cast<Attribute>(a));
    return arith::ConstantOp::create(b, a);
  }
  Value number(double v) { return splat(type, b.getF32FloatAttr(float(v))); }
  Value integer(int32_t v) { return splat(bits, b.getI32IntegerAttr(v)); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, x, y, z); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  Value less(Value x, Value y) { return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y); }
  Value equal(Value x, Value y) { return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, y); }
  Value select(Value c, Value x, Value y) { return arith::SelectOp::create(b, c, x, y); }
  /// One x86 instruction each; a NaN in `y` wins.
  Value min(Value x, Value y) { return select(less(x, y), x, y); }
  Value max(Value x, Value y) { return select(less(y, x), x, y); }

  /// Horner's rule, one fma a coefficient, the highest first.
  Value poly(Value x, std::initializer_list<double> c) {
    Value r = number(*c.begin());
    for (const double *k = c.begin() + 1; k != c.end(); ++k)
      r = fma(r, x, number(*k));
    return r;
  }

  struct Rounded {
    Value integer, value;
  };
  /// The integer nearest to x * k, for |x * k| < 2^22: adding 1.5 * 2^23 shifts it into the low bits.
  Rounded nearest(Value x, Value k) {
    Value shifted = fma(x, k, number(0x1.8p23));
    Value i = arith::SubIOp::create(b, arith::BitcastOp::create(b, bits, shifted), integer(0x4b400000));
    return {i, sub(shifted, number(0x1.8p23))};
  }

  /// 2^n for -126 <= n <= 127.
  Value power(Value n) {
    n = arith::ShLIOp::create(b, arith::AddIOp::create(b, n, integer(127)), integer(23));
    return arith::BitcastOp::create(b, type, n);
  }
  /// p * 2^n for |n| < 250, rounded once: gradual underflow and overflow included.
  Value scale(Value p, Value n) {
    Value half = arith::ShRSIOp::create(b, n, integer(1));
    return mul(mul(p, power(half)), power(arith::SubIOp::create(b, n, half)));
  }

  /// x - n ln2, ln2 in two parts (Cody and Waite).
  Value reduce(Value x, Value n) { return fma(n, number(-0x1.7f7d1cp-20), fma(n, number(-0x1.62e400p-1), x)); }

  /// exp(r) for |r| <= ln2 / 2.
  Value expPolynomial(Value r) {
    return poly(r, {0x1.694000p-10, 0x1.125edcp-7, 0x1.555b5ap-5, 0x1.555450p-3, 0x1.fffff6p-2, 1, 1});
  }

  Value exp(Value x) {
    // Keeps n in range. A NaN stays, -inf gives 0, +inf gives inf.
    x = min(number(90), max(number(-105), x));
    auto [i, n] = nearest(x, number(std::numbers::log2e));
    return scale(expPolynomial(reduce(x, n)), i);
  }

  Value exp2(Value x) {
    x = min(number(130), max(number(-152), x));
    auto [i, n] = nearest(x, number(1));
    return scale(expPolynomial(mul(sub(x, n), number(std::numbers::ln2))), i);
  }

  /// exp(x) - 1 kept exact near 0, for |x| <= 87.
  Value expm1Near(Value x) {
    auto [i, n] = nearest(x, number(std::numbers::log2e));
    Value r = reduce(x, n);
    // (exp(r) - 1 - r) / r^2
    Value q = poly(r, {0x1.a17e4ap-13, 0x1.6c6cdcp-10, 0x1.1110c8p-7, 0x1.555502p-5, 0x1.555556p-3, 0x1p-1});
    Value em1 = fma(mul(r, r), q, r);
    Value s = power(i);
    return fma(em1, s, sub(s, number(1)));
  }

  Value expm1(Value x) {
    Value near = expm1Near(min(number(80), max(number(-30), x)));
    Value y = select(less(number(80), x), exp(x), near);
    return select(equal(x, number(0)), x, y); // keeps -0
  }

  /// n * whole + ln(m) * part, x = 2^n m with m in [2/3, 4/3): the logarithm to a base.
  Value log(Value x, double whole, double part) {
    Value tiny = less(x, number(0x1p-126));
    Value a = select(tiny, mul(x, number(0x1p23)), x);
    Value bias = select(tiny, number(-23), number(0));
    Value word = arith::BitcastOp::create(b, bits, a);
    Value e =
        arith::AndIOp::create(b, arith::SubIOp::create(b, word, integer(0x3f2aaaab)), integer(int32_t(0xff800000)));
    Value m = arith::BitcastOp::create(b, type, arith::SubIOp::create(b, word, e));
    Value n = fma(arith::SIToFPOp::create(b, type, e), number(0x1p-23), bias);
    Value f = sub(m, number(1)), s = mul(f, f);
    Value odd = poly(s, {0.140869141, 0.139814854, 0.200120345});
    Value even = poly(s, {-0.130310059, -0.121483512, -0.166846126, -0.249996200});
    Value r = fma(odd, f, even);
    r = fma(fma(fma(r, f, number(0.333331972)), f, number(-0.5)), s, f);
    if (part != 1)
      r = mul(r, number(part));
    r = fma(n, number(whole), r);
    // 0 gives -inf, inf gives inf, negative numbers and NaN give NaN.
    r = select(equal(x, number(0)), number(-INFINITY), r);
    r = select(less(x, number(INFINITY)), r, x);
    return select(less(x, number(0)), number(NAN), r);
  }

  Value log1p(Value x) {
    Value u = add(x, number(1));
    // What the addition lost, over u, is the first term of what the logarithm lost.
    Value lost = sub(x, sub(u, number(1)));
    Value y = add(log(u, std::numbers::ln2, 1), div(lost, u));
    y = select(less(u, number(INFINITY)), y, u);
    y = select(equal(u, number(0)), number(-INFINITY), y);
    return select(equal(x, number(0)), x, y);
  }

  /// tanh |x| = E / (E + 2), E = exp(2 |x|) - 1.
  Value tanh(Value x) {
    Value a = min(number(10), math::AbsFOp::create(b, x)); // tanh(10) rounds to 1
    Value E = expm1Near(add(a, a));
    return math::CopySignOp::create(b, div(E, add(E, number(2))), x);
  }

  /// Two polynomials, both computed and selected by lane: odd near 0, and 1 - exp(P(|x|)) beyond (coefficients after
  /// N. Juffa).
  Value erf(Value x) {
    Value a = math::AbsFOp::create(b, x), s = mul(x, x);
    Value far = min(number(4.5), a); // erf(4.5) rounds to 1
    Value p = poly(far, {-0x1.220000p-16, 0x1.91cfb2p-12, -0x1.fd1438p-9, 0x1.8d6342p-6, -0x1.b55cb8p-4, -0x1.450aa0p-1,
                         -0x1.079d0cp-3});
    p = fma(p, far, arith::NegFOp::create(b, far));
    Value y = math::CopySignOp::create(b, sub(number(1), exp(p)), x);
    Value q = poly(s, {-0x1.38e000p-11, 0x1.471a58p-8, -0x1.b691b2p-6, 0x1.ce1c44p-4, -0x1.812700p-2, 0x1.06eba8p-3});
    return select(less(number(0.927734375), a), y, fma(q, x, x));
  }

  Value rsqrt(Value x) { return div(number(1), math::SqrtOp::create(b, x)); }
};

using Unary = Value (*)(Functions &, Value);

template <typename OpTy> struct ExpandUnary : OpRewritePattern<OpTy> {
  Unary function;
  ExpandUnary(MLIRContext *context, Unary function) : OpRewritePattern<OpTy>(context), function(function) {}
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Functions f(op.getLoc(), rewriter, op.getType());
    rewriter.replaceOp(op, function(f, op.getOperand()));
    return success();
  }
};

/// Powers by multiplication, square root and reciprocal where the exponent is one of a few constants.
struct ExpandPower : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::PowFOp op, PatternRewriter &rewriter) const override {
    APFloat constant(0.0f);
    if (!getElementTypeOrSelf(op.getType()).isF32() || !matchPattern(op.getRhs(), m_ConstantFloat(&constant)))
      return failure();
    Functions f(op.getLoc(), rewriter, op.getType());
    double exponent = constant.convertToFloat();
    Value x = op.getLhs(), y;
    if (exponent == 0.5 || exponent == -0.5) {
      // pow takes -0 to +0 and -inf to +inf, sqrt to -0 and NaN.
      Value root = math::SqrtOp::create(f.b, f.add(x, f.number(0)));
      root = f.select(f.equal(x, f.number(-INFINITY)), f.number(INFINITY), root);
      y = exponent > 0 ? root : f.div(f.number(1), root);
    } else if (exponent == 1 || exponent == -1) {
      y = exponent > 0 ? x : f.div(f.number(1), x);
    } else if (exponent == 2 || exponent == 3 || exponent == 4) {
      Value square = f.mul(x, x);
      y = exponent == 2 ? square : f.mul(square, exponent == 3 ? x : square);
    } else {
      return failure();
    }
    rewriter.replaceOp(op, y);
    return success();
  }
};
} // namespace

void populateElementaryPatterns(RewritePatternSet &patterns) {
  using std::numbers::ln2, std::numbers::log2e, std::numbers::log10e;
  MLIRContext *c = patterns.getContext();
  patterns.add<ExpandUnary<math::ExpOp>>(c, [](Functions &f, Value x) { return f.exp(x); });
  patterns.add<ExpandUnary<math::Exp2Op>>(c, [](Functions &f, Value x) { return f.exp2(x); });
  patterns.add<ExpandUnary<math::ExpM1Op>>(c, [](Functions &f, Value x) { return f.expm1(x); });
  patterns.add<ExpandUnary<math::LogOp>>(c, [](Functions &f, Value x) { return f.log(x, ln2, 1); });
  patterns.add<ExpandUnary<math::Log2Op>>(c, [](Functions &f, Value x) { return f.log(x, 1, log2e); });
  patterns.add<ExpandUnary<math::Log10Op>>(c, [](Functions &f, Value x) { return f.log(x, ln2 * log10e, log10e); });
  patterns.add<ExpandUnary<math::Log1pOp>>(c, [](Functions &f, Value x) { return f.log1p(x); });
  patterns.add<ExpandUnary<math::TanhOp>>(c, [](Functions &f, Value x) { return f.tanh(x); });
  patterns.add<ExpandUnary<math::ErfOp>>(c, [](Functions &f, Value x) { return f.erf(x); });
  patterns.add<ExpandUnary<math::RsqrtOp>>(c, [](Functions &f, Value x) { return f.rsqrt(x); });
  patterns.add<ExpandPower>(c);
}

} // namespace plim::gen
