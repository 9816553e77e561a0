"""Hugging Face's `preprocessor_config.json`: families of image processors, with the defaults of their classes and what
each does otherwise than the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headrace import vision
from headrace._arguments.options import shown, whole
from headrace._inference.processors.config_fields import MOST_SIDE, OF, ConfigFields, refused, scaled_side
from headrace._inference.processors.image_steps import ImageSteps, PixelValues
from headrace._inference.processors.interpolations import interpolation_of
from headrace._inference.processors.model_families import MODEL_FAMILIES
from headrace._kernels.kernel import Kernel
from headrace.errors import UnsupportedError

__all__ = ["FAMILIES", "knows", "steps_of"]

_HALF: dict[str, Any] = {"image_mean": (0.5, 0.5, 0.5), "image_std": (0.5, 0.5, 0.5)}
_IMAGENET: dict[str, Any] = {"image_mean": (0.485, 0.456, 0.406), "image_std": (0.229, 0.224, 0.225)}
_CLIP: dict[str, Any] = {
    "image_mean": (0.48145466, 0.4578275, 0.40821073),
    "image_std": (0.26862954, 0.26130258, 0.27577711),
}
_BILINEAR: dict[str, Any] = {"resample": 2}
_BICUBIC: dict[str, Any] = {"resample": 3}
_DONE: dict[str, Any] = {"do_resize": True, "do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True}
# Nothing of an image depends on them.
_WITHOUT_EFFECT = (
    "_name_or_path _processor_class auto_map device disable_grouping do_convert_annotations do_convert_rgb "
    "do_reduce_labels feature_extractor_type format image_processor_type image_seq_length input_data_format "
    "model_input_names model_type name_or_path processor_class reduce_labels return_segmentation_masks return_tensors "
    "transformers_version default_to_square"
).split()
_TILES = "it cuts an image into tiles or patches, or chooses its size by their number, which no kernel does"
# Fields of processors whose results are not one image.
_TILERS = (
    "image_grid_pinpoints do_image_splitting crop_to_patches do_pan_and_scan max_image_tiles max_num_patches "
    "merge_size spatial_merge_size temporal_patch_size patch_size min_pixels max_pixels max_image_size"
).split()


def _square(side: int) -> dict[str, Any]:
    return {"size": {"height": side, "width": side}, "default_to_square": True}


def _shortest(side: int) -> dict[str, Any]:
    return {"size": {"shortest_edge": side}, "default_to_square": False}


def _cropped(side: int) -> dict[str, Any]:
    return {"do_center_crop": True, "crop_size": {"height": side, "width": side}}


# (height, width), the shorter side alone, or nothing that is known before an image is.
_Sides = tuple[int, ...]


@dataclass
class _Move:
    kernels: list[Kernel]
    # What the image measures afterwards: (height, width), (at least this,), or () for any.
    sides: _Sides = ()


def _resized(fields: ConfigFields) -> _Move:
    size = _size_of(fields, "size")
    if size.keys() == {"height", "width"}:
        return _to_sides(fields, (size["height"], size["width"]))
    if size.keys() == {"shortest_edge"}:
        return _to_sides(fields, (size["shortest_edge"],))
    if size.keys() == {"shortest_edge", "longest_edge"}:
        how = interpolation_of("resample", fields.value("resample"))
        return _Move([vision.ResizeToEdges(size["shortest_edge"], size["longest_edge"], how)])
    raise fields.refuse("size", "it must have height and width, or shortest_edge, with longest_edge or without")


def _to_sides(fields: ConfigFields, sides: _Sides) -> _Move:
    how = interpolation_of("resample", fields.value("resample"))
    return _Move([vision.Resize(sides if len(sides) == 2 else sides[0], how)], sides)


def _resized_for_convnext(fields: ConfigFields) -> _Move:
    side = _shortest_edge(fields)
    crop_pct = fields.positive("crop_pct")
    if side >= 384:
        return _to_sides(fields, (side, side))
    larger = _to_sides(fields, (scaled_side(side, crop_pct),))
    return _Move([*larger.kernels, *_cut(larger.sides, (side, side))], (side, side))


def _resized_for_levit(fields: ConfigFields) -> _Move:
    if "shortest_edge" not in _size_of(fields, "size"):
        return _resized(fields)
    return _to_sides(fields, (scaled_side(256 / 224 * _shortest_edge(fields), 1),))


def _resized_for_poolformer(fields: ConfigFields) -> _Move:
    size = _size_of(fields, "size")
    crop_pct = fields.positive("crop_pct")
    sides = (_shortest_edge(fields),) if "shortest_edge" in size else (size.get("height", 0), size.get("width", 0))
    if 0 in sides:
        raise fields.refuse("size", "it must have height and width, or shortest_edge")
    # One number is the shorter side's.
    larger = tuple(scaled_side(side, crop_pct) for side in (sides if len(set(sides)) == 2 else sides[:1]))
    return _to_sides(fields, larger)


def _resized_for_dpt(fields: ConfigFields) -> _Move:
    size = _size_of(fields, "size")
    if size.keys() != {"height", "width"}:
        raise fields.refuse("size", "it must have height and width")
    sides = (size["height"], size["width"])
    divisor = fields.whole("ensure_multiple_of")
    if fields.flag("keep_aspect_ratio"):
        how = interpolation_of("resample", fields.value("resample"))
        return _Move([vision.ResizeToMultiple(divisor, sides, how)])
    if any(2 * side % divisor == 0 and side % divisor for side in sides):
        raise fields.refuse("ensure_multiple_of", f"{sides} lie in the middle between two of its multiples")
    return _to_sides(fields, tuple(round(side / divisor) * divisor for side in sides))


def _resized_for_glpn(fields: ConfigFields) -> _Move:
    how = interpolation_of("resample", fields.value("resample"))
    return _Move([vision.ResizeToMultiple(fields.whole("size_divisor"), interpolation=how)])


def _shortest_edge(fields: ConfigFields) -> int:
    size = _size_of(fields, "size")
    if "shortest_edge" in size:
        return size["shortest_edge"]
    raise fields.refuse("size", "it must have shortest_edge")


def _size_of(fields: ConfigFields, name: str) -> dict[str, int]:
    """A size as configs have it today, of one of today's or of years ago."""
    value = fields.value(name)
    if isinstance(value, int) and not isinstance(value, bool):
        square = name != "size" or fields.flag("default_to_square")
        value = {"height": value, "width": value} if square else _edges(fields, value)
    elif isinstance(value, (list, tuple)) and len(value) == 2:
        value = {"height": value[0], "width": value[1]}
    if not isinstance(value, Mapping):
        raise fields.refuse(name, "it must be one number, two, or a dict such as {'height': 224, 'width': 224}")
    return {
        each: whole(f"{name}[{each!r}]", side, 1, OF, MOST_SIDE) for each, side in value.items() if side is not None
    }


