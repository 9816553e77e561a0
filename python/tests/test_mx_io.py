"""Iterators of headrace.mx.io against what those of MXNet 1.9.1 give."""

import pickle
import threading

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import headrace as hr
import headrace.mx as mx
from tests.mx_batches import next_batches, python_calls
from tests.mxnet_reference import needs_mxnet, run_mxnet, run_ours


def rows_of(batch):
    assert all(type(array) is mx.nd.NDArray for array in [*batch.data, *batch.label])
    assert np.array_equal(batch.data[0][:, 0], batch.label[0])
    return batch.label[0].astype(int).tolist()


def epoch_of(iterator):
    """Rows and pads of the batches up to the end, and then the next epoch begins."""
    given = [(rows_of(batch), batch.pad) for batch in iterator]
    with pytest.raises(StopIteration):
        iterator.next()
    iterator.reset()
    return given


def numbers(rows, batch_size, **options):
    labels = np.arange(rows)
    return mx.io.NDArrayIter(np.stack([labels, -labels], 1), labels, batch_size, **options)


def expected_epochs(rows, size, last, epochs):
    for _ in range(epochs):
        whole, left = divmod(rows, size)
        batches = [(list(range(i * size, (i + 1) * size)), 0) for i in range(whole)]
        if left and last == "pad":
            batches.append(([i % rows for i in range(whole * size, (whole + 1) * size)], size - left))
        yield batches


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 25), st.integers(1, 12), st.sampled_from(["pad", "discard"]))
def test_the_tail_is_padded_or_left_out(rows, size, last):
    assume(last == "pad" or rows >= size)
    iterator = numbers(rows, size, last_batch_handle=last)
    for expected in expected_epochs(rows, size, last, 3):
        assert epoch_of(iterator) == expected


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 25), st.integers(1, 12))
def test_the_tail_rolls_over_to_the_next_epoch(rows, size):
    iterator = numbers(rows, size, last_batch_handle="roll_over")
    stream, left = iter(list(range(rows)) * 40), 0
    for _ in range(5):
        count, now_left = divmod(left + rows, size)
        batches = epoch_of(iterator)
        assert [given for given, _ in batches] == [[next(stream) for _ in range(size)] for _ in range(count)]
        assert [pad for _, pad in batches] == [left, *[0] * (count - 1)][:count]
        left = now_left


def test_numbers_of_the_tutorials():
    batches = epoch_of(numbers(100, 30))
    assert [pad for _, pad in batches] == [0, 0, 0, 20]
    iterator = mx.io.NDArrayIter(np.ones((100, 10)), batch_size=25)
    assert [batch.data[0].shape for batch in iterator] == [(25, 10)] * 4
    with pytest.raises(ValueError, match="no batch"):
        iterator.getlabel()
    iterator.reset()
    assert iterator.iter_next() and iterator.getlabel() == [] and iterator.provide_label == []
    assert iterator.getdata()[0].shape == (25, 10) and iterator.getpad() == 0 and iterator.getindex() is None


