"""Options kept with a dataset, and the warning of a loop that repeats one epoch."""

import inspect
import pathlib
import re
import warnings

import numpy as np
import pytest
from conftest import values

import headrace as hr
from headrace import transforms as T


def shuffled() -> hr.Dataset:
    return hr.Range(12, shuffle=True).batch(3)


# ---- what they do ----


def test_a_plain_loop_has_the_options_and_advances_the_epoch():
    parts = [shuffled().options(shard=(rank, 2), as_="dlpack") for rank in range(2)]
    for epoch in range(3):
        expected = [values(shuffled().iterate(epoch=epoch, shard=(rank, 2))) for rank in range(2)]
        batches = [list(part) for part in parts]
        assert [
            np.concatenate([np.from_dlpack(batch["value"]) for batch in each]).tolist() for each in batches
        ] == expected
    assert [part.epoch for part in parts] == [3, 3]


def test_a_plain_loop_with_options_goes_on_with_one_engine():
    begun = []

    def rows(epoch):
        begun.append(epoch)
        yield from range(5)

    pipeline = hr.Generator(rows, {"value": "int64"}).batch(2).options(workers=1, window=2)
    for epoch in range(3):
        assert values(pipeline) == [0, 1, 2, 3, 4]
        assert begun == list(range(epoch + 1))


def test_a_plain_loop_with_options_keeps_caches():
    calls = []

    def note(x):
        calls.append(int(x))
        return x

    pipeline = hr.Range(4).map(note, "value").cache().options(memory="64MiB")
    for _ in range(3):
        assert values(pipeline) == [0, 1, 2, 3]
    assert calls == [0, 1, 2, 3]


def test_derived_datasets_keep_the_options():
    numbers = hr.Range(12).options(shard=(1, 3))
    derived = numbers.map(T.TypeCast("int32"), "value").batch(2)
    assert values(derived) == values(derived.iterate()) == [1, 4, 7, 10]
    assert values(derived.with_seed(3)) == [1, 4, 7, 10]
    assert values(hr.Range(12).batch(2)) == list(range(12))


def test_iterates_own_arguments_win():
    numbers = hr.Range(6).options(shard=(0, 2), as_="dlpack", executor="pull")
    rows = list(numbers.iterate(shard=(1, 2), as_="numpy"))
    assert [int(row["value"]) for row in rows] == [1, 3, 5]
    assert isinstance(rows[0]["value"], np.ndarray)


def test_the_later_of_two_values_holds_and_none_gives_the_default_back():
    numbers = hr.Range(6).options(shard=(0, 2), workers=1)
    assert values(numbers.options(shard=(1, 2))) == [1, 3, 5]
    assert values(numbers.options(shard=None)) == [0, 1, 2, 3, 4, 5]
    assert values(numbers) == [0, 2, 4]


def test_a_seed_among_the_options_is_that_of_iterate():
    pipeline = shuffled().with_seed(3).options(seed=7)
    assert values(pipeline) == values(shuffled().iterate(seed=7))
    assert values(pipeline.with_seed(8).iterate()) == values(shuffled().iterate(seed=7))
    assert values(pipeline.iterate(seed=1, epoch=0)) == values(shuffled().iterate(seed=1))


def test_a_state_goes_on_with_the_options():
    pipeline = shuffled().options(shard=(0, 2), even="pad", seed=5)
    it = iter(pipeline)
    next(it)
    state = it.state()
    assert values(pipeline.iterate(state=state)) == values(it)
    with pytest.raises(hr.StateError):
        shuffled().options(seed=6).iterate(state=state, shard=(0, 2))


@pytest.mark.torch
def test_a_torch_loop():
    torch = pytest.importorskip("torch")
    for batch in hr.Range(4).batch(2).options(as_="torch"):
        assert isinstance(batch["value"], torch.Tensor)


def test_a_profile_of_each_epoch_replaces_the_one_before(tmp_path):
    pipeline = hr.Range(6).batch(2).options(profile=tmp_path, profile_events=100)
    written = []
    for _ in range(2):
        assert values(pipeline) == [0, 1, 2, 3, 4, 5]
        written.append((tmp_path / "trace.json").read_text())
    assert all(written) and written[0] != written[1]
    assert pipeline.epoch == 2


def test_graphs_have_no_options(tmp_path):
    plain = hr.Range(6).batch(2)
    kept = plain.options(shard=(0, 2), workers=3)
    assert kept.to_json() == plain.to_json()
    kept.save(tmp_path / "kept.hrg")
    assert values(hr.load(tmp_path / "kept.hrg")) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("even", ["off", "drop", "pad"])
