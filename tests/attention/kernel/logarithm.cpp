// The logarithm of a vector against C's own of a double, for the instructions it is compiled for.
//
// Prints how many numbers were tried and the largest error in units of the last place (ulp) of the
// right answer, rounded to float32; exits with 1 if that is above the stated one.
#include "vector.h"

#include <math.h>
#include <stdio.h>

namespace {

constexpr double MOST_ULP = 1;

double worst = 0;
float where = 0;
long tried = 0;

float number_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// The distance of the floats next to this one.
double ulp(double x) {
  int exponent;
  frexp(x, &exponent);
  return ldexp(1.0, (exponent > -125 ? exponent : -125) - 24);
}

void compare(const uint32_t (&bits)[W]) {
  float x[W], found[W];
  for (int i = 0; i < W; ++i) x[i] = number_of(bits[i]);
  store(found, log(load(x)));
  for (int i = 0; i < W; ++i, ++tried) {
    double right = ::log(double(x[i])), error = fabs(found[i] - right);
    error = error == 0 ? 0 : error / ulp(right);  // ln 1 is 0, and nothing else will do
    if (!(error <= worst)) worst = isnan(error) ? INFINITY : error, where = x[i];
  }
}

// Every `step`-th float of [from, to); a vector holds numbers that are far from each other.
void sweep(float from, float to, uint32_t step) {
  uint32_t first, last;
  memcpy(&first, &from, sizeof first), memcpy(&last, &to, sizeof last);
  uint32_t part = (last - first) / W;
  for (uint32_t at = first; at < first + part; at += step) {
    uint32_t bits[W];
    for (int i = 0; i < W; ++i) bits[i] = at + uint32_t(i) * part;
    compare(bits);
  }
}

bool stays(float x) {
  float found[W];
  store(found, log(all(x)));
  return memcmp(&found[W - 1], &x, sizeof x) == 0;
}

// A number below the normal ones is taken for one between 2^-127 and 2^-126.
bool is_bounded(uint32_t subnormal) {
  float found[W];
  store(found, log(all(number_of(subnormal))));
  return found[0] >= -127 * M_LN2 - 1e-5 && found[0] <= -126 * M_LN2 + 1e-5;
}

}  // namespace

int main() {
  const float least = number_of(0x00800000), most = number_of(0x7f7fffff);  // of normal numbers
  sweep(least, most, 1009);
  sweep(0.5f, 2.0f, 13);                 // where the exponent changes its sign
  sweep(1 - 0x1p-12f, 1 + 0x1p-12f, 1);  // where the logarithm does
  sweep(0.70710f, 0.70711f, 1);          // where the polynomial ends
  sweep(1.41421f, 1.41422f, 1);
  uint32_t ends[W] = {};
  for (uint32_t& end : ends) end = 0x3f800000;  // 1
  ends[0] = 0x00800000, ends[1] = 0x7f7fffff, ends[2] = 0x3f7fffff, ends[3] = 0x3f800001;
  compare(ends);
  bool small = true;
  for (uint32_t bits = 0; bits < 0x00800000; bits += 4099) small &= is_bounded(bits);
  bool kept = stays(INFINITY) && stays(number_of(0x7fc00000));
  printf("%ld numbers: %.2f ulp at %.9g; infinity and NaN %s; subnormal numbers are %s\n", tried,
         worst, double(where), kept ? "stay" : "change", small ? "bounded" : "not bounded");
  return worst <= MOST_ULP && kept && small ? 0 : 1;
}
