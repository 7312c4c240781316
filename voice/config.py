"""Configuration: TOML files, checked as a whole, with one clear line for a mistake."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from string import Formatter
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from voice.config_ces import CesConfig
from voice.core.card_words import FIELDS, WORDLESS, CardWords
from voice.core.cards import CardRules, ReadChoices
from voice.core.floor_rules import FloorRules, Sensitivity
from voice.core.pacing import DEFAULT_RULES, KindRule, Pacing
from voice.core.phrases import Phrases
from voice.wire.paths import Backend

HOME = Path(__file__).resolve().parent.parent / "config"
"""The configuration that comes with the program."""

M = TypeVar("M", bound=BaseModel)

_OLDEST = 130
"""Years; the documented upper limit of an age."""


class ConfigError(Exception):
    """A configuration file is wrong: one line with file, key or line, cause and remedy."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EvidenceConfig(_Table):
    """What is known of a person before the conversation begins."""

    id: str = Field(min_length=1)
    state: Literal["present", "absent", "unknown"]


class ServerConfig(_Table):
    """Where the conversation is held, and what the server is told when it begins."""

    backend: Backend = "infermedica"
    url: str = ""
    """"" is the backend's own: `voice serve` on this machine for infermedica, Google's for ces."""
    token_env: str = "VOICE_TOKEN"
    """Name of the environment variable that holds the bearer token; tokens stand in no configuration."""
    token_file: Path | None = None
    """A file whose first line is the token, kept fresh by something else; read for every connection."""
    token_command: tuple[str, ...] = ()
    """A command that prints the token, run for every connection."""
    language: str = Field(default="en", min_length=2)
    channel: Literal["voice", "text"] = "voice"
    """What the server words its messages for."""
    risk_factors_enabled: bool | None = None
    geographic_risk_factors_enabled: bool | None = None
    """None: as the server has them by default."""
    handoff_policies: tuple[Literal["stop_intent_handoff", "pre_triage_handoff"], ...] = ()
    age_unit: Literal["year", "month"] = "year"
    age: int | None = Field(default=None, ge=0)
    """In `age_unit`s, up to 130 years; a child of less than a year is counted in months."""
    sex: Literal["female", "male"] | None = None
    relationship: Literal["self", "child", "other"] | None = None
    """Whom the user answers for."""
    evidence: tuple[EvidenceConfig, ...] = ()
    screen: Literal[True, False, "auto"] = "auto"
    """Whether somebody sees the widgets on a screen; "auto": as the program that runs shows them or not."""
    widgets: bool = True
    """Whether the server is asked for widgets at all."""

    @model_validator(mode="after")
    def _one_source_of_tokens(self) -> ServerConfig:
        if self.token_file is not None and self.token_command:
            raise ValueError("token_file and token_command are both there; keep one of them")
        return self

    @field_validator("age")
    @classmethod
    def _is_an_age(cls, age: int | None, info: ValidationInfo) -> int | None:
        months = info.data.get("age_unit") == "month"
        if age == 0 and not months:
            raise ValueError('0 is an age in months only: write age_unit = "month"')
        if age is not None and age > _OLDEST * (12 if months else 1):
            raise ValueError(f"an age is at most {_OLDEST} years")
        return age


class VoiceConfig(_Table):
    """The assistant's voice."""

    engine: str = "espeak"
    language: str = "en-us"
    wpm: int = Field(default=175, ge=80, le=450)
    read_choices: ReadChoices = "useful"
    """Whether the answers that hints and forms offer are read out where no screen shows them."""


class EarsConfig(_Table):
    """The recogniser and its end of turn."""

    engine: str = "moonshine"
    model: str | None = None
    end_silence: float = Field(default=0.44, ge=0.2, le=3.0)
    """Seconds of silence that end an utterance."""


class SoundConfig(_Table):
    """The sound devices, by a part of their names; None: the system's default."""

    input: str | None = None
    output: str | None = None
    lead_in: float = Field(default=0.0, ge=0, le=2.0)
    """Seconds of inaudible noise before speech, for loudspeakers that fall asleep."""


