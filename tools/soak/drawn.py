"""The pipelines of a soak, each drawn from a number: every process gets the same pipeline for a number."""

import dataclasses
import pathlib
import random
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

import headrace as hr
from headrace import transforms as T
from headrace import vision as V
from tests import recipes
from tests.pipelines import PIPELINES

EPOCHS = 4

# With a folder the pipeline keeps rows there, with None it makes all rows anew.
Build = Callable[[pathlib.Path | None], hr.Dataset]


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A pipeline and the options that determine its rows."""

    text: str
    build: Build
    # Options of `iterate`: the seed, the epoch and the shard.
    run: dict[str, Any]

    @property
    def of_pyarrow(self) -> bool:
        """Whether pyarrow decodes its rows: what that does without memory is not for this soak to find out."""
        return "Parquet(" in self.text or self.text.startswith("parquet")


def draw(number: int, data: pathlib.Path) -> Drawn:
    rng = random.Random(number)
    text, build = rng.choice([_of_the_tests, _of_a_recipe, _of_a_recipe, _with_a_cache, _of_damaged_images])(rng, data)
    run: dict[str, Any] = {"seed": rng.randrange(6), "epoch": rng.randrange(EPOCHS)}
    if rng.random() < 0.3:
        world = rng.randrange(2, 4)
        run |= {"shard": (rng.randrange(world), world), "even": rng.choice(["off", "drop", "pad"])}
        try:
            build(None).iterate(**run).close()
        except (hr.GraphError, hr.UnsupportedError):
            del run["shard"], run["even"]
    return Drawn(f"{text} with {run}", build, run)


def _of_the_tests(rng: random.Random, data: pathlib.Path) -> tuple[str, Build]:
    name = rng.choice(sorted(PIPELINES))
    return name, lambda _: PIPELINES[name](data)


def _of_a_recipe(rng: random.Random, data: pathlib.Path) -> tuple[str, Build]:
    recipe = recipes.drawn_recipe(recipes.RandomDraws(rng.randrange(1 << 40)))
    if recipe.last_epoch < EPOCHS:  # its passes cannot be counted
        return _of_a_recipe(rng, data)
    return str(recipe), lambda _: recipe.build()


def _with_a_cache(rng: random.Random, data: pathlib.Path) -> tuple[str, Build]:
    """A pipeline with a cache in a folder that all processes share."""
    name = rng.choice(sorted(KEPT))
    size, memory = rng.choice([16, 24, 40]), rng.choice(["0", "20KiB", "1MiB"])
    return f"{name}({size}, {memory})", lambda folder: KEPT[name](data, size, memory, folder)


def kept_images(data: pathlib.Path, size: int, memory: str, folder: pathlib.Path | None) -> hr.Dataset:
    images = hr.ImageFolder(data / "photos", shuffle=True).map([V.Decode(), V.Resize((size, size))], "image")
    return images.cache(memory, folder).map([V.RandomHorizontalFlip(), V.HWC2CHW()], "image").repeat(2).batch(5)


def kept_files(data: pathlib.Path, size: int, memory: str, folder: pathlib.Path | None) -> hr.Dataset:
    return hr.Files(str(data / "photos/**/*.jpg")).cache(memory, folder).shuffle(size).batch(3)


def kept_in_order(data: pathlib.Path, size: int, memory: str, folder: pathlib.Path | None) -> hr.Dataset:
    lines = hr.Text(str(data / "texts/*.txt")).shuffle(size).cache(memory, folder)
    return lines.repeat(2).batch(7)


def kept_numbers(data: pathlib.Path, size: int, memory: str, folder: pathlib.Path | None) -> hr.Dataset:
    numbers = hr.Range(size * 10, shuffle=True).map(T.TypeCast("float64"), "value")
    return numbers.cache(memory, folder, transparent=True).shuffle(9).batch(8)


KEPT = {build.__name__: build for build in (kept_images, kept_files, kept_in_order, kept_numbers)}


def _of_damaged_images(rng: random.Random, data: pathlib.Path) -> tuple[str, Build]:
    """Good and damaged images, with changed or missing bytes: the error or the pixels are always the same."""
    number = rng.randrange(1 << 30)
    folder = data / f"damage/{number}"
    if not folder.is_dir():
        write_damaged_images(random.Random(number), data, folder)

    def build(_: pathlib.Path | None) -> hr.Dataset:
        images = hr.ImageFolder(folder, shuffle=True).map([V.Decode(), V.RandomResizedCrop(20)], "image")
        return images.map([V.RandomHorizontalFlip(), V.HWC2CHW()], "image").batch(2)

    return f"damaged images {number}", build


def write_damaged_images(rng: random.Random, data: pathlib.Path, folder: pathlib.Path) -> None:
    """Makes the folder elsewhere and renames it, because another process may need the same folder."""
    photos = sorted((data / "photos").rglob("*.jpg"))
    folder.parent.mkdir(exist_ok=True)
    # Under a new name each time: an interrupt, or running out of memory, may have left an incomplete one.
    made = pathlib.Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    (made / "class").mkdir()
    for index in range(8):
        contents = bytearray(rng.choice(photos).read_bytes())
        for _ in range(rng.choice([0, 0, 0, 1, 5])):
            contents[rng.randrange(2, len(contents))] = rng.randrange(256)
        if rng.random() < 0.1:
            del contents[rng.randrange(2, len(contents)) :]
        (made / f"class/{index}.jpg").write_bytes(contents)
    try:
        made.rename(folder)
    except OSError:  # another process was first
        pass


def resharded(number: int) -> hr.Dataset:
    """A pipeline whose rows can be sharded anew among another number of ranks."""
    rng = random.Random(number)
    numbers = hr.Range(rng.randrange(20, 200), shuffle=rng.random() < 0.7)
    if rng.random() < 0.5:
        numbers = numbers.concat(hr.Numpy({"value": np.arange(1000, 1000 + rng.randrange(30))}))
    if rng.random() < 0.5:
        numbers = numbers.map(recipes.noisy, "value")
    return numbers.batch(rng.randrange(1, 5))


def way(rng: random.Random, folder: pathlib.Path) -> dict[str, Any]:
    """Random options of `iterate` that change no byte."""
    options: dict[str, Any] = {
        "executor": rng.choice(["threads", "threads", "threads", "pull"]),
        "optimize": rng.random() < 0.8,
        "memory": rng.choice(["8MiB", "64MiB", "2GiB"]),
    }
    if rng.random() < 0.5:
        options["workers"] = rng.randrange(1, 8)
    if rng.random() < 0.3:
        options["window"] = rng.randrange(1, 5)
    if rng.random() < 0.3:
        options["group"] = rng.choice([1, 2, 7, 100])
    if rng.random() < 0.3:
        options["cache"] = folder
    return options
