// Which variant, how many threads, which tasks: everything but the arithmetic.
//
// Nothing here needs C++'s own library, so that the kernel needs nothing but C's where it runs.
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "additive.h"
#include "choice.h"
#include "gradient.h"
#include "kernel.h"
#include "layout.h"
#include "rows.h"
#include "scan.h"
#include "search.h"

using regard::BackWork;
using regard::Call;
using regard::CallBack;
using regard::Gradient;
using regard::Choice;
using regard::ChoiceWork;
using regard::Chosen;
using regard::Look;
using regard::LookWork;
using regard::Plan;
using regard::Network;
using regard::Rows;
using regard::RowsWork;
using regard::Scan;
using regard::ScanWork;
using regard::Search;
using regard::Searched;
using regard::Searching;
using regard::Share;
using regard::Step;
using regard::Work;

#define EXPORT extern "C" __attribute__((visibility("default")))

#if defined(__aarch64__)
#define PLAIN neon  // what every CPU of this kind can run
#else
#define PLAIN portable
#endif

#define DECLARED(variant)                                             \
  void REGARD_EXPANDED(work, variant)(const Call&, Plan&);            \
  void REGARD_EXPANDED(attend_back, variant)(const CallBack&, Plan&); \
  void REGARD_EXPANDED(look, variant)(const Look&, Step&);            \
  void REGARD_EXPANDED(look_back, variant)(const Look&, Step&);       \
  void REGARD_EXPANDED(scan, variant)(const Scan&, Share&);           \
  void REGARD_EXPANDED(scan_back, variant)(const Scan&, Share&);      \
  void REGARD_EXPANDED(stack, variant)(const Rows&, Share&);          \
  void REGARD_EXPANDED(recurrent, variant)(const Rows&, Share&);      \
  void REGARD_EXPANDED(choose, variant)(const Choice&, Chosen&);
extern "C" {
DECLARED(PLAIN)
#if defined(__x86_64__) && !defined(REGARD_ONLY_PORTABLE)
DECLARED(avx2)
DECLARED(avx512)
#endif
}

namespace {

struct Variant {
  const char* name;
  bool (*runs_here)();
  Work work;
  BackWork attend_back;
  LookWork look, look_back;
  ScanWork scan, scan_back;
  RowsWork stack, recurrent;
  ChoiceWork choose;

  RowsWork rows(const Network& network) const { return network.stack ? stack : recurrent; }
};
#define NAME_OF(v) #v
#define OF(v, runs)                                                                    \
  {NAME_OF(v), runs, REGARD_EXPANDED(work, v), REGARD_EXPANDED(attend_back, v),        \
   REGARD_EXPANDED(look, v), REGARD_EXPANDED(look_back, v), REGARD_EXPANDED(scan, v),  \
   REGARD_EXPANDED(scan_back, v), REGARD_EXPANDED(stack, v),                           \
   REGARD_EXPANDED(recurrent, v), REGARD_EXPANDED(choose, v)}

bool always() { return true; }
#if defined(__x86_64__) && !defined(REGARD_ONLY_PORTABLE)
// Whether the CPU has these features (leaves 1 and 7 of cpuid), and the system keeps the registers
// they need. The compiler's own question needs a library that not every compiler brings.
bool has(unsigned basic, unsigned extended, unsigned kept) {
  unsigned a, b, c, d, low, high;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & basic) != basic) return false;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & extended) != extended) return false;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & kept) == kept;
}
constexpr unsigned BASIC = bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C;
bool has_avx2() { return has(BASIC, bit_AVX2, 0x06); }
bool has_avx512() {
  return has(BASIC, bit_AVX2 | bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL, 0xe6);
}
#endif

const Variant VARIANTS[] = {  // the fastest first
#if defined(__x86_64__) && !defined(REGARD_ONLY_PORTABLE)
    OF(avx512, has_avx512),
    OF(avx2, has_avx2),
#endif
    OF(PLAIN, always),
};
constexpr int COUNT = sizeof VARIANTS / sizeof VARIANTS[0];

const pid_t HOME = getpid();  // where the library was loaded

// A fork keeps no threads, and OpenMP would wait for them.
int64_t usable_threads(int64_t wanted) { return getpid() == HOME ? wanted : 1; }

// A task has at least so many queries, unless there are no more: its keys are laid out anew.
constexpr int64_t LEAST_ROWS = 96;
constexpr int64_t TASKS_A_THREAD = 4;
// With fewer values of tanh than this, waking other threads takes longer than the work.
constexpr int64_t LEAST_LOOK = 1 << 15;

// A thread takes so many rows of a network at once: they stay in the cache, and so do the weights that
// meet them.
constexpr int64_t ROWS_AT_ONCE = 128;
// Of sequences that go through a scan together so many bytes of tapes are to stay in the cache.
constexpr int64_t MOST_TAPE = 12 << 20;

