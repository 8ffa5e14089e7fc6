// Recurrent self-attention over all its words: one step of some sequences after the other, their rows
// together in every product, each sequence alone with its tape. Nothing is summed over sequences, so
// that no grouping and no thread count changes a bit.
#include "scan.h"

#include "arena.h"
#include "kernel.h"
#include "look.h"
#include "product.h"

namespace {

using regard::Scan;
using regard::Share;
using regard::Tape;

// Slots whose gradients from far steps are summed together.
constexpr int64_t BLOCK = 16;

// y (+)= W x for some rows; neither x nor y need stand one row behind the other.
struct Map {
  Product p = {};

  // Room for W, or W transposed, in panels.
  void lay_out(Arena& arena, int64_t in, int64_t out) {
    int64_t filled = (out + PANEL - 1) / PANEL * PANEL;
    p = {arena.take<float>(filled * in), nullptr, nullptr, arena.take<float>(filled), in, out};
  }

  // Weights (out, in).
  void take(const float* weight) {
    each_panel([&](float* panel, int64_t first, int64_t count) {
      for (int64_t k = 0; k < p.in; ++k)
        for (int64_t o = 0; o < count; ++o) panel[k * PANEL + o] = weight[(first + o) * p.in + k];
    });
  }

  // Weights (in, out).
  void take_transposed(const float* weight) {
    each_panel([&](float* panel, int64_t first, int64_t count) {
      for (int64_t k = 0; k < p.in; ++k)
        memcpy(panel + k * PANEL, weight + k * p.out + first, size_t(count) * sizeof *panel);
    });
  }

  void write_rows(const float* x, int64_t x_stride, int64_t n, float* y, int64_t y_stride) const {
    multiply_all(p, Floats{p, x, x_stride}, n, [&](int64_t row, int64_t column, Vec sum, int count) {
      write(y + row * y_stride + column, sum, count);
    });
  }

  void add_rows(const float* x, int64_t x_stride, int64_t n, float* y, int64_t y_stride) const {
    multiply_all(p, Floats{p, x, x_stride}, n, [&](int64_t row, int64_t column, Vec sum, int count) {
      float* to = y + row * y_stride + column;
      write(to, read(to, count) + sum, count);
    });
  }

 private:
  template <class F>
  void each_panel(F f) {
    memset(const_cast<float*>(p.bias), 0, size_t((p.out + PANEL - 1) / PANEL * PANEL) * sizeof *p.bias);
    for (int64_t first = 0; first < p.out; first += PANEL) {
      float* panel = const_cast<float*>(p.weight) + first * p.in;
      int64_t count = p.out - first < PANEL ? p.out - first : PANEL;
      if (count < PANEL) memset(panel, 0, size_t(PANEL * p.in) * sizeof *panel);
      f(panel, first, count);
    }
  }
};

// Some sequences of a scan.
struct Group {
  const Scan& c;
  int64_t from, n;  // the first, how many

  OneLook look(int64_t t, int64_t b) const {
    int64_t to = c.slots + t + (c.design == regard::SELFATTENTIVE);
    return {c.look, t, c.window && to > c.window ? to - c.window : 0, to, from + b};
  }

  int64_t hidden() const { return c.look.hidden; }
  bool has_cells() const { return c.design == regard::LSTMN; }
  int64_t sums() const { return has_cells() ? 4 * hidden() : hidden(); }

  // What was recalled before step t.
  const float* recalled(int64_t t) const {
    return t ? c.look.mixed.at(t - 1, from) : c.summary.at(0, from);
  }
  int64_t recalled_stride(int64_t t) const {
    return t ? c.look.mixed.sequence : c.summary.sequence;
  }
};

// Groups of sequences until there are none.
template <class F>
void each_group(const Scan& c, Share& share, F f) {
  int64_t from;
  while ((from = __atomic_fetch_add(&share.next, share.at_once, __ATOMIC_RELAXED)) < c.look.batch) {
    int64_t left = c.look.batch - from;
    f(Group{c, from, left < share.at_once ? left : share.at_once});
  }
}

// The steps, forward.
struct Reading {
  const Scan& c;
  Share& share;
  Map recurrent = {}, key = {}, query = {}, previous = {};

