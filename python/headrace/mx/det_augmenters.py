"""Augmenters of images and the objects in them, as `mxnet.image` has them. `ImageDetIter` runs them as kernels, without
Python; called on an image and its label they do the same. What they draw then, Python's `random` decides."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

import headrace
from headrace import vision
from headrace._arguments import options
from headrace._kernels.kernel import Kernel
from headrace.errors import GraphError
from headrace.mx import detections
from headrace.mx.augmenter_steps import in_order
from headrace.mx.augmenters import Augmenter, HorizontalFlipAug
from headrace.mx.described import Described
from headrace.mx.detections import Segment
from headrace.mx.io.given_values import number_or_nan, share
from headrace.mx.nd import NDArray
from headrace.mx.pixel_values import Steps, Values, as_reals

__all__ = [
    "CreateMultiRandCropAugmenter",
    "DetAugmenter",
    "DetBorrowAug",
    "DetHorizontalFlipAug",
    "DetKernelAugmenter",
    "DetRandomCropAug",
    "DetRandomPadAug",
    "DetRandomSelectAug",
]

Range = float | Sequence[float]


class DetAugmenter(Described):
    """The base of augmenters with objects: users derive their own from it, whose `__call__` takes an image and its label,
    float32 of shape (objects, width), and gives both.

    Args:
        kwargs: What `dumps()` says of it; arrays become lists.
    """

    def __call__(self, src: Any, label: Any) -> Any:
        """From an image, of shape (height, width, channels), and its objects to others."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it does: define __call__(self, src, label)")


class DetKernelAugmenter(DetAugmenter):
    """An augmenter that kernels of `headrace.vision` make up."""

    def kernels(self, values: Values) -> Steps:
        """Its kernels for an image of such values."""
        raise NotImplementedError

    def __call__(self, src: Any, label: Any) -> Any:
        """From an image of shape (height, width, 3) and its objects to others; what is given stays as it is."""
        image = np.ascontiguousarray(src)
        kernels, behind = self.kernels(Values.BYTES if image.dtype == np.uint8 else Values.REALS)
        steps = [*kernels, *as_reals(behind)]
        given = {"image": image[None], "label": np.asarray(label, np.float32)[None], "id": np.zeros(1, np.int64)}
        rows = detections.through(detections.split(headrace.Numpy(given)), [Segment("kernels", steps)])
        with detections.joined(rows).iterate(seed=random.getrandbits(63), executor="pull") as made:
            row = next(made)
        return row["image"].view(NDArray), row["label"].view(NDArray)


class DetBorrowAug(DetKernelAugmenter):
    """An augmenter of images that moves nothing, or resizes the whole image: objects stay as they are.

    Args:
        augmenter: Such as `CastAug()` or `ForceResizeAug(size)`.
    """

    def __init__(self, augmenter: Augmenter) -> None:
        if not isinstance(augmenter, Augmenter):
            raise GraphError(f"DetBorrowAug: augmenter is {options.shown(augmenter)}; it must be an Augmenter")
        super().__init__(augmenter=augmenter.dumps())
        self.augmenter = augmenter
        if isinstance(augmenter, HorizontalFlipAug):
            raise GraphError("DetBorrowAug: HorizontalFlipAug would leave the objects behind; use DetHorizontalFlipAug")

    def dumps(self) -> Any:
        """Its class, and what its augmenter says."""
        return [type(self).__name__.lower(), self.augmenter.dumps()]

    def __call__(self, src: Any, label: Any) -> Any:
        """From an image to another one; the objects are the same."""
        return self.augmenter(src), label


