"""Sets whose pictures are files: tables over the folders and lists of their publishers."""

import os
import pathlib
import warnings

import numpy as np
import PIL.Image
import pytest

import headrace as hr
from headrace import datasets
from headrace import vision as V
from tests import picture_set_files as made
from tests.set_files import mat_bytes


def values(ds: hr.Dataset, name: str) -> list:
    return [np.asarray(row[name]).tolist() for row in ds]


def names(ds: hr.Dataset, column: str = "image") -> list[str]:
    """Of the pictures, whose bytes are their names."""
    return [row[column].decode() for row in ds]


def test_celeb_a_is_joined_by_name(tmp_path):
    made.write_celeb_a(tmp_path)
    ds = datasets.CelebA(tmp_path, more=["identity", "landmarks"])
    assert names(ds) == [made.CELEBS[number] for number in (0, 1, 4)]
    assert values(ds, "attr") == made.celeb_attributes()[[0, 1, 4]].tolist()
    assert ds.schema["attr"] == ("uint8", (40,)) and ds.schema["landmarks"] == ("float32", (5, 2))
    assert values(ds, "identity") == [7, 8, 11]
    assert values(ds, "landmarks")[1] == [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]]
    assert ds.classes == made.CELEB_ATTRIBUTES
    assert names(datasets.CelebA(tmp_path, "valid")) == [made.CELEBS[2]]
    assert names(datasets.CelebA(tmp_path, "all")) == made.CELEBS
    wild = datasets.CelebA(tmp_path, "test", "wild", ["boxes"])
    assert values(wild, "boxes") == [[[3, 4, 23, 37]]]
    assert values(datasets.CelebA(tmp_path, "test", "wild", ["boxes"], "xywh"), "boxes") == [[[3, 4, 20, 33]]]
    with pytest.raises(hr.GraphError, match='give pictures="wild"'):
        datasets.CelebA(tmp_path, more=["boxes"])


