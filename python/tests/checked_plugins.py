"""Runs `headrace check-plugin` over a plugin and reads what it says."""

import pathlib

from headrace.__main__ import main

SMALL = ["--memory", "4MiB", "--calls", "300"]


def checked(capfd, library: pathlib.Path, *options: str) -> tuple[int, str]:
    """The exit code and what is printed; what a plugin's process says when it dies is left out."""
    code = main(["check-plugin", str(library), *options])
    return code, capfd.readouterr().out
