"""Sets of pictures made small, in the layouts of their publishers. Most pictures are no more than their own names."""

import json
import pathlib
import shutil
import struct
from collections.abc import Iterable

import numpy as np
import PIL.Image

from tests.set_files import mat_bytes


def put(folder: pathlib.Path, names: Iterable[str]) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.rpartition("/")[2].encode())


def put_text(path: pathlib.Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


CELEBS = [f"{number:06}.jpg" for number in range(1, 6)]
CELEB_ATTRIBUTES = [f"Attribute_{number}" for number in range(40)]
CELEB_PARTS = [0, 0, 1, 2, 0]


def celeb_attributes() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 2, (5, 40))


def write_celeb_a(folder: pathlib.Path) -> None:
    put(folder / "Img" / "img_align_celeba", CELEBS)
    put(folder / "Img" / "img_celeba", CELEBS)
    lines = [
        f"{name}  {' '.join(f'{2 * bit - 1:2}' for bit in bits)}"
        for name, bits in zip(CELEBS, celeb_attributes(), strict=True)
    ]
    put_text(folder / "Anno" / "list_attr_celeba.txt", "\r\n".join(["5", " ".join(CELEB_ATTRIBUTES) + " ", *lines, ""]))
    put_text(folder / "Anno" / "identity_CelebA.txt", "".join(f"{name} {7 + i}\n" for i, name in enumerate(CELEBS)))
    boxes = "".join(f"{name}  {i} {i + 1} 20 {30 + i}\n" for i, name in enumerate(CELEBS))
    put_text(folder / "Anno" / "list_bbox_celeba.txt", f"5\nimage_id x_1 y_1 width height\n{boxes}")
    for kind in ("list_landmarks_align_celeba", "list_landmarks_celeba"):
        points = "".join(f"{name} {' '.join(str(i + k) for k in range(10))}\n" for i, name in enumerate(CELEBS))
        put_text(folder / "Anno" / f"{kind}.txt", f"5\nlefteye_x lefteye_y\n{points}")
    # In another order than the other lists.
    parts = zip(reversed(CELEBS), reversed(CELEB_PARTS), strict=True)
    put_text(folder / "Eval" / "list_eval_partition.txt", "".join(f"{name} {part}\n" for name, part in parts))


def write_flickr8k(folder: pathlib.Path) -> None:
    put(folder / "Images", ["b.jpg", "a.jpg", "c.jpg"])
    lines = ["b.jpg#1\tA second  one .", "b.jpg#0\tA first one .", "a.jpg#10\tNaïve .", "c.jpg#0\tLast ."]
    lines.append("2258277193_586949ec62.jpg.1#0\tNowhere .")
    put_text(folder / "Flickr8k.token.txt", "\n".join(lines) + "\n")
    put_text(folder / "Flickr8k_text" / "Flickr_8k.trainImages.txt", "a.jpg\nb.jpg\n")


def write_places365(folder: pathlib.Path) -> None:
    put_text(folder / "categories_places365.txt", "/a/airfield 0\n/a/alley/outdoor 1\n/b/bar 2\n")
    names = ["a/airfield/00000001.jpg", "b/bar/00000001.jpg", "a/alley/outdoor/00000002.jpg"]
    for base in ("data_256_standard", "data_large_standard"):
        put(folder / base, names)
    put_text(folder / "places365_train_standard.txt", f"/{names[0]} 0\n/{names[1]} 2\n/{names[2]} 1\n")
    put(folder / "val_256", ["Places365_val_00000001.jpg"])
    put_text(folder / "places365_val.txt", "Places365_val_00000001.jpg 2\n")
    put(folder / "test_256", ["Places365_test_00000001.jpg"])
    put_text(folder / "places365_test.txt", "Places365_test_00000001.jpg\n")


def write_wider_face(folder: pathlib.Path) -> None:
    names = ["0--Parade/0_Parade_1.jpg", "1--Handshaking/1_a.jpg", "0--Parade/0_Parade_2.jpg"]
    put(folder / "WIDER_train" / "images", names)
    put(folder / "WIDER_test" / "images", names[:1])
    put_text(
        folder / "wider_face_split" / "wider_face_train_bbx_gt.txt",
        f"{names[0]}\n2\n10 20 30 40 0 1 0 0 2 1 \n1 2 3 4 1 0 0 1 0 0 \n{names[1]}\n0\n0 0 0 0 0 0 0 0 0 0 \n"
        f"{names[2]}\n1\n5 6 7 8 0 0 0 0 0 0 \n",
    )
    put_text(folder / "wider_face_split" / "wider_face_test_filelist.txt", f"{names[0]}\n")


