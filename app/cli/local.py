"""Commands on local files: the very code the server runs, no server needed."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from app.errors import InvalidInput
from app.scoring.competition import Columns, Competition
from app.scoring.competition_file import parse_competition
from app.scoring.csv_text import Remark, table_csv
from app.scoring.evaluate import Verdict, evaluate
from app.scoring.permutation import source_from_secret
from app.scoring.release import prepare
from app.scoring.scales import scales as scales_of
from app.scoring.synthetic import household_table
from app.scoring.tables import parse_original, parse_release
from app.scoring.templates import template as template_text
from app.scoring.toml_text import with_scales

ACCEPTED, REJECTED = 0, 1
Existing = typer.Option(exists=True, dir_okay=False, readable=True)


def template(year: Annotated[int, typer.Argument(help="2015: microdata")]) -> None:
    """Print a complete competition file to start from."""
    print(template_text(year), end="")


def generate(
    rows: Annotated[int, typer.Option(min=1, max=1_000_000)] = 8333,
    seed: Annotated[int, typer.Option(min=0)] = 0,
) -> None:
    """Print a generated table of the 2015 contest's shape."""
    print(table_csv(household_table(rows, seed=seed)).decode(), end="")


def scales(competition: Annotated[Path, Existing], original: Annotated[Path, Existing]) -> None:
    """Print the competition file with the scales of its utility scores computed from the original."""
    text = read_text(competition)
    rules, columns = rules_of(text)
    table, _ = parse_original(original.read_bytes(), columns, file=original.name)
    print(with_scales(text, scales_of(prepare(table, columns), rules.measures)), end="")


def score(
    competition: Annotated[Path, Existing],
    original: Annotated[Path, Existing],
    anonymized: Annotated[Path, Existing],
    secret: Annotated[Path, Existing],
    as_json: Annotated[bool, typer.Option("--json", help="print the result as JSON")] = False,
) -> None:
    """Score a release as the server does. Exit status 1: the contest's rules reject it."""
    rules, columns = rules_of(read_text(competition))
    table, remarks = parse_original(original.read_bytes(), columns, file=original.name)
    released, more = parse_release(anonymized.read_bytes(), table, columns, file=anonymized.name)
    source = source_from_secret(secret.read_bytes(), originals=len(table), anonymized=len(released))
    verdict = evaluate(rules, prepare(table, columns), released, source)
    if as_json:
        print(json.dumps(as_printed(verdict, [*remarks, *more]), indent=2))
    else:
        show(verdict, [*remarks, *more])
    raise typer.Exit(ACCEPTED if verdict.verdict == "accepted" else REJECTED)


def as_printed(verdict: Verdict, remarks: list[Remark]) -> dict[str, object]:
    warnings = [{"code": remark.code, "message": remark.message} for remark in remarks]
    content = verdict.to_json()
    return {
        "verdict": content.pop("verdict"),
        "violations": content.pop("violations"),
        "warnings": warnings,
    } | content


def rules_of(text: str) -> tuple[Competition, Columns]:
    rules = parse_competition(text)
    if rules.columns is None:
        raise InvalidInput("the competition names no columns")
    return rules, rules.columns


def read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(f"{path.name} is not UTF-8 text") from None


def show(verdict: Verdict, remarks: list[Remark]) -> None:
    content: Any = verdict.to_json()
    console = Console(markup=False, emoji=False)  # column names are text, "[/x]" and ":x:" too
    console.print(f"{content['verdict']}", style="green" if content["verdict"] == "accepted" else "red")
    for note in content["violations"]:
        console.print(f"  {note['code']}: {note['message']}", style="red", soft_wrap=True)
    for remark in remarks:
        console.print(f"  {remark.code}: {remark.message}", style="yellow", soft_wrap=True)
    console.print(measures_table(content))
    console.print(attackers_table(content))
    for name in ("utility", "security", "overall"):
        console.print(f"{name:>10}  {digits(content[name])}  (0 is best)")


def measures_table(content: Any) -> Table:
    table = Table("measure", "value")
    for name, entry in content["measures"].items():
        table.add_row(name, digits(entry["value"]))
    excessive = content["excessive"]
    table.add_row(f"mean {excessive['distance']} distance", digits(excessive["mean"]))
    table.add_row("  threshold", digits(excessive["threshold"]))
    return table


def attackers_table(content: Any) -> Table:
    table = Table("attacker", "rate", "correct", "of")
    for name, entry in content["attackers"].items():
        table.add_row(name, *(digits(entry[key]) for key in ("rate", "correct", "trials")))
    return table


def digits(number: object) -> str:
    """Six significant digits; --json has them all."""
    return "–" if number is None else f"{number:.6g}"
