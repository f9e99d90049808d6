"""#include lines: toolkit headers by exact path, renamed files of the project, and what is left."""

from __future__ import annotations

import re
from collections.abc import Iterator

from musify.languages.cuda.names import doubts, is_left_unattested, kept_finding
from musify.languages.cuda.unit import Unit
from musify.languages.cuda.way_back import looks_like_musa
from musify.model import Applicability, Edit, Evidence, Finding, Span
from musify.rules.model import Action, NameRule
from musify.source.outline import Directive

HEADER = "toolkit-header"
MERGED_HEADER = "toolkit-header-merged"
RENAMED_FILE = "renamed-file"
_PATH = re.compile(rb'[ \t]*(?:<([^>\n]*)>|"([^"\n]*)")')
_MENTION = re.compile(rb'__has_include(?:_next)?[ \t]*\([ \t]*[<"]([^>"\n]+)[>"]')
_WHOLE_BODY = re.compile(rb'\s*[<"]([^>"\n]+)[>"]\s*\Z')
_LOOKS_LIKE_CUDA = re.compile(
    rb"(?:cuda|cublas|cufft|curand|cusparse|cusolver|cudnn|cudss|cupti|nccl|nvrtc|nvml|nvtx|nvToolsExt|npp|nvjpeg|cutensor|"
    rb"cufile|nvcuvid|cuvid|nvEncodeAPI|nvfunctional|fatbinary|optix)[^/]*\Z|(?:.*/)?(?:cuda|crt|cub|nvtx3)/|THC/|"
    rb"(?:ATen|c10|c10d|torch)/.*(?:CUDA|Cuda|NCCL)"
)
_IN_CUDA = re.compile(rb"/(?:cuda|musa)/|\A(?:cub|crt)/")


class IncludeConverter:
    """Works through the #include lines of one unit."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._seen: dict[bytes, list[tuple[bytes, frozenset[int]]]] = {}
        reverse = unit.settings.reverse
        self._suffixes = (b".muh", b".mu") if reverse else (b".cuh", b".cu")
        self._lookalike = looks_like_musa(unit.book) if reverse else _LOOKS_LIKE_CUDA
        # Folders of libraries' headers, which are no files of the project's.
        self._of_libraries = tuple(
            text for library in unit.book.libraries for text in library.needs if text.endswith(b"/")
        )

    def run(self) -> Iterator[Edit | Finding]:
        """Edits and findings for every line that names a header."""
        for directive in self._unit.outline.directives:
            if directive.keyword in (b"include", b"include_next", b"import"):
                match = _PATH.match(self._unit.data, directive.body, directive.end)
                if match:
                    group = 1 if match.group(1) is not None else 2
                    span = Span(*match.span(group))
                    yield from self._include(directive, span, match.group(group), quoted=group == 2)
            elif directive.keyword in (b"if", b"elif"):
                for match in _MENTION.finditer(self._unit.data, directive.start, directive.end):
                    yield from self._header(Span(*match.span(1)), match.group(1))
            elif directive.keyword == b"define":
                match = _WHOLE_BODY.match(self._unit.data, directive.body, directive.end)
                if match:
                    yield from self._header(Span(*match.span(1)), match.group(1))

    def _include(self, directive: Directive, span: Span, path: bytes, *, quoted: bool) -> Iterator[Edit | Finding]:
        own = self._unit.surroundings.includes.get(path) if quoted or self._unit.book.header(path) is None else None
        if own is not None:
            new = _follow(path, own.path, own.new_path)
            if new != path:
                yield Edit(span, new, RENAMED_FILE)
            return
        rule = self._unit.book.header(path)
        if rule is not None:
            yield from self._toolkit_header(directive, span, rule)
        elif path.endswith(self._suffixes) and not path.startswith((b"cub/", *self._of_libraries)):
            yield Finding("MUS115", span, path.decode("utf-8", "replace"))
        elif self._lookalike.match(path) and (
            not quoted or _IN_CUDA.search(path) or path.startswith(self._of_libraries)
        ):
            yield Finding("MUS114", span, path.decode("utf-8", "replace"))

    def _toolkit_header(self, directive: Directive, span: Span, rule: NameRule) -> Iterator[Edit | Finding]:
        branches = frozenset(
            branch.directive.start for branch in self._unit.conditionals.branches_around(directive.start)
        )
        earlier = self._seen.setdefault(rule.target, [])
        merged = any(name != rule.name and around <= branches for name, around in earlier)
        earlier.append((rule.name, branches))
        if merged and rule.action is Action.RENAME:
            arguments = {"target": rule.target.decode()}
            yield Edit(self._line(directive), b"", MERGED_HEADER, name=rule.name.decode(), library=rule.library.id,
                       evidence=rule.evidence.value)  # fmt: skip
            yield Finding("MUS111", span, rule.name.decode(), arguments)
        else:
            yield from self._header(span, rule.name)

    def _line(self, directive: Directive) -> Span:
        """The whole line where it holds nothing else, the directive alone where a comment follows it."""
        data = self._unit.data
        start = data.rfind(b"\n", 0, directive.start) + 1
        end = data.find(b"\n", directive.head_end)
        end = len(data) if end < 0 else end + 1
        if data[start : directive.start].strip() or data[directive.head_end : end].strip():
            return Span(directive.start, directive.head_end)
        return Span(start, end)

    def _header(self, span: Span, path: bytes) -> Iterator[Edit | Finding]:
        rule = self._unit.book.header(path)
        own = self._unit.surroundings.includes.get(path)
        if own is not None and rule is None:
            new = _follow(path, own.path, own.new_path)
            if new != path:
                yield Edit(span, new, RENAMED_FILE)
            return
        if rule is None:
            return
        name = path.decode("utf-8", "replace")
        if rule.action is Action.KEEP:
            yield kept_finding(rule.library, span, name)
        elif rule.action is Action.IDENTITY:
            yield from doubts(rule, span)
            if rule.evidence is Evidence.NONE and rule.absent is None:
                yield Finding("MUS110", span, name, {"library": rule.library.name})
        else:
            kept = is_left_unattested(rule, self._unit.settings)
            yield from doubts(rule, span, kept=kept)
            if not kept:
                attested = rule.evidence is not Evidence.NONE
                yield self._edit(span, rule, Applicability.SAFE if attested else Applicability.REVIEW)

    @staticmethod
    def _edit(span: Span, rule: NameRule, applicability: Applicability) -> Edit:
        return Edit(span, rule.target, HEADER, applicability, rule.name.decode(), rule.library.id, rule.evidence.value)


def _follow(path: bytes, old: str, new: str) -> bytes:
    """The path of an #include after the file it names went from `old` to `new`; only the base name changes."""
    base_old, base_new = old.rpartition("/")[2], new.rpartition("/")[2]
    if base_old == base_new or not path.endswith(base_old.encode("utf-8", "surrogateescape")):
        return path
    return path[: len(path) - len(base_old.encode("utf-8", "surrogateescape"))] + base_new.encode(
        "utf-8", "surrogateescape"
    )
