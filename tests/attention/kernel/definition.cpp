// The kernel against its definition in float64: every variant of a library that runs on this CPU.
//
//     definition path/to/kernel.so [cases]
//
// Prints the largest error of each result as a share of what rounding explains, and exits with 1 if
// one is above 1. Written without C++'s own library, so that any cross compiler makes it at once.
#include "definition.h"

#include <dlfcn.h>

#include "attended.h"
#include "backward.h"
#include "decoder.h"
#include "looked.h"
#include "translator.h"

namespace {

template <class F>
void find(void* library, const char* name, F& f) {
  f = reinterpret_cast<F>(dlsym(library, name));
  if (!f) exit(printf("%s is not in the library\n", name));
}

}  // namespace

int main(int count, char** arguments) {
  void* library = dlopen(count > 1 ? arguments[1] : "", RTLD_NOW);
  if (!library) return printf("%s\n", dlerror()), 1;
  const int cases = count > 2 ? atoi(arguments[2]) : 300;
  Library it;
  find(library, "regard_variant", it.variant);
  find(library, "regard_runs_here", it.runs_here);
  find(library, "regard_attend", it.attend);
  find(library, "regard_attend_back", it.attend_back);
  find(library, "regard_look", it.look);
  find(library, "regard_rows", it.rows);
  find(library, "regard_choose", it.choose);
  bool fine = true;
  for (int variant = 0; it.variant(variant); ++variant) {
    if (!it.runs_here(variant)) {
      printf("%-9s not on this CPU\n", it.variant(variant));
      continue;
    }
    state = 2463534242u;  // the same cases for each
    memset(worst, 0, sizeof worst);
    for (int i = 0; i < cases; ++i) {
      bool found = attend_once(it, variant) && attend_back_once(it, variant);
      look_once(it, variant);
      found = found && decode_once(it, variant) && translate_once(it, variant);
      if (!found) return printf("no memory\n"), 1;
    }
    printf("%-9s %d cases; error as a share of what rounding explains:", it.variant(variant), 5 * cases);
    for (int i = 0; i < RESULTS; ++i) {
      printf(" %s %.2f", NAMES[i], worst[i]);
      fine &= worst[i] <= 1;
    }
    printf("\n");
  }
  return fine ? 0 : 1;
}
