"""A training pipeline for detection: images with their boxes, cropped, flipped and resized together. An epoch, then a contact sheet.

Usage: detection.py [--out DIR]   (writes detection.hrg and detection.png there; default: the current folder)
       detection.py --coco DIR [--annotations FILE]   (an evaluation on COCO by pycocotools' evaluator instead)
"""

import argparse
import pathlib

import numpy as np

import headrace as hr
from headrace import vision as V

HERE = pathlib.Path(__file__).resolve().parent
CLASSES = ["background", "cat", "person", "spacecraft", "cup", "spoon", "galaxy"]
SIZE = 300


def training_images() -> hr.Dataset:
    """Columns: image, uint8 of shape (300, 300, 3); boxes, float32 of shape (n, 4), and labels, int64 of shape (n,)."""
    # Line i of the file belongs to image i, in order of class, then name.
    objects = hr.JsonLines(
        str(HERE / "objects/boxes.jsonl"), {"boxes": ("float32", (None, 4)), "labels": ("int64", (None,))}
    )
    images = hr.ImageFolder(str(HERE / "photos"), columns=["image"])
    # What SSD trains with in torchvision's reference: some boxes leave the image, and their labels with them.
    augment = [
        V.Decode(),
        V.RandomPhotometricDistort(),
        V.RandomZoomOut(fill=(123, 117, 104), side_range=(1.0, 2.0)),
        V.RandomIoUCrop(),
        V.RandomHorizontalFlip(),
        V.Resize((SIZE, SIZE)),
        V.SanitizeBoxes(min_size=4),
    ]
    return images.zip(objects).shuffle(100).map(augment, ["image", hr.boxes("boxes", labels="labels")]).with_seed(6)


def detected(row: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Boxes (xyxy), categories and scores. In place of a model: the boxes of the annotations, a little too large."""
    found = row["iscrowd"] == 0
    boxes = row["boxes"][found] + np.float32([-1, -1, 1, 1])
    return boxes, row["category"][found], np.linspace(1, 0.5, len(boxes))


def evaluate(root: str, annotations: str) -> None:
    """The evaluation loop: detections of each image, by the ids of the file, to pycocotools."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    val = hr.datasets.Coco(root, annotations)
    results = []
    for row in val.map(V.Decode(), "image"):
        boxes, categories, scores = detected(row)
        for (left, top, right, bottom), category, score in zip(boxes.tolist(), categories, scores, strict=True):
            results.append(
                {
                    "image_id": int(row["image_id"]),
                    "category_id": val.categories[category].id,
                    "bbox": [left, top, right - left, bottom - top],
                    "score": float(score),
                }
            )
    reference = COCO(str(pathlib.Path(root) / "annotations" / annotations))
    evaluation = COCOeval(reference, reference.loadRes(results), "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(), help="folder for what is written")
    parser.add_argument("--coco", metavar="DIR", help="the folder of COCO, with annotations/ in it")
    parser.add_argument("--annotations", default="instances_val2017.json", help="a file of annotations there")
    given = parser.parse_args()
    if given.coco:
        evaluate(given.coco, given.annotations)
        return
    out = given.out

    train = training_images()
    # Images differ in how many boxes they have: each batch holds all boxes in one array, and where an image's begin.
    for batch in train.batch(4, ragged="splits"):
        counts = batch["boxes_splits"][1:] - batch["boxes_splits"][:-1]
        print(f"{batch['image'].shape}, boxes {batch['boxes'].shape}: {' + '.join(map(str, counts))}")
        print(f"  {', '.join(CLASSES[label] for label in batch['labels'])}")

    train.save(out / "detection.hrg")
    train.show(12, boxes="boxes").save(out / "detection.png")
    print(f"images of the first epoch with their boxes: {out / 'detection.png'}")
    print(f"the same: headrace show {out / 'detection.hrg'} --boxes boxes --rows 12 --out sheet.png")


if __name__ == "__main__":
    main()
