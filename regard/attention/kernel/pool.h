// Statistics over several rows: the attention each key receives, and pooled maps.
#pragma once
#include "read.h"

namespace {

// Rows of weights that are not yet divided by their sums, over columns [from, from + columns).
// `columns` is a multiple of W; what no row may see holds zeros.
struct WeightRows {
  const float* weights;
  int64_t stride;
  int from, columns;
  const float* inverse;  // 1 / sum of each row
};

// sums[j] = sum over rows of a[row][j]; each(row, column, a) sees every vector of weights.
template <int N, class F>
INLINE void down_columns(const WeightRows& rows, int row, int n, int j, float* sums, F each) {
  Vec total[N] = {};
  for (int m = row; m < row + n; ++m) {
    Vec inverse = all(rows.inverse[m]);
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i) {
      Vec a = load(rows.weights + m * rows.stride + j + i * W) * inverse;
      total[i] += a;
      each(m, i, a);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < N; ++i) store(sums + j + i * W, total[i]);
}

// The same, and greatest[j] = their maximum, unless that is null.
template <int N>
INLINE void down_some(const WeightRows& rows, int row, int n, int j, float* sums, float* greatest) {
  if (!greatest) return down_columns<N>(rows, row, n, j, sums, [](int, int, Vec) {});
  Vec high[N] = {};
  down_columns<N>(rows, row, n, j, sums, [&](int, int i, Vec a) { high[i] = larger(high[i], a); });
#pragma GCC unroll 4
  for (int i = 0; i < N; ++i) store(greatest + j + i * W, high[i]);
}

inline void down(const WeightRows& rows, int row, int n, float* sums, float* greatest) {
  int j = 0;
  for (; j + 4 * W <= rows.columns; j += 4 * W) down_some<4>(rows, row, n, j, sums, greatest);
  for (; j < rows.columns; j += W) down_some<1>(rows, row, n, j, sums, greatest);
}

// Neighbours become one: x[i] = x[2i] op x[2i + 1]. `n` is a multiple of 2W.
template <class Op>
INLINE void halve(float* x, int n, Op op) {
  for (int i = 0; i < n; i += 2 * W) {
    Vec a = load(x + i), b = load(x + i + W);
    store(x + i / 2, op(evens(a, b), odds(a, b)));
  }
}

// The same of four vectors in registers, HALVINGS times; of less than a vector the first lanes count.
template <int HALVINGS, class Op>
INLINE void halve(Vec (&x)[4], Op op) {
#pragma GCC unroll 8
  for (int step = 1; step <= HALVINGS; ++step) {
    int pairs = 4 >> step;
#pragma GCC unroll 2
    for (int i = 0; i < pairs; ++i) x[i] = op(evens(x[2 * i], x[2 * i + 1]), odds(x[2 * i], x[2 * i + 1]));
    if (!pairs) x[0] = op(evens(x[0], x[0]), odds(x[0], x[0]));
  }
}

inline void add_row(float* to, const float* x, int n) {
  int j = 0;
  for (; j + W <= n; j += W) store(to + j, load(to + j) + load(x + j));
  for (; j < n; ++j) to[j] += x[j];
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

  // Zeros in the row of cells that this query is in.
  void clear(int64_t query) const {
    int64_t at = query / cell_rows * across;
    memset(greatest + at, 0, across * sizeof *greatest);
    memset(mean + at, 0, across * sizeof *mean);
  }

  // How many of these columns `fill` can take.
  int fillable(const WeightRows& rows) const {
    bool halves = cell_columns == 2 || cell_columns == 4 || cell_columns == 8 || cell_columns == 16;
    bool whole = halves && rows.from % cell_columns == 0;
    return whole ? int(smaller_of(rows.columns, keys - rows.from)) / AT_ONCE * AT_ONCE : 0;
  }

  // `count` rows of cells from the one that begins with `query` on, of all their rows of weights, from
  // `row` on, and the first `columns`; what each of these columns has in all is added to `received`,
  // unless that is null.
  void fill(int64_t query, const WeightRows& rows, int row, int count, int columns,
            float* received) const {
    if (columns < across * cell_columns)
      for (int64_t i = 0; i < count; ++i) clear(query + i * cell_rows);
    for (int j = 0; j < columns; j += AT_ONCE) {
      float* to = received ? received + rows.from + j : nullptr;
      switch (cell_columns) {
        case 2: fill<1>(query, rows, row, count, j, to); break;
        case 4: fill<2>(query, rows, row, count, j, to); break;
        case 8: fill<3>(query, rows, row, count, j, to); break;
        case 16: fill<4>(query, rows, row, count, j, to); break;
      }
    }
  }

  // `sums` and `high` hold columns [from, from + columns) of rows in the same cells as `query`; W
  // zeros may follow; overwritten.
  void add(int64_t query, int from, int columns, float* sums, float* high) const {
    int64_t row = query / cell_rows;
    int64_t tall = smaller_of(cell_rows, queries - row * cell_rows);
    int each = int(cell_columns), offset = from, n = columns;
    while (each % 2 == 0 && offset % 2 == 0) {
      int padded = rounded_up(n, 2 * W);
      for (int i = n; i < padded; ++i) sums[i] = high[i] = 0;
      halve(sums, padded, [](Vec a, Vec b) { return a + b; });
      halve(high, padded, [](Vec a, Vec b) { return larger(a, b); });
      each /= 2, offset /= 2, n = (n + 1) / 2;
    }
    int cell = offset / each;
    float* peaks = greatest + row * across;
    float* means = mean + row * across;
    if (each > 1) n = join(sums, high, n, each, offset - cell * each);
    float part = 1.0f / float(tall * cell_columns);
    int64_t ragged = keys % cell_columns;
    if (ragged && cell + n == across) sums[n - 1] *= float(cell_columns) / float(ragged);
    put(peaks + cell, means + cell, sums, high, n, part);
  }

  // Rows of weights where each is a cell of its own; their sums as `down` makes them.
  void copy(int64_t query, const WeightRows& rows, int row, int n, float* sums) const {
    float* to = greatest + query * across + rows.from;
    int columns = int(smaller_of(rows.columns, keys - rows.from)), j = 0;
    auto put = [&](int m, int i, Vec a) { store(to + (m - row) * across + j + i * W, a); };
    for (; j + 4 * W <= columns; j += 4 * W) down_columns<4>(rows, row, n, j, sums, put);
    for (; j + W <= columns; j += W) down_columns<1>(rows, row, n, j, sums, put);
    if (j < columns)
      down_columns<1>(rows, row, n, j, sums, [&](int m, int, Vec a) {
        memcpy(to + (m - row) * across + j, &a, size_t(columns - j) * sizeof(float));
      });
    for (int m = 0; m < n; ++m, to += across) {
      for (int64_t i = -rows.from; i < 0; ++i) to[i] = 0;
      for (int64_t i = columns; i < keys - rows.from; ++i) to[i] = 0;
    }
  }

 private:
  static constexpr int AT_ONCE = 4 * W;  // columns

  template <int HALVINGS>
  void fill(int64_t query, const WeightRows& rows, int row, int count, int j, float* received) const {
    constexpr int CELLS = AT_ONCE >> HALVINGS, STEP = CELLS < W ? CELLS : W;
    const float* from = rows.weights + row * rows.stride + j;
    const float* inverse = rows.inverse + row;
    int64_t at = query / cell_rows * across + ((rows.from + j) >> HALVINGS);
    Vec got[4] = {}, part = all(1.0f / float(cell_rows * cell_columns));
    for (int g = 0; g < count; ++g, at += across) {
      Vec total[4] = {}, high[4] = {};
      for (int m = 0; m < cell_rows; ++m, from += rows.stride, ++inverse)
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
          Vec a = load(from + i * W) * all(*inverse);
          total[i] += a;
          high[i] = larger(high[i], a);
        }
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) got[i] += total[i];
      halve<HALVINGS>(total, [](Vec a, Vec b) { return a + b; });
      halve<HALVINGS>(high, [](Vec a, Vec b) { return larger(a, b); });
#pragma GCC unroll 4
      for (int i = 0; i < CELLS / STEP; ++i) {
        Vec m = total[i] * part, peak = m == m ? high[i] : m;  // a NaN is not hidden by the maximum
        memcpy(mean + at + i * W, &m, STEP * sizeof *mean);
        memcpy(greatest + at + i * W, &peak, STEP * sizeof *greatest);
      }
    }
    if (!received) return;
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) store(received + i * W, load(received + i * W) + got[i]);
  }

  // Runs of `each` columns become one, the first of them begun `lead` columns ago; how many. Where they
  // are short, every column gets the run that begins with it, and every `each`-th is kept.
  static int join(float* sums, float* high, int n, int each, int lead) {
    for (int i = n; i < n + W; ++i) sums[i] = high[i] = 0;
    int cells = 0, i = 0;
    auto run = [&](int end) {
      float total = 0, peak = 0;
      for (; i < end; ++i) {
        total += sums[i];
        peak = peak > high[i] ? peak : high[i];
      }
      sums[cells] = total;
      high[cells++] = peak;
    };
    if (lead) run(int(smaller_of(n, each - lead)));
    if (each <= W) {
      for (int j = i; j < n; j += W) {
        Vec total = load(sums + j), peak = load(high + j);
        for (int k = 1; k < each; ++k) {
          total += load(sums + j + k);
          peak = larger(peak, load(high + j + k));
        }
        store(sums + j, total);
        store(high + j, peak);
      }
      for (; i < n; i += each, ++cells) sums[cells] = sums[i], high[cells] = high[i];
    }
    while (i < n) run(int(smaller_of(n, i + each)));
    return cells;
  }

  // A NaN in the sum is not hidden by the maximum.
  static void put(float* peaks, float* means, const float* sums, const float* high, int n,
                  float part) {
    int i = 0;
    for (; i + W <= n; i += W) {
      Vec m = load(means + i) + load(sums + i) * all(part);
      Vec peak = larger(load(peaks + i), load(high + i));
      store(means + i, m);
      store(peaks + i, m == m ? peak : m);
    }
    for (; i < n; ++i) {
      means[i] += sums[i] * part;
      peaks[i] = peaks[i] > high[i] ? peaks[i] : high[i];
      if (means[i] != means[i]) peaks[i] = means[i];
    }
  }

  static int64_t smaller_of(int64_t a, int64_t b) { return a < b ? a : b; }
};

}  // namespace
