// Which keys a query may see, by their places alone: [first_key, last_key).
#pragma once
#include "kernel.h"

namespace {

inline int within_keys(const regard::Call& c, int64_t j) {
  return int(j < 0 ? 0 : j > c.keys ? c.keys : j);
}

inline int first_key(const regard::Call& c, int64_t i) {
  return within_keys(c, i + c.keys - c.queries - c.before);
}

inline int last_key(const regard::Call& c, int64_t i) {
  return within_keys(c, i + c.keys - c.queries + c.after + 1);
}

}  // namespace
