"""`musify lsp`, tried with a real client over its pipes: pygls's own."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from lsprotocol.types import Diagnostic, DiagnosticSeverity

from musify.lsp.positions import Positions
from tests.commands import musify, write
from tests.editor import Editor, applied, changes_of, editor

SOURCE = "void f(void* p) { cudaFree(p); cudaNope(1); }\n"
FIX_ALL, CONVERT = "source.fixAll.musify", "source.musify"


def run(body: Callable[[Editor], Awaitable[None]], root: Path | None, *options: str, **choices: object) -> None:
    async def session() -> None:
        async with editor(root, *options, **choices) as found:  # type: ignore[arg-type]  # tables mix types
            await body(found)

    asyncio.run(session())


def codes(found: list[Diagnostic]) -> list[str]:
    return [str(item.code) for item in found]


def ids(found: list[Diagnostic]) -> list[str]:
    return [code for code in codes(found) if code.startswith("MUS")]


TEXTS = {
    "ASCII": ("cudaFree(p);", (0, 0), (0, 8)),
    "two bytes a character": ("/* é */ cudaFree(p);", (0, 8), (0, 16)),
    "Chinese": ('f("释放"); cudaFree(p);', (0, 9), (0, 17)),
    "two units a character": ('f("😀"); cudaFree(p);', (0, 9), (0, 17)),
    "CRLF": ("int a;\r\ncudaFree(p);\r\n", (1, 0), (1, 8)),
    "CR alone": ("int a;\rcudaFree(p);", (1, 0), (1, 8)),
    "a form feed ends no line": ("int a;\f cudaFree(p);", (0, 8), (0, 16)),
    "U+2028 ends no line": ("// \u2028\ncudaFree(p);", (1, 0), (1, 8)),
}


@pytest.mark.parametrize(("text", "start", "end"), TEXTS.values(), ids=TEXTS.keys())
def test_positions(text: str, start: tuple[int, int], end: tuple[int, int]) -> None:
    positions = Positions(text)
    first = positions.data.index(b"cudaFree")
    assert (positions.position(first), positions.position(first + 8)) == (start, end)
    assert (positions.offset(*start), positions.offset(*end)) == (first, first + 8)


def test_positions_beyond_the_text() -> None:
    positions = Positions("ab\r\nc")
    assert [positions.offset(*place) for place in ((0, 99), (1, 9), (7, 0))] == [2, 5, 5]
    # In the middle of a character.
    assert Positions("😀a").offset(0, 1) == 0
    assert [Positions("é😀a").position(offset) for offset in (1, 3, 6)] == [(0, 0), (0, 1), (0, 3)]


def test_positions_in_other_units() -> None:
    text = 'f("😀释"); x'
    offset = len(text.encode()) - 1
    assert Positions(text, "utf-8").position(offset) == (0, offset)
    assert Positions(text, "utf-32").position(offset) == (0, len(text) - 1)
    assert Positions("\ud800x").position(3) == (0, 1)


def test_diagnostics_as_you_type(tmp_path: Path) -> None:
    async def body(found: Editor) -> None:
        found.open("a.cu", SOURCE)
        first = await found.diagnostics("a.cu")
        assert codes(first) == ["MUS101", "api-name"]
        assert (first[0].range.start.character, first[0].range.end.character) == (31, 39)
        assert first[0].severity == DiagnosticSeverity.Warning and first[1].severity == DiagnosticSeverity.Hint
        assert first[1].message == "cudaFree becomes musaFree" and first[0].source == "musify"
        found.type("a.cu", SOURCE.replace("cudaNope", "cudaMalloc").replace("cudaFree", "other"))
        assert codes(await found.diagnostics("a.cu")) == ["api-name"]
        found.close("a.cu")
        await found.something()
        assert not found.published[-1].diagnostics and found.published[-1].version is None

    run(body, tmp_path)


def test_hints_can_be_left_out(tmp_path: Path) -> None:
    async def body(found: Editor) -> None:
        found.open("a.cu", SOURCE)
        assert codes(await found.diagnostics("a.cu")) == ["MUS101"]

    run(body, tmp_path, "--stdio", "--no-hints")


def test_positions_count_units_of_utf16(tmp_path: Path) -> None:
    text = '\r\nf("😀释"); cudaNope(1);\r\n'

    async def body(found: Editor) -> None:
        found.open("a.cu", text)
        item = (await found.diagnostics("a.cu"))[0]
        assert (item.range.start.line, item.range.start.character, item.range.end.character) == (1, 10, 18)

    run(body, tmp_path)


def test_positions_in_the_units_that_the_editor_prefers(tmp_path: Path) -> None:
    async def body(found: Editor) -> None:
        found.open("a.cu", 'f("😀释"); cudaNope(1);')
        assert (await found.diagnostics("a.cu"))[0].range.start.character == 14

    run(body, tmp_path, encodings=["utf-8"])


def test_rapid_changes_are_looked_at_once(tmp_path: Path) -> None:
    async def body(found: Editor) -> None:
        found.open("a.cu", SOURCE)
        await found.diagnostics("a.cu")
        for number in range(30):
            found.type("a.cu", SOURCE + "//" + "x" * number)
        await found.diagnostics("a.cu")
        assert [item.version for item in found.published] == [1, 31]

    run(body, tmp_path)


def test_cancelled_requests_end_nothing(tmp_path: Path) -> None:
    async def body(found: Editor) -> None:
        found.open("a.cu", SOURCE)
        for number in range(20):
            found.type("a.cu", SOURCE + "//" + "x" * number)
            found.cancelled_hover("a.cu", 0, 20)
        assert "cudaFree -> musaFree" in await found.hover("a.cu", 0, 20)
        assert codes(await found.diagnostics("a.cu")) == ["MUS101", "api-name"]
        assert found.messages == []

    run(body, tmp_path)


def test_unsaved_headers_and_declarations_elsewhere_count(tmp_path: Path) -> None:
    tree = write(tmp_path, {
        "src/a.cu": "", "inc/own.h": "", "inc/deep.h": "void cudaNope(int);\n", "other/b.h": "void cudaFree(int);\n",
    })  # fmt: skip
    text = '#include "own.h"\n' + SOURCE

    async def body(found: Editor) -> None:
        found.open("src/a.cu", text)
        assert ids(await found.diagnostics("src/a.cu")) == ["MUS101"]
        found.open("inc/own.h", '#include "deep.h"\nstatic void cudaFree(void*) {}\n')
        await found.diagnostics("inc/own.h")
        found.type("src/a.cu", text + " ")
        assert codes(await found.diagnostics("src/a.cu")) == ["MUS117"]

    run(body, tree)


def test_a_saved_header_is_looked_at_by_those_that_include_it(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a.cu": "", "own.h": "\n"})

    async def body(found: Editor) -> None:
        found.open("a.cu", '#include "own.h"\n' + SOURCE)
        assert ids(await found.diagnostics("a.cu")) == ["MUS101"]
        write(tree, {"own.h": "void cudaNope(int);\n"})
        found.save("own.h")
        while ids(await found.diagnostics("a.cu")):
            await found.something()

    run(body, tree)


def test_files_that_change_outside_the_editor_are_looked_at(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a.cu": ""})

    async def body(found: Editor) -> None:
        found.open("a.cu", '#include "own.h"\n' + SOURCE)
        assert ids(await found.diagnostics("a.cu")) == ["MUS101"]
        assert found.watched == ["workspace/didChangeWatchedFiles"]
        write(tree, {"own.h": "void cudaNope(int);\n"})
        found.changed_outside("own.h")
        while ids(await found.diagnostics("a.cu")):
            await found.something()

    run(body, tree)


def test_quick_fix_of_one_place(tmp_path: Path) -> None:
    text = "void f(void* p) {\r\n  g(“释放”); cudaFree(p);\r\n  cudaFree(0);\r\n}\r\n"

    async def body(found: Editor) -> None:
        found.open("a.cu", text)
        actions = await found.actions("a.cu", 1, 13)
        assert applied(text, actions["Change cudaFree to musaFree"]) == text.replace("cudaFree(p)", "musaFree(p)")
        assert applied(text, actions["Change every cudaFree in this file (2)"]) == text.replace("cuda", "musa")
        assert "Change cudaFree to musaFree" not in await found.actions("a.cu", 0, 0)

    run(body, tmp_path)


def test_fix_all_makes_what_a_conversion_makes(tmp_path: Path) -> None:
    text = "#include <cuda_runtime.h>\nvoid f(cudaKernel_t k, void* p) { cudaFree(p); }\n"

    async def body(found: Editor) -> None:
        found.open("a.cu", text)
        (safe,) = (await found.actions("a.cu", only=[FIX_ALL])).values()
        (both,) = (await found.actions("a.cu", only=[CONVERT])).values()
        assert "musaFree" in applied(text, safe) and "cudaKernel_t" in applied(text, safe)
        write(tmp_path, {"b.cu": text})
        converted = musify("convert", "-", "-q", stdin=text.encode()).out
        assert applied(text, both) == converted and "musaKernel_t" in converted
        assert {item.kind for item in (await found.actions("a.cu", only=["source"])).values()} == {FIX_ALL, CONVERT}
        assert not await found.actions("a.cu", only=["refactor"])

    run(body, tmp_path)


def test_edits_carry_the_version_where_the_editor_takes_it(tmp_path: Path) -> None:
    async def body(found: Editor, versions: bool) -> None:
        found.open("a.cu", SOURCE)
        found.type("a.cu", SOURCE)
        action = (await found.actions("a.cu", 0, 20))["Change cudaFree to musaFree"]
        assert action.edit is not None and len(changes_of(action)) == 1
        assert (action.edit.document_changes is not None) == versions
        if versions:
            (change,) = action.edit.document_changes or ()
            assert getattr(change, "text_document").version == 2  # noqa: B009  # one of several types

    run(lambda found: body(found, True), tmp_path)
    run(lambda found: body(found, False), tmp_path, versions=False)


def test_a_finding_can_be_ignored(tmp_path: Path) -> None:
    text = "void f() {\r\n  cudaNope(1);\r\n}\r\n"

    async def body(found: Editor) -> None:
        found.open("a.cu", text)
        action = (await found.actions("a.cu", 1, 5))["Ignore MUS101 on this line"]
        fixed = applied(text, action)
        assert fixed == text.replace("  cuda", "  // musify: ignore[MUS101]\r\n  cuda")
        found.type("a.cu", fixed)
        assert await found.diagnostics("a.cu") == []
        found.type("a.cu", "#define X \\\n  cudaNope(1)\n")
        assert not any(title.startswith("Ignore") for title in await found.actions("a.cu", 1, 5))

    run(body, tmp_path)


HOVERS = {
    "a name": ("void f(void* p) { cudaFree(p); }", 20, "cudaFree -> musaFree"),
    "its end": ("void f(void* p) { cudaFree(p); }", 26, "cudaFree -> musaFree"),
    "a header": ("#include <cublas_v2.h>", 14, "cublas_v2.h -> mublas.h"),
    "a qualified name": ("cuda::std::atomic<int> a;", 14, "cuda::std::atomic -> musa::std::atomic"),
    "a name of a library that stays": ("cudnnHandle_t h;", 3, "muDNN"),
    "a finding": ("void f() { cudaNope(1); }", 14, "MUS101: Unknown CUDA-looking name"),
    "a rewritten statement": ('__device__ int f() { int a; asm("mov.u32 %0, %%laneid;" : "=r"(a)); return a; }', 40, "becomes a = "),
    "nothing": ("int a;", 4, ""),
    "nothing on an empty line": ("", 0, ""),
}  # fmt: skip


@pytest.fixture(scope="module")
def hovers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    said: dict[str, str] = {}

    async def body(found: Editor) -> None:
        for number, (name, (text, character, _)) in enumerate(HOVERS.items()):
            found.open(f"{number}.cu", text)
            said[name] = await found.hover(f"{number}.cu", 0, character)

    run(body, tmp_path_factory.mktemp("hovers"))
    return said


@pytest.mark.parametrize("name", HOVERS)
def test_hover(hovers: dict[str, str], name: str) -> None:
    expected = HOVERS[name][2]
    assert expected in hovers[name] if expected else hovers[name] == ""


def test_messages_in_chinese(tmp_path: Path) -> None:
    async def body(found: Editor) -> None:
        found.open("a.cu", SOURCE)
        assert "保持原样" in (await found.diagnostics("a.cu"))[0].message
        assert "将 cudaFree 改为 musaFree" in await found.actions("a.cu", 0, 20)
        assert "佐证" in await found.hover("a.cu", 0, 20)

    run(body, tmp_path, "--lang", "zh")


def test_settings_of_the_folder(tmp_path: Path) -> None:
    tree = write(tmp_path, {
        "musify.toml": 'lang = "zh"\nrules = ["own.toml"]\nignore = ["MUS117"]\nexclude = ["third/"]\n',
        "own.toml": '[rename]\ncudaNope = "musaNope"\n', "third/x.cu": SOURCE,
    })  # fmt: skip

    async def body(found: Editor) -> None:
        found.open("a.cu", SOURCE)
        assert [item.message for item in await found.diagnostics("a.cu")] == [
            "cudaFree 变为 musaFree", "cudaNope 变为 musaNope",
        ]  # fmt: skip
        found.open("third/x.cu", SOURCE)
        assert await found.diagnostics("third/x.cu") == []
        write(tree, {"own.toml": '[rename]\ncudaNope = "musaOther"\n'})
        found.save("own.toml")
        while "cudaNope 变为 musaOther" not in [item.message for item in await found.diagnostics("a.cu")]:
            await found.something()

    run(body, tree)


def test_bad_settings_are_said_once_and_mended(tmp_path: Path) -> None:
    tree = write(tmp_path, {"musify.toml": 'colour = "blue"\n'})

    async def body(found: Editor) -> None:
        found.open("a.cu", SOURCE)
        assert await found.diagnostics("a.cu") == []
        found.type("a.cu", SOURCE + " ")
        assert await found.diagnostics("a.cu") == [] and await found.hover("a.cu", 0, 20) == ""
        assert len(found.messages) == 1 and "musify.toml:1: unknown setting 'colour'" in found.messages[0]
        write(tree, {"musify.toml": "\n"})
        found.save("musify.toml")
        while not await found.diagnostics("a.cu"):
            await found.something()

    run(body, tree)


BROKEN = {
    "nothing": "",
    "open brackets": "void f( { cudaFree(((\n",
    "open string": 'const char* s = "cudaFree\ncudaFree(',
    "open raw string": 'R"x(cudaFree',
    "open comment": "/* cudaFree",
    "half a directive": "#if defined(__CUDA_ARCH__) &&\n#",
    "a lone surrogate": "// \ud83d\ncudaFree(0);",
    "NUL": "cudaFree(\0);",
    "a byte order mark": "\ufeffcudaFree(0);",
    "line ends of all kinds": "cudaFree(0);\rcudaFree(0);\n\rcudaFree(0);\r\n\f\u2028",
    "deep": "(" * 3000 + "cudaFree",
}


def test_broken_text_ends_nothing(tmp_path: Path) -> None:
    async def body(found: Editor) -> None:
        found.open("a.cu", SOURCE)
        for text in BROKEN.values():
            found.type("a.cu", text)
            await found.diagnostics("a.cu")
            await found.actions("a.cu", 0, 3)
            await found.hover("a.cu", 0, 3)
        found.type("a.cu", SOURCE)
        assert codes(await found.diagnostics("a.cu")) == ["MUS101", "api-name"]
        assert found.messages == []

    run(body, tmp_path)


def test_other_languages(tmp_path: Path) -> None:
    tree = write(tmp_path / "in", {"CMakeLists.txt": "", "notes.md": ""})
    cmake = "cmake_minimum_required(VERSION 3.20)\nproject(x LANGUAGES CXX CUDA)\nadd_executable(x a.cu)\n"

    async def body(found: Editor) -> None:
        found.open("CMakeLists.txt", cmake, "cmake")
        (both,) = (await found.actions("CMakeLists.txt", only=[CONVERT])).values()
        write(tree, {"CMakeLists.txt": cmake})
        assert musify("convert", tree, "--keep-names", "-o", tmp_path / "out", "-q").code == 0
        assert applied(cmake, both) == (tmp_path / "out" / "CMakeLists.txt").read_text(encoding="utf-8") != cmake
        found.open("train.py", "import torch\nx = torch.zeros(1).cuda()\n", "python")
        hints = {item.message: item.range.start.line for item in await found.diagnostics("train.py")}
        assert hints["cuda becomes musa"] == 1
        found.open("notes.md", "cudaFree", "markdown")
        assert await found.diagnostics("notes.md") == []

    run(body, tree)


def test_texts_without_a_folder(tmp_path: Path) -> None:
    async def body(found: Editor) -> None:
        found.open("untitled:Untitled-1", SOURCE)
        assert codes(await found.diagnostics("untitled:Untitled-1")) == ["MUS101", "api-name"]
        lone = (tmp_path / "lone.cu").as_uri()
        found.open(lone, SOURCE)
        assert codes(await found.diagnostics(lone)) == ["MUS101", "api-name"]
        found.open("untitled:Untitled-2", "cudaFree", "plaintext")
        assert await found.diagnostics("untitled:Untitled-2") == []

    run(body, None)


def message(method: str, number: int | None = None, **parameters: object) -> bytes:
    asked = {"jsonrpc": "2.0", "method": method, **({"id": number} if number else {}), "params": parameters or None}
    body = json.dumps(asked).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


ASKED = message("initialize", 1, processId=None, rootUri=None, capabilities={})


def test_it_ends_as_the_protocol_says() -> None:
    done = musify("lsp", stdin=ASKED + message("initialized") + message("shutdown", 2) + message("exit"))
    assert done.code == 0 and "error" not in done.err


def test_it_ends_when_it_is_interrupted() -> None:
    command = [sys.executable, "-m", "musify", "lsp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(ASKED)
        server.stdin.flush()
        server.stdout.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == -signal.SIGINT


def test_without_pygls(tmp_path: Path) -> None:
    blocked = write(tmp_path, {"pygls.py": "raise ModuleNotFoundError('no', name='pygls')\n"})
    done = musify("lsp", PYTHONPATH=f"{blocked}:{Path(__file__).parent.parent}")
    assert done.code == 2 and done.err == "musify: musify lsp needs pygls: pip install 'cuda-musify[lsp]'\n"
