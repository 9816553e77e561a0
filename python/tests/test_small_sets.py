"""Sets whose pictures are arrays: the digits of MNIST's form, CIFAR, SVHN, STL-10, USPS, SEMEION and noise."""

import gzip
import pickle
import struct

import numpy as np
import pytest

import headrace as hr
from headrace import datasets
from headrace._sets.latin1_text import latin1_bytes
from headrace._sets.plain_pickle import read_pickle
from headrace._sets.set_file import SetFile
from tests import set_files as made


def column(ds: hr.Dataset, name: str) -> np.ndarray:
    return np.stack([row[name] for row in ds])


OF_MNIST = {"Mnist": "MNIST/raw", "FashionMnist": "FashionMNIST/raw", "KMnist": "KMNIST/raw"}


@pytest.mark.parametrize("kind", OF_MNIST)
@pytest.mark.parametrize("packed", [False, True])
def test_mnist_and_its_kin(tmp_path, kind, packed):
    made.write_mnist(tmp_path / OF_MNIST[kind], packed)
    pixels, labels = made.digits(12, 1)
    ds = getattr(datasets, kind)(tmp_path)
    assert ds.schema == {"image": ("uint8", (28, 28, 1)), "label": ("int64", ())} and len(ds) == 12
    np.testing.assert_array_equal(column(ds, "image"), pixels[..., None])
    np.testing.assert_array_equal(column(ds, "label"), labels)
    assert len(ds.classes) == 10
    further, _ = made.digits(5, 2)
    np.testing.assert_array_equal(column(getattr(datasets, kind)(tmp_path, "test"), "image"), further[..., None])
    both = column(getattr(datasets, kind)(tmp_path, "all"), "image")
    np.testing.assert_array_equal(both, np.concatenate([pixels, further])[..., None])


def test_mnist_of_mirrors_has_a_dot_in_its_names(tmp_path):
    made.write_mnist(tmp_path)
    for path in tmp_path.iterdir():
        path.rename(path.with_name(path.name.replace("-idx", ".idx")))
    assert len(datasets.Mnist(tmp_path, "test")) == 5


def test_a_plain_file_is_taken_before_a_compressed_one(tmp_path):
    made.write_mnist(tmp_path)
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(b"no archive")
    assert len(datasets.Mnist(tmp_path)) == 12


def damaged(tmp_path, name, change):
    path = tmp_path / name
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(hr.DataError, match=name.replace(".", r"\.")) as error:
        datasets.Mnist(tmp_path)
    assert error.value.file == str(path)
    return str(error.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data[:-1], "ends within the array (12, 28, 28), after 9,407 of 9,408 bytes"),
        (lambda data: data + b"x", "more bytes than the array"),
        (lambda data: data[:3], "ends within the header"),
        (lambda data: b"", "ends within the header"),
        (lambda data: b"\1" + data[1:], "not an idx file"),
        (lambda data: data[:2] + b"\x0a" + data[3:], "not an idx file"),
        (lambda data: data[:3] + b"\x02" + data[4:], "must have 3 axes, and has 2"),
        (lambda data: data[:4] + b"\xff" * 12 + data[16:], "after 9,408 of"),
        (lambda data: made.idx_bytes(np.zeros((12, 3, 3), np.int32)), "must be uint8, and are int32"),
    ],
)
def test_damaged_images_are_an_error(tmp_path, change, said):
    made.write_mnist(tmp_path)
    assert said in damaged(tmp_path, "train-images-idx3-ubyte", change)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: made.idx_bytes(np.zeros(11, np.uint8)), "11 labels, and .* has 12 images"),
        (lambda data: made.idx_bytes(np.full(12, 10, np.uint8)), "label 0 is 10; .* 10 classes are 0 to 9"),
    ],
)
def test_labels_that_do_not_fit_are_an_error(tmp_path, change, said):
    made.write_mnist(tmp_path)
    with pytest.raises(AssertionError, match=said):
        raise AssertionError(damaged(tmp_path, "train-labels-idx1-ubyte", change))


