"""Names in code: what is left alone, each case named by why, then what is renamed."""

from __future__ import annotations

import pytest

from tests.conftest import Convert

UNCHANGED = {
    "member call": "void f(Pool& p) { p.cudaMalloc(16); }",
    "member call through a pointer": "void f(Pool* p) { p->cudaMalloc(16); }",
    "member call with a comment between": "void f(Pool& p) { p . /* x */ cudaMalloc(16); }",
    "member call on this": "struct P { void g() { this->cudaFree(1); } };",
    "member function declared in a class": "struct Pool { void* cudaMalloc(size_t n); };",
    "member variable": "struct S { int cudaSuccess; float cudaArray; };",
    "member template call": "template <class T> void f(T& t) { t.template cudaMalloc<int>(3); }",
    "plain call inside the class that declares it": "struct P { void cudaFree(int); void g() { cudaFree(3); } };",
    "call before the member is declared": "struct P { void g() { cudaFree(3); } void cudaFree(int); };",
    "out-of-class definition of a member": "struct P { void cudaFree(int); void g(); };\nvoid P::cudaFree(int) {}\n"
    "void P::g() { cudaFree(1); }",
    "user namespace, qualified": "namespace mine { void cudaFree(int); }\nvoid f() { mine::cudaFree(1); }",
    "user namespace, inside": "namespace mine { void cudaFree(int); void f() { cudaFree(1); } }",
    "user namespace, reopened": "namespace mine { void cudaFree(int); }\nnamespace mine { void f() { cudaFree(1); } }",
    "nested namespaces": "namespace a::b { void cudaFree(int); }\nvoid f() { a::b::cudaFree(1); }",
    "using declaration of the user's function": "namespace m { void cudaFree(int); }\n"
    "void f() { using m::cudaFree; cudaFree(1); }",
    "static member, qualified by class": "void f() { Allocator::cudaMalloc(3); }",
    "member of a template class, qualified": "void f() { Allocator<int>::cudaMalloc(3); }",
    "local variable": "int f() { int cudaDeviceReset = 1; return cudaDeviceReset; }",
    "local variable of class type": "void f() { std::string cudaSuccess = g(); h(cudaSuccess); }",
    "local reference": "void f(int& x) { int& cudaSuccess = x; cudaSuccess = 2; }",
    "local pointer": "void f(int* x) { int *cudaArray = x; *cudaArray = 2; }",
    "parameter": "int f(int cudaSuccess) { return cudaSuccess + 1; }",
    "parameter with a default": "int f(int cudaSuccess = 3) { return cudaSuccess; }",
    "lambda parameter": "auto g = [](int cudaSuccess) { return cudaSuccess; };",
    "loop variable": "void f() { for (int cudaSuccess = 0; cudaSuccess < 3; ++cudaSuccess) g(cudaSuccess); }",
    "range loop variable": "void f(V& v) { for (auto cudaSuccess : v) g(cudaSuccess); }",
    "enumerator": "enum State { cudaSuccess, cudaErrorUnknown = 4 };\nState f() { return cudaSuccess; }",
    "scoped enumerator": "enum class E { cudaSuccess };\nE f() { return E::cudaSuccess; }",
    "user type": "struct cudaDeviceProp { int a; };\ncudaDeviceProp f();",
    "user alias": "using cudaStream_t = int;\ncudaStream_t f();",
    "user typedef": "typedef int cudaStream_t;\ncudaStream_t f();",
    "user typedef of an enum": "typedef enum { A, B } cudaError_t;\ncudaError_t f();",
    "prototype of a type of the user's": "typedef enum { A, B } cudaError_t;\ncudaError_t cudaFree(void *);\n"
    "int f(void *p) { return cudaFree(p); }",
    "variable beside the struct's definition": "struct S { int a; } cudaSuccess, *p;\nint f() { return g(cudaSuccess); }",
    "variable between two others": "void f() { int a, cudaSuccess, b; g(a, cudaSuccess, b); }",
    "variable between others, after pointers and arrays": "void f() { int *a, b[2], cudaSuccess, c; g(cudaSuccess); }",
    "member between two others": "struct S { V<int> a, cudaSuccess, c; int f() { return g(cudaSuccess); } };",
    "template parameter": "template <typename cudaStream_t> void f(cudaStream_t s);",
    "free function of the user": "static int cudaFree(int slot) { return slot; }\nint g() { return cudaFree(3); }",
    "macro of the user": "#define cudaFree(p) my_free(p)\nvoid g(void* p) { cudaFree(p); }",
    "macro parameter": "#define RUN(cudaStream_t) launch(cudaStream_t)",
    "inside a longer identifier": "void my_cudaMalloc(); void cudaMalloc_wrapper(); int ggml_cudaFree;",
    "identifier with a dollar": "int $cudaFree; int cudaFree$x;",
    "line comment": "// cudaMalloc frees cudaStream_t\nint a;",
    "block comment": "/* cudaMalloc\n cudaFree */ int a;",
    "line comment that is continued": "// see \\\n cudaMalloc\nint a;",
    "ordinary string": 'const char* s = "cudaMalloc failed";',
    "raw string that is no source": 'const char* s = R"(cudaMalloc "failed" \\)";',
    "string with an escaped quote": 'const char* s = "\\"cudaMalloc";',
    "character constant": "int c = 'cuda';",
    "text of #error": "#error cudaMalloc can't be used\nint a;",
    "designated initialiser": "S s = {.cudaSuccess = 1};",
    "bare word cuda": "struct Opt { bool cuda = false; int cu; };",
    "variable named like a type of another case": "int cudastream; int Cuda; int CUDA;",
    "already MUSA": "#include <musa_runtime.h>\nvoid f(void** p) { musaMalloc(p, 4); }",
    "identity intrinsic": "__device__ float f(float x) { return __expf(x) + __shfl_xor_sync(~0u, x, 1); }",
    "label": "void f() { goto cudaError; cudaError: return; }",
    "structured text after #pragma region": "#pragma region my cuda stuff\nint a;",
}


