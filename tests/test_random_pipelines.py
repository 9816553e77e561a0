"""Random pipelines: their rows are those of the model, in every way of running them."""

import collections
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import headrace as hr
from tests.recipes import Recipe, Rows, Unmodelled, recipes
from tests.running import Outcome, assert_same, read, read_all
from tests.thinning import examples

bounded = settings(
    max_examples=examples(400), derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
counts: collections.Counter[str] = collections.Counter()


@pytest.fixture(autouse=True)
def counted() -> Iterator[None]:
    counts.clear()
    yield
    print(f"HEADRACE-COUNT variants={counts['variants']}")
    assert counts["variants"] > 0


def model_of(recipe: Recipe) -> Rows | None:
    try:
        return recipe.model()
    except Unmodelled:
        return None


def values(dataset: hr.Dataset, **options: Any) -> Rows:
    with dataset.iterate(**options) as iterator:
        return [np.asarray(row["value"]).tolist() for row in iterator]


def read_in_parts(recipe: Recipe, steps: list[int], ways: list[dict[str, Any]], **run: Any) -> Outcome:
    """Resumes from state to state after the numbers of rows in `steps`, then reads to the end."""
    outcome = Outcome([])
    state = None
    for number, step in enumerate([*steps, None]):
        with recipe.build().iterate(state=state, **ways[number % len(ways)], **run) as iterator:
            part = read(iterator, step)
            outcome.rows += part.rows
            outcome.failure = part.failure
            if part.failure is not None or step is None or len(part.rows) < step:
                return outcome
            state = iterator.state()
    raise AssertionError("unreachable")


WAYS: list[dict[str, Any]] = [
    {},
    {"executor": "pull"},
    {"optimize": False},
    {"workers": 1, "window": 1},
    {"workers": 7, "window": 3, "memory": "1MiB"},
]


def epochs_of_one_engine(recipe: Recipe, seed: int) -> None:
    """Runs epochs like a training loop: the engine of an epoch serves the next."""
    dataset = recipe.build().with_seed(seed)
    for epoch in range(min(3, recipe.last_epoch + 1)):
        dataset.epoch = epoch
        found = read(iter(dataset))
        assert_same(read_all(recipe.build(), seed=seed, epoch=epoch), found)
        if found.failure is not None:
            return


def refused_as_uncounted(recipe: Recipe, **run: Any) -> bool:
    """An epoch whose passes have no numbers must be refused."""
    if run["epoch"] <= recipe.last_epoch:
        return False
    with pytest.raises(hr.UnsupportedError, match=f"epoch {run['epoch']} cannot be counted"):
        recipe.build().iterate(**run)
    return True


# The first epochs, and those at limits of number types.
EPOCHS = st.integers(0, 2) | st.sampled_from([2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 2])


@bounded
@given(
    recipes(),
    st.fixed_dictionaries({"seed": st.integers(0, 5), "epoch": EPOCHS}),
    st.lists(st.integers(0, 9), min_size=1, max_size=4),
    st.permutations(WAYS),
)
def test_random_pipelines_give_the_same_answer(recipe, run, steps, ways):
    if refused_as_uncounted(recipe, **run):
        event("cannot be counted")
        return
    model = model_of(recipe)
    if model is not None:
        event("modelled")
        assert values(recipe.build(), **run) == model
    whole = read_all(recipe.build(), **run)
    for way in WAYS[1:]:
        assert_same(whole, read_all(recipe.build(), **way, **run))
    assert_same(whole, read_in_parts(recipe, steps, WAYS[:1], **run))
    assert_same(whole, read_in_parts(recipe, steps, ways, **run))
    epochs_of_one_engine(recipe, run["seed"])
    counts["variants"] += len(WAYS) + 4


@settings(bounded, max_examples=examples(150))
@given(
    recipes(),
    st.sampled_from([(0, 2), (1, 2), (2, 3)]),
    st.sampled_from(["off", "drop", "pad"]),
    st.lists(st.integers(0, 4), min_size=1, max_size=4),
    st.permutations(WAYS),
)
def test_random_shards_give_the_same_answer(recipe, shard, even, steps, ways):
    run = {"seed": 3, "epoch": min(1, max(0, recipe.last_epoch)), "shard": shard, "even": even}
    try:
        recipe.build().iterate(**run).close()
    except hr.Error as error:
        assert isinstance(error, (hr.GraphError, hr.UnsupportedError))
        return
    whole = read_all(recipe.build(), **run)
    for way in WAYS[1:]:
        assert_same(whole, read_all(recipe.build(), **way, **run))
    assert_same(whole, read_in_parts(recipe, steps, ways, **run))
    counts["variants"] += len(WAYS)
