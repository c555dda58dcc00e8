"""Labels and descriptions of measures, attackers, methods and other parts of the rules."""

from anoncup.messages import N_

LABELS = {
    "board_organizers": N_("Only the organizers see the boards."),
    "board_public": N_("Everybody sees the boards."),
    "board_teams": N_("The teams and the organizers see the boards."),
    "excess_II_average": N_("Rejected if the mean distance is above {threshold}."),
    "excess_II_strict": N_("Rejected if anybody’s distance is above {threshold}."),
    "feedback_daily": N_(
        "The scores of guesses become visible at midnight. That helps attackers a little: each score is a clue to the right answers."
    ),
    "feedback_hidden": N_(
        "The scores of guesses, and all values that depend on them, stay hidden until the re-identification phase closes. Otherwise teams could find individuals by trial and error."
    ),
    "feedback_immediate": N_(
        "The scores of guesses are visible at once. That helps attackers: each score is a clue to the right answers."
    ),
    "limit_attempts_per_day": N_("Attempts a day, refused ones too"),
    "limit_attempts_total": N_("Attempts of a phase in all, refused ones too"),
    "limit_file_mb": N_("Size of a file in MB"),
    "limit_guesses_per_question": N_("Guesses on a target, for each question"),
    "limit_guesses_per_target": N_("Guesses on a target"),
    "limit_valid_per_day": N_("Valid submissions a day"),
    "limit_valid_total": N_("Valid submissions in all"),
    "owners_hidden": N_(
        "Targets do not show their teams until the secrets are revealed. This is no guarantee: comparing targets with the boards may show which team made them."
    ),
    "owners_shown": N_("Each target shows the team that made it."),
    "ranking_rank_sum": N_(
        "Teams are ranked by the sum of their submission’s ranks in every measure with a weight and in risk, lowest first."
    ),
    "ranking_score": N_(
        "Teams are ranked by the overall score of their best accepted submission, lowest first."
    ),
    "score_5_rank_sum": N_(
        "It is only reported. The ranking adds up the ranks in every measure with a weight and in E."
    ),
    "score_5_score": N_("The lowest wins."),
}
