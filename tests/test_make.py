"""Makefiles: what is read, what is left alone and why, what is changed. Whole files stand in fixtures/build/make."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from musify.engine.document import convert_build
from musify.languages.make import tokens
from musify.languages.make.reader import Kind, comments_of, read
from musify.languages.make.words import calls_in, references_in
from musify.languages.registry import Language
from musify.languages.surroundings import BuildSurroundings, IncludeTarget, Settings
from musify.model import Span, Target
from musify.project.makefiles import by_name, included_paths
from musify.rules import book
from musify.rules.book import RuleBook
from musify.source.document import Document
from tests.commands import contents, musify, write

RENAMED = {b"a.cu": [IncludeTarget("a.cu", "a.mu"), IncludeTarget("lib/a.cu", "lib/a.mu")]}


@cache
def rules() -> RuleBook:
    return book.load()


def make(text: str, *architectures: str, sdk: str = "5.2", keeps_names: bool = False) -> str:
    """A makefile converted, for one architecture unless others are named."""
    settings = Settings(target=Target(architectures or ("mp_31",), sdk))
    surroundings = BuildSurroundings("Makefile", {} if keeps_names else RENAMED, keeps_names=keeps_names)
    conversion = convert_build(Document(text.encode()), Language.MAKE, rules(), settings, surroundings)
    assert not any(finding.rule_id == "MUS902" for finding in conversion.findings)
    return conversion.new_data.decode()


STAYS = {
    "no-cuda": "CC = gcc\nCFLAGS = -G -t 4 -arch=x86_64\n",
    "comment": "# nvcc -arch=sm_80 $(CUDA_HOME)\nall: # nvcc -G\n",
    "comment-in-a-recipe": "all:\n\t@# nvcc -G a.cu\n\ttrue # nvcc -arch=sm_80\n",
    "text-for-people": "all:\n\t@echo nvcc -arch=sm_80 -lcudart\n$(info nvcc -G)\n$(error nvcc -lineinfo)\n",
    "flags-of-other-compilers": "CUDA = yes\nHIPFLAGS = -G --offload-arch=gfx90a -t 4\nall:\n\t$(HIPCC) $(HIPFLAGS) -c a.cpp\n",
    "architectures-of-a-sycl-compiler": "CUDA_ARCH = sm_70\nF = -fsycl --cuda-gpu-arch=$(CUDA_ARCH)\nall:\n\ticpx $(F) a.cpp\n",
    "libraries-of-a-sycl-compiler": "all:\n\ticpx -fsycl -fsycl-targets=nvptx64-nvidia-cuda a.o -lcudart\n",
    "own-names": "CUDA_SRCS = x.c\nmycuda: $(CUDA_SRCS) cuda/\n\tgcc -c $< -o $@ -lcudautils\n",
    "programs-of-the-project": "all:\n\t./nvcc_wrapper -arch=sm_80\n\t./run -arch sm_80 --gpu cuda\n",
    "file-that-is-not-of-the-run": "all: generated.cu\n\t./cuda generated.cu\n",
    "escaped-sign": "A = \\# nvcc\n",
    "unfinished": 'all: $(CUDA_X\n\tnvcc_x "a\ndefine nvcc_y\n',
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_stays(text: str) -> None:
    assert make(text) == text


CHANGES = {
    "compiler": ("CC = nvcc\n", "CC = mcc\n"),
    "compiler-by-path": ("NVCC ?= /opt/cuda/bin/nvcc\n", "NVCC ?= /opt/cuda/bin/mcc\n"),
    "compiler-behind-others": ("CXX = ccache nvcc -O3\n", "CXX = ccache mcc -O3\n"),
    "compiler-in-another-variable": ("NVCC = nvcc\nCC = $(NVCC) -G -c\n", "NVCC = mcc\nCC = $(NVCC) -c\n"),
    "used-before-it-is-set": ("F = -t 4 -O2\nall:\n\t$(C) -c $(F)\nC = nvcc\n", "F = -O2\nall:\n\t$(C) -c $(F)\nC = mcc\n"),
    "flags-of-flags": (
        "CC = nvcc\nA = -G -O2\nB = $(A)\nall:\n\t$(CC) $(B) -c x.c\n",
        "CC = mcc\nA = -O2\nB = $(A)\nall:\n\t$(CC) $(B) -c x.c\n",
    ),
    "implicit-rules": ("CC = nvcc\nCFLAGS = -t 4 -O2\nall: x.o\n", "CC = mcc\nCFLAGS = -O2\nall: x.o\n"),
    "flags-by-name": ("NVCCFLAGS += -G -O2\n", "NVCCFLAGS += -O2\n"),
    "flags-by-what-they-are": ("X = -gencode arch=compute_80,code=sm_80 -G\n", "X = --offload-arch=mp_31\n"),
    "for-one-target": ("all: NVCCFLAGS = -G -O2\n", "all: NVCCFLAGS = -O2\n"),
    "exported": ("export NVCC := nvcc\n", "export NVCC := mcc\n"),
    "comparison": ("CC = nvcc\nifeq ($(CC),nvcc)\nendif\n", "CC = mcc\nifeq ($(CC),mcc)\nendif\n"),
    "search": ("CC = nvcc\nX = $(findstring nvcc,$(CC))\n", "CC = mcc\nX = $(findstring mcc,$(CC))\n"),
    "look-up": ("X := $(shell which nvcc)\n", "X := $(shell which mcc)\n"),
    "assignment-by-the-shell": ("X != nvcc --version\n", "X != mcc --version\n"),
    "in-a-condition": ("CC = nvcc\nF = $(if $(G),-G -g,-O2)\nall:\n\t$(CC) -c $(F)\n", "CC = mcc\nF = $(if $(G),-g,-O2)\nall:\n\t$(CC) -c $(F)\n"),
    "host-flags": ("NVCCFLAGS = $(addprefix -Xcompiler ,$(A) -Wall)\n", "NVCCFLAGS = $(A) -Wall\n"),
    "architecture": ("A = sm_80\nF = -arch=$(A)\n", "A = mp_31\nF = --offload-arch=$(A)\n"),
    "number": ("SM = 80\nF = -arch=sm_$(SM)\n", "SM = 31\nF = --offload-arch=mp_$(SM)\n"),
    "loop": (
        "F = $(foreach s,70 80,-gencode arch=compute_$(s),code=sm_$(s))\n",
        "F = $(foreach s,31,--offload-arch=mp_$(s))\n",
    ),
    "loop-of-the-shell": (
        "all:\n\tfor s in 70 80; do nvcc -arch=sm_$$s -c a.c; done\n",
        "all:\n\tfor s in 31; do mcc --offload-arch=mp_$$s -c a.c; done\n",
    ),
    "added-one-by-one": (
        "F = -gencode arch=compute_70,code=sm_70\nF += -gencode arch=compute_80,code=sm_80\n",
        "F = --offload-arch=mp_31\nF +=\n",
    ),
    "added-in-branches": (
        "ifdef A\nF += -arch=sm_70\nelse\nF += -arch=sm_80\nendif\n",
        "ifdef A\nF += --offload-arch=mp_31\nelse\nF += --offload-arch=mp_31\nendif\n",
    ),
    "suffix-rule": (".cu.o:\n\t$(NVCC) -c $<\n", ".mu.o:\n\t$(NVCC) -c $<\n"),
    "objects-called-after-sources": ("O = $(S:%.cu=%.cu.o)\n", "O = $(S:%.mu=%.mu.o)\n"),
    "source": ("all: lib/a.cu ../x/lib/a.cu other/a.cu\n", "all: lib/a.mu ../x/lib/a.cu other/a.cu\n"),
    "suffix-in-a-variable": ("CUDA = 1\nEXT = cu\nO = $(wildcard *.$(EXT))\n", "CUDA = 1\nEXT = mu\nO = $(wildcard *.$(EXT))\n"),
    "libraries": ("LIBS = -lcublas -lm\nall:\n\tg++ a.o $(LIBS)\n", "LIBS = -lmublas -lm\nall:\n\tg++ a.o $(LIBS)\n"),
    "folder-of-libraries": ("R = /usr/local/cuda\nL = -L$(R)/lib64\n", "R = /usr/local/musa\nL = -L$(R)/lib\n"),
    "link": ("all:\n\tnvcc a.o -o a\n", "all:\n\tmcc a.o -o a -lmusart\n"),
    "link-over-lines": ("all:\n\tnvcc \\\n\t a.o \\\n\t -o a\n", "all:\n\tmcc \\\n\t a.o \\\n\t -o a -lmusart\n"),
    "link-with-the-runtime": ("all:\n\tnvcc a.o -lcudart\n", "all:\n\tmcc a.o -lmusart\n"),
    "no-link": ("C = -c\nall:\n\tnvcc $(C) a.c\n\tnvcc --version\n", "C = -c\nall:\n\tmcc $(C) a.c\n\tmcc --version\n"),
    "canned-recipe": ("define X\n@nvcc -G -c a.c\nendef\n", "define X\n@mcc -c a.c\nendef\n"),
    "template": (
        "define X\n$(1).o: $(1).c\n\t$$(NVCC) -G -c $$<\nendef\n",
        "define X\n$(1).o: $(1).c\n\t$$(NVCC) -c $$<\nendef\n",
    ),
    "beside-a-target": ("all: ; nvcc -c a.c\n", "all: ; mcc -c a.c\n"),
    "line-ends-of-windows": ("F = -G \\\r\n  -O2\r\nall:\r\n\tnvcc -c a.c\r\n", "F = -G \\\r\n  -O2\r\nall:\r\n\tmcc -c a.c\r\n"),
    "arguments-of-make": ("all:\n\t$(MAKE) ARCH=sm_80 CC=nvcc\n", "all:\n\t$(MAKE) ARCH=mp_31 CC=mcc\n"),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), CHANGES.values(), ids=CHANGES)
def test_changes(before: str, after: str) -> None:
    assert make(before) == after
    assert make(after) == after


def test_several_architectures_in_a_variable_are_a_list() -> None:
    after = make("A = sm_80\nF = -arch=$(A)\n", "mp_22", "mp_31")
    assert after == "A = mp_22 mp_31\nF = $(addprefix --offload-arch=,$(A))\n"


def test_a_variable_that_is_part_of_a_path_holds_no_list() -> None:
    text = "A = sm_80\n{}/$(A)/x.o: x.c\n\tnvcc -arch=$(A) -c $<\n"
    assert make(text, "mp_22", "mp_31").startswith("A = sm_80\n")
    assert make(text, "mp_31").startswith("A = mp_31\n")


def test_sources_that_keep_their_name_are_told_apart() -> None:
    assert make("%.o: %.cu\n\tnvcc -c $< -o $@\n", keeps_names=True) == "%.o: %.cu\n\tmcc -c -x musa $< -o $@\n"
    assert make("x:\n\tnvcc a.cu b.o\n", keeps_names=True) == "x:\n\tmcc -x musa a.cu -x none b.o -lmusart\n"
    assert make("%.o: %.c\n\tnvcc -c $<\n", keeps_names=True) == "%.o: %.c\n\tmcc -c $<\n"


STATEMENTS = [
    ("A=b", [Kind.ASSIGNMENT]),
    ("A ::= b:c", [Kind.ASSIGNMENT]),
    ("a: b=c", [Kind.ASSIGNMENT]),
    ("a: b", [Kind.RULE]),
    ("a:: b ; c", [Kind.RULE, Kind.RECIPE]),
    ("$(A):%.o:%.c", [Kind.RULE]),
    ("\tA = b", [Kind.ASSIGNMENT]),
    ("a:\n\tA = b\nB = c\n\tC = d", [Kind.RULE, Kind.RECIPE, Kind.ASSIGNMENT, Kind.ASSIGNMENT]),
    ("a:\nifdef X\n\tb\nendif\n\tc", [Kind.RULE, Kind.CONDITION, Kind.RECIPE, Kind.CONDITION, Kind.RECIPE]),
    ("define A\ndefine B\nendef\nx=y\nendef\nC=d", [Kind.DEFINE, Kind.ASSIGNMENT]),
    ("-include a.mk", [Kind.INCLUDE]),
    ("$(eval $(call x,y))", [Kind.OTHER]),
    ("A = b \\\n# no comment", [Kind.ASSIGNMENT]),
    ("A = b \\", [Kind.ASSIGNMENT]),
    ("", []),
]


@pytest.mark.parametrize(("text", "kinds"), STATEMENTS, ids=[text for text, _ in STATEMENTS])
def test_statements(text: str, kinds: list[Kind]) -> None:
    assert [statement.kind for statement in read(text.encode()).statements] == kinds


def test_comments() -> None:
    data = b"A = b # one\n# two \\\n still two\nc: d # three\n\t@# four\n\te # five\n\tf '# no' $(shell # no)\n"
    assert [data[slice(*span)].split()[1] for span in comments_of(data)] == [b"one", b"two", b"three", b"four", b"five"]


def test_calls() -> None:
    data = b"$(if $(x),a,b) $(foreach s,$(X),$(s),y) $(subst a,b,c,d) ${word 1,$(Y)} $(NAME) $$(shell ls)"
    found = [
        (call.name, [data[slice(*part)] for part in call.arguments]) for call in calls_in(data, Span(0, len(data)))
    ]
    assert found == [
        (b"if", [b"$(x)", b"a", b"b"]),
        (b"foreach", [b"s", b"$(X)", b"$(s),y"]),
        (b"subst", [b"a", b"b", b"c,d"]),
        (b"word", [b"1", b"$(Y)"]),
        (b"shell", [b"ls"]),
    ]
    assert set(references_in(data)) == {b"x", b"s", b"X", b"Y", b"NAME"}


TEXTS = st.text(alphabet="ab=:#\\\n\t $(){}\"';,+?!%-.@<", max_size=60).map(str.encode)


@given(TEXTS)
def test_any_text_is_read(data: bytes) -> None:
    """Statements and comments lie inside the file, in order; tokens do not overlap and miss nothing but blanks."""
    makefile = read(data)
    assert all(0 <= item.body.start <= item.body.end <= len(data) for item in makefile.statements)
    position = 0
    for token in tokens(data):
        assert position <= token.start < token.end <= len(data)
        assert not data[position : token.start].strip()
        position = token.end
    assert not data[position:].strip()


@given(TEXTS)
def test_any_text_converts_once(data: bytes) -> None:
    text = b"CC = nvcc\nNVCCFLAGS = -arch=sm_80 " + data
    document = Document(text)
    conversion = convert_build(document, Language.MAKE, rules(), Settings(), BuildSurroundings())
    again = convert_build(Document(conversion.new_data), Language.MAKE, rules(), Settings(), BuildSurroundings())
    assert again.new_data == conversion.new_data


INCLUDES = [
    ("include rules.mk", {"app/rules.mk"}),
    ("-include ../top.mk missing.mk", {"top.mk"}),
    ("sinclude $(TOP)/lib/deep.mk", {"lib/deep.mk"}),
    ("include top.mk", {"top.mk"}),
    ("include $(wildcard *.d) $(X)", set()),
    ("  include $(dir $(lastword $(MAKEFILE_LIST)))deep.mk", {"lib/deep.mk"}),
    ("# include rules.mk\nincluded = rules.mk", set()),
    ("include twice.mk", set()),
]


@pytest.mark.parametrize(("text", "found"), INCLUDES, ids=[text for text, _ in INCLUDES])
def test_includes(text: str, found: set[str]) -> None:
    known = by_name(["app/Makefile", "app/rules.mk", "top.mk", "lib/deep.mk", "a/twice.mk", "b/twice.mk"])
    assert included_paths("app/Makefile", text.encode(), known) == found


def test_a_file_that_is_excluded_stays_though_it_is_included(tmp_path: Path) -> None:
    files = {"Makefile": "include local.inc\nall:\n\t$(CC) -G\n", "local.inc": "CC = nvcc\n"}
    before = write(tmp_path / "in", files)
    assert musify("convert", before, "-o", tmp_path / "out", "--exclude", "local.inc").code == 0
    assert contents(tmp_path / "out")["local.inc"] == b"CC = nvcc\n"
