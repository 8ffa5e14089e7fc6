// The weights of a product, as every network of this library has them. layout.py declares the same.
#pragma once
#include <stdint.h>

namespace regard {

constexpr int64_t PANEL = 16;

// y = W x + b. The weights stand in panels of PANEL outputs, bias and scale in as many numbers; behind
// the last output there are zeros. W is `weight`, or whole numbers of 8 bits times the scale of their
// output.
struct Product {
  const float* weight;  // (panel, in, PANEL), or null
  const int8_t* bytes;  // (panel, pair of inputs, PANEL, 2), or null; an odd `in` has a zero behind it
  const float* scale;   // of bytes
  const float* bias;
  int64_t in, out;
};

}  // namespace regard
