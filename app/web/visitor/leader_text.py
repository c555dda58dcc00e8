"""Sentences about the leaders of a board: who leads, why, and who follows."""

from collections.abc import Iterator, Sequence

from anoncup.rules.model import Rules
from anoncup.schemas import AttackersRow, Board, BoardRow
from app.locale.language import Translator
from app.web.site import notation
from app.web.site.sentences import join_names, join_sentences
from app.web.visitor.leader import Leader, find_leader


def describe_leader(board: Board, rules: Rules, t: Translator, *, is_over: bool = False) -> str:
    """Describe the first ranks of a board with what the reader may see; return "" if there are no ranks.

    With ``is_over``, the leader is described as the winner.
    """
    leader = find_leader(board, rules)
    if leader is None:
        return ""
    if len(leader.rows) > 1:
        sentences = [*_describe_tied_leaders(leader, t), *_describe_runners_up(leader, t)]
    else:
        sentences = [
            _describe_single_leader(leader, t, is_over=is_over),
            *_explain_risk(leader, t),
            *_describe_second(leader, t),
        ]
    return join_sentences(
        sentences if is_over else [*sentences, *_describe_former_leaders(board, leader, t)], t
    )


def _describe_single_leader(leader: Leader, t: Translator, *, is_over: bool) -> str:
    row = leader.row
    label_suffix = f"{'' if leader.shows_attackers else 'coarse_'}{leader.rule}"
    label = f"won_description_{label_suffix}" if is_over else f"lead_description_{label_suffix}"
    score = t.localize_numbers(notation.format_number(row.score))
    return t.label(label).format(
        team=row.team, overall=_format_score(row.overall, t), sum=score, **_format_losses(row, leader, t)
    )


def _describe_tied_leaders(leader: Leader, t: Translator) -> Iterator[str]:
    """Name the tied leaders with their score and, if they have the same U and E, also with these."""
    rows, count = leader.rows, len(leader.rows)
    names, overall = _join_team_names(rows, t), _format_score(rows[0].overall, t)
    if leader.rule == "score":
        yield t.ngettext(
            "{n} team is in first place with the lowest overall score, {overall}: {names}.",
            "{n} teams share first place with the lowest overall score, {overall}: {names}.",
            count,
            overall=overall,
            names=names,
        )
    elif leader.rule == "rank_sum":
        yield t.ngettext(
            "{n} team is in first place with the lowest sum of ranks: {names}.",
            "{n} teams share first place with the lowest sum of ranks: {names}.",
            count,
            names=names,
        )
    else:
        yield t.ngettext(
            "{n} team is in first place with the score {score}: {names}.",
            "{n} teams share first place with the score {score}: {names}.",
            count,
            score=t.localize_numbers(notation.format_number(rows[0].score)),
            names=names,
        )
    if leader.has_equal_scores:
        yield t("All have a utility loss of about {utility} and a risk of about {security}.").format(
            **_format_losses(rows[0], leader, t)
        )


def _explain_risk(leader: Leader, t: Translator) -> Iterator[str]:
    """Explain what determines the risk of a single leader."""
    if not leader.shows_attackers:
        return
    if not leader.counts_individuals:
        yield from _explain_risk_beyond_chance(leader, t)
    elif leader.is_found_by_rival:
        share = t.localize_numbers(notation.format_percent(leader.row.security or 0.0))
        yield t("Another team’s guess finds the most: {found} of the individuals.", found=share)
    elif leader.attacker:
        yield t(
            "Of the attackers that count, “{attacker}” finds the most: {found} of the individuals.",
            attacker=t.label(f"attacker_{leader.attacker}", leader.attacker),
            found=t.localize_numbers(notation.format_percent(leader.row.security or 0.0)),
        )
    else:
        yield t("No attacker that counts finds anyone.")


def _explain_risk_beyond_chance(leader: Leader, t: Translator) -> Iterator[str]:
    """Explain what determines the risk if it is measured beyond chance instead of in individuals."""
    if not leader.row.security:
        yield t("No attacker that counts finds more than chance would.")
    elif leader.is_found_by_rival:
        yield t("Other teams’ guesses set its risk.")
    elif leader.attacker:
        attacker = t.label(f"attacker_{leader.attacker}", leader.attacker)
        yield t("Of the attackers that count, “{attacker}” sets its risk.", attacker=attacker)


