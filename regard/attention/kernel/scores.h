// Scores that were stored: they are finished, their maximum is found, and they become weights.
#pragma once
#include "block.h"

namespace {

constexpr float SAFE = 44.0f;   // a weight of e^44 or e^-44 leaves room for values of most sizes
constexpr float NOTHING = -1e30f;  // a score so low, from a bias, is a mask

struct Scores : Block {
  float* line;  // of the bias

  // What a row's scores add to its sums. Everywhere in the same order, KEYS of them at a time: a row has
  // the same weights on any way.
  struct Sums {
    Vec total, spread;

    INLINE void add(Vec weight, Vec score) {
      total += weight;
      spread += weight * score;
    }
  };

  using Block::Block;

  void lay_out(Arena& arena) {
    Block::lay_out(arena);
    line = arena.take<float>(CHUNK + W);
  }

  // Scores that are to be raised and nothing else: of a panel's rows, those of keys [start, stop).
  void raise(const Panel& x, int start, int stop, int base) {
    int from = most_of(start, x.first / KEYS * KEYS), to = least_of(stop, x.last);
    if (from >= to) return;
    int inner = least_of(to, most_of(from, rounded_up(x.all_first, KEYS)));
    int outer = most_of(inner, least_of(to, x.all_last) / KEYS * KEYS);
    Vec factor = all(float(c.scale) * LOG2E);
    for (int r = x.row; r < x.row + x.n; ++r) {
      float* w = weights + r * stride - base;
      Sums sums = {total[r], spread[r]};
      sums = raise_edge(w, r, from, inner, factor, sums);
      if (c.entropy)
        sums = raise_all<true>(w + inner, w + outer, factor, sums);
      else
        sums = raise_all<false>(w + inner, w + outer, factor, sums);
      sums = raise_edge(w, r, outer, to, factor, sums);
      total[r] = sums.total, spread[r] = sums.spread;
    }
  }

  // Of a panel's rows, the scores of keys [start, stop). Weights are stored from key `base` on; the block
  // began with key `block_from`.
  void settle(const Panel& x, int block_from, int start, int stop, int base) {
    int from = most_of(start, x.first / KEYS * KEYS), to = least_of(stop, x.last);
    if (direct) from = start, to = stop;  // all were computed
    for (int r = x.row; r < x.row + x.n && from < to; ++r) {
      float* w = weights + r * stride - base;
      float high = complete(r, w, from, to);
      refer(r, high, block_from, start, base);
      Vec less = all(reference[r]), factor = all(unit_of_scores() * LOG2E);
      for (int j = from; j < to; j += KEYS) {
        Sums here = {};
        for (int i = j; i < j + KEYS && i < to; i += W) {
          Vec s = load(w + i);
          if (reference[r] != 0) s -= less;
          Vec raised = exp2_of_any(s, factor);
          store(w + i, raised);
          here.add(raised, larger(all(NOTHING), s));  // 0 times -inf is NaN
        }
        total[r] += here.total;
        spread[r] += here.spread;
      }
    }
  }

 private:
  template <bool SPREAD>
  static INLINE Sums raise_all(float* w, const float* end, Vec factor, Sums sums) {
    for (; w < end; w += KEYS) {
      Vec s[KEYS / W], raised[KEYS / W];
#pragma GCC unroll 4
      for (int n = 0; n < KEYS / W; ++n) {
        s[n] = load(w + n * W);
        raised[n] = exp2_of_product(s[n], factor);
        store(w + n * W, raised[n]);
      }
      Sums here = {raised[0], raised[0] * s[0]};
#pragma GCC unroll 4
      for (int n = 1; n < KEYS / W; ++n) here.add(raised[n], s[n]);
      sums.total += here.total;
      if (SPREAD) sums.spread += here.spread;
    }
    return sums;
  }

  // Keys [from, to), of which row r may not see all.
  Sums raise_edge(float* w, int r, int from, int to, Vec factor, Sums sums) const {
    for (int j = from; j < to; j += KEYS) {
      Sums here = {};
      for (int i = j; i < j + KEYS && i < to; i += W) {
        Ints key = lanes() + i, seen = (key >= first[r]) & (key < last[r]);
        Vec s = load(w + i), raised = seen ? exp2_of_product(s, factor) : Vec{};
        store(w + i, raised);
        here.add(raised, s);
      }
      sums.total += here.total;
      sums.spread += here.spread;
    }
    return sums;
  }

  // Soft cap, bias and mask of one row's scores of keys [from, to); their maximum. The scale is
  // left to later if nothing else is done to the scores.
  float complete(int r, float* w, int from, int to) {
    const float* bias = c.bias.data ? bias_line(r, from, to) : nullptr;
    Vec scale = all(scales_late ? 1.0f : float(c.scale));
    Vec high = all(-INFINITY), never = all(-INFINITY);
    float cap = float(c.softcap);
    for (int j = from; j < to; j += W) {
      Vec s = load(w + j) * scale;
      if (cap != 0) s = tanh(s / all(cap)) * all(cap);
      if (bias) {
        s += load(bias + (j - from));
        s = s <= all(NOTHING) ? never : s;
      }
      if (j < first[r] || j + W > last[r]) {
        Ints key = lanes() + j;
        Ints seen = (key >= first[r]) & (key < last[r]);
        s = seen ? s : never;
      }
      if (c.mask.data) s = mask_vector(r, j) ? s : never;
      store(w + j, s);
      high = larger(s, high);
    }
    return most(high);
  }

  const float* bias_line(int r, int from, int to) {
    const Array& a = c.bias;
    const float* p = static_cast<const float*>(a.data) + b * a.batch + head_of[r] * a.head +
                     query_of[r] * a.row + from * a.column;
    read_row(line, reinterpret_cast<const char*>(p), regard::FLOAT32, a.column, to - from,
             rounded_up(to - from, W));
    return line;
  }

  Ints mask_vector(int r, int j) const {
    const Array& m = c.mask;
    const uint8_t* p = static_cast<const uint8_t*>(m.data) + b * m.batch + head_of[r] * m.head +
                       query_of[r] * m.row + j * m.column;
    Ints seen = {};
    int n = least_of(W, int(c.keys) - j);
    if (n == W && m.column == 1)
      for (int i = 0; i < W; ++i) seen[i] = p[i];
    else
      for (int i = 0; i < n; ++i) seen[i] = p[i * m.column];
    return seen != 0;
  }

  // Row r has a score `high`. The reference is 0 as long as that is safe, then a score so high.
  void refer(int r, float high, int block_from, int start, int base) {
    if (high == -INFINITY) return;
    float unit = unit_of_scores();
    if (!referred[r]) {
      bool safe = high * unit <= SAFE && high * unit >= -SAFE;
      reference[r] = safe ? 0 : high;
      referred[r] = true;
    } else if ((high - reference[r]) * unit > SAFE) {
      float up = high - reference[r];
      float factor = expf(-up * unit);
      spread[r] = (spread[r] - total[r] * all(up)) * all(factor);
      total[r] *= all(factor);
      for (int d = 0; d < wide && started[r]; d += W)
        store(out + r * wide + d, load(out + r * wide + d) * all(factor));
      float* w = weights + r * stride - base;
      for (int j = block_from; j < start && keeps_rows; j += W)
        store(w + j, load(w + j) * all(factor));
      reference[r] = high;
    }
  }
};

}  // namespace
