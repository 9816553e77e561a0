"""`hr.open`: the source for whatever is at a path, and what it says of what no source reads."""

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import struct
import zipfile
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import vision as V
from headrace.__main__ import main
from headrace._formats import found_at
from headrace._formats.first_bytes import first_bytes
from headrace._formats.format import Format
from headrace._formats.table import FORMATS
from tests import small_sets
from tests.compressed_bytes import zstd_frames
from tests.tar_bytes import tar_bytes
from tests.tfrecord_bytes import example, frame
from tests.thinning import examples

CSV = b"name,n\na,1\nb,2\n"
JSON_LINES = b'{"n": 1, "t": "a"}\n{"n": 2, "t": "b"}\n'
LIB_SVM = b"1 1:0.5 3:2\n-1 2:1\n"
TEXT = b"a line\nand another\n"
EXAMPLES = frame(example({"n": ("int64", [1])})) + frame(example({"n": ("int64", [2])}))
SAMPLES = tar_bytes([("0.cls", b"1"), ("0.txt", b"a"), ("1.cls", b"2"), ("1.txt", b"b")])
PICTURE = small_sets.PICTURES[0]
COMPRESSED = {"gz": gzip.compress, "zst": zstd_frames, "bz2": bz2.compress, "xz": lzma.compress}


def operator(dataset: hr.Dataset) -> str:
    return repr(dataset).removeprefix("<headrace.Dataset ").split()[0].rstrip(",:")


def numbers(dataset: hr.Dataset, column: str = "n") -> list[int]:
    return [int(row[column]) for row in dataset]


def refusal(path: object) -> str:
    with pytest.raises(hr.UnsupportedError) as caught:
        hr.open(path)
    return str(caught.value)


# ---- files ----


@pytest.mark.parametrize(
    ("name", "source"),
    [("recordio", "ImageRecord"), ("mindrecord", "MindRecord"), ("tfrecord", "TFRecord"), ("tar", "WebDataset")],
)
def test_files_are_known_by_their_bytes_whatever_their_names(tmp_path, name, source):
    path = small_sets.write_all(tmp_path)[name]
    wanted = small_sets.rows_of(small_sets.images())
    assert operator(hr.open(path)) == source
    assert small_sets.rows_of(hr.open(path)) == wanted
    renamed = path.with_name("without-an-ending")
    path.rename(renamed)
    if name != "mindrecord":  # Its header names the file.
        assert small_sets.rows_of(hr.open(str(renamed))) == wanted


@pytest.mark.parametrize(
    ("name", "contents", "source"),
    [
        ("t.csv", CSV, "Csv"),
        ("t.tsv", CSV.replace(b",", b"\t"), "Csv"),
        ("t.jsonl", JSON_LINES, "JsonLines"),
        ("t.libsvm", LIB_SVM, "LibSvm"),
        ("t.txt", TEXT, "Text"),
        ("t.txt", CSV, "Text"),
        ("t.csv", b"one\n1\n", "Csv"),
        ("table", CSV, "Csv"),
        ("table", CSV.replace(b",", b";"), "Csv"),
        ("table", JSON_LINES, "JsonLines"),
        ("table", LIB_SVM, "LibSvm"),
        ("table", TEXT, "Text"),
        ("table.csv", EXAMPLES, "TFRecord"),
    ],
)
def test_texts_are_known_by_name_and_then_by_their_lines(tmp_path, name, contents, source):
    path = tmp_path / name
    path.write_bytes(contents)
    opened = hr.open(path)
    assert operator(opened) == source
    assert len(list(opened)) in (1, 2, 3)


