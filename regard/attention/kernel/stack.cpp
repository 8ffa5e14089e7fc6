// A stack of Transformer layers over a few rows: between two products nothing leaves the cache.
#include "stack.h"

#include <math.h>

#include "arena.h"
#include "kernel.h"
#include "product.h"
#include "rows.h"
#include "weigh.h"

namespace {

using regard::Layer;
using regard::Norm;
using regard::Rows;
using regard::Share;
using regard::Stack;

// y = f(W x + b)
void bent_product(const Product& p, int64_t activation, const float* x, int64_t n, Rounded room,
                  float* y) {
  if (activation == regard::RELU) {
    multiply(p, x, n, room, [&](int64_t row, int64_t column, Vec sum, int count) {
      write(y + row * p.out + column, sum < Vec{} ? Vec{} : sum, count);  // a NaN stays one
    });
  } else {
    multiply(p, x, n, room, [&](int64_t row, int64_t column, Vec sum, int count) {
      Vec e = exp2_of_product(larger(smaller(sum, all(80.0f)), all(-80.0f)), all(-LOG2E));
      write(y + row * p.out + column, sum / (all(1.0f) + e), count);
    });
  }
}

// Each row with mean 0 and variance 1, stretched and shifted; y may be x.
void normalise(const Norm& norm, const float* x, int64_t n, int64_t width, float* y) {
  for (; n > 0; --n, x += width, y += width) {
    Vec total = {}, squares = {};
    each_vector(width, [&](int64_t d, int count) { total += read(x + d, count); });
    float mean = sum(total) / float(width);
    each_vector(width, [&](int64_t d, int count) {
      Vec far = read(x + d, count) - all(mean);
      if (count < W) far = lanes() < all(count) ? far : Vec{};
      squares += far * far;
    });
    Vec by = all(1 / sqrtf(sum(squares) / float(width) + float(norm.epsilon)));
    each_vector(width, [&](int64_t d, int count) {
      Vec far = (read(x + d, count) - all(mean)) * by;
      write(y + d, far * read(norm.gamma + d, count) + read(norm.beta + d, count), count);
    });
  }
}

int64_t more(int64_t a, int64_t b) { return a > b ? a : b; }

// How many keys a row may look at.
int64_t longest_look(const Rows& r) {
  int64_t longest = r.written ? more(r.position + 1, r.longest) : 0;
  for (int64_t s = 0; !r.written && s < r.sentences; ++s) longest = more(longest, r.first[s + 1] - r.first[s]);
  return longest;
}

// Some sentences of a call, and their working space.
struct Part {
  const Stack& stack;
  const Rows& r;
  int64_t from, to;  // sentences
  int64_t begin, n;  // their first row, how many
  float *x = nullptr, *y = nullptr, *wide = nullptr, *scores = nullptr;
  // (n, width) twice, (n, the widest between), the longest look
  Rounded room = {};

  void lay_out(Arena& arena) {
    int64_t widest = more(3 * stack.width, stack.layers[0].inner.out);
    x = arena.take<float>(n * stack.width);
    y = arena.take<float>(n * stack.width);
    wide = arena.take<float>(n * widest);
    scores = arena.take<float>(longest_look(r));
    room = {arena.take<int16_t>(n * (widest + 1)), arena.take<float>(n)};
  }

  void run() const {
    enter();
    for (int64_t l = 0; l < stack.count; ++l) layer(l);
    if (stack.last.gamma) normalise(stack.last, x, n, stack.width, x);
    product(stack.out, x, n, room, r.out + begin * stack.out.out);
  }

 private:
  template <class F>
  INLINE void each_row(F f) const {  // f(sentence, row of the call, row of this part)
    for (int64_t s = from; s < to; ++s)
      for (int64_t row = r.first[s]; row < r.first[s + 1]; ++row) f(s, row, row - begin);
  }

  void enter() const {
    Vec scale = all(float(stack.scale));
    each_row([&](int64_t s, int64_t row, int64_t own) {
      const float* word = stack.words + r.tokens[row] * stack.width;
      const float* place = r.positions + (r.written ? r.position : row - r.first[s]) * stack.width;
      each_vector(stack.width, [&](int64_t d, int count) {
        write(x + own * stack.width + d, scale * read(word + d, count) + read(place + d, count), count);
      });
    });
  }