@pytest.mark.parametrize("cut", [1, 9, 60, 4000])
def test_a_cut_archive_is_an_error(tmp_path, cut):
    made.write_mnist(tmp_path, packed=True)
    assert "cut off" in damaged(tmp_path, "train-images-idx3-ubyte.gz", lambda data: data[:-cut])


def test_a_damaged_archive_is_an_error(tmp_path):
    made.write_mnist(tmp_path, packed=True)
    flipped = damaged(
        tmp_path, "train-images-idx3-ubyte.gz", lambda data: data[:-8] + bytes([data[-8] ^ 1]) + data[-7:]
    )
    assert "damaged" in flipped


def test_an_archive_may_not_go_on(tmp_path):
    made.write_mnist(tmp_path, packed=True)
    assert "more bytes" in damaged(
        tmp_path, "train-images-idx3-ubyte.gz", lambda data: data + gzip.compress(bytes(1 << 20))
    )


def test_emnist_is_upright_and_named_by_its_mapping(tmp_path):
    made.write_emnist(
        tmp_path / "gzip", "letters", [1, 26, 3], "".join(f"{i} {64 + i} {96 + i}\n" for i in range(1, 27))
    )
    pixels, _ = made.digits(3, 1)
    ds = datasets.EMnist(tmp_path, "letters")
    np.testing.assert_array_equal(column(ds, "image"), pixels.transpose(0, 2, 1)[..., None])
    stored = datasets.EMnist(tmp_path, "letters", upright=False)
    np.testing.assert_array_equal(column(stored, "image"), pixels[..., None])
    assert column(ds, "label").tolist() == [1, 26, 3]
    assert ds.class_to_idx["A"] == 1 and ds.class_to_idx["Z"] == 26
    assert len(datasets.EMnist(tmp_path, "letters", "all")) == 6


@pytest.mark.parametrize(
    ("subset", "count"),
    [("byclass", 62), ("bymerge", 47), ("balanced", 47), ("letters", 26), ("digits", 10), ("mnist", 10)],
)
def test_emnist_has_names_without_a_mapping(tmp_path, subset, count):
    made.write_emnist(tmp_path, subset, [1, 2], None)
    ds = datasets.EMnist(tmp_path, subset, "test")
    assert len(ds.classes) == len(set(ds.classes)) == count and len(ds) == 2


@pytest.mark.parametrize("mapping", ["0\n", "0 x\n", "0 48\n1 48\n", "0 1114112\n", ""])
def test_a_damaged_mapping_is_an_error(tmp_path, mapping):
    made.write_emnist(tmp_path, "digits", [0], mapping)
    with pytest.raises(hr.DataError, match="emnist-digits-mapping.txt"):
        datasets.EMnist(tmp_path, "digits")


def test_qmnist_says_where_digits_come_from(tmp_path):
    made.write_qmnist(tmp_path)
    ds = datasets.QMnist(tmp_path)
    labels = made.qmnist_labels(6, 1)
    assert list(ds.schema) == [
        "image", "label", "nist_series", "writer", "writer_index", "nist_class", "global_index", "duplicate"
    ]  # fmt: skip
    for number, name in enumerate(list(ds.schema)[1:]):
        np.testing.assert_array_equal(column(ds, name), labels[:, number])
    assert ds.schema["label"] == ("int64", ()) and ds.schema["writer"] == ("int32", ())
    counts = {split: len(datasets.QMnist(tmp_path, split)) for split in ("test", "test10k", "test50k", "all", "nist")}
    assert counts == {"test": 10_003, "test10k": 10_000, "test50k": 3, "all": 10_009, "nist": 4}
    last = column(datasets.QMnist(tmp_path, "test50k"), "writer")
    np.testing.assert_array_equal(last, made.qmnist_labels(10_003, 2)[10_000:, 2])


