// Attention with its statistics, in one pass over blocks of queries.
//
// A task is some queries of the heads that share one key head of one batch item. Its keys are laid
// out in panels once; then each block of queries meets all keys in reach, a chunk at a time: scores
// become weights before they leave the registers, and mix the values while they are in the cache.
//
// Weights are exp(score) with no row maximum taken off, wherever |q| |k| says that nothing can
// overflow; elsewhere scores are stored first, then read again for their maximum (`settle`). Both
// ways round alike, so that no key out of a query's sight changes even the last bit of its row.
#include <math.h>

#include "arena.h"
#include "kernel.h"
#include "reach.h"
#include "read.h"
#include "tile.h"
#include "top.h"

#ifndef REGARD_VARIANT
#error "say which variant this is: -DREGARD_VARIANT=avx2"
#endif

namespace {

using regard::Plan;

constexpr int ROWS = 48;     // queries in a block, at most
constexpr int CHUNK = 256;   // keys met at a time
constexpr int DIRECT = 4;    // with so few queries, keys are read in place
constexpr int PANELS = ROWS;
constexpr int LINE = 64;     // bytes that come into the cache together
constexpr int AHEAD = W > 8 ? 4 : 1;  // rows
constexpr int64_t WHOLE_ROWS = 192 << 10;  // weights kept at a time: 768 kB, in the second cache
constexpr float SAFE = 44.0f;   // a weight of e^44 or e^-44 leaves room for values of most sizes
constexpr float LOG2E = 1.4426950408889634f;
constexpr float NOTHING = -1e30f;  // a score so low, from a bias, is a mask
constexpr float SMALL_SUM = 1e-3f, SMALL = 1e-30f;  // weights and outputs that may be lost below 1e-38

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

// Rows that will be read or written: where they begin, how far apart they are, how long.
struct Stream {
  const char* at;
  int64_t step, bytes;
};

struct Worker {
  const Call& c;
  Plan& plan;

  // sizes
  int width, wide;         // of the queries, up to a whole vector; of the output
  bool keeps_rows;         // some statistic wants a row whole
  bool plain_queries, plain_keys, plain_values;
  bool sees_all;           // every query every key
  bool scales_late;        // stored scores are products; the scale is part of the exponential
  int most_rows;
  int64_t stride;          // between rows of weights

  // the task
  int64_t b, key_head;
  float* received_base;
  int key_from, key_to;    // keys in reach of the task
  Stream ahead[4];         // of the next task, to fetch
  int ahead_count;
  int64_t ahead_left;      // rows
  bool direct;

  // scratch
  float *panels, *panel_norm, *values, *some_keys;
  float *query, *weights, *out, *inverse, *reference, *normal, *sums, *greatest, *line;
  Vec *total, *spread;
  int *first, *last;
  int64_t *head_of, *query_of;
  bool *referred, *started, *unfit;
  Top* top;

  // the block
  Panel panel[PANELS];
  int panel_count;

  Worker(const Call& call, Plan& p) : c(call), plan(p) {
    width = rounded_up(int(c.width), W);
    wide = rounded_up(int(c.value_width), W);
    keeps_rows = c.received || c.top || c.pooled_max;
    plain_values = is_plain(c.value, c.dtype, c.value_width);
    plain_keys = is_plain(c.key, c.dtype, c.width);
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
    int64_t keys = rounded_up(int(c.keys), KEYS) + KEYS;
    bool few = c.heads / c.key_heads * plan.part_rows <= DIRECT;
    panels = arena.take<float>(few ? 0 : keys * c.width);
    panel_norm = arena.take<float>(keys / KEYS);
    values = arena.take<float>(c.value.data && !plain_values ? keys * wide : 0);
    some_keys = arena.take<float>(int64_t(W) * width);
    query = arena.take<float>(int64_t(ROWS) * QUERY_STRIDE);
    weights = arena.take<float>(most_rows * stride);
    out = arena.take<float>(int64_t(ROWS) * wide);
    inverse = arena.take<float>(ROWS + W);
    reference = arena.take<float>(ROWS + W);
    normal = arena.take<float>(ROWS);
    sums = arena.take<float>(keeps_rows ? stride + 4 * W : 0);
    greatest = arena.take<float>(keeps_rows ? stride + 4 * W : 0);
    line = arena.take<float>(CHUNK + W);
    total = arena.take<Vec>(ROWS + W);
    spread = arena.take<Vec>(ROWS + W);
    first = arena.take<int>(ROWS);
    last = arena.take<int>(ROWS);
    head_of = arena.take<int64_t>(ROWS);
    query_of = arena.take<int64_t>(ROWS);
    referred = arena.take<bool>(ROWS);
    started = arena.take<bool>(ROWS);
    unfit = arena.take<bool>(ROWS);
    top = arena.take<Top>(c.top ? 1 : 0);
  }

