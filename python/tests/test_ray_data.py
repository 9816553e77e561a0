"""`headrace.ray.write` and `headrace.ray.datasource`: the bytes of one machine, made by tasks of Ray that may be lost."""

import contextlib
import json
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import headrace as hr
import headrace.ray
from headrace import _engine
from headrace._files.places import files_below_far, is_folder
from headrace.errors import Error
from headrace.ray.batch_ranges import sent_ranges
from headrace.ray.part_task import PartJob, WrittenPart, write_part
from headrace.ray.put_set import PutSet
from tests.far import stores
from tests.far.s3_server import S3Server
from tests.ray_module import import_ray

ROWS = 41
METHODS = {
    "records": "write_records",
    "tfrecord": "write_tfrecord",
    "tar": "write_tar",
    "parquet": "write_parquet",
    "mindrecord": "write_mindrecord",
}


def column(values: list[bytes]) -> np.ndarray:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def rows(count: int = ROWS) -> hr.Dataset:
    """A column of no rows would be one of texts."""
    if count == 0:
        return rows().take(0)
    contents = [b"row %d" % number * (1 + number % 4) for number in range(count)]
    return hr.Numpy({"bin": column(contents)}, shuffle=True).with_seed(4)


def with_number(count: int = ROWS) -> hr.Dataset:
    return hr.Numpy({"x": np.arange(count)})


def files(folder: pathlib.Path) -> dict[str, bytes]:
    """Without the manifest, which one machine does not write."""
    return {each.name: each.read_bytes() for each in folder.iterdir() if not each.name.endswith(".manifest.json")}


def written_here(folder: pathlib.Path, dataset: hr.Dataset, count: int, **options: Any) -> dict[str, bytes]:
    folder.mkdir()
    dataset.write_records(folder / "part.rec", files=count, **options)
    return files(folder)


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """A cluster of one node, whose CPUs are counted, not there."""
    ray = import_ray()
    ray.init(
        "local",
        num_cpus=4,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        object_store_memory=80 << 20,
    )
    yield ray
    ray.shutdown()


@pytest.fixture
def ray_data(ray: Any) -> Any:
    data = pytest.importorskip("ray.data")
    context = data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    return data


def dying_once(marker: pathlib.Path, at: int) -> Any:
    """A function of rows that kills the first process of a task that comes to one of them."""
    path, program = str(marker), os.getpid()

    def check(value: Any) -> Any:
        if int(np.max(value)) >= at and os.getpid() != program:
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return value
            os.kill(os.getpid(), signal.SIGKILL)
        return value

    return check


def failing(at: dict[int, str], slow: int = -1, unless: pathlib.Path | None = None) -> Any:
    """A function of rows that fails at some of them."""
    fixed = str(unless)

    def check(value: Any) -> bytes:
        number = int(value)
        if number == slow:
            time.sleep(0.5)
        if number in at and not os.path.exists(fixed):
            raise ValueError(at[number])
        return b"%d" % number

    return check


# ---- a part, without Ray ----


def job_of(dataset: hr.Dataset, folder: pathlib.Path, **given: Any) -> PartJob:
    from headrace._records.dataset_records import _RecordEncoding

    encoding = _RecordEncoding(dataset.schema)
    fields = {"sent": sent_ranges(dataset, 0, "write_records"), "encoding": encoding, "setup": None}
    paths = [str(folder.parent / "part.rec")]
    return PartJob(**{**fields, "paths": paths, "attempts": str(folder), **given})


def test_attempts_at_a_part_do_not_meet(tmp_path):
    attempts = tmp_path / "attempts"
    attempts.mkdir()
    made = [write_part(job_of(rows(), attempts), 0, 8, 20) for _ in range(2)]
    assert all(isinstance(each, WrittenPart) for each in made) and made[0].folder != made[1].folder
    assert [each.part.rows for each in made] == [12, 12] and made[0].part.checksums == made[1].part.checksums
    assert files(pathlib.Path(made[0].folder)) == files(pathlib.Path(made[1].folder))
    assert [each.name for each in tmp_path.iterdir()] == ["attempts"]


def test_an_attempt_that_comes_after_the_end_writes_nothing(tmp_path):
    error = write_part(job_of(rows(), tmp_path / "attempts"), 0, 0, 5).again()
    assert isinstance(error, hr.NotFoundError) and "all nodes share" in str(error)
    assert list(tmp_path.iterdir()) == []


