// Runs the kernel on arrays that end exactly where they should, for AddressSanitizer to watch.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <vector>

#include "additive.h"
#include "gradient.h"
#include "kernel.h"
#include "recurrent.h"
#include "scan.h"
#include "search.h"
#include "stack.h"

extern "C" int regard_search(int variant, const regard::Search* search);
extern "C" void regard_look(int variant, const regard::Look* look, int back, int64_t t, int64_t from,
                            int64_t to);
extern "C" int regard_scan(int variant, const regard::Scan* scan, int back);
extern "C" int regard_attend(int variant, const regard::Call* call);
extern "C" int regard_attend_back(int variant, const regard::Call* call,
                                  const regard::Gradient* gradient);
extern "C" int regard_runs_here(int i);
extern "C" const char* regard_variant(int i);

namespace {

unsigned state = 1;
float number() {
  state = state * 1664525u + 1013904223u;
  return float(state >> 8) / float(1 << 23) - 1.0f;
}

std::vector<float> numbers(size_t n) {
  std::vector<float> x(n);
  for (float& value : x) value = number();
  return x;
}

regard::Array rows_of(const void* data, int64_t heads, int64_t rows, int64_t width) {
  return {data, heads * rows * width, rows * width, width, 1};
}

// Every statistic of one shape; the sum of the outputs, which must be a number.
bool run(int variant, int64_t queries, int64_t keys, int64_t width, int64_t groups, int64_t top,
         int64_t cell, int64_t before, int64_t after, bool masked, bool biased, int64_t threads) {
  const int64_t batch = 2, key_heads = 2, heads = key_heads * groups, n = batch * heads * queries;
  auto q = numbers(n * width), k = numbers(batch * key_heads * keys * width);
  auto v = numbers(batch * key_heads * keys * width), bias = numbers(queries * keys);
  std::vector<unsigned char> mask(queries * keys);
  for (auto& m : mask) m = number() > 0;
  std::vector<float> out(n * width), lse(n), entropy(n), received(batch * heads * keys);
  std::vector<float> top_weights(n * top);
  std::vector<int64_t> top_keys(n * top);
  int64_t down = (queries + cell - 1) / cell, across = (keys + cell - 1) / cell;
  std::vector<float> high(batch * heads * down * across), mean(high.size());
  regard::Call c = {};
  c.query = rows_of(q.data(), heads, queries, width);
  c.key = rows_of(k.data(), key_heads, keys, width);
  c.value = rows_of(v.data(), key_heads, keys, width);
  c.out = rows_of(out.data(), heads, queries, width);
  if (masked) c.mask = {mask.data(), 0, 0, keys, 1};
  if (biased) c.bias = {bias.data(), 0, 0, keys, 1};
  c.batch = batch, c.heads = heads, c.key_heads = key_heads;
  c.queries = queries, c.keys = keys, c.width = c.value_width = width;
  c.before = before, c.after = after;
  c.lse = lse.data(), c.entropy = entropy.data(), c.received = received.data();
  c.top = top, c.top_weights = top_weights.data(), c.top_keys = top_keys.data();
  c.cell_rows = c.cell_columns = cell;
  c.pooled_max = high.data(), c.pooled_mean = mean.data();
  c.threads = threads, c.scale = 0.5;
  if (regard_attend(variant, &c)) return false;
  double total = 0;
  for (auto* x : {&out, &entropy, &received, &top_weights, &high, &mean})
    for (float value : *x) total += value;
  for (int64_t key : top_keys)
    if (key < 0 || key >= keys) return false;
  if (!biased) {  // and back
    std::vector<float> d_out(out.size(), 1), d_query(q.size()), d_key(k.size()), d_value(v.size());
    regard::Gradient g = {rows_of(d_out.data(), heads, queries, width),
                          rows_of(d_query.data(), heads, queries, width),
                          rows_of(d_key.data(), key_heads, keys, width),
                          rows_of(d_value.data(), key_heads, keys, width)};
    if (regard_attend_back(variant, &c, &g)) return false;
    for (auto* x : {&d_query, &d_key, &d_value})
      for (float value : *x) total += value;
  }
  return isfinite(total);
}

// A step of additive attention and back; whether its gradients are numbers.
bool look(int variant, int64_t slots, int64_t hidden, int64_t width) {
  const int64_t batch = 3;
  auto keys = numbers(batch * slots * hidden), queries = numbers(batch * hidden);
  auto v = numbers(hidden), values = numbers(batch * slots * width), mixed = numbers(batch * width);
  std::vector<unsigned char> forbidden(batch * slots);
  forbidden[0] = 1;
  auto d_mixed = numbers(batch * width);
  std::vector<float> weights(batch * slots), d_scores(weights);
  std::vector<float> d_queries(batch * hidden), d_v(d_queries), d_squares(keys.size());
  regard::Look c = {};
  c.keys = {keys.data(), 0, slots * hidden, hidden}, c.queries = {queries.data(), 0, hidden, 0};
  c.v = {v.data(), 0, 0, 0}, c.values = {values.data(), 0, slots * width, width};
  c.weights = {weights.data(), 0, slots, 1}, c.mixed = {mixed.data(), 0, width, 0};
  c.forbidden = forbidden.data(), c.forbidden_stride = slots;
  c.batch = batch, c.hidden = hidden, c.width = width, c.threads = 2;
  c.d_mixed = {d_mixed.data(), 0, width, 0}, c.d_queries = {d_queries.data(), 0, hidden, 0};
  c.d_scores = {d_scores.data(), 0, slots, 1}, c.d_v = {d_v.data(), 0, hidden, 0};
  c.d_squares = {d_squares.data(), 0, slots * hidden, hidden};
  for (int back : {0, 1}) regard_look(variant, &c, back, 0, 0, slots);
  double total = 0;
  for (auto* x : {&mixed, &d_queries, &d_scores, &d_squares, &d_v})
    for (float value : *x) total += value;
  return isfinite(total);
}

// A scan of some words behind some slots and back; whether its gradients are numbers.
bool scan(int variant, int64_t design, int64_t words, int64_t slots, int64_t hidden, int64_t window) {
  const int64_t batch = 3, all = slots + words, own = design == regard::LSTMN ? 4 : 1;
  const int64_t width = design == regard::LSTMN ? 2 * hidden : hidden, row = batch * hidden;
  auto tape = numbers(batch * all * width), keys = numbers(batch * all * hidden), v = numbers(hidden);
  auto sums = numbers(words * own * row), queries = numbers(words * row), summary = numbers(row);
  auto recurrent = numbers(own * hidden * hidden), square = numbers(hidden * hidden);
  auto d_mixed = numbers(words * batch * width), d_states = numbers(words * row), d_tape = numbers(tape.size());
  std::vector<float> weights(words * batch * all), mixed(d_mixed.size()), d_sums(sums.size());
  std::vector<float> d_queries(queries.size()), d_scores(batch * all), d_squares(keys.size()), d_v(row);
  regard::Scan c = {};
  regard::Look& look = c.look;
  look.keys = {keys.data(), 0, all * hidden, hidden}, look.queries = {queries.data(), row, hidden, 0};
  look.v = {v.data(), 0, 0, 0}, look.values = {tape.data(), 0, all * width, width};
  look.weights = {weights.data(), batch * all, all, 1};
  look.mixed = {mixed.data(), batch * width, width, 0};
  look.batch = batch, look.hidden = hidden, look.width = width, look.threads = 2;
  c.design = design, c.words = words, c.slots = slots, c.window = window;
  c.sums = {sums.data(), own * row, own * hidden, 0}, c.summary = {summary.data(), 0, hidden, 0};
  c.recurrent = recurrent.data(), c.key = c.query = square.data();
  if (design == regard::SELFATTENTIVE) c.previous = square.data();
  if (regard_scan(variant, &c, 0)) return false;
  look.d_mixed = {d_mixed.data(), width, words * width, 0};
  look.d_queries = {d_queries.data(), row, hidden, 0}, look.d_scores = {d_scores.data(), 0, all, 1};
  look.d_squares = {d_squares.data(), 0, all * hidden, hidden}, look.d_v = {d_v.data(), 0, hidden, 0};
  c.d_sums = {d_sums.data(), own * row, own * hidden, 0};
  c.d_states = {d_states.data(), row, hidden, 0}, c.d_tape = {d_tape.data(), 0, all * width, width};
  if (regard_scan(variant, &c, 1)) return false;
  double total = 0;
  for (auto* x : {&tape, &keys, &mixed, &d_sums, &d_queries, &d_scores, &d_squares, &d_v})
    for (float value : *x) total += value;
  return isfinite(total);
}

// Weights of a network, each in an array of its own.
struct Weights {
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<int8_t>> bytes;
  bool small;

