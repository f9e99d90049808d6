"""Expressions that no template can hold: tables of lop3, selectors of prmt, the segments of a shuffle."""

from __future__ import annotations

from functools import lru_cache

# Forms that everybody knows, of the majority and the choice.
_FAMILIAR = {0xE8: "({a} & {b}) | ({a} & {c}) | ({b} & {c})", 0xCA: "({a} & {b}) | (~{a} & {c})"}


def boolean_expression(table: int) -> str:
    """The shortest expression of `{a}`, `{b}`, `{c}` whose truth table is `table`, as lop3 counts it."""
    return _FAMILIAR.get(table) or _expressions()[table]


@lru_cache(maxsize=1)
def _expressions() -> dict[int, str]:
    """For each of the 256 tables its shortest expression, found by combining shorter ones."""
    best: dict[int, tuple[int, str]] = {0xF0: (1, "{a}"), 0xCC: (1, "{b}"), 0xAA: (1, "{c}")}
    best |= {table ^ 0xFF: (2, f"~{text}") for table, (_, text) in best.items()}
    best |= {0x00: (1, "0u"), 0xFF: (1, "0xffffffffu")}
    cost = 2
    while len(best) < 256:
        cost += 1
        known = list(best.items())
        for left, (left_cost, left_text) in known:
            for right, (right_cost, right_text) in known:
                if left_cost + right_cost + 1 != cost or left in (0, 255) or right in (0, 255):
                    continue
                for table, sign in ((left ^ right, "^"), (left & right, "&"), (left | right, "|")):
                    if table not in best:
                        text = f"{_grouped(left_text, sign)} {sign} {_grouped(right_text, sign)}"
                        best[table] = (cost, text)
    return {table: text for table, (_, text) in best.items()}


def _grouped(text: str, sign: str) -> str:
    if " " not in text:
        return text
    depth = 0
    signs = set()
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0 and character in "&|^":
            signs.add(character)
    return text if signs <= {sign} else f"({text})"


def selected_bytes(selector: int) -> str:
    """prmt with a known selector, as shifts and masks of `{a}` and `{b}`; no byte may repeat a sign."""
    groups: dict[tuple[str, int], int] = {}
    for place in range(4):
        source = (selector >> (4 * place)) & 0x7
        word, byte = ("{a}", source) if source < 4 else ("{b}", source - 4)
        key = (word, 8 * (place - byte))
        groups[key] = groups.get(key, 0) | 0xFF << (8 * place)
    terms = []
    for (word, shift), mask in groups.items():
        moved = word if shift == 0 else f"({word} << {shift})" if shift > 0 else f"({word} >> {-shift})"
        survives = (0xFFFFFFFF << shift) & 0xFFFFFFFF if shift >= 0 else 0xFFFFFFFF >> -shift
        terms.append(moved if mask == survives else f"({moved} & {mask:#x}u)")
    return " | ".join(terms)


def segment_width(c: int, *, up: bool) -> int | None:
    """The width of a shuffle whose last operand is `c`; None where it stands for no width."""
    clamp, segment = c & 0x1F, (c >> 8) & 0x1F
    width = 32 - segment
    ordinary = clamp == (0 if up else 0x1F) and c & ~0x1F1F == 0
    return width if ordinary and width & (width - 1) == 0 else None


_SOURCES = {
    "up": "{lane} - {offset}",
    "down": "{lane} + {offset}",
    "bfly": "{lane} ^ {offset}",
    "idx": "({lane} & {segment}) | ({offset} & ~{segment})",
}


def source_lane(mode: str) -> str:
    """The lane that a shuffle reads from, before it is checked against the limit."""
    return _SOURCES[mode]


def inside_limit(mode: str) -> str:
    """Whether the source lane lies in the segment."""
    return "{from} >= {limit}" if mode == "up" else "{from} <= {limit}"
