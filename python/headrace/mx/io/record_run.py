"""`RecordRun` checks what the iterators over image records take alike, and gives what they are started with."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from headrace._arguments import options
from headrace._datasets.dataset import Dataset
from headrace._kernels.kernel import Kernel
from headrace.errors import UnsupportedError
from headrace.mx.io.accepted_parameters import explained, page_locked_of
from headrace.mx.io.given_values import flag, image_shape, named_files, part
from headrace.mx.io.image_records import ImageRecords, chunk_of, given_paths, threads_of
from headrace.mx.io.mean_image import MeanImage
from headrace.mx.io.pipeline import Ending, Pipeline, Running, check_skips
from headrace.mx.message_log import log

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["RecordParameters", "RecordRun"]


class RecordParameters(TypedDict):
    """As `ImageRecordIter` describes them."""

    path_imgrec: Any
    data_shape: Any
    batch_size: int
    path_imgidx: Any
    path_imglist: Any
    label_width: int
    shuffle: bool
    seed: int
    shuffle_chunk_size: int
    shuffle_chunk_seed: int
    round_batch: bool
    num_parts: int
    part_index: int
    aug_seq: str
    preprocess_threads: int | None
    prefetch_buffer: int | None
    ctx: Any
    device_id: int
    verbose: bool
    memory: int | str | None
    on_error: Literal["raise", "skip"]
    max_errors: int
    device: str | None
    state: Mapping[str, Any] | None


class RecordRun:
    """The parameters of an iterator, checked, and the records that they name.

    Args:
        of: The iterator, for messages.
        channels: The channels that an image may have.
        least_labels: The least label_width.
        augmenter: The only aug_seq.
        given: `RecordParameters`.
    """

    def __init__(
        self,
        of: str,
        channels: tuple[int, ...],
        least_labels: int,
        augmenter: str,
        **given: "Unpack[RecordParameters]",
    ) -> None:
        self._of = of
        self._given = given
        self.shape = image_shape(given["data_shape"], channels, of)
        if given["aug_seq"] != augmenter:
            raise UnsupportedError(f'{of}: aug_seq is {given["aug_seq"]!r}; there is "{augmenter}" alone')
        self.size = options.whole("batch_size", given["batch_size"], 1, of)
        self.label_width = options.whole("label_width", given["label_width"], least_labels, of)
        self._shuffle = flag("shuffle", given["shuffle"], of)
        self._records = self._named()
        self._threads = threads_of(given["preprocess_threads"], of)
        self._rounds = flag("round_batch", given["round_batch"], of)
        self._logs = flag("verbose", given["verbose"], of)
        self.ending = Ending.ROUND if self._rounds else Ending.PAD
        options.choice("on_error", given["on_error"], ("raise", "skip"), of)

    def _named(self) -> ImageRecords:
        given, of = self._given, self._of
        index = given_paths(given["path_imgidx"])
        size, seed = given["shuffle_chunk_size"], given["shuffle_chunk_seed"]
        return ImageRecords(
            paths=given["path_imgrec"],
            index=index,
            path_imglist=given_paths(given["path_imglist"]),
            label_width=self.label_width,
            shuffle=self._shuffle,
            chunk=chunk_of(size, seed, self._shuffle, index is not None, of),
            part=part(given["part_index"], given["num_parts"], of),
            of=of,
        )

    def all_rows(self) -> Dataset:
        """Of all parts, in the order of the files."""
        return self._records.all_rows()

    def pipeline(self, check: Callable[[Dataset], Dataset], finish: Callable[[Dataset], Dataset]) -> Pipeline:
        """The rows of the part, which may be counted for it.

        Args:
            check: Applies such kernels as `finish`, to check their attributes: nothing runs.
            finish: Applies the kernels.
        """
        to_skip = self._records.to_skip(counted=self._rounds)
        check_skips(self._given["on_error"], to_skip, self._of)
        rows, total = self._records.rows(counted=self._rounds)
        # Looking at the schema checks the attributes of the kernels.
        _ = check(rows).schema
        files = named_files("path_imgrec", self._given["path_imgrec"])
        return Pipeline(rows, "image", "id", total, self._records.shard, finish, files, to_skip=to_skip)

    def mean_image(self, path: str, geometry: list[Kernel]) -> np.ndarray:
        """The mean image at the path, made of all records if it is missing."""
        given = self._given
        mean = MeanImage(
            path,
            self.all_rows(),
            given["on_error"],
            given["max_errors"],
            given["memory"],
            self._threads,
            self._logs,
        )
        return mean.values(geometry, self.shape, self._of)

    def running(self) -> Running:
        given = self._given
        return Running(
            options.whole("seed", given["seed"], of=self._of),
            given["memory"],
            given["on_error"],
            given["max_errors"],
            given["state"],
            self._threads,
            given["device"],
            page_locked_of(given["device_id"]),
        )

    def explained(self) -> list[str]:
        """Lines for `explain()`."""
        given = self._given
        return explained(self._of, given["ctx"], given["device_id"], self._threads, given["prefetch_buffer"])

    def log(self, rows: str) -> None:
        """A line about the data, if verbose asks for it."""
        if self._logs:
            log.info("%s: %s, %s, shuffle=%s", self._of, self._given["path_imgrec"], rows, self._shuffle)