  const float* row(int64_t n) { return floats.emplace_back(numbers(size_t(n))).data(); }

  regard::Product product(int64_t in, int64_t out) {
    int64_t panels = (out + regard::PANEL - 1) / regard::PANEL * regard::PANEL;
    regard::Product p = {nullptr, nullptr, row(panels), row(panels), in, out};
    if (small) {
      auto& made = bytes.emplace_back(size_t(panels * ((in + 1) / 2 * 2)));
      for (auto& x : made) x = int8_t(127 * number());
      p.bytes = made.data();
    } else {
      p.weight = row(panels * in);
    }
    return p;
  }

  regard::Norm norm(int64_t width) { return {row(width), row(width), 1e-5}; }

  regard::Layer layer(int64_t width, int64_t inner) {
    return {norm(width), product(width, 3 * width), product(width, width),
            norm(width), product(width, width),     product(width, width),
            norm(width), product(width, inner),     product(inner, width)};
  }
};

// What reads and what writes.
struct Pair {
  regard::Layer layers[2];
  regard::Stack stacks[2];
  regard::Reader reader;
  regard::Writer writer;
  regard::Network encoder, decoder;
};

const int64_t WIDTH = 10, INNER = 17, WORDS = 23;

void of_layers(Weights& w, Pair& p) {
  for (auto& layer : p.layers) layer = w.layer(WIDTH, INNER);
  const float* words = w.row(WORDS * WIDTH);
  p.stacks[0] = {p.layers, 1, WIDTH, 2, 1, regard::RELU, w.norm(WIDTH),
                 w.product(WIDTH, 2 * WIDTH), words, 3.0};
  p.stacks[1] = {p.layers + 1, 1, WIDTH, 2, 0, regard::SILU, {}, w.product(WIDTH, WORDS), words, 3.0};
  p.encoder = {p.stacks, nullptr, nullptr, WORDS, 2 * WIDTH, 0};
  p.decoder = {p.stacks + 1, nullptr, nullptr, WORDS, WORDS, 2 * WIDTH};
}

void recurrent(Weights& w, Pair& p, int64_t design) {
  const int64_t hidden = 7, units = 5, sums = 3 * hidden + 2 * units;
  bool looks = design == regard::LOOKING, says = design == regard::SAYING;
  int64_t both = looks ? 2 : 1, context = both * hidden;
  auto unit = [&] { return regard::Unit{w.product(hidden, 2 * hidden), w.product(hidden, hidden)}; };
  const float* words = w.row(WORDS * WIDTH);
  regard::Reader& r = p.reader = {};
  r.design = design, r.hidden = hidden, r.units = units, r.words = words;
  r.inputs = w.product(WIDTH, both * 3 * hidden), r.forwards = unit();
  if (looks) r.backwards = unit(), r.key = w.product(2 * hidden, hidden);
  if (design == regard::TOLD) r.summary = w.product(hidden, hidden), r.context = w.product(hidden, sums);
  if (says) r.from_state = w.product(hidden, 2 * units), r.from_word = w.product(WIDTH, 2 * units);
  regard::Writer& t = p.writer = {};
  t.design = design, t.units = units, t.words = words, t.end = 3, t.out = w.product(units, WORDS);
  if (!says) {
    t.hidden = hidden, t.v = w.row(hidden), t.first = w.product(hidden, hidden);
    t.state = w.product(hidden, (looks ? 3 : 2) * hidden), t.word = w.product(WIDTH, sums);
    t.candidate = w.product(hidden, hidden), t.readout = w.product(hidden, 2 * units);
  }
  if (looks) t.context = w.product(context, sums);
  int64_t made = looks ? 3 * hidden : says ? units : hidden + sums;
  p.encoder = {nullptr, &p.reader, nullptr, WORDS, made, 0};
  p.decoder = {nullptr, nullptr, &p.writer, WORDS, WORDS, t.hidden};
}

// A search of three sentences by a design, -1 is a stack; whether every score is a number.
bool look_for(int variant, int64_t design, int64_t beam, bool small, int64_t threads) {
  const int64_t limit = 7, best = beam < 2 ? 1 : 2;
  Weights w = {{}, {}, small};
  w.floats.reserve(100), w.bytes.reserve(100);
  Pair pair;
  design < 0 ? of_layers(w, pair) : recurrent(w, pair, design);
  std::vector<int64_t> tokens = {4, 3, 5, 6, 7, 3, 22, 3}, first = {0, 2, 6, 8}, silent = {0, 2};
  std::vector<int64_t> limits = {limit, 1, 3}, room = {0, best * 2 * limit, best * (2 * limit + 4)};
  std::vector<double> scores(3 * best);
  std::vector<int64_t> lengths(3 * best), said(3 * best * limit);
  std::vector<float> weights(size_t(room[2] + best * 2 * 3));
  regard::Search c = {};
  c.encoder = &pair.encoder, c.decoder = &pair.decoder, c.positions = w.row(limit * WIDTH);
  c.tokens = tokens.data(), c.first = first.data(), c.sentences = 3, c.limits = limits.data();
  c.beam = beam, c.best = best, c.penalty = 1, c.begin = 2, c.end = 3, c.silent = silent.data();
  c.silent_count = 2, c.head = -1, c.threads = threads, c.scores = scores.data();
  c.lengths = lengths.data(), c.said = said.data(), c.longest = limit;
  c.weights = weights.data(), c.room = room.data();
  if (regard_search(variant, &c) != regard::FOUND) return false;
  for (double score : scores)
    if (!isfinite(score)) return false;
  return true;
}

}  // namespace

