"""What an audit prints: text for people, plain data for JSON."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from musify.audit.sdk_names import SdkAudit
from musify.audit.unknown import CudaAudit, UnknownName
from musify.clang.parsing import Complaint

_SCHEMA_VERSION = 1


def cuda_text(audit: CudaAudit) -> Iterator[str]:
    """Lines: the unknown names by library and header, then the headers with faults, then the sums."""
    groups: dict[str, dict[str, list[UnknownName]]] = defaultdict(lambda: defaultdict(list))
    for item in audit.unknown:
        groups[item.library.name if item.library is not None else "no library that we know"][item.header].append(item)
    for library in sorted(groups):
        yield f"{library}: {sum(map(len, groups[library].values()))} unknown"
        for header in sorted(groups[library]):
            yield f"  {header}"
            for item in groups[library][header]:
                guess = f" -> {item.target}" if item.target != item.name else ""
                yield f"    {item.line}: {item.kind} {item.name}{guess}"
    yield from faults_text(audit.reading.faults)
    release = f"CUDA {audit.version}: " if audit.version else ""
    yield (
        f"{release}{len(audit.reading.headers)} headers read; of {audit.known + len(audit.unknown)} public names "
        f"{len(audit.unknown)} are on no list"
    )


def cuda_data(audit: CudaAudit) -> dict[str, Any]:
    """The audit as plain data."""
    return {
        "schema_version": _SCHEMA_VERSION,
        "cuda_version": audit.version,
        "headers": len(audit.reading.headers),
        "known": audit.known,
        "unknown": [
            {
                "name": item.name,
                "kind": item.kind,
                "library": item.library.id if item.library is not None else None,
                "header": item.header,
                "line": item.line,
                "target": item.target,
            }
            for item in audit.unknown
        ],
        "faults": faults_data(audit.reading.faults),
    }


def sdk_text(audit: SdkAudit) -> Iterator[str]:
    """Lines: what differs, what the rules got wrong, a table by library, then the headers with faults."""
    for item in audit.changed:
        difference = item.difference
        yield f"{difference.severity.value}: {item.name} -> {item.target} ({item.place}): {difference.why}"
    for name, place in audit.contradicted.items():
        yield f"there after all: {name} counts as unsupported, but {place} declares {audit.rules[name].target.decode()}"
    columns = (audit.seen, audit.absent, [item.name for item in audit.changed], audit.undecided)
    counts = [Counter(audit.rules[name].library.name for name in names) for names in columns]
    libraries = sorted(set().union(*counts))
    width = max([len("library"), *map(len, libraries)])
    yield f"{'library':{width}}" + "".join(f"{title:>9}" for title in ("seen", "absent", "differs", "unclear"))
    for library in libraries:
        yield (f"{library:{width}}" + "".join(f"{count[library] or '':>9}" for count in counts)).rstrip()
    yield f"{'all':{width}}" + "".join(f"{sum(count.values()):>9}" for count in counts)
    yield from faults_text(audit.reading.faults)
    sdk = f"MUSA SDK {audit.sdk.version}".strip()
    yield (
        f"{sdk} in {audit.sdk.root}: {len(audit.reading.headers)} headers read; "
        f"{len(audit.own)} of its names are no name of CUDA's on our lists"
    )


def sdk_data(audit: SdkAudit) -> dict[str, Any]:
    """The audit as plain data."""
    return {
        "schema_version": _SCHEMA_VERSION,
        "sdk_version": audit.sdk.version,
        "headers": len(audit.reading.headers),
        "seen": list(audit.seen),
        "absent": [{"name": name, "why": item.why, "why_zh": item.why_zh} for name, item in audit.absent.items()],
        "changed": [
            {
                "name": item.name,
                "target": item.target,
                "place": item.place,
                "why": item.difference.why,
                "why_zh": item.difference.why_zh,
                "severity": item.difference.severity.value,
            }
            for item in audit.changed
        ],
        "undecided": [{"name": name, "place": place} for name, place in audit.undecided.items()],
        "contradicted": [{"name": name, "place": place} for name, place in audit.contradicted.items()],
        "own": list(audit.own),
        "faults": faults_data(audit.reading.faults),
    }


def faults_text(faults: Sequence[Complaint]) -> Iterator[str]:
    """One line a file: its first fault, and how many follow."""
    more = Counter(item.path for item in faults)
    seen: set[str] = set()
    for item in faults:
        if item.path not in seen:
            seen.add(item.path)
            rest = f" (and {more[item.path] - 1} more)" if more[item.path] > 1 else ""
            place = f"{item.path}:{item.line}" if item.line else item.path
            yield f"not fully understood: {place}: {item.message}{rest}"


def faults_data(faults: Sequence[Complaint]) -> list[dict[str, Any]]:
    """The faults as plain data."""
    return [{"path": item.path, "line": item.line, "message": item.message} for item in faults]
