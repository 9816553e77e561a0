"""Ranks of Ray Train and of torchrun, each with a feed of its own from one cluster."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import headrace as hr
from tests.ray_module import import_ray

pytestmark = pytest.mark.ray

HERE = {"num_cpus": 0}
RANKS = [(0, 2), (1, 2)]


@pytest.fixture(scope="module")
def ray():
    ray = import_ray()
    ray.init("local", num_cpus=4, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield ray
    ray.shutdown()


def rows() -> hr.Dataset:
    return hr.Range(21, shuffle=True).batch(4)


def alone(shard, epoch: int) -> list:
    given = {"shard": shard, "even": "pad", "epoch": epoch, "seed": 7}
    return [[int(value) for value in batch["value"]] for batch in rows().iterate(**given)]


@pytest.mark.timeout(400)
def test_workers_of_ray_train_have_their_ranks_and_go_on_from_states(ray, tmp_path):
    pytest.importorskip("torch")
    train = pytest.importorskip("ray.train", exc_type=ImportError)
    torch_train = pytest.importorskip("ray.train.torch", exc_type=ImportError)

    def loop(config):
        import torch.distributed

        context = train.get_context()
        rank, world = context.get_world_rank(), context.get_world_size()
        folder = pathlib.Path(config["folder"])
        state = (folder / f"state-{rank}").read_bytes() if config["resumes"] else None
        given = {"state": state} if state else {"epoch": 3, "seed": 7, "even": "pad"}
        found = []
        with hr.ray.feed(config["dataset"], resources=HERE, shard=(rank, world), as_="torch", **given) as feed:
            for batch in feed:
                # Each rank has as many batches, or this would wait for ever.
                torch.distributed.all_reduce(batch["value"].sum())
                found.append(batch["value"].tolist())
                if len(found) == config["stop"]:
                    (folder / f"state-{rank}").write_bytes(feed.state())
                    break
        (folder / f"found-{rank}-{config['resumes']}").write_text(json.dumps(found))

    for resumes, stop in ((False, 1), (True, -1)):
        torch_train.TorchTrainer(
            loop,
            train_loop_config={"dataset": rows(), "folder": str(tmp_path), "resumes": resumes, "stop": stop},
            scaling_config=train.ScalingConfig(num_workers=2),
            run_config=train.RunConfig(storage_path=str(tmp_path / "runs")),
        ).fit()
    for rank, world in RANKS:
        found = [json.loads((tmp_path / f"found-{rank}-{resumes}").read_text()) for resumes in (False, True)]
        assert found[0] + found[1] == alone((rank, world), 3)


UNDER_TORCHRUN = """
import json, sys
import torch.distributed as dist
import headrace as hr

dist.init_process_group("gloo")
shard = dist.get_rank(), dist.get_world_size()
train = hr.Range(21, shuffle=True).batch(4)
found = []
with hr.ray.Makers(1, resources={"num_cpus": 0}) as makers:
    for epoch in range(2):
        for batch in hr.ray.feed(train, makers, shard=shard, even="pad", epoch=epoch, seed=7, as_="torch"):
            dist.all_reduce(batch["value"].sum())
            found.append(batch["value"].tolist())
open(f"{sys.argv[1]}/{shard[0]}", "w").write(json.dumps(found))
dist.destroy_process_group()
"""


@pytest.mark.timeout(200)
def test_ranks_of_torchrun_have_their_batches(ray, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(UNDER_TORCHRUN)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = os.environ | {
        "RAY_ADDRESS": ray.get_runtime_context().gcs_address,
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }
    command += [str(tmp_path / "train.py"), str(tmp_path)]
    ran = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=180)
    assert ran.returncode == 0, ran.stderr
    for shard in RANKS:
        assert json.loads((tmp_path / str(shard[0])).read_text()) == alone(shard, 0) + alone(shard, 1)


def test_plain_processes_have_their_batches(ray):
    def batches(dataset, shard):
        import headrace as hr

        given = {"shard": shard, "even": "pad", "epoch": 1, "seed": 7, "resources": {"num_cpus": 0}}
        return [batch["value"].tolist() for batch in hr.ray.feed(dataset, **given)]

    process = ray.remote(batches)
    assert ray.get([process.remote(rows(), shard) for shard in RANKS]) == [alone(shard, 1) for shard in RANKS]
