"""Pictures are scaled to 28 by 28 exactly."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from synthbench.tasks.images.file_formats import scale
from tests.tasks.tiny_sources import pictures


def scaled_by_definition(image):
    """The weighted mean of the docstring, in fractions, for one `(height, width)` image."""

    def weights(length):
        rows = []
        for place in range(28):
            centre = Fraction(2 * place + 1, 2) * Fraction(length, 28)
            reach = max(Fraction(length, 28), Fraction(1))
            row = [max(0, 1 - abs(Fraction(2 * x + 1, 2) - centre) / reach) for x in range(length)]
            rows.append([weight / sum(row) for weight in row])
        return rows

    down, across = weights(len(image)), weights(len(image[0]))
    lines = [
        [
            sum(w * int(line[x]) for w, line in zip(row, image, strict=True) if w)
            for x in range(len(image[0]))
        ]
        for row in down
    ]
    return [
        [
            int(sum(w * v for w, v in zip(row, line, strict=True) if w) + Fraction(1, 2))
            for row in across
        ]
        for line in lines
    ]


@settings(max_examples=6, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 100))
def test_scaling_is_the_weighted_mean_exactly(height, width, seed):
    image = pictures(seed, 1, height, width, 1)
    assert scale(image)[0, :, :, 0].tolist() == scaled_by_definition(image[0, :, :, 0].tolist())


@pytest.mark.parametrize("size", [(32, 32), (100, 64), (28, 19), (9, 30)])
def test_scaling_differs_from_pillow_s_bilinear_by_no_more_than_a_rounding(size):
    many = pictures(5, 300, *size, 3)
    ours = scale(many).astype(int)
    for image, own in zip(many[::50], ours[::50], strict=True):
        theirs = Image.fromarray(image).resize((28, 28), Image.Resampling.BILINEAR)
        assert np.abs(own - np.asarray(theirs)).max() <= 1


def test_scaling_keeps_flat_images_and_images_of_the_right_size():
    many = pictures(1, 600, 28, 28, 3)
    assert np.array_equal(scale(many), many)
    for length in (1, 32, 3000):
        assert (scale(np.full((1, length, 31, 3), 255, np.uint8)) == 255).all()
