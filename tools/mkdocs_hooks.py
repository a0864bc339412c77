"""What MkDocs does besides its plugins when it builds the site (`hooks` in mkdocs.yml).

- CHANGELOG.md, CONTRIBUTING.md, SECURITY.md and CITATION.cff stand at the repository's root, where
  people and tools look for them. They become pages of the site.
- The reference of the command line is written from the commands.
- A link to a file of the repository that is not a page becomes a link to the repository that
  `repo_url` in mkdocs.yml names, or plain text if it names none. A link to a missing file gives a
  warning, with which a strict build fails.
"""

from __future__ import annotations

import logging
import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tools.command_reference import command_reference

ROOT = Path(__file__).parents[1]
AT_THE_ROOT = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CITATION.cff": "citation.md",
    "README.md": "index.md",
}
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_FENCE = re.compile(r"^(```.*?^```)$", re.M | re.S)
_log = logging.getLogger("mkdocs.hooks.ticore")

_CITATION = """\
# Citation

If you use ticore in your work, please cite the paper whose methods it implements:

```bibtex
@misc{{yan2025addressing,
  title  = {{Addressing Tokenization Inconsistency in Steganography and Watermarking
            Based on Large Language Models}},
  author = {{Ruiyi Yan and Yugo Murawaki}},
  year   = {{2025}},
  eprint = {{2508.20718}},
  archivePrefix = {{arXiv}},
  url    = {{https://arxiv.org/abs/2508.20718}},
}}
```

The software itself is described in `CITATION.cff`, which reference managers and code hosts read:

```yaml
{citation}
```
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made of other files."""
    pages = {
        AT_THE_ROOT[name]: (ROOT / name).read_text(encoding="utf-8")
        for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
    }
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    pages["citation.md"] = _CITATION.format(citation=citation.strip())
    pages["reference/command-line.md"] = command_reference()
    for uri, content in pages.items():
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make links to files of the repository lead to their places on the site."""
    uri = page.file.src_uri
    from_root = {site: name for name, site in AT_THE_ROOT.items() if name != "README.md"}
    source = from_root.get(uri, f"docs/{uri}")

    def led(match: re.Match[str]) -> str:
        text, address = match.groups()
        if "://" in address or address.startswith(("#", "mailto:")):
            return match[0]
        path, hash_mark, anchor = address.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        found = AT_THE_ROOT.get(target, target.removeprefix("docs/"))
        if target in AT_THE_ROOT or (
            target.startswith("docs/") and files.get_file_from_path(found)
        ):
            here = posixpath.relpath(found, posixpath.dirname(uri) or ".")
            return f"[{text}]({here}{hash_mark}{anchor})"
        if not (ROOT / target).exists():
            _log.warning("%s: the link to %s leads to no file of the repository", source, address)
        if config.repo_url:
            return f"[{text}]({config.repo_url.rstrip('/')}/blob/main/{target}{hash_mark}{anchor})"
        return text

    parts = _FENCE.split(markdown)  # every second one is a block of code
    return "".join(part if n % 2 else _LINK.sub(led, part) for n, part in enumerate(parts))
