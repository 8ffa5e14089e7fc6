// The structures that this library is called with as numbers, which the caller compares with its own
// (layout.py): the size of each, and the place and the size of every field, in bytes.
#pragma once
#include <stddef.h>

#include "additive.h"
#include "choice.h"
#include "gradient.h"
#include "kernel.h"
#include "recurrent.h"
#include "rows.h"
#include "scan.h"
#include "search.h"
#include "stack.h"
#include "weights.h"

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
    WHOLE(Gradient),
    FIELD(Gradient, d_out), FIELD(Gradient, d_query), FIELD(Gradient, d_key),
    FIELD(Gradient, d_value),
    WHOLE(Tape),
    FIELD(Tape, data), FIELD(Tape, step), FIELD(Tape, sequence), FIELD(Tape, slot),
    WHOLE(Look),
    FIELD(Look, keys), FIELD(Look, queries), FIELD(Look, v), FIELD(Look, values),
    FIELD(Look, weights), FIELD(Look, mixed), FIELD(Look, forbidden),
    FIELD(Look, forbidden_stride), FIELD(Look, recency), FIELD(Look, batch), FIELD(Look, hidden),
    FIELD(Look, width), FIELD(Look, threads), FIELD(Look, d_mixed), FIELD(Look, d_queries),
    FIELD(Look, d_scores), FIELD(Look, d_squares), FIELD(Look, d_v), FIELD(Look, d_recency),
    WHOLE(Scan),
    FIELD(Scan, look), FIELD(Scan, design), FIELD(Scan, words), FIELD(Scan, slots),
    FIELD(Scan, window), FIELD(Scan, sums), FIELD(Scan, summary), FIELD(Scan, recurrent),
    FIELD(Scan, key), FIELD(Scan, query), FIELD(Scan, previous), FIELD(Scan, d_sums),
    FIELD(Scan, d_states), FIELD(Scan, d_tape),
    WHOLE(Product),
    FIELD(Product, weight), FIELD(Product, bytes), FIELD(Product, scale), FIELD(Product, bias),
    FIELD(Product, in), FIELD(Product, out),
    WHOLE(Norm),
    FIELD(Norm, gamma), FIELD(Norm, beta), FIELD(Norm, epsilon),
    WHOLE(Layer),
    FIELD(Layer, own_norm), FIELD(Layer, own), FIELD(Layer, own_out), FIELD(Layer, cross_norm),
    FIELD(Layer, query), FIELD(Layer, cross_out), FIELD(Layer, inner_norm), FIELD(Layer, inner),
    FIELD(Layer, outer),
    WHOLE(Stack),
    FIELD(Stack, layers), FIELD(Stack, count), FIELD(Stack, width), FIELD(Stack, heads),
    FIELD(Stack, before), FIELD(Stack, activation), FIELD(Stack, last), FIELD(Stack, out),
    FIELD(Stack, words), FIELD(Stack, scale),
    WHOLE(Unit),
    FIELD(Unit, gates), FIELD(Unit, candidate),
    WHOLE(Reader),
    FIELD(Reader, design), FIELD(Reader, hidden), FIELD(Reader, units), FIELD(Reader, words),
    FIELD(Reader, inputs), FIELD(Reader, forwards), FIELD(Reader, backwards), FIELD(Reader, key),
    FIELD(Reader, summary), FIELD(Reader, context), FIELD(Reader, from_state),
    FIELD(Reader, from_word),
    WHOLE(Writer),
    FIELD(Writer, design), FIELD(Writer, hidden), FIELD(Writer, units), FIELD(Writer, words),
    FIELD(Writer, first), FIELD(Writer, state), FIELD(Writer, word), FIELD(Writer, context),
    FIELD(Writer, candidate), FIELD(Writer, readout), FIELD(Writer, v), FIELD(Writer, out),
    FIELD(Writer, end),
    WHOLE(Network),
    FIELD(Network, stack), FIELD(Network, reader), FIELD(Network, writer),
    FIELD(Network, vocabulary), FIELD(Network, out), FIELD(Network, kept),
    WHOLE(Rows),
    FIELD(Rows, network), FIELD(Rows, tokens), FIELD(Rows, first), FIELD(Rows, sentences),
    FIELD(Rows, positions), FIELD(Rows, out), FIELD(Rows, threads), FIELD(Rows, position), FIELD(Rows, written),
    FIELD(Rows, at_once), FIELD(Rows, path), FIELD(Rows, source), FIELD(Rows, lines),
    FIELD(Rows, memory), FIELD(Rows, layer), FIELD(Rows, head), FIELD(Rows, weights),
    FIELD(Rows, longest),
    WHOLE(Choice),
    FIELD(Choice, logits), FIELD(Choice, scores), FIELD(Choice, sentences), FIELD(Choice, beams),
    FIELD(Choice, size), FIELD(Choice, silent), FIELD(Choice, silent_count), FIELD(Choice, count),
    FIELD(Choice, totals), FIELD(Choice, places), FIELD(Choice, threads),
    WHOLE(Search),
    FIELD(Search, encoder), FIELD(Search, decoder), FIELD(Search, positions),
    FIELD(Search, tokens), FIELD(Search, first), FIELD(Search, sentences), FIELD(Search, limits),
    FIELD(Search, beam), FIELD(Search, best), FIELD(Search, penalty), FIELD(Search, begin),
    FIELD(Search, end), FIELD(Search, silent), FIELD(Search, silent_count), FIELD(Search, layer),
    FIELD(Search, head), FIELD(Search, threads), FIELD(Search, scores), FIELD(Search, lengths),
    FIELD(Search, said), FIELD(Search, longest), FIELD(Search, weights), FIELD(Search, room),
};
#undef WHOLE
#undef FIELD

}  // namespace regard
