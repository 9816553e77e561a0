"""The cost of Python functions: nanoseconds a row for light ones, and images a second for kernels beside one.

Every figure is taken in a process of its own, in alternation. With --other, a folder that holds another build of the
package (its parent is put on the path), each round measures both.
"""

import argparse
import json
import os
import pathlib
import statistics
import time
from collections.abc import Callable
from typing import Any

import measuring

ROWS = 400_000
IMAGES = 1200


def light(build: Callable[[Any], Any]) -> float:
    """Nanoseconds of wall time a row, the first tenth of the rows not counted."""
    import headrace as hr

    with build(hr.Range(ROWS)).batch(256).iterate() as batches:
        warm_up = done = 0
        while warm_up < ROWS // 10:
            warm_up += len(next(batches)["value"])
        begin = time.perf_counter()
        for batch in batches:
            done += len(batch["value"])
        return (time.perf_counter() - begin) / done * 1e9


def images(folder: str, apart: bool) -> float:
    """Images a second, decoded and cropped, followed by an identity in Python."""
    import headrace as hr
    from headrace import vision as V

    kernels = [V.Decode(), V.RandomResizedCrop(224)]
    dataset = hr.Files(f"{folder}/**/*.[jJ][pP]*").project(["data"])
    if apart:
        dataset = dataset.map(kernels, "data").map(lambda image: image, "data")
    else:
        dataset = dataset.map([*kernels, lambda image: image], "data")
    with dataset.repeat().batch(32).iterate(disabled_passes=["insert_caches"]) as batches:
        for _ in range(8):
            next(batches)
        begin = time.perf_counter()
        for _ in range(IMAGES // 32):
            next(batches)
        return IMAGES // 32 * 32 / (time.perf_counter() - begin)


def cases() -> dict[str, Callable[[str], float]]:
    from headrace import transforms as T

    def same(x: Any) -> Any:
        return x

    cast = T.TypeCast("int64")
    return {
        "identity, ns a row": lambda _: light(lambda ds: ds.map(same, "value")),
        "identity in any order, ns a row": lambda _: light(lambda ds: ds.map(same, "value", ordered=False)),
        "filter, ns a row": lambda _: light(lambda ds: ds.filter(lambda x: True)),
        "identity between casts, ns a row": lambda _: light(lambda ds: ds.map([cast, same, cast], "value")),
        "decode, crop, identity in one map, images a second": lambda folder: images(folder, False),
        "decode, crop, identity in two maps, images a second": lambda folder: images(folder, True),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", default=str(measuring.PHOTOS))
    parser.add_argument("--other", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(cases()[options.child](options.folder)))
        return
    builds = {"this": {}} | ({"other": {"PYTHONPATH": str(options.other)}} if options.other else {})
    for case in cases():
        if options.only not in case:
            continue
        figures: dict[str, list[float]] = {build: [] for build in builds}
        for _ in range(options.rounds):
            for build, environment in builds.items():
                given = ["--child", case, "--folder", os.path.abspath(options.folder)]
                figures[build].append(measuring.in_own_process(__file__, *given, environment=environment))
        for build, values in figures.items():
            print(f"{case}, {build}: {measuring.summary(values)} ({statistics.fmean(values):,.0f} mean)", flush=True)


if __name__ == "__main__":
    main()
