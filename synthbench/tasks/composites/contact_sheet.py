"""A contact sheet: images of four quadrants side by side, with what they ask and answer."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import SynthbenchError

if TYPE_CHECKING:
    from PIL.Image import Image

#: Screen pixels for each pixel of an image.
_ZOOM = 4
_MARGIN = 16
_FRAME = 3
_FONT = 14
_LINE = 18
_COLUMNS = 5
_PAPER, _INK, _MARK = (255, 255, 255), (0, 0, 0), (0, 170, 60)


class Panel(NamedTuple):
    """One image of a sheet.

    Attributes:
        pixels: uint8 `(height, width, 3)`.
        framed: the quadrant that gets a frame: 0 top-left, 1 top-right, 2 and 3 below.
        lines: what stands under it.
    """

    pixels: NDArray[np.uint8]
    framed: int
    lines: tuple[str, ...]


def contact_sheet(heading: str, panels: Sequence[Panel]) -> Image:
    """Lay out panels of one size under a heading, five in a line.

    Args:
        heading: a sentence or two.
        panels: at least one.

    Raises:
        SynthbenchError: Pillow is not installed.
    """
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise SynthbenchError(
            "Drawing images needs Pillow: pip install 'synthbench[vision]'."
        ) from None
    height, width = (_ZOOM * length for length in panels[0].pixels.shape[:2])
    columns = min(_COLUMNS, len(panels))
    full_width = columns * (width + _MARGIN) + _MARGIN
    head = textwrap.wrap(heading, full_width // (_FONT // 2 + 1))
    top = _MARGIN + _LINE * len(head) + _MARGIN // 2
    panel_height = height + _LINE * max(len(panel.lines) for panel in panels) + _MARGIN
    rows = -(-len(panels) // columns)

    sheet = Image.new("RGB", (full_width, top + rows * panel_height), _PAPER)
    pen = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(_FONT)
    for number, line in enumerate(head):
        pen.text((_MARGIN, _MARGIN // 2 + number * _LINE), line, _INK, font)
    for number, panel in enumerate(panels):
        row, column = divmod(number, columns)
        left, upper = _MARGIN + column * (width + _MARGIN), top + row * panel_height
        sheet.paste(Image.fromarray(panel.pixels).resize((width, height), 0), (left, upper))
        x, y = left + panel.framed % 2 * width // 2, upper + panel.framed // 2 * height // 2
        corner = (x + width // 2 - 1, y + height // 2 - 1)
        pen.rectangle(((x, y), corner), outline=_MARK, width=_FRAME)
        for place, line in enumerate(panel.lines):
            pen.text((left, upper + height + 4 + place * _LINE), line, _INK, font)
    return sheet
