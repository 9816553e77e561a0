"""Draws compare.json's images per second as an SVG: python plot.py RESULTS OUTPUT. Needs matplotlib."""

import json
import pathlib
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as pyplot
from table import rate


def main() -> None:
    results = json.loads(pathlib.Path(sys.argv[1]).read_text())
    peers = sorted((peer for peer in results["peers"] if peer.get("runs")), key=rate)
    rates = [[run["images_per_s"] for run in peer["runs"]] for peer in peers]
    medians = [rate(peer) for peer in peers]
    below = [median - min(values) for median, values in zip(medians, rates, strict=True)]
    above = [max(values) - median for median, values in zip(medians, rates, strict=True)]
    figure, axes = pyplot.subplots(figsize=(8, 0.5 * len(peers) + 1))
    colours = ["#2f6f4f" if peer["name"] == "headrace" else "#a9b4ad" for peer in peers]
    axes.barh([peer["title"] for peer in peers], medians, xerr=[below, above], color=colours, ecolor="#555555")
    axes.set_xlabel(f"images a second, {results['machine']['cores']} cores: median, lowest and highest")
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(sys.argv[2], metadata={"Date": None})


if __name__ == "__main__":
    main()
