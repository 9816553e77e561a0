"""Trains a forecast of a time series: windows of past and future over one array, without a copy of the array.

Usage: train_time_series.py [FILE.npy] [--epochs N]

FILE.npy holds float32 of shape (time, channels); default: two noisy waves. The model gives the next 24 values of all
channels from the last 96. Needs torch.
"""

import argparse
import pathlib

import numpy as np
import torch
from torch import nn

import headrace as hr
from headrace.torch import Loader

PAST, FUTURE = 96, 24


def waves() -> np.ndarray:
    time, rng = np.arange(4000)[:, None], np.random.default_rng(0)
    wave = np.sin(2 * np.pi * time / [24.0, 168.0]) * [2.0, 5.0] + [10.0, -3.0]
    return (wave + rng.normal(0, 0.1, wave.shape)).astype(np.float32)


def batches(series: np.ndarray, size: int) -> hr.Dataset:
    """Columns: past, float32 of shape (size, 96, channels); future, of shape (size, 24, channels). A row begins at each step."""
    # A view: window i is series[i : i + 120], and only those of a batch are copied.
    windows = np.lib.stride_tricks.sliding_window_view(series, PAST + FUTURE, axis=0)
    windows = windows.transpose(0, 2, 1)  # sliding_window_view puts the window's axis last

    def cut(start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        whole = windows[start]
        return whole[:, :PAST], whole[:, PAST:]

    # Above batch the function is called once a batch, not once a row.
    starts = hr.Range(len(windows), shuffle=True).batch(size)
    return starts.map(cut, "value", ["past", "future"]).project(["past", "future"])


class Linear(nn.Module):
    """The future of each channel as a linear function of its past, beside the last value."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(PAST, FUTURE)

    def forward(self, past: torch.Tensor) -> torch.Tensor:
        last = past[:, -1:]
        return last + self.layer((past - last).transpose(1, 2)).transpose(1, 2)


def error(model: nn.Module, loader: Loader) -> float:
    with torch.no_grad():
        errors = [nn.functional.mse_loss(model(past), future) for past, future in loader]
    return float(torch.stack(errors).mean())


def train(series: np.ndarray, epochs: int) -> None:
    torch.manual_seed(0)
    # By time, not at random: a window of the validation has nothing of the training's. The scale is the training's, too.
    border = len(series) * 4 // 5
    mean, deviation = series[:border].mean(0), series[:border].std(0)
    scaled = (series - mean) / deviation
    loader = Loader(batches(scaled[:border], 64), as_tuple=True)
    held_out = Loader(batches(scaled[border:], 256), as_tuple=True)
    model = Linear()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for epoch in range(epochs):
        for past, future in loader:
            loss = nn.functional.mse_loss(model(past), future)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: mean squared error {error(model, held_out):.3f}")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Trains a forecast of a time series.")
    parser.add_argument("file", nargs="?", type=pathlib.Path, help=".npy of shape (time, channels)")
    parser.add_argument("--epochs", type=int, default=3)
    given = parser.parse_args(arguments)
    train(waves() if given.file is None else np.load(given.file).astype(np.float32), given.epochs)


if __name__ == "__main__":
    main()