def write_kitti(folder: pathlib.Path) -> None:
    put(folder / "training" / "image_2", ["000000.png", "000001.png", "000002.png"])
    put(folder / "testing" / "image_2", ["000000.png"])
    car = "Car 0.50 0 -1.57 10.00 20.00 30.50 40.25 1.5 1.6 3.7 1.0 2.0 3.0 -1.5"
    other = "DontCare -1 -1 -10 1 2 3 4 -1 -1 -1 -1000 -1000 -1000 -10"
    for number, text in enumerate([f"{car}\n{other}\n", "", f"{other}\n"]):
        put_text(folder / "training" / "label_2" / f"{number:06}.txt", text)


def write_lfw(folder: pathlib.Path) -> None:
    people = {"Ann_Lee": 3, "Bo_Yu": 1, "Cy_Orr": 2}
    names = [f"{name}/{name}_{k:04}.jpg" for name, count in people.items() for k in range(1, count + 1)]
    put(folder / "lfw_funneled", names)
    listed = "".join(f"{name}\t{count}\n" for name, count in people.items())
    put_text(folder / "lfw-names.txt", listed)
    put_text(folder / "peopleDevTrain.txt", "2\nCy_Orr\t2\nAnn_Lee\t3\n")
    put_text(folder / "people.txt", "2\n1\nCy_Orr\t2\n2\nAnn_Lee\t3\nBo_Yu\t1\n")
    put_text(folder / "pairsDevTrain.txt", "1\nAnn_Lee\t1\t3\nBo_Yu\t1\tCy_Orr\t2\n")
    put_text(folder / "pairs.txt", "1\t1\nAnn_Lee\t2\t3\nCy_Orr\t1\tAnn_Lee\t1\n")


def write_flowers102(folder: pathlib.Path) -> None:
    put(folder / "jpg", [f"image_{number:05}.jpg" for number in range(1, 6)])
    (folder / "imagelabels.mat").write_bytes(mat_bytes({"labels": np.array([[77, 1, 102, 2, 2]], np.uint8)}))
    ids = {"trnid": [[5, 3]], "valid": [[1]], "tstid": [[2, 4]]}
    (folder / "setid.mat").write_bytes(
        mat_bytes({name: np.array(rows, np.float64) for name, rows in ids.items()}, packed=True)
    )


def write_oxford_pets(folder: pathlib.Path) -> None:
    put(folder / "images", ["Abyssinian_1.jpg", "great_pyrenees_2.jpg", "Abyssinian_3.jpg"])
    put(folder / "annotations" / "trimaps", ["Abyssinian_1.png", "great_pyrenees_2.png", "Abyssinian_3.png"])
    lines = "great_pyrenees_2 16 2 9\nAbyssinian_1 1 1 1\nAbyssinian_3 1 1 1\n"
    put_text(folder / "annotations" / "trainval.txt", lines)


def write_gtsrb(folder: pathlib.Path) -> None:
    head = "Filename;Width;Height;Roi.X1;Roi.Y1;Roi.X2;Roi.Y2;ClassId\n"
    base = folder / "GTSRB" / "Final_Training" / "Images"
    for kind, count in ((0, 2), (14, 1)):
        names = [f"{number:05}_00000.ppm" for number in range(count)]
        put(base / f"{kind:05}", names)
        rows = "".join(f"{name};29;30;5;6;{24 + k};25;{kind}\n" for k, name in enumerate(names))
        put_text(base / f"{kind:05}" / f"GT-{kind:05}.csv", head + rows)
    put(folder / "GTSRB" / "Final_Test" / "Images", ["00000.ppm"])
    put_text(folder / "GT-final_test.csv", f"{head}00000.ppm;53;54;6;5;48;49;16\n")


def write_div2k(folder: pathlib.Path) -> None:
    put(folder / "DIV2K_train_HR", ["0001.png", "0002.png"])
    for sub, names in {
        "bicubic/X2": ["0001x2.png", "0002x2.png"],
        "unknown/X4": ["0001x4.png", "0002x4.png"],
        "x8": ["0001x8.png", "0002x8.png"],
        "mild": ["0001x4m.png", "0002x4m.png"],
        "wild": [f"000{k}x4w{v}.png" for k in (1, 2) for v in range(1, 5)],
    }.items():
        put(folder / f"DIV2K_train_LR_{sub}", names)


