"""Kernels that work on a batch as a whole: MixUp and CutMix above `batch`."""

import numpy as np
import pytest

import headrace as hr
from headrace import vision as V

COUNT = 13
CLASSES = 5


def rows() -> hr.Dataset:
    """Image i is filled with 2 ** i, so that a mixture shows what is in it."""
    images = np.empty((COUNT, 4, 4, 1), np.float32)
    images[:] = (2.0 ** np.arange(COUNT))[:, None, None, None]
    return hr.Numpy({"image": images, "label": np.arange(COUNT) % CLASSES})


def mixed(size: int = 4) -> hr.Dataset:
    return rows().batch(size).map(V.MixUp(alpha=0.4, num_classes=CLASSES), ["image", "label"])


def weights_of(images: np.ndarray, labels: np.ndarray) -> None:
    assert images.dtype == labels.dtype == np.float32
    assert labels.shape == (len(images), CLASSES)
    np.testing.assert_allclose(labels.sum(axis=1), 1, rtol=1e-6)


def test_a_row_is_mixed_with_the_row_before_it():
    for number, batch in enumerate(mixed()):
        weights_of(batch["image"], batch["label"])
        own = 2.0 ** np.arange(4 * number, min(4 * number + 4, COUNT))
        other = np.roll(own, 1)
        found = batch["image"][:, 0, 0, 0]
        if len(own) > 1:
            weights = (found - other) / (own - other)
            np.testing.assert_allclose(weights, weights[0], rtol=1e-4)
        assert np.all(batch["image"] == found[:, None, None, None])


def test_each_row_draws_its_own_weight():
    by_row = V.MixUp(num_classes=CLASSES, per="row")
    for number, batch in enumerate(rows().batch(4, drop_remainder=True).map(by_row, ["image", "label"])):
        weights_of(batch["image"], batch["label"])
        own = 2.0 ** np.arange(4 * number, 4 * number + 4)
        other = np.roll(own, 1)
        weights = (batch["image"][:, 0, 0, 0] - other) / (own - other)
        assert np.all((weights >= 0) & (weights <= 1))
        assert len(set(weights.round(3))) == 4
        classes = np.arange(4 * number, 4 * number + 4) % CLASSES
        np.testing.assert_allclose(batch["label"][range(4), classes], weights, atol=1e-5)


def test_a_batch_draws_by_its_first_row():
    first = [batch["image"] for batch in mixed().iterate(epoch=3)]
    again = [batch["image"] for batch in mixed().iterate(epoch=3, workers=1, window=1)]
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0], next(mixed().iterate(epoch=4))["image"])
    assert not np.array_equal(first[0], next(mixed().iterate(epoch=3, seed=9))["image"])


@pytest.mark.parametrize("world", [2, 4, 5])
@pytest.mark.parametrize(
    "kernel",
    [
        V.MixUp(num_classes=CLASSES),
        V.MixUp(num_classes=CLASSES, per="row"),
        V.CutMix(num_classes=CLASSES, layout="HWC"),
        V.CutMix(num_classes=CLASSES, layout="HWC", per="row"),
    ],
)
def test_padded_rows_never_mix(world: int, kernel):
    batches = rows().batch(3)
    padded = 0
    for rank in range(world):
        plain = batches.iterate(shard=(rank, world), even="pad")
        for before, after in zip(
            plain, batches.map(kernel, ["image", "label"]).iterate(shard=(rank, world), even="pad"), strict=True
        ):
            marks = before["_pad"]
            np.testing.assert_array_equal(marks, after["_pad"])
            np.testing.assert_array_equal(before["image"][marks], after["image"][marks])
            np.testing.assert_array_equal(
                np.eye(CLASSES, dtype=np.float32)[before["label"][marks]], after["label"][marks]
            )
            # No part of a padded row is in another: its power of two lies outside the range of the others' mixtures.
            others = before["image"][~marks]
            if len(others) > 0:
                assert after["image"][~marks].min() >= others.min() * (1 - 1e-5)
                assert after["image"][~marks].max() <= others.max() * (1 + 1e-5)
            padded += int(marks.sum())
    assert padded > 0


def test_padding_is_refused_where_its_marks_are_those_of_other_rows():
    doubled = (
        rows().batch(3).map(lambda image, label: (np.tile(image, (2, 1, 1, 1)), np.tile(label, 2)), ["image", "label"])
    )
    mixtures = doubled.map(V.MixUp(num_classes=CLASSES), ["image", "label"])
    assert next(mixtures.iterate(shard=(0, 2)))["image"].shape == (6, 4, 4, 1)
    with pytest.raises(
        hr.GraphError, match=r'one mark a row in column "_pad"; got bool \(3,\) for float32 \(6, 4, 4, 1\)'
    ):
        next(mixtures.iterate(shard=(0, 2), even="pad"))


def test_padding_is_refused_where_nothing_marks_it():
    numbers = hr.Range(COUNT).batch(2)
    pairs = numbers.zip(rows().batch(2).map(V.MixUp(num_classes=CLASSES), ["image", "label"]))
    assert len(list(pairs)) == 7
    with pytest.raises(hr.UnsupportedError, match='even="pad" with MixUp below a zip'):
        next(pairs.iterate(shard=(0, 2), even="pad"))


def test_they_are_refused_below_batch():
    with pytest.raises(hr.GraphError, match=r"MixUp: works on a whole batch, .* give it to a map after batch"):
        assert rows().map(V.MixUp(num_classes=CLASSES), ["image", "label"]).batch(4).schema
    with pytest.raises(hr.GraphError, match="works on a whole batch"):
        assert rows().batch(4).unbatch().map(V.CutMix(num_classes=CLASSES), ["image", "label"]).schema


def test_a_batch_whose_channels_seem_to_be_last_is_refused():
    """Of each number of channels, where the types say it and where only the batch does."""
    kernel = V.CutMix(num_classes=CLASSES)
    labels = np.arange(4)
    for channels in (3, 4):
        images = np.zeros((4, 5, 6, channels), np.float32)
        batches = hr.Numpy({"image": images, "label": labels}).batch(4)
        with pytest.raises(hr.GraphError, match=r"seem to have their channels last: write layout='HWC'; got float32"):
            assert batches.map(kernel, ["image", "label"]).schema
        for call in (kernel, hr.compose([V.RandomApply([kernel], p=1)])):
            with pytest.raises(hr.GraphError, match=rf"layout='HWC'; got float32 \(4, 5, 6, {channels}\)"):
                call(images, labels)
    for shape in ((4, 5, 6, 2), (4, 4, 6, 3), (4, 1, 1, 1), (4, 5, 6, 7), (4, 8, 4, 4), (4, 64, 9, 1)):
        assert kernel(np.zeros(shape, np.float32), labels)[0].shape == shape


def test_what_is_mixed_can_be_taken_apart():
    images = [row["image"] for row in mixed().unbatch()]
    assert len(images) == COUNT
    whole = np.concatenate([batch["image"] for batch in mixed()])
    np.testing.assert_array_equal(np.stack(images), whole)


def test_states_go_on_with_the_next_mixture():
    iterator = mixed().iterate(epoch=1)
    expected = [batch["image"] for batch in mixed().iterate(epoch=1)]
    for number in range(len(expected)):
        state = iterator.state()
        rest = [batch["image"] for batch in mixed().iterate(state=state)]
        assert all(np.array_equal(a, b) for a, b in zip(rest, expected[number:], strict=True))
        next(iterator)