int main() {
  const int64_t far = regard::UNBOUNDED;
  int runs = 0;
  for (int variant = 0; regard_variant(variant); ++variant) {
    if (!regard_runs_here(variant)) continue;
    for (int64_t queries : {1, 2, 7, 50})
      for (int64_t keys : {1, 5, 33, 70, 290})
        for (int64_t width : {1, 8, 24, 80})
          for (int option = 0; option < 4; ++option) {
            int64_t before = option == 2 ? 9 : far, after = option == 0 ? far : 0;
            int64_t top = keys < 3 ? keys : option == 3 && keys > 13 ? 13 : 3;
            bool fine = run(variant, queries, keys, width, 1 + option % 3, top, 1 + 3 * option,
                            before, after, option == 3, option == 1, 1 + option % 2);
            if (!fine) return printf("wrong: %d %d %d\n", int(queries), int(keys), int(width)), 1;
            ++runs;
          }
    for (int64_t slots : {1, 13, 300})
      for (int64_t hidden : {3, 67}) {
        if (!look(variant, slots, hidden, 2 * hidden - 1)) return printf("wrong look\n"), 1;
        ++runs;
      }
    for (int64_t design : {regard::SELFATTENTIVE, regard::LSTMN})
      for (int64_t words : {1, 17, 40})
        for (int64_t slots : {0, 5})
          for (int64_t hidden : {3, 16, 37}) {
            int64_t window = words == 40 ? 7 : 0;
            if (!scan(variant, design, words, slots, hidden, window)) return printf("wrong scan\n"), 1;
            ++runs;
          }
    for (int64_t design : {-1, 0, 1, 2})
      for (int64_t beam : {1, 2, 5})
        for (bool small : {false, true}) {
          if (!look_for(variant, design, beam, small, 1 + beam % 2)) return printf("wrong search\n"), 1;
          ++runs;
        }
  }
  printf("%d runs\n", runs);
}
