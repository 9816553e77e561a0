"""A training pipeline for keypoints: images of COCO with the keypoints of people, turned and resized together.

Usage: keypoints.py --coco DIR [--annotations FILE]   (prints the batches of an epoch)
"""

import argparse

import numpy as np

import headrace as hr
from headrace import vision as V

SIZE = (256, 192)


def people(root: str, annotations: str) -> hr.Dataset:
    """Columns: image, uint8 of shape (256, 192, 3); keypoints, float32 of shape (n, k, 2); visibility, uint8 of shape (n, k)."""
    images = hr.datasets.Coco(root, annotations, "keypoints", empty="drop", shuffle=True)
    columns = ["image", hr.keypoints("keypoints", labels="visibility")]
    moved = images.map([V.Decode(), V.Resize(SIZE), V.RandomRotation(20)], columns)
    return moved.project(["image", "keypoints", "visibility"]).with_seed(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coco", metavar="DIR", required=True, help="the folder of COCO, with annotations/ in it")
    parser.add_argument("--annotations", default="person_keypoints_val2017.json", help="a file of annotations there")
    given = parser.parse_args()
    for batch in people(given.coco, given.annotations).batch(4, ragged="splits"):
        seen = np.count_nonzero(batch["visibility"])
        print(f"{batch['image'].shape}: {len(batch['keypoints'])} people, {seen} keypoints")


if __name__ == "__main__":
    main()
