"""Text of build files without its comments, for the proofs: simple lexers that share nothing with musify's readers.

Bytes of comments become blanks, so that every other byte keeps its place. Where a form is not understood (a quote that
ends on another line, a here-document), text counts as code: a proof may ask too much, not too little.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

_NOT_NEWLINE = re.compile(rb"[^\r\n]")
_CMAKE = re.compile(
    rb"(?s)(?P<comment>#\[(=*)\[.*?\]\2\]|#[^\n]*)|\"(?:\\.|[^\"\\])*\"|(?<![\w$])\[(=*)\[.*?\]\3\]|\\."
)
_LUA = re.compile(rb"(?s)(?P<comment>--\[(=*)\[.*?\]\2\]|--[^\n]*)|\[(=*)\[.*?\]\3\]|([\"'])(?:\\.|(?!\4)[^\\\n])*\4")
_XML = re.compile(rb"(?s)(?P<comment><!--.*?-->)")
_MESON = re.compile(rb"(?s)(?P<comment>#[^\n]*)|'''.*?'''|'(?:\\.|[^'\\\n])*'")
_HASH = re.compile(rb"(?m)(?P<comment>(?:^|(?<=[\s;]))#(?:\\\r?\n|[^\n])*)|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'|\\.")
_DOCKER = re.compile(rb"(?m)(?P<comment>^[ \t]*#[^\n]*)")
_PLAIN = re.compile(rb"(?im)(?P<comment>^[ \t@]*(?:rem\b|::|//|dnl\b)[^\n]*)")
_JSON = re.compile(rb"(?s)(?P<comment>//[^\n]*|/\*.*?\*/|#[^\n]*)|\"(?:\\.|[^\"\\])*\"")
_BY_LANGUAGE = {"json": _JSON, "cmake": _CMAKE, "xmake": _LUA, "meson": _MESON, "dockerfile": _DOCKER}
# Source in a string, and its comments.
_SOURCE = re.compile(rb"__global__|__device__|^[ \t]*#[ \t]*include", re.M)
_C = re.compile(rb"(?s)(?P<comment>//(?:(?!\\n)[^\n])*|/\*.*?\*/)")
_STRINGS = tuple(getattr(tokenize, name) for name in ("STRING", "FSTRING_MIDDLE") if hasattr(tokenize, name))
# Notebooks, as Jupyter lays them out: a line of source is a line of the file. Comments of Python and of C++.
_CELL_TYPE = re.compile(rb'\s*"cell_type":')
_SOURCE_KEY = re.compile(rb'\s*"source": \[\s*$')
_SOURCE_END = re.compile(rb"\s*\]")
_NOTEBOOK = re.compile(
    rb"(?P<comment>(?<=[\s\"!])#(?:\\[^n]|[^\\\n])*|(?<=^    \")\\\"(?:(?!\\\")[^\n])*\\\"(?=\"|\\n))"
    rb"|\\\"(?:(?!\\\")[^\n])*\\\"|'[^'\n]*'"
)
# Cells that are C++ are for another proof.
_CPP_CELL = re.compile(rb'\s*"(?:%%(?:cu|cuda)\b|%%writefile [^"]*\.(?:cuh?|c|cc|cpp|cxx|h|hpp|inc|inl)\\n)')
_BEFORE_STATEMENT = (tokenize.ENCODING, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
_HERE_DOCUMENT = re.compile(rb"<<-?[ \t]*(['\"]?)(\w+)\1[^\n]*\n")


def without_comments(language: str, data: bytes) -> bytes:
    """The bytes of a build file, its comments blank; in Python also strings that are statements of their own."""
    if language == "notebook":
        return _without_notebook_comments(data)
    if language in ("python", "bazel"):
        return _without_python_comments(data)
    if language == "plain" and data.lstrip(b"\xef\xbb\xbf \r\n").startswith(b"<"):
        return _XML.sub(_blank, data)
    if language in _BY_LANGUAGE:
        return _BY_LANGUAGE[language].sub(_blank, data)
    if language == "plain":
        data = _PLAIN.sub(_blank, data)
    return _without_hash_comments(data)


def _without_notebook_comments(data: bytes) -> bytes:
    """Only the lines of code cells, in the layout that Jupyter writes; cells that are no Python, and comments blank."""
    kept, is_code, is_cpp, inside = [], False, False, False
    for line in data.splitlines(keepends=True):
        if _CELL_TYPE.match(line):
            is_code, is_cpp = b'"code"' in line, False
        is_source = inside and is_code
        inside = _SOURCE_KEY.match(line) is not None or (inside and not _SOURCE_END.match(line))
        kept.append(_NOTEBOOK.sub(_blank, line) if is_source and not is_cpp else _NOT_NEWLINE.sub(b" ", line))
        is_cpp = is_cpp or (is_source and _CPP_CELL.match(line) is not None)
    return b"".join(kept)


def _without_hash_comments(data: bytes) -> bytes:
    """Comments after `#`, but not in the text of a here-document of a shell."""
    parts = []
    position = 0
    while (here := _HERE_DOCUMENT.search(data, position)) is not None:
        parts.append(_HASH.sub(_blank, data[position : here.end()]))
        last = re.compile(rb"(?m)^[ \t]*" + here.group(2) + rb"[ \t]*\r?$").search(data, here.end())
        position = last.end() if last else len(data)
        parts.append(data[here.end() : position])
    return b"".join([*parts, _HASH.sub(_blank, data[position:])])


def _without_python_comments(data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    try:
        tokens = list(tokenize.tokenize(io.BytesIO(data).readline))
        for token in _text_tokens(tokens):
            _blank_token(lines, token)
        for token in (token for token in tokens if token.type in _STRINGS):
            _blank_comments(lines, token)
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return _MESON.sub(_blank, data)
    return b"".join(lines)


def _text_tokens(tokens: list[tokenize.TokenInfo]) -> Iterator[tokenize.TokenInfo]:
    """Comments, and strings that are whole statements."""
    real = [token for token in tokens if token.type not in (tokenize.COMMENT, tokenize.NL)]
    yield from (token for token in tokens if token.type == tokenize.COMMENT)
    for before, token, after in zip(real, real[1:], real[2:], strict=False):
        if token.type == tokenize.STRING and after.type == tokenize.NEWLINE and before.type in _BEFORE_STATEMENT:
            yield token


def _blank_token(lines: list[bytes], token: tokenize.TokenInfo) -> None:
    first, last = token.start[0] - 1, token.end[0] - 1
    texts = token.line.splitlines(keepends=True)
    for row in range(first, last + 1):
        text, shown = lines[row], texts[row - first] if row - first < len(texts) else ""
        mark = 3 if row == 0 and text.startswith(b"\xef\xbb\xbf") else 0
        start = mark + len(shown[: token.start[1]].encode()) if row == first else 0
        end = mark + len(shown[: token.end[1]].encode()) if row == last else len(text)
        lines[row] = text[:start] + _NOT_NEWLINE.sub(b" ", text[start:end]) + text[end:]


def _blank_comments(lines: list[bytes], token: tokenize.TokenInfo) -> None:
    """Comments of source in a string become blanks."""
    first, last = token.start[0] - 1, token.end[0] - 1
    if _SOURCE.search(b"".join(lines[first : last + 1])) is None:
        return
    whole = b"".join(lines[first : last + 1])
    start = len(token.line[: token.start[1]].encode())
    end = len(whole) - len(lines[last]) + token.end[1]
    blanked = whole[:start] + _C.sub(_blank, whole[start:end]) + whole[end:]
    lines[first : last + 1] = blanked.splitlines(keepends=True)


def _blank(match: re.Match[bytes]) -> bytes:
    return _NOT_NEWLINE.sub(b" ", match.group()) if match.lastgroup == "comment" else match.group()
