"""Datasets: how pipelines are written and run."""

from __future__ import annotations

import os
from abc import ABCMeta
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from headrace import _mindrecord, _parquet, _records, _statistics, sheet
from headrace._arguments import options
from headrace._arguments.dtype import dtype_advice
from headrace._arguments.other_libraries import advise, advise_init, method_advice, source_advice
from headrace._arguments.storage import within
from headrace._arguments.suggestions import did_you_mean
from headrace._datasets import numbered_rows
from headrace._datasets.base import Base
from headrace._datasets.class_names import class_names, known_classes, label_columns, why_none
from headrace._datasets.class_names import classes_of as class_names_of
from headrace._datasets.methods import Methods
from headrace._datasets.pickling import pickled
from headrace._datasets.runs import Runs
from headrace._datasets.sampler import Sampler, applied
from headrace._datasets.summary import Summary
from headrace._files.whole_file import write_whole
from headrace._graph import late_names
from headrace._runs import error_policy
from headrace._runs.run_options import RunParameters
from headrace.errors import GraphError
from headrace.transforms import TypeCast

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from headrace._mindrecord import WrittenSet
    from headrace._parquet import WrittenParquet
    from headrace._records import Written, WrittenTar, WrittenTFRecords
    from headrace._statistics import Statistics
    from headrace.sheet import ContactSheet

__all__ = ["Dataset"]


if TYPE_CHECKING:  # Else no unknown name would be an error to a type checker.
    _Named = ABCMeta
else:

    class _Named(ABCMeta):
        """Says of a class of datasets what to write in place of what it lacks, as Dataset.from_dict. A class of a user
        may be an `abc.ABC`, too."""

        def __getattr__(cls, name: str) -> Any:
            advice = None if name.startswith("_") else source_advice(name)
            said = f"type object {cls.__name__!r} has no attribute {name!r}"
            raise AttributeError(f"{said}; {advice}" if advice else said, name=name)


