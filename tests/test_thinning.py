"""tests/thinning.py: which cases a thinned run has."""

import pytest

from tests import thinning
from tests.pipelines import PIPELINES
from tests.test_variants import PAIRS, pairs
from tests.variants import KINDS, VARIANTS
from tools.check.parts import Level
from tools.check.python_tests import environment_of


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(thinning, "QUICK", True)


@pytest.fixture
def full(monkeypatch):
    monkeypatch.setattr(thinning, "QUICK", False)


def test_a_full_run_has_all_cases(full):
    assert thinning.in_turn("abc", 4) == thinning.one_in(2, "abc") == ["a", "b", "c"]
    assert thinning.examples(12) == 12
    assert len(pairs()) == len(PIPELINES) * len(VARIANTS)


@pytest.mark.parametrize(
    ("level", "long", "quick"), [(Level.THINNED, "0", "1"), (Level.FULL, "0", "0"), (Level.LONG, "1", "0")]
)
def test_the_environment_of_the_caller_decides_nothing(monkeypatch, level, long, quick):
    for name in ("HEADRACE_QUICK", "HEADRACE_LONG"):
        monkeypatch.setenv(name, "1")
    environment = environment_of(level)
    assert (environment["HEADRACE_LONG"], environment["HEADRACE_QUICK"]) == (long, quick)


def test_a_quick_run_has_some_of_them_and_never_none(quick):
    assert [thinning.in_turn("abc", number) for number in range(4)] == [["a"], ["b"], ["c"], ["a"]]
    assert thinning.one_in(2, "abcde") == ["a", "c", "e"] and thinning.one_in(2, "abcde", 3) == ["b", "d"]
    assert all(thinning.one_in(step, "abc", first) for step in range(1, 9) for first in range(9))
    assert thinning.one_in(3, "") == []
    assert (thinning.examples(12), thinning.examples(1)) == (2, 1)


def test_a_quick_run_has_one_variant_of_each_kind_for_each_pipeline_and_each_variant(quick):
    chosen = pairs()
    assert len(chosen) == len(PIPELINES) * len(KINDS)
    for kind in KINDS.values():
        assert [name for name, variant in chosen if variant in kind] == list(PIPELINES)
    assert {variant for _, variant in chosen} == set(VARIANTS)


def test_the_pairs_that_run_are_those_of_this_run():
    assert pairs() == PAIRS
