"""The flags of nvcc and what mcc takes instead: each flag in every spelling, in lists, in quotes, over lines."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from typing import NamedTuple

import pytest

from musify.languages.build.flag_table import all_rules
from musify.languages.build.flags import COMMAND_LINE, FlagForm, FlagWord, flag_edits
from musify.languages.build.unit import BuildUnit
from musify.languages.registry import Language, reader_of
from musify.languages.surroundings import BuildSurroundings, Settings
from musify.model import Finding, Span, Target
from musify.rules import book
from musify.rules.book import RuleBook
from musify.rules.findings import message
from musify.source import edits as applier

ALL = ("mp_21", "mp_22", "mp_31")
ONE = ("mp_31",)
SET = "--offload-arch=mp_21 --offload-arch=mp_22 --offload-arch=mp_31"
_WORD = re.compile(rb"""(?:"(?:\\.|[^"\\])*"|'[^']*'|\\[^\r\n]|[^\s"'\\,\[\]])+""")
_LISTED = re.compile(rb""""(?:[^"]*)"|'[^']*'""")


class Result(NamedTuple):
    text: str
    findings: list[Finding]

    @property
    def ids(self) -> list[str]:
        return [finding.rule_id for finding in self.findings]


@cache
def rules() -> RuleBook:
    return book.load()


def flags(
    text: str,
    *,
    sdk: str = "5.2",
    architectures: tuple[str, ...] = ONE,
    form: FlagForm = COMMAND_LINE,
    listed: bool = False,
) -> Result:
    """The flags in a text that is split at blanks like a command line, or (`listed`) holds quoted words."""
    data = text.encode()
    found = (_LISTED if listed else re.compile(_WORD.pattern.replace(rb",\[\]", rb""))).finditer(data)
    words = [FlagWord(Span(*match.span()), unquoted(match.group())) for match in found]
    settings = Settings(target=Target(architectures, sdk))
    unit = BuildUnit(data, reader_of(Language.PLAIN), rules(), settings, BuildSurroundings())
    results = list(flag_edits(unit, words, form))
    findings = [item for item in results if isinstance(item, Finding)]
    edits = [item for item in results if not isinstance(item, Finding)]
    return Result(applier.apply(data, edits).decode(), findings)


def unquoted(raw: bytes) -> bytes:
    return re.sub(rb"""["']|\\(.)""", rb"\1", raw)


