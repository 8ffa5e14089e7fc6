// The structures of kernel.h and additive.h as numbers, which the caller compares with its own
// (layout.py): the size of each, and the place and the size of every field, in bytes.
#pragma once
#include <stddef.h>

#include "additive.h"
#include "kernel.h"

namespace regard {

struct Place {
  const char* name;
  size_t at, size;  // of a whole structure: at 0
};

#define WHOLE(s) {#s, 0, sizeof(s)}
#define FIELD(s, f) {#s "." #f, offsetof(s, f), sizeof(s::f)}
constexpr Place LAYOUT[] = {
    WHOLE(Array),
    FIELD(Array, data), FIELD(Array, batch), FIELD(Array, head), FIELD(Array, row),
    FIELD(Array, column),
    WHOLE(Call),
    FIELD(Call, query), FIELD(Call, key), FIELD(Call, value), FIELD(Call, out), FIELD(Call, mask),
    FIELD(Call, bias), FIELD(Call, dtype), FIELD(Call, batch), FIELD(Call, heads),
    FIELD(Call, key_heads), FIELD(Call, queries), FIELD(Call, keys), FIELD(Call, width),
    FIELD(Call, value_width), FIELD(Call, before), FIELD(Call, after), FIELD(Call, lse),
    FIELD(Call, entropy), FIELD(Call, received), FIELD(Call, top), FIELD(Call, top_weights),
    FIELD(Call, top_keys), FIELD(Call, cell_rows), FIELD(Call, cell_columns),
    FIELD(Call, pooled_max), FIELD(Call, pooled_mean), FIELD(Call, threads), FIELD(Call, scale),
    FIELD(Call, softcap),
    WHOLE(Tape),
    FIELD(Tape, data), FIELD(Tape, step), FIELD(Tape, sequence), FIELD(Tape, slot),
    WHOLE(Look),
    FIELD(Look, keys), FIELD(Look, queries), FIELD(Look, v), FIELD(Look, values),
    FIELD(Look, weights), FIELD(Look, mixed), FIELD(Look, forbidden),
    FIELD(Look, forbidden_stride), FIELD(Look, recency), FIELD(Look, batch), FIELD(Look, hidden),
    FIELD(Look, width), FIELD(Look, threads), FIELD(Look, d_e), FIELD(Look, d_queries),
    FIELD(Look, d_scores), FIELD(Look, d_squares), FIELD(Look, d_v), FIELD(Look, d_recency),
};
#undef WHOLE
#undef FIELD

}  // namespace regard
