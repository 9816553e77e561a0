"""Simulates `headrace.ray.feed` on clusters that nobody has at hand: 8 trainers on one host, 1 to 1,000 makers, networks of 10 to
100 Gbit, makers and hosts that are lost at random.

    ray_simulation.py                 # the tables of docs/ray-at-scale.md, from the inputs below
    ray_simulation.py --measure       # measures the inputs on this machine, which takes a minute and Ray

A discrete-event simulation: which maker is asked for which batches is decided by the feed's own `Window`, each trainer having
one; makers, links and losses are models. A maker makes one run of batches after the other. A link serves transfers in the order
in which they are asked for, as many at once as fill it at the rate of one. Each trainer has its share of the makers, and of a
few makers each serves several trainers. The same seed gives the same figures.
"""

import argparse
import dataclasses
import heapq
import itertools
import json
import math
import os
import random
import signal
import statistics
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import Any

import measuring

from headrace.ray.window import Ask, Run, Window


@dataclasses.dataclass(frozen=True)
class Inputs:
    """Measured by `--measure`; the defaults on 30 November 2026, on two cores of an AMD EPYC at 2.6 GHz on which other
    programs ran, with Ray 2.60."""

    picture_ms: float = 0.35
    """Of a core: a JPEG of 500 x 375 pixels in memory decoded where it is cut, scaled to 224 x 224 and flipped."""
    spread: float = 0.03
    """Of the time of a batch: standard deviation by mean."""
    picture_bytes: int = 3 * 224 * 224
    call_ms: float = 0.52
    """Of a call of an actor, there and back."""
    take_ms: float = 0.30
    """Of the trainer's thread for a run of batches, besides copying."""
    copy_gb_s: float = 8.1
    """Of taking a batch from Ray's store into memory of the trainer."""
    transfer_gb_s: float = 0.71
    """Of one object between the stores of two nodes, where no network slows it."""
    start_s: float = 1.3
    """From a lost maker to the first batch of the next one."""
    noticed_s: float = 0.05
    """From the kill of a maker until its calls fail."""


@dataclasses.dataclass(frozen=True)
class Cluster:
    makers: int
    gbit: float
    trainers: int = 8
    batch: int = 256
    step_ms: float = 0.0
    """Of a trainer for a batch; 0: it takes batches as fast as they come."""
    window: int | None = None
    """The feed's: the most batches ahead of the loop."""
    memory: int = 64 << 30
    """The feed's `window_memory`."""
    lost_after_s: float = math.inf
    """A maker's mean life."""
    host_lost_after_s: float = math.inf
    """The mean life of a host of makers, with which what its store holds is lost."""
    host_noticed_s: float = 1.0
    """From the loss of a host until calls of its makers fail. Others start on a spare host."""
    makers_on_host: int = 16
    seconds: float = 80.0


class Link:
    """A host's way in or out."""

    def __init__(self, gbit: float, transfer_gb_s: float) -> None:
        rate = gbit / 8
        self._lanes = [0.0] * max(1, math.ceil(rate / transfer_gb_s))
        self.rate = 1e9 * rate / len(self._lanes)

    def free_at(self) -> float:
        return self._lanes[0]

    def hold_until(self, end: float) -> None:
        heapq.heapreplace(self._lanes, end)


@dataclasses.dataclass(eq=False)
class Host:
    """Of makers."""

    link: Link
    lost: bool = False
    makers: list["Maker"] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(eq=False)
class Maker:
    number: int
    host: Host
    trainers: list["Trainer"]
    queue: deque[tuple["Trainer", Ask]] = dataclasses.field(default_factory=deque)
    busy: bool = False
    lost: bool = False


