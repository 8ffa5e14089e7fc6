// A beam search over a group of sentences: all that a step needs beside the network and the choice.
#include "search.h"

#include <math.h>
#include <string.h>

#include "arena.h"

namespace {

using regard::Choice;
using regard::Chosen;
using regard::Engine;
using regard::Rows;
using regard::RowsWork;
using regard::Search;
using regard::Searched;
using regard::Searching;
using regard::Share;

// Where a hypothesis ends: how many tokens it has, the row that said the last one, and that one.
struct End {
  double score;
  int64_t length, row, token;
};

// What a step leaves behind, in one piece of memory.
struct Step {
  float* weights = nullptr;    // (rows, longest source): where each row looked
  float* written = nullptr;    // what its rows leave to later steps
  int64_t* parents = nullptr;  // (rows of the next step): the row that each of them continues
  int64_t* tokens = nullptr;   // and what it says
};

// The hypotheses of one sentence that go on: the rows they continue, what they say, their log p.
struct Next {
  int64_t *parents, *tokens;
  double* scores;
  int64_t count;
};

struct Group {
  const Search& c;
  const Engine& engine;
  int64_t from, count;  // sentences
  int64_t longest = 0, limit = 0;  // source, hypothesis
  int64_t outcome = regard::FOUND;
  // Of the sources.
  int64_t* source = nullptr;  // (count + 1)
  float* memory = nullptr;
  // Of the sentences that are not done: row r is hypothesis r % beams of sentence lines[r / beams].
  int64_t live = 0, beams = 1, position = 0;
  int64_t *lines = nullptr, *first = nullptr, *tokens = nullptr;
  int64_t *path = nullptr, *next_path = nullptr;     // (rows, position)
  double *scores = nullptr, *next_scores = nullptr;  // (rows)
  // Of one step: its logits, and the candidates of each sentence.
  float* logits = nullptr;
  double* totals = nullptr;
  int64_t* places = nullptr;
  // Of all steps, and of all sentences.
  Step* steps = nullptr;
  float** written = nullptr;
  int64_t* at_once = nullptr;
  int64_t* ended = nullptr;  // (count): how many hypotheses have said their end
  End* best = nullptr;       // (count, best)

  void lay_out(Arena& arena) {
    longest = limit = 0;
    for (int64_t s = 0; s < count; ++s) {
      int64_t size = c.first[from + s + 1] - c.first[from + s];
      longest = size > longest ? size : longest;
      limit = c.limits[from + s] > limit ? c.limits[from + s] : limit;
    }
    int64_t rows = count * c.beam, sources = c.first[from + count] - c.first[from];
    source = arena.take<int64_t>(count + 1);
    memory = arena.take<float>(sources * c.encoder->out);
    lines = arena.take<int64_t>(count);
    first = arena.take<int64_t>(count + 1);
    tokens = arena.take<int64_t>(rows);
    path = arena.take<int64_t>(rows * limit);
    next_path = arena.take<int64_t>(rows * limit);
    scores = arena.take<double>(rows);
    next_scores = arena.take<double>(rows);
    logits = arena.take<float>(rows * c.decoder->out);
    totals = arena.take<double>(2 * rows);
    places = arena.take<int64_t>(2 * rows);
    steps = arena.take<Step>(limit);
    written = arena.take<float*>(limit);
    at_once = arena.take<int64_t>(limit);
    ended = arena.take<int64_t>(count);
    best = arena.take<End>(count * c.best);
  }

  void run() {
    read_sources();
    while (live && !outcome) {
      if (!step()) outcome = regard::NO_MEMORY;
      if (!outcome) choose();
      if (!outcome) advance();
    }
    for (int64_t s = 0; s < count && !outcome; ++s) tell(s);
    for (int64_t t = 0; t < position; ++t) free(steps[t].weights);
  }

 private:
  void read_sources() {
    for (int64_t s = 0; s <= count; ++s) source[s] = c.first[from + s] - c.first[from];
    Rows r = {};
    r.network = c.encoder, r.positions = c.positions, r.sentences = count;
    r.tokens = c.tokens + c.first[from], r.first = source, r.out = memory;
    compute(engine.read, r);
    live = count;
    for (int64_t s = 0; s < count; ++s) {
      lines[s] = s, tokens[s] = c.begin, scores[s] = 0, ended[s] = 0;
      for (int64_t b = 0; b < c.best; ++b) best[s * c.best + b] = {-INFINITY, 0, 0, 0};
    }
  }

  void compute(RowsWork work, const Rows& r) {
    Share share = {0, r.sentences, 0};
    work(r, share);
    if (share.failed) outcome = regard::NO_MEMORY;
  }

  // The logits of what follows every hypothesis.
  bool step() {
    int64_t rows = live * beams, next = live * c.beam;
    int64_t looked = (rows * longest + 1) / 2 * 2, kept = (rows * c.decoder->kept + 1) / 2 * 2;
    auto* piece = static_cast<float*>(
        malloc(size_t(looked + kept) * sizeof(float) + size_t(2 * next) * sizeof(int64_t)));
    if (!piece) return false;
    Step& made = steps[position];
    made.weights = piece, made.written = piece + looked;
    made.parents = reinterpret_cast<int64_t*>(made.written + kept);
    made.tokens = made.parents + next;
    memset(made.weights, 0, size_t(rows * longest) * sizeof(float));
    written[position] = made.written, at_once[position] = rows;
    for (int64_t s = 0; s <= live; ++s) first[s] = s * beams;
    Rows r = {};
    r.network = c.decoder, r.positions = c.positions, r.tokens = tokens, r.first = first;
    r.sentences = live, r.out = logits, r.position = position++;
    r.written = written, r.at_once = at_once, r.path = path;
    r.source = source, r.lines = lines, r.memory = memory;
    r.layer = c.layer, r.head = c.head, r.weights = made.weights, r.longest = longest;
    compute(engine.write, r);
    return true;
  }

