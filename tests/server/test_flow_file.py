from __future__ import annotations

from pathlib import Path

import pytest

from voice.server.flow_file import load, parse
from voice.server.toml_table import FlowError

HEAD = '[flow]\nname = "f"\nopening = "a"\n'
STEP = '[[step]]\nid = "a"\nend = "completed"\nmessages = [{ kind = "intro", text = "Hi." }]\n'
MESSAGE = 'messages = [{ kind = "intro", text = "Hi." }]\n'

MISTAKES = [
    ("[flow", "line 1: not TOML"),
    ('[flow]\nname = "a" "b"', "line 2: not TOML"),
    ('a = "', "not TOML"),
    (STEP, "flow.name: missing; give a text"),
    (HEAD, "step: no steps; add a [[step]]"),
    (HEAD.replace('"a"', "7") + STEP, "flow.opening: a whole number where a text belongs; give a text"),
    (HEAD.replace('"a"', '"b"') + STEP, 'flow.opening: no step "b"; use one of a'),
    (HEAD + STEP + "colour = 1\n", "step[0].colour: unknown key; remove it or use one of "),
    (HEAD + "[other]\nx = 1\n" + STEP, "other: unknown key"),
    (HEAD + "colour = 1\n" + STEP, "flow.colour: unknown key"),
    (HEAD + STEP + STEP, 'step[1].id: "a" occurs twice; rename one of the steps'),
    (HEAD + "step = 3\n", "step: no steps"),
    ("step = 3\n" + HEAD, "step: a whole number where a list belongs"),
    ("step = [3]\n" + HEAD, "step[0]: a whole number where a table belongs"),
    (HEAD + '[[step]]\nid = "a"\nend = "completed"\n', "step[0].messages: missing; give the step something to say"),
    (HEAD + '[[step]]\nid = "a"\n' + MESSAGE, "step[0].next: missing; name the step after it, or give it an end"),
    (HEAD + '[[step]]\nid = "a"\nnext = "b"\n' + MESSAGE, 'step[0].next: no step "b"'),
    (HEAD + STEP.replace("intro", "shout"), 'step[0].messages[0].kind: "shout" is not known; use one of intro, '),
    (HEAD + STEP.replace("Hi.", "  "), "step[0].messages[0].text: empty"),
    (HEAD + STEP.replace("Hi.", "Hi {name}."), "step[0].messages[0].text: no variable {name}; give it a first value"),
    (HEAD + STEP + 'expect = "maybe"\n', 'step[0].expect: "maybe" is not known; use one of yes_no, choices, '),
    (HEAD + STEP + 'save = "x"\n', 'step[0].save: no variable "x"'),
    (HEAD + STEP + "tries = 0\n", "step[0].tries: 0 is out of range; give 1 or more"),
    (HEAD + STEP + "tries = true\n", "step[0].tries: true or false where a whole number belongs"),
    (HEAD + STEP + 'end = "soon"\n', "line 8: not TOML"),
    (HEAD + STEP + "[step.branch.x]\n", "step[0].branch.x.match: missing; list the words that lead here"),
    (HEAD + STEP + 'expect = "yes_no"\n[step.branch.x]\n', "step[0].branch.x.match: missing"),
    (HEAD + STEP + "[step.branch.x]\nmatch = []\n", "step[0].branch.x.match: missing or empty"),
    (HEAD + STEP + '[step.branch.x]\nmatch = ["/(/"]\n', "step[0].branch.x.match: not a regular expression"),
    (HEAD + STEP + '[step.branch.x]\nmatch = ["@y"]\n', 'step[0].branch.x.match[0]: no synonyms "y"'),
    (HEAD + STEP + "[step.branch.x]\nmatch = [4]\n", "step[0].branch.x.match[0]: not a text"),
    (HEAD + STEP + '[step.branch.x]\nmatch = ["y"]\nnext = "z"\n', 'step[0].branch.x.next: no step "z"'),
    (HEAD + STEP + '[step.branch.x]\nmatch = ["y"]\nset = { z = "1" }\n', "step[0].branch.x.set.z: no such variable"),
    (HEAD + STEP + '[step.branch.x]\nmatch = ["y"]\nat_most = 3\n', "step[0].branch.x.at_most: of no use"),
    (
        HEAD + STEP + '[step.branch.x]\nmatch = ["y"]\nevidence = [{ id = "e", name = "E", state = "perhaps" }]\n',
        'step[0].branch.x.evidence[0].state: "perhaps" is not known',
    ),
    (HEAD + STEP + "[step.faults]\ndrop_after = 0\n", "step[0].faults.drop_after: 0 is out of range"),
    (HEAD + STEP + "[step.faults]\nexplode = true\n", "step[0].faults.explode: unknown key"),
    (HEAD + STEP + "[step.pace]\nseconds = -1\n", "step[0].pace.seconds: -1.0 is out of range"),
    (HEAD + STEP + "[step.pace]\nseconds = nan\n", "step[0].pace.seconds: nan is out of range"),
    (HEAD + '[vars]\nx = 3\n' + STEP, "vars.x: a whole number where a text belongs"),
    (HEAD + STEP + '[[intent]]\nid = "i"\nmatch = ["x"]\nnext = "z"\n', 'intent[0].next: no step "z"'),
    (HEAD + STEP + '[[intent]]\nid = "i"\nmatch = ["x"]\nhandoff = "z"\n', 'intent[0].handoff: "z" is not known'),
    (
        HEAD + STEP + '[[finding]]\nid = "f"\nname = "F"\nmatch = ["x"]\nasked_in = ["z"]\n',
        'finding[0].asked_in: no step "z"',
    ),
    (HEAD + "minimum_age = 18\n" + STEP, "flow.too_young: missing"),
    (HEAD + "max_message_length = 0\n" + STEP, "flow.max_message_length: 0 is out of range"),
    (HEAD + STEP.replace("Hi.\"", "Hi.\", widgets = [{ hints = [] }]"), "step[0].messages[0].widgets[0].type: missing"),
    (HEAD + STEP + "[read_back]\nlead = 3\n", "read_back.lead: a whole number where a text belongs"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "error"), MISTAKES, ids=[error[:50] for _, error in MISTAKES])
def test_a_mistake_is_named_by_its_place_in_one_line(text: str, error: str) -> None:
    """Hurts whoever writes a flow and would find the mistake in the middle of a conversation."""
    with pytest.raises(FlowError) as raised:
        parse(text, "my.toml")
    message = str(raised.value)
    assert message.startswith("my.toml: ")
    assert error in message
    assert "\n" not in message
    assert ";" in message  # a remedy


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Hurts the operator who mistyped a path."""
    with pytest.raises(FlowError, match=r"missing\.toml: cannot be read \(No such file or directory\); name a flow"):
        load(tmp_path / "missing.toml")
    broken = tmp_path / "broken.toml"
    broken.write_bytes(b"name = '\xff'")
    with pytest.raises(FlowError, match="byte 8: not UTF-8"):
        load(broken)


def test_the_smallest_flow() -> None:
    """A first flow is five lines."""
    flow = parse(HEAD + STEP)
    assert flow.steps["a"].messages[0].text == "Hi."
    assert (flow.language, flow.max_message_length) == ("en", 1500)
