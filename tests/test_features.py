"""Features that MUSA lacks or has in another form."""

from __future__ import annotations

import pytest

from tests.conftest import Convert


def kernel(body: str, before: str = "") -> str:
    return f"{before}\n__global__ void k(float* x, int n) {{ {body} }}\n"


CG = "namespace cg = cooperative_groups;"
NOTHING = {
    "the project's own tex2D": "float tex2D(float u, float v);\n" + kernel("x[0] = tex2D(0, 0);"),
    "a macro of that name": "#define tex3D(t, x) lookup(t, x)\n" + kernel("x[0] = tex3D(t, 0);"),
    "a member of that name": kernel("x[0] = image.tex2D(0, 0);"),
    "a class named texture": "template <class T> struct texture { T t; };\ntexture<float> t;\n",
    "a variable named surface": kernel("int surface = n; if (surface < 3) x[0] = surface;"),
    "a launch from the host": "__global__ void k();\nvoid f() { k<<<1, 1>>>(); }\n",
    "a launch from the host's branch": "__host__ __device__ void f() {\n#ifndef __CUDA_ARCH__\nk<<<1, 1>>>();\n#endif\n}\n",
    "a launch after a kernel with unmatched branches": (
        "__global__ void k(int n) {\n#if A\nif (n) {\n#else\nif (!n) {\n#endif\n}\n}\nvoid f() { k<<<1, 1>>>(1); }\n"
    ),
    "a grid without synchronisation": kernel("auto g = cg::this_grid(); x[0] = g.thread_rank();", CG),
    "a block's synchronisation": kernel("auto g = cg::this_grid(); auto b = cg::this_thread_block(); b.sync();", CG),
    "another grid": kernel("mesh.sync(); x[0] = this_grid_size;"),
    "clusters of data": kernel("x[0] = cluster_size; cluster.sync();"),
    "32-bit CAS on shared memory": kernel("__shared__ int s; atomicCAS(&s, 0, 1);"),
    "64-bit CAS on global memory": kernel("__shared__ int s; atomicCAS((unsigned long long*)x, 0ull, 1ull);"),
    "32 bits of a 64-bit variable": kernel("__shared__ unsigned long long s; atomicCAS((int*)&s, 0, 1);"),
    "double without torch": kernel("double d = n; x[0] = d;"),
    "double on torch's host side": "#include <torch/extension.h>\nvoid f(double d);\n" + kernel("x[0] = n;"),
    "another fragment": "template <int N> struct fragment {};\n" + kernel("fragment<16> f;"),
    "volatile members": kernel("volatile float4* p = q; x[0] = p[0].x + p->y + (*(volatile float4*)q).z;"),
    "a volatile scalar": kernel("x[0] = *(volatile float*)x;"),
    "a volatile vector of another function": "__global__ void a(volatile int4* p) {}\n__global__ void b(int4* p) { int4 v = p[0]; }\n",
    "an enumerator by name": "bool f(Op op) { return op == CUBLAS_OP_N; }\n",
    "an enumerator asserted": 'void f(int s) { assert(s == CUBLAS_STATUS_SUCCESS && "x"); }\n',
    "numbers that are sizes": "void f() { cublasSscal(h, 4, &a, x, 1); curandGenerateUniform(g, x, 100); }\n",
    "a variable where an enum is meant": "void f(cublasOperation_t op) { cublasSgemm(h, op, CUBLAS_OP_N, 4, 4, 4, &a, x, 4, x, 4, &a, x, 4); }\n",
    "a cast between enumerators": "void f() { g((cublasOperation_t)CUBLAS_OP_N); }\n",
    "HIP's branch": kernel("\n#ifdef USE_HIP\nx[0] = tex2D<float>(t, 0, 0);\n#endif\n"),
}  # fmt: skip


@pytest.mark.parametrize("source", NOTHING.values(), ids=NOTHING.keys())
def test_nothing_found(convert: Convert, source: str) -> None:
    assert [item for item in convert(source).ids if item.startswith(("MUS23", "MUS24"))] == []


