"""`T.ReadFile`: files that rows name."""

import numpy as np
import pytest

import headrace as hr
from headrace import transforms as T
from headrace import vision as V


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("a", "b", "deep/c"):
        (tmp_path / f"{name}.bin").write_bytes(b"bytes of " + name.encode())
    (tmp_path / "table.csv").write_text("path,label\na.bin,0\ndeep/c.bin,1\nb.bin,2\na.bin,3\n")
    return tmp_path


EXPECTED = [b"bytes of a", b"bytes of deep/c", b"bytes of b", b"bytes of a"]


def test_rows_of_any_source_have_the_files_they_name(folder):
    for index in (None, "build"):
        table = hr.Csv(folder / "table.csv", index=index).map(T.ReadFile(folder), "path", output="data")
        assert table.schema["data"] == ("bytes", ())
        assert [(row["data"], int(row["label"])) for row in table] == list(zip(EXPECTED, range(4), strict=True))
    shuffled = hr.Csv(folder / "table.csv", index="build", shuffle=True).map(T.ReadFile(folder), "path")
    assert sorted(row["path"] for row in shuffled) == sorted(EXPECTED)
    made = hr.Range(4).map(
        lambda value: str(folder / "ab"[int(value) % 2]) + ".bin", "value", types={"value": "string"}
    )
    assert [row["value"] for row in made.map(T.ReadFile(), "value")] == [b"bytes of a", b"bytes of b"] * 2
    (batch,) = hr.Csv(folder / "table.csv").batch(4).map(T.ReadFile(folder), "path")
    assert batch["path"].tolist() == EXPECTED


def test_a_path_is_read_at_once(folder, monkeypatch):
    read = T.ReadFile(str(folder))
    assert read("a.bin") == read(b"a.bin") == read(f"file://{folder}/a.bin") == b"bytes of a"
    assert T.ReadFile(folder / "deep")("c.bin") == b"bytes of deep/c"
    monkeypatch.chdir(folder)
    assert T.ReadFile()("b.bin") == b"bytes of b"
    (folder / "b.bin").write_bytes(b"other bytes")
    assert T.ReadFile()("b.bin") == b"other bytes"
    with pytest.raises(hr.NotFoundError, match="d.bin"):
        read("d.bin")
    with pytest.raises(hr.Error, match="is a folder|no regular file|folder"):
        read("deep")
    with pytest.raises(hr.GraphError, match="paths, which are texts or bytes"):
        read(np.int64(3))


def test_a_file_that_is_missing_is_named_with_its_row_and_can_be_left_out(folder):
    (folder / "b.bin").unlink()
    table = hr.Csv(folder / "table.csv").map(T.ReadFile(folder), "path", output="data")
    with pytest.raises(hr.NotFoundError, match=r"b\.bin") as caught:
        list(table)
    assert "table.csv, byte" in str(caught.value)
    assert [row["data"] for row in table.on_error("skip")] == [EXPECTED[0], EXPECTED[1], EXPECTED[3]]


def test_each_epoch_reads_the_files_as_they_are(folder):
    table = hr.Csv(folder / "table.csv", index="build").map(T.ReadFile(folder), "path", output="data")
    for epoch in range(4):
        (folder / "a.bin").write_bytes(b"epoch %d" % epoch)
        assert [row["data"] for row in table.iterate(epoch=epoch)][0] == b"epoch %d" % epoch
    kept = list(table.cache().iterate())
    assert [row["data"] for row in kept] == [b"epoch 3", EXPECTED[1], EXPECTED[2], b"epoch 3"]
    with pytest.raises(hr.UnsupportedError, match="the files that rows name cannot be kept between runs"):
        list(table.cache(directory=folder / "cache"))


def test_files_are_read_in_a_stage_of_their_own(folder):
    table = hr.Csv(folder / "table.csv", index="build")
    plan = table.map([T.ReadFile(folder), V.Decode()], "path", output="image").explain().splitlines()
    decoding, reading = (each for each in plan if "map[1]" in each and "window" in each)
    assert "reads files × 8" in reading and "reads files" not in decoding
    sizes = table.map(T.ReadFile(folder), "path", output="data", workers=2).map(len, "data", output="size")
    assert [int(row["size"]) for row in sizes] == [len(each) for each in EXPECTED]


def test_files_whose_bytes_are_not_used_are_not_read(folder):
    table = hr.Csv(folder / "table.csv").map(T.ReadFile(folder), "path", output="data").project(["label"])
    (folder / "a.bin").unlink()
    assert [int(row["label"]) for row in table] == [0, 1, 2, 3]
    # Where rows that fail are left out, the same ones fail under every setting.
    for optimize in (True, False):
        assert [int(row["label"]) for row in table.on_error("skip").iterate(optimize=optimize)] == [0, 1, 2, 3]


def test_a_saved_graph_reads_the_same(folder):
    table = hr.Csv(folder / "table.csv").map(T.ReadFile(folder), "path")
    table.save(folder / "graph.hrg")
    assert [row["path"] for row in hr.load(folder / "graph.hrg")] == EXPECTED
