"""`Dataset.show` and `headrace show`: contact sheets, pixel for pixel."""

import base64
import io
import re

import numpy as np
import pytest
from conftest import pipeline_threads
from PIL import Image

import headrace as hr
from headrace import vision as V
from headrace.__main__ import main
from headrace.sheet.grid import GAP
from headrace.sheet.lettering import LINE, lettered
from headrace.sheet.overlay import colours

WHITE = (255, 255, 255)
SIDE = 16


def pixels_of(sheet) -> np.ndarray:
    return V.Decode()(sheet._repr_png_())


def images_of(sheet) -> list[np.ndarray]:
    """Those of the form for notebooks, which has no captions in them."""
    return [V.Decode()(base64.b64decode(each)) for each in re.findall(r'base64,([^"]*)"', sheet._repr_html_())]


def captions_of(sheet) -> list[list[str]]:
    return [each.split("<br>") for each in re.findall(r"<figcaption[^>]*>(.*?)</figcaption>", sheet._repr_html_())]


def random(*shape, dtype=np.uint8) -> np.ndarray:
    return np.random.default_rng(5).integers(0, 256, shape).astype(dtype)


def enlarged(image: np.ndarray, factor: int) -> np.ndarray:
    return image.repeat(factor, 0).repeat(factor, 1)


# ---- the grid ----


def test_images_stand_in_their_order_in_a_square_grid():
    images = random(3, SIDE, SIDE, 3)
    shown = pixels_of(hr.Numpy({"x": images}).show(side=SIDE))
    assert shown.shape == (2 * SIDE + 3 * GAP, 2 * SIDE + 3 * GAP, 3)
    first, second = slice(GAP, GAP + SIDE), slice(2 * GAP + SIDE, 2 * GAP + 2 * SIDE)
    expected = np.full_like(shown, 255)
    expected[first, first], expected[first, second], expected[second, first] = images
    assert np.array_equal(shown, expected)


def test_small_images_are_enlarged_by_whole_numbers_and_large_ones_shrunk():
    small, large = random(1, 5, 7, 3), random(1, 64, 30, 3)
    [shown] = images_of(hr.Numpy({"x": small}).show(side=SIDE))
    assert np.array_equal(shown, enlarged(small[0], 2))
    [shown] = images_of(hr.Numpy({"x": large}).show(side=SIDE))
    assert np.array_equal(shown, V.Resize((16, 8))(large[0]))


def test_the_first_n_rows_are_shown_and_the_run_is_ended():
    dataset = hr.Numpy({"x": random(9, 4, 4, 3)}, shuffle=True).with_seed(3)
    before = pipeline_threads()
    sheet = dataset.show(4, side=SIDE)
    assert pipeline_threads() == before and dataset.epoch == 0 and dataset._last_run is None
    assert len(sheet) == 4 and "4 images" in repr(sheet)
    rows = [row["x"] for row, _ in zip(dataset.iterate(epoch=0), range(4), strict=False)]
    assert all(np.array_equal(shown, enlarged(row, 4)) for shown, row in zip(images_of(sheet), rows, strict=True))


def test_a_later_epoch_of_the_dataset_changes_nothing():
    dataset = hr.Numpy({"x": random(9, 4, 4, 3)}, shuffle=True)
    before = dataset.show(2)._repr_png_()
    dataset.epoch = 5
    assert dataset.show(2)._repr_png_() == before and dataset.epoch == 5


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_batches_show_their_rows(size):
    rows = hr.Numpy({"x": random(7, 4, 4, 3), "label": np.arange(7), "name": np.array(list("abcdefg"), object)})
    batched, plain = rows.batch(size).show(5), rows.show(5)
    assert batched._repr_html_() == plain._repr_html_() and captions_of(plain)[4] == ["label: 4", "name: e"]


