// The keys and values of a task: keys [from, to) of one head, laid out in panels for the tiles.
#pragma once
#include <math.h>

#include "arena.h"
#include "read.h"
#include "tile.h"

namespace {

struct Keys {
  const Call& c;
  int width, wide;  // of keys and of values, up to a whole vector
  bool plain, plain_values;

  int64_t b, head;
  int from, to;

  float *panels, *norms, *values, *some;  // norms: the largest |k| of each panel

  explicit Keys(const Call& call)
      : c(call), width(rounded_up(int(c.width), W)), wide(rounded_up(int(c.value_width), W)),
        plain(is_plain(c.key, c.dtype, c.width)),
        plain_values(is_plain(c.value, c.dtype, c.value_width)) {}

  // Without panels the keys are read by `rows`.
  void lay_out(Arena& arena, bool in_panels) {
    int64_t most = rounded_up(int(c.keys), KEYS) + KEYS;
    panels = arena.take<float>(in_panels ? most * c.width : 0);
    norms = arena.take<float>(most / KEYS);
    values = arena.take<float>(c.value.data && !plain_values ? most * wide : 0);
    some = arena.take<float>(int64_t(W) * width);
  }

  void begin(bool in_panels) {
    for (int key = from; key < to && in_panels; key += KEYS) pack(key);
    for (int key = from; key < to && c.value.data && !plain_values; ++key)
      read_row(values + int64_t(key - from) * wide, place(c.value, c.dtype, b, head, key), c.dtype,
               c.value.column, int(c.value_width), wide);
  }

  float* panel(int key) const { return panels + int64_t(key - from) * c.width; }

  float norm(int key) const { return norms[(key - from) / KEYS]; }

  const float* value(int key) const {
    if (!plain_values) return values + int64_t(key - from) * wide;
    return reinterpret_cast<const float*>(place(c.value, c.dtype, b, head, key));
  }

  int64_t value_step() const { return plain_values ? c.value.row : wide; }

  // Keys [at, at + W) as rows of floats `step` apart; rows beyond the last key are zeros.
  const float* rows(int at, int64_t& step) const {
    if (plain && at + W <= c.keys) {
      step = c.key.row;
      return reinterpret_cast<const float*>(place(c.key, c.dtype, b, head, at));
    }
    step = width;
    for (int i = 0; i < W; ++i) {
      int n = at + i < c.keys ? int(c.width) : 0;
      const char* row = place(c.key, c.dtype, b, head, n ? at + i : 0);
      read_row(some + i * width, row, c.dtype, c.key.column, n, width);
    }
    return some;
  }

 private:
  void pack(int key) const {
    float* panel_of = panel(key);
    Vec square[KEYS / W][4] = {};  // chains of additions that do not wait for each other
    for (int n = 0; n < KEYS / W; ++n) {
      int at = key + n * W, there = plain ? int(c.keys) - at : W;
      if (at >= to) continue;  // no tile reads these
      int64_t step = c.key.row;
      auto* row = reinterpret_cast<const float*>(place(c.key, c.dtype, b, head, at));
      if (!plain) row = rows(at, step);
      for (int d = 0; d < width; d += W) {
        Vec x[W];
        read_turned(row, step, there, d, x);
        int columns = int(c.width) - d;
#pragma GCC unroll 16
        for (int i = 0; i < W; ++i) {
          square[n][i % 4] += x[i] * x[i];
          if (i < columns) store(panel_of + (d + i) * KEYS + n * W, x[i]);
        }
      }
    }
    Vec longest = {}, together = {};
    for (int n = 0; n < KEYS / W; ++n) {
      Vec whole = (square[n][0] + square[n][1]) + (square[n][2] + square[n][3]);
      longest = larger(longest, whole);
      together += whole;
    }
    // The sum keeps a NaN that the maximum may lose; either way the norm is then not finite.
    bool finite = sum(together) < INFINITY;
    norms[(key - from) / KEYS] = finite ? sqrtf(most(longest)) : INFINITY;
  }
};

}  // namespace
