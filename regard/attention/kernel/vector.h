// A vector of W floats, W fixed by the instruction set this file is compiled for, and the few
// operations attention needs. Everything lives in an unnamed namespace: the same source is compiled
// once for each instruction set into one library, and no function of one may stand in for another.
#pragma once
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace {

#if defined(__AVX512F__)
constexpr int W = 16;
#elif defined(__AVX2__)
constexpr int W = 8;
#else
constexpr int W = 4;  // NEON, SSE2, or whatever the compiler makes of it
#endif

typedef float Vec __attribute__((vector_size(4 * W)));
typedef int32_t Ints __attribute__((vector_size(4 * W)));
typedef double Doubles __attribute__((vector_size(4 * W)));
typedef int64_t Longs __attribute__((vector_size(4 * W)));
typedef float Loose __attribute__((vector_size(4 * W), aligned(4), may_alias));

#define INLINE inline __attribute__((always_inline))

INLINE Vec load(const float* p) { return *reinterpret_cast<const Loose*>(p); }
INLINE void store(float* p, Vec x) { *reinterpret_cast<Loose*>(p) = x; }

// The first n < W numbers, zeros behind them; nothing is read beyond.
INLINE Vec load_first(const float* p, int n) {
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_ps(__mmask16((1u << n) - 1), p);
#else
  Vec x = {};
  memcpy(&x, p, n * sizeof *p);
  return x;
#endif
}

INLINE Vec all(float x) {
#if defined(__AVX512F__)
  return _mm512_set1_ps(x);
#elif defined(__AVX2__)
  return _mm256_set1_ps(x);
#else
  return Vec{x, x, x, x};
#endif
}

INLINE Ints all(int32_t x) { return Ints{} + x; }

// a * b + c, rounded in one way everywhere: left to the compiler, it is once or twice, as it likes.
INLINE Vec multiply_add(Vec a, Vec b, Vec c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__AVX2__)
  return _mm256_fmadd_ps(a, b, c);
#elif defined(__aarch64__)
  return (Vec)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
  return a * b + c;
#endif
}

// The larger one; b if either is NaN.
INLINE Vec larger(Vec a, Vec b) {
#if defined(__AVX512F__)
  return _mm512_max_ps(a, b);
#elif defined(__AVX2__)
  return _mm256_max_ps(a, b);
#else
  return a > b ? a : b;
#endif
}

INLINE Vec smaller(Vec a, Vec b) {
#if defined(__AVX512F__)
  return _mm512_min_ps(a, b);
#elif defined(__AVX2__)
  return _mm256_min_ps(a, b);
#else
  return a < b ? a : b;
#endif
}

// Of numbers that are no NaN.
INLINE Doubles larger(Doubles a, Doubles b) {
#if defined(__AVX512F__)
  return _mm512_max_pd(a, b);
#elif defined(__AVX2__)
  return _mm256_max_pd(a, b);
#else
  return a > b ? a : b;
#endif
}

INLINE Doubles smaller(Doubles a, Doubles b) {
#if defined(__AVX512F__)
  return _mm512_min_pd(a, b);
#elif defined(__AVX2__)
  return _mm256_min_pd(a, b);
#else
  return a < b ? a : b;
#endif
}

INLINE Ints larger(Ints a, Ints b) {
#if defined(__AVX512F__)
  return (Ints)_mm512_max_epi32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Ints)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
  return a > b ? a : b;
#endif
}

INLINE Ints smaller(Ints a, Ints b) {
#if defined(__AVX512F__)
  return (Ints)_mm512_min_epi32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Ints)_mm256_min_epi32((__m256i)a, (__m256i)b);
#else
  return a < b ? a : b;
#endif
}

// Bit l is set where a > b in lane l.
INLINE unsigned where_greater(Vec a, Vec b) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
#elif defined(__AVX2__)
  return unsigned(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ)));
#else
  Ints m = a > b;
  return unsigned((m[0] & 1) | (m[1] & 2) | (m[2] & 4) | (m[3] & 8));
#endif
}

INLINE Ints lanes() {
  Ints x;
  for (int i = 0; i < W; ++i) x[i] = i;
  return x;
}

// The sum and the largest of all lanes; a NaN may be lost by the latter.
#if defined(__AVX512F__)
INLINE float sum(Vec x) { return _mm512_reduce_add_ps(x); }
INLINE float most(Vec x) { return _mm512_reduce_max_ps(x); }
#elif defined(__AVX2__)
INLINE float sum(Vec x) {
  __m128 half = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  half = _mm_add_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}
