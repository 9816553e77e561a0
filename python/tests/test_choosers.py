"""Kernels that choose among others: what is drawn, and what is refused."""

import json
import pickle
import warnings

import numpy as np
import pytest

import headrace as hr
from headrace import transforms as T
from headrace import vision as V
from kernels.testdata.golden import RowRandom

COUNT = 4000
IMAGE = np.random.default_rng(3).integers(0, 256, (12, 16, 3), np.uint8)


def zeros(count: int = COUNT) -> hr.Dataset:
    return hr.Numpy({"x": np.zeros(count, np.int64), "y": np.zeros(count, np.int64)})


def drawn(kernels, columns="x", **options) -> np.ndarray:
    """The values of the columns after the kernels, of an epoch."""
    dataset = zeros().map(kernels, columns).batch(COUNT)
    with dataset.iterate(**options) as iterator:
        batch = next(iterator)
    return batch["x"] if columns == "x" else np.stack([batch["x"], batch["y"]])


def deviation(counts, expected) -> float:
    """Pearson's chi-square in standard deviations, by Wilson and Hilferty."""
    counts, expected = np.ravel(counts).astype(float), np.ravel(expected).astype(float)
    freedom = len(counts) - 1
    chi = ((counts - expected) ** 2 / expected).sum()
    return ((chi / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / np.sqrt(2 / (9 * freedom))


def expect_independent(a: np.ndarray, b: np.ndarray, values: int) -> None:
    table = np.zeros((values, values))
    np.add.at(table, (a, b), 1)
    expected = table.sum(1, keepdims=True) * table.sum(0, keepdims=True) / table.sum()
    # Of (values - 1)² counts that are independent.
    chi, freedom = ((table - expected) ** 2 / expected).sum(), (values - 1) ** 2
    assert ((chi / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / np.sqrt(2 / (9 * freedom)) < 4


THREE = [T.Fill(0), T.Fill(1), T.Fill(2)]


def test_kernels_are_applied_as_often_as_said():
    for p in (0.0, 0.2, 1.0):
        applied = int(drawn(V.RandomApply(T.Fill(1), p)).sum())
        if p in (0, 1):
            assert applied == p * COUNT
        else:
            assert deviation([applied, COUNT - applied], [p * COUNT, (1 - p) * COUNT]) < 4


def test_branches_are_drawn_by_their_weights():
    assert deviation(np.bincount(drawn(V.RandomChoice(THREE))), [COUNT / 3] * 3) < 4
    assert deviation(np.bincount(drawn(V.RandomChoice(THREE, [2, 1, 5]))), np.array([2, 1, 5]) * COUNT / 8) < 4
    assert set(drawn(V.RandomChoice(THREE, [1, 0, 1]))) == {0, 2}


def test_the_last_kernel_of_an_order_is_any_of_them():
    assert deviation(np.bincount(drawn(V.RandomOrder(THREE))), [COUNT / 3] * 3) < 4


def test_policies_draw_as_they_say():
    policy = [[(T.Fill(1), 0.5), (T.Fill(2), 0.25)], [(T.Fill(3), 1)]]
    found = np.bincount(drawn(V.RandomSelectSubpolicy(policy)))
    assert deviation(found, np.array([3, 3, 2, 8]) * COUNT / 16) < 4
    # One of two, with chance ½; so each comes with chance ¼.
    found = np.bincount(drawn(V.UniformAugment([T.Fill(1), T.Fill(2)], 1)))
    assert deviation(found, np.array([2, 1, 1]) * COUNT / 4) < 4


def test_draws_are_independent_of_rows_epochs_seeds_and_other_choosers():
    first = drawn(V.RandomChoice(THREE))
    expect_independent(first[:-1], first[1:], 3)
    expect_independent(first, drawn(V.RandomChoice(THREE), epoch=1), 3)
    expect_independent(first, drawn(V.RandomChoice(THREE), seed=1), 3)
    both = zeros().map([V.RandomChoice(THREE)], "x").map([V.RandomChoice(THREE)], "y").batch(COUNT)
    batch = next(iter(both))
    expect_independent(batch["x"], batch["y"], 3)


def test_a_chooser_in_a_chooser_draws_by_itself():
    # Bit 1 says which branch of the outer one was drawn, bit 0 what the inner one drew.
    inner = [V.RandomChoice([T.Fill(2 * branch), T.Fill(2 * branch + 1)]) for branch in range(2)]
    found = drawn(V.RandomChoice(inner))
    assert deviation(np.bincount(found), [COUNT / 4] * 4) < 4
    expect_independent(found // 2, found % 2, 2)


def test_one_draw_serves_all_columns():
    for kernel in (
        V.RandomApply(T.Fill(1)),
        V.RandomChoice(THREE),
        V.RandomOrder(THREE),
        V.RandomApply([V.RandomChoice(THREE), V.RandomApply(T.Fill(7))]),
    ):
        x, y = drawn(kernel, ["x", "y"])
        assert len(set(x)) > 1
        np.testing.assert_array_equal(x, y)


def test_an_image_and_its_mask_move_together():
    images = np.random.default_rng(1).integers(0, 256, (50, 9, 9, 3), np.uint8)
    moved = V.RandomApply(
        [V.RandomHorizontalFlip(), V.RandomChoice([V.RandomVerticalFlip(), V.RandomCrop(9, padding=3)])]
    )
    for row in hr.Numpy({"image": images, "mask": images}).map([moved, moved], ["image", "mask"]):
        np.testing.assert_array_equal(row["image"], row["mask"])


def test_a_batch_is_drawn_as_a_whole():
    images = np.random.default_rng(0).random((400, 4, 4, 1), np.float32)
    rows = hr.Numpy({"image": images, "label": np.arange(400) % 3}).batch(2)
    mixed = rows.map(V.MixUp(num_classes=3, name="mix"), ["image", "label"])
    cut = rows.map(V.CutMix(num_classes=3, layout="HWC", name="cut"), ["image", "label"])
    either = [V.MixUp(num_classes=3, name="mix"), V.CutMix(num_classes=3, layout="HWC", name="cut")]
    counts = [0, 0]
    for found, a, b in zip(rows.map(V.RandomChoice(either), ["image", "label"]), mixed, cut, strict=True):
        counts[0] += np.array_equal(found["image"], a["image"]) and np.array_equal(found["label"], a["label"])
        counts[1] += np.array_equal(found["image"], b["image"]) and np.array_equal(found["label"], b["label"])
    assert sum(counts) >= 200  # an image that is cut nowhere may equal one that is mixed with itself
    assert deviation([counts[0], 200 - counts[0]], [100, 100]) < 4


def test_compose_is_the_list_of_its_kernels():
    kernels = [V.RandomHorizontalFlip(), V.RandomVerticalFlip(), V.Invert()]
    images = hr.Numpy({"x": IMAGE[None].repeat(20, 0)})
    plain = images.map(kernels, "x")
    nested = images.map([V.Compose(kernels[:1]), V.Compose([V.Compose(kernels[1:])])], "x")
    assert nested.to_json() == plain.to_json() or nested._graph().hash == plain._graph().hash
    choice = V.RandomChoice([V.Compose(kernels[:2]), kernels[2]])
    assert (
        images.map(choice, "x")._graph().hash
        == images.map(V.RandomChoice([kernels[:2], kernels[2]]), "x")._graph().hash
    )
    np.testing.assert_array_equal(V.Compose([V.Invert(), V.Resize(8)])(IMAGE), V.Resize(8)(V.Invert()(IMAGE)))


def test_a_row_stays_as_it_is_under_another_name():
    dataset = hr.Range(50).map(V.RandomApply(T.Fill(-1)), "value", "other")
    rows = [(int(row["value"]), int(row["other"])) for row in dataset]
    assert {other == value for value, other in rows} == {True, False}
    assert all(other in (value, -1) for value, other in rows)


def test_types_say_what_is_true_of_all_rows():
    images = hr.Numpy({"x": IMAGE[None]})

    def shape(*kernels):
        return images.map(list(kernels), "x").schema["x"].shape

    assert shape(V.RandomApply(V.Resize((4, 16)))) == (None, 16, 3)
    assert shape(V.RandomApply(V.Resize((4, 16)), 1)) == (4, 16, 3)
    assert shape(V.RandomChoice([V.Resize((4, 5)), V.Resize((4, 5), antialias=False)])) == (4, 5, 3)
    assert shape(V.RandomOrder([V.RandomHorizontalFlip(), V.Invert()])) == (12, 16, 3)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: V.RandomApply([]), "RandomApply: a list of kernels is empty"),
        (lambda: V.RandomChoice([]), "RandomChoice: the list of kernels is empty"),
        (lambda: V.RandomChoice([V.Invert(), []]), "RandomChoice: a list of kernels is empty"),
        (lambda: V.RandomOrder(V.Invert()), "RandomOrder: .* is no list of kernels"),
        (lambda: V.RandomApply(V.Invert), "RandomApply: Invert is a class; write Invert"),
        (lambda: V.RandomApply([lambda x: x]), "RandomApply: .* is a Python function, and RandomApply is part of the"),
        (lambda: V.Compose([print]), "Compose: .* is a Python function"),
        (lambda: V.RandomChoice([3]), "RandomChoice: 3 is not a kernel"),
        (lambda: V.RandomSelectSubpolicy([]), "RandomSelectSubpolicy: the list of kernels is empty"),
        (lambda: V.RandomSelectSubpolicy([[]]), "RandomSelectSubpolicy: a sub-policy is empty"),
        (lambda: V.RandomSelectSubpolicy([(V.Invert(), 1)]), "RandomSelectSubpolicy: Invert.* is no .kernel, probabil"),
        (lambda: V.RandomSelectSubpolicy(V.Invert()), "RandomSelectSubpolicy: policy is a list of lists"),
        (lambda: V.UniformAugment([print], 1), "UniformAugment: .* is a Python function"),
    ],
)
def test_what_is_no_kernel_is_refused_at_once(build, message):
    with pytest.raises(hr.GraphError, match=message):
        build()


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda: V.RandomApply(V.Invert(), 1.5), "RandomApply: p is 1.5; it must be at most 1"),
        (lambda: V.RandomChoice([V.Invert(), V.Equalize()], [1]), "RandomChoice: p has 1 weights for 2 branches"),
        (lambda: V.RandomChoice([V.Invert(), V.Equalize()], [0, 0]), "RandomChoice: p needs a weight above 0"),
        (lambda: V.RandomChoice([V.Invert(), V.Equalize()], [2, -1]), "RandomChoice: p .*-1"),
        (lambda: V.UniformAugment([V.Invert()], 2), "UniformAugment: num_ops is 2; there are 1 kernels"),
        (lambda: V.RandomSelectSubpolicy([[(V.Invert(), 2)]]), "RandomSelectSubpolicy: chances .*2"),
        (
            lambda: V.RandomApply(V.ToFloat()),
            'RandomApply: column "x" is uint8 .* before, and float32 .* after ToFloat',
        ),
        (lambda: V.RandomChoice([V.Invert(), V.ToFloat()]), "RandomChoice: .* after Invert, and .* after ToFloat"),
        (lambda: V.RandomOrder([V.ToFloat(), V.Invert()]), "RandomOrder"),
        (lambda: V.RandomApply(V.MixUp()), "MixUp makes 2 of 1 columns"),
        (lambda: V.RandomApply(V.Normalize((1, 2), (3, 4)), 1), "RandomApply: Normalize: "),
        (lambda: [V.HWC2CHW(), V.RandomApply(V.CenterCrop(4))], "CenterCrop in RandomApply: needs an image of shape"),
        (
            lambda: V.RandomApply([V.HWC2CHW(), V.CenterCrop(4)], 1),
            "CenterCrop in RandomApply: needs an image of shape",
        ),
    ],
)
def test_mistakes_name_the_chooser(kernel, message):
    images = hr.Numpy({"x": IMAGE[None]})
    with pytest.raises(hr.GraphError, match=message):
        images.map(kernel(), "x").schema  # noqa: B018


