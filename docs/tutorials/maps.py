"""Maps for the tutorials: coasts and labels of degrees, drawn by Matplotlib alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

COASTLINE = np.loadtxt(Path(__file__).with_name("coastline.csv"), delimiter=",")


def draw_map(axes: Axes) -> None:
    """Adds the coasts, and trims the axes to the region of the forecast."""
    axes.plot(*COASTLINE.T, color="black", linewidth=0.8)
    axes.set(xlim=(115, 165), ylim=(15, 50), aspect=1 / np.cos(np.radians(33)), xlabel="", ylabel="")
    axes.xaxis.set_major_formatter("{x:g}°E")
    axes.yaxis.set_major_formatter("{x:g}°N")
