"""Small GRIB messages for the tests."""

from __future__ import annotations

import warnings


def surface_message(step: int) -> bytes:
    """A message of the temperature at 2 m, whose values are the step."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import eccodes
    handle = eccodes.codes_grib_new_from_samples("regular_ll_sfc_grib2")
    try:
        for name, value in {
            "setLocalDefinition": 1,
            "class": "od",
            "expver": "0001",
            "stream": "oper",
            "type": "fc",
            "dataDate": 20240101,
            "dataTime": 0,
            "step": step,
            "paramId": 167,
        }.items():
            eccodes.codes_set(handle, name, value)
        count = eccodes.codes_get_size(handle, "values")
        eccodes.codes_set_values(handle, [float(step)] * count)
        return bytes(eccodes.codes_get_message(handle))
    finally:
        eccodes.codes_release(handle)
