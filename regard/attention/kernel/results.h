// What becomes of a block whose rows have met all their keys: outputs and statistics.
#pragma once
#include "scores.h"
#include "top.h"

namespace {

constexpr float SMALL_SUM = 1e-3f, SMALL = 1e-30f;  // weights and outputs that may be lost below 1e-38

struct Results : Scores {
  float* received_base;  // of this task
  float *sums, *greatest;
  Top* top;

  using Scores::Scores;

  void lay_out(Arena& arena) {
    Scores::lay_out(arena);
    sums = arena.take<float>(keeps_rows ? stride + 4 * W : 0);
    greatest = arena.take<float>(keeps_rows ? stride + 4 * W : 0);
    top = arena.take<Top>(c.top ? 1 : 0);
  }

  // All rows have met their keys, and weights of keys [from, to) are there. Whether some rows are to be
  // computed once more, which are then `unfit`.
  bool end(int rows, int from, int to) {
    float all_of[ROWS + W];
    for (int r = 0; r < rows; r += W) {
      Vec whole = sums_of(total + r);
      Vec part = whole == Vec{} ? Vec{} : all(1.0f) / whole;
      store(all_of + r, whole);
      store(inverse + r, part);
      if (c.lse || c.entropy) tell(r, least_of(W, rows - r), whole, part);
    }
    bool mends = c.out.data && !write_all(rows, all_of) && find_unfit(rows, all_of);
    if (!keeps_rows) return mends;
    WeightRows all_rows = {weights, stride, from, rounded_up(to - from, W), inverse};
    if (c.received || c.pooled_max) gather(all_rows, rows);
    if (c.top) find_top(all_rows, rows);
    return mends;
  }

  // To the caller's memory; the sum of what was written, each times 0.
  Vec write(int r, bool empty) {
    const Array& o = c.out;
    float* to = static_cast<float*>(const_cast<void*>(o.data)) + b * o.batch + head_of[r] * o.head +
                query_of[r] * o.row;
    const float* from = out + r * wide;
    int n = int(c.value_width), d = 0;
    if (empty) {
      for (; d < n; ++d) to[d] = 0;
      return Vec{};
    }
    Vec factor = all(inverse[r]), nothing = {}, nought = {};
    for (; d + 2 * W <= n; d += 2 * W) {
      Vec x = load(from + d), y = load(from + d + W);
      nothing += x * Vec{};
      nought += y * Vec{};
      store(to + d, x * factor);
      store(to + d + W, y * factor);
    }
    for (; d < n; d += W) {
      Vec x = load(from + d), y = x * factor;
      nothing += x * Vec{};
      memcpy(to + d, &y, size_t(least_of(W, n - d)) * sizeof *to);
    }
    return nothing + nought;
  }

 private:
  // Log-sum-exp and entropy of n rows.
  void tell(int r, int n, Vec whole, Vec part) {
    Vec log_sum = log(whole), unit = all(unit_of_scores());
    if (c.lse) {
      Vec lse = load(reference + r) * unit + log_sum;
      put(c.lse, r, n, whole == Vec{} ? all(-INFINITY) : lse);
    }
    if (c.entropy) {
      Vec h = log_sum - unit * sums_of(spread + r) * part;
      Ints none = (whole == Vec{}) | (h < Vec{});
      put(c.entropy, r, n, none ? Vec{} : h);
    }
  }

  // A number of each of n rows. These rise, so that where the last of W is W - 1 behind the first, all
  // stand one behind the other.
  void put(float* to, int r, int n, Vec x) const {
    float each[W];
    store(each, x);
    auto at = [&](int i) { return to + (b * c.heads + head_of[i]) * c.queries + query_of[i]; };
    if (n == W && at(r + n - 1) == at(r) + n - 1) return store(at(r), x);
    for (int i = 0; i < n; ++i) *at(r + i) = each[i];
  }