  // How many candidates of each sentence are looked at: of each hypothesis at most one says its end.
  int64_t wide() const {
    int64_t all = beams * c.decoder->out;
    return c.beam == 1 ? 1 : 2 * c.beam < all ? 2 * c.beam : all;
  }

  void choose() {
    Choice choice = {};
    choice.logits = logits, choice.scores = scores, choice.sentences = live, choice.beams = beams;
    choice.size = c.decoder->out, choice.silent = c.silent, choice.silent_count = c.silent_count;
    choice.count = wide(), choice.totals = totals, choice.places = places;
    Chosen chosen = {};
    engine.choose(choice, chosen);
    if (chosen.spoilt) outcome = regard::NO_NUMBER;
  }

  // The best candidates go on, unless their sentence is done.
  void advance() {
    const Step& made = steps[position - 1];
    int64_t kept = wide() < c.beam ? wide() : c.beam, going = 0;
    for (int64_t s = 0; s < live; ++s) {
      int64_t at = going * kept;
      Next next = {made.parents + at, made.tokens + at, next_scores + at, kept};
      sift(s, next);
      if (!done(lines[s], next)) lines[going++] = lines[s];
    }
    live = going, beams = kept;
    memcpy(scores, next_scores, size_t(live * beams) * sizeof *scores);
    memcpy(tokens, made.tokens, size_t(live * beams) * sizeof *tokens);
    extend_paths(made.parents);
  }

  // Candidates that end are noted. Of the others the best go on; where there are too few, ended ones
  // stand behind them, without a chance.
  void sift(int64_t s, Next next) {
    int64_t size = c.decoder->out, count = wide(), n = 0;
    const int64_t* place = places + s * count;
    const double* total = totals + s * count;
    auto row = [&](int64_t i) { return s * beams + place[i] / size; };
    auto ends = [&](int64_t i) { return place[i] % size == c.end; };
    auto put = [&](int64_t i, double score) {
      next.parents[n] = row(i), next.tokens[n] = place[i] % size, next.scores[n++] = score;
    };
    for (int64_t i = 0; i < count; ++i) {
      if (!ends(i) && n < next.count) put(i, total[i]);
      if (ends(i) && i < c.beam && total[i] > -INFINITY) finish(lines[s], total[i], row(i));
    }
    for (int64_t i = 0; i < count && n < next.count; ++i)
      if (ends(i)) put(i, -INFINITY);
  }

  double shared_by(int64_t length) const { return pow(double(length), c.penalty); }

  // A hypothesis has said its end: it is kept if it is better than one that is.
  void finish(int64_t s, double total, int64_t row) {
    ++ended[s];
    End end = {total / shared_by(position), position, row, c.end};
    End* kept = best + s * c.best;
    int64_t i = c.best - 1;
    if (!(end.score > kept[i].score)) return;
    for (; i > 0 && kept[i - 1].score < end.score; --i) kept[i] = kept[i - 1];
    kept[i] = end;
  }

  // Whether a sentence needs no further step. If it has too few hypotheses that ended, others follow.
  bool done(int64_t s, Next next) {
    End* kept = best + s * c.best;
    double last = kept[c.best - 1].score;
    int64_t most = c.limits[from + s];
    // log p can only fall, and dividing by the greatest length is the most that can help it.
    bool hopeless = last >= next.scores[0] / shared_by(most);
    if (!hopeless && position < most && ended[s] < c.beam) return false;
    for (int64_t i = 0, n = 0; i < c.best && n < next.count; ++i)
      if (kept[i].score == -INFINITY) {
        kept[i] = {next.scores[n] / shared_by(position), position, next.parents[n], next.tokens[n]};
        ++n;
      }
    return true;
  }

  // The path of a hypothesis is that of the one it continues, and this one's row.
  void extend_paths(const int64_t* parents) {
    int64_t before = position - 1;
    for (int64_t n = 0; n < live * beams; ++n) {
      memcpy(next_path + n * position, path + parents[n] * before, size_t(before) * sizeof *path);
      next_path[n * position + before] = parents[n];
    }
    int64_t* other = path;
    path = next_path, next_path = other;
  }

  // Write down the best hypotheses of a sentence, each followed back from its end.
  void tell(int64_t s) const {
    int64_t width = source[s + 1] - source[s], limit = c.limits[from + s];
    for (int64_t b = 0; b < c.best; ++b) {
      const End& end = best[s * c.best + b];
      int64_t place = (from + s) * c.best + b, row = end.row, token = end.token;
      c.scores[place] = end.score, c.lengths[place] = end.length;
      float* weights = c.weights + c.room[from + s] + b * limit * width;
      for (int64_t t = end.length - 1; t >= 0; --t) {
        c.said[place * c.longest + t] = token;
        memcpy(weights + t * width, steps[t].weights + row * longest, size_t(width) * sizeof *weights);
        if (t) token = steps[t - 1].tokens[row], row = steps[t - 1].parents[row];
      }
    }
  }
};

}  // namespace

void regard::search(const Searching& s, Searched& done) {
  int64_t from, all = s.search.sentences;
  while ((from = __atomic_fetch_add(&done.next, done.at_once, __ATOMIC_RELAXED)) < all) {
    Group group = {s.search, s.engine, from, done.at_once < all - from ? done.at_once : all - from};
    int64_t outcome = work_in_arena(group) ? group.outcome : NO_MEMORY;
    if (outcome) __atomic_store_n(&done.outcome, outcome, __ATOMIC_RELAXED);
  }
}
