"""The parts of :mod:`isotach.xarray`.

``source`` is the store and the request. ``whole`` tells a hypercube from the axes of the store; where that is not enough, ``cube`` sorts a
listing into one. ``alike`` tells whether two grids have the same points. ``header`` and ``grid`` are what one field of each variable says of itself, and ``dataset`` makes variables of it all,
whose values are the lazy arrays of ``array``. ``writing`` is the way back. All knowledge of ecCodes is in ``message``.
"""
