// Scores become weights.
#pragma once
#include <math.h>

#include "columns.h"

namespace {

// softmax(scale * score), in place.
inline void weigh(float* scores, int64_t n, float scale) {
  float high = -INFINITY;
  for (int64_t i = 0; i < n; ++i) high = scores[i] > high ? scores[i] : high;
  Vec total = {}, factor = all(scale * LOG2E);
  each_vector(n, [&](int64_t i, int count) {
    Vec e = exp2_of_any(read(scores + i, count) - all(high), factor);
    if (count < W) e = lanes() < all(count) ? e : Vec{};
    write(scores + i, e, count);
    total += e;
  });
  Vec share = all(1 / sum(total));
  each_vector(n, [&](int64_t i, int count) {
    write(scores + i, read(scores + i, count) * share, count);
  });
}

}  // namespace
