// A block of queries: their vectors, which keys each may see, and what is kept of each while it meets
// them. It is cut into panels.
#pragma once
#include <math.h>

#include "arena.h"
#include "reach.h"
#include "read.h"
#include "tile.h"

namespace {

constexpr int ROWS = 48;     // queries in a block, at most
constexpr int CHUNK = 512;   // keys met at a time
constexpr int PANELS = ROWS;
constexpr int64_t WHOLE_ROWS = 192 << 10;  // weights kept at a time: 768 kB, in the second cache

INLINE int least_of(int a, int b) { return a < b ? a : b; }
INLINE int most_of(int a, int b) { return a > b ? a : b; }

// A run of at most QUERIES rows of a block: they go through the same tiles.
struct Panel {
  int row, n;
  int first, last;            // keys that any of its rows may see
  int all_first, all_last;    // keys that all of them may see
  float norm;                 // the largest |q|
  bool settled;               // its weights refer to a maximum
  bool raw;                   // of this chunk: scores are stored first
};

struct Block {
  const Call& c;

  // sizes
  int width, wide;         // of the queries, up to a whole vector; of the output
  bool keeps_rows;         // some statistic wants a row whole
  bool plain_queries;
  bool sees_all;           // every query every key
  bool scales_late;        // stored scores are products; the scale is part of the exponential
  int most_rows;
  int64_t stride;          // between rows of weights

  int64_t b;               // the batch item
  bool direct;             // keys are read in place

  // of each row
  float *query, *weights, *out, *inverse, *reference, *normal;
  Vec *total, *spread;
  int *first, *last;
  int64_t *head_of, *query_of;
  bool *referred, *started, *unfit;

  Panel panel[PANELS];
  int panel_count;

  explicit Block(const Call& call) : c(call) {
    width = rounded_up(int(c.width), W);
    wide = rounded_up(int(c.value_width), W);
    keeps_rows = c.received || c.top || c.pooled_max;
    plain_queries = is_plain(c.query, c.dtype, c.width);
    sees_all = c.before == regard::UNBOUNDED && c.after == regard::UNBOUNDED && !c.mask.data;
    scales_late = !c.bias.data && c.softcap == 0 && c.scale > 0;
    int64_t columns = rounded_up(int(c.keys), KEYS) + KEYS;
    if (!keeps_rows && columns > CHUNK) columns = CHUNK;
    stride = columns + W;
    most_rows = int(WHOLE_ROWS / stride) / QUERIES * QUERIES;
    most_rows = least_of(ROWS, most_of(QUERIES, most_rows));
  }

  void lay_out(Arena& arena) {
    query = arena.take<float>(int64_t(ROWS) * QUERY_STRIDE);
    weights = arena.take<float>(most_rows * stride);
    out = arena.take<float>(int64_t(ROWS) * wide);
    inverse = arena.take<float>(ROWS + W);
    reference = arena.take<float>(ROWS + W);
    normal = arena.take<float>(ROWS);
    total = arena.take<Vec>(ROWS + W);
    spread = arena.take<Vec>(ROWS + W);
    first = arena.take<int>(ROWS);
    last = arena.take<int>(ROWS);
    head_of = arena.take<int64_t>(ROWS);
    query_of = arena.take<int64_t>(ROWS);
    referred = arena.take<bool>(ROWS);
    started = arena.take<bool>(ROWS);
    unfit = arena.take<bool>(ROWS);
  }

  // Copy the queries, say which keys each may see, cut the block into panels.
  void begin(int rows) {
    for (int r = 0; r < rows; ++r) {
      float* q = query + r * QUERY_STRIDE;
      const char* from = place(c.query, c.dtype, b, head_of[r], query_of[r]);
      if (!plain_queries) read_row(q, from, c.dtype, c.query.column, int(c.width), width);
      total[r] = copy_and_square(q, plain_queries ? reinterpret_cast<const float*>(from) : q);
    }
    float square[ROWS + W];
    for (int r = 0; r < rows; r += W) store(square + r, sums_of(total + r));
    for (int r = 0; r < rows; ++r) {
      total[r] = spread[r] = Vec{};
      reference[r] = 0;
      referred[r] = started[r] = false;
    }
    for (int r = 0; r < rows; ++r) first[r] = 0, last[r] = int(c.keys);
    for (int r = 0; r < rows && !sees_all; ++r) find_reach(r);
    panel_count = (rows + QUERIES - 1) / QUERIES;
    for (int p = 0; p < panel_count; ++p) {
      int row = rows * p / panel_count;
      panel[p] = cut(row, rows * (p + 1) / panel_count - row, square);
    }
  }

  bool needs_mask(const Panel& x, int start, int stop) const {
    if (!c.mask.data) return false;
    if (c.mask.row != 0) return true;
    int from = most_of(start, x.first), to = least_of(stop, x.last);
    for (int key = from; key < to; ++key)
      if (!allowed(x.row, key)) return true;
    return c.mask.head != 0 && head_of[x.row] != head_of[x.row + x.n - 1];
  }

  // What a stored score must be multiplied by.
  float unit_of_scores() const { return scales_late ? float(c.scale) : 1.0f; }

 private:
  Vec copy_and_square(float* to, const float* from) const {
    Vec square[2] = {};
    int d = 0;
    for (; d + 2 * W <= width; d += 2 * W)
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        Vec x = load(from + d + i * W);
        square[i] += x * x;
        store(to + d + i * W, x);
      }
    if (d < width) {
      Vec x = load(from + d);
      square[0] += x * x;
      store(to + d, x);
    }
    return square[0] + square[1];
  }

  Panel cut(int row, int n, const float* square) const {
    Panel x = {row, n, first[row], last[row], first[row], last[row], 0, false, false};
    for (int r = row; r < row + n; ++r)  // a NaN stays the largest
      x.norm = x.norm != x.norm || square[r] <= x.norm ? x.norm : square[r];
    x.norm = sqrtf(x.norm);
    for (int r = row + 1; r < row + n && !sees_all; ++r) {
      x.first = least_of(x.first, first[r]);
      x.last = most_of(x.last, last[r]);
      x.all_first = most_of(x.all_first, first[r]);
      x.all_last = least_of(x.all_last, last[r]);
    }
    return x;
  }

  void find_reach(int r) {
    first[r] = first_key(c, query_of[r]);
    last[r] = most_of(first[r], last_key(c, query_of[r]));
    if (c.mask.data && c.mask.row == 0) trim(r);
  }

  // A mask of the keys alone is mostly padding: keys before the first and after the last it allows
  // are out of reach.
  void trim(int r) {
    if (r && head_of[r] == head_of[r - 1] && c.before == regard::UNBOUNDED &&
        c.after == regard::UNBOUNDED) {  // as the row above
      first[r] = first[r - 1], last[r] = last[r - 1];
      return;
    }
    while (first[r] < last[r] && !allowed(r, first[r])) ++first[r];
    while (first[r] < last[r] && !allowed(r, last[r] - 1)) --last[r];
  }

  bool allowed(int r, int key) const {
    const Array& m = c.mask;
    return static_cast<const uint8_t*>(m.data)[b * m.batch + head_of[r] * m.head +
                                               query_of[r] * m.row + key * m.column];
  }
};

}  // namespace
