// Additive attention, a sequence at a time. Nothing is summed over sequences, so that no thread count
// changes a bit.
#include "kernel.h"
#include "look.h"

namespace {

using regard::Look;
using regard::Step;

template <class F>
INLINE void each_sequence(const Look& c, Step& s, F f) {
  int64_t b;
  while ((b = __atomic_fetch_add(&s.next, 1, __ATOMIC_RELAXED)) < c.batch)
    f(OneLook{c, s.t, s.from, s.to, b});
}

}  // namespace

extern "C" void VARIANT_OF(look)(const Look& c, Step& s) {
  each_sequence(c, s, [](const OneLook& x) { x.look(); });
}

extern "C" void VARIANT_OF(look_back)(const Look& c, Step& s) {
  each_sequence(c, s, [](const OneLook& x) { x.look_back(); });
}
