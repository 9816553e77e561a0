"""What `headrace.datasets` gives, for errors that name one of these: importing the module itself takes long."""

__all__ = ["SETS", "set_called"]

SETS = (
    "AGNews",
    "AmazonReview",
    "CLEVR",
    "CLUE",
    "CMUArctic",
    "Caltech101",
    "Caltech256",
    "CelebA",
    "Cifar10",
    "Cifar100",
    "Cityscapes",
    "Coco",
    "CocoCategory",
    "CoNLL2000",
    "DBpedia",
    "DIV2K",
    "DTD",
    "EMnist",
    "ESC50",
    "EnWik9",
    "EuroSAT",
    "FER2013",
    "FGVCAircraft",
    "FakeImage",
    "FashionMnist",
    "Flickr30k",
    "Flickr8k",
    "Flowers102",
    "Food101",
    "GLUE",
    "GTSRB",
    "GTZAN",
    "IMDB",
    "IWSLT2016",
    "IWSLT2017",
    "ImageNet",
    "KITTI",
    "KMnist",
    "LFWPairs",
    "LFWPeople",
    "LJSpeech",
    "LSUN",
    "LeftOut",
    "LibriSpeech",
    "LibriTTS",
    "Mnist",
    "Multi30k",
    "NamedSet",
    "Omniglot",
    "OxfordPets",
    "PennTreebank",
    "PhotoTour",
    "Places365",
    "QMnist",
    "RenderedSST2",
    "SBU",
    "SQuAD",
    "STL10",
    "SUN397",
    "SVHN",
    "Semeion",
    "SogouNews",
    "SpeechCommands",
    "StanfordCars",
    "Tedlium",
    "UDPOS",
    "USPS",
    "VOC",
    "UrbanSound8K",
    "VCTK",
    "WIDERFace",
    "WikiText",
    "YahooAnswers",
    "YelpReview",
    "YesNo",
)

_ENDINGS = ("Dataset", "Detection", "Segmentation", "Captions", "Classification")
_OTHERWISE = {
    "fakedata": "FakeImage",
    "oxfordiiitpet": "OxfordPets",
}


def set_called(name: str) -> str | None:
    """The set that another library calls so, as `CIFAR10`, `Cifar10Dataset` or `CocoDetection`."""
    if name.lower() in _OTHERWISE:
        return _OTHERWISE[name.lower()]
    by_lower = {each.lower(): each for each in SETS}
    names = [name, *(name.removesuffix(ending) for ending in _ENDINGS if name.endswith(ending))]
    return next((by_lower[each.lower()] for each in names if each.lower() in by_lower), None)
