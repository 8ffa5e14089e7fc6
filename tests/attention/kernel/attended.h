// Attention and its statistics by their definition.
#pragma once
#include "definition.h"

namespace {

// A number of one of the three dtypes, and what it stands for.
uint16_t to_bfloat16(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  return uint16_t(bits >> 16);
}

double from_bfloat16(uint16_t x) {
  uint32_t bits = uint32_t(x) << 16;
  float y;
  memcpy(&y, &bits, 4);
  return y;
}

uint16_t random_float16() {  // any but infinity and NaN; of size 2 at most
  uint32_t exponent = uint32_t(below(17));
  return uint16_t(chance() & 0x83ff) | uint16_t(exponent << 10);
}

double from_float16(uint16_t x) {
  int exponent = (x >> 10) & 31, rest = x & 1023;
  double size = exponent ? ldexp(1024 + rest, exponent - 25) : ldexp(rest, -24);
  return x & 0x8000 ? -size : size;
}

struct Input {
  Numbers<uint32_t> memory;
  Array array;
  int64_t dtype;

  // (batch, heads, rows, width), rows of all heads beside each other, columns `apart`; if `tied`,
  // of few different numbers.
  Input(int64_t dtype, int64_t batch, int64_t heads, int64_t rows, int64_t width, int64_t apart,
        float size, bool tied = false)
      : memory(batch * heads * rows * width * apart), dtype(dtype) {
    int64_t row = heads * width * apart;
    array = {memory.data, rows * row, width * apart, row, apart};
    for (int64_t i = 0; i < memory.n; ++i) put(i, (tied ? roundf(number()) : number()) * size);
  }

  void put(int64_t at, float x) const {
    if (dtype == regard::FLOAT32)
      reinterpret_cast<float*>(memory.data)[at] = x;
    else
      reinterpret_cast<uint16_t*>(memory.data)[at] =
          dtype == regard::BFLOAT16 ? to_bfloat16(x) : random_float16();
  }

  int64_t place(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return b * array.batch + h * array.head + i * array.row + j * array.column;
  }

  double at(int64_t b, int64_t h, int64_t i, int64_t j) const {
    int64_t where = place(b, h, i, j);
    if (dtype == regard::FLOAT32) return reinterpret_cast<float*>(memory.data)[where];
    uint16_t half = reinterpret_cast<uint16_t*>(memory.data)[where];
    return dtype == regard::BFLOAT16 ? from_bfloat16(half) : from_float16(half);
  }
};

// Where a mask or a bias (batch, heads, queries, keys) does not differ, it has a stride of 0.
Array broadcast(const void* data, const int64_t (&sizes)[4], bool (&differs)[4]) {
  int64_t step[4] = {}, n = 1;
  for (int axis = 3; axis >= 0; --axis)
    if (differs[axis]) step[axis] = n, n *= sizes[axis];
  return {data, step[0], step[1], step[2], step[3]};
}

int64_t offset(const Array& a, int64_t b, int64_t h, int64_t i, int64_t j) {
  return b * a.batch + h * a.head + i * a.row + j * a.column;
}

struct Attention {
  Call c = {};
  int64_t rows, groups;
  float value_size;
  Input query, key, value;
  Numbers<uint8_t> mask;
  Numbers<float> bias, out, lse, entropy, received, top_weights, high, mean;
  Numbers<int64_t> top_keys;
  Numbers<double> weights, row_lse;
  double largest = 0;  // sum of |q_d k_d| scale, of all pairs

  struct Sizes {
    int64_t dtype, batch, key_heads, groups, queries, keys, width, value_width, top, cells[2];
    float size, value_size;
    bool tied;
  };

  explicit Attention(const Sizes& s)
      : rows(s.batch * s.key_heads * s.groups * s.queries),
        groups(s.groups),
        value_size(s.dtype == regard::FLOAT16 ? 1 : s.value_size),
        query(s.dtype, s.batch, s.key_heads * s.groups, s.queries, s.width, 1, s.size, s.tied),
        key(s.dtype, s.batch, s.key_heads, s.keys, s.width, 1 + below(2), s.size, s.tied),
        value(s.dtype, s.batch, s.key_heads, s.keys, s.value_width, 1 + below(2), s.value_size),
        mask(rows * s.keys), bias(rows * s.keys), out(rows * s.value_width), lse(rows),
        entropy(rows), received(rows / s.queries * s.keys), top_weights(rows * s.top),
        high(rows * s.keys), mean(rows * s.keys), top_keys(rows * s.top),
        weights(rows * s.keys), row_lse(rows) {
    c.query = query.array, c.key = key.array, c.value = value.array;
    c.dtype = s.dtype, c.batch = s.batch, c.heads = s.key_heads * s.groups, c.key_heads = s.key_heads;
    c.queries = s.queries, c.keys = s.keys, c.width = s.width, c.value_width = s.value_width;
    c.out = {out.data, c.heads * s.queries * s.value_width, s.queries * s.value_width, s.value_width, 1};
    c.lse = lse.data, c.entropy = entropy.data, c.received = received.data;
    c.top = s.top, c.top_weights = top_weights.data, c.top_keys = top_keys.data;
    c.cell_rows = s.cells[0], c.cell_columns = s.cells[1];
    c.pooled_max = high.data, c.pooled_mean = mean.data;
    choose();
  }

