"""Far files against what a careful programmer writes by hand, over a server on the loopback that is no limit.

Each part is measured in alternation, each run in its own process:
  objects    objects of 110 KB by `Files`, and by a loop in C over libcurl's multi interface; plain and over TLS
  ranges     files of 64 MB in ranges by `Files`, and by the same loop with ranges of 8 MB; plain and over TLS
  images     the training pipeline over pictures that come after 50 ms, and over local files beside equal traffic
  throttled  objects of which a tenth of the requests is answered by 503, and the same without
  stalled    batches of a training step while one of a hundred requests comes half a second late: the slowest and the
             median, after the read-ahead has filled
  peers      objects by PyTorch's DataLoader over s3fs, by s3torchconnector and by pyarrow's S3, where PYTHON has them
"""

import argparse
import contextlib
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Callable, Iterator
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import measuring

sys.path.insert(0, str(measuring.ROOT))
from tests.far.certificates import Certificates

PROGRAMS = measuring.ROOT / "bazel-bin/benchmarks/far"
OBJECT = 110_000
LARGE = 64 << 20
RANGE = 8 << 20
CONNECTIONS = 16
DELAY_MS = 50
BATCH = 32
STEP_S = 0.03  # of a training step, in which a batch is used
READ_AHEAD = 1024  # objects


@contextlib.contextmanager
def served(folder: pathlib.Path, *options: object) -> Iterator[int]:
    """The port of a server of the folder."""
    command = [str(PROGRAMS / "file_server"), str(folder), *map(str, options)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.kill()


def storage_of(port: int, tls: str = "") -> dict[str, dict[str, Any]]:
    own: dict[str, Any] = {"endpoint": f"{'https' if tls else 'http'}://127.0.0.1:{port}", "region": "us-east-1"}
    own |= {"access_key": "AKIDBENCHMARK", "secret_key": "any"}
    return {"s3": own | ({"ca_file": tls} if tls else {})}


def cpu_seconds() -> float:
    """Of this process and of those that it started and that have ended."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


# ---- what a process measures ----


def measure_files(port: int, tls: str) -> dict[str, Any]:
    """A whole pass over the bucket, after one over nothing: the library is loaded, and one connection is open."""
    import headrace as hr

    storage = storage_of(port, tls)
    files = hr.Files("s3://bucket/*.bin").project(["data"]).batch(BATCH, ragged="list").options(bytes_as="memoryview")
    next(iter(files.take(1).iterate(storage=storage)))
    started, cpu = time.perf_counter(), cpu_seconds()
    times, total = [], 0
    with files.iterate(storage=storage, disabled_passes=["insert_caches"]) as batches:
        for each in batches:
            total += sum(len(one) for one in each["data"])
            times.append(time.perf_counter())
    return {"rate": total / (times[-1] - started), "cpu": (cpu_seconds() - cpu) / total * 1e9}


def measure_steps(port: int) -> dict[str, Any]:
    """A pass by one who uses each batch for a training step, timed once the read-ahead has filled."""
    import headrace as hr

    files = hr.Files("s3://bucket/*.bin").project(["data"]).batch(BATCH, ragged="list").options(bytes_as="memoryview")
    times = []
    with files.iterate(storage=storage_of(port), disabled_passes=["insert_caches"]) as batches:
        for _ in batches:
            time.sleep(STEP_S)
            times.append(time.perf_counter())
        (store,) = batches.report()["stores"]
    steps = [after - before for before, after in zip(times, times[1:], strict=False)][READ_AHEAD // BATCH :]
    return {"slowest": max(steps), "median": statistics.median(steps), "hedged": store["hedges"] / store["reads"]}


def measure_images(root: str, port: int, rows: int) -> dict[str, Any]:
    import headrace as hr
    from headrace import vision as V

    steps = [V.Decode(), V.RandomResizedCrop(224, antialias=False), V.RandomHorizontalFlip()]
    steps += [V.Normalize([123.675, 116.28, 103.53], [58.395, 57.12, 57.375]), V.HWC2CHW()]
    with hr.storage(storage_of(port)) if root.startswith("s3:") else contextlib.nullcontext():
        images = hr.ImageFolder(root, shuffle=True).map(steps, "image").repeat().batch(BATCH)
        warm = max(1, rows // 4 // BATCH)
        with images.iterate(disabled_passes=["insert_caches"]) as batches:
            for _ in range(warm):
                next(batches)
            started = time.perf_counter()
            for _ in range(rows // BATCH):
                next(batches)
            return {"rate": rows // BATCH * BATCH / (time.perf_counter() - started)}


class S3fsObjects:
    """The sizes of the bucket's objects by s3fs, whose file system is made in the process that reads."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.files: Any = None
        self.names = sorted(self.filesystem().ls("bucket"))

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, number: int) -> int:
        self.files = self.files or self.filesystem()
        return len(self.files.cat_file(self.names[number]))

    def filesystem(self) -> Any:
        import s3fs

        given = storage_of(self.port)["s3"]
        return s3fs.S3FileSystem(
            key=given["access_key"],
            secret=given["secret_key"],
            endpoint_url=given["endpoint"],
            skip_instance_cache=True,
        )


