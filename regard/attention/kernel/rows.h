// The plain C interface of one call of a network that reads or writes words, without gradients. A row
// is a word: of a source that is read, or the next one of a hypothesis. What a row makes is `out`.
// layout.py declares the same fields.
#pragma once
#include <stdint.h>

namespace regard {

struct Stack;   // stack.h
struct Reader;  // recurrent.h
struct Writer;

// One of the three, and what a search must know of it.
struct Network {
  const Stack* stack;
  const Reader* reader;
  const Writer* writer;
  int64_t vocabulary;
  int64_t out;   // numbers that are made of a row
  int64_t kept;  // numbers that a row of a decoder leaves to the steps after it
};

struct Rows {
  const Network* network;
  const int64_t* tokens;
  const int64_t* first;  // (sentences + 1): the rows of sentence s are first[s] to first[s + 1]
  int64_t sentences;
  const float* positions;  // (at least as many as a sentence or a hypothesis has words, width)
  float* out;              // (rows, out)
  int64_t threads;
  // The rest is of a decoder.
  int64_t position;         // how many words every hypothesis has written
  float* const* written;    // (position + 1): what the rows of a step left, `kept` numbers each
  const int64_t* at_once;   // (position + 1): how many rows that step had
  const int64_t* path;      // (rows, position): the row of each earlier step of this hypothesis
  const int64_t* source;    // (sentences + 1): the rows of `memory` of each sentence
  const int64_t* lines;     // (sentences): which of these a sentence is
  const float* memory;      // (source rows, out of the encoder)
  int64_t layer, head;      // whose weights on the source are wanted; head -1: the mean
  float* weights;           // (rows, longest), zeros at first
  int64_t longest;
};

// The first sentence that nobody has taken, how many a thread takes, and whether one failed.
struct Share {
  int64_t next, at_once, failed;
};

// What every variant offers for a stack and for a recurrent network: take sentences until there are
// none.
using RowsWork = void (*)(const Rows&, Share&);

}  // namespace regard
