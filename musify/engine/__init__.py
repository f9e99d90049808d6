"""Conversion as a whole: one document, then a tree of them in worker processes."""
