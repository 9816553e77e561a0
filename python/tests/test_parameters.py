"""Parameters: numbers that change from epoch to epoch."""

import json
import pickle
import re
import subprocess
import sys
import threading
import zlib

import numpy as np
import pytest

import headrace as hr
from headrace import transforms as T
from headrace import vision as V
from headrace._graph import parameters
from headrace._runs.iterator import _live
from headrace.ray.sent_graph import sent_graph
from headrace.ray.sent_values import give_values


def levels(dataset, epoch, column="level", **options):
    return np.concatenate([np.atleast_1d(row[column]) for row in dataset.iterate(epoch=epoch, **options)]).tolist()


def filled(level, rows=4):
    return hr.Range(rows).map(T.Fill(level), "value", "level").batch(2)


def test_the_value_of_an_epoch_is_the_last_that_was_set_else_the_functions_else_the_default():
    strength = hr.parameter("strength", lambda epoch: None if epoch == 1 else 10 * epoch, default=7)
    strength.set(100, epoch=4)
    strength.set(200, epoch=6)
    dataset = filled(strength)
    assert [levels(dataset, epoch)[0] for epoch in range(8)] == [0, 7, 20, 30, 100, 100, 200, 200]
    assert strength.value(9) == 200


def test_the_loop_sets_the_value_of_the_next_epoch():
    strength = hr.parameter("strength", default=1)
    dataset = filled(strength)
    seen = []
    for epoch in range(4):
        for batch in dataset:
            seen.append(int(batch["level"][0]))
        strength.set(10 * (epoch + 1), epoch + 1)
    assert seen == [1, 1, 10, 10, 20, 20, 30, 30]


def test_a_value_is_fixed_when_its_epoch_is_asked_for():
    strength = hr.parameter("strength", default=1)
    dataset = filled(strength)
    iterator = iter(dataset)
    with pytest.raises(hr.GraphError, match="epoch 0 was asked for, .* set it for epoch 1 or a later one"):
        strength.set(2, epoch=0)
    strength.set(2, epoch=1)
    assert [batch["level"].tolist() for batch in iterator] == [[1, 1], [1, 1]]
    assert levels(dataset, 1) == [2] * 4


def test_planning_fixes_nothing():
    strength = hr.parameter("strength", default=1)
    dataset = filled(strength)
    assert len(dataset) == 2
    dataset.explain()
    strength.set(2, epoch=0)
    assert levels(dataset, 0) == [2] * 4


def test_readers_number_epochs_as_their_rows_do():
    level = hr.parameter("level", lambda epoch: epoch)
    below = hr.Range(1).map(T.Fill(level), "value", "below").repeat(3)
    dataset = below.map(T.Fill(level), "value", "above")
    assert levels(dataset, 2, "below") == [6, 7, 8]
    assert levels(dataset, 2, "above") == [2, 2, 2]
    with pytest.raises(hr.GraphError, match="epoch 8 was asked for"):
        level.set(1, epoch=8)
    level.set(1, epoch=9)
    assert levels(dataset, 3, "below") == [1, 1, 1]


def test_under_an_endless_repeat_the_function_gives_each_passs_value():
    level = hr.parameter("level", lambda epoch: epoch)
    rows = iter(hr.Range(2).map(T.Fill(level), "value", "level").repeat())
    assert [int(next(rows)["level"]) for _ in range(7)] == [0, 0, 1, 1, 2, 2, 3]
    with pytest.raises(hr.GraphError, match="asked for"):
        level.set(1, epoch=1000)


def test_fused_images_have_the_values_of_their_epoch():
    photos = np.random.default_rng(0).integers(0, 256, (6, 9, 8, 3), np.uint8)
    bright = hr.parameter("bright", lambda epoch: 0.5 + epoch / 4)

    def images(factor):
        steps = [V.RandomHorizontalFlip(), V.AdjustBrightness(factor), T.TypeCast("float32"), V.HWC2CHW()]
        return hr.Numpy({"image": photos}).map(steps, "image").batch(3)

    for epoch in range(3):
        for optimize in (True, False):
            read = images(bright).iterate(epoch=epoch, optimize=optimize)
            plain = images(0.5 + epoch / 4).iterate(epoch=epoch)
            for batch, expected in zip(read, plain, strict=True):
                np.testing.assert_array_equal(batch["image"], expected["image"])


def test_an_automatic_cache_does_not_serve_the_value_of_another_epoch(tmp_path, photos):
    bright = hr.parameter("bright", lambda epoch: 1 + epoch)
    steps = [V.Decode(), V.Resize((8, 8)), V.AdjustBrightness(bright)]
    dataset = hr.ImageFolder(photos).map(steps, "image").batch(4)
    kept = {epoch: [batch["image"] for batch in dataset.iterate(epoch=epoch, cache=tmp_path)] for epoch in range(3)}
    assert any(tmp_path.iterdir())
    for epoch, batches in kept.items():
        plain = hr.ImageFolder(photos).map([*steps[:2], V.AdjustBrightness(1 + epoch)], "image").batch(4)
        for batch, expected in zip(batches, plain.iterate(epoch=epoch), strict=True):
            np.testing.assert_array_equal(batch, expected["image"])


