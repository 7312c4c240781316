"""What the client sends."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.core.events import SendUserMessage
from voice.wire import infermedica

U, C = "5a0b8c1e", "0b7c1f52"


class TestEncoders:
    def test_create_has_both_objects_even_when_empty(self) -> None:
        """A server that requires both would refuse the conversation."""
        assert json.loads(infermedica.create({"settings": {"channel": "voice"}})) == {
            "type": "conversation.create",
            "conversation": {"settings": {"channel": "voice"}, "assessment": {}},
        }

    def test_resume_names_the_conversation(self) -> None:
        assert json.loads(infermedica.resume(C)) == {"type": "conversation.resume", "conversation_id": C}

    def test_a_message_that_cut_nothing_has_no_played_content(self) -> None:
        """Hurts the record: an interruption that never was."""
        for played in (None, "never"):
            sent = json.loads(infermedica.user_message(SendUserMessage(U, "Hi", False, played, "")))
            assert sent == {
                "type": "conversation.user_message.create",
                "user_message": {"id": U, "content": "Hi", "is_interrupted": False},
            }

    @pytest.mark.parametrize("played", ["", "Thanks. How"])
    def test_nothing_heard_is_a_value(self, played: str) -> None:
        """An empty played_content says that nothing was heard; leaving it out would say nothing at all."""
        sent = json.loads(infermedica.user_message(SendUserMessage(U, "Hi", True, played, "00-a-b-01")))
        assert sent["user_message"]["played_content"] == played
        assert sent["user_message"]["traceparent"] == "00-a-b-01"

    def test_settings_and_pong(self) -> None:
        assert json.loads(infermedica.settings_update({"language": "pl"})) == {
            "type": "conversation.settings.update",
            "settings": {"language": "pl"},
        }
        assert json.loads(infermedica.pong()) == {"type": "pong"}

    @given(st.text(st.characters()), st.text(st.characters()))
    def test_any_text_can_be_sent(self, content: str, played: str) -> None:
        """Hurts whoever types an emoji."""
        frame = infermedica.user_message(SendUserMessage(U, content, True, played, ""))
        assert frame.isascii()
        assert json.loads(frame)["user_message"]["content"] == content
