"""Sets of texts: lines that the engine reads by their numbers, and tables of sentences, words and questions."""

import gzip
import json
import os
import pathlib

import numpy as np
import pytest

import headrace as hr
from headrace import datasets
from headrace import transforms as T
from tests import text_set_files as made
from tests.picture_set_files import put_text


def values(ds: hr.Dataset, name: str) -> list:
    return [np.asarray(row[name]).tolist() for row in ds]


# ---- lines that the engine reads ----


def test_ag_news_has_labels_from_zero(tmp_path):
    made.write_ag_news(tmp_path / "ag_news_csv")
    ds = datasets.AGNews(tmp_path)
    assert ds.schema == {"label": ("int32", ()), "title": ("string", ()), "description": ("string", ())}
    assert len(ds) == 4 and values(ds, "label") == [2, 0, 3, 1]
    assert ds[0]["title"] == 'A "big" day' and ds[0]["description"] == "It rained,\\nand rained."
    assert ds.class_to_idx == {"World": 0, "Sports": 1, "Business": 2, "Sci/Tech": 3} and ds.left_out == []
    assert len(datasets.AGNews(tmp_path, "test")) == 2


def test_classes_of_lines_follow_the_labels(tmp_path):
    made.write_ag_news(tmp_path)
    ds = datasets.AGNews(tmp_path, shuffle=True)
    names = ["World", "Sports", "Business", "Sci/Tech"]
    assert ds.classes == ds.classes_of("label") == ds.batch(2).classes == names
    assert ds.map(T.OneHot(4), "label").classes == ds.map(lambda title: title.upper(), "title").classes == names
    assert ds.concat(datasets.AGNews(tmp_path, "test")).repeat(2).classes == names
    assert ds.rename({"label": "field"}).class_to_idx["Sports"] == 1
    with pytest.raises(AttributeError, match="a function changed the labels"):
        _ = ds.map(lambda label: label + 1, "label").classes
    with pytest.raises(AttributeError, match="no column of labels"):
        _ = ds.project("title").classes


def test_lines_are_rows_in_every_way_of_running(tmp_path):
    put_text(tmp_path / "train.csv", "".join(made.csv_line((row % 4 + 1, row, "text")) for row in range(50)))
    ds = datasets.AGNews(tmp_path, shuffle=True, seed=3)
    titles = values(ds, "title")
    assert titles == values(datasets.AGNews(tmp_path, shuffle=True, seed=3), "title")
    assert titles != sorted(titles, key=int) and sorted(titles, key=int) == [str(row) for row in range(50)]
    shards = [[row["title"] for row in ds.iterate(shard=(rank, 3))] for rank in range(3)]
    assert sorted(sum(shards, []), key=int) == [str(row) for row in range(50)]
    started = ds.iterate(epoch=0)
    first = [next(started)["title"] for _ in range(17)]
    assert first + [row["title"] for row in ds.iterate(state=started.state())] == titles
    ds.save(tmp_path / "g.hrg")
    assert values(hr.load(tmp_path / "g.hrg"), "title") == titles


def test_lines_that_are_damaged_are_an_error_of_their_row(tmp_path):
    put_text(tmp_path / "train.csv", made.csv_line((1, "a", "b")) + made.csv_line((2, "a")))
    with pytest.raises(hr.DataError, match=r"train.csv, byte 12"):
        list(datasets.AGNews(tmp_path))


@pytest.mark.parametrize("label", ["0", "5", "-1", "01", " 1", "1.0", "one", "World", ""])
def test_a_number_beyond_the_classes_is_an_error_of_its_row(tmp_path, label):
    put_text(tmp_path / "train.csv", made.csv_line((4, "a", "b")) + made.csv_line((label, "c", "d")))
    ds = datasets.AGNews(tmp_path)
    assert int(ds[0]["label"]) == 3
    with pytest.raises(hr.DataError, match=r'(?s)of "label", is .*, not one of the 4 classes.*train.csv, byte 12'):
        list(ds)


