"""Pages of the site that lie outside `docs/`, and the languages of code blocks."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
FROM_THE_ROOT = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "studies/README.md")
"""Pages that people also look for beside the source."""


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages of the root, and the pictures that studies have drawn."""
    pictures = sorted(
        path.relative_to(ROOT).as_posix() for path in ROOT.glob("studies/results/*.svg")
    )
    for name in (*FROM_THE_ROOT, *pictures):
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to where pages are on the site, and name the language of each block."""
    del config, files
    if page.file.src_uri in FROM_THE_ROOT:
        to_the_top = "../" * page.file.src_uri.count("/")
        markdown = re.sub(r"\]\((?:\.\./)*docs/", f"]({to_the_top}", markdown)
    else:
        # docs/ becomes the top of the site, so what lay beside it is one step nearer.
        markdown = re.sub(r"\]\(\.\./(?=CONTRIBUTING|CHANGELOG|SECURITY|studies/)", "](", markdown)
    markdown = re.sub(r"(?m)^```python\n(?=>>> )", "```pycon\n", markdown)
    return re.sub(r"(?m)^```\n(?=\$ )", "```console\n", markdown)
