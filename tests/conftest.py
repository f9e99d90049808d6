"""What the tests share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from musify.engine.document import UNKNOWN_NAMES, Conversion, convert_source
from musify.languages.semantics import Semantics
from musify.languages.surroundings import Settings, Surroundings
from musify.model import ARCHITECTURES, Target
from musify.rules import book
from musify.rules.book import RuleBook
from musify.source.document import Document


@dataclass
class Converted:
    """A conversion, with what tests look at."""

    conversion: Conversion

    @property
    def text(self) -> str:
        return self.conversion.new_data.decode("utf-8", "surrogateescape")

    @property
    def ids(self) -> list[str]:
        """Ids of the findings that hold, notes included."""
        declared = self.conversion.declared
        return [
            item.rule_id
            for item in self.conversion.findings
            if item.rule_id not in UNKNOWN_NAMES or item.name.encode() not in declared
        ]


Convert = Callable[..., Converted]


@pytest.fixture(scope="session")
def rules() -> RuleBook:
    return book.load()


@pytest.fixture(scope="session")
def convert(rules: RuleBook) -> Convert:
    """Convert source text as a file of its own."""

    def run(
        source: str | bytes,
        *,
        sdk: str = "5.2",
        architectures: tuple[str, ...] = ARCHITECTURES,
        surroundings: Surroundings | None = None,
        own: RuleBook | None = None,
        semantics: Semantics | None = None,
        **settings: object,
    ) -> Converted:
        data = source if isinstance(source, bytes) else source.encode()
        chosen = Settings(Target(architectures, sdk), **settings)  # type: ignore[arg-type]  # test tables mix types
        document = Document.from_bytes(data)
        around = surroundings or Surroundings("test.cu")
        return Converted(convert_source(document, own or rules, chosen, around, semantics))

    return run


@pytest.fixture
def own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of output folders go into a folder of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
