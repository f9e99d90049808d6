"""One module a language: bytes and rules in, edits and findings out. Never prints, never writes."""