  // x = x + f(norm(x)), or norm(x + f(x)); f(input) adds to x.
  template <class F>
  INLINE void join(const Norm& norm, F f) const {
    if (stack.before) normalise(norm, x, n, stack.width, y);
    f(stack.before ? y : x);
    if (!stack.before) normalise(norm, x, n, stack.width, x);
  }

  void layer(int64_t l) const {
    const Layer& layer = stack.layers[l];
    join(layer.own_norm, [&](const float* input) {
      product(layer.own, input, n, room, wide);
      r.written ? look_back(l) : look_around();
      add_product(layer.own_out, y, n, room, x);
    });
    if (r.written)
      join(layer.cross_norm, [&](const float* input) {
        product(layer.query, input, n, room, wide);
        look_across(l);
        add_product(layer.cross_out, y, n, room, x);
      });
    join(layer.inner_norm, [&](const float* input) {
      bent_product(layer.inner, stack.activation, input, n, room, wide);
      add_product(layer.outer, wide, n, room, x);
    });
  }

  // An encoder: every row looks at all of its sentence.
  void look_around() const {
    int64_t width = stack.width;
    each_row([&](int64_t s, int64_t, int64_t own) {
      const float* keys = wide + (r.first[s] - begin) * 3 * width + width;
      attend(wide + own * 3 * width, r.first[s + 1] - r.first[s], y + own * width,
             [=](int64_t i) { return keys + i * 3 * width; });
    });
  }

  // A decoder: every row writes its own key and value, and looks at those of its hypothesis.
  void look_back(int64_t l) const {
    int64_t width = stack.width, t = r.position;
    each_row([&](int64_t, int64_t row, int64_t own) {
      const float* made = wide + own * 3 * width;
      float* kept = r.written[t] + (l * r.at_once[t] + row) * 2 * width;
      memcpy(kept, made + width, size_t(2 * width) * sizeof *made);
      const int64_t* path = r.path + row * t;
      attend(made, t + 1, y + own * width, [=](int64_t i) -> const float* {
        return i == t ? kept : r.written[i] + (l * r.at_once[i] + path[i]) * 2 * width;
      });
    });
  }

  // A decoder: every row looks at the source of its sentence.
  void look_across(int64_t l) const {
    int64_t width = stack.width, stride = stack.count * 2 * width;
    each_row([&](int64_t s, int64_t row, int64_t own) {
      int64_t first = r.source[r.lines[s]], count = r.source[r.lines[s] + 1] - first;
      const float* keys = r.memory + first * stride + l * 2 * width;
      float* seen = l == r.layer ? r.weights + row * r.longest : nullptr;
      attend(wide + own * width, count, y + own * width,
             [=](int64_t i) { return keys + i * stride; }, seen);
    });
  }

  // Each head of one query over n keys, whose values stand behind them.
  template <class F>
  INLINE void attend(const float* q, int64_t count, float* mixed, F key, float* seen = nullptr) const {
    int64_t width = stack.width / stack.heads;
    float scale = 1 / sqrtf(float(width));
    for (int64_t h = 0; h < stack.heads; ++h, q += width, mixed += width) {
      for (int64_t i = 0; i < count; ++i) scores[i] = dot(q, key(i) + h * width, width);
      weigh(scores, count, scale);
      each_vector(width, [&](int64_t d, int n) {
        Vec total = {};
        for (int64_t i = 0; i < count; ++i)
          total += all(scores[i]) * read(key(i) + stack.width + h * width + d, n);
        write(mixed + d, total, n);
      });
      if (seen && (r.head < 0 || r.head == h)) {
        float part = r.head < 0 ? 1 / float(stack.heads) : 1;
        for (int64_t i = 0; i < count; ++i) seen[i] += part * scores[i];
      }
    }
  }
};

}  // namespace

extern "C" void VARIANT_OF(stack)(const Rows& r, Share& share) {
  int64_t from;
  while ((from = __atomic_fetch_add(&share.next, share.at_once, __ATOMIC_RELAXED)) < r.sentences) {
    int64_t to = from + share.at_once < r.sentences ? from + share.at_once : r.sentences;
    Part part = {*r.network->stack, r, from, to, r.first[from], r.first[to] - r.first[from]};
    if (!work_in_arena(part))
      __atomic_store_n(&share.failed, 1, __ATOMIC_RELAXED);
  }
}
