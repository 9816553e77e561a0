"""headrace.mx.rnn: sentences in buckets, and what MXNet 1.9.1 gives."""

import json
import logging
import pickle
import subprocess

import numpy as np
import pytest

import headrace as hr
import headrace.mx as mx
from tests.mx_batches import next_batches, python_calls
from tests.mxnet_reference import PYTHON, needs_mxnet

WORDS = [["a", "b"], ["b", "c", "a"], [], ["d"]]


def sentences_of(*counts):
    """Sentences of length 1, 2, … of these counts; each begins with its number, and goes on with it and 0.5, 1.5, …"""
    sentences = []
    for length, count in enumerate(counts, 1):
        for _ in range(count):
            sentences.append([len(sentences) + step / 64 for step in range(length)])
    return sentences


def buckets_of(sentences, size=2, **given):
    return mx.rnn.BucketSentenceIter(sentences, size, **{"seed": 0, **given})


def rows_of(iterator):
    return [[int(row[0]) for row in batch.data[0]] for batch in iterator]


# ---- vocabularies ----


def test_words_get_numbers():
    encoded, vocab = mx.rnn.encode_sentences(WORDS)
    assert encoded == [[0, 1], [1, 2, 0], [], [3]]
    assert vocab == {"\n": -1, "a": 0, "b": 1, "c": 2, "d": 3}
    encoded, vocab = mx.rnn.encode_sentences(WORDS, invalid_label=1, invalid_key="<end>", start_label=0)
    assert encoded == [[0, 2], [2, 3, 0], [], [4]] and vocab["<end>"] == 1
    assert mx.rnn.encode_sentences(WORDS, start_label=5)[0] == [[5, 6], [6, 7, 5], [], [8]]


def test_words_of_a_vocabulary_keep_their_numbers():
    vocab = {"a": 7, "b": 8, "?": 9}
    with pytest.raises(hr.GraphError, match="'c' is not in vocab"):
        mx.rnn.encode_sentences(WORDS, vocab)
    encoded, same = mx.rnn.encode_sentences(WORDS, vocab, unknown_token="?")
    assert encoded == [[7, 8], [8, 9, 7], [], [9]] and same is vocab and vocab == {"a": 7, "b": 8, "?": 9}
    assert mx.rnn.encode_sentences(WORDS, {"a": 7}, unknown_token="?", start_label=3)[0] == [[7, 3], [3, 3, 7], [], [3]]


def test_an_unknown_token_gets_a_number_that_is_free():
    def number(vocab, **given):
        return mx.rnn.encode_sentences([["a", "x"], ["y"]], vocab, unknown_token="?", **given)[1]["?"]

    assert number({"a": 0, "b": 1}) == 2
    assert number({"a": 0, "b": 2, "\n": -1}) == 1
    assert number({"a": 0, "b": 1}, start_label=-1) == 2
    assert number({"a": 0}, invalid_label=1) == 2
    encoded, vocab = mx.rnn.encode_sentences([["a", "x"], ["y"]], {"a": 0}, unknown_token="?")
    assert encoded == [[0, 1], [1]] and vocab == {"a": 0, "?": 1}
    # A new vocabulary takes every word.
    assert mx.rnn.encode_sentences([["a", "x"]], unknown_token="?")[1] == {"\n": -1, "a": 0, "x": 1}


# ---- buckets ----


def test_a_sentence_is_in_the_smallest_bucket_that_holds_it():
    sentences = sentences_of(2, 0, 3, 1, 4)
    iterator = buckets_of(sentences, 2, buckets=[3, 1, 5], invalid_label=-7)
    assert iterator.buckets == [1, 3, 5] and iterator.default_bucket_key == 5
    lengths = []
    for batch in iterator:
        (data,), (label,) = batch.data, batch.label
        assert type(data) is mx.nd.NDArray and data.dtype == label.dtype == np.float32
        assert data.shape == label.shape == (2, batch.bucket_key) and batch.pad == 0
        assert batch.provide_data == [("data", data.shape)] and batch.provide_label == [("softmax_label", data.shape)]
        lengths.append(batch.bucket_key)
        for row, shifted, number in zip(data.tolist(), label.tolist(), batch.index, strict=True):
            given = sentences[number]
            assert row == given + [-7] * (batch.bucket_key - len(given)) and shifted == [*row[1:], -7]
    assert sorted(lengths) == [1, 3, 5, 5]