  void lay_out(Arena& arena) {
    int64_t h = c.look.hidden;
    recurrent.lay_out(arena, h, Group{c, 0, 0}.sums());
    key.lay_out(arena, h, h), query.lay_out(arena, h, h);
    if (c.previous) previous.lay_out(arena, h, h);
  }

  void run() {
    recurrent.take(c.recurrent), key.take(c.key), query.take(c.query);
    if (c.previous) previous.take(c.previous);
    each_group(c, share, [&](const Group& group) {
      for (int64_t t = 0; t < c.words; ++t) group.has_cells() ? remember(group, t) : attend(group, t);
    });
  }

 private:
  // Of the simple RNN.
  void attend(const Group& g, int64_t t) const {
    const auto &sums = c.sums, &tape = c.look.values, &keys = c.look.keys, &queries = c.look.queries;
    int64_t s = c.slots + t, b = g.from;
    recurrent.add_rows(g.recalled(t), g.recalled_stride(t), g.n, sums.at(t, b), sums.sequence);
    if (c.previous && s)
      previous.add_rows(tape.at(0, b, s - 1), tape.sequence, g.n, sums.at(t, b), sums.sequence);
    for (int64_t i = 0; i < g.n; ++i) {
      const float* sum = sums.at(t, b + i);
      float* h = tape.at(0, b + i, s);
      each_vector(c.look.hidden, [&](int64_t d, int n) { write(h + d, tanh(read(sum + d, n)), n); });
    }
    key.write_rows(tape.at(0, b, s), tape.sequence, g.n, keys.at(0, b, s), keys.sequence);
    query.write_rows(tape.at(0, b, s), tape.sequence, g.n, queries.at(t, b), queries.sequence);
    for (int64_t i = 0; i < g.n; ++i) g.look(t, i).look();
  }

  // Of the LSTMN.
  void remember(const Group& g, int64_t t) const {
    const auto &sums = c.sums, &tape = c.look.values, &keys = c.look.keys, &queries = c.look.queries;
    int64_t s = c.slots + t, b = g.from;
    query.add_rows(g.recalled(t), g.recalled_stride(t), g.n, queries.at(t, b), queries.sequence);
    for (int64_t i = 0; i < g.n; ++i) g.look(t, i).look();
    const float* found = g.recalled(t + 1);
    recurrent.add_rows(found, g.recalled_stride(t + 1), g.n, sums.at(t, b), sums.sequence);
    for (int64_t i = 0; i < g.n; ++i)
      renew(sums.at(t, b + i), c.look.mixed.at(t, b + i), tape.at(0, b + i, s));
    key.write_rows(tape.at(0, b, s), tape.sequence, g.n, keys.at(0, b, s), keys.sequence);
  }

  // Sums of i, f, c^ and o become the gates; what was found and they give [h; c].
  void renew(float* gates, const float* found, float* word) const {
    int64_t h = c.look.hidden;
    each_vector(h, [&](int64_t d, int n) {
      Vec i = sigmoid(read(gates + d, n)), f = sigmoid(read(gates + h + d, n));
      Vec g = tanh(read(gates + 2 * h + d, n)), o = sigmoid(read(gates + 3 * h + d, n));
      write(gates + d, i, n), write(gates + h + d, f, n);
      write(gates + 2 * h + d, g, n), write(gates + 3 * h + d, o, n);
      Vec cell = f * read(found + h + d, n) + i * g;
      write(word + h + d, cell, n), write(word + d, o * tanh(cell), n);
    });
  }
};

// Sums over steps of the weight of a slot times a row: products of a few slots.
struct FarSteps {
  const float *weights, *rows;
  int64_t weights_step, rows_step, steps, width;

  template <int M, int N, class F>
  INLINE void tile(int64_t slot, int64_t column, F finish) const {
    const float *w = weights + slot, *x = rows + column;
    int64_t left = width - column - (N - 1) * W;
    int last = left < W ? int(left) : W;
    Vec sum[M][N] = {};
    for (int64_t k = 0; k < steps; ++k, w += weights_step, x += rows_step) {
      Vec row[N];
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) row[n] = n + 1 < N ? load(x + n * W) : read(x + n * W, last);
#pragma GCC unroll 8
      for (int m = 0; m < M; ++m)
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) sum[m][n] = multiply_add(all(w[m]), row[n], sum[m][n]);
    }
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) finish(m, n, sum[m][n]);
  }
};

