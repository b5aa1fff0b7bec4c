"""PNG files of a fixed form: what is written can be read by all, and what others wrote by us."""

import io
import struct
import sys
import zlib

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from synthbench.errors import SynthbenchError
from synthbench.tasks.images import png

sizes = st.tuples(st.integers(1, 3), st.integers(1, 40), st.integers(1, 40))


def random_pixels(shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (*shape, 3), dtype=np.uint8)


def encoded(pixels):
    return png.encode(pixels[None])[0].as_py()


def pillow_png(pixels, **options):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", **options)
    return file.getvalue()


@settings(max_examples=40, deadline=None)
@given(sizes, st.integers(0, 1000))
def test_what_is_encoded_decodes_to_the_same_pixels_here_and_in_pillow(shape, seed):
    images = random_pixels(shape, seed)
    files = png.encode(images)
    assert len(files) == len(images)
    for file, pixels in zip(files.to_pylist(), images, strict=True):
        assert np.array_equal(png.decode(file), pixels)
        with Image.open(io.BytesIO(file)) as opened:
            opened.verify()
        with Image.open(io.BytesIO(file)) as opened:
            assert opened.format == "PNG" and opened.mode == "RGB"
            assert np.array_equal(np.asarray(opened), pixels)


@pytest.mark.parametrize("shape", [(1, 1), (2, 7), (56, 56), (100, 200), (40, 1)])
def test_a_file_is_one_stored_block_byte_for_byte(shape):
    images = random_pixels((3, *shape))
    for file, pixels in zip(png.encode(images).to_pylist(), images, strict=True):
        lines = b"".join(b"\x00" + line.tobytes() for line in pixels)
        size = struct.pack("<HH", len(lines), len(lines) ^ 0xFFFF)
        data = b"\x78\x01\x01" + size + lines + struct.pack(">I", zlib.adler32(lines))
        header = struct.pack(">IIBBBBB", shape[1], shape[0], 8, 2, 0, 0, 0)
        chunks = chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
        assert file == b"\x89PNG\r\n\x1a\n" + chunks


def test_without_pillow_only_images_of_other_encoders_cannot_be_read(monkeypatch):
    pixels = random_pixels((8, 8))
    other = pillow_png(pixels)
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert np.array_equal(png.decode(encoded(pixels)), pixels)
    with pytest.raises(SynthbenchError, match=r"needs Pillow: pip install 'synthbench\[vision\]'"):
        png.decode(other)


def test_no_images_make_no_files():
    assert len(png.encode(random_pixels((0, 56, 56)))) == 0


@pytest.mark.parametrize("shape", [(1, 300, 300), (1, 1, 21845), (1, 0, 5)])
def test_an_image_that_fits_no_stored_block_is_refused(shape):
    with pytest.raises(ValueError, match="Allowed are 1 to 65535"):
        png.encode(np.zeros((*shape, 3), np.uint8))


@pytest.mark.parametrize("shape", [(56, 56), (300, 200)])
@pytest.mark.parametrize("options", [{}, {"compress_level": 0}, {"optimize": True}])
def test_what_pillow_encoded_is_decoded_too(options, shape):
    pixels = random_pixels(shape)
    assert np.array_equal(png.decode(pillow_png(pixels, **options)), pixels)


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "1", "16 bits"])
def test_what_readers_would_not_see_as_rgb_is_an_error(mode):
    image = Image.fromarray(random_pixels((9, 8)))
    deep = Image.fromarray(np.arange(72, dtype=np.uint16).reshape(9, 8))
    file = io.BytesIO()
    (deep if mode == "16 bits" else image.convert(mode)).save(file, "PNG")
    with pytest.raises(ValueError, match="it is not in RGB with 8 bits"):
        png.decode(file.getvalue())


@pytest.mark.parametrize(
    "file",
    [b"", b"no image", b"\x89PNG\r\n\x1a\n", bytes(9532), encoded(random_pixels((56, 56)))[:-3000]],
    ids=len,
)
def test_what_is_no_image_is_an_error(file):
    with pytest.raises(ValueError, match=f"{len(file)} bytes are not an image"):
        png.decode(file)


