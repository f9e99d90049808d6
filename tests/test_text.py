"""`musify text`: musify-text's command line, and mappings in JSON as rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import contents, musify, write

SOURCE = '#include "k.cuh"\nvoid f(void* p) { cudaFree(p); myAdd(1); }  // cudaFree\n'


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write(tmp_path, {"a.cu": SOURCE, "k.cuh": "cudaStream_t s;\n", "m.json": '{"myAdd": "muAdd"}'})


def converted(source: str) -> str:
    return source.replace("{ cudaFree", "{ musaFree")


@pytest.mark.parametrize("options", [(), ("-t",), ("--terminal",)], ids=["default", "short", "long"])
def test_terminal(tree: Path, options: tuple[str, ...]) -> None:
    before = contents(tree)
    assert musify("text", *options, "a.cu", cwd=tree).out == converted(SOURCE)
    assert contents(tree) == before


def test_terminal_prints_files_in_their_order(tree: Path) -> None:
    assert musify("text", "k.cuh", "a.cu", cwd=tree).out == "musaStream_t s;\n" + converted(SOURCE)


@pytest.mark.parametrize("option", ["-i", "--inplace"])
def test_in_place_keeps_names(tree: Path, option: str) -> None:
    done = musify("text", option, "a.cu", "k.cuh", cwd=tree)
    assert (done.code, done.out) == (0, "")
    made = contents(tree)
    assert made["a.cu"].decode() == converted(SOURCE) and made["k.cuh"] == b"musaStream_t s;\n"
    assert set(made) == {"a.cu", "k.cuh", "m.json"}


def test_create_writes_beside(tree: Path) -> None:
    write(tree, {"b.cpp": '#include "c.h"\ncudaStream_t s;\n', "c.h": "cudaEvent_t e;\n"})
    assert musify("text", "-c", "a.cu", "k.cuh", "b.cpp", "c.h", cwd=tree).code == 0
    made = contents(tree)
    assert made["a.cu"].decode() == SOURCE and made["k.cuh"] == b"cudaStream_t s;\n"
    assert made["a.mu"].decode() == converted(SOURCE).replace("k.cuh", "k.muh")
    assert made["b_musa.cpp"] == b'#include "c_musa.h"\nmusaStream_t s;\n' and made["c_musa.h"] == b"musaEvent_t e;\n"


def test_create_leaves_build_files_alone_where_nothing_changes(tree: Path) -> None:
    write(tree, {"Makefile": "all:\n\techo\n", "k/Makefile": "X = -lcudart\n"})
    assert musify("text", "-c", "Makefile", "k/Makefile", "k.cuh", cwd=tree).code == 0
    assert set(contents(tree)) == {"a.cu", "k.cuh", "m.json", "k.muh", "Makefile", "k/Makefile", "k/Makefile_musa"}


def test_files_of_one_name_in_two_folders(tree: Path) -> None:
    write(tree, {"x/a.cu": "cudaEvent_t e;\n"})
    assert musify("text", "-i", "a.cu", "x/a.cu", cwd=tree).code == 0
    assert contents(tree)["x/a.cu"] == b"musaEvent_t e;\n"


def test_files_of_a_folder_that_are_no_sources_are_passed_over(tree: Path) -> None:
    write(tree, {"picture.png": b"\x89PNG\0", "note.txt": "cudaFree\n"})
    (tree / "m.json").unlink()
    done = musify("text", "-t", ".", cwd=tree)
    assert done.out == converted(SOURCE) + "musaStream_t s;\n" and "no language" not in done.err


def test_folder(tree: Path) -> None:
    assert musify("text", "-i", ".", cwd=tree).code == 0
    assert contents(tree)["a.cu"].decode() == converted(SOURCE)


def test_way_back(tree: Path) -> None:
    write(tree, {"b.mu": "musaStream_t s; void f() { muAdd(1); }\n"})
    done = musify("text", "-d", "m2c", "-m", "m.json", "-t", "b.mu", cwd=tree)
    assert done.out == "cudaStream_t s; void f() { myAdd(1); }\n"


def test_renamed_before_it_is_converted(tree: Path) -> None:
    write(tree, {"b.mu": "cudaStream_t s;\n"})
    assert musify("text", "-i", "b.mu", cwd=tree).code == 0
    assert contents(tree)["b.mu"] == b"musaStream_t s;\n"


def test_several_mappings_after_one_option(tree: Path) -> None:
    write(tree, {"n.json": '{"k.cuh": "n.cuh"}'})
    for arguments in (("-m", "m.json", "n.json", "a.cu"), ("a.cu", "--mapping", "m.json", "-m", "n.json")):
        done = musify("text", *arguments, cwd=tree)
        assert done.out == converted(SOURCE).replace("myAdd", "muAdd").replace("k.cuh", "n.cuh")


def test_only_the_given_mapping(tree: Path) -> None:
    done = musify("text", "--clear-mapping", "-m", "m.json", "a.cu", cwd=tree)
    assert done.out == SOURCE.replace("myAdd", "muAdd")


def test_nothing_but_the_mapping_in_build_files(tree: Path) -> None:
    write(tree, {"Makefile": "X = nvcc -lmylib mylib mylibs\n# mylib\n", "w.json": '{"mylib": "mtlib"}'})
    done = musify("text", "--clear-mapping", "-m", "w.json", "-t", "Makefile", cwd=tree)
    assert done.out == "X = nvcc -lmtlib mtlib mylibs\n# mylib\n"


WORDS = {
    "a whole word": ("X = mylib", "X = mtlib"),
    "a library for the linker": ("X = -lmylib", "X = -lmtlib"),
    "a variable": ("X = $(mylib) ${mylib}/x $mylib/x", "X = $(mtlib) ${mtlib}/x $mtlib/x"),
    "a longer word": ("X = mylibs mylib-x mylib.so", None),
    "a folder of a path": ("X = mylib/a.c src/mylib/a.c src/mylib", None),
    "a comment": ("# mylib", None),
    "the longer of two": ("X = mylib.extra", "X = mtextra"),
}


@pytest.mark.parametrize(("line", "expected"), WORDS.values(), ids=WORDS.keys())
def test_words_of_build_files_are_whole(tree: Path, line: str, expected: str | None) -> None:
    write(tree, {"Makefile": line + "\n", "w.json": '{"mylib": "mtlib", "mylib.extra": "mtextra"}'})
    assert musify("text", "-m", "w.json", "-t", "Makefile", cwd=tree).out == (expected or line) + "\n"


def test_a_mapping_that_says_what_our_rules_say_changes_nothing(tree: Path) -> None:
    """What our rules know besides (whose namespaces a name lies in) is not lost to it."""
    source = "#include <torch/torch.h>\nvoid f(c10d::ProcessGroupNCCL& p) { cudaFree(0); }\n"
    mapping = {"ProcessGroupNCCL": "ProcessGroupMCCL", "cudaFree": "musaFree", "cuda_runtime.h": "musa_runtime.h"}
    write(tree, {"b.cu": source, "m.json": json.dumps(mapping)})
    plain = musify("text", "-t", "b.cu", cwd=tree).out
    assert musify("text", "-m", "m.json", "-t", "b.cu", cwd=tree).out == plain != source
    mapping["ProcessGroupNCCL"] = "ProcessGroupOther"
    write(tree, {"m.json": json.dumps(mapping)})
    assert "c10d::ProcessGroupOther" in musify("text", "-m", "m.json", "-t", "b.cu", cwd=tree).out


def test_exclusions_hold(tree: Path) -> None:
    write(tree, {"b.cu": "cudaEvent_t e;  // MUSIFY_EXCL_LINE\n"})
    assert musify("text", "b.cu", cwd=tree).out == "cudaEvent_t e;  // MUSIFY_EXCL_LINE\n"


LEVELS = {
    "default": ((), ["MUS101"]),
    "alone means info": (("-l",), ["MUS101", "MUS115", "changes"]),
    "named": (("-l", "DEBUG"), ["MUS101", "MUS115", "changes"]),
    "long, errors only": (("--log-level", "error"), []),
}


@pytest.mark.parametrize(("options", "said"), LEVELS.values(), ids=LEVELS.keys())
def test_what_is_said(tree: Path, options: tuple[str, ...], said: list[str]) -> None:
    write(tree, {"b.cu": '#include "o.cuh"\nvoid f() { cudaNope(1); }\n'})
    done = musify("text", "-i", *options, "b.cu", cwd=tree)
    assert [word for word in ("MUS101", "MUS115", "changes") if word in done.err] == said


ERRORS = {
    "no file": ((), "SRC"),
    "missing file": (("gone.cu",), "gone.cu: no such file"),
    "nothing left to change": (("--clear-mapping", "a.cu"), "-m"),
    "missing mapping": (("-m", "gone.json", "a.cu"), "gone.json: cannot read"),
}


@pytest.mark.parametrize(("arguments", "message"), ERRORS.values(), ids=ERRORS.keys())
def test_errors(tree: Path, arguments: tuple[str, ...], message: str) -> None:
    done = musify("text", *arguments, cwd=tree)
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1


def test_a_file_that_is_no_text(tree: Path) -> None:
    write(tree, {"b.cu": b"\0\1cudaFree", "note.txt": "cudaFree\n"})
    done = musify("text", "-i", "b.cu", "note.txt", cwd=tree)
    assert done.code == 1 and "MUS905" in done.err and "note.txt: no language" in done.err
    assert contents(tree)["b.cu"] == b"\0\1cudaFree"


BAD = {
    "not JSON": ('{"a": \n', "m.json:2: not valid JSON"),
    "a list": ('["a"]', "m.json:1: not a mapping"),
    "a number": ('{\n"a": 1}', "m.json:2: a must be given a text"),
    "nested": ('{"a": {"b": "c"}}', "m.json:1: a must be given a text"),
    "empty": ('{\n\n"a": ""}', "m.json:3: 'a' becomes ''"),
    "a contradiction": ('{"a": "b",\n"x": "y",\n"a": "c"}', "m.json:3: a becomes c here and b in line 1"),
    "not UTF-8": (b'{"a":\n "\xff"}', "m.json:2: not valid UTF-8"),
    "deep": ("[" * 100_000, "m.json: not a mapping"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD.keys())
def test_bad_mappings(tree: Path, text: str | bytes, message: str) -> None:
    write(tree, {"m.json": text})
    done = musify("convert", "a.cu", "--rules", "m.json", cwd=tree)
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1


ODD = {
    "said twice": ('{"a": "b",\n"a": "b"}', "m.json:2: a stands in line 1 already"),
    "becomes itself": ('{"someName": "someName"}', "m.json:1: someName becomes itself"),
    "several words": ('{\n"foo bar": "baz"}', "m.json:2: 'foo bar' is no identifier"),
    "the end of a path": ('{"cute/": "mute/"}', "m.json:1: 'cute/' is no identifier"),
    "an operator": ('{"<<<": "("}', "m.json:1: '<<<' is no identifier"),
}


@pytest.mark.parametrize(("text", "message"), ODD.values(), ids=ODD.keys())
def test_odd_entries_are_said(tree: Path, text: str, message: str) -> None:
    write(tree, {"m.json": text})
    for _ in range(2):  # the second run takes the rules from the cache
        done = musify("check", "a.cu", "--rules", "m.json", cwd=tree)
        assert done.code == 1 and message in done.err
    assert message not in musify("check", "a.cu", "-q", "--rules", "m.json", cwd=tree).err


def test_two_mappings_that_differ(tree: Path) -> None:
    write(tree, {"n.json": '\n{"myAdd": "mtAdd"}'})
    done = musify("text", "-m", "m.json", "n.json", "--", "a.cu", cwd=tree)
    assert "mtAdd(1)" in done.out and "n.json:2: myAdd was muAdd in a mapping before; mtAdd wins" in done.err


def test_mapping_among_the_rules(tree: Path) -> None:
    mapping = {
        "cudaFree": "myFree", "cudaStreamCreate": "cudaStreamCreate", "cudaNope": "musaNope",
        "own/api.h": "own/api_musa.h", "cute::Layout": "mute::Layout",
    }  # fmt: skip
    source = '#include "own/api.h"\nvoid f(void* p) { cudaFree(p); cudaStreamCreate(0); cudaNope(); cute::Layout x; }\n'
    write(tree, {"b.cu": source, "m.json": json.dumps(mapping), "musify.toml": 'rules = ["m.json"]\n'})
    done = musify("convert", "b.cu", "-o", "out", "-q", cwd=tree)
    assert done.code == 0, done.err
    expected = source.replace("cudaFree", "myFree").replace("cudaNope", "musaNope").replace("api.h", "api_musa.h")
    assert contents(tree / "out")["b.mu"].decode() == expected.replace("cute::", "mute::")
