"""Plugins that tests compile, and what `headrace check-plugin` says of them."""

import pathlib
import subprocess

import headrace as hr
from headrace.__main__ import main

SMALL = ["--memory", "4MiB", "--calls", "300"]


def built(source: pathlib.Path, library: pathlib.Path, *options: str) -> pathlib.Path:
    compiler = ["g++"] if source.suffix == ".cc" else ["gcc", "-O1"]
    command = [*compiler, "-shared", "-fPIC", "-fvisibility=hidden", f"-I{hr.plugin_include()}", *options]
    subprocess.run([*command, str(source), "-o", str(library)], check=True, timeout=120)
    return library


def checked(capfd, library: pathlib.Path, *options: str) -> tuple[int, str]:
    """The exit code and what is printed; what a plugin's process says when it dies is left out."""
    code = main(["check-plugin", str(library), *options])
    return code, capfd.readouterr().out
