// The k largest weights of each row, largest first, the first key first where weights are equal.
//
// W rows at a time, a row in each lane, so that a search's branches become arithmetic: columns are
// sorted in eights and merged into the best so far. A short row goes through this as a whole. Of a
// long row only candidates do: the k-th largest of the maxima of 2k or more groups of columns is no
// larger than the k-th largest weight.
#pragma once
#include "pool.h"

namespace {

constexpr int MOST_TOP = 32;
constexpr int CANDIDATES = 128;
constexpr int SHORT = 64;    // columns
constexpr int TAGGED = 128;  // a power of two

// ---- sorting, each lane for itself

template <class V>
INLINE void order(V& high, V& low) {
  V least = smaller(high, low);
  high = larger(high, low);
  low = least;
}

// Largest first: a network of 19 comparisons.
template <class V>
INLINE void sort(V (&x)[8]) {
  order(x[0], x[2]), order(x[1], x[3]), order(x[4], x[6]), order(x[5], x[7]);
  order(x[0], x[4]), order(x[1], x[5]), order(x[2], x[6]), order(x[3], x[7]);
  order(x[0], x[1]), order(x[2], x[3]), order(x[4], x[5]), order(x[6], x[7]);
  order(x[2], x[4]), order(x[3], x[5]);
  order(x[1], x[4]), order(x[3], x[6]);
  order(x[1], x[2]), order(x[3], x[4]), order(x[5], x[6]);
}

// The K largest so far, largest first; all are above 0, or 0 where there were fewer.
template <int K, class V>
struct Largest {
  V of[K];

  INLINE Largest() {
#pragma GCC unroll 32
    for (int i = 0; i < K; ++i) of[i] = V{};
  }

  INLINE void add(V (&x)[8]) {
    if constexpr (K == 8) {
      sort(x);
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) of[i] = larger(of[i], x[7 - i]);  // they rise, then fall
      merge();
    } else {
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < K; ++j) order(of[j], x[i]);
    }
  }

  // The first eight.
  INLINE void begin(V (&x)[8]) {
    static_assert(K == 8);
    sort(x);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) of[i] = x[i];
  }

  // As `add`; what is left out raises `rest`.
  INLINE void add(V (&x)[8], V& rest) {
    static_assert(K == 8);
    sort(x);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      rest = larger(rest, smaller(of[i], x[7 - i]));
      of[i] = larger(of[i], x[7 - i]);
    }
    merge();
  }

 private:
  INLINE void merge() { merge<4>(), merge<2>(), merge<1>(); }

  template <int STEP>
  INLINE void merge() {
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i)
      if (!(i & STEP)) order(of[i], of[i + STEP]);
  }
};

// ---- a weight and its key as one number
//
// The upper half of a double's bits is the weight's, the lower half says the key, the first key
// the largest: numbers then have the order wanted, in which no two are equal. As W floats are W / 2
// doubles, rows of even and of odd lanes go apart. The least exponent is added, since a processor
// may be told to take smaller doubles for 0.

constexpr int64_t LOWER = 0xffffffff, LEAST_NORMAL = int64_t(1) << 52;
constexpr int32_t LAST_KEY = 0x7fffffff;

INLINE Longs all(int64_t x) { return Longs{} + x; }

INLINE Doubles even_pairs(Vec weights, Longs tags) {
  return (Doubles)(((Longs)weights << 32) + tags);
}
INLINE Doubles odd_pairs(Vec weights, Longs tags) {
  return (Doubles)(((Longs)weights & ~all(LOWER)) + tags);
}

// The K best of W rows.
template <int K>
struct Best {
  Largest<K, Doubles> even, odd;

  // Eight columns from `key` on.
  INLINE void add(const Vec* column, int key) {
    Doubles x[8];
    int64_t tag = LEAST_NORMAL + (LAST_KEY - key);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) x[i] = even_pairs(column[i], all(tag - i));
    even.add(x);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) x[i] = odd_pairs(column[i], all(tag - i));
    odd.add(x);
  }

  // Eight candidates of each row; tag = LAST_KEY - key.
  INLINE void add(const Vec* weights, const Vec* tags) {
    Doubles x[8];
    const Longs least = all(LEAST_NORMAL), lower = all(LOWER);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) x[i] = even_pairs(weights[i], ((Longs)tags[i] & lower) + least);
    even.add(x);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) x[i] = odd_pairs(weights[i], ((Longs)tags[i] >> 32) + least);
    odd.add(x);
  }

  INLINE Vec weight(int i) const {
    const Longs least = all(LEAST_NORMAL), lower = all(LOWER);
    Longs e = (Longs)even.of[i] - least, o = (Longs)odd.of[i] - least;
    return (Vec)((e >> 32 & lower) | (o & ~lower));
  }

  INLINE Ints key(int i) const {
    const Longs lower = all(LOWER);
    return LAST_KEY - (Ints)(((Longs)even.of[i] & lower) | (Longs)odd.of[i] << 32);
  }
};

