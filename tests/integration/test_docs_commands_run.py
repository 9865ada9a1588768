"""The blocks of README.md, the tutorials and the guides, run in the order of each page with small settings."""

from pathlib import Path

import pytest

from support.snippets import PAGES, ROOT, prepare, run, snippets

pytestmark = pytest.mark.integration

RUN = {page: [snippet for snippet in snippets(page) if snippet.is_run] for page in PAGES}


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [pytest.param(page, id=page.relative_to(ROOT).as_posix()) for page in PAGES if RUN[page]]
)
def test_commands_of_a_page_run(page: Path, tmp_path: Path) -> None:
    prepare(tmp_path)
    for snippet in RUN[page]:
        done = run(snippet, tmp_path)
        assert done.returncode == 0, f"{snippet.id}\n{snippet.text}\n{done.stdout}"
