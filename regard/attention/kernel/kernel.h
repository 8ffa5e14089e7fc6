// The plain C interface of the kernel: one call, described by 8-byte fields alone.
//
//     score[i,j] = q_i . k_j * scale, soft-capped, + bias, masked
//     a[i,j]     = exp(score[i,j]) / sum_j exp(score[i,j])
//     out[i]     = sum_j a[i,j] v_j
//
// What is not wanted has a null pointer. layout.py declares the same fields.
#pragma once
#include <stdint.h>

// The same sources are compiled for several instruction sets; each names what it offers after its
// own: VARIANT_OF(work) is regard_work_avx2.
#define REGARD_NAME(what, variant) regard_##what##_##variant
#define REGARD_EXPANDED(what, variant) REGARD_NAME(what, variant)
#define VARIANT_OF(what) REGARD_EXPANDED(what, REGARD_VARIANT)

namespace regard {

// An array over (batch, head, row, column); strides count elements and may be 0 (broadcast).
struct Array {
  const void* data;
  int64_t batch, head, row, column;
};

enum Dtype : int64_t { FLOAT32 = 0, FLOAT16 = 1, BFLOAT16 = 2 };

constexpr int64_t UNBOUNDED = int64_t(1) << 40;

struct Call {
  Array query, key, value;  // of `dtype`
  Array out;                // float32; its column stride is 1
  Array mask;               // one byte each, 1 = may attend
  Array bias;               // float32
  int64_t dtype;
  int64_t batch, heads, key_heads, queries, keys, width, value_width;
  int64_t before, after;  // how far a query sees back and ahead, or UNBOUNDED
  float* lse;             // (batch, heads, queries), as is
  float* entropy;
  float* received;  // (batch, heads, keys), zeros at first
  int64_t top;
  float* top_weights;  // (batch, heads, queries, top)
  int64_t* top_keys;
  int64_t cell_rows, cell_columns;  // weights in a cell of the pooled maps
  float* pooled_max;                // (batch, heads, row cells, column cells)
  float* pooled_mean;               // the same, but not read where each weight is a cell
  int64_t threads;
  double scale;
  double softcap;  // 0 = none
};

// How a call is cut: each key head of each batch item is `parts` tasks of `part_rows` queries.
// Which thread takes which task changes nothing in any result.
struct Plan {
  int64_t parts, part_rows, tasks;
  int64_t at_once;  // tasks that a thread takes together
  float* received;  // (parts, batch, heads, keys) if parts > 1, to be summed in order
  int64_t next;     // the first task that nobody has taken
  int64_t failed;   // a thread found no memory
};

// What every variant of the kernel offers: take tasks until there are none.
using Work = void (*)(const Call&, Plan&);

}  // namespace regard
