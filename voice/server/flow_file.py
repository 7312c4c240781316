"""Reading and checking flow files. A flow that was read can be run: no step, variable or pattern is missing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

from voice.server.extras import read_extras
from voice.server.flow import (
    BACK,
    SAME,
    Branch,
    Evidence,
    Expect,
    Faults,
    Finding,
    Flow,
    Intent,
    Line,
    Pace,
    ReadBackCopy,
    Step,
)
from voice.server.hints import ENGLISH, Labels, with_hints
from voice.server.toml_table import FlowError, Table, parse_toml
from voice.server.understand import Matcher, matcher

_KINDS = ("intro", "follow_up", "acknowledgement", "bridge", "filler", "read_back")
_EXPECTS = ("yes_no", "choices", "free", "number", "duration")
_ARRIVES = ("events", "snapshot", "both")
_ENDS = ("completed", "terminated")
_STATES = ("present", "absent", "unknown")
_HANDOFFS = ("stop_intent_detected",)
_YES_NO = ("yes", "no", "unsure")


def load(path: Path | str) -> Flow:
    """The flow in a file. Raises FlowError, one line, for a file that cannot be read or used."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FlowError(f"{path}: cannot be read ({error.strerror}); name a flow file") from None
    except UnicodeDecodeError as error:
        raise FlowError(f"{path}: byte {error.start}: not UTF-8; save it as UTF-8") from None
    return parse(text, str(path))


def parse(text: str, file: str = "flow") -> Flow:
    """The flow in a TOML text; `file` stands in the errors. Raises FlowError."""
    top = parse_toml(text, file)
    head = top.table("flow")
    pace = _pace(top.table("pace"), Pace())
    variables = top.table("vars").strings()
    synonyms = _synonyms(top.table("synonyms"))
    other_kinds = frozenset(head.texts("other_kinds"))
    reader = _Reader(variables, synonyms, pace, (*_KINDS, *sorted(other_kinds)))
    steps: dict[str, Step] = {}
    for table in top.tables("step"):
        step = reader.step(table)
        if step.id in steps:
            raise table.fail("id", f'"{step.id}" occurs twice', "rename one of the steps")
        steps[step.id] = step
    if not steps:
        raise top.fail("step", "no steps", "add a [[step]]")
    language = head.get("language", str, "en")
    labels = _labels(top.table("hints"), ENGLISH if language.startswith("en") else Labels())
    flow = Flow(
        name=head.get("name", str),
        language=language,
        opening=head.get("opening", str),
        steps={step_id: with_hints(step, labels) for step_id, step in steps.items()},
        goodbye=head.get("goodbye", str, "Goodbye."),
        minimum_age=head.positive("minimum_age", int, 0),
        too_young=head.get("too_young", str, ""),
        max_message_length=head.positive("max_message_length", int, 1500, 1),
        opening_arrives=cast(Any, head.one_of("opening_arrives", _ARRIVES)) if "opening_arrives" in head else None,
        other_kinds=other_kinds,
        pace=pace,
        variables=variables,
        intents=tuple(reader.intent(table) for table in top.tables("intent")),
        findings=tuple(reader.finding(table) for table in top.tables("finding")),
        read_back=ReadBackCopy(**_copy(top.table("read_back"))),
    )
    _check_targets(flow, head, top)
    head.done()
    top.done()
    return flow


def _synonyms(table: Table) -> dict[str, list[str]]:
    return {name: table.texts(name) for name in table.plain()}


def _copy(table: Table) -> dict[str, str]:
    defaults = ReadBackCopy()
    names = ("lead", "present", "absent", "unknown", "and_", "or_", "widget_text")
    copy = {name: table.get(name.rstrip("_"), str, getattr(defaults, name)) for name in names}
    table.done()
    return copy


def _labels(table: Table, default: Labels) -> Labels:
    labels = Labels(*(table.get(name, str, getattr(default, name)) for name in ("yes", "no", "unsure")))
    table.done()
    return labels


def _pace(table: Table, default: Pace) -> Pace:
    pace = Pace(
        chars=table.positive("chars", int, default.chars, 1),
        seconds=table.positive("seconds", float, default.seconds),
        thinking=table.positive("thinking", float, default.thinking),
    )
    table.done()
    return pace


def _faults(table: Table) -> Faults:
    faults = Faults(
        drop_after=table.positive("drop_after", int, 0, 1) if "drop_after" in table else None,
        delay=table.positive("delay", float, 0.0),
        duplicate_delta=table.get("duplicate_delta", bool, False),
        malformed=table.get("malformed", bool, False),
        other_text=table.get("other_text", str, None),
        widgets_first=table.get("widgets_first", bool, False),
        no_deltas=table.get("no_deltas", bool, False),
        late_events=table.positive("late_events", int, 0),
        fail=table.get("fail", bool, False),
    )
    table.done()
    return faults


def _check_targets(flow: Flow, head: Table, top: Table) -> None:
    if flow.opening not in flow.steps:
        raise head.fail("opening", f'no step "{flow.opening}"', "use one of " + ", ".join(flow.steps))
    if flow.minimum_age and not flow.too_young:
        raise head.fail("too_young", "missing", "say what a person under minimum_age is told")
    for number, step in enumerate(flow.steps.values()):
        targets = [("next", step.next)] + [(f"branch.{branch.name}.next", branch.next) for branch in step.branches]
        for key, target in targets:
            if target is not None and target not in (BACK, SAME) and target not in flow.steps:
                raise top.fail(f"step[{number}].{key}", f'no step "{target}"', "use one of " + ", ".join(flow.steps))
        if step.end is None and step.next is None:
            raise top.fail(f"step[{number}].next", "missing", "name the step after it, or give it an end")
    for number, intent in enumerate(flow.intents):
        if intent.next != SAME and intent.next not in flow.steps:
            raise top.fail(f"intent[{number}].next", f'no step "{intent.next}"', "use one of " + ", ".join(flow.steps))
    for number, finding in enumerate(flow.findings):
        for step_id in finding.asked_in:
            if step_id not in flow.steps:
                raise top.fail(f"finding[{number}].asked_in", f'no step "{step_id}"', "use the ids of steps")


