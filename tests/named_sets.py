"""Named sets that are made small: what writes the files of each, and how it is asked for."""

import pathlib
from collections.abc import Callable

import headrace as hr
from headrace import datasets
from tests import coco_files, picture_set_files, set_files, sound_set_files, text_set_files

__all__ = ["SMALL_SETS"]

Call = Callable[[pathlib.Path], hr.Dataset]

SMALL_SETS: dict[str, tuple[Callable[[pathlib.Path], object], Call]] = {
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
    "VOC, masks": (picture_set_files.write_voc, lambda at: datasets.VOC(at, task="segmentation", missing="skip")),
    "Caltech101": (picture_set_files.write_caltech101, lambda at: datasets.Caltech101(at, outlines=True)),
    "LSUN": (picture_set_files.write_lsun, lambda at: datasets.LSUN(at, "val", ["bridge", "kitchen"])),
    "Flickr8k": (picture_set_files.write_flickr8k, lambda at: datasets.Flickr8k(at, "train", missing="skip")),
    "Places365": (picture_set_files.write_places365, lambda at: datasets.Places365(at, missing="skip")),
    "WIDERFace": (picture_set_files.write_wider_face, lambda at: datasets.WIDERFace(at, missing="skip")),
    "CLEVR": (picture_set_files.write_clevr, lambda at: datasets.CLEVR(at, "val", missing="skip")),
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
    "Cityscapes": (picture_set_files.write_cityscapes, lambda at: datasets.Cityscapes(at, "val", task="train_labels")),
    "DIV2K": (picture_set_files.write_div2k, datasets.DIV2K),
}
