// Reading the caller's arrays: any strides, half precision widened, keys turned into panels.
#pragma once
#include "kernel.h"
#include "vector.h"

namespace {

using regard::Array;
using regard::Call;

INLINE float widen_float16(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16, rest = bits & 0x7fff;
  uint32_t word;
  if (rest >= 0x7c00) {
    word = 0x7f800000 | (rest & 0x3ff) << 13;  // infinity or NaN
  } else if (rest >= 0x400) {
    word = (rest << 13) + 0x38000000;  // the exponent's offset grows from 15 to 127
  } else {
    float small = float(rest) * 5.9604644775390625e-08f;  // subnormal: a multiple of 2^-24
    memcpy(&word, &small, sizeof word);
  }
  word |= sign;
  float x;
  memcpy(&x, &word, sizeof x);
  return x;
}

INLINE float widen_bfloat16(uint16_t bits) {
  uint32_t word = uint32_t(bits) << 16;
  float x;
  memcpy(&x, &word, sizeof x);
  return x;
}

INLINE const char* place(const Array& a, int64_t dtype, int64_t b, int64_t h, int64_t i) {
  int64_t at = b * a.batch + h * a.head + i * a.row;
  return static_cast<const char*>(a.data) + at * (dtype == regard::FLOAT32 ? 4 : 2);
}

// n numbers, `stride` apart, as floats; zeros up to `padded`.
inline void read_row(float* to, const char* from, int64_t dtype, int64_t stride, int n, int padded) {
  int i = 0;
  if (dtype == regard::FLOAT32) {
    const float* p = reinterpret_cast<const float*>(from);
    if (stride == 1) {
      for (; i + W <= n; i += W) store(to + i, load(p + i));
    }
    for (; i < n; ++i) to[i] = p[i * stride];
  } else {
    const uint16_t* p = reinterpret_cast<const uint16_t*>(from);
#if defined(__AVX2__)
    if (stride == 1 && dtype == regard::FLOAT16)
      for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)(p + i))));
#endif
    if (dtype == regard::FLOAT16)
      for (; i < n; ++i) to[i] = widen_float16(p[i * stride]);
    else
      for (; i < n; ++i) to[i] = widen_bfloat16(p[i * stride]);
  }
  for (i = n; i < padded; ++i) to[i] = 0;
}

// Whether rows of this array can be read in place, W floats at a time.
INLINE bool is_plain(const Array& a, int64_t dtype, int64_t width) {
  return dtype == regard::FLOAT32 && a.column == 1 && width % W == 0;
}

// Columns [d, d + W) of W rows, turned; only `there` rows are there, and the others are zeros.
INLINE void read_turned(const float* rows, int64_t step, int there, int d, Vec (&x)[W]) {
  if (there >= W) {
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) x[i] = load(rows + i * step + d);
  } else {
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) x[i] = i < there ? load(rows + i * step + d) : Vec{};
  }
  transpose(x);
}

INLINE int rounded_up(int n, int step) { return (n + step - 1) / step * step; }

}  // namespace
