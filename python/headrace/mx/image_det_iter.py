"""`ImageDetIter` gives batches of images with their objects, from records or from files that a list names."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from headrace import transforms as T
from headrace._arguments import options
from headrace._datasets.dataset import Dataset
from headrace._runs import error_policy
from headrace.errors import GraphError, UnsupportedError
from headrace.mx import detections
from headrace.mx.create_augmenter import normalization_values
from headrace.mx.create_det_augmenter import CreateDetAugmenter
from headrace.mx.det_augmenters import segments
from headrace.mx.detections import Segment
from headrace.mx.drawn_objects import Drawing
from headrace.mx.image_batches import ImageBatches, chosen_augmenters, ending_of
from headrace.mx.io.data_batch import DataDesc
from headrace.mx.io.given_values import flag, image_shape, part
from headrace.mx.io.pipeline import Ending, Pipeline, Running
from headrace.mx.message_log import log
from headrace.mx.named_images import DECODE, NamedImages, Path, seed_of, shown_step

__all__ = ["ImageDetIter"]

_FILLING = -1


class ImageDetIter(ImageBatches):
    """Gives batches of images with the objects in them, as `mxnet.image.ImageDetIter` does: a float32 array of shape
    (batch_size, 3, height, width), in the order red, green, blue, and objects, float32 of shape (batch_size, objects, width):
    class, xmin, ymin, xmax, ymax as parts of the image's sides, and further numbers, filled with -1.

    Labels are what records and lists of detection sets have: the width of the header, the width of an object, the rest of
    the header, and the objects; those without width or height are left out. They are read once, to see how many objects an
    image has at most. Python runs for a row only where `aug_list` has a user function. In addition each batch
    has the rows' ids as `index`.

    Args:
        batch_size: Rows in a batch, from 1 on.
        data_shape: (3, height, width) of an image.
        path_imgrec: The file of records that im2rec packed.
        path_imglist: An image list: of the files below path_root, or with path_imgrec of labels that take the place of
            those in the records.
        path_root: The folder of the files that a list names; None: the working folder.
        path_imgidx: The index of path_imgrec, which shuffle and num_parts need, or "build", which makes it if it is
            missing.
        shuffle: Whether each epoch has an order of its own.
        part_index: Which part is read.
        num_parts: Into how many runs of ⌊rows / num_parts⌋ rows the rows are divided; what is left is not read.
        aug_list: DetAugmenters, functions from an image and its objects to both, or kernels, in order; None: those of
            `CreateDetAugmenter`.
        imglist: A list of [label, path] or [number, number, …, path], in place of path_imglist.
        data_name: In `provide_data`.
        label_name: In `provide_label`.
        last_batch_handle: As for `ImageIter`.
        seed: Of the order and the augmentation; None: Python's `random` draws it.
        memory: The budget in bytes, or as "64MiB"; None: the engine's default.
        on_error: "skip" leaves images out that cannot be read, or whose label is none of objects.
        max_errors: The most rows that may be left out in an epoch.
        device: Where batches end, as `Dataset.to_device` takes it: "cuda:0", or "cpu:0"; None: in host memory. The arrays of
            a batch there are objects for `from_dlpack` of any library.
        state: What `state()` gave: the iterator goes on with the batch after it.
        augmentation: Arguments of `CreateDetAugmenter`, without aug_list.

    Raises:
        DataError: A label is none of objects; no image has any; or from `next()`: an image cannot be read.
        GraphError: A parameter is out of its range, or has no effect with the others.
        NotFoundError: A file is not there.
        StateError: The state is of other data or another iterator.
    """

    def __init__(
        self,
        batch_size: int,
        data_shape: Sequence[int],
        path_imgrec: Path | None = None,
        path_imglist: Path | None = None,
        path_root: Path | None = None,
        path_imgidx: Path | None = None,
        shuffle: bool = False,
        part_index: int = 0,
        num_parts: int = 1,
        aug_list: Sequence[Any] | None = None,
        imglist: Sequence[Sequence[Any]] | None = None,
        data_name: str = "data",
        label_name: str = "label",
        last_batch_handle: Literal["pad", "discard", "roll_over"] = "pad",
        *,
        seed: int | None = None,
        memory: int | str | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        max_errors: int = error_policy.MAX_ERRORS,
        device: str | None = None,
        state: Mapping[str, Any] | None = None,
        **augmentation: Any,
    ) -> None:
        of = type(self).__name__
        size = options.whole("batch_size", batch_size, 1, of)
        shape = image_shape(data_shape, (3,), of)
        options.choice("on_error", on_error, ("raise", "skip"), of)
        ending = ending_of(last_batch_handle, of)
        given = NamedImages(path_imgrec, path_imglist, path_root, path_imgidx, imglist, of)
        rows, total = given.part(part(part_index, num_parts, of), flag("shuffle", shuffle, of), -1, "float32")
        self._augmenters = chosen_augmenters(aug_list, augmentation, CreateDetAugmenter, of)
        self._listed, self._total, self._named = rows, total, given.named
        self._names = data_name, label_name
        self._ends = ending
        runs = Running(seed_of(seed, state, of), memory, on_error, max_errors, state, device=device)
        self.data_shape = shape
        # Looking at the schema checks the attributes of the kernels.
        _ = self._images(segments(self._augmenters(shape), of, DECODE), (1 << 20, 5)).schema
        self.label_shape = detections.object_shape(rows, on_error, max_errors, of)
        self._prepare(size, runs)

    def _images(self, through: Sequence[Segment], label_shape: tuple[int, int]) -> Dataset:
        moved = detections.joined(detections.through(detections.split(self._listed), through))
        return moved.map(T.PadEnd((label_shape[0], -1), _FILLING), "label")

    def _prepare(self, size: int, runs: Running) -> None:
        of = type(self).__name__
        through = segments(self._augmenters(self.data_shape), of, DECODE)
        steps = [shown_step(step) for segment in through for step in segment.steps]
        super().__init__(
            Pipeline(self._images(through, self.label_shape), "image", "id", self._total, files=self._named),
            runs,
            self._ends,
            DataDesc(self._names[0], (size, *self.data_shape), np.float32),
            DataDesc(self._names[1], (size, *self.label_shape), np.float32),
            [f"{of}: an image and its objects go through {', '.join(steps)}"],
        )

    def reshape(self, data_shape: Sequence[int] | None = None, label_shape: Sequence[int] | None = None) -> None:
        """Gives batches of other shapes, before the first batch of an epoch.

        Args:
            data_shape: (3, height, width) of an image; None: as before. Augmenters of `aug_list` must give it.
            label_shape: (objects, width): not fewer objects than before, and the same width; None: as before.

        Raises:
            GraphError: A shape is none that it may be, or batches of this epoch were given.
        """
        of = type(self).__name__
        if self._given > 0:
            raise GraphError(f"{of}: reshape in the middle of an epoch; call reset() before it")
        shape = self.data_shape if data_shape is None else image_shape(data_shape, (3,), of)
        if label_shape is not None:
            self.check_label_shape(label_shape)
            self.label_shape = (int(label_shape[0]), int(label_shape[1]))
        self.data_shape = shape
        if self._before > 0:
            self._start_over()
        if self._run is not None:
            self._run.close()
        epoch = self._epoch
        begun = self._begun
        self._prepare(self.batch_size, self._runs._replace(state=None))
        self._epoch, self._begun = epoch, begun

    def check_label_shape(self, label_shape: Sequence[int]) -> None:
        """Raises GraphError unless it is (objects, width), with as many objects as now or more, and the same width."""
        most, width = self.label_shape
        fits = len(label_shape) == 2 and label_shape[0] >= most and label_shape[1] == width
        if not fits:
            raise GraphError(
                f"{type(self).__name__}: label_shape is {options.shown(label_shape)}; it must be (objects, {width}), of at "
                f"least {most} objects"
            )

    def sync_label_shape(self, it: "ImageDetIter", verbose: bool = False) -> "ImageDetIter":
        """Gives both iterators the label shape of the one with more objects.

        Args:
            it: The other one, such as that of the validation set, which is returned.
            verbose: Whether a line about the new shape goes to the log `headrace.mx`.

        Raises:
            GraphError: `it` is no ImageDetIter, or its objects have another width.
        """
        if not isinstance(it, ImageDetIter):
            raise GraphError(f"{type(self).__name__}: it is {options.shown(it)}; it must be an ImageDetIter")
        most = max(self.label_shape[0], it.label_shape[0])
        wanted = (most, self.label_shape[1])
        it.check_label_shape((most, self.label_shape[1]))
        fewer = min(self.label_shape[0], it.label_shape[0])
        for each in (self, it):
            if each.label_shape[0] < most:
                each.reshape(None, wanted)
        if verbose and fewer < most:
            log.info("label_shape is %s now", wanted)
        return it

    def draw_next(
        self,
        color: Sequence[float] | None = None,
        thickness: int = 2,
        mean: Any = None,
        std: Any = None,
        clip: bool = True,
        waitKey: None = None,
        window_name: str = "draw_next",
        id2labels: Mapping[int, str] | None = None,
    ) -> Iterator[np.ndarray]:
        """Draws the boxes on the images of this epoch's batches that are left, which count as given.

        Args:
            color: Red, green and blue of all boxes, 0 to 255; None: a colour for each class.
            thickness: Of their lines in pixels, from 1 on.
            mean: What was subtracted: an array of one or three numbers; True: 123.68, 116.28, 103.53; None: nothing.
            std: What values were divided by; True: 58.395, 57.12, 57.375; None: nothing.
            clip: Whether values are cut off at 0 and 255; else they wrap around.
            waitKey: None alone, as there are no windows here.
            window_name: Kept for scripts that give it.
            id2labels: Names of the classes, which are written into their boxes.

        Returns:
            uint8 of shape (height, width, 3), one image after the other, in the order blue, green, red.

        Raises:
            GraphError: An argument is out of its range.
            UnsupportedError: waitKey is given.
        """
        of = "ImageDetIter.draw_next"
        if self._sent is not None:
            raise UnsupportedError(f"{of}: batches are on a device; draw those of an iterator without device=")
        if waitKey is not None:
            raise UnsupportedError(
                f"{of}: waitKey is {options.shown(waitKey)}, and no window is opened; leave it out, and show each image that "
                "is given, such as with cv2.imshow"
            )
        if color is not None and len(color) != 3:
            raise GraphError(f"{of}: color is {options.shown(color)}; it must be three numbers: red, green, blue")
        values = normalization_values(mean, std, of)
        thick = options.whole("thickness", thickness, 1, of)
        return self._drawn(Drawing(color, thick, *values, flag("clip", clip, of), id2labels or {}))

    def _drawn(self, drawing: Drawing) -> Iterator[np.ndarray]:
        for batch in self:
            assert batch.data is not None and batch.label is not None and batch.pad is not None
            # Where rows roll over, none only fills its batch.
            rows = self.batch_size - (batch.pad if self._ends is Ending.PAD else 0)
            for data, objects in zip(batch.data[0][:rows], batch.label[0][:rows], strict=True):
                yield drawing.image(np.asarray(data), np.asarray(objects))
