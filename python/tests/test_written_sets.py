"""Datasets written to sets of files: order, names, and runs that ended early (`write_records(files=, resume=)`)."""

import json
import os
import pathlib
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import _engine
from headrace._writing import part_paths
from headrace._writing.set_journal import SetJournal
from tests.thinning import examples


def contents(rows: int) -> list[bytes]:
    return [b"row %d" % number * (number % 4) for number in range(rows)]


def column(values: list[bytes]) -> np.ndarray:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def source(rows: int, **given: Any) -> hr.Dataset:
    return hr.Numpy({"record": column(contents(rows))}, **given)


def read(path: object) -> list[bytes]:
    return [row["record"] for row in hr.RecordFile(str(path))]


def files(folder: pathlib.Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


class Failing:
    """Fails at a row, and counts the rows that it was called for."""

    def __init__(self, at: int | None) -> None:
        self.at = at
        self.called = 0

    def check(self, value: bytes) -> None:
        self.called += 1
        if self.at is not None and value == b"%d" % self.at:
            raise ValueError("no")


def numbered(rows: int, failing: Failing, **given: Any) -> hr.Dataset:
    numbers = hr.Numpy({"record": column([b"%d" % number for number in range(rows)])}, **given)

    def checked_row(value: bytes) -> bytes:
        failing.check(value)
        return value

    return numbers.map(checked_row, "record", types={"record": "bytes"})


# ---- rows and names ----


@pytest.mark.parametrize(("rows", "parts"), [(10, 3), (3, 5), (1, 2), (8, 8)])
def test_rows_are_in_order_over_the_files(tmp_path, rows, parts):
    written = source(rows).write_records(tmp_path / "set.rec", files=parts)
    assert [pathlib.Path(path).name for path in written.paths] == [
        f"set-{number:05}-of-{parts:05}.rec" for number in range(parts)
    ]
    expected = contents(rows)
    borders = [number * rows // parts for number in range(parts + 1)]
    found = [read(path) if os.path.getsize(path) else [] for path in written.paths]
    assert found == [expected[begin:end] for begin, end in zip(borders, borders[1:], strict=False)]
    assert written.records == rows and written.kept == 0
    assert written.bytes == sum(os.path.getsize(path) for path in written.paths)
    assert len(list(tmp_path.iterdir())) == 2 * parts
    assert read(written.path) == expected
    by_number = hr.RecordFile(written.path, index="build")
    assert [row["record"] for row in by_number] == expected and len(by_number) == rows


def test_keys_are_numbers_over_all_files(tmp_path):
    written = source(5).write_records(tmp_path / "set.rec", files=2)
    keys = [[line.split("\t")[0] for line in path.read_text().splitlines()] for path in sorted(tmp_path.glob("*.idx"))]
    assert keys == [["0", "1"], ["2", "3", "4"]]
    assert written.index == str(tmp_path / "set-?????-of-00002.idx")


def test_a_pattern_matches_names_of_any_letters(tmp_path):
    name = "[a];*?.rec"
    written = source(6).write_records(tmp_path / name, files=2)
    assert read(written.path) == contents(6)


@pytest.mark.parametrize("ending", ["", ".tfrecord", ".tfrecord.gz", ".tar.zst"])
def test_the_ending_stays_at_the_end(ending):
    assert part_paths.part_paths(f"a.b/train{ending}", 2) == [
        f"a.b/train-00000-of-00002{ending}",
        f"a.b/train-00001-of-00002{ending}",
    ]
    assert part_paths.part_paths(f"train{ending}", 1) == [f"train{ending}"]


def test_rows_of_an_unknown_number_are_counted_first(tmp_path):
    filtered = hr.Range(20).filter(hr.col("value") % 3 != 0).map(lambda v: b"%d" % v, "value", types={"value": "bytes"})
    written = filtered.write_records(tmp_path / "set.rec", files=4)
    expected = [b"%d" % number for number in range(20) if number % 3]
    assert [read(path) for path in written.paths] == [expected[:3], expected[3:6], expected[6:9], expected[9:]]


def test_rows_that_fail_are_left_out(tmp_path):
    rows = numbered(9, Failing(4)).on_error("skip")
    written = rows.write_records(tmp_path / "set.rec", files=3)
    assert [read(path) for path in written.paths] == [
        [b"0", b"1", b"2"],
        [b"3", b"5", b"6"],
        [b"7", b"8"],
    ]


def test_an_endless_dataset_is_refused(tmp_path):
    with pytest.raises(hr.GraphError, match="write_records: this dataset is endless"):
        source(3).repeat().write_records(tmp_path / "set.rec", files=2)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("format", ["records", "tfrecord", "tar", "mindrecord", "parquet"])
@pytest.mark.parametrize("files", [1, 2])
def test_every_writer_refuses_an_endless_dataset_before_it_writes(tmp_path, format, files):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    rows = hr.Numpy({"x": [b"1", b"2", b"3"]})
    for ds in (rows, rows.filter(lambda value: True, list(rows.schema)[0])):
        with pytest.raises(hr.GraphError, match=f"write_{format}: this dataset is endless: .*take"):
            getattr(ds.repeat(), f"write_{format}")(tmp_path / "endless", files=files)
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith("endless")] == []
    assert getattr(rows.repeat().take(7), f"write_{format}")(tmp_path / "seven", files=files) is not None


def _numbers() -> hr.Dataset:
    return hr.Numpy({"x": [1, 2, 3]}).repeat()


def _odd(rows: hr.Dataset) -> hr.Dataset:
    return rows.filter(lambda value: value % 2 == 1, "x")


@pytest.mark.parametrize("files", [1, 2])
@pytest.mark.parametrize(
    "make",
    [
        lambda: _odd(_numbers()),
        lambda: _odd(_numbers()).batch(2),
        lambda: _odd(hr.Numpy({"x": [5]})).concat(_odd(_numbers())),
        lambda: _odd(_numbers()).rename({"x": "a"}).zip(_odd(_numbers()).rename({"x": "b"})),
        lambda: hr.mix([_odd(_numbers()), _odd(hr.Numpy({"x": [5]}))], [0.5, 0.5], stop="all"),
        lambda: hr.mix([_odd(hr.Numpy({"x": [5]})), _odd(_numbers())], [0.5, 0.5], stop="repeat"),
        lambda: hr.mix([_odd(_numbers()), _odd(_numbers())], [0.5, 0.5], stop="first"),
        lambda: hr.choose([_odd(_numbers()), hr.Numpy({"x": [5]})], hr.Range(2).repeat(), stop="all"),
        lambda: hr.choose([_odd(_numbers()), _odd(_numbers())], hr.Range(2).repeat()),
    ],
)
def test_what_has_no_end_below_a_filter_is_not_written(tmp_path, make, files):
    with pytest.raises(hr.GraphError, match="write_parquet: this dataset is endless: .*take"):
        make().write_parquet(tmp_path / "set.parquet", files=files)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "make",
    [
        lambda: _odd(_numbers()).take(4),
        lambda: _odd(_numbers().take(6)),
        lambda: _odd(_numbers()).take_while(lambda value: value < 3, "x"),
        lambda: _odd(_numbers()).rename({"x": "a"}).zip(hr.Numpy({"b": [1, 2]})),
        lambda: hr.mix([_odd(_numbers()), _odd(hr.Numpy({"x": [5]}))], [0.5, 0.5], stop="first"),
        lambda: hr.mix([_odd(hr.Numpy({"x": [5]})), hr.Numpy({"x": [7]})], [0.5, 0.5], stop="repeat"),
        lambda: hr.choose([_odd(_numbers()), _odd(hr.Numpy({"x": [5]}))], hr.Range(2).repeat()),
        lambda: hr.choose([_odd(_numbers()), _odd(_numbers())], hr.Range(2).repeat(3), stop="all"),
    ],
)
def test_what_ends_above_an_endless_part_is_written(tmp_path, make):
    pytest.importorskip("pyarrow")
    make().write_parquet(tmp_path / "set.parquet")
    assert len(list(hr.Parquet(tmp_path / "set.parquet"))) == len(list(make()))


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, "2", None, 100_000])
def test_a_number_of_files_is_checked(tmp_path, wrong):
    with pytest.raises(hr.GraphError, match="write_records: files is"):
        source(3).write_records(tmp_path / "set.rec", files=wrong)