def test_a_cache_keeps_epoch_0_and_its_files_are_those_of_one_value(tmp_path):
    def cached(value):
        level = hr.parameter("level", lambda epoch: value + epoch)
        return hr.Range(4).map(T.Fill(level), "value", "level").cache(directory=tmp_path)

    assert levels(cached(10), 3) == [10] * 4
    assert levels(cached(20), 3) == [20] * 4
    assert levels(cached(10), 5) == [10] * 4


def test_a_cache_in_memory_does_not_outlive_its_value():
    level = hr.parameter("level", lambda epoch: 5)
    dataset = hr.Range(4).map(T.Fill(level), "value", "level").cache()
    assert [levels(dataset, epoch) for epoch in (0, 1)] == [[5] * 4] * 2


def test_a_transparent_cache_above_a_reader_is_refused():
    dataset = hr.Range(4).map(T.Fill(hr.parameter("level", default=1)), "value", "level").cache(transparent=True)
    with pytest.raises(hr.GraphError, match="put it below the steps that read them"):
        next(iter(dataset))


def test_functions_read_one_as_the_default_of_an_argument():
    scale = hr.parameter("scale", lambda epoch: 1.5 * epoch)

    def scaled(value, rng, scale=scale):
        assert isinstance(scale, float)
        return value * scale + rng.integers(1)

    ordered = hr.Range(3).map(scaled, "value")
    assert levels(ordered, 2, "value") == [0, 3, 6]
    free = hr.Range(30).map(scaled, "value", ordered=False).batch(10)
    assert levels(free, 3, "value") == [4.5 * value for value in range(30)]
    many = hr.Range(3).flat_map(lambda value, scale=scale: [value * scale] * 2, "value", "made")
    assert levels(many, 2, "made") == [0, 0, 3, 3, 6, 6]


def test_functions_run_ahead_into_no_epoch_that_was_not_asked_for():
    asked = []
    level = hr.parameter("level", lambda epoch: asked.append(epoch) or epoch)
    dataset = filled(level)
    for epoch in range(3):
        assert [row["level"].tolist() for row in dataset] == [[epoch] * 2] * 2
        assert set(asked) == set(range(epoch + 1))


def test_it_is_refused_where_no_row_reads_it():
    level = hr.parameter("level", default=1)
    with pytest.raises(hr.GraphError, match=r"only functions of a row in map read parameters"):
        hr.Range(3).filter(lambda value, level=level: value > level, "value")
    with pytest.raises(hr.GraphError, match="only functions of a row"):
        hr.Range(3).batch(2, function=lambda value, level=level: value)
    with pytest.raises(hr.GraphError, match="only functions of a row"):
        hr.Generator(lambda level=level: iter([1]), {"value": "int64"})
    with pytest.raises(hr.GraphError, match="leave processes out"):
        hr.Range(3).map(lambda value, level=level: value, "value", processes=2)
    with pytest.raises(hr.GraphError, match="a seed is the same in each epoch"):
        _ = hr.Range(3).map(V.RandomApply([T.Fill(1)], seed=level), "value").schema
    with pytest.raises(hr.GraphError, match='hr.parameter\\("level"\\)'):
        hr.Range(3).batch(level)
    with pytest.raises(hr.GraphError, match="whose value depends on an epoch; give a number"):
        T.Fill(level)(np.zeros(3))
    with pytest.raises(hr.GraphError, match='are called "level"'):
        next(iter(hr.Range(3).map([T.Fill(level), T.Fill(hr.parameter("level", default=2))], "value")))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("",), "name is ''"),
        (("level",), "has no value: give a default, or fn"),
        (("level", 3), "fn is 3; it must be a function of the epoch"),
        (("level", None, "much"), "default is 'much'; it must be a number"),
        (("level", None, True), "default is True; it must be a number"),
        (("level", None, [[1]]), "must be a number, or a list of numbers"),
        (("level", None, float("nan")), "default is nan; it must be finite"),
        (("level", None, [1, float("-inf")]), "default is -inf; it must be finite"),
    ],
)
def test_arguments_are_checked(arguments, message):
    with pytest.raises(hr.GraphError, match=message):
        hr.parameter(*arguments)


def test_bounds_are_checked_when_it_is_set_and_when_the_function_is_called():
    bright = hr.parameter("bright", lambda epoch: 1 - epoch)
    images = hr.Numpy({"image": np.zeros((2, 4, 4, 3), np.uint8)}).map(V.AdjustBrightness(bright), "image")
    with pytest.raises(hr.GraphError, match="AdjustBrightness: factor is -1.0; it must be at least 0"):
        bright.set(-1, epoch=5)
    with pytest.raises(hr.GraphError, match="it must be a number"):
        bright.set("much", epoch=5)
    with pytest.raises(hr.GraphError, match="set: value is nan; it must be finite"):
        bright.set(np.float32("nan"), epoch=5)
    with pytest.raises(hr.GraphError, match=r"fn\(2\) is inf; it must be finite"):
        hr.parameter("level", lambda epoch: float("inf")).value(2)
    next(iter(images))
    with pytest.raises((hr.GraphError, hr.FunctionError), match="factor is -1.0; it must be at least 0"):
        next(images.iterate(epoch=2))
    with pytest.raises(hr.GraphError, match="factor is -2.0; it must be at least 0"):
        hr.Range(3).map(V.AdjustBrightness(hr.parameter("dark", default=-2)), "value")


