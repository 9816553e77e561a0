"""Augmenters of headrace.mx.image: what they make of an image, by themselves and in ImageIter, and what they draw."""

import json
import pickle
import random
import subprocess

import numpy as np
import pytest

import headrace as hr
import headrace.mx as mx
from tests.mxnet_reference import PYTHON, needs_mxnet
from tests.small_image_records import encoded, image_of, write_records

I = mx.image  # noqa: E741
HEIGHT, WIDTH = 20, 30
MANY = 600


@pytest.fixture(scope="module")
def image():
    return image_of(1, HEIGHT, WIDTH)


@pytest.fixture(autouse=True)
def _drawn_alike():
    random.seed(1)


def names(augmenters):
    return [type(each).__name__ for each in augmenters]


# ---- CreateAugmenter ----


def test_augmenters_come_in_the_order_of_mxnet():
    shape = (3, 8, 10)
    assert names(I.CreateAugmenter(shape)) == ["CenterCropAug", "CastAug"]
    assert names(I.CreateAugmenter(shape, rand_crop=True)) == ["RandomCropAug", "CastAug"]
    everything = I.CreateAugmenter(
        shape, 12, True, True, True, True, True, brightness=0.1, contrast=0.2, saturation=0.3, hue=0.4, pca_noise=0.5,
        rand_gray=0.6, inter_method=3,
    )  # fmt: skip
    assert names(everything) == [
        "ResizeAug", "RandomSizedCropAug", "HorizontalFlipAug", "CastAug", "ColorJitterAug", "HueJitterAug",
        "LightingAug", "RandomGrayAug", "ColorNormalizeAug",
    ]  # fmt: skip
    resize, crop, flip, _, jitter, *_ = everything
    assert (resize.size, resize.interp, crop.size, crop.area, flip.p) == (12, 3, (10, 8), (0.08, 1.0), 0.5)
    assert names(jitter.ts) == ["BrightnessJitterAug", "ContrastJitterAug", "SaturationJitterAug"]
    assert names(I.CreateAugmenter(shape, contrast=0.1)[2].ts) == ["ContrastJitterAug"]


def test_means_are_given_or_those_of_imagenet():
    def normalized(**given):
        return I.CreateAugmenter((3, 8, 8), **given)[-1]

    assert np.allclose(normalized(mean=True).mean, (123.68, 116.28, 103.53)) and normalized(mean=True).std is None
    assert np.allclose(normalized(std=True).std, (58.395, 57.12, 57.375)) and normalized(std=True).mean is None
    assert normalized(mean=np.array([1.0])).mean.tolist() == [1]
    for wrong in ({"mean": False}, {"std": 5}, {"mean": np.ones(2)}, {"std": np.zeros(3)}, {"mean": np.ones((3, 3))}):
        with pytest.raises(hr.GraphError, match=r"mean|std"):
            normalized(**wrong)


@needs_mxnet
def test_what_augmenters_say_of_themselves_is_what_mxnet_says():
    given = {
        "resize": 12, "rand_crop": True, "rand_resize": True, "rand_mirror": True, "brightness": 0.1, "contrast": 0.2,
        "saturation": 0.3, "hue": 0.4, "pca_noise": 0.5, "rand_gray": 0.6, "mean": True, "std": True,
    }  # fmt: skip
    program = (
        "import json, sys, mxnet as mx; given = json.load(sys.stdin);"
        "print(json.dumps([each.dumps() for each in mx.image.CreateAugmenter((3, 8, 10), **given)]))"
    )
    asked = [PYTHON, "-c", program]
    told = subprocess.run(asked, input=json.dumps(given), text=True, check=True, timeout=120, capture_output=True)
    ours = [each.dumps() for each in I.CreateAugmenter((3, 8, 10), **given)]
    assert [_read(each) for each in ours] == [_read(each) for each in json.loads(told.stdout)]


def _read(dumped):
    return json.loads(dumped) if isinstance(dumped, str) else dumped


# ---- what they make of an image ----


def test_sizes(image):
    assert np.array_equal(I.ResizeAug(10)(image), I.resize_short(image, 10))
    assert np.array_equal(I.ResizeAug(10, interp=1)(image), I.resize_short(image, 10, 1))
    assert np.array_equal(I.ForceResizeAug((7, 9))(image), I.imresize(image, 7, 9, 2))
    assert np.array_equal(I.CenterCropAug((7, 9))(image), I.center_crop(image, (7, 9))[0])
    for crop in (I.CenterCropAug((35, 25)), I.RandomCropAug((35, 25)), I.RandomSizedCropAug((35, 25), 0.5, (1, 2))):
        assert crop(image).shape == (25, 35, 3)
    reals = I.CastAug()(image)
    assert I.ResizeAug(10)(reals).dtype == np.float32


