"""Answers questions in batches: a gateway's trackers read the logs, and the policy decides all of them at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, TextIO

import numpy as np
import structlog

from nashdex.core.errors import ConfigurationError, DataError, TryAgainError
from nashdex.core.ids import PolicyId
from nashdex.core.references import PolicyReference
from nashdex.core.seeds import derive_seed, derive_uniform
from nashdex.games.interface import Decisions
from nashdex.games.registry import showdown_game
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.protocol import TrackedSeat
from nashdex.games.space import Space
from nashdex.policies.interface import Actions, with_processes
from nashdex.policies.references import resolve
from nashdex.rollout.contestants import Contestant, open_contestant
from nashdex.rollout.seats import Seats
from nashdex.runs.played_format import format_to_play
from nashdex.serve.tracking import Tracking
from nashdex.settings.external import is_external
from nashdex_play.decide.answering import Asked, answer_of, read_question
from nashdex_play.decide.documents import MOST_BYTES, Answer, Question, RefusedError, parse_question
from nashdex_play.decide.judging import Judge, judge_of

MOST_AT_ONCE: Final = 64
"""Questions that are decided in one batch."""
_LARGEST: Final = 1000.0
"""No battle gives an observation a larger number, and below it a network's own numbers stay finite."""
_log = structlog.get_logger()

Found = dict[int, Answer | RefusedError]
"""By the question's place."""


@dataclass(slots=True)
class _Open:
    """A question of a batch that has no answer yet. Its battle number is its place in the batch."""

    place: int
    asked: Asked
    policy: PolicyId
    state: dict[str, Any] = field(default_factory=dict)
    """The tracker's."""
    asks_halves: bool = False
    """Whether the next choice is the first half of one, as at Team Preview of doubles."""


class Adviser:
    """Answers for one policy or mixture. The same question gets the same answer.

    It owns the gateway, and starts another one after a question that the gateway did not survive.
    """

    def __init__(
        self,
        contestant: Contestant,
        judges: Mapping[PolicyId, Judge],
        gateway: Gateway,
        *,
        seed: int = 0,
        answer_seconds: float = 10.0,
    ) -> None:
        self._contestant = contestant
        self._judges = judges
        """By the policy that each plays as."""
        self._space: Space = gateway.space
        self._seed = seed
        self._answer_seconds = answer_seconds
        self._seats = Seats(dict(contestant.policies) | dict(judges), MOST_AT_ONCE)
        self._tracking: Tracking | None = Tracking(gateway, answer_seconds)

    @property
    def format(self) -> str:
        """Id of the format that it decides for."""
        return self._space.format

    def close(self) -> None:
        """Stop the gateway and the policies' child processes."""
        self._end_gateway()
        for policy in with_processes(self._contestant.policies.values()):
            policy.close()

    def decide(self, questions: Sequence[Question]) -> list[Answer | RefusedError]:
        """Return the answer to each question, or why it has none.

        Raises:
            ConfigurationError: no gateway can start.
            TryAgainError: none starts now.
        """
        found: Found = {}
        waiting: list[_Open] = []
        for place, question in enumerate(questions):
            try:
                asked = read_question(question, self._space)
            except RefusedError as error:
                found[place] = error
                continue
            policy = self._contestant.mixture.draw(derive_uniform(self._seed, question.battle))
            halves = self._space.num_slots > 1 and bool(asked.request.get("teamPreview"))
            waiting.append(_Open(place, asked, policy, asks_halves=halves))
        for start in range(0, len(waiting), MOST_AT_ONCE):
            found |= self._decide(waiting[start : start + MOST_AT_ONCE])
        return [found[place] for place in range(len(questions))]

    def _decide(self, batch: list[_Open]) -> Found:
        """Decide in one batch; if that ends the gateway or the play, each alone, to find the question at fault."""
        if self._tracking is not None and not self._tracking.gateway.is_open():
            self._end_gateway()
        tracking = self._tracking = self._tracking or Tracking(Gateway(self.format), self._answer_seconds)
        try:
            return self._decide_at_once(tracking, batch)
        except (ConfigurationError, DataError, TryAgainError) as error:
            _log.warning("a batch was not decided", questions=len(batch), cause=str(error))
            self._end_gateway()
            if len(batch) == 1:
                return {batch[0].place: _not_followed(str(error))}
        finally:
            tracking.forget(range(len(batch)))
            for number, each in enumerate(batch):
                self._seats.forget(number, each.asked.seat)
        found: Found = {}
        for each in batch:
            found |= self._decide([each])
        return found

    def _decide_at_once(self, tracking: Tracking, batch: list[_Open]) -> Found:
        found: Found = {}
        for number, each in enumerate(batch):
            self._seats.sit(number, each.asked.seat, each.policy, self._seed_of(each.asked))
        rows = {(number, each.asked.seat): _row(number, each.asked) for number, each in enumerate(batch)}
        tracking.read(rows.values())
        waiting = dict(enumerate(batch))
        while waiting:
            tracked = tracking.decisions({seat: row for seat, row in rows.items() if seat[0] in waiting})
            for number, why in tracked.failed.items():
                found[waiting.pop(number).place] = _not_followed(why.partition("\n")[0])
            if tracked.decisions is None:
                break
            decisions = tracked.decisions
            wild = np.flatnonzero(~(np.abs(decisions.observation) < _LARGEST).all(axis=1))
            for number in decisions.battle[wild].tolist():
                found[waiting.pop(number).place] = _not_followed("it holds numbers that no battle has")
            decisions = decisions.take(np.setdiff1d(np.arange(len(decisions)), wild))
            if len(decisions):
                self._answer(tracking, decisions, waiting, found)
            tracking.gateway.channel.recycle()
        return found

    def _answer(self, tracking: Tracking, decisions: Decisions, waiting: dict[int, _Open], found: Found) -> None:
        """Put the answers to ``decisions`` into ``found``, and take them from ``waiting``; halves stay there."""
        for (number, _), seen in decisions.lines.items():
            waiting[number].state |= seen.state or {}
        actions = self._seats.answer(decisions)
        for number, failure in actions.void.items():
            found[waiting.pop(number).place] = RefusedError(f"the policy does not answer: {failure.detail}", None)
        texts = _texts(tracking, decisions, actions, waiting)
        for row, number in enumerate(decisions.battle.tolist()):
            if number in actions.void:
                continue
            each = waiting[number]
            action = int(actions.action[row])
            if action not in texts[number]:
                found[waiting.pop(number).place] = RefusedError("the policy's choice is not legal here", None)
            elif each.asks_halves:
                each.asks_halves = False
            else:
                del waiting[number]
                judge = self._judges.get(each.policy)
                thought = None if judge is None else judge.thoughts[number]
                found[each.place] = answer_of(
                    self._space, each.asked, each.policy, action, texts[number], each.state, thought
                )

    def _seed_of(self, asked: Asked) -> int:
        return derive_seed(self._seed, asked.battle, asked.seat, len(asked.lines))

    def _end_gateway(self) -> None:
        if self._tracking is not None:
            self._tracking.gateway.close()
        self._tracking = None


