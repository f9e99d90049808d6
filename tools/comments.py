"""Text of build files without its comments, for the proofs: simple lexers that share nothing with musify's readers.

Bytes of comments become blanks, so that every other byte keeps its place. Where a form is not understood (a quote that
ends on another line, a here-document), text counts as code: a proof may ask too much, not too little.
"""

from __future__ import annotations

import io
import re
import tokenize

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
_BY_LANGUAGE = {"cmake": _CMAKE, "xmake": _LUA, "meson": _MESON, "dockerfile": _DOCKER}
_HERE_DOCUMENT = re.compile(rb"<<-?[ \t]*(['\"]?)(\w+)\1[^\n]*\n")


def without_comments(language: str, data: bytes) -> bytes:
    """The bytes of a build file, its comments blank."""
    if language in ("python", "bazel"):
        return _without_python_comments(data)
    if language == "plain" and data.lstrip(b"\xef\xbb\xbf \r\n").startswith(b"<"):
        return _XML.sub(_blank, data)
    if language in _BY_LANGUAGE:
        return _BY_LANGUAGE[language].sub(_blank, data)
    if language == "plain":
        data = _PLAIN.sub(_blank, data)
    return _without_hash_comments(data)


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
        for token in tokenize.tokenize(io.BytesIO(data).readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                head = token.line[:column].encode()
                text = lines[row - 1]
                mark = 3 if row == 1 and text.startswith(b"\xef\xbb\xbf") else 0
                start = mark + len(head)
                end = start + len(token.string.encode())
                lines[row - 1] = text[:start] + b" " * (end - start) + text[end:]
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return _MESON.sub(_blank, data)
    return b"".join(lines)


def _blank(match: re.Match[bytes]) -> bytes:
    return _NOT_NEWLINE.sub(b" ", match.group()) if match.lastgroup == "comment" else match.group()
