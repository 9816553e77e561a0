"""Arrays of headrace.mx.nd, and what scripts for MXNet do with them; values that MXNet 1.9.1 gave."""

import json
import subprocess

import numpy as np
import pytest

import headrace as hr
import headrace.mx as mx
import headrace.mx.ndarray as nd
from tests.mxnet_reference import PYTHON, needs_mxnet

# ---- elements are views ----


def test_an_element_can_be_written():
    labels = mx.nd.zeros((4,))
    for i in range(4):
        labels[i][:] = i
    assert labels.tolist() == [0, 1, 2, 3]
    labels[1][0], labels[2][...], labels[-1][-1] = 7, 8, 9
    assert labels.tolist() == [0, 7, 8, 9]
    labels[0] += 5
    labels[1][:] = mx.nd.array([6])
    labels[2][0:1] = [4]
    assert labels.tolist() == [5, 6, 4, 9]
    for element in labels:
        element[:] = 1
    assert labels.tolist() == [1] * 4
    with pytest.raises(IndexError):
        labels[0][1] = 3


def test_an_element_of_a_matrix_can_be_written_and_read():
    boxes = mx.nd.zeros((2, 3))
    boxes[1][2][:] = 5
    boxes[0, 1][:] = 6
    assert boxes.tolist() == [[0, 6, 0], [0, 0, 5]]
    element = boxes[1, 2]
    assert (
        element.shape == () and element[:].shape == (1,) and element[0].asscalar() == 5 and element[None].shape == (1,)
    )
    assert float(element) == 5 and element[()].asscalar() == 5


def test_batches_can_be_written_by_element():
    batch = mx.io.NDArrayIter(np.arange(4.0), np.arange(4.0), 2).next()
    batch.data[0][1][:] = 9
    batch.label[0][0] = 8
    assert batch.data[0].tolist() == [0, 9] and batch.label[0].tolist() == [8, 1]


def test_indices_may_be_float32():
    values = mx.nd.array([10, 20, 30])
    assert values[mx.nd.array([2, 0])].tolist() == [30, 10]
    assert values[values.argmax()].asscalar() == values[mx.nd.argmax(values)].asscalar() == 30
    values[mx.nd.array([1])] = 5
    assert values.tolist() == [10, 5, 30]


# ---- names ----


def test_names_lead_to_the_same():
    assert mx.img is mx.image and mx.img.image.imread is mx.image.imread and mx.nd.random is mx.random
    assert nd is mx.ndarray and nd.NDArray is mx.nd.NDArray and nd.flip is mx.nd.flip and nd.save is mx.nd.save
    assert mx.context.cpu is mx.cpu and mx.current_context() == mx.cpu() and mx.context.num_gpus() == 0
    with mx.cpu() as here:
        assert here == mx.Context("cpu")
    with pytest.raises(AttributeError, match=r"'headrace\.mx\.nd' has no attribute 'nothing'"):
        _ = nd.nothing


@pytest.mark.parametrize(
    "raises",
    [
        lambda: mx.image.imread("/no/such/file"),
        lambda: mx.image.imdecode(b""),
        lambda: mx.image.imdecode(b"no image"),
        lambda: mx.io.NDArrayIter([]),
        lambda: mx.nd.load("/no/such/file"),
    ],
)
def test_every_error_is_mxnets(raises):
    with pytest.raises(mx.base.MXNetError):
        raises()
    assert mx.MXNetError is mx.base.MXNetError is hr.Error


# ---- random numbers ----


def test_a_seed_decides_the_random_numbers():
    def drawn():
        mx.random.seed(7)
        return [
            mx.nd.random.uniform(0, 255, shape=(3, 2)),
            mx.random.normal(5, 0.1, (1000,)),
            mx.random.randint(2, 5, (1000,)),
            mx.nd.random.randn(2, 3),
            mx.random.exponential(2, (1000,)),
            mx.random.poisson(3, (1000,)),
            mx.random.shuffle(mx.nd.arange(10)),
        ]

    first = drawn()
    assert [each.tolist() for each in first] == [each.tolist() for each in drawn()]
    mx.random.seed(8)
    assert mx.random.uniform(0, 255, (3, 2)).tolist() != first[0].tolist()
    assert [each.dtype.name for each in first] == ["float32", "float32", "int32", *["float32"] * 4]
    assert abs(first[1].mean() - 5) < 0.02 and {*first[2].tolist()} == {2, 3, 4} and first[3].shape == (2, 3)
    assert 1.7 < first[4].mean() < 2.3 and 2.8 < first[5].mean() < 3.2
    assert sorted(first[6].tolist()) == list(range(10)) != first[6].tolist()
    assert mx.random.uniform().shape == (1,) and mx.random.uniform(mx.nd.zeros(3), 1).shape == (3,)
    into = mx.nd.zeros((2,))
    assert mx.random.uniform(1, 2, out=into) is into and (into >= 1).all()
    with pytest.raises(hr.GraphError, match="seed_state is 'a'; it must be a whole number"):
        mx.random.seed("a")


