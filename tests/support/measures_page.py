"""Write the pages *Measures and attackers* from the registries, the catalogues and the formulas.

``python -m tests.support.measures_page`` writes ``docs/measures.md`` and ``docs/ja/measures.md``.
"""

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from anoncup.plugins import BUILT_IN
from anoncup.rules.parameters import Parameter
from app.competitions.rules_pages import load_formulas
from app.core.locale.language import Translator, load_translator
from app.core.pages.language import adapt_to_track
from tests.support.markdown_blocks import ROOT

PATHS = {"en": ROOT / "docs/measures.md", "ja": ROOT / "docs/ja/measures.md"}
HEADINGS = {
    "en": ("Measures and attackers", "Measures", "Distances", "Attackers"),
    "ja": ("指標と攻撃者", "指標", "距離", "攻撃者"),
}
INTRODUCTIONS = {
    "en": """\
These are the measures, distances and attackers of the four tracks. Each has a version; a contest keeps the
versions that it began with. The rules page of a contest shows the weights, scales and columns that it uses.
[How a score comes about](scoring.md) has the steps from a value to a score, with numbers. Rounding noise
counts as 0: values up to 1e-12 or, in data units, 1e-12 times the largest absolute value in the columns that
the measure reads. Measures made of counts are exact.

X is the original and Y the release; n and n′ are their numbers of individuals. Q and S are the
quasi-identifiers and the sensitive attributes. s_j is the individual of X that became individual j of Y.
""",
    "ja": """\
4 種類のコンテスト（トラック）の指標、距離、攻撃者の一覧です。それぞれにバージョンがあり、\
コンテストは開始時のバージョンを最後まで使います。コンテストで使う重み、尺度、列は、そのコンテストのルールのページにあります。値から得点を求める手順は、\
[How a score comes about](../scoring.md)（英語）に計算例があります。\
丸め誤差は 0 とみなします。その上限は 1e-12、データと同じ単位の指標では、\
指標が読む列の絶対値の最大値の 1e-12 倍です。件数から計算する指標は正確で、丸め誤差がありません。

X は元データ、Y は匿名加工データ、n と n′ はそれぞれの個人の数です。Q は準識別子、S は機微属性です。\
s_j は、Y の個人 j の元になった X の個人です。
""",
}
TAGS = {
    "en": ("lower is better", "higher is better", "can have a weight in U", "reported only"),
    "ja": ("小さいほど良い", "大きいほど良い", "U で重みを持てる", "参考値"),
}


KEYS = {"en": "Keys in the competition file", "ja": "設定ファイルのキー"}
KINDS = {
    "en": {
        "columns": "list of {}",
        "column": "one of {}",
        "whole": "whole number",
        "amount": "number from 0",
        "share": "number from 0 to 1",
    },
    "ja": {
        "columns": "{} の列のリスト",
        "column": "{} の列",
        "whole": "整数",
        "amount": "0 以上の数",
        "share": "0 から 1 までの数",
    },
}


def render_page(language: str) -> str:
    """Return the page in Markdown."""
    title, *_ = HEADINGS[language]
    tracks = (line for track in BUILT_IN for line in _iter_track_blocks(track, language))
    blocks = [f"# {title}", INTRODUCTIONS[language].strip(), *tracks]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _iter_track_blocks(name: str, language: str) -> Iterator[str]:
    track, t = BUILT_IN[name], adapt_to_track(load_translator(language), name)
    _, measures, distances, attackers = HEADINGS[language]
    lower, higher, weighs, reported = TAGS[language]
    formulas = load_formulas(name)
    yield f"## {t.label(f'track_{name}')}"
    yield f"### {measures}"
    for measure in track.measures.values():
        tags = higher if measure.higher_is_better else lower, weighs if measure.weighs else reported
        formula = formulas["measures"].get(measure.name, "")
        yield from _iter_part_blocks(t, "measure", measure.name, formula, t(", ").join(tags))
        yield _list_keys(t, measure.parameters)
    if formulas.get("distances"):
        yield f"### {distances}"
        for distance, formula in formulas["distances"].items():
            yield from _iter_part_blocks(t, "distance", distance, formula)
    yield f"### {attackers}"
    for attacker in track.attackers.values():
        tag = "" if attacker.may_count else reported
        yield from _iter_part_blocks(t, "attacker", attacker.name, "", tag)
        yield _list_keys(t, attacker.parameters)


def _iter_part_blocks(t: Translator, kind: str, name: str, formula: str, tags: str = "") -> Iterator[str]:
    """Yield the heading, the description, the formula with its symbols, and the tags of a part."""
    yield f"#### {t.label(f'{kind}_{name}', name)} `{name}`"
    yield escape(t.label(f"{kind}_{name}_description", ""), quote=False)
    if formula:
        yield f"```math\n{formula}\n```"
        yield escape(t.label(f"where_{name}", ""), quote=False)
    yield f"*{tags}*" if tags else ""


def _list_keys(t: Translator, parameters: Sequence[Parameter]) -> str:
    """Return the parameters of a part, with their kinds and default numbers."""
    separator = t(", ")
    keys = []
    for parameter in parameters:
        names = parameter.role_or_choices
        kind = (
            KINDS[t.language]
            .get(parameter.kind, "{}")
            .format(f"`{names}`" if isinstance(names, str) else separator.join(f"`{name}`" for name in names))
        )
        number = (
            "" if parameter.default is None or not parameter.is_number else f"{separator}{parameter.default}"
        )
        keys.append(f"`{parameter.name}` ({kind}{number})")
    return f"{KEYS[t.language]}{t(': ')}{separator.join(keys)}" if keys else ""


if __name__ == "__main__":
    for page_language, path in PATHS.items():
        Path(path).write_text(render_page(page_language), encoding="utf-8")
