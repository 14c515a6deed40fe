"""`memcore demo`: a conversation is remembered in a file, and another process answers questions from it."""

from __future__ import annotations

import shlex
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from memcore_cli.answers import HITS, ask_elsewhere
from memcore_cli.claims import claims_fields
from memcore_cli.connection import connected
from memcore_cli.conversation import BadConversation, Conversation, Question, read_conversation
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
    path = Path(db).absolute() if db else Path(tempfile.mkdtemp(prefix="memcore-demo-"), "memory.db")
    url = f"sqlite:///{quote(path.as_posix())}"
    count = _remember(context, url, conversation)
    answers = ask_elsewhere(url, [question.text for question in conversation.questions])
    found = [{str(hit["metadata"].get("turn")) for hit in hits} for hits in answers["hits"]]
    score = Score.of(zip((question.evidence for question in conversation.questions), found, strict=True))
    if as_json:
        evidence = score.document() if score else None
        write_document({"file": str(path), "url": url, "items": count, "evidence": evidence, **answers})
        return
    say(f"Remembered {plural(len(conversation.turns), 'turn')} in {path} ({plural(count, 'item')} there now).")
    say(f"A new process ({answers['process']}) opened that file and answers:")
    _show_answers(conversation.questions, answers["hits"])
    _show_score(score)
    say("")
    say("What this store keeps and loses:")
    show_fields(claims_fields(answers["manifest"]))
    _show_next(path, url)


def _read(file: str | None) -> Conversation:
    try:
        if file is None:
            return read_conversation(files("memcore_cli").joinpath("data/conversation.json").read_bytes())
        with opened(file) as (source, _size):
            return read_conversation(source.read())
    except BadConversation as error:
        what, advice = f"{file}: not a conversation: {error}", "`memcore demo --help` shows the form"
        raise CommandFailed(what, advice=advice, code=ExitCode.REFUSED) from None


def _remember(context: typer.Context, url: str, conversation: Conversation) -> int:
    items = [turn.item() for turn in conversation.turns]
    with connected(context, url) as store, progress("remembering") as advance:
        for start in range(0, len(items), BATCH_ITEMS):
            store.run(store.managed.store_many(items[start : start + BATCH_ITEMS]))
            advance(min(start + BATCH_ITEMS, len(items)), len(items))
        return store.run(store.managed.count())


def _show_answers(questions: list[Question], answers: list[list[dict[str, Any]]]) -> None:
    for question, hits in list(zip(questions, answers, strict=True))[:_QUESTIONS_SHOWN]:
        say("")
        say(question.text)
        for rank, hit in enumerate(hits[:_HITS_SHOWN], start=1):
            mark = "*" if str(hit["metadata"].get("turn")) in question.evidence else " "
            say(f"  {rank} {mark} {clipped(str(hit['content']), limit=_WIDTH)}")
        if not hits:
            say("  nothing found")
    if len(questions) > _QUESTIONS_SHOWN:
        say("")
        say(f"({_QUESTIONS_SHOWN} of {len(questions)} questions are shown; --json has them all)")


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
    for arguments in (["search", url, "your own question"], ["list", url], ["export", url], ["ping", url]):
        say(f"  memcore {shlex.join(arguments)}")
