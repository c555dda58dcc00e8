"""``anoncup scales``: compute the scales of the utility scores from an original."""

from __future__ import annotations

from anoncup.cli.options import CompetitionFile, OriginalFiles, RoundName


def scales(competition: CompetitionFile, original: OriginalFiles, *, round_name: RoundName = None) -> None:
    """Print the competition file, or that of one round, with the scales of its utility scores.

    A scale of 0 is refused as the service does, unless the file has another one for the measure.
    """
    from anoncup.cli.local_files import load_contest
    from anoncup.evaluation.scales import compute_usable_scales
    from anoncup.rules.toml_text import replace_scales

    contest = load_contest(competition, original, round_name)
    values = compute_usable_scales(contest.rules, contest.track, contest.original)
    print(replace_scales(contest.text, values), end="")
