"""The rules against headers: what a CUDA release has that no rule knows, and what a MUSA SDK has of what they promise.

`headers` reads a toolkit's headers, `public` says what of them counts, `unknown` compares CUDA's with the rules.
"""
