"""Infermedica's widgets to the core's and back.

Decoding is lenient: what is missing or of another type is empty, and costs nothing around it. A list keeps those of its
entries that can be used; a label without letters is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

from voice.core.widgets import (
    Condition,
    Form,
    FormItem,
    Group,
    Hints,
    Item,
    ReadBack,
    RecommendationConditions,
    RecommendationTriage,
    SeriousFinding,
    Specialist,
    Summary,
    UnknownWidget,
    Unmatched,
    Widget,
)
from voice.wire.lenient import labels, objects, text

# --------------------------------------------------------------------------- from the server


def decode_widget(found: Mapping[str, Any]) -> Widget:
    """The widget in this object. Never raises: of an unknown type it is an `UnknownWidget`."""
    kind = text(found, "type")
    decoder = _DECODERS.get(kind)
    if decoder is None:
        return UnknownWidget(kind, {key: value for key, value in found.items() if key != "type"})
    return decoder(found)


def _hints(found: Mapping[str, Any]) -> Hints:
    return Hints(labels(found, "hints"))


def _form(found: Mapping[str, Any]) -> Form:
    return Form(tuple(FormItem(text(entry, "name"), labels(entry, "choices")) for entry in objects(found, "items")))


def _triage(found: Mapping[str, Any]) -> RecommendationTriage:
    entry = found.get("specialist")
    specialist = Specialist(text(entry, "id"), text(entry, "name")) if isinstance(entry, Mapping) else None
    return RecommendationTriage(text(found, "triage_level"), specialist, text(found, "channel"))


def _conditions(found: Mapping[str, Any]) -> RecommendationConditions:
    return RecommendationConditions(
        tuple(_condition(entry) for entry in objects(found, "conditions")),
        found.get("has_emergency_findings") is True,
        tuple(_serious(entry) for entry in objects(found, "serious_findings")),
    )


def _condition(found: Mapping[str, Any]) -> Condition:
    share, details = found.get("probability"), found.get("condition_details")
    return Condition(
        text(found, "id"),
        text(found, "name"),
        text(found, "common_name"),
        float(share) if _is_share(share) else None,
        details if isinstance(details, Mapping) else None,
    )


def _is_share(found: Any) -> TypeGuard[float]:
    return isinstance(found, (int, float)) and not isinstance(found, bool) and 0 <= found <= 1


def _serious(found: Mapping[str, Any]) -> SeriousFinding:
    return SeriousFinding(
        text(found, "id"), text(found, "name"), text(found, "common_name"), labels(found, "parent_ids")
    )


def _summary(found: Mapping[str, Any]) -> Summary:
    rest = found.get("unmatched")
    unmatched = Unmatched(text(rest, "title"), text(rest, "note"), _items(rest)) if isinstance(rest, Mapping) else None
    return Summary(text(found, "patient"), _groups(found), unmatched)


def _read_back(found: Mapping[str, Any]) -> ReadBack:
    return ReadBack(_groups(found))


def _groups(found: Mapping[str, Any]) -> tuple[Group, ...]:
    return tuple(Group(text(entry, "state"), text(entry, "title"), _items(entry)) for entry in objects(found, "groups"))


def _items(found: Mapping[str, Any], key: str = "items") -> tuple[Item, ...]:
    """Findings with their children. Deeper ones than the protocol has are kept: a finding is never dropped."""
    return tuple(
        Item(text(entry, "name"), entry.get("highlighted") is True, _items(entry, "children"))
        for entry in objects(found, key)
    )


_DECODERS: dict[str, Callable[[Mapping[str, Any]], Widget]] = {
    "hints": _hints,
    "form": _form,
    "recommendation_triage": _triage,
    "recommendation_conditions": _conditions,
    "summary": _summary,
    "read_back": _read_back,
}


# --------------------------------------------------------------------------- as the server writes them


def encode_widget(widget: Widget) -> dict[str, Any]:
    """The object that `decode_widget` makes this widget of, with all its documented fields."""
    match widget:
        case Hints(labels):
            return {"type": "hints", "hints": list(labels)}
        case Form(items):
            return {"type": "form", "items": [{"name": item.name, "choices": list(item.choices)} for item in items]}
        case RecommendationTriage(level, specialist, channel):
            whom = None if specialist is None else {"id": specialist.id, "name": specialist.name}
            return {
                "type": "recommendation_triage",
                "triage_level": level,
                "specialist": whom,
                "channel": channel or None,
            }
        case RecommendationConditions(conditions, emergency, serious):
            return {
                "type": "recommendation_conditions",
                "conditions": [_written_condition(condition) for condition in conditions],
                "has_emergency_findings": emergency,
                "serious_findings": [_written_serious(finding) for finding in serious],
            }
        case Summary(patient, groups, unmatched):
            body: dict[str, Any] = {"type": "summary", "patient": patient, "groups": _written(groups, nested=True)}
            if unmatched is not None:
                listed = [_written_item(item, nested=False) for item in unmatched.items]
                body["unmatched"] = {"title": unmatched.title, "note": unmatched.note, "items": listed}
            return body
        case ReadBack(groups):
            return {"type": "read_back", "groups": _written(groups, nested=False)}
        case UnknownWidget(kind, data):
            return {"type": kind, **data}


def _written_condition(condition: Condition) -> dict[str, Any]:
    return {
        "id": condition.id,
        "probability": condition.probability,
        "name": condition.name,
        "common_name": condition.common_name,
        "condition_details": None if condition.details is None else dict(condition.details),
    }


def _written_serious(finding: SeriousFinding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "name": finding.name,
        "common_name": finding.common_name,
        "parent_ids": list(finding.parent_ids),
    }


def _written(groups: tuple[Group, ...], *, nested: bool) -> list[dict[str, Any]]:
    return [
        {
            "state": group.state,
            "title": group.title,
            "items": [_written_item(item, nested=nested) for item in group.items],
        }
        for group in groups
    ]


def _written_item(item: Item, *, nested: bool) -> dict[str, Any]:
    """An item of a summary says that it has no children; one of a read-back has no such field."""
    body: dict[str, Any] = {"name": item.name, "highlighted": item.highlighted}
    if nested or item.children:
        body["children"] = [_written_item(child, nested=True) for child in item.children]
    return body
