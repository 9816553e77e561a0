"""A reader of MindRecord files that shares no code with the package: it takes the places of rows from the index, as
MindSpore does, and the values from the pages."""

import json
import math
import pathlib
import sqlite3
import struct
from typing import Any

import numpy as np

TESTDATA = pathlib.Path(__file__).resolve().parents[1] / "io/formats/mindrecord/testdata"


def read_set(path: pathlib.Path | str) -> list[dict[str, Any]]:
    """The rows of the whole set."""
    path = pathlib.Path(path)
    return [row for name in header_of(path)["shard_addresses"] for row in read_file(path.with_name(name))]


def header_of(path: pathlib.Path) -> dict[str, Any]:
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(length))


def index_rows(path: pathlib.Path) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(f"file:{path}.db?mode=ro&immutable=1", uri=True)
    try:
        assert connection.execute("SELECT NAME FROM SHARD_NAME").fetchall() == [(path.name,)]
        return connection.execute("SELECT * FROM INDEXES ORDER BY ROW_ID").fetchall()
    finally:
        connection.close()


def read_file(path: pathlib.Path) -> list[dict[str, Any]]:
    header, data = header_of(path), path.read_bytes()
    (schema,) = header["schema"]
    rows = []

    def piece(page: int, begin: int, end: int) -> bytes:
        at = header["header_size"] + page * header["page_size"]
        assert end <= header["page"][page]["page_size"]
        (length,) = struct.unpack_from("<Q", data, at + begin)
        assert begin + 8 + length == end
        return data[at + begin + 8 : at + end]

    for number, raw_page, raw_begin, raw_end, group, blob_page, blob_begin, blob_end, *indexed in index_rows(path):
        assert number == len(rows)
        of_group = [each for each in header["page"][raw_page]["row_group_ids"] if each["id"] == group]
        assert len(of_group) == 1 and of_group[0]["offset"] <= raw_begin
        assert header["page"][blob_page]["page_type_id"] == group
        scalars = _unpacked(piece(raw_page, raw_begin, raw_end))
        row = {name: value for name, value in scalars.items() if name in schema["schema"]}
        values = indexed[1::2]
        for field, value in zip(header["index_fields"] or [], values, strict=True):
            expected = row[field["index_field"]]
            assert value == expected or (value is None and math.isnan(expected))
        blob = piece(blob_page, blob_begin, blob_end)
        frames = _frames(blob, len(schema["blob_fields"]))
        for name, frame in zip(schema["blob_fields"], frames, strict=True):
            row[name] = _array(schema["schema"][name], frame, header["version"])
        rows.append(row)
    return rows


def _frames(blob: bytes, count: int) -> list[bytes]:
    if count == 0:
        assert blob == bytes(4)
        return []
    if count == 1:
        return [blob]
    frames, at = [], 0
    for _ in range(count):
        (length,) = struct.unpack_from(">Q", blob, at)
        frames.append(blob[at + 8 : at + 8 + length])
        at += 8 + length
    assert at == len(blob)
    return frames


def _array(field: dict[str, Any], data: bytes, version: str) -> Any:
    if field["type"] == "bytes":
        return data
    if version == "3.0" and field["type"].startswith("int"):
        (count,) = struct.unpack_from(">I", data)
        codes = data[4 : 4 + (count + 3) // 4]
        at, values = 4 + len(codes), []
        for i in range(count):
            size = 1 << (codes[i // 4] >> (6 - 2 * (i % 4)) & 3)
            values.append(int.from_bytes(data[at : at + size], "little", signed=True))
            at += size
        assert at == len(data)
        return np.array(values, field["type"]).reshape(field["shape"])
    return np.frombuffer(data, np.dtype(field["type"]).newbyteorder("<")).reshape(field["shape"])


def _unpacked(data: bytes) -> dict[str, Any]:
    at = 0

    def take(count: int) -> bytes:
        nonlocal at
        at += count
        assert at <= len(data)
        return data[at - count : at]

    def value() -> Any:
        tag = take(1)[0]
        if tag < 0x80 or tag >= 0xE0:
            return tag if tag < 0x80 else tag - 256
        if 0xA0 <= tag <= 0xBF:
            return take(tag & 0x1F).decode()
        if tag in (0xD9, 0xDA, 0xDB):
            return take(int.from_bytes(take(1 << (tag - 0xD9)), "big")).decode()
        if tag in (0xCA, 0xCB):
            return struct.unpack(">f" if tag == 0xCA else ">d", take(4 if tag == 0xCA else 8))[0]
        assert 0xCC <= tag <= 0xD3
        return int.from_bytes(take(1 << (tag & 3)), "big", signed=tag >= 0xD0)

    head = take(1)[0]
    count = head & 0x0F if head & 0xF0 == 0x80 else int.from_bytes(take(2), "big")
    found = {}
    for _ in range(count):
        name = value()
        found[name] = value()
    assert at == len(data)
    return found
