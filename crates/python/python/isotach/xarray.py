"""xarray: stores as lazy datasets, and datasets as fields of a store.

``xarray.open_dataset`` finds this module by its entry point::

    import xarray as xr

    ds = xr.open_dataset(
        {"class": "od", "date": 20240101, "time": 0, "levtype": "pl", "param": ["t", "u"]},
        engine="isotach",
        store="posix:/data/fields",
    )
    mean = ds.mean("number")
    mean.isotach.archive("posix:/data/fields", template=ds, type="em")
    (ds - mean).isotach.archive("posix:/data/fields", template=ds, expver="x001")

It needs the extra ``isotach[xarray]``. The guide is ``docs/xarray.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from isotach._extras import extra

with extra("xarray"):
    import xarray
    from xarray.backends import BackendEntrypoint

if TYPE_CHECKING:
    from isotach._reports import Key

__all__ = ["IsotachAccessor", "IsotachBackend"]


class IsotachBackend(BackendEntrypoint):
    """The engine ``isotach`` of :func:`xarray.open_dataset`."""

    description = "Open requests to an Isotach field store"
    url = "https://github.com/isotach/isotach"

    def open_dataset(  # type: ignore[override]
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | list[str] | None = None,
        store: Any = None,
        at: str | None = None,
        profile: str | Mapping[str, Any] | None = "isotach",
        **options: Any,
    ) -> xarray.Dataset:
        """The fields of a request as a dataset, whose values are read when they are asked for.

        Of each variable one field is read. The others are listed only if they are no whole hypercube.

        Parameters
        ----------
        filename_or_obj
            A request as for :meth:`isotach.Store.list`: MARS text, a mapping, or an :class:`isotach.Request`. Without ``store``
            it may be a store instead, whose fields are all opened: a URI, a path, or an :class:`isotach.Store`.
        drop_variables
            Variables to leave out.
        store
            The store: as for :func:`isotach.open`, or an open :class:`isotach.Store`.
        at
            The name of a snapshot of the store.
        profile
            The defaults of the options: ``"isotach"``, ``"earthkit"``, ``"cfgrib"``, or a mapping.
        options
            ``docs/xarray.md`` has a table of them.

        Raises
        ------
        MissingFieldsError
            Fields of the request do not exist, and ``allow_holes`` is not given.
        InvalidInputError
            The fields do not fit into one dataset, or an option is wrong.
        MessageError
            A field is no GRIB message.
        """
        from isotach._xarray import dataset, source
        from isotach._xarray.options import options_of

        chosen = options_of(profile, {**options, "drop_variables": drop_variables})
        return dataset.dataset_of(*source.opened(filename_or_obj, store, at), chosen)

    # xarray would read them from the signature, which does not name them.
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "store", "at", "profile")


@xarray.register_dataset_accessor("isotach")  # type: ignore[no-untyped-call]
class IsotachAccessor:
    """``Dataset.isotach``."""

    def __init__(self, dataset: xarray.Dataset) -> None:
        """Called by xarray."""
        self._dataset = dataset

    def archive(self, store: Any, *, template: Any = None, replace: bool = False, **keys: Any) -> list[Key]:
        """Archives the variables of the dataset as GRIB messages, one for each field.

        A message has the headers of a template, the values of the dataset, packed as the template packs its own, and the keys
        that the coordinates give: number, date, time, step, level, and each other dimension that has the name of a key. NaN is
        written as a missing point. A field that has no other value is not written. A label that the template has and the dataset
        has not, as that of a dimension which was averaged over, must be among ``keys``.

        Parameters
        ----------
        store
            An open :class:`isotach.Store`, whose fields become visible by its next flush; or what :func:`isotach.open` takes,
            which is flushed at the end.
        template
            A GRIB message (bytes, or the path of a file) for all variables, or a mapping from their names to messages, or a
            dataset that this engine opened. Without it, the fields that the variables were opened from; arithmetic drops that.
        replace
            Whether the fields of the dataset may be replaced. Otherwise a field that would replace its template is refused.
        keys
            Keys to set in every message, such as ``expver="x001"``, or ``type="em"`` for the mean of an ensemble.

        Returns
        -------
        The keys of the fields.

        Raises
        ------
        InvalidInputError
            A variable has no template, or another grid than its template. A label is missing, or a field is its template's.
        MessageError
            A message cannot be made.
        """
        from isotach._xarray import writing

        return writing.archive(self._dataset, store, template, keys, replace=replace)
