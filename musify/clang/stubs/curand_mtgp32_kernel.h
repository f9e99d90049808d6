// Empty: clang's CUDA wrapper includes a header of this name, which not every toolkit has. The toolkit's own comes first.
