"""Measures batches of one maker on Ray beside those of the same pipeline in this process, and what a lost maker costs.

Both have one worker. The pictures are those of examples/photos, over and over. Rates are medians of alternating rounds.
With `--makers 2` on a machine with a core for each, it shows how rates grow. With `--wait-ms 10` as well it shows that where
cores are few: each row then waits so long in place of decoding, so makers take next to nothing of the cores.
"""

import argparse
import os
import statistics
import time

import measuring
import numpy as np

ROUNDS = 3


def pictures(batches: int, size: int):
    import headrace as hr
    from headrace import vision as V

    files = sorted(measuring.PHOTOS.rglob("*.jpg"))
    photos = [file.read_bytes() for file in files]
    rows = hr.Numpy({"image": [photos[number % len(photos)] for number in range(batches * size)]}, shuffle=True)
    steps = [V.Decode(), V.RandomResizedCrop(224), V.RandomHorizontalFlip()]
    return rows.map(steps, "image").batch(size)


def waited_for(batches: int, size: int, seconds: float):
    """Rows of the same size, each of which takes so long without a core."""
    import headrace as hr

    def wait(number):
        time.sleep(seconds)
        return np.full((224, 224, 3), int(number) % 256, np.uint8)

    return hr.Range(batches * size, shuffle=True).map(wait, "value", "image").batch(size)


def rate(batches, size: int) -> float:
    """Rows a second, after the first batch, by which everything runs."""
    next(batches)
    begin = time.perf_counter()
    count = sum(1 for _ in batches)
    return count * size / (time.perf_counter() - begin)


def gap(feed, at: int) -> float:
    """The longest wait for a batch after all makers were killed."""
    import ray

    for _ in range(at):
        next(feed)
    for member in feed._makers.members:
        ray.kill(member.actor)
    longest, before = 0.0, time.perf_counter()
    for _ in feed:
        now = time.perf_counter()
        longest, before = max(longest, now - before), now
    return longest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--makers", type=int, default=1)
    parser.add_argument("--wait-ms", type=float, default=0, help="what a row waits for in place of decoding")
    options = parser.parse_args()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    import headrace as hr

    ray.init(num_cpus=options.makers + 1, include_dashboard=False, log_to_driver=False)
    dataset = pictures(options.batches, options.size)
    if options.wait_ms:
        dataset = waited_for(options.batches, options.size, options.wait_ms / 1000)
    alone, fed = [], []
    with hr.ray.Makers(options.makers) as makers:
        for epoch in range(ROUNDS):
            with dataset.iterate(epoch=epoch, workers=1) as batches:
                alone.append(rate(batches, options.size))
            with hr.ray.feed(dataset, makers, epoch=epoch, workers=1) as batches:
                fed.append(rate(batches, options.size))
        print(f"in this process: {measuring.summary(alone)} rows/s")
        print(f"{options.makers} makers: {measuring.summary(fed)} rows/s; ratio {measuring.ratio(fed, alone)}")
        gaps = [gap(hr.ray.feed(dataset, makers, workers=1), options.batches // 3) for _ in range(ROUNDS)]
        print(f"longest wait after all makers were killed: {statistics.median(gaps):.2f} s, at most {max(gaps):.2f} s")
    ray.shutdown()


if __name__ == "__main__":
    main()