def test_a_map_that_is_refused_leaves_no_bounds_behind():
    size = hr.parameter("size", default=3)
    images = hr.Numpy({"image": np.zeros((2, 4, 4, 3), np.uint8)})
    with pytest.raises(hr.GraphError, match="RandomHorizontalFlip: p is 3"):
        images.map(V.RandomHorizontalFlip(size), "image")
    with pytest.raises(hr.GraphError, match="RandomHorizontalFlip: p is 3"):
        images.map([V.Resize(size), V.RandomHorizontalFlip(size)], "image")
    assert next(iter(images.map(V.Resize(size), "image")))["image"].shape == (3, 3, 3)
    size.set(5, epoch=1)


def test_what_the_function_raises_reaches_the_loop():
    def give(epoch):
        raise KeyError(f"no value for {epoch}")

    with pytest.raises((hr.FunctionError, KeyError), match="no value for 0"):
        next(iter(filled(hr.parameter("level", give, default=1))))


def failing_in(epoch):
    return hr.parameter("level", lambda given: 1 // (given - epoch))


@pytest.mark.parametrize("begin", [lambda dataset: iter(dataset), lambda dataset: dataset.iterate()])
@pytest.mark.parametrize("epoch", [0, 1])
def test_a_function_that_fails_raises_one_kind_of_error_in_each_epoch(epoch, begin):
    others = set(_live)
    dataset = filled(failing_in(epoch))
    for _ in range(epoch):
        list(dataset)
    for _ in range(2):
        with pytest.raises(
            hr.FunctionError, match=r'hr.parameter\("level"\) raised ZeroDivisionError: .*test_'
        ) as raised:
            next(begin(dataset))
        assert isinstance(raised.value.__cause__, ZeroDivisionError)
        assert set(_live) - others == set(dataset._parked)


@pytest.mark.parametrize("epoch", [0, 1])
def test_a_value_is_set_in_the_place_of_one_that_could_not_be_made(epoch):
    level = failing_in(epoch)
    dataset = filled(level)
    for _ in range(epoch):
        list(dataset)
    with pytest.raises(hr.FunctionError):
        next(iter(dataset))
    level.set(5, epoch=epoch)
    assert [row["level"].tolist() for row in dataset] == [[5, 5]] * 2
    with pytest.raises(hr.GraphError, match="asked for"):
        level.set(6, epoch=epoch)


def test_what_is_set_while_the_function_runs_is_the_value():
    def give(epoch):
        level.set(8, epoch)
        return 3

    level = hr.parameter("level", give)
    assert levels(filled(level), 0) == [8] * 4
    assert level.value(0) == 8


def test_a_shape_that_depends_on_one_is_not_known():
    size = hr.parameter("size", lambda epoch: (4 + epoch, 5))
    images = hr.Numpy({"image": np.zeros((2, 9, 9, 3), np.uint8)}).map(V.Resize(size), "image")
    assert images.schema["image"] == ("uint8", (None, None, 3))
    batches = images.batch(2)
    assert [next(batches.iterate(epoch=epoch))["image"].shape for epoch in range(2)] == [(2, 4, 5, 3), (2, 5, 5, 3)]
    bright = hr.Numpy({"image": np.zeros((2, 9, 9, 3), np.uint8)}).map(V.AdjustBrightness(size), "image")
    assert bright.schema["image"] == ("uint8", (9, 9, 3))


def test_choosers_read_one():
    chance = hr.parameter("chance", lambda epoch: [0.0, 1.0, 0.5][epoch])
    level = hr.parameter("level", lambda epoch: -1 - epoch)
    dataset = hr.Range(40).map(V.RandomApply([T.Fill(level)], p=chance), "value").batch(40)
    values = [levels(dataset, epoch, "value") for epoch in range(3)]
    assert values[0] == list(range(40)) and values[1] == [-2] * 40
    assert 5 < values[2].count(-3) < 35


def chosen(weights, rows=60):
    """By two branches, which fill rows with -1 and -2."""
    branches = [T.Fill(-1), [T.Fill(7), T.Fill(-2)]]
    return hr.Range(rows).map(V.RandomChoice(branches, p=weights), "value").batch(rows)


def test_weights_of_branches_are_a_list_that_one_gives():
    given = [[0, 2], [1.0, 0.0], [0.25, 0.75]]
    weights = hr.parameter("weights", lambda epoch: given[epoch])
    values = [levels(chosen(weights), epoch, "value") for epoch in range(3)]
    assert values == [levels(chosen(each), epoch, "value") for epoch, each in enumerate(given)]
    assert values[0] == [-2] * 60 and values[1] == [-1] * 60
    assert 5 < values[2].count(-1) < 30
    weights = hr.parameter("weights", default=[1, 0])
    dataset = chosen(weights)
    weights.set(np.array([0.0, 1.0]), epoch=2)
    assert [levels(dataset, epoch, "value")[0] for epoch in range(3)] == [-1, -1, -2]


def test_parameters_stand_among_the_numbers_of_a_list():
    often = hr.parameter("often", lambda epoch: 3.0 * epoch)
    rarely = hr.parameter("rarely", default=0.5)
    for epoch in range(3):
        expected = levels(chosen([3.0 * epoch, 0.5]), epoch, "value")
        assert levels(chosen([often, 0.5]), epoch, "value") == expected
        assert levels(chosen((often, rarely)), epoch, "value") == expected
    photos = np.random.default_rng(0).integers(0, 256, (6, 9, 8, 3), np.uint8)

    def images(kernel):
        return hr.Numpy({"image": photos, "mask": photos[..., :1]}).map([kernel, V.HWC2CHW()], "image").batch(6)

    most = hr.parameter("most", lambda epoch: 1.0 + epoch / 4)
    for epoch in range(3):
        for changing, plain in (
            (V.ColorJitter(brightness=(0.5, most)), V.ColorJitter(brightness=(0.5, 1.0 + epoch / 4))),
            (V.Normalize([1, most, 3], 2), V.Normalize([1, 1.0 + epoch / 4, 3], 2)),
        ):
            for optimize in (True, False):
                got = next(images(changing).iterate(epoch=epoch, optimize=optimize))["image"]
                np.testing.assert_array_equal(got, next(images(plain).iterate(epoch=epoch))["image"])


def test_probabilities_of_a_subpolicy_may_be_ones():
    chance = hr.parameter("chance", lambda epoch: [0.0, 1.0, 0.5][epoch])

    def policy(chance):
        kernel = V.RandomSelectSubpolicy([[(T.Fill(-1), chance), (T.Fill(-2), 0.25)], [([T.Fill(-5)], chance)]])
        return hr.Range(90).map(kernel, "value").batch(90)

    values = [levels(policy(chance), epoch, "value") for epoch in range(3)]
    assert values == [levels(policy(each), epoch, "value") for epoch, each in enumerate([0, 1, 0.5])]
    assert -5 not in values[0] and 20 < values[1].count(-5) < 70


def test_columns_of_one_draw_read_one_list():
    most = hr.parameter("most", lambda epoch: 20.0 + epoch)
    pair = {"image": np.arange(2 * 81, dtype=np.uint8).reshape(2, 9, 9, 1)}
    pair["other"] = pair["image"]
    kernel = V.RandomApply([V.RandomRotation([-most.value(0), most])], p=0.9)
    for row in hr.Numpy(pair).map(kernel, ["image", "other"]).iterate(epoch=1):
        np.testing.assert_array_equal(row["image"], row["other"])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2, 3], r'p has 3 weights for 2 branches \(in epoch 1 p is hr.parameter\("w"\), \(1.0, 2.0, 3.0\)\)'),
        (
            [0, 0],
            r'p needs a weight above 0, and a finite sum; got 0 \(in epoch 1 p is hr.parameter\("w"\), \(0.0, 0.0',
        ),
        ([1, -1], r'hr.parameter\("w"\) in epoch 1: RandomChoice: p is \(1.0, -1.0\); it must be at least 0'),
        (["a", 1], r"""hr.parameter\("w"\): fn\(1\) for RandomChoice's p is 'a'; it must be a number"""),
        (0.5, r'p has 1 weights for 2 branches \(in epoch 1 p is hr.parameter\("w"\), \(0.5'),
    ],
)
def test_weights_that_do_not_fit_name_kernel_parameter_and_epoch(weights, message):
    dataset = chosen(hr.parameter("w", lambda epoch: weights if epoch == 1 else [1, 1]))
    next(dataset.iterate(epoch=0))
    with pytest.raises(hr.Error) as raised:
        next(dataset.iterate(epoch=1))
    assert re.search(message, str(raised.value)), raised.value
    assert "RandomChoice" in str(raised.value)


