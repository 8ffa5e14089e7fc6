// The plain C interface of a stack of Transformer layers, without gradients. A row is a word:
//
//     x   = scale * word + position
//     x   = x + own(norm(x)),  x + cross(norm(x)),  x + outer(f(inner(norm(x))))     in each layer
//     out = W norm(x) + b
//
// or, if the norm comes after, norm(x + own(x)) and so on, and no norm at the end. A row of an
// encoder sees all rows of its sentence. A row of a decoder is the next word of a hypothesis: it
// sees what that hypothesis has written, and the source. Each row of a decoder keeps (layer, 2 * width)
// numbers, keys and values, those of a step as (layer, row, 2 * width); an encoder makes the same of the
// source. layout.py declares the same fields.
#pragma once
#include <stdint.h>

#include "weights.h"

namespace regard {

struct Norm {
  const float* gamma;  // null: there is none
  const float* beta;
  double epsilon;
};

struct Layer {
  Norm own_norm;
  Product own, own_out;  // queries, keys and values in one
  Norm cross_norm;
  Product query, cross_out;  // an encoder has none
  Norm inner_norm;
  Product inner, outer;
};

enum Activation : int64_t { RELU = 0, SILU = 1 };

struct Stack {
  const Layer* layers;
  int64_t count, width, heads;
  int64_t before;  // whether norms come before
  int64_t activation;
  Norm last;
  Product out;
  const float* words;  // (vocabulary, width)
  double scale;  // of words
};

}  // namespace regard
