// Attention with its statistics, in one pass over blocks of queries.
//
// A task is some queries of the heads that share one key head of one batch item. Its keys are laid
// out in panels once; then each block of queries meets all keys in reach, a chunk at a time: scores
// become weights, before they leave the registers or soon after, and mix the values while they are in
// the cache.
//
// Weights are exp(score) with no row maximum taken off, wherever |q| |k| says that nothing can
// overflow; elsewhere scores are stored first, then read again for their maximum (`settle`). Both
// ways round alike, so that no key out of a query's sight changes even the last bit of its row.
#include <math.h>

#include "ahead.h"
#include "arena.h"
#include "kernel.h"
#include "keys.h"
#include "reach.h"
#include "results.h"

#ifndef REGARD_VARIANT
#error "say which variant this is: -DREGARD_VARIANT=avx2"
#endif

namespace {

using regard::Plan;

constexpr int TILED = KEYS / W;  // vectors of keys that a whole tile has
constexpr int DIRECT = 4;  // with so few queries, keys are read in place

struct Worker : Results {
  Plan& plan;
  Keys keys;
  Ahead ahead;  // of the next task

  Worker(const Call& call, Plan& p) : Results(call), plan(p), keys(call) {}

  void lay_out(Arena& arena) {
    keys.lay_out(arena, c.heads / c.key_heads * plan.part_rows > DIRECT);
    Results::lay_out(arena);
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
        b = keys.b = item / c.key_heads;
        keys.head = item % c.key_heads;
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

  // Only what is read in place, and small, is fetched.
  void look_ahead(int64_t item) {
    ahead.begin(0);
    if (plan.parts > 1 || c.queries != c.keys || c.keys > MOST_AHEAD || !keys.plain) return;
    ahead.begin(c.keys);
    int64_t next_b = item / c.key_heads, next_head = item % c.key_heads;
    int64_t query_head = next_head * (c.heads / c.key_heads);
    come(c.query, next_b, query_head, c.width);
    come(c.key, next_b, next_head, c.width);
    if (c.value.data) come(c.value, next_b, next_head, c.value_width);
    if (c.out.data) come(c.out, next_b, query_head, c.value_width);
  }

  void come(const Array& array, int64_t next_b, int64_t head, int64_t columns) {
    ahead.add(place(array, regard::FLOAT32, next_b, head, 0), array.row * 4, columns * 4);
  }

  // ---- one task: queries [from, to) of every head that shares this key head

  void do_task(int64_t from, int64_t to) {
    int64_t groups = c.heads / c.key_heads;
    direct = groups * (to - from) <= DIRECT;
    keys.from = first_key(c, from) / KEYS * KEYS;
    keys.to = last_key(c, to - 1);
    keys.begin(!direct);
    // Few queries of several heads meet the keys together; else a block is of one head.
    int64_t together = to - from < QUERIES ? groups : 1;
    for (int64_t g = 0; g < groups; g += together) {
      int64_t heads = g + together <= groups ? together : groups - g;
      int64_t n = heads * (to - from);
      int64_t unit = c.pooled_max && most_rows % c.cell_rows == 0 ? c.cell_rows : 1;  // whole cells
      int64_t blocks = (n + most_rows - 1) / most_rows;
      for (int64_t i = 0; i < blocks; ++i) {
        int64_t start = (n * i / blocks + unit - 1) / unit * unit;
        int64_t stop = i + 1 < blocks ? (n * (i + 1) / blocks + unit - 1) / unit * unit : n;
        int64_t head = keys.head * groups + g + start / (to - from);
        int64_t i_query = from + start % (to - from);
        for (int64_t r = 0; r < stop - start; ++r) {
          head_of[r] = head, query_of[r] = i_query;
          if (++i_query == to) i_query = from, ++head;
        }
        do_block(int(stop - start));
      }
    }
  }

  // ---- one block of queries

  void do_block(int rows) {
    begin(rows);
    Reach met = meet(rows, false);
    if (end(rows, met.from, met.to)) mend(rows);
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
    if (from >= to) from = to = keys.from;
    int base = from;
    for (int start = from; start < to; start += CHUNK) {
      int stop = least_of(to, start + CHUNK);
      if (!keeps_rows) base = start;
      choose(start, stop);
      if (direct)
        score_directly(rows, start, stop, base);
      else if (LATER)
        score(start, stop, base);
      else
        weigh(start, stop, base);
      for (int p = 0; p < panel_count; ++p) {
        if (panel[p].raw)
          settle(panel[p], from, start, stop, base);
        else if (LATER)
          raise(panel[p], start, stop, base);
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

  // May this chunk's weights be taken straight from the scores?
  void choose(int start, int stop) {
    bool plain = scales_late && !direct;
    float longest = 0;
    for (int key = start; plain && key < stop; key += KEYS) {
      float norm = keys.norm(key);
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
        for (int r = x.row; r < x.row + x.n; ++r)  // the others have met no key yet
          referred[r] |= most_of(start, first[r]) < least_of(stop, last[r]);
    }
  }

  // A panel of queries after the other meets the keys; the scores are stored.
  void score(int start, int stop, int base) {
    int end = start + rounded_up(stop - start, W);
    bool done = false;  // the last tile of this panel, with that of the one before
    for (int p = 0; p < panel_count; ++p) {
      const Panel& x = panel[p];
      int from = least_of(end, most_of(start, x.first / KEYS * KEYS));
      int count = vectors_in(x, from, stop), whole = count / TILED;
      float* to = weights + x.row * stride + (from - base);
      if (keeps_rows) {
        clear(to, x.n, start - from, 0);
        clear(to, x.n, count * W, end - from);
      }
      ahead.fetch();
      const float* q = query + x.row * QUERY_STRIDE;
      if (whole) STRIP.run[x.n - 1][TILED - 1](q, keys.panel(from), int(c.width), to, stride, whole);
      int n = count % TILED, key = from + whole * KEYS, rows = x.n;
      if (n == 0 || done) {
        done = false;
        continue;
      }
      if (TALL > QUERIES && n == 1 && p + 1 < panel_count) {  // too few sums at a time: two panels
        const Panel& y = panel[p + 1];
        int y_from = least_of(end, most_of(start, y.first / KEYS * KEYS));
        int y_count = vectors_in(y, y_from, stop);
        done = y_count % TILED == 1 && y_from + y_count / TILED * KEYS == key;
        if (done) rows += y.n;
      }
      auto strip = n == 1 ? STRIP_TALL.run[rows - 1][0] : STRIP.run[rows - 1][n - 1];
      strip(q, keys.panel(key), int(c.width), to + whole * KEYS, stride, 1);
    }
  }

  static int vectors_in(const Panel& x, int from, int stop) {
    return most_of(0, least_of(stop, x.last) - from + W - 1) / W;
  }

  // A tile of keys after the other is met by all queries; scores become weights before they are stored.
  void weigh(int start, int stop, int base) {
    Finish finish;
    finish.factor = float(c.scale) * LOG2E;
    for (int key = start; key < stop; key += KEYS) {
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
        ahead.fetch();
        finish.total = total + x.row;
        finish.spread = c.entropy ? spread + x.row : nullptr;
        finish.first = first + x.row;
        finish.last = last + x.row;
        auto tile = n == 1 ? TILE_TALL.run[rows - 1][0] : TILE.run[rows - 1][n - 1];
        tile(query + x.row * QUERY_STRIDE, keys.panel(key), int(c.width), to, stride, key, finish);
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
      const float* rows_of = keys.rows(key, step);
      for (int r = 0; r < rows; ++r) {
        const float* q = query + r * QUERY_STRIDE;
        Vec x[W];
#pragma GCC unroll 16
        for (int i = 0; i < W; ++i) x[i] = Vec{};
        for (int d = 0; d < width; d += W) {
          Vec part = load(q + d);
#pragma GCC unroll 16
          for (int i = 0; i < W; ++i) {
            x[i] += part * load(rows_of + i * step + d);
            __builtin_prefetch(rows_of + (i + 2 * W) * step + d);  // each key is read once, from afar
          }
        }
        transpose(x);
        Vec score = x[0];
        for (int i = 1; i < W; ++i) score += x[i];
        store(weights + r * stride + (key - base), score);
      }
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
      const float* v = keys.value(from);
      const float* w = weights + row * stride + (from - base);
      int most = n == 1 ? ALONE : WIDE;
      for (int d = 0; d < wide; d += most * W) {
        int count = least_of(most, (wide - d) / W);
        auto add = n == 1   ? MIX_ALONE.run[0][count - 1]
                   : narrow ? MIX_NARROW.run[n - 1][count - 1]
                            : MIX.run[n - 1][count - 1];
        ahead.fetch();
        add(w, stride, v + d, keys.value_step(), to - from, out + row * wide + d, wide, !started[row]);
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
        const float* v = keys.value(j);
        for (int d = 0; d < wide; d += W) store(to + d, load(to + d) + all(w[j]) * load(v + d));
      }
    }
  }

};

}  // namespace

extern "C" void VARIANT_OF(work)(const regard::Call& call, regard::Plan& plan) {
  Worker worker(call, plan);
  if (!work_in_arena(worker)) __atomic_store_n(&plan.failed, 1, __ATOMIC_RELAXED);
}
