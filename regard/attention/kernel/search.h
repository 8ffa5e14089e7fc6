// The plain C interface of a beam search, from the sources to the best hypotheses:
// what regard/models/translators/beam.py defines, in one call. layout.py declares the same fields.
#pragma once
#include <stdint.h>

#include "choice.h"
#include "rows.h"

namespace regard {

struct Search {
  const Network* encoder;  // what it makes of a source is the memory of the decoder
  const Network* decoder;
  const float* positions;
  const int64_t* tokens;  // of the sources, one behind the other
  const int64_t* first;   // (sentences + 1): where each begins
  int64_t sentences;
  const int64_t* limits;  // (sentences): the most tokens of a hypothesis, its end included
  int64_t beam, best;
  double penalty;
  int64_t begin, end;  // the tokens with which every hypothesis begins and ends
  const int64_t* silent;
  int64_t silent_count;
  int64_t layer, head;  // whose weights on the source are wanted; head -1: the mean
  int64_t threads;
  // What is found: the best hypotheses of each sentence, the best first.
  double* scores;    // (sentences, best)
  int64_t* lengths;  // (sentences, best): how many tokens it has, the end included; 0: there is none
  int64_t* said;     // (sentences, best, longest)
  int64_t longest;
  float* weights;       // those of sentence s (best, its limit, its tokens), one behind the other
  const int64_t* room;  // (sentences): where these begin
};

// What a variant offers to a search.
struct Engine {
  RowsWork read, write;  // encoder and decoder
  ChoiceWork choose;
};

struct Searching {
  const Search& search;
  Engine engine;
};

enum Outcome : int64_t { FOUND = 0, NO_MEMORY = 1, NO_TOKEN = 2, NO_NUMBER = 3 };

// The first sentence that nobody has taken, how many a thread takes, and what became of it.
struct Searched {
  int64_t next, at_once, outcome;
};

// Take sentences until there are none.
void search(const Searching& s, Searched& done);

}  // namespace regard
