"""Labels of errors whose texts on pages differ from those of the API."""

from anoncup.messages import N_

LABELS = {
    "http_method_not_allowed": N_("This address only receives a form. Go back to the page with the form."),
    "problem_too_slow": N_(
        "It arrived too slowly and was not accepted. Send it again; if it was an upload, this attempt counts."
    ),
    "problem_database_unavailable": N_(
        "A part of the service cannot be reached right now. Try again in a moment."
    ),
    "invalid_malformed_upload": N_("The file cannot be used."),
    "invalid_password_needed": N_(
        "Enter your password: this may end or show something sooner, let others see or guess more, or be impossible to undo."
    ),
    "problem_competition_unavailable": N_(
        "This version of the service cannot read the competition’s file. Nothing is lost: its organizers can read the file and replace it."
    ),
    "problem_idempotency_key_reused": N_(
        "This form has been sent before with other files. Choose the files again and send."
    ),
    "problem_malformed_upload": N_(
        "The files cannot be accepted. Nothing was submitted; the attempt counts."
    ),
    "problem_password_needed": N_("Enter your password again to confirm this."),
    "problem_quota_used_up": N_("Your team has reached its limit for now."),
    "problem_sealing_unavailable": N_(
        "The service cannot seal secrets right now. Try again later; this attempt does not count."
    ),
    "said_deleted_rows": N_("Individuals were deleted, which this competition does not allow."),
    "said_excessive_anonymization": N_("The release is too far from the original."),
    "said_too_few_rows": N_("Too few individuals are left."),
    "said_unknown": N_("This could not be done. Check what was sent."),
    "wrong_amount": N_("Enter a number, 0 or more."),
    "wrong_choice": N_("Choose one of these."),
    "wrong_end": N_("The end must lie after the start."),
    "wrong_missing": N_("This time is missing."),
    "wrong_moment": N_("Enter a date and a time."),
    "wrong_moment_skipped": N_(
        "There is no such time: the clocks of this time zone are put forward past it."
    ),
    "wrong_no_title": N_("Enter a title in at least one language."),
    "wrong_no_weights": N_("At least one measure needs a weight, or nothing could be ranked."),
    "wrong_overlap": N_(
        "The re-identification phase starts when the anonymization phase has ended, or later."
    ),
    "wrong_past": N_("This time is in the past: nobody could send anything."),
    "wrong_share": N_("Enter a number from 0 to 1."),
    "wrong_slug": N_("Use 1 to 63 small letters, digits and inner hyphens."),
    "wrong_slug_reserved": N_("Addresses that end in “-rehearsal” are reserved for rehearsals."),
    "wrong_slug_taken": N_("There is a competition of this address already."),
    "wrong_title": N_("At most 200 characters."),
    "wrong_whole": N_("Enter a whole number in the range."),
    "wrong_zone": N_("Choose a time zone."),
}
"""Texts by name, whose prefix tells where they are used.

``problem_<code>``: errors on any page. ``invalid_<code>``: errors in the steps of the setup.
``http_<code>``: errors of the framework. ``wrong_<name>``: errors beside form fields.
``said_<code>``: rejected releases whose message is not translated. ``value_<name>``: values in messages.
"""

VALUES = (
    N_("anonymization"),
    N_("reidentification"),
    N_("QUEUED"),
    N_("SCORING"),
    N_("SCORED"),
    N_("REJECTED"),
    N_("ERROR"),
    N_("CANCELLED"),
)
"""Names that are translated when they are values of messages."""
