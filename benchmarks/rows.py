"""The cost of a row that needs no work: nanoseconds of wall time per row through Range, map, shuffle and batch."""

import argparse
import json
import sys
import time

import measuring

# Options for the same pipeline; explain() with each figure shows their effect.
VARIANTS: dict[str, dict[str, object]] = {
    "as the engine chooses": {},
    "one row a message": {"group": 1},
    "optimizer off": {"optimize": False},
    "pulled on one thread": {"executor": "pull"},
}


def run_pipeline(rows: int, variant: str) -> None:
    """Prints nanoseconds per row as JSON; the first tenth of the rows is not counted."""
    import headrace as hr
    from headrace import transforms as T

    dataset = hr.Range(rows).map([T.TypeCast("float32")], "value").shuffle(1000).batch(256)
    with dataset.iterate(**VARIANTS[variant]) as batches:
        warm_up = 0
        while warm_up < rows // 10:
            warm_up += len(next(batches)["value"])
        begin = time.perf_counter()
        done = sum(len(batch["value"]) for batch in batches)
        seconds = time.perf_counter() - begin
        report = batches.explain() if hasattr(batches, "explain") else dataset.explain()
    if warm_up + done != rows:
        sys.exit(f"{warm_up + done} of {rows} rows came out")
    print(json.dumps({"nanoseconds": seconds / done * 1e9, "explain": str(report)}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_pipeline(options.rows, options.child)
        return
    for variant in VARIANTS:
        runs = [
            measuring.in_own_process(__file__, "--child", variant, "--rows", options.rows)
            for _ in range(options.rounds)
        ]
        print(f"{variant}: {measuring.summary([run['nanoseconds'] for run in runs])} ns a row")
        print(runs[-1]["explain"] + "\n", flush=True)


if __name__ == "__main__":
    main()
