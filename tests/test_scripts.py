"""Shell scripts, Dockerfiles, YAML and compile_commands.json: what is left alone and why, and what is changed."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from musify.engine.document import Conversion, convert_build
from musify.languages.dockerfile import instructions_of
from musify.languages.registry import Language, reader_of
from musify.languages.shell.quoting import unquoted, words_of
from musify.languages.surroundings import BuildSurroundings, IncludeTarget, Settings
from musify.languages.yaml.structure import read
from musify.model import Span, Target
from musify.rules import book
from musify.rules.book import RuleBook
from musify.source.document import Document

RENAMED = {b"a.cu": [IncludeTarget("src/a.cu", "src/a.mu")]}
SHELL, DOCKER, YAML, COMMANDS = Language.SHELL, Language.DOCKERFILE, Language.YAML, Language.COMPILE_COMMANDS


@cache
def rules() -> RuleBook:
    return book.load()


def converted(language: Language, text: str, *architectures: str, sdk: str = "5.2") -> Conversion:
    settings = Settings(target=Target(architectures or ("mp_31",), sdk))
    conversion = convert_build(Document(text.encode()), language, rules(), settings, BuildSurroundings("x", RENAMED))
    assert not any(finding.rule_id == "MUS902" for finding in conversion.findings)
    return conversion


def ids(language: Language, text: str) -> list[str]:
    return [finding.rule_id for finding in converted(language, text).findings]


STAYS = {
    "comment": (SHELL, "# nvcc -G\nls # nvcc -arch=sm_80\n"),
    "text-for-people": (SHELL, "echo nvcc -arch=sm_80\nprintf 'nvcc -lcudart'\n"),
    "here-document": (SHELL, "cat <<E\nnvcc -arch=sm_80 -lcudart\n# nvcc\nE\n"),
    "program-of-the-project": (SHELL, "./my_nvcc -arch=sm_80\n./run --gpu=cuda -t 4 -G\n"),
    "other-program's-flags": (SHELL, "g++ -t 4 -G -arch sm_80 nvcc.o\n"),
    "package": (SHELL, "sudo apt-get install -y cuda-toolkit-12-1\npip3 install cupy-cuda12x\n"),
    "program-that-an-installer-runs": (SHELL, "uv run main.py $CUDA_FLAG\nconda activate cuda\n"),
    "own-variable": (SHELL, "MY_CUDA_FLAGS=1\nif [ -n \"$USE_CUDA\" ]; then :; fi\n"),
    "attribute-in-another-language": (SHELL, "python -c 'print(cpp_extension.CUDA_HOME)'\n"),
    "not-a-script": (SHELL, "nvcc_x() { (\n"),
    "image-of-unknown-tag": (DOCKER, "FROM nvidia/cuda:${V}-devel-ubuntu22.04\n"),
    "image-without-a-known-one-for-the-sdk": (DOCKER, "FROM nvidia/cuda:12.1.0-devel-ubuntu22.04\n"),
    "comment-between-lines": (DOCKER, "RUN true \\\n# nvcc -G\n  && true\n"),
    "label": (DOCKER, "LABEL about=\"uses nvcc -G\"\n"),
    "yaml-comment": (YAML, "a: b # nvcc -G\n# nvcc\n"),
    "yaml-name": (YAML, "name: nvcc -arch=sm_80\n"),
    "python-in-yaml": (YAML, "steps:\n  - shell: python\n    run: nvcc(-G)\n"),
    "powershell-in-yaml": (YAML, "jobs:\n  a:\n    runs-on: windows-latest\n    steps:\n      - run: nvcc -G -c a.c\n"),
    "escapes-in-yaml": (YAML, 'run: "nvcc -G -c \\"a.c\\""\n'),
    "action": (YAML, "- uses: Jimver/cuda-toolkit@v0.2.30\n"),
    "broken-json": (COMMANDS, '[{"command": "nvcc'),
    "json-of-another-shape": (COMMANDS, '{"nvcc": ["nvcc", "-G"], "files": ["nvcc"]}'),
}  # fmt: skip


@pytest.mark.parametrize(("language", "text"), STAYS.values(), ids=STAYS)
def test_stays(language: Language, text: str) -> None:
    assert converted(language, text).new_data.decode() == text


CHANGES = {
    "language-behind-the-sources": (SHELL, "nvcc -c a.cpp b.cc -x cu\n", "mcc -c -x musa a.cpp b.cc -x musa\n"),
    "language-before-the-sources": (SHELL, "nvcc -c -x cu a.cpp\n", "mcc -c -x musa a.cpp\n"),
    "another-language-behind-the-sources": (SHELL, "nvcc -c a.cpp -x c++\n", "mcc -c a.cpp -x c++\n"),
    "command": (SHELL, "nvcc -G -c a.c\n", "mcc -c a.c\n"),
    "behind-others": (SHELL, "time ccache nvcc -c a.c && sudo nvcc -c b.c\n", "time ccache mcc -c a.c && sudo mcc -c b.c\n"),
    "quoted-path": (SHELL, '"$CUDA_HOME/bin/nvcc" -c a.c\n', '"$MUSA_HOME/bin/mcc" -c a.c\n'),
    "default-of-a-variable": (SHELL, "NVCC=${NVCC:-/usr/local/cuda-12/bin/nvcc}\n", "NVCC=${NVCC:-/usr/local/musa/bin/mcc}\n"),
    "variable-as-a-program": (SHELL, "C=nvcc\n$C -t 4 -c a.c\n", "C=mcc\n$C -c a.c\n"),
    "flags-in-a-variable": (SHELL, 'F="-G -O2"\nnvcc $F -c a.c\n', 'F="-O2"\nmcc $F -c a.c\n'),
    "flags-in-an-array": (SHELL, 'F=(-O2 -G)\nnvcc "${F[@]}" -c a.c\n', 'F=(-O2)\nmcc "${F[@]}" -c a.c\n'),
    "substitution": (SHELL, 'v="$(nvcc --version)"\n', 'v="$(mcc --version)"\n'),
    "loop": (SHELL, "for s in 70 80; do nvcc -arch=sm_$s -c a.c; done\n", "for s in 31; do mcc --offload-arch=mp_$s -c a.c; done\n"),
    "redirection": (SHELL, "nvcc a.o -o a > log\n", "mcc a.o -o a -lmusart > log\n"),
    "toolkit-of-any-version": (SHELL, "export PATH=/usr/local/cuda-${V}/bin:$PATH\n", "export PATH=/usr/local/musa/bin:$PATH\n"),
    "variable-for-one-command": (SHELL, "CC=nvcc CUDA_VISIBLE_DEVICES=0 ./configure\n", "CC=mcc MUSA_VISIBLE_DEVICES=0 ./configure\n"),
    "source": (SHELL, "nvcc -c ../src/a.cu other/a.cu\n", "mcc -c ../src/a.mu other/a.cu\n"),
    "line-ends-of-windows": (SHELL, "nvcc \\\r\n  -G \\\r\n  -c a.c\r\n", "mcc \\\r\n  -c a.c\r\n"),
    "cmake": (SHELL, "cmake -DCMAKE_CUDA_ARCHITECTURES=80 .\n", "cmake -DMUSA_ARCHITECTURES=mp_31 .\n"),
    "environment": (DOCKER, "ENV CUDA_HOME=/usr/local/cuda NVCC_FLAGS=\"-G -O2\"\n", "ENV MUSA_HOME=/usr/local/musa NVCC_FLAGS=\"-O2\"\n"),
    "environment-of-old": (DOCKER, "ENV NVCC_FLAGS -G -O2\n", "ENV NVCC_FLAGS -O2\n"),
    "list-in-json": (DOCKER, 'RUN ["nvcc", "-G", "a.o"]\n', 'RUN ["mcc", "a.o", "-lmusart"]\n'),
    "options-of-docker": (DOCKER, "RUN --mount=type=cache,target=/x nvcc -G -c a.c\n", "RUN --mount=type=cache,target=/x mcc -c a.c\n"),
    "comment-in-a-command": (DOCKER, "RUN a \\\n# nvcc\n && nvcc -G -c a.c\n", "RUN a \\\n# nvcc\n && mcc -c a.c\n"),
    "here-document-as-a-command": (DOCKER, "RUN <<E\nnvcc -G -c a.c\nE\nRUN nvcc -c b.c\n", "RUN <<E\nmcc -c a.c\nE\nRUN mcc -c b.c\n"),
    "copied-source": (DOCKER, "COPY src/a.cu /\n# nvcc\n", "COPY src/a.mu /\n# nvcc\n"),
    "block": (YAML, "run: |\n  nvcc -G \\\n    -c a.c\n", "run: |\n  mcc \\\n    -c a.c\n"),
    "folded": (YAML, "run: >-\n  nvcc -G\n  -c a.c\n", "run: >-\n  mcc\n  -c a.c\n"),
    "quoted": (YAML, "run: 'nvcc -G -c a.c'\n", "run: 'mcc -c a.c'\n"),
    "list": (YAML, "script:\n  - nvcc -G -c a.c\n", "script:\n  - mcc -c a.c\n"),
    "variables": (YAML, "env:\n  NVCC_FLAGS: -G -O2\n", "env:\n  NVCC_FLAGS: -O2\n"),
    "expression": (YAML, "run: nvcc -G ${{ matrix.a }} -c\n", "run: mcc ${{ matrix.a }} -c\n"),
    "matrix": (
        YAML,
        "matrix:\n  a: ['70', '80']\nrun: nvcc -arch=sm_${{ matrix.a }} -c a.c\n",
        "matrix:\n  a: ['31']\nrun: mcc --offload-arch=mp_${{ matrix.a }} -c a.c\n",
    ),
    "shell-of-a-job-on-windows": (
        YAML,
        "runs-on: windows\nsteps:\n  - run: nvcc -G -c a.c\n    shell: bash\n",
        "runs-on: windows\nsteps:\n  - run: mcc -c a.c\n    shell: bash\n",
    ),
    "arguments": (COMMANDS, '[{"arguments": ["nvcc", "-G", "-c", "src/a.cu"]}]', '[{"arguments": ["mcc", "-c", "src/a.mu"]}]'),
    "command-line": (COMMANDS, '[{"command": "nvcc -G -DX=\\"a\\" -c a.c"}]', '[{"command": "mcc -DX=\\"a\\" -c a.c"}]'),
    "absolute-path": (COMMANDS, '[{"file": "/x/y/src/a.cu"}, {"file": "/x/src/b/a.cu"}]', '[{"file": "/x/y/src/a.mu"}, {"file": "/x/src/b/a.cu"}]'),
}  # fmt: skip


@pytest.mark.parametrize(("language", "before", "after"), CHANGES.values(), ids=CHANGES)
def test_changes(language: Language, before: str, after: str) -> None:
    assert converted(language, before).new_data.decode() == after
    assert converted(language, after).new_data.decode() == after


def test_a_list_gets_quotes_that_fit() -> None:
    several = ("mp_22", "mp_31")
    assert b'ARCH="mp_22 mp_31"' in converted(SHELL, "make ARCH=sm_80\n", *several).new_data
    assert b"ARCH='mp_22 mp_31'" in converted(YAML, 'run: "make ARCH=sm_80"\n', *several).new_data
    assert (
        b'F="-DMUSA_ARCHITECTURES=mp_22;mp_31"'
        in converted(SHELL, 'F="-DCMAKE_CUDA_ARCHITECTURES=80"\n', *several).new_data
    )


def test_known_image() -> None:
    text = "FROM nvidia/cuda:12.1.0-cudnn8-runtime-ubuntu22.04 AS a\n"
    assert converted(DOCKER, text, sdk="4.3").new_data == b"FROM mthreads/musa:rc4.3.0-runtime-ubuntu22.04-amd64 AS a\n"


FOUND = {
    "package": (SHELL, "apt-get install cuda-toolkit\n", "MUS533"),
    "action": (YAML, "- uses: Jimver/cuda-toolkit@v1\n", "MUS533"),
    "cards": (SHELL, "docker run --gpus all x/cuda\n", "MUS533"),
    "image": (SHELL, "docker run nvidia/cuda:12.1.0-base-ubuntu22.04\n", "MUS534"),
    "tool-with-arguments": (SHELL, "nvidia-smi -L\n", "MUS530"),
    "version-as-text": (SHELL, "nvcc --version | grep 12\n", "MUS523"),
    "tool-without-counterpart": (SHELL, "cuobjdump a.o\n/usr/local/cuda/bin/ptxas\n", "MUS503"),
    "variable-of-unknown-value": (SHELL, "nvcc -arch=$ARCH -c a.c\n", "MUS524"),
    "cmake-variable-of-unknown-value": (SHELL, "cmake -DCMAKE_CUDA_ARCHITECTURES=$A .\n", "MUS524"),
}


@pytest.mark.parametrize(("language", "text", "identifier"), FOUND.values(), ids=FOUND)
def test_found(language: Language, text: str, identifier: str) -> None:
    assert identifier in ids(language, text)


def test_a_loop_that_is_converted_is_a_note() -> None:
    found = converted(SHELL, "for s in 70; do nvcc -arch=sm_$s -c a.c; done\n").findings
    assert [str(finding.severity) for finding in found if finding.rule_id == "MUS524"] == ["Severity.NOTE"]


INSTRUCTIONS = [
    ("FROM a\nRUN b \\\n  c\nCMD d\n", ["FROM a", "RUN b \\\n  c", "CMD d"]),
    ("run a \\\n# x\n\\\n b\nFROM c", ["RUN a \\\n# x\n\\\n b", "FROM c"]),
    ("RUN <<A <<B\n1\nA\n2\nB\nFROM c\n", ["RUN <<A <<B\n1\nA\n2\nB", "FROM c"]),
    ("# escape=`\r\nRUN a `\r\n b\r\nCMD c:\\\r\nFROM d\r\n", ["RUN a `\r\n b", "CMD c:\\", "FROM d"]),
    ("ONBUILD RUN a\nHEALTHCHECK --interval=1s CMD b\nHEALTHCHECK NONE\n", ["RUN a", "CMD b", "HEALTHCHECK NONE"]),
    ("RUN a \\", ["RUN a \\"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), INSTRUCTIONS, ids=range(len(INSTRUCTIONS)))
def test_instructions(text: str, expected: list[str]) -> None:
    data = text.encode()
    found = [f"{item.keyword.decode()} {data[slice(*item.body)].decode()}" for item in instructions_of(data)[0]]
    assert found == expected


WORDS = [
    ("a 'b c' \"d $(e f)\" g\\ h $(i j)k don't", ["a", "b c", "d $(e f)", "g h", "$(i j)k", "don't"]),
    ('-DX=\\"a\\" \'"\' "\\"" \\\n b', ['-DX="a"', '"', '"', "b"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), WORDS, ids=range(len(WORDS)))
def test_words(text: str, expected: list[str]) -> None:
    data = text.encode()
    assert [word.text.decode() for word in words_of(data, Span(0, len(data)))] == expected


def test_paths_in_yaml() -> None:
    data = b"a:\n  b: {c: [d, 'e']}\n  f: |\n    g\nh: &x \"i\"\n"
    found = [(scalar.path, data[slice(*scalar.span)], scalar.style) for scalar in read(data).scalars]
    assert found == [
        ((b"a", b"b", b"c"), b"d", "plain"),
        ((b"a", b"b", b"c"), b"e", "single"),
        ((b"a", b"f"), b"    g", "literal"),
        ((b"h",), b"i", "double"),
    ]


TEXTS = st.text(alphabet="ab=:#\\\n\t ${}()[]\"',;&|<>-.@`!*", max_size=60).map(str.encode)


@pytest.mark.parametrize("language", [SHELL, DOCKER, YAML, COMMANDS])
@given(data=TEXTS)
def test_any_text_is_read(language: Language, data: bytes) -> None:
    """Tokens are in order and do not overlap, and the file converts without an error."""
    position = 0
    for token in reader_of(language).tokens(data):
        assert position <= token.start <= token.end <= len(data)
        position = token.end
    converted(language, "nvcc\n" + data.decode())


@given(data=TEXTS)
def test_any_text_is_unquoted(data: bytes) -> None:
    assert len(unquoted(data)) <= len(data)
