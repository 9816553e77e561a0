"""Batches a second of a pipeline that ends on a device, of the same pipeline without a device, and of a hand-written loop
that copies each batch in a thread of its own; without a step, and with one that waits as for an accelerator.

Every figure is taken in a process of its own, in alternation. A batch is 32 images of 224 pixels as float32, 18.4 MiB.
"""

import argparse
import json
import os
import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

import measuring

DEVICES = ["cpu:0", "cuda:0"]
KINDS = ["without a device", "to_device", "a thread that copies"]
STEPS_MS = [0, 10, 40]
SHAPE = (32, 3, 224, 224)
DEPTH = 3
WARM_UP = 10
SECONDS = 3.0


def pipeline() -> Any:
    import numpy as np

    import headrace as hr
    from headrace import vision as V

    images = np.random.default_rng(0).integers(0, 256, (256, 224, 224, 3), np.uint8)
    kernels = [V.RandomHorizontalFlip(), V.Normalize([124.0, 116.0, 104.0], [58.0, 57.0, 57.0]), V.HWC2CHW()]
    rows = hr.Numpy(images).map(kernels, "data").repeat().batch(SHAPE[0])
    return rows.options(disabled_passes=["insert_caches"])


class Host:
    """Where the hand-written loop copies to: here, as the host's memory."""

    def buffer(self) -> Any:
        import numpy as np

        return np.empty(SHAPE, np.float32)

    def copy(self, buffer: Any, images: Any) -> None:
        import numpy as np

        np.copyto(buffer, images)

    def take(self, buffer: Any) -> Any:
        return buffer

    def wait(self) -> None:
        pass


class Cuda:
    """As PyTorch's users do: through page-locked memory, on a stream beside that of the loop."""

    def __init__(self, device: str) -> None:
        import torch

        self._torch, self._device = torch, device
        self._stream, self._loop = torch.cuda.Stream(device), torch.cuda.current_stream(device)

    def buffer(self) -> Any:
        locked = self._torch.empty(SHAPE, pin_memory=True)
        return locked, self._torch.empty(SHAPE, device=self._device), self._torch.cuda.Event()

    def copy(self, buffer: Any, images: Any) -> None:
        locked, there, copied = buffer
        copied.synchronize()
        locked.copy_(self._torch.from_numpy(images))
        self._stream.wait_stream(self._loop)
        with self._torch.cuda.stream(self._stream):
            there.copy_(locked, non_blocking=True)
            copied.record()

    def take(self, buffer: Any) -> Any:
        _, there, copied = buffer
        self._loop.wait_event(copied)
        return there

    def wait(self) -> None:
        self._torch.cuda.synchronize(self._device)


def copied_by_a_thread(device: Any) -> Iterator[Any]:
    free: queue.Queue[Any] = queue.Queue()
    ready: queue.Queue[Any] = queue.Queue(DEPTH)
    for _ in range(DEPTH + 2):
        free.put(device.buffer())

    def copy() -> None:
        for batch in pipeline().iterate():
            buffer = free.get()
            device.copy(buffer, batch["data"])
            ready.put(buffer)

    threading.Thread(target=copy, daemon=True).start()
    while True:
        buffer = ready.get()
        yield device.take(buffer)
        free.put(buffer)


def batches(kind: str, device: str, there: Any) -> Iterator[Any]:
    if kind == "a thread that copies":
        yield from copied_by_a_thread(there)
    rows = pipeline()
    if kind == "to_device":
        rows = rows.to_device(device, depth=DEPTH).options(as_="numpy" if device == "cpu:0" else "torch")
    for batch in rows.iterate():
        yield batch["data"]


def measure(kind: str, device: str, step_ms: float) -> float:
    """Batches a second."""
    there = Host() if device == "cpu:0" else Cuda(device)
    given = batches(kind, device, there)
    for _ in range(WARM_UP):
        next(given)
    begin = time.perf_counter()
    done = 0
    while time.perf_counter() - begin < SECONDS:
        next(given)
        done += 1
        time.sleep(step_ms / 1000)
    there.wait()
    return done / (time.perf_counter() - begin)


def what_is_missing(device: str) -> str:
    """Why the device cannot be measured here; empty: nothing."""
    import headrace as hr

    if device == "cpu:0":
        return ""
    try:
        hr.Range(1).to_device(device).iterate(as_="torch").close()
    except hr.UnsupportedError as error:
        return str(error)
    return ""


def compare(device: str, step_ms: float, rounds: int) -> None:
    figures: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for _ in range(rounds):
        for kind, values in figures.items():
            values.append(measuring.in_own_process(__file__, "--child", kind, device, step_ms))
    print(f"{device}, a step of {step_ms} ms")
    for kind, values in figures.items():
        print(f"  {kind}: {measuring.summary(values, 1)} batches/s")
    for other in ("without a device", "a thread that copies"):
        print(f"  to_device to {other}: {measuring.ratio(figures['to_device'], figures[other])}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", action="append", help=f"by default {' and '.join(DEVICES)}")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        kind, device, step_ms = options.child
        print(json.dumps(measure(kind, device, float(step_ms))), flush=True)
        os._exit(0)  # the thread that copies is in the middle of its work
    for device in options.device or DEVICES:
        if missing := what_is_missing(device):
            print(f"{device}: not measured: {missing}")
            continue
        for step_ms in STEPS_MS:
            compare(device, step_ms, options.rounds)


if __name__ == "__main__":
    main()
