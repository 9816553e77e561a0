"""Sets of sounds: tables over the lists and folders of their publishers, with the bytes of the recordings."""

import warnings

import numpy as np
import pytest

import headrace as hr
from headrace import datasets
from tests import sound_set_files as made
from tests.picture_set_files import put, put_text


def values(ds: hr.Dataset, name: str) -> list:
    return [np.asarray(row[name]).tolist() for row in ds]


def names(ds: hr.Dataset, column: str = "audio") -> list[str]:
    """Of the recordings, whose bytes are their names."""
    return [row[column].decode() for row in ds]


@pytest.mark.filterwarnings("ignore:SpeechCommands. left out _background")
def test_speech_commands(tmp_path):
    made.write_speech_commands(tmp_path / "SpeechCommands" / "speech_commands_v0.02")
    ds = datasets.SpeechCommands(tmp_path)
    assert names(ds) == [
        "0a7c2a8d_nohash_0.wav",
        "1b4c9b89_nohash_1.wav",
        "0a7c2a8d_nohash_0.wav",
        "0a7c2a8d_nohash_1.wav",
        "1b4c9b89_nohash_0.wav",
    ]
    assert values(ds, "label") == [0, 0, 1, 1, 1] and ds.classes == ["no", "yes"]
    assert values(ds, "speaker")[1] == "1b4c9b89" and values(ds, "utterance") == [0, 1, 0, 1, 0]
    assert ds.schema["audio"] == ("bytes", ()) and ds.schema["speaker"] == ("string", ())
    valid = datasets.SpeechCommands(tmp_path, "valid")
    assert names(valid) == ["1b4c9b89_nohash_1.wav", "1b4c9b89_nohash_0.wav"] and values(valid, "label") == [1, 0]
    assert len(datasets.SpeechCommands(tmp_path, "test")) == 1 and len(datasets.SpeechCommands(tmp_path, "all")) == 8


def test_what_speech_commands_leave_out_is_listed(tmp_path):
    made.write_speech_commands(tmp_path)
    put(tmp_path / "no", ["notes.txt"])
    with pytest.warns(hr.PipelineWarning, match="SpeechCommands: left out _background_noise_ .* and 1 more"):
        assert [each.entry for each in datasets.SpeechCommands(tmp_path).left_out] == [
            "_background_noise_",
            "notes.txt",
        ]
    (tmp_path / "no" / "1b4c9b89_nohash_0.wav").unlink()
    with pytest.raises(hr.NotFoundError, match="1 of 2 files missing: no/1b4c9b89_nohash_0.wav"):
        datasets.SpeechCommands(tmp_path, "valid")
    with pytest.warns(hr.PipelineWarning):
        assert len(datasets.SpeechCommands(tmp_path, "valid", missing="skip")) == 1
    with pytest.warns(hr.PipelineWarning, match="left out _background_noise_"):
        assert len(datasets.SpeechCommands(tmp_path, "test").left_out) == 1
    put_text(tmp_path / "testing_list.txt", "_background_noise_/pink_nohash_0.wav\n")
    with pytest.raises(hr.DataError, match=r"testing_list.txt, line 1: it must be a word, / and"):
        datasets.SpeechCommands(tmp_path)


def test_libri_speech(tmp_path):
    made.write_libri_speech(tmp_path)
    ds = datasets.LibriSpeech(tmp_path, "dev-clean")
    assert names(ds) == ["1272-7-0003.flac", "84-121123-0000.flac", "84-121123-0001.flac"]
    assert values(ds, "text") == ["GO  ON 0003", "GO  ON 0000", "GO  ON 0001"]
    assert values(ds, "speaker") == [1272, 84, 84] and values(ds, "chapter") == [7, 121123, 121123]
    assert values(ds, "utterance")[0] == "1272-7-0003"
    of = tmp_path / "LibriSpeech" / "dev-clean" / "84" / "121123"
    put(of, ["84-121123-0009.flac"])
    with pytest.warns(hr.PipelineWarning, match="left out 84-121123-0009.flac .*84-121123.trans.txt does not name it"):
        assert len(datasets.LibriSpeech(tmp_path / "LibriSpeech", "dev-clean")) == 3
    put_text(of / "84-121123.trans.txt", "84-121123-0000\n")
    with pytest.raises(hr.DataError, match=r"84-121123.trans.txt, line 1: it must be the name of a recording and"):
        datasets.LibriSpeech(tmp_path, "dev-clean")
    (of / "84-121123.trans.txt").unlink()
    with pytest.raises(hr.NotFoundError, match="missing: 84-121123.trans.txt"):
        datasets.LibriSpeech(tmp_path, "dev-clean")


