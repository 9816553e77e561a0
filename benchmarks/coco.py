"""How long a file of COCO's annotations takes to open, and how much memory: ours, and Python's json.load.

The file is made: as many images and objects as train2017 has, each object a polygon of 8 to 60 points. Each measurement
has its own process; the file is in the page cache.
"""

import argparse
import json
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

SIDES = (480, 640)


def polygon(draws: random.Random) -> str:
    points = draws.choice([8, 16, 24, 30, 40, 60])
    return f"[{', '.join(f'{draws.uniform(0, 480):.2f}' for _ in range(2 * points))}]"


def write(path: pathlib.Path, images: int, objects: int) -> None:
    draws = random.Random(1)
    polygons = [polygon(draws) for _ in range(2000)]
    with path.open("w") as file:
        file.write('{"info": {"year": 2017}, "images": [')
        for number in range(images):
            name = f"{number:012}.jpg"
            address = f"http://images.example.org/train2017/{name}"
            file.write(
                f'{", " if number else ""}{{"license": 3, "file_name": "{name}", "coco_url": "{address}", '
                f'"height": {SIDES[0]}, "width": {SIDES[1]}, "date_captured": "2013-11-14 17:02:52", "id": {number}}}'
            )
        file.write('], "annotations": [')
        for number in range(objects):
            box = f"[{draws.uniform(0, 300):.2f}, {draws.uniform(0, 200):.2f}, {draws.uniform(1, 300):.2f}, 9.5]"
            file.write(
                f'{", " if number else ""}{{"segmentation": [{draws.choice(polygons)}], "area": {draws.uniform(9, 9000):.5f}, '
                f'"iscrowd": 0, "image_id": {draws.randrange(images)}, "bbox": {box}, '
                f'"category_id": {draws.randrange(1, 81)}, "id": {number}}}'
            )
        names = ", ".join(
            f'{{"supercategory": "thing", "id": {number}, "name": "n{number}"}}' for number in range(1, 81)
        )
        file.write(f'], "categories": [{names}]}}')


def measure(side: str, path: str) -> tuple[float, float]:
    """Seconds, and the most memory in MB beyond what was there before."""
    if side == "headrace":
        from headrace._sets.coco_annotations import read_annotations
        from headrace._sets.set_file import SetFile

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    if side == "headrace":
        held = read_annotations(SetFile(path, lambda size, checksum: None), "detection")
    else:
        with open(path) as file:
            held = json.load(file)
    seconds = time.perf_counter() - start
    del held
    return seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=118_000)
    parser.add_argument("--objects", type=int, default=860_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", nargs=2, metavar=("SIDE", "FILE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(*given.measure)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "instances.json"
        write(path, given.images, given.objects)
        print(f"{given.images:,} images, {given.objects:,} objects, {path.stat().st_size / 1e6:.0f} MB")
        for side in ["headrace", "json.load"] * given.rounds:
            command = [sys.executable, __file__, "--measure", side, str(path)]
            seconds, memory = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            print(f"{side:10} {seconds:6.2f} s  {memory:7,.0f} MB")


if __name__ == "__main__":
    main()
