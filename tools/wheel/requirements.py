"""What the metadata of wheels and of the source distribution say alike: the name, and what is needed."""

import re
from collections.abc import Sequence

NAME = "headrace"
SUMMARY = "A data engine for training and inference: pipelines in Python, run in C++"
# What `headrace[torch]` and so on install beside it; `docs`: for the notebooks and pictures of the documentation.
EXTRAS = {
    "arrow": ["pyarrow>=15"],
    "docs": ["jupyter>=1", "matplotlib>=3.8", "pillow>=10"],
    "processes": ["cloudpickle>=3"],
    "ray": ["ray>=2.9"],
    "torch": ["torch>=2.2"],
}


def metadata_lines(version: str, licence: str, licence_files: Sequence[str]) -> list[str]:
    return [
        "Metadata-Version: 2.4",
        f"Name: {NAME}",
        f"Version: {version}",
        f"Summary: {SUMMARY}",
        f"License-Expression: {licence}",
        *(f"License-File: {name}" for name in licence_files),
        "Requires-Python: >=3.10",
        "Requires-Dist: numpy>=2",
        *(line for extra, needed in sorted(EXTRAS.items()) for line in _lines_of_extra(extra, needed)),
    ]


def _lines_of_extra(extra: str, needed: Sequence[str]) -> list[str]:
    return [f"Provides-Extra: {extra}", *(f"Requires-Dist: {each}; extra == '{extra}'" for each in needed)]


def stated_version(init: str) -> str | None:
    """Of the text of headrace/__init__.py."""
    stated = re.search(r'^__version__(?:: \w+)? = "(.+)"$', init, re.MULTILINE)
    return stated.group(1) if stated else None