# ---- functions ----

A = "mx.nd.arange(6).reshape((2, 3))"
# What MXNet 1.9.1 gives, whose numbers without dimension have shape (1,).
CALLS = {
    f"mx.nd.sum({A}, axis=0)": [3, 5, 7],
    f"mx.nd.sum({A})": [15],
    f"mx.nd.max({A}, axis=0, exclude=True)": [2, 5],
    f"mx.nd.mean({A}, axis=1, keepdims=True)": [[1], [4]],
    f"mx.nd.argmax({A}, axis=1)": [2, 2],
    f"mx.nd.split({A}, 3)[1]": [[1], [4]],
    f"mx.nd.split({A}, 1)": [[0, 1, 2], [3, 4, 5]],
    f"{A}.split(3, squeeze_axis=True)[2]": [2, 5],
    "mx.nd.round(mx.nd.array([0.5, 1.5, -0.5, -2.5]))": [1, 2, -1, -3],
    f"mx.nd.transpose({A}, axes=(1, 0))": [[0, 3], [1, 4], [2, 5]],
    f"{A}.transpose(axes=(1, 0))": [[0, 3], [1, 4], [2, 5]],
    f"{A}.reshape(shape=(-1,))": [0, 1, 2, 3, 4, 5],
    f"{A}.reshape((-3,))": [0, 1, 2, 3, 4, 5],
    f"{A}.reshape((0, -4, -1, 1))": [[[0], [1], [2]], [[3], [4], [5]]],
    f"mx.nd.reshape({A}, (-4, 2, 1, -2))": [[[0, 1, 2]], [[3, 4, 5]]],
    "mx.nd.one_hot(mx.nd.array([1, 5]), 3)": [[0, 1, 0], [0, 0, 0]],
    f"mx.nd.norm({A}, ord=1, axis=1)": [3, 12],
    f"mx.nd.equal({A}, 2)": [[0, 0, 1], [0, 0, 0]],
    f"mx.nd.take({A}, mx.nd.array([5, -1]))": [[3, 4, 5], [0, 1, 2]],
    f"mx.nd.pick({A}, mx.nd.array([0, 2]))": [0, 5],
    f"mx.nd.sort({A}, is_ascend=False)": [[2, 1, 0], [5, 4, 3]],
    f"mx.nd.argsort({A}, is_ascend=False)": [[2, 1, 0], [2, 1, 0]],
    f"mx.nd.where(mx.nd.array([1, 0]), {A}, -{A})": [[0, 1, 2], [-3, -4, -5]],
    f"mx.nd.dot({A}, {A}, transpose_b=True)": [[5, 14], [14, 50]],
    f"mx.nd.dot({A}, {A}, transpose_a=True)": [[9, 12, 15], [12, 17, 22], [15, 22, 29]],
    f"mx.nd.clip({A}, 1, 4)": [[1, 1, 2], [3, 4, 4]],
    f"{A}.clip(a_min=1, a_max=4)": [[1, 1, 2], [3, 4, 4]],
    f"mx.nd.slice({A}, (0, 1), (2, 3))": [[1, 2], [4, 5]],
    f"mx.nd.slice_axis({A}, axis=1, begin=-2, end=None)": [[1, 2], [4, 5]],
    f"mx.nd.flip({A}, axis=1)": [[2, 1, 0], [5, 4, 3]],
    f"{A}.flip(axis=0)": [[3, 4, 5], [0, 1, 2]],
    "mx.nd.tile(mx.nd.array([[1, 2]]), reps=(2, 1))": [[1, 2], [1, 2]],
    "mx.nd.repeat(mx.nd.array([1, 2]), repeats=2)": [1, 1, 2, 2],
    "mx.nd.arange(3, repeat=2)": [0, 0, 1, 1, 2, 2],
    "mx.nd.arange(1, 4, 2)": [1, 3],
    "mx.nd.linspace(0, 1, 3)": [0, 0.5, 1],
    "mx.nd.eye(2)": [[1, 0], [0, 1]],
    "mx.nd.broadcast_to(mx.nd.ones((1, 3)), (2, 0))": [[1, 1, 1], [1, 1, 1]],
    f"mx.nd.stack({A}, {A}, axis=1)[0]": [[0, 1, 2], [0, 1, 2]],
    f"mx.nd.concat({A}, {A}, dim=1)[0]": [0, 1, 2, 0, 1, 2],
    "mx.nd.concatenate([mx.nd.ones((1,)), mx.nd.zeros((1,))])": [1, 0],
    "mx.nd.pad(mx.nd.ones((1, 1, 1, 1)), mode='constant', pad_width=(0, 0, 0, 0, 0, 1, 1, 0), constant_value=5)": [
        [[[5, 1], [5, 5]]]
    ],
    f"mx.nd.broadcast_maximum({A}, mx.nd.array([[2]]))": [[2, 2, 2], [3, 4, 5]],
    f"mx.nd.batch_dot(mx.nd.ones((2, 1, 3)), {A}.reshape((2, 3, 1)))": [[[3]], [[12]]],
    "mx.nd.flatten(mx.nd.ones((1, 1, 2)))": [[1, 1]],
    "mx.nd.squeeze(mx.nd.ones((1, 2, 1)))": [1, 1],
    "mx.nd.full((2,), 128, dtype='uint8')": [128, 128],
    "mx.nd.ones((2,), mx.cpu(), 'int32')": [1, 1],
    "mx.nd.zeros_like(mx.nd.ones((2,)))": [0, 0],
    "mx.nd.image.to_tensor(mx.nd.full((1, 2, 3), 255, dtype='uint8'))": [[[1, 1]]] * 3,
    "mx.nd.image.normalize(mx.nd.ones((3, 1, 1)), mean=(0.5, 0.25, 0), std=0.5)": [[[1]], [[1.5]], [[2]]],
    "mx.nd.image.crop(mx.nd.arange(6).reshape((2, 3, 1)), 1, 0, 2, 1)": [[[1], [2]]],
    "mx.nd.image.resize(mx.nd.ones((2, 4, 1)), 1)": [[[1]]],
    "mx.nd.image.resize(mx.nd.ones((1, 2, 4, 1)), (1, 2))": [[[[1]], [[1]]]],
    "mx.nd.image.resize(mx.nd.ones((2, 4, 1)), 1, keep_ratio=True)": [[[1], [1]]],
    "mx.nd.image.flip_left_right(mx.nd.arange(2).reshape((1, 2, 1)))": [[[1], [0]]],
    "mx.nd.image.flip_top_bottom(mx.nd.arange(2).reshape((2, 1, 1)))": [[[1]], [[0]]],
}


