// Recurrent translators by their definition: sources read, and two steps of a hypothesis of each.
#pragma once
#include "definition.h"
#include "recurrent.h"

namespace {

using regard::Network;
using regard::Reader;
using regard::Unit;
using regard::Writer;

double sigmoid(double x) { return 1 / (1 + exp(-x)); }

// What a gated unit makes of its state.
struct Gated {
  int64_t hidden;
  Linear gates, candidate;

  Gated(int64_t hidden, bool small)
      : hidden(hidden), gates(hidden, 2 * hidden, small), candidate(hidden, hidden, small) {}

  Unit unit() const { return {gates.product(), candidate.product()}; }

  // given: what meets the gates and the candidate, of a word (and of a context).
  void step(const double* given, const double* given_candidate, double* s) const {
    Numbers<double> opened(2 * hidden);
    gates.define(s, opened.data);
    renew(candidate, opened.data, given, given_candidate, s, hidden);
  }

  static void renew(const Linear& candidate, const double* opened, const double* given,
                    const double* given_candidate, double* s, int64_t hidden) {
    Numbers<double> reset(hidden), fresh(hidden);
    for (int64_t d = 0; d < hidden; ++d)
      reset[d] = s[d] * sigmoid(given[hidden + d] + opened[hidden + d]);
    candidate.define(reset.data, fresh.data);
    for (int64_t d = 0; d < hidden; ++d) {
      double proposed = tanh(given_candidate[d] + fresh[d]);
      s[d] += sigmoid(given[d] + opened[d]) * (proposed - s[d]);
    }
  }
};

struct Translator {
  static constexpr int64_t SENTENCES = 2, STEPS = 2;
  int64_t design, e, h, u, words, directions, made;  // made: numbers of a word's products
  bool small;
  Linear inputs, key, summary, told, from_state, from_word;         // of the reader
  Gated forwards, backwards;
  Linear first, state, word, context, candidate, readout, out;      // of the writer
  Numbers<float> embedded, v;
  int64_t source[SENTENCES + 1];  // its rows
  int64_t tokens[32];

  Translator(int64_t design, int64_t e, int64_t h, int64_t u, int64_t words, bool small)
      : design(design), e(e), h(h), u(u), words(words), directions(design == regard::LOOKING ? 2 : 1),
        made(3 * h + 2 * u), small(small), inputs(e, directions * 3 * h, small), key(2 * h, h, small),
        summary(h, h, small), told(h, made, small), from_state(h, 2 * u, small),
        from_word(e, 2 * u, small), forwards(h, small), backwards(h, small), first(h, h, small),
        state(h, design == regard::LOOKING ? 3 * h : 2 * h, small), word(e, made, small),
        context(2 * h, made, small), candidate(h, h, small), readout(h, 2 * u, small),
        out(u, words, small), embedded(words * e), v(h) {
    embedded.fill(2), v.fill(2);
    source[0] = 0;
    for (int64_t s = 0; s < SENTENCES; ++s) source[s + 1] = source[s] + 1 + below(13);
    for (int64_t& token : tokens) token = below(words);
  }

  // What is read of a row of a source.
  int64_t kept() const {
    return design == regard::LOOKING ? 3 * h : design == regard::TOLD ? h + made : u;
  }

  void check(Result what, const float* got, const double* right, int64_t n) const {
    double most = small ? 5e-4 : 5e-6;  // what meets weights of 8 bits is rounded to 16, at each step
    for (int64_t i = 0; i < n; ++i) compare(what, got[i], right[i], most * (1 + fabs(right[i])));
  }

  void embed(int64_t token, double* x) const {
    for (int64_t d = 0; d < e; ++d) x[d] = embedded[token * e + d];
  }

  bool run(const Library& it, int variant) {
    Numbers<float> memory(source[SENTENCES] * kept());
    if (!read(it, variant, memory)) return false;
    for (int64_t s = 0; s < SENTENCES; ++s) define_source(s, memory);
    return write(it, variant, memory);
  }

  // ---- the source

  bool read(const Library& it, int variant, const Numbers<float>& memory) const {
    Reader reader = {design, h, u, embedded.data, inputs.product(), forwards.unit(),
                     backwards.unit(), key.product(), summary.product(), told.product(),
                     from_state.product(), from_word.product()};
    Network network = {nullptr, &reader, nullptr, words, kept(), 0};
    Rows r = {};
    r.network = &network, r.tokens = tokens, r.first = source, r.sentences = SENTENCES;
    r.out = memory.data, r.threads = 1 + below(3);
    return !it.rows(variant, &r);
  }

  void define_source(int64_t sentence, const Numbers<float>& memory) const {
    int64_t from = source[sentence], n = source[sentence + 1] - from;
    Numbers<double> x(e), given(directions * 3 * h), s(h), states(n * directions * h);
    Numbers<double> row(kept());
    for (int64_t side = 0; side < directions; ++side) {
      memset(s.data, 0, size_t(h) * sizeof(double));
      for (int64_t t = 0; t < n; ++t) {
        int64_t i = side ? n - 1 - t : t;
        embed(tokens[from + i], x.data), inputs.define(x.data, given.data);
        const double* own = given.data + side * 3 * h;
        (side ? backwards : forwards).step(own, own + 2 * h, s.data);
        memcpy(&states[(i * directions + side) * h], s.data, size_t(h) * sizeof(double));
      }
    }
    for (int64_t i = 0; i < (design == regard::TOLD ? 1 : n); ++i) {
      const double* of_row = &states[i * directions * h];
      if (design == regard::LOOKING) {
        memcpy(row.data, of_row, size_t(2 * h) * sizeof(double));
        key.define(of_row, row.data + 2 * h);
      } else if (design == regard::TOLD) {
        summary.define(&states[(n - 1) * h], row.data);
        for (int64_t d = 0; d < h; ++d) row[d] = tanh(row[d]);
        told.define(row.data, row.data + h);
      } else {
        Numbers<double> by_word(2 * u), both(2 * u);
        embed(tokens[from + i], x.data), from_word.define(x.data, by_word.data);
        from_state.define(of_row, both.data);
        say(by_word.data, both.data, row.data);
      }
      check(READER, &memory[(from + i) * kept()], row.data, kept());
    }
  }

