// Attention's gradient: weights are made once more from the log-sum-exp, a block of queries at a
// time, and meet the gradient of the output while both are in the cache.
#include <math.h>

#include "arena.h"
#include "gradient.h"
#include "reach.h"
#include "read.h"
#include "tile.h"

#ifndef REGARD_VARIANT
#error "say which variant this is: -DREGARD_VARIANT=avx2"
#endif

namespace {

using regard::CallBack;
using regard::Gradient;
using regard::Plan;

constexpr int ROWS = 48;  // queries in a block, at most
constexpr float LOG2E = 1.4426950408889634f;

INLINE int least_of(int a, int b) { return a < b ? a : b; }
INLINE int most_of(int a, int b) { return a > b ? a : b; }

template <int M, int N>
struct MixDown {
  // out[m] += sum_i weights[i][m] * rows[i], over n rows: Mix with weights that stand in columns.
  static void run(const float* weights, int64_t stride, const float* rows, int64_t row_stride, int n,
                  float* out, int64_t out_stride) {
    Vec sum[M][N] = {};
#pragma GCC unroll 2
    for (int i = 0; i < n; ++i, rows += row_stride, weights += stride) {
      Vec row[N];
#pragma GCC unroll 4
      for (int c = 0; c < N; ++c) row[c] = load(rows + c * W);
#pragma GCC unroll 16
      for (int m = 0; m < M; ++m) {
        Vec x = all(weights[m]);
#pragma GCC unroll 4
        for (int c = 0; c < N; ++c) sum[m][c] += x * row[c];
      }
    }
#pragma GCC unroll 16
    for (int m = 0; m < M; ++m)
#pragma GCC unroll 4
      for (int c = 0; c < N; ++c) {
        float* to = out + m * out_stride + c * W;
        store(to, load(to) + sum[m][c]);
      }
  }
};

constexpr Table<MixDown, MIXED, WIDE> MIX_DOWN;

struct Backward {
  const Call& c;
  const Gradient& g;
  Plan& plan;
  int width, wide;  // of queries and keys, of values, up to a whole vector
  int columns;      // keys, up to a whole vector
  int64_t stride;   // between rows of weights

  // of a task
  int64_t b, key_head;
  float *keys, *values, *key_panels, *value_panels, *d_keys, *d_values;
  // of a block
  int64_t head;
  float *query, *d_out, *weights, *d_scores, *d_query;
  int *first, *last;
  bool* masked;  // whether a key in reach may be forbidden

  Backward(const CallBack& back, Plan& p) : c(back.call), g(back.gradient), plan(p) {
    width = rounded_up(int(c.width), W);
    wide = rounded_up(int(c.value_width), W);
    columns = rounded_up(int(c.keys), W);
    stride = columns + W;
  }

  void lay_out(Arena& arena) {
    keys = arena.take<float>(int64_t(columns) * width);
    values = arena.take<float>(int64_t(columns) * wide);
    int64_t packed = rounded_up(columns, KEYS);
    key_panels = arena.take<float>(packed * width);
    value_panels = arena.take<float>(packed * wide);
    d_keys = arena.take<float>(int64_t(columns) * width);
    d_values = arena.take<float>(int64_t(columns) * wide);
    query = arena.take<float>(int64_t(ROWS) * QUERY_STRIDE);
    d_out = arena.take<float>(int64_t(ROWS) * QUERY_STRIDE);
    weights = arena.take<float>(ROWS * stride);
    d_scores = arena.take<float>(ROWS * stride);
    d_query = arena.take<float>(int64_t(ROWS) * width);
    first = arena.take<int>(ROWS);
    last = arena.take<int>(ROWS);
    masked = arena.take<bool>(ROWS);
  }

  void run() {
    for (;;) {
      int64_t task = __atomic_fetch_add(&plan.next, plan.at_once, __ATOMIC_RELAXED);
      if (task >= plan.tasks) return;
      int64_t end = task + plan.at_once < plan.tasks ? task + plan.at_once : plan.tasks;
      for (; task < end; ++task) {
        b = task / c.key_heads;
        key_head = task % c.key_heads;
        do_task();
      }
    }
  }

