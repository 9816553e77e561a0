"""`headrace convert`: every pair of formats by values, columns, parts, runs that ended early, and what is refused."""

import itertools
import json
import pathlib
import tempfile

import numpy as np
import pytest
from conftest import run_python
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace.__main__ import main
from headrace._formats import convert_command
from headrace._formats.row_bar import RowBar
from tests import small_sets
from tests.thinning import examples

PAIRS = list(itertools.product(small_sets.WRITERS, repeat=2))


@pytest.fixture
def sets(tmp_path) -> dict[str, pathlib.Path]:
    (tmp_path / "in").mkdir()
    return small_sets.write_all(tmp_path / "in")


def target(folder: pathlib.Path, name: str) -> pathlib.Path:
    return folder / f"out{small_sets.WRITERS[name][0]}"


def convert(*arguments: object) -> int:
    return main(["convert", *map(str, arguments)])


def options_of(source: str, to: str) -> list[str]:
    """Texts in tar archives are float64, which TFRecord does not hold."""
    return ["--cast", "label=float32"] if (source, to) == ("tar", "tfrecord") else []


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


# ---- rows and their order ----


@pytest.mark.parametrize(("source", "to"), PAIRS)
def test_rows_are_the_same_in_order(sets, tmp_path, capsys, source, to):
    path = target(tmp_path, to)
    assert convert(sets[source], path, *options_of(source, to)) == 0
    assert small_sets.rows_of(hr.open(path)) == small_sets.rows_of(small_sets.images())
    said = capsys.readouterr().out
    assert said.startswith(f"{path}: {small_sets.ROWS} rows, {path.stat().st_size:,} bytes, ")


@pytest.mark.parametrize(("source", "to"), PAIRS)
def test_bytes_are_those_of_any_number_of_workers_and_parts_join_again(sets, tmp_path, source, to):
    for folder, workers in (("one", 1), ("four", 4)):
        (tmp_path / folder).mkdir()
        options = ["--workers", workers, "--files", 3, *options_of(source, to)]
        assert convert(sets[source], target(tmp_path / folder, to), *options) == 0
    assert contents(tmp_path / "one") == contents(tmp_path / "four")
    assert small_sets.rows_of(hr.open(tmp_path / "one")) == small_sets.rows_of(small_sets.images())


@pytest.mark.parametrize("name", ["mindrecord", "tfrecord", "tar"])
def test_types_that_the_target_has_are_kept(tmp_path, name):
    rows = hr.Numpy(
        {
            "n": np.array([-(1 << 62), 5]),
            "x.npy": np.array([[0.1, np.nan], [-0.0, 3]], np.float32),
            "txt": ["ä weir", ""],
            "jpg": small_sets.column([b"\0\xff", b""]),
        }
    )
    rename = {"x.npy": "x"} if name == "mindrecord" else {}
    kept = rows.rename(rename) if rename else rows
    first, again = target(tmp_path, name), tmp_path / f"again{small_sets.WRITERS[name][0]}"
    small_sets.WRITERS[name][1](kept, first)
    assert convert(first, again) == 0
    for found, wanted in zip(hr.open(again), hr.open(first), strict=True):
        assert list(found) == list(wanted)
        for column in wanted:
            np.testing.assert_array_equal(found[column], wanted[column])
    assert hr.open(again).schema == hr.open(first).schema


def test_other_sources_and_patterns(tmp_path, photos):
    assert convert(photos, tmp_path / "p.tfrecord", "--files", 2) == 0
    wanted = [(row["image"], int(row["label"])) for row in hr.ImageFolder(photos)]
    assert [(row["image"], int(row["label"])) for row in hr.open(tmp_path)] == wanted
    assert convert(tmp_path / "p-*.tfrecord", tmp_path / "p.rec") == 0
    assert [(row["image"], int(row["label"])) for row in hr.open(tmp_path / "p.rec")] == wanted
    (tmp_path / "t.csv").write_text("name,n\na,1\nb,2\n")
    assert convert(tmp_path / "t.csv", tmp_path / "t.mindrecord") == 0
    assert [(row["name"], int(row["n"])) for row in hr.MindRecord(tmp_path / "t.mindrecord")] == [("a", 1), ("b", 2)]


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=9)
ROW = st.tuples(
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(width=32),
    TEXTS,
    st.binary(max_size=9),
    st.lists(st.floats(width=32), min_size=3, max_size=3),
)