INLINE float most(Vec x) {
  __m128 half = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  half = _mm_max_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
}
#else
INLINE float sum(Vec x) { return (x[0] + x[2]) + (x[1] + x[3]); }
INLINE float most(Vec x) {
  float a = x[0] > x[2] ? x[0] : x[2], b = x[1] > x[3] ? x[1] : x[3];
  return a > b ? a : b;
}
#endif

constexpr float LOG2E = 1.4426950408889634f;

// 2^f for f in [-0.5, 0.5] by a polynomial (least largest relative error with 2^0 = 1).
INLINE Vec fraction_of_exp2(Vec f) {
  Vec p = all(0.0013264736f);
  p = p * f + all(0.0096715129f);
  p = p * f + all(0.0555073373f);
  p = p * f + all(0.2402224208f);
  p = p * f + all(0.6931469776f);
  return p * f + all(1.0f);
}

// 2^t for t = x * factor in [-126, 127], within 2e-7: 2^n by the exponent's bits, times
// 2^f. Not for a NaN: its bits may make it a number.
INLINE Vec exp2_of_product(Vec x, Vec factor) {
  const Vec shift = all(12582912.0f);  // 1.5 * 2^23: adding it rounds to a whole number
  Vec whole = multiply_add(x, factor, shift);
  Vec p = fraction_of_exp2(multiply_add(x, factor, shift - whole));
  return (Vec)((Ints)p + ((Ints)whole << 23));
}

constexpr float LEAST_EXPONENT = -126.0f;

// What is made of x, or a NaN where x is one, whatever its bits are.
INLINE Vec keep_nan(Vec x, Vec made) { return (Vec)((Ints)made | (x != x)); }

// The same for any x: 0 below 2^-126, also for -inf; a NaN stays one.
INLINE Vec exp2_of_any(Vec x, Vec factor) {
  Vec raised = x * factor < all(LEAST_EXPONENT) ? Vec{} : exp2_of_product(x, factor);
  return keep_nan(x, raised);
}

// tanh within 2e-7: a polynomial near 0, where 1 - 2 / (e^2x + 1) would cancel, and for a NaN.
INLINE Vec tanh(Vec x) {
  Vec z = x * x;
  Vec p = all(-0.0051381308f);
  p = p * z + all(0.0200912842f);
  p = p * z + all(-0.0535585486f);
  p = p * z + all(0.1332910490f);
  p = p * z + all(-0.3333318954f);
  Vec near = x + x * z * p;
  Vec size = larger(-x, x);
  Vec far = exp2_of_product(smaller(all(15.0f), size), all(2.8853900818f));  // e^2|x|
  far = all(1.0f) - all(2.0f) / (far + all(1.0f));
  far = x < Vec{} ? -far : far;
  return size >= all(0.7f) ? far : near;
}

// tanh as 1 - 2 / (e^2x + 1) for every x, half as long as the other: within 2e-7 of 1, not of the
// result, which is all that a sum of many of them asks for. A NaN stays one: 2^n is a factor here.
INLINE Vec tanh_for_sums(Vec x) {
  const Vec factor = all(2.8853900818f), shift = all(12582912.0f + 127.0f);  // the exponent's bits of 2^n
  Vec bounded = larger(all(-15.0f), smaller(all(15.0f), x));
  Vec whole = multiply_add(bounded, factor, shift);
  Vec p = fraction_of_exp2(multiply_add(bounded, factor, shift - whole));
  return all(1.0f) - all(2.0f) / (p * (Vec)((Ints)whole << 23) + all(1.0f));
}

// A NaN stays one.
INLINE Vec sigmoid(Vec x) {
  Vec bounded = larger(all(-80.0f), smaller(all(80.0f), x));
  return keep_nan(x, all(1.0f) / (all(1.0f) + exp2_of_product(bounded, all(-LOG2E))));
}

#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE2(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE2(a, b, ...) __builtin_shuffle(a, b, (Ints){__VA_ARGS__})
#endif

