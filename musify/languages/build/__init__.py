"""Build files and scripts: what every language of theirs has in common.

A language is a module beside this package with `tokens(data)`, which splits a file without loss of what matters
(comments, literals, words), and `convert(unit)`, which yields the edits and findings that need its grammar. What is
the same everywhere is done here, in this order, each only where nothing before it spoke: names of renamed files,
environment variables and paths, and a finding for every CUDA word that is left.
"""
