"""What a rule says once it is loaded."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from musify.model import Evidence, Target, version_number


class Policy(str, Enum):
    """What happens to the names of a library."""

    RENAME = "rename"
    KEEP = "keep"


class Library(NamedTuple):
    """A CUDA library and what MUSA has for it.

    `convention` are (CUDA prefix, MUSA prefix) pairs, the first that fits wins; `link` maps linker names
    (`cudart`) to MUSA's, empty where none is known; `lookalike` are prefixes of names that look like the library's.

    `inside` are (CUDA piece, MUSA piece) pairs that apply anywhere in a name. `owners`: names are members of these
    namespaces, so they are the library's behind one too. `owner_map`: qualified namespaces with MUSA's. `needs`: a name
    counts only in a file that holds one of these texts. `one_way`: names and headers that their library has no more:
    no name goes back to them.
    """

    id: str
    name: str
    target: str
    policy: Policy
    convention: tuple[tuple[bytes, bytes], ...] = ()
    link: tuple[tuple[bytes, bytes], ...] = ()
    lookalike: tuple[bytes, ...] = ()
    min_sdk: str = ""
    finding: str = ""
    instead: str = ""
    instead_zh: str = ""
    inside: tuple[tuple[bytes, bytes], ...] = ()
    owners: frozenset[bytes] = frozenset()
    owner_map: tuple[tuple[bytes, bytes], ...] = ()
    needs: tuple[bytes, ...] = ()
    one_way: frozenset[bytes] = frozenset()

    def by_convention(self, name: bytes) -> bytes:
        """What a name of the library is called in MUSA where nothing else is said of it."""
        for old, new in self.convention:
            if name.startswith(old):
                return new + name[len(old) :]
        for old, new in self.inside:
            name = name.replace(old, new)
        return name


class Action(str, Enum):
    """What the rules say of one name."""

    RENAME = "rename"
    IDENTITY = "identity"
    KEEP = "keep"
    UNSUPPORTED = "unsupported"


class Note(NamedTuple):
    """What is known to be wrong with a name, or why it has no counterpart. Empty gates hold everywhere.

    `severity` is empty where that of the finding's kind holds.
    """

    why: str
    why_zh: str
    source: str
    architectures: tuple[str, ...] = ()
    below_sdk: str = ""
    severity: str = ""

    def applies(self, target: Target) -> bool:
        """Whether the note concerns `target`."""
        if self.below_sdk and target.sdk_number >= version_number(self.below_sdk):
            return False
        return not self.architectures or any(arch in self.architectures for arch in target.architectures)


class NameRule(NamedTuple):
    """All that the rules say of one CUDA name or header.

    `absent` and `changed` come from an SDK's headers: they lack the target, or have it in another form than CUDA has.
    """

    name: bytes
    target: bytes
    library: Library
    kind: str
    evidence: Evidence
    since: str
    action: Action
    unsupported: Note | None = None
    known_issues: tuple[Note, ...] = ()
    absent: Note | None = None
    changed: tuple[Note, ...] = ()

    @property
    def matters(self) -> bool:
        """Whether the name is changed, kept with a finding, or has something known to be wrong with it."""
        if self.action is not Action.IDENTITY:
            return True
        return bool(self.known_issues or self.changed) or self.absent is not None


class ArchitectureTier(NamedTuple):
    """Thresholds of __CUDA_ARCH__ up to `upto` ask for what MUSA architecture `architecture` offers."""

    upto: int
    architecture: int
    reason: str
    reason_zh: str


class MusaArchitecture(NamedTuple):
    """A MUSA architecture: what __MUSA_ARCH__ is, the compute capability that the runtime reports, the cards."""

    name: str
    value: int
    major: int
    minor: int
    cards: str


class Prefix(NamedTuple):
    """What a pasted beginning of names becomes, and the library that most of those names belong to."""

    target: bytes
    library: Library
