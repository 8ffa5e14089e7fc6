// A decoder of one layer by its definition: its first word, of one hypothesis.
#pragma once
#include "definition.h"
#include "stack.h"

namespace {

using regard::Layer;
using regard::Network;
using regard::Norm;
using regard::Stack;

struct Decoder {
  int64_t width, heads, inner_width, words, source;
  Linear own, own_out, query, cross_out, inner, outer, out;
  Numbers<float> gamma, beta, word, place, memory;

  Decoder(int64_t heads, int64_t head, int64_t inner_width, int64_t words, int64_t source, bool small)
      : width(heads * head), heads(heads), inner_width(inner_width), words(words), source(source),
        own(width, 3 * width, small), own_out(width, width, small), query(width, width, small),
        cross_out(width, width, small), inner(width, inner_width, small),
        outer(inner_width, width, small), out(width, words, small), gamma(width), beta(width),
        word(words * width), place(width), memory(source * 2 * width) {
    gamma.fill(1), beta.fill(1), word.fill(1), place.fill(1), memory.fill(1);
  }

  bool run(const Library& it, int variant) {
    Norm norm = {gamma.data, beta.data, 1e-5};
    Layer layer = {norm, own.product(), own_out.product(), norm, query.product(),
                   cross_out.product(), norm, inner.product(), outer.product()};
    Stack stack = {&layer, 1, width, heads, 1, regard::RELU, norm, out.product(),
                   word.data, 2};
    Network network = {&stack, nullptr, nullptr, words, words, 2 * width};
    Numbers<float> logits(words), written(2 * width), weights(source);
    int64_t token = below(words), first[] = {0, 1}, rows[] = {0, source}, zero = 0, one = 1;
    float* kept = written.data;
    Rows r = {};
    r.network = &network, r.tokens = &token, r.first = first, r.sentences = 1, r.out = logits.data;
    r.threads = 1, r.written = &kept, r.at_once = &one, r.path = &zero, r.source = rows;
    r.lines = &zero, r.memory = memory.data, r.head = -1, r.weights = weights.data;
    r.longest = source, r.positions = place.data;
    if (it.rows(variant, &r)) return false;
    define(token, logits);
    return choose(it, variant, logits);
  }

  void normalise(const Numbers<double>& x, const Numbers<double>& y) const {
    double mean = 0, square = 0;
    for (int64_t d = 0; d < width; ++d) mean += x[d] / double(width);
    for (int64_t d = 0; d < width; ++d) square += (x[d] - mean) * (x[d] - mean) / double(width);
    for (int64_t d = 0; d < width; ++d) y[d] = (x[d] - mean) / sqrt(square + 1e-5) * gamma[d] + beta[d];
  }

  void define(int64_t token, const Numbers<float>& logits) const {
    Numbers<double> x(width), y(width), wide(3 * width + inner_width), part(width), all(words);
    auto add = [&] {
      for (int64_t d = 0; d < width; ++d) x[d] += part[d];
      normalise(x, y);
    };
    for (int64_t d = 0; d < width; ++d) x[d] = 2.0 * word[token * width + d] + place[d];
    normalise(x, y);
    own.define(y.data, wide.data);  // the first word looks at itself alone
    for (int64_t d = 0; d < width; ++d) y[d] = wide[2 * width + d];
    own_out.define(y.data, part.data), add();
    query.define(y.data, wide.data), attend(wide, y), cross_out.define(y.data, part.data), add();
    inner.define(y.data, wide.data, true), outer.define(wide.data, part.data), add();
    out.define(y.data, all.data);
    double most = out.small ? 2e-3 : 2e-5;  // what meets weights of 8 bits is rounded to 16
    for (int64_t v = 0; v < words; ++v) compare(STACK, logits[v], all[v], most * (1 + fabs(all[v])));
  }

  void attend(const Numbers<double>& q, const Numbers<double>& mixed) const {
    int64_t head = width / heads;
    Numbers<double> a(source);
    for (int64_t h = 0; h < heads; ++h) {
      double total = 0;
      for (int64_t i = 0; i < source; ++i) {
        double e = 0;
        for (int64_t d = h * head; d < (h + 1) * head; ++d) e += q[d] * memory[i * 2 * width + d];
        total += a[i] = exp(e / sqrt(double(head)));
      }
      for (int64_t d = h * head; d < (h + 1) * head; ++d) {
        mixed[d] = 0;
        for (int64_t i = 0; i < source; ++i) mixed[d] += a[i] / total * memory[i * 2 * width + width + d];
      }
    }
  }

  // The best of the logits but the first, which is silent.
  bool choose(const Library& it, int variant, const Numbers<float>& logits) const {
    double score = number(), totals[3], norm = 0, before = INFINITY;
    int64_t silent = 0, places[3];
    for (int64_t v = 0; v < words; ++v) norm += exp(double(logits[v]));
    Choice c = {logits.data, &score, 1, 1, words, &silent, 1, 3, totals, places, 1};
    if (it.choose(variant, &c)) return false;
    for (int i = 0; i < 3; ++i) {
      double best = -INFINITY;
      for (int64_t v = 1; v < words; ++v)
        if (logits[v] < before && logits[v] > best) best = logits[v];
      compare(CHOICE, logits[places[i]], best, 1e-30);
      compare(CHOICE, totals[i], score + best - log(norm), 1e-5);
      before = best;
    }
    return true;
  }
};

bool decode_once(const Library& it, int variant) {
  int64_t heads = one_of({1, 3}), head = one_of({1, 5, 16, 37}), inner = one_of({1, 7, 33});
  int64_t words = one_of({7, 64, 131}), source = one_of({1, 5, 19});
  bool small = below(2);
  return Decoder(heads, head, inner, words, source, small).run(it, variant);
}

}  // namespace
