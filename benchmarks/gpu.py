"""Measures what the queue of batches on a GPU achieves: one command, about two minutes, without a network.

- bandwidth: bytes a second to the device through the queue, and by plain copies from page-locked memory in a loop.
- waits: how long a step of 1, 5, 20 and 50 ms waits in next() for batches that are made faster than the step.
- images: images a second, from JPEG files to batches on the device, on 1 to 16 cores, beside the hand-written loop.
- nvjpeg: images a second that Decode alone gives on the host, by nvJPEG and by the CPU, on 1 to 16 cores.

Each figure is taken in a process of its own, and a part that fails does not stop the others. With --device cpu:0
everything runs without a GPU, which shows only that it runs: steps sleep, and the queue copies within the host's memory.
"""

import argparse
import contextlib
import importlib.metadata
import itertools
import json
import math
import os
import pathlib
import platform
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import images
import measuring

PARTS = ["bandwidth", "waits", "images", "nvjpeg"]
DECODERS = ["cpu", "nvjpeg"]
# A child that takes longer hangs.
PATIENCE_S = 100.0

DEPTH = 3
SIZES_MIB = [64, 8, 1]
BANDWIDTH_BYTES = 4 << 30  # copied in a round
BANDWIDTH_ROUNDS = 9
SETTLE = 2 * DEPTH + 4  # batches after which nothing is left that was ready before
ROWS = 16

STEPS_MS = [1, 5, 20, 50]
STEP_SECONDS = 2.0  # for each length of a step
LEAST_STEPS = 50
SIDE = 224
BATCH = 64

WARM_UP_S = 0.8
LEAST_BATCHES = 8
KINDS = {
    "float32": "float32 CHW, normalised on the device",
    "uint8": "uint8 HWC, not normalised",
    "host": "float32 CHW, without a device",
}
LOOPS = {"loop": [], "loop, crop only": ["--crop"]}


class Gpu:
    """Steps, copies and waits on a GPU, by torch."""

    def __init__(self, name: str) -> None:
        import torch

        torch.set_num_threads(1)
        self._torch = torch
        self._name = name
        torch.cuda.set_device(name)
        self._cycles_per_ms = 0.0

    def calibrate(self) -> None:
        begin, end = (self._torch.cuda.Event(enable_timing=True) for _ in range(2))
        cycles = 50_000_000
        for _ in range(4):  # the clock rises with the first
            begin.record()
            self._torch.cuda._sleep(cycles)
            end.record()
            end.synchronize()
        self._cycles_per_ms = cycles / begin.elapsed_time(end)

    def step(self, milliseconds: float) -> None:
        """Work of that length on the loop's stream, after what the stream waits for."""
        self._torch.cuda._sleep(int(milliseconds * self._cycles_per_ms))
        self.wait()

    def wait(self) -> None:
        """Until all that the loop's stream waits for is done; copies of further batches go on."""
        self._torch.cuda.current_stream().synchronize()

    def plain_copies(self, size: int) -> Callable[[int, Callable[[], object]], None]:
        """Copies so many times, each after `before` was called."""
        sources = [self._torch.ones(size, dtype=self._torch.uint8, pin_memory=True) for _ in range(4)]
        targets = [self._torch.empty(size, dtype=self._torch.uint8, device=self._name) for _ in range(4)]
        stream = self._torch.cuda.Stream()

        done = [self._torch.cuda.Event() for _ in range(4)]

        def copy(count: int, before: Callable[[], object]) -> None:
            with self._torch.cuda.stream(stream):
                for number in range(count):
                    before()
                    # No more than four on their way, as the queue.
                    done[number % 4].synchronize()
                    targets[number % 4].copy_(sources[number % 4], non_blocking=True)
                    done[number % 4].record(stream)
            stream.synchronize()

        return copy

    def machine(self) -> dict[str, Any]:
        properties = self._torch.cuda.get_device_properties(self._name)
        found: dict[str, Any] = {"gpu": properties.name, "gpu memory": f"{properties.total_memory / (1 << 30):.0f} GiB"}
        found["CUDA of torch"] = self._torch.version.cuda
        asked = "driver_version,pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current,clocks.max.sm"
        command = ["nvidia-smi", f"--query-gpu={asked}", "--format=csv,noheader"]
        with contextlib.suppress(OSError):
            told = subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.splitlines()
            found[f"nvidia-smi ({asked})"] = told[0] if told else "no answer"
        return found


