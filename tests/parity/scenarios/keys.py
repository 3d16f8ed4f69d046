"""The requests that many scenarios share."""

from __future__ import annotations


def dataset(expver: str = "xxxx", time: str = "0000", date: str = "20240101") -> str:
    """One forecast, by the whole key of its dataset."""
    return f"class=rd,expver={expver},stream=oper,date={date},time={time},domain=g"


def fields(of: str, step: str = "0/6", level: str = "1000/500", **other: str) -> str:
    """Fields of `x.grib`, each key given: the request that reads them."""
    rest = {"type": "fc", "levtype": "pl", "step": step, "levelist": level, "param": "130"} | other
    return ",".join([of, *(f"{name}={value}" for name, value in rest.items())])


X, Y, Z = dataset("xxxx"), dataset("yyyy"), dataset("zzzz")
EVERYTHING = ""