def test_len_counts_the_rows_of_the_rank(even):
    for rows in (0, 1, 5, 12, 13):
        pipelines = [
            hr.Range(rows),
            hr.Range(rows).take(7).batch(2),
            hr.Range(rows).map(T.TypeCast("int32"), "value").skip(1).repeat(3).batch(2, drop_remainder=True),
            hr.Range(rows).shuffle(3).zip(hr.Range(rows).rename({"value": "other"}).shuffle(2)) if rows > 3 else None,
            hr.Range(rows).concat(hr.Range(4).shuffle(2)),
        ]
        for pipeline in filter(None, pipelines):
            for rank in range(3):
                mine = pipeline.options(shard=(rank, 3), even=even)
                try:
                    expected = len(list(mine))
                except hr.Error:
                    continue
                assert len(mine) == expected, (rows, mine, rank)
    assert len(hr.Range(9)) == 9
    with pytest.raises(TypeError, match="endless"):
        len(hr.Range(3).repeat().options(shard=(0, 2)))


# ---- what is said of them ----


def line_of(marker: str) -> str:
    text = pathlib.Path(__file__).read_text().split("\n")
    return f"test_options.py:{next(i for i, line in enumerate(text, 1) if line.endswith(marker))}"


def test_explain_shows_them_with_their_lines():
    first = hr.Range(6).options(workers=2, as_="dlpack")  # the first options
    pipeline = first.batch(2).options(memory="64MiB")  # the second options
    for text in (pipeline.explain(), [list(pipeline), pipeline.explain()][1], iter(pipeline).explain()):
        heading = text.split("\n")[0]
        assert heading.startswith("Options: workers=2, as_='dlpack' (")
        assert line_of("# the first options") in heading and line_of("# the second options") in heading
        assert "memory='64MiB'" in heading
    assert "budget 64.0 MiB" in pipeline.options(memory="64MiB").explain()
    assert "Options" not in hr.Range(6).explain()
    it = pipeline.iterate(workers=1)
    assert "workers" not in it.explain().split("\n")[0]
    it.close()


def test_datasets_with_different_options_are_not_joined():
    one = hr.Range(3).options(workers=2)  # one
    other = hr.Range(3).rename({"value": "other"}).options(workers=3)  # other
    with pytest.raises(hr.GraphError) as caught:
        one.zip(other)
    message = str(caught.value)
    assert message.startswith("zip: the datasets have different options: workers is 2 at ")
    assert f"{line_of('# one')} and 3 at " in message and line_of("# other") in message
    with pytest.raises(hr.GraphError, match="concat: the datasets have different options"):
        one.concat(hr.Range(3).options(workers=1))


def test_datasets_are_joined_where_options_agree_or_one_has_none():
    one = hr.Range(3).options(shard=(0, 2))
    assert values(one.concat(hr.Range(3).options(shard=(0, 2), workers=1))) == [0, 2, 1]
    assert values(one.concat(hr.Range(3))) == [0, 2, 1]
    assert values(hr.Range(3).zip(one.rename({"value": "other"}))) == [0, 2]


def test_they_are_what_iterate_takes_but_epoch_and_state():
    parameters = inspect.signature(hr.Dataset.iterate).parameters
    assert set(parameters) == {"self", "epoch", "start", "stop", "state", "options"}
    assert parameters["options"].annotation == "Unpack[RunParameters]"
    with pytest.raises(TypeError, match=r"iterate\(\) has no parameter worker; did you mean workers\?"):
        hr.Range(3).iterate(worker=1)
    with pytest.raises(
        TypeError, match=r"iterate\(\) has no parameter other; it has epoch, start, stop, state, seed, shard"
    ):
        hr.Range(3).iterate(other=1)
    for name in ("epoch", "start", "stop", "state", "worker"):
        with pytest.raises(TypeError, match=rf"options\(\) has no parameter {name}"):
            hr.Range(3).options(**{name: 1})


def test_a_wrong_option_is_refused_at_once():
    for given, message in [
        ({"workers": 0}, "options: workers is 0; it must be at least 1"),
        ({"as_": "lists"}, "options: as_ is 'lists'; it must be one of 'numpy', 'torch', 'dlpack'"),
        ({"shard": (2, 2)}, r"options: shard is \(2, 2\); ranks go from 0 to 1"),
        ({"memory": "much"}, "options: memory is 'much'; write a number of bytes"),
        ({"cache": 3}, "options: cache is 3; it must be a path"),
    ]:
        with pytest.raises(hr.GraphError, match=message):
            hr.Range(3).options(**given)


