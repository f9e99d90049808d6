"""musify: parser-based CUDA to MUSA source migration."""

__version__ = "0.1.0"
