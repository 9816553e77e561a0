"""`pack.make_lists`: the lists of im2rec.py of MXNet 1.9.1, line by line."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace.pack import make_lists


def touch(root, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")


def lines(path) -> list[str]:
    return path.read_text().splitlines()


@pytest.fixture
def photos_root(tmp_path):
    root = tmp_path / "root"
    touch(root, "b/2.jpg", "b/10.JPG", "a/deep/x.png", "a/1.jpeg", "a/note.txt", "c.jpg", "empty/none.txt", "b/t/z.jpg")
    return root


def test_a_folders_files_come_before_its_folders(photos_root, tmp_path):
    made = make_lists(tmp_path / "set", photos_root, recursive=True, shuffle=False)
    assert made.paths == [str(tmp_path / "set.lst")] and made.pictures == 6
    assert lines(tmp_path / "set.lst") == [
        "0\t0.000000\tc.jpg",
        "1\t1.000000\ta/1.jpeg",
        "2\t2.000000\ta/deep/x.png",
        "3\t3.000000\tb/10.JPG",
        "4\t3.000000\tb/2.jpg",
        "5\t4.000000\tb/t/z.jpg",
    ]
    assert made.classes == {".": 0, "a": 1, "a/deep": 2, "b": 3, "b/t": 4}


def test_without_recursive_every_label_is_0(photos_root, tmp_path):
    made = make_lists(tmp_path / "set", photos_root, shuffle=False)
    assert lines(tmp_path / "set.lst") == ["0\t0.000000\tc.jpg"] and made.classes == {}


# im2rec.py calls random.seed(100) and random.shuffle on the whole list, before it is cut.
def test_the_shuffled_order_is_that_of_im2rec(tmp_path):
    touch(tmp_path / "root", *(f"{i:03}.jpg" for i in range(20)))
    make_lists(tmp_path / "set", tmp_path / "root")
    order = [int(line.split("\t")[0]) for line in lines(tmp_path / "set.lst")]
    assert order == [7, 15, 19, 0, 2, 3, 13, 9, 10, 17, 1, 8, 6, 16, 11, 12, 5, 18, 14, 4]
    make_lists(tmp_path / "other", tmp_path / "root", seed=1)
    assert lines(tmp_path / "other.lst") != lines(tmp_path / "set.lst")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"train_ratio": 0.5}, {"_val": 5, "_train": 5}),
        ({"train_ratio": 0.5, "test_ratio": 0.2}, {"_test": 2, "_val": 3, "_train": 5}),
        ({"train_ratio": 0.8, "test_ratio": 0.2}, {"_test": 2, "_train": 8}),
        ({"chunks": 3}, {"_0": 4, "_1": 4, "_2": 2}),
        ({"chunks": 2, "train_ratio": 0.8}, {"_0_val": 1, "_0_train": 4, "_1_val": 1, "_1_train": 4}),
    ],
)
def test_parts(tmp_path, options, expected):
    touch(tmp_path / "root", *(f"{i}.jpg" for i in range(10)))
    made = make_lists(tmp_path / "set", tmp_path / "root", shuffle=False, **options)
    assert {path.removeprefix(str(tmp_path / "set")): len(open(path).readlines()) for path in made.paths} == {
        f"{name}.lst": count for name, count in expected.items()
    }
    found = [line for path in made.paths for line in open(path)]
    assert len(set(found)) == len(found) == 10


# Tests come first, then training, and what is left is for validation.
def test_parts_are_runs_in_the_order_of_im2rec(tmp_path):
    touch(tmp_path / "root", *(f"{i}.jpg" for i in range(10)))
    make_lists(tmp_path / "set", tmp_path / "root", shuffle=False, train_ratio=0.5, test_ratio=0.2)
    numbers = {
        part: [int(line.split("\t")[0]) for line in lines(tmp_path / f"set_{part}.lst")]
        for part in ("test", "train", "val")
    }
    assert numbers == {"test": [0, 1], "train": [2, 3, 4, 5, 6], "val": [7, 8, 9]}


@settings(max_examples=15, deadline=None)
@given(
    count=st.integers(1, 15),
    chunks=st.integers(1, 6),
    train=st.sampled_from([0.0, 0.3, 0.75, 1.0]),
    test=st.sampled_from([0.0, 0.25]),
)
def test_every_image_is_in_one_list(tmp_path_factory, count, chunks, train, test):
    if train == 1.0 and test:
        return
    folder = tmp_path_factory.mktemp("lists")
    touch(folder / "root", *(f"{i}.jpg" for i in range(count)))
    made = make_lists(folder / "set", folder / "root", chunks=chunks, train_ratio=train, test_ratio=test)
    names = [line.split("\t")[2] for path in made.paths for line in open(path).read().splitlines()]
    if train + test < 1.0 or train == 1.0:
        assert sorted(names) == sorted(f"{i}.jpg" for i in range(count))
    assert len(set(names)) == len(names)


def test_links_are_followed_but_not_round(tmp_path):
    touch(tmp_path / "root", "a/1.jpg")
    touch(tmp_path / "elsewhere", "2.jpg")
    os.symlink(tmp_path / "elsewhere", tmp_path / "root/b")
    os.symlink(tmp_path / "root", tmp_path / "root/a/round")
    made = make_lists(tmp_path / "set", tmp_path / "root", recursive=True, shuffle=False)
    assert made.classes == {"a": 0, "b": 1} and made.pictures == 2


def test_endings_are_chosen(photos_root, tmp_path):
    make_lists(tmp_path / "set", photos_root, recursive=True, shuffle=False, exts=["png", ".txt"])
    names = [line.split("\t")[2] for line in lines(tmp_path / "set.lst")]
    assert names == ["a/note.txt", "a/deep/x.png", "empty/none.txt"]


def test_names_that_are_not_utf8_keep_their_bytes(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    with open(os.fsencode(root) + b"/\xff.jpg", "wb"):
        pass
    make_lists(tmp_path / "set", root)
    assert (tmp_path / "set.lst").read_bytes() == b"0\t0.000000\t\xff.jpg\n"


def test_what_cannot_be_listed_is_named(photos_root, tmp_path):
    with pytest.raises(hr.NotFoundError, match="there is no folder"):
        make_lists(tmp_path / "set", tmp_path / "nowhere")
    with pytest.raises(hr.DataError, match=r"holds no image that ends in \.jpeg.*recursive"):
        make_lists(tmp_path / "set", photos_root / "a/deep/..//../empty")
    touch(tmp_path / "tabs", "a\tb.jpg")
    with pytest.raises(hr.DataError, match="tab"):
        make_lists(tmp_path / "set", tmp_path / "tabs")
    assert not (tmp_path / "set.lst").exists()


@pytest.mark.parametrize("given", [{"chunks": 0}, {"train_ratio": 1.5}, {"train_ratio": 0.9, "test_ratio": 0.2}])
def test_impossible_parts_are_refused(photos_root, tmp_path, given):
    with pytest.raises(hr.GraphError, match="make_lists"):
        make_lists(tmp_path / "set", photos_root, **given)


def test_a_name_that_a_list_would_cut_is_refused(tmp_path):
    for name in ("a\tb.jpg", " a.jpg", "b/a.jpg "):
        root = tmp_path / name.strip().replace("\t", "").replace("/", "")
        touch(root, name)
        with pytest.raises(hr.DataError, match="which no list can hold; rename it"):
            make_lists(tmp_path / "set", root, recursive=True, exts=(".jpg", ".jpg "))