@pytest.mark.parametrize("source", UNCHANGED.values(), ids=UNCHANGED.keys())
def test_unchanged(convert: Convert, source: str) -> None:
    assert convert(source).text == source


RENAMED = {
    "first word after a BOM": ("\ufeffcudaStream_t s;", "\ufeffmusaStream_t s;"),
    "call": ("void f(void* p) { cudaFree(p); }", "void f(void* p) { musaFree(p); }"),
    "global qualification": ("void f(void* p) { ::cudaFree(p); }", "void f(void* p) { ::musaFree(p); }"),
    "after return, globally": ("int f() { return ::cudaGetLastError(); }", "int f() { return ::musaGetLastError(); }"),
    "after else": ("void f() { if (a) b(); else cudaFree(p); }", "void f() { if (a) b(); else musaFree(p); }"),
    "type of a declaration": ("cudaStream_t s;", "musaStream_t s;"),
    "elaborated type": ("struct cudaDeviceProp prop;", "struct musaDeviceProp prop;"),
    "pointer type": ("void f(cudaStream_t* s);", "void f(musaStream_t* s);"),
    "template argument": ("std::vector<cudaStream_t> v;", "std::vector<musaStream_t> v;"),
    "nested template argument": ("A<B<cudaStream_t>> v;", "A<B<musaStream_t>> v;"),
    "cast": ("auto s = (cudaStream_t)p; auto t = static_cast<cudaStream_t>(p);",
             "auto s = (musaStream_t)p; auto t = static_cast<musaStream_t>(p);"),
    "function pointer": ("auto f = &cudaMalloc; decltype(cudaFree)* g = cudaFree;",
                         "auto f = &musaMalloc; decltype(musaFree)* g = musaFree;"),
    "using alias to an API type": ("using Stream = cudaStream_t;", "using Stream = musaStream_t;"),
    "using declaration, global": ("using ::cudaFree;", "using ::musaFree;"),
    "conversion operator": ("struct S { operator cudaStream_t() const; };", "struct S { operator musaStream_t() const; };"),
    "case label": ("switch (e) { case cudaSuccess: break; }", "switch (e) { case musaSuccess: break; }"),
    "initialiser list": ("int k[] = {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost};",
                         "int k[] = {musaMemcpyHostToDevice, musaMemcpyDeviceToHost};"),
    "conditional expression": ("int k = a ? cudaSuccess : cudaErrorUnknown;", "int k = a ? musaSuccess : musaErrorUnknown;"),
    "product": ("float k = x * CUDART_PI_F;", "float k = x * MUSART_PI_F;"),
    "conjunction": ("bool k = ok && cudaGetLastError() == cudaSuccess;", "bool k = ok && musaGetLastError() == musaSuccess;"),
    "comparison": ("bool k = err > cudaSuccess;", "bool k = err > musaSuccess;"),
    "macro body": ("#define CHECK(x) if ((x) != cudaSuccess) die(cudaGetErrorString(x))",
                   "#define CHECK(x) if ((x) != musaSuccess) die(musaGetErrorString(x))"),
    "macro body over lines": ("#define F(p) \\\n  do { \\\n    cudaFree(p); \\\n  } while (0)",
                              "#define F(p) \\\n  do { \\\n    musaFree(p); \\\n  } while (0)"),
    "macro argument": ("CHECK(cudaMalloc(&p, 3));", "CHECK(musaMalloc(&p, 3));"),
    "after a macro without semicolon": ("void f() {\n  cudaMalloc(&a, n); CUERR\n  cudaMalloc(&b, n); CUERR\n}",
                                        "void f() {\n  musaMalloc(&a, n); CUERR\n  musaMalloc(&b, n); CUERR\n}"),
    "every branch": ("#if A\ncudaFree(a);\n#elif B\ncudaFree(b);\n#else\ncudaFree(c);\n#endif",
                     "#if A\nmusaFree(a);\n#elif B\nmusaFree(b);\n#else\nmusaFree(c);\n#endif"),
    "inside #if 0": ("#if 0\ncudaFree(a); // it's\n#endif", "#if 0\nmusaFree(a); // it's\n#endif"),
    "launch": ("k<<<g, b, 0, cudaStreamPerThread>>>(cudaSuccess);", "k<<<g, b, 0, musaStreamPerThread>>>(musaSuccess);"),
    "launch of a template, in pieces": ("ns::k<int, 3> <<< dim3(1), 2,\n 0, (cudaStream_t)0 >>> (x);",
                                        "ns::k<int, 3> <<< dim3(1), 2,\n 0, (musaStream_t)0 >>> (x);"),
    "launch in a macro": ("#define L(k) k<<<1, 1, 0, cudaStreamLegacy>>>()", "#define L(k) k<<<1, 1, 0, musaStreamLegacy>>>()"),
    "directly after a comment": ("/* x */cudaFree(p);", "/* x */musaFree(p);"),
    "after an #include without blank": ("#include <cuda.h>\ncuInit(0);", "#include <musa.h>\nmuInit(0);"),
    "API prototype repeated": ("extern \"C\" cudaError_t cudaFree(void* p);", "extern \"C\" musaError_t musaFree(void* p);"),
    "API type forward-declared": ("struct CUstream_st;\ntypedef struct CUstream_st* cudaStream_t;",
                                  "struct MUstream_st;\ntypedef struct MUstream_st* musaStream_t;"),
    "user's namespace elsewhere, plain call": ("namespace m { void cudaFree(int); }\nvoid f(void* p) { cudaFree(p); }",
                                               "namespace m { void cudaFree(int); }\nvoid f(void* p) { musaFree(p); }"),
    "local of another function": ("int f() { int cudaSuccess = 1; return cudaSuccess; }\nint g() { return cudaSuccess; }",
                                  "int f() { int cudaSuccess = 1; return cudaSuccess; }\nint g() { return musaSuccess; }"),
    "parameter of a prototype only": ("void f(int cudaSuccess);\nint g() { return cudaSuccess; }",
                                      "void f(int cudaSuccess);\nint g() { return musaSuccess; }"),
    "defaulted argument": ("void f(cudaStream_t s = cudaStreamDefault);", "void f(musaStream_t s = musaStreamDefault);"),
    "digit separators do not open a literal": ("int n = 1'000; cudaFree(p); char c = 'x';",
                                               "int n = 1'000; musaFree(p); char c = 'x';"),
    "line splice before the name": ("x = \\\ncudaSuccess;", "x = \\\nmusaSuccess;"),
    "libcu++": ("cuda::std::tuple<int> t; using namespace cuda;", "musa::std::tuple<int> t; using namespace musa;"),
    "wmma": ("using namespace nvcuda; nvcuda::wmma::fragment<A> f; namespace w = nvcuda::wmma;",
             "using namespace mtmusa; mtmusa::wmma::fragment<A> f; namespace w = mtmusa::wmma;"),
    "thrust's own namespace": ("thrust::sort(thrust::cuda::par.on(s), a, b);", "thrust::sort(thrust::musa::par.on(s), a, b);"),
    "code wins over the table": ("int m = CUBLAS_TF32_TENSOR_OP_MATH; auto f = cusolverDnCungqr;",
                                 "int m = MUBLAS_TENSOR_OP_MATH; auto f = musolverDnCungqr;"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), RENAMED.values(), ids=RENAMED.keys())
