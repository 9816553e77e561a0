"""Means and deviations of columns, against NumPy's of all rows at once."""

import numpy as np
import pytest

import headrace as hr
from headrace import transforms as T

DRAWS = np.random.default_rng(3)


def found_as(found, values):
    """Over all axes but the last, in float64."""
    values = np.asarray(values, np.float64)
    values = values.reshape(-1, values.shape[-1])
    assert found.count == len(values)
    np.testing.assert_allclose(found.mean, values.mean(0), rtol=1e-12)
    np.testing.assert_allclose(found.std, values.std(0), rtol=1e-9)
    assert found.min == tuple(values.min(0))
    assert found.max == tuple(values.max(0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int16, np.uint8, np.bool_])
def test_a_number_for_each_element_of_the_last_axis(dtype):
    values = (DRAWS.normal(100, 30, (500, 3)) > 90 if dtype is np.bool_ else DRAWS.uniform(0, 200, (500, 3))).astype(
        dtype
    )
    found_as(hr.Numpy({"x": values, "other": np.zeros(500)}).statistics("x"), values)


def test_one_number_of_scalars():
    values = DRAWS.normal(size=20)
    found = hr.Numpy({"x": values}).statistics("x")
    found_as(found, values[:, None])
    assert len(found.mean) == 1


def test_channels_of_pictures_of_many_sizes():
    pictures = [DRAWS.integers(0, 255, (20 + i, 31, 3), np.uint8) for i in range(40)]
    rows = hr.Generator(lambda: ({"x": picture} for picture in pictures), {"x": ("uint8", (None, None, 3))})
    found_as(rows.statistics("x"), np.concatenate([picture.reshape(-1, 3) for picture in pictures]))


def test_far_means_do_not_cancel():
    values = 1e9 + DRAWS.normal(size=(200_000, 1))
    assert hr.Numpy({"x": values}).statistics("x").std[0] == pytest.approx(values.std(), rel=1e-6)


def test_the_same_whatever_runs_it():
    rows = hr.Numpy({"x": DRAWS.normal(size=(30_000, 5)).astype(np.float32)}, shuffle=True)
    first = rows.statistics("x", seed=4)
    assert first == rows.statistics("x", seed=4, workers=1, executor="pull")
    assert first == rows.options(as_="dlpack").statistics("x", seed=4, window=1)


def test_rows_without_values_are_left_out():
    rows = hr.Generator(
        lambda: ({"x": np.full((i % 2, 2), i, np.float32)} for i in range(4)), {"x": ("float32", (None, 2))}
    )
    assert rows.statistics("x").mean == (2, 2)
    with pytest.raises(hr.DataError, match="no row has a value in 'x'"):
        rows.take(1).statistics("x")


def test_what_has_none_is_said():
    rows = hr.Numpy({"x": np.array([[1.0], [np.nan]]), "name": np.array(["a", "b"], object)})
    with pytest.raises(hr.DataError, match="'x' has NaN or infinity in row 1; filter"):
        rows.statistics("x")
    with pytest.raises(hr.GraphError, match="'name' holds no numbers"):
        rows.statistics("name")
    with pytest.raises(hr.GraphError, match="the rows are batches; call it on the dataset before batch"):
        rows.batch(2).statistics("x")
    with pytest.raises(hr.GraphError, match="no"):
        rows.statistics("missing")
    with pytest.raises(hr.GraphError, match="column is 3"):
        rows.statistics(3)
    uneven = hr.Generator(lambda: ({"x": np.zeros(i)} for i in (2, 3)), {"x": ("float64", (None,))})
    with pytest.raises(hr.DataError, match="it has 2 in the rows before row 1, and 3 there"):
        uneven.statistics("x")


def test_standardized_columns_have_mean_0_and_deviation_1():
    values = DRAWS.normal(50, 9, (400, 3))
    values[:, 1] = 7
    rows = hr.Numpy({"x": values})
    found = rows.statistics("x")
    scaled = rows.map(T.Standardize(found.mean, found.std), "x").statistics("x")
    np.testing.assert_allclose(scaled.mean, [0, 0, 0], atol=1e-6)
    np.testing.assert_allclose(scaled.std, [1, 0, 1], atol=1e-6)


def test_an_endless_dataset_is_refused():
    with pytest.raises(hr.GraphError, match="endless"):
        hr.Range(3).repeat().statistics("value")
