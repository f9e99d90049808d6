"""C, C++ and CUDA as a compiler sees them: libclang, which is optional (`pip install 'cuda-musify[semantic]'`).

Nothing here is loaded before it is asked for. `library` finds libclang, `flags` says with what arguments to parse,
`parsing` parses, `public` lists what headers declare.
"""
