"""MXNet trains on what iterators of headrace.mx give, as they are or in the class of the documentation."""

import json
import os
import pathlib
import re
import subprocess

import pytest

import headrace
from tests.mxnet_reference import PYTHON, needs_mxnet

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs/from-mxnet.md").read_text()
PACKAGE = pathlib.Path(headrace.__file__).resolve().parents[1]

_DATA = """
import json, sys
import numpy as np
import mxnet
import headrace.mx
draws = np.random.RandomState(0)
labels = np.arange(40) % 4
points = draws.rand(40, 6) + 2 * np.eye(4, 6)[labels]
open("rows.libsvm", "w").write("".join(
    f"{label % 2} " + " ".join(f"{i}:{value:.3f}" for i, value in enumerate(row)) + "\\n" for row, label in zip(points, labels)))
sentences = [[1 + (i * j) % 9 for j in range(3 + 2 * (i % 3))] for i in range(90)]
arrays = lambda mx: mx.io.NDArrayIter(points, labels, 8)
lines = lambda mx: mx.io.LibSVMIter(data_libsvm="rows.libsvm", data_shape=(6,), batch_size=8)
buckets = lambda mx: mx.rnn.BucketSentenceIter(sentences, 5, buckets=[3, 5, 7], invalid_label=0)
variable = mxnet.sym.Variable
dense = mxnet.sym.SoftmaxOutput(mxnet.sym.FullyConnected(variable("data"), num_hidden=4), name="softmax")
def module(symbol, context=None):
    mxnet.random.seed(1)
    return mxnet.mod.Module(symbol, context=context or mxnet.cpu())
def trained(iterator, context=None):
    made = module(dense, context)
    made.fit(iterator, num_epoch=5, initializer=mxnet.init.One(), optimizer_params={"learning_rate": 0.5})
    return made
"""

_AS_THEY_ARE = """
for mx in (mxnet, headrace.mx):
    for context in (mxnet.cpu(), [mxnet.cpu(0), mxnet.cpu(1)]):
        iterator = arrays(mx)
        found.append(dict(trained(iterator, context).score(iterator, "acc"))["accuracy"])
    around = mxnet.io.PrefetchingIter(arrays(mx))
    found.append(dict(trained(around).score(around, "acc"))["accuracy"])
"""

_IN_ITS_CLASSES = """
for mx, own in ((mxnet, lambda each: each), (headrace.mx, ForMXNet)):
    iterator = own(arrays(mx))
    found.append(trained(iterator).predict(iterator).asnumpy().tolist())
    weight = variable("w", shape=(6, 2), stype="row_sparse", init=mxnet.init.Zero())
    linear = module(mxnet.sym.SoftmaxOutput(mxnet.sym.sparse.dot(variable("data", stype="csr"), weight), name="softmax"))
    iterator = own(lines(mx))
    linear.fit(iterator, num_epoch=3)
    found.append(round(float(linear.get_params()[0]["w"].asnumpy().sum()), 6))
    def of_length(length):
        words = mxnet.sym.Embedding(variable("data"), input_dim=11, output_dim=4)
        flat = mxnet.sym.FullyConnected(mxnet.sym.reshape(words, (-1, 4)), num_hidden=11)
        labels = mxnet.sym.reshape(variable("softmax_label"), (-1,))
        return mxnet.sym.SoftmaxOutput(flat, labels, name="softmax"), ("data",), ("softmax_label",)
    iterator = own(buckets(mx))
    bucketing = mxnet.mod.BucketingModule(of_length, default_bucket_key=iterator.default_bucket_key)
    bucketing.fit(iterator, num_epoch=2, eval_metric=mxnet.metric.Perplexity(0))
    # The order differs.
    found.append(round(dict(bucketing.score(iterator, mxnet.metric.Perplexity(0)))["perplexity"]))
"""


def found_by(program, folder):
    """What a program of MXNet's Python found, with this package beside it."""
    whole = f"{_DATA}\nfound = []\n{program}\nprint('RESULT' + json.dumps(found))"
    ran = subprocess.run(
        [PYTHON, "-c", whole],
        env=os.environ | {"PYTHONPATH": str(PACKAGE)},
        cwd=folder,
        text=True,
        capture_output=True,
        timeout=120,
    )
    if "No module named 'headrace._engine'" in ran.stderr:
        pytest.skip("MXNet's Python is of another version than this one")
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout[ran.stdout.index("RESULT") + 6 :])
    return found[: len(found) // 2], found[len(found) // 2 :]


@needs_mxnet
def test_module_trains_on_batches_as_they_are(tmp_path):
    of_mxnet, ours = found_by(_AS_THEY_ARE, tmp_path)
    assert ours == of_mxnet and ours[0] > 0.5


@needs_mxnet
def test_all_of_mxnet_takes_them_in_the_class_of_the_page(tmp_path):
    text = next(code for code in re.findall(r"```python no-run\n(.*?)```", PAGE, re.DOTALL) if "class ForMXNet" in code)
    of_mxnet, ours = found_by(text + _IN_ITS_CLASSES, tmp_path)
    assert ours == of_mxnet
