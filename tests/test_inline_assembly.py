"""Inline assembly: what is rewritten, what is left with an error, and what is nobody's business."""

from __future__ import annotations

import pytest

from musify.rules.findings import message, suggestion
from tests.conftest import Convert

HOST = {
    "x86-rdtsc": 'asm volatile("rdtsc" : "=a"(a), "=d"(d));',
    "x86-several-with-semicolons": 'asm(" rdtsc; shl $0x20,%rdx; mov %eax,%eax; or %rdx,%rax; ");',
    "x86-cpuid-in-lines": 'asm volatile("cpuid\\n\\tmov %%ebx, %0" : "=r"(x) :: "ebx");',
    "x86-pause": '__asm__ __volatile__("pause" ::: "memory");',
    "arm-counter": 'asm volatile("mrs %0, cntvct_el0" : "=r"(x));',
    "arm-neon-with-dotted-types": 'asm("vadd.f32 q0, q1, q2\\n vshl.i32 q0, q0, #2; vmax.s32 q1, q1, q2;");',
    "arm-barrier": 'asm volatile("dmb ish" ::: "memory");',
    "arm64-vectors": 'asm("ld1 {v0.4s}, [%0]; fmla v0.4s, v1.4s, v2.4s;" :: "r"(p));',
    "riscv-dotted": 'asm volatile("fence.i; amoadd.w.aq %0, %1, (%2); fcvt.s.w f1, x1" : "=r"(x));',
    "mips-dotted": 'asm("add.d $f0, $f2, $f4; cvt.s.w $f0, $f1; sub.s $f0, $f1, $f2;");',
    "powerpc-trap-without-semicolon": 'asm("trap");',
    "amd-gcn": 'asm volatile("v_dot2_f32_f16 %0, %1, %2, %0" : "+v"(acc) : "v"(v), "v"(u));',
    "empty-text": 'asm volatile("" ::: "memory");',
    "empty-text-with-operand": 'asm volatile("" : "+r"(x));',
    "microsoft-block": "__asm { mov eax, ebx }",
}
NOT_STATEMENTS = {
    "a-variable-named-after-the-word": "int asm_mode = 1; fasm(asm_mode);",
    "in-a-comment": '// asm("mov.u32 %0, %%laneid;" : "=r"(x));',
    "in-a-string-that-is-text": 'puts("asm(\\"trap;\\")");',
    "a-register-variable": 'register float f asm("f0");',
}


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in (HOST | NOT_STATEMENTS).items()])
def test_left_alone(convert: Convert, code: str) -> None:
    source = f"__device__ int shared_header;\nvoid f() {{ {code} }}\n"
    result = convert(source)
    assert result.text == source
    assert [name for name in result.ids if name.startswith("MUS20")] == []


LEFT = {
    "tensor-cores": (
        'asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0}, {%1}, {%2}, {%0};" : "+f"(d) : "r"(a), "r"(b));',
        "SQMMA",
    ),
    "ldmatrix": ('asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d) : "r"(a));', "mutlass"),
    "wgmma": ('asm volatile("wgmma.fence.sync.aligned;" ::: "memory");', "__musa_tce_wait_group"),
    "cp-async": (
        'asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" :: "r"(a), "l"(p));',
        "__musa_memcpy_g2s",
    ),
    "tma": ('asm volatile("cp.async.bulk.commit_group;");', "__musa_tme"),
    "mbarrier": (
        'asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(a), "r"(b));',
        "__musa_async_init_arrival",
    ),
    "named-barrier": ('asm volatile("bar.sync %0, %1;" :: "r"(a), "r"(b));', "named barriers"),
    "barrier-number-one": ('asm volatile("bar.sync 1;");', "named barriers"),
    "setmaxnreg": ('asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");', "no counterpart"),
    "griddepcontrol": ('asm volatile("griddepcontrol.wait;" ::: "memory");', "no counterpart"),
    "nanosleep": ('asm volatile("nanosleep.u32 20;");', "clock64"),
    "system-wide-atomic": ('asm volatile("red.release.sys.global.add.u32 [%0], %1;" :: "l"(p), "r"(a));', "atomicAdd"),
    "no-such-register": ('asm("mov.u32 %0, %%smid;" : "=r"(d));', "intrinsic"),
    "shared-address": ('asm("ld.shared.u32 %0, [%1];" : "=r"(d) : "r"(a));', "intrinsic"),
    "narrow-address": ('asm("ld.u32 %0, [%1];" : "=r"(d) : "r"(a));', "intrinsic"),
    "one-known-one-not": (
        'asm("{ .reg .pred p; setp.ne.b32 p, %0, 0; @p cp.async.wait_all; }" :: "r"(a));',
        "__musa_memcpy_g2s",
    ),
    "labels-and-branches": ('asm("{ .reg .pred p; L: setp.ne.u32 p, %0, 0; @p bra L; }" :: "r"(a));', "intrinsic"),
    "carry-chain": ('asm("add.cc.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));', "intrinsic"),
    "flushes-exactly": ('asm("add.ftz.f32 %0, %1, %2;" : "=f"(d) : "f"(x), "f"(y));', "intrinsic"),
    "newer-than-the-rules": ('asm("frobnicate.sync.b32 %0, %1;" : "=r"(d) : "r"(a));', "intrinsic"),
    "unknown-constraint": ('asm("mov.b128 %0, %1;" : "=q"(d) : "q"(a));', "intrinsic"),
    "local-memory": ('asm("{ .local .b32 t; mov.u32 %0, 1; }" : "=r"(d));', "intrinsic"),
    "directive-on-its-own": ('asm(".reg .b32 t;");', "intrinsic"),
    "jumps-to-a-label-of-c": ('asm goto("@p bra %l0; mov.u32 t, 1;" :::: out);', "intrinsic"),
    "text-in-an-unknown-macro": ('asm("ld.global" HINT ".u32 %0, [%1];" : "=r"(d) : "l"(p));', "intrinsic"),
    "shuffle-of-no-width": ('asm("vote.uni.pred %0, %1;" : "=r"(d) : "r"(a));', "intrinsic"),
    "register-wider-than-its-operand": ('asm("add.u64 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));', "intrinsic"),
    "writes-an-input": ('asm("{ .reg .u32 t; mov.u32 t, 1; mov.u32 %1, t; }" : "=r"(d) : "r"(a));', "intrinsic"),
}