# ---- an epoch that is repeated ----


def warnings_of(run) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return [str(warning.message) for warning in caught]


def test_a_loop_of_iterate_over_one_epoch_warns_once():
    pipeline = shuffled()

    def loop(times: int) -> None:
        for _ in range(times):
            for _ in pipeline.iterate(workers=1):
                pass

    assert warnings_of(lambda: loop(2)) == []
    [text] = warnings_of(lambda: loop(5))
    assert re.search(r"epoch 0 3 times.*iterate\(epoch=epoch\).*ds\.options\(…\)", text)
    assert warnings_of(lambda: loop(5)) == []


@pytest.mark.parametrize(
    "loop",
    [
        lambda ds: [list(ds.iterate(epoch=epoch)) for epoch in range(5)],
        lambda ds: [list(ds.iterate(epoch=0)) for _ in range(5)],
        lambda ds: [list(ds) for _ in range(5)],
        lambda ds: [next(ds.iterate()) for _ in range(5)],
        lambda ds: [list(ds.iterate(shard=(rank, 5))) for rank in range(5)],
        lambda ds: [list(ds.iterate(seed=seed)) for seed in range(5)],
        lambda ds: [(list(ds.iterate()), setattr(ds, "epoch", epoch)) for epoch in range(1, 6)],
        lambda ds: [list(ds.iterate(state=ds.iterate(epoch=1).state())) for _ in range(5)],
    ],
)
def test_what_is_no_loop_over_one_epoch_does_not_warn(loop):
    assert warnings_of(lambda: loop(shuffled())) == []


def test_a_pipeline_whose_epochs_are_equal_does_not_warn():
    for pipeline in (hr.Range(4), hr.Numpy(np.arange(4)).batch(2).map(lambda x: x, "data")):
        assert warnings_of(lambda pipeline=pipeline: [list(pipeline.iterate()) for _ in range(5)]) == []
    drawing = hr.Range(4).map(lambda x, rng: x + rng.integers(9), "value")
    assert len(warnings_of(lambda: [list(drawing.iterate()) for _ in range(5)])) == 1


def test_the_warning_names_the_line_of_the_loop():
    pipeline = shuffled()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            for _ in pipeline.iterate():  # the loop
                pass
    [warning] = caught
    assert line_of("# the loop").endswith(f":{warning.lineno}") and warning.filename.endswith("test_options.py")


def test_with_seed_is_named_in_its_error():
    with pytest.raises(hr.GraphError, match="with_seed: seed is 'a'; it must be a whole number"):
        hr.Range(3).with_seed("a")


TRUE_AS_A_NUMBER = {
    "cache": lambda: hr.Range(3).cache(True),
    "memory": lambda: hr.Range(3).iterate(memory=True),
    "device_memory": lambda: hr.Range(3).iterate(device="cpu:0", device_memory=True),
    "seed": lambda: hr.Range(3).iterate(seed=False),
    "with_seed": lambda: hr.Range(3).with_seed(True),
    "epoch": lambda: hr.Range(3).iterate(epoch=True),
    "ds.epoch": lambda: setattr(hr.Range(3), "epoch", True),
    "rank": lambda: hr.Range(3).iterate(shard=(True, 2)),
    "world": lambda: hr.Range(3).iterate(shard=(0, True)),
    "stall_warning": lambda: hr.Range(3).iterate(stall_warning=True),
    "profile_events": lambda: hr.Range(3).iterate(profile_events=True),
    "max_errors": lambda: hr.Range(3).on_error("skip", True),
    "seed of compose": lambda: hr.compose([T.TypeCast("int32")], seed=True),
    "k": lambda: hr.Range(3).kfold(True),
    "fractions": lambda: hr.Range(3).split([True]),
    "size of a batch": lambda: next(iter(hr.Range(3).batch(lambda batch: True))),
    "batch": lambda: hr.Range(3).batch(True).iterate(),
    "take": lambda: hr.Range(3).take(True).iterate(),
}


@pytest.mark.parametrize("name", TRUE_AS_A_NUMBER)
def test_true_is_no_number(name):
    with pytest.raises(hr.GraphError, match="True|False"):
        TRUE_AS_A_NUMBER[name]()