class Trainer:
    """The loop of one rank, and its feed."""

    def __init__(self, simulation: "Simulation", link: Link) -> None:
        cluster = simulation.cluster
        self._simulation = simulation
        self._link = link
        self.window = Window(0, None, cluster.window, cluster.memory)
        self.makers: dict[int, Maker] = {}
        self._arrived: set[Run] = set()
        self._ready = 0
        self._working = False
        self._polled = False
        # When it began to wait for a run that was made, and how often it gave that up.
        self._fetching: tuple[Run, float] | None = None
        self._fetches: Counter[Run] = Counter()
        self._waiting_since: float | None = 0.0
        self.taken = 0
        self.waited = self.longest_wait = self.first_wait = 0.0

    def turn(self) -> None:
        """As the feed's: asks for what is to be asked for."""
        simulation = self._simulation
        for ask in self.window.asks(simulation.now):
            maker = self.makers[ask.maker]  # type: ignore[index]
            simulation.after(simulation.inputs.call_ms / 2e3, lambda maker=maker, ask=ask: self._reach(maker, ask))

    def _reach(self, maker: Maker, ask: Ask) -> None:
        if not maker.lost:
            maker.queue.append((self, ask))
            self._simulation.begin(maker)

    def answered(self, maker: Maker, ask: Ask, seconds: float) -> None:
        simulation = self._simulation
        size = (ask.run.stop - ask.run.first) * simulation.batch_bytes
        if self.window.answered(ask, size, seconds) and not maker.host.lost:
            link = maker.host.link
            begin = max(simulation.now, link.free_at(), self._link.free_at())
            end = begin + size / min(link.rate, self._link.rate)
            link.hold_until(end)
            self._link.hold_until(end)
            simulation.at(end, lambda: self._arrive(maker, ask.run))
        self.turn()

    def _arrive(self, maker: Maker, run: Run) -> None:
        if run.maker != maker.number or maker.host.lost:
            return
        self._arrived.add(run)
        self.go_on()

    def forget(self, maker: Maker) -> None:
        """Its calls have failed. What it had made is in its node's store, if that is there."""
        self.makers.pop(maker.number, None)
        for run in self.window.maker_gone(maker.number, keeps=not maker.host.lost):
            self._arrived.discard(run)
        self.turn()

    def go_on(self) -> None:
        if self._working:
            return
        due = self.window.due
        if self._ready == 0 and due in self._arrived:
            self.window.take()
            self._arrived.discard(due)
            self._ready = due.stop - due.first
            self._work(self._simulation.inputs.take_ms / 1e3)
        elif self._ready > 0:
            self._ready -= 1
            self.taken += 1
            copied = self._simulation.batch_bytes / (1e9 * self._simulation.inputs.copy_gb_s)
            self._work(max(self._simulation.cluster.step_ms / 1e3, copied))
        else:
            self._wait()

    def _work(self, seconds: float) -> None:
        now = self._simulation.now
        if self._waiting_since is not None:
            self.waited += now - self._waiting_since
            if self.taken == 0:
                self.first_wait = now
            else:
                self.longest_wait = max(self.longest_wait, now - self._waiting_since)
            self._waiting_since = None
        self._working = True
        self.turn()
        self._simulation.after(seconds, self._worked)

    def _worked(self) -> None:
        self._working = False
        self.go_on()

    def _wait(self) -> None:
        if self._waiting_since is None:
            self._waiting_since = self._simulation.now
        self._give_up_lost()
        self.turn()
        if not self._polled:
            self._polled = True
            self._simulation.after(0.25, self._poll)

    def _give_up_lost(self) -> None:
        """As the feed's: a run that was made and does not come from a host that is lost is made again."""
        due, now = self.window.due, self._simulation.now
        maker = None if due is None else self.makers.get(due.maker)  # type: ignore[arg-type]
        if due is None or maker is None or not maker.host.lost:
            self._fetching = None
        elif self._fetching is None or self._fetching[0] is not due:
            self._fetching = due, now
        elif now - self._fetching[1] >= self.window.late_seconds * 2 ** self._fetches[due]:
            self._fetches[due] += 1
            self._fetching = None
            self.window.lost(due)

    def _poll(self) -> None:
        self._polled = False
        self.go_on()


