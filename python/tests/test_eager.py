"""Kernels called on values: the same bytes as in a pipeline, for every kind of value."""

import copy
import io
import itertools
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from PIL import Image

import headrace as hr
from headrace import transforms as T
from headrace import vision as V
from kernels.testdata.golden import RowRandom

IMAGE = np.random.default_rng(3).integers(0, 256, (60, 80, 3), np.uint8)


def in_a_pipeline(kernels, array):
    return next(iter(hr.Numpy({"x": array[None]}).map(kernels, "x")))["x"]


def test_a_call_gives_what_a_pipeline_gives():
    for kernels in (
        [V.Resize((20, 30))],
        [V.CenterCrop(40), V.Resize(16), V.Normalize((1, 2, 3), (4, 5, 6)), V.HWC2CHW()],
        [V.Equalize(), V.Rotate(20), V.ToFloat(), T.TypeCast("float16")],
    ):
        expected = in_a_pipeline(kernels, IMAGE)
        composed = hr.compose(kernels)(IMAGE)
        assert composed.dtype == expected.dtype
        np.testing.assert_array_equal(composed, expected)
        one_by_one = IMAGE
        for kernel in kernels:
            one_by_one = kernel(one_by_one)
        np.testing.assert_array_equal(one_by_one, expected)


def test_call_k_draws_as_row_k():
    """Of epoch 0, with the kernel's seed and salt 0; in a list, step i with salt i."""
    flip = V.RandomHorizontalFlip(seed=5)
    both = hr.compose([V.RandomHorizontalFlip(), V.RandomVerticalFlip()], seed=9)
    for row in range(20):
        flips = RowRandom(5, 0, 0, row).uniform() < 0.5
        np.testing.assert_array_equal(flip(IMAGE), IMAGE[:, ::-1] if flips else IMAGE)
        expected = IMAGE[:, ::-1] if RowRandom(9, 0, 0, row).uniform() < 0.5 else IMAGE
        expected = expected[::-1] if RowRandom(9, 1, 0, row).uniform() < 0.5 else expected
        np.testing.assert_array_equal(both(IMAGE), expected)


def test_a_seed_determines_the_calls():
    crop = V.RandomCrop(9, seed=5)
    again = V.RandomCrop(9, seed=5)
    first = [crop(IMAGE) for _ in range(4)]
    np.testing.assert_array_equal(first, [again(IMAGE) for _ in range(4)])
    assert not all(np.array_equal(first[0], each) for each in first)
    unseeded = [V.RandomCrop(9)(IMAGE).tobytes() for _ in range(4)]
    assert len(set(unseeded)) > 1


