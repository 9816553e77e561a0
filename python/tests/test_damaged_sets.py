"""Files of sets with random damage are read, or are an error of Headrace: no other exception, and no crash."""

import random
import warnings

import pytest

import headrace as hr
from tests.named_sets import SMALL_SETS
from tests.thinning import examples

ROUNDS = examples(30)
WORDS = [
    b"\0",
    b"\xff",
    b"\n",
    b"\r\n",
    b" ",
    b"\t",
    b",",
    b";",
    b"|",
    b'"',
    b"-1",
    b"1e400",
    b"nan",
    b"9" * 30,
    b"\xe9",
]


def damaged(data: bytes, draws: random.Random) -> bytes:
    """With one of the faults that copies have."""
    place = draws.randrange(len(data) + 1)
    if draws.random() < 0.5:
        # Heads and first lines decide most.
        place = min(place, draws.randrange(200))
    length = draws.choice([1, 1, 4, 40])
    return draws.choice(
        [
            data[:place],
            data[:place] + data[place + length :],
            data[:place] + draws.choice(WORDS) + data[place:],
            data[:place] + draws.randbytes(length) + data[place + length :],
            data[:place] + draws.choice(WORDS) + data[place + length :],
            data + draws.randbytes(length),
            data[:place] + data[place : place + 100] + data[place:],
        ]
    )


@pytest.mark.parametrize("kind", SMALL_SETS)
def test_damage_is_an_error_of_headrace_or_none(tmp_path, kind):
    write, opened = SMALL_SETS[kind]
    write(tmp_path)
    contents = (".jpg", ".png", ".ppm", ".wav", ".flac", ".sph")
    there = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    files = [path for path in there if path.suffix not in contents] or there
    draws = random.Random(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hr.PipelineWarning)
        assert len(opened(tmp_path)) > 0
        for _ in range(ROUNDS):
            path = draws.choice(files)
            whole = path.read_bytes()
            path.write_bytes(damaged(whole, draws))
            try:
                assert len(list(opened(tmp_path).take(3))) >= 0
            except hr.Error as error:
                assert str(error)
            path.write_bytes(whole)
