// What CUDA source uses without declaring it, for parsing without any header. Read by libclang only.
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __grid_constant__
#define __CUDACC__ 1
#define NULL 0

typedef decltype(sizeof(0)) size_t;
typedef long ptrdiff_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef unsigned long uintptr_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
namespace std {
using ::size_t;
using ::ptrdiff_t;
using ::int8_t;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::uint8_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
}

#define MUSIFY_VECTORS(name, type, two, four) \
  struct name##1 { type x; }; \
  struct __attribute__((aligned(two))) name##2 { type x, y; }; \
  struct name##3 { type x, y, z; }; \
  struct __attribute__((aligned(four))) name##4 { type x, y, z, w; };
MUSIFY_VECTORS(char, signed char, 2, 4)
MUSIFY_VECTORS(uchar, unsigned char, 2, 4)
MUSIFY_VECTORS(short, short, 4, 8)
MUSIFY_VECTORS(ushort, unsigned short, 4, 8)
MUSIFY_VECTORS(int, int, 8, 16)
MUSIFY_VECTORS(uint, unsigned int, 8, 16)
MUSIFY_VECTORS(long, long, 16, 16)
MUSIFY_VECTORS(ulong, unsigned long, 16, 16)
MUSIFY_VECTORS(longlong, long long, 16, 16)
MUSIFY_VECTORS(ulonglong, unsigned long long, 16, 16)
MUSIFY_VECTORS(float, float, 8, 16)
MUSIFY_VECTORS(double, double, 16, 16)

struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern const __device__ int warpSize;
extern "C" unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, void *stream = 0);

struct __attribute__((aligned(2))) __half { unsigned short bits; };
struct __attribute__((aligned(2))) __nv_bfloat16 { unsigned short bits; };
struct __attribute__((aligned(4))) __half2 { unsigned short bits[2]; };
struct __attribute__((aligned(4))) __nv_bfloat162 { unsigned short bits[2]; };
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