def test_a_loaded_graph_of_lines_has_the_names_of_classes(tmp_path):
    made.write_ag_news(tmp_path)
    ds = datasets.AGNews(tmp_path)
    ds.batch(2).save(tmp_path / "g.hrg")
    loaded = hr.load(tmp_path / "g.hrg")
    assert loaded.classes == loaded.classes_of("label") == ds.classes == ["World", "Sports", "Business", "Sci/Tech"]
    assert [batch["label"].tolist() for batch in loaded] == [[2, 0], [3, 1]]


def test_parquet_keeps_the_names_of_classes_of_lines(tmp_path):
    pytest.importorskip("pyarrow")
    made.write_ag_news(tmp_path)
    ds = datasets.AGNews(tmp_path)
    ds.write_parquet(tmp_path / "news.parquet")
    written = hr.Parquet(str(tmp_path / "news.parquet"))
    assert written.classes == ds.classes and values(written, "label") == values(ds, "label")


def test_lines_must_not_be_compressed(tmp_path):
    (tmp_path / "train.csv.gz").write_bytes(gzip.compress(made.csv_line((1, "a", "b")).encode()))
    with pytest.raises(
        hr.NotFoundError, match=r"train.csv; looked in .* is there compressed, and must be decompressed"
    ):
        datasets.AGNews(tmp_path)


@pytest.mark.parametrize("name", [b"caf\xe9", b"a;b", b"[1]*"])
def test_lines_are_found_in_folders_of_any_name(tmp_path, name):
    folder = pathlib.Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    made.write_ag_news(folder)
    ds = datasets.AGNews(folder)
    ds.save(tmp_path / "g.hrg")
    assert len(ds) == 4 and values(hr.load(tmp_path / "g.hrg"), "label") == [2, 0, 3, 1]


@pytest.mark.parametrize(
    ("kind", "arguments", "folder", "texts", "classes"),
    [
        ("DBpedia", (), "dbpedia_csv", ["title", "content"], 14),
        ("SogouNews", (), "sogou_news_csv", ["title", "content"], 5),
        ("YahooAnswers", (), "yahoo_answers_csv", ["title", "content", "answer"], 10),
        ("YelpReview", ("full",), "yelp_review_full_csv", ["text"], 5),
        ("YelpReview", ("polarity",), "yelp_review_polarity_csv", ["text"], 2),
        ("AmazonReview", ("full",), "amazon_review_full_csv", ["title", "content"], 5),
        ("AmazonReview", ("polarity",), "amazon_review_polarity_csv", ["title", "content"], 2),
    ],
)
def test_sets_of_csv(tmp_path, kind, arguments, folder, texts, classes):
    put_text(tmp_path / folder / "train.csv", made.csv_line((2, *(f'{name} \\" 1' for name in texts))))
    ds = getattr(datasets, kind)(tmp_path, *arguments)
    (row,) = ds
    assert list(row) == ["label", *texts] and [row[name] for name in texts] == [f'{name} \\" 1' for name in texts]
    assert int(row["label"]) == 1 and list(ds.class_to_idx.values()) == list(range(classes))


def test_sets_of_lines_keep_blanks(tmp_path):
    text = " = Title = \n\n Words <unk> , and @-@ more \n"
    for subset, ending in (("2", "tokens"), ("103", "tokens"), ("2-raw", "raw"), ("103-raw", "raw")):
        put_text(tmp_path / f"wikitext-{subset}" / f"wiki.valid.{ending}", text)
        ds = datasets.WikiText(tmp_path, subset, "valid")
        assert len(ds) == 3 and values(ds, "text") == text.split("\n")[:3]
    assert len(datasets.WikiText(tmp_path, "2", "valid", skip_empty=True)) == 2
    put_text(tmp_path / "simple-examples" / "data" / "ptb.train.txt", " no it was n't <unk> \n next \n")
    ds = datasets.PennTreebank(tmp_path, shuffle=True, name="news")
    assert sorted(values(ds, "text")) == [" next ", " no it was n't <unk> "] and list(ds.schema) == ["text"]
    put_text(tmp_path / "enwik9", "<mediawiki>\n  <page>\n")
    assert values(datasets.EnWik9(tmp_path), "text") == ["<mediawiki>", "  <page>"]


# ---- tables ----


