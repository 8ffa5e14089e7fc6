// Additive attention of one sequence at one step: tanh over all slots is made in registers, used and
// forgotten, and made again in the gradient. Keys and values are read once, forward and back.
#pragma once
#include <math.h>

#include "additive.h"
#include "columns.h"

namespace {

constexpr int TOGETHER = 3;
// Slots whose tanh is made together: what meets all of them is read once. With four, keys, values and
// sums of two such steps leave little of a cache of 32 to 48 KB.

constexpr int CHUNK = 4 * TOGETHER;
// Slots whose scores are made before their values are mixed.

// Where S slots of a tape begin: found once, since the compiler cannot know that what is written does
// not change where the tape is.
template <class T, int S>
struct Places {
  T* at[S];
  int64_t together;  // from one of them to that which comes S slots later

  INLINE Places(const regard::Tape& tape, int64_t t, int64_t b, int64_t i) : together(S * tape.slot) {
    for (int s = 0; s < S; ++s) at[s] = tape.at(t, b, i + s);
  }
  INLINE void fetch(int s, int64_t d) const { __builtin_prefetch(at[s] + d); }
  INLINE void fetch_next(int s, int64_t d) const { __builtin_prefetch(at[s] + together + d); }
};

struct OneLook {
  const regard::Look& c;
  int64_t t, from, to, b;  // the step, the slots [from, to) that it sees, the sequence

  // Weights so far are relative to the highest score so far, as in any softmax of one pass.
  void look() const {
    float *a = c.weights.at(t, b), *mixed = c.mixed.at(t, b), high = -INFINITY;
    memset(mixed, 0, size_t(c.width) * sizeof *mixed);
    for (int64_t i = from; i < to; i += CHUNK) {
      int n = int(to - i < CHUNK ? to - i : CHUNK);
      score(i, n, a);
      float before = high;
      for (int s = 0; s < n; ++s) high = a[i + s] > high ? a[i + s] : high;
      if (high > before && before > -INFINITY) shrink(mixed, expf(before - high));
      mix(i, n, a, high, mixed);
    }
    float share = weigh(a, high);
    each_vector(c.width, [&](int64_t d, int n) { write(mixed + d, read(mixed + d, n) * all(share), n); });
  }

  void look_back() const {
    const float *q = c.queries.at(t, b), *v = c.v.data, *a = c.weights.at(t, b);
    const float* d_mixed = c.d_mixed.at(t, b);
    float *d_v = c.d_v.at(t, b), *d_q = c.d_queries.at(t, b), *d_scores = c.d_scores.at(t, b);
    // d_e = a (d_mixed . value - sum a d_mixed . value), and that sum is d_mixed . mixed.
    const int64_t hidden = c.hidden, width = c.width;
    const bool wide = width > hidden;  // two columns of a value for one of a key, as [h; c] has
    float mean = dot(d_mixed, c.mixed.at(t, b), width), rest = 0, newest = 0;
    memset(d_q, 0, size_t(hidden) * sizeof *d_q);
    each_slot(from, to, [=](int64_t i) { return a[i] != 0; }, [&](auto several, int64_t i) {
      constexpr int S = decltype(several)::value;
      const Places<const float, S> values(c.values, t, b, i), keys(c.keys, t, b, i);
      const Places<float, S> d_squares(c.d_squares, t, b, i);
      Vec given[S] = {}, d_e[S];
      each_vector(width, [&](int64_t d, int n) {
        Vec of_mixed = read(d_mixed + d, n);
#pragma GCC unroll 4
        for (int s = 0; s < S; ++s) given[s] += of_mixed * read(values.at[s] + d, n);
      });
      for (int s = 0; s < S; ++s) {
        newest = a[i + s] * (sum(given[s]) - mean);
        d_scores[i + s] += newest, rest += newest, d_e[s] = all(newest);
      }
      each_vector(hidden, [&](int64_t d, int n) {
        Vec query = read(q + d, n), sums = read(d_v + d, n), squares = {};
#pragma GCC unroll 4
        for (int s = 0; s < S; ++s) {
          keys.fetch_next(s, d), d_squares.fetch_next(s, d), values.fetch_next(s, d);
          if (wide) values.fetch_next(s, d + hidden);
          Vec bent = tanh_for_sums(read(keys.at[s] + d, n) + query);
          Vec x = d_e[s] * bent, square = x * bent;
          write(d_squares.at[s] + d, read(d_squares.at[s] + d, n) + square, n);
          sums += x, squares += square;
        }
        write(d_v + d, sums, n);
        write(d_q + d, read(d_q + d, n) - squares, n);
      });
    });
    each_vector(hidden, [&](int64_t d, int n) {
      write(d_q + d, (read(d_q + d, n) + all(rest)) * read(v + d, n), n);
    });
    if (c.recency && from < to && a[to - 1] != 0) *c.d_recency.at(t, b) += newest;
  }

