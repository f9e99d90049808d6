"""Which language a file is in: by its name, and where that says nothing by how the file begins."""

from __future__ import annotations

import re

from musify.languages.cuda.source import SUFFIXES
from musify.languages.registry import RESTORED_SUFFIXES, Language

# A larger file of JSON is data, not a configuration.
LARGEST_JSON = 1_000_000
# How much of a file is read where its name says nothing.
HEAD_BYTES = 2048
# By name; the first that fits counts.
_NAMES = tuple(
    (re.compile(pattern), language)
    for pattern, language in (
        (r"CMakeLists(?:\..+)?\.txt|.+\.cmake", Language.CMAKE),
        (r".+\.ipynb", Language.NOTEBOOK),
        (r".+\.py|SConstruct|SConscript|wscript(?:_build)?", Language.PYTHON),
        (r"(?:GNU|BSD|g)?[Mm]akefile(?:[._-].+)?|[Mm]ake\.inc(?:\..+)?|.+\.(?:mk|mak|make)", Language.MAKE),
        (r"(?:BUILD|WORKSPACE|MODULE|REPO)(?:\.bazel|\.bzlmod)?|.+\.(?:bzl|BUILD|bxl)", Language.BAZEL),
        (r".+\.(?:BUILD|MODULE)\.bazel|(?:BUCK|TARGETS)(?:\.v2)?", Language.BAZEL),
        (r"meson\.build|meson_options\.txt|meson\.options", Language.MESON),
        (r"xmake\.lua", Language.XMAKE),
        (r".+\.(?:sh|bash|zsh|ksh|sbatch|slurm|pbs)|(?:PKG|APK)BUILD", Language.SHELL),
        (r"(?:.+\.)?(?:Dockerfile|Containerfile)(?:[._-].+)?|.+\.dockerfile", Language.DOCKERFILE),
        (r"(?:.*\.)?gitlab-ci\.ya?ml|\.(?:travis|cirrus|appveyor)\.ya?ml|appveyor\.ya?ml", Language.YAML),
        (r"(?:azure|bitbucket)-pipelines.*\.ya?ml|(?:docker-)?compose(?:[._-].+)?\.ya?ml", Language.YAML),
        (r"environment.*\.ya?ml|(?:meta|recipe|conda_build_config|spack|Taskfile)\.ya?ml", Language.YAML),
        (r"pyproject\.toml", Language.TOML),
        (r"setup\.cfg|MANIFEST\.in|Pipfile|tox\.ini", Language.PLAIN),
        (r"(?:requirements|constraints).*\.(?:txt|in)|conanfile\.txt|vcpkg\.json", Language.PLAIN),
        (r"compile_commands\.json", Language.COMPILE_COMMANDS),
        (r"compile_flags\.txt|\.clangd|CMake(?:User)?Presets\.json", Language.PLAIN),
        (r".*\.bazelrc(?:\..+)?", Language.BAZELRC),
        (r"configure\.(?:ac|in)|.+\.m4|Jenkinsfile(?:\..+)?", Language.PLAIN),
        (r"\.?[Jj]ustfile|.+\.just|Snakefile|.+\.smk|(?:Singularity|Apptainer)(?:\..+)?", Language.PLAIN),
        (r"build\.rs|Cargo\.toml|.+\.(?:bat|cmd|ps1|gypi?|gni?|ninja|nix|pc|spec|pr[oif])", Language.PLAIN),
        # Configurations; what a package manager has locked is none.
        (r".+\.ya?ml", Language.YAML),
        (r"(?!(?:package-lock|npm-shrinkwrap|composer)\.json).+\.json[c5]?", Language.JSON),
        (r".+\.toml", Language.TOML),
        (r"\.env(?:\..+)?|.+\.env|\.deepspeed_env", Language.SHELL),
        (r".+\.(?:ini|cfg|conf)", Language.PLAIN),
        (r".+\.(?:vcxproj(?:\.filters)?|props|targets|sln)", Language.PLAIN),
    )
)
# Most names fit none of them; one search finds that out.
_ANY_NAME = re.compile("|".join(f"(?:{pattern.pattern})" for pattern, _ in _NAMES))
# By folder, for names that say too little.
_FOLDERS = (
    (re.compile(r"(?:.*/)?\.(?:github/(?:workflows|actions)|circleci|buildkite)/.+\.ya?ml\Z"), Language.YAML),
    (re.compile(r"(?:.*/)?requirements/[^/]+\.(?:txt|in)\Z"), Language.PLAIN),
    (re.compile(r"(?:.*/)?xmake/.+\.lua\Z"), Language.XMAKE),
)
# A file that the build fills in is what its name says without these.
_TEMPLATE = re.compile(r"(.+)\.(?:in|tpl|tmpl|template|j2|jinja2?)\Z")
_PROSE = re.compile(r".+\.(?:md|rst|html?|pdf|png|svg|txt\.gz)\Z|(?:README|LICENSE|COPYING|NEWS|AUTHORS|NOTICE)")
_SHEBANG = re.compile(rb"#![^\n]*?\b(?:(ba|da|z|k)?sh|(python[\d.]*)|(make))\b")
# Words of a language that stand at the start of a line in nothing else that is likely to be met.
_CONTENT = tuple(
    (re.compile(pattern), language)
    for pattern, language in (
        (rb"(?mi)^[ \t]*(?:cmake_minimum_required|find_package|add_(?:library|executable))\s*\(", Language.CMAKE),
        (rb"\A(?:(?:#|ARG )[^\n]*\n|\s)*FROM[ \t]+\S[^\n]*\n(?:[^\n]*\n)*?(?:RUN|COPY|ENV)[ \t]", Language.DOCKERFILE),
        # A rule with a recipe, or a variable that uses another one.
        (rb"(?m)^[\w./%$(){}*@-]+[ \t]*::?(?![=:/])[^\n]*\n\t+[^\s#]", Language.MAKE),
        (rb"(?m)^[A-Z_]\w*[ \t]+[:+?]?=[^\n]*\$[({]\w+[)}]", Language.MAKE),
    )
)


