"""The parts of :mod:`isotach.earthkit`.

``messages`` has the fields whose messages are read when something asks for them, ``stream`` those that are read one after the other,
and ``keys`` those whose headers are made from their keys.
"""
