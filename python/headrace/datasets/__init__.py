"""Named data sets: their files, as the publishers give them, as datasets with documented columns.

Each is a source over files that are on this machine; none is downloaded. `docs/datasets.md` lists them, and
`docs/adding-a-set.md` says how one is added.
"""

from headrace import sources
from headrace._arguments.import_statement import imports_from
from headrace._arguments.other_libraries import source_advice
from headrace._arguments.set_names import set_called
from headrace._arguments.suggestions import did_you_mean
from headrace._sets.coco_annotations import CocoCategory
from headrace._sets.named_set import SETS, NamedSet
from headrace._sets.set_table import LeftOut
from headrace.datasets.ag_news import AGNews
from headrace.datasets.amazon_review import AmazonReview
from headrace.datasets.caltech101 import Caltech101
from headrace.datasets.caltech256 import Caltech256
from headrace.datasets.celeba import CelebA
from headrace.datasets.cifar10 import Cifar10
from headrace.datasets.cifar100 import Cifar100
from headrace.datasets.cityscapes import Cityscapes
from headrace.datasets.clevr import CLEVR
from headrace.datasets.clue import CLUE
from headrace.datasets.cmu_arctic import CMUArctic
from headrace.datasets.coco import Coco
from headrace.datasets.conll2000 import CoNLL2000
from headrace.datasets.dbpedia import DBpedia
from headrace.datasets.div2k import DIV2K
from headrace.datasets.dtd import DTD
from headrace.datasets.emnist import EMnist
from headrace.datasets.enwik9 import EnWik9
from headrace.datasets.esc50 import ESC50
from headrace.datasets.eurosat import EuroSAT
from headrace.datasets.fake_image import FakeImage
from headrace.datasets.fashion_mnist import FashionMnist
from headrace.datasets.fer2013 import FER2013
from headrace.datasets.fgvc_aircraft import FGVCAircraft
from headrace.datasets.flickr8k import Flickr8k
from headrace.datasets.flickr30k import Flickr30k
from headrace.datasets.flowers102 import Flowers102
from headrace.datasets.food101 import Food101
from headrace.datasets.glue import GLUE
from headrace.datasets.gtsrb import GTSRB
from headrace.datasets.gtzan import GTZAN
from headrace.datasets.imagenet import ImageNet
from headrace.datasets.imdb import IMDB
from headrace.datasets.iwslt2016 import IWSLT2016
from headrace.datasets.iwslt2017 import IWSLT2017
from headrace.datasets.kitti import KITTI
from headrace.datasets.kmnist import KMnist
from headrace.datasets.lfw_pairs import LFWPairs
from headrace.datasets.lfw_people import LFWPeople
from headrace.datasets.librispeech import LibriSpeech
from headrace.datasets.libritts import LibriTTS
from headrace.datasets.lj_speech import LJSpeech
from headrace.datasets.lsun import LSUN
from headrace.datasets.mnist import Mnist
from headrace.datasets.multi30k import Multi30k
from headrace.datasets.omniglot import Omniglot
from headrace.datasets.oxford_pets import OxfordPets
from headrace.datasets.penn_treebank import PennTreebank
from headrace.datasets.photo_tour import PhotoTour
from headrace.datasets.places365 import Places365
from headrace.datasets.qmnist import QMnist
from headrace.datasets.rendered_sst2 import RenderedSST2
from headrace.datasets.sbu import SBU
from headrace.datasets.semeion import Semeion
from headrace.datasets.sogou_news import SogouNews
from headrace.datasets.speech_commands import SpeechCommands
from headrace.datasets.squad import SQuAD
from headrace.datasets.stanford_cars import StanfordCars
from headrace.datasets.stl10 import STL10
from headrace.datasets.sun397 import SUN397
from headrace.datasets.svhn import SVHN
from headrace.datasets.tedlium import Tedlium
from headrace.datasets.ud_pos import UDPOS
from headrace.datasets.urbansound8k import UrbanSound8K
from headrace.datasets.usps import USPS
from headrace.datasets.vctk import VCTK
from headrace.datasets.voc import VOC
from headrace.datasets.wider_face import WIDERFace
from headrace.datasets.wikitext import WikiText
from headrace.datasets.yahoo_answers import YahooAnswers
from headrace.datasets.yelp_review import YelpReview
from headrace.datasets.yes_no import YesNo

__all__ = [
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
]

# Where users find them.
for _name in __all__:
    globals()[_name].__module__ = __name__


def __getattr__(name: str) -> object:
    # Of torchvision's folders, and of others' functions.
    advice = None if name.startswith("_") else source_advice(name)
    called = set_called(name)
    near = f"; it is called {called}" if called else did_you_mean(name, SETS)
    near = f"; it is headrace.{name}" if name in sources.__all__ else near
    said = f"module {__name__!r} has no attribute {name!r}{f'; {advice}' if advice else near}"
    raise ImportError(said, name=__name__) if imports_from(1) else AttributeError(said, name=name)
