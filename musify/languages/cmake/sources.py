"""Which words of a file stand for device sources, and which for others."""

from __future__ import annotations

import re

from musify.languages.cmake.survey import CMakeSurvey, Content

_ARGUMENTS_OF_FUNCTIONS = re.compile(rb"ARG[NV]\d*\Z")


class Sources:
    """Which words stand for device sources in one file: by their suffix, by their variable, by who calls."""

    def __init__(self, own: CMakeSurvey, run: CMakeSurvey) -> None:
        self._own = own
        self._run = run

    def resolved(self, content: Content, inside: bytes = b"") -> Content:
        """What is held in the end, with what variables hold. `inside` is the function around it, in lower case."""
        return self._resolve(content, inside, frozenset())

    def _resolve(self, content: Content, inside: bytes, seen: frozenset[bytes]) -> Content:
        device, host = content.device, content.host
        for name in content.variables - seen:
            more = self._resolve(self._held(name, inside, seen | {name}), inside, seen | {name})
            device, host = device or more.device, host or more.host
        return Content(device, host)

    def _held(self, name: bytes, inside: bytes, seen: frozenset[bytes]) -> Content:
        found = self._own.variables.get(name) or self._run.variables.get(name)
        if inside and self._is_parameter(name, inside) and b"(" + inside not in seen:
            for call in self._run.calls.get(inside, ()):
                given = self._resolve(call.content, call.inside, seen | {b"(" + inside})
                found = given if found is None else found.with_(given)
        return found or Content()

    def _is_parameter(self, name: bytes, inside: bytes) -> bool:
        if _ARGUMENTS_OF_FUNCTIONS.match(name):
            return True
        parameters = self._run.parameters.get(inside, frozenset())
        return name in parameters or any(name.startswith(item) for item in parameters if item.endswith(b"_"))

    def callers(self, function: bytes) -> tuple[int, int]:
        """How often a function is called with device sources, and how often at all."""
        given = self._given(function)
        return sum(content.device for content in given), len(given)

    def is_mixed(self, function: bytes) -> bool:
        """Whether a function is called with device and host sources together."""
        return any(content.device and content.host for content in self._given(function))

    def _given(self, function: bytes) -> list[Content]:
        return [self.resolved(call.content, call.inside) for call in self._run.calls.get(function, [])]
