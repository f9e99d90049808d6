// The intrinsics that rewritten PTX calls, on the host. Warps run lane by lane, in two passes: the first one notes
// what every lane offers to an exchange, the second one exchanges.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct uchar2 { unsigned char x, y; };
struct uchar4 { unsigned char x, y, z, w; };
struct char2 { signed char x, y; };
struct char4 { signed char x, y, z, w; };
struct ushort2 { unsigned short x, y; };
struct ushort4 { unsigned short x, y, z, w; };
struct short2 { short x, y; };
struct short4 { short x, y, z, w; };
struct uint2 { unsigned int x, y; };
struct uint4 { unsigned int x, y, z, w; };
struct int2 { int x, y; };
struct int4 { int x, y, z, w; };
struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
struct double2 { double x, y; };
struct ulonglong2 { unsigned long long x, y; };
struct longlong2 { long long x, y; };
struct Index { unsigned int x, y, z; };

static Index threadIdx, blockIdx, blockDim, gridDim;
static int lane_now, pass_now;
static unsigned long long offered[32];
static char events[4096];

template <class To, class From> static To bits_of(From value) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To result;
  memcpy(&result, &value, sizeof result);
  return result;
}
static unsigned int __float_as_uint(float x) { return bits_of<unsigned int>(x); }
static float __uint_as_float(unsigned int x) { return bits_of<float>(x); }
static long long __double_as_longlong(double x) { return bits_of<long long>(x); }
static double __longlong_as_double(long long x) { return bits_of<double>(x); }
static int __popc(unsigned int x) { return __builtin_popcount(x); }
static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned int)x); }
static unsigned int __brev(unsigned int x) {
  unsigned int result = 0;
  for (int i = 0; i < 32; ++i) result |= ((x >> i) & 1u) << (31 - i);
  return result;
}
static unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
template <class Byte, class Sum> static Sum dot4(unsigned int a, unsigned int b, Sum c) {
  unsigned int sum = (unsigned int)c;
  for (int i = 0; i < 32; i += 8) sum += (unsigned int)((int)(Byte)(a >> i) * (int)(Byte)(b >> i));
  return (Sum)sum;
}
static int __dp4a(int a, int b, int c) { return dot4<signed char, int>((unsigned)a, (unsigned)b, c); }
static unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) { return dot4<unsigned char, unsigned int>(a, b, c); }
static float __fadd_rn(float a, float b) { return a + b; }
static float __fsub_rn(float a, float b) { return a - b; }
static float __fmul_rn(float a, float b) { return a * b; }
static float __frcp_rn(float a) { return 1.0f / a; }
static float rsqrtf(float x) { return (float)(1.0 / std::sqrt((double)x)); }
// glibc declares functions of these names itself.
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
static int clamped(float x) {
  if (x != x) return 0;
  if (x >= 2147483648.0f) return 0x7fffffff;
  return x <= -2147483648.0f ? -0x7fffffff - 1 : (int)x;
}
static int __float2int_rn(float x) { return clamped(nearbyintf(x)); }
static int __float2int_rz(float x) { return clamped(truncf(x)); }
static unsigned long long __cvta_generic_to_shared(const void* p) { return (unsigned long long)p & 0xffffff; }

struct half_bits { unsigned short value; };
static half_bits __ushort_as_half(unsigned short x) { return {x}; }
static unsigned short __half_as_ushort(half_bits x) { return x.value; }
static float __half2float(half_bits h) {
  int exponent = (h.value >> 10) & 31, fraction = h.value & 1023;
  float size = exponent == 31 ? (fraction ? NAN : INFINITY)
             : exponent == 0  ? ldexpf((float)fraction, -24)
                              : ldexpf((float)(1024 + fraction), exponent - 25);
  return h.value & 0x8000 ? -size : size;
}
static half_bits __float2half_rn(float x) {
  unsigned short sign = std::signbit(x) ? 0x8000 : 0;
  if (x != x) return {0x7fff};
  double size = std::fabs((double)x);
  if (size >= 65520.0) return {(unsigned short)(sign | 0x7c00)};
  int exponent = size < 6.103515625e-05 ? -14 : std::ilogb(size);
  double steps = std::nearbyint(std::ldexp(size, 10 - exponent));
  int biased = exponent + 15;
  int whole = (int)steps;
  if (size < 6.103515625e-05) return {(unsigned short)(sign | whole)};
  return {(unsigned short)(sign | (((biased - 1) << 10) + whole))};
}