def language_of(path: str, *, reverse: bool = False) -> Language | None:
    """The language of the file at `path` (forward slashes); None for files that are no business of ours.

    `reverse`: sources of MUSA's count too.
    """
    name = path.rpartition("/")[2]
    found = _build_language(name)
    stem, dot, suffix = name.rpartition(".")
    is_source = (dot + suffix).lower() in SUFFIXES or (reverse and dot + suffix in RESTORED_SUFFIXES)
    if stem and is_source and found is None:
        return Language.CUDA
    if found is None:
        found = next((language for pattern, language in _FOLDERS if pattern.match(path)), None)
    return found


def is_told_by_content(path: str) -> bool:
    """Whether the file at `path`, of which `language_of` knows nothing, may still be a build file."""
    name = path.rpartition("/")[2]
    template = _TEMPLATE.match(name)
    return "." not in (template.group(1) if template else name) and _PROSE.match(name) is None


def language_of_content(head: bytes) -> Language | None:
    """The language of a file without a telling name, by its first HEAD_BYTES."""
    match = _SHEBANG.match(head)
    if match is not None:
        if match.group(2):
            return Language.PYTHON
        return Language.MAKE if match.group(3) else Language.SHELL
    if b"\0" in head:
        return None
    return next((language for pattern, language in _CONTENT if pattern.search(head)), None)


def _build_language(name: str) -> Language | None:
    if _PROSE.match(name):
        return None
    found = None
    if _ANY_NAME.fullmatch(name):
        found = next(language for pattern, language in _NAMES if pattern.fullmatch(name))
    template = _TEMPLATE.match(name)
    if found is None and template is not None:
        return _build_language(template.group(1))
    return found
