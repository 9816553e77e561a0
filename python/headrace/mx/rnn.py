"""Sentences of different lengths in batches, as `mxnet.rnn` has them."""

import bisect
import functools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import DTypeLike

import headrace
from headrace._arguments import options
from headrace._datasets.dataset import Dataset
from headrace.errors import GraphError
from headrace.mx import nd
from headrace.mx.absent import no_name
from headrace.mx.io.data_batch import DataBatch, DataDesc
from headrace.mx.io.engine_batches import EngineBatches
from headrace.mx.io.filled_batch import Columns
from headrace.mx.io.given_values import kept_seed
from headrace.mx.io.pipeline import Ending, Pipeline, Running
from headrace.mx.message_log import log

__all__ = ["BucketSentenceIter", "encode_sentences"]


def encode_sentences(
    sentences: Iterable[Iterable[Any]],
    vocab: dict[Any, int] | None = None,
    invalid_label: int = -1,
    invalid_key: Hashable = "\n",
    start_label: int = 0,
    unknown_token: Any = None,
) -> tuple[list[list[int]], dict[Any, int]]:
    """Numbers in place of words: the sentences, and the vocabulary.

    Args:
        sentences: Lists of words.
        vocab: The numbers of words; None: a new one, in which each word gets the next number.
        invalid_label: The number of `invalid_key` in a new vocabulary, which no word gets.
        invalid_key: What stands for the end of a sentence.
        start_label: The number of the first new word.
        unknown_token: What takes the place of a word that `vocab` lacks; None: such a word is an error. If `vocab` lacks
            the token, too, it is added with the first number from start_label on that no word has, nor invalid_label is.
            With a new vocabulary no word is unknown.

    Raises:
        GraphError: A word is not in `vocab`, and there is no unknown_token.
    """
    grows = vocab is None
    numbers: dict[Any, int] = {invalid_key: invalid_label} if vocab is None else vocab
    taken = set() if grows else set(numbers.values())
    label = start_label
    encoded = []
    for sentence in sentences:
        words = []
        for given in sentence:
            word = given
            if word not in numbers and not grows:
                if unknown_token is None:
                    raise GraphError(
                        f"encode_sentences: {options.shown(word)} is not in vocab; add it, or give unknown_token"
                    )
                word = unknown_token
            if word not in numbers:
                label = _free(label, taken, invalid_label)
                numbers[word] = label
                label += 1
            words.append(numbers[word])
        encoded.append(words)
    return encoded, numbers


def _free(label: int, taken: set[int], invalid_label: int) -> int:
    """The first number from `label` on that nothing has."""
    while label in taken or label == invalid_label:
        label += 1
    return label