static int __get_laneid() { return lane_now; }
template <class T> static unsigned long long word(T value) {
  unsigned long long result = 0;
  memcpy(&result, &value, sizeof value);
  return result;
}
template <class T> static T exchange(T value, int source) {
  if (pass_now == 0) offered[lane_now] = word(value);
  if (pass_now == 0 || source < 0 || source > 31) return value;
  T result;
  memcpy(&result, &offered[source], sizeof result);
  return result;
}
template <class T> static T __shfl_sync(unsigned int, T value, int source, int width = 32) {
  return exchange(value, (lane_now & ~(width - 1)) + (source & (width - 1)));
}
template <class T> static T __shfl_up_sync(unsigned int, T value, unsigned int delta, int width = 32) {
  int source = lane_now - (int)delta;
  return exchange(value, source < (lane_now & ~(width - 1)) ? lane_now : source);
}
template <class T> static T __shfl_down_sync(unsigned int, T value, unsigned int delta, int width = 32) {
  int source = lane_now + (int)delta;
  return exchange(value, source > (lane_now | (width - 1)) ? lane_now : source);
}
template <class T> static T __shfl_xor_sync(unsigned int, T value, int mask, int width = 32) {
  int source = lane_now ^ mask;
  return exchange(value, source > (lane_now | (width - 1)) ? lane_now : source);
}
static unsigned int __ballot_sync(unsigned int mask, int predicate) {
  if (pass_now == 0) offered[lane_now] = predicate != 0;
  unsigned int result = 0;
  for (int i = 0; i < 32; ++i) result |= (unsigned int)(offered[i] & 1) << i;
  return result & mask;
}
static unsigned int __activemask() { return 0xffffffffu; }
static int __all_sync(unsigned int mask, int predicate) { return __ballot_sync(mask, predicate) == mask; }
static int __any_sync(unsigned int mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
template <class T, class Combine> static T reduced(T value, Combine combine) {
  if (pass_now == 0) offered[lane_now] = word(value);
  T result = (T)offered[0];
  for (int i = 1; i < 32; ++i) result = combine(result, (T)offered[i]);
  return result;
}
static unsigned int __reduce_add_sync(unsigned int, unsigned int v) { return reduced(v, [](unsigned a, unsigned b) { return a + b; }); }
template <class T> static T __reduce_min_sync(unsigned int, T v) { return reduced(v, [](T a, T b) { return a < b ? a : b; }); }
template <class T> static T __reduce_max_sync(unsigned int, T v) { return reduced(v, [](T a, T b) { return a > b ? a : b; }); }
static unsigned int __reduce_and_sync(unsigned int, unsigned int v) { return reduced(v, [](unsigned a, unsigned b) { return a & b; }); }
static unsigned int __reduce_or_sync(unsigned int, unsigned int v) { return reduced(v, [](unsigned a, unsigned b) { return a | b; }); }
static unsigned int __reduce_xor_sync(unsigned int, unsigned int v) { return reduced(v, [](unsigned a, unsigned b) { return a ^ b; }); }

static void event(const char* name) { if (strlen(events) < 4000) strcat(strcat(events, name), " "); }
static void __threadfence() { event("gpu"); }
static void __threadfence_block() { event("cta"); }
static void __threadfence_system() { event("sys"); }

template <class T, class Combine> static T changed(T* place, Combine combine) { T old = *place; *place = combine(old); return old; }
template <class T> static T atomicAdd(T* p, T v) { return changed(p, [v](T o) { return bits_of<T>(o) + v; }); }
static int atomicAdd(int* p, int v) { return changed(p, [v](int o) { return (int)((unsigned)o + (unsigned)v); }); }
template <class T> static T atomicMin(T* p, T v) { return changed(p, [v](T o) { return o < v ? o : v; }); }
template <class T> static T atomicMax(T* p, T v) { return changed(p, [v](T o) { return o > v ? o : v; }); }
template <class T> static T atomicExch(T* p, T v) { return changed(p, [v](T) { return v; }); }
template <class T> static T atomicAnd(T* p, T v) { return changed(p, [v](T o) { return o & v; }); }
template <class T> static T atomicOr(T* p, T v) { return changed(p, [v](T o) { return o | v; }); }
template <class T> static T atomicXor(T* p, T v) { return changed(p, [v](T o) { return o ^ v; }); }
template <class T> static T atomicCAS(T* p, T c, T v) { return changed(p, [c, v](T o) { return o == c ? v : o; }); }