def _edges(fields: ConfigFields, shortest: int) -> dict[str, int | None]:
    return {"shortest_edge": shortest, "longest_edge": fields.value("max_size")}


def _cropped_by(fields: ConfigFields, sides: _Sides) -> list[Kernel]:
    size = _size_of(fields, "crop_size")
    if size.keys() != {"height", "width"}:
        raise fields.refuse("crop_size", "it must have height and width")
    return _cut(sides, (size["height"], size["width"]))


def _cut(sides: _Sides, size: tuple[int, int]) -> list[Kernel]:
    least = (sides * 2)[:2] if sides else (0, 0)
    fits = all(side >= cut for side, cut in zip(least, size, strict=True))
    # The rounding of an image that is smaller and padded matters where one may come.
    return [vision.CenterCrop(size, "down" if fits else "floor")]


def _padded(fields: ConfigFields, steps: ImageSteps) -> None:
    if fields.value("pad_size") is None:
        raise fields.refuse(
            "do_pad",
            "padding of whole batches: images become as large as the largest one of theirs; give do_pad=False, which is "
            "the same for one image, and pad batches yourself",
        )
    size = _size_of(fields, "pad_size")
    if size.keys() != {"height", "width"}:
        raise fields.refuse("pad_size", "it must have height and width")
    steps.border.append(vision.PadToSize((size["height"], size["width"]), offset=0))


def _padded_with_mask(fields: ConfigFields, steps: ImageSteps) -> None:
    if fields.value("pad_size") is not None:
        raise fields.refuse("pad_size", "padding also gives a pixel_mask, which this graph does not; give do_pad=False")
    _padded(fields, steps)


def _padded_for_swin2sr(fields: ConfigFields, steps: ImageSteps) -> None:
    # Its name of years ago is what others call the size of the result.
    name = "pad_size" if fields.value("size_divisor") is None else "size_divisor"
    # Mirrored pixels are as well mirrored before their values change.
    steps.moves.append(vision.PadToMultiple(fields.whole(name), beyond=True, mode="symmetric"))


