"""`headrace bench`: the speed of a saved pipeline on this machine and these data, part by part, and what limits it."""

import argparse
import dataclasses
import json
import pathlib
import resource
import time
from typing import Any

from headrace._arguments.printed import say_text
from headrace._commands.whole_graph import add_no_writes, load_whole
from headrace._datasets.dataset import Dataset
from headrace._runs.iterator import start
from headrace._runs.ragged import rows_in
from headrace.errors import DataError

# Runs of each part of the pipeline, of which the best counts, and the most seconds of one run.
_PART_TURNS = 3
_PART_SECONDS = 0.7
_OTHERWISE_SECONDS = 10.0


@dataclasses.dataclass
class Limits:
    """When to stop: at the first limit reached."""

    seconds: float | None = None
    """Counted from the first batch, as finding the files may take long."""
    batches: int | None = None
    epochs: int | None = None


@dataclasses.dataclass
class Measured:
    """One run. Items are rows, including those in batches; times are in seconds."""

    items: int
    batches: int
    seconds: float
    first_items: int
    first_seconds: float
    report: dict[str, Any]

    @property
    def rate(self) -> float:
        """Items per second after the first batch, or including it if it is the only one."""
        if self.items > self.first_items and self.seconds > self.first_seconds:
            return (self.items - self.first_items) / (self.seconds - self.first_seconds)
        return self.items / self.seconds


def _is_batched(dataset: Dataset) -> bool:
    op = dataset._node.op
    if op in ("batch", "unbatch") or not dataset._inputs:
        return op == "batch"
    return _is_batched(dataset._inputs[0])


def _items_of(row: dict[str, Any], batched: bool) -> int:
    return (rows_in(row) or 1) if batched else 1


def measure(dataset: Dataset, limits: Limits, step_seconds: float = 0.0, keep: bool = True) -> Measured:
    """Runs epochs one after the other, like a training loop whose step takes `step_seconds`.

    Without `keep` there is no automatic cache: every row that no `cache()` holds is made again in each epoch.
    """
    if not keep:
        anew = {"epoch": dataset.epoch, "endless": True, "disabled_passes": ["insert_caches"]}
        dataset._park(start(*dataset._bound_graph(anew)))
    batched = _is_batched(dataset)
    items = batches = first_items = epochs = 0
    first_seconds = 0.0
    begin = time.perf_counter()

    def over() -> bool:
        return (
            (limits.seconds is not None and time.perf_counter() - begin - first_seconds >= limits.seconds)
            or (limits.batches is not None and batches >= limits.batches)
            or (limits.epochs is not None and epochs >= limits.epochs)
        )

    while True:
        given_before = batches
        with iter(dataset) as rows:
            engine = rows._engine
            assert engine is not None
            for row in rows:
                items += _items_of(row, batched)
                batches += 1
                if batches == 1:
                    first_items, first_seconds = items, time.perf_counter() - begin
                if step_seconds > 0:
                    time.sleep(step_seconds)
                if over():
                    break
        epochs += 1
        if batches == given_before:
            raise DataError("bench: the pipeline gives no rows")
        if over():
            seconds = time.perf_counter() - begin
            report = engine.report()
            # After an epoch that ran to its end, the engine is kept for the next one.
            dataset._drop_parked()
            return Measured(items, batches, seconds, first_items, first_seconds, report)


def _parts(dataset: Dataset) -> list[tuple[str, Dataset]]:
    """The pipeline up to each of its operators, starting at the source (or at the operator that joins several)."""
    parts: list[tuple[str, Dataset]] = []
    while True:
        part = dataset._copy()
        while dataset._node.stands_for_attribute:  # a part of the operator with the attribute
            (dataset,) = dataset._inputs
        steps = [step.partition("(")[0] for step in dataset._node.steps]
        parts.append((dataset._node.op + (f" ({', '.join(steps)})" if steps else ""), part))
        if len(dataset._inputs) != 1:
            return parts[::-1]
        (dataset,) = dataset._inputs


def _measure_parts(dataset: Dataset, seconds: float) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    before = 0.0
    limits = Limits(seconds=min(seconds, _PART_SECONDS))
    parts = _parts(dataset)
    rates = [0.0] * len(parts)
    for _ in range(_PART_TURNS):
        for number, (_, part) in enumerate(parts):
            rates[number] = max(rates[number], measure(part, limits, keep=False).rate)
    for (name, _), rate in zip(parts, rates, strict=True):
        found.append({"name": name, "items_per_second": rate, "adds_us": (1 / rate - before) * 1e6})
        before = 1 / rate
    return found


