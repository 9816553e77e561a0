"""The parameter mean_img of headrace.mx.io.ImageRecordIter, beside MXNet 1.9.1's."""

import logging
import pathlib
import struct

import numpy as np
import pytest

import headrace as hr
import headrace.mx as mx
from headrace import vision as V
from headrace.mx.io.mean_image import MeanImage
from tests.mxnet_reference import needs_mxnet, run_mxnet, run_ours
from tests.small_image_records import encoded, image_of, write_records

REAL = pathlib.Path(__file__).resolve().parents[2] / "io/formats/ndarray/testdata/mxnet-mean.bin"
ROWS = 10
SHAPE = (3, 8, 6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """`some`: ten images; `bad`: the same, of which the third cannot be decoded."""
    folder = tmp_path_factory.mktemp("mean")
    payloads = [encoded(image_of(i)) for i in range(ROWS)]
    write_records(folder, "some", payloads)
    write_records(folder, "bad", [*payloads[:2], b"no image", *payloads[3:]])
    return folder


def some(folder, name="some", **given):
    parameters = {"data_shape": SHAPE, "batch_size": 5, "path_imgrec": str(folder / f"{name}.rec"), **given}
    return mx.io.ImageRecordIter(**parameters)


def data(iterator):
    return np.concatenate([batch.data[0].asnumpy() for batch in iterator])


def stored(path):
    return mx.nd.load(path)["mean_img"]


# ---- a mean that is there ----


def test_a_mean_image_is_subtracted(folder):
    plain, mean = data(some(folder)), mx.nd.load(REAL)["mean_img"]
    assert np.array_equal(data(some(folder, mean_img=str(REAL))), plain - mean)
    assert np.array_equal(data(some(folder, mean_img=REAL, scale=0.5)), (plain - mean) * np.float32(0.5))


def test_images_are_mirrored_with_their_mean(folder):
    plain, mean = data(some(folder)), mx.nd.load(REAL)["mean_img"]
    assert np.array_equal(data(some(folder, mean_img=REAL, mirror=True)), (plain - mean)[:, :, :, ::-1])


@pytest.mark.parametrize(("channels", "shape"), [(1, (1, 8, 6)), (3, SHAPE)])
def test_channels_are_those_of_data_shape(folder, tmp_path, channels, shape):
    mean = np.random.default_rng(0).random(shape, np.float32)
    mx.nd.save(tmp_path / "mean.bin", {"mean_img": mean})
    plain = data(some(folder, data_shape=shape))
    assert np.array_equal(data(some(folder, data_shape=shape, mean_img=tmp_path / "mean.bin")), plain - mean)


def test_a_mean_that_does_not_fit_is_refused(folder, tmp_path):
    with pytest.raises(hr.DataError, match=r"mxnet-mean\.bin has shape \(3, 8, 6\), and data_shape is \(3, 6, 8\)"):
        some(folder, data_shape=(3, 6, 8), mean_img=REAL)
    path = tmp_path / "mean.bin"
    for values, message in (
        ([np.zeros(SHAPE)] * 2, "has 2 arrays"),
        (np.full(SHAPE, np.nan), "no finite numbers"),
        (np.zeros((8, 6)), r"has shape \(8, 6\)"),
    ):
        mx.nd.save(path, values)
        with pytest.raises(hr.DataError, match=message):
            some(folder, mean_img=path)
    path.write_bytes(b"no arrays")
    with pytest.raises(hr.DataError, match=r"mean\.bin"):
        some(folder, mean_img=path)


def test_a_state_belongs_to_its_mean(folder, tmp_path):
    iterator = some(folder, mean_img=REAL)
    iterator.next()
    again = some(folder, mean_img=REAL, state=iterator.state())
    assert np.array_equal(again.next().data[0], iterator.next().data[0])
    mx.nd.save(tmp_path / "other.bin", np.ones(SHAPE, np.float32))
    with pytest.raises(hr.StateError):
        some(folder, mean_img=tmp_path / "other.bin", state=iterator.state())


# ---- a mean that is missing ----


def test_a_missing_mean_is_made_of_all_images(folder, tmp_path, caplog):
    caplog.set_level(logging.INFO, "headrace.mx")
    path = tmp_path / "mean.bin"
    first = data(some(folder, mean_img=path))
    plain = data(some(folder))
    expected = plain.mean(axis=0, dtype=np.float64).astype(np.float32)
    assert stored(path).dtype == np.float32 and np.array_equal(stored(path), expected)
    assert np.array_equal(first, plain - expected)
    assert f"made the mean image of 10 images: {path}" in caplog.text
    written = path.read_bytes()
    caplog.clear()
    assert np.array_equal(data(some(folder, mean_img=path)), first)
    assert path.read_bytes() == written and "made" not in caplog.text
    assert [*tmp_path.iterdir()] == [path]
    some(folder, mean_img=tmp_path / "quiet.bin", verbose=False)
    assert "made" not in caplog.text


@pytest.mark.parametrize("given", [{"resize": 20}, {"rotate": 30}, {"pad": 2, "fill_value": 9}])
def test_geometry_is_in_a_mean_that_is_made(folder, tmp_path, given):
    larger = {"data_shape": (3, 14, 17)}
    some(folder, mean_img=tmp_path / "mean.bin", **larger, **given)
    expected, plain = (
        data(some(folder, **larger, **each)).mean(axis=0, dtype=np.float64).astype(np.float32) for each in (given, {})
    )
    assert np.array_equal(stored(tmp_path / "mean.bin"), expected) and not np.array_equal(expected, plain)


@pytest.mark.parametrize(
    "given",
    [
        {"rand_crop": True},
        {"random_resized_crop": True, "min_random_area": 0.2, "max_aspect_ratio": 0.3},
        {"max_rotate_angle": 40},
        {"brightness": 0.5, "contrast": 0.5, "saturation": 0.5, "pca_noise": 0.3},
        {"mirror": True},
        {"rand_mirror": True},
        {"scale": 1 / 255, "std_r": 4},
        {"shuffle": True},
        {"round_batch": False, "batch_size": 7},
        {"seed": 3, "seed_aug": 4},
    ],
)
def test_nothing_else_is_in_a_mean_that_is_made(folder, tmp_path, given):
    for name, parameters in (("plain", {}), ("given", given)):
        some(folder, mean_img=tmp_path / f"{name}.bin", **parameters)
    assert (tmp_path / "given.bin").read_bytes() == (tmp_path / "plain.bin").read_bytes()


@pytest.mark.parametrize("by_number", [True, False])
def test_each_part_has_the_mean_of_all(folder, tmp_path, by_number):
    index = {"path_imgidx": str(folder / "some.idx")} if by_number else {}
    some(folder, mean_img=tmp_path / "whole.bin", **index)
    some(folder, mean_img=tmp_path / "part.bin", num_parts=2, part_index=1, **index)
    assert (tmp_path / "part.bin").read_bytes() == (tmp_path / "whole.bin").read_bytes()


def test_a_mean_leaves_out_what_fails_where_rows_may(folder, tmp_path):
    path = tmp_path / "mean.bin"
    with pytest.raises(hr.DataError, match=r"bad\.rec"):
        some(folder, "bad", mean_img=path)
    with pytest.raises(hr.DataError, match="max_errors"):
        some(folder, "bad", mean_img=path, on_error="skip", max_errors=0)
    assert not path.exists()
    given = {"on_error": "skip", "batch_size": 9}
    some(folder, "bad", mean_img=path, **given)
    expected = data(some(folder, "bad", **given)).mean(axis=0, dtype=np.float64).astype(np.float32)
    assert np.array_equal(stored(path), expected)


STATE = {"epoch": 0, "given": 0, "before": 0, "last": None, "over": False, "removed": 0, "run": b""}


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"std_r": 0}, hr.GraphError),
        ({"random_resized_crop": True, "min_random_area": 5}, hr.GraphError),
        ({"random_resized_crop": True, "max_aspect_ratio": 1}, hr.GraphError),
        ({"rand_crop": True, "min_random_area": 0.5}, hr.UnsupportedError),
        ({"mean_r": 1}, hr.GraphError),
        ({"resize": 0}, hr.GraphError),
        ({"round_batch": 3}, hr.GraphError),
        ({"on_error": "ignore"}, hr.GraphError),
        ({"verbose": 3}, hr.GraphError),
        ({"prefetch_buffer": 0}, hr.GraphError),
        ({"preprocess_threads": 0}, hr.GraphError),
        ({"seed": "x"}, hr.GraphError),
        ({"seed_aug": "x"}, hr.GraphError),
        ({"max_errors": -1}, hr.GraphError),
        ({"memory": "a lot"}, hr.GraphError),
        ({"batch_size": 7, "num_parts": 2, "part_index": 1}, hr.GraphError),
        ({"state": {}}, hr.StateError),
        ({"state": {**STATE, "iterator": "CSVIter"}}, hr.StateError),
        ({"on_error": "skip", "num_parts": 2}, hr.UnsupportedError),
    ],
)
def test_a_mean_is_made_when_all_else_is_good(folder, tmp_path, wrong, error, monkeypatch):
    monkeypatch.setattr(MeanImage, "values", lambda *given: pytest.fail("made the mean image"))
    with pytest.raises(error):
        some(folder, mean_img=tmp_path / "mean.bin", **wrong)


