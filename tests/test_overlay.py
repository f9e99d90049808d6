"""What an SDK's headers say of names, as a rule file (`sdk`, `absent`, `changed`): when nothing comes of it, and what does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from musify.model import Applicability, Evidence, MusifyError, Severity
from musify.rules import book, loader
from tests.commands import musify, write
from tests.conftest import Convert, Converted

SEEN = '[[names]]\nevidence = "sdk"\nlist = "{}"\n'
ABSENT = '[[absent]]\nnames = "{}"\nwhy = "no header declares it"\nwhy_zh = "没有头文件声明它"\nsource = "SDK 9"\n'
CHANGED = '[[changed]]\nnames = "{}"\nwhy = "it takes 3 arguments"\nsource = "SDK 9"\n'

MISTAKES = {
    "a name on no list, without a kind": (SEEN.format("cudaMalloc cudaNoSuch"), r":3: cudaNoSuch is on no list of names"),
    "a name listed twice": (SEEN.format("cudaMalloc cudaMalloc"), r":3: cudaMalloc is listed twice"),
    "bad evidence": (SEEN.format("cudaMalloc").replace("sdk", "hope"), r":2: evidence 'hope' is none of"),
    "an unknown library": (
        '[[names]]\nlibrary = "cublaz"\nkind = "function"\nevidence = "none"\nlist = "x"\n',
        r":2: library 'cublaz' is not one of ours",
    ),
    "a note without its source": ('[[absent]]\nnames = "cudaMalloc"\nwhy = "x"\n', r"lacks the key 'source'"),
    "a severity that is none": (CHANGED.format("cudaMalloc") + 'severity = "fatal"\n', r":5: severity 'fatal' is none of"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes(tmp_path: Path, text: str, message: str) -> None:
    write(tmp_path, {"overlay.toml": text})
    with pytest.raises(MusifyError, match=message):
        book.load([tmp_path / "overlay.toml"])


LIBRARY = '[library]\nid = "x"\nname = "x"\ntarget = "y"\npolicy = "rename"\n'
SHIPPED_MISTAKES = {
    "names without a kind": (LIBRARY + SEEN.format("a"), r"needs the keys 'kind' and 'list'"),
    "a library of another file": (
        LIBRARY + '[[names]]\nlibrary = "runtime"\nkind = "function"\nevidence = "none"\nlist = "a"\n',
        r":7: one library a file",
    ),
    "a name on no list": (LIBRARY + ABSENT.format("cudaMalloc"), r":7: cudaMalloc is on no list"),
}


@pytest.mark.parametrize(("text", "message"), SHIPPED_MISTAKES.values(), ids=SHIPPED_MISTAKES.keys())
def test_mistakes_in_files_of_ours(tmp_path: Path, text: str, message: str) -> None:
    write(tmp_path, {"x.toml": text})
    with pytest.raises(MusifyError, match=message):
        loader.load_api_rules([tmp_path / "x.toml"])


@pytest.fixture
def overlaid(convert: Convert, tmp_path: Path) -> Convert:
    """Convert source text with rule files of one's own, given by their texts."""

    def run(source: str, *texts: str, **settings: object) -> Converted:
        files = {f"{number}.toml": text for number, text in enumerate(texts)}
        write(tmp_path, files)
        return convert(source, own=book.load([tmp_path / name for name in files]), **settings)

    return run


# --- nothing happens ------------------------------------------------------------------------------------------------


QUIET = {
    "the name is not used": ("void f(void* p) { cudaFree(p); }", ABSENT.format("cudaMalloc") + CHANGED.format("cudaHostAlloc")),
    "a member of that name": ("void f(P* p) { p->cudaMalloc(1); }", CHANGED.format("cudaMalloc")),
    "the project's own": ("int cudaMalloc(int);\nint f() { return cudaMalloc(1); }", CHANGED.format("cudaMalloc")),
    "in a comment": ("// cudaMalloc\n", ABSENT.format("cudaMalloc")),
    "a newer SDK than the note is about": ("auto f = cudaMalloc;", CHANGED.format("cudaMalloc") + 'below_sdk = "4.0"\n'),
}  # fmt: skip


@pytest.mark.parametrize(("source", "overlay"), QUIET.values(), ids=QUIET.keys())
def test_no_finding(overlaid: Convert, source: str, overlay: str) -> None:
    assert not {"MUS119", "MUS120"} & set(overlaid(source, overlay).ids)


def test_a_name_given_by_hand_is_not_called_absent(overlaid: Convert) -> None:
    result = overlaid("auto f = cudaMalloc;", ABSENT.format("cudaMalloc"), '[rename]\ncudaMalloc = "poolMalloc"\n')
    assert (result.text, result.ids) == ("auto f = poolMalloc;", [])


# --- what comes of it -----------------------------------------------------------------------------------------------