def _status_bytes(field: str) -> int:
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return 0


def _bytes_from_disk() -> int | None:
    """Bytes that this process read from devices, not from the page cache; None if the system does not tell."""
    try:
        lines = pathlib.Path("/proc/self/io").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("read_bytes:")), None)


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def bench(path: str, limits: Limits, step_seconds: float = 0.0, writes: bool = True) -> dict[str, Any]:
    """Measures the graph saved at `path`. UnsupportedError if it names Python functions or arrays; `writes` as for
    `load`."""
    dataset = load_whole(path, "bench", "measure it where they are, with ds.profile(path) in your script", writes)
    if limits == Limits():
        limits = Limits(seconds=_OTHERWISE_SECONDS)
    resident = _status_bytes("VmRSS")
    cpu, disk = _cpu_seconds(), _bytes_from_disk()
    run = measure(dataset, limits, step_seconds)
    cpu = _cpu_seconds() - cpu
    disk_now = _bytes_from_disk()
    peak = _status_bytes("VmHWM")
    return {
        "graph": path,
        "unit": "images" if any("Image" in name for name, _ in _parts(dataset)) else "rows",
        "items": run.items,
        "batches": run.batches,
        "seconds": run.seconds,
        "items_per_second": run.rate,
        "batches_per_second": run.rate * run.batches / run.items,
        "first_batch_seconds": run.first_seconds,
        "cpu_seconds_per_1000_items": cpu / run.items * 1000,
        "peak_resident_bytes": peak,
        "resident_growth_bytes": max(0, peak - resident),
        "engine_peak_bytes": run.report["peak_bytes"],
        "disk_bytes": None if disk is None or disk_now is None else disk_now - disk,
        "limit": run.report["limit"],
        "advice": run.report["advice"],
        "workers": run.report["workers"],
        "stages": run.report["stages"],
        "parts": _measure_parts(dataset, run.seconds),
    }


def text_of(found: dict[str, Any]) -> str:
    unit = found["unit"]
    mebibyte = 1 << 20
    disk = found["disk_bytes"]
    from_disk = "" if disk is None else f", {disk / mebibyte:,.1f} MiB of it read from disk"
    lines = [
        f"{found['items_per_second']:,.0f} {unit} a second ({found['batches_per_second']:,.1f} batches), "
        f"{found['items']:,} {unit} in {found['seconds']:.2f} s{from_disk}",
        f"first batch after {found['first_batch_seconds'] * 1e3:,.1f} ms; "
        f"CPU {found['cpu_seconds_per_1000_items']:.3f} s for 1,000 {unit}, {found['workers']} workers",
        f"memory: {found['peak_resident_bytes'] / mebibyte:,.0f} MiB at most, "
        f"{found['resident_growth_bytes'] / mebibyte:,.0f} MiB of it since the start",
        "",
        f"{unit + ' a second':>20} {'adds':>12}   the pipeline up to",
    ]
    lines += [
        f"{part['items_per_second']:20,.0f} {part['adds_us']:9,.1f} µs   {part['name']}" for part in found["parts"]
    ]
    wall = found["seconds"]
    lines += ["", f"{'busy':>20} {'no input':>12} {'no slot':>10}   stage (of the time, summed over its tasks)"]
    lines += [
        f"{stage['busy_s'] / wall:20.0%} {stage['input_wait_s'] / wall:12.0%} {stage['output_wait_s'] / wall:10.0%}"
        f"   {stage['name']}"
        for stage in found["stages"]
    ]
    return "\n".join([*lines, "", *found["advice"]])


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", metavar="GRAPH", help="what Dataset.save() or Dataset.to_json() gave")
    command.add_argument("--epochs", type=_positive_int, help="stop after so many")
    command.add_argument(
        "--seconds", type=_positive, help="stop this long after the first batch; 10 if no limit is given"
    )
    command.add_argument("--batches", type=_positive_int, help="stop after so many")
    command.add_argument(
        "--step", type=_positive, metavar="MS", default=0.0, help="milliseconds that your loop takes for a batch"
    )
    command.add_argument("--json", action="store_true", help="all figures as JSON")
    add_no_writes(command)


def _positive(text: str) -> float:
    number = float(text)
    if not number > 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def _positive_int(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def run(options: argparse.Namespace) -> int:
    limits = Limits(options.seconds, options.batches, options.epochs)
    found = bench(options.file, limits, options.step / 1e3, options.writes)
    say_text(json.dumps(found, indent=1) if options.json else text_of(found))
    return 0