def test_a_part_of_another_version_is_refused(tmp_path):
    sent = sent_ranges(rows(), 0, "write_records")
    sent = sent._replace(identity=sent.identity._replace(version="0.0.1"))
    error = write_part(job_of(rows(), tmp_path, sent=sent), 0, 0, 5).again()
    assert isinstance(error, hr.UnsupportedError) and "would make other rows: it is of headrace" in str(error)


def test_the_error_of_a_part_travels_with_its_cause(tmp_path):
    faulty = with_number().map(failing({3: "three"}), "x", types={"x": "bytes"})
    travelled = pickle.loads(pickle.dumps(write_part(job_of(faulty, tmp_path), 0, 0, 5)))
    error = travelled.again()
    assert isinstance(error, hr.FunctionError) and error.row == "epoch 0, key 3"
    assert isinstance(error.__cause__, ValueError) and str(error.__cause__) == "three"


def test_a_part_is_written_within_what_setup_returned(tmp_path):
    seen = []

    @contextlib.contextmanager
    def within() -> Iterator[None]:
        seen.append("enter")
        yield
        seen.append("exit")

    assert isinstance(write_part(job_of(rows(), tmp_path, setup=within), 0, 0, 5), WrittenPart)
    assert seen == ["enter", "exit"]


# ---- what is refused ----


@pytest.mark.ray
@pytest.mark.parametrize(
    ("dataset", "given", "text"),
    [
        (rows().filter(lambda row: True), {}, "(?s)write_records: .*filter"),
        (rows().shuffle(4), {}, "(?s)write_records: .*shuffle"),
        (rows().on_error("skip"), {}, r'with on_error\("skip"\)'),
        (rows(), {"format": "record"}, "format is 'record'; did you mean records"),
        (rows(), {"path": "part.txt"}, "does not say a format; give format="),
        (rows(), {"callbacks": [hr.Callback()]}, "callbacks belongs to a run in this process"),
        (rows(), {"resources": {"num_cpu": 1}}, r"resources has 'num_cpu'; did you mean num_cpus\?"),
        (rows(), {"resources": 2}, "resources is 2; give a dict"),
        (rows(), {"resources": {"num_cpus": "two"}}, "num_cpus of resources is 'two'; it must be a number"),
        (rows(), {"setup": 3}, "setup is 3; give a function"),
        (rows(), {"compression": "zstd"}, "compression"),
        (with_number(), {}, "x is int64"),
    ],
)
def test_write_refuses(ray, tmp_path, dataset, given, text):
    path = tmp_path / given.pop("path", "part.rec")
    with pytest.raises((hr.Error, TypeError), match=text):
        hr.ray.write(dataset, path, files=given.pop("files", 3), **given)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.ray
def test_write_names_an_option_that_it_does_not_have(ray, tmp_path):
    with pytest.raises(
        TypeError, match=r"headrace.ray.write\(\) has no parameter compresion; did you mean compression"
    ):
        hr.ray.write(with_number(), tmp_path / "x.parquet", compresion="zstd")


def test_both_name_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(hr.UnsupportedError, match="pip install ray"):
        hr.ray.write(rows(), tmp_path / "part.rec", files=2)
    with pytest.raises(hr.UnsupportedError, match="pip install ray"):
        hr.ray.datasource(with_number().batch(2))


# ---- sets ----


@pytest.mark.small_ray
@pytest.mark.parametrize("format", METHODS)
def test_the_bytes_are_those_of_one_machine(ray, tmp_path, format):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    dataset = rows().options(seed=9)
    dataset.epoch = 3
    alone = getattr(dataset, METHODS[format])(here / f"part.{format.replace('records', 'rec')}", files=4)
    spread = hr.ray.write(dataset, f"{there}/", format=format, files=4)
    assert files(there) == files(here) and len(files(here)) >= 4
    assert type(spread) is type(alone) and spread.bytes == alone.bytes
    assert [os.path.basename(each) for each in spread.paths] == [os.path.basename(each) for each in alone.paths]
    manifests = [each for each in there.iterdir() if each.name.endswith(".manifest.json")]
    assert [each.name for each in manifests] == [f"part.{format.replace('records', 'rec')}.manifest.json"]
    manifest = json.loads(manifests[0].read_text())
    assert manifest["rows"] == ROWS and manifest["epoch"] == 3
    assert {each["name"]: each["bytes"] for each in manifest["files"]} == {
        os.path.basename(path): os.path.getsize(path) for path in spread.paths
    }


