"""Hooks of the documentation site: add the reference pages made from code, and mend links that leave ``docs``."""

import logging
import re
from pathlib import Path

from alerts_page import alerts_page
from commands_page import commands_page
from formats_page import formats_page
from measured_page import measured_page
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from settings_page import settings_page
from zoo_page import zoo_page

ROOT = Path(__file__).parents[2]
REPOSITORY = "https://github.com/nashdex/nashdex/blob/main"
PAGES = {
    "reference/cli.md": commands_page,
    "reference/settings.md": settings_page,
    "reference/alerts.md": alerts_page,
    "reference/formats.md": formats_page,
    "reference/measured.md": measured_page,
    "reference/zoo.md": zoo_page,
}

_LINK = re.compile(r"(?<=\]\()(?P<path>\.\./[^)#\s]+)(?P<anchor>#[^)\s]*)?(?=\))")
_log = logging.getLogger("mkdocs.hooks.nashdex")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for source, make in PAGES.items():
        files.append(File.generated(config, source, content=make()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links to files outside ``docs`` at the repository; warn of those that do not exist."""
    del files
    docs = Path(config.docs_dir)

    def mend(match: re.Match[str]) -> str:
        target = (docs / page.file.src_uri).parent.joinpath(match["path"]).resolve()
        if target.is_relative_to(docs) or not target.is_relative_to(ROOT):
            return match[0]
        if not target.exists():
            _log.warning("%s links to %s, which does not exist", page.file.src_uri, match["path"])
        return f"{REPOSITORY}/{target.relative_to(ROOT).as_posix()}{match['anchor'] or ''}"

    return _LINK.sub(mend, markdown)
