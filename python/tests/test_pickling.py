"""Pickled datasets: what travels, what stays, and in what a copy is equal."""

import copy
import functools
import multiprocessing
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest
from conftest import values

import headrace as hr
from headrace import vision as V
from headrace._datasets import pickling


def doubled(x):
    return x * 2


def noisy(x, rng):
    return x + rng.integers(0, 1 << 40)


def rows_in_another_process(dataset, answers):
    answers.put(values(dataset))


def through_pickle(dataset):
    return pickle.loads(pickle.dumps(dataset))


def test_a_dataset_goes_to_a_process_that_is_spawned():
    dataset = hr.Range(9, shuffle=True).map(noisy, "value").with_seed(5)
    context = multiprocessing.get_context("spawn")
    answers = context.SimpleQueue()
    process = context.Process(target=rows_in_another_process, args=(dataset, answers))
    process.start()
    assert answers.get() == values(dataset)
    process.join()


def test_functions_of_the_script_and_lambdas_travel(tmp_path):
    pytest.importorskip("cloudpickle")
    script = tmp_path / "script.py"
    script.write_text(
        "import pickle, sys\nimport headrace as hr\n"
        "table = [5, 7, 9]\n"
        "def look(x): return table[x]\n"
        "ds = hr.Range(3).map(look, 'value').map(lambda x: x + 1, 'value')\n"
        "sys.stdout.buffer.write(pickle.dumps(ds))\n"
    )
    pickled = subprocess.run([sys.executable, str(script)], stdout=subprocess.PIPE, check=True, timeout=60).stdout
    assert values(pickle.loads(pickled)) == [6, 8, 10]


def test_without_cloudpickle_functions_travel_by_their_names(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    # Ray's own serves where Ray is used.
    monkeypatch.delitem(sys.modules, "ray.cloudpickle", raising=False)
    assert values(through_pickle(hr.Range(3).map(doubled, "value"))) == [0, 2, 4]
    with pytest.raises(hr.GraphError, match=r"map: .*<lambda>.*cannot be pickled: .*pip install cloudpickle"):
        pickle.dumps(hr.Range(3).map(lambda x: x, "value"))


def test_a_copy_has_options_epoch_seed_errors_and_limits():
    dataset = hr.Range(40, shuffle=True).map(doubled, "value", workers=3, ordered=False, types={"value": "int64"})
    dataset = dataset.batch(4).with_seed(3).options(as_="dlpack", memory="64MiB").on_error("skip", max_errors=7)
    dataset.epoch = 2
    again = through_pickle(dataset)
    assert again.epoch == 2 and again.schema == dataset.schema
    assert again._options["memory"] == 64 << 20 and again._options["as_"] == "dlpack"
    assert str(again._on_error) == str(dataset._on_error)
    assert again._graph().hash == dataset._graph().hash
    assert pickle.dumps(again) == pickle.dumps(through_pickle(again))
    again, dataset = again.options(as_="numpy"), dataset.options(as_="numpy")
    assert [row["value"].tolist() for row in again] == [row["value"].tolist() for row in dataset]


def test_a_state_goes_on_in_a_copy():
    dataset = hr.Range(20, shuffle=True).map(noisy, "value").batch(3)
    with dataset.iterate(seed=4) as rows:
        next(rows)
        state, rest = rows.state(), [row["value"].tolist() for row in rows]
    with through_pickle(dataset).iterate(seed=4, state=state) as rows:
        assert [row["value"].tolist() for row in rows] == rest


def test_one_function_used_twice_stays_one():
    once = functools.partial(doubled)
    dataset = hr.Range(4).map(once, "value", processes=1).map(once, "value", processes=1)
    dataset = dataset.zip(dataset.rename({"value": "other"}))
    again = through_pickle(dataset)
    assert again._graph().references == dataset._graph().references
    assert values(again) == values(dataset) == [0, 4, 8, 12]


def test_errors_in_a_copy_name_the_line_of_the_script():
    dataset = hr.Range(3).map(V.Resize(3), "value")
    messages = []
    for each in (dataset, through_pickle(dataset)):
        with pytest.raises(hr.GraphError) as raised:
            list(each)
        messages.append(str(raised.value))
    assert messages[0] == messages[1] and "test_pickling.py" in messages[0]


def test_tables_of_files_travel_as_their_path(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("path,label\na.txt,1\nb.txt,2\n")
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name)
    dataset = hr.Manifest(table, "path", root=tmp_path)
    pickled = pickle.dumps(dataset)
    assert values(pickle.loads(pickled), "label") == [1, 2]
    table.write_text("path,label\na.txt,1\nb.txt,4\nb.txt,3\n")
    with pytest.raises(hr.GraphError, match=r"table\.csv has changed"):
        list(pickle.loads(pickled))


def test_large_arrays_are_refused_with_a_word_on_files(monkeypatch):
    monkeypatch.setattr(pickling, "MOST_BYTES", 1 << 20)
    small = hr.Numpy({"x": np.arange(1000)})
    assert values(through_pickle(small), "x") == list(range(1000))
    large = hr.Numpy({"x": np.zeros(1 << 18)})
    with pytest.raises(hr.GraphError, match=r"more than 1 MiB \(Numpy: arrays\): write them to files.*hr\.Npy"):
        pickle.dumps(large)
    table = np.zeros(1 << 18)
    with pytest.raises(hr.GraphError, match=r"more than 1 MiB \(map: .*partial"):
        pickle.dumps(hr.Range(2).map(functools.partial(lambda table, x: table[x], table), "value"))
    texts = np.array(["x" * (1 << 21)], object)
    with pytest.raises(hr.GraphError, match="more than 1 MiB"):
        pickle.dumps(hr.Numpy({"x": texts}))


def test_arrays_in_a_copy_may_be_written_to():
    table = np.arange(4)

    def counted(x):
        table[x] += 1
        return table[x]

    again = through_pickle(hr.Range(4).map(counted, "value"))
    assert values(again) == [1, 2, 3, 4] and table.tolist() == [0, 1, 2, 3]


def test_what_cannot_be_pickled_is_named():
    level = hr.parameter("level", default=1.0)

    def scaled(x, by=level):
        return x * by

    with pytest.raises(hr.GraphError, match=r'map: .*scaled cannot be pickled: hr\.parameter\("level"\)'):
        pickle.dumps(hr.Range(3).map(scaled, "value"))

    class Rows:
        def __len__(self):
            return 1

        def __getitem__(self, number):
            return {"x": number}

        def __reduce__(self):
            raise TypeError("it has a socket")

    with pytest.raises(hr.GraphError, match=r"from_dataset: .*Rows cannot be pickled: it has a socket"):
        pickle.dumps(hr.from_dataset(Rows()))


def test_settings_of_far_stores_stay():
    dataset = hr.Range(3).options(storage={"s3": {"secret_key": "hush-hush", "access_key": "me"}})
    with pytest.warns(hr.PipelineWarning, match=r"leaves out storage=.*hr\.storage"):
        pickled = pickle.dumps(dataset)
    assert b"hush" not in pickled and b"s3" not in pickled
    assert "storage" not in pickle.loads(pickled)._options


def test_samplers_and_batch_functions_travel():
    class Backwards:
        def size(self, epoch):
            return 4

        def indices(self, epoch, rng):
            return [3, 2, 1, 0]

    dataset = hr.Range(4).sample(Backwards()).batch(lambda info: 1 + info.number, function=lambda value: value[0])
    assert values(through_pickle(dataset)) == values(dataset)


@pytest.mark.torch
def test_samplers_of_torch_travel():
    torch = pytest.importorskip("torch")
    dataset = hr.Range(6).sample(hr.from_sampler(torch.utils.data.RandomSampler(range(6)))).with_seed(3)
    assert values(through_pickle(dataset)) == values(dataset)


def test_tables_of_other_libraries_travel():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"x": [1, 2, 3], "name": ["a", "b", "c"]})
    dataset = hr.Arrow(table, shuffle=True).with_seed(1)
    again = through_pickle(dataset)
    assert values(again, "x") == values(dataset, "x") and again._graph().hash == dataset._graph().hash
    with pytest.raises(hr.GraphError, match="the rows of a stream come once"):
        pickle.dumps(hr.Arrow(iter(table.to_batches())))


