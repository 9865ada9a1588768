"""Questions and answers as lines of JSON: ``nashdex decide`` on standard input and output."""

from typing import BinaryIO, TextIO

from nashdex.core.errors import DataError
from nashdex.decide.deciding import Adviser
from nashdex.decide.documents import MOST_BYTES, Answer, RefusedError, parse_question


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