  void do_task() {
    read(keys, c.key, width, c.width);
    read(values, c.value, wide, c.value_width);
    pack(keys, width, key_panels);
    pack(values, wide, value_panels);
    memset(d_keys, 0, size_t(columns) * width * sizeof(float));
    memset(d_values, 0, size_t(columns) * wide * sizeof(float));
    int64_t groups = c.heads / c.key_heads;
    int64_t blocks = (c.queries + ROWS - 1) / ROWS;
    for (head = key_head * groups; head < (key_head + 1) * groups; ++head)
      for (int64_t i = 0; i < blocks; ++i) {
        int64_t from = c.queries * i / blocks;
        do_block(from, int(c.queries * (i + 1) / blocks - from));
      }
    for (int j = 0; j < c.keys; ++j) {
      write(g.d_key, key_head, j, d_keys + int64_t(j) * width, int(c.width));
      write(g.d_value, key_head, j, d_values + int64_t(j) * wide, int(c.value_width));
    }
  }

  // The rows of one head of this batch item, zeros behind the last key.
  void read(float* to, const Array& from, int padded, int64_t n) const {
    for (int j = 0; j < columns; ++j)
      read_row(to + int64_t(j) * padded, place(from, c.dtype, b, key_head, j < c.keys ? j : 0),
               c.dtype, from.column, j < c.keys ? int(n) : 0, padded);
  }

  void pack(const float* rows, int padded, float* panels) const {
    for (int j = 0; j < columns; j += W)
      for (int d = 0; d < padded; d += W) {
        Vec x[W];
#pragma GCC unroll 16
        for (int i = 0; i < W; ++i) x[i] = load(rows + int64_t(j + i) * padded + d);
        transpose(x);
        float* to = panels + int64_t(j / KEYS * KEYS) * padded + j % KEYS + d * KEYS;
#pragma GCC unroll 16
        for (int i = 0; i < W; ++i) store(to + i * KEYS, x[i]);
      }
  }

  void write(const Array& to, int64_t h, int64_t i, const float* row, int n) const {
    memcpy(const_cast<char*>(place(to, regard::FLOAT32, b, h, i)), row, size_t(n) * sizeof(float));
  }

  // ---- one block of queries of one head

  void do_block(int64_t from, int rows) {
    for (int r = 0; r < rows; ++r) {
      read_row(query + r * QUERY_STRIDE, place(c.query, c.dtype, b, head, from + r), c.dtype,
               c.query.column, int(c.width), width);
      read_row(d_out + r * QUERY_STRIDE, place(g.d_out, regard::FLOAT32, b, head, from + r),
               regard::FLOAT32, g.d_out.column, int(c.value_width), wide);
      find_reach(r, from + r);
    }
    int groups = (rows + QUERIES - 1) / QUERIES;
    for (int p = 0; p < groups; ++p) {
      int row = rows * p / groups, n = rows * (p + 1) / groups - row;
      score(row, n);
      for (int r = row; r < row + n; ++r) weigh(r, from + r);
    }
    mix_queries(rows);
    for (int r = 0; r < rows; ++r) write(g.d_query, head, from + r, d_query + r * width, int(c.width));
    mix_keys(rows);
  }

  // A mask of the keys alone is mostly padding: what lies outside of it is out of reach.
  void find_reach(int r, int64_t i) {
    bool of_keys = c.mask.data && c.mask.row == 0;
    if (r && of_keys && c.before == regard::UNBOUNDED && c.after == regard::UNBOUNDED) {
      first[r] = first[r - 1], last[r] = last[r - 1], masked[r] = masked[r - 1];
      return;
    }
    first[r] = first_key(c, i);
    last[r] = most_of(first[r], last_key(c, i));
    if (c.lse[(b * c.heads + head) * c.queries + i] == -INFINITY) last[r] = first[r];
    masked[r] = c.mask.data;
    if (!of_keys) return;
    const uint8_t* allowed = mask_of(i);
    while (first[r] < last[r] && !allowed[first[r] * c.mask.column]) ++first[r];
    while (first[r] < last[r] && !allowed[(last[r] - 1) * c.mask.column]) --last[r];
    int j = first[r];
    while (j < last[r] && allowed[j * c.mask.column]) ++j;
    masked[r] = j < last[r];
  }

  const uint8_t* mask_of(int64_t i) const {
    const Array& m = c.mask;
    return static_cast<const uint8_t*>(m.data) + b * m.batch + head * m.head + i * m.row;
  }

