"""Trains a classifier of texts: words become numbers, and texts of similar length come in one padded batch.

Usage: train_text.py [FILE] [--epochs N]

FILE is a CSV with the columns `text` and `label`, a name; default: short notes on the weather, which are made in a
temporary folder. Needs torch.
"""

import argparse
import pathlib
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator

import numpy as np
import torch
from torch import nn

import headrace as hr
from headrace.torch import Loader

WORDS = 5000
PADDING, UNKNOWN = 0, 1


def write_notes(file: pathlib.Path) -> None:
    draw = random.Random(0)
    good = "sun warm clear bright dry calm mild".split()
    bad = "rain cold fog grey wet storm hail".split()
    filling = "the day was with and then some more of it in our valley".split()
    lines = ["text,label"]
    for _ in range(400):
        label, telling = draw.choice([("fair", good), ("foul", bad)])
        words = draw.choices(filling, k=draw.randint(3, 40)) + draw.choices(telling, k=2)
        draw.shuffle(words)
        lines.append(f"{' '.join(words)},{label}")
    file.write_text("\n".join(lines) + "\n")


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def vocabulary_of(texts: Iterator[str]) -> dict[str, int]:
    """The most frequent words, and the number of each."""
    counts = Counter(word for text in texts for word in words_of(text))
    return {word: number for number, (word, _) in enumerate(counts.most_common(WORDS), UNKNOWN + 1)}


def batches(rows: hr.Dataset, vocabulary: dict[str, int]) -> hr.Dataset:
    """Columns: tokens, int64 of shape (n, longest), padded with 0; label, int64 of shape (n,)."""

    def numbers(text: str) -> np.ndarray:
        return np.array([vocabulary.get(word, UNKNOWN) for word in words_of(text)], np.int64)

    tokens = rows.map(numbers, "text", "tokens", types={"tokens": ("int64", (None,))})
    # About as many tokens in each batch: many short texts, or few long ones.
    return tokens.project(["tokens", "label"]).bucket_by_length(
        "tokens", [12, 24, 48], [32, 16, 8, 4], pad_value=PADDING
    )


class MeanOfWords(nn.Module):
    """The mean of the words' vectors, without padding, and a layer above it."""

    def __init__(self, words: int, classes: int) -> None:
        super().__init__()
        self.vectors = nn.Embedding(words, 32, padding_idx=PADDING)
        self.classes = nn.Linear(32, classes)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        real = (tokens != PADDING).sum(1, keepdim=True).clamp(min=1)
        return self.classes(self.vectors(tokens).sum(1) / real)


def accuracy(model: nn.Module, loader: Loader) -> float:
    right = rows = 0
    with torch.no_grad():
        for tokens, labels in loader:
            right += int((model(tokens).argmax(1) == labels).sum())
            rows += len(labels)
    return right / rows


def train(file: pathlib.Path, epochs: int) -> None:
    torch.manual_seed(0)
    rows = hr.Csv(file, {"text": str, "label": str}, classes="label", label_type="int64", index="build", shuffle=True)
    training, validation = rows.split([0.8, 0.2])
    vocabulary = vocabulary_of(str(row["text"]) for row in training.iterate(epoch=0))
    loader = Loader(batches(training, vocabulary), as_tuple=True)
    held_out = Loader(batches(validation, vocabulary), as_tuple=True)
    model = MeanOfWords(len(vocabulary) + UNKNOWN + 1, len(rows.classes))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(epochs):
        for tokens, labels in loader:
            loss = nn.functional.cross_entropy(model(tokens), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {accuracy(model, held_out):.0%} of {len(validation)} texts right")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Trains a classifier of texts.")
    parser.add_argument("file", nargs="?", type=pathlib.Path, help="CSV with the columns text and label")
    parser.add_argument("--epochs", type=int, default=3)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        if given.file is None:
            given.file = pathlib.Path(temporary, "notes.csv")
            write_notes(given.file)
        train(given.file, given.epochs)


if __name__ == "__main__":
    main()