def _padded_for_dpt(fields: ConfigFields, steps: ImageSteps) -> None:
    if fields.value("size_divisor") is not None:
        raise fields.refuse("size_divisor", "with do_pad it pads on all sides, which no kernel does to a multiple")


@dataclass(frozen=True)
class Family:
    """An image processor's class: the values of fields that a config leaves out, and where it differs from ViT's."""

    defaults: Mapping[str, Any]
    resized: Callable[[ConfigFields], _Move] = _resized
    padded: Callable[[ConfigFields, ImageSteps], None] = _padded
    # Fields that the class has, and does not use for images.
    ignored: tuple[str, ...] = ()
    # Values become fractions before the image is resized, so that resizing does not round them.
    rescales_first: bool = False
    # Fields that this class alone has.
    own: tuple[str, ...] = field(default=())

    def steps_of(self, config: Mapping[str, Any]) -> ImageSteps:
        fields = ConfigFields({name: each for name, each in config.items() if name not in self.ignored}, self.defaults)
        self._check_formats(fields)
        steps = ImageSteps()
        if self.rescales_first and fields.flag("do_rescale"):
            steps.moves.append(vision.Rescale(fields.positive("rescale_factor")))
        move = self.resized(fields) if fields.flag("do_resize") else _Move([])
        steps.moves += move.kernels
        if fields.flag("do_center_crop"):
            steps.moves += _cropped_by(fields, move.sides)
        steps.values = self._values(fields)
        steps.bgr = "do_flip_channel_order" in self.own and fields.flag("do_flip_channel_order")
        if fields.flag("do_pad"):
            self.padded(fields, steps)
        fields.check_all_read({*_WITHOUT_EFFECT, *_OF_STEPS, *self.own})
        return steps

    def _check_formats(self, fields: ConfigFields) -> None:
        if str(fields.value("data_format") or "channels_first").rpartition(".")[2].lower() not in (
            "channels_first",
            "first",
        ):
            raise fields.refuse("data_format", "results have their channels first")

    def _values(self, fields: ConfigFields) -> PixelValues:
        values = PixelValues()
        if fields.flag("do_rescale") and not self.rescales_first:
            values = values.rescaled(fields.positive("rescale_factor"))
        if "rescale_offset" in self.own and fields.flag("do_rescale") and fields.flag("rescale_offset"):
            values = values.shifted(-1.0)
        if fields.flag("do_normalize"):
            values = values.normalized(fields.colors("image_mean"), fields.colors("image_std", positive=True))
        if "include_top" in self.own and fields.flag("include_top"):
            values = values.normalized((0.0,), fields.colors("image_std", positive=True))
        return values


