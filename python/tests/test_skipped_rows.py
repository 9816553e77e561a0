"""Rows that fail, under both policies of `on_error`."""

import json
import os
import pathlib

import numpy as np
import pytest

import headrace as hr
from headrace import transforms as T
from headrace import vision as V


def refused(*unwanted):
    def refuse(value):
        if value in unwanted:
            raise ValueError(f"{value} is not welcome")
        return value

    return refuse


def values(dataset, **options):
    with dataset.iterate(**options) as iterator:
        return [np.asarray(row["value"]).tolist() for row in iterator]


def test_a_row_that_fails_is_left_out_and_batches_are_filled_up():
    numbers = hr.Range(8).map(refused(3, 7), "value")
    assert values(numbers.on_error("skip")) == [0, 1, 2, 4, 5, 6]
    assert values(numbers.on_error("skip").batch(4)) == [[0, 1, 2, 4], [5, 6]]
    assert values(numbers.batch(4).on_error("skip")) == [[0, 1, 2, 4], [5, 6]]
    with pytest.raises(hr.FunctionError):
        values(numbers.on_error("raise"))
    assert len(numbers.on_error("skip")) == 8


def test_the_limit_raises_the_error_of_the_row_that_exceeds_it():
    numbers = hr.Range(10).map(refused(2, 4, 8), "value").on_error("skip", max_errors=2)
    iterator = numbers.iterate()
    assert [int(row["value"]) for _, row in zip(range(6), iterator, strict=False)] == [0, 1, 3, 5, 6, 7]
    with pytest.raises(
        hr.FunctionError, match="3 rows of epoch 0 failed.*max_errors=2.*raise max_errors.*8 is not"
    ) as e:
        next(iterator)
    assert isinstance(e.value.__cause__, ValueError)
    assert e.value.operator == "map[1] PythonFunction"
    assert "left out before" in str(e.value)
    with pytest.raises(hr.FunctionError):
        next(iterator)
    # Each epoch counts anew.
    looped = hr.Range(10).map(refused(2, 4), "value").on_error("skip", max_errors=2)
    assert [[int(row["value"]) for row in looped] for _ in range(2)] == [[0, 1, 3, 5, 6, 7, 8, 9]] * 2


def test_the_limit_holds_across_states():
    numbers = hr.Range(12).map(refused(1, 5, 9), "value").on_error("skip", max_errors=2).batch(2)
    whole, failed = [], None
    state = None
    while failed is None:
        with numbers.iterate(state=state) as iterator:
            try:
                whole.append(next(iterator)["value"].tolist())
            except hr.FunctionError as error:
                failed = error
            else:
                state = iterator.state()
    assert whole == [[0, 2], [3, 4], [6, 7]]
    assert "3 rows of epoch 0 failed" in str(failed)