def measure_s3fs(port: int) -> dict[str, Any]:
    import torch.utils.data

    def passed() -> int:
        # As torch advises with threads in the parent: worker processes that are started anew.
        loader: Any = torch.utils.data.DataLoader(
            S3fsObjects(port),  # type: ignore[arg-type]
            batch_size=BATCH, num_workers=2, multiprocessing_context="spawn",
        )  # fmt: skip
        return sum(int(batch.sum()) for batch in loader)

    return timed(passed)


def measure_connector(port: int) -> dict[str, Any]:
    from s3torchconnector import S3ClientConfig, S3MapDataset

    given = storage_of(port)["s3"]
    os.environ |= {"AWS_ACCESS_KEY_ID": given["access_key"], "AWS_SECRET_ACCESS_KEY": given["secret_key"]}
    config = S3ClientConfig(force_path_style=True)
    objects = S3MapDataset.from_prefix(
        "s3://bucket/",
        region="us-east-1",
        endpoint=given["endpoint"],
        s3client_config=config,
        transform=lambda one: len(one.read()),
    )
    return timed(lambda: sum(objects[number] for number in range(len(objects))))


def measure_arrow(port: int) -> dict[str, Any]:
    import concurrent.futures

    from pyarrow import fs

    given = storage_of(port)["s3"]
    files = fs.S3FileSystem(
        access_key=given["access_key"], secret_key=given["secret_key"], scheme="http", region="us-east-1",
        endpoint_override=given["endpoint"].removeprefix("http://"),
    )  # fmt: skip
    found = files.get_file_info(fs.FileSelector("bucket"))

    def size_of(name: str) -> int:
        with files.open_input_file(name) as file:
            return len(file.read())

    def passed() -> int:
        with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
            return sum(pool.map(size_of, [each.path for each in found if each.is_file]))

    return timed(passed)


def timed(work: Callable[[], int]) -> dict[str, Any]:
    """The work is done twice, and measured the second time."""
    work()
    started, cpu = time.perf_counter(), cpu_seconds()
    total = work()
    return {"rate": total / (time.perf_counter() - started), "cpu": (cpu_seconds() - cpu) / total * 1e9}


CHILDREN: dict[str, Callable[..., dict[str, Any]]] = {
    "files": lambda port, tls="": measure_files(int(port), tls),
    "steps": lambda port: measure_steps(int(port)),
    "images": lambda root, port, rows: measure_images(root, int(port), int(rows)),
    "s3fs": lambda port: measure_s3fs(int(port)),
    "s3torchconnector": lambda port: measure_connector(int(port)),
    "pyarrow": lambda port: measure_arrow(int(port)),
}


def child(name: str, *arguments: object, python: str = sys.executable) -> dict[str, Any]:
    found: dict[str, Any] = measuring.in_own_process(__file__, "--child", name, *arguments, python=python, timeout=600)
    return found


# ---- parts ----


