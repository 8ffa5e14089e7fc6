// Products of a few rows: one pass over the weights, the rows in registers.
#pragma once
#include <math.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "columns.h"
#include "weights.h"

namespace {

using regard::PANEL;
using regard::Product;

#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int MOST = 6, WIDE = 4;
#else
constexpr int MOST = 6, WIDE = 2;
#endif
// MOST rows x (WIDE * W) columns is the largest tile of a product.

typedef int16_t Shorts __attribute__((vector_size(4 * W)));

// 2 * W numbers of 8 bits, with 16.
INLINE Shorts load_wide(const int8_t* p) {
#if defined(__AVX512F__)
  return (Shorts)_mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
#elif defined(__AVX2__)
  return (Shorts)_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
#else
  typedef int8_t Bytes __attribute__((vector_size(2 * W)));
  Bytes x;
  memcpy(&x, p, sizeof x);
  return __builtin_convertvector(x, Shorts);
#endif
}

// sum + a[2l] * b[2l] + a[2l + 1] * b[2l + 1] in each lane l.
INLINE Ints add_pairs(Shorts a, Shorts b, Ints sum) {
#if defined(__AVX512F__)
  return sum + (Ints)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return sum + (Ints)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
  return sum + (Ints)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
  auto even = [](Shorts x) { return ((Ints)x << 16) >> 16; };
  return sum + even(a) * even(b) + ((Ints)a >> 16) * ((Ints)b >> 16);
#endif
}

// Rows and weights as they are.
struct Floats {
  const Product& p;
  const float* x;
  int64_t stride;  // from a row to the next

  // finish(m, n, sum) for M rows from `row` times N vectors of columns from `column`.
  template <int M, int N, class F>
  INLINE void tile(int64_t row, int64_t column, F finish) const {
    const float* w = p.weight + column / PANEL * PANEL * p.in + column % PANEL;
    const float* rows = x + row * stride;
    Vec sum[M][N] = {};
    for (int64_t k = 0; k < p.in; ++k) {
      Vec weight[N];
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n)
        weight[n] = load(w + n * W / PANEL * PANEL * p.in + n * W % PANEL + k * PANEL);
#pragma GCC unroll 8
      for (int m = 0; m < M; ++m) {
        Vec value = all(rows[m * stride + k]);
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) sum[m][n] = multiply_add(value, weight[n], sum[m][n]);
      }
    }
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) finish(m, n, sum[m][n]);
  }
};

// Weights of 8 bits, rows of 16: x = unit * whole. Sums of such products are exact.
struct Wholes {
  const Product& p;
  const int16_t* x;    // (rows, 2 * pairs)
  const float* units;  // (rows)
  int64_t pairs;

  template <int M, int N, class F>
  INLINE void tile(int64_t row, int64_t column, F finish) const {
    const int8_t* w = p.bytes + (column / PANEL * PANEL * pairs + column % PANEL) * 2;
    const int16_t* rows = x + row * 2 * pairs;
    Ints sum[M][N] = {};
    for (int64_t k = 0; k < pairs; ++k) {
      Shorts weight[N];
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n)
        weight[n] = load_wide(w + (n * W / PANEL * PANEL * pairs + n * W % PANEL + k * PANEL) * 2);
#pragma GCC unroll 8
      for (int m = 0; m < M; ++m) {
        int32_t pair;
        memcpy(&pair, rows + (m * pairs + k) * 2, sizeof pair);
        Shorts value = (Shorts)all(pair);
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) sum[m][n] = add_pairs(value, weight[n], sum[m][n]);
      }
    }
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) {
        Vec scale = load(p.scale + column + n * W) * all(units[row + m]);
        finish(m, n, __builtin_convertvector(sum[m][n], Vec) * scale);
      }
  }
};

// The same of `rows` <= M rows, known only now.
template <int M, int N, class Factors, class F>
INLINE void tile_of(int64_t rows, const Factors& f, int64_t row, int64_t column, F finish) {
  if (rows == M) return f.template tile<M, N>(row, column, finish);
  if constexpr (M > 1) tile_of<M - 1, N>(rows, f, row, column, finish);
}

// f(Whole<n>) for n <= N, known only now; nothing for 0.
template <int N, class F>
INLINE void whole_of(int64_t n, F f) {
  if (n == N) return f(Whole<N>());
  if constexpr (N > 1) whole_of<N - 1>(n, f);
}

