// What every definition needs: a library, chance, memory, the errors found, a product.
#pragma once
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "additive.h"
#include "choice.h"
#include "gradient.h"
#include "kernel.h"
#include "rows.h"
#include "weights.h"

namespace {

using regard::Array;
using regard::Call;
using regard::Choice;
using regard::Gradient;
using regard::Look;
using regard::PANEL;
using regard::Product;
using regard::Rows;

struct Library {
  const char* (*variant)(int);
  int (*runs_here)(int);
  int (*attend)(int, const Call*);
  int (*attend_back)(int, const Call*, const Gradient*);
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

enum Result {
  OUT, LSE, ENTROPY, RECEIVED, TOP, POOLED, BACK, LOOK, GRADIENT, STACK, CHOICE, READER, WRITER, RESULTS
};
const char* const NAMES[] = {"context", "lse", "entropy", "received", "top", "pooled", "back", "look",
                             "gradient", "stack", "choice", "reader", "writer"};
double worst[RESULTS];

// `most` is how much rounding may take away from `expected`.
void compare(Result what, double got, double expected, double most) {
  double error = got == expected ? 0 : fabs(got - expected) / most;
  if (isnan(got) && isnan(expected)) error = 0;
  if (!(error <= worst[what])) worst[what] = isnan(error) ? INFINITY : error;
}

// ---- products

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

  void define(const double* x, double* y, bool bent = false) const {
    for (int64_t o = 0; o < out; ++o) {
      y[o] = bias[o];
      for (int64_t i = 0; i < in; ++i) y[o] += double(weight[o * in + i]) * x[i];
      if (bent && y[o] < 0) y[o] = 0;
    }
  }
};

}  // namespace
