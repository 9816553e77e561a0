"""Sets of texts made small, in the layouts of their publishers."""

import json
import pathlib

from tests.picture_set_files import put_text

NEWS = [(3, 'A "big" day', "It rained,\\nand rained."), (1, "Naïve", ""), (4, "x", "y"), (2, "", "z")]


def csv_line(fields: object) -> str:
    return ",".join('"' + str(field).replace('"', '""') + '"' for field in fields) + "\n"


def write_ag_news(folder: pathlib.Path) -> None:
    put_text(folder / "train.csv", "".join(map(csv_line, NEWS)))
    put_text(folder / "test.csv", "".join(map(csv_line, NEWS[:2])))


def write_imdb(folder: pathlib.Path) -> None:
    for part in ("train", "test"):
        for kind, names in {"neg": ["10_1", "2_4"], "pos": ["0_10", "1_7"], "unsup": ["5_0"]}.items():
            for name in names if kind != "unsup" or part == "train" else []:
                put_text(folder / part / kind / f"{name}.txt", f"{part} {kind} {name}: caf\u00e9")


GLUE_LINES = {
    "cola": ("gj04\t1\t\tOur friends.\nks08\t0\t*\tSay \"it\n", "index\tsentence\n0\tBill whistled.\n"),
    "sst2": ("sentence\tlabel\nhide new \t0\n\"fun\" \t1\n", "index\tsentence\n0\tuneasy .\n"),
    "mrpc": (
        "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t7\t8\tOne\tTwo\n0\t7\t9\tA\tB\n",
        "index\t#1 ID\t#2 ID\t#1 String\t#2 String\n0\t1\t2\tC\tD\n",
    ),
    "qqp": (
        "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n1\t1\t2\tWho?\tWhat?\t0\n2\t3\n3\t4\t5\tHow?\tHow so?\t1\n",
        "id\tquestion1\tquestion2\n0\tA?\tB?\n",
    ),
    "stsb": ("index\tgenre\tsentence1\tsentence2\tscore\n0\tx\tA\tB\t5.000\n1\tx\tC\tD\t2.5\n", "index\tsentence1\tsentence2\n0\tE\tF\n"),
    "mnli": (
        "index\tgenre\tsentence1\tsentence2\tlabel1\tgold_label\n0\tg\tA\tB\tneutral\tneutral\n1\tg\tC\tD\tneutral\tcontradiction\n",
        "index\tgenre\tsentence1\tsentence2\n0\tg\tA\tB\n",
    ),
    "qnli": ("index\tquestion\tsentence\tlabel\n0\tA?\tB\tnot_entailment\n1\tC?\tD\tentailment\n", "index\tquestion\tsentence\n0\tA\tB\n"),
    "rte": ("index\tsentence1\tsentence2\tlabel\n0\tA\tB\tnot_entailment\n1\tC\tD\tentailment\n", "index\tsentence1\tsentence2\n0\tA\tB\n"),
    "wnli": ("index\tsentence1\tsentence2\tlabel\n0\tA\tB\t1\n1\tC\tD\t0\n", "index\tsentence1\tsentence2\n0\tA\tB\n"),
}  # fmt: skip
GLUE_FOLDERS = {"cola": "CoLA", "sst2": "SST-2", "mrpc": "MRPC", "qqp": "QQP", "stsb": "STS-B", "mnli": "MNLI"}


def write_glue(folder: pathlib.Path, task: str) -> None:
    of = folder / GLUE_FOLDERS.get(task, task.upper())
    train, test = GLUE_LINES[task]
    matched = "_matched" if task == "mnli" else ""
    for name, text in (("train", train), (f"dev{matched}", train), (f"test{matched}", test)):
        put_text(of / f"{name}.tsv", text)


