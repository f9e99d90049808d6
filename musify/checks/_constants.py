"""Integer constants of a source: macros, const and constexpr variables, enumerators, sizes of types, arithmetic."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache

from musify.checks._device_code import continues_a_word, device_code
from musify.checks._types import Types
from musify.languages.cuda.unit import Unit
from musify.model import Span
from musify.source.conditions import NotAnExpression, evaluate, parse
from musify.source.lexer import TokenKind, significant
from musify.source.outline import Directive

_INTEGER_TYPE = (
    rb"(?:(?:unsigned|signed|long|short|int|char|bool|size_t|std::size_t|auto|u?int\d+_t|uint|dim_t|index_t)\b\s*)+"
)
_CAST = re.compile(rb"\(\s*" + _INTEGER_TYPE + rb"\)")
_NAMED_CAST = re.compile(rb"\bstatic_cast\s*<[^<>]*>\s*(?=\()|\b(?:u?int\d*(?:_t)?|size_t|unsigned|long)\s*(?=\()")
_SIZEOF = re.compile(rb"\bsizeof\s*\(([^()]*)\)")
_ENUM = re.compile(rb"enum\b[^;{}()]*\{([^{}]*)\}")
_CONSTANT = re.compile(rb"const(?:expr)?\b[^;{}()=]*\s(\w+)\s*=(?!=)\s*([^;]+);")
_IS_DECLARED = re.compile(rb"\b(?:int|unsigned|long|size_t|auto|u?int\d+_t)\s+\Z")
_IS_CHANGED = re.compile(rb"(?:\+\+|--|(?:^|[(,=])\s*&)\s*\Z")
_IS_CHANGED_AFTER = re.compile(rb"\s*(?:(?:[-+*/|&]|<<|>>)=|\+\+|--)")
_ASSIGNED = re.compile(rb"\s*=(?!=)\s*([^;]+);")
_TEMPLATE = re.compile(rb"template\s*<([^<>]*)>")
_MAXIMUM_DEPTH = 12
_LONGEST = 400


class Constants:
    """Values of the names in one file, worked out when first asked for. A name with two values has none."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._code = device_code(unit)
        self._known: dict[bytes, int | None] = {}
        self._values: dict[bytes, int | None] = {}
        self.types = Types(self._code.text, self.value, lambda name: self._macros(name) or self._included(name))

    def value(self, expression: bytes) -> int | None:
        """The value of an integer expression; None where it is not constant or cannot be told from this file."""
        if expression not in self._values:
            plain = expression.isdigit() and not expression.startswith(b"0")
            self._values[expression] = int(expression) if plain else self._value(expression, 0)
        return self._values[expression]

    def value_at(self, place: Span) -> int | None:
        """The value of the integer expression at `place`: the compiler's where it was asked and knows, else `value`."""
        semantics = self._unit.semantics
        value = semantics.value(place) if semantics is not None else None
        return self.value(self._code.with_macros[place.start : place.end]) if value is None else value

    def sizes(self, declaration: bytes, place: int) -> Iterator[tuple[bytes, int | None]]:
        """Names and bytes of what `type a, b[4]` declares, which stands at the offset `place`.

        The text may differ from the source's, yet not in where the names stand.
        """
        semantics = self._unit.semantics
        for name, layout in self.types.declared(declaration):
            size = None if layout is None else layout.size
            declarator = re.search(rb"\b%s\b(?=\s*(?:[\[,]|\Z))" % re.escape(name), declaration) if name else None
            if semantics is not None and declarator is not None:
                start, end = declarator.span()
                known = semantics.size(Span(place + start, place + end))
                size = size if known is None else known
            yield name, size

    def settled(self, place: Span) -> int | None:
        """The value of the expression at `place`, also through a local variable that gets one value and no other."""
        value, expression = self.value_at(place), self._code.with_macros[place.start : place.end]
        if value is not None or not re.fullmatch(rb"\s*[A-Za-z_]\w*\s*", expression):
            return value
        given: list[bytes] = []
        for match in re.finditer(re.escape(expression.strip()) + rb"\b", self._code.text):
            before, after = self._code.text[max(0, match.start() - 40) : match.start()], match.end()
            if _IS_CHANGED.search(before) or _IS_CHANGED_AFTER.match(self._code.text, after):
                return None
            assigned = _ASSIGNED.match(self._code.text, after)
            if assigned is not None and not before[-1:].isalnum() and before[-1:] != b"_":
                if not _IS_DECLARED.search(before):
                    return None
                given.append(assigned.group(1))
        return self.value(given[0]) if len(given) == 1 else None

    def _value(self, expression: bytes, depth: int) -> int | None:
        if depth > _MAXIMUM_DEPTH or len(expression) > _LONGEST:
            return None
        numeric = self._in_numbers(expression, depth)
        if numeric is None:
            return None
        try:
            return evaluate(parse(numeric, significant(numeric)), {})
        except (NotAnExpression, RecursionError, KeyError):
            return None

    def _in_numbers(self, expression: bytes, depth: int) -> bytes | None:
        """The expression with every name replaced by its value."""
        expression = _CAST.sub(b"", _NAMED_CAST.sub(b"", _SIZEOF.sub(self._size, expression)))
        pieces: list[bytes] = []
        for token in significant(expression):
            text = expression[token.start : token.end]
            if token.kind is TokenKind.IDENTIFIER:
                number = self._named(text, depth + 1)
                if number is None:
                    return None
                text = b"(%d)" % number
            pieces.append(text)
        return b" ".join(pieces)

    def _size(self, match: re.Match[bytes]) -> bytes:
        size = self.types.size(match.group(1))
        return b"unknown_size" if size is None else b"%d" % size

    def _named(self, name: bytes, depth: int) -> int | None:
        if name not in self._known:
            self._known[name] = None  # a name that is defined by itself has no value
            self._known[name] = self._looked_up(name, depth)
        return self._known[name]

    def _looked_up(self, name: bytes, depth: int) -> int | None:
        definitions = self._definitions(name)
        values = {self._value(text, depth) for text in definitions}
        return values.pop() if len(values) == 1 else None

    def _definitions(self, name: bytes) -> list[bytes]:
        found = self._macros(name)
        text = self._code.text
        if name + b" =" in text or name + b"=" in text:
            found += self._variables.get(name, [])
        return found or self._enumerators.get(name) or self._included(name)

    def _macros(self, name: bytes) -> list[bytes]:
        """What a macro without parameters stands for, once for every place that defines it."""
        code = self._code
        return [
            code.with_macros[item.body : item.end].replace(b"\\\n", b" ").strip()
            for item in self._by_name.get(name, ())
            if not code.is_elsewhere(item.start)
        ]

    def _included(self, name: bytes) -> list[bytes]:
        """What a file of the run that this one includes defines the name as."""
        if name in self._bound:
            return []
        text = self._headers.get(name)
        return [] if text is None else [text]

    @cached_property
    def _headers(self) -> Mapping[bytes, bytes]:
        return self._unit.surroundings.constants()

    @cached_property
    def _bound(self) -> frozenset[bytes]:
        """Parameters of templates: within them the name is another's, whatever a header calls by it."""
        return frozenset(
            name
            for match in _TEMPLATE.finditer(self._code.text)
            for name in re.findall(rb"\w+(?=\s*(?:[,>=]|\Z))", match.group(1))
        )

    @cached_property
    def _variables(self) -> dict[bytes, list[bytes]]:
        """What const and constexpr variables are given, by name."""
        found: dict[bytes, list[bytes]] = {}
        for match in _CONSTANT.finditer(self._code.text):
            if continues_a_word(self._code.text, match.start()):
                continue
            found.setdefault(match.group(1), []).append(_first_part(match.group(2)))
        return found

    @cached_property
    def _by_name(self) -> dict[bytes, list[Directive]]:
        found: dict[bytes, list[Directive]] = {}
        for item in self._unit.outline.directives:
            if item.keyword == b"define" and item.parameters is None:
                found.setdefault(item.name, []).append(item)
        return found

    @cached_property
    def _enumerators(self) -> dict[bytes, list[bytes]]:
        """The value that an enum gives each name; one more than its predecessor's where it gives none."""
        found: dict[bytes, list[bytes]] = {}
        if b"enum" not in self._code.text:
            return found
        for body in _ENUM.finditer(self._code.text):
            last, step = b"0", 0
            for item in body.group(1).split(b","):
                name, _, value = item.partition(b"=")
                last, step = (value, 0) if value.strip() else (last, step)
                found.setdefault(name.strip(), []).append(b"(%s) + %d" % (last, step))
                step += 1
        return found


@lru_cache(maxsize=1)
def constants(unit: Unit) -> Constants:
    """The constants of a source; kept while the checks go over it one after the other."""
    return Constants(unit)


def _first_part(initialiser: bytes) -> bytes:
    """The value of the first of several declarators: `8, b = 9` gives 8."""
    depth = 0
    for index in range(len(initialiser)):
        sign = initialiser[index : index + 1]
        depth += (sign in b"([{") - (sign in b")]}")
        if sign == b"," and depth == 0:
            return initialiser[:index]
    return initialiser