def test_tables_of_pandas_are_not_kept_for_pickles():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [1, 2, 3]})
    dataset = hr.Arrow(frame)
    assert values(through_pickle(dataset), "x") == [1, 2, 3]
    gone = weakref.ref(frame)
    del frame
    assert gone() is None
    with pytest.raises(hr.GraphError, match="let go of"):
        pickle.dumps(dataset)


def test_deep_copies_share_what_is_the_users():
    table = np.arange(3)
    dataset = hr.Numpy({"x": table}).shuffle(2)
    again = copy.deepcopy({"data": dataset})["data"]
    assert again is not dataset and again._bindings is dataset._bindings
    assert values(again.with_seed(1), "x") == values(dataset.with_seed(1), "x")


def test_joblib_and_cloudpickle_take_it():
    cloudpickle = pytest.importorskip("cloudpickle")
    dataset = hr.Range(5).map(lambda x: x * x, "value")
    assert values(pickle.loads(cloudpickle.dumps(dataset))) == [0, 1, 4, 9, 16]


def test_datasets_of_hugging_face_travel(tmp_path):
    datasets = pytest.importorskip("datasets")
    written = datasets.Dataset.from_dict({"x": list(range(6)), "name": list("abcdef")})
    written.save_to_disk(tmp_path / "set")
    for given in (written.select([4, 2, 0]), datasets.load_from_disk(tmp_path / "set").shuffle(seed=3)):
        dataset = hr.from_huggingface(given)
        assert values(through_pickle(dataset), "x") == values(dataset, "x")
    # A mapped table is pickled as its path.
    assert str(tmp_path).encode() in pickle.dumps(hr.from_huggingface(datasets.load_from_disk(tmp_path / "set")))