def test_celeb_a_of_csv(tmp_path):
    made.put(tmp_path / "img_align_celeba" / "img_align_celeba", made.CELEBS[:2])
    made.put_text(tmp_path / "list_attr_celeba.csv", "image_id,A,B\n000001.jpg,-1,1\n000002.jpg,1,1\n")
    made.put_text(tmp_path / "list_eval_partition.csv", "image_id,partition\n000002.jpg,1\n000001.jpg,0\n")
    ds = datasets.CelebA(tmp_path, "valid")
    assert (names(ds), values(ds, "attr"), ds.classes) == (["000002.jpg"], [[1, 1]], ["A", "B"])


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("Anno/list_attr_celeba.txt", "6\nA\n000001.jpg 1\n", "says that it has 6 pictures, and has 1"),
        ("Anno/list_attr_celeba.txt", "1\nA B\n000001.jpg 1\n", "line 3: it must have 2 numbers, and has 1"),
        ("Anno/list_attr_celeba.txt", "2\nA\n000001.jpg 1\n000001.jpg 1\n", "line 4: 000001.jpg comes twice"),
        ("Anno/list_attr_celeba.txt", "", "it is empty"),
        ("Eval/list_eval_partition.txt", "000001.jpg 0\n", "does not name 000002.jpg, which another list does"),
        ("Eval/list_eval_partition.txt", "".join(f"{name} 3\n" for name in made.CELEBS), "label 0 is 3"),
        ("Eval/list_eval_partition.txt", "".join(f"{name} x\n" for name in made.CELEBS), "must be whole numbers"),
    ],
)
def test_damaged_lists_of_celeb_a_are_an_error(tmp_path, name, text, said):
    made.write_celeb_a(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(hr.DataError, match=f"{name}.*{said}"):
        datasets.CelebA(tmp_path)


def test_missing_pictures_are_an_error_or_left_out(tmp_path):
    made.write_celeb_a(tmp_path)
    (tmp_path / "Img" / "img_align_celeba" / made.CELEBS[1]).unlink()
    with pytest.raises(
        hr.NotFoundError, match="CelebA: 1 of 3 files missing: 000002.jpg; looked in .*img_align_celeba"
    ):
        datasets.CelebA(tmp_path)
    with pytest.warns(hr.PipelineWarning, match="CelebA: left out 000002.jpg of .*list_attr_celeba.txt: it is not in"):
        ds = datasets.CelebA(tmp_path, missing="skip")
    assert names(ds) == [made.CELEBS[0], made.CELEBS[4]] and len(ds) == 2
    assert values(ds, "attr") == made.celeb_attributes()[[0, 4]].tolist()
    ((file, entry, reason),) = ds.left_out
    assert file.endswith("list_attr_celeba.txt") and entry == "000002.jpg" and "img_align_celeba" in reason


def test_flickr8k_has_captions_in_order(tmp_path):
    made.write_flickr8k(tmp_path)
    with pytest.warns(hr.PipelineWarning, match="2258277193_586949ec62.jpg.1 .*no copy of the set has it"):
        ds = datasets.Flickr8k(tmp_path)
    assert names(ds) == ["b.jpg", "a.jpg", "c.jpg"]
    assert values(ds, "captions") == [["A first one .", "A second  one ."], ["Naïve ."], ["Last ."]]
    assert [each.entry for each in ds.left_out] == ["2258277193_586949ec62.jpg.1"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert names(datasets.Flickr8k(tmp_path, "train")) == ["b.jpg", "a.jpg"]
        made.put_text(tmp_path / "Flickr8k_text" / "Flickr_8k.trainImages.txt", "a.jpg\nd.jpg\n")
        ds = datasets.Flickr8k(tmp_path, "train")
    assert names(ds) == ["a.jpg"]
    assert [(each.entry, each.reason) for each in ds.left_out][1:] == [("d.jpg", "it has no caption")]


def test_captions_of_csv(tmp_path):
    made.put(tmp_path / "flickr30k_images", ["1.jpg", "2.jpg"])
    made.put_text(
        tmp_path / "results.csv",
        "image_name| comment_number| comment\n1.jpg| 0| One , two .\n1.jpg| 1   Three .\n2.jpg| 0| Four .\n",
    )
    assert values(datasets.Flickr30k(tmp_path), "captions") == [["One , two .", "Three ."], ["Four ."]]
    made.put(tmp_path / "Images", ["a.jpg"])
    made.put_text(tmp_path / "captions.txt", 'image,caption\na.jpg,"One, two ."\na.jpg,Three .\n')
    assert values(datasets.Flickr8k(tmp_path), "captions") == [["One, two .", "Three ."]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"a.jpg A caption\n", "line 1: it must be a name, #, a number"),
        (b"a.jpg#x\tA caption\n", "line 1: the number of a caption must be whole"),
        (b"a.jpg#0\tA\na.jpg#0\tB\n", "line 2: caption 0 of a.jpg comes twice"),
        (b"a.jpg#0\tcaf\xe9\n", "line 1: it is not UTF-8"),
    ],
)
def test_damaged_captions_are_an_error(tmp_path, text, said):
    made.write_flickr8k(tmp_path)
    (tmp_path / "Flickr8k.token.txt").write_bytes(text)
    with pytest.raises(hr.DataError, match=f"Flickr8k.token.txt, {said}"):
        datasets.Flickr8k(tmp_path)


def test_names_of_pictures_need_not_be_utf8(tmp_path):
    made.write_flickr8k(tmp_path)
    name = b"caf\xe9.jpg"
    pathlib.Path(os.fsdecode(os.fsencode(tmp_path / "Images") + b"/" + name)).write_bytes(b"found")
    (tmp_path / "Flickr8k.token.txt").write_bytes(name + b"#0\tCoffee .\n")
    assert names(datasets.Flickr8k(tmp_path)) == ["found"]
    (tmp_path / "Flickr8k.token.txt").write_bytes(b"th" + name + b"#0\tTea .\n")
    with pytest.raises(hr.NotFoundError, match=r"thcaf\\xe9.jpg"):
        datasets.Flickr8k(tmp_path)


