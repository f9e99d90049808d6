"""Reading CMake: nothing is lost, and arguments are what CMake itself takes them for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from musify.languages.build.unit import TokenKind
from musify.languages.cmake.flagtext import words
from musify.languages.cmake.reader import Argument, ArgumentKind, read, tokens
from musify.languages.cmake.structure import enclosing, references, value
from musify.model import Span

# Every odd form of cmake-language(7); `show` is a command of the test's own.
ODD = rb"""function(show)
endfunction()
show(a "b c" [[d ]e]] [=[
f]] ]=] g;h "i;j")#end
SHOW ( # a comment ) in the arguments
  one #[[ inside ]] two # and another
  "three\"quoted\" four \
five" \;six\ seven \${eight} ${nine}${ten}
  -Da="b c" $(make) "x"y [a [ =] <[=>
  ( nested ( deep "(" ) )
)
#[==[ bracket
show(comment)
]==]
show("#no comment" a[[b]] [=[[c]]=] ;; "" [==[]==])
if(NOT (A AND B) OR "#" STREQUAL "")
endif()
show(@CONFIGURED@ $ENV{HOME_OF_NOTHING} $<1:x,y> C:\\path)
"""


def texts(data: bytes) -> list[list[str]]:
    return [[value(data, argument).decode() for argument in command.arguments] for command in read(data).commands]


@pytest.mark.parametrize("data", [ODD, ODD.replace(b"\n", b"\r\n"), ODD.rstrip(b"\n")], ids=["lf", "crlf", "no-end"])
def test_between_tokens_are_only_blanks_and_parentheses(data: bytes) -> None:
    position = 0
    for token in tokens(data):
        assert not data[position : token.start].strip(b" \t\r\n()")
        position = token.end
    assert not data[position:].strip(b" \t\r\n()")
    assert read(data).broken == -1


def test_comments_end_before_the_carriage_return() -> None:
    data = b"set(A) # c\r\n#[[x\r\n]] set(B)\r\n"
    assert [data[span.start : span.end] for span in read(data).comments] == [b"# c", b"#[[x\r\n]]"]


def test_arguments_are_those_that_cmake_has(tmp_path: Path) -> None:
    cmake = shutil.which("cmake")
    if cmake is None:
        if os.environ.get("MUSIFY_REQUIRE_CUDA") == "1":
            pytest.fail("MUSIFY_REQUIRE_CUDA=1, but there is no cmake")
        pytest.skip("needs cmake")
    script = tmp_path / "odd.cmake"
    script.write_bytes(ODD)
    log = tmp_path / "trace.json"
    done = subprocess.run(
        [cmake, "--trace", "--trace-format=json-v1", f"--trace-redirect={log}", "-P", script],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    calls = [item["args"] for item in seen if item.get("cmd", "").lower() == "show"]
    ours = [
        [_as_cmake_shows(ODD, argument) for argument in command.arguments]
        for command in read(ODD).commands
        if ODD[command.name.start : command.name.end].lower() == b"show"
    ]
    assert calls == ours


def _as_cmake_shows(data: bytes, argument: Argument) -> str:
    """CMake drops the line end after `[[` and continued line ends in quotes."""
    text = value(data, argument)
    if argument.kind is ArgumentKind.BRACKET:
        text = text.removeprefix(b"\n")
    return text.replace(b"\\\n", b"").decode()


BROKEN = {
    "parenthesis": b"set(A 1)\nset(B (2)\nset(C 3)\n",
    "quote": b'set(A 1)\nset(B "2)\n# c\nset(C 3)\n',
    "bracket": b"set(A 1)\nset(B [[2)\n",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN.keys())
def test_what_never_ends_is_left_as_words(data: bytes) -> None:
    reading = read(data)
    assert reading.broken == 9
    assert len(reading.commands) == 1
    inside = [token for token in tokens(data) if token.start >= reading.broken]
    assert inside and all(token.kind is TokenKind.WORD for token in inside)


def test_templates_hold_words_between_commands() -> None:
    data = b"@PACKAGE_INIT@\nset(A @B@)\n<<<<<<< HEAD\n"
    assert texts(data) == [["A", "@B@"]]
    assert [data[span.start : span.end] for span in read(data).words] == [b"@PACKAGE_INIT@", b"<<<<<<<", b"HEAD"]


def test_references_are_the_innermost_and_not_escaped_ones() -> None:
    data = rb'set(A ${B} "\${C} \\${D} ${E_${F}_G} $ENV{H} @I@ $CACHE{J}" [[${K}]])'
    found = [
        data[item.name.start : item.name.end].decode() + ":" + item.place.decode()
        for argument in read(data).commands[0].arguments
        for item in references(data, argument)
    ]
    assert found == ["B:", "D:", "F:", "H:ENV", "I:@", "J:CACHE"]


def test_blocks() -> None:
    names = b"if set elseif set else set endif function set endfunction set endif".split()
    assert enclosing(names) == [(), (0,), (), (2,), (), (4,), (), (), (7,), (), (), ()]


WORDS = {
    b'"${X} -a -Xcompiler \\"-Wall -W\\" -b;c" d': ["${X}", "-a", "-Xcompiler", '\\"-Wall -W\\"', "-b", "c", "d"],
    b'-Xcudafe "--diag=x" "a b"': ["-Xcudafe", '"--diag=x"', "a", "b"],
    b"$<$<COMPILE_LANGUAGE:CUDA>: -a -b > -c": ["$<$<COMPILE_LANGUAGE:CUDA>: -a -b >", "-c"],
    b'"$<$<COMPILE_LANGUAGE:CUDA>:-a" -b': ['"$<$<COMPILE_LANGUAGE:CUDA>:-a"', "-b"],
    b"'a b' ${C D} -DX=\\;Y": ["'a b'", "${C D}", "-DX=\\;Y"],
}


@pytest.mark.parametrize(("data", "expected"), WORDS.items())
def test_words_of_flags(data: bytes, expected: list[str]) -> None:
    assert [data[word.span.start : word.span.end].decode() for word in words(data, Span(0, len(data)))] == expected
