"""An operator writes an engine's name into a file."""

import pytest

from voice.tts.base import VoiceError
from voice.tts.choose import ENGINES, make_voice


def test_every_known_name_makes_its_voice() -> None:
    """The names in the error have to work."""
    assert [make_voice(name).name for name in ENGINES] == ["espeak", "pyttsx3"]
    assert [make_voice(name).estimated for name in ENGINES] == [False, True]


def test_an_unknown_name_is_one_line_with_the_known_ones() -> None:
    """Hurts the operator with a slip of the pen."""
    with pytest.raises(VoiceError) as caught:
        make_voice("espaek")
    assert str(caught.value) == "no voice engine 'espaek'; choose one of: espeak, pyttsx3"