  // All rows' outputs; whether all are surely numbers that have lost no digits.
  bool write_all(int rows, const float* all_of) {
    bool fine = true;
    Vec spoilt = {};
    for (int r = 0; r < rows; ++r) {
      bool empty = all_of[r] == 0;
      fine &= empty || all_of[r] >= SMALL_SUM;
      spoilt += write(r, empty);
    }
    return fine && sum(spoilt) == 0;
  }

  bool find_unfit(int rows, const float* all_of) {
    bool some = false;
    for (int r = 0; r < rows; ++r) {
      unfit[r] = all_of[r] > 0 && !fits(r, all_of[r]);
      some |= unfit[r];
      normal[r] = unfit[r] ? reference[r] + (logf(all_of[r]) + logf(2)) / unit_of_scores() : 0;
    }
    return some;
  }

  // Whether the sums of weighted values are numbers, and not so small that digits may be lost.
  bool fits(int r, float all_of) const {
    Vec nothing = {}, size = {};
    for (int d = 0; d < wide; d += W) {
      Vec x = load(out + r * wide + d);
      nothing += x * Vec{};
      size = larger(size, larger(x, -x));
    }
    return sum(nothing) == 0 && (all_of >= SMALL_SUM || most(size) >= SMALL);
  }

  // Received attention and pooled maps, for runs of rows of one head.
  void gather(const WeightRows& all_rows, int rows) {
    bool single = c.pooled_max && c.cell_rows == 1 && c.cell_columns == 1;
    for (int r = 0, n; r < rows; r += n) {
      for (n = 1; r + n < rows && head_of[r + n] == head_of[r];) ++n;
      float* received = c.received ? received_base + (b * c.heads + head_of[r]) * c.keys : nullptr;
      if (c.pooled_max && !single) {
        pool(all_rows, r, n, received);
        continue;
      }
      if (single)
        Pooled(c, b, head_of[r]).copy(query_of[r], all_rows, r, n, sums);
      else
        down(all_rows, r, n, sums, nullptr);
      if (received) receive(all_rows, received);
    }
  }

  void receive(const WeightRows& part, float* received) const {
    add_row(received + part.from, sums, columns_of(part));
  }

  int columns_of(const WeightRows& part) const { return least_of(part.columns, int(c.keys) - part.from); }

  // Rows of cells that are whole are filled together, as far as that goes; the others one by one.
  void pool(const WeightRows& all_rows, int row, int rows, float* received) {
    Pooled map(c, b, head_of[row]);
    int tall = int(c.cell_rows), end = row + rows, filled = map.fillable(all_rows);
    int first = row + (tall - int(query_of[row] % tall)) % tall;
    int behind = filled && first < end ? first + (end - first) / tall * tall : first;
    if (first < behind)
      map.fill(query_of[first], all_rows, first, (behind - first) / tall, filled, received);
    WeightRows rest = {all_rows.weights + filled, all_rows.stride, all_rows.from + filled,
                       all_rows.columns - filled, all_rows.inverse};
    for (int r = row, n; r < end; r += n) {
      n = least_of(end - r, tall - int(query_of[r] % tall));
      bool inside = r >= first && r < behind;
      if (inside && !rest.columns) {
        n = behind - first;
        continue;
      }
      if (!inside && query_of[r] % tall == 0) map.clear(query_of[r]);
      const WeightRows& part = inside ? rest : all_rows;
      down(part, r, n, sums, greatest);
      if (received) receive(part, received);
      map.add(query_of[r], part.from, columns_of(part), sums, greatest);
    }
  }

  void find_top(const WeightRows& all_rows, int rows) {
    for (int r = 0; r < rows;) {
      int n = 1;
      while (r + n < rows && n < W && head_of[r + n] == head_of[r]) ++n;
      int64_t at = ((b * c.heads + head_of[r]) * c.queries + query_of[r]) * c.top;
      top->find(all_rows, r, n, c.top_weights + at, c.top_keys + at);
      r += n;
    }
  }
};

}  // namespace
