"""`shuffle="files"`: the order of files alone."""

import pytest

import headrace as hr


def test_shuffle_of_files_keeps_the_rows_of_each(tmp_path):
    for file in range(6):
        (tmp_path / f"{file}.txt").write_text("".join(f"{file}.{line}\n" for line in range(40)))
    lines = hr.Text(tmp_path / "*.txt", shuffle="files")
    orders = []
    for epoch in range(3):
        rows = [row["line"] for row in lines.iterate(epoch=epoch)]
        files = [row.split(".")[0] for row in rows[::40]]
        assert rows == [f"{file}.{line}" for file in files for line in range(40)] and sorted(files) == list("012345")
        orders.append(files)
    assert orders[0] != orders[1] or orders[1] != orders[2]
    of_ranks = [[row["line"] for row in lines.iterate(shard=(rank, 2))] for rank in range(2)]
    assert sorted(sum(of_ranks, [])) == sorted(row["line"] for row in lines)


def test_what_shuffle_of_files_excludes(tmp_path):
    (tmp_path / "a.txt").write_text("x\n")
    for options, why in [
        ({"index": "build"}, "leave out one of the two"),
        ({"split_bytes": 9}, "reads whole files.*leave out split_bytes"),
        ({"interleave": 2}, "leave out interleave"),
    ]:
        with pytest.raises(hr.GraphError, match=why):
            hr.Text(tmp_path / "*.txt", shuffle="files", **options)
    with pytest.raises(hr.GraphError, match="shuffle is 'file'; give True, False or \"files\""):
        hr.Text(tmp_path / "*.txt", shuffle="file")