// What the slots of some sequences get back from the steps that saw them: sum over t of w[t,s] d_mixed_t.
// Steps behind a slot's block are added for the whole block at once, so that their rows are not read
// once more for every slot.
struct SlotGradients {
  const Scan& c;
  float* far = nullptr;  // (sequence, BLOCK, width)
  int64_t first = 0, behind = 0;

  void begin() { first = c.slots + c.words, behind = c.words; }

  // Slot s is wanted next, which was seen by step t and those after it.
  void reach(const Group& g, int64_t s, int64_t t) {
    if (s >= first) return;
    first = s + 1 > BLOCK ? s + 1 - BLOCK : 0, behind = t;
    int64_t end = c.words, last = s + c.window - c.slots + 1;
    if (c.window && last < end) end = last > t ? last : t;
    const auto &weights = c.look.weights, &rows = c.look.d_mixed;
    for (int64_t i = 0; i < g.n; ++i) {
      int64_t b = g.from + i, width = c.look.width;
      float* to = far + i * BLOCK * width;
      FarSteps steps = {weights.at(t, b, first), rows.at(t, b), weights.step, rows.step, end - t, width};
      each_tile(s + 1 - first, width, steps, [&](int64_t slot, int64_t column, Vec sum) {
        int64_t left = width - column;
        write(to + slot * width + column, sum, int(left < W ? left : W));
      });
    }
  }

  // word = that of slot s of a sequence of the group.
  void take(const Group& g, int64_t i, int64_t s, int64_t t, float* word) const {
    int64_t b = g.from + i;
    const float* sum = far + (i * BLOCK + s - first) * c.look.width;
    each_vector(c.look.width, [&](int64_t d, int n) {
      Vec total = read(sum + d, n);
      for (int64_t k = t; k < behind; ++k)
        total += all(*c.look.weights.at(k, b, s)) * read(c.look.d_mixed.at(k, b) + d, n);
      write(word + d, total, n);
    });
  }
};

// The steps, from the last to the first.
struct ReadingBack {
  const Scan& c;
  Share& share;
  Map recurrent = {}, key = {}, query = {}, previous = {};
  SlotGradients slots = {c};
  float *words = nullptr, *d_keys = nullptr;  // (sequence, width), (sequence, hidden)

  void lay_out(Arena& arena) {
    int64_t h = c.look.hidden, width = c.look.width;
    recurrent.lay_out(arena, Group{c, 0, 0}.sums(), h);
    key.lay_out(arena, h, h), query.lay_out(arena, h, h);
    if (c.previous) previous.lay_out(arena, h, h);
    slots.far = arena.take<float>(share.at_once * BLOCK * width);
    words = arena.take<float>(share.at_once * width);
    d_keys = arena.take<float>(share.at_once * h);
  }

  void run() {
    recurrent.take_transposed(c.recurrent), key.take_transposed(c.key), query.take_transposed(c.query);
    if (c.previous) previous.take_transposed(c.previous);
    each_group(c, share, [&](const Group& group) {
      slots.begin();
      for (int64_t t = c.words - 1; t >= 0; --t)
        group.has_cells() ? remember(group, t) : attend(group, t);
    });
  }

 private:
  // Of the simple RNN.
  void attend(const Group& g, int64_t t) {
    const auto &d_sums = c.d_sums, &d_mixed = c.look.d_mixed, &d_queries = c.look.d_queries;
    int64_t h = c.look.hidden, s = c.slots + t, b = g.from;
    if (t + 1 < c.words)
      recurrent.add_rows(d_sums.at(t + 1, b), d_sums.sequence, g.n, d_mixed.at(t, b), d_mixed.sequence);
    for (int64_t i = 0; i < g.n; ++i) g.look(t, i).look_back();
    take_words(g, s, t, t);
    query.add_rows(d_queries.at(t, b), d_queries.sequence, g.n, words, h);
    if (c.previous && t + 1 < c.words)
      previous.add_rows(d_sums.at(t + 1, b), d_sums.sequence, g.n, words, h);
    for (int64_t i = 0; i < g.n; ++i) {
      const float *state = c.look.values.at(0, b + i, s), *d_state = words + i * h;
      float* to = d_sums.at(t, b + i);
      each_vector(h, [&](int64_t d, int n) {
        Vec x = read(state + d, n), given = read(d_state + d, n);
        write(to + d, given - given * x * x, n);
      });
    }
  }