def test_clevr_counts_what_is_in_a_scene(tmp_path):
    made.write_clevr(tmp_path)
    ds = datasets.CLEVR(tmp_path, "val")
    assert names(ds) == ["CLEVR_val_000001.png", "CLEVR_val_000000.png", "CLEVR_val_000002.png"]
    assert values(ds, "count") == [3, 0, 10] and ds.schema["count"] == ("int64", ())
    assert names(datasets.CLEVR(tmp_path, "test")) == ["CLEVR_test_000000.png", "CLEVR_test_000001.png"]
    assert list(datasets.CLEVR(tmp_path / "CLEVR_v1.0", "test").schema) == ["image"]
    (path,) = tmp_path.rglob("CLEVR_val_scenes.json")
    for text, said in (
        ('{"scenes": [{"image_filename": "a.png"}]}', "scene 0 must have a list as objects"),
        ('{"scenes": [{"objects": []}]}', "scene 0 must have a text as image_filename"),
        ("[", "it is not JSON"),
    ):
        path.write_text(text)
        with pytest.raises(hr.DataError, match=f"CLEVR_val_scenes.json: {said}"):
            datasets.CLEVR(tmp_path, "val")


TWICE = {
    "VOC": (made.write_voc, "ImageSets/Main/train.txt", lambda folder: datasets.VOC(folder, "train", "detection")),
    "Food101": (made.write_food101, "meta/train.txt", datasets.Food101),
    "Places365": (made.write_places365, "places365_val.txt", lambda folder: datasets.Places365(folder, "val", True)),
}


@pytest.mark.parametrize("kind", TWICE)
def test_pictures_that_a_list_names_twice_are_an_error(tmp_path, kind):
    write, listed, opened = TWICE[kind]
    write(tmp_path)
    (path,) = tmp_path.rglob(listed)
    path.write_text(path.read_text().rstrip() + "\n" + path.read_text().splitlines()[0] + "\n")
    with pytest.raises(hr.DataError, match=f"{path.name}: .* comes twice"):
        opened(tmp_path)


def test_a_list_does_not_lead_out_of_its_folder(tmp_path):
    made.write_food101(tmp_path)
    (path,) = tmp_path.rglob("meta/train.txt")
    path.write_text("../../secret\n")
    with pytest.raises(hr.DataError, match="train.txt.*secret"):
        datasets.Food101(tmp_path)


def test_places365_has_labels_of_the_list(tmp_path):
    made.write_places365(tmp_path)
    for small in (False, True):
        ds = datasets.Places365(tmp_path, small=small)
        assert values(ds, "label") == [0, 2, 1] and names(ds)[2] == "00000002.jpg"
    assert ds.classes == ["a/airfield", "a/alley/outdoor", "b/bar"]
    assert values(datasets.Places365(tmp_path, "val", True), "label") == [2]
    assert values(datasets.Places365(tmp_path, "test", True), "label") == [-1]
    (tmp_path / "places365_val.txt").write_text("Places365_val_00000001.jpg 3\n")
    with pytest.raises(hr.DataError, match="places365_val.txt: label 0 is 3"):
        datasets.Places365(tmp_path, "val", True)
    (tmp_path / "categories_places365.txt").write_text("/a 0\n/a 1\n")
    with pytest.raises(hr.DataError, match="categories_places365.txt, line 2: .* must be a class of its own"):
        datasets.Places365(tmp_path)


def test_wider_face_without_a_face_has_no_box(tmp_path):
    made.write_wider_face(tmp_path)
    ds = datasets.WIDERFace(tmp_path)
    assert values(ds, "boxes") == [[[10, 20, 40, 60], [1, 2, 4, 6]], [], [[5, 6, 12, 14]]]
    assert ds.schema["boxes"] == ("float32", (None, 4)) and ds.schema["blur"] == ("int64", (None,))
    assert values(ds, "occlusion") == [[2, 0], [], [0]] and values(ds, "invalid") == [[0, 1], [], [0]]
    assert [row["event"] for row in ds] == ["0--Parade", "1--Handshaking", "0--Parade"]
    assert values(datasets.WIDERFace(tmp_path, boxes="xywh"), "boxes")[0] == [[10, 20, 30, 40], [1, 2, 3, 4]]
    assert list(datasets.WIDERFace(tmp_path, "test").schema) == ["image", "event"]
    assert ds.doubts["boxes_empty"] == 0 and datasets.WIDERFace(tmp_path, "test").doubts == {}
    (path,) = tmp_path.rglob("wider_face_train_bbx_gt.txt")
    path.write_text(path.read_text().replace("\n1 2 3 4 ", "\n-1 2 0 4 "))
    for form in ("xyxy", "xywh"):
        ds = datasets.WIDERFace(tmp_path, boxes=form)
        assert ds.doubts == {
            "boxes_outside": 1,
            "boxes_empty": 1,
            "first_outside": "box 1 of 0--Parade/0_Parade_1.jpg",
            "first_empty": "box 1 of 0--Parade/0_Parade_1.jpg",
        }
    assert values(ds, "boxes")[0][1] == [-1, 2, 0, 4]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a.jpg\n", "line 1: the number of faces of a.jpg must be whole"),
        ("a.jpg\n2\n1 2 3 4 0 0 0 0 0 0\n", "line 3: a face of a.jpg must have 10 numbers, and has 0"),
        ("a.jpg\n1\n1 2 3\n", "line 3: a face of a.jpg must have 10 numbers, and has 3"),
        ("a.jpg\n9999999999\n", "a face of a.jpg must have 10 numbers"),
    ],
)
def test_a_damaged_list_of_faces_is_an_error(tmp_path, text, said):
    made.write_wider_face(tmp_path)
    (tmp_path / "wider_face_split" / "wider_face_train_bbx_gt.txt").write_text(text)
    with pytest.raises(hr.DataError, match=f"wider_face_train_bbx_gt.txt, .*{said}"):
        datasets.WIDERFace(tmp_path)