  void run() {
    if (c.top) top->k = int(c.top);
    for (;;) {
      int64_t task = __atomic_fetch_add(&plan.next, plan.at_once, __ATOMIC_RELAXED);
      if (task >= plan.tasks) return;
      int64_t end = task + plan.at_once < plan.tasks ? task + plan.at_once : plan.tasks;
      for (; task < end; ++task) {
        // The last queries first: if causal, they have the most to do, and nobody waits for them.
        int64_t items = plan.tasks / plan.parts;
        int64_t part = plan.parts - 1 - task / items, item = task % items;
        b = item / c.key_heads;
        key_head = item % c.key_heads;
        int64_t from = part * plan.part_rows;
        int64_t to = from + plan.part_rows < c.queries ? from + plan.part_rows : c.queries;
        received_base = c.received;
        if (c.received && plan.parts > 1)
          received_base = plan.received + part * c.batch * c.heads * c.keys;
        look_ahead(task + 1 < end ? item + 1 : item);
        if (from < to) do_task(from, to);
      }
    }
  }

  // ---- short texts: while one head is computed, the next one comes into the cache

  // Only what is read in place, and small, is fetched: some rows at each tile, so that no tile waits.
  void look_ahead(int64_t item) {
    ahead_left = ahead_count = 0;
    if (plan.parts > 1 || c.queries != c.keys || c.keys > 256 || !plain_keys) return;
    int64_t next_b = item / c.key_heads, next_head = item % c.key_heads;
    int64_t query_head = next_head * (c.heads / c.key_heads);
    ahead_left = c.keys;
    come(place(c.query, c.dtype, next_b, query_head, 0), c.query.row * 4, c.width * 4);
    come(place(c.key, c.dtype, next_b, next_head, 0), c.key.row * 4, c.width * 4);
    if (c.value.data)
      come(place(c.value, c.dtype, next_b, next_head, 0), c.value.row * 4, c.value_width * 4);
    if (c.out.data)
      come(place(c.out, regard::FLOAT32, next_b, query_head, 0), c.out.row * 4, c.value_width * 4);
  }

  void come(const void* at, int64_t step, int64_t bytes) {
    ahead[ahead_count++] = {static_cast<const char*>(at), step, bytes};
  }

  void fetch_ahead() {
    for (int rows = AHEAD; rows > 0 && ahead_left > 0; --rows, --ahead_left)
      for (int i = 0; i < ahead_count; ++i) {
        Stream& s = ahead[i];
        for (int64_t byte = 0; byte < s.bytes; byte += LINE) __builtin_prefetch(s.at + byte, 0, 2);
        s.at += s.step;
      }
  }

  // ---- one task: queries [from, to) of every head that shares this key head

  void do_task(int64_t from, int64_t to) {
    int64_t groups = c.heads / c.key_heads;
    direct = groups * (to - from) <= DIRECT;
    key_from = first_key(c, from) / KEYS * KEYS;
    key_to = last_key(c, to - 1);
    if (key_from < key_to) {
      if (!direct) pack_keys();
      if (c.value.data && !plain_values) pack_values();
    }
    // Few queries of several heads meet the keys together; else a block is of one head.
    int64_t together = to - from < QUERIES ? groups : 1;
    for (int64_t g = 0; g < groups; g += together) {
      int64_t heads = g + together <= groups ? together : groups - g;
      int64_t n = heads * (to - from);
      int64_t blocks = (n + most_rows - 1) / most_rows;
      for (int64_t i = 0; i < blocks; ++i) {
        int64_t start = n * i / blocks, stop = n * (i + 1) / blocks;
        int64_t head = key_head * groups + g + start / (to - from), i_query = from + start % (to - from);
        for (int64_t r = 0; r < stop - start; ++r) {
          head_of[r] = head, query_of[r] = i_query;
          if (++i_query == to) i_query = from, ++head;
        }
        do_block(int(stop - start));
      }
    }
  }

