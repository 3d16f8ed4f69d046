"""The parts of :mod:`isotach.fsspec`.

``paths`` is what paths mean, and ``ranges`` reads parts of fields.
"""
