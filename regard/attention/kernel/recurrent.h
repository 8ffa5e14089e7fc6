// The plain C interface of recurrent translators, without gradients. A gated unit reads the source,
//
//     z, r = sigmoid(W x + U s + C c + b)          in one: the gates
//     s^   = tanh(W x + U [r * s] + C c + b)       the candidate
//     s    = s + z * (s^ - s)
//
// forwards, or two of them, forwards and backwards; and one writes the target, in one of three designs.
//
//     LOOKING     c = sum_j a_j h_j, a = softmax(v . tanh(W_a s + U_a h_j)), h = [forwards; backwards]
//     TOLD        c = tanh(V h), h the last state: the same at every step
//     SAYING      nothing is written but what was read: one token for each of the source
//
//     t = max(t~_j, t~_j+units), t~ = U_o s + V_o y + C_o c,   out = W_o t + b
//
// where s is the state before this step if it looks, and after it if it was told; a design that only
// says has no c, and x for y. layout.py declares the same fields.
#pragma once
#include <stdint.h>

#include "weights.h"

namespace regard {

enum Design : int64_t { LOOKING = 0, TOLD = 1, SAYING = 2 };

// What a gated unit makes of its state.
struct Unit {
  Product gates, candidate;
};

// A row of a source becomes, by design, [h_j; U_a h_j]; in the first row of a sentence [c; C c and
// C_o c]; or t.
struct Reader {
  int64_t design, hidden, units;
  const float* words;  // (vocabulary, width)
  Product inputs;      // of a word: gates and candidate, of each unit
  Unit forwards, backwards;
  Product key;      // LOOKING: U_a h_j
  Product summary;  // TOLD: V h
  Product context;  // TOLD: of c, as the writer's
  Product from_state, from_word;  // SAYING: t~
};

// A row of a hypothesis keeps its state, if there is one.
struct Writer {
  int64_t design, hidden, units;
  const float* words;
  Product first;      // s_0 = tanh(W x): of the backward h_1, or of c
  Product state;      // of s: the gates, and the query W_a s if it looks
  Product word;       // of y: the gates, t~, the candidate
  Product context;    // of c: the same
  Product candidate;  // of r * s
  Product readout;    // of s: t~
  const float* v;
  Product out;
  int64_t end;  // SAYING: all that is left to say behind the source's end
};

}  // namespace regard
