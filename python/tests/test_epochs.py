"""Which epoch runs, and when `ds.epoch` moves on."""

import pytest
from conftest import values

import headrace as hr


def shuffled() -> hr.Dataset:
    return hr.Range(12).shuffle(12).batch(3)


def epoch_rows(epoch: int) -> list:
    return values(shuffled().iterate(epoch=epoch))


def test_a_loop_runs_one_epoch_after_the_other():
    pipeline = shuffled()
    for epoch in range(4):
        assert pipeline.epoch == epoch
        assert values(pipeline) == epoch_rows(epoch)
    assert epoch_rows(0) != epoch_rows(1)


def test_a_peek_costs_nothing():
    pipeline = shuffled()
    first = next(iter(pipeline))["value"].tolist()
    assert pipeline.epoch == 0
    assert next(iter(pipeline))["value"].tolist() == first == epoch_rows(0)[:3]


def test_a_loop_left_early_is_not_repeated():
    pipeline = shuffled()
    for step, _ in enumerate(pipeline):
        if step == 1:
            break
    assert pipeline.epoch == 1
    assert values(pipeline) == epoch_rows(1)


def test_the_second_batch_moves_the_epoch():
    pipeline = shuffled()
    it = iter(pipeline)
    next(it)
    assert pipeline.epoch == 0
    next(it)
    assert pipeline.epoch == 1
    next(it)
    assert pipeline.epoch == 1 and it.epoch == 0


def test_the_end_of_a_single_batch_moves_the_epoch():
    pipeline = hr.Range(3).batch(3)
    assert len(list(pipeline)) == 1
    assert pipeline.epoch == 1


def test_an_empty_epoch_ends():
    pipeline = hr.Range(0).batch(3)
    assert [list(pipeline) for _ in range(3)] == [[], [], []]
    assert pipeline.epoch == 3


def test_the_epoch_may_be_set():
    pipeline = shuffled()
    assert values(pipeline) == epoch_rows(0)
    pipeline.epoch = 7
    assert values(pipeline) == epoch_rows(7)
    assert values(pipeline) == epoch_rows(8)


def test_two_iterators_at_once_are_independent():
    pipeline = shuffled()
    one, two = iter(pipeline), iter(pipeline)
    rows_one, rows_two = [], []
    for first, second in zip(one, two, strict=True):
        rows_one += first["value"].tolist()
        rows_two += second["value"].tolist()
    assert rows_one == rows_two == epoch_rows(0)
    assert pipeline.epoch == 1
    assert values(pipeline) == epoch_rows(1)


def test_iterate_leaves_the_epoch_where_it_is():
    pipeline = shuffled()
    assert values(pipeline.iterate()) == values(pipeline.iterate()) == epoch_rows(0)
    assert values(pipeline.iterate(epoch=5)) == epoch_rows(5)
    assert pipeline.epoch == 0
    values(pipeline)
    assert values(pipeline.iterate()) == epoch_rows(1)


def test_restoring_moves_the_epoch_past_the_states():
    pipeline = shuffled()
    it = pipeline.iterate(epoch=4)
    next(it)
    state = it.state()
    rest = values(it)
    again = shuffled()
    assert values(again.iterate(state=state)) == rest
    assert again.epoch == 5


def test_an_ended_iterator_stays_ended():
    it = iter(hr.Range(2))
    assert len(list(it)) == 2
    assert list(it) == []
    it.close()
    assert list(it) == []


def test_a_closed_iterator_says_so():
    it = iter(hr.Range(2))
    it.close()
    it.close()
    with pytest.raises(hr.ClosedError, match="was closed"):
        next(it)
    with pytest.raises(hr.ClosedError):
        it.state()


def test_one_engine_serves_epoch_after_epoch():
    begun = []

    def rows(epoch):
        begun.append(epoch)
        yield from range(5)

    pipeline = hr.Generator(rows, {"value": "int64"})
    for epoch in range(3):
        assert values(pipeline) == [0, 1, 2, 3, 4]
        # No user code runs for an epoch that was not requested yet.
        assert begun == list(range(epoch + 1))


def test_no_function_of_the_users_runs_for_an_epoch_not_asked_for():
    import time

    calls = []

    def count(x):
        calls.append(int(x))
        return x

    pipeline = hr.Range(10).map(count, "value").batch(5)
    values(pipeline)
    time.sleep(0.2)
    assert len(calls) == 10
    values(pipeline)
    assert len(calls) == 20


def test_shuffled_sources_take_a_new_order_each_epoch():
    pipeline = hr.Range(50, shuffle=True)
    one, two = values(pipeline), values(pipeline)
    assert one != two and sorted(one) == sorted(two) == list(range(50))


def test_repeat_lies_within_an_epoch():
    pipeline = hr.Range(6, shuffle=True).repeat(2).batch(6)
    rows = values(pipeline)
    assert sorted(rows[:6]) == sorted(rows[6:]) == list(range(6))
    assert rows[:6] != rows[6:]
    endless = iter(hr.Range(3).repeat())
    assert [int(next(endless)["value"]) for _ in range(10)] == [0, 1, 2] * 3 + [0]
