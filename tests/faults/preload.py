"""Libraries of this folder that intercept the engine's calls of the C library, for processes with LD_PRELOAD."""

import pathlib
import subprocess

FOLDER = pathlib.Path(__file__).resolve().parent


def build(name: str, folder: pathlib.Path) -> pathlib.Path:
    """Compiles NAME.cc into the folder and returns the library."""
    built = folder / f"{name}.so"
    command = ["g++", "-std=c++20", "-shared", "-fPIC", "-O1", "-Wall", "-o", str(built), str(FOLDER / f"{name}.cc")]
    subprocess.run([*command, "-ldl"], check=True)
    return built
