"""Rows in groups: the same rows, fewer messages."""

import pytest

import headrace as hr
from headrace import transforms as T


def light_rows() -> hr.Dataset:
    return hr.Range(1000).map(T.TypeCast("float32"), "value").shuffle(50).batch(32)


def messages_of_the_source(**options: object) -> int:
    with light_rows().iterate(**options) as batches:
        for _ in range(32):
            next(batches)
        return batches.report()["stages"][-1]["messages"]


def test_a_message_holds_as_many_rows_as_were_asked_for():
    assert messages_of_the_source(group=1) == 1001
    assert messages_of_the_source(group=100) == 11
    assert messages_of_the_source(group=100, optimize=False) == 1001
    assert messages_of_the_source(group=100, disabled_passes=["group_rows"]) == 1001


def test_explain_says_that_rows_travel_in_groups():
    def explained(group: int) -> str:
        with light_rows().iterate(group=group) as batches:
            for _ in range(32):
                next(batches)
            return batches.explain()

    assert "Range[0]: rows travel in groups, 90 a message on average" in explained(100)
    assert "in groups" not in explained(1)


def test_a_group_has_a_row_at_least():
    with pytest.raises(hr.GraphError, match="group"):
        light_rows().iterate(group=0)
    with pytest.raises(hr.GraphError, match="group"):
        light_rows().iterate(group="all")


def test_rows_that_overtake_an_error_are_those_that_would_come_alone():
    """An error splits its group: the rows after it keep their positions in a shuffle."""
    dataset = hr.Range(200).map(T.OneHot(120), "value", "hot").shuffle(40).batch(1)

    def rows(**options: object) -> list[int]:
        given = []
        with dataset.iterate(**options) as batches:
            with pytest.raises(hr.DataError, match="class 1[0-9][0-9]"):
                for batch in batches:
                    given.append(int(batch["value"][0]))
        return given

    alone = rows(group=1)
    assert any(value > 120 for value in alone) or len(alone) < 125
    for options in ({"group": 7}, {"group": 256}, {"group": 64, "executor": "pull"}, {}):
        assert rows(**options) == alone
