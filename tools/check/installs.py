"""Installs what some tests need and a clone does not: PyTorch and who is tested with it, Chromium, and Sphinx."""

import importlib.metadata
import os
import shutil
import sys
from collections.abc import Sequence

from tools.check.deadline import Deadline, StillRunning

TORCH = "torch==2.13.0"
# Whose loops are tested, and who takes batches by DLPack, where they can be installed.
TORCH_LOOPS = ["lightning==2.6.6", "accelerate==1.15.0", "transformers==5.24.0", "jax==0.10.2"]


def installed(requirement: str) -> bool:
    name, version = requirement.split("==")
    try:
        return importlib.metadata.version(name).split("+")[0] == version
    except importlib.metadata.PackageNotFoundError:
        return False


def pip(deadline: Deadline, requirements: Sequence[str]) -> bool:
    # Builds nothing from sources, which would run code of packages that nobody named.
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary=:all:"]
    command += requirements
    return deadline.run(command, look=StillRunning(f"installing {requirements[0]}")) == 0


def install_torch(deadline: Deadline) -> None:
    if not installed(TORCH) and not pip(deadline, [TORCH]):
        raise RuntimeError(f"{TORCH} cannot be installed")
    if not all(map(installed, TORCH_LOOPS)) and not pip(deadline, [TORCH, *TORCH_LOOPS]):
        print(f"not installed, so their tests are skipped: {', '.join(TORCH_LOOPS)}")


def install_browser(deadline: Deadline) -> None:
    if shutil.which("chromium"):
        return
    sudo = [] if os.getuid() == 0 else ["sudo"]
    environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
    if deadline.run([*sudo, "apt-get", "update", "-q", "--error-on=any", "-o", "Acquire::Retries=3"]):
        raise RuntimeError("Chromium cannot be installed: the package lists could not be updated")
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", "chromium"]
    if deadline.run([*sudo, *environment, *install]):
        raise RuntimeError("Chromium cannot be installed")


def install_site(deadline: Deadline) -> None:
    """What builds the documentation's site, in an environment of its own, and what opens it."""
    install_browser(deadline)
    command = ["tools/site/build", "--install"]
    if deadline.run(command, look=StillRunning("installing what builds the site")):
        raise RuntimeError("what builds the documentation's site cannot be installed")


INSTALLS = {"torch": install_torch, "browser": install_browser, "site": install_site}
