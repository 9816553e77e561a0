"""Writes the page of results: a table, the measurements and machine, and the settings of each peer."""

import statistics
from collections.abc import Sequence
from typing import Any

COLUMNS = (
    ("library", ""),
    ("version", ""),
    ("images a second", "spread"),
    ("CPU seconds for 1,000", ""),
    ("peak memory, MiB", ""),
    ("a row, µs", ""),
    ("first batch, ms", ""),
    ("import, ms", ""),
    ("installed, MB", ""),
)


def _median(runs: Sequence[dict[str, Any]], field: str) -> float | None:
    values = [run[field] for run in runs if run.get(field) is not None]
    return statistics.median(values) if values else None


def _number(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def rate(peer: dict[str, Any]) -> float:
    """Median images per second; 0 if there is none."""
    return _median(peer.get("runs", []), "images_per_s") or 0.0


def _rate_text(peer: dict[str, Any]) -> str:
    rates = [run["images_per_s"] for run in peer["runs"]]
    spread = (max(rates) - min(rates)) / statistics.median(rates)
    return f"{statistics.median(rates):,.0f} ({spread:.0%})"


def _row(peer: dict[str, Any]) -> list[str]:
    runs = peer["runs"]
    peak = _median(runs, "peak_bytes")
    first, imported, row = (_median(runs, field) for field in ("first_batch_s", "import_s", "ns_per_row"))
    return [
        peer["title"],
        str(runs[0]["version"]),
        _rate_text(peer),
        _number(_median(runs, "cpu_s_per_1000"), 2),
        _number(None if peak is None else peak / (1 << 20)),
        _number(None if row is None else row / 1e3, 2),
        _number(None if first is None else first * 1e3),
        _number(None if imported is None else imported * 1e3),
        _number(peer.get("installed_mb")),
    ]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def table(peers: Sequence[dict[str, Any]]) -> str:
    """Fastest first; peers that could not be measured last, with the reason."""
    heads = [name + (f" ({extra})" if extra else "") for name, extra in COLUMNS]
    lines = [_line(heads), _line(["---", "---", *["--:"] * (len(heads) - 2)])]
    for peer in sorted(peers, key=lambda peer: (-rate(peer), peer["title"])):
        if peer.get("runs"):
            lines.append(_line(_row(peer)))
        else:
            lines.append(_line([peer["title"], "–", f"not measured: {peer['error']}", *["–"] * (len(heads) - 3)]))
    return "\n".join(lines)


def page(results: dict[str, Any], plot: str | None) -> str:
    machine, settings = results["machine"], results["settings"]
    image = f"\n![Images a second]({plot})\n" if plot else ""
    setups = "\n".join(f"- **{peer['title']}**: {peer['setup']}." for peer in results["peers"])
    failures = "\n".join(
        f"- {peer['title']}, in some of the rounds: {peer['error']}"
        for peer in results["peers"]
        if peer.get("runs") and peer.get("error")
    )
    note = f"\nNot every run came to its end:\n\n{failures}\n" if failures else ""
    return f"""# Headrace and its peers

Written by `benchmarks/compare/compare.py`; [the figures of every round](compare.json). Each measurement is a separate process, the peers alternate,
and the table shows medians over {settings["rounds"]} rounds, with the spread from the lowest to the highest.
{image}
{table(results["peers"])}
{note}
- Work: {settings["pictures"]} JPEG files, {settings["megabytes"]:.0f} MB, each linked {settings["links"]} times to make an epoch; decode, random-resized-crop to 224, flip,
  normalise, float32 CHW, batches of 32. {settings["images"]:,} images are timed after {settings["warm_up"]:,}, from the page cache.
- A row: a number through a map that casts it, a shuffle, and batches of 256; {settings["rows"]:,} rows.
- Peak memory is the sum over all processes, with shared pages counted once, sampled four times a second. CPU seconds cover the timed part.
- The first batch is timed from the call that makes the pipeline, after the imports. Installed is everything that pip installed.
- Machine: {machine["cpu"]}, {machine["cores"]} cores, {machine["memory_gib"]} GiB, Linux {machine["kernel"]}, Python {machine["python"]}; {machine["date"]}.
  Every peer with such a setting had {settings["workers"]} workers.

Settings:

{setups}
"""