def test_a_generator_determines_a_call():
    crop = V.RandomCrop(9)
    one, other = (crop(IMAGE, rng=np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    rng = np.random.default_rng(7)
    assert not np.array_equal(crop(IMAGE, rng=rng), crop(IMAGE, rng=rng))


def test_columns_share_a_draw():
    image, mask = V.RandomCrop(9)(IMAGE, IMAGE[..., 0])
    np.testing.assert_array_equal(image[..., 0], mask)


def test_threads_take_distinct_numbers():
    crop = hr.compose(V.RandomCrop(3), seed=1)
    found: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: found.extend(crop(IMAGE).tobytes() for _ in range(50))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = hr.compose(V.RandomCrop(3), seed=1)
    assert sorted(found) == sorted(alone(IMAGE).tobytes() for _ in range(200))


def test_what_goes_in_comes_out():
    image = Image.fromarray(IMAGE)
    resized = V.Resize((20, 30))(image)
    assert isinstance(resized, Image.Image)
    np.testing.assert_array_equal(np.asarray(resized), np.asarray(image.resize((30, 20), Image.Resampling.BILINEAR)))
    assert V.Grayscale()(image).mode == "L"
    assert isinstance(V.ToFloat()(image), np.ndarray)
    data = V.EncodePng()(IMAGE)
    assert isinstance(data, bytes)
    np.testing.assert_array_equal(V.Decode()(data), IMAGE)


@pytest.mark.torch
def test_a_tensor_of_torch_gives_one():
    torch = pytest.importorskip("torch")
    turned = V.Rotate(90)(torch.from_numpy(IMAGE[:60, :60].copy()))
    assert isinstance(turned, torch.Tensor)


def test_every_value_gives_its_own_kind():
    flipped, mask = V.RandomHorizontalFlip(1)(IMAGE, Image.fromarray(IMAGE))
    assert type(flipped) is np.ndarray
    assert isinstance(mask, Image.Image)


def test_results_are_the_callers():
    """They share no memory with an argument or another result, and writing to them changes nothing else."""
    kernels = [
        V.CenterCrop(58), V.Crop(0, 0, 60, 80), V.RandomHorizontalFlip(0), V.Rotate(0), V.RandomInvert(0),
        V.RandomErasing(0), T.TypeCast("uint8"), hr.compose([V.CenterCrop(59), V.CenterCrop(58)]),
    ]  # fmt: skip
    for kernel in kernels:
        for image in (IMAGE.copy(), IMAGE[:, ::-1]):
            image.flags.writeable = False
            before = image.copy()
            values = (image, image, image[:59])
            results = kernel(*values)
            for one, other in itertools.combinations((*values[:1], *results), 2):
                assert not np.shares_memory(one, other), kernel
            for result in results:
                result[:] = 7
            np.testing.assert_array_equal(image, before)
    planes = np.ascontiguousarray(IMAGE.transpose(2, 0, 1))
    assert not np.shares_memory(V.CenterCrop(58)(planes, layout="CHW"), planes)


FORKS = """
import multiprocessing
import numpy as np
import headrace as hr
from headrace import vision as V
from headrace._kernels import kernel

IMAGE = np.random.default_rng(3).integers(0, 256, (60, 80, 3), np.uint8)
context = multiprocessing.get_context("fork")

def draws(kernel):
    return b"".join(kernel(IMAGE).tobytes() for _ in range(8))

def of_a_fork(kernel):
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=lambda: there.send_bytes(draws(kernel)))
    child.start()
    assert here.poll(60), "the child hangs"
    found = here.recv_bytes()
    child.join()
    return found

called = V.RandomCrop(9)
called(IMAGE)
for crop in (called, hr.compose([V.RandomCrop(9)])):
    assert len({of_a_fork(crop), of_a_fork(crop), draws(crop)}) == 3, crop
seeded = hr.compose([V.RandomCrop(9)], seed=3)
assert of_a_fork(seeded) == of_a_fork(seeded) == draws(seeded)
with kernel._making:
    assert of_a_fork(V.Invert()) == 8 * (255 - IMAGE).tobytes()
"""


def test_forked_processes_draw_differently_without_a_seed():
    """And none waits for a lock that another thread held. In a process that has run no pipeline."""
    subprocess.run([sys.executable, "-c", FORKS], check=True, timeout=300)


def test_copies_call_from_the_beginning():
    for copied in (copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))):
        crop = V.RandomCrop(9, seed=4)
        first = crop(IMAGE)
        np.testing.assert_array_equal(copied(crop)(IMAGE), first)
        composed = hr.compose([V.RandomCrop(9), V.Invert()], seed=4)
        first = composed(IMAGE)
        np.testing.assert_array_equal(copied(composed)(IMAGE), first)
        unseeded = hr.compose([V.RandomCrop(3)])
        draws = [[each(IMAGE).tobytes() for _ in range(8)] for each in (unseeded, copied(unseeded))]
        assert draws[0] != draws[1]


def test_graphs_and_pickles_hold_a_name_without_private_rooms():
    """States and caches of runs depend on names in graphs, so a class that moves keeps its name."""
    composed = hr.compose([V.Invert()])
    for graph in (
        hr.Range(3).map(composed, "value"),
        hr.Range(3).filter(composed, "value"),
        hr.Range(3).batch(composed),
        hr.Range(3).flat_map(composed, "value", types={"value": "int64"}),
    ):
        assert [name.partition("#")[0] for name in graph._graph().references] == ["headrace.eager:Composed"]
    for each in (
        composed,
        V.RandomApply(V.Invert()),
        hr.ColumnType("uint8", (3,)),
        hr.BatchInfo(0, 0, 0),
        hr.GraphError("text"),
    ):
        assert b"headrace._" not in pickle.dumps(each), each


def test_channels_that_kernels_move_stay_there():
    planes = np.ascontiguousarray(IMAGE.transpose(2, 0, 1))
    moved = hr.compose([V.Resize((5, 7)), V.HWC2CHW()])
    np.testing.assert_array_equal(moved(planes, layout="CHW"), V.Resize((5, 7))(IMAGE).transpose(2, 0, 1))
    normalize = hr.compose([V.ToFloat(), V.Normalize((1, 2, 3), (4, 5, 6), layout="CHW")])
    np.testing.assert_array_equal(normalize(planes, layout="CHW"), normalize(planes))


