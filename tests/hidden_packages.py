"""Hides from tests without the mark what ./test --ci installs for the marked ones, which run after all others.

Otherwise a test that lacks its mark would pass on a machine that has the packages, and fail or be skipped on one that gets
them later. Processes that a test starts lack them, too. Environments other than this clone's .venv hide nothing.
"""

import os
import pathlib
import re
import sys
import types
from collections.abc import Collection, Iterator

import pytest
from packaging.requirements import Requirement

from tests.hiding import sitecustomize
from tests.hiding.sitecustomize import HidingFinder
from tools.check import installs

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Marks of tests that may use packages, and Chromium. A GPU's machine may have both.
WITH_PACKAGES = ("torch", "small_ray", "ray", "gpu")
WITH_BROWSER = ("browser", "site")
LATE = frozenset(Requirement(each).name for each in [installs.TORCH, *installs.TORCH_LOOPS])
CHROMIUM = "chromium"
# A file of which each test has one of these marks, so that it may be skipped as a whole.
ALL_MARKED = re.compile(rf"^pytestmark = .*\bmark\.({'|'.join(WITH_PACKAGES)})\b", re.MULTILINE)
# The module that pytest.importorskip was given; after it, the reason names the one that is missing.
SKIPPED_FOR = re.compile(r"could not import '([^']+)'")


def register(config: pytest.Config, packages: Collection[str] = LATE, here: bool | None = None) -> None:
    """For a conftest's pytest_configure; a second call changes nothing. `here`: whether this is the environment of the clone."""
    if here is None:
        here = pathlib.Path(sys.prefix).resolve() == (ROOT / ".venv").resolve()
    if here and not config.pluginmanager.has_plugin("hidden packages"):
        config.pluginmanager.register(HiddenPackages(config, frozenset(packages)), "hidden packages")


class HiddenPackages:
    def __init__(self, config: pytest.Config, packages: frozenset[str]) -> None:
        self.packages = packages
        # Modules of hidden packages that marked tests have imported.
        self.kept: dict[str, types.ModuleType] = {}
        # Where tests with marks are left out, their files are collected as where the packages are missing.
        self.leaves_out = all(f"not {mark}" in config.option.markexpr for mark in ("torch", "ray"))
        sitecustomize.install()
        folder = str(pathlib.Path(sitecustomize.__file__).parent)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))

    def hide(self, marks: Collection[str]) -> None:
        """Hides what tests with these marks may not use."""
        hidden = self.packages if not set(marks) & set(WITH_PACKAGES) else frozenset()
        unseen = hidden | (frozenset() if set(marks) & set(WITH_BROWSER) else {CHROMIUM})
        HidingFinder.asked.clear()
        HidingFinder.hidden = hidden
        os.environ[sitecustomize.VARIABLE] = ",".join(sorted(unseen))
        if hidden:
            for name in [name for name in sys.modules if sitecustomize.top(name) in hidden]:
                spec = getattr(sys.modules[name], "__spec__", None)
                if spec is not None and sitecustomize.is_installed(spec):
                    self.kept[name] = sys.modules.pop(name)
        else:
            sys.modules |= self.kept
            self.kept.clear()

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        if not isinstance(collector, pytest.Module):
            return (yield)
        text = collector.path.read_text()
        marks = [mark for mark in WITH_PACKAGES if re.search(rf"\bmark\.{mark}\b", text)]
        self.hide([] if self.leaves_out else marks)
        report: pytest.CollectReport = yield
        if report.skipped and not ALL_MARKED.search(text):
            refuse(report)
        explain(report)
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.hide([mark.name for mark in item.iter_markers()])
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        report: pytest.TestReport = yield
        if report.skipped and not hasattr(report, "wasxfail"):
            refuse(report)
        explain(report)
        return report

    def pytest_unconfigure(self) -> None:
        self.hide(WITH_PACKAGES)


def refuse(report: pytest.CollectReport | pytest.TestReport) -> None:
    """Fails what is skipped for lack of a hidden package: it would never run in ./test --ci.

    What is skipped for a package that imports a hidden one would not run there anyway: ./test --ci does not install it.
    """
    _, _, reason = report.longrepr if isinstance(report.longrepr, tuple) else ("", 0, "")
    skipped_for = SKIPPED_FOR.search(reason)
    named = sitecustomize.top(skipped_for[1]) if skipped_for else reason
    if any(re.search(rf"\b{name}\b", named) for name in HidingFinder.asked):
        report.outcome = "failed"
        report.longrepr = f"it was skipped: {reason}"


def explain(report: pytest.CollectReport | pytest.TestReport) -> None:
    """Says with a failure what was looked for in vain."""
    if report.failed and HidingFinder.asked:
        report.sections.append(("hidden packages", message(HidingFinder.asked)))


def message(names: Collection[str]) -> str:
    marks = ", ".join(f"@pytest.mark.{mark}" for mark in WITH_PACKAGES[:3])
    return (
        f"{', '.join(sorted(names))}: hidden from tests without one of {marks}, because ./test --ci installs it after they "
        "have run; give the test the mark of the stage that it is for"
    )


def pytest_configure(config: pytest.Config) -> None:
    register(config)