class Parts:
    def __init__(self, options: argparse.Namespace, folder: pathlib.Path) -> None:
        self.options = options
        self.folder = folder
        self.objects = folder / "objects"
        self.large = folder / "large"
        self.certificates = Certificates.make(folder)
        self.certificates.server()
        (self.pem,) = folder.glob("authority-*.pem")

    def write(self) -> None:
        self.objects.mkdir()
        self.large.mkdir()
        for number in range(self.options.objects):
            (self.objects / f"{number:06}.bin").write_bytes(os.urandom(OBJECT))
        for number in range(self.options.large):
            (self.large / f"{number:03}.bin").write_bytes(os.urandom(LARGE))

    def tls_options(self) -> list[object]:
        return ["--certificate", self.pem, "--key", self.pem.with_suffix(".key")]

    def loop(self, folder: pathlib.Path, port: int, tls: bool, *more: object) -> dict[str, Any]:
        urls = self.folder / "urls"
        root = f"{'https' if tls else 'http'}://127.0.0.1:{port}/bucket/"
        urls.write_text("".join(f"{root}{urllib.parse.quote(path.name)}\n" for path in sorted(folder.iterdir())))
        command = [str(PROGRAMS / "curl_loop"), str(urls), "--ca", str(self.certificates.ca), *map(str, more)]
        done = subprocess.run(
            [*command, "--connections", str(CONNECTIONS)], stdout=subprocess.PIPE, text=True, check=True
        )
        found = json.loads(done.stdout)
        return {"rate": found["bytes"] / found["seconds"], "cpu": found["cpu"] / found["bytes"] * 1e9}

    def against_loop(self, name: str, folder: pathlib.Path, *more: object) -> None:
        for tls in (False, True):
            ours, theirs = [], []
            with served(folder, *(self.tls_options() if tls else [])) as port:
                for _ in range(self.options.rounds):
                    ours.append(child("files", port, *([self.certificates.ca] if tls else [])))
                    theirs.append(self.loop(folder, port, tls, *more))
            say(f"{name}{', TLS' if tls else ''}: Headrace / loop", ours, theirs, 0.9)

    def run_objects(self) -> None:
        self.against_loop("objects of 110 KB", self.objects)

    def run_ranges(self) -> None:
        self.against_loop("files of 64 MB", self.large, "--range", RANGE, "--size", LARGE)

    def run_images(self) -> None:
        """Beside the local side a loop fetches as many pictures a second as the far side did."""
        ours: list[dict[str, Any]] = []
        theirs: list[dict[str, Any]] = []
        measuring.with_class_folders(self.options.pictures, lambda folder: self.images_of(folder, ours, theirs))
        say(f"images after {DELAY_MS} ms: far / local beside equal traffic", ours, theirs, 0.9)

    def images_of(self, folder: pathlib.Path, ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
        with served(folder, "--delay", DELAY_MS) as port:
            for _ in range(self.options.rounds):
                ours.append(child("images", "s3://bucket/", port, self.options.rows))
                with self.traffic(folder, port, ours[-1]["rate"]):
                    theirs.append(child("images", folder, port, self.options.rows))

    @contextlib.contextmanager
    def traffic(self, folder: pathlib.Path, port: int, rate: float) -> Iterator[None]:
        """About `rate` pictures a second, as many connections at once as they take with the delay."""
        urls = self.folder / "traffic"
        names = [
            urllib.parse.quote(str(path.relative_to(folder))) for path in sorted(folder.rglob("*")) if path.is_file()
        ]
        repeats = max(1, round(100 * rate / len(names)))
        urls.write_text("".join(f"http://127.0.0.1:{port}/bucket/{name}\n" for name in names) * repeats)
        connections = max(1, round(rate * DELAY_MS / 1000))
        command = [str(PROGRAMS / "curl_loop"), str(urls), "--connections", str(connections)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as loop:
            try:
                yield
            finally:
                loop.kill()

    def run_throttled(self) -> None:
        ours, theirs = [], []
        with served(self.objects, "--fail", 0.1) as broken, served(self.objects) as whole:
            for _ in range(self.options.rounds):
                ours.append(child("files", broken))
                theirs.append(child("files", whole))
        say("a tenth of 503: with / without", ours, theirs, 0.8)

    def run_stalled(self) -> None:
        with served(self.objects, "--delay", 20, "--stall", 0.01, "--stall-ms", 500) as port:
            found = [child("steps", port) for _ in range(self.options.rounds)]
        ratios = [each["slowest"] / each["median"] for each in found]
        print(f"1% stalled: slowest batch / median batch {statistics.median(ratios):.2f} (aim: at most 2)")
        print(f"  requests sent twice: {statistics.median(each['hedged'] for each in found):.1%} (at most 2%)")

    def run_peers(self) -> None:
        if not self.options.peer:
            print("peers: left out, as --peer names no interpreter")
            return
        for name, aim in (("s3fs", 2.0), ("s3torchconnector", None), ("pyarrow", None)):
            ours, theirs = [], []
            try:
                with served(self.objects) as port:
                    for _ in range(self.options.rounds):
                        ours.append(child("files", port))
                        theirs.append(child(name, port, python=self.options.peer))
            except SystemExit as missing:
                print(f"{name}: {missing}")
                continue
            say(f"objects: Headrace / {name}", ours, theirs, aim)


def say(what: str, ours: list[dict[str, Any]], theirs: list[dict[str, Any]], aim: float | None) -> None:
    rates = [[each["rate"] for each in side] for side in (ours, theirs)]
    print(f"{what}: {measuring.ratio(*rates)}" + (f" (aim: at least {aim})" if aim else ""), flush=True)
    if "cpu" in ours[0] and "cpu" in theirs[0]:
        print(f"  seconds of CPU a GB: {measuring.ratio(*[[each['cpu'] for each in side] for side in (ours, theirs)])}")


PARTS = ("objects", "ranges", "images", "throttled", "stalled", "peers")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--objects", type=int, default=4000, help="of 110 KB")
    parser.add_argument("--large", type=int, default=8, help="of 64 MB")
    parser.add_argument("--pictures", type=pathlib.Path, default=measuring.PHOTOS, help="in class folders or not")
    parser.add_argument("--rows", type=int, default=3200, help="pictures measured in each round")
    parser.add_argument("--peer", metavar="PYTHON", help="an interpreter with s3fs, torch, s3torchconnector, pyarrow")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, *arguments = options.child
        print(json.dumps(CHILDREN[name](*arguments)))
        return
    if not (PROGRAMS / "file_server").exists():
        sys.exit("build the server and the loop first: bazel build //benchmarks/far/...")
    with tempfile.TemporaryDirectory(prefix="headrace_") as temporary:
        parts = Parts(options, pathlib.Path(temporary))
        parts.write()
        for name in options.only:
            getattr(parts, f"run_{name}")()


if __name__ == "__main__":
    main()