class Host:
    """The same in the host's memory."""

    def calibrate(self) -> None:
        pass

    def step(self, milliseconds: float) -> None:
        time.sleep(milliseconds / 1000)

    def wait(self) -> None:
        pass

    def plain_copies(self, size: int) -> Callable[[int, Callable[[], object]], None]:
        import numpy as np

        sources, targets = ([np.ones(size, np.uint8) for _ in range(4)] for _ in range(2))

        def copy(count: int, before: Callable[[], object]) -> None:
            for number in range(count):
                before()
                np.copyto(targets[number % 4], sources[number % 4])

        return copy

    def machine(self) -> dict[str, Any]:
        return {"gpu": "none"}


def opened(name: str) -> Gpu | Host:
    try:
        import torch
    except ImportError:
        sys.exit("batches are measured as PyTorch's tensors, and PyTorch is not installed here: pip install torch")
    if not name.startswith("cpu") and not torch.cuda.is_available():
        sys.exit(
            f"PyTorch finds no GPU to be {name}; --device cpu:0 runs everything without one, only to see that it runs"
        )
    return Host() if name.startswith("cpu") else Gpu(name)


def sent(dataset: Any, device: str) -> Any:
    return dataset.to_device(device, depth=DEPTH).options(as_="torch", disabled_passes=["insert_caches"])


def package_version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def processor() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def measure_machine(device: str) -> dict[str, Any]:
    found = opened(device).machine()
    found |= {"cores": len(os.sched_getaffinity(0)), "processor": processor(), "system": platform.platform()}
    found |= {"Python": platform.python_version()}
    found |= {name: version for name in ("torch", "numpy") if (version := package_version(name)) is not None}
    return found


# Bandwidth.