STAYS = {
    "host-flags": "-Wall -fPIC -march=native -pthread -O3 -g -c -o a.o a.mu",
    "musa-flags": "-x musa -mtgpu --offload-arch=mp_22 -Od3 -mllvm -mtgpu-if-convert=1 -fgpu-rdc",
    "variables": "$(CFLAGS) ${FLAGS} @FLAGS@ $FLAGS",
    "output-named-like-a-flag": "-o -lineinfo",
    "value-of-a-host-flag": "-Xclang -fcuda-rdc",
    "architectures-of-other-compilers": "-arch x86_64 -arch arm64 -march=sm_80x",
    "own-library": "-lmycuda -lcudautils -lcublas_wrapper",
    "own-macro": "-DUSE_CUDA -DHAVE_CUBLAS=1 -DCUDA_CHECK(x)=x",
    "version-is-a-number-on-another-scale": "-DCUDA_VERSION=12000 -DCUDART_VERSION=12000 -D__CUDA_ARCH__=800",
    "words-that-begin-alike": "-Gdwarf -threads-off -use_fast_mathematics -lineinfos",
    "t-with-a-word": "-t tests",
    "one-linker-word": "-Xlinker -rpath -Xlinker /opt/lib",
    "Werror-alone": "-Werror -Wall",
    "one-standard": "-std=c++17",
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_stays(text: str) -> None:
    assert flags(text) == (text, [])


# Flags, what becomes of them, and the ids that are found.
TABLE = [
    # architectures
    ("-arch=sm_80", "--offload-arch=mp_31", ""),
    ("-arch sm_80", "--offload-arch=mp_31", ""),
    ("--gpu-architecture=sm_90a", "--offload-arch=mp_31", ""),
    ("--gpu-architecture sm_80 -c", "--offload-arch=mp_31 -c", ""),
    ("-arch=native", "--offload-arch=mp_31", ""),
    ("-arch=all-major", "--offload-arch=mp_31", ""),
    ("-arch=compute_80 -code=sm_80,sm_86", "--offload-arch=mp_31", ""),
    ("-arch=compute_80 -code=sm_80,compute_80", "--offload-arch=mp_31", "MUS521"),
    ("-gencode arch=compute_80,code=sm_80", "--offload-arch=mp_31", ""),
    ("-gencode=arch=compute_80,code=sm_80", "--offload-arch=mp_31", ""),
    ("--generate-code arch=compute_80,code=sm_80", "--offload-arch=mp_31", ""),
    ("--generate-code=arch=compute_80,code=sm_80", "--offload-arch=mp_31", ""),
    ("-gencode arch=compute_80,code=[sm_80,compute_80]", "--offload-arch=mp_31", "MUS521"),
    (r"-gencode arch=compute_80,code=\"sm_80,compute_80\"", "--offload-arch=mp_31", "MUS521"),
    ("-gencode 'arch=compute_80,code=sm_80' -O2", "--offload-arch=mp_31 -O2", ""),
    ('"-gencode arch=compute_80,code=sm_80"', '"-gencode arch=compute_80,code=sm_80"', ""),
    ("-gencode arch=compute_90a,code=compute_90a", "--offload-arch=mp_31", "MUS521"),
    ("-gencode arch=compute_70,code=sm_70 -O3 -gencode arch=compute_80,code=sm_80", "--offload-arch=mp_31 -O3", ""),
    ("-gencode arch=compute_70,code=lto_70", "--offload-arch=mp_31", ""),
    ("--cuda-gpu-arch=sm_60", "--offload-arch=mp_31", ""),
    ("--offload-arch=sm_60 --offload-arch=sm_70", "--offload-arch=mp_31", ""),
    ("-arch=$(ARCH)", "--offload-arch=$(ARCH)", "MUS524"),
    ("-arch=sm_${SM} -c", "--offload-arch=mp_${SM} -c", "MUS524"),
    ("-gencode arch=compute_$(SM),code=sm_$(SM)", "--offload-arch=mp_$(SM)", "MUS524"),
    ("-gencode arch=$(VIRTUAL),code=$(REAL)", "--offload-arch=$(REAL)", "MUS524"),
    ("-g -gencode arch=compute_$(SM),code=compute_$(SM)", "-g", "MUS521"),
    ("-gencode arch=compute_$(A),code=sm_$(A) -gencode arch=compute_80,code=compute_80", "--offload-arch=mp_$(A)", "MUS524 MUS521"),
    ("-arch=compute_$(SM) -c", "-arch=compute_$(SM) -c", "MUS524"),
    ("-arch=compute_$(A) -code=sm_$(B)", "--offload-arch=mp_$(B)", "MUS524"),
    ("-gencode $(GENCODE)", "-gencode $(GENCODE)", "MUS524"),
    # language
    ("-x cu", "-x musa", ""),
    ("-x=cu", "-x musa", ""),
    ("-xcuda", "-x musa", ""),
    ("-x c++ a.cpp", "-x c++ a.cpp", ""),
    ("-x=c++", "-x c++", ""),
    ("-std c++17", "-std=c++17", ""),
    ("--std=c++17", "--std=c++17", ""),
    ("--std c++17", "-std=c++17", ""),
    ("-std=c++14 -O3 -std=c++17", "-O3 -std=c++17", "MUS521"),
    ("-std=c++17 -Xcompiler -std=c++14", "-std=c++17", "MUS521"),
    ("-std=c++17 -Xcompiler=-std=c++14,-fPIC", "-std=c++17 -fPIC", "MUS521"),
    ("-Xcompiler -std=c++14", "-std=c++14", ""),
    ("--cuda-path=/opt/x", "--musa-path=/opt/x", ""),
    ("-O3 --expt-relaxed-constexpr -g", "-O3 -g", "MUS521"),
    ("--expt-extended-lambda --extended-lambda -g", "-g", "MUS521 MUS521"),
    ("-O3 -expt-relaxed-constexpr", "-O3", "MUS521"),
    ("--extended-lambda=true -c", "-c", "MUS521"),
    # optimisation, arithmetic
    ("--use_fast_math", "-use_fast_math", ""),
    ("-use_fast_math", "-use_fast_math", ""),
    ("-ftz=true", "-fmusa-flush-denormals-to-zero", ""),
    ("--ftz=false -c", "-c", "MUS521"),
    ("-prec-div=false -prec-sqrt=false -c", "-c", "MUS521 MUS521"),
    ("-fmad=false", "-ffp-contract=off", "MUS522"),
    ("--fmad=true", "-ffp-contract=fast", "MUS522"),
    ("--optimize 3", "-O3", ""),
    ("-O=2", "-O2", ""),
    ("-maxrregcount=32 -c", "-c", "MUS521"),
    ("--maxrregcount 32 -c", "-c", "MUS521"),
    ("-c -maxrregcount $(REGISTERS)", "-c", "MUS521"),
    ("-Xptxas -v -c", "-c", "MUS521"),
    ("-Xptxas=-v,-dlcm=ca -c", "-c", "MUS521"),
    ("--ptxas-options=-v -c", "-c", "MUS521"),
    ("--ptxas-options -O3 -c", "-c", "MUS521"),
    ("--resource-usage", "-resource-usage", ""),
    ("--restrict -c", "-c", "MUS521"),
    ("-dlto -c", "-c", "MUS521"),
    # debugging
    ("-g -G -lineinfo -c", "-g -c", "MUS521 MUS521"),
    ("--generate-line-info --device-debug -c", "-c", "MUS521 MUS521"),
    # separate compilation
    ("-rdc=true", "-rdc=true", ""),
    ("-rdc true", "-rdc=true", ""),
    ("--relocatable-device-code=true", "-rdc=true", ""),
    ("--relocatable-device-code=false -c", "-c", "MUS521"),
    ("-dc a.mu", "-dc a.mu", ""),
    ("--device-c a.mu", "-dc a.mu", ""),
    ("-dlink a.o b.o", "-dlink a.o b.o", ""),
    ("--device-link a.o", "-dlink a.o", ""),
    ("-dw a.mu", "-c a.mu", ""),
    # what comes out
    ("-ptx a.mu", "-ptx a.mu", "MUS523"),
    ("--ptx a.mu", "-ptx a.mu", "MUS522"),
    ("-fatbin a.mu", "-fatbin a.mu", "MUS523"),
    ("-cubin a.mu", "-cubin a.mu", "MUS520"),
    ("-odir build a.mu", "-odir build a.mu", "MUS520"),
    ("--run a.mu", "--run a.mu", "MUS520"),
    # host compiler, linker
    ("-Xcompiler -fPIC", "-fPIC", ""),
    ("-Xcompiler=-fPIC,-Wall", "-fPIC -Wall", ""),
    ("--compiler-options -fPIC", "-fPIC", ""),
    ("--compiler-options=-Wall", "-Wall", ""),
    ('-Xcompiler "-fPIC -Wall" -c', "-fPIC -Wall -c", ""),
    (r"-Xcompiler \"-fPIC\"", "-fPIC", ""),
    ('-Xcompiler "$(CXXFLAGS)" -c', "$(CXXFLAGS) -c", ""),
    ("-Xcompiler $(CXXFLAGS)", "$(CXXFLAGS)", ""),
    ("-Xcompiler -Wl,-rpath,/x", "-Wl,-rpath,/x", ""),
    ("-Xcompiler -DCUDA_API_PER_THREAD_DEFAULT_STREAM", "-DMUSA_API_PER_THREAD_DEFAULT_STREAM", ""),
    ("-Xcompiler /MD", "-Xcompiler /MD", "MUS526"),
    ("-O2 -Xcompiler", "-O2 -Xcompiler", "MUS526"),
    ("-Xlinker -rpath,/x", "-Wl,-rpath,/x", ""),
    ("-Xlinker=-rpath,$(LIB)", "-Wl,-rpath,$(LIB)", ""),
    ("--linker-options -rpath,/x", "-Wl,-rpath,/x", ""),
    ("-ccbin g++ -c", "-c", "MUS521"),
    ("-c -ccbin=$(CXX)", "-c", "MUS521"),
    ("--compiler-bindir ${CXX} -c", "-c", "MUS521"),
    ("-allow-unsupported-compiler -c", "-c", "MUS521"),
    ("-cudart=static", "-lmusart_static", "MUS522"),
    ("-cudart shared", "-lmusart", ""),
    ("--cudart none -c", "-c", "MUS521"),
    # files and messages
    ("--output-file a.o --compile", "-o a.o -c", ""),
    ("-o=a.o", "-o a.o", ""),
    ("--include-path=src -I=inc -I inc2 -Iinc3", "-Isrc -Iinc -I inc2 -Iinc3", ""),
    ("--library-path /x -L=y", "-L/x -Ly", ""),
    ("-m 64 --machine=64 -m64", "-m64 -m64 -m64", ""),
    ("-t 4 -c", "-c", "MUS521"),
    ("--threads=0 -t8 -t $(J) -c", "-c", "MUS521 MUS521 MUS521"),
    ("-Wno-deprecated-gpu-targets -c", "-c", "MUS521"),
    ("-Xcudafe --diag_suppress=177 -c", "-c", "MUS521"),
    ("-diag-suppress 20012,177 -c", "-c", "MUS521"),
    ("-Werror all-warnings -c", "-Werror -c", ""),
    ("-Werror=cross-execution-space-call -c", "-c", "MUS521"),
    ("--default-stream per-thread", "-DMUSA_API_PER_THREAD_DEFAULT_STREAM", "MUS522"),
    ("-default-stream=legacy -c", "-c", "MUS521"),
    ("--version", "--version", "MUS523"),
    ("-V", "--version", "MUS522"),
    ("--dryrun --keep -keep-dir tmp -c", "-### -save-temps -c", "MUS521"),
    ("-optf flags.txt", "@flags.txt", "MUS522"),
    # names that the rule book knows
    ("-lcudart -lcublas -lcuda -lm", "-lmusart -lmublas -lmusa -lm", ""),
    ("-l cublas", "-lmublas", ""),
    ("--library=cufft", "-lmufft", ""),
    ("-lcublas,cudart", "-lmublas -lmusart", ""),
    ("-lcudart_static -lcublas_static", "-lmusart_static -lmublas_static", ""),
    ("-lcudnn", "-lcudnn", "MUS525"),
    ("-lnvToolsExt -lcudart", "-lnvToolsExt -lmusart", "MUS525"),
    ("-l$(LIB)", "-l$(LIB)", ""),
    ("-D__CUDA_NO_HALF_OPERATORS__", "-D__MUSA_NO_HALF_OPERATORS__", ""),
    ("-U__CUDA_NO_HALF_CONVERSIONS__", "-U__MUSA_NO_HALF_CONVERSIONS__", ""),
    ("-D CUDA_API_PER_THREAD_DEFAULT_STREAM=1", "-DMUSA_API_PER_THREAD_DEFAULT_STREAM=1", ""),
    ("--define-macro X=1", "-DX=1", ""),
    ("-include cuda_runtime.h", "-include musa_runtime.h", ""),
    ("--pre-include config.h", "-include config.h", ""),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "ids"), TABLE, ids=[row[0] for row in TABLE])
