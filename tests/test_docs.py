"""The site and the README: every block runs, every public name is there, every link leads somewhere."""

import ast
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pandas as pd
import pytest

import simpdm_frames
from benchmarks.__main__ import STUDIES, make_parser
from simpdm_frames import demo

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def load_runner():
    spec = importlib.util.spec_from_file_location("run", ROOT / "docs" / "hooks" / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


run = load_runner()


def test_a_page_runs_like_a_notebook():
    page = (
        "```python\nx = 2\nprint('said')\nx + 1\n```\n\n```python hidden\nx = 5\n```\n\n```python\nx\n```\n"
    )
    done = run.Notebook("page").run(page)
    blocks = [(language, source) for language, _, source in FENCE.findall(done)]
    assert blocks == [
        ("python", "x = 2\nprint('said')\nx + 1\n"),
        ("text", "said\n"),
        ("text", "3\n"),
        ("python", "x\n"),
        ("text", "5\n"),
    ]


def test_a_page_has_a_folder_of_its_own_that_its_shell_shares():
    page = "```bash\necho seven > file\n```\n```python\nopen('file').read()\n```\n"
    assert "seven" in run.Notebook("page").run(page)
    assert not Path("file").exists()


@pytest.mark.parametrize(
    "page",
    [
        "```python\n1 / 0\n```\n",
        "```python raises ValueError\n1\n```\n",
        "```python raises ValueError\n{}[1]\n```\n",
        "```bash\nfalse\n```\n",
        "```python\nx = (\n```\n",
    ],
)
def test_what_fails_fails_the_build(page):
    with pytest.raises((run.BlockError, SyntaxError)):
        run.Notebook("page").run(page)


def test_an_error_and_a_warning_can_be_shown():
    page = (
        "```python raises KeyError\n{}['x']\n```\n```python\nimport warnings\nwarnings.warn('careful')\n```\n"
    )
    done = run.Notebook("page").run(page)
    assert "KeyError: 'x'" in done
    assert "UserWarning: careful" in done


@pytest.mark.parametrize("path", [*PAGES, ROOT / "README.md"], ids=lambda path: path.name)
def test_blocks_that_are_not_run_are_installations_or_output(path):
    text = path.read_text()
    assert text.count("\n```") == 2 * len(FENCE.findall(text)), "a fence that the runner does not see"
    for language, flags, source in FENCE.findall(text):
        assert language in {"python", "bash", "console", "text"}
        assert re.fullmatch(r"|hidden|raises \w+", flags.strip())
        if language == "console":
            assert all(re.match(r"pip install |export |python -m ", line) for line in source.splitlines())


def test_the_commands_of_the_benchmarks_are_understood():
    """They take hours, so that they are not run; but none of them is misspelt."""
    text = (ROOT / "docs" / "benchmarks.md").read_text()
    commands = re.findall(r"^python -m benchmarks (.+)$", text, re.MULTILINE)
    studies = {make_parser().parse_args(shlex.split(line, comments=True)).study for line in commands}
    assert studies == {*STUDIES}


def test_the_blocks_of_the_readme_run(tmp_path, monkeypatch):
    """Its commands apart, which CI runs as they are written."""
    monkeypatch.chdir(tmp_path)
    truth, holes = demo.patients(n_rows=60)
    holes.to_csv("clinic.csv")
    (tmp_path / "big").mkdir()
    holes.reset_index(drop=True).to_parquet("big/1.parquet")
    names = {"df": holes, "train": holes, "test": holes.head(9), "pd": pd}
    blocks = FENCE.findall((ROOT / "README.md").read_text())
    quick = {"preset": "fast", "steps": 20}
    monkeypatch.setattr(simpdm_frames.SimpDMAccessor, "fit", _with(simpdm_frames.fit, quick))
    monkeypatch.setattr(simpdm_frames.SimpDMAccessor, "fit_impute", _with(simpdm_frames.fit_impute, quick))
    ran = 0
    for language, _, source in blocks:
        if language == "python":
            exec(compile(source, "README.md", "exec"), names)  # noqa: S102
            ran += 1
        elif source.startswith("simpdm "):
            command = [
                sys.executable,
                "-m",
                "simpdm_frames",
                *source.partition("#")[0].split()[1:],
                "--steps",
                "20",
            ]
            subprocess.run([*command, "--force"], check=True)
            ran += 1
        else:
            assert language == "text" or source.startswith("python -m pip install "), source
    assert ran >= 4
    assert names["done"].isna().sum().sum() == 0
    assert truth["age"].equals(names["done"]["age"].where(holes["age"].notna(), truth["age"]))
    assert pd.read_parquet("done.parquet").isna().sum().sum() == 0
    assert pd.read_csv("done.csv", keep_default_na=False).eq("").sum().sum() == 0


def _with(function, quick):
    return lambda self, **options: function(self._frame, **{**options, **quick})


def test_what_the_readme_points_to_is_there():
    text = (ROOT / "README.md").read_text()
    targets = [target for target in re.findall(r"\]\(([^)]+)\)", text) if not target.startswith("https:")]
    assert len(targets) > 10
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_the_readme_beside_others_says_what_was_measured():
    measured = (ROOT / "benchmarks" / "results" / "contract.md").read_text().partition("\n\n")[0]
    assert measured in (ROOT / "README.md").read_text()


def test_every_public_name_is_in_the_reference():
    api = (ROOT / "docs" / "api.md").read_text()
    for name in simpdm_frames.__all__:
        assert f"::: simpdm_frames.{name}\n" in api
    for module in ("encoded", "engine", "errors", "presets"):
        spec = importlib.import_module(f"simpdm_frames.{module}")
        whole = f"::: simpdm_frames.{module}\n" in api
        for name in spec.__all__:
            assert whole or f"::: simpdm_frames.{module}.{name}\n" in api, f"{module}.{name}"


def test_the_reference_tells_each_default_as_it_is(site):
    page = (site / "api" / "index.html").read_text()
    assert ">required<" not in page  # options come by name, and none has to be given
    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())
    for field in fields(simpdm_frames.Settings):
        shown = re.search(rf" {field.name} \( [^)]*?, default: (\S+) \) –", text)
        assert shown, field.name
        assert ast.literal_eval(shown[1]) == field.default, field.name


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text()
    assert [path.name for path in PAGES if f": {path.name}" not in navigation] == []


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site: the one that CI has built, or else a new one."""
    built = os.environ.get("SIMPDM_SITE")
    if built:
        return Path(built)
    folder = tmp_path_factory.mktemp("site")
    # Not --quiet: that silences warnings before --strict can count them.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder]
    subprocess.run(command, cwd=ROOT, check=True)
    return folder


class Links(HTMLParser):
    """All that a page refers to, and all that it can be referred to by."""

    def __init__(self, page):
        super().__init__()
        self.targets, self.anchors, self.images = [], {""}, []
        self.feed(page.read_text())

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given.get("id"), given.get("name")}
        for name in ("href", "src"):
            if name in given:
                self.targets.append(given[name])
        if tag == "img":
            self.images.append(given)


def test_no_link_and_no_image_of_the_site_is_broken(site):
    pages = {path: Links(path) for path in site.rglob("*.html") if path.name != "404.html"}
    assert len(pages) >= len(PAGES)
    broken, inside = [], 0
    for page, links in pages.items():
        for target in links.targets:
            address, anchor = urldefrag(target)
            if urlsplit(target).scheme:
                assert urlsplit(target).scheme in {"https", "data"}, target
                continue
            found = (page.parent / unquote(address)).resolve() if address else page
            found = found / "index.html" if found.is_dir() else found
            inside += 1
            if not found.exists() or (
                anchor and found in pages and unquote(anchor) not in pages[found].anchors
            ):
                broken.append((str(page.relative_to(site)), target))
        assert all(image.get("alt") for image in links.images), page
    assert broken == []
    assert inside > 500


def test_the_site_asks_no_other_host_for_anything(site):
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|img|link rel="stylesheet")[^>]*?(?:src|href)="(https?:[^"]*)"', page.read_text()
        )
        assert loaded == []


def test_outputs_are_on_the_pages(site):
    home = (site / "index.html").read_text()
    assert "holes before" in home
    assert "data:image/svg+xml" in (site / "quickstart" / "index.html").read_text()
    assert "loss curve" in (site / "quickstart" / "index.html").read_text()
    assert "SIMPDM_DATA" in (site / "benchmarks" / "index.html").read_text()


def test_the_search_index_knows_the_pages(site):
    index = (site / "search" / "search_index.json").read_text()
    for word in ("fit_impute", "LazyFrame", "state-dependent", "missing not at random", "add_backend"):
        assert word.casefold() in index.casefold()
