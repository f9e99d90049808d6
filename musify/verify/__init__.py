"""The proof of a conversion: recorded edits, preprocessed tokens and compilers, on what lies on disk."""