def write_food101(folder: pathlib.Path) -> None:
    put(folder / "food-101" / "images", ["cat/1.jpg", "caterpillar/5.jpg", "caterpillar/7.jpg"])
    put_text(folder / "food-101" / "meta" / "classes.txt", "cat\ncaterpillar\n")
    put_text(folder / "food-101" / "meta" / "train.txt", "caterpillar/5\ncat/1\n")
    put_text(folder / "food-101" / "meta" / "test.txt", "caterpillar/7\n")


def write_sbu(folder: pathlib.Path) -> None:
    put(folder / "sbu_images", ["4385_1_a.jpg", "b.jpg"])
    urls = [f"http://static.flickr.com/{name}" for name in ("4385/1_a.jpg", "2/b.jpg", "3/gone.jpg")]
    put_text(folder / "SBU_captioned_photo_dataset_urls.txt", "\n".join(urls) + "\n")
    put_text(folder / "SBU_captioned_photo_dataset_captions.txt", " The first. \nSecond, in a row\nGone\n")


def write_dtd(folder: pathlib.Path) -> None:
    put(folder / "dtd" / "images", ["banded/banded_1.jpg", "zigzagged/zigzagged_2.jpg"])
    put_text(folder / "dtd" / "labels" / "train1.txt", "zigzagged/zigzagged_2.jpg\nbanded/banded_1.jpg\n")


def write_aircraft(folder: pathlib.Path) -> None:
    put(folder / "data" / "images", ["0034309.jpg", "1025794.jpg"])
    for name, kinds in {"variants": "707-320\nA300B4\n", "families": "A300\nBoeing 707\n"}.items():
        put_text(folder / "data" / f"{name}.txt", kinds)
    put_text(folder / "data" / "images_variant_trainval.txt", "1025794 707-320\n0034309 A300B4\n")
    put_text(folder / "data" / "images_family_trainval.txt", "1025794 Boeing 707\n0034309 A300\n")


def write_fer2013(folder: pathlib.Path) -> None:
    rows = [
        f'{label},"{" ".join(str((label + k) % 256) for k in range(2304))}",{usage}'
        for label, usage in ((0, "Training"), (6, "PublicTest"), (3, "Training"), (4, "PrivateTest"))
    ]
    put_text(folder / "fer2013.csv", "emotion,pixels,Usage\n" + "\n".join(rows) + "\n")


def write_cars(folder: pathlib.Path) -> None:
    put(folder / "cars_train", ["00001.jpg", "00002.jpg"])
    put_text(folder / "names.csv", "AM General Hummer SUV 2000\nAcura RL Sedan 2012\n")
    put_text(folder / "anno_train.csv", "00001.jpg,39,116,569,375,2\n00002.jpg,1,1,10,20,1\n")


def bitmap(pixels: np.ndarray) -> bytes:
    """Grey, of 8 bits, from the bottom up."""
    height, width = pixels.shape
    palette = b"".join(bytes([grey, grey, grey, 0]) for grey in range(256))
    start = 54 + len(palette)
    head = b"BM" + struct.pack("<IHHI", start + pixels.size, 0, 0, start)
    info = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 0, pixels.size, 0, 0, 256, 0)
    return head + info + palette + pixels[::-1].tobytes()


def write_photo_tour(folder: pathlib.Path, count: int = 300) -> np.ndarray:
    sheets = np.random.default_rng(0).integers(0, 256, (2, 1024, 1024), np.uint8)
    base = folder / "liberty"
    base.mkdir(parents=True)
    for number, sheet in enumerate(sheets):
        (base / f"patches{number:04}.bmp").write_bytes(bitmap(sheet))
    put_text(base / "info.txt", "".join(f"{number // 3} 0\n" for number in range(count)))
    put_text(base / "m50_100000_100000_0.txt", "0 0 0 2 0 0 0 \n1 0 0 299 99 0 0 \n")
    return sheets


_BOX = "<bndbox><xmin>{}</xmin><ymin>{}</ymin><xmax>{}</xmax><ymax>{}</ymax></bndbox>"


def voc_thing(kind: str, name: str, box: tuple[float, ...], more: str = "") -> str:
    return f"<{kind}><name>{name}</name>{more}{_BOX.format(*box)}</{kind}>"


