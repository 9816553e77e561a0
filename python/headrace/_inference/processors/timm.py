"""timm's `pretrained_cfg`: the transform that timm makes of it for evaluation."""

from collections.abc import Mapping
from typing import Any

from headrace import vision
from headrace._arguments.options import whole
from headrace._inference.processors.config_fields import MOST_SIDE, OF, ConfigFields, scaled_side
from headrace._inference.processors.image_steps import ImageSteps, PixelValues
from headrace._inference.processors.interpolations import interpolation_of
from headrace._kernels.kernel import Kernel

__all__ = ["knows", "steps_of"]

_DEFAULTS: dict[str, Any] = {
    "input_size": (3, 224, 224),
    "interpolation": "bicubic",
    "mean": (0.485, 0.456, 0.406),
    "std": (0.229, 0.224, 0.225),
    "crop_pct": 0.875,
    "crop_mode": "center",
}
_WITHOUT_EFFECT = (
    "architecture classifier custom_load description file first_conv fixed_input_size hf_hub_filename hf_hub_id "
    "label_descriptions label_names label_offset license min_input_size notes num_classes num_features origin_url "
    "paper_ids paper_name pool_size source state_dict tag test_crop_pct test_input_size test_pool_size url"
).split()


def knows(config: Mapping[str, Any]) -> bool:
    return "data_config" in config or ("input_size" in config and "image_processor_type" not in config)


def steps_of(config: Mapping[str, Any]) -> ImageSteps:
    # What TimmWrapperImageProcessor calls the same fields.
    if isinstance(config.get("data_config"), Mapping):
        others = {name: each for name, each in config.items() if name not in ("data_config", "image_processor_type")}
        config = {**config["data_config"], **others}
    fields = ConfigFields(config, _DEFAULTS)
    test = fields.flag("use_test_size")
    size = _input_size(fields, test)
    crop_pct = fields.positive("test_crop_pct" if test and fields.value("test_crop_pct") is not None else "crop_pct")
    values = PixelValues().rescaled(1 / 255).normalized(fields.colors("mean"), fields.colors("std", positive=True))
    steps = ImageSteps(_moves(fields, size, crop_pct), values=values)
    fields.check_all_read({*_WITHOUT_EFFECT, *_DEFAULTS})
    return steps


def _input_size(fields: ConfigFields, test: bool) -> tuple[int, int]:
    name = "test_input_size" if test and fields.value("test_input_size") is not None else "input_size"
    size = fields.value(name)
    if not isinstance(size, (list, tuple)) or len(size) != 3:
        raise fields.refuse(name, "it must be (channels, height, width)")
    channels, height, width = (whole(name, each, 1, OF, MOST_SIDE) for each in size)
    if channels != 3:
        raise fields.refuse(name, "images are decoded to 3 channels, red, green and blue")
    return height, width


def _moves(fields: ConfigFields, size: tuple[int, int], crop_pct: float) -> list[Kernel]:
    how = interpolation_of("interpolation", fields.value("interpolation"))
    mode = fields.value("crop_mode")
    scaled = [scaled_side(side, crop_pct) for side in size]
    if mode == "squash":
        return [vision.Resize(scaled, how), vision.CenterCrop(size)]
    if mode == "border":
        if crop_pct != 1:
            raise fields.refuse("crop_mode", f"with crop_pct {crop_pct} some images are cut and padded at once")
        fill = [round(255 * mean) for mean in fields.colors("mean")]
        return [vision.ResizeKeepRatio(scaled, "fit", how), vision.PadToSize(size, fill=fill)]
    if mode != "center":
        raise fields.refuse("crop_mode", "it must be center, squash or border")
    if scaled[0] == scaled[1]:
        return [vision.Resize(scaled[0], how), vision.CenterCrop(size)]
    return [vision.ResizeKeepRatio(scaled, "cover", how), vision.CenterCrop(size)]
