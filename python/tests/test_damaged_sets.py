"""Files of sets with random damage are read, or are an error of Headrace: no other exception, and no crash."""

import pathlib
import random
import warnings
from collections.abc import Callable

import pytest

import headrace as hr
from headrace import datasets
from tests import coco_files, picture_set_files, set_files, sound_set_files, text_set_files
from tests.thinning import examples

Call = Callable[[pathlib.Path], hr.Dataset]

# How each set is written, and asked for.
SETS: dict[str, tuple[Callable[[pathlib.Path], object], Call]] = {
    "Mnist": (set_files.write_mnist, lambda at: datasets.Mnist(at, "all")),
    "Mnist, packed": (lambda at: set_files.write_mnist(at, packed=True), datasets.Mnist),
    "EMnist": (
        lambda at: set_files.write_emnist(at, "digits", range(10), "".join(f"{i} {48 + i}\n" for i in range(10))),
        lambda at: datasets.EMnist(at, "digits"),
    ),
    "QMnist": (lambda at: set_files.write_qmnist(at, (3, 4)), lambda at: datasets.QMnist(at, "nist")),
    "Cifar10": (set_files.write_cifar10, datasets.Cifar10),
    "Cifar10, pickled": (set_files.write_cifar10_pickles, datasets.Cifar10),
    "Cifar100": (set_files.write_cifar100, datasets.Cifar100),
    "Cifar100, pickled": (set_files.write_cifar100_pickles, datasets.Cifar100),
    "SVHN": (set_files.write_svhn, lambda at: datasets.SVHN(at, "all")),
    "STL10": (set_files.write_stl10, lambda at: datasets.STL10(at, fold=1)),
    "USPS": (set_files.write_usps, datasets.USPS),
    "Semeion": (set_files.write_semeion, datasets.Semeion),
    "CelebA": (
        picture_set_files.write_celeb_a,
        lambda at: datasets.CelebA(at, "train", "wild", ["identity", "landmarks", "boxes"], missing="skip"),
    ),
    "Coco": (
        coco_files.write_coco,
        lambda at: datasets.Coco(at, "instances_val2017.json", masks=True, missing="skip"),
    ),
    "Coco, keypoints": (
        coco_files.write_coco,
        lambda at: datasets.Coco(at, "person_keypoints_val2017.json", "keypoints", missing="skip"),
    ),
    "Coco, panoptic": (
        coco_files.write_coco,
        lambda at: datasets.Coco(at, "panoptic_val2017.json", "panoptic", missing="skip"),
    ),
    "VOC": (picture_set_files.write_voc, lambda at: datasets.VOC(at, parts=True, missing="skip")),
    "LSUN": (picture_set_files.write_lsun, lambda at: datasets.LSUN(at, "val", ["bridge", "kitchen"])),
    "Flickr8k": (picture_set_files.write_flickr8k, lambda at: datasets.Flickr8k(at, "train", missing="skip")),
    "Places365": (picture_set_files.write_places365, lambda at: datasets.Places365(at, missing="skip")),
    "WIDERFace": (picture_set_files.write_wider_face, lambda at: datasets.WIDERFace(at, missing="skip")),
    "KITTI": (picture_set_files.write_kitti, datasets.KITTI),
    "LFWPeople": (picture_set_files.write_lfw, lambda at: datasets.LFWPeople(at, "10fold", missing="skip")),
    "LFWPairs": (picture_set_files.write_lfw, lambda at: datasets.LFWPairs(at, "10fold", missing="skip")),
    "Flowers102": (picture_set_files.write_flowers102, lambda at: datasets.Flowers102(at, missing="skip")),
    "OxfordPets": (picture_set_files.write_oxford_pets, lambda at: datasets.OxfordPets(at, missing="skip")),
    "GTSRB": (picture_set_files.write_gtsrb, lambda at: datasets.GTSRB(at, missing="skip")),
    "Food101": (picture_set_files.write_food101, lambda at: datasets.Food101(at, missing="skip")),
    "SBU": (picture_set_files.write_sbu, datasets.SBU),
    "DTD": (picture_set_files.write_dtd, lambda at: datasets.DTD(at, missing="skip")),
    "FGVCAircraft": (picture_set_files.write_aircraft, lambda at: datasets.FGVCAircraft(at, missing="skip")),
    "FER2013": (picture_set_files.write_fer2013, lambda at: datasets.FER2013(at, "all")),
    "StanfordCars": (picture_set_files.write_cars, lambda at: datasets.StanfordCars(at, missing="skip")),
    "AGNews": (text_set_files.write_ag_news, datasets.AGNews),
    "GLUE": (lambda at: text_set_files.write_glue(at, "qqp"), lambda at: datasets.GLUE(at, "qqp")),
    "GLUE, scores": (lambda at: text_set_files.write_glue(at, "stsb"), lambda at: datasets.GLUE(at, "stsb")),
    "CLUE": (lambda at: text_set_files.write_clue(at, "csl"), lambda at: datasets.CLUE(at, "csl")),
    "CLUE, spans": (lambda at: text_set_files.write_clue(at, "wsc"), lambda at: datasets.CLUE(at, "wsc")),
    "CLUE, named": (lambda at: text_set_files.write_clue(at, "iflytek"), lambda at: datasets.CLUE(at, "iflytek")),
    "SQuAD": (text_set_files.write_squad, lambda at: datasets.SQuAD(at, "2.0")),
    "CoNLL2000": (text_set_files.write_tokens, datasets.CoNLL2000),
    "Multi30k": (text_set_files.write_multi30k, datasets.Multi30k),
    "IWSLT2016": (lambda at: text_set_files.write_iwslt(at, 2016), lambda at: datasets.IWSLT2016(at, "tst2010")),
    "SpeechCommands": (sound_set_files.write_speech_commands, lambda at: datasets.SpeechCommands(at, missing="skip")),
    "LibriSpeech": (
        sound_set_files.write_libri_speech,
        lambda at: datasets.LibriSpeech(at, "dev-clean", missing="skip"),
    ),
    "LibriTTS": (sound_set_files.write_libri_tts, lambda at: datasets.LibriTTS(at, "dev-clean", missing="skip")),
    "LJSpeech": (sound_set_files.write_lj_speech, lambda at: datasets.LJSpeech(at, missing="skip")),
    "CMUArctic": (sound_set_files.write_cmu_arctic, lambda at: datasets.CMUArctic(at, "bdl", missing="skip")),
    "Tedlium": (sound_set_files.write_tedlium, lambda at: datasets.Tedlium(at, "2", "dev", missing="skip")),
    "ESC50": (sound_set_files.write_esc50, lambda at: datasets.ESC50(at, missing="skip")),
    "UrbanSound8K": (sound_set_files.write_urban_sound8k, lambda at: datasets.UrbanSound8K(at, missing="skip")),
    "PhotoTour": (picture_set_files.write_photo_tour, lambda at: datasets.PhotoTour(at, "liberty", "test")),
}
ROUNDS = examples(30)
WORDS = [
    b"\0",
    b"\xff",
    b"\n",
    b"\r\n",
    b" ",
    b"\t",
    b",",
    b";",
    b"|",
    b'"',
    b"-1",
    b"1e400",
    b"nan",
    b"9" * 30,
    b"\xe9",
]