  // q . k and d_out . v of n rows, where any of them may look.
  void score(int row, int n) {
    int from = columns, to = 0;
    for (int r = row; r < row + n; ++r)
      if (first[r] < last[r]) from = least_of(from, first[r]), to = most_of(to, last[r]);
    Finish finish = {};
    finish.kind = Finish::RAW;
    for (int key = from / KEYS * KEYS; key < to; key += KEYS) {
      int count = (least_of(key + KEYS, to) - key + W - 1) / W;
      auto tile = TILE.run[n - 1][count - 1];
      tile(query + row * QUERY_STRIDE, key_panels + int64_t(key) * width, int(c.width),
           weights + row * stride + key, stride, key, finish);
      tile(d_out + row * QUERY_STRIDE, value_panels + int64_t(key) * wide, int(c.value_width),
           d_scores + row * stride + key, stride, key, finish);
    }
  }

  // Scores become weights, the gradient of weights that of scores; zeros out of reach.
  void weigh(int r, int64_t i) {
    float *w = weights + r * stride, *d = d_scores + r * stride;
    int from = first[r] / W * W, to = rounded_up(last[r], W);
    if (first[r] >= last[r]) from = to = 0;
    Vec lse = all(c.lse[(b * c.heads + head) * c.queries + i]), scale = all(float(c.scale));
    Vec total = {};
    for (int j = from; j < to; j += W) {
      Ints key = lanes() + j;
      Ints seen = (key >= first[r]) & (key < last[r]);
      if (masked[r]) seen &= allowed(i, j);
      Vec a = exp2_of_any(load(w + j) * scale - lse, all(LOG2E));
      a = seen ? a : Vec{};
      Vec d_a = seen ? load(d + j) : Vec{};
      store(w + j, a);
      store(d + j, d_a);
      total += a * d_a;
    }
    Vec middle = all(sum(total));
    for (int j = from; j < to; j += W)
      store(d + j, load(w + j) * (load(d + j) - middle) * scale);
    clear(w, d, 0, from);
    clear(w, d, to, columns);
  }

  static void clear(float* w, float* d, int from, int to) {
    for (int j = from; j < to; j += W) store(w + j, Vec{}), store(d + j, Vec{});
  }

  Ints allowed(int64_t i, int j) const {
    const uint8_t* p = mask_of(i) + j * c.mask.column;
    int32_t seen[W] = {};
    for (int n = least_of(W, int(c.keys) - j), l = 0; l < n; ++l) seen[l] = p[l * c.mask.column];
    Ints bits;
    memcpy(&bits, seen, sizeof bits);
    return bits != 0;
  }

  // d_query = d_scores keys
  void mix_queries(int rows) {
    int groups = (rows + MIXED - 1) / MIXED;
    for (int p = 0; p < groups; ++p) {
      int row = rows * p / groups, n = rows * (p + 1) / groups - row;
      int from = columns, to = 0;
      for (int r = row; r < row + n; ++r)
        if (first[r] < last[r]) from = least_of(from, first[r]), to = most_of(to, last[r]);
      for (int d = 0; d < width; d += WIDE * W)
        MIX.run[n - 1][least_of(WIDE, (width - d) / W) - 1](
            d_scores + row * stride + from, stride, keys + int64_t(from) * width + d, width,
            most_of(0, to - from), d_query + row * width + d, width, true);
    }
  }

  // d_key += d_scores^T query, d_value += weights^T d_out
  void mix_keys(int rows) {
    int groups = (int(c.keys) + MIXED - 1) / MIXED;
    for (int p = 0; p < groups; ++p) {
      int key = int(c.keys * p / groups), n = int(c.keys * (p + 1) / groups) - key;
      int from = 0, to = rows;
      while (from < to && !sees(from, key, n)) ++from;
      while (from < to && !sees(to - 1, key, n)) --to;
      if (from == to) continue;
      down(d_scores + from * stride + key, query + from * QUERY_STRIDE, to - from, n,
           d_keys + int64_t(key) * width, width);
      down(weights + from * stride + key, d_out + from * QUERY_STRIDE, to - from, n,
           d_values + int64_t(key) * wide, wide);
    }
  }

  bool sees(int r, int key, int n) const { return first[r] < key + n && last[r] > key; }

  void down(const float* w, const float* rows, int count, int n, float* out, int wide_out) const {
    for (int d = 0; d < wide_out; d += WIDE * W)
      MIX_DOWN.run[n - 1][least_of(WIDE, (wide_out - d) / W) - 1](
          w, stride, rows + d, QUERY_STRIDE, count, out + d, wide_out);
  }
};

}  // namespace

extern "C" void VARIANT_OF(attend_back)(const regard::CallBack& back, regard::Plan& plan) {
  Backward worker(back, plan);
  if (!work_in_arena(worker)) __atomic_store_n(&plan.failed, 1, __ATOMIC_RELAXED);
}
