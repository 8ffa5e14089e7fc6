// Attention's gradient: weights are made once more from the log-sum-exp, a block of queries at a
// time, and meet the gradient of the output while both are in the cache.
#include <math.h>

#include "ahead.h"
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

INLINE int least_of(int a, int b) { return a < b ? a : b; }
INLINE int most_of(int a, int b) { return a > b ? a : b; }

// out[m] (+)= sum_i weights[i][m] * rows[i], over n rows: Mix with weights that stand in columns.
template <int M, int N>
struct MixDown {
  static void run(const float* weights, int64_t stride, const float* rows, int n, float* out,
                  int64_t out_stride, bool first) {
    Vec sum[M][N] = {};
#pragma GCC unroll 2
    for (int i = 0; i < n; ++i, rows += QUERY_STRIDE, weights += stride) {
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
        store(to, first ? sum[m][c] : load(to) + sum[m][c]);
      }
  }
};

constexpr Table<MixDown, MIXED, WIDE> MIX_DOWN;

// The keys or the values of a task, and their gradient.
struct Side {
  const Array &from, &to;
  int width, padded;     // padded: up to a whole vector
  bool plain;            // rows can be read in place
  const float* rows;     // of this task, `step` apart
  int64_t step;
  float* sums;           // the gradient, `sums_step` apart: in place if it is made at once
  int64_t sums_step;
  float *copied, *panels, *gathered;  // scratch

  Side(const Array& from, const Array& to, int64_t dtype, int64_t width)
      : from(from), to(to), width(int(width)), padded(rounded_up(int(width), W)),
        plain(is_plain(from, dtype, width)) {}

  void lay_out(Arena& arena, int columns) {
    copied = arena.take<float>(plain ? 0 : int64_t(columns) * padded);
    panels = arena.take<float>(int64_t(rounded_up(columns, KEYS)) * padded);
    gathered = arena.take<float>(int64_t(columns) * padded);
  }

  // A head's rows, and the same in panels, zeros behind the last.
  void begin(const Call& c, int64_t b, int64_t head, bool at_once) {
    const char* first = place(from, c.dtype, b, head, 0);
    rows = plain ? reinterpret_cast<const float*>(first) : copied;
    step = plain ? from.row : padded;
    for (int j = 0; !plain && j < c.keys; ++j)
      read_row(copied + int64_t(j) * padded, place(from, c.dtype, b, head, j), c.dtype, from.column,
               width, padded);
    for (int j = 0; j < c.keys; j += W) pack(j, int(c.keys) - j);
    at_once &= width == padded;
    sums = at_once ? at(b, head, 0) : gathered;
    sums_step = at_once ? to.row : padded;
  }

  void end(const Call& c, int64_t b, int64_t head) const {
    for (int j = 0; sums == gathered && j < c.keys; ++j)
      memcpy(at(b, head, j), sums + j * sums_step, size_t(width) * sizeof(float));
  }

  float* panel(int key) const { return panels + int64_t(key) * padded; }

 private:
  float* at(int64_t b, int64_t head, int64_t j) const {
    return reinterpret_cast<float*>(const_cast<char*>(place(to, regard::FLOAT32, b, head, j)));
  }

  void pack(int j, int there) const {
    float* to = panel(j / KEYS * KEYS) + j % KEYS;
    for (int d = 0; d < padded; d += W) {
      Vec x[W];
      read_turned(rows + j * step, step, there, d, x);
#pragma GCC unroll 16
      for (int i = 0; i < W; ++i) store(to + (d + i) * KEYS, x[i]);
    }
  }
};

struct Backward {
  const Call& c;
  const Gradient& g;
  Plan& plan;
  int columns;      // keys, up to a whole vector
  int64_t stride;   // between rows of weights
  bool of_all;      // every query may see the same keys
  bool plain_queries, plain_out;
  Side keys, values;
  Ahead ahead;

  // of a task
  int64_t b, key_head;
  // of a block
  int64_t head;
  float *query, *d_out, *weights, *d_scores, *d_query;
  int *first, *last;
  bool* masked;  // whether a key in reach may be forbidden

  Backward(const CallBack& back, Plan& p)
      : c(back.call), g(back.gradient), plan(p), columns(rounded_up(int(c.keys), W)),
        stride(columns + W), keys(c.key, g.d_key, c.dtype, c.width),
        values(c.value, g.d_value, c.dtype, c.value_width) {
    of_all = c.before == regard::UNBOUNDED && c.after == regard::UNBOUNDED;
    plain_queries = is_plain(c.query, c.dtype, c.width);
    plain_out = is_plain(g.d_out, regard::FLOAT32, c.value_width);
  }

