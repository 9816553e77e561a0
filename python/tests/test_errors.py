"""Bad input: an error that names its cause, after the complete batches before it, and the process goes on."""

import os
import resource
import shutil
import struct
import zlib

import numpy as np
import pytest
from conftest import run_python, values

import headrace as hr
from headrace import transforms as T
from headrace import vision as V


def line_of(text: str) -> int:
    """The line of this file that holds `text`."""
    with open(__file__) as file:
        return next(i for i, line in enumerate(file, 1) if text in line and "line_of" not in line)


@pytest.fixture
def folder(photos, tmp_path):
    """Four images of two classes, for tests to damage."""
    for target, source in [("a/0.jpg", "animals/cat.jpg"), ("a/1.jpg", "people/astronaut.jpg")]:
        (tmp_path / target).parent.mkdir(exist_ok=True)
        shutil.copy(photos / source, tmp_path / target)
    for target, source in [("b/2.jpg", "space/rocket.jpg"), ("b/3.jpg", "things/coffee.jpg")]:
        (tmp_path / target).parent.mkdir(exist_ok=True)
        shutil.copy(photos / source, tmp_path / target)
    return tmp_path


def decoded(folder) -> hr.Dataset:
    return hr.ImageFolder(folder).map([V.Decode(), V.Resize((8, 8))], "image")


def rows_and_error(dataset, kind):
    rows = []
    with pytest.raises(kind) as caught:
        for row in dataset:
            rows.append(row)
    return rows, caught.value


# ---- the kinds ----


def test_kinds_are_errors_and_pythons_own_where_there_is_one():
    kinds = [getattr(hr, name) for name in hr.__all__ if name.endswith("Error")]
    assert len(kinds) == 10
    assert all(issubclass(kind, hr.Error) for kind in kinds)
    assert issubclass(hr.NotFoundError, FileNotFoundError)
    assert issubclass(hr.GraphError, ValueError)
    assert issubclass(hr.ResourceError, MemoryError)


# ---- bad input, by case ----


def test_missing_folder(tmp_path):
    with pytest.raises(hr.NotFoundError, match="nowhere") as caught:
        list(hr.ImageFolder(tmp_path / "nowhere"))
    assert caught.value.operator == "ImageFolder[0]"
    assert "test_errors.py:" in caught.value.location
    with pytest.raises(FileNotFoundError):
        list(hr.ImageFolder(tmp_path / "nowhere"))


def test_empty_class(folder):
    (folder / "c").mkdir()
    with pytest.raises(hr.Error, match=r"\bc\b"):
        list(hr.ImageFolder(folder))
    assert len(hr.ImageFolder(folder, allow_empty=True)) == 4


def test_truncated_image(folder):
    image = folder / "b/2.jpg"
    image.write_bytes(image.read_bytes()[:3000])
    rows, error = rows_and_error(decoded(folder), hr.DataError)
    assert len(rows) == 2
    assert "b/2.jpg" in error.file and "map[1]" in error.operator and "epoch 0" in error.row
    assert "b/2.jpg" in str(error) and f"test_errors.py:{line_of('hr.ImageFolder(folder).map([V.Decode()')}" in str(
        error
    )
    assert len(str(error).splitlines()) < 12


@pytest.mark.parametrize("optimize", [True, False])
def test_damaged_data_are_counted_and_named(folder, optimize):
    image = folder / "b/2.jpg"
    image.write_bytes(image.read_bytes()[:9000] + b"\xff\xd9")
    dataset = hr.ImageFolder(folder).map(V.Decode(), "image")
    with dataset.iterate(optimize=optimize) as iterator:
        assert len(list(iterator)) == 4
        (warning,) = iterator.report()["warnings"]
        assert warning["rows"] == 1
        assert "b/2.jpg" in warning["first"][0] and "libjpeg" in warning["first"][0]
    text = iterator.explain()
    assert "1 row with a warning" in text and "b/2.jpg" in text
    assert "warning" not in hr.ImageFolder(folder).take(2).map(V.Decode(), "image").iterate().explain()


