//===- kernels/x86/panel_tile.h - The tile that stays in registers ------------------------===//
//
// A tile is Rows x (Panels * Vectors) accumulators. With 16 lanes 14 x 2 of 32 registers, with 8 lanes 6 x 2 of 16: the
// rest holds a row of B and one broadcast. That needs fewer loads than fma, so that arithmetic is the bound.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_X86_PANEL_TILE_H
#define PLIM_KERNELS_X86_PANEL_TILE_H

#include "kernels/x86/activation.h"
#include "kernels/x86/panel_block.h"

#include <utility>

namespace plim {
namespace {

/// Vectors of a tile in one panel, and rows: what the registers hold.
constexpr int kTileVectors = 2;
constexpr int kTileColumns = kTileVectors * kLanes;
constexpr int kTileRows = kLanes == 16 ? 14 : 6;
/// Rows of B between the fma that reads one and the prefetch that fetches another into the first-level cache.
constexpr int kPrefetchRows = 16;

/// `count` tiles of the same height, one below the other.
struct Tile {
  int64_t count;
  const float *a;
  int64_t aRow;
  const float *b;
  int64_t bPanel;
  const Tap *taps;
  int64_t tapCount, depth;
  const float *resume; // rows of 32, or null: start from zero
  float *keep;         // rows of 32, or null: finish in registers
  int64_t partialPanel;

  float *c;
  int64_t cRow;
  const float *bias;
  const float *residual;
  int64_t residualRow;
  LaneMask lastLanes; // of the last vector of each row of C
  Activation act;
};

/// First column of vector v of a tile with `Vectors` vectors a panel.
template <int Vectors> constexpr int columnOf(int v) { return v / Vectors * kPanel + v % Vectors * kLanes; }

/// Bias, residual and the activations that cost a few instructions, on accumulators.
template <int Vectors, int Rows, int Columns, typename Function>
PLIM_INLINE void finishTile(const Tile &t, Vector (&sum)[Rows][Columns], Function function) {
  Vector bias[Columns];
#pragma clang loop unroll(full)
  for (int v = 0; v < Columns; ++v)
    bias[v] = !t.bias            ? zero()
              : v == Columns - 1 ? load(t.bias + columnOf<Vectors>(v), t.lastLanes)
                                 : load(t.bias + columnOf<Vectors>(v));
#pragma clang loop unroll(full)
  for (int i = 0; i < Rows; ++i) {
#pragma clang loop unroll(full)
    for (int v = 0; v < Columns; ++v) {
      float *c = t.c + i * t.cRow + columnOf<Vectors>(v);
      const int64_t residual = i * t.residualRow + columnOf<Vectors>(v);
      Vector x = sum[i][v] + bias[v];
      if (v == Columns - 1) {
        if (t.residual)
          x = x + load(t.residual + residual, t.lastLanes);
        store(c, function(x), t.lastLanes);
      } else {
        if (t.residual)
          x = x + load(t.residual + residual);
        store(c, function(x));
      }
    }
  }
}

PLIM_INLINE bool finishesInRegisters(plim_activation kind) {
  return isClamp(kind) || kind == PLIM_ACT_HARD_SWISH || kind == PLIM_ACT_HARD_SIGMOID;
}

template <int Rows, int Vectors, int Panels> PLIM_INLINE void computeTile(const Tile &t) {
  constexpr int Columns = Panels * Vectors;
  Vector sum[Rows][Columns];
  if (t.resume) {
#pragma clang loop unroll(full)
    for (int i = 0; i < Rows; ++i)
#pragma clang loop unroll(full)
      for (int v = 0; v < Columns; ++v)
        sum[i][v] = load(t.resume + v / Vectors * t.partialPanel + i * kPanel + v % Vectors * kLanes);
  } else {
#pragma clang loop unroll(full)
    for (int i = 0; i < Rows; ++i)
#pragma clang loop unroll(full)
      for (int v = 0; v < Columns; ++v)
        sum[i][v] = zero();
  }
  for (int64_t tap = 0; tap < t.tapCount; ++tap) {
    const float *a = t.a + t.taps[tap].a;
    const float *b = t.b + t.taps[tap].b;
    for (int64_t k = 0; k < t.depth; ++k) {
      Vector row[Columns];
#pragma clang loop unroll(full)
      for (int v = 0; v < Columns; ++v) {
        const float *p = b + v / Vectors * t.bPanel + v % Vectors * kLanes;
        row[v] = load(p);
        _mm_prefetch((const char *)(p + kPrefetchRows * kPanel), _MM_HINT_T0);
      }
      b += kPanel;
#pragma clang loop unroll(full)
      for (int i = 0; i < Rows; ++i) {
        Vector x = broadcast(a[i * t.aRow + k]);
#pragma clang loop unroll(full)
        for (int v = 0; v < Columns; ++v)
          sum[i][v] = fma(x, row[v], sum[i][v]);
      }
    }
  }
  if (t.keep) {
#pragma clang loop unroll(full)
    for (int i = 0; i < Rows; ++i)
#pragma clang loop unroll(full)
      for (int v = 0; v < Columns; ++v)
        store(t.keep + v / Vectors * t.partialPanel + i * kPanel + v % Vectors * kLanes, sum[i][v]);
  } else if (isClamp(t.act.kind)) {
    Vector lower = broadcast(clampLower(t.act)), upper = broadcast(clampUpper(t.act));
    finishTile<Vectors>(t, sum, [=](Vector x) __attribute__((always_inline)) { return clamp(x, lower, upper); });
  } else if (t.act.kind == PLIM_ACT_HARD_SWISH) {
    finishTile<Vectors>(t, sum, [](Vector x) __attribute__((always_inline)) { return hardSwish(x); });
  } else {
    Activation act = t.act;
    act.kind = PLIM_ACT_HARD_SIGMOID;
    finishTile<Vectors>(t, sum, [=](Vector x) __attribute__((always_inline)) { return activate(x, act); });
  }
}

template <int Rows, int Vectors, int Panels> void computeTiles(const Tile &given) {
  Tile t = given; // a copy of its own: stores to C could change `given`, for all that the compiler knows
  for (int64_t i = 0; i < t.count; ++i) {
    computeTile<Rows, Vectors, Panels>(t);
    t.a += Rows * t.aRow;
    t.c += t.keep ? 0 : Rows * t.cRow;
    t.residual += t.residual ? Rows * t.residualRow : 0;
    t.resume += t.resume ? Rows * kPanel : 0;
    t.keep += t.keep ? Rows * kPanel : 0;
  }
}

using TileFunction = void (*)(const Tile &);

template <int Vectors, int Panels, int... Index>
PLIM_INLINE TileFunction pickTile(int64_t rows, std::integer_sequence<int, Index...>) {
  static constexpr TileFunction functions[] = {computeTiles<Index + 1, Vectors, Panels>...};
  return functions[rows - 1];
}

/// The tile of `rows` rows, at most MaxRows.
template <int MaxRows, int Vectors, int Panels> PLIM_INLINE TileFunction pickTile(int64_t rows) {
  return pickTile<Vectors, Panels>(rows, std::make_integer_sequence<int, MaxRows>());
}

} // namespace
} // namespace plim

#endif
