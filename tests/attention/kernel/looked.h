// Additive attention by its definition: one step, and back.
#pragma once
#include "definition.h"

namespace {

struct Additive {
  int64_t batch, slots, hidden, width, from, to;
  Numbers<float> keys, query, v, values, weights, mixed, d_mixed;
  Numbers<float> d_query, d_scores, d_squares, d_v;
  Numbers<uint8_t> forbidden;

  Additive(int64_t batch, int64_t slots, int64_t hidden, int64_t width)
      : batch(batch), slots(slots), hidden(hidden), width(width),
        keys(batch * slots * hidden), query(batch * hidden), v(hidden), values(batch * slots * width),
        weights(batch * slots), mixed(batch * width), d_mixed(batch * width),
        d_query(batch * hidden), d_scores(batch * slots), d_squares(batch * slots * hidden),
        d_v(batch * hidden), forbidden(batch * slots) {
    query.fill(2), v.fill(2), values.fill(2), d_mixed.fill(2);
    keys.fill(below(3) ? 2.0f : 40.0f);
    for (int64_t i = 0; i < forbidden.n; ++i) forbidden[i] = below(4) == 0;
    if (below(2)) memset(forbidden.data, 1, size_t(slots));  // the first sequence sees nothing
    from = below(slots), to = from + 1 + below(slots - from);
    for (int64_t i = 0; i < forbidden.n; ++i)
      if (forbidden[i]) keys[i * hidden] = values[i * width] = NAN;
  }

  void run(const Library& it, int variant) {
    Look c = {};
    c.keys = {keys.data, 0, slots * hidden, hidden}, c.queries = {query.data, 0, hidden, 0};
    c.v = {v.data, 0, 0, 0}, c.values = {values.data, 0, slots * width, width};
    c.weights = {weights.data, 0, slots, 1}, c.mixed = {mixed.data, 0, width, 0};
    c.forbidden = forbidden.data, c.forbidden_stride = slots;
    c.batch = batch, c.hidden = hidden, c.width = width, c.threads = 1 + below(3);
    it.look(variant, &c, 0, 0, from, to);
    c.d_mixed = {d_mixed.data, 0, width, 0}, c.d_queries = {d_query.data, 0, hidden, 0};
    c.d_scores = {d_scores.data, 0, slots, 1}, c.d_v = {d_v.data, 0, hidden, 0};
    c.d_squares = {d_squares.data, 0, slots * hidden, hidden};
    it.look(variant, &c, 1, 0, from, to);
    for (int64_t b = 0; b < batch; ++b) check(b);
  }

  void check(int64_t b) const {
    Numbers<double> a(slots), d_score(slots);
    double high = -INFINITY, total = 0, mean = 0, size = 0;
    for (int64_t d = 0; d < hidden; ++d) size += fabs(double(v[d]));
    double most = 3e-7 * (1 + size);
    for (int64_t i = from; i < to; ++i) {
      for (int64_t d = 0; d < hidden; ++d) a[i] += v[d] * bent(b, i, d);
      if (!forbidden[b * slots + i] && a[i] > high) high = a[i];
    }
    for (int64_t i = from; i < to; ++i) total += a[i] = forbidden[b * slots + i] ? 0 : exp(a[i] - high);
    for (int64_t i = from; i < to; ++i) {
      a[i] = total > 0 ? a[i] / total : 0;
      compare(LOOK, weights[b * slots + i], a[i], most);
      for (int64_t d = 0; d < width && a[i] > 0; ++d)
        d_score[i] += double(d_mixed[b * width + d]) * values[(b * slots + i) * width + d];
      mean += a[i] * d_score[i];
    }
    for (int64_t d = 0; d < width; ++d) {
      double sum = 0;
      for (int64_t i = from; i < to; ++i)
        if (a[i] > 0) sum += a[i] * values[(b * slots + i) * width + d];
      compare(LOOK, mixed[b * width + d], sum, most);
    }
    most *= 4 * sqrt(double(width));  // of a product of so many gradients and values
    for (int64_t d = 0; d < hidden; ++d) {
      double of_query = 0, of_v = 0;
      for (int64_t i = from; i < to; ++i) {
        if (a[i] == 0) continue;
        double e = a[i] * (d_score[i] - mean), t = bent(b, i, d), of_key = e * v[d] * (1 - t * t);
        of_query += of_key, of_v += e * t;
        double got = (d_scores[b * slots + i] - d_squares[(b * slots + i) * hidden + d]) * v[d];
        compare(GRADIENT, got, of_key, most);
      }
      compare(GRADIENT, d_query[b * hidden + d], of_query, most);
      compare(GRADIENT, d_v[b * hidden + d], of_v, most);
    }
  }

  double bent(int64_t b, int64_t i, int64_t d) const {
    return tanh(double(keys[(b * slots + i) * hidden + d]) + query[b * hidden + d]);
  }
};

void look_once(const Library& it, int variant) {
  int64_t batch = one_of({1, 3}), slots = one_of({1, 7, 61});  // drawn in order: arguments are not
  int64_t hidden = one_of({1, 5, 16, 37, 67}), width = one_of({1, 11, 32, 131});
  Additive(batch, slots, hidden, width).run(it, variant);
}

}  // namespace