class _Reader:
    """Reads the parts of a flow that refer to its variables, synonyms and pace."""

    def __init__(
        self, variables: dict[str, str], synonyms: dict[str, list[str]], pace: Pace, kinds: tuple[str, ...]
    ) -> None:
        self._variables, self._synonyms, self._default_pace, self._kinds = variables, synonyms, pace, kinds

    def step(self, table: Table) -> Step:
        step_id = table.get("id", str)
        expect = table.one_of("expect", _EXPECTS, "free")
        end = table.one_of("end", _ENDS) if "end" in table else None
        save = table.get("save", str, None)
        if save is not None and save not in self._variables:
            raise table.fail("save", f'no variable "{save}"', "give it a first value in [vars]")
        messages = self._lines(table, "messages")
        if not messages:
            raise table.fail("messages", "missing", "give the step something to say")
        branches = tuple(self._branch(branch, name, expect) for name, branch in table.table("branch").named_tables())
        recommendation = table.table("recommendation").plain() if "recommendation" in table else None
        step = Step(
            id=step_id,
            messages=messages,
            expect=cast(Expect, expect),
            save=save,
            branches=branches,
            retry=self._lines(table, "retry"),
            tries=table.positive("tries", int, 2, 1),
            next=table.get("next", str, None),
            end="terminated" if end == "terminated" else "completed" if end else None,
            recommendation=recommendation,
            pace=_pace(table.table("pace"), self._default_pace) if "pace" in table else None,
            faults=_faults(table.table("faults")),
            extras=read_extras(table.table("ces")),
        )
        table.done()
        return step

    def _branch(self, table: Table, name: str, expect: str) -> Branch:
        match = self._matcher(table) if "match" in table else None
        at_most = table.get("at_most", float, None)
        if match is None and expect in ("choices", "free"):
            raise table.fail("match", "missing", "list the words that lead here")
        if match is None and expect == "yes_no" and name not in _YES_NO:
            raise table.fail("match", "missing", "list the words that lead here, or name the branch yes, no or unsure")
        if at_most is not None and expect not in ("number", "duration"):
            raise table.fail("at_most", f"of no use where {expect} is expected", "remove it")
        chosen = table.table("set").strings()
        for variable in chosen:
            if variable not in self._variables:
                raise table.fail(f"set.{variable}", "no such variable", "give it a first value in [vars]")
        branch = Branch(
            name=name,
            match=match,
            at_most=at_most,
            say=self._lines(table, "say"),
            set=chosen,
            evidence=tuple(self._evidence(entry) for entry in table.tables("evidence")),
            next=table.get("next", str, None),
        )
        table.done()
        return branch

    @staticmethod
    def _evidence(table: Table) -> Evidence:
        evidence = Evidence(table.get("id", str), table.get("name", str), table.one_of("state", _STATES, "present"))
        table.done()
        return evidence

    def intent(self, table: Table) -> Intent:
        handoff = table.one_of("handoff", _HANDOFFS) if "handoff" in table else None
        intent = Intent(
            id=table.get("id", str),
            match=self._matcher(table),
            say=self._lines(table, "say"),
            next=table.get("next", str, SAME),
            handoff=handoff,
        )
        table.done()
        return intent

    def finding(self, table: Table) -> Finding:
        finding = Finding(
            id=table.get("id", str),
            name=table.get("name", str),
            match=self._matcher(table),
            asked_in=frozenset(table.texts("asked_in")),
        )
        table.done()
        return finding

    def _matcher(self, table: Table) -> Matcher:
        entries: list[str] = []
        for index, entry in enumerate(table.texts("match")):
            if entry.startswith("@"):
                if entry[1:] not in self._synonyms:
                    raise table.fail(f"match[{index}]", f'no synonyms "{entry[1:]}"', "add them to [synonyms]")
                entries += self._synonyms[entry[1:]]
            else:
                entries.append(entry)
        if not entries:
            raise table.fail("match", "missing or empty", "list the words that lead here")
        try:
            return matcher(entries)
        except re.error as error:
            raise table.fail("match", f"not a regular expression ({error})", "mend the pattern") from None

    def _lines(self, table: Table, key: str) -> tuple[Line, ...]:
        lines = []
        for entry in table.tables(key):
            line = Line(
                kind=entry.one_of("kind", self._kinds),
                text=entry.get("text", str),
                widgets=tuple(widget.plain() for widget in entry.tables("widgets")),
            )
            if not line.text.strip():
                raise entry.fail("text", "empty", "give it words to say")
            for variable in re.findall(r"\{(\w+)\}", line.text):
                if variable not in self._variables:
                    raise entry.fail("text", f"no variable {{{variable}}}", "give it a first value in [vars]")
            for index, widget in enumerate(line.widgets):
                if not isinstance(widget.get("type"), str):
                    raise entry.fail(f"widgets[{index}].type", "missing", "name the widget's type")
            entry.done()
            lines.append(line)
        return tuple(lines)
