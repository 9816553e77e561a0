"""Every pipeline gives the same bytes, and the same error, in every way of running it."""

import concurrent.futures
import functools
import pathlib

import pytest

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


@pytest.mark.parametrize("name", ["training", "zipped", "repeated_inside", "text_lines"])
def test_a_restored_iterator_counts_its_generations(name, data):
    outcome, generations = read_restoring(PIPELINES[name](data), **RUN)
    assert generations == len(outcome.rows) + 1 > 3


@pytest.mark.parametrize("name", ["training", "image_and_mask", "zipped", "repeated_inside", "endless"])
def test_seed_and_epoch_do_change_the_answer(name, data):
    dataset = PIPELINES[name](data)
    answers = [read_all(dataset, seed=seed, epoch=epoch).rows for seed in (1, 2) for epoch in (0, 1)]
    assert all(one != two for position, one in enumerate(answers) for two in answers[:position])