  // Keys [at, at + W) as rows of floats `step` apart; rows beyond the last key are zeros.
  const float* key_rows(int at, int64_t& step) {
    if (plain_keys && at + W <= c.keys) {
      step = c.key.row;
      return reinterpret_cast<const float*>(place(c.key, c.dtype, b, key_head, at));
    }
    step = width;
    for (int i = 0; i < W; ++i) {
      int n = at + i < c.keys ? int(c.width) : 0;
      const char* from = place(c.key, c.dtype, b, key_head, n ? at + i : 0);
      read_row(some_keys + i * width, from, c.dtype, c.key.column, n, width);
    }
    return some_keys;
  }

  float* panel_at(int key) const { return panels + int64_t(key - key_from) * c.width; }

  void pack_keys() {
    for (int key = key_from; key < key_to; key += KEYS) {
      float* to = panel_at(key);
      Vec square[KEYS / W][4] = {};  // chains of additions that do not wait for each other
      for (int n = 0; n < KEYS / W; ++n) {
        if (key + n * W >= key_to) continue;  // no tile reads these
        int64_t step = c.key.row;
        auto* from = reinterpret_cast<const float*>(place(c.key, c.dtype, b, key_head, key + n * W));
        if (!plain_keys) from = key_rows(key + n * W, step);
        int there = plain_keys ? int(c.keys) - key - n * W : W;
        for (int d = 0; d < width; d += W) {
          Vec x[W];
          read_turned(from, step, there, d, x);
          int rows = least_of(W, int(c.width) - d);
#pragma GCC unroll 16
          for (int i = 0; i < W; ++i) {
            square[n][i % 4] += x[i] * x[i];
            if (i < rows) store(to + (d + i) * KEYS + n * W, x[i]);
          }
        }
      }
      Vec longest = {}, together = {};
      for (int n = 0; n < KEYS / W; ++n) {
        Vec whole = (square[n][0] + square[n][1]) + (square[n][2] + square[n][3]);
        longest = larger(longest, whole);
        together += whole;
      }
      // The sum keeps a NaN that the maximum may lose; either way the norm is then not finite.
      bool finite = sum(together) < INFINITY;
      panel_norm[(key - key_from) / KEYS] = finite ? sqrtf(most(longest)) : INFINITY;
    }
  }

  void pack_values() {
    for (int key = key_from; key < key_to; ++key)
      read_row(values + int64_t(key - key_from) * wide, place(c.value, c.dtype, b, key_head, key),
               c.dtype, c.value.column, int(c.value_width), wide);
  }

  // ---- one block of queries

  void do_block(int rows) {
    begin(rows);
    Reach met = meet(rows, false);
    if (end(rows, met)) mend(rows);
  }

  struct Reach {
    int from, to;  // columns of the weights that are there in the end
  };

  // All keys in reach, a chunk at a time; with `apart` no row meets a value to which it gives nothing.
  Reach meet(int rows, bool apart) {
    int from = int(c.keys), to = 0;
    for (int p = 0; p < panel_count; ++p) {
      from = least_of(from, panel[p].first / KEYS * KEYS);
      to = most_of(to, panel[p].last);
    }
    if (from >= to) from = to = key_from;
    int base = from;
    for (int start = from; start < to; start += CHUNK) {
      int stop = least_of(to, start + CHUNK);
      if (!keeps_rows) base = start;
      choose(start, stop);
      if (direct)
        score_directly(rows, start, stop, base);
      else
        score(start, stop, base);
      for (int p = 0; p < panel_count; ++p) {
        if (panel[p].raw) settle(panel[p], from, start, stop, base);
        if (!c.value.data) continue;
        if (apart)
          mix_apart(panel[p], start, stop, base);
        else
          mix(panel[p], start, stop, base);
      }
    }
    return {base, to};
  }

  // Some rows' outputs are not to be trusted: values so large or small that their products with
  // weights of any size have left the range of floats, or values that are not numbers, for 0 times
  // NaN is NaN even where a mask says no. Once more for these, with weights that sum to 1/2.
  void mend(int rows) {
    begin(rows);
    for (int r = 0; r < rows; ++r) reference[r] = normal[r], referred[r] = true;
    for (int p = 0; p < panel_count; ++p) panel[p].settled = true;
    meet(rows, true);
    for (int r = 0; r < rows; ++r) {
      if (!unfit[r]) continue;
      inverse[r] = 1 / sum(total[r]);
      write(r, false);
    }
  }

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