class Simulation:
    def __init__(self, cluster: Cluster, inputs: Inputs, seed: int = 1) -> None:
        self.cluster, self.inputs = cluster, inputs
        self.now = 0.0
        self.batch_bytes = cluster.batch * inputs.picture_bytes
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._random = random.Random(seed)
        self._numbers = itertools.count()
        self.lost = 0
        way_in = Link(cluster.gbit, inputs.transfer_gb_s)
        self.trainers = [Trainer(self, way_in) for _ in range(cluster.trainers)]
        for place in range(cluster.makers):
            if place % cluster.makers_on_host == 0:
                host = self._host()
            served = [trainer for number, trainer in enumerate(self.trainers) if self._serves(place, number)]
            self._add(host, served)

    def _host(self) -> Host:
        host = Host(Link(self.cluster.gbit, self.inputs.transfer_gb_s))
        if self.cluster.host_lost_after_s < math.inf:
            self.after(self._random.expovariate(1 / self.cluster.host_lost_after_s), lambda: self._lose_host(host))
        return host

    def _lose_host(self, host: Host) -> None:
        host.lost = True
        spare: list[Host] = []
        for maker in host.makers:
            self._lose(maker, self.cluster.host_noticed_s, lambda: spare[0])
        # In the events' order, before makers start on it.
        self.after(self.cluster.host_noticed_s, lambda: spare.append(self._host()))

    def _serves(self, maker: int, trainer: int) -> bool:
        makers, trainers = self.cluster.makers, self.cluster.trainers
        return maker % trainers == trainer if makers >= trainers else trainer % makers == maker

    def _add(self, host: Host, trainers: list[Trainer]) -> None:
        maker = Maker(next(self._numbers), host, trainers)
        host.makers.append(maker)
        for trainer in trainers:
            trainer.makers[maker.number] = maker
            trainer.window.maker_came(maker.number)
        if self.cluster.lost_after_s < math.inf:
            self.after(self._random.expovariate(1 / self.cluster.lost_after_s), lambda: self._die(maker))

    def _die(self, maker: Maker) -> None:
        host = maker.host
        self._lose(maker, self.inputs.noticed_s, lambda: host)

    def _lose(self, maker: Maker, noticed_s: float, host: Callable[[], Host]) -> None:
        """Another one starts on the host, once it is noticed."""
        if maker.lost:
            return
        self.lost += 1
        maker.lost = True
        for trainer in maker.trainers:
            self.after(noticed_s, lambda trainer=trainer: trainer.forget(maker))
        self.after(noticed_s + self.inputs.start_s, lambda: self._replace(maker, host()))

    def _replace(self, maker: Maker, host: Host) -> None:
        self._add(host, maker.trainers)
        for trainer in maker.trainers:
            trainer.turn()

    def begin(self, maker: Maker) -> None:
        """The next run of its queue."""
        if maker.busy or maker.lost or not maker.queue:
            return
        maker.busy = True
        trainer, ask = maker.queue.popleft()
        mean = (ask.run.stop - ask.run.first) * self.cluster.batch * self.inputs.picture_ms / 1e3
        seconds = max(0.1 * mean, self._random.gauss(mean, self.inputs.spread * mean))

        def made() -> None:
            if maker.lost:
                return
            maker.busy = False
            self.after(self.inputs.call_ms / 2e3, lambda: trainer.answered(maker, ask, seconds))
            self.begin(maker)

        self.after(seconds, made)

    def at(self, when: float, what: Callable[[], None]) -> None:
        heapq.heappush(self._events, (when, next(self._order), what))

    def after(self, seconds: float, what: Callable[[], None]) -> None:
        self.at(self.now + seconds, what)

    def run(self) -> "Figures":
        for trainer in self.trainers:
            trainer.turn()
            trainer.go_on()
        self._run_until(self.cluster.seconds / 2)
        before = [(each.taken, each.waited) for each in self.trainers]
        for trainer in self.trainers:
            trainer.longest_wait = 0.0
        began = self.now
        self._run_until(self.cluster.seconds)
        seconds = self.now - began
        taken = sum(each.taken - old for each, (old, _) in zip(self.trainers, before, strict=True))
        waited = sum(each.waited - old for each, (_, old) in zip(self.trainers, before, strict=True))
        return Figures(
            taken * self.cluster.batch / seconds,
            waited / seconds / len(self.trainers),
            max(each.longest_wait for each in self.trainers),
            sum(each.window.recomputed for each in self.trainers) / max(1, sum(each.taken for each in self.trainers)),
            self.lost,
        )

    def _run_until(self, end: float) -> None:
        while self._events and self._events[0][0] <= end:
            self.now, _, what = heapq.heappop(self._events)
            what()
        self.now = end


@dataclasses.dataclass(frozen=True)
class Figures:
    """Of the second half of a simulation; recomputed batches and lost makers, of all of it."""

    pictures_s: float
    waiting: float
    longest_wait_s: float
    recomputed: float
    lost: int


# ---- tables ----

MAKERS = (1, 8, 16, 32, 64, 128, 256, 1000)
NETWORKS = (10.0, 25.0, 50.0, 100.0)
# A pipeline that costs much more than a photograph: large pictures, video, or Python functions.
HEAVY_MS = 5.0
# Batches ahead of each trainer, where the table is not about them.
AHEAD = 64
# A trainer's, for a batch of 256: 2,560 pictures a second.
STEP_MS = 100.0


