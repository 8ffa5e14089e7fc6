// Additive attention, a sequence at a time: tanh over all slots is made in registers, used and
// forgotten, and made again in the gradient. Nothing is summed over sequences, so that no thread
// count changes a bit.
#include "additive.h"

#include <math.h>

#include "columns.h"
#include "kernel.h"

namespace {

using regard::Look;
using regard::Step;

#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int TOGETHER = 4;
#else
constexpr int TOGETHER = 2;
#endif
// Slots that are looked at together: what meets all of them is read once.

struct Sequence {
  const Look& c;
  int64_t t, from, to, b;

  void look() const {
    const float *q = c.queries.at(t, b), *v = c.v.data;
    float* a = c.weights.at(t, b);
    each_slot([](int64_t) { return true; }, [&](auto several, int64_t i) {
      constexpr int S = decltype(several)::value;
      Vec e[S] = {};
      each_vector(c.hidden, [&](int64_t d, int n) {
        Vec query = read(q + d, n), factor = read(v + d, n);
#pragma GCC unroll 4
        for (int s = 0; s < S; ++s) {
          fetch(c.values.at(t, b, i + s), d);
          e[s] += factor * tanh(read(c.keys.at(t, b, i + s) + d, n) + query);
        }
      });
      for (int s = 0; s < S; ++s) a[i + s] = sum(e[s]);
    });
    if (c.recency && from < to) a[to - 1] += *c.recency;
    weigh(a);
    float* mixed = c.mixed.at(t, b);
    memset(mixed, 0, c.width * sizeof *mixed);
    each_weighed(a, [&](auto several, int64_t i) {
      each_vector(c.width, [&](int64_t d, int n) {
        Vec total = read(mixed + d, n);
#pragma GCC unroll 4
        for (int s = 0; s < decltype(several)::value; ++s)
          total += all(a[i + s]) * read(c.values.at(t, b, i + s) + d, n);
        write(mixed + d, total, n);
      });
    });
  }

  void look_back() const {
    const float *q = c.queries.at(t, b), *v = c.v.data, *a = c.weights.at(t, b);
    float *d_v = c.d_v.at(t, b), *d_q = c.d_queries.at(t, b), *d_e = c.d_e.at(t, b);
    scores_back(a, d_e);
    memset(d_q, 0, c.hidden * sizeof *d_q);
    each_weighed(a, [&](auto several, int64_t i) {
      each_vector(c.hidden, [&](int64_t d, int n) {
        Vec query = read(q + d, n), sums = read(d_v + d, n), squares = {};
#pragma GCC unroll 4
        for (int s = 0; s < decltype(several)::value; ++s) {
          fetch(c.values.at(t, b + 1 < c.batch ? b + 1 : b, i + s), d);
          Vec bent = tanh(read(c.keys.at(t, b, i + s) + d, n) + query);
          Vec x = all(d_e[i + s]) * bent, square = x * bent;
          float* d_squares = c.d_squares.at(t, b, i + s) + d;
          write(d_squares, read(d_squares, n) + square, n);
          sums += x, squares += square;
        }
        write(d_v + d, sums, n);
        // d_e sums to 0, so of the slope 1 - tanh^2 only the square is left.
        write(d_q + d, read(d_q + d, n) - squares * read(v + d, n), n);
      });
    });
  }

 private:
  // f(Whole<TOGETHER>, i) for slots from i that all count, f(Whole<1>, i) for one that does.
  template <class C, class F>
  INLINE void each_slot(C counts, F f) const {
    auto all_count = [&](int64_t i) {
      for (int s = 0; s < TOGETHER; ++s)
        if (!counts(i + s)) return false;
      return true;
    };
    for (int64_t i = from; i < to;) {
      if (i + TOGETHER <= to && all_count(i)) {
        f(Whole<TOGETHER>(), i), i += TOGETHER;
      } else {
        if (counts(i)) f(Whole<1>(), i);
        ++i;
      }
    }
  }

  // A forbidden slot may hold anything: 0 times NaN is NaN.
  template <class F>
  INLINE void each_weighed(const float* a, F f) const {
    each_slot([=](int64_t i) { return a[i] != 0; }, f);
  }

  // Between the values of tanh at columns [d, d + W) of a slot, as many of its value's come into
  // the cache: reading them takes as long as computing those.
  INLINE void fetch(const float* value, int64_t d) const {
    for (int64_t i = 0; i < c.width; i += c.hidden) __builtin_prefetch(value + i + d);
  }

  // Scores become weights.
  void weigh(float* a) const {
    const uint8_t* no = c.forbidden ? c.forbidden + b * c.forbidden_stride : nullptr;
    float high = -INFINITY, total = 0;
    for (int64_t i = from; i < to; ++i)
      if (!(no && no[i]) && a[i] > high) high = a[i];
    for (int64_t i = from; i < to; ++i) total += a[i] = no && no[i] ? 0 : expf(a[i] - high);
    for (int64_t i = from; i < to; ++i) a[i] = no && no[i] ? 0 : a[i] / total;
  }

  // The gradient of the scores, from that of what was mixed.
  void scores_back(const float* a, float* d_e) const {
    float *d_scores = c.d_scores.at(t, b), total = 0;
    const float* d_mixed = c.mixed.at(t, b);
    memset(d_e + from, 0, size_t(to - from) * sizeof *d_e);
    each_weighed(a, [&](auto several, int64_t i) {
      constexpr int S = decltype(several)::value;
      Vec e[S] = {};
      each_vector(c.width, [&](int64_t d, int n) {
        Vec given = read(d_mixed + d, n);
#pragma GCC unroll 4
        for (int s = 0; s < S; ++s) e[s] += given * read(c.values.at(t, b, i + s) + d, n);
      });
      for (int s = 0; s < S; ++s) total += d_e[i + s] = a[i + s] * sum(e[s]);
    });
    for (int64_t i = from; i < to; ++i) d_scores[i] += d_e[i] -= a[i] * total;
    if (c.recency && from < to) *c.d_recency.at(t, b) += d_e[to - 1];
  }
};

template <class F>
INLINE void each_sequence(const Look& c, Step& s, F f) {
  int64_t b;
  while ((b = __atomic_fetch_add(&s.next, 1, __ATOMIC_RELAXED)) < c.batch)
    f(Sequence{c, s.t, s.from, s.to, b});
}

}  // namespace

extern "C" void VARIANT_OF(look)(const Look& c, Step& s) {
  each_sequence(c, s, [](const Sequence& x) { x.look(); });
}

extern "C" void VARIANT_OF(look_back)(const Look& c, Step& s) {
  each_sequence(c, s, [](const Sequence& x) { x.look_back(); });
}
