"""``anoncup scales``: compute the scales of the utility scores from an original."""

from __future__ import annotations

from anoncup.cli.options import CompetitionFile, OriginalFiles, RoundName


def scales(competition: CompetitionFile, original: OriginalFiles, *, round_name: RoundName = None) -> None:
    """Print the competition file, or that of one round, with the scales of its utility scores."""
    from anoncup.cli.local_files import load_contest
    from anoncup.evaluation.scales import scales as scales_of
    from anoncup.rules.toml_text import replace_scales

    contest = load_contest(competition, original, round_name)
    values = scales_of(contest.track, contest.original, contest.rules.measures)
    print(replace_scales(contest.text, values), end="")
