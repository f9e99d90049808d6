"""A language server: diagnostics, quick fixes and explanations in an editor. Needs the extra `lsp` (pygls)."""