@pytest.mark.parametrize(("code", "instead"), [pytest.param(*pair, id=name) for name, pair in LEFT.items()])
def test_left_with_an_error(convert: Convert, code: str, instead: str) -> None:
    source = f"__device__ void f(unsigned a, unsigned b, unsigned* p) {{ {code} }}\n"
    result = convert(source)
    assert result.text == source
    assert [name for name in result.ids if name.startswith("MUS20")] == ["MUS201"]
    finding = next(item for item in result.conversion.findings if item.rule_id == "MUS201")
    assert instead in suggestion(finding)
    assert message(finding, "zh") and suggestion(finding, "zh")


def test_instead_names_only_builtins_of_the_target(convert: Convert) -> None:
    source = '__device__ void f() { asm("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0}, {%0}, {%0}, {%0};"); }\n'
    for architecture, name in (("mp_22", "__musa_fmma"), ("mp_31", "__musa_tce")):
        finding = next(
            item
            for item in convert(source, architectures=(architecture,)).conversion.findings
            if item.rule_id == "MUS201"
        )
        assert name in suggestion(finding)


def body(text: str) -> str:
    return f"__device__ void f(unsigned a, int b, float x, double z, unsigned* p, unsigned short h, unsigned long long l) {{ {text} }}\n"


REWRITTEN = {
    "lane": ('unsigned d; asm("mov.u32 %0, %%laneid;" : "=r"(d));', "d = __get_laneid() & 0x1f;"),
    "one-percent-sign": ('unsigned d; asm("mov.u32 %0, %laneid;" : "=r"(d));', "d = __get_laneid() & 0x1f;"),
    "clock": (
        'unsigned d; asm volatile("mov.u32 %0, %%clock;" : "=r"(d) :: "memory");',
        "d = (unsigned int)clock64();",
    ),
    "long-clock": (
        'long long d; asm volatile("mov.u64 %0, %%clock64;" : "=l"(d));',
        "d = (unsigned long long)clock64();",
    ),
    "trap": ('if (a) asm("trap;"); else asm volatile ("exit;");', "if (a) __trap(); else __musa_exit();"),
    "block-barrier": ('asm volatile("bar.sync 0;");', "__syncthreads();"),
    "aligned-barrier": ('asm volatile("barrier.sync.aligned 0;");', "__syncthreads();"),
    "warp-barrier": ('asm volatile("bar.warp.sync 0xffffffff;");', "__syncwarp(0xffffffffu);"),
    "strings-joined": ('asm("lop3.b32 " "%0, %1, " "%1, %2, 0x96;" : "=r"(a) : "r"(a), "r"(b));', "a = a ^ a ^ b;"),
    "cast-only-where-the-type-is-not-known": (
        'asm("shr.u32 %0, %1, 4;" : "=r"(a) : "r"(q.n));',
        "a = (unsigned int)q.n >> 4u;",
    ),
    "signed-variable-of-an-unsigned-instruction": (
        'asm("shr.u32 %0, %1, 4;" : "=r"(a) : "r"(b));',
        "a = (unsigned int)b >> 4u;",
    ),
    "expression-in-parentheses": ('asm("not.b32 %0, %1;" : "=r"(a) : "r"(a + 1));', "a = ~(a + 1);"),
    "pointer-output-is-cast": (
        'int* q; asm("mov.b64 %0, %1;" : "=l"(q) : "l"(p));',
        "q = (__typeof__(q))((unsigned long long)p);",
    ),
    "if-and-else-stay": (
        'if (a) asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(a) : "l"(p) : "memory"); else return;',
        "if (a) do { a = *(const volatile unsigned int*)p; __threadfence(); } while (0); else return;",
    ),
    "release-fence-comes-first": (
        'asm volatile("st.release.gpu.u32 [%0], %1;" :: "l"(p), "r"(a) : "memory");',
        "do { __threadfence(); *(volatile unsigned int*)p = a; } while (0);",
    ),
    "offset-in-bytes": (
        'asm("ld.global.nc.f32 %0, [%1+16];" : "=f"(x) : "l"(p));',
        "x = *(const float*)((unsigned long long)p + 16);",
    ),
    "comma-missing-between-operands": ('asm volatile("st.u32 [%1], %0;" ::"r"(a) "l"(p));', "*(unsigned int*)p = a;"),
    "constant-operand": ('asm("shl.b32 %0, %1, %2;" : "=r"(a) : "r"(a), "n"(3));', "a = a << 3u;"),
    "effect-evaluated-once": (
        'asm("min.s32 %0, %1, %2;" : "=r"(b) : "r"(next()), "r"(b));',
        "do { unsigned int ptx_0; const unsigned int ptx_1 = (unsigned int)(next()); "
        "const unsigned int ptx_2 = (unsigned int)b; ptx_0 = (int)ptx_1 < (int)ptx_2 ? (int)ptx_1 : (int)ptx_2; "
        "b = ptx_0; } while (0);",
    ),
    "output-with-an-effect-is-evaluated-once": (
        'asm("add.u32 %0, %0, %1;" : "+r"(p[a++]) : "r"(a));',
        "do { auto& ptx_to_0 = p[a++]; unsigned int ptx_0 = (unsigned int)ptx_to_0; const unsigned int ptx_1 = a; "
        "ptx_0 = ptx_0 + ptx_1; ptx_to_0 = ptx_0; } while (0);",
    ),
    "tied-operand": (
        'asm("add.u32 %0, %1, %2;" : "=r"(a) : "0"(b), "r"(a));',
        "do { unsigned int ptx_0 = (unsigned int)b; const unsigned int ptx_2 = a; ptx_0 = ptx_0 + ptx_2; a = ptx_0; } while (0);",
    ),
    "comment-is-kept": (
        'asm("add.u32 %0, %1, 1;" // next one\n : "=r"(a) /* out */ : "r"(a));',
        "/* next one */ /* out */ a = a + 1u;",
    ),
    "gnu-spelling": ('__asm__ __volatile__("membar.gl;" ::: "memory");', "__threadfence();"),
    "raw-string": ('asm(R"(popc.b32 %0, %1;)" : "=r"(a) : "r"(a));', "a = __popc(a);"),
}