def test_options_of_the_datasets_loops_are_left_out():
    class Refusing(hr.Callback):
        def epoch_begin(self, at):
            raise AssertionError("called")

    rows = hr.Numpy({"x": random(4, 4, 4, 3)}).batch(2)
    sheet = rows.options(as_="dlpack", device="cpu:0", device_depth=2, callbacks=[Refusing()]).show()
    assert sheet._repr_png_() == rows.show()._repr_png_()


# ---- which images ----


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_images_of_each_number_of_channels_in_both_orders(channels):
    images = random(2, 6, 8, channels)
    if channels == 4:
        images[..., 3] = 255
    expected = [np.broadcast_to(enlarged(each, 2)[..., :3], (12, 16, 3)) for each in images]
    rows = hr.Numpy({"x": images})
    for dataset in (
        rows,
        rows.batch(1),
        rows.map(V.HWC2CHW(), "x"),
        rows.batch(2),
        rows.map(V.HWC2CHW(), "x").batch(2),
    ):
        shown = images_of(dataset.show(side=SIDE))
        assert [np.array_equal(one, other) for one, other in zip(shown, expected, strict=True)] == [True, True]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_where_both_orders_are_possible_the_kernels_decide(dtype):
    images = random(1, 4, 4, 3, dtype=dtype)
    whole = images if dtype == np.uint8 else images >> 8
    rows = hr.Numpy({"x": images})
    for dataset in (rows, rows.map(V.HWC2CHW(), "x"), rows.map(V.HWC2CHW(), "x").rename({"x": "y"}).batch(1)):
        [shown] = images_of(dataset.show(side=SIDE))
        assert np.array_equal(shown, enlarged(whole[0], 4))


def test_the_fourth_channel_is_opacity_over_white():
    image = np.array([[[200, 100, 0, 255], [200, 100, 0, 0], [200, 100, 0, 51]]], np.uint8)
    [shown] = images_of(hr.Numpy({"x": image[None]}).show(side=SIDE))
    assert shown[0, ::5].tolist() == [[200, 100, 0], [255, 255, 255], [244, 224, 204]]


def test_sixteen_bits_are_shown_by_the_higher_eight():
    image = np.array([[[0], [255], [256], [65535]]], np.uint16)
    [shown] = images_of(hr.Numpy({"x": image[None]}).show(side=SIDE))
    assert shown[0, ::4, 0].tolist() == [0, 0, 1, 255]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_of_0_to_1_go_from_black_to_white(dtype):
    image = np.array([[[0], [0.25], [0.5], [1]]], dtype)
    sheet = hr.Numpy({"x": image[None]}).show(side=SIDE)
    assert images_of(sheet)[0][0, ::4, 0].tolist() == [0, 64, 128, 255] and captions_of(sheet) == [[""]]


def test_other_floats_are_scaled_by_their_own_least_and_greatest():
    images = np.array([[[[-2], [-1], [0], [2]]], [[[0], [51], [102], [255]]]], np.float32)
    sheet = hr.Numpy({"x": images}).show(side=SIDE)
    assert [shown[0, ::4, 0].tolist() for shown in images_of(sheet)] == [[0, 64, 128, 255], [0, 51, 102, 255]]
    assert captions_of(sheet) == [["scaled: -2 to 2"], ["scaled: 0 to 255"]]


def test_floats_that_are_not_finite_or_all_alike_are_shown():
    image = np.array([[[np.nan], [np.inf], [-np.inf], [0.2]], [[7]] * 4], np.float32)
    alike = np.full((1, 1, 4, 1), 7, np.float32)
    [shown] = images_of(hr.Numpy({"x": image[None, :1]}).show(side=SIDE))
    assert shown[0, ::4, 0].tolist() == [0, 255, 0, 51]
    [shown] = images_of(hr.Numpy({"x": alike}).show(side=SIDE))
    assert (shown == 128).all()