def test_sets_of_other_numbers_of_files_are_not_mixed(tmp_path):
    source(6).write_records(tmp_path / "set.rec", files=3)
    before = files(tmp_path)
    with pytest.raises(hr.UnsupportedError, match=r"set-00000-of-00003\.idx|set-00000-of-00003\.rec") as caught:
        source(6).write_records(tmp_path / "set.rec", files=2)
    assert "remove that set" in str(caught.value)
    assert files(tmp_path) == before
    source(6).write_records(tmp_path / "other.rec", files=2)
    source(6).write_records(tmp_path / "set.rec", files=3)
    assert len(files(tmp_path)) == 10


# ---- errors, and going on ----


def test_an_error_keeps_what_is_finished_for_resume(tmp_path):
    for rows in (4, 9):
        source(rows).write_records(tmp_path / "set.rec", files=3)
    old = files(tmp_path)
    failing = Failing(7)
    rows = numbered(9, failing)
    with pytest.raises(hr.FunctionError) as caught:
        rows.write_records(tmp_path / "set.rec", files=3)
    assert "2 files are finished and kept" in caught.value.__notes__[0]
    left = files(tmp_path)
    assert {name: left[name] for name in old} == old
    drafts = {name: os.stat(tmp_path / name).st_ino for name in left.keys() - old.keys() if name.endswith(".draft")}
    assert sorted(drafts) == [
        f"set-{number:05}-of-00003.{ending}.draft" for number in range(2) for ending in ("idx", "rec")
    ]
    failing.at, failing.called = None, 0
    written = rows.write_records(tmp_path / "set.rec", files=3, resume=True)
    assert (written.kept, written.records) == (2, 9) and failing.called == 3
    assert read(written.path) == [b"%d" % number for number in range(9)]
    assert sorted(files(tmp_path)) == sorted(old)
    for name, inode in drafts.items():
        assert os.stat(tmp_path / name.removesuffix(".draft")).st_ino == inode