@pytest.mark.parametrize(("code", "after"), [pytest.param(*pair, id=name) for name, pair in REWRITTEN.items()])
def test_rewritten(convert: Convert, code: str, after: str) -> None:
    result = convert(body(code))
    assert after in result.text
    assert "asm" not in result.text.replace("__musa", "")
    assert "MUS202" in result.ids and "MUS201" not in result.ids and "MUS902" not in result.ids
    again = convert(result.text)
    assert again.text == result.text and not again.conversion.edits


def test_macro_of_this_file_holds_the_text(convert: Convert) -> None:
    source = '#define LANE "mov.u32 %0, %%laneid;"\n__device__ void f(unsigned& d) { asm(LANE : "=r"(d)); }\n'
    assert "d = __get_laneid() & 0x1f;" in convert(source).text


def test_macro_defined_twice_is_not_guessed(convert: Convert) -> None:
    source = '#ifdef A\n#define HINT ".cg"\n#else\n#define HINT ".ca"\n#endif\n__device__ void f(int* p, int d) {\n'
    source += '  asm("ld.global" HINT ".u32 %0, [%1];" : "=r"(d) : "l"(p));\n}\n'
    result = convert(source)
    assert result.text == source and "MUS201" in result.ids


def test_macro_body_stays_one_logical_line(convert: Convert) -> None:
    source = '#define LOAD(d, p) \\\n  asm volatile("ld.cg.u32 %0, [%1];" \\\n    : "=r"(d) \\\n    : "l"(p)); \\\n  use(d)\nint x;\n'
    result = convert(source)
    assert result.text == "#define LOAD(d, p) \\\n  (d) = *(const unsigned int*)(p); \\\n  use(d)\nint x;\n"
    assert "MUS202" in result.ids