# What a switch that is off leaves unread.
_OF_STEPS = (
    "do_resize size resample default_to_square max_size do_center_crop crop_size do_rescale rescale_factor do_normalize "
    "image_mean image_std do_pad pad_size data_format"
).split()
_CROPS = ("do_center_crop", "crop_size")
_PADS = ("do_pad", "pad_size")
_OF_CLIP = _DONE | _CLIP | _BICUBIC
_DETR = Family(
    _DONE
    | _IMAGENET
    | _BILINEAR
    | {
        "size": {"shortest_edge": 800, "longest_edge": 1333},
        "default_to_square": False,
        "max_size": 1333,
        "do_pad": True,
    },
    padded=_padded_with_mask,
    ignored=_CROPS,
)
# By the names of their classes, without ImageProcessor.
FAMILIES: dict[str, Family] = {
    "Beit": Family(_DONE | _HALF | _BICUBIC | _square(224) | {"crop_size": 224}, ignored=_PADS),
    "Bit": Family(_OF_CLIP | _shortest(224) | _cropped(224)),
    "Blip": Family(_OF_CLIP | _square(384)),
    "CLIP": Family(_OF_CLIP | _shortest(224) | _cropped(224)),
    "ChineseCLIP": Family(_OF_CLIP | _shortest(224) | _cropped(224)),
    "ConditionalDetr": _DETR,
    "ConvNext": Family(
        _DONE | _HALF | _BICUBIC | _shortest(384) | {"crop_pct": 224 / 256},
        _resized_for_convnext,
        ignored=_PADS,
        own=("crop_pct",),
    ),
    "DINOv3ViT": Family(_DONE | _IMAGENET | _BILINEAR | _square(224), ignored=_PADS, rescales_first=True),
    "DPT": Family(
        _DONE | _HALF | _BICUBIC | _square(384) | {"ensure_multiple_of": 1},
        _resized_for_dpt,
        _padded_for_dpt,
        ignored=(*_CROPS, "pad_size"),
        own=("ensure_multiple_of", "keep_aspect_ratio", "size_divisor"),
    ),
    "DeformableDetr": _DETR,
    "DeiT": Family(_DONE | _HALF | _BICUBIC | _square(256) | _cropped(224)),
    "Detr": _DETR,
    "EfficientNet": Family(
        _DONE | _HALF | _BICUBIC | _square(346) | {"crop_size": 289, "include_top": True},
        ignored=_PADS,
        own=("rescale_offset", "include_top"),
    ),
    "GLPN": Family(
        _DONE | _BILINEAR | {"do_normalize": False, "size_divisor": 32},
        _resized_for_glpn,
        ignored=(*_CROPS, *_PADS, "size"),
        own=("size_divisor",),
    ),
    "GroundingDino": _DETR,
    "Levit": Family(_DONE | _IMAGENET | _BICUBIC | _shortest(224) | _cropped(224), _resized_for_levit),
    "MobileNetV1": Family(_DONE | _HALF | _BILINEAR | _shortest(256) | _cropped(224)),
    "MobileNetV2": Family(_DONE | _HALF | _BILINEAR | _shortest(256) | _cropped(224), ignored=_PADS),
    "MobileViT": Family(
        _DONE | _BICUBIC | _shortest(224) | _cropped(256) | {"do_normalize": False, "do_flip_channel_order": True},
        ignored=(*_PADS, "do_normalize", "image_mean", "image_std"),
        own=("do_flip_channel_order",),
    ),
    "PoolFormer": Family(
        _DONE | _IMAGENET | _BICUBIC | _shortest(224) | _cropped(224) | {"crop_pct": 0.9},
        _resized_for_poolformer,
        own=("crop_pct",),
    ),
    "Pvt": Family(_DONE | _IMAGENET | _BICUBIC | _square(224)),
    "RTDetr": Family(
        _DONE | _IMAGENET | _BILINEAR | _square(640) | {"do_normalize": False}, padded=_padded_with_mask, ignored=_CROPS
    ),
    "Segformer": Family(_DONE | _IMAGENET | _BILINEAR | _square(512), ignored=(*_CROPS, *_PADS)),
    "Siglip": Family(_DONE | _HALF | _BICUBIC | _square(224) | {"default_to_square": False}),
    "Swin2SR": Family(
        {"do_rescale": True, "rescale_factor": 1 / 255, "do_pad": True, "pad_size": 8},
        padded=_padded_for_swin2sr,
        ignored=(*_CROPS, "do_resize", "size", "resample", "do_normalize", "image_mean", "image_std"),
        own=("size_divisor",),
    ),
    "ViT": Family(_DONE | _HALF | _BILINEAR | _square(224)),
}
# What says which family a config is of, the surest first.
_TYPES = ("image_processor_type", "feature_extractor_type", "model_type")
_FAMILIES_BY_NAME = {name.lower(): family for name, family in FAMILIES.items()}


def knows(config: Mapping[str, Any]) -> bool:
    return any(name in config for name in (*_TYPES[:2], "do_resize", "do_rescale"))


def steps_of(config: Mapping[str, Any]) -> ImageSteps:
    for name in _TILERS:
        if config.get(name) not in (None, False):
            raise refused(name, config[name], _TILES)
    return _family_of(config).steps_of(config)


def _family_of(config: Mapping[str, Any]) -> Family:
    name = next((each for each in _TYPES if config.get(each) is not None), _TYPES[0])
    value = config.get(name)
    if not isinstance(value, str):
        raise UnsupportedError(
            f"{OF}: image_processor_type is {shown(value)}: the values of fields that the config leaves out depend on the "
            'class; add it, such as image_processor_type="ViTImageProcessor"'
        )
    if name == "model_type":
        plain = MODEL_FAMILIES.get(value, value)
    else:
        plain = value.removesuffix("Pil").removesuffix("Fast")
        plain = plain.removesuffix("ImageProcessor").removesuffix("FeatureExtractor")
    family = _FAMILIES_BY_NAME.get(plain.lower())
    if family is None:
        raise refused(name, value, f"the classes that become graphs are those of {', '.join(FAMILIES)}")
    return family
