// The plain C interface of additive attention, one step of a recurrent network at a time:
//
//     e[i]  = v . tanh(k_i + q)                over the slots i of a tape, for each sequence;
//                                              at the newest slot plus `recency`
//     a[i]  = exp(e[i]) / sum_i exp(e[i])      0 at forbidden slots
//     mixed = sum_i a[i] value_i
//
// and of its gradient. layout.py declares the same fields.
#pragma once
#include <stdint.h>

namespace regard {

// Float32 over (step, sequence, slot, column), or some of these axes: strides count elements, that
// of an axis that is not there is 0, and that of the last axis is 1.
struct Tape {
  float* data;
  int64_t step, sequence, slot;

  float* at(int64_t t, int64_t b, int64_t i = 0) const {
    return data + t * step + b * sequence + i * slot;
  }
};

struct Look {
  Tape keys, queries, v, values, weights;
  Tape mixed;
  const uint8_t* forbidden;  // (sequence, slot), one byte each, or null
  int64_t forbidden_stride;
  const float* recency;  // one number, or null
  int64_t batch, hidden, width;  // of keys, of values
  int64_t threads;
  // The gradient: of what was mixed, which is read; of queries, which is written; the sums over steps
  // of d_e, of d_e tanh^2 and of d_e tanh, which are added to.
  Tape d_mixed, d_queries, d_scores, d_squares, d_v;
  Tape d_recency;  // (sequence,), where there is a recency
};

// One step: which one, the slots [from, to) that it sees, and the first sequence nobody has taken.
struct Step {
  int64_t t, from, to, next;
};

// What every variant offers, forward and back: take sequences until there are none.
using LookWork = void (*)(const Look&, Step&);

}  // namespace regard