def test_imdb_has_files_of_texts(tmp_path):
    made.write_imdb(tmp_path / "aclImdb")
    ds = datasets.IMDB(tmp_path)
    assert ds.schema == {"text": ("bytes", ()), "label": ("int64", ()), "rating": ("int64", ())}
    assert [row["text"].decode() for row in ds][:2] == ["train neg 10_1: café", "train neg 2_4: café"]
    assert values(ds, "label") == [0, 0, 1, 1] and values(ds, "rating") == [1, 4, 10, 7]
    assert ds.classes == ["negative", "positive"]
    assert len(datasets.IMDB(tmp_path, "all")) == 8
    (row,) = datasets.IMDB(tmp_path / "aclImdb", "unsup")
    assert (int(row["label"]), int(row["rating"])) == (-1, 0)
    put_text(tmp_path / "aclImdb" / "train" / "neg" / "urls.txt", "")
    with pytest.warns(hr.PipelineWarning, match="IMDB: left out urls.txt of .*train/neg"):
        assert len(datasets.IMDB(tmp_path)) == 4


GLUE = {
    "cola": (["Our friends.", 'Say "it'], [1, 0], "unacceptable"),
    "sst2": (["hide new ", '"fun" '], [0, 1], "negative"),
    "mrpc": (["One", "A"], [1, 0], "not_equivalent"),
    "qqp": (["Who?", "How?"], [0, 1], "not_duplicate"),
    "mnli": (["A", "C"], [1, 2], "entailment"),
    "qnli": (["A?", "C?"], [1, 0], "entailment"),
    "rte": (["A", "C"], [1, 0], "entailment"),
    "wnli": (["A", "C"], [1, 0], "not_entailment"),
}


@pytest.mark.filterwarnings("ignore:GLUE. left out")
@pytest.mark.parametrize("task", GLUE)
def test_glue(tmp_path, task):
    made.write_glue(tmp_path, task)
    texts, labels, first = GLUE[task]
    ds = datasets.GLUE(tmp_path, task)
    column = next(iter(ds.schema))
    assert (values(ds, column), values(ds, "label"), ds.classes[0]) == (texts, labels, first)
    matched = "_matched" if task == "mnli" else ""
    assert values(datasets.GLUE(tmp_path, task, f"dev{matched}"), "label") == labels
    test = datasets.GLUE(tmp_path, task, f"test{matched}")
    assert len(test) == 1 and list(test.schema) == list(ds.schema)[:-1]


def test_scores_and_damaged_lines_of_glue(tmp_path):
    made.write_glue(tmp_path, "stsb")
    ds = datasets.GLUE(tmp_path, "stsb")
    assert values(ds, "score") == [5, 2.5] and ds.schema["score"] == ("float32", ())
    made.write_glue(tmp_path, "qqp")
    with pytest.warns(hr.PipelineWarning, match="GLUE: left out line 3 of .*train.tsv: it has 2 of 6 fields"):
        assert len(datasets.GLUE(tmp_path, "qqp").left_out) == 1
    with pytest.raises(hr.GraphError, match="GLUE: sst2 has the parts train, dev, test; split is dev_matched"):
        datasets.GLUE(tmp_path, "sst2", "dev_matched")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: its head must have sentence, label, and lacks sentence"),
        ("sentence\tlabel\n", "it has no rows"),
        ("sentence\tlabel\nA\n", "line 2: it must have 2 fields between tabs, and has 1"),
        ("sentence\tlabel\nA\t2\n", "line 2: its label must be one of 0, 1, and is '2'"),
        ("sentence\tlabel\ncaf\udce9\t1\n", "line 2: it is not UTF-8"),
    ],
)
def test_damaged_files_of_glue_are_an_error(tmp_path, text, said):
    (tmp_path / "train.tsv").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(hr.DataError, match=f"train.tsv.*{said}"):
        datasets.GLUE(tmp_path, "sst2")