def test_kitti_has_fixed_classes(tmp_path):
    made.write_kitti(tmp_path)
    ds = datasets.KITTI(tmp_path)
    assert values(ds, "boxes") == [[[10, 20, 30.5, 40.25], [1, 2, 3, 4]], [], [[1, 2, 3, 4]]]
    assert values(ds, "label") == [[0, 8], [], [8]] and values(ds, "occluded") == [[0, -1], [], [-1]]
    assert values(ds, "dimensions")[0][0] == pytest.approx([1.5, 1.6, 3.7])
    assert ds.schema["location"] == ("float32", (None, 3)) and ds.classes[8] == "DontCare"
    assert list(datasets.KITTI(tmp_path, "test").schema) == ["image"]
    (tmp_path / "training" / "label_2" / "000001.txt").write_text("Cart 1\n")
    with pytest.raises(hr.DataError, match="000001.txt, line 1: 'Cart' is not one of Car"):
        datasets.KITTI(tmp_path)
    (tmp_path / "training" / "label_2" / "000001.txt").unlink()
    with pytest.raises(hr.NotFoundError, match="1 of 3 files missing: 000001.txt"):
        datasets.KITTI(tmp_path)


def test_lfw_gives_people_and_pairs(tmp_path):
    made.write_lfw(tmp_path)
    assert values(datasets.LFWPeople(tmp_path), "label") == [0, 0, 0, 1, 2, 2]
    ds = datasets.LFWPeople(tmp_path, "train")
    assert values(ds, "label") == [2, 2, 0, 0, 0] and names(ds)[0] == "Cy_Orr_0001.jpg"
    assert values(datasets.LFWPeople(tmp_path, "10fold"), "label") == [2, 2, 0, 0, 0, 1]
    assert ds.classes == ["Ann_Lee", "Bo_Yu", "Cy_Orr"]
    pairs = datasets.LFWPairs(tmp_path)
    assert names(pairs, "image1") == ["Ann_Lee_0001.jpg", "Bo_Yu_0001.jpg"]
    assert names(pairs, "image2") == ["Ann_Lee_0003.jpg", "Cy_Orr_0002.jpg"]
    assert values(pairs, "label") == [1, 0] and pairs.classes == ["different", "same"]
    (tmp_path / "lfw_funneled" / "Cy_Orr" / "Cy_Orr_0001.jpg").unlink()
    with pytest.warns(hr.PipelineWarning, match="Cy_Orr_0001.jpg"):
        assert values(datasets.LFWPairs(tmp_path, "10fold", missing="skip"), "label") == [1]


def test_flowers102_follows_its_mat_files(tmp_path):
    made.write_flowers102(tmp_path)
    ds = datasets.Flowers102(tmp_path)
    assert names(ds) == ["image_00005.jpg", "image_00003.jpg"] and values(ds, "label") == [1, 101]
    assert values(datasets.Flowers102(tmp_path, "all"), "label") == [1, 101, 76, 0, 1]
    assert ds.classes[101] == "102"