def test_a_mean_is_made_where_it_can_be_written(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(MeanImage, "_made", lambda *given: pytest.fail("made the mean image"))
    with pytest.raises(hr.NotFoundError, match=f"there is no folder {tmp_path / 'none'}"):
        some(folder, mean_img=tmp_path / "none/mean.bin")
    with pytest.raises(hr.NotFoundError, match=r"ImageRecordIter: mean_img /proc/mean\.bin cannot be written: "):
        some(folder, mean_img="/proc/mean.bin")


def test_a_mean_needs_images(tmp_path):
    (tmp_path / "empty.rec").write_bytes(b"")
    with pytest.raises(hr.DataError, match="no images to make it of"):
        some(tmp_path, "empty", mean_img=tmp_path / "mean.bin")
    assert not (tmp_path / "mean.bin").exists()


def test_images_of_a_mean_have_the_channels_of_data_shape(folder, tmp_path):
    path = tmp_path / "mean.bin"
    alpha = np.dstack([image_of(1), np.full((12, 15), 7, np.uint8)])
    write_records(tmp_path, "mixed", [encoded(alpha), encoded(image_of(2)), encoded(alpha)])
    given = {"data_shape": (4, 8, 6), "batch_size": 2, "mean_img": path}
    with pytest.raises(
        hr.DataError,
        match=r"ImageRecordIter: the image of record 101 has shape \(8, 6, 3\), and the mean image needs \(8, 6, 4\), as "
        r"data_shape is \(4, 8, 6\)",
    ):
        some(tmp_path, "mixed", **given)
    assert not path.exists()


def test_a_mean_of_large_images_keeps_to_the_budget(tmp_path):
    image = np.full((1024, 1024, 3), 8, np.uint8)
    write_records(tmp_path, "large", [encoded(image + i) for i in range(40)])
    some(tmp_path, "large", data_shape=(3, 1024, 1024), batch_size=1, memory="64MiB", mean_img=tmp_path / "mean.bin")
    assert (stored(tmp_path / "mean.bin") == 8 + 19.5).all()


# ---- the kernel ----


def test_the_kernel_refuses_other_shapes():
    image = np.full((2, 3, 3), 9, np.uint8)
    assert np.array_equal(V.SubtractImage(np.arange(18), (2, 3, 3))(image), 9 - np.arange(18).reshape(2, 3, 3))
    with pytest.raises(hr.GraphError, match=r"has shape \(3, 2, 3\), and the image has shape \(2, 3, 3\)"):
        V.SubtractImage(0, (3, 2, 3))(image)
    with pytest.raises(hr.GraphError, match=r"image has 17 values, which do not fill shape \(2, 3, 3\)"):
        V.SubtractImage(np.arange(17), (2, 3, 3))(image)


# ---- MXNet's own ----


@needs_mxnet
def test_means_are_mxnets(folder, tmp_path):
    base = {"path_imgrec": str(folder / "some.rec"), "data_shape": [*SHAPE], "batch_size": 5, "verbose": False}
    for name, parameters in (("plain", {}), ("resized", {"resize": 9})):
        ours, theirs = str(tmp_path / f"{name}.ours.bin"), str(tmp_path / f"{name}.theirs.bin")
        mx.io.ImageRecordIter(**base, **parameters, mean_img=ours)
        run_mxnet(tmp_path, [("ImageRecordIter", {**base, **parameters, "mean_img": theirs}, 1)])
        np.testing.assert_allclose(stored(ours), stored(theirs), rtol=1e-6)
        head = struct.Struct("<QQQIiIqqqiii").size
        assert pathlib.Path(ours).read_bytes()[:head] == pathlib.Path(theirs).read_bytes()[:head]
        assert pathlib.Path(ours).read_bytes()[-24:] == pathlib.Path(theirs).read_bytes()[-24:]
        cases = [
            ("ImageRecordIter", {**base, **parameters, "mean_img": path, **extra}, 2)
            for path in (ours, theirs)
            for extra in ({}, {"mirror": True}, {"scale": 1 / 255}, {"std_r": 2, "std_g": 2, "std_b": 2, "std_a": 2})
        ]
        for given, (_, parameters_, epochs) in zip(run_mxnet(tmp_path, cases), cases, strict=True):
            mine = run_ours(mx.io.ImageRecordIter(**parameters_), epochs)
            for epoch, other in zip(mine.epochs, given.epochs, strict=True):
                for (one, *_), (their, *_) in zip(epoch, other, strict=True):
                    assert np.array_equal(one, their), parameters_
