"""What users of other libraries write at first: each mistake is answered by what to write here."""

import pytest

import headrace as hr
from headrace import other_libraries
from headrace import vision as V


@pytest.mark.parametrize("name", sorted(other_libraries._METHODS))
def test_a_method_of_another_library_names_ours(name):
    with pytest.raises(AttributeError, match=f"a Dataset has no {name}; (write|leave it out|iterate)"):
        getattr(hr.Range(3), name)


def test_a_method_of_no_library_is_just_unknown():
    dataset = hr.Range(3)
    with pytest.raises(AttributeError, match="a Dataset has no fetch$"):
        dataset.fetch  # noqa: B018
    assert not hasattr(dataset, "prefetch")
    assert getattr(dataset, "prefetch", None) is None


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda ds: ds.map(abs, "value", num_parallel_calls=4), r"map\(\) has no parameter num_parallel_calls; leave"),
        (lambda ds: ds.shuffle(buffer_size=4), r"shuffle\(\) has no parameter buffer_size; .*shuffle\(window=…\)"),
        (lambda ds: ds.batch(batch_size=4), r"batch\(size=…\)"),
        (lambda ds: ds.batch(4, drop_last=True), "drop_remainder=True"),
        (lambda ds: ds.iterate(num_workers=4), r"iterate\(\) has no parameter num_workers; .*iterate\(workers=…\)"),
        (lambda ds: ds.map(operations=abs, input_columns="value"), "it is called"),
    ],
)
def test_a_keyword_of_another_library_names_ours(call, advice):
    with pytest.raises(TypeError, match=advice):
        call(hr.Range(3))


def test_a_keyword_of_no_library_is_pythons_own_error():
    with pytest.raises(TypeError, match="unexpected keyword argument 'windows'"):
        hr.Range(3).shuffle(windows=4)


def test_no_method_of_ours_is_among_those_of_others():
    assert not [name for name in other_libraries._METHODS if name in dir(hr.Dataset)]


def test_the_advised_methods_keep_names_and_documentation():
    assert hr.Dataset.batch.__name__ == "batch"
    assert "drop_remainder" in (hr.Dataset.batch.__doc__ or "")


@pytest.mark.parametrize("swapped", [V.Decode(), abs])
def test_swapped_arguments_of_map(swapped):
    with pytest.raises(hr.GraphError, match="the kernels come first, and then the columns"):
        hr.Range(3).map("value", swapped)


def test_swapped_lists_of_map():
    with pytest.raises(hr.GraphError, match="the kernels come first, and then the columns"):
        hr.Range(3).map("value", [V.Decode()])


def test_the_package_shows_its_public_names_alone():
    assert dir(hr) == sorted(hr.__all__)