def test_flag(before: str, after: str, ids: str) -> None:
    result = flags(before)
    assert (result.text, " ".join(result.ids)) == (after, ids)
    assert flags(after).text == after
    assert not any(re.search(r"(?<!\$)\{\w+\}", message(finding)) for finding in result.findings)


def test_a_set_of_architectures_is_replaced_as_a_set() -> None:
    before = "nvcc -gencode arch=compute_70,code=sm_70 -gencode arch=compute_80,code=sm_80 a.mu"
    assert flags(before, architectures=ALL) == (f"nvcc {SET} a.mu", [])
    assert flags(f"nvcc {SET} a.mu", architectures=ALL).text == f"nvcc {SET} a.mu"


def test_a_variable_holds_one_architecture_unless_the_language_can_repeat_a_flag() -> None:
    assert flags("-arch=$(ARCH)", architectures=ALL).text == "--offload-arch=$(ARCH)"
    make = FlagForm(each_architecture=b"$(addprefix {prefix},{variable})")
    assert flags("-arch=$(ARCH)", architectures=ALL, form=make).text == "$(addprefix --offload-arch=,$(ARCH))"
    assert flags("-arch=sm_$(SM)", architectures=ALL, form=make).text == "$(addprefix --offload-arch=mp_,$(SM))"
    assert "21 22 31" in message(flags("-arch=sm_$(SM)", architectures=ALL).findings[0])
    assert "mp_21 mp_22 mp_31" in message(flags("-arch=$(ARCH)", architectures=ALL).findings[0])


