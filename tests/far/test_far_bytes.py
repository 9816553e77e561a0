"""Pipelines over far stores give the bytes, the order and the errors that they give over local files."""

import pathlib
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import headrace as hr
from tests.far import stores
from tests.far.certificates import Certificates
from tests.far.equal_pipelines import RUN, as_far_outcome, check_equal, expected, far_pipeline
from tests.far.stores import Store
from tests.pipelines import PIPELINES
from tests.running import assert_same, read_all
from tests.thinning import in_turn
from tests.variants import VARIANTS


@pytest.fixture(scope="module", params=stores.LISTING_KINDS)
def filled(
    request: pytest.FixtureRequest, far_library: None, certificates: Certificates, data: pathlib.Path
) -> Iterator[Store]:
    """A store that has all files of the pipelines."""
    with stores.opened(request.param, certificates) as store:
        store.put_folder(data)
        yield store


@pytest.mark.parametrize(
    ("name", "filled"),
    [(name, kind) for number, name in enumerate(PIPELINES) for kind in in_turn(stores.LISTING_KINDS, number)],
    indirect=["filled"],
    scope="module",
)
def test_pipelines_are_those_of_local_files(name: str, filled: Store, data: pathlib.Path) -> None:
    check_equal(name, filled, data)


# One pipeline of each source, in ways of running that reach its reads.
SOURCES = (
    "training",
    "unchanged_masks",
    "text_splits",
    "numbered_lines",
    "json_lines",
    "tables",
    "packed_images",
    "packed_images_in_splits",
    "examples_by_number",
    "examples_in_files",
    "compressed_examples",
    "samples_by_number",
    "samples_in_shards",
    "mind_records",
    "arrays_in_files",
    "arrays_in_archives",
    "packed_streaming_samples",
)
WAYS = (
    "one_worker",
    "seven_workers",
    "window_of_one",
    "small_memory",
    "pulled",
    "unoptimized",
    "restored_at_every_third_step",
)


@pytest.mark.parametrize(
    ("name", "way"),
    [(name, way) for number, name in enumerate(SOURCES) for way in in_turn(dict.fromkeys(WAYS), number)],
)
def test_each_source_in_other_ways(name: str, way: str, filled: Store, data: pathlib.Path) -> None:
    dataset = far_pipeline(name, filled)
    with hr.storage(filled.storage):
        local = as_far_outcome(expected(name, data), data, filled.root)
        assert_same(local, VARIANTS[way](dataset, **RUN))
    print("HEADRACE-COUNT variants=1")


# Sources by lists of paths, which every store can give: `at` makes a path of a name.
At = Callable[[str], str]
LISTED: dict[str, Callable[[At], hr.Dataset]] = {
    "files": lambda at: hr.Files([at(f"texts/{name}") for name in ("a-unix.txt", "c-empty.txt", "d-mark.txt")]).project(
        ["data"]
    ),
    "text": lambda at: hr.Text([at("texts/a-unix.txt"), at("texts/b-windows.txt")], shuffle=True, split_bytes=40),
    "compressed text": lambda at: hr.Text([at("compressed-texts/a.txt"), at("compressed-texts/c.txt")]),
    "csv": lambda at: hr.Csv([at("0.csv"), at("2.csv")], {"id": str, "x1": "int64"}),
    "json lines": lambda at: hr.JsonLines([at("0.jsonl"), at("1.jsonl")], {"text": str}),
    "braces": lambda at: hr.WebDataset(at("shards/{0,2}.tar"), ["cls"], {"cls": "int64"}),
    "records": lambda at: hr.RecordFile([at("records/a.rec"), at("records/b.rec")], index="build", shuffle=True),
    "records in splits": lambda at: hr.RecordFile([at("records/a.rec"), at("records/b.rec")], split_bytes=100_000),
    "tfrecord": lambda at: hr.TFRecord([at("examples/0.tfrecord"), at("examples/2.tfrecord")], {"number": "int64"}),
    "tar": lambda at: hr.WebDataset([at("shards/0.tar"), at("shards/2.tar")], ["cls"], {"cls": "int64"}, index="build"),
    "npy": lambda at: hr.Npy([at("blocks/0.npy"), at("blocks/1.npy")], shuffle=True),
    "npz": lambda at: hr.Npz(at("blocks/packed.npz"), columns=["label"]),
    "mindrecord": lambda at: hr.MindRecord([at("mind/types.mindrecord")], columns=["s", "b", "f32"]),
    "parquet": lambda at: hr.Parquet(
        [at("parquet/part=0/0.parquet"), at("parquet/part=1/2.parquet")], columns=["number", "text"]
    ),
}