def test_oxford_pets_have_breeds(tmp_path):
    made.write_oxford_pets(tmp_path)
    ds = datasets.OxfordPets(tmp_path)
    assert values(ds, "label") == [15, 0, 0] and values(ds, "species") == [1, 0, 0]
    assert ds.class_to_idx == {"Abyssinian": 0, "Great Pyrenees": 15}
    assert ds.project("species").classes == ["cat", "dog"]
    masked = datasets.OxfordPets(tmp_path, mask=True)
    assert names(masked, "mask") == ["great_pyrenees_2.png", "Abyssinian_1.png", "Abyssinian_3.png"]
    assert masked.classes == ds.classes and masked.classes_of("mask") == ["pet", "background", "border"]
    (tmp_path / "annotations" / "trimaps" / "Abyssinian_1.png").unlink()
    with pytest.warns(hr.PipelineWarning, match="left out annotations/trimaps/Abyssinian_1.png"):
        assert names(datasets.OxfordPets(tmp_path, mask=True, missing="skip")) == [
            "great_pyrenees_2.jpg",
            "Abyssinian_3.jpg",
        ]


def test_gtsrb_has_boxes_of_signs(tmp_path):
    made.write_gtsrb(tmp_path)
    ds = datasets.GTSRB(tmp_path)
    assert values(ds, "label") == [0, 0, 14] and values(ds, "boxes")[1] == [[5, 6, 26, 26]]
    ds = datasets.GTSRB(tmp_path, "test", "xywh")
    assert values(ds, "boxes") == [[[6, 5, 43, 45]]] and ds.doubts["boxes_outside"] == 0
    (path,) = tmp_path.rglob("GT-final_test.csv")
    path.write_text(path.read_text().replace("ppm;53;54;", "ppm;53;49;"))
    assert datasets.GTSRB(tmp_path, "test").doubts["first_outside"] == "box 0 of 00000.ppm"


def test_div2k_pairs_large_and_small(tmp_path):
    made.write_div2k(tmp_path)
    ds = datasets.DIV2K(tmp_path)
    assert (names(ds, "hr_image"), names(ds, "lr_image")) == (["0001.png", "0002.png"], ["0001x2.png", "0002x2.png"])
    small = {
        given: names(datasets.DIV2K(tmp_path, "train", *given), "lr_image")[0]
        for given in (("unknown", 4), ("bicubic", 8), ("mild", 4))
    }
    assert list(small.values()) == ["0001x4.png", "0001x8.png", "0001x4m.png"]
    wild = datasets.DIV2K(tmp_path, "train", "wild", 4)
    assert names(wild, "lr_image")[3:5] == ["0001x4w4.png", "0002x4w1.png"]
    assert names(wild, "hr_image")[3:5] == ["0001.png", "0002.png"]
    with pytest.raises(hr.GraphError, match="scale is 2; of 'mild' the publisher has 4"):
        datasets.DIV2K(tmp_path, "train", "mild", 2)


def test_food101_takes_the_whole_name_of_a_class(tmp_path):
    made.write_food101(tmp_path)
    ds = datasets.Food101(tmp_path, "all")
    assert names(ds) == ["5.jpg", "1.jpg", "7.jpg"] and values(ds, "label") == [1, 0, 1]
    (tmp_path / "food-101" / "meta" / "test.txt").write_text("dog/7\n")
    with pytest.raises(hr.DataError, match="test.txt, line 1: 'dog/7' is not class/number"):
        datasets.Food101(tmp_path, "test")


def test_sbu_leaves_out_what_is_gone(tmp_path):
    made.write_sbu(tmp_path)
    with pytest.warns(hr.PipelineWarning, match="SBU: left out gone.jpg"):
        ds = datasets.SBU(tmp_path)
    assert names(ds) == ["4385_1_a.jpg", "b.jpg"] and len(ds.left_out) == 1
    assert [row["caption"] for row in ds] == ["The first.", "Second, in a row"]
    with pytest.raises(hr.NotFoundError, match="1 of 3 files missing: gone.jpg"):
        datasets.SBU(tmp_path, missing="error")
    (tmp_path / "SBU_captioned_photo_dataset_captions.txt").write_text("One\n")
    with pytest.raises(hr.DataError, match="1 captions, and .* has 3 addresses"):
        datasets.SBU(tmp_path)