def test_buckets_are_the_lengths_of_enough_sentences():
    iterator = buckets_of(sentences_of(2, 1, 3, 0, 2, 1), 2)
    assert iterator.buckets == [1, 3, 5]
    assert iterator.provide_data == [("data", (2, 5))] and iterator.provide_label == [("softmax_label", (2, 5))]
    assert buckets_of([[], [], [1], [2]], 2).buckets == [1]


def test_buckets_without_a_sentence_are_left_out():
    iterator = mx.rnn.BucketSentenceIter([[1], [2, 3], [4]], 1, buckets=[60, 1, 4, 2])
    assert iterator.buckets == [1, 2] and iterator.default_bucket_key == 2
    assert iterator.provide_data == [("data", (1, 2))] and {batch.bucket_key for batch in iterator} == {1, 2}
    with pytest.raises(hr.GraphError, match=r"the buckets \[1, 2\] have \[0, 0\]"):
        mx.rnn.BucketSentenceIter([[1, 2, 3]], 1, buckets=[1, 2])


def test_longer_sentences_are_left_out_with_a_warning(caplog):
    caplog.set_level(logging.WARNING, "headrace.mx")
    assert {row for batch in rows_of(buckets_of(sentences_of(2, 2, 3), buckets=[2])) for row in batch} <= {0, 1, 2, 3}
    assert "left out 3 sentences that are longer than the longest bucket" in caplog.text
    caplog.clear()
    buckets_of(sentences_of(2, 2, 1), buckets=[2])
    assert "left out 1 sentence that is longer" in caplog.text
    caplog.clear()
    buckets_of(sentences_of(2, 2, 3), buckets=[3])
    assert caplog.text == ""


def test_batches_are_whole():
    iterator = buckets_of(sentences_of(5, 3, 8), 2)
    given = rows_of(iterator)
    assert len(given) == 2 + 1 + 4 and len({row for batch in given for row in batch}) == 14
    assert all(len(batch) == 2 for batch in given)
    with pytest.raises(StopIteration):
        iterator.next()