def test_csv_is_read_by_its_delimiter_and_without_a_header(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(CSV.replace(b",", b";"))
    assert numbers(hr.open(path)) == [1, 2]
    path.write_bytes(b"1,2.5\n3,4\n")
    assert [(int(row["column0"]), float(row["column1"])) for row in hr.open(path)] == [(1, 2.5), (3, 4.0)]


def test_records_of_any_bytes_and_of_several_labels(tmp_path):
    hr.Numpy({"data": small_sets.column([b"a", b"b"])}).write_records(tmp_path / "any.rec")
    assert [row["record"] for row in hr.open(tmp_path / "any.rec")] == [b"a", b"b"]
    boxes = {"image": small_sets.column(small_sets.PICTURES[:2]), "label": np.ones((2, 5), np.float32)}
    hr.Numpy(boxes).write_records(tmp_path / "boxes.rec")
    assert hr.open(tmp_path / "boxes.rec").schema["label"] == ("float32", (5,))


def test_features_are_those_that_the_first_records_show(tmp_path):
    features = {"n": ("int64", [1]), "x": ("float32", [0.5, 1.5]), "t": ("bytes", [b"a"])}
    (tmp_path / "a.tfrecord").write_bytes(frame(example(features)) * 2)
    schema = hr.open(tmp_path / "a.tfrecord").schema
    assert schema == {"n": ("int64", ()), "t": ("bytes", ()), "x": ("float32", (2,))}
    chosen = hr.open(tmp_path / "a.tfrecord", features={"n": "int64"}, index="build")
    assert list(chosen.schema) == ["n"] and len(chosen) == 2


def test_records_that_are_no_examples_keep_their_bytes(tmp_path):
    (tmp_path / "a.tfrecord").write_bytes(frame(b"\xff\xff") * 2)
    assert [row["record"] for row in hr.open(tmp_path / "a.tfrecord")] == [b"\xff\xff"] * 2


def test_a_feature_of_two_kinds_is_left_out_with_a_warning(tmp_path, capsys):
    path = tmp_path / "a.tfrecord"
    kinds = [("int64", [1]), ("float32", [1.5])]
    path.write_bytes(b"".join(frame(example({"n": kind, "m": ("int64", [1])})) for kind in kinds))
    with pytest.warns(
        hr.PipelineWarning, match=r"'n' is left out: .*; write hr.TFRecord\(.*features=\{'m': 'int64'\}\)"
    ):
        assert numbers(hr.open(path), "m") == [1, 1]
    assert numbers(hr.open(path, features={"m": "int64"}), "m") == [1, 1]
    assert main(["inspect", str(path)]) == 0
    assert "'n' is left out: " in capsys.readouterr().out
    assert main(["convert", str(path), str(tmp_path / "b.tar")]) == 1
    assert "'n' is left out: " in capsys.readouterr().err
    assert main(["convert", str(path), str(tmp_path / "b.tar"), "--columns", "m"]) == 0


@pytest.mark.parametrize(
    ("texts", "dtype"),
    [
        ([b"1", b" -2\n"], "int64"),
        ([str((1 << 64) - 1).encode(), b"0"], "uint64"),
        ([str(1 << 64).encode()], "bytes"),
        ([b"9" * 5000], "bytes"),
        ([b"0.5", b"1"], "float64"),
        ([b"0.5", str((1 << 53) + 1).encode()], "bytes"),
        ([b"1e5", b"nan"], "float64"),
        ([b"01"], "bytes"),
        ([b""], "bytes"),
        ([b"1_0"], "bytes"),
    ],
)
def test_numbers_in_texts_are_of_a_type_that_holds_them(tmp_path, texts, dtype):
    path = tmp_path / "a.tar"
    path.write_bytes(tar_bytes([(f"{number}.n", text) for number, text in enumerate(texts)]))
    opened = hr.open(path)
    assert opened.schema["n"] == (dtype, ()) and len(list(opened)) == len(texts)


@pytest.mark.parametrize(
    ("objects", "columns"),
    [
        (['{"a": 1, "b": "x"}', '{"a": 2, "b": ""}'], {"json.a": "int64", "json.b": "string"}),
        (['{"a": 1, "b": null}', '{"a": 2, "b": null}'], {"json": "bytes"}),
        (['{"a": 1}', '{"a": 2, "b": 3}'], {"json": "bytes"}),
        (['{"a": 1}', '{"a": "x"}'], {"json": "bytes"}),
        (['{"a": {"b": 1}}'], {"json": "bytes"}),
        (["{}", "[]"], {"json": "bytes"}),
        (["no"], {"json": "bytes"}),
        (["[1, 2]", "[3]"], {"json": "int64"}),
    ],
)
def test_no_key_of_json_is_lost(tmp_path, objects, columns):
    path = tmp_path / "a.tar"
    path.write_bytes(tar_bytes([(f"{number}.json", text.encode()) for number, text in enumerate(objects)]))
    opened = hr.open(path)
    assert {name: column.dtype for name, column in opened.schema.items()} == columns
    assert len(list(opened)) == len(objects)


def test_a_field_that_some_samples_lack_is_left_out_with_a_warning(tmp_path):
    path = tmp_path / "a.tar"
    path.write_bytes(tar_bytes([("0.cls", b"1"), ("0.json", b"{}"), ("1.cls", b"2")]))
    with pytest.warns(hr.PipelineWarning, match="'json' is left out: some of the first samples lack it"):
        assert numbers(hr.open(path), "cls") == [1, 2]
    path.write_bytes(tar_bytes([("0.jpg", b"1"), ("1.png", b"2")]))
    with pytest.raises(hr.GraphError, match="name the columns"):
        hr.open(path)
    assert numbers(hr.open(path, columns=["jpg;png"]), "jpg;png") == [1, 2]


def test_fields_of_samples_are_decoded_where_all_of_the_first_allow_it(tmp_path):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    rows = hr.Numpy(
        {
            "cls": [1, 2],
            "score": [0.5, 2.0],
            "txt": ["7", "b"],
            "x.npy": np.stack([array, array + 1]),
            "json.box": np.arange(8).reshape(2, 4),
            "json.name": ["a", "b"],
            "bin": small_sets.column([b"2", b"1"]),
            "code": small_sets.column([b"007", b"008"]),
        }
    )
    rows.write_tar(tmp_path / "a.tar")
    opened = hr.open(tmp_path / "a.tar")
    assert opened.schema == {
        "cls": ("int64", ()),
        "score": ("float64", ()),
        "txt": ("string", ()),
        "x.npy": ("float32", (2, 3)),
        "json.box": ("int64", (4,)),
        "json.name": ("string", ()),
        "bin": ("bytes", ()),
        "code": ("bytes", ()),
    }
    for found, wanted in zip(opened, rows, strict=True):
        for name in wanted:
            np.testing.assert_array_equal(found[name], wanted[name])
    assert hr.open(tmp_path / "a.tar", decode={"cls": "int32"}).schema["score"] == ("bytes", ())


def test_an_image_list_is_read_from_its_own_folder(tmp_path):
    (tmp_path / "a.png").write_bytes(PICTURE)
    (tmp_path / "set.lst").write_text("0\t3\ta.png\n")
    (row,) = hr.open(tmp_path / "set.lst")
    assert row["image"] == PICTURE and row["label"] == 3
    (tmp_path / "set.lst").write_text("0\t3\t4\ta.png\n")
    assert hr.open(tmp_path / "set.lst").schema["label"] == ("float32", (2,))


def test_files_of_a_source_that_reads_one_are_not_joined(tmp_path):
    (tmp_path / "a.png").write_bytes(PICTURE)
    for name in ("a.lst", "b.lst"):
        (tmp_path / name).write_text("0\t3\ta.png\n")
    assert "2 files are image list, and hr.ImageList reads one" in refusal(tmp_path / "*.lst")


def test_images_with_metadata_are_a_table(tmp_path):
    (tmp_path / "a.png").write_bytes(PICTURE)
    (tmp_path / "metadata.jsonl").write_text('{"file_name": "a.png", "n": 3}\n')
    found = found_at(tmp_path)
    assert found.call(found.proposed({})) == f"hr.Manifest({str(tmp_path)!r}, path_column='file_name')"


@pytest.mark.parametrize("form", ["file", "JSON"])
def test_a_saved_graph_is_loaded(tmp_path, form):
    path = tmp_path / "graph"
    if form == "file":
        hr.Range(3).save(path)
    else:
        path.write_text(hr.Range(3).to_json())
    assert numbers(hr.open(path), "value") == [0, 1, 2]


def test_a_saved_graph_that_writes_is_refused_unless_it_may(tmp_path):
    hr.Range(3).cache(directory=tmp_path / "rows").save(tmp_path / "graph")
    with pytest.raises(hr.GraphError, match="writes=False"):
        hr.open(tmp_path / "graph")
    assert numbers(hr.open(tmp_path / "graph", writes=True), "value") == [0, 1, 2]


# ---- compressed files ----


@pytest.mark.parametrize("ending", ["gz", "zst"])
@pytest.mark.parametrize(
    ("contents", "source"),
    [(CSV, "Csv"), (JSON_LINES, "JsonLines"), (TEXT, "Text"), (EXAMPLES, "TFRecord"), (SAMPLES, "WebDataset")],
)
def test_compressed_files_are_looked_into(tmp_path, ending, contents, source):
    path = tmp_path / f"data.{ending}"
    path.write_bytes(COMPRESSED[ending](contents))
    opened = hr.open(path)
    assert operator(opened) == source and len(list(opened)) == 2


@pytest.mark.parametrize("ending", ["bz2", "xz"])
def test_what_is_read_only_uncompressed_says_so(tmp_path, ending):
    path = tmp_path / f"data.tar.{ending}"
    path.write_bytes(COMPRESSED[ending](SAMPLES))
    assert numbers(hr.open(path), "cls") == [1, 2]
    path = tmp_path / f"data.csv.{ending}"
    path.write_bytes(COMPRESSED[ending](CSV))
    assert f"is CSV compressed by {'bzip2' if ending == 'bz2' else 'xz'}: decompress it first: bun" in refusal(
        path
    ) or "unxz" in refusal(path)


def test_zlib_is_known_by_what_it_holds(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(zlib.compress(EXAMPLES))
    assert numbers(hr.open(path)) == [1, 2]
    path.write_bytes(zlib.compress(CSV))
    assert "is CSV compressed by zlib: decompress it first" in refusal(path)
    path.write_bytes(b"x^2 + y^2 = 1\n")
    assert operator(hr.open(path)) == "Text"


def test_a_damaged_compressed_file_is_named(tmp_path):
    path = tmp_path / "data.gz"
    path.write_bytes(gzip.compress(CSV)[:12])
    assert str(path) in refusal(path) and "compressed by gzip" in refusal(path)
    path.write_bytes(gzip.compress(bytes(100)))
    assert "of no format that is known" in refusal(path)


def test_what_a_few_bytes_decompress_to_is_not_held(tmp_path):
    zeros = bytes(1 << 20)
    for ending, compress in COMPRESSED.items():
        path = tmp_path / f"a.{ending}"
        path.write_bytes(compress(zeros * (1 if ending == "zst" else 64)))
        assert len(first_bytes(str(path)).head) <= 1 << 16


def test_an_xz_dictionary_of_any_size_is_not_made(tmp_path):
    path = tmp_path / "a.xz"
    path.write_bytes(lzma.compress(CSV, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 256 << 20}]))
    assert first_bytes(str(path)).head == b""


