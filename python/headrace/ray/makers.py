"""`Makers` are the actors that make batches: so many as are asked for, on any nodes, with new ones where some are lost."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from headrace._arguments.import_folder import import_late
from headrace._arguments.options import shown, whole
from headrace.errors import ClosedError, GraphError, ResourceError
from headrace.ray.installed import ray_or_error, started_ray
from headrace.ray.maker import CALLS, Maker
from headrace.ray.scaling import Scaling
from headrace.ray.setting_up import check_setup
from headrace.ray.task_options import checked_resources, cpus_of

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Makers", "Member", "checked_count"]

MOST_MAKERS = 100_000
# Makers that are lost in succession, none of which made a batch.
MOST_LOST = 8
_OF = "Makers"


@dataclass(eq=False)
class Member:
    """An actor, under the number by which messages call it.

    Attributes:
        at_work: It opened a pipeline; before, it may wait for room in the cluster.
    """

    number: int
    actor: Any
    at_work: bool = False

    def __repr__(self) -> str:
        return f"maker {self.number}"


class Makers:
    """Actors that make batches for feeds: one feed after the other, or several at once.

    `feed(ds, makers=4)` makes its own and ends them with itself. Makers that are made here live until `close()`, the end
    of a `with` block or the end of the program; so an epoch does not wait for them to start, and what caches of the
    pipeline keep in memory is there in the next epoch.

        with hr.ray.Makers(4) as makers:
            for epoch in range(10):
                for batch in hr.ray.feed(train, makers=makers, epoch=epoch):
                    ...

    Args:
        count: How many; several may be on one node. A maker that is lost is replaced. (2, 16): between 2 and 16 by who
            waits, more where loops wait for batches, and fewer where makers wait for loops.
        resources: Of each, as Ray's actors take them: num_cpus (by default 1), num_gpus, memory, resources, label_selector,
            accelerator_type, scheduling_strategy (by default "SPREAD", over the nodes), runtime_env.
        setup: A function that each maker calls once, before it opens a pipeline: it registers file systems, or sets the
            credentials of stores, which do not travel. If it returns a context manager, such as `hr.storage(…)`, that
            holds as long as the maker.
    """

    def __init__(
        self,
        count: int | tuple[int, int],
        *,
        resources: Mapping[str, Any] | None = None,
        setup: Callable[[], Any] | None = None,
    ) -> None:
        self._closed = True
        self._process = os.getpid()
        self._wanted, self._scaling = checked_count(count, _OF)
        # Feeds know what is missing, and ask for it themselves.
        fixed = {"max_restarts": 0, "max_task_retries": 0, "max_concurrency": CALLS}
        self._options = {"scheduling_strategy": "SPREAD", **checked_resources(resources, _OF), **fixed}
        check_setup(setup, _OF)
        ray_or_error("hr.ray")
        self._setup = None if setup is None else _pickled(setup)
        self._members: list[Member] = []
        self._numbers = 0
        self._lost = 0
        self._ray = started_ray("hr.ray")
        # Ray may be shut down, and started anew, where nothing of these is known.
        self._session = self._ray_session()
        self._actor_class = self._ray.remote(Maker).options(**self._options)
        self._closed = False
        self._fill()

    @property
    def _living(self) -> list[Member]:
        """Those that live, as far as is known."""
        if self._closed:
            raise ClosedError("the makers were closed; make others by hr.ray.Makers(…)")
        self._check_connected()
        # A signal may have come between the end of one and the start of another.
        self._fill()
        return list(self._members)

    @property
    def _of_another_process(self) -> bool:
        """Whether this is a child of the process that made them: Ray does not survive a fork."""
        return os.getpid() != self._process

    def _check_process(self, of: str) -> None:
        if self._of_another_process:
            raise ClosedError(
                f"{of}: its makers are of process {self._process}, of which this one is a fork, where Ray cannot be "
                "used: take batches there, or start this process by spawn and make a feed in it"
            )

    def _check_connected(self) -> None:
        self._check_process("Makers")
        if not self._connected:
            raise ClosedError("Ray was shut down, and the makers with it; make others by hr.ray.Makers(…)")

    @property
    def _connected(self) -> bool:
        if self._of_another_process:
            return False
        # Without the first question, Ray would start.
        return bool(self._ray.is_initialized()) and self._ray_session() == self._session

    def _ray_session(self) -> tuple[Any, Any]:
        """A worker has a number of its own within a cluster, and a node in the world."""
        context = self._ray.get_runtime_context()
        return context.get_worker_id(), context.get_node_id()

    def __len__(self) -> int:
        return self._wanted

    @property
    def cpus(self) -> int:
        """Of each."""
        return cpus_of(self._options)

    def scale(self, count: int | tuple[int, int]) -> None:
        """Sets how many there are from now on: others are started, or those end that wait for room in the cluster, and
        then the last ones. What these were asked for is asked of others. (least, most): by who waits."""
        wanted, scaling = checked_count(count, "scale")
        if self._closed:
            raise ClosedError("scale: the makers were closed")
        if scaling is not None:
            wanted = scaling.begin_with(self._wanted)
        self._scaling = scaling
        self._set(wanted)

    def _set(self, wanted: int) -> None:
        # New actors would start another Ray.
        self._check_connected()
        self._wanted = wanted
        # Those that wait for room in the cluster make nothing.
        last_first = sorted(reversed(self._members), key=lambda each: each.at_work)
        ended = set(last_first[: max(0, len(last_first) - wanted)])
        self._members = [each for each in self._members if each not in ended]
        for member in ended:
            self._kill(member)
        self._fill()

    def _fill(self) -> None:
        while len(self._members) < self._wanted:
            # First: no two have one number, though a signal comes in between.
            number, self._numbers = self._numbers, self._numbers + 1
            self._members.append(Member(number, self._actor_class.remote(self._setup)))

    # ---- for feeds ----

    def _began(self) -> None:
        """A loop begins."""
        if self._scaling is not None:
            self._scaling.begin()

    def _waited(self, seconds: float) -> None:
        """A loop waited for a batch."""
        if self._scaling is not None:
            self._scaling.waited(seconds)

    def _made(self, member: Member, worked: float) -> None:
        """A maker made batches, and has worked so long in all."""
        self._lost = 0
        if self._scaling is not None:
            self._scaling.worked(member.number, worked)

    def _turn(self, now: float, settled: bool) -> bool:
        """Starts makers or ends some, by who waits: whether it did. `settled`: all are at work."""
        if self._scaling is None or not self._scaling.changed(now, settled):
            return False
        self._set(self._scaling.count)
        return True

    def _replace(self, member: Member, reason: BaseException) -> None:
        """Replaces a maker that is gone. ResourceError if none ever makes a batch."""
        if member not in self._members:
            return
        self._check_connected()
        self._members.remove(member)
        self._kill(member)
        self._lost += 1
        if self._lost > MOST_LOST + len(self):
            raise ResourceError(
                f"{self._lost} makers were lost in succession, none of which made a batch; the log of Ray's workers says "
                f"why; the last one: {reason}"
            ) from reason
        self._fill()

    def _kill(self, member: Member) -> None:
        if not self._connected:
            return
        try:
            self._ray.kill(member.actor)
        except Exception:  # Ray was shut down, or the actor never started.
            return

    def close(self) -> None:
        """Ends the actors. Closing again does nothing."""
        if self._closed:
            return
        self._closed = True
        members, self._members = self._members, []
        for member in members:
            self._kill(member)

    def __reduce__(self) -> NoReturn:
        raise TypeError("Makers cannot be copied or pickled: a process that takes batches makes others")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Missing if __init__ raised.
        if not getattr(self, "_closed", True):
            self.close()

    def __repr__(self) -> str:
        return f"<headrace.ray.Makers: {'closed' if self._closed else self._wanted}>"


def checked_count(count: Any, of: str, name: str = "count") -> tuple[int, Scaling | None]:
    """How many makers there are to be at first, and what decides about it later; None: nothing does."""
    if not isinstance(count, (tuple, list)):
        return whole(name, count, 1, of, MOST_MAKERS), None
    if len(count) != 2:
        raise GraphError(f"{of}: {name} is {shown(count)}; give a number, or the least and the most, such as (1, 8)")
    least, most = (whole(name, each, 1, of, MOST_MAKERS) for each in count)
    if least > most:
        raise GraphError(f"{of}: {name} is {shown(count)}; give the least first, then the most")
    return least, Scaling(least, most)


def _pickled(setup: Callable[[], Any]) -> bytes:
    # Ray has it, whether or not it is installed by itself.
    pickler = import_late("ray.cloudpickle")
    try:
        return bytes(pickler.dumps(setup))
    except Exception as error:
        raise GraphError(f"{_OF}: setup cannot be pickled: {error}") from error
