"""Labels and descriptions of the parts of monthly contests."""

from anoncup.messages import N_
from anoncup.tracks.monthly.files import QUESTIONS

LABELS = {
    "about_monthly": N_(
        "A contest on a year’s purchases of {individuals} customers under pseudonyms that change every month."
    ),
    "attacker_date_good": N_("Date and kind of good"),
    "attacker_date_good_said": N_(
        "Looks for a known purchase by its date and the first two characters of its good."
    ),
    "attacker_date_quantity": N_("Date and quantity"),
    "attacker_date_quantity_said": N_("Looks for a known purchase by its date and its quantity."),
    "attacker_good_date_quantity": N_("Date, kind of good and quantity"),
    "attacker_good_date_quantity_said": N_(
        "Looks for a known purchase by its date, the first two characters of its good and its quantity."
    ),
    "attacker_good_price": N_("Kind of good and price"),
    "attacker_good_price_quantity": N_("Kind of good, price and quantity"),
    "attacker_good_price_quantity_said": N_(
        "Looks for a known purchase by the first two characters of its good, its price and its quantity."
    ),
    "attacker_good_price_said": N_(
        "Looks for a known purchase by the first two characters of its good and its price."
    ),
    "attacker_good_quantity": N_("Kind of good and quantity"),
    "attacker_good_quantity_said": N_(
        "Looks for a known purchase by the first two characters of its good and its quantity."
    ),
    "choose_start_2017": N_("Monthly pseudonyms, rules of 2017"),
    "choose_start_2017_said": N_(
        "Customers and a year of purchases; the seven measures and the attackers of PWS Cup 2017."
    ),
    "choose_start_monthly": N_("Monthly pseudonyms, empty"),
    "choose_start_monthly_said": N_("Customers and purchases by month: every utility measure takes part."),
    "data_monthly": N_(
        "Two tables: customers, a row each, and their purchases in at most twelve months. There are also four tables of partial knowledge: 25, 50, 75 and 100% of the purchases, with the first two characters of each good. Everybody gets all of them; those that the organizers do not upload are drawn by the service, with a seed whose commitment is published beforehand."
    ),
    "file_knowledge_25": N_("Known purchases, 25%"),
    "file_knowledge_50": N_("Known purchases, 50%"),
    "file_knowledge_75": N_("Known purchases, 75%"),
    "file_knowledge_100": N_("Known purchases, 100%"),
    "file_said_purchases": N_(
        "CSV, as many rows as the original’s transactions.csv, in the same order, at most {mb} MB"
    ),
    "files_release_monthly": N_(
        "transactions.csv with this header line and as many rows as the original’s, in the same order. A customer is a pseudonym of A–Z, a–z, 0–9, _ and -, one for each customer and month, never a real id, never shared. Dates stay in their month, goods are the original’s. A deleted row is DEL and empty cells; at least half of the rows, rounded down, must be kept. UTF-8, {file_mb} MB a file at most."
    ),
    "measure_date_shift": N_("Shifted dates"),
    "measure_date_shift_said": N_(
        "By how many days the dates have moved, as a share of 31 days for every purchase of the original."
    ),
    "measure_deleted": N_("Deleted purchases"),
    "measure_deleted_said": N_("The share of the purchases that are deleted."),
    "measure_itemcf_levels": N_("Likeness of goods by levels"),
    "measure_itemcf_levels_said": N_(
        "How far the likeness of goods, by who buys how much of them, has moved: quantities in levels of a dozen."
    ),
    "measure_itemcf_small": N_("Likeness of goods by small quantities"),
    "measure_itemcf_small_said": N_(
        "How far the likeness of goods, by who buys how much of them, has moved: quantities up to 11."
    ),
    "measure_price_ratio": N_("Changed prices"),
    "measure_price_ratio_said": N_(
        "By how much the prices have changed, relative to the larger one, averaged over the purchases of the original."
    ),
    "measure_top_cf": N_("Likeness of best-sellers"),
    "measure_top_cf_said": N_(
        "How far the likeness of the 100 goods with the most buyers, by who buys them, has moved."
    ),
    "method_delete_purchases": N_("Monthly pseudonyms, purchases deleted"),
    "method_noisy_purchases": N_("Monthly pseudonyms, noise"),
    "method_pseudonyms": N_("Monthly pseudonyms"),
    "notation_monthly": N_(
        "In the formulas m and m′ are the numbers of purchases before and after, R the rows that are left; q is how much of a good a user bought, the users being customers before and pseudonyms after; a stroke marks what belongs to the release."
    ),
    "original_knowledge_25": N_("knowledge_25.csv"),
    "original_knowledge_50": N_("knowledge_50.csv"),
    "original_knowledge_75": N_("knowledge_75.csv"),
    "original_knowledge_100": N_("knowledge_100.csv"),
    "row_is_monthly": N_("Results are counted by customer: a customer is right if all months are right."),
    "secret_rules_months": N_(
        "For each customer the pseudonym in each month, DEL where none of the month’s purchases is left. It must agree with the release. Since the order of the release tells the same, both are sealed on receipt."
    ),
    "secret_said_months": N_(
        "The pseudonym of each customer in each month, DEL where there is none. Like the release, it is sealed on receipt: nobody can download it before the reveal."
    ),
    "secret_sample_customer": N_("one line for each customer, a column for each month"),
    "target_file_transactions": N_("The rows that are left, in a new order."),
    "track_monthly": N_("Monthly pseudonyms: a year of purchases"),
    "where_itemcf_levels": N_(
        "a, c: the cosine of two goods by who bought them, before and after, over the pairs with a > 0; q is replaced by the number of 12, 24, 36, 48, 60 and 72 that it reaches."
    ),
    "where_itemcf_small": N_(
        "a, c: the cosine of two goods by who bought them, before and after, over the pairs with a > 0; q counts 0 if it is above 11."
    ),
    "where_price_ratio": N_("p, p′: the price before and after; 1 − 0 / 0 is 0."),
    "where_date_shift": N_("d, d′: the day before and after."),
    "where_top_cf": N_(
        "a, c: the cosine of two goods by who bought them, before and after, over the pairs with a > 0 of the original’s 100 goods with the most buyers; q counts 1."
    ),
}


