"""Warps: what is right on every architecture gets no finding; what is not gets one, on the architectures it concerns."""

from __future__ import annotations

import pytest

from tests.conftest import Convert


def kernel(body: str, before: str = "") -> str:
    return f"{before}\n__global__ void k(float* x, int n) {{ {body} }}\n"


FULL = "0xffffffff"
WARP_SIZE = "#define WARP_SIZE 32"
REDUCE = "__device__ float sum(float v) {{ for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(-1, v, o{width}); return v; }}"

NOTHING = {
    "a warp's reduction with explicit width": kernel(
        "int w = threadIdx.x / 32; x[w] = sum(x[threadIdx.x]);", REDUCE.format(width=", 32")
    ),
    "the width is a constant of 32": kernel(
        f"int w = threadIdx.x / WARP_SIZE; x[w] = __shfl_xor_sync({FULL}, x[0], 1, WARP_SIZE);", WARP_SIZE
    ),
    "a definition by itself": WARP_SIZE + "\n" + kernel("x[0] = 1;"),
    "32 as a tile of a matrix": kernel("__shared__ float t[32][33]; t[threadIdx.x / 32][threadIdx.x % 32] = x[0];"),
    "lanes without exchange": kernel("int lane = threadIdx.x & 31; x[lane] = 1;"),
    "a vote with a 32-bit mask": kernel(f"int l = threadIdx.x % 32; if (__any_sync({FULL}, x[l] > 0)) x[l] = __popc(__ballot_sync({FULL}, l));"),
    "warpSize throughout": kernel(
        "int lane = threadIdx.x % warpSize; for (int o = warpSize / 2; o > 0; o /= 2) x[0] += __shfl_down_sync(-1, x[0], o);"
    ),
    "a shuffle by less than 32, no warps counted": kernel(f"x[0] += __shfl_xor_sync({FULL}, x[0], 16);"),
    "an xor by less than 32": kernel(f"int w = threadIdx.x / 32; x[w] = __shfl_xor_sync({FULL}, x[0], 16);"),
    "an xor that halves from 16": kernel(
        f"int w = threadIdx.x / 32; for (int o = 16; o > 0; o >>= 1) x[w] += __shfl_xor_sync({FULL}, x[w], o);"
    ),
    "bits packed by the number of a warp": kernel("int w = threadIdx.x / warpSize; x[w / 32] = w % 32;"),
    "steps with a barrier between": kernel(
        "volatile float* s = x; int t = threadIdx.x; s[t] += s[t + 16]; __syncwarp(); s[t] += s[t + 8]; __syncwarp();"
    ),
    "a block's loop that starts above a warp": kernel(
        "__shared__ float s[256]; int t = threadIdx.x; for (int o = 128; o > 0; o >>= 1) { if (t < o) s[t] += s[t + o]; __syncthreads(); }"
    ),
    "neighbours that are no steps": kernel("__shared__ float s[256]; int t = threadIdx.x; x[t] = s[t] + s[t + 1];"),
    "the project's own __shfl": kernel("x[0] = __shfl(x[0], 1);", "#define __shfl(v, l) __shfl_sync(0xffffffff, v, l, 32)"),
    "a stand-in for HIP": "#define __shfl_sync(m, v, l, w) __shfl(v, l, w)\n",
    "HIP's branch": kernel("\n#ifdef __HIP_PLATFORM_AMD__\nx[0] = __shfl(x[0], 1, 64);\n#endif\n"),
    "not __HIPCC__'s other branch": kernel("\n#if defined(USE_ROCM)\nx[0] = __shfl(x[0], 1, 64);\n#else\nx[0] = 1;\n#endif\n"),
    "in a comment": kernel("// __shfl(x[0], 1)\n/* float a[warpSize]; */"),
    "in a string": kernel('printf("__shfl(x, 1)");'),
    "a member of that name": kernel("x[0] = lanes.__shfl(1, 2);", "struct L { int __shfl(int, int); };"),
    "warpSize in a comparison": kernel("for (int i = 0; i < warpSize; i++) x[i] = 0;"),
    "warpSize as an index": kernel("x[threadIdx.x / warpSize] = x[warpSize];"),
    "the project's own warpSize": "const int warpSize = 32;\n" + kernel("__shared__ float s[warpSize]; s[0] = x[0];"),
    "the warp size printed": 'void f(const Props& p) { printf("%d", p.warpSize); std::cout << p.warpSize; }\n',
    "a block of one warp": "void f(const Props& p) { int threads = p.warpSize; k<<<1, threads>>>(); }\n",
    "a tile of 32": kernel("auto t = cooperative_groups::tiled_partition<32>(b);"),
    "a tile of a template's size": "template <int N> " + kernel("auto t = cooperative_groups::tiled_partition<N>(b);"),
    "a width that nobody knows": kernel(f"x[0] = __shfl_xor_sync({FULL}, x[0], 1, n);"),
}  # fmt: skip


@pytest.mark.parametrize("source", NOTHING.values(), ids=NOTHING.keys())
def test_nothing_found(convert: Convert, source: str) -> None:
    assert [item for item in convert(source).ids if item.startswith("MUS21")] == []