def test_patches_are_of_the_kinds_of_their_images():
    image, mask = Image.fromarray(IMAGE), IMAGE[..., 0]
    left, right, left_mask, right_mask = V.SlicePatches(1, 2)(image, mask)
    assert isinstance(right, Image.Image) and isinstance(left_mask, np.ndarray)
    np.testing.assert_array_equal(np.asarray(left), IMAGE[:, :40])
    np.testing.assert_array_equal(right, IMAGE[:, 40:])
    np.testing.assert_array_equal(right_mask, mask[:, 40:])
    planes = np.ascontiguousarray(IMAGE.transpose(2, 0, 1))
    both = V.SlicePatches(2)(planes, layout="CHW")
    np.testing.assert_array_equal(both[1], planes[:, 30:])
    assert not any(np.shares_memory(part, planes) for part in both)
    with pytest.raises(hr.GraphError, match=r'layout="CHW"'):
        V.SlicePatches(2)(planes)
    resized = hr.compose([V.CenterCrop(40), V.SlicePatches(2, 2), V.Resize((5, 7)), V.HWC2CHW()])(IMAGE)
    assert [part.shape for part in resized] == [(3, 5, 7)] * 4
    np.testing.assert_array_equal(V.SlicePatches()(IMAGE), IMAGE)


ERASING = V.RandomErasing(1, layout="CHW", value=255)


@pytest.mark.parametrize(
    ("kernels", "said"),
    [
        ([V.RandomHorizontalFlip(1), ERASING], "RandomHorizontalFlip leaves it .H, W, C.; write layout='HWC'"),
        ([V.Decode(), ERASING], "Decode leaves it"),
        ([V.HWC2CHW(), V.RandomErasing(1)], "HWC2CHW leaves it .C, H, W.; write layout='CHW'"),
        ([V.HWC2CHW(), V.RandomHorizontalFlip()], "put it before that one"),
    ],
)
def test_kernels_that_need_other_axes_are_refused(kernels, said):
    with pytest.raises(hr.GraphError, match=said):
        hr.compose(kernels)


def test_each_branch_begins_with_the_axes_before_the_chooser():
    hr.compose([V.RandomHorizontalFlip(1), V.RandomChoice([V.HWC2CHW(), [V.Resize((9, 9)), V.HWC2CHW()]]), ERASING])


def test_kernels_of_channels_first_take_no_others():
    planes = IMAGE.transpose(2, 0, 1)
    erased = ERASING(planes)
    np.testing.assert_array_equal(
        hr.compose([V.ToFloat(), V.Rescale(255), ERASING], seed=1)(planes).shape, erased.shape
    )
    wrong = {"layout": (IMAGE, {"layout": "HWC"}), "PIL": (Image.fromarray(IMAGE), {}), "last": (IMAGE, {})}
    for said, (image, given) in wrong.items():
        with pytest.raises(hr.GraphError, match=f"{said}.*write layout='HWC' in the kernel"):
            ERASING(image, **given)
    # Whoever says the layout knows.
    assert ERASING(IMAGE, layout="CHW").shape == IMAGE.shape


def test_nearest_pixels_are_those_of_pillow_whatever_the_sizes():
    draws = np.random.default_rng(8)
    for height, width, *size in draws.integers(1, 40, (500, 4)).tolist():
        image = draws.integers(0, 256, (height, width, 3), np.uint8)
        expected = Image.fromarray(image).resize(size[::-1], Image.Resampling.NEAREST)
        np.testing.assert_array_equal(V.Resize(size, interpolation="nearest")(image), np.asarray(expected))


@pytest.mark.parametrize("quality", [5, 50, 95])
def test_artifacts_are_those_of_pillow(quality):
    for image in (IMAGE, IMAGE[..., 0]):
        target = io.BytesIO()
        Image.fromarray(image).save(target, "JPEG", quality=quality)
        np.testing.assert_array_equal(V.JPEG(quality)(image), np.asarray(Image.open(target)))


def test_noise_takes_either_layout():
    planes = np.ascontiguousarray(IMAGE.transpose(2, 0, 1))
    assert V.GaussianNoise()(planes, layout="CHW").shape == planes.shape
    noisy = hr.compose([V.HWC2CHW(), V.GaussianNoise(sigma=0)])(IMAGE)
    np.testing.assert_array_equal(noisy, planes)


def test_a_given_layout_is_not_doubted():
    """Three rows of five channels, and three rows of forty."""
    planes = np.random.default_rng(0).integers(0, 256, (5, 3, 40), np.uint8)
    np.testing.assert_array_equal(V.RandomHorizontalFlip(1)(planes, layout="CHW"), planes[:, :, ::-1])
    np.testing.assert_array_equal(V.RandomHorizontalFlip(1)(planes[:3], layout="HWC"), planes[:3, ::-1])