def _describe_second(leader: Leader, t: Translator) -> Iterator[str]:
    """Compare a single runner-up with the leader if that is informative, else only name the runners-up."""
    if len(leader.runners_up) != 1 or leader.rule != "score" or leader.comparison == "neither":
        yield from _describe_runners_up(leader, t)
        return
    row = leader.runners_up[0]
    yield t.label(f"lead_vs_{leader.comparison}").format(second=row.team, **_format_losses(row, leader, t))


def _describe_former_leaders(board: Board, leader: Leader, t: Translator) -> Iterator[str]:
    """Name the leaders of a day ago if they differ from the present ones."""
    former_leaders = [row.team for row in board.rows if row.rank_before == 1]
    if former_leaders and {row.team for row in leader.rows} != set(former_leaders):
        yield t("A day ago {names} led.", names=join_names(former_leaders, t))


def _describe_runners_up(leader: Leader, t: Translator) -> Iterator[str]:
    """Name the runners-up with their rank, which for example is 4 after three teams on rank 1."""
    rows, count = leader.runners_up, len(leader.runners_up)
    if not rows:
        return
    names, rank = _join_team_names(rows, t), rows[0].rank
    yield t.ngettext(
        "{names} follows at rank {rank}.",
        "{names} follow, sharing rank {rank}.",
        count,
        names=names,
        rank=rank,
    )


def describe_attack_leaders(
    leaders: Sequence[AttackersRow], t: Translator, *, by_formula: bool, is_over: bool
) -> str:
    """Describe the leaders or winners of the re-identification board.

    ``leaders`` are the rows of the first rank, at least one. With ``by_formula``, their score is its value.
    """
    return (
        _describe_attack_leader(leaders[0], t, by_formula=by_formula, is_over=is_over)
        if len(leaders) == 1
        else _describe_tied_attackers(leaders, t, by_formula=by_formula)
    )


def _describe_attack_leader(row: AttackersRow, t: Translator, *, by_formula: bool, is_over: bool) -> str:
    kind = "formula" if by_formula else "counted" if row.score is None else "score"
    return t.label(f"won_attacks_{kind}" if is_over else f"lead_attacks_{kind}").format(
        team=row.team,
        identified=t.localize(row.identified),
        tried=t.localize(row.tried),
        targets=t.localize(row.targets),
        score=_format_attack_score(row, t, by_formula=by_formula),
    )


def _format_attack_score(row: AttackersRow, t: Translator, *, by_formula: bool) -> str:
    """Return the score as the board shows it: the value of a formula has no fixed number of decimals."""
    return (
        t.localize_numbers(notation.format_number(row.score)) if by_formula else _format_score(row.score, t)
    )


def _describe_tied_attackers(leaders: Sequence[AttackersRow], t: Translator, *, by_formula: bool) -> str:
    count, names, identified = len(leaders), _join_team_names(leaders, t), leaders[0].identified
    if leaders[0].score is None:
        return t.ngettext(
            "On the re-identification board {n} team is in first place with {identified} individuals identified: {names}.",
            "On the re-identification board {n} teams share first place with {identified} individuals identified each: {names}.",
            count,
            identified=identified,
            names=names,
        )
    total = _format_attack_score(leaders[0], t, by_formula=by_formula)
    return t.ngettext(
        "On the re-identification board {n} team is in first place with {score}: {names}.",
        "On the re-identification board {n} teams share first place with {score} each: {names}.",
        count,
        score=total,
        names=names,
    )


def _join_team_names(rows: Sequence[BoardRow] | Sequence[AttackersRow], t: Translator) -> str:
    return join_names([row.team for row in rows], t)


def _format_losses(row: BoardRow, leader: Leader, t: Translator) -> dict[str, str]:
    """Return U and E as texts, with the decimals that the board shows."""
    values = {"utility": row.utility, "security": row.security}
    return {
        name: t.localize_numbers(notation.format_score(value, leader.digits))
        for name, value in values.items()
    }


def _format_score(number: float | None, t: Translator) -> str:
    return t.localize_numbers(notation.format_score(number))
