"""How datasets, plans and schemas are shown, and the first rows of a dataset."""

import pathlib
import sys
import types
import warnings

import numpy as np
import pytest
from conftest import pipeline_threads

import headrace as hr
from headrace import transforms as T
from headrace import vision as V
from headrace.__main__ import main


@pytest.fixture
def batches(photos: pathlib.Path) -> hr.Dataset:
    return hr.ImageFolder(photos).map([V.Decode(), V.Resize((8, 8))], "image").batch(5)


# ---- repr ----


def test_a_dataset_is_shown_with_its_columns_and_length(batches):
    assert repr(batches) == (
        "<headrace.Dataset ImageFolder → map → batch, 3 batches:\n"
        "  image: uint8 (None, 8, 8, 3)\n"
        "  label: int32 (None,)>"
    )


@pytest.mark.parametrize(
    ("dataset", "head"),
    [
        (hr.Range(1), "Range, 1 row:"),
        (hr.Range(2000).batch(2000), "Range → batch, 1 batch:"),
        (hr.Range(3000), "Range, 3,000 rows:"),
        (hr.Range(3).repeat(), "Range → repeat, endless:"),
        (hr.Range(3).filter(hr.col("value") > 1), "Range → filter:"),
        (hr.Range(8).options(shard=(0, 2)), "Range, 4 rows:"),
        (hr.ImageFolder("no such folder"), "ImageFolder:"),
        (hr.ImageFolder("s3://bucket/photos"), "ImageFolder:"),
    ],
)
def test_the_length_is_shown_where_it_costs_nothing(dataset, head):
    assert repr(dataset).splitlines()[0] == f"<headrace.Dataset {head}"


def test_no_code_of_the_users_is_called_for_it():
    def size(_: hr.BatchInfo) -> int:
        raise AssertionError("called")

    assert repr(hr.Range(4).batch(size)).startswith("<headrace.Dataset Range → python_batch:\n")


def test_no_index_is_built_for_it(tmp_path: pathlib.Path):
    (tmp_path / "t.txt").write_text("a\nb\n")
    assert repr(hr.Text(tmp_path / "t.txt", index="build")) == "<headrace.Dataset Text:\n  line: string ()>"
    assert [each.name for each in tmp_path.iterdir()] == ["t.txt"]


def test_a_mistake_is_shown_on_one_line_and_raises_nothing():
    wrong = hr.Range(3).map(V.Resize(3), "image")
    assert repr(wrong).startswith("<headrace.Dataset Range → map: ") and "\n" not in repr(wrong)
    assert 'no column "image" (columns: value)>' in repr(wrong)
    assert 'no column "image" (columns: value)' in wrong._repr_html_()


def test_it_gives_no_warning_and_takes_none_away(photos: pathlib.Path):
    doubtful = hr.ImageFolder(photos).map([V.Decode(), V.Normalize(0.5, 0.25)], "image")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert repr(doubtful)
    with pytest.warns(hr.PipelineWarning, match="mean and std are below 1"):
        assert doubtful.schema


def test_many_columns_are_counted():
    ds = hr.Numpy({f"c{number}": np.arange(2) for number in range(30)})
    assert len(repr(ds).splitlines()) == 22 and repr(ds).endswith("\n  and 10 more columns>")
    assert "and 10 more columns" in ds._repr_html_()


# ---- notebooks ----


def test_steps_above_a_batch_give_batches():
    doubled = hr.Range(10).batch(4).map(lambda value: value * 2, "value")
    assert "3 batches" in repr(doubled)
    assert "batches" not in repr(doubled.unbatch())


def test_notebooks_show_tables(batches):
    shown = batches._repr_html_()
    assert "ImageFolder → map → batch, 3 batches" in shown
    assert "<td>image</td><td>uint8</td><td>(None, 8, 8, 3)</td>" in shown
    schema = batches.schema
    assert isinstance(schema, dict) and schema == {"image": ("uint8", (None, 8, 8, 3)), "label": ("int32", (None,))}
    assert schema._repr_html_() in shown  # type: ignore[attr-defined]


def test_names_are_never_markup():
    ds = hr.Numpy({"<b>&": np.arange(2)})
    assert "&lt;b&gt;&amp;" in ds._repr_html_() and "<b>&" not in ds._repr_html_()


