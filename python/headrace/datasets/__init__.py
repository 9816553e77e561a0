"""Named data sets: their files, as the publishers give them, as datasets with documented columns.

Each is a source over files that are on this machine; none is downloaded. `docs/datasets.md` lists them, and
`docs/adding-a-set.md` says how one is added.
"""

from headrace._arguments.suggestions import did_you_mean
from headrace._sets.named_set import SETS, NamedSet
from headrace._sets.set_table import LeftOut
from headrace.datasets.cifar10 import Cifar10
from headrace.datasets.cifar100 import Cifar100
from headrace.datasets.e_mnist import EMnist
from headrace.datasets.fake_image import FakeImage
from headrace.datasets.fashion_mnist import FashionMnist
from headrace.datasets.k_mnist import KMnist
from headrace.datasets.mnist import Mnist
from headrace.datasets.q_mnist import QMnist
from headrace.datasets.semeion import Semeion
from headrace.datasets.stl10 import STL10
from headrace.datasets.svhn import SVHN
from headrace.datasets.usps import USPS

__all__ = [
    "Cifar10",
    "Cifar100",
    "EMnist",
    "FakeImage",
    "FashionMnist",
    "KMnist",
    "LeftOut",
    "Mnist",
    "NamedSet",
    "QMnist",
    "SETS",
    "STL10",
    "SVHN",
    "Semeion",
    "USPS",
]

# Where users find them.
for _name in __all__:
    if _name != "SETS":
        globals()[_name].__module__ = __name__


def __getattr__(name: str) -> object:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{did_you_mean(name, SETS)}")