OLDER = [
    ("--use_fast_math", "-ffast-math", "MUS522"),
    ("-rdc=true", "-fgpu-rdc", "MUS522"),
    ("-dc a.mu", "-fgpu-rdc -c a.mu", "MUS522"),
]


@pytest.mark.parametrize(("before", "after", "ids"), OLDER, ids=[row[0] for row in OLDER])
@pytest.mark.parametrize("sdk", ["4.3", "5.1"])
def test_older_sdk(before: str, after: str, ids: str, sdk: str) -> None:
    result = flags(before, sdk=sdk)
    assert (result.text, " ".join(result.ids)) == (after, ids)


def test_continued_lines_go_with_the_flag_that_is_dropped() -> None:
    before = "nvcc -O3 \\\n    --expt-relaxed-constexpr \\\n    -lineinfo \\\n    -g"
    assert flags(before).text == "nvcc -O3 \\\n    -g"
    assert flags(before.replace("\n", "\r\n")).text == "nvcc -O3 \\\r\n    -g"


def test_comments_between_words_stay() -> None:
    before = "-O3\n  # why\n  -lineinfo\n  -g # debug\n  -G # more\n  -c"
    words = [FlagWord(Span(m.start(), m.end()), m.group()) for m in re.finditer(rb"-\w+", before.encode())]
    unit = BuildUnit(before.encode(), reader_of(Language.PLAIN), rules(), Settings(), BuildSurroundings())
    edits = [item for item in flag_edits(unit, words) if not isinstance(item, Finding)]
    assert applier.apply(unit.data, edits) == b"-O3\n  # why\n  -g # debug\n  # more\n  -c"