Plan make_plan(const Call& c, int64_t threads) {
  Plan plan = {};
  int64_t heads = c.batch * c.key_heads, parts = 1;
  if (threads > 1) {
    parts = (TASKS_A_THREAD * threads + heads - 1) / heads;
    int64_t most = c.queries * (c.heads / c.key_heads) / LEAST_ROWS;
    parts = parts < most ? parts : most;
    if (parts < 1) parts = 1;
  }
  plan.part_rows = (c.queries + parts - 1) / parts;
  if (c.pooled_max)  // a row of cells belongs to one task
    plan.part_rows = (plan.part_rows + c.cell_rows - 1) / c.cell_rows * c.cell_rows;
  plan.parts = (c.queries + plan.part_rows - 1) / plan.part_rows;
  plan.tasks = heads * plan.parts;
  plan.at_once = plan.tasks / (2 * TASKS_A_THREAD * threads);
  if (plan.at_once < 1) plan.at_once = 1;
  return plan;
}

// What each thread is to do: f(what, how).
template <class What, class How>
struct Job {
  const What& what;
  How& how;
  void (*f)(const What&, How&);

  static void take_part(void* job) {
    Job& j = *static_cast<Job*>(job);
    j.f(j.what, j.how);
  }

  static void* of_a_thread(void* job) {
    take_part(job);
    return nullptr;
  }
};

// GNU's interface to OpenMP, if PyTorch has it: then its own threads do the work.
using Parallel = void (*)(void (*)(void*), void*, unsigned, unsigned);
const Parallel PARALLEL = reinterpret_cast<Parallel>(dlsym(RTLD_DEFAULT, "GOMP_parallel"));

template <class What, class How>
void run_on(int64_t threads, Job<What, How> job) {
  auto take_part = Job<What, How>::take_part;
  if (threads <= 1) return take_part(&job);
  if (PARALLEL) return PARALLEL(take_part, &job, unsigned(threads), 0);
  // Threads for this call; if there are fewer to be had, those there are do it all.
  auto* others = static_cast<pthread_t*>(malloc(size_t(threads) * sizeof(pthread_t)));
  int64_t n = 0;
  while (others && n < threads - 1 &&
         pthread_create(others + n, nullptr, Job<What, How>::of_a_thread, &job) == 0)
    ++n;
  take_part(&job);
  while (n > 0) pthread_join(others[--n], nullptr);
  free(others);
}

// Whether all these tokens are in the vocabulary of a network.
bool known(const int64_t* tokens, int64_t count, const Network& network) {
  for (int64_t i = 0; i < count; ++i)
    if (tokens[i] < 0 || tokens[i] >= network.vocabulary) return false;
  return true;
}

// How many sentences a thread takes, of some that have so many rows in all.
int64_t sentences_at_once(int64_t sentences, int64_t rows, int64_t threads) {
  int64_t even = (sentences + threads - 1) / threads;
  int64_t most = ROWS_AT_ONCE * sentences / (rows ? rows : 1);
  return most < 1 ? 1 : most < even ? most : even;
}

// How many sequences go through a scan together, by so many threads: the more, the less often are the
// matrices read, but each step reads all tapes.
int64_t sequences_at_once(const Scan& c, int64_t threads) {
  int64_t read = c.look.width + (c.d_sums.data ? 2 : 1) * c.look.hidden;  // of a slot, in numbers
  int64_t bytes = (c.slots + c.words) * read * int64_t(sizeof(float)) * c.look.batch;
  int64_t groups = bytes / MOST_TAPE + 1;
  if (groups < threads) groups = threads;
  return c.look.batch > groups ? (c.look.batch + groups - 1) / groups : 1;
}

// received = sum over parts, always in the same order.
void add_parts(const Call& c, const Plan& plan) {
  int64_t n = c.batch * c.heads * c.keys;
  for (int64_t part = 0; part < plan.parts; ++part)
    for (int64_t i = 0; i < n; ++i) c.received[i] += plan.received[part * n + i];
}

}  // namespace

// The name of variant i, null if there are no more.
EXPORT const char* regard_variant(int i) { return i >= 0 && i < COUNT ? VARIANTS[i].name : nullptr; }

EXPORT int regard_runs_here(int i) { return i >= 0 && i < COUNT && VARIANTS[i].runs_here(); }

// The sources this was compiled from, as build.py knows them.
EXPORT const char* regard_sources() { return REGARD_SOURCES; }

// Line i of the layout that a caller must have, "name place size"; null if there are no more.
EXPORT const regard::Place* regard_layout(int i) {
  constexpr int count = sizeof regard::LAYOUT / sizeof regard::LAYOUT[0];
  return i >= 0 && i < count ? &regard::LAYOUT[i] : nullptr;
}

