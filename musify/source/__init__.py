"""Bytes in and bytes out: lexing, edits, self-check, atomic writing. Knows no CUDA."""
