"""The words of a kit, in both languages."""

from collections.abc import Mapping

from app.scoring.competition import Competition
from app.scoring.tracks import TRACKS

PHASES = {
    "anonymization": ("anonymization", "匿名加工"),
    "reidentification": ("re-identification", "再識別"),
}

ENGLISH = """# {title}

What you need to take part in `{slug}`, track {track}.

| | |
|---|---|
| `competition.toml` | the competition's rules, the very file that the service scores by |
| `original/` | the original data |
| `example/` | a release that the rules accept, with its secret: it shows the form, it protects little |

Times ({timezone}):

{phases}

## Check, score, submit

Check that a release is well-formed and within the rules, then score it as the service will:

{local}

Hand it in, `ADDRESS` being the service's:

{remote}

## The files of a release

UTF-8 CSV files with exactly these header lines, columns in this order:

{headers}

{kept}

## The secret

A file of one column. Line j below the header says which {individual} of the original, counted from 1,
the anonymized {individual} j comes from:

{secret}

Or the other way round: headed `anonymized_row`, one line for each {individual} of the original, with the
anonymized {individual} it became, 0 if it was deleted. Nobody sees your secret before the competition is
over. Put the anonymized {individual}s in a random order: traces of the original's are a gift to attackers.
"""

JAPANESE = """# {title}

`{slug}`（{track}部門）に参加するために必要なものです。

| | |
|---|---|
| `competition.toml` | コンテストの規則。サービスの採点に使われるものと同じファイルです |
| `original/` | 元データ |
| `example/` | 規則を満たす提出例と対応表（秘密ファイル）。形式を示すもので、安全性は高くありません |

日程（{timezone}）：

{phases}

## 確認・採点・提出

形式と規則を確認し、サービスと同じ方法で採点します。

{local}

提出します。`ADDRESS` はサービスの URL です。

{remote}

## 提出ファイル

UTF-8 の CSV で、見出し行は次のとおりです（列の順序も同じです）。

{headers}

{kept}

## 対応表（秘密ファイル）

1 列のファイルです。見出しの次から数えて j 行目に、匿名化データの j 番目の{individual}が、元データの何番目の
{individual}（1 から数えます）であるかを書きます。

{secret}

逆向きでもかまいません。見出しを `anonymized_row` とし、元データの{individual}ごとに 1 行、匿名化データでの
番号を書きます（削除した場合は 0）。対応表はコンテストの終了まで誰にも公開されません。
匿名化データの{individual}は無作為に並べ替えてください。元データの順序が残ると攻撃者に手がかりを与えます。
"""

KEPT = (
    "At least {share} of the original's {individual}s must be kept, and none may be added.",
    "元データの{individual}の {share} 以上を残してください。{individual}を追加することはできません。",
)
INDIVIDUALS = {"microdata": ("row", "行"), "transactions": ("customer", "顧客")}


def readme(rules: Competition, headers: Mapping[str, str]) -> str:
    """``headers``: the header line of each file of a release, and of the secret."""
    return (
        "\n\n".join(
            text.format(**words(rules, headers, language)).rstrip("\n")
            for language, text in enumerate((ENGLISH, JAPANESE))
        )
        + "\n"
    )


def words(rules: Competition, headers: Mapping[str, str], language: int) -> dict[str, str]:
    individual = INDIVIDUALS[rules.track][language]
    files = TRACKS[rules.track].files
    kept = KEPT[language].format(individual=individual, share=f"{rules.limits.min_rows_kept:.12g}")
    return {
        "title": title(rules, ("en", "ja")[language]),
        "slug": rules.slug,
        "track": rules.track,
        "timezone": rules.timezone,
        "phases": phases(rules, language),
        "local": quoted(*(f"anoncup {verb} {local_files(rules)}" for verb in ("check", "score"))),
        "remote": quoted("anoncup login --url ADDRESS", f"anoncup submit {rules.slug} --wait {sent(rules)}"),
        "headers": "\n\n".join(f"`{name}.csv`\n\n{quoted(headers[name])}" for name in files),
        "secret": quoted(headers["secret"], "17", "4", "…"),
        "kept": kept,
        "individual": individual,
    }


def title(rules: Competition, language: str) -> str:
    return rules.title.get(language) or next(iter(rules.title.values()), rules.slug)


def phases(rules: Competition, language: int) -> str:
    lines = [f"- {PHASES[each.name][language]}: {each.start} – {each.end}" for each in rules.phases]
    return "\n".join(lines) or "- –"


def local_files(rules: Competition) -> str:
    names = TRACKS[rules.track].original_files
    originals = " ".join(f"--original original/{name}.csv" for name in names)
    return f"--competition competition.toml {originals} {sent(rules)}"


def sent(rules: Competition) -> str:
    return " ".join(f"--{name} example/{name}.csv" for name in (*TRACKS[rules.track].files, "secret"))


def quoted(*lines: str) -> str:
    """Indented, which no text inside can end."""
    return "\n".join(f"    {line}" for line in lines)
