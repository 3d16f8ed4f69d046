"""The values that a request names, expanded and in canonical form by the store, whose schema knows both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from isotach._exceptions import InvalidInputError
from isotach._isotach import Request
from isotach._store import Store
from isotach._xarray.axes import Raw
from isotach._xarray.cube import Requested

_AXES = ("number", "step", "levelist", "date", "time")


def requested_of(store: Store, request: Request, found: Mapping[str, Sequence[str]]) -> Requested:
    """For each axis, the values that the request names. Found are the values that fields have."""
    named = {name.lower(): values for name, values in request.to_dict().items() if name.lower() in _AXES}
    base = {name: values[0] for name, values in found.items()}
    # A value that is named alone is that of all fields.
    values = {
        name: _expanded(store, base, name, texts) if len(texts) > 1 else [] for name, texts in named.items()
    }
    dates, times = values.get("date", []), values.get("time", [])
    both: list[Raw] = [
        (date, time)
        for date in dates or found.get("date", [])
        for time in times or found.get("time", [])
        if dates or times
    ]
    single: Requested = {
        axis: [(text,) for text in values.get(key, [])]
        for axis, key in (("number",) * 2, ("step",) * 2, ("level", "levelist"), ("date",) * 2, ("time",) * 2)
    }
    return {**single, "forecast_reference_time": both}


def _expanded(store: Store, base: Mapping[str, str], name: str, values: Sequence[str]) -> list[str]:
    """The canonical values of a list or range. The store looks each of them up, whether or not there is a field."""
    inspection = store.inspect(Request({**base, name: "/".join(values)}))
    found = [field.key[name] for field in inspection]
    missing = inspection.missing
    if missing is None:
        return found
    if missing.count > len(missing.keys):
        raise InvalidInputError(
            f"{name} has {missing.count} values without a field: expected at most {len(missing.keys)}"
        )
    return found + [key[name] for key in missing.keys]


def missing_params(request: Request, found: Iterable[tuple[str, str | None]]) -> list[str]:
    """The parameters that the request names and no variable is of. Found are their ids and short names."""
    named = request.to_dict().get("param", [])
    known = {text.lower() for one in found for text in one if text}
    if "to" in named or "all" in named:
        return []
    return [text for text in named if not {text.lower(), _id(text)} & known]


def _id(text: str) -> str:
    """The id of a parameter that is given with the number of its table, as in 130.128."""
    number, _, table = text.partition(".")
    if not (number.isdigit() and table.isdigit()):
        return text
    return number if int(table) in (0, 128) else f"{int(table)}{int(number):03}"