def test_sets_of_lists_and_classes(tmp_path):
    made.write_dtd(tmp_path / "a")
    made.write_aircraft(tmp_path / "b")
    made.write_cars(tmp_path / "c")
    textures = datasets.DTD(tmp_path / "a")
    assert values(textures, "label") == [1, 0] and textures.classes == ["banded", "zigzagged"]
    assert values(datasets.FGVCAircraft(tmp_path / "b"), "label") == [0, 1]
    assert values(datasets.FGVCAircraft(tmp_path / "b", level="family"), "label") == [1, 0]
    cars = datasets.StanfordCars(tmp_path / "c")
    assert values(cars, "label") == [1, 0] and values(cars, "boxes")[0] == [[38, 115, 569, 375]]
    assert cars.classes[1] == "Acura RL Sedan 2012"


def test_fer2013_has_faces(tmp_path):
    made.write_fer2013(tmp_path)
    ds = datasets.FER2013(tmp_path)
    assert values(ds, "label") == [0, 3] and ds.schema["image"] == ("uint8", (48, 48, 1))
    assert ds[1]["image"].reshape(-1)[:3].tolist() == [3, 4, 5]
    assert [len(datasets.FER2013(tmp_path, split)) for split in ("public", "private", "all")] == [1, 1, 4]
    (tmp_path / "fer2013.csv").write_text("emotion,pixels,Usage\n1,1 2 3,Training\n")
    with pytest.raises(hr.DataError, match="line 2: it must have 2304 pixels of 0 to 255, and has 3"):
        datasets.FER2013(tmp_path)


def test_photo_tour_cuts_patches(tmp_path):
    sheets = made.write_photo_tour(tmp_path)
    ds = datasets.PhotoTour(tmp_path, "liberty")
    assert len(ds) == 300 and ds.schema["image"] == ("uint8", (64, 64, 1))
    np.testing.assert_array_equal(ds[17]["image"][..., 0], sheets[0][64:128, 64:128])
    np.testing.assert_array_equal(ds[299]["image"][..., 0], sheets[1][128:192, 704:768])
    assert ds[299]["point"] == 99
    pairs = datasets.PhotoTour(tmp_path, "liberty", "test")
    assert values(pairs, "match") == [1, 0]
    np.testing.assert_array_equal(pairs[1]["image2"], ds[299]["image"])
    path = tmp_path / "liberty" / "patches0001.bmp"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(hr.DataError, match="patches0001.bmp: it ends within its pixels"):
        datasets.PhotoTour(tmp_path, "liberty")
    path.write_bytes(b"BM")
    with pytest.raises(hr.DataError, match="patches0001.bmp: it is not a BMP"):
        datasets.PhotoTour(tmp_path, "liberty")


FOLDERS = {
    "Caltech101": ("101_ObjectCategories", ["Faces", "airplanes"]),
    "Caltech256": ("256_ObjectCategories", ["001.ak47", "257.clutter"]),
    "EuroSAT": ("2750", ["AnnualCrop", "Forest"]),
    "ImageNet": ("train", ["n01440764", "n01443537"]),
    "RenderedSST2": ("train", ["negative", "positive"]),
    "Omniglot": ("images_background", ["Greek/character01", "Greek/character02"]),
}


@pytest.mark.parametrize("kind", FOLDERS)
def test_sets_of_class_folders(tmp_path, kind):
    base, classes = FOLDERS[kind]
    for each in classes:
        made.put(tmp_path / base / each, ["b.png", "a.jpg"])
    made.put(tmp_path / base / classes[0], ["notes.txt"])
    with pytest.warns(hr.PipelineWarning, match=f"{kind}: left out notes.txt of .*it is not a picture"):
        ds = getattr(datasets, kind)(tmp_path)
    assert names(ds) == ["a.jpg", "b.png"] * 2 and values(ds, "label") == [0, 0, 1, 1]
    plain = [each.partition(".")[2] for each in classes] if kind == "Caltech256" else classes
    assert ds.classes == plain


def test_caltech101_lists_its_background(tmp_path):
    for each in ("BACKGROUND_Google", "cup"):
        made.put(tmp_path / "101_ObjectCategories" / each, ["image_0001.jpg"])
    with pytest.warns(hr.PipelineWarning, match="BACKGROUND_Google"):
        ds = datasets.Caltech101(tmp_path)
    assert ds.classes == ["cup"] and [each.entry for each in ds.left_out] == ["BACKGROUND_Google"]