class FloorConfig(_Table):
    """What may take the floor; see docs/floor.md."""

    sensitivity: Sensitivity = "default"
    give_up: float | None = Field(default=None, gt=0, le=5)
    """Seconds of silence after which a lowered voice comes back; None: as the sensitivity has it."""
    stop_phrases: tuple[str, ...] | None = None
    backchannels: tuple[str, ...] | None = None
    noise_words: tuple[str, ...] | None = None
    """None: the list of the conversation's language in config/phrases.toml."""

    def rules(self, language: str = "en") -> FloorRules:
        """The rules for the core. Raises ConfigError."""
        rules, known = FloorRules.of(self.sensitivity), load_phrases(language)
        phrases = Phrases(
            stop=known.stop if self.stop_phrases is None else self.stop_phrases,
            backchannels=known.backchannels if self.backchannels is None else self.backchannels,
            noises=known.noises if self.noise_words is None else self.noise_words,
            answers=known.answers,
            others=known.others,
        )
        return replace(rules, phrases=phrases, give_up=self.give_up or rules.give_up)


class Config(_Table):
    """One file of config/: what a client needs to know."""

    server: ServerConfig = ServerConfig()
    voice: VoiceConfig = VoiceConfig()
    ears: EarsConfig = EarsConfig()
    sound: SoundConfig = SoundConfig()
    floor: FloorConfig = FloorConfig()
    ces: CesConfig = CesConfig()

    @model_validator(mode="after")
    def _has_an_app(self) -> Config:
        if self.server.backend == "ces" and not self.ces.app:
            raise ValueError('backend = "ces" needs app in [ces]: write app = "projects/P/locations/L/apps/A"')
        return self

    def card_rules(self) -> CardRules:
        """How widgets are read out. No program here shows them yet, so "auto" reads them. Raises ConfigError."""
        words = load_card_words(self.server.language)
        return CardRules(self.server.screen is True, self.voice.read_choices, words)


class _KindConfig(_Table):
    can_interrupt: bool = True
    gap: float = Field(default=0.25, ge=0, le=10)
    rate: float = Field(default=1.0, ge=0.4, le=2.5)
    early_speech: Literal["hold", "ignore"] = "hold"


class _CardsConfig(_Table):
    choices: str
    examples: str
    each: str
    numbers: str
    pair: str
    last: str
    serious: str
    emergency: str
    conditions: str
    specialist: str
    triage: Mapping[str, str]
    channels: Mapping[str, str]
    states: Mapping[str, str]

    @field_validator(*FIELDS)
    @classmethod
    def _has_its_fields(cls, sentence: str, info: ValidationInfo) -> str:
        wanted = FIELDS[info.field_name or ""]
        try:
            found = {name for _, name, *_ in Formatter().parse(sentence) if name is not None}
        except ValueError:
            found = set()
        if found != wanted:
            raise ValueError(
                f"{' and '.join(f'{{{name}}}' for name in sorted(wanted))} belongs in it, and nothing else in braces"
            )
        return sentence


class _PhrasesConfig(_Table):
    stop: tuple[str, ...]
    backchannels: tuple[str, ...]
    noises: tuple[str, ...]
    answers: tuple[str, ...]
    others: tuple[str, ...]
    cards: _CardsConfig | None = None


class _Languages(RootModel[dict[str, _PhrasesConfig]]):
    """config/phrases.toml: a table for each language."""


class _PacingConfig(_Table):
    kind: dict[str, _KindConfig] = Field(default_factory=dict)
    unknown: _KindConfig = _KindConfig()


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file. Raises ConfigError."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors put a mark at the beginning
    except FileNotFoundError:
        near = difflib.get_close_matches(path.name, [p.name for p in path.parent.glob("*.toml")], 1)
        hint = f"; did you mean {near[0]}?" if near else "; give the path of an existing file"
        raise ConfigError(f"{path}: there is no such file{hint}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: it cannot be read ({error}); give a readable UTF-8 text file") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not TOML: {error}; mend that place") from None


