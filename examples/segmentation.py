"""A training pipeline for segmentation: images with their masks, resized, cropped and flipped together. An epoch, then a contact sheet.

Usage: segmentation.py [--out DIR]   (writes segmentation.hrg and segmentation.png there; default: the current folder)
       segmentation.py --coco DIR   (the same epoch over COCO's stuff_val2017.json)
"""

import argparse
import pathlib

import numpy as np

import headrace as hr
from headrace import vision as V

HERE = pathlib.Path(__file__).resolve().parent
CLASSES = ["background", "cat", "person", "spacecraft", "cup", "spoon", "galaxy"]
BASE, SIZE = 260, 240
# What a loss leaves out: pixels beyond the image.
IGNORED = 255


def training_images() -> hr.Dataset:
    """Columns: image, uint8 of shape (240, 240, 3); mask, uint8 of shape (240, 240, 1), the class of each pixel."""
    # The files of both folders have the same names, so that they come in the same order.
    images = hr.ImageFolder(str(HERE / "photos"), columns=["image"])
    masks = hr.ImageFolder(str(HERE / "objects/masks"), columns=["image"]).rename({"image": "mask"})
    return augmented(images.zip(masks).shuffle(100))


def augmented(pairs: hr.Dataset) -> hr.Dataset:
    # torchvision's reference for segmentation.
    augment = [
        V.Decode(),
        V.RandomResize(BASE // 2, BASE * 2),
        V.RandomHorizontalFlip(),
        V.RandomCrop(SIZE, pad_if_needed=True),
        V.ColorJitter(0.2, 0.2),
    ]
    return pairs.map(augment, ["image", hr.mask("mask", fill=IGNORED)]).with_seed(3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(), help="folder for what is written")
    parser.add_argument("--coco", metavar="DIR", help="the folder of COCO, with annotations/ in it")
    given = parser.parse_args()
    if given.coco:
        stuff = hr.datasets.Coco(given.coco, "stuff_val2017.json", "stuff", shuffle=True)
        for batch in augmented(stuff.project(["image", "mask"])).batch(4):
            print(f"image {batch['image'].shape}, mask {batch['mask'].dtype} {batch['mask'].shape}")
        return
    out = given.out

    train = training_images()
    pixels = np.zeros(256, np.int64)
    for batch in train.batch(4):
        print(f"image {batch['image'].dtype} {batch['image'].shape}, mask {batch['mask'].dtype} {batch['mask'].shape}")
        pixels += np.bincount(batch["mask"].ravel(), minlength=256)
    shares = pixels / pixels.sum()
    print(", ".join(f"{name} {share:.1%}" for name, share in zip(CLASSES, shares, strict=False)))
    print(f"beyond the images: {shares[IGNORED]:.1%}")

    train.save(out / "segmentation.hrg")
    train.show(12, image="image", mask="mask").save(out / "segmentation.png")
    print(f"images of the first epoch with their masks: {out / 'segmentation.png'}")
    print(f"the same: headrace show {out / 'segmentation.hrg'} --image image --mask mask --rows 12 --out sheet.png")


if __name__ == "__main__":
    main()