# ---- folders, patterns and lists ----


def test_class_folders_and_images_alone(tmp_path, photos):
    assert operator(hr.open(photos)) == "ImageFolder" and len(hr.open(photos, shuffle=True)) == 12
    for name in ("b.png", "a.PNG"):
        (tmp_path / name).write_bytes(PICTURE)
    opened = hr.open(tmp_path)
    assert operator(opened) == "Files" and [row["data"] for row in opened] == [PICTURE] * 2


def test_class_folders_of_other_endings(tmp_path):
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.bmp").write_bytes(b"BM")
    assert len(hr.open(tmp_path)) == 2


@pytest.mark.parametrize("name", list(small_sets.WRITERS))
def test_a_folder_a_pattern_and_a_list_of_one_format(tmp_path, name):
    ending, _ = small_sets.WRITERS[name]
    folder = tmp_path / "set [a];"
    folder.mkdir()
    write = {
        "recordio": "write_records",
        "mindrecord": "write_mindrecord",
        "tfrecord": "write_tfrecord",
        "tar": "write_tar",
    }
    folder = folder if name != "mindrecord" else tmp_path
    written = getattr(small_sets.images(), write[name])(folder / f"set{ending}", files=3)
    (folder / "README.md").write_text("About it.")
    (folder / ".hidden").write_text("x")
    wanted = small_sets.rows_of(small_sets.images())
    assert small_sets.rows_of(hr.open(folder)) == wanted
    assert small_sets.rows_of(hr.open(written.paths)) == wanted
    if folder == tmp_path:
        assert small_sets.rows_of(hr.open(tmp_path / f"set{ending}[0-9]")) == wanted
        assert small_sets.rows_of(hr.open(written.paths[0])) == wanted


