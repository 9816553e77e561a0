"""Profiles: their trace and page, and that they change no row."""

import html.parser
import json
import time
import xml.etree.ElementTree

import numpy as np
import pytest
from conftest import values

import headrace as hr
from headrace import vision as V


def images(photos):
    return (
        hr.ImageFolder(str(photos), shuffle=True)
        .map([V.Decode(), V.RandomResizedCrop(32), V.RandomHorizontalFlip()], "image")
        .repeat(8)
        .batch(4)
    )


def trace_of(path):
    return json.loads(path.read_text())


def named(trace, kind):
    return {event["args"]["name"] for event in trace["traceEvents"] if event["ph"] == "M" and event["name"] == kind}


def test_writes_a_trace_with_a_track_for_each_thread_and_connector(photos, tmp_path):
    began = time.perf_counter()
    with images(photos).profile(tmp_path / "out") as batches:
        given = sum(1 for _ in batches)
        tree = batches.explain().splitlines()[2:]
        tree = tree[:1] + [line for line in tree if line.strip().startswith("└─")]
        stages = [line.strip(" └─").split("  ")[0] for line in tree]
    took_us = (time.perf_counter() - began) * 1e6
    assert given == 24
    trace = trace_of(tmp_path / "out" / "trace.json")
    threads = named(trace, "thread_name")
    assert "user's loop" in threads and "worker 1" in threads and "file reader 1" in threads
    tasks = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert {event["tid"] for event in tasks} == set(range(1, len(threads) + 1))
    assert len(stages) == 3
    assert {event["name"] for event in tasks} == {*stages, "waits for data"}
    counters = {event["name"] for event in trace["traceEvents"] if event["ph"] == "C"}
    assert counters == {"memory held", *(f"queue after {stage}" for stage in stages)}
    assert trace["otherData"]["dropped_tasks"] == 0
    wall = trace["otherData"]["wall_us"]
    assert wall <= took_us
    for event in tasks:
        assert event["ts"] >= 0 and event["ts"] + event["dur"] <= wall + 0.01
    assert sum(event["args"]["messages"] for event in tasks if event["name"].startswith("map")) >= 96


def test_tasks_of_a_thread_do_not_overlap(photos, tmp_path):
    assert len(list(images(photos).iterate(profile=tmp_path))) == 24
    ends = {}
    events = [event for event in trace_of(tmp_path / "trace.json")["traceEvents"] if event["ph"] == "X"]
    waits = [event for event in events if event["name"] == "waits for data"]
    tasks = [event for event in events if event["name"] != "waits for data"]
    for event in sorted(tasks, key=lambda event: event["ts"]):
        assert event["ts"] >= ends.get(event["tid"], 0) - 0.01
        ends[event["tid"]] = event["ts"] + event["dur"]
    # A waiting thread may run tasks: a viewer draws them inside the wait.
    for event in tasks:
        if event["tid"] == waits[0]["tid"]:
            wait = max((wait for wait in waits if wait["ts"] <= event["ts"] + 0.01), key=lambda wait: wait["ts"])
            assert event["ts"] + event["dur"] <= wait["ts"] + wait["dur"] + 0.01


