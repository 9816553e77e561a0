"""`headrace show`: a contact sheet of a saved pipeline."""

import argparse

from headrace._arguments import options as check
from headrace._arguments.printed import say
from headrace._commands.whole_graph import add_no_writes, load_whole
from headrace.sheet.showing import MOST_IMAGES

HELP = "draw the images of a saved graph's rows into a PNG"
DESCRIPTION = "Runs a saved graph and draws the images of its first rows with their labels, a contact sheet."


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = DESCRIPTION
    command.add_argument("file", metavar="GRAPH", help="what Dataset.save() or Dataset.to_json() gave")
    command.add_argument("--out", metavar="SHEET.png", required=True, help="the file to write")
    command.add_argument("--rows", type=int, default=16, metavar="N", help="how many rows, also of batches (16)")
    command.add_argument("--image", metavar="COLUMN", help="the images; otherwise found by their type")
    command.add_argument("--mask", metavar="COLUMN", help="drawn over them; otherwise found by its type")
    command.add_argument("--boxes", metavar="COLUMN", help="boxes to draw, (n, 4) in pixels")
    command.add_argument("--box-format", default="xyxy", metavar="FORMAT", help="xyxy (the default), xywh or cxcywh")
    command.add_argument("--keypoints", metavar="COLUMN", help="points to draw, (n, 2) or (n, k, 2) in pixels")
    add_no_writes(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    out = check.local_path("--out", options.out, "show")
    rows = check.whole("--rows", options.rows, 1, "show", MOST_IMAGES)
    instead = "show it where they are, with ds.show().save(path) in your script"
    dataset = load_whole(options.file, "show", instead, options.writes)
    sheet = dataset.show(
        rows,
        image=options.image,
        mask=options.mask,
        boxes=options.boxes,
        box_format=options.box_format,
        keypoints=options.keypoints,
    )
    sheet.save(out)
    damaged = f", {sheet.damaged:,} of them damaged" if sheet.damaged else ""
    say(f"{out}: {len(sheet):,} images{damaged}")
    return 0