def test_cifar10_of_both_forms_is_the_same(tmp_path):
    made.write_cifar10(tmp_path / "bin" / "cifar-10-batches-bin")
    made.write_cifar10_pickles(tmp_path / "py" / "cifar-10-batches-py")
    for split, count in (("train", 20), ("test", 4), ("all", 24)):
        binary, pickled = (datasets.Cifar10(tmp_path / form, split) for form in ("bin", "py"))
        assert len(binary) == len(pickled) == count
        assert binary.classes == pickled.classes == made.CIFAR_NAMES
        for name in ("image", "label"):
            np.testing.assert_array_equal(column(binary, name), column(pickled, name))
    first = next(iter(datasets.Cifar10(tmp_path / "bin")))
    np.testing.assert_array_equal(first["image"], made.planes(4, 0)[0].reshape(3, 32, 32).transpose(1, 2, 0))
    assert first["image"].shape == (32, 32, 3) and binary.schema["label"] == ("int64", ())


def test_cifar100_of_both_forms_is_the_same(tmp_path):
    made.write_cifar100(tmp_path / "bin")
    made.write_cifar100_pickles(tmp_path / "py" / "cifar-100-python")
    for split in ("train", "test", "all"):
        binary, pickled = (datasets.Cifar100(tmp_path / form, split) for form in ("bin", "py"))
        for name in ("image", "label", "coarse_label"):
            np.testing.assert_array_equal(column(binary, name), column(pickled, name))
    assert column(binary, "label").tolist() == [90, 91, 92, 93] * 2
    assert binary.classes == made.fine_names()
    assert binary.project("coarse_label").classes == pickled.project("coarse_label").classes == made.coarse_names()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (bytes(3072), "3,072 bytes are not a number of records of 3,073"),
        (b"", "0 bytes are not"),
        (b"\x0a" + bytes(3072), "label 0 is 10"),
    ],
)
def test_damaged_records_of_cifar_are_an_error(tmp_path, data, said):
    made.write_cifar10(tmp_path)
    (tmp_path / "data_batch_3.bin").write_bytes(data)
    with pytest.raises(hr.DataError, match=f"data_batch_3.bin: .*{said}"):
        datasets.Cifar10(tmp_path)


class Thief:
    def __reduce__(self):
        return (print, ("never",))


# A pair of a pair of …, of 2**40 values, of which each is held once.
CHAIN = b"K\x01\x94" + b"".join(bytes([ord("h"), each, ord("h"), each]) + b"\x86\x94" for each in range(40))
ENCODE = b"\x80\x04c_codecs\nencode\n\x94X\x00\x80\x00\x00" + b"a" * 0x8000 + b"\x94\x8c\x06latin1\x86\x94"
DTYPE = b"\x80\x04cnumpy\ndtype\n\x94X\x00\x80\x00\x00" + b"<" * 0x8000 + b"\x85\x94"