  void lay_out(Arena& arena) {
    keys.lay_out(arena, columns);
    values.lay_out(arena, columns);
    query = arena.take<float>(int64_t(ROWS) * QUERY_STRIDE);
    d_out = arena.take<float>(int64_t(ROWS) * QUERY_STRIDE);
    weights = arena.take<float>(ROWS * stride);
    d_scores = arena.take<float>(ROWS * stride);
    d_query = arena.take<float>(int64_t(ROWS) * keys.padded);
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
        look_ahead(task + 1 < end ? task + 1 : task);
        do_task();
      }
    }
  }

  // Short texts: while one head is computed, the next one comes into the cache.
  void look_ahead(int64_t task) {
    ahead.begin(0);
    if (c.queries != c.keys || c.keys > MOST_AHEAD || c.heads != c.key_heads) return;
    ahead.begin(c.keys);
    come(c.query, task, c.width), come(c.key, task, c.width), come(c.value, task, c.value_width);
    come(g.d_out, task, c.value_width), come(g.d_query, task, c.width);
    come(g.d_key, task, c.width), come(g.d_value, task, c.value_width);
  }

  void come(const Array& array, int64_t task, int64_t width) {
    const char* at = place(array, regard::FLOAT32, task / c.heads, task % c.heads, 0);
    ahead.add(at, array.row * 4, width * 4);
  }

  void do_task() {
    int64_t groups = c.heads / c.key_heads;
    int64_t blocks = (c.queries + ROWS - 1) / ROWS;
    bool at_once = groups * blocks == 1;
    keys.begin(c, b, key_head, at_once);
    values.begin(c, b, key_head, at_once);
    for (head = key_head * groups; head < (key_head + 1) * groups; ++head)
      for (int64_t i = 0; i < blocks; ++i) {
        int64_t from = c.queries * i / blocks;
        bool is_first = i == 0 && head == key_head * groups;
        do_block(from, int(c.queries * (i + 1) / blocks - from), is_first);
      }
    keys.end(c, b, key_head);
    values.end(c, b, key_head);
  }

  // ---- one block of queries of one head

  void do_block(int64_t from, int rows, bool is_first) {
    read_queries(from, rows);
    int groups = (rows + QUERIES - 1) / QUERIES, together = TALL / QUERIES;
    for (int p = 0; p < groups; p += together) {
      int row = rows * p / groups, middle = rows * (p + 1) / groups;
      int end = rows * least_of(p + together, groups) / groups;
      score(row, middle, end);
      weigh(row, end, from);
    }
    mix_queries(from, rows);
    mix_keys(rows, is_first);
  }

  void read_queries(int64_t from, int rows) {
    copy(query, c.query, from, rows, plain_queries, keys);
    copy(d_out, g.d_out, from, rows, plain_out, values);
    for (int r = 0; r < rows; ++r) find_reach(r, from + r);
  }

  void copy(float* to, const Array& array, int64_t from, int rows, bool plain, const Side& side) const {
    for (int r = 0; r < rows; ++r, to += QUERY_STRIDE) {
      const char* at = place(array, regard::FLOAT32, b, head, from + r);
      if (!plain) {
        read_row(to, at, regard::FLOAT32, array.column, side.width, side.padded);
        continue;
      }
      const float* row = reinterpret_cast<const float*>(at);
      for (int d = 0; d < side.padded; d += W) store(to + d, load(row + d));
    }
  }

  // A mask of the keys alone is mostly padding: what lies outside of it is out of reach.
  void find_reach(int r, int64_t i) {
    bool of_keys = c.mask.data && c.mask.row == 0;
    if (r && of_keys && of_all) {
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

  // The keys that any of rows [row, end) may see.
  struct Reach {
    int from, to;
  };

  Reach reach(int row, int end) const {
    Reach all = {columns, 0};
    for (int r = row; r < end; ++r)
      if (first[r] < last[r]) all = {least_of(all.from, first[r]), most_of(all.to, last[r])};
    return all;
  }

  // q . k and d_out . v of rows [row, end), where any of them may look: rows up to `middle` go through
  // the same tiles, and those behind it, but where there is one vector left of the keys.
  void score(int row, int middle, int end) {
    Reach low = reach(row, middle), high = reach(middle, end);
    int from = least_of(low.from, high.from), to = most_of(low.to, high.to);
    for (int key = from / KEYS * KEYS; key < to; key += KEYS) {
      if (to - key <= W) {
        tiles(TILE_TALL.run[end - row - 1][0], row, key);
        continue;
      }
      if (key < low.to) tiles(TILE.run[middle - row - 1][vectors_from(key, low)], row, key);
      if (key < high.to) tiles(TILE.run[end - middle - 1][vectors_from(key, high)], middle, key);
    }
  }

  // Of a panel's vectors the number of the last that is in reach.
  static int vectors_from(int key, Reach seen) { return (least_of(key + KEYS, seen.to) - key - 1) / W; }

  template <class F>
  void tiles(F tile, int row, int key) {
    Finish finish = {};
    finish.kind = Finish::RAW;
    ahead.fetch();
    tile(query + row * QUERY_STRIDE, keys.panel(key), keys.width, weights + row * stride + key,
         stride, key, finish);
    tile(d_out + row * QUERY_STRIDE, values.panel(key), values.width, d_scores + row * stride + key,
         stride, key, finish);
  }

  // Scores of rows [row, end) become weights, the gradient of weights that of scores; zeros out of
  // reach.
  void weigh(int row, int end, int64_t from) {
    Vec total[TALL], scale = all(float(c.scale));
    for (int r = row; r < end; ++r) total[r - row] = weigh_row(r, from + r, scale);
    for (int r = row; r < end; ++r) {
      float *w = weights + r * stride, *d = d_scores + r * stride;
      Vec middle = all(sum(total[r - row]));
      Reach seen = vectors(r);
      for (int j = seen.from; j < seen.to; j += W)
        store(d + j, load(w + j) * (load(d + j) - middle) * scale);
    }
  }

  // The vectors of keys that a row may see.
  Reach vectors(int r) const {
    if (first[r] >= last[r]) return {0, 0};
    return {first[r] / W * W, rounded_up(last[r], W)};
  }

  // A row's weights; the sum of these times their gradients.
  INLINE Vec weigh_row(int r, int64_t i, Vec scale) {
    float *w = weights + r * stride, *d = d_scores + r * stride;
    Reach seen = vectors(r);
    Vec lse = all(c.lse[(b * c.heads + head) * c.queries + i]), total = {};
    for (int j = seen.from; j < seen.to; j += W) {
      Vec a = exp2_of_any(load(w + j) * scale - lse, all(LOG2E)), d_a = load(d + j);
      if (j < first[r] || j + W > last[r] || masked[r]) {
        Ints key = lanes() + j;
        Ints fits = (key >= first[r]) & (key < last[r]);
        if (masked[r]) fits &= allowed(i, j);
        a = fits ? a : Vec{};
        d_a = fits ? d_a : Vec{};
        store(d + j, d_a);
      }
      store(w + j, a);
      total += a * d_a;
    }
    clear(w, d, 0, seen.from);
    clear(w, d, seen.to, columns);
    return total;
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
  void mix_queries(int64_t from, int rows) {
    bool in_place = keys.width == keys.padded;
    float* to = reinterpret_cast<float*>(
        const_cast<char*>(place(g.d_query, regard::FLOAT32, b, head, from)));
    float* out = in_place ? to : d_query;
    int64_t step = in_place ? g.d_query.row : keys.padded;
    int groups = (rows + MIXED - 1) / MIXED;
    for (int p = 0; p < groups; ++p) {
      int row = rows * p / groups, n = rows * (p + 1) / groups - row;
      Reach seen = reach(row, row + n);
      if (seen.from > seen.to) seen = {0, 0};
      for (int d = 0; d < keys.padded; d += WIDE * W) {
        ahead.fetch();
        MIX.run[n - 1][least_of(WIDE, (keys.padded - d) / W) - 1](
            d_scores + row * stride + seen.from, stride, keys.rows + seen.from * keys.step + d,
            keys.step, seen.to - seen.from, out + row * step + d, step, true);
      }
    }
    for (int r = 0; r < rows && !in_place; ++r)
      memcpy(to + r * g.d_query.row, d_query + r * step, size_t(keys.width) * sizeof(float));
  }

  // d_key += d_scores^T query, d_value += weights^T d_out
  void mix_keys(int rows, bool is_first) {
    int groups = (int(c.keys) + MIXED - 1) / MIXED;
    for (int p = 0; p < groups; ++p) {
      int key = int(c.keys * p / groups), n = int(c.keys * (p + 1) / groups) - key;
      int from = 0, to = rows;
      while (from < to && !sees(from, key, n)) ++from;
      while (from < to && !sees(to - 1, key, n)) --to;
      if (from == to && !is_first) continue;
      down(keys, d_scores, query, from, to, key, n, is_first);
      down(values, weights, d_out, from, to, key, n, is_first);
    }
  }

  bool sees(int r, int key, int n) const { return first[r] < key + n && last[r] > key; }

  void down(const Side& side, const float* w, const float* rows, int from, int to, int key, int n,
            bool is_first) {
    ahead.fetch();
    for (int d = 0; d < side.padded; d += WIDE * W)
      MIX_DOWN.run[n - 1][least_of(WIDE, (side.padded - d) / W) - 1](
          w + from * stride + key, stride, rows + from * QUERY_STRIDE + d, to - from,
          side.sums + key * side.sums_step + d, side.sums_step, is_first);
  }
};

}  // namespace

extern "C" void VARIANT_OF(attend_back)(const regard::CallBack& back, regard::Plan& plan) {
  Backward worker(back, plan);
  if (!work_in_arena(worker)) __atomic_store_n(&plan.failed, 1, __ATOMIC_RELAXED);
}