def test_caltech101_has_outlines(tmp_path):
    made.write_caltech101(tmp_path)
    ds = datasets.Caltech101(tmp_path, outlines=True)
    assert ds.classes == ["Faces", "cup"] and names(ds) == ["image_0001.jpg", "image_0002.jpg", "image_0001.jpg"]
    assert values(ds, "boxes") == [[[10, 30, 20, 40]], [[11, 31, 21, 41]], [[10, 30, 20, 40]]]
    assert values(ds, "outline")[1] == [[0, 2], [1.5, 4], [3, 6]] and ds.schema["outline"] == ("float32", (None, 2))
    assert list(datasets.Caltech101(tmp_path).schema) == ["image", "label"]
    path = tmp_path / "Annotations" / "Faces_2" / "annotation_0001.mat"
    path.write_bytes(mat_bytes({"obj_contour": np.zeros((3, 2)), "box_coord": np.zeros((1, 4))}))
    with pytest.raises(hr.DataError, match=r"annotation_0001\.mat: its array obj_contour has the shape \(3, 2\)"):
        datasets.Caltech101(tmp_path, outlines=True)
    path.unlink()
    with pytest.raises(hr.NotFoundError, match=r"1 of 3 files missing: Faces_2/annotation_0001\.mat"):
        datasets.Caltech101(tmp_path, outlines=True)


def test_sun397_may_have_deeper_classes(tmp_path):
    made.put_text(tmp_path / "SUN397" / "ClassName.txt", "/a/abbey\n/a/apse/indoor\n/a/apse\n")
    made.put(tmp_path / "SUN397", ["a/abbey/sun_b.jpg", "a/apse/indoor/sun_a.jpg", "a/apse/sun_c.jpg"])
    ds = datasets.SUN397(tmp_path)
    assert names(ds) == ["sun_b.jpg", "sun_a.jpg", "sun_c.jpg"] and values(ds, "label") == [0, 1, 2]
    assert ds.classes == ["a/abbey", "a/apse/indoor", "a/apse"] and ds.left_out == []
    made.put_text(tmp_path / "SUN397" / "ClassName.txt", "/a/abbey\n/z/zoo\n")
    with pytest.raises(hr.NotFoundError, match="SUN397: 1 of 2 files missing: z/zoo/"):
        datasets.SUN397(tmp_path)


def test_pictures_are_decoded_and_boxes_move_with_them(tmp_path):
    made.write_wider_face(tmp_path)
    for path in (tmp_path / "WIDER_train" / "images").rglob("*.jpg"):
        PIL.Image.new("RGB", (100, 80), (200, 30, 30)).save(path)
    ds = datasets.WIDERFace(tmp_path).map([V.Decode(), V.Resize((40, 50))], ["image", hr.boxes("boxes")])
    rows = list(ds)
    assert rows[0]["image"].shape == (40, 50, 3) and rows[0]["boxes"].tolist() == [[5, 10, 20, 30], [0.5, 1, 2, 3]]
    assert rows[1]["boxes"].shape == (0, 4)


def test_a_graph_over_pictures_is_whole(tmp_path):
    made.write_kitti(tmp_path)
    ds = datasets.KITTI(tmp_path)
    ds.save(tmp_path / "g.hrg")
    loaded = hr.load(tmp_path / "g.hrg")
    assert loaded.classes == ds.classes and values(loaded, "boxes") == values(ds, "boxes")
    made.put(tmp_path / "training" / "image_2", ["000003.png"])
    made.put_text(tmp_path / "training" / "label_2" / "000003.txt", "")
    with pytest.raises(hr.GraphError, match="KITTI: the files in .* are not as they were"):
        next(iter(hr.load(tmp_path / "g.hrg")))


def test_a_graph_over_two_columns_of_pictures_is_whole(tmp_path):
    made.write_lfw(tmp_path)
    pairs = datasets.LFWPairs(tmp_path)
    pairs.save(tmp_path / "g.hrg")
    assert names(hr.load(tmp_path / "g.hrg"), "image2") == names(pairs, "image2")
