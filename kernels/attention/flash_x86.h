//===- kernels/attention/flash_x86.h - attention.flash: online softmax --------------------===//
//
// Milakov and Gimelshein, Online normalizer calculation for softmax, 2018; Dao et al., FlashAttention, 2022. A unit is
// a block of query rows. It goes over K and V in tiles, packed in scratch; each row keeps the largest score so far, the
// sum of its weights and its unscaled sum of values, and scales the latter two when the largest score grows.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_ATTENTION_FLASH_X86_H
#define PLIM_KERNELS_ATTENTION_FLASH_X86_H

#include "kernels/attention/softmax_x86.h"

namespace plim {
namespace {

struct FlashScratch {
  float *keys, *values, *scores;
  float *sums; // for each PLIM_FLASH_ROWS rows: [panels of values][rows][32]
  float *largest, *total;

  FlashScratch(void *scratch, const plim_flash_blocking &cut) {
    char *at = (char *)scratch;
    keys = (float *)at;
    values = (float *)(at += cut.keys_bytes);
    scores = (float *)(at += cut.values_bytes);
    sums = (float *)(at += cut.scores_bytes);
    largest = (float *)(at += cut.sums_bytes);
    total = largest + cut.max_queries;
  }
};

struct FlashTile {
  int64_t batch, head, row, rows; // query rows
  int64_t key, keys;
  float *sums, *largest, *total; // of these rows
};

/// Weights of a tile's rows in scratch.scores, with what the rows keep brought up to date.
inline void weighTile(const Attention &a, const FlashTile &tile, float *scores, int64_t pitch, int64_t panels) {
  for (int64_t i = 0; i < tile.rows; ++i) {
    float *s = scores + i * pitch;
    int64_t count = a.seen(tile.row + i) - tile.key;
    count = count < 0 ? 0 : count < tile.keys ? count : tile.keys;
    const float before = tile.largest[i];
    const float here = scaleScores(a, tile.batch, tile.head, tile.row + i, tile.key, count, s);
    const float largest = here > before || here != here ? here : before;
    if (largest == -__builtin_inff()) {
      memset(s, 0, (size_t)tile.keys * sizeof(float));
      continue;
    }
    const float sum = exponentiateScores(s, count, largest);
    if (count < tile.keys)
      memset(s + count, 0, (size_t)(tile.keys - count) * sizeof(float));
    tile.largest[i] = largest;
    if (before != largest) {
      alignas(64) float fadedLanes[kLanes];
      const Vector faded = exponential(broadcast(before) - broadcast(largest));
      store(fadedLanes, faded);
      tile.total[i] *= fadedLanes[0];
      for (int64_t p = 0; p < panels; ++p)
        for (int64_t column = 0; column < kPanel; column += kLanes) {
          float *at = tile.sums + (p * tile.rows + i) * kPanel + column;
          store(at, load(at) * faded);
        }
    }
    tile.total[i] += sum;
  }
}

inline void flashBlock(const Attention &a, const plim_flash_blocking &cut, const FlashScratch &scratch, int64_t batch,
                       int64_t head, int64_t row, int64_t rows) {
  const int64_t panels = plim_ceil_divide(a.values, kPanel), group = a.groupOf(head), seen = a.seen(row + rows - 1);
  const Tap tap = {0, 0};
  for (int64_t i = 0; i < rows; ++i)
    scratch.largest[i] = -__builtin_inff(), scratch.total[i] = 0.0f;
  memset(scratch.sums, 0, (size_t)(rows * panels * kPanel) * sizeof(float));

  for (int64_t key = 0; key < seen; key += cut.keys) {
    const int64_t keys = seen - key < cut.keys ? seen - key : cut.keys;
    const int64_t pitch = plim_attention_pitch(keys);
    const auto columns = [](int64_t n, int64_t at) { return n - at < kPanel ? n - at : kPanel; };
    for (int64_t at = 0; at < keys; at += kPanel)
      packPanel(scratch.keys + at * a.depth, a.kData + Attention::at(a.k, batch, group, key + at), 1, a.k->strides[2],
                a.depth, columns(keys, at));
    for (int64_t at = 0; at < a.values; at += kPanel)
      packPanel(scratch.values + at * keys, a.vData + Attention::at(a.v, batch, group, key) + at, a.v->strides[2], 1,
                keys, columns(a.values, at));
    for (int64_t i = 0; i < rows; i += PLIM_FLASH_ROWS) {
      FlashTile tile = {batch,
                        head,
                        row + i,
                        rows - i < PLIM_FLASH_ROWS ? rows - i : PLIM_FLASH_ROWS,
                        key,
                        keys,
                        scratch.sums + i * panels * kPanel,
                        scratch.largest + i,
                        scratch.total + i};
      const int64_t tileSeen = a.seen(tile.row + tile.rows - 1) - key;
      if (tileSeen <= 0)
        continue;
      tile.keys = tileSeen < keys ? tileSeen : keys;
      PanelBlock block = productBlock(a.qData + Attention::at(a.q, batch, head, tile.row), a.q->strides[2], tile.rows,
                                      &tap, a.depth, scratch.keys, a.depth * kPanel, plim_attention_up_32(tile.keys));
      block.c = scratch.scores;
      block.cRow = pitch;
      PLIM_PANEL_BLOCK(&block);
      weighTile(a, tile, scratch.scores, pitch, panels);
      block = productBlock(scratch.scores, pitch, tile.rows, &tap, tile.keys, scratch.values, keys * kPanel, a.values);
      block.partial = tile.sums;
      block.resume = block.keep = true;
      PLIM_PANEL_BLOCK(&block);
    }
  }

  for (int64_t i = 0; i < rows; ++i) {
    const int64_t first = i / PLIM_FLASH_ROWS * PLIM_FLASH_ROWS, left = rows - first;
    const int64_t tileRows = left < PLIM_FLASH_ROWS ? left : PLIM_FLASH_ROWS;
    const float *sums = scratch.sums + first * panels * kPanel + (i - first) * kPanel;
    const Vector factor = broadcast(scratch.total[i] == 0.0f ? 0.0f : 1.0f / scratch.total[i]);
    float *o = a.oData + Attention::at(a.o, batch, head, row + i);
    for (int64_t e = 0; e < a.values; e += kLanes) {
      const float *sum = sums + e / kPanel * tileRows * kPanel + e % kPanel;
      store(o + e, load(sum) * factor, firstLanes(a.values - e));
    }
  }
}

inline int32_t runFlash(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  const Attention a(launch);
  if (!a.fits())
    return PLIM_KERNEL_UNSUPPORTED;
  const plim_flash_blocking cut = plim_flash_blocking_for(a.q, a.v);
  const FlashScratch parts(scratch, cut);
  const int64_t blocks = plim_ceil_divide(a.queries, cut.queries), end = cut.units * last / launch->tasks;
  for (int64_t unit = cut.units * first / launch->tasks; unit < end; ++unit) {
    const int64_t row = unit % blocks * cut.queries, left = a.queries - row;
    flashBlock(a, cut, parts, unit / blocks / a.heads, unit / blocks % a.heads, row,
               left < cut.queries ? left : cut.queries);
  }
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