  // Windows, mask, bias, soft cap and scale of this case; and a value that nobody may see.
  void choose() {
    const int64_t sizes[4] = {c.batch, c.heads, c.queries, c.keys};
    c.before = below(3) ? regard::UNBOUNDED : below(41);
    c.after = below(2) ? regard::UNBOUNDED : below(4) - 1;
    bool differs[4] = {below(2) != 0, below(2) != 0, below(2) != 0, true};
    int64_t hidden = below(c.keys);
    if (below(2)) {
      c.mask = broadcast(mask.data, sizes, differs);
      int64_t often = one_of({2, 5, 10});
      for (int64_t i = 0; i < mask.n; ++i) mask[i] = below(10) < often;
      for (int64_t row = 0; row < rows; ++row)
        mask[offset(c.mask, row / c.queries / c.heads, row / c.queries % c.heads, row % c.queries,
                    hidden)] = 0;
      int64_t b = below(c.batch), h = below(c.key_heads), d = below(c.value_width);
      if (c.dtype == regard::FLOAT32) value.put(value.place(b, h, hidden, d), NAN);
    }
    if (below(3) == 0) {
      differs[3] = below(4) != 0;
      c.bias = broadcast(bias.data, sizes, differs);
      bias.fill(2);
      for (int64_t i = 0; i < bias.n; ++i)
        if (below(9) == 0) bias[i] = below(2) ? -INFINITY : -3.4e38f;  // both are masks
    }
    c.softcap = below(4) ? 0 : 5;
    c.scale = below(4) ? 1 / sqrt(double(c.width)) : below(2) ? 1.0 : -0.3;
    c.threads = 1 + below(3);
  }

  bool seen(int64_t b, int64_t h, int64_t i, int64_t j) const {
    int64_t at = i + c.keys - c.queries;
    if (j < at - c.before || j > at + c.after) return false;
    return !c.mask.data || mask[offset(c.mask, b, h, i, j)];
  }

  double score(int64_t b, int64_t h, int64_t i, int64_t j) {
    double s = 0, size = 0;
    for (int64_t d = 0; d < c.width; ++d) {
      double product = query.at(b, h, i, d) * key.at(b, h / groups, j, d) * c.scale;
      s += product, size += fabs(product);
    }
    if (size > largest) largest = size;
    if (c.softcap != 0) s = c.softcap * tanh(s / c.softcap);
    if (c.bias.data) s += bias[offset(c.bias, b, h, i, j)];
    return s > -1e30 ? s : -INFINITY;
  }

  // Each row's weights and log-sum-exp.
  void define() {
    for (int64_t row = 0; row < rows; ++row) {
      int64_t i = row % c.queries, h = row / c.queries % c.heads, b = row / c.queries / c.heads;
      double* w = weights.data + row * c.keys;
      double most = -INFINITY, total = 0;
      for (int64_t j = 0; j < c.keys; ++j) {
        w[j] = seen(b, h, i, j) ? score(b, h, i, j) : -INFINITY;
        if (w[j] > most) most = w[j];
      }
      for (int64_t j = 0; j < c.keys && most > -INFINITY; ++j) total += exp(w[j] - most);
      double sum = most + log(total);
      row_lse[row] = most > -INFINITY ? sum : -INFINITY;
      for (int64_t j = 0; j < c.keys; ++j) w[j] = most > -INFINITY ? exp(w[j] - sum) : 0;
    }
  }