def test_a_kernel_of_batches_needs_one():
    rows = hr.Numpy({"image": IMAGE[None].astype(np.float32), "label": np.zeros(1, np.int32)})
    with pytest.raises(hr.GraphError, match="MixUp in RandomApply: works on a whole batch"):
        rows.map(V.RandomApply(V.MixUp(num_classes=3), 1), ["image", "label"]).schema  # noqa: B018


def test_as_many_columns_come_out_as_go_in():
    both = hr.Numpy({"a": np.zeros((3, 2)), "b": np.zeros((3, 2))})
    joined = V.RandomApply(T.Concatenate())
    with pytest.raises(hr.GraphError, match="RandomApply gives as many columns as it takes"):
        both.map(joined, ["a", "b"], "c")
    with pytest.raises(hr.GraphError, match="Concatenate makes 1 of 2 columns"):
        both.map(joined, ["a", "b"])


def test_choosers_in_choosers_have_a_limit():
    kernel = V.Invert()
    for _ in range(9):
        kernel = V.RandomApply(kernel)
    with pytest.raises(hr.GraphError, match="nested more than 8 deep"):
        hr.Numpy({"x": IMAGE[None]}).map(kernel, "x").schema  # noqa: B018
    with pytest.raises(hr.GraphError, match="nested more than 8 deep"):
        kernel(IMAGE)