@pytest.mark.parametrize("place", [0, 20, 30, 45, 60, 5000, 9500, 9513, 9517, 9525])
def test_a_changed_byte_never_passes_for_the_image(place):
    pixels = random_pixels((56, 56))
    broken = bytearray(encoded(pixels))
    broken[place] ^= 1
    try:
        decoded = png.decode(bytes(broken))
    except ValueError:
        return
    assert not np.array_equal(decoded, pixels)


# Many at a time.


def decoded_all(files):
    """All images of `decode_all`, one by one."""
    return [pixels for some in png.decode_all(files) for pixels in some]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from([1, 8, 56]), st.integers(1, 9))))
def test_images_are_decoded_together_as_they_are_one_by_one(shapes):
    files = pa.array([file for shape in shapes for file in png.encode(random_pixels(shape))])
    files = files.cast(pa.binary())
    together = decoded_all(files)
    assert len(together) == len(files)
    for file, pixels in zip(files, together, strict=True):
        assert np.array_equal(png.decode(file.as_py()), pixels)


@pytest.mark.parametrize("count", [0, 1, 127, 128, 300])
def test_neighbours_of_one_size_come_together_whatever_slice_they_are(count):
    images = random_pixels((count + 5, 8, 8))
    files = png.encode(images).slice(3, count)
    assert len(list(png.decode_all(files))) == -(-count // 128)
    assert np.array_equal(np.array(decoded_all(files)).reshape(-1, 8, 8, 3), images[3 : 3 + count])


def test_images_just_made_are_decoded_without_their_checksums():
    images = random_pixels((9, 9))[None]
    files = png.encode(images)
    broken = files[0].as_py()[:-20] + bytes(4) + files[0].as_py()[-16:]
    found = [*png.decode_all(pa.array([broken], pa.binary()), checked=False)]
    assert np.array_equal(found[0], images)
    with pytest.raises(ValueError, match="not an image"):
        decoded_all(pa.array([broken], pa.binary()))
    packed = pillow_png(images[0])
    padded = packed + bytes(len(files[0].as_py()) - len(packed))  # as long as ours
    (found,) = png.decode_all(pa.array([padded], pa.binary()), checked=False)
    assert np.array_equal(found[0], images[0])


def test_images_of_several_encoders_are_decoded_in_their_order():
    images = random_pixels((4, 8, 8))
    files = [pillow_png(images[0]), encoded(images[1]), pillow_png(images[2]), encoded(images[3])]
    assert np.array_equal(decoded_all(pa.array(files, pa.binary())), images)


def test_a_missing_image_among_many_is_an_error():
    files = pa.array([encoded(random_pixels((8, 8))), None], pa.binary())
    with pytest.raises(ValueError, match="an image is missing"):
        decoded_all(files)


# What a hostile file may ask for.


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def crafted(width, height, data=b"", *more):
    """A PNG file with a header of this size, whatever its data."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), *more, (b"IDAT", zlib.compress(data)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, inner) for kind, inner in chunks)


@pytest.mark.parametrize(
    "size",
    [
        *((60_000, 60_000), (2**31 - 1, 1), (1, 2**31 - 1)),
        *((0, 0), (0, 8), (8, 0), (2**32 - 1, 2**32 - 1)),
    ],
)
def test_an_image_that_claims_no_or_millions_of_pixels_is_refused_before_they_are_made(size):
    with pytest.raises(ValueError, match="are not an image"):
        png.decode(crafted(*size))


def test_an_image_of_more_pixels_than_any_of_ours_is_refused_by_its_size():
    with pytest.raises(ValueError, match="4000x4000 pixels are too many"):
        png.decode(crafted(4_000, 4_000))


def test_a_second_header_cannot_enlarge_an_image():
    huge = struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0)
    with pytest.raises(ValueError, match="are not an image"):
        png.decode(crafted(8, 8, bytes(8 * 25), (b"IHDR", huge)))


@pytest.mark.parametrize("kind", ["BMP", "GIF", "JPEG", "PPM", "EPS", "TIFF"])
def test_other_formats_are_no_png_even_where_pillow_knows_them(kind):
    file = io.BytesIO()
    Image.fromarray(random_pixels((8, 8))).save(file, kind)
    with pytest.raises(ValueError, match="are not an image"):
        png.decode(file.getvalue())
