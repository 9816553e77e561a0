"""Memory: how far the process grows after the import, and whether it still grows after 50 epochs.

Aims: growth at most the budget and 64 MiB; none over the epochs.
"""

import argparse
import json
import pathlib
import statistics
import sys

import measuring

PROCESS_ALLOWANCE = 64 * measuring.MEBIBYTE
SETTLED = 20  # epochs after which growth would be a leak: before, threads start and the allocator fills


def run_pipeline(folder: str, budget: int, epochs: int) -> None:
    """Prints resident sizes in bytes as JSON. Holds no batch, so that no memory is the user's."""
    import headrace as hr
    from headrace import vision as V

    after_import = measuring.resident_bytes()
    kernels = [V.Decode(), V.RandomResizedCrop(224, antialias=False), V.RandomHorizontalFlip(), V.HWC2CHW()]
    dataset = hr.ImageFolder(folder, shuffle=True).map(kernels, "image").batch(8)
    sizes = []
    for epoch in range(epochs):
        with dataset.iterate(epoch=epoch, memory=f"{budget // measuring.MEBIBYTE}MiB") as batches:
            for batch in batches:
                del batch
        sizes.append(measuring.resident_bytes())
    peak = measuring.peak_resident_bytes()
    print(json.dumps({"after_import": after_import, "peak": peak, "epochs": sizes}))


def report(folder: pathlib.Path, budgets: list[int], epochs: int) -> None:
    def mib(count: int) -> str:
        return f"{count / measuring.MEBIBYTE:,.1f} MiB"

    failed = False
    for budget in budgets:
        bound = budget * measuring.MEBIBYTE
        run = measuring.in_own_process(__file__, folder, "--child", bound, "--epochs", epochs)
        grown = run["peak"] - run["after_import"]
        # Sizes go up and down by some MiB from epoch to epoch.
        settled = statistics.median(run["epochs"][SETTLED : SETTLED + 10] or run["epochs"])
        last = statistics.median(run["epochs"][-10:])
        too_much = grown > bound + PROCESS_ALLOWANCE
        # A few pages come and go with the allocator; a leak of one image an epoch would be far more.
        leaks = last - settled > 4 * measuring.MEBIBYTE
        failed = failed or too_much or leaks
        print(
            f"budget {mib(bound)}: grew by {mib(grown)} at most ({'too much' if too_much else 'within budget + 64 MiB'});"
            f" from epoch {SETTLED} to {epochs} by {mib(last - settled)} ({'LEAKS' if leaks else 'flat'})",
            flush=True,
        )
    sys.exit(1 if failed else 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=str(measuring.PHOTOS), help="of images, in class folders or not")
    parser.add_argument("--budgets", type=int, nargs="+", default=[64, 256], help="in MiB")
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_pipeline(options.folder, options.child, options.epochs)
        return
    measuring.with_class_folders(
        pathlib.Path(options.folder), lambda folder: report(folder, options.budgets, options.epochs)
    )


if __name__ == "__main__":
    main()
