// The best continuations: two passes over a row of logits, and a short sorted list.
#include "choice.h"

#include <math.h>

#include "kernel.h"
#include "vector.h"

namespace {

using regard::Choice;
using regard::Chosen;

// log sum exp of n numbers; no finite number if one of them is NaN or +inf, or all are -inf.
float log_sum(const float* x, int64_t n) {
  Vec most_of = all(-INFINITY);
  int64_t i = 0;
  for (; i + W <= n; i += W) most_of = larger(load(x + i), most_of);
  float high = most(most_of), total = 0;
  for (int64_t j = i; j < n; ++j) high = x[j] > high ? x[j] : high;
  Vec sums = {}, factor = all(1.44269504f);
  for (i = 0; i + W <= n; i += W) sums += exp2_of_any(load(x + i) - all(high), factor);
  for (; i < n; ++i) total += expf(x[i] - high);
  return high + logf(total + sum(sums));
}

// The best so far, the best first; of equals, the one that came first.
struct Best {
  double* totals;
  int64_t* places;
  int64_t count;

  double least() const { return totals[count - 1]; }

  void add(double total, int64_t place) const {
    int64_t i = count - 1;
    for (; i > 0 && totals[i - 1] < total; --i) totals[i] = totals[i - 1], places[i] = places[i - 1];
    totals[i] = total, places[i] = place;
  }
};

// A bound that no logit is above unless its total is above `least`, whatever is rounded.
float bound(double least, double offset) {
  double x = least - offset;
  return float(x - 1e-6 * fabs(x) - 1e-30);
}

void choose(const Best& best, const float* logits, int64_t n, double offset, int64_t first) {
  auto consider = [&](int64_t v) {
    double total = double(logits[v]) + offset;
    if (total > best.least()) best.add(total, first + v);
  };
  int64_t v = 0;
  Vec least = all(bound(best.least(), offset));
  for (; v + W <= n; v += W) {
    unsigned above = where_greater(load(logits + v), least);
    if (!above) continue;
    for (; above; above &= above - 1) consider(v + __builtin_ctz(above));
    least = all(bound(best.least(), offset));
  }
  for (; v < n; ++v) consider(v);
}

bool choose_of_sentence(const Choice& c, int64_t s) {
  Best best = {c.totals + s * c.count, c.places + s * c.count, c.count};
  for (int64_t i = 0; i < c.count; ++i) best.totals[i] = -INFINITY, best.places[i] = c.silent[0];
  for (int64_t b = 0; b < c.beams; ++b) {
    float* logits = c.logits + (s * c.beams + b) * c.size;
    double norm = log_sum(logits, c.size);
    if (!isfinite(norm)) return false;
    for (int64_t i = 0; i < c.silent_count; ++i) logits[c.silent[i]] = -INFINITY;
    choose(best, logits, c.size, c.scores[s * c.beams + b] - norm, b * c.size);
  }
  return true;
}

}  // namespace

extern "C" void VARIANT_OF(choose)(const Choice& c, Chosen& chosen) {
  int64_t s;
  while ((s = __atomic_fetch_add(&chosen.next, 1, __ATOMIC_RELAXED)) < c.sentences)
    if (!choose_of_sentence(c, s)) __atomic_store_n(&chosen.spoilt, 1, __ATOMIC_RELAXED);
}