#if defined(__AVX512F__)
INLINE Vec zip_low(Vec a, Vec b) {
  return SHUFFLE2(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
INLINE Vec zip_high(Vec a, Vec b) {
  return SHUFFLE2(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
INLINE Vec evens(Vec a, Vec b) {
  return SHUFFLE2(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}
INLINE Vec odds(Vec a, Vec b) {
  return SHUFFLE2(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}
#elif defined(__AVX2__)
INLINE Vec zip_low(Vec a, Vec b) { return SHUFFLE2(a, b, 0, 8, 1, 9, 2, 10, 3, 11); }
INLINE Vec zip_high(Vec a, Vec b) { return SHUFFLE2(a, b, 4, 12, 5, 13, 6, 14, 7, 15); }
INLINE Vec evens(Vec a, Vec b) { return SHUFFLE2(a, b, 0, 2, 4, 6, 8, 10, 12, 14); }
INLINE Vec odds(Vec a, Vec b) { return SHUFFLE2(a, b, 1, 3, 5, 7, 9, 11, 13, 15); }
#else
INLINE Vec zip_low(Vec a, Vec b) { return SHUFFLE2(a, b, 0, 4, 1, 5); }
INLINE Vec zip_high(Vec a, Vec b) { return SHUFFLE2(a, b, 2, 6, 3, 7); }
INLINE Vec evens(Vec a, Vec b) { return SHUFFLE2(a, b, 0, 2, 4, 6); }
INLINE Vec odds(Vec a, Vec b) { return SHUFFLE2(a, b, 1, 3, 5, 7); }
#endif

// ln x of a normal number within 1 ulp: ln 2 times the exponent, and ln(1 + f) on [sqrt(1/2), sqrt(2)]
// by a polynomial (least largest relative error, 6e-9). Infinity and NaN stay what they are. A smaller
// number is taken for one between 2^-127 and 2^-126: no weight that is not 0 is below 2^-126.
INLINE Vec log(Vec x) {
  const Ints start = all(0x3f3504f3);  // sqrt(1/2)
  Ints bits = (Ints)x, exponent = (bits - start) >> 23;
  Vec f = (Vec)(bits - (exponent << 23)) - all(1.0f);
  Vec e = __builtin_convertvector(exponent, Vec);
  Vec p = all(-0.0763449653f);
  p = p * f + all(0.1276157704f);
  p = p * f + all(-0.1316018240f);
  p = p * f + all(0.1420175800f);
  p = p * f + all(-0.1662335734f);
  p = p * f + all(0.2000122688f);
  p = p * f + all(-0.2500082103f);
  p = p * f + all(0.3333333171f);
  Vec rest = (p * f - all(0.5f)) * (f * f) + e * all(-2.12194440e-4f);  // ln 2 less 0.693359375
  Vec found = e * all(0.693359375f) + (f + rest);
  return x < all(__builtin_inff()) ? found : x;
}

// Rows become columns.
#if defined(__AVX2__) && !defined(__AVX512F__)
// In half the shuffles of the general way: between halves of a vector only in the end.
INLINE void transpose(Vec (&x)[W]) {
  Vec pairs[W], fours[W];
#pragma GCC unroll 4
  for (int i = 0; i < W; i += 2) {
    pairs[i] = _mm256_unpacklo_ps(x[i], x[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < W; i += 4)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      fours[i + 2 * j] = _mm256_shuffle_ps(pairs[i + j], pairs[i + 2 + j], 0x44);
      fours[i + 2 * j + 1] = _mm256_shuffle_ps(pairs[i + j], pairs[i + 2 + j], 0xee);
    }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    x[i] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x20);
    x[i + 4] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x31);
  }
}
#else
// log2(W) times, row i and row i + W/2 are zipped into rows 2i and 2i + 1.
INLINE void transpose(Vec (&x)[W]) {
#pragma GCC unroll 4
  for (int done = 1; done < W; done *= 2) {
    Vec y[W];
#pragma GCC unroll 8
    for (int i = 0; i < W / 2; ++i) {
      y[2 * i] = zip_low(x[i], x[i + W / 2]);
      y[2 * i + 1] = zip_high(x[i], x[i + W / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) x[i] = y[i];
  }
}
#endif

// The sum of each of W vectors, in its lane.
INLINE Vec sums_of(const Vec* from) {
  Vec x[W];
#pragma GCC unroll 16
  for (int i = 0; i < W; ++i) x[i] = from[i];
  transpose(x);
#pragma GCC unroll 4
  for (int n = W / 2; n > 0; n /= 2)
#pragma GCC unroll 8
    for (int i = 0; i < n; ++i) x[i] += x[i + n];
  return x[0];
}

}  // namespace