  // Copy the queries, say which keys each may see, cut the block into panels.
  void begin(int rows) {
    for (int r = 0; r < rows; ++r) {
      float* q = query + r * QUERY_STRIDE;
      const char* from = place(c.query, c.dtype, b, head_of[r], query_of[r]);
      if (!plain_queries) {
        read_row(q, from, c.dtype, c.query.column, int(c.width), width);
        from = reinterpret_cast<const char*>(q);
      }
      total[r] = copy_and_square(q, reinterpret_cast<const float*>(from));
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

  Panel cut(int row, int n, const float* square) const {
    Panel x = {row, n, first[row], last[row], first[row], last[row], 0, false, false};
    for (int r = row; r < row + n; ++r) x.norm = square[r] > x.norm ? square[r] : x.norm;
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

  // May this chunk's weights be taken straight from the scores?
  void choose(int start, int stop) {
    bool plain = scales_late && !direct;
    float longest = 0;
    for (int key = start; plain && key < stop; key += KEYS) {
      float norm = panel_norm[(key - key_from) / KEYS];
      if (!(norm <= longest)) longest = norm;
    }
    float scale = fabsf(float(c.scale));
    for (int p = 0; p < panel_count; ++p) {
      Panel& x = panel[p];
      bool safe = x.norm * longest * scale <= SAFE;  // false for NaN
      x.raw = !plain || x.settled || !safe || needs_mask(x, start, stop);
      if (x.raw)
        x.settled = true;
      else
        for (int r = x.row; r < x.row + x.n; ++r) referred[r] = true;
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

  void score(int start, int stop, int base) {
    Finish finish;
    finish.factor = float(c.scale) * LOG2E;
    for (int key = start; key < stop; key += KEYS) {
      const float* keys = panel_at(key);
      for (int p = 0; p < panel_count; ++p) {
        const Panel& x = panel[p];
        int n = vectors_of(x, key), rows = x.n;
        finish.kind = kind_of(x, key, n);
        if (TALL > QUERIES && n == 1 && p + 1 < panel_count) {  // too few sums at a time: two panels
          const Panel& y = panel[p + 1];
          if (vectors_of(y, key) == 1 && kind_of(y, key, 1) == finish.kind) rows += y.n, ++p;
        }
        float* to = weights + x.row * stride + (key - base);
        if (keeps_rows) clear(to, rows, n * W, least_of(KEYS, rounded_up(stop - key, W)));
        if (n == 0) continue;
        fetch_ahead();
        finish.total = total + x.row;
        finish.spread = c.entropy ? spread + x.row : nullptr;
        finish.first = first + x.row;
        finish.last = last + x.row;
        auto tile = n == 1 ? TILE_TALL.run[rows - 1][0] : TILE.run[rows - 1][n - 1];
        tile(query + x.row * QUERY_STRIDE, keys, int(c.width), to, stride, key, finish);
      }
    }
  }

  // How many vectors of the keys of a panel any of these rows may see.
  static int vectors_of(const Panel& x, int key) {
    int n = (least_of(key + KEYS, x.last) - key + W - 1) / W;
    return n <= 0 || key + KEYS <= x.first ? 0 : n;
  }

  static Finish::Kind kind_of(const Panel& x, int key, int n) {
    bool inside = key >= x.all_first && key + n * W <= x.all_last;
    return x.raw ? Finish::RAW : inside ? Finish::WEIGH : Finish::EDGE;
  }

  void clear(float* to, int rows, int from, int end) const {
    for (int r = 0; r < rows; ++r)
      for (int j = from; j < end; j += W) store(to + r * stride + j, Vec{});
  }

  // Few queries: no panels, a dot product for each key.
  void score_directly(int rows, int start, int stop, int base) {
    for (int key = start; key < stop; key += W) {
      int64_t step;
      const float* keys = key_rows(key, step);
      for (int r = 0; r < rows; ++r) {
        const float* q = query + r * QUERY_STRIDE;
        Vec x[W];
#pragma GCC unroll 16
        for (int i = 0; i < W; ++i) x[i] = Vec{};
        for (int d = 0; d < width; d += W) {
          Vec part = load(q + d);
#pragma GCC unroll 16
          for (int i = 0; i < W; ++i) {
            x[i] += part * load(keys + i * step + d);
            __builtin_prefetch(keys + (i + 2 * W) * step + d);  // each key is read once, from afar
          }
        }
        transpose(x);
        Vec score = x[0];
        for (int i = 1; i < W; ++i) score += x[i];
        store(weights + r * stride + (key - base), score);
      }
    }
  }

  // ---- scores that were stored: finish them, find the maximum, make weights of them

  void settle(const Panel& x, int block_from, int start, int stop, int base) {
    int from = most_of(start, x.first / KEYS * KEYS), to = least_of(stop, x.last);
    if (direct) from = start, to = stop;  // all were computed
    for (int r = x.row; r < x.row + x.n && from < to; ++r) {
      float* w = weights + r * stride - base;
      float high = complete(r, w, from, to);
      refer(r, high, block_from, start, base);
      // In the same order as a tile does it: a row has the same weights on either way.
      Vec less = all(reference[r]), factor = all(unit_of_scores() * LOG2E);
      for (int j = from; j < to; j += KEYS) {
        Vec sum_here = {}, spread_here = {};
        for (int i = j; i < j + KEYS && i < to; i += W) {
          Vec s = load(w + i);
          if (reference[r] != 0) s -= less;
          Vec raised = exp2_of_any(s, factor);
          store(w + i, raised);
          sum_here += raised;
          spread_here += raised * larger(all(NOTHING), s);  // 0 times -inf is NaN
        }
        total[r] += sum_here;
        spread[r] += spread_here;
      }
    }
  }

  // Soft cap, bias and mask of one row's scores of keys [from, to); their maximum. The scale is
  // left to later, as in a tile, if nothing else is done to the scores.
  float complete(int r, float* w, int from, int to) {
    const float* bias = c.bias.data ? bias_line(r, from, to) : nullptr;
    Vec scale = all(scales_late ? 1.0f : float(c.scale));
    Vec high = all(-INFINITY), never = all(-INFINITY);
    float cap = float(c.softcap);
    for (int j = from; j < to; j += W) {
      Vec s = load(w + j) * scale;
      if (cap != 0) s = tanh(s / all(cap)) * all(cap);
      if (bias) {
        s += load(bias + (j - from));
        s = s <= all(NOTHING) ? never : s;
      }
      if (j < first[r] || j + W > last[r]) {
        Ints key = lanes() + j;
        Ints seen = (key >= first[r]) & (key < last[r]);
        s = seen ? s : never;
      }
      if (c.mask.data) s = mask_vector(r, j) ? s : never;
      store(w + j, s);
      high = larger(s, high);
    }
    return most(high);
  }

  const float* bias_line(int r, int from, int to) {
    const Array& a = c.bias;
    const float* p = static_cast<const float*>(a.data) + b * a.batch + head_of[r] * a.head +
                     query_of[r] * a.row + from * a.column;
    read_row(line, reinterpret_cast<const char*>(p), regard::FLOAT32, a.column, to - from,
             rounded_up(to - from, W));
    return line;
  }

  Ints mask_vector(int r, int j) const {
    const Array& m = c.mask;
    const uint8_t* p = static_cast<const uint8_t*>(m.data) + b * m.batch + head_of[r] * m.head +
                       query_of[r] * m.row + j * m.column;
    Ints seen = {};
    int n = least_of(W, int(c.keys) - j);
    if (n == W && m.column == 1)
      for (int i = 0; i < W; ++i) seen[i] = p[i];
    else
      for (int i = 0; i < n; ++i) seen[i] = p[i * m.column];
    return seen != 0;
  }

  // What a stored score must be multiplied by.
  float unit_of_scores() const { return scales_late ? float(c.scale) : 1.0f; }

  // Row r has a score `high`. The reference is 0 as long as that is safe, then a score so high.
  void refer(int r, float high, int block_from, int start, int base) {
    if (high == -INFINITY) return;
    float unit = unit_of_scores();
    if (!referred[r]) {
      bool safe = high * unit <= SAFE && high * unit >= -SAFE;
      reference[r] = safe ? 0 : high;
      referred[r] = true;
    } else if ((high - reference[r]) * unit > SAFE) {
      float up = high - reference[r];
      float factor = expf(-up * unit);
      spread[r] = (spread[r] - total[r] * all(up)) * all(factor);
      total[r] *= all(factor);
      for (int d = 0; d < wide && started[r]; d += W)
        store(out + r * wide + d, load(out + r * wide + d) * all(factor));
      float* w = weights + r * stride - base;
      for (int j = block_from; j < start && keeps_rows; j += W)
        store(w + j, load(w + j) * all(factor));
      reference[r] = high;
    }
  }

  // ---- the values

  void mix(const Panel& x, int start, int stop, int base) {
    bool narrow = wide <= NARROW * W;
    int tall = narrow ? 2 * MIXED : MIXED;
    int groups = (x.n + tall - 1) / tall;
    for (int g = 0; g < groups; ++g) {
      int row = x.row + x.n * g / groups, n = x.row + x.n * (g + 1) / groups - row;
      int from = stop, to = start;
      for (int r = row; r < row + n; ++r) {
        from = least_of(from, first[r]);
        to = most_of(to, last[r]);
      }
      from = most_of(from, start);
      to = least_of(to, stop);
      if (from >= to) continue;
      int64_t step = plain_values ? c.value.row : wide;
      const float* v = value_at(from);
      const float* w = weights + row * stride + (from - base);
      int most = n == 1 ? ALONE : WIDE;
      for (int d = 0; d < wide; d += most * W) {
        int count = least_of(most, (wide - d) / W);
        auto add = n == 1   ? MIX_ALONE.run[0][count - 1]
                   : narrow ? MIX_NARROW.run[n - 1][count - 1]
                            : MIX.run[n - 1][count - 1];
        fetch_ahead();
        add(w, stride, v + d, step, to - from, out + row * wide + d, wide, !started[row]);
      }
      for (int r = row; r < row + n; ++r) started[r] = true;
    }
  }

  void mix_apart(const Panel& x, int start, int stop, int base) {
    for (int r = x.row; r < x.row + x.n; ++r) {
      float* to = out + r * wide;
      for (int d = 0; d < wide && !started[r]; d += W) store(to + d, Vec{});
      started[r] = true;
      const float* w = weights + r * stride - base;
      for (int j = most_of(first[r], start); j < least_of(last[r], stop); ++j) {
        if (w[j] == 0) continue;
        const float* v = value_at(j);
        for (int d = 0; d < wide; d += W) store(to + d, load(to + d) + all(w[j]) * load(v + d));
      }
    }
  }

  const float* value_at(int key) const {
    if (!plain_values) return values + int64_t(key - key_from) * wide;
    return reinterpret_cast<const float*>(place(c.value, c.dtype, b, key_head, key));
  }

  // ---- the block's results

  // Whether some rows are to be computed once more, which are then `unfit`.
  bool end(int rows, Reach met) {
    float all_of[ROWS + W];
    for (int r = 0; r < rows; r += W) {
      Vec whole = sums_of(total + r);
      Vec part = whole == Vec{} ? Vec{} : all(1.0f) / whole;
      store(all_of + r, whole);
      store(inverse + r, part);
      if (c.lse || c.entropy) tell(r, least_of(W, rows - r), whole, part);
    }
    bool mends = c.out.data && !write_all(rows, all_of) && find_unfit(rows, all_of);
    if (!keeps_rows) return mends;
    Rows all_rows = {weights, stride, met.from, rounded_up(met.to - met.from, W), inverse};
    if (c.received || c.pooled_max) gather(all_rows, rows);
    if (c.top) find_top(all_rows, rows);
    return mends;
  }

  // Log-sum-exp and entropy of n rows.
  void tell(int r, int n, Vec whole, Vec part) {
    Vec log_sum = log(whole), unit = all(unit_of_scores());
    if (c.lse) {
      Vec lse = load(reference + r) * unit + log_sum;
      put(c.lse, r, n, whole == Vec{} ? all(-INFINITY) : lse);
    }
    if (c.entropy) {
      Vec h = log_sum - unit * sums_of(spread + r) * part;
      Ints none = (whole == Vec{}) | (h < Vec{});
      put(c.entropy, r, n, none ? Vec{} : h);
    }
  }

  // A number of each of n rows.
  void put(float* to, int r, int n, Vec x) const {
    float each[W];
    store(each, x);
    for (int i = 0; i < n; ++i)
      to[(b * c.heads + head_of[r + i]) * c.queries + query_of[r + i]] = each[i];
  }

  // All rows' outputs; whether all are surely numbers that have lost no digits.
  bool write_all(int rows, const float* all_of) {
    bool fine = true;
    Vec spoilt = {};
    for (int r = 0; r < rows; ++r) {
      bool empty = all_of[r] == 0;
      fine &= empty || all_of[r] >= SMALL_SUM;
      spoilt += write(r, empty);
    }
    return fine && sum(spoilt) == 0;
  }

  bool find_unfit(int rows, const float* all_of) {
    bool some = false;
    for (int r = 0; r < rows; ++r) {
      unfit[r] = all_of[r] > 0 && !fits(r, all_of[r]);
      some |= unfit[r];
      normal[r] = unfit[r] ? reference[r] + (logf(all_of[r]) + logf(2)) / unit_of_scores() : 0;
    }
    return some;
  }

  // Whether the sums of weighted values are numbers, and not so small that digits may be lost.
  bool fits(int r, float all_of) const {
    Vec nothing = {}, size = {};
    for (int d = 0; d < wide; d += W) {
      Vec x = load(out + r * wide + d);
      nothing += x * Vec{};
      size = larger(size, larger(x, -x));
    }
    return sum(nothing) == 0 && (all_of >= SMALL_SUM || most(size) >= SMALL);
  }

  // To the caller's memory; the sum of what was written, each times 0.
  Vec write(int r, bool empty) {
    const Array& o = c.out;
    float* to = static_cast<float*>(const_cast<void*>(o.data)) + b * o.batch + head_of[r] * o.head +
                query_of[r] * o.row;
    const float* from = out + r * wide;
    int n = int(c.value_width), d = 0;
    if (empty) {
      for (; d < n; ++d) to[d] = 0;
      return Vec{};
    }
    Vec factor = all(inverse[r]), nothing = {}, nought = {};
    for (; d + 2 * W <= n; d += 2 * W) {
      Vec x = load(from + d), y = load(from + d + W);
      nothing += x * Vec{};
      nought += y * Vec{};
      store(to + d, x * factor);
      store(to + d + W, y * factor);
    }
    for (; d < n; d += W) {
      Vec x = load(from + d), y = x * factor;
      nothing += x * Vec{};
      memcpy(to + d, &y, size_t(least_of(W, n - d)) * sizeof *to);
    }
    return nothing + nought;
  }

  // Received attention and pooled maps, for runs of rows of one head and one row of cells.
  void gather(const Rows& all_rows, int rows) {
    int columns = least_of(all_rows.columns, int(c.keys) - all_rows.from);
    bool single = c.pooled_max && c.cell_rows == 1 && c.cell_columns == 1;
    int64_t tall = c.pooled_max && !single ? c.cell_rows : c.queries;
    for (int r = 0, n; r < rows; r += n) {
      for (n = 1; r + n < rows && head_of[r + n] == head_of[r]; ++n)
        if (query_of[r + n] / tall != query_of[r] / tall) break;
      if (single)
        Pooled(c, b, head_of[r]).copy(query_of[r], all_rows, r, n, sums);
      else
        down(all_rows, r, n, sums, c.pooled_max ? greatest : nullptr);
      if (c.received)
        add_row(received_base + (b * c.heads + head_of[r]) * c.keys + all_rows.from, sums, columns);
      if (c.pooled_max && !single)
        Pooled(c, b, head_of[r]).add(query_of[r], all_rows.from, columns, sums, greatest);
    }
  }

  void find_top(const Rows& all_rows, int rows) {
    for (int r = 0; r < rows;) {
      int n = 1;
      while (r + n < rows && n < W && head_of[r + n] == head_of[r]) ++n;
      int64_t at = ((b * c.heads + head_of[r]) * c.queries + query_of[r]) * c.top;
      top->find(all_rows, r, n, c.top_weights + at, c.top_keys + at);
      r += n;
    }
  }
};

}  // namespace

extern "C" void VARIANT_OF(work)(const regard::Call& call, regard::Plan& plan) {
  Worker worker(call, plan);
  if (!work_in_arena(worker)) __atomic_store_n(&plan.failed, 1, __ATOMIC_RELAXED);
}
