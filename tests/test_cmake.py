"""CMake: what stays and why, what each construct becomes in each of the three forms, and what is said of the rest."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from musify.engine.document import convert_build
from musify.languages.cmake.survey import CMakeSurvey, survey, together
from musify.languages.registry import Language
from musify.languages.surroundings import BuildSurroundings, Settings
from musify.model import Target
from musify.rules.book import RuleBook
from musify.source.document import Document


class Result(NamedTuple):
    text: str
    ids: list[str]


def convert(
    rules: RuleBook,
    text: str,
    *,
    form: str = "findmusa",
    others: tuple[str, ...] = (),
    path: str = "CMakeLists.txt",
    unattested: str = "rename",
) -> Result:
    """Convert a file as part of a run with `others`."""
    run = together([survey(path, text.encode()), *(survey("other.cmake", other.encode()) for other in others)])
    settings = Settings(Target(("mp_31",), "5.2"), unattested, cmake=form)
    surroundings = BuildSurroundings(path, cmake=run if others else None)
    conversion = convert_build(Document(text.encode()), Language.CMAKE, rules, settings, surroundings)
    return Result(conversion.new_data.decode(), [finding.rule_id for finding in conversion.findings])


STAYS = {
    "comment": "# find_package(CUDA) and CUDA::cudart\n#[[ enable_language(CUDA) ]]\nset(A cuda_thing)\n",
    "bracket argument is not expanded": "set(A [[${CUDA_LIBRARIES} CUDA::cudart]])\n",
    "escaped reference": 'set(A "\\${CUDA_LIBRARIES}")\n',
    "variable of the project": "set(CUDA_SRCS a.c)\nset(MY_CUDA_LIBRARIES ${CUDA_SRCS})\n",
    "name within a longer one": "set(A ${MY_CUDA_FOUND} ${CUDA_FOUNDATION} NOTCUDA::cudart x::CUDA::cudart)\n",
    "function of the project": "function(cuda_add_library)\nendfunction()\ncuda_add_library(a a.c)\n",
    "target of the project": "add_library(cudart INTERFACE)\ntarget_link_libraries(a cudart)\n",
    "own macro": "add_definitions(-DUSE_CUDA -DCUDA_ENABLED=1)\n",
    "version of CUDA's scale": "if(CUDA_VERSION VERSION_LESS 11.0)\nendif()\n",
    "macro with a version": "add_definitions(-DCUDA_VERSION=11000)\n",
    "host flags": 'set(CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS} -lineinfo")\nset(A cuda_x)\n',
    "languages in a variable": "set(LANGS CXX CUDA)\nproject(a LANGUAGES ${LANGS})\n",
    "host target": "add_executable(a a.cpp)\nset(A cuda_x)\n",
    "imported library": "add_library(cuda_x SHARED IMPORTED)\nadd_library(y::cuda ALIAS cuda_x)\n",
    "package of another name": "find_package(CUDAExtras)\n",
    "target without a counterpart": "target_link_libraries(a PRIVATE CUDA::nvml)\n",
    "variable under a name put together": (
        "find_library(CUDA_${n}_LIBRARY ${n})\nset(A ${CUDA_cublas_LIBRARY})\nset(B ${CUDA_cufft_LIBRARY})\n"
    ),
    "code of Python's": 'execute_process(COMMAND ${PY_EXE} -c "from torch.utils.cpp_extension import CUDA_HOME")\n',
    "environment variable of no counterpart": "set(A $ENV{CUDACXX})\n",
}


@pytest.mark.parametrize("form", ["findmusa", "cxx", "language"])
@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS.keys())
def test_stays(rules: RuleBook, text: str, form: str) -> None:
    assert convert(rules, text, form=form).text == text


def test_nothing_left_is_silent(rules: RuleBook) -> None:
    for name, text in STAYS.items():
        words = text.replace("cuda_x", "").replace("cuda_thing", "")
        if name != "comment" and "cuda" in words.lower():
            assert convert(rules, text).ids, name


@pytest.mark.parametrize("path", ["cmake/FindCUDA.cmake", "x/FindCUDA/run_nvcc.cmake", "FindCUDAToolkit.cmake"])
def test_copies_of_modules_of_cmake_stay(rules: RuleBook, path: str) -> None:
    text = 'macro(CUDA_ADD_LIBRARY t)\nendmacro()\nset(CUDA_NVCC_FLAGS "" PATHS /usr/local/cuda)\n'
    assert convert(rules, text, path=path) == Result(text, ["MUS506"])
    assert not survey(path, text.encode()).parameters


# Under --cmake findmusa; for the architecture mp_31.
PATH = 'list(APPEND CMAKE_MODULE_PATH "$ENV{MUSA_HOME}/cmake" "/usr/local/musa/cmake")\n'
DEFAULT = "if(NOT DEFINED MUSA_ARCHITECTURES)\n  set(MUSA_ARCHITECTURES mp_31)\nendif()\n"
LOOP = """foreach(architecture IN LISTS MUSA_ARCHITECTURES)
  list(APPEND MUSA_MCC_FLAGS "--offload-arch=${architecture}")