ON_WIDE_WARPS = {
    "warps counted, shuffle without width": ("MUS210", kernel(f"int w = threadIdx.x / 32; x[w] = __shfl_down_sync({FULL}, x[0], 1);")),
    "an xor that may leave 32": ("MUS210", kernel(f"int w = threadIdx.x / 32; for (int o = n; o > 0; o >>= 1) x[w] += __shfl_xor_sync({FULL}, x[w], o);")),
    "by shift": ("MUS210", kernel(f"int w = threadIdx.x >> 5; x[w] = __shfl_down_sync({FULL}, x[0], 1);")),
    "by mask": ("MUS210", kernel(f"int w = threadIdx.x & 31; x[w] = __shfl_down_sync({FULL}, x[0], 1);")),
    "by mask of a constant": ("MUS210", kernel(f"int w = threadIdx.x & (WARP_SIZE - 1); x[w] = __shfl_down_sync({FULL}, x[0], 1);", WARP_SIZE)),
    "by a constant": ("MUS210", kernel(f"int w = threadIdx.x % W; x[w] = __shfl_down_sync({FULL}, x[0], 1);", "constexpr int W = 1 << 5;")),
    "by a header's constant": ("MUS210", kernel(f"int w = threadIdx.x % WARP_SIZE; x[w] = __shfl_down_sync({FULL}, x[0], 1);")),
    "through a variable": ("MUS210", kernel(f"int t = blockIdx.x * blockDim.x + threadIdx.x; int g = t; x[g / 32] = __shfl_down_sync({FULL}, x[0], 1);")),
    "by the block's size": ("MUS210", kernel(f"int w = blockDim.x / 32; x[w] = __shfl_down_sync({FULL}, x[0], 1);")),
    "the shuffle is in a helper": ("MUS210", kernel("int w = threadIdx.x / 32; x[w] = sum(x[0]);", REDUCE.format(width=""))),
    "warpSize beside 32": ("MUS210", kernel("int w = threadIdx.x / 32; x[w] = threadIdx.x % warpSize;")),
    "an absolute lane without width": ("MUS211", kernel(f"x[0] = __shfl_sync({FULL}, x[0], 0);")),
    "lockstep in a row": ("MUS212", kernel("volatile float* s = x; int t = threadIdx.x; s[t] += s[t + 32]; s[t] += s[t + 16];")),
    "lockstep by conditions": ("MUS212", kernel("volatile float* s = x; int t = threadIdx.x; if (n > 64) s[t] = max(s[t], s[t + 32]); if (n > 32) s[t] = max(s[t], s[t + 16]);")),
    "lockstep in a loop": ("MUS212", kernel("__shared__ float s[64]; int t = threadIdx.x; for (int o = 16; o > 0; o >>= 1) s[t] += s[t + o];")),
    "the host's figure in a division": ("MUS216", "int f(const Props& p, int n) { return n / p.warpSize; }\n"),
    "the host's figure by attribute": ("MUS216", "int f(int n) { int w; cudaDeviceGetAttribute(&w, cudaDevAttrWarpSize, 0); return n / w; }\n"),
    "the host's figure put into a structure": ("MUS216", "void f(const Props& p) { info.warps = p.warpSize; }\n"),
}  # fmt: skip


@pytest.mark.parametrize(("finding", "source"), ON_WIDE_WARPS.values(), ids=ON_WIDE_WARPS.keys())
def test_found_on_wide_warps_only(convert: Convert, finding: str, source: str) -> None:
    for architecture in ("mp_21", "mp_22"):
        assert convert(source, architectures=(architecture,)).ids == [finding]
    assert convert(source, architectures=("mp_31",)).ids == []


EVERYWHERE = {
    "shuffle without mask": (["MUS213"], kernel("x[0] = __shfl_down(x[0], 1, 32);")),
    "vote without mask": (["MUS213"], kernel("x[0] = __ballot(n);")),
    "in a macro": (["MUS213"], "#define DOWN(v) __shfl_down(v, 1, 32)\n"),
    "width 64": (["MUS214"], kernel(f"x[0] = __shfl_xor_sync({FULL}, x[0], 1, 2 * WARP_SIZE);", WARP_SIZE)),
    "width 24": (["MUS214"], kernel(f"x[0] = __shfl_xor_sync({FULL}, x[0], 1, 24);")),
    "an array of warpSize": (["MUS215"], kernel("__shared__ float s[warpSize]; s[0] = x[0];")),
    "an array of warps": (["MUS215"], kernel("float s[1024 / warpSize]; s[0] = x[0];")),
    "constexpr": (["MUS215"], kernel("constexpr int w = warpSize;")),
    "a template argument": (["MUS215"], kernel("f<warpSize>(x);")),
    "a label": (["MUS215"], kernel("switch (n) { case warpSize: x[0] = 1; }")),
    "a tile of 64": (["MUS217"], kernel("auto t = cooperative_groups::tiled_partition<64>(b);")),
    "a tile of a constant": (["MUS217"], kernel("cooperative_groups::thread_block_tile<T> t = f();", "enum { T = 128 };")),
    "a dynamic tile": (["MUS217"], kernel("auto t = cooperative_groups::tiled_partition(b, 64);")),
    "the other branch of HIP's": (["MUS213"], kernel("\n#ifdef USE_HIP\nx[0] = 1;\n#else\nx[0] = __shfl(x[0], 1, 32);\n#endif\n")),
    "where HIP is not": (["MUS213"], kernel("\n#if !defined(USE_HIP)\nx[0] = __shfl(x[0], 1, 32);\n#endif\n")),
}  # fmt: skip


@pytest.mark.parametrize(("findings", "source"), EVERYWHERE.values(), ids=EVERYWHERE.keys())
@pytest.mark.parametrize("architecture", ["mp_21", "mp_31"])
def test_found_everywhere(convert: Convert, findings: list[str], source: str, architecture: str) -> None:
    assert [item for item in convert(source, architectures=(architecture,)).ids if item != "MUS102"] == findings


def test_one_finding_a_function(convert: Convert) -> None:
    body = f"int w = threadIdx.x / 32; int l = threadIdx.x % 32; x[w] = __shfl_down_sync({FULL}, x[l], 1);"
    assert convert(kernel(body) + kernel(body).replace("void k", "void k2")).ids == ["MUS210", "MUS210"]
