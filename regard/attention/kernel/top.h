// The k largest weights of each row, largest first, the first key first where weights are equal.
//
// W rows at a time, a row in each lane, so that a search's branches become arithmetic. A short row
// goes through the search as a whole. Of a long row only candidates do: the k-th largest of the
// maxima of 2k or more groups of columns is no larger than the k-th largest weight.
#pragma once
#include "pool.h"

namespace {

constexpr int MOST_TOP = 32;
constexpr int CANDIDATES = 128;
constexpr int SHORT = 4 * W;

// The K largest so far of W rows, with their keys.
template <int K>
struct Best {
  Vec weight[K];
  Ints key[K];

  Best() {
    for (int i = 0; i < K; ++i) weight[i] = Vec{}, key[i] = all(int32_t(-1));
  }

  // Behind its equals; those it moves down stay before theirs.
  INLINE void insert(Vec w, Ints k) {
    Ints moves = {};
#pragma GCC unroll 8
    for (int i = 0; i < K; ++i) {
      moves |= w > weight[i];
      Vec low = smaller(w, weight[i]);
      weight[i] = larger(w, weight[i]);
      w = low;
      Ints out = moves ? key[i] : k;
      key[i] = moves ? k : key[i];
      k = out;
    }
  }
};

struct Top {
  int k;
  int32_t candidate[W][CANDIDATES + W];  // keys, of each row in order
  int count[W];

  // rows.weights of rows [row, row + n), n <= W, to (n, k) arrays.
  void find(const Rows& rows, int row, int n, float* weights, int64_t* keys) {
    if (k <= 8)
      find_with<8>(rows, row, n, weights, keys);
    else
      find_with<MOST_TOP>(rows, row, n, weights, keys);
  }

 private:
  template <int K>
  void find_with(const Rows& rows, int row, int n, float* weights, int64_t* keys) {
    Best<K> best;
    if (rows.columns <= SHORT)
      whole(best, rows, row, n);
    else
      chosen(best, rows, row, n);
    unsigned full = where_greater(best.weight[k - 1], Vec{});
    Vec inverse = load(rows.inverse + row);
    for (int at = 0; at < k; at += W) {
      Vec weight[W], key[W];
      for (int i = 0; i < W; ++i) {
        weight[i] = at + i < K ? best.weight[at + i] * inverse : Vec{};
        key[i] = at + i < K ? (Vec)(best.key[at + i] + rows.from) : Vec{};
      }
      transpose(weight);
      transpose(key);
      int count_here = k - at < W ? k - at : W;
      for (int m = 0; m < n; ++m)
        for (int i = 0; i < count_here; ++i) {
          weights[m * k + at + i] = weight[m][i];
          keys[m * k + at + i] = ((Ints)key[m])[i];
        }
    }
    for (int m = 0; m < n; ++m)
      if (!(full >> m & 1)) fill(best.weight, m, weights + m * k, keys + m * k, rows.inverse[row + m]);
  }

  // Fewer than k weights of row m are above 0: zeros, at the first keys that are not in the list.
  void fill(const Vec* best, int m, float* weights, int64_t* keys, float inverse) const {
    bool is_nan = inverse != inverse;
    int found = 0;
    while (found < k && best[found][m] > 0) ++found;
    int64_t next = 0;
    for (int i = found; i < k; ++i, ++next) {
      for (int j = 0; j < found; ++j)
        if (keys[j] == next) ++next, j = -1;
      keys[i] = next;
      weights[i] = is_nan ? inverse : 0.0f;
    }
  }

  template <int K>
  static void whole(Best<K>& best, const Rows& rows, int row, int n) {
    for (int j = 0; j < rows.columns; j += W) {
      Vec block[W];
      for (int m = 0; m < W; ++m)
        block[m] = m < n ? load(rows.weights + (row + m) * rows.stride + j) : Vec{};
      transpose(block);
      for (int i = 0; i < W; ++i) best.insert(block[i], all(int32_t(j + i)));
    }
  }

  template <int K>
  void chosen(Best<K>& best, const Rows& rows, int row, int n) {
    float least[W];
    thresholds<K>(rows, row, n, least);
    int longest = 0;
    for (int m = 0; m < W; ++m) {
      count[m] = 0;
      if (m < n) collect(rows.weights + (row + m) * rows.stride, rows.columns, m, least[m]);
      longest = longest > count[m] ? longest : count[m];
    }
    for (int at = 0; at < longest; at += W) {
      Vec weight[W], key[W];
      for (int m = 0; m < W; ++m) {
        const float* row_weights = rows.weights + (row + m) * rows.stride;
        weight[m] = pick(row_weights, candidate[m] + at, count[m] - at);
        key[m] = load(reinterpret_cast<const float*>(candidate[m]) + at);
      }
      transpose(weight);
      transpose(key);
      for (int i = 0; i < W && at + i < longest; ++i) best.insert(weight[i], (Ints)key[i]);
    }
  }

