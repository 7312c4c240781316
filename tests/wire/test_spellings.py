"""A guess about the protocol that hides in the code is one that nobody finds when the vendor answers."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from voice.wire.spellings import ASSUMED, DOCUMENTED, assumed, read, write

VOICE = Path(__file__).resolve().parents[2] / "voice"

OURS = {"json", "failed", "interrupted"}
"""Words in these files that are no spellings of the wire."""


def wire_words(path: Path) -> set[str]:
    """Every string in a module that could be a name on the wire: no docstrings, no parts of sentences."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    prose |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in prose
        and re.fullmatch(r"[a-z_]+(\.[a-z_*]+)*", node.value)
    }


MODULES = [
    *(f"wire/infermedica{part}.py" for part in ("", "_payloads", "_widgets", "_bodies")),
    *("server/infermedica.py", "server/assessment.py"),
]


@pytest.mark.parametrize("module", MODULES)
def test_every_name_on_the_wire_is_stated_by_the_pages_or_stands_in_the_table(module: str) -> None:
    """Hurts whoever has to follow a correction of the vendor's."""
    unknown = wire_words(VOICE / module) - DOCUMENTED - set(ASSUMED) - OURS
    assert unknown == set()


def test_every_entry_of_the_table_has_an_effect() -> None:
    """Hurts whoever changes a line of the table and sees nothing happen."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in VOICE.rglob("*.py") if path.name != "spellings.py")
    computed = ("recommendation.", "can_interrupt.")  # read by a prefix and the kind or key
    for prefix in computed:
        assert f'f"{prefix}{{' in code
    unread = [name for name in ASSUMED if f'"{name}"' not in code and not name.startswith(computed)]
    assert unread == []


def test_every_guess_names_its_alternative_and_its_reason() -> None:
    """Hurts whoever has to decide between two spellings."""
    for name, guess in ASSUMED.items():
        assert guess.value != guess.alternative, name
        assert len(guess.why) > 10, name


def test_the_guesses_in_use() -> None:
    """A new guess has to be written down here, too, so that a review sees it."""
    assert {name: guess.value for name, guess in ASSUMED.items()} == {
        "type.user_message": "conversation.user_message.create",
        "type.settings_update": "conversation.settings.update",
        "path.create_input": "conversation",
        "path.resume_id": "conversation_id",
        "path.settings_input": "settings",
        "path.snapshot": "conversation",
        "path.settings": "settings",
        "path.completed_message": "assistant_message",
        "path.assessment": "assessment",
        "path.turn_id": "turn_id",
        "path.failure": "error",
        "path.error": "error",
        "path.user_turn_id": "turn_id",
        "can_interrupt.intro": "true",
        "can_interrupt.follow_up": "true",
        "can_interrupt.read_back": "true",
        "can_interrupt.*": "true",
        "opening.arrives": "events",
        "opening.turn_event": "turn_completed",
        "preempt.order": "interrupted_first",
        "preempt.history": "completed_only",
        "resend.same_id": "one_turn",
        "played_content.scope": "turn",
        "close.handshake_refused": "1008",
        "close.no_pong": "1011",
        "close.going_away": "1001",
        "refusal.style": "close",
        "refusal.http_status": "403",
        "location.prefix": "",
        "evidence.id": "id",
        "evidence.name": "name",
        "evidence.common_name": "common_name",
        "recommendation.triage_level": "triage_level",
        "recommendation.specialist": "specialist",
        "recommendation.channel": "channel",
        "recommendation.has_emergency_findings": "has_emergency_findings",
        "recommendation.serious_findings": "serious_findings",
    }


def test_a_path_is_written_where_it_is_read() -> None:
    """Hurts every conversation if the two ends differ."""
    for name in ASSUMED:
        if name.startswith("path.") and assumed(name):
            frame: dict[str, object] = {"type": "x"}
            write(frame, name, {"a": 1})
            assert read(frame, name) == {"a": 1}


def test_the_alternative_is_read_where_the_first_is_absent() -> None:
    """Hurts the client of a server that spells it the other way."""
    assert read({"turn": {"id": "t"}}, "path.turn_id") == "t"
    assert read({"turn": "t"}, "path.turn_id") is None
    assert read({"type": "error", "code": "x"}, "path.error") == {"type": "error", "code": "x"}