def test_only_dropped_flags_leave_nothing() -> None:
    assert flags("--expt-relaxed-constexpr -lineinfo").text == ""
    assert flags("X = -lineinfo").text == "X ="


LISTS = [
    ("['-O3', '-lineinfo', '-g']", "['-O3', '-g']"),
    ("['-lineinfo', '-O3']", "['-O3']"),
    ("['-lineinfo', '-G',]", "[]"),
    ('["-Xcompiler", "-fPIC,-Wall"]', '["-fPIC", "-Wall"]'),
    ("['-gencode', 'arch=compute_80,code=sm_80', '-O3']", "['--offload-arch=mp_31', '-O3']"),
    (
        '["-gencode=arch=compute_80,code=sm_80",\n "-gencode=arch=compute_90,code=sm_90",\n]',
        '["--offload-arch=mp_31",\n]',
    ),
    ("['-arch=sm_80', '-Xptxas', '-v']", "['--offload-arch=mp_31']"),
]


@pytest.mark.parametrize(("before", "after"), LISTS)
def test_lists_of_quoted_words(before: str, after: str) -> None:
    assert flags(before, form=FlagForm(b", ", quoted=True), listed=True).text == after


def test_quotes_stay_where_they_keep_a_word_together() -> None:
    assert flags('"--include-path=$(A B)" -c').text == '"-I$(A B)" -c'
    assert flags('"--include-path=${A}" -c').text == '"-I${A}" -c'
    assert flags("-Xcompiler '-Wl,-z,$(shell pwd)'").text == "'-Wl,-z,$(shell pwd)'"


