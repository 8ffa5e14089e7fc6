// Rows of any width, a vector of columns at a time.
#pragma once
#include "vector.h"

namespace {

// A number that is known when the source is compiled, as an argument.
template <int n>
struct Whole {
  static constexpr int value = n;
};

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

}  // namespace
