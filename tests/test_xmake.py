"""Lua as xmake's files use it: what is a comment, a string, a call and a table."""

from __future__ import annotations

import pytest

from musify.languages.build.unit import TokenKind
from musify.languages.xmake import tokens
from musify.languages.xmake.reading import LuaFile


def called(text: str) -> list[str]:
    return [group.called for group in LuaFile(text.encode()).groups if group.called]


@pytest.mark.parametrize(
    "text",
    ["-- cuda", "--[[ cuda\n]]", "--[==[ ]] cuda ]==]", "---[[ cuda"],
    ids=["line", "block", "level", "a dash before a block makes it a line"],
)
def test_comments(text: str) -> None:
    data = text.encode()
    assert [(token.kind, token.start, token.end) for token in tokens(data)] == [(TokenKind.COMMENT, 0, len(data))]


@pytest.mark.parametrize("text", ['"--cuda"', "'--[[cuda'", "[[--cuda]]", "[=[ ]] ]=]", '"a\\"b"'])
def test_strings(text: str) -> None:
    assert [token.kind for token in tokens(text.encode())] == [TokenKind.STRING]


def test_a_string_that_is_not_closed_ends_with_its_line() -> None:
    assert called('a = "x\nb("y")\n') == ["b"]


def test_calls_without_brackets() -> None:
    assert called("add_files 'a.cu'\nadd_links {'b'}\nlocal x = 'c'\nreturn 'd'\n") == ["add_files", "add_links"]


def test_settings_of_both_forms() -> None:
    file = LuaFile(b'add_links("a")\ntarget:add("links", "b")\ntable.insert("links", "c")\nmy.add_links("d")\n')
    found = [(setting.name, [item.word.text for item in setting.arguments]) for setting in file.settings]
    assert found == [("links", [b"a"]), ("links", [b"b"])]


def test_a_table_with_names_is_no_list() -> None:
    file = LuaFile(b'add_cuflags("-a", {force = true}, {"-b"})')
    assert [file.table(item) is not None for item in file.settings[0].arguments] == [False, True, True]
