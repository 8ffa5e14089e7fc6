// Additive attention, a sequence at a time: tanh over all slots is made in registers, used and
// forgotten, and made again in the gradient. Nothing is summed over sequences, so that no thread
// count changes a bit.
#include "additive.h"

#include <math.h>

#include "kernel.h"
#include "vector.h"

namespace {

using regard::Look;
using regard::Step;

// f(d, count) for the vectors that cover n columns: `count` is W, or fewer in the last.
template <class F>
INLINE void each_vector(int64_t n, F f) {
  int64_t d = 0;
  for (; d + W <= n; d += W) f(d, W);
  if (d < n) f(d, int(n - d));
}

INLINE Vec read(const float* p, int n) { return n == W ? load(p) : load_first(p, n); }

INLINE void write(float* p, Vec x, int n) {
  if (n == W)
    store(p, x);
  else
    memcpy(p, &x, n * sizeof *p);
}

INLINE float dot(const float* a, const float* b, int64_t n) {
  Vec total = {};
  each_vector(n, [&](int64_t d, int count) { total += read(a + d, count) * read(b + d, count); });
  return sum(total);
}

struct Sequence {
  const Look& c;
  int64_t t, from, to, b;

  // Between the values of tanh at columns [d, d + W) of a slot, as many of its value's come into
  // the cache: reading them takes as long as computing those.
  INLINE void fetch(const float* value, int64_t d) const {
    for (int64_t i = 0; i < c.width; i += c.hidden) __builtin_prefetch(value + i + d);
  }

  void look() const {
    const float *q = c.queries.at(t, b), *v = c.v.data;
    float* a = c.weights.at(t, b);
    for (int64_t i = from; i < to; ++i) {
      const float *k = c.keys.at(t, b, i), *value = c.values.at(t, b, i);
      Vec e = {};
      each_vector(c.hidden, [&](int64_t d, int n) {
        fetch(value, d);
        e += read(v + d, n) * tanh(read(k + d, n) + read(q + d, n));
      });
      a[i] = sum(e);
    }
    if (c.recency && from < to) a[to - 1] += *c.recency;
    weigh(a);
    float* mixed = c.mixed.at(t, b);
    memset(mixed, 0, c.width * sizeof *mixed);
    for (int64_t i = from; i < to; ++i) {
      if (a[i] == 0) continue;  // a forbidden slot may hold anything: 0 times NaN is NaN
      const float* value = c.values.at(t, b, i);
      Vec part = all(a[i]);
      each_vector(c.width, [&](int64_t d, int n) {
        write(mixed + d, read(mixed + d, n) + part * read(value + d, n), n);
      });
    }
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

  void look_back() const {
    const float *q = c.queries.at(t, b), *v = c.v.data, *a = c.weights.at(t, b);
    float *d_e = c.d_e.at(t, b), *d_scores = c.d_scores.at(t, b), total = 0;
    for (int64_t i = from; i < to; ++i)
      total += d_e[i] = a[i] == 0 ? 0 : a[i] * dot(c.mixed.at(t, b), c.values.at(t, b, i), c.width);
    for (int64_t i = from; i < to; ++i) d_scores[i] += d_e[i] -= a[i] * total;
    if (c.recency && from < to) *c.d_recency.at(t, b) += d_e[to - 1];
    float *d_v = c.d_v.at(t, b), *d_q = c.d_queries.at(t, b);
    memset(d_q, 0, c.hidden * sizeof *d_q);
    for (int64_t i = from; i < to; ++i) {
      if (a[i] == 0) continue;
      const float* k = c.keys.at(t, b, i);
      const float* next = c.values.at(t, b + 1 < c.batch ? b + 1 : b, i);
      float* d_squares = c.d_squares.at(t, b, i);
      Vec slope = all(d_e[i]);
      each_vector(c.hidden, [&](int64_t d, int n) {
        fetch(next, d);
        Vec bent = tanh(read(k + d, n) + read(q + d, n)), x = slope * bent, square = x * bent;
        write(d_v + d, read(d_v + d, n) + x, n);
        write(d_squares + d, read(d_squares + d, n) + square, n);
        // d_e sums to 0, so of the slope 1 - tanh^2 only the square is left.
        write(d_q + d, read(d_q + d, n) - square * read(v + d, n), n);
      });
    }
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
