// Recurrent translators: a source read word by word, and a step of all hypotheses.
#include "recurrent.h"

#include <math.h>

#include "arena.h"
#include "kernel.h"
#include "product.h"
#include "rows.h"
#include "weigh.h"

namespace {

using regard::Reader;
using regard::Rows;
using regard::Share;
using regard::Unit;
using regard::Writer;

INLINE Vec larger_or_nan(Vec a, Vec b) { return a == a ? larger(a, b) : a; }

INLINE Vec renewed(Vec state, Vec candidate, Vec update) {
  return state + update * (candidate - state);
}

void copy(float* to, const float* from, int64_t n) { memcpy(to, from, size_t(n) * sizeof *to); }

// to = tanh(to), to = to + x
void bend(float* to, int64_t n) {
  each_vector(n, [&](int64_t d, int count) { write(to + d, tanh(read(to + d, count)), count); });
}
void add(float* to, const float* x, int64_t n) {
  each_vector(n, [&](int64_t d, int count) { write(to + d, read(to + d, count) + read(x + d, count), count); });
}

// to (units) = the larger of each pair of x (2 * units)
void maxout(float* to, const float* x, int64_t units) {
  each_vector(units, [&](int64_t d, int count) {
    write(to + d, larger_or_nan(read(x + d, count), read(x + units + d, count)), count);
  });
}

int64_t more(int64_t a, int64_t b) { return a > b ? a : b; }

// Some sentences of a call.
struct Sentences {
  const Rows& r;
  int64_t from, to;  // sentences
  int64_t begin, n;  // their first row, how many

  int64_t length(int64_t s) const { return r.first[s + 1] - r.first[s]; }

  void take_words(const float* words, int64_t width, float* x) const {
    for (int64_t i = 0; i < n; ++i) copy(x + i * width, words + r.tokens[begin + i] * width, width);
  }
};

// One step of a gated unit over rows that stand one behind the other.
struct GatedStep {
  int64_t hidden;
  float *opened, *reset, *fresh;  // (rows, 2 * hidden), (rows, hidden) twice
  Rounded room;

  void lay_out(Arena& arena, int64_t rows) {
    opened = arena.take<float>(rows * 2 * hidden);
    reset = arena.take<float>(rows * hidden);
    fresh = arena.take<float>(rows * hidden);
  }

  // state (rows, hidden), renewed in place. gates(row) is what meets the update and the reset gate,
  // candidate(row) what meets the candidate, before the products with the state; `known` are the
  // products of the gates with it if they are there, `stride` numbers a row.
  template <class G, class C>
  INLINE void run(const Unit& unit, float* state, int64_t rows, G gates, C candidate,
                  const float* known = nullptr, int64_t stride = 0) const {
    if (!known) product(unit.gates, state, rows, room, opened), known = opened, stride = 2 * hidden;
    for (int64_t i = 0; i < rows; ++i) {
      const float *given = gates(i), *by_state = known + i * stride;
      float *s = state + i * hidden, *open = opened + i * 2 * hidden, *to = reset + i * hidden;
      each_vector(hidden, [&](int64_t d, int n) {
        Vec r = sigmoid(read(given + hidden + d, n) + read(by_state + hidden + d, n));
        write(open + d, sigmoid(read(given + d, n) + read(by_state + d, n)), n);
        write(to + d, r * read(s + d, n), n);
      });
    }
    product(unit.candidate, reset, rows, room, fresh);
    for (int64_t i = 0; i < rows; ++i) {
      const float *given = candidate(i), *open = opened + i * 2 * hidden, *by = fresh + i * hidden;
      float* s = state + i * hidden;
      each_vector(hidden, [&](int64_t d, int n) {
        Vec proposed = tanh(read(given + d, n) + read(by + d, n));
        write(s + d, renewed(read(s + d, n), proposed, read(open + d, n)), n);
      });
    }
  }
};

// Sentences are read.
struct Reading {
  const Reader& net;
  Sentences at;
  int64_t count = 0, directions = 0;
  float *x = nullptr, *inputs = nullptr, *states = nullptr, *state = nullptr, *made = nullptr;
  // (n, width), (n, directions * 3 * hidden), (n, directions * hidden), (sentences, hidden), (n, widest)
  int64_t* order = nullptr;  // sentences, the longest first
  GatedStep step = {};
  Rounded room = {};

  void lay_out(Arena& arena) {
    int64_t h = net.hidden, width = net.inputs.in;
    count = at.to - at.from, directions = net.design == regard::LOOKING ? 2 : 1;
    int64_t widest = more(more(net.key.out, net.context.out), more(net.from_word.out, h));
    x = arena.take<float>(at.n * width);
    inputs = arena.take<float>(at.n * directions * 3 * h);
    states = arena.take<float>(at.n * directions * h);
    state = arena.take<float>(count * h);
    made = arena.take<float>(at.n * widest);
    order = arena.take<int64_t>(count);
    room = {arena.take<int16_t>(at.n * (more(width, directions * h) + 1)), arena.take<float>(at.n)};
    step.hidden = h, step.room = room;
    step.lay_out(arena, count);
  }