  void check() {
    double most = 3e-7 * (10 + largest);  // five roundings of a sum so large, or of a small one
    for (int64_t row = 0; row < rows; ++row) {
      int64_t i = row % c.queries, h = row / c.queries % c.heads, b = row / c.queries / c.heads;
      const double* w = weights.data + row * c.keys;
      double spread = 0;
      for (int64_t j = 0; j < c.keys; ++j) spread -= w[j] > 0 ? w[j] * log(w[j]) : 0;
      compare(LSE, lse[row], row_lse[row], most);
      compare(ENTROPY, entropy[row], spread, 2 * most * (1 + spread));  // a difference of two
      for (int64_t d = 0; d < c.value_width; ++d) {
        double mixed = 0;
        for (int64_t j = 0; j < c.keys; ++j)
          if (seen(b, h, i, j) && w[j] > 0) mixed += w[j] * value.at(b, h / groups, j, d);
        compare(OUT, out[row * c.value_width + d] / value_size, mixed / value_size, most);
      }
      check_top(row, w, most);
    }
    for (int64_t at = 0; at < received.n; ++at) {
      double total = 0;
      for (int64_t i = 0; i < c.queries; ++i)
        total += weights[(at / c.keys * c.queries + i) * c.keys + at % c.keys];
      compare(RECEIVED, received[at], total, most * (1 + total));
    }
    for (int64_t head = 0; head < rows / c.queries; ++head) check_pooled(head, most);
  }

  // The k-th largest is the number with k - 1 larger ones; the keys differ and have these weights,
  // the first key first where they are equal.
  void check_top(int64_t row, const double* w, double most) const {
    for (int64_t k = 0; k < c.top; ++k) {
      double got = top_weights[row * c.top + k];
      int64_t larger = 0, not_smaller = 0, at = top_keys[row * c.top + k];
      for (int64_t j = 0; j < c.keys; ++j) larger += w[j] > got + most, not_smaller += w[j] >= got - most;
      bool fine = larger <= k && not_smaller > k && at >= 0 && at < c.keys;
      for (int64_t other = 0; other < k; ++other) fine &= top_keys[row * c.top + other] != at;
      int64_t before = k > 0 ? top_keys[row * c.top + k - 1] : -1;
      bool tied = k > 0 && w[at] == w[before] && got == top_weights[row * c.top + k - 1];
      if (fine && tied) fine = before < at;
      compare(TOP, fine ? got : NAN, fine ? w[at] : 0, most);
    }
  }

  void check_pooled(int64_t head, double most) const {
    int64_t down = (c.queries + c.cell_rows - 1) / c.cell_rows;
    int64_t across = (c.keys + c.cell_columns - 1) / c.cell_columns;
    for (int64_t cell = 0; cell < down * across; ++cell) {
      double peak = 0, total = 0, n = 0;
      int64_t top_row = cell / across * c.cell_rows, left = cell % across * c.cell_columns;
      for (int64_t i = top_row; i < top_row + c.cell_rows && i < c.queries; ++i)
        for (int64_t j = left; j < left + c.cell_columns && j < c.keys; ++j) {
          double w = weights[(head * c.queries + i) * c.keys + j];
          peak = w > peak ? w : peak, total += w, n += 1;
        }
      compare(POOLED, high[head * down * across + cell], peak, most);
      if (c.cell_rows > 1 || c.cell_columns > 1)  // else the mean is the maximum, and is not written
        compare(POOLED, mean[head * down * across + cell], total / n, most);
    }
  }
};

Attention::Sizes sizes() {
  Attention::Sizes s = {};
  s.dtype = below(2) ? regard::FLOAT32 : below(3);
  s.batch = 1 + below(2), s.key_heads = 1 + below(2), s.groups = one_of({1, 1, 2, 3});
  s.queries = one_of({1, 2, 3, 7, 13, 29, 53}), s.keys = one_of({1, 3, 17, 31, 67, 131, 293, 521});
  s.width = one_of({1, 5, 8, 16, 23, 40, 64}), s.value_width = one_of({1, 5, 8, 16, 23, 40, 64});
  s.top = one_of({1, 3, 8, 13, 32});
  if (s.top > s.keys) s.top = s.keys;
  s.cells[0] = one_of({1, 2, 5}), s.cells[1] = one_of({1, 3, 8});
  int64_t size = below(8);
  s.size = size == 0 ? 100.0f : size < 3 ? 12.0f : 2.0f;  // 100: scores of thousands
  s.tied = below(6) == 0;
  int64_t extreme = below(12);
  s.value_size = extreme == 0 ? 3e37f : extreme == 1 ? 1e-30f : 1.0f;
  return s;
}

bool attend_once(const Library& it, int variant) {
  Attention x(sizes());
  x.define();
  if (it.attend(variant, &x.c)) return false;
  x.check();
  return true;
}

}  // namespace
