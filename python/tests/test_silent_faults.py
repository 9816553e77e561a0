"""Training that goes wrong in silence: each probable mistake is a warning, once, at the line of the script."""

import warnings

import numpy as np
import pytest
from conftest import values

import headrace as hr
from headrace import vision as V
from headrace._arguments.doubts import _said


@pytest.fixture(autouse=True)
def nothing_said():
    _said.clear()


def said_by(make):
    """The warnings of a function; no warning comes from another line than its own file's."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make()
    assert all(each.filename.endswith("test_silent_faults.py") for each in caught)
    return [str(each.message) for each in caught if issubclass(each.category, hr.PipelineWarning)]


def test_a_zip_of_other_lengths_says_which_rows_are_left_out():
    def run(a, b):
        return said_by(lambda: list(hr.Range(a).zip(hr.Range(b).rename({"value": "mask"})).batch(2)))

    (text,) = run(1000, 999)
    assert text.startswith("zip: the inputs have 1,000 and 999 rows, and the rows beyond 999 are left out")
    assert "take(999)" in text
    assert run(5, 5) == []
    endless = hr.Range(3).rename({"value": "b"}).repeat()
    assert said_by(lambda: values(hr.Range(5).zip(endless))) == []
    zipped = hr.Range(5).zip(hr.Range(4).rename({"value": "b"}))
    assert len(said_by(lambda: [list(zipped), list(zipped), list(zipped.iterate(epoch=1))])) == 1


def test_a_zip_of_other_lengths_under_an_epoch_and_a_shard():
    zipped = hr.Range(9).zip(hr.Range(7).rename({"value": "b"}))
    (text,) = said_by(lambda: list(zipped.iterate(shard=(0, 2))))
    assert "9 and 7 rows" in text


def test_a_cache_over_steps_that_draw():
    images = hr.Numpy({"image": np.zeros((4, 8, 8, 3), np.uint8)})
    (text,) = said_by(lambda: images.map(V.RandomCrop(4), "image").batch(2).cache())
    assert text.startswith("cache: RandomCrop below it draws")
    (text,) = said_by(lambda: images.map(V.RandomApply([V.Invert()]), "image").cache())
    assert text.startswith("cache: RandomApply below it draws")
    (text,) = said_by(lambda: images.map(lambda image, rng: image, "image").cache())
    assert text.startswith("cache: a Python function below it draws")
    # One order for all epochs is what some want, and others shuffle above.
    assert said_by(lambda: hr.Range(4, shuffle=True).cache()) == []
    assert said_by(lambda: hr.Range(4).shuffle(2).cache().shuffle(2)) == []
    assert said_by(lambda: images.map(V.RandomCrop(4), "image").cache(transparent=True)) == []
    assert said_by(lambda: images.map(V.CenterCrop(4), "image").cache().map(V.RandomCrop(2), "image")) == []


def test_a_mask_that_is_a_plain_column():
    images = hr.Numpy({"image": np.zeros((4, 8, 8, 3), np.uint8), "mask": np.zeros((4, 8, 8), np.uint8)})
    other = images.rename({"mask": "target"})
    both = ["image", "mask"]
    (text,) = said_by(lambda: images.map(V.Resize((4, 4)), both))
    assert text.startswith('map: Resize interpolates column "mask"')
    assert 'hr.mask("mask")' in text
    assert 'column "target"' in said_by(lambda: other.map([V.HorizontalFlip(), V.Resize(4)], ["image", "target"]))[0]
    assert len(said_by(lambda: images.map(V.RandomApply([V.Resize(4)]), both))) == 1
    assert len(said_by(lambda: images.map(V.Resize(4), "mask"))) == 1
    assert said_by(lambda: images.map(V.Resize(4, "nearest"), both)) == []
    assert said_by(lambda: images.map(V.CenterCrop(4), both)) == []
    assert said_by(lambda: images.map(V.Resize(4), ["image", hr.mask("mask")])) == []
    two = hr.Numpy({"left": np.zeros((4, 8, 8, 3), np.uint8), "right": np.zeros((4, 8, 8, 3), np.uint8)})
    assert said_by(lambda: two.map(V.Resize(4), ["left", "right"])) == []
    soft = hr.Numpy({"image": np.zeros((4, 8, 8, 3), np.uint8), "mask": np.zeros((4, 8, 8), np.float32)})
    assert said_by(lambda: soft.map(V.Resize(4), both)) == []


@pytest.mark.parametrize("delimiter", ["\t", ";", "|"])
def test_a_table_between_other_delimiters_that_reads_as_one_column(tmp_path, delimiter):
    path = tmp_path / "table.csv"
    path.write_text(f"a{delimiter}b\n1{delimiter}2\n")
    (text,) = said_by(lambda: hr.Csv(path))
    assert f'write delimiter="{chr(92) + "t" if delimiter == chr(9) else delimiter}"' in text
    assert len(said_by(lambda: hr.Csv(path, header=False, columns=["line"]))) == 1
    assert said_by(lambda: list(hr.Csv(path, delimiter=delimiter))) == []
    assert said_by(lambda: list(hr.Csv(path, {f"a{delimiter}b": str}))) == []
    path.write_text("text\nwithout any\n")
    assert said_by(lambda: list(hr.Csv(path))) == []


MEAN, STD = (123.7, 116.3, 103.5), (58.4, 57.1, 57.4)


def normalized(*kernels):
    images = hr.Numpy({"image": np.zeros((4, 8, 8, 3), np.uint8)}).rename({"image": "x"})
    return said_by(lambda: images.map(list(kernels), "x").schema)


def test_means_of_bytes_over_an_image_of_units():
    (text,) = normalized(V.ToFloat(), V.Normalize(MEAN, STD))
    assert "Normalize: mean and std are those of pixels of 0 … 255, but ToFloat below it made them 0 … 1" in text
    for kernels in (
        [V.ToFloat(), V.Resize(4), V.RandomHorizontalFlip(), V.Normalize(MEAN, STD)],
        [V.Rescale(1 / 255), V.Normalize(MEAN, STD)],
        [V.ToFloat(), V.RandomApply([V.RandomHorizontalFlip()]), V.HWC2CHW(), V.Normalize(MEAN, STD, layout="CHW")],
        [V.ToFloat(), V.ColorJitter(0.2), V.Normalize(MEAN, STD)],
        [V.ToFloat(), V.Normalize(0, 255)],
    ):
        assert len(normalized(*kernels)) == 1, kernels
    for kernels in (
        [V.Normalize(MEAN, STD)],
        [V.ToFloat(), V.Normalize(0.5, 0.5)],
        [V.ToFloat(), V.Normalize(0, 1)],
        [V.ToFloat(), V.Rescale(255), V.Normalize(MEAN, STD)],
        [V.ToFloat(), lambda image: image * 255, V.Normalize(MEAN, STD)],
        [V.ToFloat(), V.Normalize(0.5, 0.5), V.Normalize(MEAN, STD)],
    ):
        assert normalized(*kernels) == [], kernels


def test_means_of_bytes_over_units_across_maps_and_in_a_call():
    images = hr.Numpy({"image": np.zeros((4, 8, 8, 3), np.uint8)}).map(V.ToFloat(), "image").rename({"image": "x"})
    assert len(said_by(lambda: list(images.batch(2).map(lambda y: y, "x").unbatch()))) == 0
    assert len(said_by(lambda: list(images.take(2).map(V.Normalize(MEAN, STD), "x")))) == 1
    call = hr.compose([V.ToFloat(), V.Normalize(MEAN, STD)])
    assert len(said_by(lambda: call(np.zeros((4, 4, 3), np.uint8)))) == 1


def test_images_that_a_folder_leaves_out(tmp_path):
    png = V.EncodePng()(np.zeros((4, 4, 3), np.uint8))
    for name in ("a/1.jpg", "a/2.webp", "a/deep/3.BMP", "b/4.png", "b/5.tif", "b/notes.txt", "b/.6.gif"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png)
    folder = hr.ImageFolder(tmp_path, columns=["path"])
    (text,) = said_by(lambda: [list(folder), list(folder), list(hr.ImageFolder(tmp_path).batch(2))])[:1]
    assert "are left out, by their endings: 1 .bmp, 1 .tif, 1 .webp" in text
    endings = (".jpg", ".jpeg", ".png", ".bmp", ".tif", ".webp")
    assert f"extensions=({', '.join(f'{chr(34)}{each}{chr(34)}' for each in endings)})" in text
    assert said_by(lambda: values(hr.ImageFolder(tmp_path, extensions=endings), "label")) == []
    assert said_by(lambda: values(hr.ImageFolder(tmp_path, extensions=[".jpg", ".png"]), "label")) == []
