"""The options of ``open_dataset``: earthkit-data's names, with its defaults where they do not lose anything."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from isotach._exceptions import InvalidInputError
from isotach._xarray.axes import TIMES
from isotach._xarray.message import Number

_LEVEL_MODES = ("level", "level_per_type", "level_and_type")
_TIME_MODES: Mapping[str, tuple[str, ...]] = {
    "forecast": ("forecast_reference_time", "step"),
    "valid_time": ("valid_time",),
    "raw": ("date", "time", "step"),
}
_NAMES = ("shortName", "cfVarName", "paramId")

_PROFILES: Mapping[str, Mapping[str, Any]] = {
    "isotach": {},
    "earthkit": {"rename_dims": {"number": "member"}, "style": "earthkit"},
    "cfgrib": {
        "rename_dims": {"forecast_reference_time": "time"},
        "level_dim_mode": "level_per_type",
        "style": "cfgrib",
        "add_valid_time_coord": True,
        "dtype": "float32",
        "variable_key": "cfVarName",
    },
}

_REFUSED: Mapping[str, str] = {
    "aux_coords": "use Dataset.assign_coords",
    "array_namespace": "arrays are numpy's, or dask's with chunks",
    "attrs": "attributes are fixed: use global_attrs, rename_attrs, or Dataset.attrs",
    "attrs_mode": "attributes are fixed: use global_attrs, rename_attrs, or Dataset.attrs",
    "add_earthkit_attrs": "only earthkit-data makes and reads the attribute _earthkit",
    "decode_times": "times are always datetime64",
    "decode_timedelta": "steps are always timedelta64",
    "dim_name_from_role_name": "dimensions have the names of their roles: use rename_dims",
    "dim_roles": "roles belong to keys of the schema: use extra_dims, fixed_dims or rename_dims",
    "errors": "an error is always raised",
    "fill_metadata": "a key that a field does not have is left out",
    "mono_variable": "use Dataset.to_dataarray",
    "release_source": "fields are not kept in memory",
    "remapping": "use Dataset.assign_coords",
    "source_type": "fields are those of a store",
    "split_dims": "open one dataset for each value",
    "strict": "dimensions are always checked",
    "variable_attrs": "attributes are fixed: use rename_attrs, or Dataset.attrs",
}


@dataclass(frozen=True)
class Options:
    """What the caller chose. ``docs/xarray.md`` says what each option means."""

    variable_key: str = "shortName"
    drop_variables: tuple[str, ...] = ()
    rename_variables: Mapping[str, str] = field(default_factory=dict)
    extra_dims: Mapping[str, str] = field(default_factory=dict)
    drop_dims: tuple[str, ...] = ()
    ensure_dims: tuple[str, ...] = ()
    fixed_dims: Mapping[str, str] = field(default_factory=dict)
    rename_dims: Mapping[str, str] = field(default_factory=dict)
    dims_as_attrs: tuple[str, ...] = ()
    time_dims: tuple[str, ...] = _TIME_MODES["forecast"]
    level_dim_mode: str = "level"
    squeeze: bool = True
    add_valid_time_coord: bool = False
    add_geo_coords: bool = True
    flatten_values: bool = False
    coord_attrs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    global_attrs: Mapping[str, Any] = field(default_factory=dict)
    rename_attrs: Mapping[str, str] = field(default_factory=dict)
    allow_holes: bool = False
    lazy_load: bool = True
    dtype: np.dtype[Number] = np.dtype("float64")
    style: str = "isotach"
    """The profile whose attributes and levels are meant."""


_KNOWN = frozenset({one.name for one in fields(Options)} - {"style"})
_TUPLES = ("drop_variables", "drop_dims", "ensure_dims", "dims_as_attrs", "time_dims")
_DIMS = ("extra_dims", "fixed_dims")
_MAPPINGS = ("rename_variables", "rename_dims", "coord_attrs", "rename_attrs")
_FLAGS = ("squeeze", "add_valid_time_coord", "add_geo_coords", "flatten_values", "allow_holes", "lazy_load")

PARAMETERS = ("store", "at", "profile", "time_dim_mode", *sorted(_KNOWN))
"""The names of all options."""


def options_of(profile: str | Mapping[str, Any] | None, given: Mapping[str, Any]) -> Options:
    """The options of a profile, with those that were given in their place. One that is None was not given."""
    chosen = {name: value for name, value in given.items() if value is not None}
    mode = chosen.pop("time_dim_mode", None)
    for name in chosen:
        _check_name(name)
    if mode is not None:
        if mode not in _TIME_MODES:
            raise InvalidInputError(f"time_dim_mode={mode!r}: expected {_listed(_TIME_MODES)}")
        chosen.setdefault("time_dims", _TIME_MODES[mode])
    merged = {**_defaults_of(profile), **chosen}
    options = Options(**{name: _converted(name, value) for name, value in merged.items()})
    _check(options)
    return options


def _defaults_of(profile: str | Mapping[str, Any] | None) -> Mapping[str, Any]:
    if profile is None:
        return {}
    if isinstance(profile, Mapping):
        for name in profile:
            _check_name(name)
        return profile
    if profile not in _PROFILES:
        raise InvalidInputError(
            f"profile={profile!r}: expected {_listed(_PROFILES)}, or a mapping from options to values"
        )
    return _PROFILES[profile]


def _check_name(name: str) -> None:
    if name in _KNOWN:
        return
    if name in _REFUSED:
        raise InvalidInputError(
            f"{name} is an option of earthkit-data that Isotach does not have: {_REFUSED[name]}"
        )
    near = difflib.get_close_matches(name, _KNOWN, 1)
    raise TypeError(f"unknown option {name}{f': did you mean {near[0]}?' if near else ''}")


def _converted(name: str, value: Any) -> Any:
    if name in _TUPLES:
        return (value,) if isinstance(value, str) else tuple(value)
    if name in _DIMS:
        return _pairs(value)
    if name in _MAPPINGS and not isinstance(value, Mapping):
        raise InvalidInputError(f"{name}={value!r}: expected a mapping")
    if name == "global_attrs":
        return dict(value) if isinstance(value, Mapping) else {k: v for one in value for k, v in one.items()}
    if name in _FLAGS and not isinstance(value, (bool, np.bool_)):
        raise InvalidInputError(f"{name}={value!r}: expected True or False")
    if name == "dtype":
        return np.dtype(value)
    return value


def _pairs(value: Any) -> dict[str, str]:
    """Dimensions with their keys, given as a key, a mapping, or several keys, pairs and mappings."""
    if isinstance(value, (str, Mapping)):
        value = [value]
    pairs: dict[str, str] = {}
    for one in value:
        if isinstance(one, str):
            pairs[_bare(one)] = _bare(one)
        elif isinstance(one, Mapping):
            pairs.update({str(name): _bare(key) for name, key in one.items()})
        else:
            name, key = one
            pairs[name] = _bare(key)
    return pairs


def _bare(key: str) -> str:
    """A key without earthkit-data's name of a component in front, as in ``metadata.expver``."""
    return str(key).rpartition(".")[2]


def _check(options: Options) -> None:
    if options.dtype not in (np.dtype("float32"), np.dtype("float64")):
        raise InvalidInputError(f"dtype={options.dtype}: expected float32 or float64")
    if options.level_dim_mode not in _LEVEL_MODES:
        raise InvalidInputError(
            f"level_dim_mode={options.level_dim_mode!r}: expected {_listed(_LEVEL_MODES)}"
        )
    if options.variable_key not in _NAMES:
        raise InvalidInputError(f"variable_key={options.variable_key!r}: expected {_listed(_NAMES)}")
    for name in options.time_dims:
        if name not in TIMES:
            raise InvalidInputError(f"time_dims={list(options.time_dims)}: expected some of {_listed(TIMES)}")
    if options.fixed_dims and (options.extra_dims or options.drop_dims):
        raise InvalidInputError("fixed_dims with extra_dims or drop_dims: expected fixed_dims alone")
    for name in (*options.ensure_dims, *options.extra_dims):
        if name in options.drop_dims:
            raise InvalidInputError(f"{name} is in drop_dims, too: expected it in one of them")


def _listed(values: Iterable[str]) -> str:
    return ", ".join(map(repr, values))