@pytest.mark.parametrize(
    "made",
    [
        lambda interp: I.ResizeAug(13, interp),
        lambda interp: I.ForceResizeAug((7, 9), interp),
        lambda interp: I.CenterCropAug((45, 30), interp),
        lambda interp: I.RandomCropAug((45, 30), interp),
        lambda interp: I.RandomSizedCropAug((7, 9), (1, 1), (WIDTH / HEIGHT, WIDTH / HEIGHT), interp),
    ],
)
def test_a_drawn_interpolation_is_one_of_five(image, made, tmp_path):
    """By itself and in ImageIter."""
    kinds = {made(number)(image).tobytes(): number for number in range(5)}
    assert len(kinds) == 5
    drawn = made(10)
    assert {kinds[drawn(image).tobytes()] for _ in range(60)} == {*range(5)}
    write_records(tmp_path, "same", [encoded(image[:, :, ::-1])] * 60)
    shape = (3, *drawn(image).shape[:2])
    batch = I.ImageIter(60, shape, path_imgrec=str(tmp_path / "same.rec"), seed=1, aug_list=[drawn]).next()
    rows = [row.transpose(1, 2, 0).astype(np.uint8) for row in batch.data[0].asnumpy()]
    assert {kinds[row.tobytes()] for row in rows} == {*range(5)}


def test_values(image):
    mean, std = np.array([1, 2, 3]), np.array([4.0, 5.0, 6.0])
    assert np.array_equal(I.ColorNormalizeAug(mean, std)(image), I.color_normalize(image, mean, std))
    assert np.array_equal(I.ColorNormalizeAug(None, 2)(image), image / np.float32(2))
    assert np.array_equal(I.ColorNormalizeAug([7], None)(image), image - np.float32(7))
    cast = I.CastAug()(image)
    assert type(cast) is mx.nd.NDArray and cast.dtype == np.float32 and np.array_equal(cast, image)
    assert I.CastAug("float16")(image).dtype == np.float16
    assert np.array_equal(I.HorizontalFlipAug(1)(cast), cast[:, ::-1])
    assert np.array_equal(I.HorizontalFlipAug(0)(cast), cast)


def test_colours_take_whole_levels(image):
    grey = I.RandomGrayAug(1)
    reals = image.astype(np.float32)
    assert grey(reals).dtype == np.float32 and grey(image).dtype == np.uint8
    assert np.array_equal(grey(reals), grey(image))
    assert np.array_equal(grey(reals + 0.4), grey(image))
    assert np.array_equal(grey(np.full((2, 2, 3), 300, np.float32)), np.full((2, 2, 3), 255))
    assert np.array_equal(grey(np.full((2, 2, 3), -9, np.float32)), np.zeros((2, 2, 3)))
    weights = np.array([0.299, 0.587, 0.114])
    assert np.abs(grey(image)[..., 0] - image @ weights).max() <= 1


def test_the_image_itself_stays_as_it_is(image):
    before = image.copy()
    for augmenter in I.CreateAugmenter((3, 8, 8), rand_mirror=True, brightness=0.5, mean=True):
        augmenter(image)
    assert np.array_equal(image, before)


def test_several_make_a_sequence(image):
    both = I.SequentialAug([I.ResizeAug(10), I.CastAug()])
    assert np.array_equal(both(image), I.resize_short(image, 10).astype(np.float32))
    assert both.dumps() == ["sequentialaug", [each.dumps() for each in both.ts]]
    with pytest.raises(NotImplementedError, match="__call__"):
        I.Augmenter(size=3)(image)
    assert I.Augmenter(size=np.array([3])).dumps() == '["augmenter", {"size": [3]}]'
    copied = pickle.loads(pickle.dumps(both))
    assert np.array_equal(copied(image), both(image))


FIXED = [
    [I.ResizeAug(10), I.CenterCropAug((9, 8))],
    [I.CenterCropAug((35, 25)), I.CastAug()],
    [I.CastAug(), I.ForceResizeAug((9, 8), 1), I.ColorNormalizeAug([1, 2, 3], [4, 5, 6])],
    [I.CastAug(), I.CenterCropAug((9, 8)), I.RandomGrayAug(1), I.HorizontalFlipAug(1)],
    [I.CastAug(), I.RandomGrayAug(1), I.CastAug("uint8"), I.RandomOrderAug([I.HorizontalFlipAug(1)])],
    [I.CastAug(), I.ResizeAug(10), I.RandomOrderAug([I.RandomGrayAug(1), I.HorizontalFlipAug(1)])],
    [I.CastAug(), I.RandomOrderAug([I.SequentialAug([I.RandomGrayAug(1)]), I.ForceResizeAug((9, 8))])],
    [I.RandomOrderAug([]), I.ColorJitterAug(0, 0, 0)],
]