def test_seen_names_are_not_inferred_any_more(overlaid: Convert) -> None:
    source = "void f(cudaKernel_t k);"
    before, after = overlaid(source), overlaid(source, SEEN.format("cudaKernel_t"))
    assert (before.ids, after.ids) == (["MUS102"], [])
    assert before.text == after.text
    (edit,) = after.conversion.edits
    assert (edit.evidence, edit.applicability, edit.library) == ("sdk", Applicability.SAFE, "runtime")


def test_seen_names_are_renamed_where_inferred_ones_stay(overlaid: Convert) -> None:
    result = overlaid("cudaKernel_t a; cudaLibrary_t b;", SEEN.format("cudaKernel_t"), unattested="keep")
    assert result.text == "musaKernel_t a; cudaLibrary_t b;"


def test_seen_headers(overlaid: Convert) -> None:
    source = "#include <texture_types.h>\n#include <cuda_fp4.h>\n"
    assert sorted(overlaid(source).ids) == ["MUS102", "MUS110"]
    assert overlaid(source, SEEN.format("texture_types.h cuda_fp4.h")).ids == []


def test_absent_names_are_renamed_with_an_error(overlaid: Convert) -> None:
    result = overlaid("auto f = cudaMalloc;", ABSENT.format("cudaMalloc"))
    (finding,) = result.conversion.findings
    assert (result.text, finding.rule_id, finding.span) == ("auto f = musaMalloc;", "MUS119", (9, 19))


def test_absent_says_more_than_unattested(overlaid: Convert) -> None:
    result = overlaid("void f(cudaKernel_t k);", ABSENT.format("cudaKernel_t"))
    assert (result.ids, result.text) == (["MUS119"], "void f(musaKernel_t k);")
    assert result.conversion.edits[0].applicability is Applicability.REVIEW
    kept = overlaid("void f(cudaKernel_t k);", ABSENT.format("cudaKernel_t"), unattested="keep")
    assert (kept.ids, kept.text) == (["MUS119"], "void f(cudaKernel_t k);")
    assert kept.conversion.findings[0].arguments["outcome"] == "left as it is"


def test_names_that_stay_can_be_absent_too(overlaid: Convert) -> None:
    result = overlaid("int f() { return __activemask(); }", ABSENT.format("__activemask"))
    assert "MUS119" in result.ids and result.text == "int f() { return __activemask(); }"


def test_absent_headers(overlaid: Convert) -> None:
    result = overlaid("#include <nvrtc.h>\n#include <texture_types.h>\n", ABSENT.format("nvrtc.h texture_types.h"))
    assert (result.ids, result.text) == (["MUS119", "MUS119"], "#include <mtrtc.h>\n#include <texture_types.h>\n")


@pytest.mark.parametrize(
    "source",
    ['void* f(void* h) { return dlsym(h, "cuInit"); }', "#define CALL(x) cu##x\nint f() { return CALL(Init)(0); }"],
    ids=["looked up at run time", "pasted"],
)
def test_absent_where_the_name_is_made(overlaid: Convert, source: str) -> None:
    assert "MUS119" in overlaid(source, ABSENT.format("cuInit")).ids


def test_changed_says_what_differs(overlaid: Convert) -> None:
    source = "auto f = cudaMalloc;"
    (warning,) = overlaid(source, CHANGED.format("cudaMalloc")).conversion.findings
    (error,) = overlaid(source, CHANGED.format("cudaMalloc") + 'severity = "error"\n').conversion.findings
    assert (warning.rule_id, warning.severity, error.severity) == ("MUS120", None, Severity.ERROR)
    assert warning.arguments["target"] == "musaMalloc"


def test_names_may_join_a_library_of_ours(tmp_path: Path) -> None:
    text = (
        '[[names]]\nlibrary = "cublas"\nkind = "function"\nevidence = "none"\nsince = "14"\nlist = "cublasBrandNew"\n'
    )
    rule = book.load([write(tmp_path, {"draft.toml": text}) / "draft.toml"]).name(b"cublasBrandNew")
    assert rule is not None
    assert (rule.target, rule.library.id, rule.evidence) == (b"mublasBrandNew", "cublas", Evidence.NONE)


def test_from_the_command_line(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"a.cpp": "void f(cudaKernel_t k) { cudaMalloc(&k, 1); }\n"})
    write(tmp_path, {"sdk.toml": SEEN.format("cudaKernel_t") + ABSENT.format("cudaMalloc")})
    report = tmp_path / "r.json"
    done = musify("check", tree, "--rules", tmp_path / "sdk.toml", "--report", f"json:{report}", "--lang", "zh")
    found = json.loads(report.read_text(encoding="utf-8"))
    assert done.code == 1 and "MUS119" in done.out and "没有头文件声明它" in done.out and "MUS102" not in done.out
    assert {(row["evidence"], row["count"]) for row in found["summary"]["names"]} == {("sdk", 1), ("code", 1)}
    told = musify("explain", "cudaMalloc", "--rules", tmp_path / "sdk.toml").out
    assert "not in the SDK: no header declares it" in told