@pytest.mark.ray
def test_one_file_and_a_rank(ray, tmp_path):
    expected = written_here(tmp_path / "here", rows(), 1, shard=(1, 3), even="drop")
    written = hr.ray.write(rows(), f"{tmp_path}/there/", format="records", shard=(1, 3), even="drop")
    assert files(tmp_path / "there") == expected and written.paths == [str(tmp_path / "there/part.rec")]


@pytest.mark.ray
@pytest.mark.parametrize("count", [0, 2])
def test_fewer_rows_than_files(ray, tmp_path, count):
    expected = written_here(tmp_path / "here", rows(count), 3)
    written = hr.ray.write(rows(count), f"{tmp_path}/there/", format="records", files=3)
    assert files(tmp_path / "there") == expected and written.records == count


@pytest.mark.ray
def test_a_folder_of_a_set_is_opened(ray, tmp_path):
    hr.ray.write(rows(), f"{tmp_path}/set/", format="records", files=3)
    read = [row["record"] for row in hr.open(tmp_path / "set")]
    assert read == [bytes(row["bin"]) for row in rows().iterate(epoch=0)]


@pytest.mark.small_ray
def test_a_task_that_is_killed_runs_again(ray, tmp_path):
    numbers = with_number()
    expected = written_here(tmp_path / "here", numbers.map(failing({}), "x", types={"x": "bytes"}), 4)
    mortal = numbers.map(dying_once(tmp_path / "died", 25), "x").map(failing({}), "x", types={"x": "bytes"})
    hr.ray.write(mortal, f"{tmp_path}/there/", format="records", files=4)
    assert (tmp_path / "died").exists() and files(tmp_path / "there") == expected


@pytest.mark.ray
def test_a_part_whose_tasks_are_always_lost_is_an_error(ray, tmp_path):
    old = written_here(tmp_path / "set", rows(), 2)

    def die(value: bytes) -> bytes:
        os.kill(os.getpid(), signal.SIGKILL)
        return value

    with pytest.raises(hr.ResourceError, match="part-00000-of-00002.rec was not written, as its task was lost"):
        hr.ray.write(rows().map(die, "bin"), tmp_path / "set/part.rec", files=2)
    assert files(tmp_path / "set") == old


@pytest.mark.ray
def test_the_error_is_that_of_the_first_row_and_the_old_set_stays(ray, tmp_path):
    old = written_here(tmp_path / "set", rows(), 4)
    # Of the later part before that of the first.
    faulty = with_number().map(failing({9: "early", 35: "late"}, slow=8), "x", types={"x": "bytes"})
    with pytest.raises(hr.FunctionError, match="early") as raised:
        hr.ray.write(faulty, tmp_path / "set/part.rec", files=4)
    assert raised.value.row == "epoch 0, key 9"
    assert files(tmp_path / "set") == old


