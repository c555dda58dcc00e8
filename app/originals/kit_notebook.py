"""Notebook of a starter kit: score the example, anonymize the data, score again."""

import json
from collections.abc import Collection, Iterable

from anoncup.rules.model import Rules
from anoncup.tracks.model import AnyTrack
from app.core.locale.language import LANGUAGES, load_translator
from app.originals.kit_readme import ServiceInfo, get_title
from app.originals.markdown_templates import escape_markdown


def build_notebook(rules: Rules, track: AnyTrack, originals: Collection[str], service: ServiceInfo) -> bytes:
    """Return a notebook that runs in the folder of the kit; ``originals`` are the names of its data files."""
    original = {name: f"original/{name}.csv" for name in track.original_file_names if name in originals}
    example = {name: f"example/{name}.csv" for name in track.release_file_names}
    secret = f"example/{track.answer_spec.file.name}.csv"
    method = track.examples.method or next(iter(track.methods))
    code_cells = (
        f'import anoncup\n\ncompetition = "competition.toml"\noriginal = {_format_paths(original)}\n'
        f"anoncup.score(original, {_format_paths(example)}, {_quote(secret)}, competition=competition)",
        f"mine = anoncup.anonymize(original, {_quote(method)}, competition=competition, seed=1)\n"
        "anoncup.score(original, mine.tables, mine.secret, competition=competition)",
    )
    cells = []
    for number, (texts, code) in enumerate(zip(_list_texts(rules, service), code_cells, strict=True), 1):
        cells += [_build_cell("markdown", f"text-{number}", "\n\n".join(texts))]
        cells += [_build_cell("code", f"code-{number}", code) | {"execution_count": None, "outputs": []}]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def _list_texts(rules: Rules, service: ServiceInfo) -> Iterable[tuple[str, ...]]:
    """Return the text above each code cell, once per language."""
    texts = []
    for t in map(load_translator, LANGUAGES):
        introduction = t(
            "This notebook needs Jupyter and `{package}`. It scores the example of the kit:",
            package=" ".join(service.requirements),
        )
        texts.append(
            (
                f"# {escape_markdown(get_title(rules, t.language))}\n\n{introduction}",
                t("Anonymize the data with a sample method and score the result:"),
            )
        )
    return zip(*texts, strict=True)


def _build_cell(kind: str, identifier: str, source: str) -> dict[str, object]:
    lines = source.splitlines(keepends=True)
    return {"cell_type": kind, "id": identifier, "metadata": {}, "source": lines}


def _format_paths(paths: dict[str, str]) -> str:
    return "{" + ", ".join(f"{_quote(name)}: {_quote(path)}" for name, path in paths.items()) + "}"


def _quote(text: str) -> str:
    return json.dumps(text)