def test_encoded_images_are_decoded(photos):
    encoded = hr.ImageFolder(str(photos))
    decoded = encoded.map(V.Decode(orientation=True), "image")
    assert encoded.show(5)._repr_png_() == decoded.show(5)._repr_png_() == encoded.batch(3).show(5)._repr_png_()


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"])
def test_images_of_each_format_are_found(format):
    """After a column of other bytes."""
    target = io.BytesIO()
    Image.fromarray(random(16, 16, 3)).save(target, format)
    row = {"other": format.encode(), "image": target.getvalue()}
    rows = hr.Generator(lambda: iter([row, row]), {name: ("bytes", ()) for name in row})
    expected = enlarged(V.Decode()(row["image"]), 1)
    for dataset in (rows, rows.batch(2)):
        sheet = dataset.show(side=SIDE)
        assert all(np.array_equal(shown, expected) for shown in images_of(sheet)) and not sheet.damaged
    with pytest.raises(hr.GraphError, match=r"show: no column holds images: .*JPEG, PNG, WebP, GIF, BMP, TIFF or PNM"):
        rows.project(["other"]).show()


def test_encoded_images_are_turned_upright(tmp_path):
    exif = Image.Exif()
    exif[274] = 6  # to be turned by 90 degrees
    Image.new("RGB", (16, 8)).save(tmp_path / "a.jpg", exif=exif)
    [shown] = images_of(hr.Files(str(tmp_path / "a.jpg")).show(side=SIDE))
    assert shown.shape == (16, 8, 3)


def test_images_that_cannot_be_decoded_are_grey_with_the_reason():
    whole = V.EncodeJpeg()(random(32, 32, 3))
    rows = hr.Numpy({"x": np.array([whole, whole[:200], whole], object)})
    sheet = rows.show(side=SIDE)
    assert sheet.damaged == 1 and len(sheet) == 3
    assert (images_of(sheet)[1] == 208).all() and images_of(sheet)[2].std() > 0
    assert captions_of(sheet)[1][0].startswith("damaged: the JPEG cannot be read")


def test_of_several_columns_the_first_is_shown_unless_another_is_named():
    one, two = random(1, 4, 4, 3), 255 - random(1, 4, 4, 3)
    rows = hr.Numpy({"number": np.arange(1), "one": one, "two": two})
    assert np.array_equal(images_of(rows.show(side=SIDE))[0], enlarged(one[0], 4))
    for sheet in (rows.show(side=SIDE, image="two"), rows.show(side=SIDE, columns="two")):
        assert np.array_equal(images_of(sheet)[0], enlarged(two[0], 4))


def test_images_without_channels_are_shown_if_named():
    images = random(3, 8, 8)
    rows = hr.Numpy({"x": images})
    for dataset in (rows, rows.batch(2)):
        shown = images_of(dataset.show(image="x", side=SIDE))
        assert all(np.array_equal(one[..., 0], enlarged(each, 2)) for one, each in zip(shown, images, strict=True))


def test_frames_of_a_clip_share_its_label():
    clips = hr.Numpy({"x": random(2, 3, 8, 8, 3), "label": np.array([4, 5])})
    sheet = clips.show(4)
    assert captions_of(sheet) == [["label: 4"]] * 3 + [["label: 5"]]


def test_results_of_python_functions_are_found_by_their_values():
    rows = hr.Range(2).map(lambda value: np.full((4, 4, 3), value, np.uint8), "value", "made")
    assert [shown.max() for shown in images_of(rows.show())] == [0, 1]


# ---- captions ----


def test_small_columns_are_written_under_the_images():
    rows = hr.Numpy(
        {
            "x": random(1, 4, 4, 3),
            "label": np.array([7], np.int32),
            "score": np.array([0.1], np.float32),
            "good": np.array([True]),
            "vector": np.array([[1.5, 2]], np.float32),
            "features": np.zeros((1, 9), np.float32),
            "text": np.array(["<a> &\n b"], object),
            "raw": np.array([b"\x00z"], object),
        }
    )
    written = ["label: 7", "score: 0.1", "good: True", "vector: [1.5, 2]", "text: &lt;a&gt; &amp; b"]
    assert captions_of(rows.show()) == [[*written, "raw: b&#x27;\\x00z&#x27;"]]
    assert captions_of(rows.show(columns=["features", "x", "label"])) == [
        ["features: float32 of shape (9,)", "label: 7"]
    ]
    assert captions_of(rows.show(image="x", columns=[])) == [[""]]