class BucketSentenceIter(EngineBatches):
    """Gives batches of sentences of about one length, as `mxnet.rnn.BucketSentenceIter` does, for networks that are unrolled
    to the length of each batch, its `bucket_key`.

    A sentence goes into the smallest bucket that holds it, and is filled up to the bucket's length. Labels are the data
    shifted by one. Each epoch has the batches in a random order, and other rows in each; rows that fill no batch of their
    bucket are left out of it. In addition each batch has the sentences' numbers as `index`.

    Args:
        sentences: Lists of numbers, as `encode_sentences` gives them.
        batch_size: Rows in a batch, from 1 on.
        buckets: The lengths of the buckets, of which those without a sentence are left out; None: every length that at
            least batch_size sentences have.
        invalid_label: What fills sentences, and the last label of each.
        data_name: In `provide_data`.
        label_name: In `provide_label`.
        dtype: Of data and labels.
        layout: Where the N is decides the shape, and `provide_data` has all of it. First, as in "NT": (batch_size, length);
            second, as in "TN": (length, batch_size).
        seed: Of the order; None: drawn from NumPy's global generator, so that `np.random.seed` decides it.
        memory: The budget in bytes, or as "64MiB"; None: the engine's default.
        on_error: Accepted for uniformity; has no effect.
        device: Where batches end, as `Dataset.to_device` takes it: "cuda:0", or "cpu:0"; None: in host memory. The arrays of
            a batch there are objects for `from_dlpack` of any library.
        state: What `state()` gave: the iterator goes on with the batch after it.

    Raises:
        GraphError: An argument is out of its range, no bucket has sentences for a batch, or dtype cannot hold a number.
        StateError: The state is of other sentences or another iterator.
    """

    def __init__(
        self,
        sentences: Sequence[Sequence[int]],
        batch_size: int,
        buckets: Sequence[int] | None = None,
        invalid_label: int = -1,
        data_name: str = "data",
        label_name: str = "softmax_label",
        dtype: DTypeLike = "float32",
        layout: str = "NT",
        *,
        seed: int | None = None,
        memory: int | str | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        device: str | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        of = type(self).__name__
        size = options.whole("batch_size", batch_size, 1, of)
        self.layout = layout
        self.major_axis = layout.find("N") if isinstance(layout, str) else -1
        if self.major_axis not in (0, 1):
            raise GraphError(
                f'{of}: layout is {options.shown(layout)}; its first or second letter must be N, as in "NT" and "TN"'
            )
        self.data_name, self.label_name = data_name, label_name
        self.invalid_label = invalid_label
        self.dtype = np.dtype(dtype)
        lengths = _buckets(sentences, size, buckets, of)
        filled = _Filled(sentences, lengths, invalid_label, self.dtype, of)
        if filled.left_out:
            which = "1 sentence that is" if filled.left_out == 1 else f"{filled.left_out} sentences that are"
            log.warning("%s: left out %s longer than the longest bucket", of, which)
        order = _Order(filled.counts, size)
        if order.batches == 0:
            raise GraphError(
                f"{of}: no bucket has batch_size={size} sentences; the buckets {lengths} have {filled.counts}"
            )
        self.buckets = [length for length, count in zip(lengths, filled.counts, strict=True) if count > 0]
        self.default_bucket_key = self.buckets[-1]
        if seed is None:
            seed = int(np.random.randint(2**31)) if state is None else kept_seed(state) or 0
        shape = self._shape(self.default_bucket_key, size)
        super().__init__(
            Pipeline(filled.rows.sample(headrace.from_sampler(order)), "data", "id", order.batches * size),
            Running(options.whole("seed", seed, of=of), memory, on_error, state=state, device=device),
            Ending.DISCARD,
            DataDesc(data_name, shape, self.dtype.type, self.layout),
            DataDesc(label_name, shape, self.dtype.type, self.layout),
        )

    def _shape(self, length: int, size: int) -> tuple[int, int]:
        return (size, length) if self.major_axis == 0 else (length, size)

    def _made_of(self, columns: Columns, pad: int, index: np.ndarray | None) -> DataBatch:
        data, label = (columns[name].view(nd.NDArray) for name in ("data", "label"))
        length = data.shape[1]
        if self.major_axis == 1:
            data, label = data.T, label.T
        described = [
            DataDesc(name, data.shape, self.dtype.type, self.layout) for name in (self.data_name, self.label_name)
        ]
        return DataBatch([data], [label], pad, index, length, described[:1], described[1:])


def _buckets(sentences: Sequence[Sequence[int]], size: int, given: Sequence[int] | None, of: str) -> list[int]:
    """In the order of their lengths."""
    if given:
        return sorted({options.whole("buckets", each, 1, of) for each in given})
    counts = np.bincount([len(sentence) for sentence in sentences], minlength=1)
    found = [length for length, count in enumerate(counts) if count >= size and length > 0]
    if not found:
        raise GraphError(f"{of}: no length has batch_size={size} sentences; give buckets, or a smaller batch_size")
    return found


class _Filled:
    """The sentences in their buckets, one bucket after the other."""

    def __init__(
        self, sentences: Sequence[Sequence[int]], buckets: list[int], invalid_label: int, dtype: Any, of: str
    ) -> None:
        numbers: list[list[int]] = [[] for _ in buckets]
        self.left_out = 0
        for number, sentence in enumerate(sentences):
            bucket = bisect.bisect_left(buckets, len(sentence))
            if bucket == len(buckets):
                self.left_out += 1
            else:
                numbers[bucket].append(number)
        self.counts = [len(each) for each in numbers]
        sources = []
        for length, rows in zip(buckets, numbers, strict=True):
            data = _full((len(rows), length), invalid_label, dtype, of)
            for row, number in enumerate(rows):
                _fill(data[row], sentences[number], number, of)
            label = np.full_like(data, invalid_label)
            label[:, :-1] = data[:, 1:]
            if rows:
                sources.append(headrace.Numpy({"data": data, "label": label, "id": np.array(rows, np.int64)}))
        self._sources = sources

    @functools.cached_property
    def rows(self) -> Dataset:
        first, *others = self._sources
        return first.concat(*others) if others else first


def _full(shape: tuple[int, int], invalid_label: int, dtype: Any, of: str) -> np.ndarray:
    try:
        return np.full(shape, invalid_label, dtype)
    except (OverflowError, TypeError, ValueError):
        raise GraphError(
            f"{of}: invalid_label is {options.shown(invalid_label)}, which dtype={dtype} cannot hold; change one of them"
        ) from None


def _fill(row: np.ndarray, sentence: Sequence[int], number: int, of: str) -> None:
    try:
        row[: len(sentence)] = sentence
    except (TypeError, ValueError):
        raise GraphError(
            f"{of}: sentence {number} is {options.shown(sentence)}; it must be a list of numbers, as encode_sentences makes "
            "of words"
        ) from None
    except OverflowError:
        raise GraphError(
            f"{of}: sentence {number} has a number that dtype={row.dtype} cannot hold; give another dtype"
        ) from None


class _Order:
    """Whole batches of each bucket's rows, in a random order: a sampler of the kind that `Dataset.sample` takes."""

    def __init__(self, counts: list[int], size: int) -> None:
        self._counts = counts
        self._size = size
        self.batches = sum(count // size for count in counts)

    def size(self, epoch: int) -> int:
        return self.batches * self._size

    def indices(self, epoch: int, rng: np.random.Generator) -> np.ndarray:
        batches = []
        first = 0
        for count in self._counts:
            whole = count // self._size
            batches.append((first + rng.permutation(count)[: whole * self._size]).reshape(whole, self._size))
            first += count
        ordered: np.ndarray = rng.permutation(np.concatenate(batches)).reshape(-1)
        return ordered


if not TYPE_CHECKING:  # Else no unknown name would be an error to a type checker.

    def __getattr__(name: str) -> object:
        raise no_name(__name__, name)