FOUND = {
    "a texture fetch": ("MUS230", kernel("x[0] = tex2D<float>(t, 0, 0);")),
    "a texture reference": ("MUS230", "texture<float, 2, cudaReadModeElementType> t;\n"),
    "a surface": ("MUS230", kernel("surf2Dwrite(1.0f, s, 0, 0);")),
    "a texture object on the host": ("MUS230", "void f() { cudaCreateTextureObject(&t, &r, &d, 0); }\n"),
    "a texture in a macro": ("MUS230", "#define LOAD(i) tex1Dfetch<float>(t, i)\n__device__ float f(int i);\n"),
    "a launch from a kernel": ("MUS231", kernel("child<<<1, 32>>>(x);")),
    "a launch from a device function": ("MUS231", "__device__ void f() { child<<<1, 32>>>(); }\n"),
    "a launch from a marked template": ("MUS231", "template <class T> __global__ void f(T* x) { child<T><<<1, 32>>>(x); }\n"),
    "grid.sync": ("MUS232", kernel("cg::grid_group grid = cg::this_grid(); grid.sync();", CG)),
    "this_grid().sync": ("MUS232", kernel("cooperative_groups::this_grid().sync();")),
    "sync(grid)": ("MUS232", kernel("auto grid = cg::this_grid(); cg::sync(grid);", CG)),
    "a grid as parameter": ("MUS232", "__device__ void f(const cooperative_groups::grid_group& g) { g.sync(); }\n"),
    "a grid as member": ("MUS232", "struct S { const cg::grid_group& g; __device__ void sync() const { g.sync(); } };\n"),
    "a cluster": ("MUS233", kernel("auto c = cg::this_cluster(); c.sync();", CG)),
    "cluster dimensions": ("MUS233", "__global__ void __cluster_dims__(2, 1, 1) k() {}\n"),
    "distributed shared memory": ("MUS233", kernel("float* p = c.map_shared_rank(x, 1);")),
    "CAS on a 64-bit variable": ("MUS234", kernel("__shared__ unsigned long long s[4]; atomicCAS(&s[n], 0ull, 1ull);")),
    "CAS by cast": ("MUS234", kernel("__shared__ double s; atomicCAS((unsigned long long int*)&s, 0ull, 1ull);")),
    "CAS by pointer": ("MUS234", kernel("__shared__ double s[4]; unsigned long long* p = (unsigned long long*)&s[n]; atomicCAS(p, 0ull, 1ull);")),
    "CAS on a 64-bit typedef": ("MUS234", kernel("__shared__ word s; atomicCAS(&s, 0, 1);", "typedef uint64_t word;")),
    "double in torch's kernel": ("MUS235", "#include <ATen/ATen.h>\n" + kernel("double d = n; x[0] = d;")),
    "a dispatch": ("MUS235", '#include <torch/torch.h>\nvoid f() { AT_DISPATCH_FLOATING_TYPES(t, "f", [&] { k<<<1, 1>>>(); }); }\n'),
    "WMMA": ("MUS236", kernel("wmma::fragment<wmma::matrix_a, M, 16, 16, half, wmma::row_major> a;", "#define M 16")),
    "a volatile cast": ("MUS237", kernel("int4 v = *(volatile int4*)x;")),
    "a reinterpreted volatile": ("MUS237", kernel("float4 v = *reinterpret_cast<volatile float4*>(x);")),
    "an element of a volatile pointer": ("MUS237", "__global__ void k(volatile int4* p) { int4 v = p[0]; }\n"),
    "an enumerator cast": ("MUS238", "int f() { return (int)CUBLAS_OP_T; }\n"),
    "an enumerator calculated with": ("MUS238", "int f(int n) { return n + CUBLAS_OP_T; }\n"),
    "an enumerator as index": ("MUS238", "int f(int* t) { return t[CUBLAS_FILL_MODE_UPPER]; }\n"),
    "an enumerator against a number": ("MUS238", "int f() { return CUSPARSE_INDEX_32I == 2; }\n"),
    "a literal operation": ("MUS239", "void f() { cublasDgemv(h, 1, 4, 4, &a, x, 4, x, 1, &a, x, 1); }\n"),
    "a literal generator": ("MUS239", "void f() { curandCreateGenerator(&g, 100); }\n"),
    "a literal in a macro call": ("MUS239", "void f() { CHECK(cublasDgemv(h, 1, 4, 4, &a, x, 4, x, 1, &a, x, 1)); }\n"),
    "a cast literal": ("MUS239", "void f() { g((cublasOperation_t)1); }\n"),
    "a cast variable": ("MUS239", "void f(int op) { g(static_cast<cublasOperation_t>(op)); }\n"),
    "GemmEx": ("MUS240", "void f() { cublasGemmEx(h); }\n"),
}  # fmt: skip


@pytest.mark.parametrize(("finding", "source"), FOUND.values(), ids=FOUND.keys())
def test_found(convert: Convert, finding: str, source: str) -> None:
    assert convert(source).ids == [finding]


GRID_SYNC = kernel("cooperative_groups::this_grid().sync();")


@pytest.mark.parametrize(
    ("sdk", "architectures", "findings"),
    [
        ("4.3", ("mp_31",), ["MUS232"]),
        ("5.1", ("mp_31",), ["MUS232"]),
        ("5.2", ("mp_31",), []),
        ("5.2", ("mp_22",), ["MUS232"]),
    ],
)
def test_grid_sync_by_target(convert: Convert, sdk: str, architectures: tuple[str, ...], findings: list[str]) -> None:
    assert convert(GRID_SYNC, sdk=sdk, architectures=architectures).ids == findings


def test_one_finding_a_file_and_feature(convert: Convert) -> None:
    fetch = "x[0] = tex2D<float>(t, 0, 0) + tex3D<float>(t, 0, 0, 0);"
    assert convert(kernel(fetch) + kernel(fetch)).ids == ["MUS230"]


@pytest.mark.parametrize(("sdk", "findings"), [("4.3", ["MUS103"]), ("5.1", [])])
def test_system_atomics_have_a_known_issue(convert: Convert, sdk: str, findings: list[str]) -> None:
    assert convert("__device__ void f(int* p) { atomicExch_system(p, 1); }\n", sdk=sdk).ids == findings


def test_literal_names_the_enumerator(convert: Convert) -> None:
    result = convert("void f() { curandCreateGenerator(&g, 100); }\n")
    assert result.conversion.findings[0].arguments["value"] == "100 (CURAND_RNG_PSEUDO_DEFAULT)"