def test_long_texts_are_cut():
    rows = hr.Numpy({"x": random(1, 4, 4, 3), "text": np.array(["é" * 300], object)})
    [[written]] = captions_of(rows.show())
    assert written == f"text: {'é' * 200}…"


def test_captions_are_drawn_below_each_image():
    rows = hr.Numpy({"x": random(1, 8, 16, 3), "label": np.array([3])})
    shown = pixels_of(rows.show(side=64))
    assert shown.shape == (32 + LINE + 2 * GAP, 64 + 2 * GAP, 3)
    text = shown[GAP + 32 : GAP + 32 + LINE, GAP : GAP + 64]
    assert np.array_equal(text, lettered(["label: 3"], 64))


def image_of(text: str, width: int) -> list[str]:
    return ["".join("#" if dot == 0 else "." for dot in row) for row in lettered([text], width)[..., 0]]


def test_letters_are_drawn_dot_by_dot():
    assert image_of("1g", 12) == [
        "............",
        "..#.........",
        ".##.........",
        "..#....####.",
        "..#...#...#.",
        "..#...#...#.",
        "..#....####.",
        ".###......#.",
        ".......###..",
        "............",
    ]


def test_every_letter_is_another_one():
    drawn = {letter: lettered([letter], 12).tobytes() for letter in map(chr, range(ord(" "), ord("~") + 1))}
    assert len(drawn) == len(set(drawn.values())) == 95
    assert {lettered([letter], 12).tobytes() for letter in "é…\x1f\x7f"} == {drawn["?"]}


def test_a_text_takes_two_lines_at_most():
    assert np.array_equal(lettered(["abcdef"], 23), lettered(["abcd", "ef"], 23))
    assert np.array_equal(lettered(["abcdefghi"], 23), lettered(["abcd", "ef.."], 23))


# ---- masks ----


def test_a_mask_is_drawn_half_transparent():
    image = random(1, 2, 2, 3)
    mask = np.array([[[0, 1], [2, 255]]], np.uint8)
    rows = hr.Numpy({"x": image, "mask": mask, "label": np.array([1])})
    table = colours().astype(int)
    expected = image[0].astype(int)
    for y, x, value in ((0, 1, 1), (1, 0, 2), (1, 1, 255)):
        expected[y, x] = (expected[y, x] + table[value - 1]) // 2
    for dataset in (rows, rows.batch(1)):
        sheet = dataset.show(side=SIDE)
        assert np.array_equal(images_of(sheet)[0], enlarged(expected, 8)) and captions_of(sheet) == [["label: 1"]]