def _row(number: int, asked: Asked) -> TrackedSeat:
    return TrackedSeat(battle=number, seat=asked.seat, lines=asked.lines, request=asked.request, state=True)


def _not_followed(why: str) -> RefusedError:
    return RefusedError(f"log cannot be followed up to the request: {why}; expected a room's lines, whole", "log")


def _texts(
    tracking: Tracking, decisions: Decisions, actions: Actions, waiting: Mapping[int, _Open]
) -> dict[int, dict[int, str | None]]:
    """Return the server's words for every legal action, by battle and action; of a half, for what was chosen alone.

    Asking for a half also takes it.
    """
    wanted: list[tuple[int, int, int]] = []
    for row, (number, seat) in enumerate(zip(decisions.battle.tolist(), decisions.seat.tolist(), strict=True)):
        if number in waiting:
            legal = decisions.legal[row].tolist()
            taken = [action for action in legal if action == actions.action[row]]
            wanted += [(number, seat, action) for action in (taken if waiting[number].asks_halves else legal)]
    found: dict[int, dict[int, str | None]] = {number: {} for number in waiting}
    if wanted:
        columns = np.array(wanted, dtype=np.int64)
        chosen = tracking.choices(columns[:, 0], columns[:, 1], columns[:, 2])
        for (number, _, action), each in zip(wanted, chosen, strict=True):
            if each.cause is None:
                found[number][action] = each.choice
    return found


def open_adviser(policy: str, format_id: str | None = None, *, seed: int = 0, answer_seconds: float = 10.0) -> Adviser:
    """Return what answers for ``policy``, as ``nashdex battle --p1`` takes it. Close it after use.

    Raises:
        ConfigurationError: there is no such policy, it does not play the format, or the format is not Showdown's.
        DataError: its run or policy is missing or altered.
        TryAgainError: no gateway answers.
    """
    game = showdown_game(format_to_play(format_id, {"POLICY": policy}))
    gateway, contestant = open_contestant(policy, game.format)
    try:
        store = None if is_external(policy) else resolve(PolicyReference.parse(policy)).store
        judges = {
            each.id: judge
            for each in contestant.policies.values()
            if store is not None and (judge := judge_of(store, each, gateway.space)) is not None
        }
    except BaseException:
        gateway.close()
        raise
    return Adviser(contestant, judges, gateway, seed=seed, answer_seconds=answer_seconds)


def answer_lines(adviser: Adviser, questions: BinaryIO, answers: TextIO) -> None:
    """Answer each line of ``questions`` by a line, until they end. A question without an answer gets its error.

    Raises:
        DataError: some had no answer; says how many, after all lines.
    """
    num_questions, num_refused = 0, 0
    while line := questions.readline(MOST_BYTES + 1):
        if not line.strip():
            continue
        num_questions += 1
        answer = _answer(adviser, line, questions)
        num_refused += isinstance(answer, RefusedError)
        document = answer.document if isinstance(answer, RefusedError) else answer
        answers.write(f"{document.model_dump_json()}\n")
        answers.flush()
    if num_refused:
        raise DataError(f"{num_refused} of {num_questions} questions had no answer; their lines say why")


def _answer(adviser: Adviser, line: bytes, questions: BinaryIO) -> Answer | RefusedError:
    if len(line) > MOST_BYTES:
        while not line.endswith(b"\n") and (line := questions.readline(MOST_BYTES)):
            pass
        return RefusedError(f"a question has more than {MOST_BYTES} bytes; expected one battle's log", None)
    try:
        question = parse_question(line)
    except RefusedError as error:
        return error
    (answer,) = adviser.decide([question])
    return answer
