"""`add_run_options` adds the options of a run that packs images, which `headrace pack` and `headrace im2rec` take alike."""

import argparse

__all__ = ["add_run_options"]


def add_run_options(command: "argparse._ActionsContainer") -> None:
    command.add_argument(
        "--num-thread", type=int, metavar="N", help="the most images at once (as many as there are cores)"
    )
    command.add_argument(
        "--on-error",
        default="skip",
        choices=("skip", "raise"),
        help="what an image does that cannot be packed: it is named and left out, or ends the run (skip)",
    )
    command.add_argument("--resume", action="store_true", help="go on with what a killed run had packed")
