"""Hides installed packages from a Python process: `import` does not find them, as on a machine that lacks them.

Python imports a module of this name when it starts, so a process whose PYTHONPATH has this folder hides the packages that
HEADRACE_HIDDEN names, with commas between them. `hidden_packages` decides which these are.
"""

import importlib.machinery
import os
import sys

VARIABLE = "HEADRACE_HIDDEN"


def top(name):
    return name.partition(".")[0]


def is_installed(spec):
    """Whether it is a package of this environment: a test may bring a module of the same name."""
    return spec.origin is not None and "site-packages" in spec.origin.split(os.sep)


class HidingFinder(importlib.machinery.PathFinder):
    """Stands in the place of Python's own finder. `asked`: the hidden packages that were looked for."""

    hidden = frozenset()
    asked = set()

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        found = super().find_spec(fullname, path, target)
        if found is None or top(fullname) not in cls.hidden or not is_installed(found):
            return found
        cls.asked.add(top(fullname))
        return None

    @classmethod
    def find_distributions(cls, *arguments, **options):
        for found in super().find_distributions(*arguments, **options):
            if (found.metadata["Name"] or "").lower() not in cls.hidden:
                yield found


def install():
    """Puts the finder in its place; a second call changes nothing."""
    finders = sys.meta_path
    if importlib.machinery.PathFinder in finders:
        finders[finders.index(importlib.machinery.PathFinder)] = HidingFinder


if os.environ.get(VARIABLE):
    HidingFinder.hidden = frozenset(os.environ[VARIABLE].split(","))
    install()
