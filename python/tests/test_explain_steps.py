"""`explain()` and messages describe the steps and sources of a pipeline."""

import numpy as np
import pytest

import headrace as hr
from headrace import vision as V


def named(value):
    return value


def test_the_plan_says_what_maps_do_and_in_which_passes():
    images = hr.Numpy({"image": np.zeros((4, 8, 8, 3), np.uint8), "label": np.arange(4)})
    steps = [
        V.RandomHorizontalFlip(),
        V.TrivialAugmentWide(),
        V.RandomChoice([V.Invert(), [V.Grayscale(), V.ToFloat()]]),
    ]
    with pytest.raises(hr.GraphError):  # its branches differ in dtype
        images.map(steps, "image").explain()
    steps[-1] = V.RandomChoice([V.Invert(), [V.Grayscale(), V.Posterize(3)]])
    text = images.map([*steps, V.ToFloat(), V.HWC2CHW()], "image").map(named, "label").explain()
    assert (
        "image: RandomHorizontalFlip, TrivialAugmentWide, RandomChoice(Invert | Grayscale + Posterize), ToFloat + HWC2CHW"
        in text
    )
    assert "does label: function test_explain_steps.py:named" in text


def test_the_plan_shows_crops_that_are_decoded_alone(tmp_path):
    (tmp_path / "one.jpg").write_bytes(V.EncodeJpeg()(np.zeros((8, 8, 3), np.uint8)))
    chain = [V.Decode(), V.RandomResizedCrop(4), V.RandomHorizontalFlip(), V.TrivialAugmentWide(), V.HWC2CHW()]
    text = hr.Files(f"{tmp_path}/*").map(chain, "data").explain()
    assert "does data: Decode + RandomResizedCrop + RandomHorizontalFlip, TrivialAugmentWide, HWC2CHW" in text


def test_the_plan_tells_processes_from_threads():
    rows = hr.Range(4)
    assert "processes × 2" in rows.map(named, "value", processes=2).explain()
    assert "Python thread" in rows.map(named, "value").explain()


class Rows:
    def __len__(self):
        return 10

    def __getitem__(self, index):
        if index == 7:
            raise ValueError("lost")
        return {"x": index}


@pytest.mark.parametrize(
    "above",
    [
        lambda rows: rows.take(9),
        lambda rows: rows.select([1, 7]),
        lambda rows: rows.concat(hr.from_dataset(Rows())),
        lambda rows: rows.zip(hr.Range(10)),
        lambda rows: rows.sample(hr.Repeated(2)),
    ],
)
def test_an_error_names_the_source_and_its_record_below_operators_on_indices(above):
    with pytest.raises(hr.FunctionError, match="lost") as raised:
        list(above(hr.from_dataset(Rows())))
    assert raised.value.operator == "from_dataset[0]" and raised.value.file == "record 7"


def test_an_error_names_the_record_of_a_shuffled_source():
    with pytest.raises(hr.FunctionError, match="lost") as raised:
        list(hr.from_dataset(Rows(), shuffle=True, seed=1))
    assert raised.value.row == "epoch 0, position 4" and raised.value.file == "record 7"
