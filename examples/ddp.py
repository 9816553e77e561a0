"""Trains a small network on class folders of images in several processes of one machine, with checkpoints that go on in mid-epoch.

    torchrun --nproc-per-node 2 examples/ddp.py [--data FOLDER] [--epochs N] [--stop-after STEPS] [--checkpoint FILE]

Each process gets its part of the rows, as many batches as every other one, and takes the same steps. Stopped by
--stop-after, or by Ctrl-C after a checkpoint, the same command goes on with the next batch.
"""

import argparse
import os
import pathlib

import torch

import headrace as hr
from headrace import vision as V
from headrace.torch import Loader

PHOTOS = pathlib.Path(__file__).parent / "photos"


def pipeline(folder: pathlib.Path) -> hr.Dataset:
    rows = hr.ImageFolder(folder, shuffle=True)
    return rows.map(
        [
            V.Decode(),
            V.RandomResizedCrop(32),
            V.RandomHorizontalFlip(),
            V.Normalize([127.5] * 3, [64.0] * 3),
            V.HWC2CHW(),
        ],
        "image",
    )


def network(classes: int) -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, stride=4),
        torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(32, classes),
    )


def save(path: pathlib.Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer, loader: Loader) -> None:
    """One file for all ranks: after as many batches they are at the same place of the epoch."""
    if torch.distributed.get_rank() == 0:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "loader": loader.state_dict()}
        part = path.with_suffix(".part")
        torch.save(state, part)
        os.replace(part, path)
    torch.distributed.barrier()


def train(options: argparse.Namespace) -> None:
    gpu = torch.cuda.is_available()
    device = f"cuda:{os.environ['LOCAL_RANK']}" if gpu else "cpu"
    torch.manual_seed(0)
    rows = pipeline(options.data)
    loader = Loader(rows, device, batch_size=2, seed=7)
    bare = network(len(rows.classes)).to(device)
    model = torch.nn.parallel.DistributedDataParallel(bare, device_ids=[device] if gpu else None)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    if options.checkpoint.exists():
        state = torch.load(options.checkpoint, map_location=device)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        loader.load_state_dict(state["loader"])
    steps = 0
    while loader.epoch < options.epochs:
        epoch = loader.epoch
        for batch in loader:
            # Rows that fill the last round come twice in the epoch; they count in the step, and not here.
            real = ~batch["_pad"]
            loss = torch.nn.functional.cross_entropy(model(batch["image"]), batch["label"].long())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            line = f"epoch {epoch} rank {torch.distributed.get_rank()}: {int(real.sum())} rows, loss {loss:.6f}\n"
            print(line, end="", flush=True)
            steps += 1
            if steps == options.stop_after:
                save(options.checkpoint, model, optimizer, loader)
                return
    save(options.checkpoint, model, optimizer, loader)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, default=PHOTOS)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--stop-after", type=int, default=None)
    parser.add_argument("--checkpoint", type=pathlib.Path, default=pathlib.Path("checkpoint.pt"))
    options = parser.parse_args()
    torch.distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    try:
        train(options)
    finally:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
