"""Configuration files: a mistake is one line that says where it is and how to mend it.

Whoever sets up a kiosk has a screwdriver in the other hand.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from voice.config import (
    HOME,
    Config,
    ConfigError,
    FloorConfig,
    load,
    load_card_words,
    load_pacing,
    load_phrases,
    read_toml,
)
from voice.core.card_words import WORDLESS, CardWords
from voice.core.cards import CardRules
from voice.core.floor_rules import FloorRules
from voice.core.pacing import DEFAULT_RULES, KindRule
from voice.core.phrases import Phrases

TABLES = {"pacing.toml", "phrases.toml"}
"""Files of config/ that are not configurations."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "my.toml"


class TestMistakes:
    @pytest.mark.parametrize(
        ("text", "place", "remedy"),
        [
            ("[voice]\nwpn = 3", "voice.wpn", "did you mean wpm?"),
            ("[voices]\nwpm = 200", "voices", "did you mean voice?"),
            (
                "[server]\nqqq = 1",
                "server.qqq",
                "known are backend, url, token_env, token_file, ",
            ),
            ("[voice]\nwpm = 3", "voice.wpm", "greater than or equal to 80; mend that value"),
            ("[voice]\nwpm = 'fast'", "voice.wpm", "valid integer"),
            ("[server]\nsex = 'x'", "server.sex", "'female' or 'male'"),
            ("[server]\nage = 131", "server.age", "at most 130 years"),
            ("[server]\nage = 1561\nage_unit = 'month'", "server.age", "at most 130 years"),
            ("[server]\nage = 0", "server.age", 'write age_unit = "month"'),
            ("[server]\nage = -1\nage_unit = 'month'", "server.age", "greater than or equal to 0"),
            ("[server]\nhandoff_policies = ['nurse']", "server.handoff_policies.0", "'stop_intent_handoff'"),
            ("[server]\nevidence = [{ id = 's_1' }]", "server.evidence.0.state", "Field required"),
            ("[server]\nevidence = [{ id = '', state = 'present' }]", "server.evidence.0.id", "at least 1 character"),
            ("[server]\nevidence = [{ idd = 's', id = 's', state = 'present' }]", "server.evidence.0.idd", "mean id?"),
            ("[ears]\nend_silence = nan", "ears.end_silence", "mend that value"),
            ("[server]\nscreen = 'no'", "server.screen", "True, False or 'auto'"),
            ("[voice]\nread_choices = 'often'", "voice.read_choices", "'never', 'useful' or 'always'"),
            ("[floor]\ngive_up = 0", "floor.give_up", "greater than 0"),
            ("[floor]\nstop_phrases = 'stop'", "floor.stop_phrases", 'write stop_phrases = ["..."]'),
            ("[floor]\nstop_phrases = ['stop', 1]", "floor.stop_phrases.1", "valid string"),
            ("voice = 3", "voice", "write [voice]"),
            ("[voice]\nwpm = \n", "at line 2", "mend that place"),
            ("[voice]\nwpm = 200\nwpm = 210\n", "at line 3", "mend that place"),
            ("[voice\n", "at line 1", "mend that place"),
        ],
    )
    def test_of_a_client(self, file: Path, text: str, place: str, remedy: str) -> None:
        """A typing mistake that is passed over in silence is looked for in the wrong device."""
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError) as caught:
            load(file)
        self.check(str(caught.value), file, place, remedy)

    @pytest.mark.parametrize(
        ("text", "place", "remedy"),
        [
            ("[kind.intro]\ngapp = 1", "kind.intro.gapp", "did you mean gap?"),
            ("[kind.intro]\nqqq = 1", "kind.intro.qqq", "known are can_interrupt, gap, rate, early_speech"),
            ("[kinds.intro]\ngap = 1", "kinds", "did you mean kind?"),
            ("[unknown]\nearly_spech = 'hold'", "unknown.early_spech", "did you mean early_speech?"),
            ("[kind.intro]\nearly_speech = 'drop'", "kind.intro.early_speech", "'hold' or 'ignore'"),
            ("[kind.intro]\nrate = 0", "kind.intro.rate", "greater than or equal to 0.4"),
            ("[kind.intro]\ngap = -1", "kind.intro.gap", "greater than or equal to 0"),
            ("[kind]\nintro = 1", "kind.intro", "write [kind.intro]"),
        ],
    )
    def test_of_the_pacing(self, file: Path, text: str, place: str, remedy: str) -> None:
        """A gap that is never applied, and nobody knows why."""
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError) as caught:
            load_pacing(file)
        self.check(str(caught.value), file, place, remedy)

    @staticmethod
    def check(line: str, file: Path, place: str, remedy: str) -> None:
        assert "\n" not in line
        assert line.startswith(f"{file}: ")
        assert place in line
        assert remedy in line

    def test_a_file_that_is_not_there(self, file: Path) -> None:
        """The name is nearly right, and the folder has it."""
        (file.parent / "kiosk.toml").touch()
        with pytest.raises(ConfigError, match=r"kisok\.toml: there is no such file; did you mean kiosk\.toml\?$"):
            load(file.with_name("kisok.toml"))
        with pytest.raises(ConfigError, match=r"no such file; give the path of an existing file$"):
            load(file.parent / "nowhere" / "at-all.toml")

    def test_a_folder_and_a_file_of_another_encoding(self, file: Path) -> None:
        """A traceback would hide that the editor saved it in Latin-1."""
        with pytest.raises(ConfigError, match=r"it cannot be read .*; give a readable UTF-8 text file$"):
            load(file.parent)
        file.write_bytes("[server]\nlanguage = 'ł'".encode("iso-8859-2"))
        with pytest.raises(ConfigError, match=r"it cannot be read .*; give a readable UTF-8 text file$"):
            load(file)


