"""`memcore demo`: a conversation is remembered in a file, and another process answers questions from it."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote

import typer
from memcore.items.model import MemoryItem

from memcore_cli.answers import HITS, ask_elsewhere
from memcore_cli.claims import claims_fields
from memcore_cli.connection import connected
from memcore_cli.conversation import BadConversation, Conversation, read_conversation
from memcore_cli.exit_codes import ExitCode
from memcore_cli.failures import CommandFailed
from memcore_cli.importing import BATCH_ITEMS
from memcore_cli.output import say, show_fields, write_document
from memcore_cli.parameters import AsJson
from memcore_cli.progress import progress
from memcore_cli.scoring import Score
from memcore_cli.source import opened
from memcore_cli.text import clipped, plural

_QUESTIONS_SHOWN = 9
_HITS_SHOWN = 3
_WIDTH = 200


def demo(
    context: typer.Context,
    *,
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help='A conversation as JSON: {"turns": [{"id", "speaker", "session", "date", "text"}], "questions": '
            '[{"question", "evidence": [ids]}]}, a list of turns, or JSON lines of turns; - reads standard input.',
        ),
    ] = None,
    db: Annotated[
        str | None, typer.Option("--db", metavar="PATH", help="Where to remember; else a fresh file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Remember a conversation in a file, and answer from it.

    The file is an SQLite database; a new process opens it and answers the questions. Without --file it is a small
    conversation of our own. Running it twice on one database stores nothing twice.
    """
    conversation = _read(file)
    items = {turn.id: turn.item() for turn in conversation.turns}
    path = Path(db).absolute() if db else Path(tempfile.mkdtemp(prefix="memcore-demo-"), "memory.db")
    url = f"sqlite:///{quote(path.as_posix())}"
    count = _remember(context, url, list(items.values()))
    process, manifest, hits = ask_elsewhere(url, [question.text for question in conversation.questions])
    answers = [
        _Answer(question.text, [str(items[turn].id) for turn in question.evidence], found)
        for question, found in zip(conversation.questions, hits, strict=True)
    ]
    score = Score.of((answer.evidence, {hit["id"] for hit in answer.hits}) for answer in answers)
    if as_json:
        summary = {"file": str(path), "url": url, "items": count, "process": process, "manifest": manifest}
        documents = [answer._asdict() for answer in answers]
        write_document({**summary, "evidence": score.document() if score else None, "answers": documents})
        return
    say(f"Remembered {plural(len(items), 'turn')} in {path} ({plural(count, 'item')} there now).")
    say(f"A new process ({process}) opened that file and answers:")
    _show_answers(answers)
    _show_score(score)
    say("")
    say("What this store keeps and loses:")
    show_fields(claims_fields(manifest))
    _show_next(path, url)


class _Answer(NamedTuple):
    question: str
    evidence: list[str]
    """Ids of the items that hold it."""
    hits: list[dict[str, Any]]


def _read(file: str | None) -> Conversation:
    try:
        if file is None:
            return read_conversation(files("memcore_cli").joinpath("data/conversation.json").read_bytes())
        with opened(file) as (source, _size):
            return read_conversation(source.read())
    except BadConversation as error:
        what, advice = f"{file}: not a conversation: {error}", "`memcore demo --help` shows the form"
        raise CommandFailed(what, advice=advice, code=ExitCode.REFUSED) from None


def _remember(context: typer.Context, url: str, items: list[MemoryItem]) -> int:
    with connected(context, url) as store, progress("remembering") as advance:
        for start in range(0, len(items), BATCH_ITEMS):
            store.run(store.managed.store_many(items[start : start + BATCH_ITEMS]))
            advance(min(start + BATCH_ITEMS, len(items)), len(items))
        return store.run(store.managed.count())


def _show_answers(answers: list[_Answer]) -> None:
    for question, evidence, hits in answers[:_QUESTIONS_SHOWN]:
        say("")
        say(question)
        for rank, hit in enumerate(hits[:_HITS_SHOWN], start=1):
            mark = "*" if hit["id"] in evidence else " "
            say(f"  {rank} {mark} {clipped(str(hit['content']), limit=_WIDTH)}")
        if not hits:
            say("  nothing found")
    if len(answers) > _QUESTIONS_SHOWN:
        say("")
        say(f"({_QUESTIONS_SHOWN} of {len(answers)} questions are shown; --json has them all)")


def _show_score(score: Score | None) -> None:
    if score is None:
        return
    say("")
    say(f"Evidence (*) among the first {HITS} hits, over {plural(score.questions, 'question')}:")
    say(f"  at least one piece of it for {score.with_any_evidence} of {score.questions} questions")
    say(f"  all of it for {score.with_all_evidence} of {score.questions} questions")
    say(f"  mean recall@{HITS}: {score.mean_recall:.1%}")


def _show_next(path: Path, url: str) -> None:
    say("")
    say(f"The memory stays in {path}")
    say("Try next:")
    command = _command()
    for arguments in (["search", url, "your own question"], ["list", url], ["export", url], ["ping", url]):
        say(f"  {shlex.join([command, *arguments])}")


def _command() -> str:
    """Return how this command is called from here: by its path where the shell would not find it by name."""
    program = Path(sys.argv[0])
    return "memcore" if shutil.which("memcore") or program.stem != "memcore" else str(program)
