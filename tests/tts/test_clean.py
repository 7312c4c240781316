"""What a server writes is text, never a command to the engine."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.tts.base import VoiceError
from voice.tts.clean import clean, text_kept_out


@given(st.text(alphabet=st.characters(exclude_categories=[]), max_size=50))
def test_positions_stay(text: str) -> None:
    """The engine's positions are used on the text as it was."""
    cleaned = clean(text)
    assert len(cleaned) == len(text)
    assert all(a in (b, " ") for a, b in zip(cleaned, text, strict=True))
    cleaned.encode()


@pytest.mark.parametrize("character", ["\x00", "\x01", "\x1b", "\x7f", "\ud800", "\ue001", "😀", "❤", "\ufe0f"])
def test_what_is_no_text_becomes_a_blank(character: str) -> None:
    """NUL ends the text, U+0001 is a command, an emoji would be read out by its name."""
    assert clean(f"a{character}b") == "a b"


@pytest.mark.parametrize("text", ["38.5 °C", "naïve – “yes”", "您好，", "안녕", "שלום", "नमस्ते", "5 € + 20 %"])
def test_text_stays(text: str) -> None:
    """Hurts everyone whose language was taken for noise."""
    assert clean(text) == text


def test_an_unforeseen_error_loses_its_message() -> None:
    """It may quote what somebody was told about their health."""
    with pytest.raises(VoiceError) as caught, text_kept_out():
        int("my knee hurts")
    assert "knee" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_our_own_errors_keep_theirs() -> None:
    """The remedy is in the message."""
    with pytest.raises(VoiceError, match="reinstall"), text_kept_out():
        raise VoiceError("reinstall it")
