"""RecordFile, ImageRecord and ImageList: partitions of any files for any number of ranks, and their parameters."""

import pathlib
import struct
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headrace as hr

MAGIC = struct.pack("<I", 0xCED7230A)


def frames(payload: bytes) -> bytes:
    """A record as dmlc-core writes it: magic words at multiples of 4 are left out between parts."""
    parts = [b""]
    for at in range(0, len(payload), 4):
        word = payload[at : at + 4]
        if word == MAGIC:
            parts.append(b"")
        else:
            parts[-1] += word
    written = b""
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        flag = 0 if len(parts) == 1 else 3 if last else 1 if number == 0 else 2
        written += MAGIC + struct.pack("<I", flag << 29 | len(part)) + part
    return written + bytes(-len(written) % 4)


def write(path: pathlib.Path, payloads: list[bytes]) -> list[int]:
    """Returns where the records begin."""
    offsets = []
    with path.open("wb") as file:
        for payload in payloads:
            offsets.append(file.tell())
            file.write(frames(payload))
    return offsets


def image(number: int, label: float = 0, encoded: bytes = b"") -> bytes:
    return struct.pack("<IfQQ", 0, label, number, 0) + encoded


def records_of(dataset: hr.Dataset, **options: object) -> list[bytes]:
    return [bytes(row["record"]) for row in dataset.iterate(**options)]