  // t = max(t~_j, t~_j+u), t~ = a + b
  void say(const double* a, const double* b, double* t) const {
    for (int64_t j = 0; j < u; ++j) t[j] = fmax(a[j] + b[j], a[u + j] + b[u + j]);
  }

  // ---- the target: a hypothesis of each sentence

  bool write(const Library& it, int variant, const Numbers<float>& memory) const {
    Writer writer = {design, h, u, embedded.data, first.product(), state.product(), word.product(),
                     context.product(), candidate.product(), readout.product(), v.data, out.product(),
                     words - 1};
    Network network = {nullptr, nullptr, &writer, words, words, design == regard::SAYING ? 0 : h};
    const int64_t lines[] = {0, 1}, rows[] = {0, 1, 2}, at_once[] = {2, 2}, path[] = {0, 1};
    int64_t longest = 0;
    for (int64_t s = 0; s < SENTENCES; ++s)
      if (source[s + 1] - source[s] > longest) longest = source[s + 1] - source[s];
    Numbers<float> early(2 * h), late(2 * h), logits(2 * words);
    Numbers<double> states(2 * h);
    float* written[] = {early.data, late.data};
    for (int64_t t = 0; t < STEPS; ++t) {
      Numbers<float> weights(2 * longest);
      Rows r = {};
      r.network = &network, r.tokens = tokens + 2 * t, r.first = rows, r.sentences = SENTENCES;
      r.out = logits.data, r.threads = 1 + below(3), r.position = t, r.written = written;
      r.at_once = at_once, r.path = path, r.source = source, r.lines = lines, r.memory = memory.data;
      r.head = -1, r.weights = weights.data, r.longest = longest;
      if (it.rows(variant, &r)) return false;
      for (int64_t s = 0; s < SENTENCES; ++s)
        define_step(s, t, memory, &states[s * h], &logits[s * words], &weights[s * longest]);
    }
    return true;
  }

  void define_step(int64_t s, int64_t t, const Numbers<float>& memory, double* now,
                   const float* logits, const float* weights) const {
    int64_t n = source[s + 1] - source[s];
    Numbers<double> read(n * kept()), features(u), right(words), a(n);
    for (int64_t i = 0; i < read.n; ++i) read[i] = memory[source[s] * kept() + i];
    if (design == regard::SAYING) {
      int64_t i = t < n ? t : n - 1;
      a[i] = 1;
      out.define(&read[i * u], right.data);
      for (int64_t w = 0; w < words && t >= n; ++w) right[w] = w == words - 1 ? 0 : -INFINITY;
    } else {
      renew(read, tokens[2 * t + s], t == 0, n, now, a.data, features.data);
      out.define(features.data, right.data);
    }
    if (design != regard::TOLD) check(WRITER, weights, a.data, n);
    check(WRITER, logits, right.data, words);
  }

  void renew(const Numbers<double>& read, int64_t token, bool is_first, int64_t n, double* now,
             double* a, double* features) const {
    Numbers<double> y(e), sums(made), by_state(3 * h), by_context(made), mixed(2 * h);
    Numbers<double> told_by(2 * u);
    bool looks = design == regard::LOOKING;
    if (is_first) {
      first.define(&read[looks ? h : 0], now);
      for (int64_t d = 0; d < h; ++d) now[d] = tanh(now[d]);
    }
    embed(token, y.data), word.define(y.data, sums.data), state.define(now, by_state.data);
    if (looks) look(read, by_state.data + 2 * h, n, a, mixed.data);
    if (looks) context.define(mixed.data, by_context.data);
    for (int64_t d = 0; d < made; ++d) sums[d] += looks ? by_context[d] : read[h + d];
    if (looks) readout.define(now, told_by.data);
    Gated::renew(candidate, by_state.data, sums.data, sums.data + made - h, now, h);
    if (!looks) readout.define(now, told_by.data);
    say(told_by.data, sums.data + 2 * h, features);
  }

  void look(const Numbers<double>& read, const double* query, int64_t n, double* a,
            double* mixed) const {
    double total = 0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t d = 0; d < h; ++d) a[i] += v[d] * tanh(read[i * 3 * h + 2 * h + d] + query[d]);
      total += exp(a[i]);
    }
    for (int64_t i = 0; i < n; ++i) {
      a[i] = exp(a[i]) / total;
      for (int64_t d = 0; d < 2 * h; ++d) mixed[d] += a[i] * read[i * 3 * h + d];
    }
  }
};

bool translate_once(const Library& it, int variant) {
  int64_t design = below(3), e = one_of({1, 5, 16, 33}), h = one_of({1, 5, 16, 37});
  int64_t u = one_of({1, 7, 16, 29}), words = one_of({7, 64, 131});
  bool small = below(2);
  return Translator(design, e, h, u, words, small).run(it, variant);
}

}  // namespace
