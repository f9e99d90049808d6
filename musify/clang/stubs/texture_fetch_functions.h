// Empty: clang's CUDA wrapper includes a header of this name, which CUDA 13 no longer has. The toolkit's own comes first.