payloads = st.lists(
    st.lists(st.sampled_from([b"", b"a", b"bcd", b"efgh", MAGIC, MAGIC[:2], b"0" * 50]), max_size=6).map(b"".join),
    max_size=12,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.lists(payloads, min_size=1, max_size=3),
    world=st.one_of(st.integers(1, 9), st.sampled_from([97, 1000])),
    way=st.sampled_from(["rows", "splits", "contiguous", "index"]),
    shuffle=st.booleans(),
    split_bytes=st.integers(1, 100),
)
def test_any_number_of_ranks_gives_each_record_once(tmp_path, files, world, way, shuffle, split_bytes):
    for old in tmp_path.iterdir():
        old.unlink()
    offsets, total = [], 0
    for number, records in enumerate(files):
        path = tmp_path / f"{number}.rec"
        offsets += [total + offset for offset in write(path, records)]
        total += path.stat().st_size
    every = [record for records in files for record in records]
    if way == "index":
        dataset = hr.RecordFile(tmp_path, index="build", shuffle=shuffle)
        assert len(dataset) == len(every)
    else:
        dataset = hr.RecordFile(tmp_path, shuffle=shuffle, window=3, sharding=way, split_bytes=split_bytes)
    # Of a thousand ranks those at both ends and some between.
    ranks = range(world) if world < 100 else [*range(60), 500, 998, 999]
    parts = {rank: records_of(dataset, shard=(rank, world)) for rank in ranks}
    sharded = [record for part in parts.values() for record in part]
    if world < 100:
        assert sorted(sharded) == sorted(every)
    if way == "contiguous":
        step = (-(-total // world) + 3) // 4 * 4
        for rank, part in parts.items():
            owned = [record for record, offset in zip(every, offsets, strict=True) if offset // step == rank]
            assert sorted(part) == sorted(owned)
            assert shuffle or part == owned
    if way == "rows" and not shuffle:
        assert all(part == every[rank::world] for rank, part in parts.items())


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.text(alphabet="ab", max_size=5), max_size=20),
    world=st.integers(1, 30),
)
def test_text_is_sharded_by_runs_of_bytes(tmp_path, lines, world):
    text = "".join(f"{line}\n" for line in lines)
    (tmp_path / "a.txt").write_text(text)
    begins = np.cumsum([0, *(len(line) + 1 for line in lines)])
    step = -(-len(text) // world)
    for rank in range(world):
        # A line that begins exactly at a border is the rank's before.
        expected = [
            line for line, begin in zip(lines, begins, strict=False) if max(0, begin - 1) // max(1, step) == rank
        ]
        dataset = hr.Text(tmp_path / "a.txt", sharding="contiguous")
        assert [str(row["line"]) for row in dataset.iterate(shard=(rank, world))] == expected


def test_states_go_on_on_other_ranks_with_an_index(tmp_path):
    every = [b"%d" % number for number in range(24)]
    write(tmp_path / "a.rec", every)
    dataset = hr.RecordFile(tmp_path / "a.rec", "build", shuffle=True).batch(2)
    iterator = dataset.iterate(shard=(0, 2))
    next(iterator)
    state = iterator.state()
    done = [next(dataset.iterate(shard=(rank, 2), epoch=0))["record"].tolist() for rank in range(2)]
    rest = [batch["record"].tolist() for rank in range(5) for batch in dataset.iterate(shard=(rank, 5), state=state)]
    assert sorted(sum(done + rest, [])) == sorted(every)


def test_even_ranks_need_an_index(tmp_path):
    write(tmp_path / "a.rec", [b"one", b"two", b"three"])
    with pytest.raises(hr.UnsupportedError, match=r'index="build" or the path of an index'):
        hr.RecordFile(tmp_path / "a.rec").batch(1).iterate(shard=(0, 2), even="pad")
    padded = hr.RecordFile(tmp_path / "a.rec", index="build").batch(1)
    assert [len(list(padded.iterate(shard=(rank, 2), even="pad"))) for rank in range(2)] == [2, 2]


def test_the_window_is_for_reading_without_an_index(tmp_path):
    write(tmp_path / "a.rec", [b"%d" % number for number in range(50)])
    write_index = hr.RecordFile(tmp_path / "a.rec", index="build", shuffle=True, window=0)
    assert "shuffle" not in write_index.explain().split("RecordFile")[0]
    assert sorted(records_of(write_index)) == sorted(b"%d" % number for number in range(50))


def test_images_labels_and_ids(tmp_path):
    write(tmp_path / "a.rec", [image(3, 1, b"A"), image(5, 2, b"B")])
    batch = next(iter(hr.ImageRecord([tmp_path / "a.rec"]).batch(2)))
    assert batch["image"].tolist() == [b"A", b"B"]
    assert batch["label"].tolist() == [1, 2] and batch["label"].dtype == np.float32
    assert batch["id"].tolist() == [3, 5] and batch["id"].dtype == np.int64
    (tmp_path / "a.lst").write_text("3\t10\ta.jpg\n5\t20\tb.jpg\n")
    listed = hr.ImageRecord(tmp_path / "a.rec", "build", path_imglist=tmp_path / "a.lst", columns=["label"])
    assert [row["label"].tolist() for row in listed] == [10, 20]


def test_what_was_left_out_is_named(tmp_path):
    good = frames(b"one")
    (tmp_path / "a.rec").write_bytes(good + MAGIC + struct.pack("<I", 4000) + b"lost" + frames(b"two"))
    dataset = hr.RecordFile(tmp_path / "a.rec", damage="skip")
    with dataset.iterate() as iterator:
        assert [bytes(row["record"]) for row in iterator] == [b"one", b"two"]
        assert f"{tmp_path / 'a.rec'}, byte 12: 12 bytes left out" in iterator.explain()
    with pytest.raises(hr.DataError, match="byte 12"):
        records_of(hr.RecordFile(tmp_path / "a.rec"))


@pytest.mark.parametrize("wrong", ["missing", "twice"])
def test_an_index_that_does_not_name_each_record_once_is_noticed(tmp_path, wrong):
    every = [b"%d" % number for number in range(300)]
    offsets = write(tmp_path / "a.rec", every)
    lines = [f"{number}\t{offset}\n" for number, offset in enumerate(offsets)]
    lines[151:152] = [] if wrong == "missing" else [lines[151], f"300\t{offsets[151]}\n"]
    (tmp_path / "a.idx").write_text("".join(lines))
    (tmp_path / "part.idx").write_text("".join(lines))
    assert records_of(hr.RecordFile(tmp_path / "a.rec", index="build")) == every
    part = hr.RecordFile(tmp_path / "a.rec", index=tmp_path / "part.idx")
    if wrong == "missing":
        assert records_of(part) == every[:151] + every[152:]
        return
    with pytest.raises(
        hr.DataError, match=rf"part\.idx: keys 151 and 300 both point to byte {offsets[151]} of .*a\.rec"
    ):
        records_of(part)


def test_damage_that_an_index_names_is_left_out_and_named(tmp_path):
    offsets = write(tmp_path / "a.rec", [b"one", b"two", b"three", b"four"])
    (tmp_path / "x.idx").write_text("".join(f"{number}\t{offset}\n" for number, offset in enumerate(offsets)))
    data = bytearray((tmp_path / "a.rec").read_bytes())
    data[offsets[2]] ^= 1
    (tmp_path / "a.rec").write_bytes(data)
    dataset = hr.RecordFile(tmp_path / "a.rec", index=tmp_path / "x.idx", damage="skip")
    assert len(dataset) == 2
    with dataset.iterate() as iterator:
        # What is followed by no record is none either.
        assert [bytes(row["record"]) for row in iterator] == [b"one", b"four"]
        said = iterator.explain()
    assert f"{tmp_path / 'a.rec'}, byte {offsets[2]}: left out, though {tmp_path / 'x.idx'} names it" in said
    with pytest.raises(hr.DataError, match=rf"byte {offsets[1]}"):
        records_of(hr.RecordFile(tmp_path / "a.rec", index=tmp_path / "x.idx"))


@pytest.mark.parametrize("beside", [False, True])
def test_damage_is_an_error_when_an_index_is_built(tmp_path, beside):
    offsets = write(tmp_path / "a.rec", [b"one", b"two", b"three", b"four"])
    if beside:
        (tmp_path / "a.idx").write_text("".join(f"{number}\t{offset}\n" for number, offset in enumerate(offsets)))
    data = bytearray((tmp_path / "a.rec").read_bytes())
    data[offsets[2]] ^= 1
    (tmp_path / "a.rec").write_bytes(data)
    with pytest.raises(hr.DataError, match=rf"byte {offsets[1]}"):
        len(hr.RecordFile(tmp_path / "a.rec", index="build"))
    assert (tmp_path / "a.idx").exists() == beside


def test_the_index_of_another_file_is_no_damage_to_skip(tmp_path):
    write(tmp_path / "a.rec", [b"0" * 100] * 8)
    others = write(tmp_path / "b.rec", [b"0"] * 8)
    (tmp_path / "b.idx").write_text("".join(f"{number}\t{offset}\n" for number, offset in enumerate(others)))
    with pytest.raises(hr.DataError, match=r"b\.idx: .* records that it names are not in .*the index of another file"):
        len(hr.RecordFile(tmp_path / "a.rec", index=tmp_path / "b.idx", damage="skip"))


def test_a_file_with_a_semicolon_in_its_name_is_one(tmp_path):
    write(tmp_path / "a", [b"a"])
    write(tmp_path / "b.rec", [b"b"])
    both = f"{tmp_path / 'a'};{tmp_path / 'b.rec'}"
    assert records_of(hr.RecordFile(both)) == [b"a", b"b"]
    (tmp_path / "a;b.rec").touch()
    write(tmp_path / "a;b.rec", [image(7, 1, b"one")])
    assert records_of(hr.RecordFile(tmp_path / "a;b.rec")) == [image(7, 1, b"one")]
    assert [int(row["id"]) for row in hr.ImageRecord(tmp_path / "a;b.rec", "build")] == [7]


def test_a_folder_whose_name_is_a_pattern_is_meant(tmp_path):
    for name in ("runs[1]", "runs1"):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "a.rec", [name.encode()])
    assert records_of(hr.RecordFile(tmp_path / "runs[1]")) == [b"runs[1]"]
    assert records_of(hr.RecordFile(tmp_path / "runs[1]", index="build")) == [b"runs[1]"]
    assert records_of(hr.RecordFile(tmp_path / "runs[12]/*.rec")) == [b"runs1"]


def test_a_list_of_images_that_are_missing(tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"A")
    (tmp_path / "a.lst").write_text("0\t1\ta.jpg\n1\t2\tlost.jpg\n2\t3\ta.jpg\n")
    dataset = hr.ImageList(tmp_path / "a.lst", tmp_path)
    with pytest.raises(hr.NotFoundError, match=r"lost\.jpg"):
        list(dataset)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = list(dataset.on_error("skip"))
    assert [row["label"].tolist() for row in rows] == [1, 3]
