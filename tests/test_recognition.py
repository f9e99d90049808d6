"""Which language a file is in: by its name, by its folder, and where both say nothing by how it begins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from musify.languages.recognition import is_told_by_content, language_of, language_of_content
from musify.languages.registry import Language
from tests.commands import musify, write

NO_BUILD_FILE = [
    pytest.param("README", id="prose without a suffix"),
    pytest.param("docs/Makefile.md", id="prose about a build file"),
    pytest.param("notes.txt", id="text"),
    pytest.param("bindings.pyx", id="a suffix that begins as another"),
    pytest.param("CMakeLists.txt.orig", id="a copy of a build file"),
    pytest.param("package-lock.json", id="what a package manager has locked"),
    pytest.param("data.jsonl", id="data"),
    pytest.param("include/config.h.in", id="a template of a header"),
    pytest.param("kernels/gemm.cu.jinja", id="a template of a source"),
    pytest.param("data/box.in", id="input of a program"),
    pytest.param("src/init.lua", id="Lua that is no build file"),
]
BY_NAME = [
    ("a/kernel.cu", Language.CUDA),
    ("a/list.inc", Language.CUDA),
    ("make.inc", Language.MAKE),
    ("make.inc.linux", Language.MAKE),
    ("Makefile.am", Language.MAKE),
    ("Makefile-gpu", Language.MAKE),
    ("rules.mk.in", Language.MAKE),
    ("gmakefile", Language.MAKE),
    ("CMakeLists.linux-cuda.txt", Language.CMAKE),
    ("cmake/Config.cmake.in", Language.CMAKE),
    ("CMakeLists.txt.in", Language.CMAKE),
    ("SConstruct", Language.PYTHON),
    ("lit.site.cfg.py.in", Language.PYTHON),
    ("BUILD", Language.BAZEL),
    ("third_party/cuda.BUILD", Language.BAZEL),
    ("gpus/build_defs.bzl.tpl", Language.BAZEL),
    ("BUCK", Language.BAZEL),
    ("meson.build", Language.MESON),
    ("xmake/cuda.lua", Language.XMAKE),
    ("job.sbatch", Language.SHELL),
    ("Dockerfile.j2", Language.DOCKERFILE),
    ("docker/Dockerfile-gpu", Language.DOCKERFILE),
    (".circleci/config.yml", Language.YAML),
    ("docker-compose.gpu.yaml", Language.YAML),
    ("a/.github/workflows/ci.yml", Language.YAML),
    ("MANIFEST.in", Language.PLAIN),
    ("requirements/cuda.txt", Language.PLAIN),
    ("configure.ac", Language.PLAIN),
    ("ci/gpu.bazelrc", Language.BAZELRC),
    ("CMakePresets.json", Language.PLAIN),
    ("Jenkinsfile", Language.PLAIN),
    ("x.vcxproj.filters", Language.PLAIN),
    ("libfoo.pc.in", Language.PLAIN),
    ("notes/a.ipynb", Language.NOTEBOOK),
    ("conf/train.yaml", Language.YAML),
    ("ds_config.json", Language.JSON),
    ("train_configs/llama.toml", Language.TOML),
    (".env.example", Language.SHELL),
    ("settings.ini", Language.PLAIN),
]
BY_CONTENT = [
    (b"#!/bin/sh\n", Language.SHELL),
    (b"#!/usr/bin/env python3\n", Language.PYTHON),
    (b"#!/usr/bin/make -f\n", Language.MAKE),
    (b"# Rules.\nall: a.o\n\t$(CC) -o a a.o\n", Language.MAKE),
    (b"NVCC = $(CUDA_HOME)/bin/nvcc\n", Language.MAKE),
    (b"# Copyright\nfind_package(CUDAToolkit)\n", Language.CMAKE),
    (b"ARG TAG\nFROM nvidia/cuda:${TAG}\nRUN make\n", Language.DOCKERFILE),
    (b"FROM the beginning, CUDA was fast.\nIt still is.\n", None),
    (b"Usage:\n\n\tnvcc a.cu\n", None),
    (b"CUDA_HOME=/usr/local/cuda\n", None),
    (b"#!/usr/bin/perl\n", None),
    (b"all: a.o\n\tcc\n\0", None),
    (b"", None),
]


@pytest.mark.parametrize("path", NO_BUILD_FILE)
def test_is_none(path: str) -> None:
    assert language_of(path) is None


@pytest.mark.parametrize(("path", "language"), BY_NAME)
def test_name(path: str, language: Language) -> None:
    assert language_of(path) is language


@pytest.mark.parametrize(("head", "language"), BY_CONTENT)
def test_content(head: bytes, language: Language | None) -> None:
    assert language_of_content(head) is language


def test_only_names_that_say_nothing_are_opened() -> None:
    assert [
        name for name in ("rules", "common.in", "a.dat", "config.h.in", "README", ".hidden") if is_told_by_content(name)
    ] == ["rules", "common.in"]


def test_a_file_told_by_its_content_is_converted(tmp_path: Path) -> None:
    write(tmp_path, {"conf/rules": "a.o: a.cu\n\tcc $(CUDA_HOME)/a\n", "a.cu": "", "README": "all: a.cu\n\tcc\n"})
    files = json.loads(musify("convert", tmp_path, "-q", "--report", "json").out.partition("\ndiff")[0])["files"]
    assert {Path(file["path"]).name: file["language"] for file in files} == {"a.cu": "cuda", "rules": "make"}