class TagCheck(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.loads = [], []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.loads += [value for name, value in attributes if name in ("src", "href")]

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_names_every_stage(photos, tmp_path):
    with images(photos).profile(tmp_path) as batches:
        for _ in batches:
            pass
    text = (tmp_path / "report.html").read_text()
    check = TagCheck()
    check.feed(text)
    assert check.open == [] and check.loads == []
    root = xml.etree.ElementTree.fromstring(text.replace("<!DOCTYPE html>", ""))
    cells = [cell.text for cell in root.iter("td") if cell.get("class") == "tree"]
    assert len(cells) == 3
    for name in ("ImageFolder[0]", "map[1]", "batch[3]"):
        assert any(name in cell for cell in cells)
    assert "http" not in text and "<script" not in text
    assert len(root.findall(".//polyline")) == 4  # three queues and the memory
    assert [heading.text for heading in root.iter("h2")][0] == "What limits it"
    assert len(root.findall(".//li")) >= 2


@pytest.mark.parametrize("executor", ["threads", "pull"])
def test_batches_on_a_device_show_their_way(tmp_path, executor):
    numbers = hr.Range(40).batch(4).to_device("cpu:0")
    with numbers.profile(tmp_path, as_="dlpack", executor=executor) as batches:
        kept = [batch for number, batch in enumerate(batches) if number == 9]
    trace = trace_of(tmp_path / "trace.json")
    assert named(trace, "process_name") == {"threads", "connectors", "batches on cpu:0"}
    moments = {}
    for event in trace["traceEvents"]:
        if event.get("cat") == "batches":
            moments.setdefault(event["id"], []).append((event["name"], event["ph"], event["ts"]))
    assert sorted(moments) == list(range(10))
    wall = trace["otherData"]["wall_us"]
    for number, each in moments.items():
        parts = [(name, kind) for name, kind, _ in each]
        assert parts == [(name, kind) for name in ("copy", "ready", "with the loop") for kind in "be"]
        times = [at for _, _, at in each]
        assert times == sorted(times)
        assert (times[-1] > wall - 0.01) == (number == 9)
    assert kept
    page = (tmp_path / "report.html").read_text()
    assert "The device over time" in page and "10 batches, 320 B, were sent to cpu:0" in page


def test_the_page_counts_rows_where_batches_have_them(tmp_path):
    for dataset, text in [
        (hr.Range(9).batch(4), "9 rows in 3 batches delivered"),
        (hr.Range(9), "<p>9 delivered"),
        (hr.Range(9).batch(4).map(lambda value: value[:1], "value"), "<p>3 delivered"),
    ]:
        with dataset.profile(tmp_path) as rows:
            for _ in rows:
                pass
        assert text in (tmp_path / "report.html").read_text()
    with hr.Range(9).batch(4).iterate() as batches:
        next(batches)
        assert "% for data" in batches.explain().replace(")", "").splitlines()[0]


def test_rows_are_the_same_with_and_without(photos, tmp_path):
    for options in ({}, {"executor": "pull"}, {"window": 1}, {"workers": 1}):
        plain = [batch["image"] for batch in images(photos).iterate(**options)]
        profiled = [batch["image"] for batch in images(photos).profile(tmp_path, **options)]
        assert all(np.array_equal(a, b) for a, b in zip(plain, profiled, strict=True))


def test_the_bound_holds_and_what_is_missing_is_counted(tmp_path):
    dataset = hr.Range(2000).map(lambda value: value, "value")
    assert values(dataset.profile(tmp_path, profile_events=50)) == list(range(2000))
    trace = trace_of(tmp_path / "trace.json")
    per_thread = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            per_thread[event["tid"]] = per_thread.get(event["tid"], 0) + 1
    assert max(per_thread.values()) == 50
    assert trace["otherData"]["dropped_tasks"] > 1000
    assert "are missing from the charts" in (tmp_path / "report.html").read_text()


def test_python_threads_have_tracks(tmp_path):
    values(hr.Range(20).map(lambda value: value + 1, "value").profile(tmp_path))
    trace = trace_of(tmp_path / "trace.json")
    assert "Python thread 1" in named(trace, "thread_name")


def test_it_is_written_when_the_loop_is_left_or_fails(tmp_path):
    with hr.Range(1000).batch(2).profile(tmp_path / "left") as batches:
        next(batches)
    assert trace_of(tmp_path / "left" / "trace.json")["traceEvents"]

    def fail(value):
        raise ValueError("no")

    with pytest.raises(hr.FunctionError), hr.Range(10).map(fail, "value").profile(tmp_path / "failed") as batches:
        next(batches)
    assert trace_of(tmp_path / "failed" / "trace.json")["traceEvents"]


def test_a_path_may_name_the_files(tmp_path):
    for ending in (".json", ".html"):
        values(hr.Range(3).profile(str(tmp_path / f"run{ending[1:]}{ending}")))
        for each in (".json", ".html"):
            assert (tmp_path / f"run{ending[1:]}{each}").stat().st_size > 0


def test_a_place_that_cannot_be_written_to_is_refused_before_the_run(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(hr.NotFoundError, match="profile: cannot write to .*file"):
        hr.Range(3).profile(tmp_path / "file")
    with pytest.raises(hr.UnsupportedError, match="no file system for nosuch://"):
        hr.Range(3).profile("nosuch://bucket/profile")
    with pytest.raises(hr.GraphError, match="the path is 3"):
        hr.Range(3).profile(3)
    with pytest.raises(hr.GraphError, match="profile_events is 0"):
        hr.Range(3).profile(tmp_path, profile_events=0)


def test_without_a_profile_nothing_is_taken():
    with hr.Range(3).iterate() as rows:
        engine = rows._engine
        next(rows)
    trace = json.loads(engine.profile()[0])
    assert [event for event in trace["traceEvents"] if event["ph"] == "X"] == []
