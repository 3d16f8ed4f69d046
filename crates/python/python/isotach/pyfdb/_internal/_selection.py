"""From a selection to a request of the store."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

from isotach._exceptions import InvalidInputError
from isotach.pyfdb._internal._errors import in_words_of_fdb, is_incomplete, unknown_key, user_error

logger = logging.getLogger("isotach.pyfdb")
Answer = TypeVar("Answer")

_KEYWORDS = """
class type stream expver dataset model levtype levelist param chem wavelength timespan stattype date year month hdate
offsetdate fcmonth fcperiod time offsettime leadtime opttime step anoffset reference number quantile domain frequency
direction diagnostic iteration channel ident instrument method origin system activity experiment generation
realization resolution obstype product section country
"""
KEYWORDS = frozenset(_KEYWORDS.split())
"""The keys of MARS's language that a schema may lack. In a request for one field FDB ignores a key that its schema lacks."""


def request_of(selection: Mapping[str, Collection[str]]) -> dict[str, str]:
    """The request for a selection whose values are lists, as ``UserInputMapper`` makes it.

    Raises
    ------
    InvalidInputError
        A value of a list holds a slash, or a list is empty. FDB takes an empty list sometimes for no value, sometimes for any.
    """
    request = {}
    for name, values in selection.items():
        for value in values:
            if "/" in value:
                raise user_error(
                    f"Bad value: {value!r} in the list of {name}: expected one value, without a slash"
                )
        if not values:
            raise user_error(f"Bad value: {name} has no values: expected at least one")
        request[name.lower()] = "/".join(values)
    return request


def any_of(request: dict[str, str], ask: Callable[[dict[str, str]], Answer]) -> Answer | None:
    """The answer to a request whose keys narrow it. None if the schema lacks one of them: no field has it then."""
    with in_words_of_fdb():
        try:
            return ask(request)
        except InvalidInputError as error:
            name = unknown_key(error)
            if name not in KEYWORDS:
                raise
            logger.warning("%s matches nothing: no rule of the schema has it", name)
            return None


def each_of(request: dict[str, str], ask: Callable[[dict[str, str]], Answer]) -> Answer | None:
    """The answer to a request that names fields. Keys that the schema lacks are left out; None if the request is incomplete."""
    with in_words_of_fdb():
        while True:
            try:
                return ask(request)
            except InvalidInputError as error:
                name = unknown_key(error)
                if name in KEYWORDS and name in request:
                    logger.info("%s is ignored: no rule of the schema has it", name)
                    request = {key: value for key, value in request.items() if key != name}
                elif is_incomplete(error):
                    logger.warning("nothing is found: %s", error)
                    return None
                else:
                    raise
