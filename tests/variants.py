"""The ways to run a pipeline that must not change a byte of its result."""

import json
from collections.abc import Callable
from typing import Any

import headrace as hr
from headrace import _engine
from headrace._runs.iterator import start
from tests.running import Outcome, read, read_all, read_restoring

Variant = Callable[..., Outcome]

PASSES = [each["name"] for each in json.loads(_engine.declarations())["passes"]]


def with_options(**options: Any) -> Variant:
    return lambda dataset, **run: read_all(dataset, **options, **run)


def restored_every(step: int, **options: Any) -> Variant:
    return lambda dataset, **run: read_restoring(dataset, step, **options, **run)[0]


def restored_across_executors(dataset: hr.Dataset, **run: Any) -> Outcome:
    """Each state is taken by an iterator with other options than the iterator that resumes from it."""
    ways: list[dict[str, Any]] = [
        {},
        {"executor": "pull"},
        {"optimize": False},
        {"workers": 1, "window": 1},
        {"workers": 7, "memory": "8MiB"},
        {"group": 5},
    ]
    outcome = Outcome([])
    state = None
    while True:
        way = ways[len(outcome.rows) % len(ways)]
        with dataset.iterate(state=state, **way, **run) as iterator:
            part = read(iterator, 1)
            state = iterator.state() if part.failure is None else None
        outcome.rows += part.rows
        outcome.failure = part.failure
        if not part.rows:
            return outcome


def iterated(dataset: hr.Dataset, seed: int, epoch: int) -> Outcome:
    """Like a training loop: `for row in dataset`, after other epochs by the same engine."""
    return _after_another_epoch(dataset.with_seed(seed), epoch)


def kept_at(point: int) -> Variant:
    """As `iterated`, with maps that keep their rows at the cache point, from which the second epoch continues."""

    def run(dataset: hr.Dataset, seed: int, epoch: int) -> Outcome:
        with_seed = dataset.with_seed(seed)
        options = {"epoch": epoch - 1, "endless": True, "choose_cache_point": lambda points: point}
        with_seed._park(start(*with_seed._bound_graph(options)))
        return _after_another_epoch(with_seed, epoch)

    return run


def _after_another_epoch(with_seed: hr.Dataset, epoch: int) -> Outcome:
    with_seed.epoch = epoch - 1
    before = read(iter(with_seed))
    if before.failure is not None or not before.rows:
        with_seed.epoch = epoch
    return read(iter(with_seed))


# By what they change.
KINDS: dict[str, dict[str, Variant]] = {
    "passes": {
        "unoptimized": with_options(optimize=False),
        **{f"without_{name}": with_options(disabled_passes=[name]) for name in PASSES},
    },
    "workers": {
        "one_worker": with_options(workers=1),
        "seven_workers": with_options(workers=7),
        "window_of_one": with_options(window=1),
        "window_of_one_and_one_worker": with_options(window=1, workers=1),
        "window_of_three_and_seven_workers": with_options(window=3, workers=7),
    },
    "messages": {
        "rows_by_twos": with_options(group=2),
        "rows_by_hundreds_and_one_worker": with_options(group=100, workers=1),
        "rows_alone": with_options(group=1),
        "small_memory": with_options(memory="8MiB"),
    },
    "executor": {
        "pulled": with_options(executor="pull"),
        "pulled_and_unoptimized": with_options(executor="pull", optimize=False),
    },
    "epochs": {
        "iterated": iterated,
        "kept_at_the_source": kept_at(0),
        "kept_after_a_step": kept_at(1),
        "kept_as_late_as_may_be": kept_at(99),
    },
    "states": {
        "restored_at_every_step": restored_every(1),
        "restored_at_every_step_pulled": restored_every(1, executor="pull"),
        "restored_at_every_third_step": restored_every(3),
        "restored_at_every_third_step_rows_by_sevens": restored_every(3, group=7),
        "restored_across_executors": restored_across_executors,
    },
    "device": {
        "on_a_device": with_options(device="cpu:0"),
        "restored_at_every_third_step_on_a_device": restored_every(3, device="cpu:0", device_depth=1),
    },
}
VARIANTS: dict[str, Variant] = {name: variant for kind in KINDS.values() for name, variant in kind.items()}