def test_libri_tts(tmp_path):
    made.write_libri_tts(tmp_path)
    ds = datasets.LibriTTS(tmp_path, "dev-clean")
    assert names(ds) == ["84_121123_000007_000001.wav", "84_121123_000008_000000.wav"]
    assert values(ds, "original_text")[0] == 'Mr. "X" 84_121123_000007_000001'
    assert values(ds, "normalized_text") == ["Mister X"] * 2 and values(ds, "speaker") == [84, 84]


def test_lj_speech_has_no_quotes(tmp_path):
    made.write_lj_speech(tmp_path / "LJSpeech-1.1")
    ds = datasets.LJSpeech(tmp_path)
    assert names(ds) == ["LJ001-0002.wav", "LJ001-0001.wav"] and values(ds, "utterance")[0] == "LJ001-0002"
    assert values(ds, "text")[0] == 'in "1455' and values(ds, "normalized_text")[0] == 'in "fourteen'
    put_text(tmp_path / "LJSpeech-1.1" / "metadata.csv", "a|b\n")
    with pytest.raises(hr.DataError, match=r"metadata.csv, line 1: it must be a name, a text and"):
        datasets.LJSpeech(tmp_path)


def test_yes_no_has_words_in_names(tmp_path):
    made.write_yes_no(tmp_path)
    with pytest.warns(hr.PipelineWarning, match="YesNo: left out README of "):
        ds = datasets.YesNo(tmp_path)
    assert values(ds, "label") == [[0, 1, 0, 1, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0, 0, 1]]
    assert ds.schema["label"] == ("int64", (8,)) and ds.classes == ["no", "yes"]
    put(tmp_path / "waves_yesno", ["0_1.wav"])
    with pytest.warns(hr.PipelineWarning):
        assert [each.entry for each in datasets.YesNo(tmp_path).left_out] == ["README", "0_1.wav"]


def test_cmu_arctic(tmp_path):
    made.write_cmu_arctic(tmp_path)
    ds = datasets.CMUArctic(tmp_path, "bdl")
    assert names(ds) == ["arctic_a0001.wav", "arctic_b0002.wav"]
    assert values(ds, "text") == ["Author of the danger trail, etc.", 'He said ""no"".']
    put_text(tmp_path / "cmu_us_bdl_arctic" / "etc" / "txt.done.data", "( arctic_a0001 none )\n")
    with pytest.raises(hr.DataError, match=r"txt.done.data, line 1: it must be a name and a text in quotes"):
        datasets.CMUArctic(tmp_path, "bdl")


def test_gtzan(tmp_path):
    made.write_gtzan(tmp_path)
    with pytest.warns(hr.PipelineWarning, match="GTZAN: left out jazz.mf "):
        ds = datasets.GTZAN(tmp_path)
    assert names(ds)[:3] == ["blues.00000.wav", "blues.00001.wav", "classical.00000.wav"] and len(ds) == 20
    assert values(ds, "label")[-1] == 9 and ds.classes == list(made.GENRES)


def test_tedlium_has_segments_of_talks(tmp_path):
    made.write_tedlium(tmp_path)
    ds = datasets.Tedlium(tmp_path, "2", "dev")
    assert names(ds) == ["A_2009.sph", "A_2009.sph", "B_2010.sph"]
    assert values(ds, "start") == [8.79, 16.23, 0] and values(ds, "end") == [16.23, 17, 2.5]
    assert values(ds, "text") == ["thank  you so 'much", "", "ignore_time_segment_in_scoring"]
    assert values(ds, "speaker") == ["A", "A", "Bee"] and values(ds, "label")[2] == "<NA>"
    of = tmp_path / "TEDLIUM_release2" / "dev" / "stm" / "A_2009.stm"
    for text, said in (
        ("A 1 A 1 2\n", "line 1: it must be talk, channel"),
        ("A 1 A 2 1 <x> y\n", "line 1: it must begin before it ends, and is from 2 to 1"),
        ("A 1 A nan 1 <x> y\n", "line 1: start and end has a number that is not finite"),
        ("../A 1 A 0 1 <x> y\n", "line 1: it must be talk"),
    ):
        put_text(of, text)
        with pytest.raises(hr.DataError, match=f"A_2009.stm, {said}"):
            datasets.Tedlium(tmp_path, "2", "dev")


