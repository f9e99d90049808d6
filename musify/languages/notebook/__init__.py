"""Jupyter notebooks: their cells, and what of these is Python, shell or CUDA. Converted by `musify.engine.notebook`."""
