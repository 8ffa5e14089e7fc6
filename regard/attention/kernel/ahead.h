// Rows that will be read or written next: they come into the cache while others are computed.
#pragma once
#include <stdint.h>

#include "vector.h"

namespace {

constexpr int MOST_AHEAD = 256;  // rows: of longer texts nothing is fetched ahead

struct Ahead {
  static constexpr int LINE = 64;                 // bytes that come into the cache together
  static constexpr int AT_ONCE = W > 8 ? 4 : 1;   // rows: a few at each tile, so that no tile waits

  // Where rows begin, how far apart they are, how long; in bytes.
  struct Stream {
    const char* at;
    int64_t step, bytes;
  };

  Stream stream[8];
  int count = 0;
  int64_t left = 0;  // rows of each

  void begin(int64_t rows) { left = rows, count = 0; }

  void add(const void* at, int64_t step, int64_t bytes) {
    stream[count++] = {static_cast<const char*>(at), step, bytes};
  }

  INLINE void fetch() {
    for (int rows = AT_ONCE; rows > 0 && left > 0; --rows, --left)
      for (int i = 0; i < count; ++i) {
        Stream& s = stream[i];
        for (int64_t byte = 0; byte < s.bytes; byte += LINE) __builtin_prefetch(s.at + byte, 0, 2);
        s.at += s.step;
      }
  }
};

}  // namespace
