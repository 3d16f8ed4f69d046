"""The parts of :mod:`isotach.xarray`.

Opening goes from ``source`` (one listing) over ``axes`` and ``cube`` (where each field lies along the dimensions) and ``header``
and ``grid`` (what one field of each variable says of itself) to ``dataset``, whose variables are the lazy arrays of ``array``.
``writing`` is the way back. All knowledge of ecCodes is in ``message``.
"""