def test_each_epoch_has_an_order_of_its_own():
    iterator = buckets_of(sentences_of(16, 16, 16), 4)
    epochs = [rows_of(iterator) for _ in range(3) if iterator.reset() is None]
    assert all(sorted(sum(epoch, [])) == list(range(48)) for epoch in epochs)
    assert len({str(epoch) for epoch in epochs}) == 3
    # Of the batches, and of the rows within a bucket.
    keys = [[batch[0] // 16 for batch in epoch] for epoch in epochs]
    assert keys[0] != sorted(keys[0]) and len({*map(tuple, keys)}) > 1
    assert len({frozenset(map(frozenset, epoch)) for epoch in epochs}) == 3


def test_the_seed_decides_the_order():
    sentences = sentences_of(16, 16)
    orders = [rows_of(buckets_of(sentences, seed=seed)) for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    drawn = []
    for seed in (5, 5, 6):
        np.random.seed(seed)
        drawn.append(rows_of(mx.rnn.BucketSentenceIter(sentences, 2)))
    assert drawn[0] == drawn[1] != drawn[2]


def test_time_may_come_first():
    sentences = sentences_of(4, 6)
    rows, columns = (buckets_of(sentences, 3, layout=layout) for layout in ("NT", "TN"))
    assert columns.batch_size == 3 and columns.provide_data == [("data", (2, 3))]
    assert (rows.provide_data[0].layout, columns.provide_data[0].layout) == ("NT", "TN")
    for one, other in zip([*rows], [*columns], strict=True):
        assert np.array_equal(one.data[0], other.data[0].T) and np.array_equal(one.label[0], other.label[0].T)
        assert other.provide_data == [("data", (one.bucket_key, 3))]


def test_the_place_of_the_n_decides_the_shape():
    """As in MXNet, whatever else the layout says."""
    sentences = sentences_of(4, 6)
    for layout, alike in (("NTC", "NT"), ("N", "NT"), ("TNC", "TN"), ("CNT", "TN")):
        given, plain = buckets_of(sentences, 3, layout=layout), buckets_of(sentences, 3, layout=alike)
        assert given.layout == layout and given.major_axis == plain.major_axis == alike.index("N")
        assert given.provide_data == plain.provide_data and given.provide_data[0].layout == layout
        for one, other in zip([*given], [*plain], strict=True):
            assert one.provide_label == other.provide_label and one.provide_label[0].layout == layout
            assert np.array_equal(one.data[0], other.data[0]) and np.array_equal(one.label[0], other.label[0])


def test_names_and_types_are_those_given():
    iterator = buckets_of([[1, 2], [3, 4]], data_name="x", label_name="y", dtype="int32")
    batch = iterator.next()
    assert batch.data[0].dtype == batch.label[0].dtype == np.int32
    for described in (iterator.provide_data, batch.provide_data):
        assert described[0].name == "x" and described[0].dtype is np.int32
    assert iterator.provide_label[0].name == batch.provide_label[0].name == "y"


@pytest.mark.parametrize("layout", ["NT", "TN"])
def test_a_state_goes_on_with_the_next_batch(layout):
    sentences = sentences_of(5, 4, 6)

    def tell(batch):
        return batch.bucket_key, batch.data[0].tolist(), batch.index.tolist()

    whole = next_batches(buckets_of(sentences, layout=layout), 18, tell)
    assert whole.count("end") == 2
    for before in range(16):
        iterator = buckets_of(sentences, layout=layout)
        next_batches(iterator, before, tell)
        state = pickle.loads(pickle.dumps(iterator.state()))
        again = mx.rnn.BucketSentenceIter(sentences, 2, layout=layout, state=state)
        assert next_batches(again, 18 - before, tell) == whole[before:], before
    with pytest.raises(hr.StateError):
        mx.rnn.BucketSentenceIter(sentences[:-1], 2, state=state)
    for wrong in ({}, {**state, "epoch": "x"}, {**state, "run": "x"}, 3):
        with pytest.raises(hr.StateError, match="give what state"):
            mx.rnn.BucketSentenceIter(sentences, 2, layout=layout, state=wrong)
    for seed in ("x", None, -1):
        with pytest.raises(hr.StateError, match="taken with seed="):
            mx.rnn.BucketSentenceIter(sentences, 2, layout=layout, state={**state, "seed": seed})
    with pytest.raises(hr.StateError):
        mx.rnn.BucketSentenceIter(sentences, 2, state={"seed": "x"})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"size": 0}, "batch_size is 0"),
        ({"layout": "CTN"}, "layout is 'CTN'; its first or second letter must be N"),
        ({"layout": "T"}, "layout is 'T'"),
        ({"layout": 3}, "layout is 3"),
        ({"buckets": [0, 2]}, "buckets is 0"),
        ({"size": 9}, "no length has batch_size=9 sentences"),
        ({"size": 9, "buckets": [1, 2]}, r"no bucket has batch_size=9 sentences; the buckets \[1, 2\] have \[3, 2\]"),
        ({"on_error": "ignore"}, "on_error is 'ignore'"),
        ({"dtype": "uint8"}, "invalid_label is -1, which dtype=uint8 cannot hold"),
        ({"invalid_label": "x"}, "invalid_label is 'x', which dtype=float32 cannot hold"),
    ],
)
def test_what_cannot_be_is_refused(given, message):
    with pytest.raises(hr.GraphError, match=message):
        buckets_of(sentences_of(3, 2), **given)


