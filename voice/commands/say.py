"""`voice say`: speak a text, or show how it would be spoken."""

from __future__ import annotations

import json as jsons
from typing import Annotated, Any

import typer

from voice.commands.options import ConfigOption, JsonOption
from voice.config import load


def say(
    text: Annotated[str, typer.Argument(help="What to say.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the clauses.")] = False,
    json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Speak a text through the loudspeaker, clause by clause.

    Example: voice say --dry-run --json "Dr. Lee is here. Please come in."
    """
    settings = load(config)
    if not dry_run:
        from voice.app.say import speak

        speak(settings, text)
    clauses = _clauses(text, settings.server.language)
    if json:
        print(jsons.dumps({"source": text, "clauses": clauses}, ensure_ascii=False))
    elif dry_run:
        for clause in clauses:
            print(f"{clause['start']:5}–{clause['end']:<5} {clause['spoken']}")


def _clauses(text: str, language: str) -> list[dict[str, Any]]:
    from voice.core.script import Script, words_of

    script = Script(language)
    script.append(text)
    script.finish(text)
    found: list[dict[str, Any]] = []
    while (clause := script.take()) is not None:
        words = [
            {"spoken": [start, end], "source": [clause.to_source(start), clause.to_source(end)]}
            for start, end in words_of(clause.spoken)
        ]
        found.append(
            {
                "start": clause.start,
                "end": clause.end,
                "caption": text[clause.start : clause.end],
                "spoken": clause.spoken,
                "words": words,
            }
        )
    return found
