// The two matrix products, in tiles that fill the registers.
//
//     Tile<M, N>::run     scores of M queries and N * W keys, made weights before they are stored
//     Strip<M, N>::run    scores of M queries and of one such tile of keys after the other
//     Mix<M, N>::run      out of M queries, N * W wide, from their weights and the values
#pragma once
#include "vector.h"

namespace {

#if defined(__AVX512F__)
constexpr int QUERIES = 12, KEYS = 2 * W, MIXED = 6, WIDE = 4, NARROW = 2;
#elif defined(__AVX2__)
constexpr int QUERIES = 6, KEYS = 2 * W, MIXED = 6, WIDE = 2, NARROW = 1;
#elif defined(__aarch64__)
constexpr int QUERIES = 6, KEYS = 4 * W, MIXED = 6, WIDE = 4, NARROW = 2;
#else
constexpr int QUERIES = 6, KEYS = 2 * W, MIXED = 6, WIDE = 2, NARROW = 1;
#endif
// QUERIES x KEYS is the largest tile of scores; MIXED x (WIDE * W) and, of narrow values,
// 2 MIXED x (NARROW * W) are the largest of the output.
constexpr int TALL = W > 8 ? QUERIES : 2 * QUERIES;
// Queries of a tile of scores that is one vector wide: fewer sums would wait for each other.
constexpr bool LATER = W <= 8;
// Scores are stored and raised in a pass of their own. A tile of so few registers would wait for its
// exponentials, each a chain of ten operations; one of twice as many hides them.
constexpr int ALONE = 8;  // vectors of the output of a single query: its values are read once, whole

constexpr int QUERY_STRIDE = 256 + W;
// Between rows of copied queries: known to the compiler, and no power of two, which would put all
// rows into the same few lines of the cache.

// What becomes of a tile of scores.
struct Finish {
  enum Kind { RAW, WEIGH, EDGE } kind;  // store scores; weights; weights of keys in [first, last)
  float factor;                         // scale * log2(e)
  Vec* total;                           // of each row: sum of weights
  Vec* spread;                          // sum of weight * product; null if not wanted
  const int* first;
  const int* last;
};

// s[m][n] = products of M queries, rows QUERY_STRIDE apart, and N * W keys of a panel (width, KEYS),
// behind which `k` then points.
template <int M, int N>
INLINE void multiply(const float* q, const float*& k, int width, Vec (&s)[M][N]) {
#pragma GCC unroll 2
  for (int d = 0; d < width; ++d, k += KEYS) {
    Vec key[N];
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) key[n] = load(k + n * W);
#pragma GCC unroll 16
    for (int m = 0; m < M; ++m) {
      Vec x = all(q[m * QUERY_STRIDE + d]);
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) s[m][n] += x * key[n];
    }
  }
}

template <int M, int N>
struct Tile {
  // weights: M rows `stride` apart.
  static void run(const float* q, const float* k, int width, float* weights, int64_t stride,
                  int column, const Finish& given) {
    const Finish finish = given;  // a copy: no number that is stored can be a pointer of it
    Vec s[M][N] = {};
    multiply(q, k, width, s);
    if (finish.kind == Finish::RAW) {
      for_each_row(s, [&](int m, Vec(&row)[N]) { put(weights + m * stride, row); });
    } else if (finish.kind == Finish::WEIGH) {
      for_each_row(s, [&](int m, Vec(&row)[N]) {
        weigh(m, row, finish, weights + m * stride, [](int, Vec w) { return w; });
      });
    } else {
      for_each_row(s, [&](int m, Vec(&row)[N]) {
        Ints after = all(int32_t(finish.last[m] - column)) - lanes();
        Ints before = all(int32_t(finish.first[m] - column)) - lanes();
        weigh(m, row, finish, weights + m * stride, [&](int n, Vec w) {
          Ints seen = (after > n * W) & (before <= n * W);
          return seen ? w : Vec{};
        });
      });
    }
  }

 private:
  template <class F>
  static INLINE void for_each_row(Vec (&s)[M][N], F f) {
#pragma GCC unroll 16
    for (int m = 0; m < M; ++m) f(m, s[m]);
  }

  static INLINE void put(float* to, Vec (&row)[N]) {
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) store(to + n * W, row[n]);
  }

  template <class Mask>
  static INLINE void weigh(int m, Vec (&s)[N], const Finish& finish, float* to, Mask mask) {
    Vec w[N], factor = all(finish.factor);
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) w[n] = mask(n, exp2_of_product(s[n], factor));
    Vec total = w[0];
#pragma GCC unroll 4
    for (int n = 1; n < N; ++n) total += w[n];
    finish.total[m] += total;
    if (finish.spread) {
      Vec spread = w[0] * s[0];
#pragma GCC unroll 4
      for (int n = 1; n < N; ++n) spread += w[n] * s[n];
      finish.spread[m] += spread;
    }
    put(to, w);
  }
};

template <int M, int N>
struct Strip {
  // `count` panels of keys; scores: M rows `stride` apart.
  static void run(const float* q, const float* k, int width, float* scores, int64_t stride,
                  int count) {
    for (; count > 0; --count, scores += N * W) {
      Vec s[M][N] = {};
      multiply(q, k, width, s);
#pragma GCC unroll 16
      for (int m = 0; m < M; ++m)
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) store(scores + m * stride + n * W, s[m][n]);
    }
  }
};

template <int M, int N>
struct Mix {
  // out[m] (+)= sum_j weights[m][j] * values[j], over n keys.
  static void run(const float* weights, int64_t stride, const float* values, int64_t value_stride,
                  int n, float* out, int64_t out_stride, bool first) {
    Vec sum[M][N] = {};
#pragma GCC unroll 2
    for (int j = 0; j < n; ++j, values += value_stride) {
      Vec value[N];
#pragma GCC unroll 8
      for (int c = 0; c < N; ++c) value[c] = load(values + c * W);
#pragma GCC unroll 16
      for (int m = 0; m < M; ++m) {
        Vec x = all(weights[m * stride + j]);
#pragma GCC unroll 8
        for (int c = 0; c < N; ++c) sum[m][c] += x * value[c];
      }
    }
#pragma GCC unroll 16
    for (int m = 0; m < M; ++m)
#pragma GCC unroll 8
      for (int c = 0; c < N; ++c) {
        float* to = out + m * out_stride + c * W;
        store(to, first ? sum[m][c] : load(to) + sum[m][c]);
      }
  }
};

// A table of T<1..M, 1..N>::run, since the sizes of the last tiles are only known at run time.
template <template <int, int> class T, int M, int N>
struct Table {
  using Run = decltype(&T<1, 1>::run);
  Run run[M][N];

  constexpr Table() : run() { fill<M, N>(); }

 private:
  template <int m, int n>
  constexpr void fill() {
    run[m - 1][n - 1] = &T<m, n>::run;
    if constexpr (n > 1)
      fill<m, n - 1>();
    else if constexpr (m > 1)
      fill<m - 1, N>();
  }
};

constexpr Table<Tile, QUERIES, KEYS / W> TILE;
constexpr Table<Tile, TALL, 1> TILE_TALL;
constexpr Table<Strip, QUERIES, KEYS / W> STRIP;
constexpr Table<Strip, TALL, 1> STRIP_TALL;
constexpr Table<Mix, MIXED, WIDE> MIX;
constexpr Table<Mix, 2 * MIXED, NARROW> MIX_NARROW;
constexpr Table<Mix, 1, ALONE> MIX_ALONE;

}  // namespace
