"""A threshold report as people read it in a terminal."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from app.cli.terminal import digits, numbered

BLOCKS = " ▁▂▃▄▅▆▇█"


def show_advice(out: Console, advice: Any) -> None:
    """The report as ``Advice.to_json`` has it."""
    out.print(
        f"{advice['individuals']} individuals, {advice['groups']} groups, {advice['alone']} of one individual"
    )
    cheats = numbered("cheat", "most that stay in place", "chance of more", "on average")
    for cheat in advice["cheats"]:
        chance = "0" if cheat["log2_chance"] is None else f"2^{cheat['log2_chance']:.2f}"
        cheats.add_row(cheat["name"], str(cheat["fixed"]), chance, digits(cheat["expected"]))
    out.print(cheats)
    bounds = numbered("in place", "s_lower/n", "certified from", "to", "exact")
    for bound in advice["bounds"]:
        exact = "yes" if bound["exact"] else ""
        bounds.add_row(
            str(bound["fixed"]),
            digits(bound["s_lower"]),
            digits(bound["lower"]),
            digits(bound["upper"]),
            exact,
        )
    out.print(bounds)
    for name, histogram in advice["histograms"].items():
        line = f"{digits(histogram['least'])} |{bars(histogram['counts'])}| {digits(histogram['largest'])}"
        out.print(f"{name:>7}  {line}", soft_wrap=True)
    for histogram in list(advice["histograms"].values())[:1]:
        out.print(
            f"         mean {advice['distance']} distance over {histogram['draws']} permutations of each kind"
        )
    kind = "certified" if advice["certified"] else "by s_lower"
    out.print(f"above Min/2 = {digits(advice['low'])} and below {digits(advice['high'])} ({kind}):")
    if advice["threshold"] is None:
        out.print(f"there is no such threshold: {advice['remedy']}", style="red", soft_wrap=True)
    else:
        out.print(f"recommended: threshold = {advice['threshold']!r}", style="green")
        for name, histogram in advice["histograms"].items():
            side = "all above it" if histogram["least"] > advice["threshold"] else "some below it"
            out.print(f"  {name}: {side}")
        out.print(
            f"  honest releases may still move up to {advice['escapes']} individuals past half the way to "
            "their nearest other",
            soft_wrap=True,
        )


def bars(counts: Sequence[int]) -> str:
    """A histogram in a line of text."""
    most = max(counts)
    return "".join(BLOCKS[-(-count * (len(BLOCKS) - 1) // most)] for count in counts)
