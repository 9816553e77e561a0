"""Each public name of libraries that users come from has a counterpart of its name here, advice, or is listed as neither."""

import inspect

import pytest

import headrace as hr
from headrace import transforms as T
from headrace import vision as V
from headrace._arguments.other_libraries import class_advice, method_advice


def unanswered(names):
    return {name for name in names if not hasattr(hr.Dataset, name) and method_advice(name) is None}


def methods_of(*classes):
    return {name for each in classes for name, _ in inspect.getmembers(each, callable) if not name.startswith("_")}


def test_transforms_of_albumentations(monkeypatch):
    monkeypatch.setenv("NO_ALBUMENTATIONS_UPDATE", "1")
    A = pytest.importorskip("albumentations")
    names = {name for name, each in vars(A).items() if inspect.isclass(each) and issubclass(each, A.BasicTransform)}
    left = {name for name in names.difference(V.__all__, T.__all__) if class_advice(name) is None and "3D" not in name}
    # Of several images, and of spectrograms.
    assert left <= {"FrequencyMasking", "SelectiveChannelTransform", "TimeMasking", "TimeReverse"}


def test_methods_of_hugging_face_datasets():
    datasets = pytest.importorskip("datasets")
    # What makes datasets has its advice in headrace; the others search, align labels and keep files.
    apart = {"align_labels_with_mapping", "cleanup_cache_files", "formatted_as", "iter", "reshard", "search"}
    apart |= {"get_nearest_examples", "get_nearest_examples_batch", "search_batch", "to_sql"}
    left = unanswered(methods_of(datasets.Dataset, datasets.IterableDataset)) - apart
    assert {name for name in left if "index" not in name and not name.startswith("from_")} <= {"load_from_disk"}


def test_methods_of_webdataset():
    wds = pytest.importorskip("webdataset")
    # Those that its own stages call, and LMDB's cache.
    apart = {"append", "close", "create_url_iterator", "extract_keys", "invoke", "iterator", "iterator1", "lmdb_cached"}
    assert unanswered(methods_of(wds.WebDataset)) <= apart | {"log_keys", "stage", "update_cache_info"}


def test_methods_of_grain():
    grain = pytest.importorskip("grain")
    assert unanswered(methods_of(grain.MapDataset, grain.IterDataset)) <= {"mix", "range", "source"}