@pytest.mark.parametrize("number", range(len(FIXED)))
def test_an_iterator_gives_what_the_calls_give(image, tmp_path, number):
    if number == 6:
        image = np.repeat(image[..., :1], 3, axis=2)  # The steps in random order then are the same in each.
    path = write_records(tmp_path, "one", [encoded(image[..., ::-1])])
    called = image
    for augmenter in FIXED[number]:
        called = augmenter(called)
    shape = (3, *called.shape[:2])
    given = I.ImageIter(1, shape, path_imgrec=path, aug_list=FIXED[number]).next().data[0][0]
    assert np.array_equal(given, called.transpose(2, 0, 1))


# ---- what they draw ----


def test_pythons_random_decides_what_calls_draw(image):
    crop = I.RandomCropAug((5, 5))
    random.seed(3)
    first = [crop(image) for _ in range(5)]
    assert not all(np.array_equal(first[0], each) for each in first)
    random.seed(3)
    assert all(np.array_equal(crop(image), each) for each in first)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Rows of an iterator over equal images, for each of which the augmenter draws anew."""

    def rows(augmenters, image):
        folder = tmp_path_factory.mktemp("equal")
        path = write_records(folder, "equal", [encoded(np.ascontiguousarray(image[..., ::-1]))] * MANY)
        probe = image
        for each in augmenters:
            probe = each(probe)
        shape = (3, *probe.shape[:2])
        return I.ImageIter(MANY, shape, path_imgrec=path, aug_list=augmenters, seed=4).next().data[0].asnumpy()

    return rows


def test_flips_and_greys_are_as_likely_as_asked_for(drawn):
    columns = np.zeros((2, 4, 3), np.uint8)
    columns[:, 0] = (200, 10, 60)
    flipped = drawn([I.HorizontalFlipAug(0.3)], columns)[:, 0, 0, 3] > 0
    grey = drawn([I.CastAug(), I.RandomGrayAug(0.7)], columns)
    assert abs(flipped.mean() - 0.3) < 0.08
    assert abs((grey[:, 0, 0, 0] == grey[:, 1, 0, 0]).mean() - 0.7) < 0.08


def test_crops_are_uniform(drawn):
    places = np.zeros((6, 8, 3), np.uint8)
    places[..., 0], places[..., 1] = np.mgrid[:6, :8]
    cut = drawn([I.RandomCropAug((5, 4))], places)
    for corner, count in ((cut[:, 0, 0, 0], 3), (cut[:, 1, 0, 0], 4)):
        shares = np.bincount(corner.astype(int), minlength=count) / MANY
        assert len(shares) == count and np.abs(shares - 1 / count).max() < 0.09


def test_crops_of_random_size_have_the_areas_and_ratios_asked_for(drawn):
    places = np.zeros((100, 100, 3), np.uint8)
    places[..., 0], places[..., 1] = np.mgrid[:100, :100]
    cut = drawn([I.RandomSizedCropAug((10, 10), (0.2, 0.6), (0.5, 2), 0)], places)
    # Between the first and the last of ten samples are nine tenths of a side.
    heights, widths = (np.ptp(cut[:, axis], axis=(1, 2)) / 0.9 for axis in (0, 1))
    areas, ratios = heights * widths / 10_000, widths / heights
    assert areas.min() > 0.15 and areas.max() < 0.68 and abs(areas.mean() - 0.4) < 0.03
    assert ratios.min() > 0.42 and ratios.max() < 2.4 and abs(np.log(ratios).mean()) < 0.1


@pytest.mark.parametrize(
    ("augmenter", "factor"),
    [
        (I.BrightnessJitterAug(0.4), lambda rows: rows[:, 0, 0, 0] / 100),
        (I.ContrastJitterAug(0.4), lambda rows: (rows[:, 0, 0, 0] - rows[:, 0, 0, 1]) / -100),
        (I.SaturationJitterAug(0.4), lambda rows: (rows[:, 1, 0, 0] - rows[:, 0, 0, 0]) / 40),
    ],
    ids=["brightness", "contrast", "saturation"],
)
def test_factors_are_uniform_about_one(drawn, augmenter, factor):
    image = np.zeros((1, 2, 3), np.uint8)
    image[0, 0], image[0, 1] = (100, 100, 100), (200, 200, 200)
    if isinstance(augmenter, I.SaturationJitterAug):
        image[:] = (80, 120, 100)
    factors = factor(drawn([I.CastAug(), augmenter], image).astype(float))
    if isinstance(augmenter, I.BrightnessJitterAug):
        assert factors.max() > 1.35
    assert factors.min() > 0.55 and factors.max() < 1.45
    assert abs(factors.mean() - 1) < 0.05 and abs(factors.std() - 0.8 / 12**0.5) < 0.04


def test_hues_turn_by_at_most_the_angle_asked_for(drawn):
    red = np.full((1, 1, 3), 0, np.uint8)
    red[..., 0] = 240
    rows = drawn([I.HueJitterAug(0.25)], red)[:, :, 0, 0]
    # From red, 60 degrees are one channel's way from 0 to its maximum.
    angles = 60 * (rows[:, 1] - rows[:, 2]) / 240
    assert np.abs(angles).max() <= 46 and np.abs(angles).max() > 40 and abs(angles.mean()) < 4
    assert abs(angles.std() - 90 / 12**0.5) < 3


def test_noise_lies_along_the_principal_components(drawn):
    rows = drawn([I.LightingAug(0.5)], np.full((1, 1, 3), 128, np.uint8))[:, :, 0, 0] - 128
    values, vectors = np.array([55.46, 4.794, 1.148]), np.array(
        [[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]]
    )  # fmt: skip
    expected = vectors @ np.diag((0.5 * values) ** 2) @ vectors.T
    assert np.abs(np.cov(rows.T) - expected).max() < 0.2 * expected.max() and np.abs(rows.mean(0)).max() < 3


def test_colours_are_changed_in_all_orders(drawn):
    dark = np.full((1, 2, 3), 0, np.uint8)
    dark[0, 1] = 200
    both = I.RandomOrderAug([I.BrightnessJitterAug(1.0), I.ContrastJitterAug(1.0)])
    # Brightness leaves 0 as it is where it is last or the contrast rose.
    shares = (drawn([both], dark)[:, 0, 0, 0] > 0).mean()
    assert 0.2 < shares < 0.8


# ---- mistakes ----

WRONG = {
    "ResizeAug: size": lambda: I.ResizeAug(0),
    r"ForceResizeAug: size is 5; it must be \(width, height\)": lambda: I.ForceResizeAug(5),
    "CenterCropAug: size is": lambda: I.CenterCropAug((1, 2, 3)),
    "RandomSizedCropAug: area is": lambda: I.RandomSizedCropAug((4, 4), (0.5, 0.2), (1, 1)),
    "RandomSizedCropAug: ratio is": lambda: I.RandomSizedCropAug((4, 4), 0.5, (0, 1)),
    "HorizontalFlipAug: p is 2; it must be between 0 and 1": lambda: I.HorizontalFlipAug(2),
    "BrightnessJitterAug: brightness is -1": lambda: I.BrightnessJitterAug(-1),
    "ColorJitterAug|ContrastJitterAug: contrast is": lambda: I.ColorJitterAug(0, 2, 0),
    "SaturationJitterAug: saturation is 'a'": lambda: I.SaturationJitterAug("a"),
    "HueJitterAug: hue": lambda: I.HueJitterAug(1.5),
    "LightingAug: alphastd": lambda: I.LightingAug(-1),
    "RandomGrayAug: p": lambda: I.RandomGrayAug(None),
    "CastAug: typ": lambda: I.CastAug("text"),
    "std is 0; each must be above 0": lambda: I.ColorNormalizeAug(0, 0),
    "resize": lambda: I.CreateAugmenter((3, 8, 8), resize=-1),
    "rand_mirror": lambda: I.CreateAugmenter((3, 8, 8), rand_mirror="yes"),
    r"data_shape is \(3, 8\)": lambda: I.CreateAugmenter((3, 8)),
}


@pytest.mark.parametrize("message", WRONG)
def test_mistakes_are_named(message):
    with pytest.raises(hr.GraphError, match=message):
        WRONG[message]()


def test_what_no_kernel_does_is_refused():
    with pytest.raises(hr.UnsupportedError, match=r"ResizeAug: interp is 5; it must be .* or 10 \(random\)"):
        I.ResizeAug(10, 5)
    with pytest.raises(hr.UnsupportedError, match="CenterCropAug: interp is 11"):
        I.CreateAugmenter((3, 8, 8), inter_method=11)
    with pytest.raises(hr.UnsupportedError, match="RandomSizedCropAug: interp is 9"):
        I.CreateAugmenter((3, 8, 8), rand_crop=True, rand_resize=True, inter_method=9)
    with pytest.raises(hr.UnsupportedError, match="LightingAug: eigval"):
        I.LightingAug(0.1, np.ones(3), np.eye(3))
    with pytest.raises(hr.UnsupportedError, match="LightingAug: eigvec"):
        I.LightingAug(0.1, np.array([55.46, 4.794, 1.148]), np.eye(3))