def test_of_many_files_a_few_are_looked_at(tmp_path, monkeypatch):
    looked = []

    def first_bytes_of(path: str) -> object:
        looked.append(path)
        return first_bytes(path)

    for number in range(40):
        (tmp_path / f"train.tfrecord-{number:05}-of-00040").write_bytes(frame(example({"n": ("int64", [number])})))
    monkeypatch.setattr("headrace._formats.opening.first_bytes", first_bytes_of)
    assert numbers(hr.open(tmp_path)) == list(range(40))
    assert len(looked) == 16 and looked[-1].endswith("-00039-of-00040")


def test_files_of_several_formats_are_listed(tmp_path):
    (tmp_path / "a.csv").write_bytes(CSV)
    (tmp_path / "b.tfrecord").write_bytes(EXAMPLES)
    (tmp_path / "c.json").write_text('{\n "a": 1\n}')
    said = refusal(tmp_path)
    assert f"JSON over several lines ({tmp_path}/c.json)" in said
    assert f"CSV ({tmp_path}/a.csv)" in said and f"TFRecord ({tmp_path}/b.tfrecord)" in said
    assert numbers(hr.open(tmp_path / "*.csv")) == [1, 2]


def test_the_manifest_of_a_set_is_left_out(tmp_path):
    hr.Numpy({"x": np.arange(2)}).write_tfrecord(tmp_path / "set.tfrecord", files=2)
    (tmp_path / "set.tfrecord.manifest.json").write_text('{"rows": 2}')
    assert [int(row["x"]) for row in hr.open(tmp_path)] == [0, 1]


