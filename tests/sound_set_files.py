"""Sets of sounds made small, in the layouts of their publishers. Recordings are no more than their own names."""

import pathlib
from collections.abc import Sequence

from tests.picture_set_files import put, put_text


def write_speech_commands(folder: pathlib.Path) -> None:
    speakers = ("0a7c2a8d", "1b4c9b89")
    put(
        folder,
        [
            f"{word}/{speaker}_nohash_{number}.wav"
            for word in ("yes", "no")
            for speaker in speakers
            for number in (0, 1)
        ],
    )
    put(folder / "_background_noise_", ["pink_noise.wav", "README.md"])
    put_text(folder / "validation_list.txt", "yes/1b4c9b89_nohash_1.wav\nno/1b4c9b89_nohash_0.wav\n")
    put_text(folder / "testing_list.txt", "no/0a7c2a8d_nohash_1.wav\n")


def write_libri_speech(folder: pathlib.Path) -> None:
    of = folder / "LibriSpeech" / "dev-clean"
    for place, names in (("84/121123", ["0000", "0001"]), ("1272/7", ["0003"])):
        start = place.replace("/", "-")
        put(of / place, [f"{start}-{name}.flac" for name in names])
        put_text(of / place / f"{start}.trans.txt", "".join(f"{start}-{name} GO  ON {name}\n" for name in names))


def write_libri_tts(folder: pathlib.Path) -> None:
    of = folder / "dev-clean" / "84" / "121123"
    names = ["84_121123_000007_000001", "84_121123_000008_000000"]
    put(of, [f"{name}.wav" for name in names] + [f"{name}.normalized.txt" for name in names])
    put_text(of / "84_121123.trans.tsv", "".join(f'{name}\tMr. "X" {name}\tMister X\n' for name in names))


def write_lj_speech(folder: pathlib.Path) -> None:
    put(folder / "wavs", ["LJ001-0001.wav", "LJ001-0002.wav"])
    put_text(folder / "metadata.csv", 'LJ001-0002|in "1455|in "fourteen\nLJ001-0001|Printing|Printing\n')


def write_yes_no(folder: pathlib.Path) -> None:
    put(folder / "waves_yesno", ["1_1_0_0_0_0_0_1.wav", "0_1_0_1_1_1_0_0.wav", "README"])


def write_cmu_arctic(folder: pathlib.Path) -> None:
    of = folder / "cmu_us_bdl_arctic"
    put(of / "wav", ["arctic_a0001.wav", "arctic_b0002.wav"])
    put_text(
        of / "etc" / "txt.done.data",
        '( arctic_a0001 "Author of the danger trail, etc." )\n(arctic_b0002 "He said ""no""." )\n',
    )


GENRES = ("blues", "classical", "country", "disco", "hiphop", "jazz", "metal", "pop", "reggae", "rock")


def write_gtzan(folder: pathlib.Path) -> None:
    put(folder / "genres", [f"{genre}/{genre}.0000{number}.wav" for genre in GENRES for number in (1, 0)])
    put(folder / "genres" / "jazz", ["jazz.mf"])


def write_tedlium(folder: pathlib.Path) -> None:
    of = folder / "TEDLIUM_release2" / "dev"
    put(of / "sph", ["B_2010.sph", "A_2009.sph"])
    put_text(of / "stm" / "B_2010.stm", "B_2010 1 Bee 0 2.5 <NA> ignore_time_segment_in_scoring\n")
    put_text(
        of / "stm" / "A_2009.stm",
        ";; a comment\nA_2009 1 A 8.79 16.23 <o,f0,male> thank  you so 'much\nA_2009 1 A 16.23 17 <o,f0,male>\n",
    )


def write_vctk(folder: pathlib.Path, others: Sequence[str] = ()) -> None:
    """`others`: what a copy has beside recordings with texts."""
    of = folder / "VCTK-Corpus-0.92"
    names = [f"{speaker}/{speaker}_001_mic{number}.flac" for speaker in ("p226", "p225") for number in (1, 2)]
    put(of / "wav48_silence_trimmed", [*names, *others])
    for speaker in ("p225", "p226"):
        put_text(of / "txt" / speaker / f"{speaker}_001.txt", f"Please call {speaker}.\n")


def write_esc50(folder: pathlib.Path) -> None:
    put(folder / "audio", ["1-100032-A-0.wav", "1-100038-A-14.wav", "5-9-B-0.wav"])
    put_text(
        folder / "meta" / "esc50.csv",
        "filename,fold,target,category,esc10,src_file,take\n1-100032-A-0.wav,1,0,dog,True,100032,A\n"
        "1-100038-A-14.wav,1,14,chirping_birds,False,100038,A\n5-9-B-0.wav,5,0,dog,True,9,B\n",
    )


def write_urban_sound8k(folder: pathlib.Path) -> None:
    put(folder / "audio", ["fold5/100032-3-0-0.wav", "fold10/7-2-0-1.wav"])
    put_text(
        folder / "metadata" / "UrbanSound8K.csv",
        "slice_file_name,fsID,start,end,salience,fold,classID,class\n"
        "100032-3-0-0.wav,100032,0.0,0.317551,1,5,3,dog_bark\n7-2-0-1.wav,7,58.5,62.5,2,10,2,children_playing\n",
    )
