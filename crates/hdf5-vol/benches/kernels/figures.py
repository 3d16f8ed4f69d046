"""What the report measures: each figure varies one thing of a kernel. In full, and in the sizes of a quick look."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Point:
    """A run of a kernel: its place on the axis, its ranks and its options."""

    label: str
    ranks: int
    options: dict[str, str | int]

    def command(self) -> list[str]:
        """The arguments of the kernel."""
        return [word for name, value in self.options.items() for word in (f"--{name}", str(value))]


@dataclass(frozen=True)
class Figure:
    """Runs of a kernel that differ in one thing, which is the axis."""

    name: str
    kernel: str
    title: str
    axis: str
    points: list[Point] = field(default_factory=list)
    unit: str = "mib"

    @property
    def rate(self) -> str:
        """What its rates are, in words."""
        return {"mib": "MiB/s", "objects": "objects/s"}[self.unit]


def vary(option: str, values: Iterable[str | int], ranks: int, **others: str | int) -> list[Point]:
    """A point for each value of an option."""
    fixed = {name.replace("_", "-"): value for name, value in others.items()}
    return [Point(str(value), ranks, fixed | {option: value}) for value in values]


def vary_ranks(ranks: Iterable[int], **options: str | int) -> list[Point]:
    """A point for each number of ranks."""
    return [Point(str(count), count, dict(options)) for count in ranks]


def clamr(quick: bool) -> list[Figure]:
    """Checkpoints: the size of the mesh, the ranks, the chunks."""
    steps = 2 if quick else 3
    side = 256 if quick else 1024
    sides = [128, 256] if quick else [128, 256, 512, 1024]
    chunks = [0, 1 << 13] if quick else [0, 1 << 11, 1 << 14, 1 << 17, 1 << 20]
    return [
        Figure(
            "clamr-size",
            "clamr",
            "CLAMR: size of the mesh (2 ranks, contiguous)",
            "cells on a side",
            vary("cells", sides, 2, steps=steps),
        ),
        Figure(
            "clamr-ranks",
            "clamr",
            f"CLAMR: ranks ({side}² cells, contiguous)",
            "ranks",
            vary_ranks([1, 2, 4], cells=side, steps=steps),
        ),
        Figure(
            "clamr-chunk",
            "clamr",
            f"CLAMR: chunks ({side}² cells, 2 ranks)",
            "elements in a chunk (0: contiguous)",
            vary("chunk", chunks, 2, cells=side, steps=steps),
        ),
    ]


def legion(quick: bool) -> list[Figure]:
    """Shards: the size of the square, the shards, the workers."""
    exponent = 18 if quick else 22
    exponents = [14, 18] if quick else [16, 18, 20, 22, 24]
    shards = [4, 64] if quick else [4, 16, 64, 256]
    elements = 1 << exponent
    return [
        Figure(
            "legion-size",
            "legion",
            "Legion: size of the square (16 shards, 2 ranks)",
            "elements",
            [Point(f"2^{power}", 2, {"elements": 1 << power, "shards": 16}) for power in exponents],
        ),
        Figure(
            "legion-shards",
            "legion",
            f"Legion: shards (2^{exponent} elements, 2 ranks)",
            "shards",
            vary("shards", shards, 2, elements=elements),
        ),
        Figure(
            "legion-ranks",
            "legion",
            f"Legion: ranks (2^{exponent} elements, 16 shards)",
            "ranks",
            vary_ranks([1, 2, 4], elements=elements, shards=16),
        ),
    ]


def pio(quick: bool) -> list[Figure]:
    """Variables through netCDF-C: their size, the ranks, the ranks that do I/O, who has which elements."""
    size = 10_000 if quick else 100_000
    sizes = [1_000, 10_000] if quick else [1_000, 10_000, 100_000, 400_000]
    io_ranks = [1, 4] if quick else [1, 2, 4]
    few: dict[str, str | int] = {"variables": 2, "frames": 2, "size": 100 if quick else 500}
    pairs = [
        (decomposition, rearranger)
        for decomposition in ("BLOCK", "ROUNDROBIN")
        for rearranger in ("BOX", "SUBSET")
    ]
    return [
        Figure(
            "pio-size",
            "pio",
            "PIO: size of a variable (BLOCK, BOX, 2 ranks)",
            "elements of a rank",
            vary("size", sizes, 2),
        ),
        Figure(
            "pio-ranks",
            "pio",
            f"PIO: ranks (BLOCK, BOX, {size} elements each)",
            "ranks",
            vary_ranks([1, 2, 4], size=size),
        ),
        Figure(
            "pio-io-ranks",
            "pio",
            f"PIO: ranks that do I/O (ROUNDROBIN, BOX, 4 ranks, {size} elements each)",
            "ranks that do I/O",
            vary("io-ranks", io_ranks, 4, size=size, decomposition="ROUNDROBIN"),
        ),
        Figure(
            "pio-decomposition",
            "pio",
            f"PIO: decomposition and rearranger (2 ranks, {few['size']} elements each)",
            "decomposition, rearranger",
            [
                Point(
                    f"{decomposition}, {rearranger}",
                    2,
                    few | {"decomposition": decomposition, "rearranger": rearranger},
                )
                for decomposition, rearranger in pairs
            ],
        ),
    ]


def chunks(quick: bool) -> list[Figure]:
    """Whole chunks of one dataset: the ranks, and how they call."""
    rows = 16 if quick else 64
    return [
        Figure(
            f"chunks-{calls}",
            "chunks",
            f"Chunks of 1 MiB: ranks ({calls} calls, {rows} chunks each)",
            "ranks",
            vary_ranks([1, 2, 4], rows=rows, calls=calls),
        )
        for calls in ("independent", "collective")
    ]


def objects(quick: bool) -> list[Figure]:
    """Metadata: the datasets of a file."""
    datasets = [10, 100] if quick else [10, 100, 1000, 10_000]
    return [
        Figure(
            "objects",
            "objects",
            "Metadata: datasets with 10 attributes each (1 rank)",
            "datasets",
            vary("datasets", datasets, 1),
            unit="objects",
        )
    ]


def figures(quick: bool) -> list[Figure]:
    """All of them."""
    return chunks(quick) + objects(quick) + clamr(quick) + legion(quick) + pio(quick)