def table(head: list[str], rows: Iterator[list[str]]) -> None:
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print()


def saturation(inputs: Inputs) -> None:
    print(
        f"Pictures a second, all trainers together, which take batches as fast as they come, at {inputs.picture_ms:g} ms "
        f"a picture, with window={AHEAD}; makers have one core each:\n"
    )

    def rows() -> Iterator[list[str]]:
        for makers in MAKERS:
            alone = makers * 1e3 / inputs.picture_ms
            found = [Simulation(Cluster(makers, gbit, window=AHEAD), inputs).run() for gbit in NETWORKS]
            yield [f"{makers:,}", f"{alone:,.0f}", *(f"{each.pictures_s:,.0f}" for each in found)]

    table(["makers", "their cores alone", *(f"{gbit:.0f} Gbit" for gbit in NETWORKS)], rows())


def first_batches(inputs: Inputs) -> None:
    print("Seconds until the last of the trainers has its first batch, with 10 Gbit:\n")

    def rows() -> Iterator[list[str]]:
        for window in (AHEAD, None):
            found = []
            for makers in (64, 256, 1000):
                simulation = Simulation(Cluster(makers, 10.0, window=window, seconds=90), inputs)
                simulation.run()
                found.append(max(each.first_wait for each in simulation.trainers))
            yield ["none given" if window is None else f"window={window}", *(f"{each:.1f}" for each in found)]

    table(["", "64 makers", "256", "1,000"], rows())