def test_without_resume_it_is_begun_anew(tmp_path):
    failing = Failing(7)
    rows = numbered(9, failing)
    with pytest.raises(hr.FunctionError):
        rows.write_records(tmp_path / "set.rec", files=3)
    failing.at = None
    assert rows.write_records(tmp_path / "set.rec", files=3).kept == 0
    assert rows.write_records(tmp_path / "set.rec", files=3, resume=True).kept == 0
    assert len(files(tmp_path)) == 6


def test_nothing_is_left_where_no_file_was_finished(tmp_path):
    for parts in (1, 4):
        with pytest.raises(hr.FunctionError) as caught:
            numbered(9, Failing(1)).write_records(tmp_path / "set.rec", files=parts)
        assert not files(tmp_path) and not hasattr(caught.value, "__notes__")


def interrupted(folder: pathlib.Path, rows: hr.Dataset, failing: Failing, at: int) -> None:
    failing.at = at
    with pytest.raises(hr.FunctionError):
        rows.write_records(folder / "set.rec", files=3)
    failing.at = None


def test_resume_refuses_other_data_and_options(tmp_path):
    failing = Failing(None)
    rows = numbered(9, failing)
    interrupted(tmp_path, rows, failing, 7)
    before = files(tmp_path)
    others: list[tuple[hr.Dataset, dict[str, Any]]] = [
        (rows, {"files": 4}),
        (rows, {"files": 3, "seed": 1}),
        (rows, {"files": 3, "shard": (0, 2)}),
        (rows.take(8), {"files": 3}),
        (numbered(10, failing), {"files": 3}),
    ]
    for other, options in others:
        with pytest.raises(hr.StateError, match=r"leave resume \(--resume\) out"):
            other.write_records(tmp_path / "set.rec", resume=True, **options)
        assert files(tmp_path) == before
    rows.epoch = 1
    with pytest.raises(hr.StateError, match="with other options"):
        rows.write_records(tmp_path / "set.rec", files=3, resume=True)
    rows.epoch = 0
    assert rows.write_records(tmp_path / "set.rec", files=3, resume=True).kept == 2


