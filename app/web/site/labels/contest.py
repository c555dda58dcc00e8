"""Labels of states, limits, files and notices."""

from anoncup.messages import N_

LABELS = {
    "phase_anonymization": N_("Anonymization phase"),
    "because_first": N_("its first release"),
    "because_guesses": N_("other teams’ guesses"),
    "because_release": N_("another of its releases"),
    "because_scoring": N_("a new scoring"),
    "phase_between": N_("Between the phases"),
    "board_anonymization": N_("Anonymization board"),
    "board_matrix": N_("Attack matrix"),
    "board_replay": N_("Replay"),
    "board_reidentification": N_("Re-identification board"),
    "cap_guesses_per_target": N_("Guesses on each target"),
    "phase_closed": N_("Closed"),
    "columns_attackers_only": N_("Attackers outside E"),
    "columns_in_security": N_("Attackers in E"),
    "columns_in_utility": N_("Measures in U"),
    "columns_measures_only": N_("Measures outside U"),
    "cost_both": N_("Risk and utility loss are equally large."),
    "cost_nothing": N_("Nobody is found and nothing is lost."),
    "cost_risk": N_("Risk affects your score most."),
    "cost_utility": N_("Lost utility affects your score most."),
    "done_cancelled": N_("The submission is cancelled."),
    "done_final_marked": N_("Marked as a final."),
    "done_final_unmarked": N_("No longer a final."),
    "done_guessed": N_("Your guess has been received. Sending the same file again does not count twice."),
    "done_joined": N_(
        "You are in. Read the rules and download the data; your releases are sent from this page."
    ),
    "done_member_removed": N_("The member has been removed, and the team’s invites are no longer valid."),
    "done_password_changed": N_("Your new password is set. All other tokens and sessions have been ended."),
    "done_password_set": N_("Your new password is set. Sign in with it."),
    "done_received": N_("Received. Your submission is in the queue; the receipt is below."),
    "done_team_left": N_("You have left the team."),
    "done_token_revoked": N_("The token has ended."),
    "phase_draft": N_("Not begun"),
    "excessive_far": N_("The {which} distance is {value}: {share}% of what is allowed."),
    "excessive_near": N_(
        "The {which} distance is {value}: {share}% of what is allowed. A little more change and it would be rejected."
    ),
    "excessive_over": N_(
        "The {which} distance is {value}: {share}% of what is allowed. Change the data of fewer individuals, or change them less."
    ),
    "finals_disqualified": N_("A disqualified team chooses no finals."),
    "finals_draft": N_("You can choose finals while the anonymization phase is open."),
    "finals_over": N_("Finals can no longer be chosen."),
    "finals_paused": N_("The phase is paused. You can choose finals again when it resumes."),
    "finals_settling": N_("The deadline has passed: the finals are fixed."),
    "finals_undated": N_("You can choose finals while the anonymization phase is open."),
    "freeze_ahead": N_("The board will be frozen until the end of the competition, starting"),
    "freeze_others": N_("You see the live board. For everyone but the organizers it is frozen as of"),
    "front_coming": N_("Coming up"),
    "front_own": N_("Your competitions"),
    "front_past": N_("Past competitions"),
    "front_running": N_("Open now"),
    "guess_ERROR": N_("Error on our side; does not count"),
    "guess_QUEUED": N_("Queued"),
    "guess_SCORED": N_("Scored"),
    "guess_SCORING": N_("Scoring"),
    "guess_cap_attempts_per_day": N_("Refused guesses today"),
    "guess_cap_attempts_total": N_("Refused guesses in all"),
    "guess_feedback_daily": N_("You see how many rows were right after midnight on the competition’s clock."),
    "guess_feedback_hidden": N_("How many rows were right stays hidden until the competition closes."),
    "guess_feedback_immediate": N_("You see how many rows were right as soon as the guess is scored."),
    "guess_outcome_daily": N_("You see what a guess found after midnight on the competition’s clock."),
    "guess_outcome_hidden": N_("What a guess found stays hidden until the competition closes."),
    "guess_outcome_immediate": N_("You see what a guess found as soon as it is scored."),
    "how_win_found_score": N_(
        "The overall score is the mean of utility loss and risk; risk is the largest amount that any attacker finds out beyond chance. The lowest score wins."
    ),
    "how_win_rank_sum": N_(
        "Submissions are ranked by each weighted measure and by risk; the lowest sum of ranks wins."
    ),
    "how_win_score": N_(
        "The overall score is the mean of utility loss and risk; risk is the largest share of individuals that any attacker finds. The lowest score wins."
    ),
    "lead_attacks_counted": N_(
        "{team} leads the re-identification board: {identified} of {tried} individuals identified (targets: {targets})."
    ),
    "lead_attacks_score": N_(
        "{team} leads the re-identification board with {score} of {targets}: the sum of what it found in each target."
    ),
    "lead_said_coarse_rank_sum": N_(
        "{team} leads with the lowest sum of ranks; its utility loss is {utility} and its risk {security}."
    ),
    "lead_said_coarse_score": N_(
        "{team} leads with the lowest overall score, {overall}; its utility loss is about {utility} and its risk about {security}."
    ),
    "lead_said_rank_sum": N_(
        "{team} leads with the lowest sum of ranks, {sum}; its utility loss is {utility} and its risk {security}."
    ),
    "lead_said_score": N_(
        "{team} leads with the lowest overall score, {overall}, the mean of utility loss {utility} and risk {security}."
    ),
    "lead_vs_about_as_safe": N_(
        "{second} in second place is about as safe (risk about {security}) but loses more utility ({utility})."
    ),
    "lead_vs_about_as_useful": N_(
        "{second} in second place is about as useful (utility loss about {utility}) but easier to attack (risk {security})."
    ),
    "lead_vs_as_safe": N_(
        "{second} in second place is as safe (risk {security}) but loses more utility ({utility})."
    ),
    "lead_vs_as_useful": N_(
        "{second} in second place is as useful (utility loss {utility}) but easier to attack (risk {security})."
    ),
    "lead_vs_both": N_(
        "It is both more useful and safer than {second} in second place (utility loss {utility}, risk {security})."
    ),
    "lead_vs_more_useful": N_(
        "{second} in second place is safer (risk {security}) but loses more utility ({utility})."
    ),
    "lead_vs_safer": N_(
        "{second} in second place is more useful (utility loss {utility}) but easier to attack (risk {security})."
    ),
    "score_overall": N_("Overall"),
    "ranked_by_found_rank_sum": N_(
        "Each team’s best accepted submission. The teams are ranked in every measure with a weight and in E; the lowest sum of ranks leads. U is the utility loss, E the risk: what attackers find out beyond chance."
    ),
    "ranked_by_found_score": N_(
        "Each team’s best accepted submission. U is the utility loss, E the risk: what attackers find out beyond chance. The overall score is the mean of both, and the lowest leads."
    ),
    "ranked_by_rank_sum": N_(
        "Each team’s best accepted submission. The teams are ranked in every measure with a weight and in E; the lowest sum of ranks leads. U is the utility loss, E the risk: the largest rate of an attacker that counts."
    ),
    "ranked_by_score": N_(
        "Each team’s best accepted submission. U is the utility loss, E the risk: the largest rate of an attacker that counts. The overall score is the mean of both, and the lowest leads."
    ),
    "phase_reidentification": N_("Re-identification phase"),
    "rules_attackers": N_("Attackers"),
    "rules_data": N_("Data"),
    "rules_excess": N_("Excessive anonymization"),
    "rules_files": N_("What a team sends"),
    "rules_limits": N_("Limits"),
    "rules_measures": N_("Measures"),
    "rules_ranking": N_("Ranking and finals"),
    "rules_scores": N_("How the scores are computed"),
    "rules_visibility": N_("Who sees what, and when"),
    "scope_note_organize": N_("manage the competitions that you organize"),
    "scope_note_read": N_("see everything that you can see"),
    "scope_note_submit": N_("send submissions and guesses, and act for your team"),
    "scope_organize": N_("organize"),
    "scope_read": N_("read"),
    "scope_submit": N_("submit"),
    "score_security": N_("Risk"),
    "phase_settling": N_("Final scoring"),
    "state_CANCELLED": N_("Cancelled"),
    "state_DISQUALIFIED": N_("Disqualified"),
    "state_ERROR": N_("Error on our side"),
    "state_QUEUED": N_("Queued"),
    "state_REJECTED": N_("Rejected"),
    "state_SCORED": N_("Accepted"),
    "state_SCORING": N_("Scoring"),
    "step_data": N_("Teams cannot begin: the original data are missing."),
    "step_data_link": N_("Upload the data"),
    "step_join": N_(
        "To take part you need an invite code, from the organizers or from a team that you are joining."
    ),
    "step_join_link": N_("Join with a code"),
    "step_organize": N_("You organize this competition."),
    "step_organize_link": N_("To the organizers’ pages"),
    "step_over": N_("The contest is over. See how it ended."),
    "step_over_link": N_("See the boards"),
    "step_team_anonymization": N_(
        "Send a release, see its score, and choose which submissions are your finals."
    ),
    "step_team_anonymization_link": N_("Send a release"),
    "step_team_between": N_("Your finals are fixed. The attacks begin with the next phase."),
    "step_team_between_link": N_("See your submissions"),
    "step_team_closed": N_("The contest is over. See how it ended."),
    "step_team_closed_link": N_("See the boards"),
    "step_team_draft": N_(
        "Read the rules and get the kit: with it you can score releases on your own computer before the contest begins."
    ),
    "step_team_draft_link": N_("Rules and data"),
    "step_team_paused": N_(
        "The organizers have paused the phase. Nothing is accepted until they resume it, and the deadline moves back by the same time."
    ),
    "step_team_paused_link": N_("Read the rules"),
    "step_team_reidentification": N_("Download the other teams’ targets and send your guesses."),
    "step_team_reidentification_link": N_("Attack"),
    "step_team_settling": N_(
        "The deadline has passed. Submissions that arrived in time are still being scored."
    ),
    "step_team_settling_link": N_("See your submissions"),
    "step_watch_between": N_("The finals are fixed. Soon the teams attack each other’s releases."),
    "step_watch_between_link": N_("Watch the boards"),
    "step_watch_reidentification": N_("The teams are attacking each other’s releases."),
    "step_watch_reidentification_link": N_("Watch the boards"),
    "step_watch_settling": N_(
        "The deadline has passed. Submissions that arrived in time are still being scored."
    ),
    "step_watch_settling_link": N_("Watch the boards"),
    "step_visitor": N_("Sign in to take part. New here? Ask the organizers for an invite code."),
    "step_visitor_link": N_("Sign in"),
    "turn_anonymization_end": N_("Anonymization ends"),
    "turn_anonymization_start": N_("Anonymization starts"),
    "turn_reidentification_end": N_("Re-identification ends"),
    "turn_reidentification_start": N_("Re-identification starts"),
    "upload_disqualified": N_("Nothing is accepted from a disqualified team."),
    "upload_draft": N_(
        "The anonymization phase has not begun; releases are accepted as soon as it does. Meanwhile, read the rules and download the data."
    ),
    "upload_over": N_("The anonymization phase is over: no more releases are accepted."),
    "upload_paused": N_(
        "The organizers have paused the phase. Nothing is accepted until they resume it; the deadline moves back by the same time, so you lose none."
    ),
    "upload_settling": N_(
        "The deadline has passed: no more releases are accepted. Those that arrived in time are still being scored."
    ),
    "upload_undated": N_(
        "The anonymization phase has no date yet. Meanwhile, read the rules and download the data."
    ),
    "used_attempts_per_day": N_("Attempts today"),
    "used_attempts_total": N_("Attempts in all"),
    "used_valid_per_day": N_("Valid submissions today"),
    "used_valid_total": N_("Valid submissions in all"),
    "score_utility": N_("Utility loss"),
    "which_largest": N_("largest"),
    "which_mean": N_("mean"),
    "won_anonymization": N_("Best anonymization"),
    "won_attacks_counted": N_(
        "{team} wins the re-identification board: {identified} of {tried} individuals identified (targets: {targets})."
    ),
    "won_attacks_score": N_(
        "{team} wins the re-identification board with {score} of {targets}: the sum of what it found in each target."
    ),
    "won_reidentification": N_("Best attacks"),
    "won_said_coarse_rank_sum": N_(
        "{team} wins with the lowest sum of ranks; its utility loss is {utility} and its risk {security}."
    ),
    "won_said_coarse_score": N_(
        "{team} wins with the lowest overall score, {overall}; its utility loss is about {utility} and its risk about {security}."
    ),
    "won_said_rank_sum": N_(
        "{team} wins with the lowest sum of ranks, {sum}; its utility loss is {utility} and its risk {security}."
    ),
    "won_said_score": N_(
        "{team} wins with the lowest overall score, {overall}, the mean of utility loss {utility} and risk {security}."
    ),
}
