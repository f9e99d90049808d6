"""Where the shipped rules lie: inside the installed package, or beside it in a source checkout."""

from __future__ import annotations

from pathlib import Path

from musify.model import MusifyError


def rules_folder() -> Path:
    """The folder `rules` with api/, findings/ and device/. Raises MusifyError where it is missing."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_rules", package.parent / "rules"):
        if (folder / "api").is_dir():
            return folder
    raise MusifyError(f"{package}: the rules that belong to musify are missing; install the package again")
