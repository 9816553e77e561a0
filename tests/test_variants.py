"""Every pipeline gives the same bytes, and the same error, in every way of running it."""

import concurrent.futures
import functools
import pathlib
import random
import re

import pytest

import headrace as hr
from tests.pipelines import EPOCH, FAILING, PIPELINES, SEED
from tests.running import Outcome, assert_same, read, read_all, read_restoring, rest_from_state
from tests.thinning import in_turn
from tests.variants import KINDS, VARIANTS

RUN = {"seed": SEED, "epoch": EPOCH}


@functools.cache
def expected(name: str, data: pathlib.Path) -> Outcome:
    return read_all(PIPELINES[name](data), **RUN)


@pytest.mark.parametrize("name", PIPELINES)
def test_gives_what_it_is_written_for(name, data):
    outcome = expected(name, data)
    kind = FAILING.get(name)
    assert (outcome.failure.kind if outcome.failure else None) == kind, outcome.failure
    assert bool(outcome.rows) == (name not in ("empty", "emptied"))
    if kind is not None:
        assert outcome.failure.operator and outcome.failure.location and outcome.failure.row


def pairs() -> list[tuple[str, str]]:
    """Pipelines and their variants: all, in a quick run one of each kind."""
    return [
        (name, variant)
        for number, name in enumerate(PIPELINES)
        for kind in KINDS.values()
        for variant in in_turn(kind, number)
    ]


PAIRS = pairs()


@pytest.mark.parametrize(("name", "variant"), PAIRS)
def test_same_answer(name, variant, data):
    assert_same(expected(name, data), VARIANTS[variant](PIPELINES[name](data), **RUN))
    print("HEADRACE-COUNT variants=1")


@pytest.mark.parametrize("name", PIPELINES)
def test_same_answer_in_another_process(name, data, elsewhere: concurrent.futures.Executor):
    whole = expected(name, data)
    for position in sorted({0, len(whole.rows) // 2, len(whole.rows)}):
        with PIPELINES[name](data).iterate(**RUN) as iterator:
            begun = read(iterator, position)
            state = iterator.state()
        rest = elsewhere.submit(rest_from_state, PIPELINES[name], (data,), state).result(60)
        assert_same(whole, Outcome(begun.rows + rest.rows, rest.failure))
    print("HEADRACE-COUNT variants=1")


SHARDS = {
    "whole": {},
    "off": {"shard": (1, 3)},
    "pad": {"shard": (2, 3), "even": "pad"},
    "drop": {"shard": (0, 2), "even": "drop"},
}


def drawn_ranges(name: str, count: int) -> list[tuple[int, int]]:
    """The whole of so many batches, and parts of them in any order."""
    draws = random.Random(name)
    return [(0, count), *((draws.randint(0, count), draws.randint(0, count)) for _ in range(6))]


@pytest.mark.parametrize(
    ("name", "shards"),
    [(name, shards) for number, name in enumerate(PIPELINES) for shards in in_turn(SHARDS, number)],
)
def test_ranges_of_batches_are_parts_of_the_epoch(name, shards, data):
    options = RUN | SHARDS[shards]
    dataset = PIPELINES[name](data)
    try:
        whole = read_all(dataset, **options)
    except hr.UnsupportedError:  # these shards
        return
    try:
        ranges = dataset._batch_ranges(**options)
    except hr.UnsupportedError as refused:
        assert refused.operator is not None or 'on_error("skip")' in str(refused)
        with pytest.raises(hr.UnsupportedError, match=re.escape(str(refused))):
            dataset.iterate(start=0, stop=1, **options)
        return
    count = len(whole.rows)
    parts = [(start, stop, Outcome(whole.rows[start:stop])) for start, stop in drawn_ranges(name, count)]
    with ranges:
        assert ranges.batches == count or whole.failure is not None
        asked = [(ranges.make(start, stop), part) for start, stop, part in parts]
        for made, part in asked:
            assert_same(part, read(made))
    start, stop, part = parts[1]
    assert_same(part, read_all(dataset, start=start, stop=stop, **options))
    if whole.failure is not None:
        assert_same(
            Outcome(whole.rows[count // 2 :], whole.failure),
            read_all(dataset, start=count // 2, stop=count + 2, **options),
        )
    print("HEADRACE-COUNT variants=1")


@pytest.mark.parametrize("name", ["training", "zipped", "repeated_inside", "text_lines"])
def test_a_restored_iterator_counts_its_generations(name, data):
    outcome, generations = read_restoring(PIPELINES[name](data), **RUN)
    assert generations == len(outcome.rows) + 1 > 3


@pytest.mark.parametrize("name", ["training", "image_and_mask", "zipped", "repeated_inside", "endless"])
def test_seed_and_epoch_do_change_the_answer(name, data):
    dataset = PIPELINES[name](data)
    answers = [read_all(dataset, seed=seed, epoch=epoch).rows for seed in (1, 2) for epoch in (0, 1)]
    assert all(one != two for position, one in enumerate(answers) for two in answers[:position])