 private:
  bool forbidden(int64_t i) const { return c.forbidden && c.forbidden[b * c.forbidden_stride + i]; }

  // f(Whole<S>, i) for S slots from i that all count, as many together as there are up to TOGETHER, or
  // for one that does. A slot that does not may hold anything: 0 times NaN is NaN.
  template <class C, class F>
  INLINE void each_slot(int64_t i, int64_t end, C counts, F f) const {
    auto all_count = [&] {
      for (int s = 0; s < TOGETHER; ++s)
        if (!counts(i + s)) return false;
      return true;
    };
    while (i < end) {
      if (i + TOGETHER <= end && all_count()) {
        f(Whole<TOGETHER>(), i), i += TOGETHER;
      } else {
        if (counts(i)) f(Whole<1>(), i);
        ++i;
      }
    }
  }

  // The scores of slots [first, first + n); -inf where forbidden.
  void score(int64_t first, int n, float* a) const {
    const float *q = c.queries.at(t, b), *v = c.v.data;
    for (int s = 0; s < n; ++s) a[first + s] = -INFINITY;
    const int64_t hidden = c.hidden;
    const bool wide = c.width > hidden;
    each_slot(first, first + n, [=](int64_t i) { return !forbidden(i); }, [&](auto several, int64_t i) {
      constexpr int S = decltype(several)::value;
      const Places<const float, S> values(c.values, t, b, i), keys(c.keys, t, b, i);
      Vec e[S] = {};
      each_vector(hidden, [&](int64_t d, int count) {
        Vec query = read(q + d, count), factor = read(v + d, count);
#pragma GCC unroll 4
        for (int s = 0; s < S; ++s) {  // as long as tanh takes, what is read next is on its way
          keys.fetch_next(s, d), values.fetch(s, d);
          if (wide) values.fetch(s, d + hidden);
          e[s] += factor * tanh_for_sums(read(keys.at[s] + d, count) + query);
        }
      });
      for (int s = 0; s < S; ++s) a[i + s] = sum(e[s]);
    });
    if (c.recency && first + n == to) a[to - 1] += *c.recency;
  }

  void shrink(float* mixed, float factor) const {
    each_vector(c.width, [&](int64_t d, int n) { write(mixed + d, read(mixed + d, n) * all(factor), n); });
  }

  // 2^((score - high) / ln 2): 0 for -inf, also where that is the highest.
  INLINE Vec raised(Vec score, float high) const {
    return exp2_of_any(score - all(high > -INFINITY ? high : 0), all(LOG2E));
  }

  void mix(int64_t first, int n, const float* a, float high, float* mixed) const {
    alignas(64) float p[CHUNK];
    each_vector(n, [&](int64_t s, int count) {
      write(p + s, raised(read(a + first + s, count), high), count);
    });
    each_slot(first, first + n, [&](int64_t i) { return p[i - first] != 0; }, [&](auto several, int64_t i) {
      constexpr int S = decltype(several)::value;
      const Places<const float, S> values(c.values, t, b, i);
      Vec weight[S];
      for (int s = 0; s < S; ++s) weight[s] = all(p[i - first + s]);
      each_vector(c.width, [&](int64_t d, int count) {
        Vec total = read(mixed + d, count);
#pragma GCC unroll 4
        for (int s = 0; s < S; ++s) total += weight[s] * read(values.at[s] + d, count);
        write(mixed + d, total, count);
      });
    });
  }

  // Scores become weights; 1 / their sum before, or 0 where nothing may be seen.
  float weigh(float* a, float high) const {
    Vec total = {}, nothing = all(-INFINITY);
    each_vector(to - from, [&](int64_t i, int n) {
      Vec e = raised(read(a + from + i, n), high);
      if (n < W) e = lanes() < all(n) ? e : Vec{};
      total += e;
    });
    float share = sum(total) == 0 ? 0 : 1 / sum(total);
    each_vector(to - from, [&](int64_t i, int n) {
      Vec score = read(a + from + i, n);
      write(a + from + i, score == nothing ? Vec{} : raised(score, high) * all(share), n);
    });
    return share;
  }
};

}  // namespace
