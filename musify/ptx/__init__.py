"""Inline PTX: reads asm statements and their PTX text, and says the same in C++ where it can."""