def test_an_error_names_the_operator_as_it_was_written_whatever_passes_made_of_it():
    found = []
    for optimize in (True, False):
        numbers = hr.Range(9).map(T.TypeCast("int32"), "value").skip(1).map(T.OneHot(4), "value", "hot")
        _, error = rows_and_error(numbers.shuffle(3).iterate(optimize=optimize), hr.DataError)
        found.append((error.operator, error.row, error.location))
    assert found[0] == found[1]
    assert found[0][0] == "map[3] OneHot"


def test_file_that_is_no_image(folder):
    (folder / "b/2.jpg").write_text("not an image at all")
    rows, error = rows_and_error(decoded(folder).batch(2), hr.DataError)
    assert [len(row["label"]) for row in rows] == [2]
    assert "b/2.jpg" in error.file
    # The process and other pipelines are not affected.
    assert values(hr.Range(3)) == [0, 1, 2]


def test_a_damaged_file_whose_name_is_no_text(folder):
    (folder / "a" / os.fsdecode(b"\xff.jpg")).write_bytes(b"text")
    with pytest.raises(hr.DataError, match=r"a/\\xff\.jpg") as caught:
        list(hr.ImageFolder(str(folder)).map(V.Decode(), "image"))
    assert "a/\\xff.jpg" in caught.value.file


def test_empty_file(folder):
    (folder / "a/0.jpg").write_bytes(b"")
    rows, error = rows_and_error(decoded(folder), hr.DataError)
    assert rows == [] and "a/0.jpg" in error.file