// finish(row, column, sum) for every vector of n rows times so many columns.
template <class Factors, class F>
INLINE void each_tile(int64_t n, int64_t columns, const Factors& factors, F finish) {
  int64_t blocks = (n + MOST - 1) / MOST, vectors = (columns + W - 1) / W;
  auto strip = [&](auto together, int64_t column) {
    constexpr int N = decltype(together)::value;
    for (int64_t b = 0; b < blocks; ++b) {
      int64_t row = n * b / blocks, rows = n * (b + 1) / blocks - row;
      tile_of<MOST, N>(rows, factors, row, column, [&](int m, int v, Vec sum) {
        finish(row + m, column + v * W, sum);
      });
    }
  };
  int64_t first = 0;
  for (; first + WIDE <= vectors; first += WIDE) strip(Whole<WIDE>(), first * W);
  whole_of<WIDE - 1>(vectors - first, [&](auto together) { strip(together, first * W); });
}

// finish(row, column, sum + bias, count) for every vector of the product of n rows.
template <class Factors, class F>
INLINE void multiply_all(const Product& p, const Factors& factors, int64_t n, F finish) {
  int64_t columns = (p.out + PANEL - 1) / PANEL * PANEL;
  each_tile(n, columns, factors, [&](int64_t row, int64_t at, Vec sum) {
    int64_t left = p.out - at;
    if (left > 0) finish(row, at, sum + load(p.bias + at), int(left < W ? left : W));
  });
}

// The largest whole number that a row may hold: no sum over `in` products leaves 32 bits.
INLINE float most_whole(int64_t in) {
  int64_t most = INT32_MAX / (127 * in);
  return float(most < INT16_MAX ? most : INT16_MAX);
}

// Rows as whole numbers of 16 bits; an odd width is filled up by a zero. Where a number is not finite,
// the unit is NaN, and so is all that is made of the row.
INLINE void round_rows(const float* x, int64_t n, int64_t width, int16_t* wholes, float* units) {
  typedef int16_t Half __attribute__((vector_size(2 * W)));
  const Vec shift = all(12582912.0f);  // 1.5 * 2^23: adding it rounds to a whole number
  int64_t filled = (width + 1) / 2 * 2;
  for (; n > 0; --n, x += width, wholes += filled, ++units) {
    Vec high = {}, spoilt = {};
    each_vector(width, [&](int64_t d, int count) {
      Vec value = read(x + d, count);
      high = larger(larger(value, -value), high);
      spoilt += value * Vec{};
    });
    float largest = most(high), limit = most_whole(width);
    *units = largest / limit + sum(spoilt);
    Vec factor = all(largest > 1e-30f ? limit / largest : 0.0f);
    each_vector(width, [&](int64_t d, int count) {
      Ints whole = (Ints)(read(x + d, count) * factor + shift) - (Ints)shift;
      Half narrow = __builtin_convertvector(whole, Half);
      memcpy(wholes + d, &narrow, size_t(count) * sizeof *wholes);
    });
    if (filled > width) wholes[width] = 0;
  }
}

// Room for rows of whole numbers.
struct Rounded {
  int16_t* wholes;
  float* units;
};

// finish(row, column, W x + b, count) for every vector of the product of n rows.
template <class F>
INLINE void multiply(const Product& p, const float* x, int64_t n, Rounded room, F finish) {
  if (!p.bytes) return multiply_all(p, Floats{p, x, p.in}, n, finish);
  round_rows(x, n, p.in, room.wholes, room.units);
  multiply_all(p, Wholes{p, room.wholes, room.units, (p.in + 1) / 2}, n, finish);
}

// y = W x + b
inline void product(const Product& p, const float* x, int64_t n, Rounded room, float* y) {
  multiply(p, x, n, room, [&](int64_t row, int64_t column, Vec sum, int count) {
    write(y + row * p.out + column, sum, count);
  });
}

// y += W x + b
inline void add_product(const Product& p, const float* x, int64_t n, Rounded room, float* y) {
  multiply(p, x, n, room, [&](int64_t row, int64_t column, Vec sum, int count) {
    float* to = y + row * p.out + column;
    write(to, read(to, count) + sum, count);
  });
}

}  // namespace