def test_each_value_of_a_mask_has_a_colour_of_its_own():
    assert len({tuple(colour) for colour in colours().tolist()}) == 255


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint64])
def test_masks_of_each_dtype_of_whole_numbers(dtype):
    image, mask = random(1, 4, 4, 3), np.ones((1, 4, 4), dtype)
    [shown] = images_of(hr.Numpy({"x": image, "m": mask}).show(side=SIDE))
    assert np.array_equal(shown, enlarged((image[0].astype(int) + colours()[0]) // 2, 4))


def test_what_has_another_size_or_floats_is_no_mask():
    rows = {"x": random(1, 4, 4, 3), "a": np.ones((1, 4, 5), np.uint8), "b": np.ones((1, 4, 4), np.float32)}
    [shown] = images_of(hr.Numpy(rows).show(side=SIDE))
    assert np.array_equal(shown, enlarged(rows["x"][0], 4))


def test_a_named_mask_may_have_a_channel():
    rows = {"mask": np.ones((1, 4, 4, 1), np.uint8), "x": random(1, 4, 4, 3)}
    named = hr.Numpy(rows).show(mask="mask")
    plain = hr.Numpy({"x": rows["x"], "mask": rows["mask"][..., 0]}).show()
    assert named._repr_png_() == plain._repr_png_()


def test_a_named_mask_that_does_not_fit_is_an_error():
    rows = hr.Numpy({"x": random(1, 4, 4, 3), "a": np.ones((1, 4, 5), np.uint8), "b": np.ones((1, 4, 4), np.float32)})
    with pytest.raises(hr.DataError, match=r"row 0: the mask, column a, is uint8 of shape \(4, 5\).* 4 × 4"):
        rows.show(mask="a")
    with pytest.raises(hr.GraphError, match=r"mask names column b, which is float32 of shape \(4, 4\)"):
        rows.show(mask="b")


# ---- boxes ----


def outline(left: int, top: int, right: int, bottom: int, number: int = 0, size: int = SIDE) -> np.ndarray:
    """A white image with the frame of a box, whose last row and column are given."""
    drawn = np.full((size, size, 3), 255, np.uint8)
    drawn[top : bottom + 1, left : right + 1] = colours()[number]
    drawn[top + 1 : bottom, left + 1 : right] = 255
    return drawn


def white_with(boxes, size: int = SIDE) -> hr.Dataset:
    return hr.Numpy({"x": np.full((1, size, size, 3), 255, np.uint8), "boxes": np.array(boxes)[None]})


@pytest.mark.parametrize("dtype", [np.int32, np.float16, np.float32, np.uint8])
@pytest.mark.parametrize(
    "box_format, box", [("xyxy", (2, 4, 12, 10)), ("xywh", (2, 4, 10, 6)), ("cxcywh", (7, 7, 10, 6))]
)
def test_a_box_is_outlined_in_each_format(box_format, box, dtype):
    rows = white_with(np.array([box], dtype))
    for dataset in (rows, rows.batch(1)):
        [shown] = images_of(dataset.show(boxes="boxes", box_format=box_format, side=SIDE))
        assert np.array_equal(shown, outline(2, 4, 11, 9))


def test_boxes_are_scaled_with_the_image():
    [shown] = images_of(white_with([[1, 2, 4, 6]], size=8).show(boxes="boxes", side=SIDE))
    assert np.array_equal(shown, outline(2, 4, 7, 11))
    [shown] = images_of(white_with([[4, 8, 17, 24]], size=32).show(boxes="boxes", side=SIDE))
    assert np.array_equal(shown, outline(2, 4, 8, 11))


def test_boxes_have_different_colours_and_the_image_below_stays():
    boxes = [[0, 0, 6, 6], [8, 8, 16, 16]]
    [shown] = images_of(white_with(boxes).show(boxes="boxes", side=SIDE))
    assert np.array_equal(shown, np.minimum(outline(0, 0, 5, 5), outline(8, 8, 15, 15, number=1)))


def test_boxes_are_cut_off_at_the_border():
    [shown] = images_of(white_with([[-5.0, 4, 40, 1e30], [100, 100, 120, 120]]).show(boxes="boxes", side=SIDE))
    expected = np.full((SIDE, SIDE, 3), 255, np.uint8)
    expected[4] = colours()[0]
    assert np.array_equal(shown, expected)


def test_boxes_without_area_are_left_out_and_counted():
    boxes = [[0.0, 0, 0, 0], [4, 4, 2, 8], [np.nan, 0, 4, 4], [2, 4, 12, 10]]
    sheet = white_with(boxes).show(boxes="boxes", side=SIDE)
    assert np.array_equal(images_of(sheet)[0], outline(2, 4, 11, 9, number=3))
    assert captions_of(sheet) == [["boxes: 3 of 4 without area"]]


def test_a_row_may_have_no_box():
    sheet = white_with(np.zeros((0, 4), np.float32)).show(boxes="boxes", side=SIDE)
    assert (images_of(sheet)[0] == 255).all() and captions_of(sheet) == [[""]]


def test_a_show_leaves_the_arrays_of_the_user_alone():
    images = np.full((1, SIDE, SIDE, 3), 255, np.uint8)
    rows = hr.Numpy({"x": images, "m": np.ones((1, SIDE, SIDE), int), "boxes": np.array([[[1, 1, 9, 9]]])})
    rows.show(boxes="boxes", side=SIDE)
    assert (images == 255).all()


@pytest.mark.parametrize(
    "boxes, type_text",
    [
        (np.array([[1, 2, 3, 4]]), r"int64 of shape \(4,\)"),
        (np.array([[[1, 2, 3]]]), r"int64 of shape \(1, 3\)"),
        (np.ones((1, 2, 4), bool), r"bool of shape \(2, 4\)"),
        (np.array(["abcd"], object), r"string of shape \(\)"),
    ],
)
def test_a_column_that_holds_no_boxes_is_refused(boxes, type_text):
    rows = hr.Numpy({"x": random(1, 4, 4, 3), "boxes": boxes})
    with pytest.raises(hr.GraphError, match=rf"row 0: boxes names column boxes, which is {type_text}; .*\(n, 4\)"):
        rows.show(boxes="boxes")


# ---- keypoints ----


def spots(*places: tuple[int, int, int]) -> np.ndarray:
    """A white image with squares of three pixels around places: x, y and the number of the colour."""
    drawn = np.full((SIDE, SIDE, 3), 255, np.uint8)
    for x, y, number in places:
        drawn[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2] = colours()[number]
    return drawn


def white_with_points(points, size: int = SIDE) -> hr.Dataset:
    return hr.Numpy({"x": np.full((1, size, size, 3), 255, np.uint8), "points": np.array(points)[None]})


@pytest.mark.parametrize("dtype", [np.int32, np.float16, np.float32, np.uint8])
def test_each_point_has_a_colour(dtype):
    rows = white_with_points(np.array([[3, 4], [12, 9]], dtype))
    for dataset in (rows, rows.batch(1)):
        [shown] = images_of(dataset.show(keypoints="points", side=SIDE))
        assert np.array_equal(shown, spots((3, 4, 0), (12, 9, 1)))


def test_each_group_of_points_has_a_colour():
    sheet = white_with_points([[[3.5, 4.2], [12, 3]], [[4, 12.9], [11, 11]]]).show(keypoints="points", side=SIDE)
    assert np.array_equal(images_of(sheet)[0], spots((3, 4, 0), (12, 3, 0), (4, 12, 1), (11, 11, 1)))
    assert captions_of(sheet) == [[""]]


def test_points_are_scaled_with_the_image():
    [shown] = images_of(white_with_points([[2, 3.5]], size=8).show(keypoints="points", side=SIDE))
    assert np.array_equal(shown, spots((4, 7, 0)))


def test_points_outside_are_left_out_and_counted():
    sheet = white_with_points([[0.0, 0], [SIDE, SIDE], [-1, 4], [np.nan, 3], [4, 1e30]]).show(
        keypoints="points", side=SIDE
    )
    assert np.array_equal(images_of(sheet)[0], spots((0, 0, 0), (SIDE - 1, SIDE - 1, 1)))
    assert captions_of(sheet) == [["points: 3 of 5 outside"]]


def test_a_row_may_have_no_point():
    sheet = white_with_points(np.zeros((0, 2), np.float32)).show(keypoints="points", side=SIDE)
    assert (images_of(sheet)[0] == 255).all() and captions_of(sheet) == [[""]]


@pytest.mark.parametrize(
    "points, type_text",
    [
        (np.array([[1, 2]]), r"int64 of shape \(2,\)"),
        (np.array([[[1, 2, 3]]]), r"int64 of shape \(1, 3\)"),
        (np.ones((1, 2, 2), bool), r"bool of shape \(2, 2\)"),
    ],
)
def test_a_column_that_holds_no_points_is_refused(points, type_text):
    rows = hr.Numpy({"x": random(1, 4, 4, 3), "points": points})
    with pytest.raises(hr.GraphError, match=rf"row 0: keypoints names column points, which is {type_text}; .*\(n, 2\)"):
        rows.show(keypoints="points")


# ---- refusals ----


def test_without_images_all_columns_are_listed_with_their_types():
    rows = hr.Numpy(
        {
            "x": np.zeros((2, 8, 8), np.uint8),
            "label": np.arange(2),
            "text": np.array(["a", "b"], object),
            "raw": np.array([b"a", b"b"], object),
        }
    )
    listed = (
        "x is uint8 of shape (8, 8), label is int64 of shape (), text is string of shape (), raw is bytes of shape ()"
    )
    with pytest.raises(hr.GraphError) as refused:
        rows.show()
    assert f"(columns: {listed})" in str(refused.value) and "with image=, on the command line --image" in str(
        refused.value
    )
    with pytest.raises(hr.GraphError, match=r"label is int64 of shape \(2,\), text is string of shape \(2,\)"):
        rows.batch(2).show()
    with pytest.raises(hr.GraphError, match="image names column label, which holds no images"):
        rows.show(image="label")


def test_a_missing_column_is_refused_with_the_nearest():
    rows = hr.Numpy({"image": random(1, 4, 4, 3)})
    for given in ({"image": "imgae"}, {"mask": "imgae"}, {"keypoints": "imgae"}, {"columns": ["image", "imgae"]}):
        with pytest.raises(hr.GraphError, match='is "imgae", and there is no such column; did you mean "image"?'):
            rows.show(**given)


@pytest.mark.parametrize(
    "given, said",
    [
        ({"n": 0}, "n is 0; it must be at least 1"),
        ({"n": 5000}, "at most 4,096"),
        ({"side": 15}, "side is 15"),
        ({"n": 4096, "side": 1024}, "more than one sheet holds"),
        ({"box_format": "yxyx"}, "box_format is 'yxyx'; it must be one of 'xyxy', 'xywh', 'cxcywh'"),
        ({"image": 3}, "image is 3; it must be a text"),
        ({"columns": 3}, "columns is 3"),
        ({"image": "image", "boxes": "image"}, "image and boxes both name column image"),
    ],
)
def test_arguments_are_checked(given, said):
    with pytest.raises(hr.GraphError, match=re.escape(said)):
        hr.Numpy({"image": random(1, 4, 4, 3)}).show(**given)


def test_no_rows_are_an_error():
    with pytest.raises(hr.DataError, match="gives no rows"):
        hr.Numpy({"x": random(3, 4, 4, 3)}).take(0).show()


def test_errors_of_the_pipeline_are_its_own(photos):
    def fails(image):
        raise ValueError("mine")

    with pytest.raises(hr.FunctionError, match="mine"):
        hr.ImageFolder(str(photos)).map(fails, "image").show()


def test_images_that_change_their_axes_are_an_error():
    rows = hr.Range(2).map(lambda value: np.zeros((4, 4, 3)[: 3 - int(value)], np.uint8), "value", "x")
    with pytest.raises(hr.DataError, match=r"row 1: column x is uint8 of shape \(4, 4\), not an image"):
        rows.show()


# ---- files and the command ----


def test_a_sheet_is_saved_as_a_png(tmp_path):
    sheet = hr.Numpy({"x": random(3, 4, 4, 3)}).show()
    sheet.save(tmp_path / "a.png")
    sheet.save(f"file://{tmp_path}/b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes() == sheet._repr_png_()
    with pytest.raises(hr.NotFoundError, match="cannot write .*/none/a.png"):
        sheet.save(tmp_path / "none/a.png")


@pytest.mark.parametrize("ending", [".jpg", ".JPEG", ".webp", ".pdf"])
def test_a_sheet_is_not_saved_under_the_name_of_another_format(tmp_path, ending):
    sheet = hr.Numpy({"x": random(3, 4, 4, 3)}).show()
    with pytest.raises(hr.GraphError, match=r"show: a sheet is saved as a PNG, and path is .*; end it with \.png"):
        sheet.save(tmp_path / f"a{ending}")
    assert not list(tmp_path.iterdir())
    sheet.save(tmp_path / "without")
    assert (tmp_path / "without").read_bytes() == sheet._repr_png_()


def test_the_command_draws_a_saved_graph(photos, tmp_path, capsys):
    pipeline = hr.ImageFolder(str(photos), shuffle=True).map([V.Decode(), V.Resize((48, 48))], "image").batch(5)
    pipeline.save(tmp_path / "g.hrg")
    out = tmp_path / "sheet.png"
    assert main(["show", str(tmp_path / "g.hrg"), "--out", str(out), "--rows", "7"]) == 0
    assert capsys.readouterr().out == f"{out}: 7 images\n"
    assert out.read_bytes() == pipeline.show(7)._repr_png_()


def test_the_command_takes_the_names_of_columns(photos, tmp_path, capsys):
    lines = ['{"boxes": [[10, 20, 100, 60]], "points": [[30, 40]]}', '{"boxes": [], "points": []}']
    (tmp_path / "boxes.jsonl").write_text("\n".join(lines))
    images = hr.ImageFolder(str(photos), columns=["image"])
    masks = images.map([V.Decode(mode="L"), V.Posterize(1)], "image").rename({"image": "mask"})
    types = {"boxes": ("float32", (None, 4)), "points": ("float32", (None, 2))}
    boxes = hr.JsonLines(str(tmp_path / "boxes.jsonl"), types)
    pipeline = masks.zip(images.map(V.Decode(), "image")).zip(boxes)
    pipeline.save(tmp_path / "g.hrg")
    out = tmp_path / "sheet.png"
    names = ["--image", "image", "--mask", "mask", "--boxes", "boxes", "--box-format", "xywh", "--keypoints", "points"]
    assert main(["show", str(tmp_path / "g.hrg"), "--out", str(out), *names]) == 0
    expected = pipeline.show(image="image", mask="mask", boxes="boxes", box_format="xywh", keypoints="points")
    assert out.read_bytes() == expected._repr_png_()


def test_the_command_counts_damaged_images(photos, tmp_path, capsys):
    (tmp_path / "a").mkdir()
    whole = (photos / "things/coffee.jpg").read_bytes()
    for name, data in (("1.jpg", whole), ("2.jpg", whole[:3000])):
        (tmp_path / "a" / name).write_bytes(data)
    hr.ImageFolder(str(tmp_path)).save(tmp_path / "g.hrg")
    assert main(["show", str(tmp_path / "g.hrg"), "--out", str(tmp_path / "sheet.png")]) == 0
    assert "sheet.png: 2 images, 1 of them damaged" in capsys.readouterr().out


def test_the_command_says_what_is_wrong(tmp_path, capsys):
    graph, out = str(tmp_path / "g.hrg"), str(tmp_path / "sheet.png")
    hr.Range(3).save(graph)
    assert main(["show", graph, "--out", out]) == 1
    assert "no column holds images" in capsys.readouterr().err
    assert main(["show", graph, "--out", out, "--image", "vlaue"]) == 1
    assert 'did you mean "value"?' in capsys.readouterr().err
    assert main(["show", graph, "--out", out, "--rows", "0"]) == 1
    assert "--rows is 0" in capsys.readouterr().err
    hr.Range(3).map(lambda value: value, "value").save(graph)
    assert main(["show", graph, "--out", out]) == 1
    assert "<lambda>" in (said := capsys.readouterr().err) and "ds.show().save(path)" in said
    assert not (tmp_path / "sheet.png").exists()