def test_macro_arguments_are_whole(convert: Convert) -> None:
    source = '#define INC(d, s) asm("add.u32 %0, %1, 1;" : "=r"(d) : "r"(s))\n'
    assert convert(source).text == "#define INC(d, s) (d) = (unsigned int)(s) + 1u\n"


def test_crlf_is_kept(convert: Convert) -> None:
    source = b'__device__ void f(unsigned d) {\r\n  asm("brev.b32 %0, %1;"\r\n  : "=r"(d) : "r"(d));\r\n}\r\n'
    assert convert(source).conversion.new_data == b"__device__ void f(unsigned d) {\r\n  d = __brev(d);\r\n}\r\n"


def test_names_of_the_file_are_not_taken(convert: Convert) -> None:
    source = body('int ptx_0 = 1; asm("min.s32 %0, %1, %2;" : "=r"(b) : "r"(next()), "r"(ptx_0));')
    assert "musify_0" in convert(source).text


def test_operand_is_renamed_at_the_same_time(convert: Convert) -> None:
    source = body('asm("shl.b32 %0, %1, 2;" : "=r"(a) : "r"(cudaGetLastError()));')
    assert "a = (unsigned int)(musaGetLastError()) << 2u;" in convert(source).text


def test_operands_that_change_places_are_not_renamed_inside(convert: Convert) -> None:
    source = body('asm("{ .reg .u32 t; add.u32 t, %1, 1; mov.u32 %0, t; }" : "=r"(a) : "r"((int)cudaErrorUnknown));')
    result = convert(source)
    assert "MUS902" not in result.ids and "musaErrorUnknown" in result.text


def test_run_time_source_in_one_raw_string(convert: Convert) -> None:
    source = 'const char* k = R"(__global__ void f(unsigned* o) { unsigned d; asm("mov.u32 %0, %%laneid;" : "=r"(d)); *o = d; })";\n'
    result = convert(source)
    assert "d = __get_laneid() & 0x1f;" in result.text and "MUS902" not in result.ids


def test_run_time_source_over_several_literals_is_left(convert: Convert) -> None:
    source = 'const char* k = "__global__ void f(unsigned* o) { unsigned d; asm(\\"mov.u32 %0, \\"\\n"\n'
    source += '  "\\"%%laneid;\\" : \\"=r\\"(d)); *o = d; }";\n'
    result = convert(source)
    assert result.text == source and "MUS201" in result.ids and "MUS202" not in result.ids


def test_excluded_line_is_left(convert: Convert) -> None:
    source = body('asm("trap;"); // MUSIFY_EXCL_LINE')
    assert convert(source).text == source


def test_old_sdk_has_no_activemask(convert: Convert) -> None:
    source = body('asm("activemask.b32 %0;" : "=r"(a));')
    assert "MUS201" in convert(source, sdk="4.3").ids
    assert "a = __activemask();" in convert(source, sdk="5.2").text


def test_constraint_macro_of_cub_is_known(convert: Convert) -> None:
    source = body('asm volatile("ld.cg.u32 %0, [%1];" : "=r"(a) : _CUB_ASM_PTR_(p) : "memory");')
    assert "a = *(const unsigned int*)p;" in convert(source).text


def test_other_constraint_macro_is_not_guessed(convert: Convert) -> None:
    source = body('asm volatile("ld.cg.u32 %0, [%1];" : "=r"(a) : MY_POINTER(p));')
    result = convert(source)
    assert result.text == source and "MUS201" in result.ids


def test_stringized_parameter_is_reported(convert: Convert) -> None:
    source = '#define LOAD(m, d, p) asm("ld." #m ".u32 %0, [%1];" : "=r"(d) : "l"(p))\n'
    result = convert(source)
    assert result.text == source and "MUS201" in result.ids


def test_macro_for_the_opcode_is_still_ptx(convert: Convert) -> None:
    source = '#include "other.h"\n' + body('asm(LOAD_OPCODE ".v2.s32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(p));')
    result = convert(source)
    assert result.text == source and "MUS201" in result.ids


def test_unreadable_text_in_device_code_is_reported(convert: Convert) -> None:
    assert "MUS203" in convert(body("asm volatile(SOME_TEXT);")).ids
    assert "MUS203" not in convert("void f() { asm volatile(SOME_TEXT); }\n").ids