def test_words_that_are_not_encoded_are_named():
    for sentences, shown in (([["a", "b"]], r"\['a', 'b'\]"), (["a b"], "'a b'")):
        with pytest.raises(
            hr.GraphError, match=f"sentence 0 is {shown}; it must be a list of numbers, as encode_sentences"
        ):
            mx.rnn.BucketSentenceIter(sentences, 1)


def test_names_of_networks_are_told_to_be_none():
    with pytest.raises(AttributeError, match="no attribute 'LSTMCell'; models are trained with another library"):
        _ = mx.rnn.LSTMCell


def test_a_word_that_does_not_fit_is_named_by_its_sentence():
    with pytest.raises(hr.GraphError, match="sentence 1 has a number that dtype=uint8 cannot hold"):
        buckets_of([[1, 2], [3, 300]], dtype="uint8", invalid_label=0)


def test_memory_and_explain_are_the_engines():
    iterator = buckets_of(sentences_of(4, 4), memory="64MiB")
    iterator.next()
    assert "64.0 MiB" in iterator.explain()


def test_no_python_runs_for_a_row():
    def calls(size):
        return python_calls(buckets_of(sentences_of(0, 800), size))

    assert calls(200) < calls(2) + 30


def test_it_fits_into_the_other_iterators():
    resized = mx.io.ResizeIter(buckets_of(sentences_of(4, 4)), 7)
    assert resized.default_bucket_key == 2 and len([*resized]) == 7


# ---- MXNet's own ----

_PROGRAM = """
import json, sys, warnings
warnings.simplefilter("ignore")
import mxnet as mx
asked = json.load(sys.stdin)
encoded, vocab = mx.rnn.encode_sentences(asked["words"])
out = {"encoded": encoded, "vocab": vocab, "iterators": []}
for given in asked["iterators"]:
    iterator = mx.rnn.BucketSentenceIter(asked["sentences"], **given)
    batches = [(b.bucket_key, b.data[0].asnumpy().tolist(), b.label[0].asnumpy().tolist()) for b in iterator]
    out["iterators"].append([iterator.buckets, iterator.default_bucket_key, iterator.provide_data[0].shape, batches])
print("RESULT" + json.dumps(out))
"""


@needs_mxnet
def test_buckets_equal_mxnets():
    sentences = sentences_of(4, 8, 4, 8)
    cases = [
        {"batch_size": 2},
        {"batch_size": 2, "buckets": [2, 4], "invalid_label": 0},
        {"batch_size": 2, "buckets": [3, 1], "layout": "TNC", "dtype": "float64"},
        {"batch_size": 4},
        {"batch_size": 2, "buckets": [1, 2, 5, 60]},
    ]
    asked = {"words": WORDS, "sentences": sentences, "iterators": cases}
    ran = subprocess.run(
        [PYTHON, "-c", _PROGRAM], input=json.dumps(asked), text=True, check=True, timeout=120, capture_output=True
    )
    theirs = json.loads(ran.stdout[ran.stdout.index("RESULT") + 6 :])
    assert [*mx.rnn.encode_sentences(WORDS)] == [theirs["encoded"], theirs["vocab"]]
    for given, (buckets, longest, shape, batches) in zip(cases, theirs["iterators"], strict=True):
        ours = mx.rnn.BucketSentenceIter(sentences, **given)
        assert (ours.buckets, ours.default_bucket_key, [*ours.provide_data[0].shape]) == (buckets, longest, shape)
        # Which rows meet in a batch is drawn, and so is the order of the batches.
        assert rows_and_labels(
            (batch.bucket_key, batch.data[0].tolist(), batch.label[0].tolist()) for batch in ours
        ) == rows_and_labels(batches)


def rows_and_labels(batches):
    """Pairs of row and label, transposed alike, and the bucket of each, in one order."""
    pairs = []
    for key, data, label in batches:
        rows, labels = (np.array(each) if np.shape(each)[1] == key else np.array(each).T for each in (data, label))
        pairs += [(key, row.tolist(), of_row.tolist()) for row, of_row in zip(rows, labels, strict=True)]
    return sorted(pairs)