  void run() {
    at.take_words(net.words, net.inputs.in, x);
    product(net.inputs, x, at.n, room, inputs);
    sort();
    scan(net.forwards, 0);
    if (directions > 1) scan(net.backwards, 1);
    if (net.design == regard::LOOKING) annotate();
    if (net.design == regard::TOLD) summarise();
    if (net.design == regard::SAYING) say();
  }

 private:
  void sort() const {
    for (int64_t i = 0; i < count; ++i) {
      int64_t j = i, own = at.from + i;
      for (; j > 0 && at.length(order[j - 1]) < at.length(own); --j) order[j] = order[j - 1];
      order[j] = own;
    }
  }

  // The states after every row, one step of all sentences that are not at their end at a time.
  void scan(const Unit& unit, int64_t direction) const {
    int64_t h = net.hidden, live = count;
    memset(state, 0, size_t(count * h) * sizeof *state);
    for (int64_t t = 0; t < at.length(order[0]); ++t) {
      while (at.length(order[live - 1]) <= t) --live;
      auto row = [&](int64_t i) {
        int64_t s = order[i];
        return at.r.first[s] - at.begin + (direction ? at.length(s) - 1 - t : t);
      };
      auto given = [&](int64_t i) { return inputs + (row(i) * directions + direction) * 3 * h; };
      step.run(unit, state, live, given, [&](int64_t i) { return given(i) + 2 * h; });
      for (int64_t i = 0; i < live; ++i)
        copy(states + (row(i) * directions + direction) * h, state + i * h, h);
    }
  }

  float* out(int64_t row, int64_t width) const { return at.r.out + (at.begin + row) * width; }

  void annotate() const {
    int64_t h = net.hidden;
    product(net.key, states, at.n, room, made);
    for (int64_t i = 0; i < at.n; ++i) {
      copy(out(i, 3 * h), states + i * 2 * h, 2 * h);
      copy(out(i, 3 * h) + 2 * h, made + i * h, h);
    }
  }

  void summarise() const {
    int64_t h = net.hidden, width = h + net.context.out;
    for (int64_t s = at.from; s < at.to; ++s) {
      int64_t first = at.r.first[s] - at.begin;
      float* to = out(first, width);
      product(net.summary, states + (first + at.length(s) - 1) * h, 1, room, to);
      bend(to, h);
      product(net.context, to, 1, room, to + h);
    }
  }

  void say() const {
    product(net.from_word, x, at.n, room, made);
    add_product(net.from_state, states, at.n, room, made);
    for (int64_t i = 0; i < at.n; ++i) maxout(out(i, net.units), made + i * 2 * net.units, net.units);
  }
};

// A step of hypotheses is written.
struct Writing {
  const Writer& net;
  Sentences at;
  float *y = nullptr, *s = nullptr, *by_state = nullptr, *sums = nullptr, *context = nullptr;
  float *told = nullptr, *scores = nullptr;
  GatedStep step = {};
  Rounded room = {};

  void lay_out(Arena& arena) {
    int64_t h = net.hidden, width = net.word.in, n = at.n;
    y = arena.take<float>(n * width);
    s = arena.take<float>(n * h);
    by_state = arena.take<float>(n * net.state.out);
    sums = arena.take<float>(n * net.word.out);
    context = arena.take<float>(n * net.context.in);
    told = arena.take<float>(n * 3 * net.units);
    scores = arena.take<float>(at.r.longest);
    int64_t widest = more(more(net.context.in, width), more(h, net.units));
    room = {arena.take<int16_t>(n * (widest + 1)), arena.take<float>(n)};
    step.hidden = h, step.room = room;
    step.lay_out(arena, n);
  }

  void run() {
    if (net.design == regard::SAYING) return repeat();
    at.take_words(net.words, net.word.in, y);
    enter();
    product(net.word, y, at.n, room, sums);
    product(net.state, s, at.n, room, by_state);
    if (net.design == regard::LOOKING) {
      look();
      add_product(net.context, context, at.n, room, sums);
      product(net.readout, s, at.n, room, told);
      renew();
    } else {
      each_row([&](int64_t sentence, int64_t row) {
        add(sums + row * net.word.out, memory(sentence) + net.hidden, net.word.out);
      });
      renew();
      product(net.readout, s, at.n, room, told);
    }
    tell();
  }

 private:
  template <class F>
  INLINE void each_row(F f) const {  // f(sentence, row of this part)
    for (int64_t i = at.from; i < at.to; ++i)
      for (int64_t row = at.r.first[i]; row < at.r.first[i + 1]; ++row) f(i, row - at.begin);
  }

