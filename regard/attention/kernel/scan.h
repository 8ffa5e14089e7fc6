// The plain C interface of a scan: a recurrent network with additive self-attention reads n words onto a
// tape of m slots, and back. What the inputs give is projected before, and the gradients of the matrices
// are products over all steps behind it: both are the caller's. What the designs compute:
// regard/recurrent/scan. layout.py declares the same fields.
#pragma once
#include <stdint.h>

#include "additive.h"
#include "rows.h"

namespace regard {

enum ScanDesign : int64_t { SELFATTENTIVE = 0, LSTMN = 1 };  // the same in scan.py

struct Scan {
  Look look;  // over the tape, with room for m + n slots; step t writes slot m + t and its key
  int64_t design, words, slots;  // n, m
  int64_t window;                // how many slots a step sees, or 0: all
  Tape sums;                     // (step, sequence): of the inputs; sums of the gates become the gates
  Tape summary;                  // (sequence,): what was attended to before the first step
  // Matrices (out, hidden) without gaps: of what is recalled to the sums, of a state to its key, of what
  // is recalled (of an LSTMN) or of the state to the query; of the state before to the sums, or null.
  const float *recurrent, *key, *query, *previous;
  // The gradient: of the sums, written. look.d_mixed begins with what comes from outside. Of the states
  // (step, sequence) and of all slots (sequence, slot), from outside, or null.
  Tape d_sums, d_states, d_tape;
};

// What every variant offers, forward and back: take sequences until there are none.
using ScanWork = void (*)(const Scan&, Share&);

}  // namespace regard
