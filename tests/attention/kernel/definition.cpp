// The kernel against its definition in float64: every variant of a library that runs on this CPU.
//
//     definition path/to/kernel.so [cases]
//
// Prints the largest error of each result as a share of what rounding explains, and exits with 1 if
// one is above 1. Written without C++'s own library, so that any cross compiler makes it at once.
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "additive.h"
#include "choice.h"
#include "kernel.h"
#include "rows.h"
#include "stack.h"

namespace {

using regard::Array;
using regard::Call;
using regard::Choice;
using regard::Layer;
using regard::Look;
using regard::Network;
using regard::Norm;
using regard::PANEL;
using regard::Product;
using regard::Rows;
using regard::Stack;
using regard::Tape;

struct Library {
  const char* (*variant)(int);
  int (*runs_here)(int);
  int (*attend)(int, const Call*);
  void (*look)(int, const Look*, int, int64_t, int64_t, int64_t);
  int (*rows)(int, const Rows*);
  int (*choose)(int, const Choice*);
};

// ---- chance, the same on every machine

uint32_t state;

uint32_t chance() {
  state ^= state << 13, state ^= state >> 17, state ^= state << 5;
  return state;
}

int64_t below(int64_t n) { return int64_t(chance() % uint32_t(n)); }

template <size_t N>
int64_t one_of(const int (&choices)[N]) {
  return choices[below(N)];
}

float number() { return float(chance() >> 8) / float(1 << 23) - 1.0f; }  // from -1 to 1

// ---- memory: zeros, given back at the end of a case

template <class T>
struct Numbers {
  T* data;
  int64_t n;

  explicit Numbers(int64_t size) : data(static_cast<T*>(calloc(size_t(size + 1), sizeof(T)))), n(size) {
    if (!data) exit(printf("no memory\n"));
  }
  Numbers(const Numbers&) = delete;
  ~Numbers() { free(data); }
  T& operator[](int64_t i) const { return data[i]; }

  void fill(float size) const {
    for (int64_t i = 0; i < n; ++i) data[i] = T(number() * size);
  }
};

// ---- the errors found

enum Result { OUT, LSE, ENTROPY, RECEIVED, TOP, POOLED, LOOK, GRADIENT, STACK, CHOICE, RESULTS };
const char* const NAMES[] = {"context", "lse", "entropy", "received", "top", "pooled", "look", "gradient",
                             "stack", "choice"};
double worst[RESULTS];

// `most` is how much rounding may take away from `expected`.
void compare(Result what, double got, double expected, double most) {
  double error = got == expected ? 0 : fabs(got - expected) / most;
  if (isnan(got) && isnan(expected)) error = 0;
  if (!(error <= worst[what])) worst[what] = isnan(error) ? INFINITY : error;
}

// ---- attention

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

// ---- additive attention, one step and back

struct Additive {
  int64_t batch, slots, hidden, width, from, to;
  Numbers<float> keys, query, v, values, weights, mixed, d_mixed;
  Numbers<float> d_e, d_query, d_scores, d_squares, d_v;
  Numbers<uint8_t> forbidden;

  Additive(int64_t batch, int64_t slots, int64_t hidden, int64_t width)
      : batch(batch), slots(slots), hidden(hidden), width(width),
        keys(batch * slots * hidden), query(batch * hidden), v(hidden), values(batch * slots * width),
        weights(batch * slots), mixed(batch * width), d_mixed(batch * width), d_e(batch * slots),
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
    c.mixed = {d_mixed.data, 0, width, 0};
    c.d_e = {d_e.data, 0, slots, 1}, c.d_queries = {d_query.data, 0, hidden, 0};
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

// ---- a decoder of one layer: its first word, of one hypothesis

// A product and its weights as they are (out, in), before they are laid out in panels: as floats, or
// as whole numbers of 8 bits times a scale.
struct Linear {
  int64_t in, out;
  bool small;
  Numbers<float> weight, bias, scale, panels;
  Numbers<int8_t> bytes;

  Linear(int64_t in, int64_t out, bool small)
      : in(in), out(out), small(small), weight(in * out), bias(out + PANEL), scale(out + PANEL),
        panels((out + PANEL) * in), bytes((out + PANEL) * (in + 1)) {
    for (int64_t o = 0; o < out; ++o) {
      bias[o] = number(), scale[o] = (1 + number() / 2) / (127 * sqrtf(float(in)));
      for (int64_t i = 0; i < in; ++i) lay_out(o, i);
    }
  }

  void lay_out(int64_t o, int64_t i) const {
    auto whole = int8_t(127 * number());
    weight[o * in + i] = scale[o] * float(whole);
    panels[(o / PANEL * in + i) * PANEL + o % PANEL] = weight[o * in + i];
    int64_t pairs = (in + 1) / 2;
    bytes[((o / PANEL * pairs + i / 2) * PANEL + o % PANEL) * 2 + i % 2] = whole;
  }

  Product product() const {
    if (small) return {nullptr, bytes.data, scale.data, bias.data, in, out};
    return {panels.data, nullptr, nullptr, bias.data, in, out};
  }

  void define(const Numbers<double>& x, const Numbers<double>& y, bool bent = false) const {
    for (int64_t o = 0; o < out; ++o) {
      y[o] = bias[o];
      for (int64_t i = 0; i < in; ++i) y[o] += double(weight[o * in + i]) * x[i];
      if (bent && y[o] < 0) y[o] = 0;
    }
  }
};

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
    own.define(y, wide);  // the first word looks at itself alone
    for (int64_t d = 0; d < width; ++d) y[d] = wide[2 * width + d];
    own_out.define(y, part), add();
    query.define(y, wide), attend(wide, y), cross_out.define(y, part), add();
    inner.define(y, wide, true), outer.define(wide, part), add();
    out.define(y, all);
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

template <class F>
void find(void* library, const char* name, F& f) {
  f = reinterpret_cast<F>(dlsym(library, name));
  if (!f) exit(printf("%s is not in the library\n", name));
}

}  // namespace

int main(int count, char** arguments) {
  void* library = dlopen(count > 1 ? arguments[1] : "", RTLD_NOW);
  if (!library) return printf("%s\n", dlerror()), 1;
  const int cases = count > 2 ? atoi(arguments[2]) : 300;
  Library it;
  find(library, "regard_variant", it.variant);
  find(library, "regard_runs_here", it.runs_here);
  find(library, "regard_attend", it.attend);
  find(library, "regard_look", it.look);
  find(library, "regard_rows", it.rows);
  find(library, "regard_choose", it.choose);
  bool fine = true;
  for (int variant = 0; it.variant(variant); ++variant) {
    if (!it.runs_here(variant)) {
      printf("%-9s not on this CPU\n", it.variant(variant));
      continue;
    }
    state = 2463534242u;  // the same cases for each
    memset(worst, 0, sizeof worst);
    for (int i = 0; i < cases; ++i) {
      if (!attend_once(it, variant)) return printf("no memory\n"), 1;
      look_once(it, variant);
      if (!decode_once(it, variant)) return printf("no memory\n"), 1;
    }
    printf("%-9s %d cases; error as a share of what rounding explains:", it.variant(variant), 3 * cases);
    for (int i = 0; i < RESULTS; ++i) {
      printf(" %s %.2f", NAMES[i], worst[i]);
      fine &= worst[i] <= 1;
    }
    printf("\n");
  }
  return fine ? 0 : 1;
}