def test_missing_and_damaged_files_are_left_out(tmp_path: pathlib.Path):
    folder = tmp_path / "photos/class"
    folder.mkdir(parents=True)
    import PIL.Image

    for number in range(6):
        PIL.Image.new("RGB", (20, 20), (number, 0, 0)).save(folder / f"{number}.png")
    damaged = (folder / "2.png").read_bytes()
    (folder / "2.png").write_bytes(damaged[: len(damaged) // 2])
    images = hr.ImageFolder(tmp_path / "photos").map([V.Decode(), V.CenterCrop(8)], "image").on_error("skip")
    log = tmp_path / "bad.jsonl"
    for options in ({}, {"optimize": False}, {"executor": "pull"}):
        with images.on_error("skip", log=log).batch(5).iterate(**options) as iterator:
            assert [len(batch["image"]) for batch in iterator] == [5]
            (skipped,) = iterator.report()["skipped"]
            assert skipped["rows"] == 1
            assert skipped["first"][0].startswith(str(folder / "2.png"))
            assert "1 row failed and left out" in iterator.explain()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(lines) == 3
    assert lines[0].keys() == {"epoch", "key", "file", "operator", "kind", "message"} | (lines[0].keys() & {"record"})
    assert lines[0]["file"] == str(folder / "2.png")
    assert lines[0]["kind"] == "DataError"
    with images.iterate() as iterator:
        (folder / "4.png").unlink()
        assert len(list(iterator)) in (4, 5)  # it may have been read already


def test_a_log_that_cannot_be_written_is_an_error_at_once(tmp_path):
    with pytest.raises(hr.NotFoundError, match="the log of on_error"):
        hr.Range(3).on_error("skip", log=tmp_path / "missing/bad.jsonl").iterate()
    with pytest.raises(hr.UnsupportedError, match="no file system for nosuch://"):
        hr.Range(3).on_error("skip", log="nosuch://bucket/bad.jsonl").iterate()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(hr.UnsupportedError, match="pipe: the log of on_error.* must be a regular file"):
        hr.Range(3).on_error("skip", log=tmp_path / "pipe").iterate()


def test_datasets_share_one_policy():
    skipping = hr.Range(3).on_error("skip", max_errors=5)
    assert values(hr.Range(2).concat(skipping.map(refused(1), "value"))) == [0, 1, 0, 2]
    assert values(skipping.concat(hr.Range(2).on_error("skip", max_errors=5)))
    with pytest.raises(hr.GraphError, match=r'concat: one dataset has on_error\("skip", max_errors=5\), another'):
        skipping.concat(hr.Range(3).on_error("raise"))
    with pytest.raises(hr.GraphError, match="max_errors=6"):
        skipping.concat(hr.Range(3).on_error("skip", max_errors=6))


def test_arguments_are_checked():
    for arguments, message in [
        (("ignore",), "policy is 'ignore'"),
        (("skip", -1), "max_errors is -1"),
        (("skip", "many"), "max_errors is 'many'"),
        (("raise", 3), 'are for "skip"'),
    ]:
        with pytest.raises(hr.GraphError, match=message):
            hr.Range(3).on_error(*arguments)
    with pytest.raises(TypeError, match="on_error"):
        hr.Range(3).iterate(on_error="skip")


def test_the_policy_is_part_of_the_graph(tmp_path):
    numbers = hr.Range(6).map([T.TypeCast("int32")], "value").batch(2)
    skipping = numbers.on_error("skip", max_errors=3)
    skipping.save(tmp_path / "graph")
    loaded = hr.load(tmp_path / "graph")
    assert '"max_errors": "3"' in loaded.to_json()
    assert loaded._graph().hash == skipping._graph().hash != numbers._graph().hash
    with skipping.iterate() as iterator:
        next(iterator)
        state = iterator.state()
    assert values(loaded, state=state) == [[2, 3], [4, 5]]
    with pytest.raises(hr.StateError, match=r"on_error\(\) was another"):
        numbers.iterate(state=state)
    with pytest.raises(hr.StateError, match="cannot go on as shard 0 of 2"):
        skipping.iterate(state=state, shard=(0, 2))


def test_even_ranks():
    numbers = hr.Range(11).map(refused(2, 5), "value").on_error("skip")
    with pytest.raises(hr.UnsupportedError, match='even="drop"'):
        numbers.batch(2).iterate(shard=(0, 2), even="drop")
    with pytest.raises(hr.UnsupportedError, match="needs a batch"):
        numbers.iterate(shard=(0, 2), even="pad")
    for rank in range(2):
        batches = list(numbers.batch(2).iterate(shard=(rank, 2), even="pad"))
        assert len(batches) == 3
        assert sum(int(batch["_pad"].sum()) for batch in batches) == 1 + rank


def test_what_is_not_a_rows_own_ends_the_run():
    def interrupted(value):
        if value == 2:
            raise KeyboardInterrupt
        return value

    with pytest.raises(KeyboardInterrupt):
        values(hr.Range(4).map(interrupted, "value").on_error("skip"))

    def short(value):
        if value == 2:
            raise MemoryError
        return value

    with pytest.raises(hr.ResourceError):
        values(hr.Range(4).map(short, "value").on_error("skip"))

    def rows(epoch):
        yield 1
        raise KeyError("no more")

    with pytest.raises(hr.FunctionError):
        values(hr.Generator(rows, {"value": ("int64", ())}).on_error("skip"))
    # Rows of a batch that differ.
    ragged = hr.Range(4).map(lambda value: np.zeros(value + 1), "value").on_error("skip")
    with pytest.raises(hr.GraphError):
        values(ragged.batch(2))


def test_an_error_above_a_batch_ends_the_run_until_unbatch():
    def refuse(value):
        if np.any(value == 2):
            raise ValueError("two")
        return value

    batches = hr.Range(6).batch(2).on_error("skip")
    with pytest.raises(hr.FunctionError):
        values(batches.map(refuse, "value"))
    assert values(batches.unbatch().map(refuse, "value")) == [0, 1, 3, 4, 5]


def test_unread_columns_fail_under_no_setting():
    numbers = hr.Range(5).map(refused(3), "value", "copy").project("value").on_error("skip")
    expected = values(numbers)
    for options in ({"optimize": False}, {"disabled_passes": ["drop_unread_columns"]}, {"executor": "pull"}):
        assert values(numbers, **options) == expected


def test_a_filter_passes_no_step_that_may_fail():
    rows = (
        hr.Numpy({"value": np.arange(6), "text": np.array([b"1"] * 6, object)})
        .map(V.Decode(), "text")
        .filter(hr.col("value") > 2)
        .on_error("skip", max_errors=3)
    )
    for options in ({}, {"optimize": False}):
        with pytest.raises(hr.DataError, match="4 rows of epoch 0 failed"):
            values(rows, **options)


def test_a_cache_folder_keeps_what_was_left_out(tmp_path):
    def numbers(max_errors=100):
        rows = hr.Range(20).map(T.OneHot(12), "value", "hot").shuffle(4)
        return rows.on_error("skip", max_errors).cache(directory=tmp_path)

    def read(dataset, **options):
        with dataset.iterate(**options) as iterator:
            rows = [int(row["value"]) for row in iterator]
            return rows, iterator.report()["skipped"]

    expected = read(hr.Range(20).map(T.OneHot(12), "value", "hot").shuffle(4).on_error("skip"), epoch=0)
    assert sorted(expected[0]) == list(range(12))
    for epoch in range(3):
        assert read(numbers(), epoch=epoch) == expected
    with numbers().iterate() as iterator:
        list(iterator)
        assert iterator.report()["stages"][-1]["rows"] == 0
    with pytest.raises(hr.DataError, match="6 rows of epoch 0 failed"):
        read(numbers(5))


def encoded(shape, dtype=np.uint8) -> bytes:
    return V.EncodePng()(np.zeros(shape, dtype))


# An image that does not fit, and what it does not fit.
ODD = {
    "too small for a crop": (encoded((5, 6, 3)), V.RandomCrop(32), "RGB"),
    "too small for a blur": (encoded((5, 6, 3)), V.GaussianBlur(23), "RGB"),
    "too small for a square": (encoded((5, 6, 3)), V.RandomSquare(20, 32), "RGB"),
    "too small for five crops": (encoded((5, 6, 3)), V.FiveCrop(32), "RGB"),
    "too large to pad": (encoded((80, 80, 3)), V.PadToSize(70), "RGB"),
    "longer than the padding": (encoded((80, 80, 3)), T.PadEnd((70, 70, 3)), "RGB"),
    "of four channels": (encoded((64, 64, 4)), V.Normalize((1, 2, 3), (1, 1, 1)), "unchanged"),
    "of 16 bits": (encoded((64, 64, 3), np.uint16), V.ColorJitter(0.4), "unchanged"),
    "too small in a branch": (encoded((5, 6, 3)), V.RandomApply([V.RandomCrop(32)], 1.0), "RGB"),
}


@pytest.mark.parametrize("name", ODD)
def test_an_image_that_does_not_fit_is_left_out_alone(name):
    odd, kernel, mode = ODD[name]
    good = encoded((64, 64, 3))
    names = [f"part {i}" for i in range(5)] if isinstance(kernel, V.FiveCrop) else None
    images = hr.Numpy({"image": [good, odd, good]}).map(V.Decode(mode=mode), "image").map(kernel, "image", names)
    with pytest.raises(hr.DataError) as caught:
        list(images)
    assert caught.value.row == "epoch 0, key 1"
    for ways in ({}, {"executor": "pull"}, {"optimize": False}):
        assert len(list(images.on_error("skip").iterate(**ways))) == 2


@pytest.mark.parametrize(
    "kernel", [V.RandomCrop(32), V.GaussianBlur(23), V.RandomSquare(20, 32), V.FiveCrop(32), V.PadToSize((4, 70))]
)
def test_images_whose_size_is_known_are_refused_before_the_run(kernel):
    names = [f"part {i}" for i in range(5)] if isinstance(kernel, V.FiveCrop) else None
    images = hr.Numpy({"image": np.zeros((3, 5, 6, 3), np.uint8)}).map(kernel, "image", names)
    with pytest.raises(hr.GraphError):
        images.on_error("skip").iterate()


def test_images_without_pixels_are_refused_before_the_run():
    images = hr.Numpy({"image": np.zeros((3, 0, 6, 3), np.uint8)}).map(V.Invert(), "image")
    with pytest.raises(hr.GraphError, match="an image without pixels"):
        images.on_error("skip").iterate()


def test_a_row_that_a_predicate_cannot_read_is_left_out():
    def varied(value):
        return np.int64(value) if value != 2 else np.arange(3)

    rows = hr.Range(5).map(varied, "value").filter(hr.col("value") >= 0)
    with pytest.raises(hr.DataError, match="an expression reads scalar columns only"):
        list(rows)
    assert values(rows.on_error("skip")) == [0, 1, 3, 4]


@pytest.mark.parametrize("name", [b"cafe.jpg", b"caf\xe9.jpg"])
def test_a_name_that_is_no_utf8(tmp_path, tmp_path_factory, name):
    whole = V.EncodeJpeg(quality=95)(np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8))
    folder = os.fsencode(tmp_path) + b"/a"
    os.mkdir(folder)
    for file, held in ((b"1.jpg", whole), (name, b"no picture"), (b"z.jpg", whole[: len(whole) // 2] + b"\xff\xd9")):
        with open(os.path.join(folder, file), "wb") as out:
            out.write(held)
    shown = name.decode("utf-8", "backslashreplace")
    for rows in (hr.ImageFolder(tmp_path), hr.Files(os.fsdecode(folder)).rename({"data": "image"})):
        decoded = rows.map(V.Decode(), "image").on_error("skip")
        iterator = decoded.iterate()
        assert len(list(iterator)) == 2
        assert shown in decoded.explain() and "z.jpg" in decoded.explain()
        assert shown in iterator.report()["skipped"][0]["first"][0]

        def fail(image):
            raise OSError(os.fsdecode(name))

        with pytest.raises(hr.FunctionError, match="OSError: "):
            list(rows.map(fail, "image"))
        with decoded.profile(tmp_path_factory.mktemp("profile")) as batches:
            assert len(list(batches)) == 2
        for text in (rows.map(V.Decode(), "image").to_dot(), rows.to_json(), repr(rows), rows.explain()):
            text.encode()
