"""The lexer and the outline: lossless, and in agreement with each other."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from musify.source.lexer import TokenKind, tokenize
from musify.source.outline import OpaqueKind, Outline
from musify.source.words import WordFinder

# Text that is dense in what lexers get wrong.
PIECES = st.sampled_from(
    [b"cuda", b"x", b" ", b"\n", b"\r\n", b"\\\n", b"\\", b'"', b"'", b"/*", b"*/", b"//", b"#", b"##", b"#define ", b"#include ",
     b"<a.h>", b'R"(', b')"', b'R"x(', b')x"', b"u8", b"1'0", b"0x1p-3", b"::", b"->", b".", b"...", b"<<<", b">>>", b"(", b")",
     b"{", b"}", b";", b",", b"=", b"\xe9", b"\xef\xbb\xbf", b"\0", b"cudaMalloc", b"if", b"#error can't\n"]
)  # fmt: skip
SOURCES = st.lists(PIECES, max_size=40).map(b"".join)


@given(st.one_of(SOURCES, st.binary(max_size=200)))
@example(b'R"(' * 3)
@example(b"/*")
@example(b'"\\')
def test_tokens_joined_are_the_input(data: bytes) -> None:
    tokens = list(tokenize(data))
    assert b"".join(data[token.start : token.end] for token in tokens) == data
    assert all(token.start < token.end for token in tokens)


@given(SOURCES)
def test_outline_covers_no_more_than_there_is(data: bytes) -> None:
    end = 0
    for item in Outline(data).opaque:
        assert end <= item.start < item.end <= len(data)
        end = item.end


@given(SOURCES)
def test_outline_neighbours_terminate_and_lie_outside(data: bytes) -> None:
    outline = Outline(data)
    for word in outline.words(re.compile(rb"\bcuda\w*")):
        before, after = outline.before(word.start), outline.after(word.end)
        assert 0 <= before.start <= before.end <= word.start
        assert word.end <= after.start <= after.end <= len(data)


CODE = st.lists(
    st.sampled_from([b"cudaFree", b"x", b" ", b"\n", b'"a"', b'"cudaFree"', b"'c'", b"/* cudaFree */", b"// cudaFree\n", b"(", b")",
                     b";", b"+", b'R"(cudaFree)"', b"\n#define A cudaFree\n", b"12"]),
    max_size=30,
).map(lambda pieces: b" ".join(pieces))  # fmt: skip


@given(CODE)
def test_outline_and_lexer_agree_on_words_in_code(data: bytes) -> None:
    by_lexer = [
        token.start
        for token in tokenize(data)
        if token.kind is TokenKind.IDENTIFIER and data[token.start : token.end] == b"cudaFree"
    ]
    by_outline = [word.start for word in Outline(data).words(re.compile(rb"\bcudaFree\b"))]
    assert by_outline == by_lexer


WORDS = st.lists(
    st.sampled_from([b"cudaFree", b"xcuda", b"cuda", b"_", b" ", b".", b"nv", b"make_cuda", b"\xc3"]),
    max_size=25,
).map(b"".join)


@given(WORDS)
def test_words_are_whole(data: bytes) -> None:
    finder = WordFinder([b"cuda", b"nv"], [b"make_cuda"])
    expected = [
        match.span()
        for match in re.finditer(rb"[\w$\x80-\xff]+", data)
        if match.group().startswith((b"cuda", b"nv")) or match.group() == b"make_cuda"
    ]
    assert [tuple(word) for word in finder.find(data).words] == expected


def test_directives() -> None:
    outline = Outline(b"#define F(a, b) a##b \\\n  + 1\n  # define G 2 // x\n#if A\n#endif\nint a; # no\n")
    assert [(item.keyword, item.name, item.parameters) for item in outline.directives] == [
        (b"define", b"F", (b"a", b"b")),
        (b"define", b"G", None),
        (b"if", b"", None),
        (b"endif", b"", None),
    ]


def test_literals_are_told_apart() -> None:
    outline = Outline(b'"a\\"b" R"x(")x" \'"\' /* " */ // "\n')
    kinds = [item.kind for item in outline.opaque]
    assert kinds == [
        OpaqueKind.STRING,
        OpaqueKind.RAW_STRING,
        OpaqueKind.CHARACTER,
        OpaqueKind.COMMENT,
        OpaqueKind.COMMENT,
    ]


def test_number_sign_at_a_continued_line_is_no_directive() -> None:
    outline = Outline(b"#define S(x) \\\n#x\nint a;\n")
    assert [item.keyword for item in outline.directives] == [b"define"]


def test_after_the_last_token_of_a_directive_nothing_follows() -> None:
    data = b"#define A cudaFree\n#define B\nint x;\n"
    outline = Outline(data)
    assert outline.text(outline.after(data.index(b"\n"))) == b""
    assert outline.text(outline.after(data.index(b" x"))) == b"x"