@pytest.mark.filterwarnings("ignore:CLUE. left out")
@pytest.mark.parametrize(
    ("task", "columns", "labels"),
    [
        ("afqmc", ["sentence1", "sentence2"], [0, 1]),
        ("tnews", ["sentence", "keywords"], [14, 0]),
        ("iflytek", ["sentence"], [118, 0]),
        ("cmnli", ["sentence1", "sentence2"], [1, 2]),
        ("wsc", ["text", "span1_text", "span2_text", "span1_index", "span2_index"], [0]),
        ("csl", ["abst", "keyword"], [1, 0]),
    ],
)
def test_clue(tmp_path, task, columns, labels):
    made.write_clue(tmp_path, task)
    ds = datasets.CLUE(tmp_path, task)
    assert list(ds.schema) == [*columns, "label"] and values(ds, "label") == labels
    rows = [row for row in made.CLUE_ROWS[task] if row["label"] != "-"]
    assert values(ds, columns[0]) == [row[columns[0]] for row in rows]
    assert values(datasets.CLUE(tmp_path, task, "dev"), columns[0]) == values(ds, columns[0])
    test = datasets.CLUE(tmp_path, task, "test")
    assert list(test.schema) == columns and len(test) == len(made.CLUE_ROWS[task])


def test_clue_names_its_classes(tmp_path):
    for task in ("tnews", "iflytek", "wsc", "csl", "cmnli"):
        made.write_clue(tmp_path, task)
    assert datasets.CLUE(tmp_path, "tnews").class_to_idx["agriculture"] == 13
    assert datasets.CLUE(tmp_path, "iflytek").classes[118] == "app 118"
    (tmp_path / "iflytek_public" / "labels.json").unlink()
    assert datasets.CLUE(tmp_path, "iflytek").classes[118] == "118"
    row = datasets.CLUE(tmp_path, "wsc")[0]
    assert (row["span1_text"], int(row["span2_index"])) == ("马克", 28)
    assert values(datasets.CLUE(tmp_path, "csl"), "keyword") == [["水厂", "臭氧"], []]
    with pytest.warns(hr.PipelineWarning, match="CLUE: left out line 2 of .*train.json: its label is -"):
        assert len(datasets.CLUE(tmp_path, "cmnli")) == 2


@pytest.mark.parametrize(
    ("task", "text", "said"),
    [
        ("afqmc", "", "it has no rows"),
        ("afqmc", "{", "line 1: it is not JSON"),
        ("afqmc", "[" * 100_000, "line 1: it is not JSON"),
        ("afqmc", "[]", "line 1: it must be an object"),
        ("afqmc", '{"sentence1": 3}', "line 1: it must have a text as sentence1"),
        ("afqmc", '{"sentence1": "\\ud800"}', "line 1: it is not UTF-8"),
        ("afqmc", '{"sentence1": "", "sentence2": "", "label": "7"}', "line 1: its label must be one of 0, 1, and is"),
        ("wsc", '{"text": "", "label": "true"}', "line 1: it must have an object as target"),
        ("csl", '{"abst": "", "keyword": [1], "label": "1"}', "line 1: keyword must be a list of texts"),
        (
            "wsc",
            json.dumps({"text": "", "target": {"span1_text": "", "span2_text": "", "span1_index": -1}}),
            "line 1: span1_index is -1",
        ),
    ],
)
def test_damaged_files_of_clue_are_an_error(tmp_path, task, text, said):
    (tmp_path / "train.json").write_text(text)
    with pytest.raises(hr.DataError, match=f"train.json.*{said}"):
        datasets.CLUE(tmp_path, task)


def test_squad_has_a_row_for_each_question(tmp_path):
    made.write_squad(tmp_path)
    ds = datasets.SQuAD(tmp_path)
    assert ds.schema["answers"] == ("string", (None,)) and ds.schema["answer_start"] == ("int64", (None,))
    assert values(ds, "id") == ["q1", "q2"] and values(ds, "context") == ["in Zürich"] * 2
    assert values(ds, "answers") == [["Zürich", "in Zürich"], ["Zürich"]] and values(ds, "answer_start") == [
        [3, 0],
        [3],
    ]
    second = datasets.SQuAD(tmp_path, "2.0", "dev")
    assert values(second, "is_impossible") == [False, True] and values(second, "answers")[1] == []


def changed(path: pathlib.Path, *place: object, to: object) -> None:
    found = json.loads(path.read_text())
    inner = found
    for each in place[:-1]:
        inner = inner[each]
    inner[place[-1]] = to
    path.write_text(json.dumps(found))