PICKLES = {
    "runs code": (pickle.dumps(Thief(), 2), "byte 2 names [^ ]*print, and only arrays of numpy are read"),
    "is cut": (made.pickle_of_python2({"labels": [1, 2]})[:-4], "it is cut off"),
    "is empty": (b"", "it is cut off"),
    "is no dict": (made.pickle_of_python2([1]), "holds no dict"),
    "lacks data": (made.pickle_of_python2({"labels": [1]}), "its data is not an array"),
    "lacks labels": (made.pickle_of_python2({"data": made.planes(2, 0)}), "its labels is not a list of labels"),
    "has few labels": (made.pickle_of_python2({"data": made.planes(2, 0), "labels": [1]}), "2 images and 1 labels"),
    "has a label too large": (made.pickle_of_python2({"data": made.planes(1, 0), "labels": [10]}), "label 0 is 10"),
    "has no value": (b"\x80\x02.", "not a pickle"),
    "pops nothing": (b"\x80\x02\x87.", "not a pickle"),
    "ends no mark": (b"\x80\x02K\x01u.", "not a pickle"),
    "calls a text": (b"\x80\x02U\x01a)R.", "not a pickle"),
    "nests": (b"\x80\x02" + b"](" * 100_000 + b"e" * 100_000 + b".", "holds no dict"),
    "has a deep key": (b"\x80\x02})" + b"\x85" * 1_000_000 + b"K\x01s.", "a key of a dict is not a text"),
    "has a deep type": (b"\x80\x02cnumpy\ndtype\n)" + b"\x85" * 200_000 + b"R.", "not a pickle"),
    "has a wide type": (b"\x80\x04" + CHAIN + b"cnumpy\ndtype\nh\x28\x85R.", "has a tuple where a text is due"),
    "has a wide order": (
        b"\x80\x04" + CHAIN + b"cnumpy\ndtype\n\x8c\x02i4\x85RK\x00h\x28\x86b.",
        "has a tuple where a text is due",
    ),
    "has a wide shape": (
        b"\x80\x04"
        + CHAIN
        + b"cnumpy.core.numeric\n_frombuffer\n(C\x04abcdcnumpy\ndtype\n\x8c\x02i4\x85Rh\x28\x8c\x01CtR.",
        "shape of an array is not one of numbers",
    ),
    "has wide axes": (
        b"\x80\x04"
        + CHAIN
        + b"cnumpy.core.numeric\n_frombuffer\n(C\x04abcdcnumpy\ndtype\n\x8c\x02i4\x85RK\x01\x85\x8c\x01Kh\x28tR.",
        "not a pickle of plain values",
    ),
    "encodes a text over and over": (ENCODE + b"h\x00h\x02R" * 9 + b".", "makes more of its texts"),
    "names a type over and over": (DTYPE + b"h\x00h\x01R" * 9 + b".", "makes more of its texts"),
    "has a deep name": (b"\x80\x04)" + b"\x85" * 1_000_000 + b"U\x01a\x93.", "it names what is not a text"),
    "ends within a run of labels": (b"\x80\x02](" + b"K\x01" * 20_000 + b"K", "it is cut off"),
    "says more than it has": (
        b"\x80\x02T\xff\xff\xff\x7fab",
        "it is cut off: an operation at byte 7 takes 2,147,483,647 bytes of 9",
    ),
    "says less than nothing": (b"\x80\x02T\xff\xff\xff\xffab", "it is cut off"),
    "has an unknown operation": (b"\x80\x02\xff.", "byte 2 is not an operation of a pickle"),
    "has a line without end": (b"\x80\x02c" + b"n" * 5000, "not a pickle"),
    "is of objects": (pickle.dumps({"data": np.array([None])}, 2), ""),
    "is of another operation": (b"\x80\x02}Q.", "which a pickle of plain values does not need"),
}


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_plain_values_are_read_as_pickle_reads_them(tmp_path, protocol):
    names = ["ä", "x" * 300, b"y" * 400, ("tuple",), "x" * 300]
    labels = [1, 300, 70_000, -5, 2**40, 2.5, True, None, *range(256), *[7] * 25_000, *range(400)]
    values = {"labels": labels, "names": names, "none": []}
    neither = np.arange(24, dtype=">i4").reshape(2, 3, 4).transpose(1, 0, 2)
    arrays = {"data": made.planes(30, 0), "columns": np.asfortranarray(np.arange(6).reshape(2, 3)), "neither": neither}
    (tmp_path / "data").write_bytes(pickle.dumps(values | arrays, protocol))
    found = read_pickle(SetFile(str(tmp_path / "data"), lambda size, checksum: None))
    for name, array in arrays.items():
        np.testing.assert_array_equal(found.pop(name), array)
    assert found == values


def test_pictures_that_go_by_columns(tmp_path):
    made.write_cifar10_pickles(tmp_path)
    wanted = column(datasets.Cifar10(tmp_path, "test"), "image")
    held = pickle.loads((tmp_path / "test_batch").read_bytes(), encoding="latin1")
    held["data"] = np.asfortranarray(held["data"])
    (tmp_path / "test_batch").write_bytes(pickle.dumps(held, 5))
    np.testing.assert_array_equal(column(datasets.Cifar10(tmp_path, "test"), "image"), wanted)


def test_arrays_that_python3_wrote_as_texts():
    values = np.random.default_rng(0).integers(0, 256, 700_000, np.uint8)
    for data in (values, values | 0x80, np.zeros_like(values), np.full_like(values, 0xC3)):
        text = memoryview(data.tobytes().decode("latin-1").encode())
        np.testing.assert_array_equal(latin1_bytes(text), data)


