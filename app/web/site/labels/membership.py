"""Labels and descriptions of the parts of membership contests."""

from anoncup.messages import N_

LABELS = {
    "about_membership": N_(
        "A contest on {individuals} candidates: each team is given half of them and releases a table in their place; the other teams guess who was in it."
    ),
    "attacker_closest": N_("Closest released row"),
    "attacker_closest_ratio": N_("Nearest-neighbour distance ratio"),
    "attacker_closest_ratio_said": N_(
        "Compares a candidate’s distance to the closest released row with that row’s distance to its second closest candidate: the more a row resembles one candidate only, the more confident."
    ),
    "attacker_closest_said": N_(
        "The nearer the closest released row by Gower’s distance, the more confident that a candidate is a member."
    ),
    "attacker_density": N_("Density of released rows"),
    "attacker_density_said": N_(
        "The more released rows there are around a candidate, relative to the number of candidates there, the more confident. Numeric columns only, with Gaussian kernels."
    ),
    "attacker_exact_copy": N_("Exact copies"),
    "attacker_exact_copy_said": N_(
        "Takes every candidate who equals a released row in all known columns for a member."
    ),
    "choose_start_membership": N_("Membership"),
    "choose_start_membership_said": N_(
        "Teams get half of the candidates each and release a table made of them; the others say who is in it."
    ),
    "data_membership": N_(
        "Everybody knows the candidates. The service draws half of them for each team by a seed that it commits to beforehand: these are the team’s members, and nobody else sees who they are."
    ),
    "detail_accuracy": N_("accuracy, with the most confident half taken as members"),
    "detail_advantage": N_("advantage"),
    "detail_auc": N_("area under the ROC curve"),
    "detail_commonest": N_("commonest value"),
    "detail_difference_high": N_("difference, 95%, up to"),
    "detail_difference_low": N_("difference, 95%, from"),
    "detail_members": N_("right about the members"),
    "detail_others": N_("right about the other candidates"),
    "detail_reference": N_("reference predictor"),
    "detail_tpr": N_("members found at a false-alarm rate of 1%"),
    "detail_without_release": N_("right without the release"),
    "file_background": N_("Background data"),
    "file_candidates": N_("Candidates"),
    "file_hidden": N_("The hidden column"),
    "file_members": N_("Your members"),
    "file_released": N_("Release made of the members"),
    "files_release_membership": N_(
        "released.csv: this header line, the columns of the members; values within each column’s range or set, rows as many as the competition file allows. Rows may be changed, added and invented. UTF-8, {file_mb} MB a file at most."
    ),
    "guess_guide_attribute": N_(
        "For each candidate, in their order, write the value of the hidden column. Correct answers about members count only to the extent that they exceed what the commonest value or the reference predictor of the rules gets right without the release."
    ),
    "guess_guide_membership": N_(
        "For each candidate, in their order, write a score from 0 to 1: the higher, the more confident you are that the candidate is one of the members that the target was made of."
    ),
    "guess_rules_attribute": N_(
        "The value of the hidden column, for each candidate in their order. The value of a guess is (p − b) / (1 − b), at least 0: p is the share of members whose value is right, b the larger share of two guesses that need no release, the commonest value among the members and the reference predictor. The predictor is fixed. It is trained on the background data, or without them on the candidates who are not members: one logistic regression per category, the likeliest category wins; for numbers ridge regression, rounded to the nearest value that occurs in the training rows. Categories are one-hot, numbers standardised, the L2 penalty is 1."
    ),
    "guess_rules_membership": N_(
        "In the re-identification phase, for each target: a score from 0 to 1 for each candidate in their order; the higher, the more confident you are that the candidate is a member."
    ),
    "guess_said_attribute": N_(
        "CSV: the name of the hidden column, then {originals} lines, a value of it for each candidate."
    ),
    "guess_said_membership": N_(
        "CSV: the line score, then {originals} lines, a number from 0 to 1 for each candidate."
    ),
    "guess_sample_membership": N_(
        "Candidate 1 is very likely a member, nothing is known about candidate 2, and candidate 3 is certainly not a member."
    ),
    "measure_copies": N_("Copied rows"),
    "measure_copies_said": N_("The share of the released rows that equal a member in every column."),
    "measure_correlations": N_("Gap of correlations"),
    "measure_correlations_said": N_(
        "How far Pearson’s correlation of two numeric columns has moved, averaged over the pairs, as a share of the farthest it could."
    ),
    "measure_marginals": N_("Gap of distributions"),
    "measure_marginals_said": N_(
        "How far the distribution of a column has moved, averaged over the columns; numbers in 20 bins of the members."
    ),
    "measure_pairs": N_("Gap of pairs of columns"),
    "measure_pairs_said": N_(
        "How far the joint distribution of two columns has moved, averaged over the pairs; numbers in five bins of the members."
    ),
    "measure_propensity": N_("Distinguishable from the members"),
    "measure_propensity_said": N_(
        "How well a logistic regression distinguishes released rows from members: 0 if it cannot."
    ),
    "measure_tails": N_("Gap of the extremes"),
    "measure_tails_said": N_(
        "How far the share of released numbers beyond the members’ 1% and 99% quantiles is from 2%, averaged over the numeric columns."
    ),
    "method_copula": N_("Gaussian copula"),
    "method_copy": N_("Copy of the members"),
    "method_independent": N_("Columns permuted"),
    "method_noise": N_("Noise on every cell"),
    "notation_membership": N_(
        "In the formulas M are the team’s members, Y the released rows; C are the columns, S the numeric ones; a stroke marks what belongs to the release."
    ),
    "original_background": N_("background.csv"),
    "original_candidates": N_("candidates.csv"),
    "parameter_hidden": N_("hidden column"),
    "parameter_strength": N_("strength"),
    "parameter_tolerance": N_("tolerance"),
    "parameter_value": N_("value"),
    "question_asks_attribute": N_("Give the value of the hidden column for each candidate."),
    "question_asks_membership": N_(
        "For each candidate, say how sure you are that it is one of the members that a target was made of."
    ),
    "question_attribute": N_("Hidden column"),
    "question_membership": N_("Membership"),
    "secret_rules_members": N_(
        "Nothing secret is sent: the service has drawn the team’s members and knows them. Their file names each by its row among the candidates, counted from 1, and has all of its columns."
    ),
    "track_membership": N_("Membership: who was in the table"),
    "value_advantage": N_("advantage"),
    "value_tpr": N_("members found at a false-alarm rate of 1%"),
    "where_copies": N_("#: the number of released rows to which this applies."),
    "where_correlations": N_(
        "r: Pearson’s correlation, 0 where a column is constant; over the pairs of numeric columns."
    ),
    "where_marginals": N_("p, p′: the shares of the rows in a bin b, or with a category."),
    "where_pairs": N_("p, p′: the shares of the rows in the cell a, b of the two columns’ table."),
    "where_propensity": N_(
        "q_i: the chance that row i is a released one, by a logistic regression fitted to all N rows of both; c: the share of released rows."
    ),
    "where_tails": N_(
        "p′: the share of released values below the 1% or above the 99% quantile of the members."
    ),
}