def huge_png(side: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    data = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def test_a_huge_image_in_a_small_file_takes_no_memory(folder):
    (folder / "b/2.png").write_bytes(huge_png(60_000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows, error = rows_and_error(decoded(folder), hr.Error)
    assert len(rows) == 3
    assert "60000" in str(error).replace(",", "") and "178956970" in str(error).replace(",", "")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


def test_wrong_dtype():
    with pytest.raises(hr.GraphError, match="int64") as caught:
        _ = hr.Range(3).map(V.Decode(), "value").schema
    assert "map Decode" in str(caught.value)
    with pytest.raises(hr.GraphError, match="float23"):
        _ = hr.Range(3).map(T.TypeCast("float23"), "value").schema


def test_wrong_dtype_that_only_the_row_shows():
    rows = hr.Range(3).map(lambda x: np.zeros(2, np.complex64), "value")
    with pytest.raises(hr.FunctionError, match="complex64"):
        list(rows)


def test_misspelt_column():
    with pytest.raises(hr.GraphError, match='no column "vlaue"; did you mean "value"') as caught:
        _ = hr.Range(3).map(T.TypeCast("int8"), "vlaue").schema
    assert "test_errors.py:" in str(caught.value)
    with pytest.raises(hr.GraphError, match="did you mean"):
        list(hr.Range(3).filter(hr.col("valeu") < 1))


def test_misspelt_names_in_python():
    with pytest.raises(AttributeError) as caught:
        _ = V.Reszie
    assert caught.value.name == "Reszie"
    with pytest.raises(TypeError, match="sizee"):
        V.Resize(sizee=3)


def test_sizes_that_are_no_sizes():
    for call, message in [
        (lambda: hr.Range(3).batch(0), "size is 0; it must be at least 1"),
        (lambda: hr.Range(3).batch(-2), "size is -2"),
        (lambda: hr.Range(3).shuffle(-1), "window is -1"),
        (lambda: hr.Range(3).take(-1), "count is -1"),
        (lambda: hr.Range(3).batch("three"), "size is 'three'; it must be a whole number"),
        (lambda: hr.Range(3).batch(2.5), "size is 2.5; it must be a whole number"),
        (lambda: hr.Range(3).batch(None), "size is None"),
    ]:
        with pytest.raises(hr.GraphError, match=message):
            list(call())


def test_all_mistakes_at_once():
    with pytest.raises(hr.GraphError) as caught:
        _ = (
            hr.Range(3)
            .map(V.Resize(-1), "imge")  # first mistake
            .shuffle(0)  # second mistake
            .batch(0)  # third mistake
            .schema
        )
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("4 mistakes in the pipeline")
    assert len(lines) == 5
    for mark in ("# first mistake", "# second mistake", "# third mistake"):
        assert any(f"test_errors.py:{line_of(mark)} " in line for line in lines), (mark, lines)


def test_mistakes_come_before_anything_is_read(tmp_path):
    pipeline = hr.ImageFolder(tmp_path / "nowhere").batch(0)
    for ask in (
        lambda: pipeline.schema,
        lambda: len(pipeline),
        lambda: iter(pipeline),
        pipeline.iterate,
        pipeline.explain,
    ):
        with pytest.raises(hr.GraphError, match="size is 0"):
            ask()
    with pytest.raises(hr.GraphError, match="size is 0"):
        pipeline.save(tmp_path / "x.hrg")


def test_shards_that_are_none():
    for shard, message in [
        ((3, 3), "ranks go from 0 to 2"),
        ((0, 0), "at least 1"),
        (3, "must be"),
        ((-1, 2), "at least 0"),
    ]:
        with pytest.raises(hr.GraphError, match=message):
            hr.Range(9).iterate(shard=shard)


def test_corrupt_graph_files(tmp_path):
    path = tmp_path / "g.hrg"
    hr.Range(10).shuffle(3).batch(2).save(path)
    whole = path.read_bytes()
    for spoilt in (b"", b"hello", whole[:-3], whole[: len(whole) // 2], b"\xff" + whole, b'{"nodes": [', b"{}"):
        path.write_bytes(spoilt)
        with pytest.raises(hr.GraphError) as caught:
            list(hr.load(path))
        assert "g.hrg" in str(caught.value), spoilt


def test_any_damage_to_a_graph_file_is_an_error_or_a_graph(tmp_path):
    path = tmp_path / "g.hrg"
    hr.Range(10).map(T.TypeCast("float32"), "value").shuffle(3).batch(2).save(path)
    whole = path.read_bytes()
    random = np.random.default_rng(0)
    for _ in range(500):
        spoilt = bytearray(whole)
        for _ in range(random.integers(1, 4)):
            spoilt[random.integers(len(spoilt))] = random.integers(256)
        path.write_bytes(bytes(spoilt))
        try:
            _ = hr.load(path).schema
        except hr.Error:
            pass
    print("HEADRACE-COUNT fuzz=500")


def test_newer_graph_file(tmp_path):
    path = tmp_path / "g.json"
    path.write_text(hr.Range(3).to_json().replace('"format": 2', '"format": 99'))
    assert "99" in path.read_text()
    with pytest.raises(hr.GraphError, match="newer"):
        hr.load(path)


def test_missing_graph_file(tmp_path):
    with pytest.raises(hr.NotFoundError, match="none.hrg"):
        hr.load(tmp_path / "none.hrg")
    with pytest.raises(hr.NotFoundError, match="cannot save"):
        hr.Range(3).save(tmp_path / "no/such/folder.hrg")


def test_ragged_rows_name_both_shapes():
    ragged = hr.Range(4).map(lambda x: np.zeros(int(x) + 1), "value").batch(2)
    with pytest.raises(hr.Error, match=r"\(1\).*\(2\)|\(1,\).*\(2,\)"):
        list(ragged)
    padded = list(hr.Range(4).map(lambda x: np.ones(int(x) + 1), "value").batch(2, pad=True))
    assert padded[1]["value"].tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]


# ---- options ----


def test_options_that_are_none():
    numbers = hr.Range(3)
    for options, kind, message in [
        ({"as_": "pandas"}, hr.GraphError, "as_ is 'pandas'"),
        ({"even": "yes"}, hr.GraphError, "even is 'yes'"),
        ({"executor": "gpu"}, hr.GraphError, "executor is 'gpu'"),
        ({"memory": "much"}, hr.GraphError, "memory is 'much'"),
        ({"memory": 0}, hr.GraphError, "at least 1 byte"),
        ({"workers": 0}, hr.GraphError, "workers is 0"),
        ({"window": -1}, hr.GraphError, "window is -1"),
        ({"epoch": -1}, hr.GraphError, "epoch is -1"),
        ({"seed": "x"}, hr.GraphError, "seed is 'x'"),
        ({"seed": 1 << 70}, hr.GraphError, "below 2"),
        ({"state": "text"}, hr.GraphError, "state must be"),
        ({"state": b""}, hr.StateError, "0 bytes"),
        ({"disabled_passes": ["no_such_pass"]}, hr.GraphError, "no_such_pass"),
    ]:
        with pytest.raises(kind, match=message):
            numbers.iterate(**options)


# ---- after an error ----


def test_the_error_stays():
    def late(x):
        if x == 5:
            raise RuntimeError("five")
        return x

    it = hr.Range(8).map(late, "value").batch(2).iterate()
    assert len([next(it), next(it)]) == 2
    for _ in range(3):
        with pytest.raises(hr.FunctionError, match="five"):
            next(it)
    it.close()
    with pytest.raises(hr.ClosedError):
        next(it)


def test_a_state_before_the_error_goes_on_to_it():
    ok = []

    def sometimes(x):
        if x == 5 and not ok:
            raise RuntimeError("five")
        return x

    pipeline = hr.Range(8).map(sometimes, "value").batch(2)
    it = pipeline.iterate()
    next(it), next(it)
    with pytest.raises(hr.FunctionError):
        next(it)
    ok.append(True)
    assert values(pipeline.iterate(state=it.state())) == [4, 5, 6, 7]


def test_the_first_error_in_row_order_wins():
    import time

    def uneven(x):
        if x in (3, 4, 20):
            time.sleep(0.05 if x == 3 else 0)
            raise RuntimeError(f"row {int(x)}")
        return x

    for _ in range(5):
        rows, error = rows_and_error(hr.Range(64).map(uneven, "value", ordered=False), hr.FunctionError)
        assert len(rows) == 3
        assert str(error.__cause__) == "row 3"


def test_errors_of_one_pipeline_are_not_anothers(tmp_path):
    def broken(x):
        raise RuntimeError("mine")

    bad = iter(hr.Range(100).map(broken, "value"))
    good = iter(hr.Range(100).map(lambda x: x + 1, "value"))
    with pytest.raises(hr.FunctionError):
        next(bad)
    assert [int(row["value"]) for row in good] == list(range(1, 101))


def test_errors_beyond_what_is_read_are_not_told():
    def broken(x):
        if x == 4:
            raise RuntimeError("four")
        return x

    assert values(hr.Range(8).map(broken, "value").take(4)) == [0, 1, 2, 3]


def test_an_uncaught_error_fits_on_a_screen(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import headrace as hr\n"
        "def augment(x):\n"
        "    return 1 // (int(x) - 3)\n"
        "for row in hr.Range(8).map(augment, 'value').batch(2):\n"
        "    print(row['value'])\n"
    )
    done = run_python(f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) < 40
    for part in ("FunctionError", "augment", "ZeroDivisionError", "train.py:4", "return 1 // (int(x) - 3)", "epoch 0"):
        assert part in done.stderr, (part, done.stderr)


def test_rows_of_other_dtypes_ask_for_a_cast():
    def rows():
        yield {"x": np.zeros(3, np.float32)}
        yield {"x": np.zeros(3, np.int64)}

    with pytest.raises(hr.GraphError, match=r"float32 \(3,\) and int64 \(3,\); convert them to one dtype \(TypeCast\)"):
        list(hr.Generator(rows, columns=["x"]).batch(2))


def test_a_batch_beyond_the_budget_asks_for_smaller_batches():
    large = hr.Range(3).map(lambda x: np.zeros(1 << 24, np.uint8), "value").batch(3)
    with pytest.raises(hr.ResourceError, match=r"batch\[2\] holds .* or make its batches smaller"):
        list(large.iterate(memory="16MiB"))


def test_a_filter_function_without_a_return_is_refused():
    def keep(x):
        x > 1  # noqa: B015

    with pytest.raises(hr.FunctionError, match="it gave None, not whether to keep the row; is its return missing"):
        list(hr.Range(3).filter(keep, "value"))