@pytest.mark.parametrize(
    ("source", "store"),
    [(source, kind) for number, source in enumerate(LISTED) for kind in in_turn(stores.KINDS, number)],
    indirect=["store"],
)
def test_lists_of_paths_over_every_store(source: str, store: Store, data: pathlib.Path) -> None:
    if source == "parquet":
        pytest.importorskip("pyarrow")
    store.put_folder(data)
    local = read_all(LISTED[source](lambda name: str(data / name)).batch(4, ragged="splits"), **RUN)
    with hr.storage(store.storage):
        dataset = LISTED[source](store.url).batch(4, ragged="splits")
    assert_same(local, read_all(dataset, storage=store.storage, **RUN))
    assert local.rows


def test_odd_names_are_keys_like_others(s3: Store, tmp_path: pathlib.Path) -> None:
    names = ["a b.bin", "a+b=c.bin", "ü/'()*~.bin", "%41%2F.bin", '&<>".bin', "ends with blank .bin", "#1;2,3@$!.bin"]
    for number, name in enumerate(names):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"%d" % number * number)
        s3.put(name, path.read_bytes())
    local = read_all(hr.Files(str(tmp_path / "**/*.bin")).project(["data"]))
    assert_same(local, read_all(hr.Files(s3.url("**/*.bin")).project(["data"]), storage=s3.storage))
    assert len(local.rows) == len(names)


def test_listings_of_several_pages(s3: Store) -> None:
    s3.servers[0].page = 7  # type: ignore[attr-defined]
    for number in range(30):
        s3.put(f"{number % 3}/{number:02}.bin", b"%d" % number)
    found = [bytes(row["data"]) for row in hr.Files(s3.url("**/*.bin")).iterate(storage=s3.storage)]
    assert found == [b"%d" % number for number in sorted(range(30), key=lambda number: (number % 3, number))]


def test_large_objects_are_read_in_ranges(store: Store) -> None:
    whole = np.random.default_rng(3).integers(0, 256, 20_000_001, np.uint8).tobytes()
    store.put("large.bin", whole)
    (row,) = hr.Files([store.url("large.bin")]).iterate(storage=store.storage)
    assert bytes(row["data"]) == whole


def test_empty_objects(store: Store) -> None:
    store.put("empty.bin", b"")
    rows = list(hr.Files([store.url("empty.bin")]).iterate(storage=store.storage))
    assert [bytes(row["data"]) for row in rows] == [b""]
    assert list(hr.Text([store.url("empty.bin")]).iterate(storage=store.storage)) == []


def test_http_paths_are_never_patterns(far_library: None) -> None:
    with stores.opened("http") as store:
        server = store.servers[0]
        server.put("/get?name=a&n=1", b"query")  # type: ignore[attr-defined]
        server.put("/x;y[1]*.bin", b"characters")  # type: ignore[attr-defined]
        for path, contents in (("/get?name=a&n=1", b"query"), ("/x;y[1]*.bin", b"characters")):
            (row,) = hr.Files([f"{server.url}{path}"])
            assert bytes(row["data"]) == contents


def test_braces_of_http_paths_expand(far_library: None) -> None:
    with stores.opened("http") as store:
        for number in range(12):
            store.put(f"{number:02}.csv", f"number\n{number}\n".encode())
        rows = hr.Csv(store.url("{09..11}.csv"), {"number": "int64"})
        assert [int(row["number"]) for row in rows] == [9, 10, 11]