def test_a_doubt_within_a_branch_is_said():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pixels = hr.Numpy({"x": IMAGE[None]}).map(T.TypeCast("float32"), "x")
        assert pixels.map(V.RandomApply(V.Normalize(0.5, 0.5)), "x").schema
    assert any("Normalize in RandomApply: mean and std are below 1" in str(each.message) for each in caught)


def test_a_chooser_is_called_without_a_pipeline():
    flip, again = (V.RandomChoice([V.RandomHorizontalFlip(1), V.RandomVerticalFlip(1)], seed=5) for _ in range(2))
    found = [flip(IMAGE) for _ in range(20)]
    np.testing.assert_array_equal(found, [again(IMAGE) for _ in range(20)])
    for row, given in enumerate(found):
        vertical = RowRandom(5, 0, 0, row).below(2) == 1
        np.testing.assert_array_equal(given, IMAGE[::-1] if vertical else IMAGE[:, ::-1])
    image, mask = V.RandomApply(V.RandomHorizontalFlip())(IMAGE, IMAGE[..., 0])
    np.testing.assert_array_equal(image[..., 0], mask)


def test_steps_of_composed_choosers_are_counted_from_the_first():
    composed = hr.compose([V.RandomApply(V.RandomHorizontalFlip()), V.RandomVerticalFlip()], seed=9)
    for row in range(20):
        draws = [RowRandom(9, step, 0, row).uniform() < 0.5 for step in range(3)]
        expected = IMAGE[:, ::-1] if draws[0] and draws[1] else IMAGE
        np.testing.assert_array_equal(composed(IMAGE), expected[::-1] if draws[2] else expected)


