"""Text, Csv, JsonLines and LibSvm decompress files of gzip and zstd, which their first bytes show."""

import gzip
import json
import tarfile

import numpy as np
import pytest

import headrace as hr
from tests.compressed_bytes import gzip_members, zstd_frames

COMPRESS = {"gzip": gzip_members, "zstd": zstd_frames}

NUMBERS = [f"{number}" + "x" * (number * 7 % 40) for number in range(3000)]
LINES = "".join(line + "\n" for line in NUMBERS).encode()


@pytest.fixture(params=COMPRESS)
def compress(request):
    return COMPRESS[request.param]


def lines_of(dataset, **options):
    return [str(row["line"]) for row in dataset.iterate(**options)]


def test_each_source_gives_the_rows_of_the_plain_file(tmp_path, compress):
    contents = {
        "lines": b"one\r\n\nthree\n",
        "table": b"a,b\n" + b"".join(b"%d,%d.5\n" % (i, i) for i in range(500)),
        "objects": b"".join(json.dumps({"a": i, "b": [i] * 3}).encode() + b"\n" for i in range(500)),
        "sparse": b"".join(b"1 0:%d 3:%d\n" % (i, -i) for i in range(500)),
    }
    sources = {"lines": hr.Text, "table": hr.Csv, "objects": hr.JsonLines, "sparse": hr.LibSvm}
    for name, source in sources.items():
        # No name says what a file is.
        (tmp_path / f"{name}.plain.gz").write_bytes(contents[name])
        (tmp_path / f"{name}.txt").write_bytes(compress(contents[name], pieces=3))
        plain, found_rows = list(source(tmp_path / f"{name}.plain.gz")), list(source(tmp_path / f"{name}.txt"))
        assert len(plain) == len(found_rows) > 2
        for expected, found in zip(plain, found_rows, strict=True):
            assert list(expected) == list(found)
            for column in expected:
                np.testing.assert_array_equal(expected[column], found[column])


def test_table_without_types_and_with_line_ends_in_quotes(tmp_path, compress):
    path = tmp_path / "reviews.csv.gz"
    path.write_bytes(compress(b'name,text\nann,"two\nlines"\nbob,one\n'))
    rows = list(hr.Csv(path, newlines_in_values=True))
    assert [str(row["text"]) for row in rows] == ["two\nlines", "one"]
    assert hr.Csv(path, newlines_in_values=True).schema == {"name": ("string", ()), "text": ("string", ())}


def test_a_file_of_another_header_is_an_error(tmp_path, compress):
    (tmp_path / "0.csv").write_bytes(b"a,b\n1,2\n")
    (tmp_path / "1.csv").write_bytes(compress(b"b,a\n1,2\n"))
    with pytest.raises(hr.DataError, match=r"does not begin with the header of .*0\.csv"):
        list(hr.Csv(tmp_path / "*.csv", {"a": "int64"}))


def test_any_state_goes_on(tmp_path, compress):
    (tmp_path / "a").write_bytes(compress(LINES))
    (tmp_path / "b").write_bytes(LINES[:5000])
    for options in ({}, {"shuffle": True, "split_bytes": 700, "interleave": 3, "window": 0}, {"skip_empty": True}):
        source = hr.Text(tmp_path / "*", **options)
        whole = lines_of(source, epoch=1)
        for rows in (1, 16, 1700, len(whole) - 1):
            with source.iterate(epoch=1) as iterator:
                assert [str(next(iterator)["line"]) for _ in range(rows)] == whole[:rows]
                state = iterator.state()
            assert lines_of(source, state=state) == whole[rows:]


@pytest.mark.parametrize("options", [{}, {"workers": 1}, {"workers": 7, "memory": "8MiB"}, {"executor": "pull"}])
def test_options_change_nothing(tmp_path, compress, options):
    (tmp_path / "a").write_bytes(compress(LINES))
    (tmp_path / "b").write_bytes(LINES)
    for shuffle in (False, True):
        source = hr.Text(tmp_path / "*", shuffle=shuffle, split_bytes=900 if shuffle else None)
        assert lines_of(source, epoch=1, **options) == lines_of(source, epoch=1)


