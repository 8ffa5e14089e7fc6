// The plain C interface of a choice: of all continuations of a sentence's hypotheses, the best.
//
//     total[b, v] = score[b] + logit[b, v] - log sum_v exp(logit[b, v])
//
// layout.py declares the same fields.
#pragma once
#include <stdint.h>

namespace regard {

struct Choice {
  float* logits;         // (sentences * beams, size); those of silent tokens become -inf
  const double* scores;  // (sentences, beams)
  int64_t sentences, beams, size;
  const int64_t* silent;  // tokens that are never chosen, though they have their share of the sum
  int64_t silent_count;
  int64_t count;
  double* totals;   // (sentences, count), the best first
  int64_t* places;  // b * size + v of each
  int64_t threads;
};

// The first sentence that nobody has taken, and whether a sum was no finite number.
struct Chosen {
  int64_t next, spoilt;
};

using ChoiceWork = void (*)(const Choice&, Chosen&);

}  // namespace regard