def test_vctk_has_texts_of_files(tmp_path):
    silent = ["p315/p315_001_mic1.flac", "p315/p315_001_mic2.flac"]
    made.write_vctk(tmp_path, [*silent, "p225/notes.txt", "extra/a.flac", "log.txt"])
    with pytest.warns(hr.PipelineWarning, match="VCTK: left out extra .*it is not a speaker, and 2 more"):
        ds = datasets.VCTK(tmp_path)
    assert names(ds) == ["p225_001_mic1.flac", "p226_001_mic1.flac"]
    assert [each.entry for each in ds.left_out] == ["extra", "notes.txt", "p315_001_mic1.flac"]
    assert ds.left_out[2].reason == "its text is not in the folder txt"
    assert names(ds, "text") == ["Please call p225.\n", "Please call p226.\n"]
    assert values(ds, "speaker") == ["p225", "p226"] and ds.schema["text"] == ("bytes", ())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hr.PipelineWarning)
        assert names(datasets.VCTK(tmp_path, "mic2"))[0] == "p225_001_mic2.flac"


def test_esc50(tmp_path):
    made.write_esc50(tmp_path / "ESC-50-master")
    ds = datasets.ESC50(tmp_path)
    assert values(ds, "label") == [0, 14, 0] and values(ds, "fold") == [1, 1, 5]
    assert ds.class_to_idx == {"dog": 0, "chirping_birds": 14}
    assert values(ds, "esc10") == [True, False, True] and values(ds, "source") == ["100032", "100038", "9"]


ESC50_HEAD = "filename,fold,target,category,esc10,src_file,take\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty"),
        (ESC50_HEAD, "it has no rows"),
        (ESC50_HEAD.replace("fold", "part"), "line 1: its head must have filename, .*, and lacks fold"),
        (f"{ESC50_HEAD}1-100032-A-0.wav,1\n", "line 2: it must have 7 fields, and has 2"),
        (f"{ESC50_HEAD}../a.wav,1,0,dog,True,1,A\n", "line 2: filename must be the name of a file, and is '../a.wav'"),
        (f"{ESC50_HEAD}1-100032-A-0.wav,x,0,dog,True,1,A\n", "line 2: fold must be whole numbers"),
        (f"{ESC50_HEAD}1-100032-A-0.wav,1,0,dog,yes,1,A\n", "line 2: esc10 must be True or False"),
        (
            f"{ESC50_HEAD}1-100032-A-0.wav,1,0,dog,True,1,A\n5-9-B-0.wav,1,1,dog,True,1,A\n",
            "line 3: category 'dog' and target 1 belong to others",
        ),
    ],
)
def test_damaged_lists_of_csv_are_an_error(tmp_path, text, said):
    made.write_esc50(tmp_path)
    put_text(tmp_path / "meta" / "esc50.csv", text)
    with pytest.raises(hr.DataError, match=f"esc50.csv.*{said}"):
        datasets.ESC50(tmp_path)


def test_urban_sound8k(tmp_path):
    made.write_urban_sound8k(tmp_path)
    ds = datasets.UrbanSound8K(tmp_path)
    assert names(ds) == ["100032-3-0-0.wav", "7-2-0-1.wav"] and values(ds, "fold") == [5, 10]
    assert values(ds, "label") == [3, 2] and ds.class_to_idx == {"children_playing": 2, "dog_bark": 3}
    assert values(ds, "end") == [0.317551, 62.5] and values(ds, "source") == [100032, 7]
    (tmp_path / "audio" / "fold10" / "7-2-0-1.wav").unlink()
    with pytest.raises(hr.NotFoundError, match="1 of 2 files missing: fold10/7-2-0-1.wav"):
        datasets.UrbanSound8K(tmp_path)


def test_a_graph_over_recordings_is_whole(tmp_path):
    made.write_vctk(tmp_path)
    ds = datasets.VCTK(tmp_path, shuffle=True, seed=1)
    ds.save(tmp_path / "g.hrg")
    assert names(hr.load(tmp_path / "g.hrg")) == names(ds)