class DetRandomSelectAug(DetKernelAugmenter):
    """Applies one of several augmenters, each as likely, or none.

    Args:
        aug_list: Augmenters of this module, or one.
        skip_prob: How likely none is applied, 0 to 1.
    """

    def __init__(self, aug_list: DetAugmenter | Sequence[DetAugmenter], skip_prob: float = 0) -> None:
        super().__init__(skip_prob=skip_prob)
        listed = [*aug_list] if isinstance(aug_list, (list, tuple)) else [aug_list]
        for each in listed:
            if not isinstance(each, DetAugmenter):
                raise GraphError(f"DetRandomSelectAug: aug_list has {options.shown(each)}, not a DetAugmenter")
        self.aug_list: list[Any] = listed
        self.skip_prob = share("skip_prob", skip_prob, "DetRandomSelectAug") if listed else 1.0

    def dumps(self) -> Any:
        """Its class, and what its augmenters say."""
        return [type(self).__name__.lower(), [each.dumps() for each in self.aug_list]]

    def kernels(self, values: Values) -> Steps:
        branches = []
        for each in self.aug_list:
            if not isinstance(each, DetKernelAugmenter) or type(each).__call__ is not DetKernelAugmenter.__call__:
                raise GraphError(
                    f"DetRandomSelectAug: {type(each).__name__} runs in Python, and what is chosen at random must be "
                    "augmenters of headrace.mx.image; choose in the function itself"
                )
            kernels, behind = each.kernels(values)
            if behind is not values:
                raise GraphError(f"DetRandomSelectAug: {type(each).__name__} changes the type of the values")
            branches.append(kernels)
        if self.skip_prob == 1 or not any(branches):
            return [], values
        chosen: list[Kernel] = branches[0] if len(branches) == 1 else [vision.RandomChoice(branches)]
        return ([vision.RandomApply(chosen, p=1 - self.skip_prob)] if self.skip_prob > 0 else chosen), values


class DetHorizontalFlipAug(DetKernelAugmenter):
    """Swaps left and right in some images, objects too.

    Args:
        p: How likely that is, 0 to 1.
    """

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = share("p", p, "DetHorizontalFlipAug")

    def kernels(self, values: Values) -> Steps:
        return [vision.RandomHorizontalFlip(self.p)], values


class DetRandomCropAug(DetKernelAugmenter):
    """Cuts out a part that holds objects, and removes those of which little is left: `vision.RandomObjectCrop`.

    Args:
        min_object_covered: The part must hold more than this share of each object of which it holds any.
        aspect_ratio_range: The least and the greatest width over height; a number is both.
        area_range: The least and the greatest share of the image's area; a number is both.
        min_eject_coverage: An object stays if more than this share of it is in the part.
        max_attempts: The most parts that are drawn; if none fits, the image stays as it is.
    """

    def __init__(
        self,
        min_object_covered: float = 0.1,
        aspect_ratio_range: Range = (0.75, 1.33),
        area_range: Range = (0.05, 1.0),
        min_eject_coverage: float = 0.3,
        max_attempts: int = 50,
    ) -> None:
        of = "DetRandomCropAug"
        self.min_object_covered = share("min_object_covered", min_object_covered, of)
        self.aspect_ratio_range = _range("aspect_ratio_range", aspect_ratio_range, of)
        self.area_range = _range("area_range", area_range, of)
        self.min_eject_coverage = share("min_eject_coverage", min_eject_coverage, of)
        self.max_attempts = options.whole("max_attempts", max_attempts, 1, of)
        super().__init__(
            min_object_covered=min_object_covered,
            aspect_ratio_range=self.aspect_ratio_range,
            area_range=self.area_range,
            min_eject_coverage=min_eject_coverage,
            max_attempts=max_attempts,
        )

    def kernels(self, values: Values) -> Steps:
        kernel = vision.RandomObjectCrop(
            self.min_object_covered,
            self.aspect_ratio_range,
            self.area_range,
            self.min_eject_coverage,
            self.max_attempts,
        )
        return [kernel], values


class DetRandomPadAug(DetKernelAugmenter):
    """Puts images on a larger canvas: `vision.RandomPad`.

    Args:
        aspect_ratio_range: The least and the greatest width over height of the canvas; a number is both.
        area_range: The least and the greatest area of the canvas over the image's; a number is both.
        max_attempts: The most canvases that are drawn; if none is larger by two pixels, the image stays as it is.
        pad_val: The value of pixels beyond the image: a number, or one for each channel.
    """

    def __init__(
        self,
        aspect_ratio_range: Range = (0.75, 1.33),
        area_range: Range = (1.0, 3.0),
        max_attempts: int = 50,
        pad_val: Range = (128, 128, 128),
    ) -> None:
        of = "DetRandomPadAug"
        self.aspect_ratio_range = _range("aspect_ratio_range", aspect_ratio_range, of)
        self.area_range = _range("area_range", area_range, of)
        if self.area_range[0] < 1:
            raise GraphError(f"{of}: area_range is {self.area_range}; the canvas has at least the image's area, 1")
        self.max_attempts = options.whole("max_attempts", max_attempts, 1, of)
        self.pad_val = tuple(pad_val) if isinstance(pad_val, Sequence) else (pad_val,)
        super().__init__(
            aspect_ratio_range=self.aspect_ratio_range,
            area_range=self.area_range,
            max_attempts=max_attempts,
            pad_val=pad_val,
        )

    def kernels(self, values: Values) -> Steps:
        fill: Any = self.pad_val[0] if len(self.pad_val) == 1 else self.pad_val
        return [vision.RandomPad(self.aspect_ratio_range, self.area_range, self.max_attempts, fill)], values