def test_folders_of_folders_and_nothing(tmp_path):
    with pytest.raises(hr.NotFoundError, match="is empty"):
        hr.open(tmp_path)
    (tmp_path / "train/cat").mkdir(parents=True)
    (tmp_path / "train/cat/1.png").write_bytes(PICTURE)
    assert "holds the folders train" in refusal(tmp_path) and "open one of them" in refusal(tmp_path)
    assert len(hr.open(tmp_path / "train")) == 1
    with pytest.raises(hr.NotFoundError, match="nothing matches"):
        hr.open(tmp_path / "*.csv")
    with pytest.raises(hr.NotFoundError, match=r"there is no .*nowhere"):
        hr.open(tmp_path / "nowhere")
    for wrong in ([], 3, None):
        with pytest.raises(hr.GraphError, match="path"):
            hr.open(wrong)


def test_folders_that_no_source_reads_say_what_to_write(tmp_path):
    def made(name: str, *files: str) -> object:
        for file in files:
            (tmp_path / name / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / file).write_text("{}")
        return tmp_path / name

    face = refusal(made("face", "dataset_info.json", "state.json", "data-00000-of-00001.arrow"))
    assert f"hr.from_huggingface(datasets.load_from_disk({str(tmp_path / 'face')!r}))" in face
    split = refusal(made("faces", "dataset_dict.json", "test/state.json", "train/state.json"))
    assert '["test"])' in split
    assert "is Zarr: open it with zarr.open(" in refusal(made("zarr", ".zarray", "0.0"))
    assert "lance.dataset(" in refusal(made("lance", "_versions/1.manifest", "data/a.lance"))


def test_names_of_any_bytes(tmp_path, capsys):
    folder = os.fsencode(tmp_path / "a*[b];") + b"\xff\x1b"
    os.mkdir(folder)
    path = folder + b"/\xfe.csv"
    with open(path, "wb") as file:
        file.write(CSV)
    assert numbers(hr.open(path)) == numbers(hr.open(folder)) == [1, 2]
    assert main(["inspect", os.fsdecode(path)]) == 0
    assert main(["verify", os.fsdecode(folder)]) == 0
    assert main(["unpack", os.fsdecode(path), os.fsdecode(folder + b"/out")]) == 0
    assert main(["convert", os.fsdecode(path), os.fsdecode(folder + b"/out.tfrecord")]) == 0
    assert numbers(hr.open(folder + b"/out.tfrecord")) == [1, 2]
    captured = capsys.readouterr()
    assert "\x1b" not in captured.out + captured.err
    os.mkdir(folder + b"/mixed")
    for name, contents in ((b"/\xfa", CSV), (b"/\xfb", EXAMPLES)):
        with open(folder + b"/mixed" + name, "wb") as file:
            file.write(contents)
    assert "\x1b" not in refusal(folder + b"/mixed")


# ---- what no source reads ----


