// The k largest weights of each row, largest first, the first key first where weights are equal.
//
// W rows at a time, a row in each lane, so that a search's branches become arithmetic. A short row
// goes through the search as a whole. Of a long row only candidates do: the k-th largest of the
// maxima of 2k or more groups of columns is no larger than the k-th largest weight.
#pragma once
#include "pool.h"

namespace {

constexpr int MOST_TOP = 32;
constexpr int CANDIDATES = 4 * MOST_TOP;
constexpr int SHORT = 4 * W;

// The K largest so far of W rows, with their keys.
template <int K>
struct Best {
  Vec weight[K];
  Ints key[K];

  Best() {
    for (int i = 0; i < K; ++i) weight[i] = Vec{}, key[i] = all(int32_t(-1));
  }

  INLINE void insert(Vec w, Ints k) {
    if (!where_greater(w, weight[K - 1])) return;
#pragma GCC unroll 8
    for (int i = 0; i < K; ++i) {
      Ints swap = w > weight[i];
      Vec low = smaller(w, weight[i]);
      weight[i] = larger(w, weight[i]);
      w = low;
      Ints out = swap ? key[i] : k;
      key[i] = swap ? k : key[i];
      k = out;
    }
  }
};

struct Top {
  int k;
  float candidate_weight[W][CANDIDATES];
  int32_t candidate_key[W][CANDIDATES];
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
    float weight[K][W];
    int32_t key[K][W];
    memcpy(weight, best.weight, sizeof weight);
    memcpy(key, best.key, sizeof key);
    for (int m = 0; m < n; ++m) {
      float inverse = rows.inverse[row + m];
      float* to_weights = weights + m * k;
      int64_t* to_keys = keys + m * k;
      int found = 0;
      for (; found < k && key[found][m] >= 0; ++found) {
        to_weights[found] = weight[found][m] * inverse;
        to_keys[found] = key[found][m] + rows.from;
      }
      if (found < k) fill(to_weights, to_keys, found, inverse);
    }
  }

  // Fewer than k weights are above 0: zeros, at the first keys that are not in the list.
  void fill(float* weights, int64_t* keys, int found, float inverse) const {
    bool is_nan = inverse != inverse;
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
    thresholds(rows, row, n, least);
    int longest = 0;
    for (int m = 0; m < W; ++m) {
      count[m] = 0;
      if (m < n) collect(rows.weights + (row + m) * rows.stride, rows.columns, m, least[m]);
      longest = longest > count[m] ? longest : count[m];
    }
    for (int i = 0; i < longest; ++i) {
      float w[W];
      Ints key;
      for (int m = 0; m < W; ++m) {
        w[m] = i < count[m] ? candidate_weight[m][i] : 0.0f;
        key[m] = i < count[m] ? candidate_key[m][i] : -1;
      }
      best.insert(load(w), key);
    }
  }

  // Of each row a number not larger than its k-th largest weight, less the tiniest step.
  void thresholds(const Rows& rows, int row, int n, float* least) const {
    int groups = rounded_up(2 * k, W) / W;  // vectors of maxima
    float maxima[2 * MOST_TOP][W];
    for (int g = 0; g < groups; ++g) {
      Vec high[W];
      for (int m = 0; m < W; ++m) {
        high[m] = Vec{};
        if (m >= n) continue;
        const float* w = rows.weights + (row + m) * rows.stride;
        for (int j = g * W; j < rows.columns; j += groups * W) high[m] = larger(high[m], load(w + j));
      }
      transpose(high);
      memcpy(maxima[g * W], high, sizeof high);
    }
    Vec best[MOST_TOP];
    for (int i = 0; i < k; ++i) best[i] = Vec{};
    for (int g = 0; g < groups * W; ++g) {
      Vec x = load(maxima[g]);
      for (int i = 0; i < k; ++i) {
        Vec low = smaller(x, best[i]);
        best[i] = larger(x, best[i]);
        x = low;
      }
    }
    for (int m = 0; m < W; ++m) {
      float t = best[k - 1][m];
      least[m] = t > 1e-30f ? t * (1 - 1.2e-7f) : 0.0f;  // "greater" then includes t itself
    }
  }

  // The weights above `least`, in order of their columns.
  void collect(const float* weights, int columns, int m, float least) {
    int n = 0;
    for (int j = 0; j < columns; j += W) {
      Vec w = load(weights + j);
      unsigned bits = where_greater(w, all(least));
      if (!bits) continue;
      if (n + W > CANDIDATES) n = thin(m, n, least), bits = where_greater(w, all(least));
#if defined(__AVX512F__)
      _mm512_storeu_ps(candidate_weight[m] + n, _mm512_maskz_compress_ps(__mmask16(bits), w));
      Ints key = lanes() + j;
      _mm512_storeu_si512(candidate_key[m] + n,
                          _mm512_maskz_compress_epi32(__mmask16(bits), (__m512i)key));
      n += __builtin_popcount(bits);
#else
      for (; bits; bits &= bits - 1) {
        int lane = __builtin_ctz(bits);
        candidate_weight[m][n] = weights[j + lane];
        candidate_key[m][n++] = j + lane;
      }
#endif
    }
    count[m] = n;
  }

  // Too many candidates, as in a row of equal weights: keep the k best, ask for more from now on.
  int thin(int m, int n, float& least) {
    float* w = candidate_weight[m];
    int32_t* keys = candidate_key[m];
    for (int i = 1; i < n; ++i) {
      float x = w[i];
      int32_t key = keys[i];
      int j = i;
      for (; j > 0 && w[j - 1] < x; --j) w[j] = w[j - 1], keys[j] = keys[j - 1];
      w[j] = x, keys[j] = key;
    }
    least = w[k - 1];
    return k;
  }
};

}  // namespace