  // Of the LSTMN.
  void remember(const Group& g, int64_t t) {
    const auto &d_sums = c.d_sums, &d_mixed = c.look.d_mixed, &d_queries = c.look.d_queries;
    int64_t s = c.slots + t, b = g.from;
    take_words(g, s, t, t + 1);
    for (int64_t i = 0; i < g.n; ++i) renew(g, i, t);
    recurrent.add_rows(d_sums.at(t, b), d_sums.sequence, g.n, d_mixed.at(t, b), d_mixed.sequence);
    if (t + 1 < c.words)
      query.add_rows(d_queries.at(t + 1, b), d_queries.sequence, g.n, d_mixed.at(t, b), d_mixed.sequence);
    for (int64_t i = 0; i < g.n; ++i) g.look(t, i).look_back();
  }

  // The gradients of what step t wrote into slot s, which was seen by step `seen` and those after it.
  void take_words(const Group& g, int64_t s, int64_t t, int64_t seen) {
    int64_t width = c.look.width, h = c.look.hidden;
    slots.reach(g, s, seen);
    for (int64_t i = 0; i < g.n; ++i) {
      int64_t b = g.from + i;
      float* word = words + i * width;
      slots.take(g, i, s, seen, word);
      if (c.d_tape.data) add(word, c.d_tape.at(0, b, s), width);
      if (c.d_states.data) add(word, c.d_states.at(t, b), h);
      const float *squares = c.look.d_squares.at(0, b, s), *v = c.look.v.data;
      Vec sum = all(*c.look.d_scores.at(0, b, s));
      each_vector(h, [&](int64_t d, int n) {
        write(d_keys + i * h + d, (sum - read(squares + d, n)) * read(v + d, n), n);
      });
    }
    key.add_rows(d_keys, h, g.n, words, width);
  }

  static void add(float* to, const float* x, int64_t n) {
    each_vector(n, [&](int64_t d, int count) { write(to + d, read(to + d, count) + read(x + d, count), count); });
  }

  // The derivative of a sigmoid y is y - y^2, that of tanh 1 - y^2.
  void renew(const Group& g, int64_t i, int64_t t) const {
    int64_t h = c.look.hidden, b = g.from + i;
    const float *gates = c.sums.at(t, b), *cell = c.look.values.at(0, b, c.slots + t) + h;
    const float *found = c.look.mixed.at(t, b) + h, *word = words + i * 2 * h;
    float *d_gates = c.d_sums.at(t, b), *d_found = c.look.d_mixed.at(t, b) + h;
    each_vector(h, [&](int64_t d, int n) {
      auto gate = [&](int64_t k) { return read(gates + k * h + d, n); };
      Vec in = gate(0), forget = gate(1), candidate = gate(2), out = gate(3);
      Vec shown = tanh(read(cell + d, n)), d_h = read(word + d, n);
      Vec d_out = d_h * shown * out, d_c = read(word + h + d, n) + d_h * out - d_out * shown;
      Vec d_in = d_c * candidate * in, d_forget = d_c * read(found + d, n) * forget;
      Vec d_candidate = d_c * in;
      write(d_gates + d, d_in - d_in * in, n);
      write(d_gates + h + d, d_forget - d_forget * forget, n);
      write(d_gates + 2 * h + d, d_candidate - d_candidate * candidate * candidate, n);
      write(d_gates + 3 * h + d, d_out - d_out * out, n);
      write(d_found + d, d_c * forget, n);
    });
  }
};

template <class Worker>
void work(const Scan& c, Share& share) {
  Worker worker = {c, share};
  if (!work_in_arena(worker)) __atomic_store_n(&share.failed, 1, __ATOMIC_RELAXED);
}

}  // namespace

extern "C" void VARIANT_OF(scan)(const Scan& c, Share& share) { work<Reading>(c, share); }

extern "C" void VARIANT_OF(scan_back)(const Scan& c, Share& share) { work<ReadingBack>(c, share); }