@pytest.mark.parametrize("call", CALLS)
def test_functions_give_what_mxnets_give(call):
    given = eval(call)
    assert type(given) is mx.nd.NDArray and given.asnumpy().tolist() == CALLS[call]
    # An array of its own, which can be written.
    given[...] = 0


@needs_mxnet
def test_functions_equal_mxnets():
    program = (
        "import json, sys, mxnet as mx\n"
        "print('RESULT' + json.dumps([eval(call).asnumpy().tolist() for call in json.load(sys.stdin)]))"
    )
    ran = subprocess.run(
        [PYTHON, "-c", program], input=json.dumps([*CALLS]), text=True, check=True, timeout=120, capture_output=True
    )
    assert json.loads(ran.stdout[ran.stdout.index("RESULT") + 6 :]) == [*CALLS.values()]


def test_results_are_written_into_out():
    into = mx.nd.zeros((2, 3))
    assert mx.nd.flip(mx.nd.array([[1, 2, 3], [4, 5, 6]]), axis=0, out=into) is into and into[0, 0] == 4
    whole = mx.nd.zeros((2,), dtype="uint8")
    mx.nd.sum(mx.nd.ones((2, 3)), axis=1, out=whole)
    assert whole.tolist() == [3, 3]
    with pytest.raises(hr.GraphError, match=r"out has shape \(2,\), and the result \(3,\)"):
        mx.nd.sum(mx.nd.ones((2, 3)), axis=0, out=whole)
    for wrong in (0.5, 300, -1, np.nan):
        with pytest.raises(hr.GraphError, match="out is of type uint8, which does not hold the result"):
            mx.nd.full((2,), wrong, out=whole)