endforeach()
"""
BLOCK = PATH + "find_package(MUSA REQUIRED)\n" + DEFAULT + LOOP
OPTIONAL = """if(WITH_CUDA)
  enable_language(CUDA)
endif()
file(GLOB S a.cpp a.cu)
"""
OPTIONAL_AFTER = OPTIONAL.replace("  enable_language(CUDA)\n", "".join(f"  {line}\n" for line in BLOCK.splitlines()))
CHANGES = {
    "CUDA alone becomes C++": ("project(a CUDA)\n", "project(a CXX)\n" + BLOCK),
    "CUDA beside C": ("project(a LANGUAGES C CUDA)\n", "project(a LANGUAGES C CXX)\n" + BLOCK),
    "CUDA beside C++": ("project(a LANGUAGES CUDA CXX VERSION 1)\n", "project(a LANGUAGES CXX VERSION 1)\n" + BLOCK),
    "enable_language": ("project(a)\nenable_language(CUDA)\n", "project(a)\n" + BLOCK),
    "enable_language without C++": (
        "project(a C)\nenable_language(CUDA)\n",
        "project(a C)\nenable_language(CXX)\n" + BLOCK,
    ),
    "asked for once": (
        "project(a CXX CUDA)\nenable_language(CUDA)\n",
        "project(a CXX)\n" + BLOCK.rstrip("\n") + "\n",
    ),
    "indented": (
        "if(X)\n  enable_language(CUDA)\nendif()\n",
        "if(X)\n" + "".join(f"  {line}\n" for line in BLOCK.splitlines()) + "endif()\n",
    ),
    "architectures settled later": (
        "project(a CXX CUDA)\nset(CMAKE_CUDA_ARCHITECTURES 70 80)\n",
        "project(a CXX)\n" + PATH + "find_package(MUSA REQUIRED)\nset(MUSA_ARCHITECTURES mp_31)\n" + LOOP,
    ),
    "architectures through a variable": (
        'set(ARCHS "sm_70;sm_80" CACHE STRING "GPUs")\nset(CMAKE_CUDA_ARCHITECTURES ${ARCHS})\n',
        'set(ARCHS "mp_31" CACHE STRING "GPUs")\nset(MUSA_ARCHITECTURES ${ARCHS})\n',
    ),
    "architectures added": ("list(APPEND CMAKE_CUDA_ARCHITECTURES 90a)\n", "set(MUSA_ARCHITECTURES mp_31)\n"),
    "loop over architectures": (
        'foreach(a ${CMAKE_CUDA_ARCHITECTURES})\n  list(APPEND NVCC_FLAGS "-gencode=arch=compute_${a},code=sm_${a}")\nendforeach()\n',
        'foreach(a ${MUSA_ARCHITECTURES})\n  list(APPEND NVCC_FLAGS "--offload-arch=${a}")\nendforeach()\n',
    ),
    "flags become a list": (
        'set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -O3 -Xcompiler=-Wall,-fPIC")\n',
        "list(APPEND MUSA_MCC_FLAGS -O3 -Wall -fPIC)\n",
    ),
    "flags of which none is left": ('set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -lineinfo")\nset(A 1)\n', "set(A 1)\n"),
    "comment behind what goes": ("enable_testing()\nset(CMAKE_CUDA_HOST_COMPILER g++) # x\n", None),
    "architectures once in a list": (
        "list(APPEND CUDA_NVCC_FLAGS -arch=sm_70)\nlist(APPEND CUDA_NVCC_FLAGS -arch=sm_80 -O3)\n",
        "list(APPEND MUSA_MCC_FLAGS --offload-arch=mp_31)\nlist(APPEND MUSA_MCC_FLAGS -O3)\n",
    ),
    "architectures in each branch": (
        "if(X)\n  set(CUDA_NVCC_FLAGS -arch=sm_70)\nelse()\n  set(CUDA_NVCC_FLAGS -arch=sm_80)\nendif()\n",
        "if(X)\n  set(MUSA_MCC_FLAGS --offload-arch=mp_31)\nelse()\n  set(MUSA_MCC_FLAGS --offload-arch=mp_31)\nendif()\n",
    ),
    "options of a target": (
        "add_library(a a.cu)\ntarget_compile_options(a PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-DX>)\n",
        "musa_add_library(a a.cu OPTIONS -DX)\n",
    ),
    "options of a mixed target hold for both": (
        "add_library(a a.cu b.cpp)\ntarget_compile_options(a PRIVATE -O3)\n",
        "musa_add_library(a a.cu b.cpp OPTIONS -O3)\ntarget_compile_options(a PRIVATE -O3)\n",
    ),
    "options of other languages": (
        "add_library(a a.cu b.cpp)\ntarget_compile_options(a PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O3>)\n",
        "musa_add_library(a a.cu b.cpp)\ntarget_compile_options(a PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O3>)\n",
    ),
    "options for users of a target": (
        "add_library(a a.cu)\ntarget_compile_options(a INTERFACE -O3)\n",
        "musa_add_library(a a.cu)\ntarget_compile_options(a INTERFACE -O3)\n",
    ),
    "standard of a target": (
        "add_library(a a.cu)\ntarget_compile_features(a PUBLIC cuda_std_14)\n",
        "musa_add_library(a a.cu OPTIONS -std=c++14)\n",
    ),
    "standard of C++ holds for CUDA": (
        "project(a CXX CUDA)\nset(CMAKE_CXX_STANDARD 20)\n",
        "project(a CXX)\n" + BLOCK + "set(CMAKE_CXX_STANDARD 20)\nlist(APPEND MUSA_MCC_FLAGS -std=c++20)\n",
    ),
    "properties one by one": (
        "set_target_properties(a PROPERTIES FOLDER x\n  CUDA_STANDARD_REQUIRED ON\n  PREFIX y)\n",
        "set_target_properties(a PROPERTIES FOLDER x\n  PREFIX y)\n",
    ),
    "property alone": ("set_property(TARGET a PROPERTY CUDA_ARCHITECTURES 80)\nset(A 1)\n", "set(A 1)\n"),
    "flags of a property": (
        "set_property(SOURCE a.cu PROPERTY COMPILE_FLAGS \"--use_fast_math\")\n",
        "set_property(SOURCE a.cu PROPERTY COMPILE_FLAGS \"-use_fast_math\")\n",
    ),
    "targets in expressions": ('link_libraries("$<LINK_ONLY:CUDA::cudart>")\n', 'link_libraries("$<LINK_ONLY:MUSA::musart>")\n'),
    "libraries by name": (
        "target_link_libraries(a PRIVATE cudart -lcublas -L/usr/local/cuda/lib64 cudalib)\n",
        "target_link_libraries(a PRIVATE musart -lmublas -L/usr/local/musa/lib cudalib)\n",
    ),
    "macro of CUDA's headers": (
        "target_compile_definitions(a PRIVATE __CUDA_NO_HALF_OPERATORS__ USE_CUDA)\n",
        "target_compile_definitions(a PRIVATE __MUSA_NO_HALF_OPERATORS__ USE_CUDA)\n",
    ),
    "a host source marked as CUDA": (
        "add_library(a b.cpp)\nset_source_files_properties(b.cpp PROPERTIES LANGUAGE CUDA)\n",
        "set_source_files_properties(b.cpp PROPERTIES MUSA_SOURCE_PROPERTY_FORMAT OBJ)\nmusa_add_library(a b.cpp)\n",
    ),
    "case of commands": ("CUDA_ADD_LIBRARY(a a.cu)\n", "MUSA_ADD_LIBRARY(a a.cu)\n"),
    "condition on the compiler": (
        "if(CMAKE_CUDA_COMPILER AND DEFINED CMAKE_CUDA_COMPILER)\nendif()\n",
        "if(MUSA_FOUND AND DEFINED MUSA_MCC_EXECUTABLE)\nendif()\n",
    ),
    "condition on the path of a compiler": (
        "if(CMAKE_CUDA_COMPILER MATCHES x OR a STREQUAL CMAKE_CUDA_COMPILER)\nendif()\n",
        "if(MUSA_MCC_EXECUTABLE MATCHES x OR a STREQUAL MUSA_MCC_EXECUTABLE)\nendif()\n",
    ),
    "condition on a command": (
        "if(COMMAND CUDA_ADD_LIBRARY AND TARGET cuda_add_library)\nendif()\n",
        "if(COMMAND MUSA_ADD_LIBRARY AND TARGET cuda_add_library)\nendif()\n",
    ),
    "target beside CUDA": (
        OPTIONAL + "add_library(a ${S})\n",
        OPTIONAL_AFTER + "if(MUSA_FOUND)\n  musa_add_library(a ${S})\nelse()\n  add_library(a ${S})\nendif()\n",
    ),
    "target of device sources alone beside CUDA": (
        OPTIONAL + "add_library(a a.cu)\n",
        OPTIONAL_AFTER + "musa_add_library(a a.cu)\n",
    ),
    "target under the same condition": (
        OPTIONAL + "if(WITH_CUDA)\n  add_library(a ${S})\nendif()\n",
        OPTIONAL_AFTER + "if(WITH_CUDA)\n  musa_add_library(a ${S})\nendif()\n",
    ),
    "kinds of architectures": (
        'list(TRANSFORM CMAKE_CUDA_ARCHITECTURES APPEND "-real")\nset(A 1)\n',
        "set(A 1)\n",
    ),
    "loop over other architectures of that name": (
        'foreach(a ${A})\n  set(NVCC_FLAGS ${NVCC_FLAGS} "-gencode=arch=compute_${a},code=sm_${a}")\nendforeach()\n',
        'foreach(a ${A})\n  set(NVCC_FLAGS ${NVCC_FLAGS} "--offload-arch=mp_${a}")\nendforeach()\n',
    ),
    "architectures in a variable of any name": (
        'set(OPTION "-gencode;arch=compute_80,code=sm_80")\n',
        'set(OPTION "--offload-arch=mp_31")\n',
    ),
    "a standard among flags": (
        'project(a CXX CUDA)\nset(CMAKE_CXX_STANDARD 17)\nset(CMAKE_CUDA_FLAGS "--std=c++17")\n',
        "project(a CXX)\n" + BLOCK + "set(CMAKE_CXX_STANDARD 17)\nlist(APPEND MUSA_MCC_FLAGS --std=c++17)\n",
    ),
    "a list that becomes a string of flags": (
        'string(REPLACE ";" " " CMAKE_CUDA_FLAGS "${NVCC_LIST}")\n',
        "list(APPEND MUSA_MCC_FLAGS ${NVCC_LIST})\n",
    ),
    "a string of flags that becomes a list": (
        'separate_arguments(NVCC_LIST UNIX_COMMAND "${CMAKE_CUDA_FLAGS}")\nseparate_arguments(CMAKE_CUDA_FLAGS)\n',
        "set(NVCC_LIST ${MUSA_MCC_FLAGS})\n",
    ),
    "flags of which only none was set": (
        "set(CMAKE_CUDA_FLAGS -lineinfo)\nset(NVCC_FLAGS -lineinfo)\n",
        "set(NVCC_FLAGS)\n",
    ),
    "property of which no flag is left": (
        'set_source_files_properties(a.cu PROPERTIES COMPILE_FLAGS "-lineinfo" FOLDER x)\n',
        "set_source_files_properties(a.cu PROPERTIES FOLDER x)\n",
    ),
    "expression of which no flag is left": (
        "if(X)\n  target_compile_options(a PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo> -O3)\nendif()\n",
        "if(X)\n  target_compile_options(a PRIVATE -O3)\nendif()\n",
    ),
    "version in a variable": (
        "find_package(CUDAToolkit ${MY_VERSION} EXACT REQUIRED)\n",
        PATH + "find_package(MUSAToolkit REQUIRED)\n",
    ),
    "further words in a variable": (
        "find_package(CUDAToolkit ${MY_ARGUMENTS})\n",
        PATH + "find_package(MUSAToolkit ${MY_ARGUMENTS})\n",
    ),
    "compiler in the toolkit's folder": (
        'set(A "${CUDAToolkit_BIN_DIR}/nvcc")\nfind_path(B NAMES nvcc HINTS x)\n',
        'set(A "${MUSAToolkit_BIN_DIR}/mcc")\nfind_path(B NAMES mcc HINTS x)\n',
    ),
    "command line": (
        'add_custom_command(OUTPUT o COMMAND nvcc -arch sm_80 -Xcompiler "-a -b" x.c COMMENT "nvcc")\n',
        'add_custom_command(OUTPUT o COMMAND mcc --offload-arch=mp_31 -a -b x.c -lmusart COMMENT "nvcc")\n',
    ),
    "command line without a program": (
        "execute_process(COMMAND nvcc --version)\nadd_custom_target(a COMMAND nvcc -fatbin ${S})\n",
        "execute_process(COMMAND mcc --version)\nadd_custom_target(a COMMAND mcc -fatbin ${S})\n",
    ),
    "line ends": ("project(a CUDA)\r\n", ("project(a CXX)\n" + BLOCK).replace("\n", "\r\n")),
    "no end of line": ("project(a CUDA)", ("project(a CXX)\n" + BLOCK).rstrip("\n")),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), CHANGES.values(), ids=CHANGES.keys())
def test_becomes(rules: RuleBook, before: str, after: str | None) -> None:
    expected = before if after is None else after
    assert convert(rules, before).text == expected
    assert convert(rules, expected).text == expected


FORMS = {
    "C++: standard": ("cxx", "set(CMAKE_CUDA_STANDARD 17)\n", "set(CMAKE_CXX_STANDARD 17)\n"),
    "C++: feature": ("cxx", "target_compile_features(a PUBLIC cuda_std_17)\n", "target_compile_features(a PUBLIC cxx_std_17)\n"),
    "C++: property": (
        "cxx",
        "set_target_properties(a PROPERTIES CUDA_STANDARD 17)\n",
        "set_target_properties(a PROPERTIES CXX_STANDARD 17)\n",
    ),
    "C++: sources": (
        "cxx",
        "add_library(a a.cu b.cpp)\ntarget_link_libraries(a b)\n",
        'set_source_files_properties(a.cu PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "${MUSA_COMPILE_OPTIONS}")\n'
        "add_library(a a.cu b.cpp)\ntarget_link_libraries(a MUSA::musart)\ntarget_link_libraries(a b)\n",
    ),
    "C++: options of host sources": (
        "cxx",
        "add_library(a a.cu b.cpp)\ntarget_link_libraries(a PUBLIC MUSA::musart)\n"
        "target_compile_options(a PRIVATE -O3 $<$<COMPILE_LANGUAGE:CXX>:-Wall>)\n",
        'set_source_files_properties(a.cu PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "${MUSA_COMPILE_OPTIONS}")\n'
        "add_library(a a.cu b.cpp)\ntarget_link_libraries(a PUBLIC MUSA::musart)\n"
        "target_compile_options(a PRIVATE -O3)\nset_property(SOURCE b.cpp APPEND PROPERTY COMPILE_OPTIONS -Wall)\n",
    ),
    "C++: a host source marked as CUDA": (
        "cxx",
        "add_library(a b.cpp)\ntarget_link_libraries(a MUSA::musart)\nset_source_files_properties(b.cpp PROPERTIES LANGUAGE CUDA)\n",
        "add_library(a b.cpp)\ntarget_link_libraries(a MUSA::musart)\n"
        'set_source_files_properties(b.cpp PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "${MUSA_COMPILE_OPTIONS}")\n',
    ),
    "C++: sources added later": (
        "cxx",
        "target_sources(a PRIVATE a.cu)\n",
        "set_source_files_properties(a.cu TARGET_DIRECTORY a PROPERTIES LANGUAGE CXX"
        ' COMPILE_OPTIONS "${MUSA_COMPILE_OPTIONS}")\ntarget_sources(a PRIVATE a.cu)\n',
    ),
    "C++: target beside CUDA": (
        "cxx",
        OPTIONAL + "add_library(a ${S})\n",
        OPTIONAL_AFTER.replace("  find_package(MUSA REQUIRED)\n", "  find_package(MUSAToolkit REQUIRED)\n"
            "  set(MUSA_COMPILE_OPTIONS -x musa -mtgpu)\n").replace("MCC_FLAGS", "COMPILE_OPTIONS")
        + "add_library(a ${S})\nif(MUSAToolkit_FOUND)\n  set(MUSA_SOURCES ${S})\n"
        '  list(FILTER MUSA_SOURCES INCLUDE REGEX "\\\\.(cu|mu)$")\n'
        "  set_source_files_properties(${MUSA_SOURCES} PROPERTIES LANGUAGE CXX"
        ' COMPILE_OPTIONS "${MUSA_COMPILE_OPTIONS}")\n'
        "  target_link_libraries(a PRIVATE MUSA::musart)\nendif()\n",
    ),
    "language: target beside CUDA": (
        "language",
        "file(GLOB S a.cpp a.cu)\nadd_library(a ${S})\n",
        "file(GLOB S a.cpp a.cu)\nadd_library(a ${S})\n",
    ),
    "C++: check_language": (
        "cxx",
        "check_language(CUDA)\nif(CMAKE_CUDA_COMPILER)\nendif()\n",
        PATH + "find_package(MUSAToolkit)\nif(MUSAToolkit_FOUND)\nendif()\n",
    ),
    "C++: FindCUDA is FindMUSA": ("cxx", "cuda_add_library(a a.cu)\n", "musa_add_library(a a.cu)\n"),
    "language: feature": (
        "language",
        "target_compile_features(a PUBLIC cxx_std_17 cuda_std_17)\n",
        'target_compile_features(a PUBLIC cxx_std_17)\n'
        'target_compile_options(a PRIVATE "$<$<COMPILE_LANGUAGE:MUSA>:-std=c++17>")\n',
    ),
    "language: expressions": (
        "language",
        "add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-lineinfo> $<$<COMPILE_LANGUAGE:C,CUDA>:-O3>)\n",
        "add_compile_options($<$<COMPILE_LANGUAGE:C,MUSA>:-O3>)\n",
    ),
    "language: variables": (
        "language",
        "check_language(CUDA)\nif(CMAKE_CUDA_COMPILER)\n  message(${CMAKE_CUDA_COMPILER_ID})\nendif()\n",
        "check_language(MUSA)\nif(CMAKE_MUSA_COMPILER)\n  message(${CMAKE_MUSA_COMPILER_ID})\nendif()\n",
    ),
    "language: flags keep the architectures": (
        "language",
        'enable_language(CUDA)\nset(CMAKE_CUDA_FLAGS "-O3")\n',
        "enable_language(MUSA)\n" + (DEFAULT + LOOP).replace("MUSA_ARCH", "CMAKE_MUSA_ARCH").replace(
            'list(APPEND MUSA_MCC_FLAGS "--', 'string(APPEND CMAKE_MUSA_FLAGS " --'
        ) + 'set(CMAKE_MUSA_FLAGS "${CMAKE_MUSA_FLAGS} -O3")\n',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("form", "before", "after"), FORMS.values(), ids=FORMS.keys())
def test_other_forms(rules: RuleBook, form: str, before: str, after: str) -> None:
    assert convert(rules, before, form=form).text == after
    assert convert(rules, after, form=form).text == after


SAID = {
    "version of a package": ("find_package(CUDAToolkit 11.8)\n", "MUS511"),
    "comparison": ("if(${CUDAToolkit_VERSION} VERSION_LESS 12)\nendif()\n", "MUS511"),
    "target": ("target_link_libraries(a CUDA::cupti)\n", "MUS512"),
    "package": ("find_package(cuDNN)\n", "MUS512"),
    "library": ("find_library(A nvToolsExt)\n", "MUS525"),
    "variable of CMake's": ("set(A ${CMAKE_CUDA_COMPILER_ID})\n", "MUS510"),
    "expression of CMake's": ("add_compile_options($<$<CUDA_COMPILER_ID:NVIDIA>:-x>)\n", "MUS510"),
    "by the pattern": ("set(A ${CUDA_cufft_LIBRARY})\n", "MUS513"),
    "flags under a condition": (
        "add_library(a a.cu)\nif(X)\n  target_compile_options(a PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-g>)\nendif()\n",
        "MUS514",
    ),
    "language in a variable": ("target_compile_options(a PRIVATE $<$<COMPILE_LANGUAGE:${CUDA_LANG}>:-g>)\n", "MUS514"),
    "object library": ("add_library(a OBJECT a.cu)\n", "MUS515"),
    "sources added later": ("target_sources(a PRIVATE a.cu)\n", "MUS515"),
    "flags set below the target": ("add_library(a a.cu)\nset(CMAKE_CUDA_FLAGS -g)\n", "MUS514"),
    "architectures": ("set(CMAKE_CUDA_ARCHITECTURES native)\n", "MUS516"),
    "comparison of an architecture": (
        "foreach(a ${CMAKE_CUDA_ARCHITECTURES})\n  if(a LESS 70)\n  endif()\nendforeach()\n",
        "MUS511",
    ),
    "search for an architecture": ('list(FILTER CMAKE_CUDA_ARCHITECTURES EXCLUDE REGEX "^70$")\n', "MUS511"),
    "architectures put together": ("set(CMAKE_CUDA_ARCHITECTURES ${A}-real)\n", "MUS511"),
    "text": ('message("needs CUDA")\n', "MUS518"),
    "property": ("set_target_properties(a PROPERTIES CUDA_SEPARABLE_COMPILATION ON)\n", "MUS519"),
    "not well formed": ("find_package(CUDA\n", "MUS505"),
}


@pytest.mark.parametrize(("text", "identifier"), SAID.values(), ids=SAID.keys())
def test_is_said(rules: RuleBook, text: str, identifier: str) -> None:
    assert identifier in convert(rules, text).ids


def test_flags_of_a_variable_without_a_counterpart(rules: RuleBook) -> None:
    result = convert(rules, 'set(CMAKE_CUDA_FLAGS_INIT "-use_fast_math -arch=sm_80")\n')
    assert result.text == 'set(CMAKE_CUDA_FLAGS_INIT "-use_fast_math --offload-arch=mp_31")\n'
    assert "MUS510" in result.ids and "MUS902" not in result.ids


def test_the_language_form_needs_files_that_teach_it(rules: RuleBook) -> None:
    text = "project(a CXX CUDA)\n"
    assert "MUS517" in convert(rules, text, form="language").ids
    run = together([survey("cmake/CMakeDetermineMUSACompiler.cmake", b""), survey("CMakeLists.txt", text.encode())])
    assert run.language_modules == {"cmake"}


def test_unattested_names_stay_where_the_user_wants_it(rules: RuleBook) -> None:
    text = "set(A ${CUDA_cufft_LIBRARY})\ntarget_link_libraries(a PRIVATE CUDA::curand CUDA::cublas)\n"
    after = "set(A ${CUDA_cufft_LIBRARY})\ntarget_link_libraries(a PRIVATE CUDA::curand MUSA::mublas)\n"
    assert convert(rules, text, unattested="keep").text == after


def test_commands_say_what_sources_are_that_keep_their_name(rules: RuleBook) -> None:
    text = "set(S b.cu)\nadd_custom_command(OUTPUT a COMMAND nvcc -c ${S} DEPENDS b.cu)\n"
    settings = Settings(Target(("mp_31",), "5.2"))
    conversion = convert_build(
        Document(text.encode()), Language.CMAKE, rules, settings, BuildSurroundings("CMakeLists.txt", keeps_names=True)
    )
    assert conversion.new_data.decode() == text.replace("nvcc -c", "mcc -c -x musa")


ELSEWHERE = {
    "variable set elsewhere": ("add_library(a ${S})\n", "set(S a.cu CACHE INTERNAL x)\n", "musa_add_library(a ${S})\n"),
    "variable of the file wins": ("set(S a.c)\nadd_library(a ${S})\n", "set(S a.cu)\n", "set(S a.c)\nadd_library(a ${S})\n"),
    "function called elsewhere": (
        "function(f n)\n  add_library(${n} ${ARGN})\nendfunction()\n",
        "f(a a.cu)\n",
        "function(f n)\n  musa_add_library(${n} ${ARGN})\nendfunction()\n",
    ),
    "through another function": (
        "function(f n)\n  add_library(${n} ${ARGN})\nendfunction()\n",
        "function(g)\n  f(${ARGV})\nendfunction()\ng(a a.cu)\n",
        "function(f n)\n  musa_add_library(${n} ${ARGN})\nendfunction()\n",
    ),
    "linked elsewhere": (
        "add_library(a a.cu)\n",
        "target_link_libraries(a PUBLIC m)\n",
        "set(MUSA_LINK_LIBRARIES_KEYWORD PRIVATE)\nmusa_add_library(a a.cu)\n",
    ),
    "asked for elsewhere, under a condition": (
        "add_library(a a.cpp b.cu)\n",
        "if(X)\n  enable_language(CUDA)\nendif()\n",
        "if(MUSA_FOUND)\n  musa_add_library(a a.cpp b.cu)\nelse()\n  add_library(a a.cpp b.cu)\nendif()\n",
    ),
    "asked for elsewhere, in any case": (
        "add_library(a a.cpp b.cu)\n",
        "enable_language(CUDA)\n",
        "musa_add_library(a a.cpp b.cu)\n",
    ),
    "loop over architectures of another file": (
        'foreach(a ${A})\n  list(APPEND CUDA_NVCC_FLAGS "-gencode=arch=compute_${a},code=sm_${a}")\nendforeach()\n',
        "foreach(a ${CMAKE_CUDA_ARCHITECTURES})\nendforeach()\n",
        'foreach(a ${A})\n  list(APPEND MUSA_MCC_FLAGS "--offload-arch=mp_${a}")\nendforeach()\n',
    ),
    "standard set elsewhere": (
        "add_library(a a.cu)\ntarget_compile_features(a PUBLIC cuda_std_14)\n",
        "set(CMAKE_CUDA_STANDARD 14)\n",
        "musa_add_library(a a.cu)\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "other", "after"), ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_other_files_are_heard(rules: RuleBook, text: str, other: str, after: str) -> None:
    mentions = "# cuda\nset(cuda_x 1)\n"
    assert convert(rules, mentions + text, others=(other,)).text == mentions + after


def test_surveys_add_up() -> None:
    one, two = survey("a", b"set(A a.cu)\nf(a.cu)\n"), survey("b", b"set(A b.c)\nf(b.c)\n")
    run = CMakeSurvey()
    run.add(one)
    run.add(two)
    assert run.variables[b"A"].device and run.variables[b"A"].host
    assert [call.content.device for call in run.calls[b"f"]] == [True, False]