@pytest.mark.small_ray
def test_an_error_of_the_writer_names_the_row_of_the_set(ray, tmp_path):
    labels = np.arange(ROWS)
    labels[30] = (1 << 24) + 1
    dataset = hr.Numpy({"image": column([b"x"] * ROWS), "label": labels})
    with pytest.raises(hr.DataError, match="the label of row 30 is 16777217"):
        hr.ray.write(dataset, tmp_path / "part.rec", files=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.ray
@pytest.mark.parametrize("ends_on", ["cluster", "one machine"])
def test_a_run_goes_on_with_what_was_finished(ray, tmp_path, ends_on):
    fixed = tmp_path / "fixed"
    dataset = with_number().map(failing({25: "no"}, unless=fixed), "x", types={"x": "bytes"})
    target = tmp_path / "there"
    with pytest.raises(hr.FunctionError, match="no") as raised:
        hr.ray.write(dataset, f"{target}/", format="records", files=4)
    assert "2 files are finished and kept" in raised.value.__notes__[0]
    assert "part.rec.attempts" not in {each.name for each in target.iterdir()}
    fixed.touch()
    if ends_on == "cluster":
        written = hr.ray.write(dataset, f"{target}/", format="records", files=4, resume=True)
    else:
        written = dataset.write_records(target / "part.rec", files=4, resume=True)
    assert written.kept == 2
    assert files(target) == written_here(tmp_path / "here", dataset, 4)


@pytest.mark.small_ray
def test_files_of_another_pipeline_are_not_gone_on_with(ray, tmp_path):
    fixed, target = tmp_path / "fixed", tmp_path / "there"
    numbers = with_number()
    with pytest.raises(hr.FunctionError, match="no") as raised:
        hr.ray.write(
            numbers.map(failing({25: "no"}), "x", types={"x": "bytes"}), f"{target}/", format="records", files=4
        )
    assert isinstance(raised.value.__cause__, ValueError)
    left = files(target)
    fixed.touch()
    other = numbers.take(ROWS).map(lambda x: b"other %d" % int(x), "x", types={"x": "bytes"})
    with pytest.raises(hr.StateError, match="are of another dataset"):
        hr.ray.write(other, f"{target}/", format="records", files=4, resume=True)
    assert files(target) == left


@pytest.mark.ray
def test_nodes_that_read_other_data_are_found_out(ray, tmp_path):
    data, less = tmp_path / "data", tmp_path / "less"
    for name in ("a", "b", "c", "d"):
        (data / "class").mkdir(parents=True, exist_ok=True)
        (data / "class" / f"{name}.jpg").write_bytes(name.encode())
    shutil.copytree(data, less)
    (less / "class/d.jpg").unlink()

    def see_less() -> None:
        if not (data / "hidden").exists():
            data.rename(tmp_path / "whole")
            less.rename(data)
            (data / "hidden").touch()

    target = tmp_path / "set"
    target.mkdir()
    with pytest.raises(hr.UnsupportedError, match="would make other rows: ImageFolder.* has 3 entries there"):
        hr.ray.write(hr.ImageFolder(data), target / "part.rec", files=1, setup=see_less)
    assert files(target) == {}


KILLED = """
import os, signal, sys
import numpy as np
import ray
import headrace as hr
import headrace.ray
from headrace.ray.ray_set_writer import RaySetWriter

ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR", object_store_memory=80 << 20)
taken = RaySetWriter._taken

def die(self, index, written):
    if index == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return taken(self, index, written)

RaySetWriter._taken = die
records = np.empty(41, object)
records[:] = [b"row %d" % number for number in range(41)]
hr.ray.write(hr.Numpy({"bin": records}), sys.argv[1], files=4)
"""


@pytest.mark.ray
def test_a_kill_of_the_program_leaves_the_old_set_and_the_next_run_clears_up(ray, tmp_path):
    target = tmp_path / "set"
    old = written_here(target, rows(), 4)
    killed = subprocess.run([sys.executable, "-c", KILLED, str(target / "part.rec")], env=os.environ, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    left = files_and_folders(target)
    assert {name: left[name] for name in old} == old and "part.rec.attempts" in left
    same = hr.Numpy({"bin": column([b"row %d" % number for number in range(ROWS)])})
    written = hr.ray.write(same, target / "part.rec", files=4, resume=True)
    assert written.kept == 2 and files(target) == written_here(tmp_path / "here", same, 4)


def files_and_folders(folder: pathlib.Path) -> dict[str, bytes | None]:
    return {each.name: each.read_bytes() if each.is_file() else None for each in folder.iterdir()}


# ---- far stores ----


@pytest.fixture
def s3(monkeypatch, tmp_path) -> Iterator[stores.Store]:
    if lacking := stores.lacking():
        pytest.skip(lacking)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with S3Server() as server:
        yield stores.s3_store(server)


def objects(store: stores.Store) -> dict[str, bytes]:
    """What is in the store, without manifests."""
    with hr.storage(store.storage):
        found = files_below_far(store.root) if is_folder(store.root) else []
        read = {name: _engine.read_file(os.fsencode(f"{store.root}/{name}")) for name in found}
    return {name: data for name, data in read.items() if not name.endswith(".manifest.json")}


def test_a_set_in_a_far_store_is_refused_until_it_is_whole(s3, tmp_path):
    path = f"{s3.root}/part.rec"
    with hr.storage(s3.storage):
        rows().write_records(path, files=3)
        names = [[f"{s3.root}/part-{number:05}-of-00003.{ending}" for ending in ("rec", "idx")] for number in range(3)]
        with PutSet(path, names) as put:
            put.begin(ROWS)
            assert set(objects(s3)) == {"part.rec.journal"}
            job = job_of(rows(), tmp_path, attempts=None, paths=[each[0] for each in names])
            put.add(write_part(job, 0, 0, 13).part)
            with pytest.raises(hr.DataError, match="part-00001-of-00003.rec is missing, and .*part.rec.journal"):
                list(hr.RecordFile(f"{s3.root}/part-*-of-00003.rec"))
            put.add(write_part(job, 1, 13, 27).part)
            put.add(write_part(job, 2, 27, None).part)
            put.commit()
        assert objects(s3) == written_here(tmp_path / "here", rows(), 3)


@pytest.mark.ray
def test_a_far_set_has_the_bytes_of_one_machine(ray, s3, tmp_path):
    settings = s3.storage

    def reach() -> Any:
        return hr.storage(settings)

    with reach():
        rows(5).write_records(f"{s3.root}/part.rec", files=3)
        written = hr.ray.write(rows(), f"{s3.root}/part.rec", files=3, setup=reach)
    expected = written_here(tmp_path / "here", rows(), 3)
    assert objects(s3) == expected and written.records == ROWS
    # After an error nothing is left, of the older set neither.
    faulty = with_number().map(failing({25: "no"}), "x", types={"x": "bytes"})
    with reach(), pytest.raises(hr.FunctionError, match="no"):
        hr.ray.write(faulty, f"{s3.root}/part.rec", files=3, setup=reach)
    assert objects(s3) == {}
    with reach(), pytest.raises(hr.UnsupportedError, match="resume is True"):
        hr.ray.write(rows(), f"{s3.root}/part.rec", files=3, resume=True)


# ---- Ray Data ----


def numbers_of(ds: Any) -> list[int]:
    return [int(row["x"]) for row in ds.iter_rows()]


@pytest.mark.small_ray
def test_rows_come_in_the_order_of_the_pipeline(ray_data):
    batches = hr.Numpy({"x": np.arange(ROWS), "image": np.zeros((ROWS, 4, 4, 3), np.uint8)}, shuffle=True).batch(4)
    source = hr.ray.datasource(batches, seed=7, epoch=2)
    assert source.estimate_inmemory_data_size() == 11 * 4 * (8 + 48)
    tasks = source.get_read_tasks(3)
    assert [each.metadata.num_rows for each in tasks] == [12, 16, 13] and len(source.get_read_tasks(100)) == 11
    expected = [int(x) for batch in batches.iterate(seed=7, epoch=2) for x in batch["x"]]
    made = ray_data.read_datasource(source, override_num_blocks=5)
    assert made.count() == ROWS and numbers_of(made) == expected
    assert made.take_batch(4)["image"].shape == (4, 4, 4, 3)


@pytest.mark.ray
def test_the_last_batch_may_be_left_out_and_ranks_are_even(ray_data):
    batches = with_number().batch(4, drop_remainder=True)
    source = hr.ray.datasource(batches, shard=(1, 2), even="drop")
    made = ray_data.read_datasource(source)
    expected = [int(x) for batch in batches.iterate(shard=(1, 2), even="drop") for x in batch["x"]]
    assert sum(each.metadata.num_rows for each in source.get_read_tasks(2)) == len(expected)
    assert numbers_of(made) == expected


@pytest.mark.ray
def test_a_read_task_that_is_killed_gives_the_same_blocks(ray_data, tmp_path):
    mortal = with_number().map(dying_once(tmp_path / "died", 30), "x").batch(4)
    made = ray_data.read_datasource(hr.ray.datasource(mortal.options(executor="threads")), override_num_blocks=4)
    assert numbers_of(made) == list(range(ROWS)) and (tmp_path / "died").exists()


@pytest.mark.ray
def test_a_dataset_without_rows_has_no_blocks(ray_data):
    source = hr.ray.datasource(with_number(0).batch(4))
    assert source.get_read_tasks(4) == [] and source.estimate_inmemory_data_size() == 0
    assert numbers_of(ray_data.read_datasource(source)) == []


@pytest.mark.small_ray
def test_an_error_of_a_row_names_it(ray_data):
    def check(value: Any) -> Any:
        if int(value) == 17:
            raise ValueError("no such number")
        return value

    source = hr.ray.datasource(with_number().map(check, "x").batch(4))
    with pytest.raises(Exception, match="(?s)epoch 0, key 17.*no such number|no such number.*epoch 0, key 17"):
        numbers_of(ray_data.read_datasource(source, override_num_blocks=4))


@pytest.mark.ray
@pytest.mark.parametrize(
    ("dataset", "given", "text"),
    [
        (with_number(), {}, r"write batch\(n\) as the last step"),
        (with_number().filter(lambda row: True).batch(2), {}, "(?s)headrace.ray.datasource: .*filter"),
        (with_number().shuffle(4).batch(2), {}, "(?s)headrace.ray.datasource: .*shuffle"),
        (with_number().repeat().batch(2), {}, "endless"),
        (with_number().batch(2), {"as_": "torch"}, "as_ is for a loop"),
        (with_number().batch(2), {"setup": 1}, "setup is 1"),
        (with_number().batch(2), {"epoch": -1}, "epoch"),
    ],
)
def test_datasource_refuses(ray_data, dataset, given, text):
    with pytest.raises(Error, match=text):
        hr.ray.datasource(dataset, **given)