@pytest.mark.parametrize("sharding", ["rows", "splits", "contiguous"])
def test_ranks_have_each_row_once(tmp_path, compress, sharding):
    for file in range(5):
        contents = b"".join(b"%d.%d\n" % (file, line) for line in range(200))
        (tmp_path / f"{file}").write_bytes(contents if file == 2 else compress(contents))
    source = hr.Text(tmp_path / "*", sharding=sharding, split_bytes=100)
    for world in (1, 2, 3, 8):
        ranks = [lines_of(source, shard=(rank, world)) for rank in range(world)]
        assert sorted(sum(ranks, [])) == sorted(f"{file}.{line}" for file in range(5) for line in range(200))
        if sharding == "rows":
            continue
        for file in (0, 1, 3, 4):
            assert sum(any(line.startswith(f"{file}.") for line in rank) for rank in ranks) == 1, "a file is a split"


def test_shuffled_files_come_whole(tmp_path, compress):
    for file in range(6):
        (tmp_path / f"{file}").write_bytes(compress(b"".join(b"%d.%d\n" % (file, line) for line in range(40))))
    rows = lines_of(hr.Text(tmp_path / "*", shuffle="files"), epoch=3)
    files = [row.split(".")[0] for row in rows[::40]]
    assert rows == [f"{file}.{line}" for file in files for line in range(40)]


def test_errors_of_a_row_name_its_byte_in_what_the_file_holds(tmp_path, compress):
    path = tmp_path / "a.csv"
    path.write_bytes(compress(b"a,b\n1,2\n3,x\n5,6\n"))
    source = hr.Csv(path, {"b": "int64"})
    with pytest.raises(hr.DataError, match='field 2, of "b"') as caught:
        list(source)
    assert caught.value.file == f"{path}, byte 8"
    assert [int(row["b"]) for row in source.on_error("skip")] == [2, 6]


def test_a_file_that_was_cut_off_gives_its_lines_and_names_the_byte(tmp_path):
    path = tmp_path / "a.gz"
    whole = gzip.compress(LINES)
    path.write_bytes(whole[: len(whole) // 2])
    rows = []
    with pytest.raises(hr.DataError, match=f"ends at byte {len(whole) // 2}, within its gzip data") as caught:
        for row in hr.Text(path):
            rows.append(str(row["line"]))
    assert 100 < len(rows) < len(NUMBERS) and rows == NUMBERS[: len(rows)]
    assert caught.value.file == f"{path}, byte {sum(len(row) + 1 for row in rows)}"
    # The file is what it should be, and not another kind.
    assert "by its first bytes" not in str(caught.value)


def test_damage_names_the_byte(tmp_path):
    path = tmp_path / "a.gz"
    damaged = bytearray(gzip.compress(LINES))
    damaged[-5] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(hr.DataError, match=r"gzip data are damaged near its byte [0-9]+: incorrect"):
        list(hr.Text(path))
    path.write_bytes(gzip.compress(b"x\n") + b"more")
    with pytest.raises(hr.DataError, match="other bytes follow its end"):
        list(hr.Text(path).on_error("skip"))
    path.write_bytes(gzip.compress(b"x\n") + bytes(1000))
    assert lines_of(hr.Text(path)) == ["x"], "zeros fill up a block of a tape"


def test_an_index_refuses_it(tmp_path, compress):
    (tmp_path / "a").write_bytes(b"plain\n")
    (tmp_path / "b").write_bytes(compress(b"x\n"))
    with pytest.raises(hr.GraphError, match="compressed by (gzip|zstd).*leave out index=") as caught:
        list(hr.Text(tmp_path / "*", index="build"))
    assert caught.value.file == str(tmp_path / "b")


def test_a_tar_archive_is_not_text(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x\n")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "a.txt", "a.txt")
    with pytest.raises(hr.DataError, match="holds a tar archive.*tar xf"):
        list(hr.Text(tmp_path / "a.tar.gz"))


def test_empty_lines_are_left_out(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\n\r\none\n\n \ntwo\r\n\r\n\nlast")
    assert lines_of(hr.Text(path, skip_empty=True)) == ["one", " ", "two", "last"]
    assert lines_of(hr.Text(path)) == ["", "", "one", "", " ", "two", "", "", "last"]
    numbered = hr.Text(path, index="build", skip_empty=True)
    assert len(numbered) == 4 and lines_of(numbered) == ["one", " ", "two", "last"]
    assert len(hr.Text(path, index="build")) == 9
    path.write_bytes(b"\n\n\n")
    assert lines_of(hr.Text(path, skip_empty=True)) == []
