// The plain C interface of a stack of Transformer layers, without gradients. A row is a word:
//
//     x   = scale * word + position
//     x   = x + own(norm(x)),  x + cross(norm(x)),  x + outer(f(inner(norm(x))))     in each layer
//     out = W norm(x) + b
//
// or, if the norm comes after, norm(x + own(x)) and so on, and no norm at the end. A row of an
// encoder sees all rows of its sentence. A row of a decoder is the next word of a hypothesis: it
// sees what that hypothesis has written, and the source. layout.py declares the same fields.
#pragma once
#include <stdint.h>

namespace regard {

constexpr int64_t PANEL = 16;

// y = W x + b. The weights stand in panels of PANEL outputs, bias and scale in as many numbers; behind
// the last output there are zeros. W is `weight`, or whole numbers of 8 bits times the scale of their
// output.
struct Product {
  const float* weight;  // (panel, in, PANEL), or null
  const int8_t* bytes;  // (panel, pair of inputs, PANEL, 2), or null; an odd `in` has a zero behind it
  const float* scale;   // of bytes
  const float* bias;
  int64_t in, out;
};

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
  int64_t vocabulary;
  double scale;  // of words
};

// One call of a stack.
struct Rows {
  const Stack* stack;
  const int64_t* tokens;
  const int64_t* first;  // (sentences + 1): the rows of sentence s are first[s] to first[s + 1]
  int64_t sentences;
  const float* positions;  // (at least as many as a sentence or a hypothesis has words, width)
  float* out;              // (rows, out)
  int64_t threads;
  // The rest is of a decoder.
  int64_t position;         // how many words every hypothesis has written
  float* const* written;    // (position + 1): keys and values (layer, row, 2 * width) of a step
  const int64_t* at_once;   // (position + 1): how many rows that step had
  const int64_t* path;      // (rows, position): the row of each earlier step of this hypothesis
  const int64_t* source;    // (sentences + 1): the rows of `memory` of each sentence
  const int64_t* lines;     // (sentences): which of these a sentence is
  const float* memory;      // keys and values (source rows, layer, 2 * width)
  int64_t layer, head;      // whose weights on the source are wanted; head -1: the mean
  float* weights;           // (rows, longest)
  int64_t longest;
};

// The first sentence that nobody has taken, how many a thread takes, and whether one failed.
struct Share {
  int64_t next, at_once, failed;
};

// What every variant offers: take sentences until there are none.
using StackWork = void (*)(const Rows&, Share&);

}  // namespace regard