  int64_t kept_of_source() const {
    return net.design == regard::LOOKING ? 3 * net.hidden
           : net.design == regard::TOLD  ? net.hidden + net.word.out
                                         : net.units;
  }
  int64_t sources(int64_t sentence) const {
    const int64_t* first = at.r.source + at.r.lines[sentence];
    return first[1] - first[0];
  }
  const float* memory(int64_t sentence) const {
    return at.r.memory + at.r.source[at.r.lines[sentence]] * kept_of_source();
  }

  // The state in which the step before left each hypothesis; s_0 if there was none.
  void enter() const {
    int64_t h = net.hidden, t = at.r.position;
    if (t == 0) {
      int64_t skipped = net.design == regard::LOOKING ? h : 0;
      each_row([&](int64_t sentence, int64_t row) {
        copy(step.reset + row * h, memory(sentence) + skipped, h);
      });
      product(net.first, step.reset, at.n, room, s);
      return bend(s, at.n * h);
    }
    for (int64_t row = 0; row < at.n; ++row) {
      int64_t parent = at.r.path[(at.begin + row) * t + t - 1];
      copy(s + row * h, at.r.written[t - 1] + parent * h, h);
    }
  }

  void look() const {
    int64_t h = net.hidden;
    each_row([&](int64_t sentence, int64_t row) {
      int64_t count = sources(sentence);
      const float *values = memory(sentence), *query = by_state + row * 3 * h + 2 * h;
      for (int64_t i = 0; i < count; ++i) {
        const float* key = values + i * 3 * h + 2 * h;
        Vec e = {};
        each_vector(h, [&](int64_t d, int n) {
          e += read(net.v + d, n) * tanh(read(key + d, n) + read(query + d, n));
        });
        scores[i] = sum(e);
      }
      weigh(scores, count, 1);
      copy(at.r.weights + (at.begin + row) * at.r.longest, scores, count);
      each_vector(2 * h, [&](int64_t d, int n) {
        Vec total = {};
        for (int64_t i = 0; i < count; ++i) total += all(scores[i]) * read(values + i * 3 * h + d, n);
        write(context + row * 2 * h + d, total, n);
      });
    });
  }

  void renew() const {
    int64_t h = net.hidden, width = net.word.out;
    Unit unit = {{}, net.candidate};
    step.run(
        unit, s, at.n, [&](int64_t i) { return sums + i * width; },
        [&](int64_t i) { return sums + (i + 1) * width - h; }, by_state, net.state.out);
    copy(at.r.written[at.r.position] + at.begin * h, s, at.n * h);
  }

  // What state, word and context say together: t, and the scores of every token.
  void tell() const {
    int64_t units = net.units;
    for (int64_t i = 0; i < at.n; ++i)
      add(told + i * 2 * units, sums + i * net.word.out + 2 * net.hidden, 2 * units);
    float* features = told + at.n * 2 * units;
    for (int64_t i = 0; i < at.n; ++i) maxout(features + i * units, told + i * 2 * units, units);
    product(net.out, features, at.n, room, at.r.out + at.begin * net.out.out);
  }

  // What was said of the source's next token; behind its end, the end.
  void repeat() const {
    int64_t units = net.units, size = net.out.out;
    each_row([&](int64_t sentence, int64_t row) {
      int64_t last = sources(sentence) - 1, t = at.r.position < last ? at.r.position : last;
      copy(told + row * units, memory(sentence) + t * units, units);
      at.r.weights[(at.begin + row) * at.r.longest + t] = 1;
    });
    product(net.out, told, at.n, room, at.r.out + at.begin * size);
    each_row([&](int64_t sentence, int64_t row) {
      if (at.r.position < sources(sentence)) return;
      float* scores_of = at.r.out + (at.begin + row) * size;
      for (int64_t i = 0; i < size; ++i) scores_of[i] = i == net.end ? 0 : -INFINITY;
    });
  }
};

template <class Part, class Net>
bool work(const Net& net, const Sentences& at) {
  Part part = {net, at};
  return work_in_arena(part);
}

}  // namespace

extern "C" void VARIANT_OF(recurrent)(const Rows& r, Share& share) {
  int64_t from;
  while ((from = __atomic_fetch_add(&share.next, share.at_once, __ATOMIC_RELAXED)) < r.sentences) {
    int64_t to = from + share.at_once < r.sentences ? from + share.at_once : r.sentences;
    Sentences at = {r, from, to, r.first[from], r.first[to] - r.first[from]};
    const auto& net = *r.network;
    bool done = net.reader ? work<Reading>(*net.reader, at) : work<Writing>(*net.writer, at);
    if (!done) __atomic_store_n(&share.failed, 1, __ATOMIC_RELAXED);
  }
}
