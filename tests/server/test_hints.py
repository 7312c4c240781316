"""What a question offers: chips on a screen, words for the ears."""

from __future__ import annotations

from pathlib import Path

import pytest

from voice.core.choices import match
from voice.server.engine import Engine, State
from voice.server.flow import Flow, Line
from voice.server.flow_file import load, parse

FLOWS = Path(__file__).resolve().parents[2] / "config" / "flows"

FLOW = """
[flow]
name = "small"
opening = "ask"
%s
[[step]]
id = "ask"
next = "ask"
messages = [
  { kind = "bridge", text = "Now." },
  { kind = "follow_up", text = "Which?" %s },
]
retry = [{ kind = "follow_up", text = "Which one?" }]
%s
"""
YES_NO = 'expect = "yes_no"\n[step.branch.no]'
GARDEN = 'expect = "choices"\n[step.branch.back_garden]\nmatch = ["garden"]\n[step.branch.hall]\nmatch = [%s]'


def offers(lines: tuple[Line, ...]) -> list[list[str]]:
    return [widget["hints"] for line in lines for widget in line.widgets if widget["type"] == "hints"]


def step(rest: str, widgets: str = "", head: str = ""):
    return parse(FLOW % (head, widgets, rest)).steps["ask"]


@pytest.mark.parametrize(
    ("rest", "widgets", "head", "hints"),
    [
        (YES_NO, "", "", ["Yes", "No"]),
        (YES_NO + "\n[step.branch.unsure]", "", "", ["Yes", "No", "I am not sure"]),
        (YES_NO, ', widgets = [{ type = "hints", hints = ["Sure", "No way"] }]', "", ["Sure", "No way"]),
        (YES_NO, "", 'language = "de"', None),
        (YES_NO, "", 'language = "de"\n[hints]\nyes = "Ja"\nno = "Nein"', ["Ja", "Nein"]),
        (GARDEN % '"hall"', "", "", ["Back garden", "Hall"]),
        (GARDEN % '"entrance"', "", "", None),
        ('expect = "free"', "", "", None),
        ('expect = "number"', "", "", None),
    ],
)
def test_what_is_offered(rest: str, widgets: str, head: str, hints: list[str] | None) -> None:
    """A chip that leads nowhere, or in the wrong language, is worse than none."""
    found = step(rest, widgets, head)
    assert offers(found.messages) == ([hints] if hints else [])
    assert offers(found.retry) == ([hints] if hints else [])
    assert found.messages[0].widgets == ()


def shipped() -> list[tuple[Flow, str, str]]:
    flows = [load(FLOWS / name) for name in ("triage.toml", "desk.toml")]
    return [
        (flow, name, label)
        for flow in flows
        for name, step in flow.steps.items()
        for hints in offers(step.messages)
        for label in hints
    ]


@pytest.mark.parametrize(
    ("flow", "name", "label"), shipped(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_answer_that_is_offered_is_understood(flow: Flow, name: str, label: str) -> None:
    """Whoever takes a chip at its word would be asked again."""
    step = flow.steps[name]
    reply = Engine(flow).answer(State(name, dict(flow.variables), back=name), label)
    assert [line.text for line in reply.lines] != [line.text for line in step.retry]
    assert reply.state.tries == 0
    for hints in offers(step.messages):
        assert (found := match(label, hints)) is not None
        assert found.label == label


def test_every_question_of_yes_or_no_offers_its_answers() -> None:
    """Where one does not, "yeah" is sent as it is."""
    for name in ("triage.toml", "desk.toml"):
        for step in load(FLOWS / name).steps.values():
            assert len(offers(step.messages)) == (step.expect in ("yes_no", "choices") or step.id == "duration")