TEXTS = {
    "wider characters": "a" * 300_000 + "\u0100",
    "three bytes": "\u20ac" * 100_000,
    "no first byte": b"\x80" * 70_000,
    "no second byte": b"a" * (1 << 18) + b"\xc3a",
    "a first byte at the end": b"a" * (1 << 18) + b"\xc3",
    "two first bytes": b"\xc3" * 70_000,
    "another form of ASCII": b"\xc0\x80" * 70_000,
}


@pytest.mark.parametrize("what", TEXTS)
def test_texts_of_other_characters_are_no_arrays(what):
    text = TEXTS[what]
    with pytest.raises(ValueError, match="other characters than bytes"):
        latin1_bytes(memoryview(text.encode() if isinstance(text, str) else text))


@pytest.mark.parametrize("what", PICKLES)
def test_a_pickle_that(tmp_path, what, capsys):
    data, said = PICKLES[what]
    made.write_cifar10_pickles(tmp_path)
    (tmp_path / "data_batch_2").write_bytes(data)
    with pytest.raises(hr.DataError, match=f"data_batch_2: .*{said}") as error:
        datasets.Cifar10(tmp_path)
    assert str(error.value).count("data_batch_2") == 1
    assert capsys.readouterr().out == ""


def test_svhn_gives_digits(tmp_path):
    made.write_svhn(tmp_path)
    for seed, (split, count) in enumerate({"train": 11, "test": 4, "extra": 3}.items()):
        ds = datasets.SVHN(tmp_path, split)
        arrays = made.svhn_arrays(count, seed)
        np.testing.assert_array_equal(column(ds, "image"), arrays["X"].transpose(3, 0, 1, 2))
        np.testing.assert_array_equal(column(ds, "label"), arrays["y"][:, 0] % 10)
    assert len(datasets.SVHN(tmp_path, "all")) == 18
    assert ds.classes == [str(digit) for digit in range(10)]


ARRAYS = made.svhn_arrays(3, 0)
MATS = {
    "is cut": (made.mat_bytes(ARRAYS)[:-9], "an element of .* bytes ends after"),
    "is cut when packed": (made.mat_bytes(ARRAYS, packed=True)[:-9], "an element of .* bytes ends after"),
    "is cut early": (b"MATLAB", "ends within the header"),
    "is something else": (bytes(200), "not a MATLAB 5 file"),
    "is of MATLAB 7.3": (b"\x89HDF\r\n\x1a\n" + bytes(200), "HDF5"),
    "lacks labels": (made.mat_bytes({"X": ARRAYS["X"]}), "no array y"),
    "has other counts": (made.mat_bytes({"X": ARRAYS["X"], "y": ARRAYS["y"][:2]}), "3 images and 2 labels"),
    "has label 0": (made.mat_bytes({"X": ARRAYS["X"], "y": ARRAYS["y"] * 0}), "label 0 is 0; .* 1 to 10"),
    "has floats": (made.mat_bytes({"X": ARRAYS["X"].astype(float), "y": ARRAYS["y"]}), "X must be uint8"),
    "is damaged": (
        made.mat_bytes({})[:128] + struct.pack("<II", 15, 12) + b"no zlib data",
        "compressed data is damaged",
    ),
    "has a short array": (
        made.mat_bytes({}) + made.mat_element(14, made.mat_element(6, struct.pack("<II", 9, 0))),
        "ends within the head of an element",
    ),
}


@pytest.mark.parametrize("what", MATS)
def test_a_mat_file_that(tmp_path, what):
    data, said = MATS[what]
    (tmp_path / "train_32x32.mat").write_bytes(data)
    with pytest.raises(hr.DataError, match=f"train_32x32.mat: .*{said}"):
        datasets.SVHN(tmp_path)


