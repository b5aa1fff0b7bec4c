"""The reference solver over whole columns: the cells of each colour in all grids are counted.

In the variant `commonest` each other colour must occur less often than the label.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block
from synthbench.tasks.grid_count.grids import COLORS
from synthbench.tasks.grid_count.task import GridCount
from synthbench.tasks.numeric import unnest, unwrap


def prove_rows(task: GridCount, block: Block, rows: Mapping[str, pa.Array]) -> NDArray[np.bool_]:
    """Compute True for every right row, bool `(rows,)`.

    Raises:
        ValueError: a row without the form of the task, which the solver must look at.
    """
    cells = block["cells"]  # colours plus 1, or 0 beyond a grid
    heights, _ = unwrap(rows["grid"], "grid")
    label_heights, label_lines = unwrap(rows["label"], "label")
    widths, counts = unwrap(label_lines, "label")
    if not (label_heights == heights).all() or not (widths == np.repeat(heights, heights)).all():
        raise ValueError("a label does not have the form of its grid")
    label = np.zeros(cells.shape, np.int16)
    label[cells > 0] = numpy_array(counts)
    right: NDArray[np.bool_] = numpy_array(rows["size"]) == heights
    if task.asks_commonest:
        color = label.max(axis=1)
        right &= (color > 0) & (color == np.where(cells > 0, label, color[:, None]).T).all(axis=0)
        own = (cells == color[:, None] + 1).sum(axis=1)
        for other in COLORS[1:]:
            right &= ((cells == other + 1).sum(axis=1) < own) | (color == other)
    stored = unnest(rows["color_counts"], (len(COLORS),), "color_counts")
    for color in COLORS:
        of_color = cells == color + 1
        count = of_color.sum(axis=1)
        expected = count if color else np.zeros_like(count)
        right &= stored[:, color] == count
        if not task.asks_commonest:
            right &= (np.where(of_color, label, expected[:, None]) == expected[:, None]).all(axis=1)
    return right