@settings(
    max_examples=examples(25),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    derandomize=True,
)
@given(rows=st.lists(ROW, min_size=1, max_size=5), order=st.permutations(["mindrecord", "tfrecord", "tar"]))
def test_tables_go_through_all_formats(tmp_path, rows, order):
    numbers, floats, texts, data, vectors = zip(*rows, strict=True)
    given_rows = hr.Numpy(
        {
            "n": np.array(numbers, np.int64),
            "x": np.array(floats, np.float32)[:, None],
            "t": np.array(texts, object),
            "b": small_sets.column(list(data)),
            "v": np.array(vectors, np.float32),
        }
    )
    renamed = {"x": "x.npy", "t": "txt", "v": "v.npy", "b": "bin"}
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        at = pathlib.Path(folder) / "given.mindrecord"
        given_rows.write_mindrecord(at)
        names = {name: name for name in ("n", "x", "t", "b", "v")}
        for name in order:
            wanted = {each: renamed.get(each, each) if name == "tar" else each for each in names}
            to = target(pathlib.Path(folder), name)
            assert convert(at, to, "--columns", *(f"{names[each]}={wanted[each]}" for each in names)) == 0
            at, names = to, wanted
        for row, (number, x, text, content, vector) in zip(hr.open(at), rows, strict=True):
            assert row[names["n"]] == number
            np.testing.assert_array_equal(np.reshape(row[names["x"]], ()), np.float32(x))
            assert as_bytes(row[names["t"]]) == text.encode()
            assert as_bytes(row[names["b"]]) == content
            np.testing.assert_array_equal(row[names["v"]], np.array(vector, np.float32))


def as_bytes(value: object) -> bytes:
    return (
        value.encode()
        if isinstance(value, str)
        else bytes(np.asarray(value).tobytes() if not isinstance(value, bytes) else value)
    )


# ---- columns ----


def test_columns_are_chosen_renamed_and_converted(sets, tmp_path, capsys):
    path = tmp_path / "out.tar"
    assert convert(sets["recordio"], path, "--columns", "image=png", "label=cls", "--cast", "label=int64") == 0
    assert hr.open(path).schema == {"png": ("bytes", ()), "cls": ("int64", ())}
    assert [int(row["cls"]) for row in hr.open(path)] == [number // 2 for number in range(small_sets.ROWS)]
    assert convert(path, tmp_path / "back.rec", "--columns", "cls=label", "png=image") == 0
    assert [row["image"] for row in hr.open(tmp_path / "back.rec")] == small_sets.PICTURES


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--columns", "lable"], "--columns names 'lable', and the columns are image, label, id; did you mean label?"),
        (["--cast", "labels=int64"], "--cast names 'labels'"),
        (["--cast", "label"], "write names as in a=b"),
        (["--columns", "=x"], "write names as in a=b"),
        (["--columns", "id", "id=x"], "names 'id' twice"),
        (["--cast", "label=int99"], "in the pipeline:\n"),
        (["--cast", "label=int99"], "int99"),
        (["--files", "0"], "it must be at least 1"),
        (["--workers", "0"], "it must be at least 1"),
        (["--to", "zip"], "--to is 'zip'; it must be one of recordio (.rec), mindrecord"),
    ],
)
def test_what_is_wrong_is_named(sets, tmp_path, capsys, options, said):
    assert convert(sets["recordio"], tmp_path / "out.tar", *options) == 1
    assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_columns_that_the_target_does_not_hold_say_what_to_write(sets, tmp_path, capsys):
    hr.Numpy({"x": np.zeros(2), "image": small_sets.column([b"a", b"b"])}).write_mindrecord(tmp_path / "x.mindrecord")
    assert convert(tmp_path / "x.mindrecord", tmp_path / "out.tfrecord") == 1
    said = capsys.readouterr().err
    assert "x is float64" in said and "--cast COLUMN=DTYPE" in said
    assert convert(tmp_path / "x.mindrecord", tmp_path / "out.tfrecord", "--cast", "x=float32") == 0
    assert convert(tmp_path / "x.mindrecord", tmp_path / "out.rec") == 1
    assert "--columns OLD=NEW" in capsys.readouterr().err


def test_a_value_that_does_not_fit_names_row_and_column(tmp_path, capsys):
    hr.Numpy({"label": np.array([1, 20_000_001]), "image": small_sets.column([b"a", b"b"])}).write_tfrecord(
        tmp_path / "in.tfrecord"
    )
    assert convert(tmp_path / "in.tfrecord", tmp_path / "out.rec") == 1
    assert "the label of row 1 is 20000001" in capsys.readouterr().err
    assert not (tmp_path / "out.rec").exists()


# ---- names, and files that are there ----


def test_the_format_is_named_by_the_ending_or_by_to(sets, tmp_path, capsys):
    assert convert(sets["tar"], tmp_path / "out") == 1
    assert "does not say its format; give --to one of recordio (.rec)" in capsys.readouterr().err
    assert convert(sets["recordio"], tmp_path / "out", "--to", "TFRecord") == 0
    assert small_sets.rows_of(hr.open(tmp_path / "out")) == small_sets.rows_of(small_sets.images())


