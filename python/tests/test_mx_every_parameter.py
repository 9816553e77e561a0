"""Every parameter of the iterators of headrace.mx changes what they give, and the page of the documentation names it."""

import inspect
import pathlib
import re
import struct

import numpy as np
import pytest

import headrace.mx as mx
from headrace.mx.io.augmentation import AugmentationParameters
from headrace.mx.io.det_augmentation import DetAugmentationParameters
from tests.mx_batches import next_batches
from tests.mxnet_reference import needs_mxnet, parameters_of_mxnet
from tests.small_image_records import encoded, image_of, write_records
from tests.thinning import one_in

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs/from-mxnet.md").read_text()
ROWS = 10
# What decides no value: tests of each iterator show it in explain() or the log; of `aug_seq` there is one value alone.
NO_VALUE = {"ctx", "device_id", "preprocess_threads", "prefetch_buffer", "verbose", "silent", "aug_seq"}
# What may have one value alone, by the iterator.
CHECKED = {"LibSVMIter": {"dtype"}, "MNISTIter": {"data_shape", "input_shape"}}
# What MXNet has not, of which every iterator has tests of its own.
OURS = {"memory", "on_error", "max_errors", "device", "state"}


def write_idx(path, array):
    path.write_bytes(struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parameters")
    images = [encoded(image_of(i)) for i in range(ROWS)]
    draws = np.random.default_rng(0)
    write_records(folder, "some", images)
    write_records(folder, "other", images[::-1])
    write_records(folder, "two", images, [[i, 2 * i] for i in range(ROWS)])
    write_records(folder, "alpha", [encoded(draws.integers(0, 256, (8, 8, 4), np.uint8)) for _ in range(ROWS)])
    write_records(folder, "large", [images[0] + bytes(256 << 10)] * 20)
    for name, seed in (("files", 0), ("others", 50)):
        (folder / name).mkdir()
        for i in range(ROWS):
            (folder / name / f"{i}.png").write_bytes(encoded(image_of(seed + i)))
    (folder / "files.lst").write_text("".join(f"{i}\t{i}\t{i}.png\n" for i in range(ROWS)))
    (folder / "turned.lst").write_text("".join(f"{i}\t{i}\t{i}.png\n" for i in reversed(range(ROWS))))
    (folder / "two.lst").write_text("".join(f"{i}\t{i}\t{2 * i}\t{i}.png\n" for i in range(ROWS)))
    for name, first in (("data", 0), ("more", 7)):
        (folder / f"{name}.csv").write_text("".join(f"{first + i},{2 * i}\n" for i in range(ROWS)))
        (folder / f"{name}.libsvm").write_text("".join(f"{i} {i % 2}:{first + i}\n" for i in range(ROWS)))
    for name, most in (("images", 256), ("darker", 100)):
        write_idx(folder / name, draws.integers(0, most, (ROWS, 4, 6), np.uint8))
    for name in ("labels", "classes"):
        write_idx(folder / name, draws.integers(0, 256, ROWS, np.uint8))
    return folder


AREAS = {"random_resized_crop": True, "min_random_area": 0.2, "max_random_area": 0.9}
RATIOS = {"random_resized_crop": True, "min_aspect_ratio": 0.5, "max_aspect_ratio": 2, "min_random_area": 0.4}
SQUARES = {"min_crop_size": 5, "max_crop_size": 6}
LARGE = {"path_imgrec": "large.rec", "shuffle": True}
ALPHA = {"path_imgrec": "alpha.rec", "data_shape": (4, 8, 8)}
LISTED = {"path_imgrec": None, "path_imglist": "files.lst", "path_root": "files"}
LABELS = {"label_csv": "more.csv", "label_shape": (2,)}
SPARSE = {"label_libsvm": "more.libsvm", "label_shape": (3,)}
SENTENCES = [[1, 2], [3, 4], [5], [6], [7, 8, 9], [1, 3], [2], [4]]

# The parameters of an iterator, and pairs of what is changed and what else is given.
ITERATORS = {
    "ImageRecordIter": (
        {"path_imgrec": "some.rec", "data_shape": (3, 8, 8), "batch_size": 4, "verbose": False},
        [
            ({"path_imgrec": "other.rec"}, {}), ({"path_imgidx": "some.idx"}, {"shuffle": True}),
            ({"path_imglist": "some.lst"}, {}), ({"label_width": 2, "path_imgrec": "two.rec"}, {}),
            ({"data_shape": (3, 9, 8)}, {}), ({"batch_size": 3}, {}), ({"shuffle": True}, {}),
            ({"seed": 5}, {"shuffle": True}), ({"seed_aug": 5}, {"rand_crop": True}),
            ({"shuffle_chunk_size": 1}, LARGE), ({"shuffle_chunk_seed": 5}, {**LARGE, "shuffle_chunk_size": 1}),
            ({"round_batch": False}, {}), ({"num_parts": 2}, {}), ({"part_index": 1}, {"num_parts": 2}),
            ({"dtype": "uint8"}, {}), ({"data_name": "x"}, {}), ({"label_name": "y"}, {}), ({"resize": 10}, {}),
            ({"rand_crop": True}, {}), ({"random_resized_crop": True}, {"max_aspect_ratio": 0.5}),
            ({"min_random_area": 0.6}, AREAS), ({"max_random_area": 0.3}, AREAS),
            ({"min_aspect_ratio": 1.5}, RATIOS), ({"max_aspect_ratio": 0.6}, RATIOS), ({"max_rotate_angle": 40}, {}),
            ({"rotate": 30}, {}), ({"brightness": 0.5}, {}), ({"contrast": 0.5}, {}), ({"saturation": 0.5}, {}),
            ({"pca_noise": 0.5}, {}), ({"fill_value": 3}, {"pad": 4, "data_shape": (3, 18, 18)}),
            ({"inter_method": 2}, {"resize": 20}), ({"pad": 4}, {"data_shape": (3, 18, 18)}), ({"mirror": True}, {}),
            ({"rand_mirror": True}, {}), *(({f"mean_{each}": 3}, {}) for each in "rgb"), ({"mean_a": 3}, ALPHA),
            *(({f"std_{each}": 3}, {}) for each in "rgb"), ({"std_a": 3}, ALPHA), ({"scale": 0.5}, {}),
            ({"mean_img": "mean.bin"}, {}), ({"max_shear_ratio": 0.5}, {}), ({"max_crop_size": 10}, SQUARES),
            ({"min_crop_size": 6}, SQUARES), ({"max_random_scale": 1.5}, {}), ({"min_random_scale": 0.8}, {}),
            ({"max_img_size": 10}, {}), ({"min_img_size": 20}, {}), ({"random_h": 40}, {}), ({"random_s": 40}, {}),
            ({"random_l": 40}, {}), ({"max_random_contrast": 0.5}, {}), ({"max_random_illumination": 9}, {}),
        ],
    ),
    "NDArrayIter": (
        {"data": np.arange(20).reshape(10, 2), "label": np.arange(10), "batch_size": 4, "seed": 1},
        [
            ({"data": np.zeros((10, 2))}, {}), ({"label": np.ones(10)}, {}), ({"batch_size": 3}, {}),
            ({"shuffle": True}, {}), ({"last_batch_handle": "discard"}, {}), ({"last_batch_handle": "roll_over"}, {}),
            ({"data_name": "x"}, {}), ({"label_name": "y"}, {}), ({"layout": "NT"}, {}), ({"seed": 5}, {"shuffle": True}),
        ],
    ),
    "CSVIter": (
        {"data_csv": "data.csv", "data_shape": (2,), "batch_size": 4},
        [
            ({"data_csv": "more.csv"}, {}), ({"data_shape": (2, 1)}, {}), ({"batch_size": 3}, {}),
            ({"label_csv": "more.csv", "label_shape": (2,)}, {}), ({"label_shape": (2, 1)}, LABELS),
            ({"round_batch": False}, {}), ({"dtype": "int64"}, {}), ({"data_name": "x"}, {}), ({"label_name": "y"}, {}),
        ],
    ),
    "LibSVMIter": (
        {"data_libsvm": "data.libsvm", "data_shape": (3,), "batch_size": 4},
        [
            ({"data_libsvm": "more.libsvm"}, {}), ({"data_shape": (4,)}, {}), ({"batch_size": 3}, {}),
            ({"label_libsvm": "more.libsvm", "label_shape": (3,)}, {}), ({"label_shape": (4,)}, SPARSE),
            ({"num_parts": 2}, {}), ({"part_index": 1}, {"num_parts": 2}), ({"round_batch": False}, {}),
            ({"data_name": "x"}, {}), ({"label_name": "y"}, {}),
        ],
    ),
    "MNISTIter": (
        {"image": "images", "label": "labels", "batch_size": 4, "shuffle": False, "silent": True},
        [
            ({"image": "darker"}, {}), ({"label": "classes"}, {}), ({"batch_size": 3}, {}), ({"shuffle": True}, {}),
            ({"flat": True}, {}), ({"seed": 5}, {"shuffle": True}), ({"num_parts": 2}, {}),
            ({"part_index": 1}, {"num_parts": 2}), ({"data_name": "x"}, {}), ({"label_name": "y"}, {}),
            ({"same_order": True}, {"shuffle": True}),
        ],
    ),
    "ImageIter": (
        {"path_imgrec": "some.rec", "data_shape": (3, 8, 8), "batch_size": 4, "seed": 1},
        [
            ({"path_imgrec": "other.rec"}, {}), ({"path_imgidx": "some.idx", "shuffle": True}, {}),
            ({"path_imglist": "turned.lst"}, LISTED), ({"path_root": "others"}, LISTED),
            ({"imglist": [[5, "3.png"]] * 4, "path_imglist": None}, LISTED),
            ({"label_width": 2, "path_imglist": "two.lst"}, LISTED), ({"data_shape": (3, 9, 8)}, {}),
            ({"batch_size": 3}, {}), ({"shuffle": True}, {"path_imgidx": "some.idx"}),
            ({"num_parts": 2}, {"path_imgidx": "some.idx"}),
            ({"part_index": 1}, {"num_parts": 2, "path_imgidx": "some.idx"}),
            ({"aug_list": [mx.image.ForceResizeAug((8, 8))]}, {}), ({"data_name": "x"}, {}), ({"label_name": "y"}, {}),
            ({"dtype": "int64"}, {}), ({"last_batch_handle": "discard"}, {}), ({"seed": 5}, {"rand_crop": True}),
            ({"resize": 10}, {}), ({"rand_crop": True}, {}), ({"rand_resize": True}, {"rand_crop": True}),
            ({"rand_mirror": True}, {}), ({"mean": True}, {}), ({"std": True}, {"mean": True}),
            *(({each: 0.5}, {}) for each in ("brightness", "contrast", "saturation", "hue", "pca_noise", "rand_gray")),
            ({"inter_method": 0}, {"resize": 10}),
        ],
    ),
    "BucketSentenceIter": (
        {"sentences": SENTENCES, "batch_size": 2, "seed": 1},
        [
            ({"sentences": SENTENCES[::-1]}, {}), ({"batch_size": 1}, {}), ({"buckets": [3]}, {}),
            ({"invalid_label": 9}, {}), ({"data_name": "x"}, {}), ({"label_name": "y"}, {}), ({"dtype": "int32"}, {}),
            ({"layout": "TN"}, {}), ({"seed": 5}, {}),
        ],
    ),
}  # fmt: skip
CASES = one_in(4, [(name, *change) for name, (_, changes) in ITERATORS.items() for change in changes])


def iterator_of(name):
    return next(getattr(module, name) for module in (mx.io, mx.image, mx.rnn) if hasattr(module, name))


def everything(folder, name, given):
    """What an iterator says, and two epochs of what it gives."""
    iterator = iterator_of(name)(**given)
    told = [(each.name, each.shape, np.dtype(each.dtype), each.layout) for each in iterator.provide_data]
    told += [(each.name, each.shape, np.dtype(each.dtype)) for each in iterator.provide_label]
    return told, next_batches(iterator, 2 * ROWS // 4, tell)


def tell(batch):
    arrays = [each.asnumpy() for each in [*batch.data, *batch.label]]
    return [(each.dtype, each.shape, each.tobytes()) for each in arrays], batch.pad, batch.bucket_key


@pytest.mark.parametrize(("name", "changed", "given"), CASES, ids=[f"{name}-{[*each][0]}" for name, each, _ in CASES])
def test_it_changes_the_result(folder, monkeypatch, name, changed, given):
    monkeypatch.chdir(folder)
    base = {**ITERATORS[name][0], **given}
    assert everything(folder, name, base) == everything(folder, name, base)
    assert everything(folder, name, base) != everything(folder, name, {**base, **changed})


# ---- none is left out ----


def parameters_of(name):
    """All that are given by name, but what MXNet has not."""
    taken = {
        "ImageRecordIter": AugmentationParameters.__annotations__,
        "ImageDetRecordIter": DetAugmentationParameters.__annotations__,
        "ImageIter": inspect.signature(mx.image.CreateAugmenter).parameters,
        "ImageDetIter": inspect.signature(mx.image.CreateDetAugmenter).parameters,
    }.get(name, {})
    own = inspect.signature(iterator_of(name)).parameters.values()
    return {each.name for each in own if each.kind is not inspect.Parameter.VAR_KEYWORD} | {*taken}


@pytest.mark.parametrize("name", ITERATORS)
def test_there_is_a_change_of_every_parameter(name):
    changed = {parameter for changed, _ in ITERATORS[name][1] for parameter in changed}
    assert parameters_of(name) - changed == (NO_VALUE | OURS | CHECKED.get(name, set())) & parameters_of(name)


@pytest.mark.parametrize("name", [*ITERATORS, "ImageDetRecordIter", "ImageDetIter"])
def test_every_iterator_has_what_mxnets_have_not(name):
    kind = iterator_of(name)
    assert {"memory", "on_error", "state"} <= {*inspect.signature(kind).parameters}
    assert callable(kind.state)
    assert callable(kind.explain)


def test_the_page_says_which_iterators_lack_something():
    every = [*ITERATORS, "ImageDetRecordIter", "ImageDetIter"]
    lacking = {
        parameter: {name for name in every if parameter not in inspect.signature(iterator_of(name)).parameters}
        for parameter in ("seed", "max_errors", "device")
    }
    assert lacking == {
        "seed": {"CSVIter", "LibSVMIter"},
        "max_errors": {"NDArrayIter", "BucketSentenceIter"},
        "device": {"LibSVMIter"},
    }
    for line, names in zip(
        re.findall(r"^- `(?:seed|on_error|device)\b.*", PAGE, re.MULTILINE), lacking.values(), strict=True
    ):
        assert {name for name in every if f"`{name}`" in line} == names


@pytest.mark.parametrize("name", ITERATORS)
def test_the_page_says_which_batches_have_no_index(folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    base = ITERATORS[name][0]
    assert (iterator_of(name)(**base).next().index is None) == (name == "NDArrayIter")
    if name == "LibSVMIter":
        assert iterator_of(name)(**base, num_parts=2).next().index is None
        assert iterator_of(name)(**{**base, **SPARSE}, num_parts=2).next().index is not None
    assert "`None` from `NDArrayIter`, and from `LibSVMIter` with `num_parts` and no `label_libsvm`" in PAGE


# What says how something is done that is not done.
WITHOUT_EFFECT = {"mean_a": 50, "std_a": 2, "rotate": -30, "fill_value": 3, "inter_method": 4, "seed": 5, "seed_aug": 5}


@pytest.mark.parametrize("name", WITHOUT_EFFECT)
def test_the_page_says_what_is_taken_without_effect(folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    base = ITERATORS["ImageRecordIter"][0]
    taken = {**base, name: WITHOUT_EFFECT[name]}
    assert everything(folder, "ImageRecordIter", taken) == everything(folder, "ImageRecordIter", base)
    says = next(line for line in PAGE.splitlines() if "is taken where that is not done" in line)
    assert "seeds" in says if "seed" in name else f"`{name}`" in says


@pytest.mark.parametrize("name", ["ResizeIter", "PrefetchingIter"])
def test_iterators_around_others_have_what_is_not_of_those(name):
    kind = iterator_of(name)
    assert parameters_of(name) & OURS == {"memory", "on_error", "state"}
    assert callable(kind.state) and callable(kind.explain)


# ---- the page ----

FUNCTIONS = {
    "CreateAugmenter": mx.image.CreateAugmenter,
    "CreateDetAugmenter": mx.image.CreateDetAugmenter,
    "encode_sentences": mx.rnn.encode_sentences,
}
SECTIONS = {
    "BucketSentenceIter": "BucketSentenceIter", "CSVIter": "CSVIter", "CreateAugmenter": "ImageIter",
    "CreateDetAugmenter": "ImageDetIter", "ImageDetIter": "ImageDetIter", "ImageDetRecordIter": "ImageDetRecordIter",
    "ImageIter": "ImageIter", "ImageRecordIter": "ImageRecordIter", "LibSVMIter": "LibSVMIter", "MNISTIter": "MNISTIter",
    "NDArrayIter": "NDArrayIter", "PrefetchingIter": "ResizeIter and PrefetchingIter",
    "ResizeIter": "ResizeIter and PrefetchingIter", "encode_sentences": "BucketSentenceIter",
}  # fmt: skip


def named_in(section):
    """The words in code of a section; ImageDetRecordIter and ImageDetIter have the parameters of their likes, too."""
    also = {"ImageDetRecordIter": "ImageRecordIter", "ImageDetIter": "ImageIter"}.get(section)
    text = re.search(rf"^## {re.escape(section)}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert text, f"the page has no section {section}"
    words = {word for code in re.findall(r"`([^`\n]+)`", text[1]) for word in re.findall(r"\w+", code)}
    return words | (named_in(also) if also else set())


@pytest.mark.parametrize("name", SECTIONS)
def test_the_page_names_every_parameter(name):
    function = FUNCTIONS.get(name)
    ours = {*inspect.signature(function).parameters} if function else parameters_of(name) - OURS
    assert ours - named_in(SECTIONS[name]) == set()


@needs_mxnet
def test_the_page_names_every_name_and_parameter_of_mxnet():
    words = set(re.findall(r"\w+", PAGE))
    names, parameters = parameters_of_mxnet([*SECTIONS])
    assert [name for name in names if name not in words] == []
    for name, theirs in parameters.items():
        assert set(theirs) - named_in(SECTIONS[name]) == set(), name
