"""Configuration of a conversation with Google CES: the table `[ces]`."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from voice.wire.ces_spellings import assumed

_APP = re.compile(r"projects/[^/\s]+/locations/(?P<location>[a-z0-9-]+)/apps/[A-Za-z0-9_-]+")

_LONGEST_TOOL = 25.0
"""Seconds; the server waits 30 for a tool, and is answered before that."""


def _as_json(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """What goes out as JSON. TOML has dates and infinite numbers, too."""
    try:
        json.dumps(dict(values), allow_nan=False)
    except (TypeError, ValueError):
        raise ValueError("a date, a time or a number without a value is no JSON; write it as a text") from None
    return values


JsonObject = Annotated[Mapping[str, Any], AfterValidator(_as_json)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ToolConfig(_Table):
    """A tool that the server may have run here: a command or a Python function."""

    command: tuple[str, ...] = ()
    """Gets the arguments as one JSON object on standard input, and prints the result as JSON."""
    function: str = ""
    """As "package.module:name"; gets the arguments by their names, and returns the result."""
    timeout: float = Field(default=10.0, gt=0, le=_LONGEST_TOOL)
    """Seconds."""
    arguments: JsonObject | None = Field(default=None, alias="schema")
    """JSON Schema (2020-12) of the arguments; None: anything goes. In the file it is called `schema`."""

    @model_validator(mode="after")
    def _is_one_of_both(self) -> ToolConfig:
        if bool(self.command) == bool(self.function):
            raise ValueError("a tool has either a command or a function; keep one of them")
        return self

    @field_validator("function")
    @classmethod
    def _can_be_called(cls, name: str) -> str:
        if name:
            function_of(name)
        return name

    @field_validator("arguments")
    @classmethod
    def _is_a_schema(cls, schema: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        try:
            Draft202012Validator.check_schema(schema or {})
        except SchemaError as error:
            raise ValueError(f"not a JSON schema ({error.message})") from None
        return schema


def function_of(name: str) -> Callable[..., Any]:
    """The Python function of a name. Raises ValueError in one line."""
    module, _, inner = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), inner)
    except Exception as error:  # the module's own code may raise anything
        raise ValueError(f'no such function ({type(error).__name__}); write "package.module:name"') from None
    if not callable(found):
        raise ValueError(f"{name} is not a function")
    return found  # type: ignore[no-any-return]


class CesConfig(_Table):
    """Which application of Google CES, and how its sessions begin."""

    app: str = ""
    """projects/P/locations/L/apps/A; its location is that of the server, too."""
    deployment: str = ""
    entry_agent: str = ""
    """Ids in the application, or whole resource names; "": as the application has it."""
    opening_event: str = assumed("opening.event")
    """Named to the agent at the beginning, so that it speaks first; "": the user begins."""
    variables: JsonObject = Field(default_factory=dict)
    """Set before that."""
    heard_variable: str = ""
    """A variable of the application that is set to what was heard, before a text that interrupts; "": none."""
    time_zone: str = ""
    text_streaming: bool = True
    """Whether texts come in pieces, as they are made."""
    quota_project: str = Field(default="", pattern=r"^[a-z0-9:.-]*$")
    """The project that is charged, where it is not that of the token."""
    tools: Mapping[str, ToolConfig] = Field(default_factory=dict)
    """By the names that the application has for them; no other is run."""

    @field_validator("app")
    @classmethod
    def _is_an_app(cls, app: str) -> str:
        if app and not _APP.fullmatch(app):
            raise ValueError("an application looks like projects/P/locations/L/apps/A")
        return app

    @property
    def location(self) -> str:
        """Of the application: "us", "eu"."""
        found = _APP.fullmatch(self.app)
        return found["location"] if found is not None else ""

    def named(self, kind: str, name: str) -> str:
        """The whole resource name of a part of the application; "" for ""."""
        return name if not name or "/" in name else f"{self.app}/{kind}/{name}"