def test_files_are_replaced_only_when_asked(sets, tmp_path, capsys):
    path = tmp_path / "out.rec"
    path.with_suffix(".idx").write_text("mine")
    assert convert(sets["tar"], path) == 1
    assert f"{tmp_path}/out.idx is there; --overwrite replaces it" in capsys.readouterr().err
    assert path.with_suffix(".idx").read_text() == "mine" and not path.exists()
    assert convert(sets["tar"], path, "--overwrite") == 0
    assert small_sets.rows_of(hr.open(path)) == small_sets.rows_of(small_sets.images())
    before = path.read_bytes()
    assert convert(sets["tar"], path, "--resume") == 1 and path.read_bytes() == before


def test_what_is_read_is_not_replaced(sets, capsys):
    before = sets["tar"].read_bytes()
    assert convert(sets["tar"], sets["tar"], "--overwrite") == 1
    assert "a file that is read, which it would replace" in capsys.readouterr().err
    assert sets["tar"].read_bytes() == before


# ---- runs that end early ----


def interrupted_at(monkeypatch: pytest.MonkeyPatch, row: int) -> None:
    def stop(_bar: RowBar, at: hr.Moment) -> None:
        if at.batch == row:
            raise KeyboardInterrupt

    monkeypatch.setattr(RowBar, "batch_end", stop)


@pytest.mark.parametrize("source", ["mindrecord", "tfrecord", "recordio"])
@pytest.mark.parametrize("name", list(small_sets.WRITERS))
def test_an_interrupt_leaves_finished_parts(sets, tmp_path, source, name, capsys, monkeypatch):
    made, wanted = tmp_path / "made", tmp_path / "wanted"
    made.mkdir()
    wanted.mkdir()
    assert convert(sets[source], target(wanted, name), "--files", 3) == 0
    with monkeypatch.context() as patched:
        interrupted_at(patched, 4)
        assert convert(sets[source], target(made, name), "--files", 3) == 130
    said = capsys.readouterr().err
    assert "2 files are finished and kept; the same command with --resume goes on after them" in said
    assert any(each.endswith(".journal") for each in contents(made))
    assert convert(sets[source], target(made, name), "--files", 3, "--resume") == 0
    assert "2 files kept" in capsys.readouterr().out
    assert contents(made) == contents(wanted)


# ---- the command line ----


def test_the_bar_counts_rows_on_a_terminal(monkeypatch, capsys):
    class Terminal:
        def __init__(self) -> None:
            self.written = ""

        def isatty(self) -> bool:
            return True

        def write(self, text: str) -> None:
            self.written += text

        def flush(self) -> None: ...

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with RowBar("set.tar", 3) as bar:
        for number in range(3):
            bar.batch_end(hr.Moment(0, number, (), 0.0, 0.0, 0.0))
    assert "set.tar: 100%" in terminal.written and "3.00/3.00" in terminal.written


def test_the_command_line_starts_without_the_formats():
    done = run_python(
        "import sys, headrace.__main__\n"
        "print([each for each in sys.modules if each.startswith(('headrace._formats.entries', 'headrace._formats.opening'))])\n"
        "print([each for each in ('pyarrow', 'tqdm') if each in sys.modules])"
    )
    assert done.stdout.splitlines() == ["[]", "[]"], done.stderr
    assert convert_command.HELP


# ---- Parquet ----


def features_of(path: pathlib.Path) -> dict:
    parquet = pytest.importorskip("pyarrow.parquet")
    metadata = parquet.read_schema(path).metadata or {}
    return json.loads(metadata[b"huggingface"])["info"]["features"] if b"huggingface" in metadata else {}


@pytest.mark.parametrize("source", small_sets.WRITERS)
def test_encoded_images_are_images_in_parquet(sets, tmp_path, source):
    pytest.importorskip("pyarrow")
    path = tmp_path / "out.parquet"
    assert convert(sets[source], path) == 0
    images = [name for name, each in features_of(path).items() if each["_type"] == "Image"]
    assert images == ["image"]
    assert [bytes(row["image"]) for row in hr.open(path)] == small_sets.PICTURES


def test_bytes_that_are_not_all_images_stay_bytes_in_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    mixed = small_sets.column([small_sets.PICTURES[0], b"text", small_sets.PICTURES[1]])
    hr.Numpy({"data": mixed, "label": np.arange(3)}).write_mindrecord(tmp_path / "in.mindrecord")
    path = tmp_path / "out.parquet"
    assert convert(tmp_path / "in.mindrecord", path) == 0
    assert features_of(path) == {}
    assert [bytes(row["data"]) for row in hr.open(path)] == list(mixed)
