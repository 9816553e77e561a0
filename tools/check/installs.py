"""Installs what some tests need and a clone does not: PyTorch and who is tested with it, Chromium, Sphinx, Ray, stores."""

import importlib.metadata
import os
import shutil
import sys
from collections.abc import Callable, Sequence

from packaging.requirements import Requirement

from tools.check import far_servers
from tools.check.deadline import Deadline, StillRunning

TORCH = "torch==2.13.0"
# With what makes Ray Data's blocks, and what Ray Train needs.
RAY = ["ray[data,train]==2.60.0"]
# Whose loops are tested, and who takes batches by DLPack, where they can be installed.
TORCH_LOOPS = ["lightning==2.6.6", "accelerate==1.15.0", "transformers==5.24.0", "jax==0.10.2", *RAY]


def installed(requirement: str) -> bool:
    """With what its extras need, which may be missing where the package is there."""
    wanted = Requirement(requirement)
    return satisfied(wanted) and all(map(satisfied, needed_by_extras(wanted)))


def satisfied(wanted: Requirement) -> bool:
    try:
        return wanted.specifier.contains(importlib.metadata.version(wanted.name), prereleases=True)
    except importlib.metadata.PackageNotFoundError:
        return False


def needed_by_extras(wanted: Requirement) -> list[Requirement]:
    needs = map(Requirement, importlib.metadata.requires(wanted.name) or [])
    return [
        need for need in needs if need.marker and any(need.marker.evaluate({"extra": extra}) for extra in wanted.extras)
    ]


def pip(deadline: Deadline, requirements: Sequence[str]) -> bool:
    # Builds nothing from sources, which would run code of packages that nobody named.
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary=:all:"]
    command += requirements
    return deadline.run(command, look=StillRunning(f"installing {requirements[0]}")) == 0


def install_torch(deadline: Deadline) -> list[str]:
    if not installed(TORCH) and not pip(deadline, [TORCH]):
        raise RuntimeError(f"{TORCH} cannot be installed")
    if not all(map(installed, TORCH_LOOPS)):
        pip(deadline, [TORCH, *TORCH_LOOPS])
    return [loop for loop in TORCH_LOOPS if not installed(loop)]


def install_browser(deadline: Deadline) -> list[str]:
    if shutil.which("chromium"):
        return []
    sudo = [] if os.getuid() == 0 else ["sudo"]
    environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
    if deadline.run([*sudo, "apt-get", "update", "-q", "--error-on=any", "-o", "Acquire::Retries=3"]):
        raise RuntimeError("Chromium cannot be installed: the package lists could not be updated")
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", "chromium"]
    if deadline.run([*sudo, *environment, *install]):
        raise RuntimeError("Chromium cannot be installed")
    return []


def install_site(deadline: Deadline) -> list[str]:
    """What builds the documentation's site, in an environment of its own, and what opens it."""
    install_browser(deadline)
    command = ["tools/site/build", "--install"]
    if deadline.run(command, look=StillRunning("installing what builds the site")):
        raise RuntimeError("what builds the documentation's site cannot be installed")
    return []


def install_ray(deadline: Deadline) -> list[str]:
    """With PyTorch, whose tensors a feed gives."""
    if not all(map(installed, RAY)) and not pip(deadline, RAY):
        raise RuntimeError(f"{', '.join(RAY)} cannot be installed")
    if not installed(TORCH):
        pip(deadline, [TORCH])
    return [] if installed(TORCH) else [TORCH]


# Each installs what the tests with the marker need, and names what of it is missing, so that some tests are skipped.
INSTALLS: dict[str, Callable[[Deadline], list[str]]] = {
    "torch": install_torch,
    "browser": install_browser,
    "site": install_site,
    "small_ray": install_ray,
    "ray": install_ray,
    "far": far_servers.install,
}