def test_numbers_of_a_list_are_checked_one_by_one():
    chance = hr.parameter("chance", default=0.5)
    policy = V.RandomSelectSubpolicy([[(T.Fill(1), chance), (T.Fill(2), 1)]])
    dataset = hr.Range(4).map(policy, "value")
    with pytest.raises(hr.GraphError, match=r'"chance"\) in epoch 1: RandomSelectSubpolicy: a number in chances is 3'):
        chance.set(3, epoch=1)
    with pytest.raises(hr.GraphError, match=r"a number in chances is \(0.5, 0.5\); it must be a number"):
        chance.set([0.5, 0.5], epoch=1)
    next(iter(dataset))
    with pytest.raises(hr.GraphError, match=r'\[-1, hr.parameter\("chance"\)\]: RandomChoice: a number in p is -1.0;'):
        chosen([-1, chance])
    with pytest.raises(hr.GraphError, match="brightness is .0.1, 0.2, 0.5., a list of 3; it must have 1 or 2"):
        hr.Range(2).map(V.ColorJitter(brightness=[0.1, 0.2, chance]), "value")
    with pytest.raises(hr.GraphError, match="RandomChoice: p: a number in it is 'a'; it must be a number"):
        chosen([chance, "a"])
    with pytest.raises(
        hr.GraphError, match=r"RandomChoice: p: a number in it is a list, \[1, 2\]; it must be one number"
    ):
        chosen([chance, [1, 2]])
    both = hr.parameter("both", lambda epoch: [1, 2])
    next(iter(chosen(both)))
    with pytest.raises(hr.Error, match=r'"both"\) in epoch 0, in \[hr.parameter\("both"\), 1\], is a list, \[1, 2\]'):
        next(iter(chosen([both, 1])))
    with pytest.raises(hr.GraphError, match="RandomChoice: p is .*whose value depends on an epoch"):
        V.RandomChoice([V.Invert(), V.Equalize()], [chance, 1])(np.zeros((3, 3, 3), np.uint8))