def zipped(name: str) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr(name, b"x")
    return written.getvalue()


REFUSED = {
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(500), "h5py"),
    "zip": (zipped("a.csv"), "unpack it first: unzip"),
    "a spreadsheet": (zipped("[Content_Types].xml"), "pandas"),
    "PyTorch's zip of a pickle": (zipped("archive/data.pkl"), "unpickling may run any code"),
    "a pickle": (pickle.dumps({"a": [1, 2]}), "unpickling may run any code"),
    "safetensors": (
        (lambda head: struct.pack("<Q", len(head)) + head + bytes(8))(
            json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
        ),
        "safetensors.numpy",
    ),
    "PNG": (PICTURE, "hr.ImageFolder"),
    "JPEG": (V.EncodeJpeg()(np.zeros((4, 4, 3), np.uint8)), "hr.ImageFolder"),
    "WAVE sound": (b"RIFF\x24\0\0\0WAVEfmt ", "hr.Files"),
    "FLAC sound": (b"fLaC\0\0\0\x22", "hr.Files"),
    "a MATLAB file": (b"MATLAB 5.0 MAT-file, Platform", "scipy.io.loadmat"),
    "IDX": (struct.pack(">HBBI", 0, 8, 1, 3) + b"abc", "MNIST"),
    "SQLite": (b"SQLite format 3\0" + bytes(100), "hr.Generator"),
    "UTF-16": ("a,b\n".encode("utf-16"), "convert it to UTF-8"),
    "Git LFS pointer": (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    "empty": (b"", "ending"),
    "of no format": (bytes(range(1, 200)) + b"\0\xff", "hr.Files"),
    "JSON over several lines": (b'{\n "a": 1\n}\n', "an object a line"),
    "annotations of COCO": (b'{\n "images": [],\n "annotations": []\n}\n', "headrace.datasets.Coco"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_it_says_what_a_file_is_and_what_to_write(tmp_path, kind):
    contents, advice = REFUSED[kind]
    path = tmp_path / "data"
    path.write_bytes(contents)
    said = refusal(path)
    assert f"open: {path} is {kind}" in said and advice in said


@pytest.mark.parametrize("text", ["[]", "[1, 2]\n", "3", "nothing", "{}\n[]\n"])
def test_json_without_objects_is_no_text(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    assert "an object a line" in refusal(tmp_path / "a.json")


def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "is a pipe" in refusal(tmp_path / "pipe")


BEGINNINGS = [
    b"", b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd", b"BZh9", b"\xfd7zXZ\0", b"PK\x03\x04", b"PAR1", b"\x93NUMPY\x01\0", b"\x0a\x23\xd7\xce",
    EXAMPLES[:20], SAMPLES[:600], b"\x05\0\0\0\0\0\0\0{", b"{", b"[{", b'{"a": ', b"1 1:", b"a,b\n", b"\x80\x04", b"\0\0\x08\x01\0", b"\xef\xbb\xbf",
]  # fmt: skip


@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    begin=st.sampled_from(BEGINNINGS),
    rest=st.binary(max_size=80) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")),
    ending=st.sampled_from(
        [
            "",
            ".gz",
            *(
                ending
                for form in FORMATS
                for ending in form.endings
                if not form.name.startswith((".np", "Arrow", "Parquet"))
            ),
        ]
    ),
)
def test_whatever_bytes_are_opened_or_refused(tmp_path, begin, rest, ending):
    path = tmp_path / f"data{ending}"
    path.write_bytes(begin + rest)
    known = {each.name for each in FORMATS}
    try:
        found = found_at(path)
    except hr.Error as error:
        assert str(path) in str(error)
    else:
        assert found.format.name in known and found.place.files == [str(path)]


# ---- the table ----


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_every_entry_can_be_found(form: Format):
    assert form.kinds or form.recognises is not None or form.is_folder is not None
    assert form.call.startswith("hr.") and form.call.removeprefix("hr.")[0].isalpha()
    assert all(ending.startswith(".") and ending == ending.lower() for ending in form.endings)


def test_no_two_entries_claim_a_name():
    endings = [ending for form in FORMATS for ending in form.endings]
    assert len(endings) == len(set(endings))
    targets = [ending for form in FORMATS if form.target for ending in form.target.endings]
    assert len(targets) == len(set(targets))
