"""The applier, its inverse, the self-check and the diff."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from musify.languages.build.edits import without_inner
from musify.model import Applicability, Edit, Span
from musify.source import diff, selfcheck
from musify.source.document import Document
from musify.source.edits import EditConflict, apply, in_order, inverse
from musify.source.outline import Outline
from musify.source.positions import PositionMap


def edit(start: int, end: int, text: bytes, applicability: Applicability = Applicability.SAFE) -> Edit:
    return Edit(Span(start, end), text, "test", applicability)


@st.composite
def texts_with_edits(draw: st.DrawFn) -> tuple[bytes, list[Edit]]:
    data = draw(st.lists(st.sampled_from([b"ab", b"\n", b"c d", b"\r\n", b"\xe9"]), max_size=30)).copy()
    joined = b"".join(data)
    cuts = sorted(set(draw(st.lists(st.integers(0, len(joined)), max_size=8))))
    apart = draw(st.booleans())
    spans = list(zip(cuts[::2], cuts[1::2], strict=False)) if apart else list(itertools.pairwise(cuts))
    return joined, [edit(a, b, draw(st.sampled_from([b"", b"X", b"YY\n", b"z"]))) for a, b in spans]


@given(texts_with_edits())
def test_inverse_undoes(case: tuple[bytes, list[Edit]]) -> None:
    data, edits = case
    assert apply(apply(data, edits), inverse(data, edits)) == data


@given(texts_with_edits(), st.randoms())
def test_order_of_edits_does_not_matter(case: tuple[bytes, list[Edit]], random: st.DataObject) -> None:
    data, edits = case
    shuffled = edits.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    assert apply(data, shuffled) == apply(data, edits)


def test_manual_edits_are_not_applied() -> None:
    assert apply(b"abc", [edit(0, 1, b"X", Applicability.MANUAL)]) == b"abc"


def test_repeated_edits_count_once() -> None:
    assert len(in_order([edit(0, 1, b"X"), edit(0, 1, b"X")])) == 1


@pytest.mark.parametrize("pair", [(edit(0, 2, b"X"), edit(1, 3, b"Y")), (edit(0, 1, b"X"), edit(0, 1, b"Y"))])
def test_overlap_is_refused(pair: tuple[Edit, Edit]) -> None:
    with pytest.raises(EditConflict):
        apply(b"abcd", list(pair))


def test_edit_outside_is_refused() -> None:
    with pytest.raises(EditConflict):
        apply(b"ab", [edit(1, 5, b"X")])


REFUSED = {
    "opens a comment": (b"a = b c;\n/* x */ int d;", edit(4, 5, b"/*")),
    "opens a string": (b'f(b); g("x");', edit(2, 3, b'"')),
    "comments the rest out": (b"a b c;\nint 'x';", edit(2, 3, b"//")),
    "joins words": (b"int a;", edit(3, 4, b"")),
    "joins words at the end": (b"x+y", edit(1, 2, b"_")),
}


@pytest.mark.parametrize(("data", "wrong"), REFUSED.values(), ids=REFUSED.keys())
def test_selfcheck_refuses(data: bytes, wrong: Edit) -> None:
    assert selfcheck.failure(Outline(data), [wrong], apply(data, [wrong])) is not None


def test_selfcheck_refuses_changes_elsewhere() -> None:
    data = b"cudaFree(p); int a;"
    assert selfcheck.failure(Outline(data), [edit(0, 8, b"musaFree")], b"musaFree(p); int b;") is not None


ACCEPTED = {
    "a name": (b"cudaFree(p); /* x */", edit(0, 8, b"musaFree")),
    "a line removed": (b'#include <a.h>\n#include <b.h>\n"x";', edit(15, 30, b"")),
    "inside a string": (b'f("libcuda.so");', edit(6, 10, b"musa")),
    "a pasted prefix": (b"cuda##x", edit(0, 4, b"musa")),
}


@pytest.mark.parametrize(("data", "right"), ACCEPTED.values(), ids=ACCEPTED.keys())
def test_selfcheck_accepts(data: bytes, right: Edit) -> None:
    assert selfcheck.failure(Outline(data), [right], apply(data, [right])) is None


@given(case=texts_with_edits())
def test_diff_is_what_git_applies(case: tuple[bytes, list[Edit]], tmp_path_factory: pytest.TempPathFactory) -> None:
    data, edits = case
    folder = tmp_path_factory.mktemp("diff")
    wanted = apply(data, edits)
    text = diff.unified(Document(data), edits, "a.cu", "b.mu")
    (folder / "a.cu").write_bytes(data)
    done = subprocess.run(
        ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"],
        input=text,
        cwd=folder,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "b.mu").read_bytes() == wanted


def test_diff_of_nothing_is_empty() -> None:
    assert diff.unified(Document(b"a\n"), [], "a", "a") == b""


def test_diff_quotes_odd_names(tmp_path: Path) -> None:
    text = diff.unified(Document(b"a\n"), [edit(0, 1, b"b")], 'x "é.c', 'x "é.c')
    (tmp_path / 'x "é.c').write_bytes(b"a\n")
    done = subprocess.run(["git", "apply", "-"], input=text, cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / 'x "é.c').read_bytes() == b"b\n"


def test_positions_map_across_edits_and_back() -> None:
    data = b"cudaFree(a); cudaMalloc(&b, 1);\nx();\n"
    edits = [
        Edit(Span(0, 8), b"musaFree", "name"),
        Edit(Span(9, 10), b"", "gone"),
        Edit(Span(13, 23), b"long_musaMalloc", "name"),
        Edit(Span(32, 32), b"// note\n", "insert"),
    ]
    new = apply(data, edits)
    positions = PositionMap(edits)
    for text in (b"(&b", b", 1);", b"x();"):
        assert positions.converted(data.index(text)) == new.index(text)
        assert positions.original(new.index(text)) == data.index(text)
    assert positions.original(new.index(b"musaMalloc")) == data.index(b"cudaMalloc")
    assert positions.original(len(new)) == len(data)


def test_positions_are_the_same_without_edits() -> None:
    positions = PositionMap([])
    assert [positions.converted(5), positions.original(7)] == [5, 7]


def touches(one: Edit, other: Edit) -> bool:
    return one.span.start < other.span.end and other.span.start < one.span.end


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=8))
def test_of_edits_that_touch_the_first_one_stays(places: list[tuple[int, int]]) -> None:
    edits = [edit(start, start + length, b"x") for start, length in places]
    kept: list[Edit] = []
    for item in edits:
        if not any(touches(other, item) for other in kept):
            kept.append(item)
    assert list(without_inner(edits)) == kept