def test_a_list_with_parameters_is_part_of_the_graph_with_its_numbers(tmp_path):
    def saved(first, name="often"):
        dataset = chosen([first, hr.parameter(name, default=1)])
        return json.dumps(json.loads(dataset.to_json())["nodes"][-2]["steps"][0]["attributes"])

    assert saved(1) == saved(1) != saved(2)
    assert saved(1, "rarely") != saved(1)
    path = tmp_path / "graph.json"
    often = hr.parameter("often", lambda epoch: 3 * epoch)
    plain = chosen([often, 2])
    plain.save(path)
    (name,) = plain._graph().references
    with pytest.raises(hr.GraphError, match=r"the reference .* needs the list \[hr.parameter\(\"often\"\), 2\], not"):
        hr.load(path, references={name: often})
    with pytest.raises(hr.GraphError, match=r"the reference .* needs the list"):
        hr.load(path, references={name: [often, 3]})
    again = hr.load(path, references={name: [often, 2]})
    assert levels(again, 1, "value") == levels(plain, 1, "value")
    with pytest.raises(hr.GraphError, match="RandomChoice: a number in p is -1.0"):
        often.set(-1, epoch=5)


def test_states_hold_the_parameters_of_a_list():
    def build(gives):
        often = hr.parameter("often", lambda epoch: gives)
        return often, hr.Range(12).map(V.RandomChoice([T.Fill(-1), T.Fill(-2)], [often, 1]), "value").batch(2)

    often, dataset = build(1)
    whole = [batch["value"].tolist() for batch in dataset.iterate(epoch=2, seed=3)]
    iterator = dataset.iterate(epoch=2, seed=3)
    for done in range(len(whole)):
        state = iterator.state()
        _, restored = build(1000)
        assert [batch["value"].tolist() for batch in restored.iterate(state=state)] == whole[done:]
        next(iterator)
    with pytest.raises(hr.GraphError, match="epoch 2 was asked for"):
        often.set(1, epoch=2)


def test_two_parameters_of_one_name_are_refused_in_lists_too():
    weights = [hr.parameter("w", default=1), hr.parameter("w", default=2)]
    with pytest.raises(hr.GraphError, match='two parameters of this pipeline are called "w"'):
        next(iter(chosen(weights)))


def test_examples_that_do_not_fit_refuse_no_graph():
    """The values fit; those that stand for them while the graph is checked do not."""
    photos = np.zeros((2, 16, 16, 3), np.uint8)
    boxed = hr.Numpy({"image": photos, "boxes": np.tile([[[2.0, 2, 10, 10]]], (2, 1, 1))})
    least = hr.parameter("least", lambda epoch: 0.1 + epoch / 8)
    cropped = boxed.map(V.RandomIoUCrop(min_scale=least, max_scale=0.2), ["image", hr.boxes("boxes")])
    assert set(cropped.schema) == {"image", "boxes"}
    assert len(list(cropped)) == 2
    with pytest.raises(hr.GraphError, match="min_scale is 0.225, above max_scale"):
        next(cropped.iterate(epoch=1))
    count = hr.parameter("count", default=1)
    for kernels in ([T.Fill(5)], [T.Fill(5), T.Fill(5)]):
        drawn = hr.Range(20).map(V.UniformAugment(kernels, num_ops=count), "value")
        assert {int(row["value"]) for row in drawn} > {5}
    count.set(2, epoch=1)
    with pytest.raises(hr.GraphError, match="num_ops is 2; there are 1 kernels"):
        next(hr.Range(20).map(V.UniformAugment([T.Fill(5)], num_ops=count), "value").iterate(epoch=1))


def test_a_value_that_does_not_fit_its_kernel_names_the_parameter(monkeypatch):
    monkeypatch.setattr(parameters._engine, "wrong_value", lambda *_: "")
    images = hr.Numpy({"image": np.zeros((2, 4, 4, 3), np.uint8)})
    bright = images.map(V.AdjustBrightness(hr.parameter("bright", default=-1)), "image")
    with pytest.raises(hr.GraphError, match=r'hr.parameter\("bright"\) in epoch 0: AdjustBrightness: factor is -1.0;'):
        next(iter(bright))


def test_masks_and_boxes_follow_what_one_decides():
    degrees = hr.parameter("degrees", lambda epoch: 30 * epoch)

    def rotated(angle):
        arrays = {
            "image": np.arange(2 * 81 * 3, dtype=np.uint8).reshape(2, 9, 9, 3),
            "mask": np.ones((2, 9, 9), np.uint8),
        }
        return hr.Numpy(arrays).map(V.RandomRotation(angle), ["image", hr.mask("mask")])

    for row, expected in zip(rotated(degrees).iterate(epoch=2), rotated(60).iterate(epoch=2), strict=True):
        for column in ("image", "mask"):
            np.testing.assert_array_equal(row[column], expected[column])


def test_the_hash_holds_the_name_and_no_value(tmp_path):
    def saved(name, default):
        path = tmp_path / "graph.hrg"
        filled(hr.parameter(name, default=default)).save(path)
        return path.read_bytes()

    assert saved("level", 1) == saved("level", 2) != saved("other", 1)


def test_a_saved_graph_takes_its_parameters_by_name(tmp_path):
    path = tmp_path / "graph.json"
    level = hr.parameter("level", default=3)
    filled(level).save(path)
    with pytest.raises(hr.GraphError, match="level#0"):
        next(iter(hr.load(path)))
    with pytest.raises(hr.GraphError, match="the reference level#0 needs an hr.parameter, not function"):
        hr.load(path, references={"level#0": lambda: 3})
    assert levels(hr.load(path, references={"level#0": hr.parameter("level", default=9)}), 0) == [9] * 4