def test_renamed(convert: Convert, source: str, expected: str) -> None:
    assert convert(source).text == expected


@pytest.mark.parametrize(("source", "expected"), RENAMED.values(), ids=RENAMED.keys())
def test_renamed_is_stable(convert: Convert, source: str, expected: str) -> None:
    assert convert(expected).text == expected


SILENT = {
    "declared function": "int cudaHelper(int);\nint g() { return cudaHelper(1); }",
    "declared type": "struct cudaThing {};\ncudaThing t;",
    "declared macro": "#define CUDA_CHECK(x) x\nvoid f() { CUDA_CHECK(1); }",
    "declared method": "struct S { void cudaRun(); };\nvoid S::cudaRun() {}",
    "declared through a template": "template <class T> T* cudaAlloc(int n);\nint* p = cudaAlloc<int>(3);",
    "member that nobody declares": "void f(X& x) { x.cudaFrob(); }",
    "other namespace": "void f() { other::cudaFrob(); }",
    "macro that is only tested": "#ifdef CUDA_FROB\n#endif\n#if defined(CUDA_FROB2)\n#endif",
    "variable that is only read": "int f() { return cudaCount + 1; }",
    "not quite CUDA": "void f() { cudabar(); cute(); current(); nvidia(); CUSTOM(1); }",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_lookalikes_without_finding(convert: Convert, source: str) -> None:
    result = convert(source)
    assert result.ids == [] and result.text == source


REPORTED = {
    "unknown call": ("void f() { cudaTotallyNew(1); }", ["MUS101"]),
    "unknown type": ("cudaNewThing_t x;", ["MUS101"]),
    "unknown driver call": ("void f() { cuNewThing(1); }", ["MUS101"]),
    "unknown library call": ("void f() { cublasNewGemm(1); }", ["MUS101"]),
    "unknown in a macro body": ("#define X() cudaBrandNew()", ["MUS101"]),
    "unknown in libcu++": ("cuda::brand_new x;", ["MUS101"]),
    "unattested": ("cudaKernel_t k;", ["MUS102"]),
    "cuDNN": ("cudnnHandle_t h;", ["MUS401"]),
    "NVML": ("void f() { nvmlInit_v2(); }", ["MUS402"]),
    "NVTX": ('void f() { nvtxRangePushA("x"); }', ["MUS403"]),
    "no counterpart": ("auto f = cuTensorMapEncodeTiled;", ["MUS104"]),
}


@pytest.mark.parametrize(("source", "ids"), REPORTED.values(), ids=REPORTED.keys())
def test_reported(convert: Convert, source: str, ids: list[str]) -> None:
    assert convert(source).ids == ids


def test_unattested_can_be_kept(convert: Convert) -> None:
    result = convert("cudaKernel_t k; cudaStream_t s;", unattested="keep")
    assert result.text == "cudaKernel_t k; musaStream_t s;"
    assert result.ids == ["MUS102"]


def test_comments_on_request(convert: Convert) -> None:
    source = "// cudaMalloc and x.cudaFree, not my_cudaFree\nvoid f();"
    assert convert(source).text == source
    assert convert(source, comments=True).text == "// musaMalloc and x.musaFree, not my_cudaFree\nvoid f();"


def test_late_library_is_said_once(convert: Convert) -> None:
    source = "nvrtcProgram a;\nvoid f() { nvrtcDestroyProgram(&a); }"
    assert convert(source, sdk="5.1").ids.count("MUS105") == 1
    assert "MUS105" not in convert(source, sdk="5.2").ids


def test_known_issue_depends_on_the_sdk(convert: Convert) -> None:
    source = "void f(void** p) { cudaMallocAsync(p, 1, 0); }"
    assert convert(source, sdk="4.3").ids == ["MUS103"]
    assert convert(source, sdk="5.1").ids == []


TRICKY = {
    "trailing return type": ("auto f() -> cudaError_t { return x()->cudaMalloc(1); }", "auto f() -> musaError_t { return x()->cudaMalloc(1); }"),
    "lambda with a return type": ("auto f = [&]() mutable -> cudaStream_t { return s; };", "auto f = [&]() mutable -> musaStream_t { return s; };"),
    "member of an unnamed struct": ("typedef struct { cudaError_t (*cudaMalloc)(void**, size_t); } api_t;\nvoid f(api_t* a) { a->cudaMalloc(p, 1); cudaMalloc(p, 1); }",
                                    "typedef struct { musaError_t (*cudaMalloc)(void**, size_t); } api_t;\nvoid f(api_t* a) { a->cudaMalloc(p, 1); musaMalloc(p, 1); }"),
    "second declarators": ("struct T { fn *cudaMemset, *cudaMemcpy; int cudaA : 3, cudaFree : 4; };", "struct T { fn *cudaMemset, *cudaMemcpy; int cudaA : 3, cudaFree : 4; };"),
    "constructor initialiser": ("struct S { int cudaFree; S(); };\nS::S() : cudaFree(2) {}", "struct S { int cudaFree; S(); };\nS::S() : cudaFree(2) {}"),
    "variable of an unnamed struct": ("struct { int cudaMalloc; } anon;\nvoid g() { cudaMalloc(p, 1); }", "struct { int cudaMalloc; } anon;\nvoid g() { musaMalloc(p, 1); }"),
    "function pointer parameter": ("void f(void (*cudaFree)(void*)) { cudaFree(p); }\nvoid g() { cudaFree(p); }", "void f(void (*cudaFree)(void*)) { cudaFree(p); }\nvoid g() { musaFree(p); }"),
    "inherited member": ("struct B { void cudaFree(void*); };\nstruct D : public B { void f(); };\nvoid D::f() { cudaFree(p); }",
                         "struct B { void cudaFree(void*); };\nstruct D : public B { void f(); };\nvoid D::f() { cudaFree(p); }"),
    "unnamed namespace": ("namespace { void cudaFree(int); }\nvoid h() { cudaFree(1); }", "namespace { void cudaFree(int); }\nvoid h() { cudaFree(1); }"),
    "inline namespace": ("namespace a { inline namespace v1 { void cudaFree(int); } void g() { cudaFree(1); } }",
                         "namespace a { inline namespace v1 { void cudaFree(int); } void g() { cudaFree(1); } }"),
    "nested namespace, written apart": ("namespace a { void cudaFree(int); }\nnamespace a::b { void h() { cudaFree(1); } }",
                                        "namespace a { void cudaFree(int); }\nnamespace a::b { void h() { cudaFree(1); } }"),
    "qualified by nested templates": ("void f() { X<Y<b>>::cudaFree(2); if (c > ::cudaFree(p)) {} }", "void f() { X<Y<b>>::cudaFree(2); if (c > ::musaFree(p)) {} }"),
    "extern in a block": ("void f() { extern cudaError_t cudaFree(void*); cudaFree(0); }", "void f() { extern musaError_t musaFree(void*); musaFree(0); }"),
    "handed on by a namespace": (
        "namespace d { using ::cudaFree; }\nvoid f(void *p) { d::cudaFree(p); a::d::cudaFree(p); e::cudaFree(p); }",
        "namespace d { using ::musaFree; }\nvoid f(void *p) { d::musaFree(p); a::d::musaFree(p); e::cudaFree(p); }",
    ),
    "handed on by a namespace, and used by another": (
        "namespace d { using ::cudaFree; }\nnamespace e { using d::cudaFree; void f(void *p) { cudaFree(p); } }",
        "namespace d { using ::musaFree; }\nnamespace e { using d::musaFree; void f(void *p) { musaFree(p); } }",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), TRICKY.values(), ids=TRICKY.keys())
def test_tricky(convert: Convert, source: str, expected: str) -> None:
    assert convert(source).text == expected


UNKNOWN_TYPES = {
    "sizeof": "int n = sizeof(cudaNewThing);",
    "template argument": "std::vector<cudaNewThing> v;",
    "cast": "auto x = (cudaNewThing)y;",
    "parameter": "void f(cudaNewThing_t);",
    "alias": "using T = cudaNewThing_t;",
    "elaborated": "struct cudaNewThing* p;",
    "trailing return": "auto f() -> cudaNewThing_t;",
    "address": "auto f = &cudaNewFn;",
    "templated call": "auto x = cudaNewFn<int>(1);",
    "driver type": "CUnewThing t;",
    "video": "void f() { cuvidCreateDecoder(&d, 1); }",
}


@pytest.mark.parametrize("source", UNKNOWN_TYPES.values(), ids=UNKNOWN_TYPES.keys())
def test_unknown_names_in_every_position(convert: Convert, source: str) -> None:
    assert convert(source).ids == ["MUS101"]
