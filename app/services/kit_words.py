"""The words of a kit, in both languages."""

from collections.abc import Mapping
from zoneinfo import ZoneInfo

from app.scoring.rules import Rules
from app.scoring.tracks import TRACKS

MINUTE = "%Y-%m-%d %H:%M"
PHASES = {
    "anonymization": ("Anonymization phase", "匿名化フェーズ"),
    "reidentification": ("Re-identification phase", "再識別フェーズ"),
}
TRACK_NAMES = {
    "microdata": ("microdata", "個票データ"),
    "transactions": ("transactions", "購買履歴データ"),
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

## Taking part

On the service's pages: join with an invite code from the organizers or from a team, open **Submissions**,
choose the release and the secret, send them. The page shows the scores as soon as they are there. In the
re-identification phase **Targets** has what to attack, and takes your guesses. No command is needed for
this.

The command `anoncup` does the same from a terminal, and scores on your own machine without using up
attempts. It comes with the service's source code: `./bootstrap requirements.lock` in there makes
`.venv/bin/anoncup` (Linux, Python 3.11 or newer). Ask the organizers where the code is.

## Check, score, submit with the command

Check that a release is well-formed and within the rules, then score it as the service will:

{local}

Send it, `ADDRESS` being the service's:

{remote}

## The files of a release

UTF-8 CSV files with exactly these header lines, columns in this order:

{headers}

{kept}

## The secret

A file of one column. Line j below the header line says which {individual} of the original, counted from 1,
{individual} j of the release comes from:

{secret}

Or the other way round: headed `anonymized_row`, one line for each {individual} of the original, with the
{individual} of the release that it became, 0 if it was deleted. Nobody sees your secret before the
competition is over. Put the {individual}s of the release in a random order: traces of the original's are a
gift to attackers.
"""

JAPANESE = """# {title}

`{slug}`（{track}）に参加するために必要なものです。

| | |
|---|---|
| `competition.toml` | コンテストのルール。サービスの採点に使われるものと同じ設定ファイルです |
| `original/` | 元データ |
| `example/` | ルールを満たす提出例（匿名化データと秘密ファイル）。形式を示すもので、安全性は高くありません |

日程（{timezone}）：

{phases}

## 参加のしかた

サービスのページだけで参加できます。主催者またはチームのメンバーから受け取った招待コードで参加し、
「提出」のページで匿名化データと秘密ファイルを選んで送信してください。採点が終わると結果が表示されます。
再識別フェーズでは、「攻撃対象」のページで攻撃対象を入手し、推測を送信します。コマンドは必要ありません。

`anoncup` コマンドを使うと、同じことを端末から行えます。また、送信回数を使わずに手元で採点できます。
コマンドはサービスのソースコードに含まれています。
その中で `./bootstrap requirements.lock` を実行すると `.venv/bin/anoncup` ができます（Linux、
Python 3.11 以降）。ソースコードの入手先は主催者にお尋ねください。

## コマンドによる確認・採点・提出

形式とルールを確認し、サービスと同じ方法で採点します。

{local}

提出します。`ADDRESS` はサービスの URL です。

{remote}

## 匿名化データのファイル

UTF-8 の CSV で、ヘッダー行は次のとおりです（列の順序も同じです）。

{headers}

{kept}

## 秘密ファイル（対応表）

1 列のファイルです。ヘッダー行の次から数えて j 行目に、匿名化データの j 番目の{individual}が、
元データの何番目の{individual}（1 から数えます）であるかを書きます。

{secret}

逆向きでもかまいません。ヘッダー行を `anonymized_row` とし、元データの{individual}ごとに 1 行、
匿名化データでの番号を書きます（削除した場合は 0）。
秘密ファイルはコンテストの終了まで誰にも公開されません。
匿名化データの{individual}は無作為に並べ替えてください。
元データの順序が残ると攻撃者に手がかりを与えます。
"""

KEPT = (
    "At least {share} of the original's {individual}s must be kept, and none may be added.",
    "元データの{individual}の {share} 以上を残してください。{individual}を追加することはできません。",
)
INDIVIDUALS = {"microdata": ("row", "行"), "transactions": ("customer", "顧客")}


def readme(rules: Rules, headers: Mapping[str, str]) -> str:
    """``headers``: the header line of each file of a release, and of the secret."""
    return (
        "\n\n".join(
            text.format(**words(rules, headers, language)).rstrip("\n")
            for language, text in enumerate((ENGLISH, JAPANESE))
        )
        + "\n"
    )


def words(rules: Rules, headers: Mapping[str, str], language: int) -> dict[str, str]:
    individual = INDIVIDUALS[rules.track][language]
    files = TRACKS[rules.track].files
    kept = KEPT[language].format(individual=individual, share=f"{100 * rules.limits.min_rows_kept:.12g}%")
    return {
        "title": title(rules, ("en", "ja")[language]),
        "slug": rules.slug,
        "track": TRACK_NAMES[rules.track][language],
        "timezone": rules.timezone,
        "phases": phases(rules, language),
        "local": quoted(*(f"anoncup {verb} {local_files(rules)}" for verb in ("check", "score"))),
        "remote": quoted("anoncup login --url ADDRESS", f"anoncup submit {rules.slug} --wait {sent(rules)}"),
        "headers": "\n\n".join(f"`{name}.csv`\n\n{quoted(headers[name])}" for name in files),
        "secret": quoted(headers["secret"], "17", "4", "…"),
        "kept": kept,
        "individual": individual,
    }


def title(rules: Rules, language: str) -> str:
    return rules.title.get(language) or next(iter(rules.title.values()), rules.slug)


def phases(rules: Rules, language: int) -> str:
    """The windows on the competition's own clock, whatever offsets the file writes them with."""
    zone, colon = ZoneInfo(rules.timezone), (": ", "：")[language]
    windows = ((each.name, each.start.astimezone(zone), each.end.astimezone(zone)) for each in rules.phases)
    lines = [
        f"- {PHASES[name][language]}{colon}{start:{MINUTE}} – {end:{MINUTE}}" for name, start, end in windows
    ]
    return "\n".join(lines) or "- –"


def local_files(rules: Rules) -> str:
    names = TRACKS[rules.track].original_files
    originals = " ".join(f"--original original/{name}.csv" for name in names)
    return f"--competition competition.toml {originals} {sent(rules)}"


def sent(rules: Rules) -> str:
    return " ".join(f"--{name} example/{name}.csv" for name in (*TRACKS[rules.track].files, "secret"))


def quoted(*lines: str) -> str:
    """Indented, which no text inside can end."""
    return "\n".join(f"    {line}" for line in lines)
