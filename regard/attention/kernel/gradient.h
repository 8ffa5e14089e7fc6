// The plain C interface of attention's gradient. Of a forward Call with its log-sum-exp kept:
//
//     a[i,j]     = exp(q_i . k_j * scale - lse[i])
//     d_a[i,j]   = d_out[i] . v_j
//     d_s[i,j]   = a[i,j] (d_a[i,j] - sum_j a[i,j] d_a[i,j]) * scale
//     d_query[i] = sum_j d_s[i,j] k_j        d_key[j] = sum_i d_s[i,j] q_i
//     d_value[j] = sum_i a[i,j] d_out[i]
//
// layout.py declares the same fields.
#pragma once
#include "kernel.h"

namespace regard {

// All float32 with columns side by side.
struct Gradient {
  Array d_out;
  Array d_query, d_key, d_value;  // written
};

// A forward call and what is wanted of it. It has no bias and no soft cap, and is of float32.
struct CallBack {
  const Call& call;
  const Gradient& gradient;
};

// What every variant offers: take tasks until there are none. A task is a key head of a batch item,
// so that every sum is made by one thread, in one order.
using BackWork = void (*)(const CallBack&, Plan&);

}  // namespace regard