def test_a_loaded_graph_bounds_its_parameters(tmp_path):
    path = tmp_path / "graph.hrg"
    photos = np.zeros((2, 4, 4, 3), np.uint8)
    inner = V.AdjustBrightness(hr.parameter("level", default=0.5))
    outer = V.RandomApply([inner], p=hr.parameter("chance", default=0.5))
    hr.Numpy({"image": photos}).map(outer, "image").save(path)

    def load(level):
        chance = hr.parameter("chance", default=0.5)
        references = {"level#0": level, "chance#0": chance, "arrays#0": {"image": photos}}
        return hr.load(path, references=references), chance

    level = hr.parameter("level", default=0.5)
    loaded, chance = load(level)
    with pytest.raises(hr.GraphError, match="RandomApply: p is 5.0; it must be"):
        chance.set(5.0, epoch=1)
    with pytest.raises(hr.GraphError, match="AdjustBrightness: factor is -1.0; it must be"):
        level.set(-1, epoch=1)
    with pytest.raises(hr.GraphError, match="AdjustBrightness: factor is -2.0; it must be"):
        load(hr.parameter("level", default=-2))
    next(iter(loaded))


def test_a_state_goes_on_with_the_values_of_its_epoch_and_with_those_set_before():
    def build(default):
        level = hr.parameter("level", default=default)
        return level, filled(level, rows=6)

    level, dataset = build(1)
    level.set(10, epoch=2)
    level.set(30, epoch=7)
    iterator = dataset.iterate(epoch=4)
    next(iterator)
    state = iterator.state()
    expected = [batch["level"].tolist() for batch in iterator]
    again, restored = build(1)
    assert [batch["level"].tolist() for batch in restored.iterate(state=state)] == expected == [[10] * 2] * 2
    assert [levels(restored, epoch)[0] for epoch in (5, 7)] == [10, 30]
    with pytest.raises(hr.GraphError, match="epoch 7 was asked for"):
        again.set(1, epoch=4)


def test_a_state_holds_what_the_function_gave():
    def build(gives):
        return filled(hr.parameter("level", lambda epoch: gives + epoch), rows=6)

    iterator = build(10).iterate(epoch=3)
    next(iterator)
    state = iterator.state()
    other = build(50)
    assert [batch["level"].tolist() for batch in other.iterate(state=state)] == [[13] * 2] * 2
    assert levels(other, 4) == [54] * 6


@pytest.mark.parametrize("names", [("first", "second"), ("second", "first")])
def test_a_state_holds_what_is_read_in_the_epochs_of_each_reader(names):
    def scaled(factor, level, name):
        def function(value, level=level):
            return value + factor * level

        function.__qualname__ = name
        return function

    def build():
        level = hr.parameter("level", default=1)
        below = hr.Range(1).map(scaled(1000, level, names[0]), "value").repeat(10)
        return level, below.map(scaled(1, level, names[1]), "value")

    level, dataset = build()
    level.set(2, epoch=3)
    level.set(3, epoch=30)
    iterator = dataset.iterate(epoch=3)
    next(iterator)
    state = iterator.state()
    again, restored = build()
    rest = [int(row["value"]) for row in iterator]
    assert [int(row["value"]) for row in restored.iterate(state=state)] == rest == [3002] * 9
    with pytest.raises(hr.GraphError, match="epoch 39 was asked for"):
        again.set(1, epoch=39)


def test_a_state_holds_what_the_function_gave_in_the_epochs_of_each_reader():
    def build(gives):
        level = hr.parameter("level", lambda epoch: gives + epoch)
        near = hr.Range(3).map(lambda value, level=level: value * 0 + level, "value")
        far = hr.Range(3).map(lambda value, level=level: value * 0 + level, "value").repeat(4)
        return near.concat(far)

    iterator = build(100).iterate(epoch=3)
    next(iterator)
    state = iterator.state()
    rest = [int(row["value"]) for row in iterator]
    assert rest == [103] * 2 + [112] * 3 + [113] * 3 + [114] * 3 + [115] * 3
    other = build(500)
    assert [int(row["value"]) for row in other.iterate(state=state)] == rest
    assert next(other.iterate(epoch=4))["value"] == 504


def test_the_state_at_the_end_of_an_epoch_holds_what_is_set_for_the_next():
    def build():
        level = hr.parameter("level", default=1)
        return level, filled(level)

    level, dataset = build()
    iterator = iter(dataset)
    list(iterator)
    level.set(5, epoch=1)
    fresh = iter(dataset)
    state = fresh.state()
    again, restored = build()
    assert [batch["level"].tolist() for batch in restored.iterate(state=state)] == [[5] * 2] * 2
    assert again.value(0) == 1 and again.value(1) == 5


def test_a_state_with_other_values_is_refused_and_changes_nothing():
    level = hr.parameter("level", default=1)
    iterator = filled(level).iterate(epoch=2)
    next(iterator)
    state = iterator.state()
    other = hr.parameter("level", default=1)
    other.set(4, epoch=1)
    dataset = filled(other)
    with pytest.raises(
        hr.StateError, match=r'hr.parameter\("level"\) is 4 in epoch 2, and was 1 when the state was taken'
    ):
        dataset.iterate(state=state)
    assert other.value(2) == 4
    other.set(6, epoch=1)
    with pytest.raises(hr.StateError, match="another pipeline"):
        filled(level, rows=8).iterate(state=state)
    with pytest.raises(hr.StateError, match="damaged"):
        dataset.iterate(state=state[:20] + b"x" + state[21:])
    for cut in range(1, len(state)):
        with pytest.raises(hr.StateError):
            dataset.iterate(state=state[:cut])


