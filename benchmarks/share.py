"""Photos a second, and seconds of CPU time for a thousand, of one pipeline in one process; of four consumers that
`headrace.share` feeds, each with its rank's batches; and of four that all get the same ones, counted once.

Photos are decoded, cropped at random, resized to 224 × 224 and joined by 32; consumers do nothing with them. Every figure is
taken in processes of its own, in alternation, over some seconds after the first one; ratios are those of one round.
"""

import argparse
import json
import os
import pathlib
import select
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import measuring

CONSUMERS = 4
BATCH = 32
WARM_S = 1.0
SECONDS = 3.0
SIDES = ("one process", "ranks", "the same")


def pipeline(folder: pathlib.Path) -> Any:
    import headrace as hr
    from headrace import vision as V

    steps = [V.Decode(), V.RandomResizedCrop(224)]
    photos = hr.ImageFolder(folder, shuffle=True).repeat().map(steps, "image").project(["image", "label"])
    # All are decoded each time, as those of a larger folder are.
    return photos.batch(BATCH).options(disabled_passes=["insert_caches"])


def arrivals(batches: Iterator[Any], until: float) -> list[float]:
    """When each batch came."""
    found = []
    for _ in batches:
        found.append(time.monotonic())
        if found[-1] > until:
            break
    return found


def in_child(function: Callable[[], Any]) -> tuple[int, int]:
    """The process that runs it, and the pipe with what it returns, as JSON."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(write, "w") as file:
            json.dump(function(), file)
        os._exit(0)
    os.close(write)
    return child, read


def cpu_s(process: int) -> float:
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(processes: list[int], begin: float) -> float:
    """Their CPU time between the ends of the measured seconds."""
    select.select([], [], [], max(0.0, begin - time.monotonic()))
    before = sum(map(cpu_s, processes))
    select.select([], [], [], max(0.0, begin + SECONDS - time.monotonic()))
    return sum(map(cpu_s, processes)) - before


def one_process(folder: pathlib.Path, begin: float) -> tuple[float, list[list[float]]]:
    child, read = in_child(lambda: arrivals(iter(pipeline(folder)), begin + SECONDS + 0.2))
    cpu = measured([child], begin)
    with os.fdopen(read) as file:
        return cpu, [json.load(file)]


def several(folder: pathlib.Path, same: bool) -> tuple[float, list[list[float]]]:
    import headrace as hr

    with hr.share(pipeline(folder), consumers=CONSUMERS if same else 1) as shared:
        begin = time.monotonic() + WARM_S

        def taken(rank: int) -> list[float]:
            shard = None if same else (rank, CONSUMERS)
            return arrivals(shared.connect(shard=shard), begin + SECONDS + 0.2)

        children = [in_child(lambda rank=rank: taken(rank)) for rank in range(CONSUMERS)]
        cpu = measured([shared.pid, *(child for child, _ in children)], begin)
        found = []
        for _, read in children:
            with os.fdopen(read) as file:
                found.append([each - begin for each in json.load(file)])
    return cpu, found


def measure(side: str, folder: pathlib.Path) -> dict[str, float]:
    if side == "one process":
        begin = time.monotonic() + WARM_S
        cpu, found = one_process(folder, begin)
        found = [[each - begin for each in times] for times in found]
    else:
        cpu, found = several(folder, side == "the same")
    counted = sum(BATCH * sum(0 <= each < SECONDS for each in times) for times in found)
    made = counted / CONSUMERS if side == "the same" else counted
    return {"rate": made / SECONDS, "cpu_s": 1000 * cpu / made}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--folder", type=pathlib.Path, default=measuring.PHOTOS, help="images in folders of their classes"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", choices=SIDES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.folder)))
        return
    rounds = []
    for _ in range(options.rounds):
        rounds.append(
            {side: measuring.in_own_process(__file__, "--measure", side, "--folder", options.folder) for side in SIDES}
        )
    for side in SIDES:
        rate = statistics.median(each[side]["rate"] for each in rounds)
        cpu = statistics.median(each[side]["cpu_s"] for each in rounds)
        ratios = [each[side]["rate"] / each[SIDES[0]]["rate"] for each in rounds]
        cpu_ratios = [each[side]["cpu_s"] / each[SIDES[0]]["cpu_s"] for each in rounds]
        print(
            f"{side:12} {rate:7,.0f} photos/s ({statistics.median(ratios):.2f} of one process, {min(ratios):.2f} to "
            f"{max(ratios):.2f}); {cpu:.2f} s of CPU for a thousand ({statistics.median(cpu_ratios):.2f} times)"
        )


if __name__ == "__main__":
    main()