def damaged(data: bytes, draws: random.Random) -> bytes:
    """With one of the faults that copies have."""
    place = draws.randrange(len(data) + 1)
    if draws.random() < 0.5:
        # Heads and first lines decide most.
        place = min(place, draws.randrange(200))
    length = draws.choice([1, 1, 4, 40])
    return draws.choice(
        [
            data[:place],
            data[:place] + data[place + length :],
            data[:place] + draws.choice(WORDS) + data[place:],
            data[:place] + draws.randbytes(length) + data[place + length :],
            data[:place] + draws.choice(WORDS) + data[place + length :],
            data + draws.randbytes(length),
            data[:place] + data[place : place + 100] + data[place:],
        ]
    )


@pytest.mark.parametrize("kind", SETS)
def test_damage_is_an_error_of_headrace_or_none(tmp_path, kind):
    write, opened = SETS[kind]
    write(tmp_path)
    contents = (".jpg", ".png", ".ppm", ".wav", ".flac", ".sph")
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file() and path.suffix not in contents)
    draws = random.Random(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hr.PipelineWarning)
        assert len(opened(tmp_path)) > 0
        for _ in range(ROUNDS):
            path = draws.choice(files)
            whole = path.read_bytes()
            path.write_bytes(damaged(whole, draws))
            try:
                assert len(list(opened(tmp_path).take(3))) >= 0
            except hr.Error as error:
                assert str(error)
            path.write_bytes(whole)
