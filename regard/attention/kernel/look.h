// Additive attention of one sequence at one step: tanh over all slots is made in registers, used and
// forgotten, and made again in the gradient. Keys and values are read once, forward and back.
#pragma once
#include <math.h>

#include "additive.h"
#include "columns.h"

namespace {

#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int TOGETHER = 4;
#else
constexpr int TOGETHER = 2;
#endif
// Slots whose tanh is made together: what meets all of them is read once.

constexpr int CHUNK = 8;
// Slots whose scores are made before their values are mixed.

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
    float mean = dot(d_mixed, c.mixed.at(t, b), c.width), rest = 0, newest = 0;
    memset(d_q, 0, size_t(c.hidden) * sizeof *d_q);
    each_slot(from, to, [=](int64_t i) { return a[i] != 0; }, [&](auto several, int64_t i) {
      constexpr int S = decltype(several)::value;
      Vec given[S] = {}, d_e[S];
      each_vector(c.width, [&](int64_t d, int n) {
        Vec of_mixed = read(d_mixed + d, n);
#pragma GCC unroll 4
        for (int s = 0; s < S; ++s) given[s] += of_mixed * read(c.values.at(t, b, i + s) + d, n);
      });
      for (int s = 0; s < S; ++s) {
        newest = a[i + s] * (sum(given[s]) - mean);
        d_scores[i + s] += newest, rest += newest, d_e[s] = all(newest);
      }
      each_vector(c.hidden, [&](int64_t d, int n) {
        Vec query = read(q + d, n), sums = read(d_v + d, n), squares = {};
#pragma GCC unroll 4
        for (int s = 0; s < S; ++s) {
          float* d_squares = c.d_squares.at(t, b, i + s) + d;
          fetch(c.keys.at(t, b, i + S + s) + d), fetch(c.d_squares.at(t, b, i + S + s) + d);
          fetch_value(i + S + s, d);
          Vec bent = tanh_for_sums(read(c.keys.at(t, b, i + s) + d, n) + query);
          Vec x = d_e[s] * bent, square = x * bent;
          write(d_squares, read(d_squares, n) + square, n);
          sums += x, squares += square;
        }
        write(d_v + d, sums, n);
        write(d_q + d, read(d_q + d, n) - squares, n);
      });
    });
    each_vector(c.hidden, [&](int64_t d, int n) {
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

  INLINE void fetch(const float* p) const { __builtin_prefetch(p); }

  // As many columns of a slot's value come into the cache as there are in all for each of a key: it is
  // read soon, and that takes as long as the tanh of a key.
  INLINE void fetch_value(int64_t slot, int64_t d) const {
    const float* value = c.values.at(t, b, slot);
    for (int64_t i = 0; i < c.width; i += c.hidden) fetch(value + i + d);
  }

  // The scores of slots [first, first + n); -inf where forbidden.
  void score(int64_t first, int n, float* a) const {
    const float *q = c.queries.at(t, b), *v = c.v.data;
    for (int s = 0; s < n; ++s) a[first + s] = -INFINITY;
    each_slot(first, first + n, [=](int64_t i) { return !forbidden(i); }, [&](auto several, int64_t i) {
      constexpr int S = decltype(several)::value;
      Vec e[S] = {};
      each_vector(c.hidden, [&](int64_t d, int count) {
        Vec query = read(q + d, count), factor = read(v + d, count);
#pragma GCC unroll 4
        for (int s = 0; s < S; ++s) {
          fetch_value(i + s, d), fetch(c.keys.at(t, b, i + S + s) + d);
          e[s] += factor * tanh_for_sums(read(c.keys.at(t, b, i + s) + d, count) + query);
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
      each_vector(c.width, [&](int64_t d, int count) {
        Vec total = read(mixed + d, count);
#pragma GCC unroll 4
        for (int s = 0; s < decltype(several)::value; ++s)
          total += all(p[i - first + s]) * read(c.values.at(t, b, i + s) + d, count);
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