// Whether threads come from PyTorch's OpenMP.
EXPORT int regard_shares_threads() { return PARALLEL != nullptr; }

// 0, or 1 if there is not enough memory.
EXPORT int regard_attend(int variant, const Call* call) {
  const Call& c = *call;
  if (c.batch * c.heads * c.queries == 0) return 0;
  int64_t threads = usable_threads(c.threads);
  Plan plan = make_plan(c, threads);
  if (threads > plan.tasks) threads = plan.tasks;
  if (c.received && plan.parts > 1) {
    plan.received = static_cast<float*>(
        calloc(size_t(plan.parts * c.batch * c.heads * c.keys), sizeof(float)));
    if (!plan.received) return 1;
  }
  run_on(threads, Job<Call, Plan>{c, plan, VARIANTS[variant].work});
  if (plan.received) add_parts(c, plan);
  free(plan.received);
  return plan.failed ? 1 : 0;
}

// The gradient of a call that kept its log-sum-exp. 0, or 1 if there is not enough memory.
EXPORT int regard_attend_back(int variant, const Call* call, const Gradient* gradient) {
  const Call& c = *call;
  Plan plan = {};
  plan.tasks = c.batch * c.key_heads;
  int64_t threads = usable_threads(c.threads < plan.tasks ? c.threads : plan.tasks);
  plan.at_once = plan.tasks / (2 * TASKS_A_THREAD * (threads > 0 ? threads : 1));
  if (plan.at_once < 1) plan.at_once = 1;
  CallBack back = {c, *gradient};
  run_on(threads, Job<CallBack, Plan>{back, plan, VARIANTS[variant].attend_back});
  return plan.failed ? 1 : 0;
}

// One step of additive attention, or back through it, over the slots [from, to).
EXPORT void regard_look(int variant, const Look* look, int back, int64_t t, int64_t from, int64_t to) {
  const Look& c = *look;
  Step step = {t, from, to, 0};
  bool small = c.batch * (to - from) * c.hidden < LEAST_LOOK;
  int64_t threads = small ? 1 : usable_threads(c.threads < c.batch ? c.threads : c.batch);
  const Variant& v = VARIANTS[variant];
  run_on(threads, Job<Look, Step>{c, step, back ? v.look_back : v.look});
}

// All words of a scan, or back through them: 0, or 1 if there is not enough memory.
EXPORT int regard_scan(int variant, const Scan* scan, int back) {
  const Scan& c = *scan;
  int64_t threads = usable_threads(c.look.threads < c.look.batch ? c.look.threads : c.look.batch);
  Share share = {};
  share.at_once = sequences_at_once(c, threads);
  const Variant& v = VARIANTS[variant];
  run_on(threads, Job<Scan, Share>{c, share, back ? v.scan_back : v.scan});
  return share.failed ? 1 : 0;
}

// The rows of a network: what became of them.
EXPORT int regard_rows(int variant, const Rows* rows) {
  const Rows& r = *rows;
  int64_t count = r.first[r.sentences];
  if (!known(r.tokens, count, *r.network)) return regard::NO_TOKEN;
  int64_t threads = usable_threads(r.threads < r.sentences ? r.threads : r.sentences);
  Share share = {};
  share.at_once = sentences_at_once(r.sentences, count, threads);
  run_on(threads, Job<Rows, Share>{r, share, VARIANTS[variant].rows(*r.network)});
  return share.failed ? regard::NO_MEMORY : regard::FOUND;
}

// A beam search: what became of it.
EXPORT int regard_search(int variant, const Search* search) {
  const Search& c = *search;
  if (!known(c.tokens, c.first[c.sentences], *c.encoder)) return regard::NO_TOKEN;
  int64_t threads = usable_threads(c.threads < c.sentences ? c.threads : c.sentences);
  const Variant& v = VARIANTS[variant];
  Searching searching = {c, {v.rows(*c.encoder), v.rows(*c.decoder), v.choose}};
  Searched done = {};
  done.at_once = sentences_at_once(c.sentences, c.sentences * c.beam, threads);
  run_on(threads, Job<Searching, Searched>{searching, done, regard::search});
  return int(done.outcome);
}

// The best continuations: 0, or 1 if a sum of exponentials is no finite number.
EXPORT int regard_choose(int variant, const Choice* choice) {
  const Choice& c = *choice;
  Chosen chosen = {};
  int64_t threads = usable_threads(c.threads < c.sentences ? c.threads : c.sentences);
  run_on(threads, Job<Choice, Chosen>{c, chosen, VARIANTS[variant].choose});
  return chosen.spoilt ? 1 : 0;
}