@advise
class Dataset(Methods, Runs, metaclass=_Named):
    """A pipeline: a source of rows and the operators on them. Made by a source such as `headrace.ImageFolder`; every
    method returns a new dataset and leaves its own unchanged. Nothing is read and no mistake is reported before the
    dataset is run or its schema is used: then all mistakes are reported at once, with their lines in the script.

    Attributes:
        epoch: The epoch that `iter(ds)` runs next. The second batch of a loop advances it, so that a loop left early is
            not repeated; it may be set.
    """

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        advise_init(cls)

    if not TYPE_CHECKING:  # Else no unknown name would be an error to a type checker.

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_"):
                method = late_names.method_of(name)
                if method is not None:
                    return method.__get__(self)
            if name in ("classes", "class_to_idx"):
                raise AttributeError(f"a Dataset has no {name}; {why_none(self)}", name=name)
            advice = method_advice(name)
            known = (each for each in dir(self) if not each.startswith("_"))
            near = did_you_mean(name, known) if advice is None else f"; {advice}"
            near = near or f'; if it is a column, each row has it: row["{name}"]'
            # Without `obj`: else Python adds a suggestion of its own, perhaps of a private name.
            raise AttributeError(f"a Dataset has no {name}{near}", name=name)

    # ---- in other processes ----

    def __reduce__(self) -> tuple[Any, ...]:
        """For `pickle`, and so for multiprocessing, joblib and Ray: the pipeline with its functions and arrays, its options
        and its epoch; without `storage`. GraphError for more than 64 MiB of arrays, and for what cannot be pickled."""
        return pickled(self, self.epoch)

    # ---- what adds datasets elsewhere ----

    def __add__(self, other: object) -> NoReturn:
        raise TypeError("datasets have no sum: write dataset.concat(other) for the rows of one after the other's")

    __radd__ = __add__

    # ---- rows by number ----

    def __getitem__(self, index: int) -> Any:
        """Row `index` of epoch `ds.epoch`, as `ds.iterate(epoch=ds.epoch)` gives it; -1 is the last. It is made alone: to
        loop over many, loop over the dataset.

        Raises IndexError for a number beyond the rows, and UnsupportedError, naming the operator, where rows have no
        numbers, as above a shuffle(window), a filter or a source that is read as a stream.
        """
        return numbered_rows.row(self, index)

    def __getitems__(self, indices: Any) -> Any:
        """The rows of a batch, as torch's DataLoader asks for them."""
        return numbered_rows.rows(self, indices)

    # ---- its classes ----

    def _cast_labels(self, dtype: Any) -> None:
        """For a source that is being made: its labels have this type; None: that of the source."""
        if dtype is None:
            return
        columns = label_columns(self)
        if not columns:
            of = type(self).__name__
            raise GraphError(
                f"{of}: label_type is {options.shown(dtype)}, and there is no column of labels; leave it out"
            )
        advice = dtype_advice(dtype)
        if advice is not None:
            raise GraphError(f"{type(self).__name__}: label_type is {options.shown(dtype)}; {advice}")
        for column in columns:
            self._become(self._copy().map(TypeCast(dtype), column))

    @property
    def class_to_idx(self) -> dict[str, int]:
        """From the names of the classes to their labels, in the order of the labels: those of ImageFolder's folders, of
        `classes=` of a table or a file, or of a dataset of torchvision that `from_dataset` was given.

        They follow the column `label` through every method, also under another name, and through kernels that give the
        labels in another form, such as OneHot, or cut boxes away with their labels; and masks of classes through kernels
        that move pixels without mixing them. `concat`, `zip` and `mix` keep them where they are equal. AttributeError
        with the reason where they are not known, as after a function has changed the labels.
        """
        return class_names(self)

    @property
    def classes(self) -> list[str]:
        """The names of the classes, in the order of their labels; see `class_to_idx`."""
        return list(class_names(self))

    def classes_of(self, column: str) -> list[str]:
        """The names of the classes of one column, in the order of their labels: where several columns have classes,
        `classes` are those of the column `label`. GraphError with the reason where they are not known.

        Args:
            column: Its name in this dataset.
        """
        return class_names_of(self, column)

    # ---- its numbers ----

    def statistics(self, column: str, **options: Unpack[RunParameters]) -> Statistics:
        """The mean, standard deviation, least and greatest value of a column over the rows of epoch `ds.epoch`: for each
        element of the last axis, as for each feature of a table or each channel of pictures, or one number of scalars.

        They are computed in float64, in the order of the rows, so that they do not depend on the number of workers.
        Compute them of the rows that a model is trained on, and use them for all that it sees:

            found = train.statistics("features")
            scale = T.Standardize(found.mean, found.std)
            train, test = train.map(scale, "features"), test.map(scale, "features")

        Raises GraphError for batches, and for a column without numbers; DataError for NaN and infinity, for rows whose last
        axes differ, and where there are no values; and the errors of the pipeline.

        Args:
            column: Its name in this dataset.
            options: Those of `iterate`.
        """
        return _statistics.statistics_of(self, column, dict(options))

    # ---- looking at it ----

    def to_dot(self) -> str:
        """The graph for Graphviz: `dot -Tsvg`."""
        return self._graph().dot()

    def to_json(self) -> str:
        """The graph as JSON."""
        return self._graph().json()

    def to_text(self) -> str:
        """The graph as protobuf's text form."""
        return self._graph().text()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the graph to a file for `headrace.load`. Python functions and arrays are not in it, only their names.

        An existing file is replaced once the new one is completely on the disk, and kept if writing fails.
        """
        path = options.file_path("path", path, "save")
        graph = self._graph()
        graph.validate()
        data = graph.serialize()
        with within(self._options["storage"]):
            write_whole(path, data, f"cannot save to {path}")

    def write_records(
        self, path: str | os.PathLike[str], *, files: int = 1, resume: bool = False, **options: Unpack[RunParameters]
    ) -> Written:
        """Writes the rows of epoch `ds.epoch`, in their order, to a RecordIO file and its index, or to several.

        With the columns `image` (encoded bytes) and `label`, and perhaps `id`, each row becomes an image record, which
        MXNet and `hr.ImageRecord` read: a number as label is the header's, an array is packed after it as float32; the
        key is the id, else the row's number. With one column of bytes each row becomes a record of those bytes.

            ds.map([V.Decode(), V.Resize(256), V.EncodeJpeg()], "image").write_records("train.rec")

        The files take their names together when all are complete, in place of older ones: an error leaves those as they
        were. Of several files those that were finished before an error or a kill are kept, for `resume`.
        Raises GraphError for other columns, UnsupportedError while another process writes the file, StateError for what
        another dataset left, ResourceError if the disk is full, and the errors of the pipeline.

        Args:
            path: The file to write, `.rec`; the index gets its name with `.idx`.
            files: How many files the rows are divided among, in runs of equal length: `train-00000-of-00008.rec` and so
                on for `train.rec`. Where the number of rows is not known before a run, as below a filter, the rows are
                made twice, to count them.
            resume: Go on with what a run with the same arguments left when it ended early: files that it had finished
                are not made again, and all are the same in the end.
            options: Those of `iterate`.
        """
        return _records.write_records(self, path, files, resume, dict(options))

    def write_tfrecord(
        self, path: str | os.PathLike[str], *, files: int = 1, resume: bool = False, **options: Unpack[RunParameters]
    ) -> WrittenTFRecords:
        """Writes the rows of epoch `ds.epoch`, in their order, to a TFRecord file, or to several.

        Each row becomes a tf.train.Example with a feature for each column, in order of their names: whole numbers and
        bools as int64, float16 and float32 as float32, bytes and texts as bytes; arrays in row-major order, without their
        shapes. A dataset whose only column is `record` (bytes) is written as these records.

            ds.map([V.Decode(), V.Resize(256), V.EncodeJpeg()], "image").write_tfrecord("train.tfrecord", files=8)

        The files take their names together when all are complete, in place of older ones: an error leaves those as they
        were. Of several files those that were finished before an error or a kill are kept, for `resume`.
        Raises GraphError for columns of float64, DataError for a value that no feature holds, UnsupportedError while
        another process writes the file, StateError for what another dataset left, ResourceError if the disk is full, and
        the errors of the pipeline.

        Args:
            path: The file to write.
            files: How many files the rows are divided among, in runs of equal length: `train-00000-of-00008.tfrecord`
                and so on for `train.tfrecord`. Where the number of rows is not known before a run, as below a filter, the
                rows are made twice, to count them.
            resume: Go on with what a run with the same arguments left when it ended early: files that it had finished
                are not made again, and all are the same in the end.
            options: Those of `iterate`.
        """
        return _records.write_tfrecord(self, path, files, resume, dict(options))

    def write_tar(
        self, path: str | os.PathLike[str], *, files: int = 1, resume: bool = False, **options: Unpack[RunParameters]
    ) -> WrittenTar:
        """Writes the rows of epoch `ds.epoch`, in their order, as WebDataset's samples to a tar archive, or to several.

        A row is a sample, and each column a field of its name: bytes as they are, texts as UTF-8, single numbers as text,
        arrays as .npy or JSON where the name ends so, and the columns json.a and json.b as one object in the field json.
        The key is the column `__key__`, or else the row's number; `__url__` and `__fields__` are left out. `WebDataset`
        with the same types in `decode` gives the same rows.

            ds.map([V.Decode(), V.Resize(256), V.EncodeJpeg()], "jpg").write_tar("train.tar", files=8)

        Equal rows are equal bytes: all times are 1970, and all owners the same. The archives take their names together
        when all are complete, in place of older ones: an error leaves those as they were. Of several archives those that
        were finished before an error or a kill are kept, for `resume`.
        Raises GraphError for a column that cannot be a field, DataError for a value or a key that cannot be written,
        UnsupportedError while another process writes the file, StateError for what another dataset left, ResourceError if
        the disk is full, and the errors of the pipeline.

        Args:
            path: The archive to write, `.tar`.
            files: How many archives the rows are divided among, in runs of equal length: `train-00000-of-00008.tar` and
                so on for `train.tar`. Where the number of rows is not known before a run, as below a filter, the rows are
                made twice, to count them.
            resume: Go on with what a run with the same arguments left when it ended early: archives that it had finished
                are not made again, and all are the same in the end.
            options: Those of `iterate`.
        """
        return _records.write_tar(self, path, files, resume, dict(options))

    def write_parquet(
        self,
        path: str | os.PathLike[str],
        *,
        files: int = 1,
        row_group_rows: int | None = None,
        compression: str = "snappy",
        images: str | Sequence[str] | None = None,
        resume: bool = False,
        **options: Unpack[RunParameters],
    ) -> WrittenParquet:
        """Writes the rows of epoch `ds.epoch`, in their order, to a Parquet file, or to several, by pyarrow.

        Numbers, bools, texts and bytes are values of their own types, and arrays lists: of one length along an axis where
        all rows have it; the first axis may differ from row to row. Columns whose classes have names are int64. Where
        there are such columns, or images, the metadata `huggingface` says so, and datasets.load_dataset gives ClassLabel
        and Image; `Parquet` gives the same rows.

            ds.map([V.Decode(), V.Resize(256), V.EncodeJpeg()], "image").write_parquet(
                "train.parquet", files=8, images="image"
            )

        The files take their names together when all are complete, in place of older ones: an error leaves those as they
        were. Of several files those that were finished before an error or a kill are kept, for `resume`.
        Raises GraphError for a column that Parquet does not hold, DataError for a value that is not of its column's type,
        UnsupportedError without pyarrow and while another process writes the file, StateError for what another dataset
        left, ResourceError if the disk is full, and the errors of the pipeline.

        Args:
            path: The file to write.
            files: How many files the rows are divided among, in runs of equal length: `train-00000-of-00008.parquet` and
                so on for `train.parquet`. Where the number of rows is not known before a run, as below a filter, the rows
                are made twice, to count them.
            row_group_rows: Rows of a row group, which is decoded as a whole. None: as many as have 16 MiB.
            compression: "zstd", "snappy", "gzip", "brotli", "lz4" or "none".
            images: Columns of encoded images, as structs of `bytes` and `path`.
            resume: Go on with what a run with the same arguments left when it ended early: files that it had finished
                are not made again, and all are the same in the end.
            options: Those of `iterate`.
        """
        classes = known_classes(self)
        return _parquet.write_parquet(
            self, path, files, row_group_rows, compression, images, classes, resume, dict(options)
        )

    def write_mindrecord(
        self,
        path: str | os.PathLike[str],
        *,
        files: int = 1,
        index: Sequence[str] | None = None,
        header_size: int | None = None,
        page_size: int | None = None,
        resume: bool = False,
        **options: Unpack[RunParameters],
    ) -> WrittenSet:
        """Writes the rows of epoch `ds.epoch`, in their order, to a set of MindRecord files, which MindSpore 2 and
        `hr.MindRecord` read.

        Columns become fields of their names: int32, int64, float32 and float64, single values or arrays of which at most
        one dimension differs from row to row; texts, and bytes.

            hr.ImageFolder("photos").write_mindrecord("train.mindrecord", files=4, index=["label"])

        The files take their names together when all are complete, in place of older ones: an error leaves those as they
        were, and a kill leaves those, or a set that is refused. Until then the rows take as much disk again. Raises
        GraphError for columns that MindRecord has no type for, DataError, naming row and column, for a value that does
        not fit, UnsupportedError while another process writes the set, StateError for what another dataset left,
        ResourceError if the disk is full, and the errors of the pipeline.

        Args:
            path: The file to write; several have their numbers after it, and each an index with `.db`.
            files: How many files the rows are divided among, in runs of equal length. Where the number of rows is not
                known before a run, as below a filter, the rows are made twice, to count them.
            index: The numbers and texts that the indices hold, for MindSpore's samplers; None: all.
            header_size: The bytes in front of the first page, 16 KiB to 128 MiB; None: twice what the rows need.
            page_size: The bytes of a page, 32 KiB to 256 MiB; None: as few as the longest row allows.
            resume: Go on with what a run with the same arguments left when it ended early: the rows of files that were
                complete are not made again, and all files are the same in the end.
            options: Those of `iterate`.
        """
        return _mindrecord.write_mindrecord(self, path, files, index, header_size, page_size, resume, dict(options))

    def show(
        self,
        n: int = 16,
        *,
        columns: str | Sequence[str] | None = None,
        image: str | None = None,
        mask: str | None = None,
        boxes: str | None = None,
        box_format: Literal["xyxy", "xywh", "cxcywh"] = "xyxy",
        keypoints: str | None = None,
        side: int = 160,
    ) -> ContactSheet:
        """The images of the first n rows of epoch 0 in a grid, with labels, ids and texts under them: a notebook shows
        it, and `.save("sheet.png")` writes it. The rows of batches are taken apart. `ds.epoch` stays as it is.

        Images are uint8, uint16 or floats of shape (H, W, C) or (C, H, W) with 1, 3 or 4 channels, the fourth opacity,
        or encoded bytes. Floats of 0 … 1 are shown from black to white; an image with others is shown from its own least
        value, black, to its greatest, white, and both are written under it. Large images are shrunk, small ones enlarged
        by a whole number. Bytes that cannot be decoded are a grey square with the reason.

        Raises GraphError, with all columns and their types, if none holds images, and for a column that is not what it
        is named as; DataError if there are no rows, or a mask and its image differ in size; and the errors of the
        pipeline.

            ds.show(boxes="boxes", box_format="xywh").save("sheet.png")

        Args:
            n: How many rows, also of batches, 1 to 4,096.
            columns: The columns to show; None: all, without captions of large ones.
            image: The column of images, which then may be of shape (H, W); None: the first that holds some.
            mask: The column of integers or bool, of shape (H, W) or (H, W, 1), that is drawn over them, half transparent,
                a colour for each value but 0; None: the first of the image's own (H, W), if there is one.
            boxes: The column of boxes, floats or integers of shape (n, 4) in pixels of the image; None: none.
            box_format: What the four are: two corners; or a corner or the middle, with width and height.
            keypoints: The column of points, x and y, floats or integers of shape (n, 2), or (n, k, 2) for n groups, in
                pixels of the image; None: none. Points and boxes with the same number have the same colour.
            side: The longest side of an image on the sheet, 16 to 1,024 pixels.
        """
        return sheet.show(self, n, columns, image, mask, boxes, box_format, keypoints, side)

    def head(self, n: int = 5) -> list[dict[str, Any]]:
        """The first n rows of epoch `ds.epoch`, after `batch` batches, as dicts on the host. They alone are made, on this
        thread, and nothing goes on behind; `ds.epoch` stays as it is.

            ds.head(3)

        Args:
            n: How many rows, at most.
        """
        return self._first_rows(options.whole("n", n, of="head"))

    def __repr__(self) -> str:
        return Summary.of(self).text()

    def _repr_html_(self) -> str:
        return Summary.of(self).html()

    # ---- making it ----

    def sample(self, sampler: Sampler) -> Dataset:
        """The rows in the order that a sampler gives, such as `headrace.Weighted`, `ClassBalanced` or `Repeated`.

        It acts on the numbers of rows, over sources with random access (with take, skip, concat and zip of them, and
        parts): only rows that come are read, and rows are sharded above it. Order, seed and epoch determine it; each
        epoch has another one where the sampler draws.

        Numbers of rows are those that the source has without shuffling, also below maps. Calls may follow each other:
        above a sampler, a mixture, or take, skip, concat and zip of shuffled sources, numbers are places in the epoch's
        order there. Weights and labels that are a list or an array have one value for each of these places; those that
        are a column follow their rows.

        Args:
            sampler: The order.

        Example:
            ds.sample(hr.ClassBalanced("label"))
        """
        return applied(self, sampler)

    def with_seed(self, seed: int) -> Dataset:
        """The same pipeline with another seed for its random operators; `iterate(seed=)` takes precedence."""
        copy = self._copy()
        copy._seed = options.whole("seed", seed, of="with_seed")
        return copy

    def on_error(
        self,
        policy: Literal["raise", "skip"],
        max_errors: int = error_policy.MAX_ERRORS,
        *,
        log: str | os.PathLike[str] | None = None,
    ) -> Dataset:
        """The same pipeline with another effect of rows that fail. It holds for the whole pipeline, wherever it is set.

        A row fails by a DataError, a NotFoundError or a FunctionError of its own. Errors of resources, types, batches and
        the disk end the iteration under either policy. `explain()` and `Iterator.report()` name the rows left out.

        Args:
            policy: "raise": the first row that fails ends the iteration, after the complete batches before it. "skip":
                such rows are left out, and batches are filled with the rows behind them.
            max_errors: The most rows that may be left out in an epoch, on each rank; one more raises its error.
            log: A file that gets one JSON line for each row left out, at its end: epoch, key, record, file, offset,
                operator, kind and message; None: no file. Not part of the graph.
        """
        copy = self._copy()
        copy._on_error = error_policy.given(policy, max_errors, log)
        return copy


Base._made = Dataset