  // The weights of the first n of these keys, zeros behind them.
  static INLINE Vec pick(const float* weights, const int32_t* keys, int n) {
#if defined(__AVX512F__)
    __mmask16 some = _mm512_cmplt_epi32_mask((__m512i)lanes(), _mm512_set1_epi32(n));
    return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), some, _mm512_loadu_si512(keys), weights, 4);
#else
    Vec x = {};
    for (int i = 0; i < W && i < n; ++i) x[i] = weights[keys[i]];
    return x;
#endif
  }

  // Of each row a number not larger than its k-th largest weight, less the tiniest step.
  template <int K>
  void thresholds(const Rows& rows, int row, int n, float* least) const {
    int groups = 1;  // vectors of maxima
    while (groups * W < 2 * k) groups *= 2;
    float maxima[2 * MOST_TOP][W];
    for (int g = 0; g < groups; g += 4) {
      Vec high[4][W];
      for (int m = 0; m < W; ++m) {
        const float* w = rows.weights + (row + m) * rows.stride;
        Vec h[4] = {};
        int j = g * W, step = (groups > 4 ? groups : 4) * W;
        for (; m < n && j + 4 * W <= rows.columns; j += step)
#pragma GCC unroll 4
          for (int i = 0; i < 4; ++i) h[i] = larger(h[i], load(w + j + i * W));
        for (int i = 0; m < n && j + i * W < rows.columns; ++i)  // fewer than 4 are left
          h[i] = larger(h[i], load(w + j + i * W));
        if (groups < 4) h[0] = larger(h[0], h[2]), h[1] = larger(h[1], h[3]);
        if (groups < 2) h[0] = larger(h[0], h[1]);
        for (int i = 0; i < 4; ++i) high[i][m] = h[i];
      }
      for (int i = 0; i < 4 && g + i < groups; ++i) {
        transpose(high[i]);
        memcpy(maxima[(g + i) * W], high[i], sizeof high[i]);
      }
    }
    Vec best[K] = {};
    for (int g = 0; g < groups * W; ++g) {
      Vec x = load(maxima[g]);
#pragma GCC unroll 8
      for (int i = 0; i < K; ++i) {
        Vec low = smaller(x, best[i]);
        best[i] = larger(x, best[i]);
        x = low;
      }
    }
    float kth[W];
    store(kth, best[k - 1]);
    for (int m = 0; m < W; ++m) {
      float t = kth[m];
      least[m] = t > 1e-30f ? t * (1 - 1.2e-7f) : 0.0f;  // "greater" then includes t itself
    }
  }

  // The keys of weights above `least`, in order.
  void collect(const float* weights, int columns, int m, float least) {
    int32_t* to = candidate[m];
    int n = 0;
#if defined(__AVX512F__)
    __m512i key = (__m512i)lanes();
    for (int j = 0; j < columns; j += W, key = _mm512_add_epi32(key, _mm512_set1_epi32(W))) {
      if (__builtin_expect(n + W > CANDIDATES, 0)) n = thin(weights, m, n, least);
      __mmask16 high = _mm512_cmp_ps_mask(load(weights + j), all(least), _CMP_GT_OQ);
      _mm512_storeu_si512(to + n, _mm512_maskz_compress_epi32(high, key));
      n += __builtin_popcount(high);
    }
#else
    for (int j = 0; j < columns; j += W) {
      unsigned high = where_greater(load(weights + j), all(least));
      if (!high) continue;
      if (n + W > CANDIDATES) {
        n = thin(weights, m, n, least);
        high = where_greater(load(weights + j), all(least));
      }
      for (; high; high &= high - 1) to[n++] = j + __builtin_ctz(high);
    }
#endif
    count[m] = n;
  }

  // Too many candidates, as in a row of equal weights: keep the k best, ask for more from now on.
  int thin(const float* weights, int m, int n, float& least) {
    int32_t* keys = candidate[m];
    for (int i = 1; i < n; ++i) {
      int32_t key = keys[i];
      int j = i;
      for (; j > 0 && weights[keys[j - 1]] < weights[key]; --j) keys[j] = keys[j - 1];
      keys[j] = key;
    }
    least = weights[keys[k - 1]];
    return k;
  }
};

}  // namespace