def depths(inputs: Inputs) -> None:
    print(
        f"Share of the time that trainers wait, at {STEP_MS:.0f} ms a batch, {inputs.picture_ms:g} ms a picture and 100 Gbit, "
        "by the batches ahead (`window=`):\n"
    )
    windows = (1, 2, 4, 8, 16, 32, 64, None)
    # What the trainers take, by the cores that make it.
    least = math.ceil(8 * 256 / STEP_MS * inputs.picture_ms / 8) * 8

    def rows() -> Iterator[list[str]]:
        for makers in (least, least * 5 // 4 // 8 * 8 or 8, least * 2, least * 4):
            found = [
                Simulation(Cluster(makers, 100.0, step_ms=STEP_MS, window=window, seconds=40), inputs).run()
                for window in windows
            ]
            yield [f"{makers:,}", *(f"{each.waiting:.1%}" for each in found)]

    table(["makers", *("none given" if window is None else str(window) for window in windows)], rows())


def losses(inputs: Inputs) -> None:
    print(
        f"Makers that are lost at random, at {STEP_MS:.0f} ms a batch, {inputs.picture_ms:g} ms a picture and 100 Gbit, in "
        "two minutes:\n"
    )

    def rows() -> Iterator[list[str]]:
        for makers in (112, 128, 256, 1000):
            for life in (math.inf, 3600.0, 600.0, 60.0):
                cluster = Cluster(makers, 100.0, step_ms=STEP_MS, window=AHEAD, lost_after_s=life, seconds=120.0)
                found = Simulation(cluster, inputs).run()
                yield [
                    f"{makers:,}",
                    "for ever" if life == math.inf else f"{life / 60:,.0f} min",
                    f"{found.lost}",
                    f"{found.pictures_s:,.0f}",
                    f"{found.waiting:.1%}",
                    f"{found.longest_wait_s:.2f} s",
                    f"{found.recomputed:.2%}",
                ]

    table(["makers", "live on average", "lost", "pictures/s", "waiting", "longest wait", "made again"], rows())


def lost_hosts(inputs: Inputs) -> None:
    print(
        f"Hosts of 16 makers that are lost at random with their stores, at {STEP_MS:.0f} ms a batch, {inputs.picture_ms:g} ms "
        "a picture and 100 Gbit, in four minutes:\n"
    )

    def rows() -> Iterator[list[str]]:
        for makers in (128, 256):
            for life in (1800.0, 600.0):
                for noticed in (1.0, 30.0):
                    lossy = {"host_lost_after_s": life, "host_noticed_s": noticed}
                    found = Simulation(
                        Cluster(makers, 100.0, step_ms=STEP_MS, window=AHEAD, seconds=240.0, **lossy), inputs
                    ).run()
                    yield [
                        f"{makers:,}",
                        f"{life / 60:,.0f} min",
                        f"{noticed:.0f} s",
                        f"{found.lost / 16:.0f}",
                        f"{found.pictures_s:,.0f}",
                        f"{found.waiting:.1%}",
                        f"{found.longest_wait_s:.2f} s",
                        f"{found.recomputed:.2%}",
                    ]

    head = ["makers", "hosts live on average", "noticed after", "hosts lost"]
    table([*head, "pictures/s", "waiting", "longest wait", "made again"], rows())


# ---- what is measured ----


def measured() -> Inputs:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    picture_ms, spread = _pictures()
    import ray
    from ray.cluster_utils import Cluster as Nodes

    given = {"num_cpus": 2, "object_store_memory": 600 << 20}
    nodes = Nodes(initialize_head=True, head_node_args={**given, "include_dashboard": False})
    nodes.add_node(**given, resources={"other": 1})
    ray.init(address=nodes.address, logging_level="ERROR", log_to_driver=False)
    try:
        return Inputs(picture_ms, spread, **_of_ray(ray))
    finally:
        ray.shutdown()
        nodes.shutdown()


def _pictures() -> tuple[float, float]:
    """Milliseconds of a core for a picture, and the spread of batches' times."""
    import numpy as np

    import headrace as hr
    from headrace import vision as V

    photos = hr.ImageFolder(str(measuring.PHOTOS))
    jpegs = [row["image"] for row in photos.map([V.Decode(), V.Resize((375, 500)), V.EncodeJpeg(quality=95)], "image")]
    held = np.empty(13 * 256, object)
    held[:] = list(itertools.islice(itertools.cycle(jpegs), len(held)))
    pictures = hr.Numpy({"image": held}, shuffle=True)
    steps = [V.Decode(), V.RandomResizedCrop(224), V.RandomHorizontalFlip()]
    times = []
    with pictures.map(steps, "image").batch(256).iterate(workers=1, executor="pull") as batches:
        next(batches)
        for _ in range(12):
            since = time.thread_time()
            next(batches)
            times.append(time.thread_time() - since)
    mean = statistics.mean(times)
    return 1e3 * mean / 256, statistics.stdev(times) / mean


def _of_ray(ray: Any) -> dict[str, float]:
    import numpy as np

    @ray.remote(num_cpus=0, max_restarts=0, resources={"other": 0.01})
    class Other:
        def process(self) -> int:
            return os.getpid()

        def batch(self, size: int) -> Any:
            return np.zeros(size, np.uint8)

    def once(what: Callable[[], Any], times: int) -> float:
        """The median of seconds."""
        found = []
        for _ in range(times):
            since = time.perf_counter()
            what()
            found.append(time.perf_counter() - since)
        return statistics.median(found)

    def start() -> Any:
        actor = Other.remote()
        ray.get(actor.process.remote())
        return actor

    size = 256 * Inputs.picture_bytes
    since = time.perf_counter()
    actor = start()
    start_s = time.perf_counter() - since
    call = once(lambda: ray.get(actor.process.remote()), 100)

    def moved() -> float:
        reference = actor.batch.remote(size)
        ray.wait([reference], fetch_local=False)
        since = time.perf_counter()
        ray.wait([reference], fetch_local=True)
        return time.perf_counter() - since

    moves = statistics.median(moved() for _ in range(8))
    here = ray.put(np.zeros(size, np.uint8))
    take = once(lambda: ray.get(here), 50)
    copy = once(lambda: ray.get(here).copy(), 10) - take
    pid = ray.get(actor.process.remote())
    waiting = actor.batch.remote(1)
    ray.wait([waiting])
    os.kill(pid, signal.SIGKILL)
    since = time.perf_counter()
    try:
        ray.get(actor.process.remote())
    except ray.exceptions.RayActorError:
        pass
    noticed = time.perf_counter() - since
    return {
        "call_ms": 1e3 * call,
        "take_ms": 1e3 * (take + call / 2),
        "copy_gb_s": size / copy / 1e9,
        "transfer_gb_s": size / moves / 1e9,
        "start_s": start_s,
        "noticed_s": noticed,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="measure the inputs here, and print them")
    parser.add_argument("--inputs", help="inputs as --measure prints them, in place of the defaults")
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(dataclasses.asdict(measured())))
        return
    inputs = Inputs(**json.loads(given.inputs)) if given.inputs else Inputs()
    heavy = dataclasses.replace(inputs, picture_ms=HEAVY_MS)
    saturation(inputs)
    saturation(heavy)
    first_batches(inputs)
    depths(heavy)
    losses(heavy)
    lost_hosts(heavy)


if __name__ == "__main__":
    sys.exit(main())
