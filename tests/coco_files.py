"""A set in COCO's form made small: three photographs with objects, keypoints, captions and segments."""

import json
import pathlib
from typing import Any

import numpy as np
import PIL.Image

IMAGES = [
    {"id": 7, "file_name": "b.jpg", "height": 40, "width": 60},
    {"id": 2, "file_name": "a.jpg", "height": 30, "width": 50},
    {"id": 9, "file_name": "c.jpg", "height": 20, "width": 20},
]
CATEGORIES = [
    {"id": 90, "name": "zebra", "supercategory": "animal"},
    {
        "id": 1,
        "name": "person",
        "supercategory": "person",
        "keypoints": ["nose", "tail"],
        "skeleton": [[1, 2]],
    },
]
OBJECTS = [
    {
        "id": 11,
        "image_id": 2,
        "category_id": 90,
        "bbox": [10, 5, 20.5, 15],
        "area": 200.25,
        "iscrowd": 0,
        "segmentation": [[10, 5, 30.5, 5, 30.5, 20, 10, 20], [1.3, 2.2, 8.9, 3.1, 5.5, 9.7, 2.2, 8]],
        "keypoints": [12, 7.5, 2, 0, 0, 0],
    },
    {
        "id": 5,
        "image_id": 7,
        "category_id": 1,
        "bbox": [0, 0, 2, 40],
        "area": 70,
        "iscrowd": 1,
        "segmentation": {"size": [40, 60], "counts": [2, 36, 4, 34, 2324]},
        "keypoints": [1, 2, 1, 3, 4, 2],
    },
    {
        "id": 12,
        "image_id": 2,
        "category_id": 1,
        "bbox": [5, 5, 10, 10],
        "area": 50,
        "iscrowd": 0,
        "segmentation": [[5, 5, 15, 5, 15.25, 15.75]],
        "keypoints": [0, 0, 0, 0, 0, 0],
    },
]
CAPTIONS = [
    {"id": 1, "image_id": 2, "caption": "A zebra.\n"},
    {"id": 2, "image_id": 9, "caption": "Nothing, naïvely."},
    {"id": 3, "image_id": 2, "caption": "Two of them."},
]
# Of image 2: the number of each segment, its category and its rectangle.
SEGMENTS = [(1000, 90, (0, 0, 20, 30)), (70_000, 1, (20, 10, 40, 30))]


def file_of(annotations: list[dict[str, Any]], **other: Any) -> str:
    return json.dumps({"info": {"year": 2017}, "images": IMAGES, "annotations": annotations} | other)


def write_coco(folder: pathlib.Path) -> None:
    """In the layout of the publisher, with files of annotations for each task."""
    pictures = folder / "val2017"
    files = folder / "annotations"
    pictures.mkdir(parents=True)
    files.mkdir()
    for number, image in enumerate(IMAGES):
        shape = (image["height"], image["width"], 3)
        pixels = np.random.default_rng(number).integers(0, 256, shape, np.uint8)
        PIL.Image.fromarray(pixels).save(pictures / str(image["file_name"]))
    objects = file_of(OBJECTS, categories=CATEGORIES)
    for name in ("instances", "stuff", "person_keypoints"):
        (files / f"{name}_val2017.json").write_text(objects)
    (files / "captions_val2017.json").write_text(file_of(CAPTIONS))
    _write_panoptic(files)


def _write_panoptic(files: pathlib.Path) -> None:
    (files / "panoptic_val2017").mkdir()
    annotations = []
    for image in IMAGES:
        ids = np.zeros((image["height"], image["width"]), np.int64)
        infos = []
        for number, category, (left, top, right, bottom) in SEGMENTS if image["id"] == 2 else []:
            ids[top:bottom, left:right] = number
            box = [left, top, right - left, bottom - top]
            infos.append({"id": number, "category_id": category, "bbox": box, "area": box[2] * box[3], "iscrowd": 0})
        name = str(image["file_name"]).replace("jpg", "png")
        colours = np.stack([ids % 256, ids // 256 % 256, ids // 65536], 2).astype(np.uint8)
        PIL.Image.fromarray(colours).save(files / "panoptic_val2017" / name)
        annotations.append({"image_id": image["id"], "file_name": name, "segments_info": infos})
    (files / "panoptic_val2017.json").write_text(file_of(annotations, categories=CATEGORIES))


def write_numbered_coco(folder: pathlib.Path, count: int) -> None:
    """Photographs without contents whose ids are the numbers below `count`, with an object for each bit that is set: bit b
    has category b and a mask of b pixels."""
    (folder / "val2017").mkdir()
    images = [{"id": number, "file_name": f"{number}.jpg", "height": 4, "width": 5} for number in range(count)]
    for image in images:
        (folder / "val2017" / str(image["file_name"])).touch()
    bits = [(number, bit) for number in range(count) for bit in range(number.bit_length()) if number >> bit & 1]
    objects = [
        {
            "id": place,
            "image_id": number,
            "category_id": bit + 1,
            "bbox": [0, 0, 5, 4],
            "area": bit,
            "iscrowd": 0,
            "segmentation": {"size": [4, 5], "counts": [0, bit, 20 - bit]},
        }
        for place, (number, bit) in enumerate(bits)
    ]
    categories = [{"id": bit + 1, "name": str(bit)} for bit in range(max(1, (count - 1).bit_length()))]
    (folder / "annotations").mkdir()
    text = file_of(objects, images=images, categories=categories)
    (folder / "annotations" / "instances_val2017.json").write_text(text)