class TestDefaults:
    def test_no_file_and_an_empty_file_are_the_same(self, file: Path) -> None:
        """An empty file would be another program."""
        file.touch()
        assert load(file) == load(None) == Config()

    def test_what_is_given_is_taken_and_the_rest_stays(self, file: Path) -> None:
        """One key changed must not change another."""
        file.write_text("[voice]\nwpm = 200", encoding="utf-8")
        config = load(file)
        assert config.voice.wpm == 200
        assert config.voice.language == Config().voice.language
        assert config.server == Config().server

    def test_the_floor_of_an_empty_file_is_the_built_in_floor(self) -> None:
        """What is measured is not what is installed."""
        assert Config().floor.rules() == FloorRules()

    def test_every_language_has_its_phrases(self) -> None:
        """A Pole who says "czekaj" would not be let in."""
        assert load_phrases("en") == Phrases()
        assert "czekaj" in load_phrases("pl-PL").stop
        assert "halt" in load_phrases("DE").stop
        assert load_phrases("xx") == Phrases()
        assert "halt" in FloorConfig().rules("de").phrases.stop

    def test_cards_are_read_in_every_language_that_has_words(self) -> None:
        """A Pole would hear English sentences, or the English program without its file none."""
        assert load_card_words("en-GB") == CardWords()
        assert "wezwać karetkę" in load_card_words("pl").triage["emergency_ambulance"]
        assert load_card_words("pt") == WORDLESS
        languages = read_toml(HOME / "phrases.toml")
        assert all(set(load_card_words(name).triage) == set(CardWords().triage) for name in languages)

    @pytest.mark.parametrize(("screen", "shown"), [("true", True), ("false", False), ("'auto'", False)])
    def test_what_a_screen_shows_is_not_read(self, file: Path, screen: str, shown: bool) -> None:
        """Somebody without a screen would hear half of it, somebody with one everything twice."""
        file.write_text(f"[server]\nscreen = {screen}\n[voice]\nread_choices = 'never'", encoding="utf-8")
        assert load(file).card_rules() == CardRules(shown=shown, choices="never")

    def test_a_sensitivity_is_a_word(self, file: Path) -> None:
        """Who tunes a kiosk in a loud hall has no time for numbers."""
        file.write_text("[floor]\nsensitivity = 'relaxed'", encoding="utf-8")
        assert load(file).floor.rules() == FloorRules.of("relaxed")
        file.write_text("[floor]\nsensitivity = 'nervous'", encoding="utf-8")
        with pytest.raises(ConfigError, match=r"floor.sensitivity: .*'eager', 'default' or 'relaxed'"):
            load(file)

    def test_the_floor_of_a_file_reaches_the_core(self, file: Path) -> None:
        """A stop phrase in the user's own language would not stop anything."""
        file.write_text("[floor]\ngive_up = 1.0\nstop_phrases = ['czekaj']", encoding="utf-8")
        rules = load(file).floor.rules()
        assert (rules.give_up, tuple(rules.phrases.stop)) == (1.0, ("czekaj",))

    @pytest.mark.parametrize(
        "name", sorted(path.name for path in HOME.glob("*.toml") if path.name not in ("pacing.toml", "phrases.toml"))
    )
    def test_the_files_that_come_with_the_program_are_right(self, name: str) -> None:
        """The first thing that a new user tries."""
        load(HOME / name)

    def test_no_file_holds_a_token(self) -> None:
        """Secrets in files end up in backups and repositories."""
        assert all(
            "token" not in field or field in ("token_env", "token_file", "token_command")
            for field in type(Config().server).model_fields
        )


