"""Configs of image processors, and what the libraries that they belong to make of a picture. Run as a script, where these
are installed, it writes the answers that `test_processors.py` compares with: processor_answers.json."""

import importlib
import io
import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
ANSWERS = pathlib.Path(__file__).with_name("processor_answers.json")
# Of sides that are even and odd, wider than high and higher than wide.
PHOTOS = ("animals/cat.jpg", "things/coffee-cup.jpg")
_VALUES = 16

# From the class, less ImageProcessor, and the module of each family to configs of it.
HUGGING_FACE: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("Beit", "beit"): [{}, {"do_center_crop": True, "do_reduce_labels": True}],
    ("Bit", "bit"): [{}],
    ("Blip", "blip"): [{}],
    ("CLIP", "clip"): [
        {},
        {"size": 336, "crop_size": 336},
        # Smaller than the crop by odd numbers of pixels.
        {"size": 223, "crop_size": 224},
        {"do_resize": False, "crop_size": {"height": 301, "width": 500}},
        {"do_pad": True, "do_center_crop": False, "size": [100, 120], "pad_size": {"height": 150, "width": 151}},
    ],
    ("ChineseCLIP", "chinese_clip"): [{}],
    ("ConditionalDetr", "conditional_detr"): [{"do_pad": False}],
    ("ConvNext", "convnext"): [
        {},
        {"size": {"shortest_edge": 224}},
        {"size": {"shortest_edge": 288}, "crop_pct": 0.95},
    ],
    ("DINOv3ViT", "dinov3_vit"): [{}, {"resample": 3, "size": {"height": 256, "width": 200}}],
    ("DPT", "dpt"): [
        {},
        {"keep_aspect_ratio": True, "ensure_multiple_of": 14, "size": {"height": 518, "width": 518}},
        {"ensure_multiple_of": 32, "size": {"height": 300, "width": 250}, "do_pad": True},
    ],
    ("DeformableDetr", "deformable_detr"): [{"do_pad": False}],
    ("DeiT", "deit"): [
        {},
        {"size": {"height": 200, "width": 231}, "crop_size": {"height": 225, "width": 230}},
    ],
    ("Detr", "detr"): [
        {"do_pad": False},
        {"do_pad": False, "size": {"shortest_edge": 480, "longest_edge": 600}},
        {"do_pad": False, "size": 500, "max_size": 700},
    ],
    ("EfficientNet", "efficientnet"): [
        {},
        {"include_top": False, "resample": 0, "do_center_crop": True},
        {"rescale_offset": True, "rescale_factor": 1 / 127.5, "include_top": False},
    ],
    ("GLPN", "glpn"): [{}, {"size_divisor": 48}],
    ("GroundingDino", "grounding_dino"): [{"do_pad": False}],
    ("Levit", "levit"): [{}, {"size": {"height": 240, "width": 250}}],
    ("MobileNetV1", "mobilenet_v1"): [{}],
    ("MobileNetV2", "mobilenet_v2"): [{}],
    ("MobileViT", "mobilevit"): [
        {},
        {"size": {"shortest_edge": 288}, "do_flip_channel_order": False},
        {"size": 231},
    ],
    ("PoolFormer", "poolformer"): [
        {},
        {"crop_pct": 0.95, "size": {"height": 224, "width": 224}},
        {"crop_pct": 0.95, "size": {"height": 224, "width": 200}},
    ],
    ("Pvt", "pvt"): [{}],
    ("RTDetr", "rt_detr"): [{}],
    ("Segformer", "segformer"): [{}, {"do_reduce_labels": True}],
    ("Siglip", "siglip"): [{}],
    ("Swin2SR", "swin2sr"): [{}, {"pad_size": 16}, {"size_divisor": 150}, {"do_pad": False}],
    ("ViT", "vit"): [
        {},
        {"size": 384, "do_normalize": False},
        {"do_rescale": False, "do_normalize": False, "resample": 0},
        {"do_rescale": False, "resample": 1},
        {"resample": 4, "image_mean": [0.1, 0.2, 0.3], "image_std": [0.4, 0.5, 0.6]},
        {"size": {"shortest_edge": 200, "longest_edge": 280}},
    ],
}
TIMM: list[dict[str, Any]] = [
    {"input_size": [3, 224, 224], "interpolation": "bicubic", "crop_pct": 0.95, "crop_mode": "center"},
    {"input_size": [3, 224, 224], "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]},
    {"input_size": [3, 240, 200], "interpolation": "bilinear", "crop_pct": 0.9},
    {"input_size": [3, 224, 224], "crop_mode": "squash", "crop_pct": 1.0},
    {"input_size": [3, 224, 224], "crop_mode": "squash", "crop_pct": 0.9, "interpolation": "nearest"},
    {"input_size": [3, 224, 201], "crop_mode": "border", "crop_pct": 1.0},
    {"input_size": [3, 224, 224], "interpolation": "lanczos", "crop_pct": 1.0},
    {"input_size": [3, 400, 400], "crop_pct": 1.1, "interpolation": "box"},
]
# By the names of torchvision's weights: the preset, and its attributes.
TORCHVISION: dict[str, tuple[str, dict[str, Any]]] = {
    "ResNet50_Weights.IMAGENET1K_V2": ("ImageClassification", {"crop_size": [224], "resize_size": [232]}),
    "ViT_B_16_Weights.IMAGENET1K_SWAG_E2E_V1": (
        "ImageClassification",
        {"crop_size": [384], "resize_size": [384], "interpolation": "bicubic"},
    ),
    "FasterRCNN_ResNet50_FPN_Weights.COCO_V1": ("ObjectDetection", {}),
    "DeepLabV3_ResNet50_Weights.COCO_WITH_VOC_LABELS_V1": ("SemanticSegmentation", {"resize_size": [520]}),
}


def configs() -> dict[str, dict[str, Any]]:
    """All that are dicts, by a name of each."""
    named = {
        f"{family} {json.dumps(fields)}": {"image_processor_type": f"{family}ImageProcessor", **fields}
        for (family, _), each in HUGGING_FACE.items()
        for fields in each
    }
    return named | {f"timm {json.dumps(fields)}": fields for fields in TIMM}


def answer(array: np.ndarray) -> dict[str, Any]:
    """A few values of an array, from places all over it, and its shape."""
    places = np.arange(_VALUES) * 2_654_435_761 % array.size
    return {"shape": list(array.shape), "values": [float(f"{value:.8g}") for value in array.reshape(-1)[places]]}


def hugging_face(family: str, module: str, fields: dict[str, Any]) -> Callable[[Any], np.ndarray]:
    pil = f"image_processing_pil_{module}"
    if family == "DINOv3ViT":
        # It has no class of Pillow's.
        processor = _made(f"{module}.image_processing_{module}", f"{family}ImageProcessor", fields)
        return lambda picture: processor(images=picture, return_tensors="pt")["pixel_values"][0].numpy()
    processor = _made(f"{module}.{pil}", f"{family}ImageProcessorPil", fields)
    return lambda picture: processor(images=picture, return_tensors="np")["pixel_values"][0]


def _made(module: str, name: str, fields: dict[str, Any]) -> Any:
    return getattr(importlib.import_module(f"transformers.models.{module}"), name)(**fields)


def timm(fields: dict[str, Any]) -> Callable[[Any], np.ndarray]:
    from timm import data

    transform = data.create_transform(**data.resolve_data_config(pretrained_cfg=fields), is_training=False)
    return lambda picture: transform(picture).numpy()


def torchvision_transforms(name: str) -> Any:
    from torchvision import models

    kind, _, member = name.partition(".")
    for module in (models, models.detection, models.segmentation):
        if hasattr(module, kind):
            return getattr(module, kind)[member].transforms()
    raise KeyError(name)


def main() -> None:
    import PIL.Image

    references = {
        f"{family} {json.dumps(fields)}": hugging_face(family, module, fields)
        for (family, module), each in HUGGING_FACE.items()
        for fields in each
    }
    references |= {f"timm {json.dumps(fields)}": timm(fields) for fields in TIMM}
    for name in TORCHVISION:
        transforms = torchvision_transforms(name)
        references[name] = lambda picture, transforms=transforms: transforms(picture).numpy()
    pictures = {name: (ROOT / "examples/photos" / name).read_bytes() for name in PHOTOS}
    opened = {name: PIL.Image.open(io.BytesIO(data)).convert("RGB") for name, data in pictures.items()}
    answers = {
        name: {photo: answer(np.asarray(reference(picture))) for photo, picture in opened.items()}
        for name, reference in references.items()
    }
    lines = [f"  {json.dumps(name)}: {json.dumps(each)}" for name, each in answers.items()]
    ANSWERS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    sys.exit(main())
