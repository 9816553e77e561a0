"""Scripts in the spirit of MXNet's tutorials, with the import changed alone: what their loops see."""

import struct

import cv2
import numpy as np
import pytest

import headrace.mx as mx
from tests.small_image_records import encoded, image_of, write_records

IMAGES = 100


def write_idx(path, array):
    path.write_bytes(struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes())
    return str(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Twenty-eight pixels a side, as MNIST: images as idx files, as CSV, and as records."""
    folder = tmp_path_factory.mktemp("tutorials")
    digits = np.random.default_rng(0).integers(0, 256, (IMAGES, 28, 28), np.uint8)
    classes = (np.arange(IMAGES) % 10).astype(np.uint8)
    write_idx(folder / "images", digits)
    write_idx(folder / "labels", classes)
    np.savetxt(folder / "digits.csv", digits.reshape(IMAGES, -1), fmt="%d", delimiter=",")
    np.savetxt(folder / "classes.csv", classes, fmt="%d")
    write_records(folder, "train", [encoded(image_of(i, 32, 40)) for i in range(IMAGES)], classes.astype(int))
    return folder


def test_digits_by_mnist_iter_and_csv_iter(folder):
    digits = mx.io.MNISTIter(
        image=str(folder / "images"), label=str(folder / "labels"), batch_size=20, shuffle=False, flat=True, silent=False,
        seed=10,
    )  # fmt: skip
    table = mx.io.CSVIter(
        data_csv=str(folder / "digits.csv"), data_shape=(784,), label_csv=str(folder / "classes.csv"), batch_size=20
    )
    for epoch in range(2):
        digits.reset()
        table.reset()
        batches = 0
        for one, other in zip(digits, table, strict=True):
            assert one.data[0].shape == (20, 784) and one.pad == other.pad == 0
            np.testing.assert_array_equal(one.data[0].asnumpy() * 256, other.data[0].asnumpy())
            np.testing.assert_array_equal(one.label[0].asnumpy(), other.label[0].asnumpy())
            batches += 1
        assert batches == 5, epoch


def test_records_with_a_mean_image(folder, tmp_path):
    settings = {
        "path_imgrec": str(folder / "train.rec"), "mean_img": str(tmp_path / "mean.bin"), "data_shape": (3, 28, 28),
        "batch_size": 100, "preprocess_threads": 4, "prefetch_buffer": 1,
    }  # fmt: skip
    train = mx.io.ImageRecordIter(**settings, rand_crop=True, rand_mirror=True, shuffle=True)
    validation = mx.io.ImageRecordIter(**settings, rand_crop=False, rand_mirror=False)
    assert [tuple(each) for each in train.provide_data] == [("data", (100, 3, 28, 28))]
    assert [tuple(each) for each in train.provide_label] == [("softmax_label", (100,))]
    assert len([*train]) == len([*validation]) == 1
    validation.reset()
    # The mean of the images in the middle, which are these.
    assert abs(validation.next().data[0].asnumpy().mean(0)).max() < 1e-3


def test_several_labels_by_a_list(folder, tmp_path):
    lines = [f"{100 + i}\t{i % 2}\t{i % 3}\t{i % 5}\t{i % 7}\timage.png\n" for i in range(IMAGES)]
    (tmp_path / "labels.lst").write_text("".join(lines))
    iterator = mx.io.ImageRecordIter(
        path_imgrec=str(folder / "train.rec"), path_imglist=str(tmp_path / "labels.lst"), label_width=4,
        data_shape=(3, 28, 28), batch_size=10,
    )  # fmt: skip
    assert [tuple(each) for each in iterator.provide_label] == [("softmax_label", (10, 4))]
    labels = np.concatenate([batch.label[0].asnumpy() for batch in iterator])
    np.testing.assert_array_equal(labels, [[i % 2, i % 3, i % 5, i % 7] for i in range(IMAGES)])


def test_detection_with_boxes(tmp_path):
    record = mx.recordio.MXIndexedRecordIO(str(tmp_path / "boxes.idx"), str(tmp_path / "boxes.rec"), "w")
    for i in range(8):
        label = np.array([2, 5, i % 3, 0.1, 0.2, 0.5, 0.6, 1, 0.4, 0.4, 0.9, 0.8][: 12 if i % 2 else 7], np.float32)
        image = cv2.resize(image_of(i), (80, 60))
        record.write_idx(i, mx.recordio.pack_img(mx.recordio.IRHeader(0, label, i, 0), image))
    record.close()
    paths = {"path_imgrec": str(tmp_path / "boxes.rec"), "path_imgidx": str(tmp_path / "boxes.idx")}
    train = mx.image.ImageDetIter(
        4, (3, 32, 32), **paths, shuffle=True, rand_crop=0.5, rand_pad=0.5, rand_mirror=True, mean=True
    )
    validation = mx.image.ImageDetIter(4, (3, 32, 32), **paths, mean=True)
    train.sync_label_shape(validation)
    for iterator in (train, validation):
        for batch in iterator:
            assert batch.data[0].shape == (4, 3, 32, 32) and batch.label[0].shape == (4, 2, 5)
    ssd = mx.io.ImageDetRecordIter(
        path_imgrec=paths["path_imgrec"], data_shape=(3, 32, 32), batch_size=4, label_pad_width=20, rand_crop_prob=0.8,
        num_crop_sampler=2, min_crop_scales=(0.3, 0.6), rand_mirror_prob=0.5,
    )  # fmt: skip
    assert [tuple(each) for each in ssd.provide_label] == [("softmax_label", (4, 24))]
    assert [len(each) for each in ssd.next().label[0][:, 8:].asnumpy()] == [16] * 4


def test_sentences_in_buckets():
    texts = [["deep", "water"], ["still", "water", "runs"], ["water"], ["runs", "deep"]] * 10
    sentences, vocab = mx.rnn.encode_sentences(texts, start_label=1, invalid_label=0)
    train = mx.rnn.BucketSentenceIter(sentences, 5, buckets=[1, 2, 3], invalid_label=0)
    assert train.default_bucket_key == 3 and len(vocab) == 5
    for batch in train:
        assert batch.provide_data == [("data", (5, batch.bucket_key))]
        data, label = batch.data[0].asnumpy(), batch.label[0].asnumpy()
        np.testing.assert_array_equal(label[:, :-1], data[:, 1:])
        assert (label[:, -1] == 0).all()
    train.reset()
    assert len([*train]) == 8


class SimpleIter(mx.io.DataIter):
    """The tutorial's iterator of one's own, word for word."""

    def __init__(self, data_names, data_shapes, data_gen, label_names, label_shapes, label_gen, num_batches=10):
        super().__init__()
        self._provide_data = list(zip(data_names, data_shapes, strict=True))
        self._provide_label = list(zip(label_names, label_shapes, strict=True))
        self.num_batches = num_batches
        self.data_gen = data_gen
        self.label_gen = label_gen
        self.cur_batch = 0

    def __iter__(self):
        return self

    def reset(self):
        self.cur_batch = 0

    def __next__(self):
        return self.next()

    @property
    def provide_data(self):
        return self._provide_data

    @property
    def provide_label(self):
        return self._provide_label

    def next(self):
        if self.cur_batch < self.num_batches:
            self.cur_batch += 1
            data = [mx.nd.array(g(d[1])) for d, g in zip(self._provide_data, self.data_gen, strict=True)]
            label = [mx.nd.array(g(d[1])) for d, g in zip(self._provide_label, self.label_gen, strict=True)]
            return mx.io.DataBatch(data, label)
        raise StopIteration


def test_an_iterator_of_ones_own():
    n, num_classes = 32, 10
    own = SimpleIter(
        ["data"], [(n, 100)], [lambda s: np.random.uniform(-1, 1, s)],
        ["softmax_label"], [(n,)], [lambda s: np.random.randint(0, num_classes, s)],
    )  # fmt: skip
    for _ in range(2):
        shapes = [(batch.data[0].shape, batch.label[0].shape) for batch in own]
        assert shapes == [((32, 100), (32,))] * 10
        own.reset()
    ahead = mx.io.PrefetchingIter(mx.io.ResizeIter(own, 7))
    for _ in range(2):
        assert len([batch.data[0].wait_to_read() for batch in ahead]) == 7
        ahead.reset()


class ImagesWithCaptions(mx.io.DataIter):
    """Two iterators in one: each batch of captions, in its bucket, with the images that they are of."""

    def __init__(self, captions, images):
        super().__init__(captions.batch_size)
        self.captions, self.images = captions, images
        self.default_bucket_key = captions.default_bucket_key
        self.provide_data = captions.provide_data + [mx.io.DataDesc("image", images.shape)]
        self.provide_label = captions.provide_label

    def reset(self):
        self.captions.reset()

    def next(self):
        batch = self.captions.next()
        images = mx.nd.array(self.images[batch.index])
        provided = [*batch.provide_data, mx.io.DataDesc("image", images.shape)]
        return mx.io.DataBatch(
            [*batch.data, images], batch.label, pad=0, bucket_key=batch.bucket_key, provide_data=provided,
            provide_label=batch.provide_label,
        )  # fmt: skip


def test_images_with_captions_in_buckets():
    lengths = [2, 3] * 6
    captions = mx.rnn.BucketSentenceIter([[i + 1] * lengths[i] for i in range(12)], 3, buckets=[2, 3], invalid_label=0)
    images = np.arange(12)[:, None, None, None] * np.ones((12, 3, 4, 4))
    both = ImagesWithCaptions(captions, images)
    for _ in range(2):
        keys = []
        for batch in both:
            assert [each.shape for each in batch.data] == [each.shape for each in batch.provide_data]
            np.testing.assert_array_equal(batch.data[0][:, 0] - 1, batch.data[1][:, 0, 0, 0])
            keys.append(batch.bucket_key)
        assert sorted(keys) == [2, 2, 3, 3]
        both.reset()


def test_two_iterators_side_by_side(folder):
    paths = {"path_imgrec": str(folder / "train.rec"), "data_shape": (3, 28, 28), "batch_size": 30}
    colours, grey = mx.io.ImageRecordIter(**paths), mx.io.ImageRecordIter(**{**paths, "data_shape": (1, 28, 28)})
    joined = mx.io.PrefetchingIter(
        [mx.io.ResizeIter(colours, 6), mx.io.ResizeIter(grey, 6)],
        rename_data=[{"data": "colours"}, {"data": "grey"}], rename_label=[{"softmax_label": "a"}, {"softmax_label": "b"}],
    )  # fmt: skip
    assert [each.name for each in joined.provide_data + joined.provide_label] == ["colours", "grey", "a", "b"]
    for _ in range(2):
        batches = [*joined]
        assert len(batches) == 6
        for batch in batches:
            assert [each.shape for each in batch.data] == [(30, 3, 28, 28), (30, 1, 28, 28)]
            np.testing.assert_array_equal(*batch.label)
        joined.reset()


def test_a_hundred_rows_of_thirty(folder):
    data = mx.io.NDArrayIter(np.ones((100, 3)), np.ones(100), batch_size=30, last_batch_handle="pad")
    records = mx.io.ImageRecordIter(path_imgrec=str(folder / "train.rec"), data_shape=(3, 28, 28), batch_size=30)
    for iterator in (data, records):
        assert [batch.pad for batch in iterator] == [0, 0, 0, 20]