def test_plans_are_shown_as_they_are_written(batches):
    for text in (batches.explain(), batches.explain(passes=True), iter(batches).explain()):
        assert isinstance(text, str) and text._repr_html_().startswith("<pre>")  # type: ignore[attr-defined]
    assert "Nothing has run yet." in batches.explain()._repr_html_()  # type: ignore[attr-defined]


class Bar:
    """In place of tqdm's."""

    made: list[dict]

    def __init__(self, **given) -> None:
        Bar.made.append(given)

    def set_postfix_str(self, text: str, refresh: bool) -> None: ...

    def update(self) -> None: ...

    def close(self) -> None: ...


@pytest.fixture
def notebook(monkeypatch):
    shell = types.SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    for name in ("tqdm", "tqdm.auto"):
        module = types.ModuleType(name)
        module.tqdm = Bar if name == "tqdm.auto" else None  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(Bar, "made", [], raising=False)
    return shell


def test_progress_has_a_bar_in_the_cell(notebook):
    assert len(list(hr.progress(hr.Range(3), "epoch 0"))) == 3
    assert Bar.made == [{"total": 3, "desc": "epoch 0", "unit": "batch"}]


def test_progress_has_no_bar_in_a_shell_without_a_cell(notebook, tmp_path: pathlib.Path):
    notebook.config = {}
    assert len(list(hr.progress(hr.Range(3)))) == 3
    notebook.config = {"IPKernelApp": {}}
    with open(tmp_path / "log", "w") as log:
        assert len(list(hr.progress(hr.Range(3), file=log))) == 3
    assert Bar.made == []


# ---- the first rows ----


def test_head_gives_rows_as_dicts(photos: pathlib.Path):
    ds = hr.ImageFolder(photos, shuffle=True).map([V.Decode(), V.RandomResizedCrop(8)], "image")
    ds.epoch = 3
    given, wanted = ds.head(3), list(ds.take(3).iterate(epoch=3))
    assert len(given) == 3 and ds.epoch == 3 and len(ds.head()) == 5
    for one, other in zip(given, wanted, strict=True):
        assert np.array_equal(one["image"], other["image"]) and one["label"] == other["label"]


def test_head_gives_what_there_is(batches):
    assert hr.Range(2).head(5) == [{"value": 0}, {"value": 1}] and hr.Range(2).head(0) == []
    assert [len(each["label"]) for each in batches.head()] == [5, 5, 2]


def test_head_makes_no_other_rows_and_leaves_no_threads():
    seen: list[int] = []

    def note(value):
        seen.append(int(value))
        return value

    ds = hr.Range(1000).map(note, "value")
    assert [int(row["value"]) for row in ds.head(2)] == [0, 1]
    assert len(seen) < 4 and pipeline_threads() == []


def test_head_knows_nothing_of_loops():
    moments: list[str] = []

    class Noting(hr.Callback):
        def epoch_begin(self, moment) -> None:
            moments.append("begun")

    kept = hr.Range(4).batch(2).options(callbacks=[Noting()], as_tuple=True, device="cpu:0")
    first = next(iter(kept))
    before = kept.explain()
    (row,) = kept.head(1)
    assert isinstance(first, tuple) and row["value"].tolist() == [0, 1] and type(row) is dict
    assert kept.explain() == before


@pytest.mark.parametrize("wrong", [-1, 2.5, True, "3"])
def test_head_takes_a_number_of_rows(wrong):
    with pytest.raises(hr.GraphError, match="head: n is"):
        hr.Range(4).head(wrong)


# ---- lists of names ----


@pytest.mark.parametrize("module", [V, T])
def test_completion_has_the_kernels_alone(module):
    assert dir(module) == sorted(module.__all__)
    assert all(isinstance(getattr(module, name), type) for name in dir(module))


def test_ops_hides_what_passes_put_into_graphs(capsys):
    assert main(["ops"]) == 0
    listed = capsys.readouterr().out
    assert "V.Resize " in listed and "ResizeOfBoxes" not in listed and "inside graphs" not in listed
    assert main(["ops", "--all"]) == 0
    assert "ResizeOfBoxes" in capsys.readouterr().out
    assert main(["ops", "ResizeOfBoxes"]) == 0
