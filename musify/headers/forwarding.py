"""Headers with the names of CUDA's that lead to MUSA's: the sources keep their #include lines.

Under nvcc each leads on to the toolkit's header of its name, so the folder may stand in the include path of both.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from musify.headers.compatibility import Content, condition, evidence_text, include_guard
from musify.headers.made import MARK
from musify.model import MusifyError
from musify.rules.model import Action, NameRule


def forwarding_headers(content: Content, *, macro: str, header: Path, folder: Path) -> dict[str, bytes]:
    """The text of each forwarding header by its path below `folder`; each includes the compatibility `header`.

    Headers without counterpart get none, so that __has_include stays false for them. Raises MusifyError for a rule
    whose header lies outside the folder.
    """
    found = {}
    for rule in (include.rule for include in content.headers):
        path = PurePosixPath(rule.name.decode())
        if path.is_absolute() or ".." in path.parts:
            raise MusifyError(f"{path}: a forwarding header cannot lie outside its folder; see the rule of this header")
        back = os.path.relpath(os.path.abspath(header), os.path.join(os.path.abspath(folder), path.parent))
        found[str(path)] = _text(rule, macro, back.replace(os.sep, "/"))
    return found


def _text(rule: NameRule, macro: str, header: str) -> bytes:
    name, target = rule.name.decode(), rule.target.decode()
    guard = "FORWARDED_" + include_guard(name)
    if rule.action is Action.IDENTITY:
        taken = (
            f"#if defined(__has_include_next)\n#if __has_include_next(<{name}>)\n#include_next <{name}>\n#endif\n#endif"
        )
        note = "no counterpart is known: taken where the SDK has it"
    else:
        taken = f"#include <{target}>"
        note = evidence_text(rule)
    return f"""\
/* {name} for a source that nvcc and mcc compile. {MARK.decode()}. MUSIFY_EXCL_START */
#ifndef {guard}
#define {guard}
#if {condition(macro)}
{taken} /* {note} */
#include "{header}"
#else
#include_next <{name}>
#endif
#endif /* {guard} */
/* MUSIFY_EXCL_STOP */
""".encode()
