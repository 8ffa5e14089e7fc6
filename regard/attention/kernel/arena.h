// Memory for one thread, cut into aligned pieces; twice: once to count, once to hand out.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

namespace {

struct Arena {
  char* base = nullptr;
  size_t used = 0;

  template <class T>
  T* take(int64_t n) {
    T* piece = reinterpret_cast<T*>(base + used);
    used += (size_t(n) * sizeof(T) + 63) / 64 * 64;
    return piece;
  }
};

// Let a worker lay out its memory and work; whether there was enough of it.
template <class Worker>
bool work_in_arena(Worker& worker) {
  Arena arena;
  worker.lay_out(arena);
  void* memory = nullptr;
  if (posix_memalign(&memory, 64, arena.used) != 0) return false;
  arena.base = static_cast<char*>(memory);
  arena.used = 0;
  worker.lay_out(arena);
  worker.run();
  free(memory);
  return true;
}

}  // namespace