CLUE_ROWS: dict[str, list[dict[str, object]]] = {
    "afqmc": [
        {"sentence1": "双十一花呗提额在哪", "sentence2": "里可以提花呗额度", "label": "0"},
        {"sentence1": "a", "sentence2": "b", "label": "1"},
    ],
    "tnews": [
        {"label": "116", "label_desc": "news_game", "sentence": "游戏", "keywords": "a,b"},
        {"label": "100", "label_desc": "news_story", "sentence": "x", "keywords": ""},
    ],
    "iflytek": [
        {"label": "118", "label_des": "其他", "sentence": "x"},
        {"label": "0", "label_des": "打车", "sentence": "y"},
    ],
    "cmnli": [
        {"sentence1": "a", "sentence2": "b", "label": "neutral"},
        {"sentence1": "a", "sentence2": "b", "label": "-"},
        {"sentence1": "c", "sentence2": "d", "label": "contradiction"},
    ],
    "wsc": [
        {
            "target": {"span2_index": 28, "span1_index": 0, "span1_text": "马克", "span2_text": "他"},
            "idx": 0,
            "label": "false",
            "text": "马克告诉他",
        }
    ],
    "csl": [
        {"id": 1, "abst": "abc", "keyword": ["水厂", "臭氧"], "label": "1"},
        {"id": 2, "abst": "d", "keyword": [], "label": "0"},
    ],
}


def write_clue(folder: pathlib.Path, task: str) -> None:
    rows = CLUE_ROWS[task]
    unlabeled = [{name: value for name, value in row.items() if name != "label"} for row in rows]
    for name, listed in (("train", rows), ("dev", rows), ("test", unlabeled)):
        lines = [json.dumps(row, ensure_ascii=name == "dev") for row in listed]
        put_text(folder / f"{task}_public" / f"{name}.json", "\n".join(lines) + "\n")
    if task == "iflytek":
        names = [{"label": str(number), "label_des": f"app {number}"} for number in range(119)]
        put_text(folder / f"{task}_public" / "labels.json", "\n".join(map(json.dumps, names)))


def squad_file(possible: bool = True) -> dict[str, object]:
    answers = [{"text": "Zürich", "answer_start": 3}, {"text": "in Zürich", "answer_start": 0}]
    first = {"id": "q1", "question": "Where?", "answers": answers}
    second = {"id": "q2", "question": "Why?", "answers": answers[:1] if possible else []}
    if not possible:
        first |= {"is_impossible": False}
        second |= {"is_impossible": True, "plausible_answers": answers}
    return {"version": "x", "data": [{"title": "T", "paragraphs": [{"context": "in Zürich", "qas": [first, second]}]}]}


def write_squad(folder: pathlib.Path) -> None:
    for version in ("1.1", "2.0"):
        for split in ("train", "dev"):
            put_text(folder / f"{split}-v{version}.json", json.dumps(squad_file(version == "1.1")))


def write_tokens(folder: pathlib.Path) -> None:
    put_text(folder / "train.txt", "Rockwell NNP B-NP\nsaid VBD B-VP\n\n\n. . O\n\nYes UH B-INTJ")
    put_text(folder / "test.txt", "A DT B-NP\n\n")
    put_text(folder / "en-ud-v2" / "en-ud-tag.v2.train.txt", "From\tADP\tIN\nthe\tDET\tDT\n\nNaïve\tADJ\tJJ\n\n")


def write_multi30k(folder: pathlib.Path) -> None:
    put_text(folder / "training" / "train.en", "Two men .\n\nA dog .\n")
    put_text(folder / "training" / "train.de", "Zwei Männer .\nLeer\nEin Hund .\n")
    put_text(folder / "mmt16_task1_test" / "test.en", "One\n")
    put_text(folder / "mmt16_task1_test" / "test.de", "Eins\n")


def talk(sentences: list[str]) -> str:
    lines = "".join(f'<seg id="{number}"> {text} </seg>\n' for number, text in enumerate(sentences, 1))
    return f'<?xml version="1.0"?>\n<mteval>\n<refset>\n<doc docid="1">\n<title>T</title>\n{lines}</doc>\n</refset>\n</mteval>\n'


def write_iwslt(folder: pathlib.Path, year: int) -> None:
    for language, texts in (("de", ["Ja & nein .", "Gut ."]), ("en", ["Yes & no .", "Good ."])):
        tags = "<url>http://x</url>\n<keywords>a, b</keywords>\n<title>T</title>\n"
        put_text(folder / f"train.tags.de-en.{language}", f"{tags} {texts[0]}\n\n<i> {texts[1]}\n")
        marked = [text.replace("&", "&amp;") for text in texts]
        put_text(folder / f"IWSLT{year % 100}.TED.tst2010.de-en.{language}.xml", talk(marked))