def test_channels_first_are_said():
    planes = np.ascontiguousarray(IMAGE.transpose(2, 0, 1))
    with pytest.raises(hr.GraphError, match=r'layout="CHW"'):
        V.Resize((20, 30))(planes)
    resized = V.Resize((20, 30))(planes, layout="CHW")
    np.testing.assert_array_equal(resized, V.Resize((20, 30))(IMAGE).transpose(2, 0, 1))
    np.testing.assert_array_equal(V.ToFloat()(planes), planes / np.float32(255))
    with pytest.raises(hr.GraphError, match="layout"):
        V.Resize((20, 30))(planes, layout="NCHW")


@pytest.mark.parametrize(
    ("kernels", "by"),
    [
        ([V.ToFloat(), V.Resize(10)], "Resize"),
        ([V.Rescale(1 / 255), V.RandomCrop(3)], "RandomCrop"),
        ([V.ToFloat(), V.HWC2CHW()], "HWC2CHW"),
        ([V.GaussianNoise(), V.Resize(10)], "Resize"),
        ([T.TypeCast("float32"), V.Rescale(2), V.Resize(10)], "Resize"),
        ([V.Normalize(1, 1), V.HorizontalFlip()], "HorizontalFlip"),
        ([V.RandomApply([V.ToFloat()]), V.RandomChoice([V.VerticalFlip(), V.Resize(9)])], "VerticalFlip"),
    ],
)
def test_channels_first_are_seen_behind_kernels_that_take_either_order(kernels, by):
    planes = np.ascontiguousarray(IMAGE.transpose(2, 0, 1))
    call = hr.compose(kernels, seed=1)
    for given in ((planes,), (IMAGE[..., 0], planes)):
        with pytest.raises(hr.GraphError, match=f'channels first: uint8(.|\n)*layout="CHW"(.|\n)*in: {by}'):
            call(*given)
    call(IMAGE)
    call(planes, layout="CHW")


def test_errors_name_the_kernel_and_what_it_got():
    with pytest.raises(hr.GraphError, match="got float64(.|\n)*in: Equalize"):
        V.Equalize()(IMAGE.astype(np.float64))
    with pytest.raises(hr.DataError, match="takes floats of 0 … 1, and got 255: make them by ToFloat(.|\n)*Invert"):
        V.Invert()(np.full((4, 5, 3), 255, np.float32))
    with pytest.raises(hr.GraphError, match="bits"):
        V.Posterize(9)(IMAGE)
    with pytest.raises(hr.DataError, match="Decode"):
        V.Decode()(b"no image")
    with pytest.raises(hr.GraphError, match="mode P"):
        V.Invert()(Image.fromarray(IMAGE).convert("P"))
    for mode, image in (("I;16", IMAGE[..., 0].astype(np.uint16)), ("F", IMAGE[..., 0].astype(np.float32))):
        with pytest.raises(hr.GraphError, match=f"mode {mode} .*np.asarray.image"):
            V.CenterCrop(9)(Image.fromarray(image))
    with pytest.raises(hr.GraphError, match="empty"):
        hr.compose([])
    with pytest.raises(hr.GraphError, match="not a kernel"):
        hr.compose([lambda x: x])
    with pytest.raises(hr.GraphError, match="at least one"):
        V.Invert()()
    with pytest.raises(hr.GraphError, match="got None; give an image"):
        V.Equalize()(None)
    for seed in (-1, "a", 1 << 64):
        with pytest.raises(hr.GraphError, match="compose: seed is"):
            hr.compose(V.RandomCrop(3), seed=seed)  # type: ignore[arg-type]
    with pytest.raises(hr.GraphError, match="rng is 5; it must be a NumPy generator"):
        V.RandomCrop(3)(IMAGE, rng=5)  # type: ignore[arg-type]
    with pytest.raises(hr.GraphError, match=r"angle is float\('inf'\); it must be finite"):
        V.Rotate(float("inf"))(IMAGE)


def test_errors_do_not_depend_on_draws():
    for kernels in ([V.RandomZoomOut(fill=(1, 2))], [V.RandomZoomOut(fill=(1, 2)), V.RandomHorizontalFlip()]):
        composed = hr.compose(kernels, seed=0)
        for _ in range(20):
            with pytest.raises(hr.GraphError, match="fill has 2 values"):
                composed(IMAGE)
    distorted = hr.compose([V.CenterCrop(50), V.RandomInvert()], seed=0)
    for _ in range(20):
        with pytest.raises(hr.DataError, match="takes floats of 0 … 1"):
            distorted(IMAGE.astype(np.float32))


def test_a_kernel_takes_any_seed():
    """Modulo 2**64, as in a pipeline."""
    flip = V.RandomHorizontalFlip(seed=-1)
    for row in range(20):
        flips = RowRandom((1 << 64) - 1, 0, 0, row).uniform() < 0.5
        np.testing.assert_array_equal(flip(IMAGE), IMAGE[:, ::-1] if flips else IMAGE)
