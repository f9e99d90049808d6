"""From a build log back to the CUDA source: errors by cause, the edit behind each, and what to do next.

`log` reads, `messages` says what an error means, `causes` groups, `origins` leads back across the conversion,
`proposals` says what can be done, `overlay` writes rules. What messages mean and the texts are data: rules/triage/.
"""
