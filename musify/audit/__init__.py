"""The rules against headers: what a CUDA release has that no rule knows, and what a MUSA SDK has of what they promise.

`headers` reads a toolkit's headers, `public` says what of CUDA's counts, `unknown` compares those with the rules.
`words` finds names in the text of an SDK's headers, `signatures` compares functions, `sdk_names` an SDK with the rules.
`rule_file` writes either result as rules, `output` as text and plain data.
"""