// ---- which weights are above a limit

#if defined(__AVX2__) && !defined(__AVX512F__)
// For each set of lanes, these first.
struct Compression {
  uint8_t lane[256][8];

  constexpr Compression() : lane() {
    for (int set = 0; set < 256; ++set)
      for (int l = 0, n = 0; l < 8; ++l)
        if (set >> l & 1) lane[set][n++] = uint8_t(l);
  }
};
constexpr Compression COMPRESSION;
#endif

// Weights above `least` and their tags to `weights` and `tags`, which have room for W; how many.
INLINE int keep_above(Vec w, Ints tag, Vec least, float* weights, int32_t* tags) {
#if defined(__AVX512F__)
  __mmask16 high = _mm512_cmp_ps_mask(w, least, _CMP_GT_OQ);
  store(weights, _mm512_maskz_compress_ps(high, w));
  _mm512_storeu_si512(tags, _mm512_maskz_compress_epi32(high, (__m512i)tag));
  return __builtin_popcount(high);
#else
  unsigned high = where_greater(w, least);
#if defined(__AVX2__)
  __m128i lane = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(COMPRESSION.lane[high]));
  __m256i order = _mm256_cvtepu8_epi32(lane);
  store(weights, _mm256_permutevar8x32_ps(w, order));
  store(reinterpret_cast<float*>(tags), _mm256_permutevar8x32_ps((Vec)tag, order));
  return __builtin_popcount(high);
#else
  int n = 0;
  for (; high; high &= high - 1, ++n) {
    weights[n] = w[__builtin_ctz(high)];
    tags[n] = tag[__builtin_ctz(high)];
  }
  return n;
#endif
#endif
}

struct Top {
  int k;
  float weight[W][CANDIDATES + 8 + W];  // of candidates, of each row in the order of keys
  int32_t tag[W][CANDIDATES + 8 + W];

  // rows.weights of rows [row, row + n), n <= W, to (n, k) arrays.
  void find(const WeightRows& rows, int row, int n, float* weights, int64_t* keys) {
    bool is_short = rows.columns >= 8 && rows.columns <= TAGGED;  // eight of them are there
    if (k <= 8 && is_short && find_tagged(rows, row, n, weights, keys)) return;
    if (k <= 8)
      find_with<8>(rows, row, n, weights, keys);
    else
      find_with<MOST_TOP>(rows, row, n, weights, keys);
  }

