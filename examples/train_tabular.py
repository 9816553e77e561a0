"""Trains a network on a table: numbers with missing values, standardised, beside categories that become one-hot vectors.

Usage: train_tabular.py [FILE] [--epochs N]

FILE is a CSV with the columns of `TYPES`; default: passengers of an invented ferry, which are made in a temporary
folder. Needs torch.
"""

import argparse
import math
import pathlib
import random
import tempfile

import numpy as np
import torch
from torch import nn

import headrace as hr
from headrace import transforms as T
from headrace.torch import Loader

NUMBERS = ["age", "fare"]
CATEGORIES = ["deck", "port"]
TYPES = {"age": "float32", "fare": "float32", "deck": str, "port": str, "came_back": "int64"}
MISSING = {"age": math.nan, "fare": math.nan}


def write_passengers(file: pathlib.Path) -> None:
    draw = random.Random(0)
    lines = [",".join(TYPES)]
    for _ in range(600):
        age, fare = draw.uniform(1, 80), draw.lognormvariate(3, 0.5)
        deck, port = draw.choice("ABC"), draw.choice(["north", "south"])
        came_back = draw.random() < 1 / (1 + math.exp(age / 15 - 2 * (deck == "A") - fare / 20))
        shown = "NA" if draw.random() < 0.2 else f"{age:.0f}"
        lines.append(f"{shown},{fare:.2f},{deck},{port},{int(came_back)}")
    file.write_text("\n".join(lines) + "\n")


def scale_of(rows: hr.Dataset) -> T.Standardize:
    """Makes mean 0 and deviation 1 of the columns of numbers, by the rows in which they are not missing."""
    found = {name: rows.filter(hr.col(name) >= 0).statistics(name) for name in NUMBERS}
    means = [found[name].mean[0] for name in NUMBERS]
    deviations = [found[name].std[0] for name in NUMBERS]
    for name, mean, deviation in zip(NUMBERS, means, deviations, strict=True):
        print(f"{name}: {mean:.1f} ± {deviation:.1f}")
    return T.Standardize(means, deviations)


def marked(values: np.ndarray) -> np.ndarray:
    """Missing numbers as 0, the mean, with a mark beside each."""
    return np.concatenate([np.nan_to_num(values), np.isnan(values)], 1, dtype=np.float32)


def batches(rows: hr.Dataset, scale: T.Standardize, categories: dict[str, int]) -> hr.Dataset:
    """Columns: features, float32 of shape (64, 2 numbers + 2 marks + categories); came_back, int64 of shape (64,)."""
    vectors = rows.map([T.Stack(), scale], NUMBERS, "numbers")
    for name, count in categories.items():
        vectors = vectors.map(T.OneHot(count), name)
    # Above batch a function is called once a batch, not once a row.
    joined = vectors.batch(64).map(marked, "numbers")
    return joined.map(T.Concatenate(axis=1), ["numbers", *categories], "features").project(["features", "came_back"])


def accuracy(model: nn.Module, loader: Loader) -> float:
    right = rows = 0
    with torch.no_grad():
        for features, labels in loader:
            right += int((model(features).argmax(1) == labels).sum())
            rows += len(labels)
    return right / rows


def train(file: pathlib.Path, epochs: int) -> None:
    torch.manual_seed(0)
    rows = hr.Csv(file, TYPES, missing=MISSING, classes=dict.fromkeys(CATEGORIES), index="build", shuffle=True)
    training, validation = rows.split([0.8, 0.2])
    # Of the training rows alone, so that nothing of the others is known.
    scale = scale_of(training)
    categories = {name: len(rows.classes_of(name)) for name in CATEGORIES}
    loader, held_out = (Loader(batches(part, scale, categories), as_tuple=True) for part in (training, validation))
    inputs = 2 * len(NUMBERS) + sum(categories.values())
    model = nn.Sequential(nn.Linear(inputs, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(epochs):
        for features, labels in loader:
            loss = nn.functional.cross_entropy(model(features), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {accuracy(model, held_out):.0%} of {len(validation)} rows right")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Trains a network on a table.")
    parser.add_argument("file", nargs="?", type=pathlib.Path, help=f"CSV with the columns {', '.join(TYPES)}")
    parser.add_argument("--epochs", type=int, default=5)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        if given.file is None:
            given.file = pathlib.Path(temporary, "passengers.csv")
            write_passengers(given.file)
        train(given.file, given.epochs)


if __name__ == "__main__":
    main()