@pytest.mark.parametrize("last", ["pad", "discard", "roll_over"])
def test_each_epoch_is_shuffled_anew(last):
    iterator = numbers(40, 10, shuffle=True, seed=5, last_batch_handle=last)
    epochs = [[row for rows, _ in epoch_of(iterator) for row in rows] for _ in range(3)]
    assert all(sorted(epoch) == list(range(40)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 3
    again = numbers(40, 10, shuffle=True, seed=5, last_batch_handle=last)
    assert [row for rows, _ in epoch_of(again) for row in rows] == epochs[0]


def test_numpys_global_seed_decides_the_order():
    orders = []
    for _ in range(2):
        np.random.seed(7)
        orders.append(epoch_of(numbers(40, 40, shuffle=True)))
    assert orders[0] == orders[1]


def test_a_padded_tail_has_the_first_rows_of_its_own_epoch():
    iterator = numbers(10, 4, shuffle=True, seed=1)
    for _ in range(3):
        batches = epoch_of(iterator)
        assert batches[-1][0][2:] == batches[0][0][:2]


@pytest.mark.parametrize("last", ["pad", "discard", "roll_over"])
@pytest.mark.parametrize("shuffle", [False, True])
def test_a_state_goes_on_with_the_next_batch(last, shuffle):
    def steps(iterator, count):
        given = []
        while len(given) < count:
            try:
                given.append((rows_of(batch := iterator.next()), batch.pad))
            except StopIteration:
                given.append("end")
                iterator.reset()
        return given

    whole = steps(numbers(10, 4, shuffle=shuffle, seed=3, last_batch_handle=last), 14)
    for before in range(12):
        iterator = numbers(10, 4, shuffle=shuffle, seed=3, last_batch_handle=last)
        steps(iterator, before)
        state = pickle.loads(pickle.dumps(iterator.state()))
        restored = numbers(10, 4, shuffle=shuffle, last_batch_handle=last, state=state)
        assert steps(restored, 14 - before) == whole[before:], before


def test_a_reset_in_mid_epoch_begins_the_next_epoch_at_its_first_row():
    for last in ("pad", "discard", "roll_over"):
        iterator = numbers(10, 4, last_batch_handle=last)
        iterator.next()
        iterator.reset()
        assert rows_of(iterator.next()) == [0, 1, 2, 3]
    iterator = numbers(10, 4, last_batch_handle="roll_over")
    epoch_of(iterator)
    iterator.hard_reset()
    assert rows_of(iterator.next()) == [0, 1, 2, 3]


def test_arrays_have_the_names_types_and_order_of_mxnet():
    iterator = mx.io.NDArrayIter([np.zeros((6, 2)), np.zeros(6, np.int64)], {"b": np.zeros(6), "a": np.zeros(6)}, 3)
    assert [tuple(each) for each in iterator.provide_data] == [("_0_data", (3, 2)), ("_1_data", (3,))]
    assert [each.name for each in iterator.provide_label] == ["a", "b"]
    assert repr(iterator.provide_data[0]) == "DataDesc[_0_data,(3, 2),<class 'numpy.float32'>,NCHW]"
    assert iterator.next().data[1].dtype == np.float32
    kept = mx.io.NDArrayIter(mx.nd.array(np.arange(4), dtype="int32"), batch_size=2)
    assert kept.next().data[0].dtype == np.int32


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size is 0"),
        ({"last_batch_handle": "keep"}, "last_batch_handle is 'keep'"),
        ({"label": np.zeros(3)}, "data has 4, softmax_label has 3"),
        ({"layout": "TNC"}, "layout is 'TNC'"),
        ({"data": []}, "no arrays"),
        ({"data": None, "label": np.zeros(3)}, "NDArrayIter: data is None; it must be an array"),
        ({"data": {"x": None}}, r"NDArrayIter: data\['x'\] is None; it must be an array"),
        ({"label": [np.zeros(4), None]}, r"NDArrayIter: label\['_1_softmax_label'\] is None"),
        ({"shuffle": "yes"}, "NDArrayIter: shuffle is 'yes'"),
        ({"shuffle": 2}, "NDArrayIter: shuffle is 2"),
        ({"data": np.zeros((0, 2))}, "no rows"),
        ({"data": (np.zeros(4), np.zeros(4))}, "NDArrayIter: data is a tuple; give an array, or a list or a dict"),
        ({"label": np.array(["a"] * 4)}, r"NDArrayIter: label 'softmax_label' is array\(\['a',.* no array of float32"),
        ({"data": np.array([[1], [2, 3]], object)}, "NDArrayIter: data 'data' is .* with rows of one shape"),
        ({"data": "data.h5"}, "NDArrayIter: data 'data' is 'data.h5', which becomes no array"),
        ({"batch_size": 5, "last_batch_handle": "discard"}, "there are 4 rows, fewer than batch_size=5, and rows"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(hr.GraphError, match=message):
        mx.io.NDArrayIter(**{"data": np.zeros((4, 2)), **options})


@pytest.mark.parametrize("label", [None, [], {}])
def test_there_may_be_no_labels(label):
    iterator = mx.io.NDArrayIter(np.zeros((4, 2)), label, 2)
    assert iterator.provide_label == [] and iterator.next().label == []


def test_flags_may_be_numbers():
    for shuffle in (0, 1):
        batches = [epoch_of(numbers(10, 4, shuffle=given, seed=1)) for given in (shuffle, bool(shuffle))]
        assert batches[0] == batches[1]


def test_a_state_that_is_none_is_refused():
    kept = numbers(10, 4).state()
    changed = [{**kept, **change} for change in ({"epoch": "0"}, {"given": None}, {"rolled": 0.5}, {"run": "text"})]
    for state in [{}, 3, {"seed": 1}, *changed]:
        with pytest.raises(hr.StateError, match="NDArrayIter: state is .*; give what state"):
            numbers(10, 4, state=state)


def test_rows_that_cannot_fail_are_not_left_out():
    expected = list(expected_epochs(10, 4, "pad", 1))
    assert epoch_of(numbers(10, 4, on_error="skip")) == expected[0]
    with pytest.raises(hr.GraphError, match="on_error is 'ignore'"):
        numbers(10, 4, on_error="ignore")


def test_iterators_explain_themselves():
    iterator = numbers(10, 4, memory="64MiB")
    assert "Numpy" in str(iterator.explain())
    iterator.next()
    assert "64.0 MiB" in str(iterator.explain())


def test_no_python_runs_for_a_row():
    def calls(size, **options):
        return python_calls(numbers(2000, size, **options))

    shuffled = {"shuffle": True, "seed": 1}
    for options in ({}, shuffled, {"last_batch_handle": "roll_over"}, {"last_batch_handle": "discard"}):
        assert calls(500, **options) < calls(2, **options) + 30


# ---- iterators within iterators ----


def test_resized_epochs_go_round():
    resized = mx.io.ResizeIter(mx.io.NDArrayIter(np.arange(10), batch_size=4), 5)
    firsts = [[batch.data[0][0] for batch in resized]]
    resized.reset()
    firsts.append([batch.data[0][0] for batch in resized])
    assert firsts == [[0, 4, 8, 0, 4]] * 2
    assert resized.provide_data == resized.data_iter.provide_data and resized.batch_size == 4
    going_on = mx.io.ResizeIter(mx.io.NDArrayIter(np.arange(10), batch_size=4), 2, reset_internal=False)
    firsts = []
    for _ in range(3):
        firsts += [batch.data[0][0] for batch in going_on]
        going_on.reset()
    assert firsts == [0, 4, 8, 0, 4, 8]


def test_what_is_no_iterator_is_refused():
    with pytest.raises(hr.GraphError, match="ResizeIter: data_iter is 3, which has no next; give an iterator"):
        mx.io.ResizeIter(3, 4)
    with pytest.raises(hr.GraphError, match="ResizeIter: data_iter is .*, which has no provide_data"):
        mx.io.ResizeIter(mx.io.DataIter(), 4)
    with pytest.raises(hr.GraphError, match="ResizeIter: size is -1"):
        mx.io.ResizeIter(numbers(10, 4), -1)
    for wrong in (3, [numbers(10, 4), 3]):
        with pytest.raises(hr.GraphError, match="PrefetchingIter: iters is 3, which has no next; give an iterator"):
            mx.io.PrefetchingIter(wrong)


class Simple(mx.io.DataIter):
    """The user iterator of the tutorials."""

    def __init__(self, batches, fail_at=None):
        super().__init__(2)
        self.provide_data = [("data", (2, 3))]
        self.provide_label = [("label", (2,))]
        self.batches, self.fail_at, self.at, self.threads = batches, fail_at, 0, set()

    def reset(self):
        self.at = 0

    def next(self):
        self.threads.add(threading.current_thread().name)
        if self.at == self.fail_at:
            raise RuntimeError("the user's own")
        if self.at == self.batches:
            raise StopIteration
        self.at += 1
        return mx.io.DataBatch([mx.nd.zeros((2, 3)) + self.at], [mx.nd.zeros(2)], pad=0)


def test_iterators_side_by_side_are_read_ahead():
    own, arrays = Simple(3), mx.io.NDArrayIter(np.arange(6), batch_size=2)
    joined = mx.io.PrefetchingIter(
        [own, arrays], rename_data=[{"data": "a"}, {"data": "b"}], rename_label=[{"label": "c"}, {}]
    )
    assert [each.name for each in joined.provide_data] == ["a", "b"]
    assert [each.name for each in joined.provide_label] == ["c"] and joined.batch_size == 2
    for _ in range(2):
        assert [[array.ravel()[0] for array in batch.data] for batch in joined] == [[1, 0], [2, 2], [3, 4]]
        joined.reset()
    assert threading.current_thread().name not in own.threads


def test_a_reset_in_mid_epoch_drops_what_was_read_ahead():
    joined = mx.io.PrefetchingIter(Simple(5))
    joined.next()
    joined.reset()
    assert [batch.data[0][0, 0] for batch in joined] == [1, 2, 3, 4, 5]


def test_iterators_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="before the others"):
        list(mx.io.PrefetchingIter([Simple(2), Simple(3)]))
    with pytest.raises(RuntimeError, match="the user's own"):
        list(mx.io.PrefetchingIter([Simple(3, fail_at=1)]))
    with pytest.raises(ValueError, match="no iterators"):
        mx.io.PrefetchingIter([])
    for names, message in (
        ({"data": "a"}, "rename_data is {'data': 'a'}; it must be a list of a dict for each of the 2 iterators"),
        ([{}], "rename_data is .*; it must be a list of a dict for each of the 2"),
        ([{}, "a"], r"rename_data\[1\] is 'a'; it must be a dict of names"),
        ([{}, {"dat": "a"}], r"rename_data\[1\] renames 'dat', and iters\[1\] provides 'data'"),
    ):
        with pytest.raises(hr.GraphError, match=f"PrefetchingIter: {message}"):
            mx.io.PrefetchingIter([Simple(3), Simple(3)], rename_data=names)
    with pytest.raises(ValueError, match="no batch after reset"):
        next(mx.io.ResizeIter(Simple(0), 2))


@pytest.mark.parametrize("wrong", [None, ([np.zeros((2, 3))], [np.zeros(2)])])
def test_what_is_no_batch_is_refused(wrong):
    class Wrong(Simple):
        def next(self):
            return wrong

    for around, name in (
        (mx.io.PrefetchingIter([Simple(3), Wrong(3)]), r"PrefetchingIter: next\(\) of iters\[1\], <.*Wrong"),
        (mx.io.ResizeIter(Wrong(3), 2), r"ResizeIter: next\(\) of data_iter, <.*Wrong"),
    ):
        with pytest.raises(hr.GraphError, match=f"{name}.*, gave (.|\n)*; it must return a DataBatch"):
            around.next()


def test_a_batch_of_the_users_own_class_is_taken():
    class Batch:
        data, label, pad, index = [np.ones((2, 3))], [np.zeros(2)], 0, None

    class Own(Simple):
        def next(self):
            return Batch()

    assert mx.io.PrefetchingIter(mx.io.ResizeIter(Own(3), 2)).next().data[0].sum() == 6


class Counted(Simple):
    """A user's own iterator that has states."""

    def __init__(self, batches, state=None):
        super().__init__(batches)
        self.at = 0 if state is None else state["at"][0]

    def state(self):
        return {"at": np.array([self.at])}

    def explain(self):
        return "Counted: as it is"


def rolled(state=None, rows=10):
    # Without a seed, which the state has.
    return mx.io.NDArrayIter(np.arange(rows), np.arange(rows), 4, True, "roll_over", state=state)


def resized(inner, state=None, **given):
    return mx.io.ResizeIter(inner(state and state["data_iter"]), 4, state=state, **given)


def joined(*inner, state=None):
    parts = [None] * len(inner) if state is None else state["iters"]
    return mx.io.PrefetchingIter([make(part) for make, part in zip(inner, parts, strict=True)], state=state)


AROUND = {
    "resized": lambda state=None: resized(rolled, state),
    "resized, going on": lambda state=None: resized(rolled, state, reset_internal=False),
    "resized, a user's own": lambda state=None: resized(lambda part: Counted(3, part), state),
    "ahead": lambda state=None: joined(rolled, state=state),
    "ahead, several": lambda state=None: joined(
        lambda part: resized(lambda own: rolled(own, 12), part),
        lambda part: resized(lambda own: Counted(3, own), part),
        state=state,
    ),
    "ahead, within": lambda state=None: resized(lambda part: joined(rolled, state=part), state),
}


def arrays_of(batch):
    return [array.tolist() for array in [*batch.data, *batch.label]]


@pytest.mark.parametrize("make", AROUND.values(), ids=AROUND)
@pytest.mark.parametrize("taken", range(9))
def test_a_state_has_those_within(make, taken):
    at = make()
    next_batches(at, taken, arrays_of)
    state = pickle.loads(pickle.dumps(at.state()))
    again = make(state)
    assert repr(again.state()) == repr(state)
    assert next_batches(again, 9, arrays_of) == next_batches(at, 9, arrays_of)


@pytest.mark.parametrize("make", AROUND.values(), ids=AROUND)
@pytest.mark.parametrize("taken", range(5))
def test_a_reset_behind_a_state_is_that_without_it(make, taken):
    at = make()
    next_batches(at, taken, arrays_of)
    again = make(at.state())
    for each in (at, again):
        each.reset()
    assert next_batches(again, 9, arrays_of) == next_batches(at, 9, arrays_of)


def test_a_state_that_does_not_fit_those_within_is_refused():
    for make, message in (
        (
            lambda state: mx.io.ResizeIter(rolled(), 4, state=state),
            r'data_iter, a NDArrayIter, .* state=state\["data_iter"\]',
        ),
        (lambda state: mx.io.ResizeIter(rolled(state["data_iter"]), 1, state=state), "after batch 2 .* size is 1"),
        (lambda state: mx.io.ResizeIter(rolled(), 4, state={}), "state is {}; give what state"),
        (lambda state: mx.io.ResizeIter(rolled(), 4, state=state["data_iter"]), "state is {.*; give what state"),
        (
            lambda state: mx.io.ResizeIter(rolled(), 4, state={"iterator": "CSVIter"}),
            "the state was taken of a CSVIter",
        ),
        (
            lambda state: mx.io.PrefetchingIter(rolled(), state={**state, "iters": [], "ahead": True}),
            "PrefetchingIter: the state was taken of a ResizeIter",
        ),
    ):
        at = AROUND["resized"]()
        next_batches(at, 2, arrays_of)
        with pytest.raises(hr.StateError, match=message):
            make(at.state())
    at = AROUND["ahead"]()
    at.next()
    with pytest.raises(hr.StateError, match=r'iters\[0\], a NDArrayIter, .* make it with state=state\["iters"\]\[0\]'):
        mx.io.PrefetchingIter(rolled(), state=at.state())
    with pytest.raises(hr.StateError, match="those of 1 iterators, and there are 2 here"):
        mx.io.PrefetchingIter([rolled(), rolled()], state=at.state())
    without = mx.io.ResizeIter(Simple(3), 2)
    with pytest.raises(hr.StateError, match=r"ResizeIter: data_iter is .*Simple.*, which has no state\(\)"):
        without.state()
    ahead = mx.io.PrefetchingIter([rolled(), Simple(3)])
    for _ in range(2):
        with pytest.raises(hr.StateError, match=r"PrefetchingIter: iters\[1\] is .*Simple.*, which has no state\(\)"):
            ahead.state()
        ahead.next()


def test_those_within_are_explained():
    at = joined(rolled, lambda part: resized(lambda own: Counted(3, own), part), lambda part: Simple(3))
    for _ in range(2):
        text = at.explain()
        assert text.startswith("PrefetchingIter: iterators within: 3, each on a thread of its own, one batch ahead")
        for line in (
            "ResizeIter: epochs of 4 batches; the iterator within begins anew",
            "Counted: as it is",
            "Simple: has no",
        ):
            assert line in text
        assert "Numpy" in text
        at.next()
    assert "goes on from one to the next" in mx.io.ResizeIter(rolled(), 2, reset_internal=False).explain()


def test_arrays_have_the_methods_of_mxnets():
    array = mx.nd.array([[1, 2], [3, 4]], ctx=mx.gpu(1))
    assert array.dtype == np.float32 and array.context == array.ctx == mx.cpu() and repr(mx.cpu()) == "cpu(0)"
    plain = array.asnumpy()
    plain[:] = 0
    assert type(plain) is np.ndarray and array.sum() == 10
    assert array.as_in_context(mx.gpu(0)) is array and array.wait_to_read() is None
    written = np.zeros((2, 2))
    assert array.copyto(written) is written and np.array_equal(written, array)
    copied = array.copyto(mx.gpu(0))
    assert type(copied) is mx.nd.NDArray and copied is not array and np.array_equal(copied, array)
    with pytest.raises(hr.GraphError, match=r"copyto: the array has shape \(2, 2\), and the one to write \(1, 2\)"):
        array.copyto(np.zeros((1, 2)))
    assert array[:1, 0].asscalar() == 1 and mx.nd.zeros((2, 3), dtype="int8").dtype == np.int8
    with pytest.raises(ValueError, match="4 elements"):
        array.asscalar()


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_elements_are_numbers_with_the_methods_of_mxnets(dtype):
    label = mx.nd.array([3, 0, 2], dtype=dtype)
    for element in (label[0], next(iter(label)), label.max(), label[label == 3][0], label.reshape(1, 3)[0, 0]):
        assert type(element) is mx.nd.NDArray and element.dtype == dtype and element.context == mx.cpu()
        assert element.asscalar() == 3 and type(element.asscalar()) is np.dtype(dtype).type
        plain = element.asnumpy()
        assert type(plain) is np.ndarray and plain.shape == (1,) and plain[0] == 3
        assert element.as_in_context(mx.gpu(0)) is element and element.wait_to_read() is None
        # As before it had them.
        assert (int(element), float(element), bool(element)) == (3, 3.0, True)
        assert (f"{element:.1f}", "%d" % element, "%.2f" % element) == ("3.0", "3", "3.00")  # noqa: UP031
        assert str(element) == str(np.dtype(dtype).type(3)) and f"{element}" == str(element)
        assert element == 3 and element + 1 == 4 and {3: "three"}[element] == "three"
        into = np.zeros(2, dtype)
        into[1] = element
        assert into.tolist() == [0, 3]
    assert [each.asscalar() for each in label] == [3, 0, 2] and label.tolist() == [3, 0, 2]
    assert np.array(list(label)).shape == (3,) and {*label} == {0, 2, 3} and sorted(label) == [0, 2, 3]
    assert label.argmax().asscalar() == np.argmax(label).asscalar() == 0 and label.argmin().asscalar() == 1
    assert ["a", "b"][label.argmin()] == "b" and label.reshape(3, 1).argmax(axis=1).tolist() == [0, 0, 0]
    with pytest.raises(TypeError, match="unhashable"):
        hash(label)


def test_descriptions_travel():
    described = mx.io.DataDesc("data", [2, 3], np.float16, layout="NT")
    again = pickle.loads(pickle.dumps(described))
    assert again == ("data", (2, 3)) and again.dtype == np.float16 and again.layout == "NT"
    name, shape = described
    assert (name, shape) == ("data", (2, 3)) and mx.io.DataDesc.get_batch_axis("TNC") == 1
    assert mx.io.DataDesc.get_batch_axis(None) == 0
    listed = mx.io.DataDesc.get_list([("a", (1,)), ("b", (2,))], [("a", "int32"), ("b", "int8")])
    assert [each.dtype for each in listed] == ["int32", "int8"]
    with pytest.raises(TypeError, match="data is ndarray"):
        mx.io.DataBatch(np.zeros(3))
    assert str(mx.io.DataBatch([np.zeros((2, 3))])) == "DataBatch: data shapes: [(2, 3)] label shapes: None"


# ---- the order of the rows ----


@pytest.mark.parametrize("last", ["pad", "discard", "roll_over"])
@pytest.mark.parametrize("shuffle", [False, True])
def test_idx_is_the_order_of_each_epoch(last, shuffle):
    iterator = mx.io.NDArrayIter(np.arange(10.0), batch_size=4, shuffle=shuffle, last_batch_handle=last, seed=3)
    left, orders = [], []
    for _ in range(5):
        order = iterator.idx.tolist()
        assert sorted(order) == list(range(10))
        orders.append(tuple(order))
        given = [int(row) for batch in iterator for row in batch.data[0]]
        expected = {"pad": [*order, *order[:2]], "discard": order[:8], "roll_over": [*left, *order]}[last]
        assert given == expected[: len(given)] and len(given) > 7
        left = expected[len(given) :] if last == "roll_over" else []
        assert iterator.idx.tolist() == order
        iterator.reset()
    assert len({*orders}) == (5 if shuffle else 1)


@pytest.mark.parametrize("last", ["pad", "roll_over"])
def test_idx_is_known_behind_a_state_and_a_reset_in_mid_epoch(last):
    def made(state=None):
        return mx.io.NDArrayIter(
            np.arange(10.0), batch_size=4, shuffle=True, last_batch_handle=last, seed=3, state=state
        )

    iterator = made()
    for _ in range(2):
        for _batch in iterator:
            pass
        iterator.reset()
    iterator.next()
    assert made(pickle.loads(pickle.dumps(iterator.state()))).idx.tolist() == iterator.idx.tolist()
    iterator.reset()
    order = iterator.idx.tolist()
    assert [int(row) for row in iterator.next().data[0]] == order[:4]
    # A state of an earlier version.
    state = made().state()
    del state["passes"]
    assert made(state).idx.tolist() == made().idx.tolist()


# ---- sparse rows ----


def sparse_rows():
    dense = np.float32([[i, 0, 0, 2 * i] for i in range(5)])
    return dense, mx.nd.sparse.csr_matrix(dense)


@pytest.mark.parametrize("shuffle", [False, True])
def test_batches_of_sparse_rows(shuffle):
    dense, sparse = sparse_rows()
    iterator = mx.io.NDArrayIter(
        {"csr": sparse, "dense": dense}, sparse, 2, shuffle, last_batch_handle="discard", seed=1
    )
    assert iterator.provide_data == [("csr", (2, 4)), ("dense", (2, 4))]
    for _ in range(3):
        order = iterator.idx
        batches = [*iterator]
        assert len(batches) == 2
        for i, batch in enumerate(batches):
            batch.data[0].check_format(True)
            for each in (*batch.data, *batch.label):
                assert np.array_equal(each.asnumpy(), dense[order[2 * i : 2 * i + 2]])
        iterator.reset()


def test_matrices_of_scipy_are_sparse_rows():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    dense, _ = sparse_rows()
    for kind in (scipy_sparse.csr_matrix, scipy_sparse.coo_matrix):
        batch = mx.io.NDArrayIter({"data": kind(dense)}, dense, 3, last_batch_handle="discard").next()
        assert type(batch.data[0]) is mx.nd.sparse.CSRNDArray and np.array_equal(batch.data[0].asnumpy(), dense[:3])


def test_sparse_rows_are_not_filled_and_stay_in_host_memory():
    _, sparse = sparse_rows()
    for last in ("pad", "roll_over"):
        with pytest.raises(
            NotImplementedError, match=f"last_batch_handle is '{last}', and there are sparse arrays"
        ) as told:
            mx.io.NDArrayIter(sparse, batch_size=2, last_batch_handle=last)
        assert isinstance(told.value, hr.UnsupportedError)
    with pytest.raises(hr.UnsupportedError, match="device is 'cpu:0', and sparse arrays stay in host memory"):
        mx.io.NDArrayIter(sparse, batch_size=2, last_batch_handle="discard", device="cpu:0")


# ---- names that are not here ----


@pytest.mark.parametrize(
    ("module", "name", "advice"),
    [
        (mx, "gluon", "; write headrace.from_dataset"),
        (mx, "mod", "; models are trained with another library"),
        (mx.io, "ImageRecordIter_v1", "; write ImageRecordIter, which"),
        (mx, "test_utils", "; write numpy.testing"),
        (mx.nd, "arctan", "; write numpy.arctan"),
        (mx.nd, "nothing", "$"),
        (mx, "nothing", "$"),
    ],
)
def test_a_name_of_mxnet_that_is_not_here_says_what_to_write(module, name, advice):
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute '{name}'{advice}"):
        getattr(module, name)
    assert not hasattr(module, name)


# ---- MXNet's own ----


@needs_mxnet
@pytest.mark.parametrize("last", ["pad", "discard", "roll_over"])
def test_batches_equal_mxnets(tmp_path, last):
    draws = np.random.default_rng(0)
    arrays = {
        "data": draws.normal(size=(10, 3, 2)).astype(np.float32),
        "label": np.arange(10, dtype=np.float32),
        "whole": draws.integers(0, 255, (10, 4)).astype(np.int32),
        "two": draws.normal(size=(10, 2)).astype(np.float32),
    }
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    cases = [
        {"data": "data", "label": "label", "batch_size": size, **more}
        for size in (1, 3, 4, 5, 10)
        for more in ({}, {"data": "whole"}, {"label": "two", "data_name": "x", "label_name": "y"})
    ]
    asked = [
        (
            "NDArrayIter",
            {"last_batch_handle": last}
            | {k: {"array": str(tmp_path / f"{v}.npy")} if k in ("data", "label") else v for k, v in case.items()},
            4,
        )
        for case in cases
    ]
    for theirs, case in zip(run_mxnet(tmp_path, asked), cases, strict=True):
        given = {k: arrays[v] if k in ("data", "label") else v for k, v in case.items()}
        ours = run_ours(mx.io.NDArrayIter(**given, last_batch_handle=last), 4)
        assert ours.described == theirs.described, case
        for mine, other in zip(ours.epochs, theirs.epochs, strict=True):
            assert [pad for *_, pad in mine] == [pad for *_, pad in other], case
            for (data, label, _), (their_data, their_label, _) in zip(mine, other, strict=True):
                assert data.dtype == their_data.dtype and label.dtype == their_label.dtype, case
                assert np.array_equal(data, their_data) and np.array_equal(label, their_label), case
