"""The stages of single operators: `map(…, workers=, window=)` and `Iterator.set_workers`."""

import itertools
import re
import threading
import time

import numpy as np
import pytest
from conftest import values

import headrace as hr
from headrace import transforms as T


def cast(ds: hr.Dataset, **options) -> hr.Dataset:
    return ds.map(T.TypeCast("float32"), "value", **options)


def rounded(ds: hr.Dataset, **options) -> hr.Dataset:
    return ds.map(T.TypeCast("int16"), "value", **options)


def line_of(text: str, stage: str) -> str:
    """The line of the plan that has a stage."""
    return next(line for line in text.splitlines() if stage in line)


class Crowd:
    """A function whose calls, but for the first row's, wait until as many are inside as are wanted."""

    def __init__(self, wanted: int) -> None:
        self.changed = threading.Condition()
        self.inside = self.widest = 0
        self.wanted = wanted

    def __call__(self, value):
        if value == 0:
            time.sleep(0.002)  # So the engine takes no several rows in one task.
            return value
        with self.changed:
            self.inside += 1
            self.widest = max(self.widest, self.inside)
            self.changed.notify_all()
            assert self.changed.wait_for(lambda: self.widest >= self.wanted, 60)
            self.inside -= 1
        return value


# ---- before the run ----


def test_a_map_has_its_own_workers_and_window():
    text = cast(hr.Range(9), workers=1, window=5).explain()
    assert re.search(r"window 5, .*fixed by map\[1\]: workers=1 \(\d+ without it\), window=5 \(128 without it\)", text)
    assert "window 128" in line_of(text, "Range[0]")
    assert "fixed" not in cast(hr.Range(9)).explain()
    assert "fixed by map[1]: window=3 (128 without it)" in cast(hr.Range(9), window=3).explain()


def test_fused_maps_take_the_smaller_number():
    both = rounded(cast(hr.Range(9), workers=4, window=9), workers=2)
    text = both.explain()
    assert "fixed by map[1] and map[2], the smaller number holds: workers=2" in text and "window=9" in text
    apart = both.iterate(optimize=False)
    assert values(apart) == list(range(9))
    assert (
        "map[1]: fixed by map[1]: workers=4" in apart.explain()
        and "map[2]: fixed by map[2]: workers=2" in apart.explain()
    )


def test_limits_stay_with_their_map_where_the_graph_is_rearranged():
    train, _ = hr.Range(40).map(T.TypeCast("int32"), "value", workers=1).split([0.5, 0.5])
    text = cast(train.shuffle(3), window=7).options(optimize=False).explain()
    assert len(re.findall("fixed by", text)) == 2
    assert re.search(r"map\[\d\] .*fixed by map\[\d\]: workers=1", text)
    assert re.search(r"map\[\d\] .*window 7, .*fixed by map\[\d\]: window=7", text)


def test_the_smaller_of_the_maps_and_the_runs_workers_holds():
    it = cast(hr.Range(9), workers=3).iterate(workers=1)
    assert values(it) == list(range(9))
    assert {stage["name"]: stage["cap"] for stage in it.report()["stages"]}["map[1]"] == 1


@pytest.mark.parametrize("name", ["workers", "window"])
@pytest.mark.parametrize(
    ("given", "why"),
    [
        (0, "is 0; it must be at least 1"),
        (-1, "is -1; it must be at least 1"),
        (2**31, "it must be at most 1,048,576"),
        ("3", "is '3'; it must be a whole number"),
        (True, "is True; it must be a whole number"),
        (2.0, "is 2.0; it must be a whole number"),
    ],
)
def test_what_is_no_number_of_workers_is_refused(name, given, why):
    with pytest.raises(hr.GraphError, match=f"map: {name} {why}" if why.startswith("is") else why):
        cast(hr.Range(3), **{name: given})


def test_functions_in_order_have_one_worker():
    ds = hr.Range(5)
    with pytest.raises(hr.GraphError, match=r"in row order, one row at a time, and workers is 2; give ordered=False"):
        ds.map(lambda x: x, "value", workers=2)
    with pytest.raises(hr.GraphError, match=r"processes=2 says how many calls .* leave workers out"):
        ds.map(lambda x: x, "value", processes=2, workers=2)
    assert values(ds.map(lambda x: x, "value", workers=1)) == list(range(5))


def test_functions_in_any_order_have_as_many_threads():
    crowd = Crowd(3)
    with hr.Range(40).map(crowd, "value", ordered=False, workers=3).iterate() as it:
        assert values(it) == list(range(40))
    assert crowd.widest == 3


# ---- during the run ----


