"""Loops of other libraries over a Loader: the Trainer of transformers, Lightning, Accelerate, Ray and torchrun, each of which
goes on from a checkpoint with the very next batch."""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import headrace as hr
from headrace.torch import Loader
from tests.conftest import ROOT
from tests.ray_module import import_ray

pytestmark = pytest.mark.torch


def rows() -> hr.Dataset:
    x = np.random.default_rng(0).random((48, 2), np.float32)
    return hr.Numpy({"x": x, "labels": np.arange(48) % 3}, shuffle=True).with_seed(1)


def remembering(base, name="forward"):
    """A network with a list of the batches that it was given."""
    import torch

    class Remembering(base):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(2, 3)
            self.seen = []

        def loss_of(self, x, labels):
            self.seen.append((round(x.double().sum().item(), 6), labels.tolist()))
            return torch.nn.functional.cross_entropy(self.linear(x), labels)

    return Remembering


class TestTrainer:
    """Steps are saved in the middle of the first epoch, at its end, and in the middle of the second."""

    def trained(self, folder, own_loader, checkpoint=None):
        transformers = pytest.importorskip("transformers")
        import torch

        class Network(remembering(torch.nn.Module)):
            def forward(self, x, labels):
                return {"loss": self.loss_of(x, labels)}

        class Mine(transformers.Trainer):
            def get_train_dataloader(self):
                return Loader(rows(), batch_size=self.args.per_device_train_batch_size)

        torch.manual_seed(0)
        network = Network()
        options = {"num_train_epochs": 2, "save_steps": 6, "report_to": [], "use_cpu": True, "disable_tqdm": True}
        given = transformers.TrainingArguments(str(folder), per_device_train_batch_size=4, seed=3, **options)
        kind = Mine if own_loader else transformers.Trainer
        kind(network, given, train_dataset=rows()).train(resume_from_checkpoint=checkpoint)
        return network.seen

    @pytest.mark.parametrize("own_loader", [True, False])
    @pytest.mark.filterwarnings("ignore:torch's DataLoader asks")
    def test_goes_on_from_a_checkpoint(self, tmp_path, own_loader):
        whole = self.trained(tmp_path, own_loader)
        assert len(whole) == len(set(map(str, whole))) == 24
        for step in (6, 12, 18):
            assert self.trained(tmp_path, own_loader, str(tmp_path / f"checkpoint-{step}")) == whole[step:]


def test_lightning_goes_on_from_a_checkpoint(tmp_path):
    lightning = pytest.importorskip("lightning")
    import torch
    from lightning.pytorch.callbacks import ModelCheckpoint

    class Module(remembering(lightning.LightningModule)):
        def training_step(self, batch, number):
            return self.loss_of(batch["x"], batch["labels"])

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    class Data(lightning.LightningDataModule):
        def train_dataloader(self):
            return Loader(rows(), batch_size=4)

    def trained(checkpoint=None):
        module = Module()
        kept = ModelCheckpoint(tmp_path, filename="{step}", save_top_k=-1, every_n_train_steps=6)
        quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
        trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", callbacks=[kept], **quiet)
        trainer.fit(module, datamodule=Data(), ckpt_path=checkpoint)
        return module.seen

    whole = trained()
    assert len(whole) == len(set(map(str, whole))) == 24
    for step in (6, 18):
        assert trained(tmp_path / f"step={step}.ckpt") == whole[step:]


def test_accelerate_saves_and_loads_the_position(tmp_path):
    accelerate = pytest.importorskip("accelerate")

    def steps(loader):
        return [batch["labels"].tolist() for batch in loader]

    class Position:
        """What Accelerator.register_for_checkpointing takes."""

        def __init__(self, loader):
            self.state_dict = loader.state_dict
            self.load_state_dict = loader.load_state_dict

    accelerator = accelerate.Accelerator(cpu=True)
    loader = accelerator.prepare(Loader(rows(), batch_size=4))
    accelerator.register_for_checkpointing(Position(loader))
    loop = iter(loader)
    for _ in range(5):
        next(loop)
    accelerator.save_state(tmp_path)
    rest = [batch["labels"].tolist() for batch in loop] + steps(loader)
    accelerator.load_state(tmp_path)
    assert steps(loader) + steps(loader) == rest


def test_ray_takes_datasets_by_value():
    ray = import_ray()
    with ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False):
        dataset = rows().map(lambda x: x * 2, "x").batch(6)
        listed = ray.remote(lambda given: [batch["x"].tolist() for batch in given])
        assert ray.get(listed.remote(dataset)) == [batch["x"].tolist() for batch in dataset]


def test_ray_train_divides_the_rows(tmp_path):
    import_ray()
    pytest.importorskip("ray.train", exc_type=ImportError)
    import ray
    import ray.train.torch

    def loop(config):
        with open(pathlib.Path(config["folder"], str(ray.train.get_context().get_world_rank())), "w") as file:
            for batch in Loader(config["dataset"], batch_size=4):
                file.write(" ".join(str(round(float(x), 6)) for x in batch["x"][~batch["_pad"], 0]) + " ")

    with ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False):
        ray.train.torch.TorchTrainer(
            loop,
            train_loop_config={"dataset": rows().take(21), "folder": str(tmp_path)},
            scaling_config=ray.train.ScalingConfig(num_workers=2),
            run_config=ray.train.RunConfig(storage_path=str(tmp_path / "runs")),
        ).fit()
    found = [sorted((tmp_path / rank).read_text().split()) for rank in "01"]
    assert sorted(len(each) for each in found) == [10, 11]
    assert sorted(found[0] + found[1]) == sorted(str(round(float(row["x"][0]), 6)) for row in rows().take(21))


class TestTorchrun:
    def losses(self, folder, *options):
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
        command += [str(ROOT / "examples/ddp.py"), "--checkpoint", str(folder / "checkpoint.pt"), *options]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
        ran = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=120)
        assert ran.returncode == 0, ran.stderr
        found = re.findall(r"epoch (\d) rank (\d): (\d) rows, loss (\S+)", ran.stdout)
        return [[each for each in found if each[1] == rank] for rank in "01"]

    def test_two_processes_go_on_from_a_checkpoint(self, tmp_path):
        pytest.importorskip("torch")
        whole, parts = tmp_path / "whole", tmp_path / "parts"
        whole.mkdir()
        parts.mkdir()
        expected = self.losses(whole)
        assert len(expected[0]) == len(expected[1]) == 6
        # The photographs, once in each epoch.
        assert sum(int(each[2]) for rank in expected for each in rank if each[0] == "0") == 12
        first = self.losses(parts, "--stop-after", "2")
        rest = self.losses(parts)
        assert [one + other for one, other in zip(first, rest, strict=True)] == expected
