"""The conversation itself, pure: a state and what the user said in; messages, assessment and the next state out.

An answer is understood in this order: an intent that may come at any time; the present step's branches; the kind of
answer the step expects. What is not understood is asked again, `tries` times. Findings that nobody asked for are
read back before the reply.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from voice.server.flow import BACK, SAME, Branch, Evidence, Flow, Intent, Line, Step
from voice.server.hints import QUESTION_KINDS
from voice.server.understand import affirmed, duration, number, plain, yes_no

End = Literal["completed", "terminated"]

_STATES = ("present", "absent", "unknown")


@dataclass(frozen=True, slots=True)
class State:
    """Where a conversation stands."""

    step: str
    variables: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    unmatched: tuple[str, ...] = ()
    recommendation: Mapping[str, Any] | None = None
    tries: int = 0
    back: str | None = None
    ended: End | None = None
    age_years: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server says to one user message, and where the conversation stands then."""

    lines: tuple[Line, ...]
    state: State
    step: Step
    """The step whose pace and faults apply."""
    handoff: str | None = None


class Engine:
    """The rules of one flow; it keeps no state of its own."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow

    def start(self, age_years: float | None = None) -> State:
        """The state of a new conversation."""
        return State(self.flow.opening, dict(self.flow.variables), age_years=age_years)

    def opening(self, state: State) -> Reply:
        """What is said before the user has said anything."""
        step = self.flow.steps[state.step]
        return Reply(self._filled(step.messages, state), state, step)

    def answer(self, state: State, text: str) -> Reply:
        """The reply to one user message (already redacted)."""
        flow, step = self.flow, self.flow.steps[state.step]
        if state.age_years is not None and state.age_years < flow.minimum_age:
            return Reply((Line("follow_up", flow.too_young),), replace(state, ended="terminated"), step)
        intent = next((intent for intent in flow.intents if intent.match.begins(text)), None)
        if intent is not None and (state.ended is None or intent.next == SAME):
            return self._intent(state, intent)
        if state.ended is not None:
            return Reply((Line("follow_up", flow.goodbye),), state, step)
        branch, found = self._understood(step, text)
        volunteered = self._volunteered(state, text)
        if branch is None and not (step.expect == "free" and plain(text)):
            if not (volunteered or state.tries + 1 >= step.tries):
                again = step.retry or _questions(step)
                return Reply(self._filled(again, state), replace(state, tries=state.tries + 1), step)
            if volunteered and state.tries + 1 < step.tries:
                state = self._recorded(state, volunteered)
                said = (self._read_back(volunteered), *self._filled(_questions(step), state))
                return Reply(said, replace(state, tries=state.tries + 1), step)
        branch = branch or Branch("otherwise")
        return self._taken(state, step, branch, found, text, volunteered)

    # ------------------------------------------------------------------ understanding

    def _understood(self, step: Step, text: str) -> tuple[Branch | None, str]:
        """The branch an answer takes, and the answer in words worth repeating."""
        said = plain(text)
        named = {branch.name: branch for branch in step.branches}
        if step.expect == "yes_no":
            meant = yes_no(text)
            hit = next((b for b in step.branches if b.match is not None and affirmed(text, b.match)), None)
            return (hit or named.get(meant) if meant else hit), said
        if step.expect in ("number", "duration"):
            amount: float | None
            if step.expect == "number":
                amount = number(text)
            else:
                span = duration(text)
                amount, said = (None, said) if span is None else (span.days, span.words)
            if amount is not None:
                fitting = [b for b in step.branches if b.match is None and (b.at_most is None or amount <= b.at_most)]
                fitting.sort(key=lambda branch: float("inf") if branch.at_most is None else branch.at_most)
                return (fitting[0] if fitting else Branch("any")), said if step.expect == "duration" else f"{amount:g}"
        return _matching(step, text), said

    def _volunteered(self, state: State, text: str) -> tuple[Evidence, ...]:
        known = {evidence.id: evidence.state for evidence in state.evidence}
        found = []
        for finding in self.flow.findings:
            if finding.match.find(text) is None or state.step in finding.asked_in:
                continue
            how = "present" if affirmed(text, finding.match) else "absent"
            if known.get(finding.id) != how:
                origin = "initial" if state.step == self.flow.opening else "spontaneous"
                found.append(Evidence(finding.id, finding.name, how, origin))
        return tuple(found)

    # ------------------------------------------------------------------ replying

    def _intent(self, state: State, intent: Intent) -> Reply:
        step = self.flow.steps[state.step]
        if intent.next == SAME:
            return Reply(
                (*self._filled(intent.say, state), *self._filled(_questions(step), state)), state, step, intent.handoff
            )
        target = self.flow.steps[intent.next]
        moved = replace(state, step=target.id, back=state.back or state.step, tries=0)
        lines = (*self._filled(intent.say, moved), *self._filled(target.messages, moved))
        return Reply(lines, moved, target, intent.handoff)

    def _taken(
        self, state: State, step: Step, branch: Branch, found: str, text: str, volunteered: tuple[Evidence, ...]
    ) -> Reply:
        variables = {**state.variables, **branch.set}
        if step.save is not None and step.save not in branch.set:
            variables[step.save] = found
        unmatched = state.unmatched
        if branch.name == "otherwise" and step.id == self.flow.opening and not volunteered:
            unmatched = (*unmatched, text)
        state = replace(state, variables=variables, unmatched=unmatched, tries=0)
        state = self._recorded(state, (*volunteered, *branch.evidence))
        spontaneous = tuple(evidence for evidence in volunteered if evidence.origin == "spontaneous")
        said = list(self._filled(branch.say, state))
        if spontaneous:
            said.append(self._read_back((*spontaneous, *branch.evidence)))
        target = branch.next or step.next
        if target is None:
            return Reply((*said, *self._filled(step.messages, state)), replace(state, ended=step.end), step)
        again = target in (BACK, SAME)
        if target == BACK:
            target = state.back or self.flow.opening
        if target != SAME:
            state = replace(state, back=None)
        following = self.flow.steps[step.id if target == SAME else target]
        state = replace(state, step=following.id, ended=following.end)
        if following.recommendation is not None:
            state = replace(state, recommendation=following.recommendation)
        lines = _questions(following) if again else following.messages
        return Reply((*said, *self._filled(lines, state)), state, following)

    def _recorded(self, state: State, evidence: tuple[Evidence, ...]) -> State:
        kept = {entry.id: entry for entry in state.evidence}
        kept.update({entry.id: entry for entry in evidence})
        return replace(state, evidence=tuple(kept.values()))

    def _read_back(self, evidence: tuple[Evidence, ...]) -> Line:
        copy = self.flow.read_back
        phrases = {"present": copy.present, "absent": copy.absent, "unknown": copy.unknown}
        groups, said = [], []
        for state in _STATES:
            names = [entry.name for entry in evidence if entry.state == state]
            if not names:
                continue
            said.append(phrases[state].replace("{items}", (copy.or_ if state == "absent" else copy.and_).join(names)))
            items = [{"name": name, "highlighted": False} for name in names]
            groups.append({"state": state, "title": phrases[state].replace("{items}", "").strip(), "items": items})
        text = copy.lead + copy.and_.join(said) + "."
        return Line("read_back", text, ({"type": "read_back", "groups": groups},))

    def _filled(self, lines: tuple[Line, ...], state: State) -> tuple[Line, ...]:
        return tuple(
            replace(line, text=re.sub(r"\{(\w+)\}", lambda hit: state.variables[hit[1]], line.text)) for line in lines
        )


def _questions(step: Step) -> tuple[Line, ...]:
    return tuple(line for line in step.messages if line.kind in QUESTION_KINDS) or step.messages


def _matching(step: Step, text: str) -> Branch | None:
    return next((branch for branch in step.branches if branch.match is not None and branch.match.find(text)), None)
