"""Paraphrases: taken after the texts, stored, continued, and shown; whatever the answers are."""

import pytest

from benchmarks._harness.collect import Collector
from benchmarks.paper.__main__ import main
from benchmarks.paper.page import write_pages
from benchmarks.paper.setting import Setting
from benchmarks.paper.stand_ins import STAND_INS
from benchmarks.paper.watermarks import PART, paraphrasing
from benchmarks.paper.watermarks.arms import SAMPLING, UNMARKED, rollback
from benchmarks.paper.watermarks.paraphrasing import FAILURES, Paraphraser, paraphrased
from tests.support.endpoints import completion, serving
from tests.support.toy_models import ToyChatModel, ToyTokenizer
from ticore.errors import PromptError
from ticore.evaluation import EndpointError, NoCompletionError
from ticore.evaluation.attacks import SYSTEM

SETTING = Setting(STAND_INS["tiny-en"], ("It was late when",), 2)
SAID = "The old man went back to his house in the evening, and he was very tired."
NO_TEXT = completion(None)
ARMS = (rollback(2).name, SAMPLING.name)


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("TOY_KEY", "sk-secret")
    monkeypatch.setattr(paraphrasing, "code_digest", lambda *roots: "code")  # takes a second


def row(scheme, arm, index):
    detection = {"strength": 3.0, "p_value": 0.1, "scored": 9, "strength_of_written": 3.0}
    return {
        **{"scheme": scheme, "arm": arm, "index": index, "first": 0, "group_size": 2},
        **{"text": f"text {index} of {scheme}, {arm}", "attacks": {}, "end": "length"},
        **{"observation": None, "end_of_text": False, "consistent": True, "cpu_seconds": 1.0},
        **{"token_count": 10, "read_token_count": 10, "nll": 20.0, "nll_read": 20.0},
        **{"rollbacks": 0, "temporary": 0, "forwards": 9, "detections": {scheme: detection}},
    }


ROWS = [
    *(row("unigram", arm, index) for arm in ARMS for index in (0, 1)),
    row("unigram", "masking", 0),
    row(UNMARKED, SAMPLING.name, 0)
    | {"detections": {"unigram": row("unigram", "", 0)["detections"]["unigram"]}},
]


def take(server, folder, rows=ROWS):
    paraphraser = Paraphraser(server.base_url, "toy", "TOY_KEY")
    return paraphrased(SETTING, rows, paraphraser, folder, Collector(1))


@pytest.mark.slow
def test_texts_of_the_main_arms_are_paraphrased_once(tmp_path):
    with serving(completion(SAID, finish_reason="stop")) as server:
        found, complete = take(server, tmp_path)
        again, _ = take(server, tmp_path)
        assert len(server.asked) == 4  # each text of a watermark's main arms, and none twice
        other = [ROWS[0] | {"text": "another text"}, *ROWS[1:]]
        take(server, tmp_path, other)
        assert len(server.asked) == 5
    assert complete
    assert found == again
    assert [list(each["attacks"]) for each in found] == [["paraphrase by toy"]] * 4 + [[], []]
    after = found[0]["attacks"]["paraphrase by toy"]
    assert (after["text"], after["complete"], after["scored"] > 0) == (SAID, True, True)
    messages = server.asked[0][2]["messages"]
    assert messages[0] == {"role": "system", "content": SYSTEM}
    assert messages[1]["content"] in {each["text"] for each in ROWS[:4]}
    (store,) = tmp_path.iterdir()
    assert "sk-secret" not in store.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_run_continues_after_the_server_failed(tmp_path):
    with serving(completion(SAID), (401, "no", {})) as server:
        with pytest.raises(EndpointError, match="is the API key the right one"):
            take(server, tmp_path)
        server.answers = [completion(SAID)]
        server.asked.clear()
        found, _ = take(server, tmp_path)
        assert len(server.asked) == 3
    assert sum(bool(each["attacks"]) for each in found) == 4


@pytest.mark.slow
def test_answers_that_are_no_text_are_left_out(tmp_path):
    with serving(NO_TEXT, completion(SAID, finish_reason="length"), (200, "<html>", {})) as server:
        found, complete = take(server, tmp_path)
        take(server, tmp_path)
        assert len(server.asked) == 4
    assert complete
    assert sum(bool(each["attacks"]) for each in found) == 1
    summary = PART.summarize(found)
    write_pages(tmp_path, [], [PART.section({SETTING.model: summary})])
    page = (tmp_path / "index.md").read_text(encoding="utf-8")
    table = page.partition("### Detection after paraphrase by toy")[2]
    assert "| tiny-en | unigram | " + ARMS[0] + " | 1 |" in table
    assert "ours and not the paper's" in table
    (cell,) = (cell for cell in summary["cells"] if cell["attack"] == "paraphrase by toy")
    assert cell["cut_off"]["value"] == 1


@pytest.mark.slow
def test_a_run_ends_where_no_answer_is_a_text(tmp_path):
    rows = [row("unigram", SAMPLING.name, index) for index in range(FAILURES + 2)]
    with serving((200, "<html>", {})) as server:
        with pytest.raises(NoCompletionError, match="expected JSON with choices"):
            take(server, tmp_path, rows)
        assert len(server.asked) == FAILURES


def test_a_model_here_writes_the_same_paraphrase_in_any_order(monkeypatch):
    tokenizer = ToyTokenizer([*map(chr, range(32, 127)), "\n", "<end>"], special=[96])
    toy = ToyChatModel(tokenizer, seed=1, sharpness=2.0, eos_ids=[96])
    monkeypatch.setattr(paraphrasing.ticore, "load_model", lambda place: toy)
    attack = Paraphraser("toy").open()
    first, second = attack("the old man"), attack("the sea")
    assert Paraphraser("toy").open()("the sea") == second
    assert attack("the old man") == first
    assert first.text != second.text
    assert first.label == "paraphrase by toy"


def test_a_model_here_must_have_a_chat_template():
    with pytest.raises(PromptError, match="chat template"):
        Paraphraser("tiny-en").open()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (["--paraphraser", "http://localhost/v1"], "expected --paraphraser-model"),
        (["--paraphraser", "smollm2", "--paraphraser-model", "m"], "found the place smollm2"),
        (["--paraphraser-key", "TOY_KEY"], "expected --paraphraser with"),
        (["--paraphraser", "ftp://x", "--paraphraser-key", "K"], "found the place ftp://x"),
        (["--paraphraser", "https://h:port", "--paraphraser-model", "m"], "base_url: expected an"),
        (["--parts", "covers", "--paraphraser", "tiny-en"], "expected watermarks among --parts"),
    ],
)
def test_the_command_refuses_before_it_takes_samples(how, message, tmp_path, capsys):
    assert main([*how, "--out", str(tmp_path)]) == 1
    assert message in " ".join(capsys.readouterr().err.split())
    assert not list(tmp_path.iterdir())