def test_a_host_compiler_keeps_its_flags() -> None:
    before = "g++ -t 4 -G -arch=sm_80 -D__CUDA_NO_HALF_OPERATORS__ a.o -lcudart -lnvToolsExt"
    result = flags(before, form=FlagForm(host=True))
    assert result.text == before.replace("__CUDA", "__MUSA").replace("cudart", "musart")
    assert result.ids == ["MUS525"]


WITH_PATHS = [
    ("-isystem=/usr/local/cuda-12.4/include", "-isystem /usr/local/musa/include"),
    ("--include-path $(CUDA_HOME)/include", "-I$(MUSA_HOME)/include"),
    ("-Xcompiler -I/usr/local/cuda/include", "-I/usr/local/musa/include"),
    ("-Xlinker=-rpath,/usr/local/cuda/lib64", "-Wl,-rpath,/usr/local/musa/lib"),
    ("--library-path=${CUDA_PATH}/lib64/stubs", "-L${MUSA_PATH}/lib"),
    ("--cuda-path=/usr/local/cuda", "--musa-path=/usr/local/musa"),
]


@pytest.mark.parametrize(("before", "after"), WITH_PATHS)
def test_paths_in_words_that_are_written_anew(before: str, after: str) -> None:
    assert flags(before).text == after


def test_library_of_another_shape_says_what_there_is_instead() -> None:
    assert "muDNN" in message(flags("-lcudnn").findings[0])


def test_names_that_nobody_was_seen_to_write_can_stay() -> None:
    data = b"-D__CUDACC_RELAXED_CONSTEXPR__"
    words = [FlagWord(Span(0, len(data)), data)]
    for unattested, count in (("rename", 1), ("keep", 0)):
        settings = Settings(unattested=unattested)
        unit = BuildUnit(data, reader_of(Language.PLAIN), rules(), settings, BuildSurroundings())
        assert len(list(flag_edits(unit, words))) == count


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.spellings[0].decode())
def test_every_rule_is_whole(rule: object) -> None:
    from musify.languages.build.flag_table import FlagRule

    assert isinstance(rule, FlagRule)
    assert rule.takes in ("nothing", "value", "joined") and rule.source
    assert rule.action in ("drop", "none", "unwrap", "linker", "same") or rule.to or rule.values
    assert rule.why and rule.why_zh if rule.review or rule.action in ("drop", "none") else True
    assert rule.evidence or rule.action in ("none", "same")


def test_no_rule_is_hidden_by_an_earlier_one() -> None:
    open_ended: set[bytes] = set()
    for rule in all_rules():
        hidden = open_ended & set(rule.spellings)
        assert not hidden, hidden
        if rule.pattern is None and not rule.since_sdk:
            open_ended |= set(rule.spellings)


def test_every_option_of_nvcc_is_in_the_table() -> None:
    compiler = shutil.which("nvcc")
    if compiler is None:
        if os.environ.get("MUSIFY_REQUIRE_CUDA") == "1":
            pytest.fail("MUSIFY_REQUIRE_CUDA=1, but nvcc is not on PATH")
        pytest.skip("needs nvcc on PATH")
    text = subprocess.run([compiler, "--help"], capture_output=True, text=True, check=True).stdout
    options = re.findall(r"^(-\S+)[^(\n]*(?:\((-\S+)\))?", text, re.M)
    known = {spelling.decode() for rule in all_rules() for spelling in rule.spellings}
    missing = {name for pair in options for name in pair if name} - known
    # `-r` is a linker's own flag for the same, -Wl,... of the host compiler is no matter of nvcc's.
    assert missing <= {"-r"}


def test_an_empty_word_in_quotes() -> None:
    form = FlagForm(b", ", quoted=True)
    assert flags('"-Xcompiler", "", "-O2"', form=form, listed=True).text == '"-O2"'