QUESTION = ("data", 0, "paragraphs", 0, "qas", 0)


@pytest.mark.parametrize(
    ("place", "to", "said"),
    [
        (("data",), {}, "it must have a list as data"),
        (("data",), [], "it has no questions"),
        (("data", 0), 3, "article 0 must have a text as title"),
        (("data", 0, "paragraphs", 0), None, "a paragraph of article 0 must have a text as context"),
        ((*QUESTION, "question"), 1, "question q1 must have a text as question"),
        ((*QUESTION, "answers"), [{"text": "x"}], "an answer of question q1 must have a whole number as answer_start"),
        ((*QUESTION, "answers", 0, "answer_start"), 10, "an answer of question q1 begins at 10, and its context has 9"),
        ((*QUESTION, "answers", 0, "answer_start"), True, ".*must have a whole number as answer_start"),
    ],
)
def test_damaged_files_of_squad_are_an_error(tmp_path, place, to, said):
    made.write_squad(tmp_path)
    changed(tmp_path / "train-v1.1.json", *place, to=to)
    with pytest.raises(hr.DataError, match=f"train-v1.1.json: {said}"):
        datasets.SQuAD(tmp_path)


def test_words_with_tags(tmp_path):
    made.write_tokens(tmp_path)
    ds = datasets.CoNLL2000(tmp_path)
    assert values(ds, "word") == [["Rockwell", "said"], ["."], ["Yes"]]
    assert values(ds, "chunk_tag") == [["B-NP", "B-VP"], ["O"], ["B-INTJ"]] and len(ds) == 3
    assert values(datasets.CoNLL2000(tmp_path, "test"), "pos_tag") == [["DT"]]
    words = datasets.UDPOS(tmp_path)
    assert values(words, "universal") == [["ADP", "DET"], ["ADJ"]] and values(words, "word")[1] == ["Naïve"]
    assert words.schema["stanford"] == ("string", (None,))
    put_text(tmp_path / "train.txt", "a b c\nd e\n")
    with pytest.raises(hr.DataError, match=r"train.txt, line 2: it must have 3 fields, word, .*, and has 2"):
        datasets.CoNLL2000(tmp_path)
    put_text(tmp_path / "train.txt", "\n\n")
    with pytest.raises(hr.DataError, match="it has no sentences"):
        datasets.CoNLL2000(tmp_path)


def test_multi30k(tmp_path):
    made.write_multi30k(tmp_path)
    ds = datasets.Multi30k(tmp_path)
    assert values(ds, "text") == ["Two men .", "", "A dog ."]
    assert values(ds, "translation") == ["Zwei Männer .", "Leer", "Ein Hund ."]
    assert values(datasets.Multi30k(tmp_path, "test", "de", "en"), "text") == ["Eins"]
    put_text(tmp_path / "training" / "train.de", "Eins\n")
    with pytest.raises(hr.DataError, match=r"train.de: it has 1 sentences, and .*train.en has 3"):
        datasets.Multi30k(tmp_path)
    with pytest.raises(hr.GraphError, match="Multi30k: source and target are both en"):
        datasets.Multi30k(tmp_path, "train", "en", "en")


@pytest.mark.parametrize(("year", "below"), [(2016, "2016-01/texts/de/en/de-en"), (2017, "texts/{0}/{0}/{0}-{0}")])
def test_iwslt(tmp_path, year, below):
    folder = tmp_path / below.format("DeEnItNlRo")
    made.write_iwslt(folder, year)
    kind = getattr(datasets, f"IWSLT{year}")
    ds = kind(tmp_path)
    assert values(ds, "text") == ["Ja & nein .", "", "<i> Gut ."]
    assert values(ds, "translation") == ["Yes & no .", "", "<i> Good ."]
    test = kind(tmp_path, "tst2010")
    assert [tuple(row.values()) for row in test] == [("Ja & nein .", "Yes & no ."), ("Gut .", "Good .")]
    put_text(folder / f"IWSLT{year % 100}.TED.tst2010.de-en.de.xml", '<seg id="1"> cut off\n')
    with pytest.raises(hr.DataError, match=r"de.xml, line 1: it must have a sentence between <seg"):
        kind(tmp_path, "tst2010")