def CreateMultiRandCropAugmenter(
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = (0.75, 1.33),
    area_range: Any = (0.05, 1.0),
    min_eject_coverage: Any = 0.3,
    max_attempts: Any = 50,
    skip_prob: float = 0,
) -> DetRandomSelectAug:
    """Crops, one of which is chosen for each image.

    Args:
        min_object_covered: As for `DetRandomCropAug`; a list has one for each crop.
        aspect_ratio_range: Likewise; a list has a tuple for each crop.
        area_range: Likewise.
        min_eject_coverage: Likewise.
        max_attempts: Likewise.
        skip_prob: How likely no crop is made.
    """
    given = {
        "min_object_covered": min_object_covered,
        "aspect_ratio_range": aspect_ratio_range,
        "area_range": area_range,
        "min_eject_coverage": min_eject_coverage,
        "max_attempts": max_attempts,
    }
    lists = {name: each if isinstance(each, list) else [each] for name, each in given.items()}
    count = max(map(len, lists.values()))
    for name, each in lists.items():
        if len(each) not in (1, count):
            raise GraphError(
                f"CreateMultiRandCropAugmenter: {name} has {len(each)} elements, and another list has {count}; give one, or "
                "one for each crop"
            )
    crops = [
        DetRandomCropAug(**{name: each[0 if len(each) == 1 else i] for name, each in lists.items()})
        for i in range(count)
    ]
    return DetRandomSelectAug(crops, skip_prob)


def segments(augmenters: Any, of: str, decode: Kernel) -> list[Segment]:
    """From encoded images to float32 of shape (3, height, width), in maps that follow each other."""
    if not isinstance(augmenters, (list, tuple)):
        raise GraphError(f"{of}: aug_list is {options.shown(augmenters)}; it must be a list of augmenters")
    made = [Segment("kernels", [decode])]
    values = Values.BYTES
    for each in augmenters:
        added, values = _of_one(each, values)
        for segment in added:
            if made[-1].through == segment.through:
                made[-1] = Segment(segment.through, [*made[-1].steps, *segment.steps])
            else:
                made.append(segment)
    cast = [] if values is Values.NORMALIZED else [headrace.transforms.TypeCast("float32")]
    return [*made, Segment("kernels", [*cast, vision.HWC2CHW()])]


def _of_one(augmenter: Any, values: Values) -> tuple[list[Segment], Values]:
    if isinstance(augmenter, Kernel):
        return [Segment("kernels", [*as_reals(values), augmenter])], Values.REALS
    if isinstance(augmenter, DetBorrowAug) and type(augmenter).__call__ is DetBorrowAug.__call__:
        steps, values = in_order([augmenter.augmenter], values)
        return [Segment("kernels" if isinstance(step, Kernel) else "image", [step]) for step in steps], values
    if isinstance(augmenter, DetKernelAugmenter) and type(augmenter).__call__ is DetKernelAugmenter.__call__:
        kernels, values = augmenter.kernels(values)
        return [Segment("kernels", kernels)], values
    if isinstance(augmenter, (type, Augmenter)) or not callable(augmenter):
        raise GraphError(
            f"aug_list: {options.shown(augmenter)} is no augmenter of images and objects; give a DetAugmenter, such as "
            "DetBorrowAug(augmenter), or a function of an image and its label"
        )
    reals = [Segment("kernels", as_reals(values))] if values is Values.CAST else []
    return [*reals, Segment("both", [augmenter])], Values.REALS


def _range(name: str, value: Any, of: str) -> tuple[float, float]:
    given = value if isinstance(value, Sequence) else (value, value)
    numbers = [number_or_nan(each) for each in given]
    if len(numbers) != 2 or not 0 < numbers[1] or not 0 <= numbers[0] <= numbers[1]:
        raise GraphError(f"{of}: {name} is {options.shown(value)}; it must be (least, greatest), numbers in this order")
    return numbers[0], numbers[1]