def test_methods_of_loading_code():
    values = mx.nd.array([[1, 4], [9, 16]])
    assert values.expand_dims(axis=0).shape == (1, 2, 2) and values.slice_axis(axis=1, begin=0, end=1).shape == (2, 1)
    assert values.tile((2, 1)).shape == (4, 2) and values.broadcast_to((3, 2, 2)).shape == (3, 2, 2)
    assert values.sqrt().tolist() == [[1, 2], [3, 4]] and values.square()[0, 1].asscalar() == 16
    assert (-values).abs().tolist() == values.tolist() and values.log().exp().shape == (2, 2)
    assert values.detach() is values.as_in_ctx(mx.cpu()) is values.as_nd_ndarray() is values
    assert values.stype == "default" and values.tostype("default") is values
    with pytest.raises(hr.UnsupportedError, match=r"stype is 'csr'; .* write mx\.nd\.sparse\.csr_matrix\(array\)"):
        values.tostype("csr")
    assert values.wait_to_write() is None and mx.nd.waitall() is None
    # NumPy's own functions call these methods.
    assert np.clip(values, 2, 9).tolist() == [[2, 4], [9, 9]] and np.transpose(values).tolist() == [[1, 9], [4, 16]]
    assert np.reshape(values, (4,)).tolist() == [1, 4, 9, 16] and values.reshape(2, -1, order="F").shape == (2, 2)
    assert mx.nd.zeros((0, 3)).reshape((3, 0)).shape == (3, 0)
    with pytest.raises(hr.GraphError, match=r"shape is \(0, 0, 0\), which asks for more axes than \(2, 2\) has"):
        values.reshape((0, 0, 0))


# ---- matrices of compressed rows ----


def matrix():
    return mx.nd.sparse.csr_matrix(([0.5, 1.5, 2.5], [0, 2, 1], [0, 2, 2, 3]), shape=(3, 3))


def test_a_good_matrix_passes_its_check():
    matrix().check_format(True)
    matrix().check_format(full_check=False)
    dense = [[0.5, 0, 1.5], [0, 0, 0], [0, 2.5, 0]]
    assert matrix().asnumpy().tolist() == matrix().todense().tolist() == matrix().tostype("default").tolist() == dense
    for same in (dense, mx.nd.array(dense), matrix(), ([2.5, 0.5, 1.5], ([2, 0, 0], [1, 0, 2]))):
        made = mx.nd.sparse.csr_matrix(same, shape=(3, 3))
        assert made.asnumpy().tolist() == dense and made.dtype is np.float32 and made.size == 9
    assert matrix()[1:].asnumpy().tolist() == dense[1:] and matrix()[-1].asnumpy().tolist() == dense[2:]
    assert matrix().take([2, 0, 0]).asnumpy().tolist() == [dense[2], dense[0], dense[0]]
    assert matrix().astype("float64").dtype is np.float64 and matrix().tostype("csr").stype == "csr"
    copied = matrix()
    copied.copy().data[0] = 9
    assert copied.asnumpy().tolist() == dense
    with pytest.raises(IndexError, match="row 3 of a matrix of 3 rows"):
        matrix()[3]


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("indptr", [0, 2, 3], r"indptr has shape \(3,\); 3 rows need 4 numbers"),
        ("data", [1.0, 2.0], r"data has shape \(2,\), and indices has \(3,\)"),
        ("indptr", [0, 2, 2, 4], "indptr goes from 0 to 4; it must go from 0 to the 3 values"),
        ("indptr", [0, 2, 1, 3], "row 1 ends before it begins"),
        ("indices", [0, 3, 1], "row 0 has column 3; columns go from 0 to 2"),
        ("indices", [0, 2, -1], "row 2 has column -1"),
        ("indices", [2, 0, 1], "the columns of row 0 do not ascend"),
    ],
)
def test_a_matrix_that_is_none_fails_its_check(part, value, message):
    wrong = matrix()
    setattr(wrong, part, np.array(value))
    with pytest.raises(mx.base.MXNetError, match=message):
        wrong.check_format(True)