def test_raising_the_number_acts_while_the_loop_waits():
    crowd = Crowd(3)
    it = hr.Range(40).map(crowd, "value", ordered=False, workers=1).iterate()
    assert next(it)["value"] == 0
    given = []
    loop = threading.Thread(target=lambda: given.extend(values(it)))
    loop.start()
    with crowd.changed:
        assert crowd.changed.wait_for(lambda: crowd.inside == 1, 60)
    assert crowd.widest == 1
    it.set_workers("map[1]", 3)
    loop.join()
    assert given == list(range(1, 40)) and crowd.widest == 3
    assert "map[1]: at most 3 at once, by set_workers" in it.explain()


def test_set_workers_names_what_there_is():
    with hr.Range(9).map(T.TypeCast("float32"), "value").batch(2).iterate() as it:
        with pytest.raises(
            hr.GraphError, match=r'called "map\[7\]"; those that do are batch\[2\], map\[1\], Range\[0\]'
        ):
            it.set_workers("map[7]", 2)
        with pytest.raises(hr.UnsupportedError, match=r"batch\[2\] cannot have 2 workers: it takes its rows one after"):
            it.set_workers("batch[2]", 2)
        for given in (0, -1, 2**31, "3", True):
            with pytest.raises(hr.GraphError, match="set_workers: workers is"):
                it.set_workers("map[1]", given)
        with pytest.raises(hr.GraphError, match="set_workers: operator is 1; it must be a text"):
            it.set_workers(1, 1)


def test_functions_in_order_stay_in_order():
    with hr.Range(9).map(lambda x: x, "value").iterate() as it:
        it.set_workers("map[1]", 1)
        with pytest.raises(hr.UnsupportedError, match=r"one row after the other; map\(…, ordered=False\)"):
            it.set_workers("map[1]", 2)


def test_an_iterator_that_ended_has_no_workers():
    ended = iter(cast(hr.Range(3)))
    assert values(ended) == [0, 1, 2]
    with pytest.raises(hr.ClosedError, match="set_workers: the iterator has ended"):
        ended.set_workers("map[1]", 2)
    closed = iter(cast(hr.Range(3)))
    closed.close()
    with pytest.raises(hr.ClosedError, match="set_workers"):
        closed.set_workers("map[1]", 2)


def test_what_is_set_ends_with_its_iterator():
    ds = cast(hr.Range(30))
    first = iter(ds)
    first.set_workers("map[1]", 1)
    values(first)
    assert "by set_workers" in first.explain()
    second = iter(ds)
    values(second)
    assert "by set_workers" not in second.explain()


def test_fused_operators_keep_their_names():
    with rounded(cast(hr.Range(9))).iterate() as it:
        it.set_workers("map[2]", 1)
        assert "map[1]: at most 1 at once, by set_workers" in it.explain()


@pytest.mark.parametrize("run", [{"executor": "pull"}, {"device": "cpu:0"}])
def test_rows_are_the_same_under_every_executor(run):
    with cast(hr.Range(20), workers=2, window=2).batch(3).iterate(**run) as it:
        given = next(it)["value"].tolist()
        it.set_workers("map[1]", 1)
        given += values(it)
    assert given == list(range(20))


# ---- options of a run ----


def test_they_are_no_part_of_the_graph(tmp_path):
    fixed = cast(hr.Range(9), workers=2, window=3)
    assert fixed._graph().hash == cast(hr.Range(9))._graph().hash
    locations = re.compile(r'"line": *\d+')
    assert locations.sub("", fixed.to_json()) == locations.sub("", cast(hr.Range(9)).to_json())
    fixed.save(tmp_path / "fixed.hrg")
    assert "fixed" not in hr.load(tmp_path / "fixed.hrg").explain()


def drawing(**options) -> hr.Dataset:
    return hr.Range(60, shuffle=True).map(lambda x, rng: x + rng.random(), "value", **options).shuffle(7).batch(4)


def test_states_fit_whatever_the_workers():
    expected = values(drawing(ordered=False).iterate(seed=3))
    ways = [{}, {"workers": 1}, {"workers": 3, "window": 2}, {"window": 1}]
    for before, after in itertools.product(ways, ways):
        with drawing(ordered=False, **before).iterate(seed=3) as it:
            given = [value for _ in range(5) for value in next(it)["value"].tolist()]
            state = it.state()
        given += values(drawing(ordered=False, **after).iterate(state=state))
        assert given == expected


def test_caches_are_found_whatever_the_workers(tmp_path):
    def images(**options) -> hr.Dataset:
        rows = hr.Numpy({"x": np.arange(40).reshape(20, 2)}).map(T.TypeCast("float32"), "x", **options)
        return rows.cache(directory=tmp_path / "cache")

    assert len(list(images())) == 20
    files = sorted(each.name for each in (tmp_path / "cache").rglob("*"))
    with images(workers=1, window=2).iterate() as again:
        assert len(list(again)) == 20
        assert "20 found, 0 made" in again.explain()
    assert sorted(each.name for each in (tmp_path / "cache").rglob("*")) == files
