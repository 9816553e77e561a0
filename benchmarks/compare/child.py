"""One measurement of one peer, in its own process and with its own interpreter. Prints JSON as its last line.

    python child.py PEERS NAME prepare FOLDER SCRATCH
    python child.py PEERS NAME images DATA WORKERS WARM_UP IMAGES
    python child.py PEERS NAME rows COUNT WORKERS

PEERS is the folder of the modules that implement the work for each peer; see peers/README.md.
"""

import importlib
import importlib.metadata
import importlib.util
import itertools
import json
import os
import pathlib
import sys
import time
from typing import Any

import process_tree
import work


def peer_module(peers: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"peer_{name}", pathlib.Path(peers, f"{name}.py"))
    if spec is None or spec.loader is None or not pathlib.Path(peers, f"{name}.py").is_file():
        raise SystemExit(f"there is no peer {name} in {peers}")
    module = importlib.util.module_from_spec(spec)
    # Registered by name, because processes started by a peer look up its functions by it.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def check_batch(batch: Any) -> None:
    shape = (work.BATCH, 3, work.SIDE, work.SIDE)
    if tuple(batch.shape) != shape or "float32" not in str(batch.dtype):
        raise SystemExit(f"a batch has shape {tuple(batch.shape)} and dtype {batch.dtype}, not {shape} and float32")


def images(peer: Any, data: str, workers: int, warm_up: int, count: int) -> dict[str, Any]:
    """`data` is what prepare() returned, or the folder."""
    begin = time.perf_counter()
    for module in peer.MODULES:
        importlib.import_module(module)
    imported = time.perf_counter() - begin
    begin = time.perf_counter()
    batches = iter(peer.images(data, workers))
    check_batch(next(batches))
    first = time.perf_counter() - begin
    for _ in range(max(0, warm_up // work.BATCH - 1)):
        next(batches)
    cpu, begin = process_tree.cpu_seconds(os.getpid()), time.perf_counter()
    done = 0
    while done < count:
        next(batches)
        done += work.BATCH
    seconds = time.perf_counter() - begin
    return {
        "version": importlib.metadata.version(peer.DISTRIBUTION) if peer.DISTRIBUTION else peer.version(),
        "import_s": imported,
        "first_batch_s": first,
        "images_per_s": done / seconds,
        "cpu_s_per_1000": (process_tree.cpu_seconds(os.getpid()) - cpu) / done * 1000,
    }


def rows(peer: Any, count: int, workers: int) -> dict[str, Any]:
    """The first tenth is not counted."""
    counts = iter(peer.rows(count, workers))
    warm_up = 0
    while warm_up < count // 10:
        warm_up += next(counts)
    begin = time.perf_counter()
    done = sum(itertools.islice(counts, count))
    seconds = time.perf_counter() - begin
    if warm_up + done != count:
        raise SystemExit(f"{warm_up + done} of {count} rows came out")
    return {"ns_per_row": seconds / done * 1e9}


def main() -> None:
    peers, name, task, *arguments = sys.argv[1:]
    peer = peer_module(peers, name)
    if task == "prepare":
        result: Any = {"data": peer.prepare(*arguments) if hasattr(peer, "prepare") else arguments[0]}
    elif task == "images":
        result = images(peer, arguments[0], *map(int, arguments[1:]))
    else:
        result = rows(peer, *map(int, arguments)) if hasattr(peer, "rows") else {"ns_per_row": None}
    print("\n" + json.dumps(result), flush=True)
    # Threads and processes of some peers do not end on their own.
    os._exit(0)


if __name__ == "__main__":
    main()