def test_the_second_writer_of_a_set_is_refused(tmp_path):
    rows = source(9)
    parts = [[path, path.replace(".rec", ".idx")] for path in part_paths.part_paths(str(tmp_path / "set.rec"), 3)]
    with SetJournal.create(str(tmp_path / "set.rec"), parts, "job"):
        for resume in (False, True):
            with pytest.raises(hr.UnsupportedError, match=r"set\.rec\.journal is being written by another"):
                rows.write_records(tmp_path / "set.rec", files=3, resume=resume)
    assert rows.write_records(tmp_path / "set.rec", files=3).records == 9


def test_a_dataset_without_states_is_begun_anew(tmp_path, monkeypatch):
    failing = Failing(None)
    rows = numbered(9, failing)

    def refuses(_engine: object, _shard: object) -> bytes:
        raise hr.StateError("no state")

    with monkeypatch.context() as patched:
        patched.setattr("headrace._runs.iterator.state_of", refuses)
        interrupted(tmp_path, rows, failing, 7)
        written = rows.write_records(tmp_path / "set.rec", files=3, resume=True)
    assert written.kept == 0 and read(written.path) == [b"%d" % number for number in range(9)]


def test_a_damaged_draft_is_made_again(tmp_path):
    for name in ("set-00001-of-00003.rec.draft", "set-00001-of-00003.idx.draft"):
        failing = Failing(None)
        rows = numbered(9, failing)
        interrupted(tmp_path, rows, failing, 7)
        data = bytearray((tmp_path / name).read_bytes())
        data[-1] ^= 1
        (tmp_path / name).write_bytes(data)
        written = rows.write_records(tmp_path / "set.rec", files=3, resume=True)
        assert written.kept == 1 and read(written.path) == [b"%d" % number for number in range(9)]


def checked(fields: object) -> bytes:
    text = json.dumps(fields).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


