"""CMake: CMakeLists.txt, *.cmake and what configure_file makes one of (*.cmake.in)."""

from musify.languages.cmake.conversion import convert
from musify.languages.cmake.reader import tokens
from musify.languages.cmake.survey import survey

__all__ = ["convert", "survey", "tokens"]