 private:
  // Short rows: the last bits of a weight give way to its column, so that a lane has room for both.
  // Whether that left no doubt: no two of the k, nor the k-th and a weight left out, are now the same.
  bool find_tagged(const WeightRows& rows, int row, int n, float* weights, int64_t* keys) const {
    const Ints low = all(int32_t(TAGGED - 1));
    Largest<8, Ints> best;
    Ints rest = {};
    each_eight(rows, row, n, [&](const Vec* column, int j) {
      Ints x[8];
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i)
        x[i] = ((Ints)column[i] & ~low) | all(int32_t(TAGGED - 1 - j - i));
      if (j == 0)
        best.begin(x);
      else
        best.add(x, rest);
    });
    Ints doubt = {};
    for (int i = 0; i < k; ++i) {  // zeros are all the same, and in order
      Ints next = i + 1 < 8 ? best.of[i + 1] : rest;
      doubt |= (best.of[i] > low) & ((best.of[i] ^ next) <= low);
    }
    if (where_greater(doubt ? all(1.0f) : Vec{}, Vec{})) return false;
    Vec inverse = load(rows.inverse + row);
    // Zeros that were met have the first keys already, if the first keys were met.
    Ints fine = inverse == inverse;
    if (rows.from > 0 || rows.columns < k) fine &= best.of[k - 1] > low;
    unsigned good = where_greater(fine ? all(1.0f) : Vec{}, Vec{});
    constexpr int STEP = W > 8 ? W : 8;
    int32_t columns[W][STEP];
    for (int at = 0; at < STEP; at += W) {
      Vec of_row[W];
#pragma GCC unroll 16
      for (int i = 0; i < W; ++i)
        of_row[i] = at + i < 8 ? (Vec)(low - (best.of[at + i] & low)) : Vec{};
      transpose(of_row);
#pragma GCC unroll 16
      for (int m = 0; m < W; ++m) memcpy(columns[m] + at, &of_row[m], sizeof of_row[m]);
    }
    for (int m = 0; m < n; ++m, weights += k, keys += k) {
      const float* from = rows.weights + (row + m) * rows.stride;
      const int32_t* column = columns[m];
      float weight[8];
      int64_t key[8];
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) weight[i] = from[column[i]];
      for (int i = 0; i < 8; ++i) weight[i] *= rows.inverse[row + m], key[i] = rows.from + column[i];
      if (k == 8) {  // known to the compiler: no call
        memcpy(weights, weight, sizeof weight);
        memcpy(keys, key, sizeof key);
      } else {
        memcpy(weights, weight, size_t(k) * sizeof *weights);
        memcpy(keys, key, size_t(k) * sizeof *keys);
      }
      if (!(good >> m & 1)) fill(weights, keys, rows.inverse[row + m]);
    }
    return true;
  }

  template <int K>
  void find_with(const WeightRows& rows, int row, int n, float* weights, int64_t* keys) {
    Best<K> best;
    bool all_met = rows.columns <= SHORT;
    if (all_met)
      whole(best, rows, row, n);
    else
      chosen(best, rows, row, n);
    Vec inverse = load(rows.inverse + row);
    Vec number = inverse == inverse ? all(1.0f) : Vec{};
    // Zeros that were met have the first keys already, if the first keys were met.
    Vec least = all_met && rows.from == 0 && rows.columns >= k ? number : best.weight(k - 1) * number;
    unsigned fine = where_greater(least, Vec{});
    write(best, rows.from, inverse, n, weights, keys);
    for (int m = 0; m < n; ++m)
      if (!(fine >> m & 1)) fill(weights + m * k, keys + m * k, rows.inverse[row + m]);
  }

  template <int K>
  void write(const Best<K>& best, int from, Vec inverse, int n, float* weights, int64_t* keys) const {
    for (int at = 0; at < k; at += W) {
      Vec weight[W], key[W];
#pragma GCC unroll 16
      for (int i = 0; i < W; ++i) {
        weight[i] = at + i < K ? best.weight(at + i) * inverse : Vec{};
        key[i] = at + i < K ? (Vec)(best.key(at + i) + from) : Vec{};
      }
      transpose(weight);
      transpose(key);
      int count = k - at < W ? k - at : W;
      for (int m = 0; m < n; ++m) {
        float w[W];
        int32_t j[W];
        store(w, weight[m]);
        memcpy(j, &key[m], sizeof j);
        for (int i = 0; i < count; ++i) weights[m * k + at + i] = w[i];
        for (int i = 0; i < count; ++i) keys[m * k + at + i] = j[i];
      }
    }
  }

  // Fewer than k weights of this row are above 0: zeros, at the first keys that are not in the list.
  void fill(float* weights, int64_t* keys, float inverse) const {
    bool is_nan = inverse != inverse;
    int found = 0;
    while (found < k && weights[found] > 0) ++found;
    int64_t next = 0;
    for (int i = found; i < k; ++i, ++next) {
      for (int j = 0; j < found; ++j)
        if (keys[j] == next) ++next, j = -1;
      keys[i] = next;
      weights[i] = is_nan ? inverse : 0.0f;
    }
  }

  template <int K>
  static void whole(Best<K>& best, const WeightRows& rows, int row, int n) {
    each_eight(rows, row, n, [&](const Vec* column, int j) { best.add(column, j); });
  }

  // f(eight columns, from which on), a row in each lane.
  template <class F>
  static INLINE void each_eight(const WeightRows& rows, int row, int n, F f) {
    constexpr int STEP = W > 8 ? W : 8;
    for (int j = 0; j < rows.columns; j += STEP) {
      Vec column[STEP];
      for (int from = 0; from < STEP; from += W) {
        Vec block[W];
        bool there = j + from < rows.columns;
#pragma GCC unroll 16
        for (int m = 0; m < W; ++m)
          block[m] = there && m < n ? load(rows.weights + (row + m) * rows.stride + j + from) : Vec{};
        transpose(block);
#pragma GCC unroll 16
        for (int i = 0; i < W; ++i) column[from + i] = block[i];
      }
      for (int i = 0; i < STEP; i += 8) f(column + i, j + i);
    }
  }

  template <int K>
  void chosen(Best<K>& best, const WeightRows& rows, int row, int n) {
    float least[W];
    thresholds<K>(rows, row, n, least);
    int count[W], longest = 0;
    for (int m = 0; m < n; ++m) {
      count[m] = collect(rows.weights + (row + m) * rows.stride, rows.columns, m, least[m]);
      longest = longest > count[m] ? longest : count[m];
    }
    longest = rounded_up(longest, 8);
    for (int m = 0; m < n; ++m)
      for (int i = count[m]; i < longest; i += W) store(weight[m] + i, Vec{});
    constexpr int STEP = W > 8 ? W : 8;
    for (int at = 0; at < longest; at += STEP) {
      Vec weights[STEP], tags[STEP];
      for (int from = 0; from < STEP; from += W) {
        Vec w[W], t[W];
#pragma GCC unroll 16
        for (int m = 0; m < W; ++m) {
          w[m] = load(weight[m] + at + from);
          t[m] = load(reinterpret_cast<const float*>(tag[m]) + at + from);
        }
        transpose(w);
        transpose(t);
#pragma GCC unroll 16
        for (int i = 0; i < W; ++i) weights[from + i] = w[i], tags[from + i] = t[i];
      }
      for (int i = 0; i < STEP && at + i < longest; i += 8) best.add(weights + i, tags + i);
    }
  }

  // Of each row a number not larger than its k-th largest weight, less the tiniest step.
  template <int K>
  void thresholds(const WeightRows& rows, int row, int n, float* least) const {
    constexpr int GROUPS = 2 * K / W;
    Vec high[GROUPS * W];  // of each group of columns, of each row
    for (int m = 0; m < W; ++m) {
      Vec maxima[GROUPS] = {};
      if (m < n) maxima_of(rows.weights + (row + m) * rows.stride, rows.columns, maxima);
      for (int g = 0; g < GROUPS; ++g) high[g * W + m] = maxima[g];
    }
    for (int g = 0; g < GROUPS; ++g) transpose(*reinterpret_cast<Vec(*)[W]>(high + g * W));
    Largest<K, Vec> best;
    for (int i = 0; i < GROUPS * W; i += 8) best.add(*reinterpret_cast<Vec(*)[8]>(high + i));
    float kth[W];
    store(kth, best.of[k - 1]);
    for (int m = 0; m < W; ++m) {
      float t = kth[m];
      least[m] = t > 1e-30f ? t * (1 - 1.2e-7f) : 0.0f;  // "greater" then includes t itself
    }
  }

  // The largest of each GROUPS-th vector, in each lane.
  template <int GROUPS>
  static INLINE void maxima_of(const float* weights, int columns, Vec (&maxima)[GROUPS]) {
    constexpr int N = GROUPS < 4 ? 4 : GROUPS;  // enough of them to keep the processor busy
    Vec high[N] = {};
    int j = 0;
    for (; j + N * W <= columns; j += N * W)
#pragma GCC unroll 16
      for (int i = 0; i < N; ++i) high[i] = larger(high[i], load(weights + j + i * W));
    for (int i = 0; j < columns; j += W, ++i) high[i] = larger(high[i], load(weights + j));
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) maxima[i % GROUPS] = larger(maxima[i % GROUPS], high[i]);
  }

  // The weights above `least`, in the order of keys; how many. First it is found out which pairs of
  // vectors have any, without a branch, which could not be foretold.
  int collect(const float* weights, int columns, int m, float least) {
    constexpr int PAIR = 2 * W, PAIRS = 64;
    int n = 0;
    for (int start = 0; start < columns; start += PAIRS * PAIR) {
      int stop = columns - start < PAIRS * PAIR ? columns : start + PAIRS * PAIR;
      uint64_t some = 0, bit = 1;
      int j = start;
      for (; j + PAIR <= stop; j += PAIR, bit *= 2) {
        Vec high = larger(load(weights + j), load(weights + j + W));
        some |= where_greater(high, all(least)) ? bit : 0;
      }
      for (; some; some &= some - 1) {
        int at = start + __builtin_ctzll(some) * PAIR;
        n = keep(weights, at, m, n, least);
        n = keep(weights, at + W, m, n, least);
      }
      if (j < stop) n = keep(weights, j, m, n, least);
    }
    return n;
  }

  INLINE int keep(const float* weights, int at, int m, int n, float& least) {
    if (__builtin_expect(n + W > CANDIDATES, 0)) n = thin(m, n, least);
    Ints tags = LAST_KEY - at - lanes();
    return n + keep_above(load(weights + at), tags, all(least), weight[m] + n, tag[m] + n);
  }

  // Too many candidates, as in a row of equal weights: keep the k best, ask for more from now on.
  int thin(int m, int n, float& least) {
    for (int i = 1; i < n; ++i) {
      float w = weight[m][i];
      int32_t t = tag[m][i];
      int j = i;
      for (; j > 0 && weight[m][j - 1] < w; --j)
        weight[m][j] = weight[m][j - 1], tag[m][j] = tag[m][j - 1];
      weight[m][j] = w, tag[m][j] = t;
    }
    least = weight[m][k - 1];
    return k;
  }
};

}  // namespace