def test_one_digit_of_svhn(tmp_path):
    arrays = made.svhn_arrays(1, 4)
    # As MATLAB writes it: without a last axis of length 1.
    (tmp_path / "test_32x32.mat").write_bytes(made.mat_bytes({"X": arrays["X"][..., 0], "y": arrays["y"]}))
    (row,) = datasets.SVHN(tmp_path, "test")
    np.testing.assert_array_equal(row["image"], arrays["X"][..., 0])


def test_stl10_has_planes_by_columns(tmp_path):
    made.write_stl10(tmp_path / "stl10_binary")
    data = np.frombuffer((tmp_path / "stl10_binary" / "train_X.bin").read_bytes(), np.uint8).reshape(5, 3, 96, 96)
    ds = datasets.STL10(tmp_path)
    np.testing.assert_array_equal(column(ds, "image"), data.transpose(0, 3, 2, 1))
    labels = np.frombuffer((tmp_path / "stl10_binary" / "train_y.bin").read_bytes(), np.uint8)
    np.testing.assert_array_equal(column(ds, "label"), labels - 1)
    assert ds.classes == made.CIFAR_NAMES
    assert column(datasets.STL10(tmp_path, "unlabeled"), "label").tolist() == [-1] * 4
    counts = [len(datasets.STL10(tmp_path, split)) for split in ("test", "train+unlabeled", "all")]
    assert counts == [3, 9, 12]
    fold = datasets.STL10(tmp_path, fold=0)
    np.testing.assert_array_equal(column(fold, "image"), data.transpose(0, 3, 2, 1)[[0, 2, 4]])
    with pytest.raises(hr.DataError, match="fold_indices.txt: it has 2 folds"):
        datasets.STL10(tmp_path, fold=2)
    with pytest.raises(hr.GraphError, match="only the split 'train' has folds"):
        datasets.STL10(tmp_path, "test", fold=0)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("train_X.bin", bytes(27647), "27,647 bytes are not a number of images"),
        ("train_y.bin", b"\1\2\3\4", "4 labels, and .* has 5 images"),
        ("train_y.bin", b"\0\1\2\3\4", "label 0 is -1"),
        ("class_names.txt", b"cat\ncat\n", "the class cat comes twice"),
        ("class_names.txt", b"caf\xe9\n", "class 0 is not UTF-8"),
        ("fold_indices.txt", b"0 5\n", "line 1: fold 0 is not a list of rows below 5"),
    ],
)
def test_damage_of_stl10_is_an_error(tmp_path, name, data, said):
    made.write_stl10(tmp_path)
    (tmp_path / name).write_bytes(data)
    with pytest.raises(hr.DataError, match=f"{name}.*{said}"):
        datasets.STL10(tmp_path, fold=0)


def test_usps_has_bytes(tmp_path):
    made.write_usps(tmp_path)
    ds = datasets.USPS(tmp_path)
    values = ((made.usps_values(7, 0).astype(np.float32) + 1) / 2 * 255).astype(np.uint8)
    np.testing.assert_array_equal(column(ds, "image"), values.reshape(7, 16, 16, 1))
    assert column(ds, "label").tolist() == list(range(7))
    assert len(datasets.USPS(tmp_path, "test")) == 3 and len(datasets.USPS(tmp_path, "all")) == 10


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty"),
        ("1 1:0\n", "line 1: it must have the values 1 to 256"),
        ("1\n", "line 1: it must have the values 1 to 256"),
        ("1 " + " ".join(f"{i}:x" for i in range(1, 257)), "line 1: .*could not convert"),
        ("1 " + " ".join(f"{i}:nan" for i in range(1, 257)), "line 1: it must have a label of 1 to 10, and values"),
        ("-1 " + " ".join(f"{i}:0" for i in range(1, 257)), "line 1: it must have a label"),
        ("11 " + " ".join(f"{i}:0" for i in range(1, 257)), "label 0 is 10"),
    ],
)
def test_damage_of_usps_is_an_error(tmp_path, text, said):
    (tmp_path / "usps").write_text(text)
    with pytest.raises(hr.DataError, match=f"usps.*{said}"):
        datasets.USPS(tmp_path)


