"""Samples a second of tar archives: ours and webdataset's, in alternation.

WebDataset with fields as bytes, a class decoded, and batch(256), from the page cache: in order, shuffled by shards, and
shuffled by number with index="build". webdataset reads the same shards in one process, and by PyTorch's DataLoader with two
workers where it has torch. Each measurement has its own process and gives the rate of the second pass. The archives: four
shards each of `captions`, a text and a class; `pictures`, 100 KB of bytes, a text and JSON; `arrays`, 512 numbers in .npy.
"""

import argparse
import json
import pathlib
import random
import sys
import tempfile
import time
from collections.abc import Callable

import measuring

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from tests.tar_bytes import tar_bytes

BATCH = 256
SHARDS = 4
Fields = dict[str, bytes]


def captions(draws: random.Random) -> Fields:
    return {"txt": b"a mill beside a river " * draws.randrange(1, 5), "cls": b"%d" % draws.randrange(1000)}


def pictures(draws: random.Random) -> Fields:
    described = json.dumps({"caption": "a mill", "width": 500, "height": 375}).encode()
    return {"jpg": draws.randbytes(100_000), "cls": b"%d" % draws.randrange(1000), "json": described}


def arrays(draws: random.Random) -> Fields:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (512,), }".ljust(117) + b"\n"
    return {
        "npy": b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + draws.randbytes(512 * 4),
        "cls": b"%d" % draws.randrange(1000),
    }


# For each kind of archive: its samples, how many of them in all, and what their fields hold.
ARCHIVES: dict[str, tuple[Callable[[random.Random], Fields], int, dict[str, object]]] = {
    "captions": (captions, 100_000, {"txt": str, "cls": "int64"}),
    "pictures": (pictures, 8_000, {"cls": "int64", "json": {"caption": str, "width": "int64"}}),
    # Random bytes may be NaN, which is as good.
    "arrays": (arrays, 40_000, {"npy": ("float32", (512,)), "cls": "int64"}),
}


def run_headrace(shards: str, archive: str, way: str) -> int:
    import headrace as hr

    make, _, decode = ARCHIVES[archive]
    samples = hr.WebDataset(
        shards,
        list(make(random.Random(1))),
        decode,
        index="build" if way == "number" else None,
        shuffle=way != "order",
    )
    return sum(len(batch["cls"]) for batch in samples.batch(BATCH).options(bytes_as="memoryview"))


def run_webdataset(shards: str, archive: str, way: str) -> int:
    import webdataset as wds

    # Pictures stay encoded, as they do here.
    samples = wds.WebDataset(shards, shardshuffle=False).decode()
    if way == "one":
        return sum(1 for _ in samples)
    import torch

    loader = torch.utils.data.DataLoader(samples.batched(BATCH, collation_fn=None), batch_size=None, num_workers=2)
    return sum(len(batch) for batch in loader)


def child(program: str, shards: str, archive: str) -> None:
    """Prints samples a second of the second pass, as JSON."""
    library, way = program.split("-")
    run = run_webdataset if library == "webdataset" else run_headrace
    for _ in range(2):
        begin = time.perf_counter()
        samples = run(shards, archive, way)
        seconds = time.perf_counter() - begin
    print(json.dumps({"samples": samples, "rate": samples / seconds}))


def write_shards(folder: pathlib.Path, archive: str, share: float) -> str:
    make, count, _ = ARCHIVES[archive]
    draws = random.Random(2)
    some = [make(draws) for _ in range(100)]
    each = max(1, int(count * share) // SHARDS)
    for shard in range(SHARDS):
        members = (
            (f"{shard}/{number:06}.{name}", data)
            for number in range(each)
            for name, data in some[number % len(some)].items()
        )
        (folder / f"{archive}-{shard}.tar").write_bytes(tar_bytes(members))
    return f"{folder}/{archive}-{{0..{SHARDS - 1}}}.tar"


def compare(archive: str, shards: str, options: argparse.Namespace) -> None:
    ways = ("order", "shards", "number")
    peers = [] if not options.peer else ["one"] if options.no_workers else ["one", "workers"]
    rates: dict[str, list[float]] = {}
    for _ in range(options.rounds):
        for way in ways:
            arguments = ("--child", f"headrace-{way}", "--shards", shards, "--archive", archive)
            rates.setdefault(way, []).append(measuring.in_own_process(__file__, *arguments)["rate"])
        for peer in peers:
            arguments = ("--child", f"webdataset-{peer}", "--shards", shards, "--archive", archive)
            measured = measuring.in_own_process(__file__, *arguments, python=options.peer)
            rates.setdefault(f"webdataset, {peer}", []).append(measured["rate"])
    for name, found in rates.items():
        print(f"{archive}: {name} {measuring.summary(found)} samples/s")
    for peer in peers:
        for way in ways:
            ratio = measuring.ratio(rates[way], rates[f"webdataset, {peer}"])
            print(f"{archive}: {way} / webdataset, {peer}: {ratio}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--share", type=float, default=1.0, help="of the samples of each kind of archive")
    parser.add_argument("--peer", help="an interpreter that has webdataset; left out without one")
    parser.add_argument("--no-workers", action="store_true", help="the interpreter has no torch")
    parser.add_argument("--archives", nargs="*", default=list(ARCHIVES), choices=list(ARCHIVES))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--shards", help=argparse.SUPPRESS)
    parser.add_argument("--archive", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.shards, options.archive)
        return
    with tempfile.TemporaryDirectory() as folder:
        for archive in options.archives:
            compare(archive, write_shards(pathlib.Path(folder), archive, options.share), options)


if __name__ == "__main__":
    main()