_QUESTION_TITLES = (
    N_("Knowing 25% of the purchases"),
    N_("Knowing 50% of the purchases"),
    N_("Knowing 75% of the purchases"),
    N_("Knowing 100% of the purchases"),
)


def _repeat_for_questions(prefix: str, text: str) -> dict[str, str]:
    """Return the same text for all questions, which only differ in the attacker's knowledge."""
    return {f"{prefix}_{name}": text for name in QUESTIONS}


LABELS |= {f"question_{name}": text for name, text in zip(QUESTIONS, _QUESTION_TITLES, strict=True)}
LABELS |= _repeat_for_questions(
    "question_asks",
    N_("Name each customer’s pseudonym in each month, using one table of partial knowledge."),
)
LABELS |= _repeat_for_questions(
    "guess_guide",
    N_(
        "For each customer, write the pseudonym that you take for theirs in each month of the target; write DEL to leave a month open. Answer each question with one table of partial knowledge."
    ),
)
LABELS |= _repeat_for_questions(
    "guess_rules",
    N_(
        "In the re-identification phase, for each target and each table of partial knowledge: for each customer the pseudonym in each month, DEL where none is named. A customer is found if all months are right."
    ),
)
LABELS |= _repeat_for_questions(
    "guess_said",
    N_(
        "CSV: the line customer and the months, then {originals} lines, one for each customer, a pseudonym or DEL in each month."
    ),
)
LABELS |= _repeat_for_questions(
    "guess_sample",
    N_(
        "12347 is guessed to be p07 in December 2010 and x-3 in January 2011; one month of 12348 is left open."
    ),
)