PART = {"rows": 3, "state": None, "sizes": [0, 0], "checksums": [0, 0]}


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[" * 100_000,
        checked([1]),
        checked({}),
        checked(PART | {"rows": -1}),
        checked(PART | {"rows": True}),
        checked(PART | {"rows": 1 << 70}),
        checked(PART | {"sizes": [0]}),
        checked(PART | {"sizes": [0, "x"]}),
        checked(PART | {"checksums": 3}),
        checked(PART | {"state": 3}),
        checked(PART | {"state": "?"}),
        checked(PART | {"more": 1}),
        checked(PART | {"sizes": [1 << 40, 0]}),
        checked(PART),
    ],
)
def test_a_journal_is_checked_before_it_is_used(tmp_path, line):
    failing = Failing(None)
    rows = numbered(9, failing)
    interrupted(tmp_path, rows, failing, 7)
    journal = tmp_path / "set.rec.journal"
    head, *parts = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(head + line + parts[1])
    written = rows.write_records(tmp_path / "set.rec", files=3, resume=True)
    assert written.kept == 0 and read(written.path) == [b"%d" % number for number in range(9)]


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_resume_trusts_no_byte_that_it_did_not_check(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("set")
    failing = Failing(None)
    rows = numbered(9, failing)
    interrupted(folder, rows, failing, data.draw(st.integers(3, 8), label="row"))
    for name, content in files(folder).items():
        damaged = bytearray(content)
        kind = data.draw(st.sampled_from(["whole", "whole", "cut", "flip", "longer", "missing"]), label=name)
        if kind == "missing":
            (folder / name).unlink()
            continue
        if kind == "cut":
            del damaged[data.draw(st.integers(0, len(damaged)), label="length") :]
        if kind == "flip" and damaged:
            damaged[data.draw(st.integers(0, len(damaged) - 1), label="byte")] ^= 1 << data.draw(st.integers(0, 7))
        if kind == "longer":
            damaged += data.draw(st.binary(max_size=40), label="more")
        (folder / name).write_bytes(damaged)
    try:
        written = rows.write_records(folder / "set.rec", files=3, resume=True)
    except hr.StateError:
        return  # the damage is in the job's name
    assert read(written.path) == [b"%d" % number for number in range(9)]
    assert len(files(folder)) == 6


@settings(max_examples=examples(40), deadline=None)
@given(
    rows=st.integers(1, 30),
    parts=st.integers(1, 6),
    stops=st.lists(st.integers(0, 29), max_size=3),
    shuffled=st.booleans(),
    workers=st.sampled_from([None, 1, 3]),
)
def test_any_number_of_stops_gives_the_same_files(tmp_path_factory, rows, parts, stops, shuffled, workers):
    folder = tmp_path_factory.mktemp("set")
    failing = Failing(None)
    dataset = numbered(rows, failing, shuffle=shuffled).shuffle(3)
    (folder / "whole").mkdir()
    (folder / "stopped").mkdir()
    dataset.write_records(folder / "whole/set.rec", files=parts)
    for stop in stops:
        failing.at = stop
        try:
            dataset.write_records(folder / "stopped/set.rec", files=parts, resume=True, workers=workers)
        except hr.FunctionError:
            continue
    failing.at = None
    dataset.write_records(folder / "stopped/set.rec", files=parts, resume=True, workers=workers)
    assert files(folder / "stopped") == files(folder / "whole")


CALLS = [
    *(f"OutputStream.{name}" for name in ("append", "flush", "seal", "keep")),
    *(f"RecordWriter.{name}" for name in ("append", "seal", "keep")),
    "commit_set",
    "file_checksum",
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("which", range(1, 8, 2))
def test_an_interrupt_leaves_the_old_set_or_the_new_one(tmp_path, monkeypatch, call, which):
    """Ctrl-C raises between any two calls: here before a call of each kind."""
    source(9).write_records(tmp_path / "set.rec", files=3)
    old = files(tmp_path)
    rows = numbered(9, Failing(None))
    owner, _, name = call.rpartition(".")
    target = getattr(_engine, owner) if owner else _engine
    before = getattr(target, name)
    calls = 0

    def interrupts(*given: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == which:
            raise KeyboardInterrupt
        return before(*given)

    with monkeypatch.context() as patched:
        patched.setattr(target, name, interrupts)
        try:
            rows.write_records(tmp_path / "set.rec", files=3)
        except KeyboardInterrupt:
            assert {each: data for each, data in files(tmp_path).items() if each in old} == old
    written = rows.write_records(tmp_path / "set.rec", files=3, resume=True)
    assert read(written.path) == [b"%d" % number for number in range(9)]
    assert sorted(files(tmp_path)) == sorted(old)


# ---- sets that were cut off ----


def test_a_set_that_is_not_whole_is_refused(tmp_path):
    source(9).write_records(tmp_path / "set.rec", files=3)
    whole = contents(9)
    # As a kill leaves it that comes while the files get their names.
    (tmp_path / "set.rec.journal").write_bytes(b"{}\n")
    assert read(tmp_path / "set-*.rec") == whole
    (tmp_path / "set-00001-of-00003.rec").rename(tmp_path / "set-00001-of-00003.rec.draft")
    for path in (tmp_path / "set-*.rec", tmp_path):
        with pytest.raises(hr.DataError, match=r"set-00001-of-00003\.rec is missing, and .*set\.rec\.journal says"):
            read(path)
    (tmp_path / "set.rec.journal").unlink()
    assert read(tmp_path / "set-*.rec") == whole[:3] + whole[6:]


def test_a_set_that_was_never_there_is_not_found(tmp_path):
    failing = Failing(None)
    interrupted(tmp_path, numbered(9, failing), failing, 7)
    with pytest.raises(hr.NotFoundError):
        read(tmp_path / "set-*.rec")


@pytest.mark.parametrize("files", [1, 3])
def test_a_missing_folder_is_named(tmp_path, files):
    with pytest.raises(
        hr.NotFoundError, match=r"^write_records: cannot write .*there is no folder .*/none/below; make it"
    ):
        source(9).write_records(tmp_path / "none/below/set.rec", files=files)
    (tmp_path / "file").write_bytes(b"")
    for path in ("file/set.rec", "file/below/set.rec"):
        with pytest.raises(hr.NotFoundError, match=r"/file(/below)?( is not a folder|; make it)"):
            source(9).write_records(tmp_path / path, files=files)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