def test_a_forged_state_is_refused_whatever_it_holds():
    """Its checksum is right; a range of epochs in it is not written out before it is looked at."""
    level = hr.parameter("level", lambda epoch: epoch + 1)
    dataset = filled(level)
    iterator = dataset.iterate(epoch=2)
    next(iterator)
    engine, held = parameters.opened(iterator.state())
    assert set(held) == {"level"}

    def forged(texts):
        text = json.dumps(texts).encode() if not isinstance(texts, bytes) else texts
        return parameters._HEAD.pack(parameters._MARK, len(text), zlib.crc32(text)) + text + engine

    dataset.iterate(state=forged(held)).close()
    for values in (
        {"set": [], "fixed": [[0, 10**15, 1]]},
        {"set": [["one", 1]], "fixed": []},
        {"set": [[0, {}]], "fixed": []},
        {"set": [], "fixed": [[0, 0]]},
        {"set": [], "fixed": [], "shard": [1]},
        {"fixed": []},
        [],
    ):
        with pytest.raises(hr.StateError, match="level"):
            dataset.iterate(state=forged({"level": json.dumps(values)}))
    for text in ("[" * 100_000, "", "nothing"):
        with pytest.raises(hr.StateError, match="level"):
            dataset.iterate(state=forged({"level": text}))
        with pytest.raises(hr.StateError, match="damaged"):
            dataset.iterate(state=forged(text.encode()))
    with pytest.raises(hr.StateError, match="damaged"):
        dataset.iterate(state=forged({"level": 1}))


def test_the_state_of_a_rank_that_set_another_value_is_refused():
    """One state serves all ranks: where one goes on from it that had set something else, both are named."""

    def build(value):
        level = hr.parameter("level", default=1)
        level.set(value, epoch=2)
        return filled(level, rows=8)

    states = []
    for rank, value in enumerate([3, 5]):
        iterator = build(value).iterate(epoch=2, shard=(rank, 2))
        next(iterator)
        states.append(iterator.state())
    message = (
        r'hr.parameter\("level"\) is 5 in epoch 2 on rank 1 of 2, and was 3 on rank 0 of 2 when the state was taken; '
        "restore before you set values, and set the same on all ranks"
    )
    with pytest.raises(hr.StateError, match=message):
        build(5).iterate(state=states[0], shard=(1, 2))
    with pytest.raises(hr.StateError, match="is 3 in epoch 2 on rank 0 of 4, and was 5 on rank 1 of 2"):
        build(3).iterate(state=states[1], shard=(0, 4))
    with pytest.raises(hr.StateError, match="is 3 in epoch 2, and was 5 when"):
        build(3).iterate(state=states[1], shard=(1, 2))
    fresh = filled(hr.parameter("level", default=1), rows=8)
    for rank in range(2):
        rest = [batch["level"].tolist() for batch in fresh.iterate(state=states[0], shard=(rank, 2))]
        assert rest == [[3] * 2] * len(rest)
    with pytest.raises(hr.StateError, match="is 3 in epoch 2 on rank 0 of 2, and was 5 on rank 1 of 2"):
        fresh.iterate(state=states[1], shard=(0, 2))


def test_a_state_that_is_refused_for_its_epoch_changes_nothing():
    level = hr.parameter("level", lambda epoch: epoch)
    state = filled(level).iterate(epoch=2).state()
    other = hr.parameter("level", default=7)
    with pytest.raises(hr.StateError, match="was taken in epoch 2, not 0"):
        filled(other).iterate(state=state, epoch=0)
    assert other.value(2) == 7
    other.set(3, epoch=0)


def test_states_resume_at_every_step_and_at_other_worlds():
    def build():
        level = hr.parameter("level", lambda epoch: 10 * epoch)
        return hr.Range(12, shuffle=True).map(T.Fill(level), "value", "level").batch(2)

    whole = [batch["value"].tolist() for batch in build().iterate(epoch=2)]
    iterator = build().iterate(epoch=2)
    for done in range(len(whole)):
        state = iterator.state()
        for at, batch in enumerate(build().iterate(state=state)):
            assert batch["value"].tolist() == whole[done + at]
            assert batch["level"].tolist() == [20, 20]
        next(iterator)
    state = build().iterate(epoch=2, shard=(0, 2)).state()
    rows = [batch["value"].tolist() for rank in range(3) for batch in build().iterate(state=state, shard=(rank, 3))]
    assert sorted(sum(rows, [])) == list(range(12))


def test_setting_races_with_no_row():
    """While another thread loops, what is set for later epochs comes in these epochs, whole."""
    level = hr.parameter("level", default=0)
    dataset = hr.Range(64).map(T.Fill(level), "value", "level").batch(8)
    seen = []

    def loop():
        for _ in range(30):
            seen.append({int(value) for batch in dataset for value in batch["level"]})

    looping = threading.Thread(target=loop)
    looping.start()
    made = {}
    for epoch in range(1, 30):
        try:
            level.set(epoch, epoch)
            made[epoch] = epoch
        except hr.GraphError:
            pass
    looping.join()
    latest = 0
    for epoch, values in enumerate(seen):
        latest = made.get(epoch, latest)
        assert values == {latest}