def test_semeion_is_black_and_white(tmp_path):
    made.write_semeion(tmp_path)
    ds = datasets.Semeion(tmp_path)
    bits = np.random.default_rng(0).integers(0, 2, (6, 256)).reshape(6, 16, 16, 1)
    np.testing.assert_array_equal(column(ds, "image"), bits * 255)
    assert column(ds, "label").tolist() == list(range(6))
    (tmp_path / "semeion.data").write_text("1.0000 0.5\n")
    with pytest.raises(hr.DataError, match="semeion.data, line 1: it must have 256 numbers"):
        datasets.Semeion(tmp_path)


def test_noise_is_the_same_for_the_same_numbers():
    first, again, other = (datasets.FakeImage(7, (5, 4, 3), classes=3, draws=draws) for draws in (1, 1, 2))
    assert first.schema == {"image": ("uint8", (5, 4, 3)), "label": ("int64", ())}
    np.testing.assert_array_equal(column(first, "image"), column(again, "image"))
    np.testing.assert_array_equal(column(first, "label"), column(again, "label"))
    assert not np.array_equal(column(first, "image"), column(other, "image"))
    assert set(column(datasets.FakeImage(100, (1, 1, 1), 3), "label").tolist()) == {0, 1, 2}
    with pytest.raises(hr.GraphError, match="FakeImage: size is"):
        datasets.FakeImage(3, (5, 4))
    with pytest.raises(hr.GraphError, match="more than 64 GiB"):
        datasets.FakeImage(1 << 30)


@pytest.mark.parametrize(
    ("write", "opened"),
    [
        (made.write_cifar10, datasets.Cifar10),
        (made.write_cifar10_pickles, datasets.Cifar10),
        (made.write_svhn, datasets.SVHN),
        (made.write_stl10, datasets.STL10),
        (lambda at: made.write_emnist(at, "balanced", range(10), None), lambda at: datasets.EMnist(at, "balanced")),
    ],
)
def test_each_picture_is_one_piece_of_memory(tmp_path, write, opened):
    write(tmp_path)
    ds = opened(tmp_path)
    assert ds._set_binding[1]["image"].flags.c_contiguous


# What torchvision makes of the same files, where it is installed: pixels and labels.
OF_TORCHVISION = {
    "MNIST": (lambda at: made.write_mnist(at / "MNIST" / "raw"), datasets.Mnist, {"train": True}, "targets"),
    "FashionMNIST": (
        lambda at: made.write_mnist(at / "FashionMNIST" / "raw"),
        datasets.FashionMnist,
        {"train": True},
        "targets",
    ),
    "KMNIST": (lambda at: made.write_mnist(at / "KMNIST" / "raw"), datasets.KMnist, {"train": True}, "targets"),
    "CIFAR10": (
        lambda at: made.write_cifar10_pickles(at / "cifar-10-batches-py"),
        datasets.Cifar10,
        {"train": True},
        "targets",
    ),
    "CIFAR100": (
        lambda at: made.write_cifar100_pickles(at / "cifar-100-python", names=str),
        datasets.Cifar100,
        {"train": True},
        "targets",
    ),
    "USPS": (made.write_usps, datasets.USPS, {"train": True}, "targets"),
    "SEMEION": (made.write_semeion, datasets.Semeion, {}, "labels"),
}


@pytest.mark.torch
@pytest.mark.parametrize("kind", OF_TORCHVISION)
def test_pixels_and_labels_are_torchvisions(tmp_path, kind, monkeypatch):
    torchvision = pytest.importorskip("torchvision")
    write, ours, given, labels = OF_TORCHVISION[kind]
    write(tmp_path)
    # It compares the publisher's checksums, which small files do not have.
    for module in (torchvision.datasets.cifar, torchvision.datasets.semeion):
        monkeypatch.setattr(module, "check_integrity", lambda *path: True)
    theirs = getattr(torchvision.datasets, kind)(tmp_path, **given)
    ds = ours(tmp_path)
    np.testing.assert_array_equal(column(ds, "image").squeeze(), np.asarray(theirs.data).squeeze())
    np.testing.assert_array_equal(column(ds, "label"), np.asarray(getattr(theirs, labels)))
