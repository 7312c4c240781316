"""What a client may send, checked as the real server checks it: the error details are pydantic's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

_OLDEST_YEARS = 130
"""Documented upper limit of an age."""


class _Input(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class SettingsInput(_Input):
    """`ConversationSettingsInput` with the documented defaults; `max_message_length` is no input field."""

    language: str = Field(default="en", min_length=2)
    channel: Literal["text", "voice"] = "text"
    ui_widgets_enabled: bool = False
    opening_message_enabled: bool = False
    risk_factors_enabled: bool = True
    geographic_risk_factors_enabled: bool = False
    handoff_policies: list[Literal["stop_intent_handoff", "pre_triage_handoff"]] = Field(default_factory=list)


class AgeInput(_Input):
    """`Age`: 0 only in months, at most 130 years."""

    value: int = Field(ge=0)
    unit: Literal["year", "month"] = "year"

    @model_validator(mode="after")
    def _plausible(self) -> AgeInput:
        if self.unit == "year" and self.value == 0:
            raise ValueError("0 is an age in months only")
        if self.years > _OLDEST_YEARS:
            raise ValueError(f"at most {_OLDEST_YEARS} years")
        return self

    @property
    def years(self) -> float:
        """The age in years."""
        return self.value if self.unit == "year" else self.value / 12


class EvidenceInput(_Input):
    """Evidence given at the start."""

    id: str
    state: Literal["present", "absent", "unknown"]


class AssessmentInput(_Input):
    """`AssessmentInput`: every field optional."""

    age: AgeInput | None = None
    sex: Literal["female", "male"] | None = None
    relationship: Literal["self", "child", "other"] | None = None
    evidence: list[EvidenceInput] = Field(default_factory=list)


class ConversationInput(_Input):
    """`ConversationInput`: both objects required."""

    settings: SettingsInput
    assessment: AssessmentInput


class UserMessageInput(_Input):
    """`UserMessageInput`; the length limit is the conversation's and checked apart."""

    id: UUID | None = Field(default=None, strict=False)
    content: str = Field(min_length=1)
    is_interrupted: bool = False
    played_content: str | None = None
    traceparent: str | None = None


CONVERSATION_ID: TypeAdapter[UUID] = TypeAdapter(UUID)
"""The id in a resume."""


def details(error: ValidationError, *place: str) -> list[dict[str, str]]:
    """The `details` of an error envelope, without the input that was wrong. `place` is where the object was."""
    return [
        {
            "location": ".".join(str(part) for part in (*place, *entry["loc"]) if part != ""),
            "message": entry["msg"],
            "type": entry["type"],
        }
        for entry in error.errors(include_input=False, include_url=False, include_context=False)
    ]


def too_long(limit: int, *place: str) -> list[dict[str, str]]:
    """The `details` for a content of more than `limit` code points."""
    message = f"String should have at most {limit} characters"
    return [{"location": ".".join(part for part in place if part), "message": message, "type": "string_too_long"}]


def as_plain(model: BaseModel) -> dict[str, Any]:
    """The model as JSON values."""
    return model.model_dump(mode="json")


def changed(settings: Mapping[str, Any], update: SettingsInput) -> dict[str, Any]:
    """The settings with those that `update` names."""
    return dict(settings) | update.model_dump(mode="json", exclude_unset=True)
