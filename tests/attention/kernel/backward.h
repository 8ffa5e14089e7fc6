// Attention's gradient by its definition.
#pragma once
#include "attended.h"

namespace {

struct Backward {
  Call c = {};
  Gradient g = {};
  int64_t groups;
  Input query, key, value, d_out;
  Numbers<uint8_t> mask;
  Numbers<float> out, lse, d_query, d_key, d_value;
  Numbers<double> of_query, of_key, of_value;        // the definition's
  Numbers<double> size_query, size_key, size_value;  // the same with every term's size
  double largest = 0;

  Backward(int64_t batch, int64_t key_heads, int64_t groups, int64_t queries, int64_t keys,
           int64_t width, int64_t wide)
      : groups(groups),
        query(regard::FLOAT32, batch, key_heads * groups, queries, width, 1, 2),
        key(regard::FLOAT32, batch, key_heads, keys, width, 1 + below(2), 2),
        value(regard::FLOAT32, batch, key_heads, keys, wide, 1 + below(2), 1),
        d_out(regard::FLOAT32, batch, key_heads * groups, queries, wide, 1 + below(2), 1),
        mask(batch * queries * keys), out(d_out.memory.n), lse(batch * key_heads * groups * queries),
        d_query(query.memory.n), d_key(key.memory.n), d_value(value.memory.n),
        of_query(query.memory.n), of_key(key.memory.n), of_value(value.memory.n),
        size_query(query.memory.n), size_key(key.memory.n), size_value(value.memory.n) {
    c.query = query.array, c.key = key.array, c.value = value.array, c.lse = lse.data;
    c.batch = batch, c.heads = key_heads * groups, c.key_heads = key_heads;
    c.queries = queries, c.keys = keys, c.width = width, c.value_width = wide;
    c.out = {out.data, c.heads * queries * wide, queries * wide, wide, 1};
    c.before = below(3) ? regard::UNBOUNDED : below(41);
    c.after = below(2) ? regard::UNBOUNDED : below(4) - 1;
    c.scale = 1 / sqrt(double(width)), c.threads = 1 + below(3);
    for (int64_t i = 0; i < mask.n; ++i) mask[i] = below(10) < 7;
    if (below(2)) c.mask = {mask.data, queries * keys, 0, below(2) ? keys : 0, 1};
    g = {d_out.array, beside(d_query, c.heads, queries, width), beside(d_key, key_heads, keys, width),
         beside(d_value, key_heads, keys, wide)};
  }

  static Array beside(const Numbers<float>& x, int64_t heads, int64_t rows, int64_t width) {
    return {x.data, rows * heads * width, width, heads * width, 1};
  }

  bool run(const Library& it, int variant) {
    if (it.attend(variant, &c) || it.attend_back(variant, &c, &g)) return false;
    for (int64_t row = 0; row < lse.n; ++row)
      define(row / c.queries / c.heads, row / c.queries % c.heads, row % c.queries);
    double most = 3e-7 * (10 + largest);
    auto check = [&](const Numbers<float>& got, const Numbers<double>& right,
                     const Numbers<double>& size) {
      for (int64_t i = 0; i < got.n; ++i) compare(BACK, got[i], right[i], most * (1e-3 + size[i]));
    };
    check(d_query, of_query, size_query), check(d_key, of_key, size_key);
    check(d_value, of_value, size_value);
    return true;
  }

  bool seen(int64_t b, int64_t i, int64_t j) const {
    int64_t at = i + c.keys - c.queries;
    if (j < at - c.before || j > at + c.after) return false;
    return !c.mask.data || mask[offset(c.mask, b, 0, i, j)];
  }

  // What one query adds to the gradients.
  void define(int64_t b, int64_t h, int64_t i) {
    int64_t k = h / groups;
    Numbers<double> a(c.keys), d_a(c.keys), size(c.keys);
    double high = -INFINITY, total = 0, mean = 0, mean_size = 0;
    for (int64_t j = 0; j < c.keys; ++j) {
      double sizes = 0;
      for (int64_t d = 0; d < c.width; ++d) {
        double product = query.at(b, h, i, d) * key.at(b, k, j, d) * c.scale;
        a[j] += product, sizes += fabs(product);
      }
      for (int64_t d = 0; d < c.value_width; ++d) {
        double product = d_out.at(b, h, i, d) * value.at(b, k, j, d);
        d_a[j] += product, size[j] += fabs(product);
      }
      if (sizes > largest) largest = sizes;
      if (seen(b, i, j) && a[j] > high) high = a[j];
    }
    for (int64_t j = 0; j < c.keys; ++j) total += a[j] = seen(b, i, j) ? exp(a[j] - high) : 0;
    for (int64_t j = 0; j < c.keys; ++j) {
      a[j] = total > 0 ? a[j] / total : 0;
      mean += a[j] * d_a[j], mean_size += a[j] * size[j];
    }
    for (int64_t j = 0; j < c.keys; ++j) {
      double d_s = a[j] * (d_a[j] - mean) * c.scale, d_size = a[j] * (size[j] + mean_size) * c.scale;
      for (int64_t d = 0; d < c.width; ++d) {
        int64_t of_q = offset(g.d_query, b, h, i, d), of_k = offset(g.d_key, b, k, j, d);
        add(of_query, size_query, of_q, d_s * key.at(b, k, j, d), d_size * key.at(b, k, j, d));
        add(of_key, size_key, of_k, d_s * query.at(b, h, i, d), d_size * query.at(b, h, i, d));
      }
      for (int64_t d = 0; d < c.value_width; ++d) {
        double term = a[j] * d_out.at(b, h, i, d);
        add(of_value, size_value, offset(g.d_value, b, k, j, d), term, term);
      }
    }
  }

  static void add(const Numbers<double>& to, const Numbers<double>& sizes, int64_t at, double x,
                  double size) {
    to[at] += x, sizes[at] += fabs(size);
  }
};

bool attend_back_once(const Library& it, int variant) {
  int64_t batch = 1 + below(2), key_heads = 1 + below(2), groups = one_of({1, 1, 2, 3});
  int64_t queries = one_of({1, 2, 7, 13, 20, 29, 53, 101}), keys = one_of({1, 3, 17, 20, 31, 67, 131});
  int64_t width = one_of({1, 5, 8, 16, 32, 40}), wide = one_of({1, 5, 8, 16, 32, 40});
  return Backward(batch, key_heads, groups, queries, keys, width, wide).run(it, variant);
}

}  // namespace