def test_choosers_are_pickled_and_shown():
    choice = V.RandomChoice([[V.Invert(), V.Equalize()], V.RandomApply(V.Invert(), 0.25, seed=4)], [1, 2], seed=3)
    again = pickle.loads(pickle.dumps(choice))
    assert repr(again) == repr(choice)
    assert "RandomApply([Invert()], p=0.25" in repr(choice)
    for _ in range(5):
        np.testing.assert_array_equal(again(IMAGE), choice(IMAGE))


def test_what_is_drawn_is_part_of_the_graph(photos):
    crops = V.RandomApply([V.RandomResizedCrop(20), V.RandomHorizontalFlip()])
    dataset = hr.ImageFolder(photos).map([V.Decode(), crops, V.Resize((20, 20)), V.HWC2CHW()], "image")
    (step,) = [each for each in json.loads(dataset.to_json())["nodes"][1]["steps"] if "branches" in each]
    assert [each["kernel"] for each in step["branches"][0]["steps"]] == ["RandomResizedCrop", "RandomHorizontalFlip"]
    assert "RandomResizedCrop" in dataset.to_dot()
    # One pass decodes, cuts what is drawn, and writes the result.
    fused = {line.split(" = ")[1].split("(")[0]: line.rsplit("fused ", 1)[-1] for line in optimized(dataset)}
    assert fused == {
        "Decode": "1",
        "RandomResizedCrop": "1",
        "RandomHorizontalFlip": "1",
        "Resize": "1",
        "HWC2CHW": "1",
    }


def optimized(dataset: hr.Dataset) -> list[str]:
    """The lines of explain() with the steps that are fused, after the last pass."""
    text = dataset.explain(passes=True)
    last = text[text.rindex("#0") :]
    return [line for line in last.splitlines() if "fused " in line]