def write_voc(folder: pathlib.Path) -> None:
    """Three photographs with two objects, one and none, of which one has masks."""
    base = folder / "VOCdevkit" / "VOC2012"
    put(base / "JPEGImages", ["b.jpg", "a.jpg", "c.jpg"])
    head = voc_thing("part", "head", (5, 6, 9, 9))
    cat = voc_thing("object", "cat", (3, 3, 4, 4), "<difficult>1</difficult>")
    objects = {
        "a": voc_thing("object", "person", (1, 2, 30, 40.5), f"{head}<truncated>1</truncated>"),
        "b": cat + voc_thing("object", "dog", (1, 1, 2, 2)),
        "c": "",
    }
    for name, xml in objects.items():
        put_text(base / "Annotations" / f"{name}.xml", f"<annotation>{xml}</annotation>")
    put_text(base / "ImageSets" / "Main" / "train.txt", "b \r\na\n\nc\n")
    put_text(base / "ImageSets" / "Segmentation" / "train.txt", "a\n")
    mask = PIL.Image.fromarray(np.array([[0, 15], [255, 15]], np.uint8), "L").convert("P")
    for kind in ("SegmentationClass", "SegmentationObject"):
        (base / kind).mkdir()
        mask.putpalette([value % 256 for value in range(3, 771)])
        mask.save(base / kind / "a.png")


def write_clevr(folder: pathlib.Path) -> None:
    names = [f"CLEVR_val_{number:06}.png" for number in (1, 0, 2)]
    put(folder / "CLEVR_v1.0" / "images" / "val", names)
    put(folder / "CLEVR_v1.0" / "images" / "test", ["CLEVR_test_000001.png", "CLEVR_test_000000.png"])
    scenes = [{"image_filename": name, "objects": [{}] * count} for name, count in zip(names, (3, 0, 10), strict=True)]
    put_text(folder / "CLEVR_v1.0" / "scenes" / "CLEVR_val_scenes.json", json.dumps({"info": {}, "scenes": scenes}))


def write_cityscapes(folder: pathlib.Path) -> None:
    """A photograph of each of two cities, with classes, instances, colors and polygons."""
    for city, frame in (("ulm", "ulm_000000_000019"), ("bonn", "bonn_000001_000019")):
        put(folder / "leftImg8bit" / "val" / city, [f"{frame}_leftImg8bit.png"])
        truth = folder / "gtFine" / "val" / city
        truth.mkdir(parents=True)
        PIL.Image.fromarray(np.array([[7, 33]], np.uint8)).save(truth / f"{frame}_gtFine_labelIds.png")
        PIL.Image.fromarray(np.array([[7, 26001]], np.uint16)).save(truth / f"{frame}_gtFine_instanceIds.png")
        colors = np.array([[[128, 64, 128, 255], [119, 11, 32, 255]]], np.uint8)
        PIL.Image.fromarray(colors).save(truth / f"{frame}_gtFine_color.png")
        polygons = {"imgHeight": 1, "imgWidth": 2, "objects": [{"label": "road", "polygon": [[0, 0], [1, 0], [1, 1]]}]}
        (truth / f"{frame}_gtFine_polygons.json").write_text(json.dumps(polygons))


def write_caltech101(folder: pathlib.Path) -> None:
    """Two classes, of which the folder of one has another name where the outlines are."""
    for kind, outlines, count in (("Faces", "Faces_2", 2), ("cup", "cup", 1)):
        put(folder / "101_ObjectCategories" / kind, [f"image_{number + 1:04}.jpg" for number in range(count)])
        (folder / "Annotations" / outlines).mkdir(parents=True)
        for number in range(count):
            arrays = {
                "box_coord": np.array([[30.0, 40, 10, 20]]) + number,
                "obj_contour": np.array([[0, 1.5, 3], [2, 4, 6]]),
            }
            path = folder / "Annotations" / outlines / f"annotation_{number + 1:04}.mat"
            path.write_bytes(mat_bytes(arrays, packed=number == 0))


def write_lsun(folder: pathlib.Path, split: str = "val") -> None:
    """Two of the ten classes, of 299 entries each, which are not pictures."""
    written = pathlib.Path(__file__).resolve().parents[1] / "io/formats/lmdb/testdata/plain.mdb"
    for name in ("kitchen", "bridge"):
        place = folder / f"{name}_{split}_lmdb"
        place.mkdir(parents=True)
        shutil.copyfile(written, place / "data.mdb")