def check(model: type[M], data: dict[str, Any], path: Path) -> M:
    """`data` as `model`. Raises ConfigError naming the first wrong key."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "(top level)"
        if first["type"] == "extra_forbidden":
            known = _siblings(model, first["loc"])
            near = difflib.get_close_matches(str(first["loc"][-1]), known, 1)
            remedy = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
            raise ConfigError(f"{path}: {key}: unknown key; {remedy}") from None
        if first["type"] in ("model_type", "dict_type"):
            raise ConfigError(f"{path}: {key}: a table belongs here, not a value; write [{key}]") from None
        if first["type"] == "tuple_type":
            raise ConfigError(f'{path}: {key}: a list belongs here; write {key.split(".")[-1]} = ["..."]') from None
        raise ConfigError(f"{path}: {key}: {first['msg'].removeprefix('Value error, ')}; mend that value") from None


def _siblings(model: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """The keys that may stand where the last part of `location` stands."""
    parts = iter(location[:-1])
    for part in parts:
        if issubclass(model, RootModel):  # a file of tables alike, whose names are the user's own
            model = get_args(model.model_fields["root"].annotation)[1]
            continue
        inner = model.model_fields[str(part)].annotation
        if get_origin(inner) in (dict, tuple):
            inner = get_args(inner)[get_origin(inner) is dict]
            next(parts)  # the name in that table is the user's own, or it is a place in a list
        tables = [kind for kind in (inner, *get_args(inner)) if isinstance(kind, type) and issubclass(kind, BaseModel)]
        if not tables:
            break
        model = tables[0]
    return list(model.model_fields)


def load(path: Path | None) -> Config:
    """The configuration in `path`, or the defaults. Raises ConfigError."""
    return Config() if path is None else check(Config, read_toml(path), path)


def load_pacing(path: Path | None = None) -> Pacing:
    """The pacing rules in `path` (default: config/pacing.toml). What the file leaves out is as built in: a kind that
    may not be interrupted does not become another kind because its gap was changed. Raises ConfigError."""
    if path is None:
        path = HOME / "pacing.toml"
        if not path.exists():
            return Pacing(DEFAULT_RULES)
    table = check(_PacingConfig, read_toml(path), path)
    changed = {
        kind: replace(DEFAULT_RULES.get(kind, KindRule()), **rule.model_dump(exclude_unset=True))
        for kind, rule in table.kind.items()
    }
    return Pacing({**DEFAULT_RULES, **changed}, KindRule(**table.unknown.model_dump()))


def load_phrases(language: str, path: Path | None = None) -> Phrases:
    """The phrases of a language ("pl", "en-GB") in `path` (default: config/phrases.toml); English for one that is not
    in it. Raises ConfigError."""
    found = _phrases(language, path)
    return Phrases() if found is None else Phrases(**found.model_dump(exclude={"cards"}))


def load_card_words(language: str, path: Path | None = None) -> CardWords:
    """The sentences with which cards are read out in a language, from the same file; without one, `WORDLESS`. Raises
    ConfigError."""
    if re.split("[-_]", language.lower())[0] == "en" and not (path or HOME / "phrases.toml").exists():
        return CardWords()
    found = _phrases(language, path)
    return WORDLESS if found is None or found.cards is None else CardWords(**found.cards.model_dump())


def _phrases(language: str, path: Path | None) -> _PhrasesConfig | None:
    """What the file has for a language, or for the language without its region."""
    path = HOME / "phrases.toml" if path is None else path
    if not path.exists():
        return None
    languages = check(_Languages, read_toml(path), path).root
    wanted, known = language.lower(), {name.lower(): table for name, table in languages.items()}
    return known.get(wanted) or known.get(re.split("[-_]", wanted)[0])