def test_maps_may_be_built_while_another_thread_sets(monkeypatch):
    level = hr.parameter("level", default=0.5)
    images = hr.Numpy({"image": np.zeros((2, 4, 4, 3), np.uint8)})
    images.map(V.AdjustBrightness(level), "image")
    checked = parameters._engine.wrong_value

    def build_and_check(*arguments):
        monkeypatch.undo()
        images.map(V.RandomHorizontalFlip(level), "image")
        return checked(*arguments)

    monkeypatch.setattr(parameters._engine, "wrong_value", build_and_check)
    level.set(0.25, epoch=1)
    assert level.value(1) == 0.25


def test_a_value_that_is_dropped_while_it_is_read_is_made_again():
    class Dropped(dict):
        """Another thread drops each epoch as soon as it was looked for."""

        def __contains__(self, epoch):
            return self.pop(epoch, None) is not None

    level = hr.parameter("level", lambda epoch: epoch)
    for read in (level.value, level._value_in):
        level._fixed = Dropped({3: 3})
        assert read(3) == 3


def test_it_is_not_copied():
    level = hr.parameter("level", default=0)
    assert repr(level) == 'hr.parameter("level")' and level.name == "level"
    assert repr(T.Fill(level)) == 'Fill(value=hr.parameter("level"))'
    import copy

    with pytest.raises(TypeError, match="other processes"):
        copy.deepcopy(level)


FEEDBACK = """
import json, sys
import numpy as np
import headrace as hr
from headrace import vision as V

strength = hr.parameter("strength", default=0.25)
photos = np.random.default_rng(3).integers(0, 256, (8, 6, 6, 3), np.uint8)
images = hr.Numpy({"image": photos}, shuffle=True).map(V.RandomApply([V.AdjustBrightness(0)], p=strength), "image").batch(2)

def step(batch):  # darker images cost more
    return float(255 - batch["image"].mean())

stop = int(sys.argv[1])
if len(sys.argv) > 2:
    iterator, loss, done = images.iterate(state=bytes.fromhex(sys.argv[2])), float(sys.argv[3]), int(sys.argv[4])
else:
    iterator, loss, done = iter(images), 0.0, 0
losses = []
for epoch in range(iterator.epoch, 6):
    for batch in iterator:
        loss += step(batch)
        done += 1
        if done == stop:
            print(json.dumps({"losses": losses, "state": iterator.state().hex(), "loss": loss}))
            sys.exit()
    losses.append(loss)
    strength.set(min(1.0, loss / 1500), epoch + 1)
    loss, iterator = 0.0, iter(images)
print(json.dumps({"losses": losses}))
"""


def test_a_feedback_driven_augmentation_goes_on_in_epoch_4_without_setting_it_again():
    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-c", FEEDBACK, *map(str, arguments)], capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    whole = run(-1)["losses"]
    assert len({*whole}) == 6
    killed = run(18)  # the second batch of epoch 4
    rest = run(-1, killed["state"], killed["loss"], 18)
    assert killed["losses"] + rest["losses"] == whole


@pytest.mark.parametrize("value", [2**64, [1, 2**70], [0.5, 2**60 + 1]], ids=str)
def test_a_number_that_no_graph_holds_is_refused_when_it_is_set(value):
    for make in (lambda p: hr.Range(2).map(T.Fill(p), "value"), lambda p: hr.Range(2).map(lambda v, w=p: v, "value")):
        parameter = hr.parameter("p", default=1)
        make(parameter)
        with pytest.raises(hr.GraphError, match=r'hr.parameter\("p"\).set: value: '):
            parameter.set(value, epoch=0)
    with pytest.raises(hr.GraphError, match="default: "):
        hr.parameter("p", default=value)


class TestTravelling:
    """A pipeline that is pickled for processes that run the epochs that were asked for."""

    @staticmethod
    def arrived(dataset):
        sent = sent_graph(dataset, 0, {})
        again = pickle.loads(sent.pickled)
        give_values(again, sent.values)
        return again

    def test_values_of_functions_are_those_of_the_epochs_that_were_asked_for(self):
        there = []
        dataset = filled(hr.parameter("level", fn=lambda epoch: there.append(epoch) or epoch * 2))
        expected = levels(dataset, 3)
        again = self.arrived(dataset)
        there.clear()
        assert levels(again, 3) == expected and there == []
        with pytest.raises(hr.FunctionError, match="the value of epoch 4 was not fixed"):
            levels(again, 4)

    def test_values_that_were_set_and_the_default_hold_there(self):
        level = hr.parameter("level", default=15)
        level.set(25, epoch=2)
        again = self.arrived(filled(level))
        assert [levels(again, epoch)[0] for epoch in (1, 2, 3)] == [15, 25, 25]

    def test_one_that_two_steps_read_is_one_there(self):
        level = hr.parameter("level", default=15)
        dataset = hr.Range(4).map(T.Fill(level), "value", "level").map(T.Fill(level), "level", "other").batch(2)
        again = self.arrived(dataset)
        assert levels(again, 0) == levels(again, 0, "other") == [15] * 4

    def test_elsewhere_they_stay(self):
        with pytest.raises(hr.GraphError, match="would not see what is set here"):
            pickle.dumps(filled(hr.parameter("level", default=15)))