def cheap_batches(size: int) -> Any:
    """Batches of so many bytes, each row of which is one memset by a worker, into its place in the batch."""
    import numpy as np

    import headrace as hr
    from headrace import transforms as T

    return hr.Numpy(np.arange(256)).repeat().map(T.OneHot(size // ROWS, "uint8"), "data").batch(ROWS)


def bytes_a_second(take: Callable[[], object], wait: Callable[[], None], size: int, count: int) -> float:
    for _ in range(SETTLE):
        take()
    wait()
    begin = time.perf_counter()
    for _ in range(count):
        take()
    wait()
    return size * count / (time.perf_counter() - begin)


def measure_bandwidth(device: str, size_mib: int, rounds: int) -> dict[str, Any]:
    there, size = opened(device), size_mib << 20
    count = max(8, min(1000, (BANDWIDTH_BYTES if device.startswith("cuda") else BANDWIDTH_BYTES // 8) // size))
    found: dict[str, Any] = {"MiB": size_mib, "batches": count, "queue": [], "plain": [], "plain beside": []}
    copy = there.plain_copies(size)
    copy(count, lambda: None)
    with cheap_batches(size).iterate(disabled_passes=["insert_caches"]) as batches:
        found["pipeline alone, on the host"] = bytes_a_second(lambda: next(batches), lambda: None, size, count)
        # The host's memory serves the pipeline and the copies, as with the queue.
        for _ in range(rounds):
            begin = time.perf_counter()
            copy(count, lambda: next(batches))
            found["plain beside"].append(size * count / (time.perf_counter() - begin))
    with sent(cheap_batches(size), device).iterate() as batches:
        for _ in range(64):  # makes the page-locked memory and the buffers
            last = next(batches)
        for _ in range(rounds):
            found["queue"].append(bytes_a_second(lambda: next(batches), there.wait, size, count))
            time.sleep(0.05)  # the queue fills meanwhile, and then copies nothing
            begin = time.perf_counter()
            copy(count, lambda: None)
            found["plain"].append(size * count / (time.perf_counter() - begin))
        found["right"] = int(last["data"].sum()) == ROWS
        found["staged"] = batches.report()["device"]["staged_bytes"]
        found["explain"] = batches.explain()
    return found


def print_bandwidth(found: dict[str, Any]) -> None:
    gigabytes = {kind: [value / 1e9 for value in found[kind]] for kind in ("queue", "plain", "plain beside")}
    print(f"batches of {found['MiB']} MiB, {found['batches']} a round:")
    print(f"  queue: {measuring.summary(gigabytes['queue'], 2)} GB/s")
    print(f"  plain copies from page-locked memory: {measuring.summary(gigabytes['plain'], 2)} GB/s")
    aim = " (aim 0.95)" if found["MiB"] >= 64 else ""
    beside = measuring.summary(gigabytes["plain beside"], 2)
    print(f"  the same, each after the pipeline made as many bytes in other memory: {beside} GB/s")
    print(f"  queue to plain{aim}: {measuring.ratio(found['queue'], found['plain'])}")
    print(f"  queue to plain beside the pipeline: {measuring.ratio(found['queue'], found['plain beside'])}")
    print(f"  the pipeline alone, on the host: {found['pipeline alone, on the host'] / 1e9:.2f} GB/s")
    if not found["right"]:
        print("  WRONG: a batch does not hold what it should")
    if found["staged"]:
        print(f"  {found['staged']:,} bytes were copied twice")


# Waits.


def images_in_memory() -> Any:
    import numpy as np

    import headrace as hr
    from headrace import vision as V

    dataset = np.random.default_rng(0).integers(0, 256, (256, SIDE, SIDE, 3), np.uint8)
    return hr.Numpy(dataset, shuffle=True).map(V.RandomHorizontalFlip(), "data").repeat().batch(BATCH)


def images_of_files(folder: str, kind: str) -> Any:
    import headrace as hr
    from headrace import vision as V

    kernels = [V.Decode(), V.RandomResizedCrop(SIDE, antialias=False), V.RandomHorizontalFlip()]
    if kind != "uint8":
        kernels += [V.Normalize(images.MEAN, images.STD), V.HWC2CHW()]
    return hr.ImageFolder(folder, shuffle=True).map(kernels, "image").repeat().batch(BATCH)


def percentile(values: Sequence[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, math.ceil(part * len(values)) - 1)]


def waits_of_a_step(batches: Iterator[Any], there: Gpu | Host, step_ms: float) -> dict[str, float]:
    count = max(LEAST_STEPS, int(STEP_SECONDS * 1000 / step_ms / 1.25))
    for _ in range(10):
        next(batches)
        there.step(step_ms)
    waits = []
    begin = time.perf_counter()
    for _ in range(count):
        asked = time.perf_counter()
        batch = next(batches)
        waits.append((time.perf_counter() - asked) * 1e6)
        there.step(step_ms)
    with_data = (time.perf_counter() - begin) / count
    del batch
    begin = time.perf_counter()
    for _ in range(max(20, count // 4)):
        there.step(step_ms)
    alone = (time.perf_counter() - begin) / max(20, count // 4)
    return {
        "step ms": step_ms,
        "steps": count,
        "median us": statistics.median(waits),
        "mean us": statistics.fmean(waits),
        "p99 us": percentile(waits, 0.99),
        "max us": max(waits),
        "step alone ms": alone * 1e3,
        "step with data ms": with_data * 1e3,
    }


def measure_waits(device: str, folder: str | None) -> dict[str, Any]:
    there = opened(device)
    there.calibrate()
    with sent(images_of_files(folder, "float32") if folder else images_in_memory(), device).iterate() as batches:
        begin = time.perf_counter()
        while time.perf_counter() - begin < WARM_UP_S:
            next(batches)
        begin, done = time.perf_counter(), 0
        while time.perf_counter() - begin < WARM_UP_S:
            next(batches)
            done += 1
        there.wait()
        alone_ms = (time.perf_counter() - begin) / done * 1e3
        # A pipeline that is slower than the step must be waited for.
        lengths = [step_ms for step_ms in STEPS_MS if alone_ms < 0.8 * step_ms]
        steps = [waits_of_a_step(batches, there, step_ms) for step_ms in lengths]
        return {"batch alone ms": alone_ms, "steps": steps, "explain": batches.explain()}


def print_waits(name: str, found: dict[str, Any]) -> None:
    print(f"{name}: alone {found['batch alone ms']:.3f} ms a batch")
    left_out = [step_ms for step_ms in STEPS_MS if step_ms not in [step["step ms"] for step in found["steps"]]]
    if left_out:
        print(f"  the pipeline is not faster than steps of {', '.join(map(str, left_out))} ms: not measured")
    for step in found["steps"]:
        length = step["step alone ms"] * 1e3
        aim = max(0.01 * length, 50.0)
        print(
            f"  step {step['step ms']:>2} ms: wait median {step['median us']:.1f} µs, mean {step['mean us']:.1f} µs "
            f"({step['mean us'] / length:.2%} of the step), 99th percentile {step['p99 us']:.1f} µs, longest "
            f"{step['max us']:.0f} µs; aim for the mean {aim:.0f} µs: {'met' if step['mean us'] <= aim else 'MISSED'}; "
            f"a step takes {step['step alone ms']:.3f} ms alone, {step['step with data ms']:.3f} ms with its wait"
        )


# Images a second.


def rate_of(kind: str, there: Gpu | Host, device: str, folder: str, workers: int, seconds: float) -> dict[str, Any]:
    rows = images_of_files(folder, kind)
    rows = rows.options(as_="torch", disabled_passes=["insert_caches"]) if kind == "host" else sent(rows, device)
    with rows.iterate(workers=workers) as batches:
        for least in (WARM_UP_S, seconds):
            done, begin = 0, time.perf_counter()
            while time.perf_counter() - begin < least or done < LEAST_BATCHES:
                next(batches)
                done += 1
            there.wait()
            rate = done * BATCH / (time.perf_counter() - begin)
        return {"rate": rate, "explain": batches.explain()}


def measure_images(device: str, folder: str, kinds: str, workers: int, seconds: float) -> dict[str, Any]:
    there = opened(device)
    return {kind: rate_of(kind, there, device, folder, workers, seconds) for kind in kinds.split(",")}


def measure_decoder(folder: str, decoder: str, workers: int, seconds: float) -> float | str:
    """Images a second, or why there are none."""
    import headrace as hr
    from headrace import vision as V

    dataset = hr.ImageFolder(folder, shuffle=True).map(V.Decode(decoder=decoder), "image").repeat()
    with dataset.iterate(workers=workers, disabled_passes=["insert_caches"]) as rows:
        for least in (WARM_UP_S, seconds):
            done, begin = 0, time.perf_counter()
            while time.perf_counter() - begin < least:
                try:
                    next(rows)
                except hr.UnsupportedError as error:
                    return str(error).splitlines()[0]
                done += 1
            rate = done / (time.perf_counter() - begin)
    return rate


def print_decoders(rates: dict[int, dict[str, float | str]]) -> None:
    for missing in sorted({each for of_cores in rates.values() for each in of_cores.values() if isinstance(each, str)}):
        print(f"not measured: {missing}")
    figures = {
        cores: {name: each for name, each in of_cores.items() if isinstance(each, float)}
        for cores, of_cores in rates.items()
    }
    print(f"{'images/s':26}" + "".join(f"{count:>8}" for count in figures))
    for decoder in DECODERS:
        print(f"{decoder:26}" + "".join(f"{of_cores.get(decoder, math.nan):8,.0f}" for of_cores in figures.values()))
    parts = (of_cores.get("nvjpeg", math.nan) / of_cores["cpu"] for of_cores in figures.values())
    print(f"{'nvjpeg / cpu':26}" + "".join(f"{part:8.2f}" for part in parts))


@contextlib.contextmanager
def on_cores(count: int) -> Iterator[None]:
    """Processes that are started meanwhile run on the first `count` cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def print_images(rates: dict[str, dict[int, float]]) -> None:
    """Rates by kind and number of cores, what more cores gain, and both as parts of the loops' own."""
    counts = sorted({count for of_kind in rates.values() for count in of_kind})
    if not counts:
        return
    low, high = counts[0], counts[-1]
    print(f"{'images/s':26}" + "".join(f"{count:>8}" for count in counts) + f"   gain from {low} to {high} cores")
    gains = {}
    for kind, of_kind in rates.items():
        if low in of_kind and high in of_kind:
            gains[kind] = of_kind[high] / of_kind[low]
        figures = "".join(f"{of_kind.get(count, math.nan):8,.0f}" for count in counts)
        print(f"{kind:26}{figures}   {gains.get(kind, math.nan):.2f}  {KINDS.get(kind, '')}")
    for kind, loop in itertools.product(KINDS, LOOPS):
        if kind in rates and loop in rates:
            parts = (rates[kind].get(count, math.nan) / rates[loop].get(count, math.nan) for count in counts)
            print(f"{f'{kind} / {loop}':26}" + "".join(f"{part:8.3f}" for part in parts))
        if kind in gains and loop in gains:
            print(f"gain of {kind} / gain of the {loop} (aim 0.95): {gains[kind] / gains[loop]:.3f}")


class Report:
    """The parts of one run, and their figures: printed, and kept in a file."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._begin = time.perf_counter()
        self.found: dict[str, Any] = {"command": shlex.join(sys.argv), "failures": []}

    def child(self, *arguments: object) -> Any:
        given = ["--device", self._options.device, "--child", *arguments]
        print(f"$ python benchmarks/gpu.py {shlex.join(map(str, given))}", flush=True)
        return measuring.in_own_process(__file__, *given, timeout=PATIENCE_S)

    def save(self) -> None:
        self.found["seconds"] = time.perf_counter() - self._begin
        if self._options.json:
            pathlib.Path(self._options.json).write_text(json.dumps(self.found, indent=1))

    @contextlib.contextmanager
    def kept_on_failure(self, name: str) -> Iterator[None]:
        """What fails within is told, and is not the end of the run."""
        try:
            yield
        except (Exception, SystemExit) as error:
            self.found["failures"].append(f"{name}: {error!r}")
            print(f"{name} FAILED: {error!r}", flush=True)
        self.save()

    def machine(self) -> None:
        self.found["machine"] = self.child("machine")
        for name, value in self.found["machine"].items():
            print(f"{name}: {value}")

    def bandwidth(self) -> None:
        self.found["bandwidth"] = []
        for size_mib in SIZES_MIB:
            with self.kept_on_failure(f"bandwidth of {size_mib} MiB"):
                measured = self.child("bandwidth", size_mib, self._options.rounds)
                self.found["bandwidth"].append(measured)
                print_bandwidth(measured)

    def waits(self) -> None:
        self.found["waits"] = {}
        sources = {"images in memory, flipped, uint8": [], "images of files, float32": [self._options.pictures]}
        for name, folder in sources.items():
            with self.kept_on_failure(f"waits for {name}"):
                self.found["waits"][name] = measured = self.child("waits", *folder)
                print_waits(f"{name}, batches of {BATCH}", measured)

    def loop_rate(self, extra: list[str], threads: int) -> float:
        given = ["--threads", threads, "--warm-up", 100 * threads, "--seconds", self._options.seconds, *extra]
        print(f"$ {shlex.join([self._options.loop, self._options.pictures, *map(str, given)])}", flush=True)
        return images.run_loop(self._options.loop, self._options.pictures, list(map(str, given)))

    def images(self) -> None:
        rates: dict[str, dict[int, float]] = {}
        explained: dict[str, str] = {}
        self.found["images"] = {"rates": rates, "explain": explained}
        there = len(os.sched_getaffinity(0))
        for cores in self._options.cores:
            if cores > there:
                print(f"cores: {cores}: not measured, as there are {there}")
                continue
            with on_cores(cores):
                with self.kept_on_failure(f"pipelines, cores: {cores}"):
                    kinds = ",".join(self._options.kind or ["float32", "uint8"])
                    measured = self.child("images", self._options.pictures, kinds, cores, self._options.seconds)
                    for kind, result in measured.items():
                        rates.setdefault(kind, {})[cores] = result["rate"]
                        explained[f"{kind}, cores: {cores}"] = result["explain"]
                for name, extra in LOOPS.items() if self._options.loop else ():
                    with self.kept_on_failure(f"{name}, cores: {cores}"):
                        rates.setdefault(name, {})[cores] = self.loop_rate(extra, cores)
        print_images(rates)

    def nvjpeg(self) -> None:
        rates: dict[int, dict[str, float | str]] = {}
        self.found["nvjpeg"] = rates
        for cores in self._options.cores:
            if cores <= len(os.sched_getaffinity(0)):
                with on_cores(cores), self.kept_on_failure(f"decoders, cores: {cores}"):
                    rates[cores] = self.child("nvjpeg", self._options.pictures, cores, self._options.seconds)
        print_decoders(rates)


def run_child(device: str, what: str, *arguments: str) -> dict[str, Any]:
    if what == "machine":
        return measure_machine(device)
    if what == "bandwidth":
        return measure_bandwidth(device, int(arguments[0]), int(arguments[1]))
    if what == "waits":
        return measure_waits(device, arguments[0] if arguments else None)
    if what == "nvjpeg":
        return {name: measure_decoder(arguments[0], name, int(arguments[1]), float(arguments[2])) for name in DECODERS}
    folder, kinds, workers, seconds = arguments
    return measure_images(device, folder, kinds, int(workers), float(seconds))


def whole_numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--only", action="append", choices=PARTS, help="this part; may be given several times")
    parser.add_argument("--pictures", default=str(measuring.PHOTOS), help="a folder of JPEG files")
    parser.add_argument("--loop", help="the built //benchmarks:loop, to compare images a second with")
    parser.add_argument("--json", help="a file for all figures")
    parser.add_argument("--cores", type=whole_numbers, default=[1, 2, 4, 8, 16], help="1,2,4,8,16")
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="of batches of images; float32 and uint8")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each figure of images a second")
    parser.add_argument("--rounds", type=int, default=BANDWIDTH_ROUNDS, help="of copies")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(run_child(options.device, *options.child)), flush=True)
        return
    report = Report(options)

    def run(folder: pathlib.Path) -> None:
        options.pictures = str(folder)
        with report.kept_on_failure("machine"):
            report.machine()
        if report.found["failures"]:
            return  # the device cannot be used, so that nothing can be measured
        for part in options.only or PARTS:
            print(f"== {part}, at {time.perf_counter() - report._begin:.0f} s", flush=True)
            with report.kept_on_failure(part):
                getattr(report, part)()

    measuring.with_class_folders(pathlib.Path(options.pictures), run)
    print(f"{report.found['seconds']:.0f} s in all; failures: {'; '.join(report.found['failures']) or 'none'}")
    if report.found["failures"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
