// Statistics over several rows: the attention each key receives, and pooled maps.
#pragma once
#include "read.h"

namespace {

// Rows of weights that are not yet divided by their sums, over columns [from, from + columns).
// `columns` is a multiple of W; what no row may see holds zeros.
struct Rows {
  const float* weights;
  int64_t stride;
  int from, columns;
  const float* inverse;  // 1 / sum of each row
};

// sums[j] = sum over rows of a[row][j], greatest[j] = their maximum.
template <int N>
INLINE void down_columns(const Rows& rows, int row, int n, int j, float* sums, float* greatest) {
  Vec total[N] = {}, high[N] = {};
  for (int m = row; m < row + n; ++m) {
    Vec inverse = all(rows.inverse[m]);
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i) {
      Vec a = load(rows.weights + m * rows.stride + j + i * W) * inverse;
      total[i] += a;
      high[i] = larger(high[i], a);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < N; ++i) {
    store(sums + j + i * W, total[i]);
    store(greatest + j + i * W, high[i]);
  }
}

inline void down(const Rows& rows, int row, int n, float* sums, float* greatest) {
  int j = 0;
  for (; j + 4 * W <= rows.columns; j += 4 * W) down_columns<4>(rows, row, n, j, sums, greatest);
  for (; j < rows.columns; j += W) down_columns<1>(rows, row, n, j, sums, greatest);
}

// Neighbours become one: x[i] = x[2i] op x[2i + 1]. `n` is a multiple of 2W.
template <class Op>
INLINE void halve(float* x, int n, Op op) {
  for (int i = 0; i < n; i += 2 * W) {
    Vec a = load(x + i), b = load(x + i + W);
    store(x + i / 2, op(evens(a, b), odds(a, b)));
  }
}

// The two maps of one head, and how to add a strip of rows to them.
struct Pooled {
  float *greatest, *mean;  // (row cells, column cells)
  int64_t cell_rows, cell_columns, queries, keys, across;

  Pooled(const Call& c, int64_t b, int64_t h)
      : cell_rows(c.cell_rows), cell_columns(c.cell_columns), queries(c.queries), keys(c.keys) {
    across = (keys + cell_columns - 1) / cell_columns;
    int64_t at = (b * c.heads + h) * ((queries + cell_rows - 1) / cell_rows) * across;
    greatest = c.pooled_max + at;
    mean = c.pooled_mean + at;
  }

  // `sums` and `high` hold columns [from, from + columns), W zeros may follow; overwritten.
  void add(int64_t query, int from, int columns, float* sums, float* high) const {
    int64_t row = query / cell_rows;
    float* to_max = greatest + row * across;
    float* to_mean = mean + row * across;
    int64_t tall = smaller_of(cell_rows, queries - row * cell_rows);
    int64_t each = cell_columns, offset = from, n = columns;
    while (each % 2 == 0 && offset % 2 == 0) {
      for (int64_t i = n; i < (n + 2 * W - 1) / (2 * W) * (2 * W); ++i) sums[i] = high[i] = 0;
      int padded = int((n + 2 * W - 1) / (2 * W) * (2 * W));
      halve(sums, padded, [](Vec a, Vec b) { return a + b; });
      halve(high, padded, [](Vec a, Vec b) { return larger(a, b); });
      each /= 2, offset /= 2, n = (n + 1) / 2;
    }
    float part = 1.0f / float(tall * cell_columns);
    for (int64_t i = 0; i < n;) {
      int64_t cell = (offset + i) / each;
      if (cell >= across) break;
      int64_t end = smaller_of(n, (cell + 1) * each - offset);
      float total = 0, most_of = 0;
      for (; i < end; ++i) {
        total += sums[i];
        most_of = most_of > high[i] ? most_of : high[i];
      }
      int64_t wide = smaller_of(cell_columns, keys - cell * cell_columns);
      to_mean[cell] += total * (wide == cell_columns ? part : 1.0f / float(tall * wide));
      to_max[cell] = to_max[cell] > most_of ? to_max[cell] : most_of;
      if (to_mean[cell] != to_mean[cell]) to_max[cell] = to_mean[cell];  // NaN is not hidden
    }
  }

 private:
  static int64_t smaller_of(int64_t a, int64_t b) { return a < b ? a : b; }
};

inline void add_row(float* to, const float* x, int n) {
  int j = 0;
  for (; j + W <= n; j += W) store(to + j, load(to + j) + load(x + j));
  for (; j < n; ++j) to[j] += x[j];
}

}  // namespace