class TestPacing:
    def test_the_file_and_the_built_in_table_agree_on_who_may_be_interrupted(self) -> None:
        """A program without its file would cut what the one with it protects."""
        pacing = load_pacing()
        assert {kind: rule.can_interrupt for kind, rule in pacing.rules.items()} == {
            kind: rule.can_interrupt for kind, rule in DEFAULT_RULES.items()
        }
        assert set(read_toml(HOME / "pacing.toml")["kind"]) == set(DEFAULT_RULES)
        assert pacing.unknown == KindRule()

    def test_a_changed_gap_does_not_change_who_may_be_interrupted(self, file: Path) -> None:
        """A safety advice would be cut by a cough because somebody wanted a longer pause before it."""
        file.write_text("[kind.acknowledgement]\ngap = 0.5\n[kind.epilogue]\nrate = 0.8", encoding="utf-8")
        pacing = load_pacing(file)
        assert pacing.rule("acknowledgement") == KindRule(can_interrupt=False, gap=0.5)
        assert pacing.rule("epilogue") == KindRule(rate=0.8)
        assert pacing.rule("filler") == DEFAULT_RULES["filler"]
        assert pacing.rule("nobody knows") == KindRule()


class TestWhatAnEditorOrAHandDoes:
    def test_a_key_that_no_language_has_is_named(self, file: Path) -> None:
        """The program would not start after a slip in the phrases, and say that it is a fault of its own."""
        file.write_text("[en]\nstop = []\nbackchannels = []\nnoises = []\nanswers = []\nothers = []\nother = []")
        with pytest.raises(ConfigError, match=r"en\.other: unknown key; did you mean others"):
            load_phrases("en", file)
        file.write_text(
            (HOME / "phrases.toml").read_text(encoding="utf-8").replace("[en.cards]\n", "[en.cards]\npairs = 1\n")
        )
        with pytest.raises(ConfigError, match=r"en\.cards\.pairs: unknown key; did you mean pair"):
            load_phrases("en", file)

    def test_a_sentence_without_its_gap_is_named(self, file: Path) -> None:
        """The voice would say "You can say" and nothing, or stop in the middle of a conversation."""
        text = (HOME / "phrases.toml").read_text(encoding="utf-8")
        for slip in ("You can say.", "You can say {choice}.", "You can say {choices"):
            file.write_text(text.replace("You can say {choices}.", slip), encoding="utf-8")
            with pytest.raises(ConfigError, match=r"en\.cards\.choices: \{choices\} belongs in it"):
                load_card_words("en", file)

    def test_a_mark_at_the_beginning_is_no_mistake(self, file: Path) -> None:
        """Some editors put it there, and nobody can see it."""
        file.write_text("[voice]\nwpm = 200", encoding="utf-8-sig")
        assert load(file).voice.wpm == 200

    @pytest.mark.parametrize("line", ["age = 0", 'language = ""'])
    def test_what_the_server_would_refuse_is_told_before(self, file: Path, line: str) -> None:
        """The server's own refusal says no key, and comes when somebody already stands there."""
        file.write_text(f"[server]\n{line}", encoding="utf-8")
        with pytest.raises(ConfigError, match=f"server.{line.split()[0]}: "):
            load(file)
