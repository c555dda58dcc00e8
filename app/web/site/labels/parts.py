"""Labels and descriptions of measures, attackers, methods and other parts of the rules."""

from anoncup.messages import N_

LABELS = {
    "attacker_aya": N_("Nearest non-identical row"),
    "attacker_aya_said": N_(
        "Like the nearest match, but skips original rows that are identical in every column and takes the next: designed against swapped rows."
    ),
    "attacker_euc1": N_("Nearest match"),
    "attacker_euc1_said": N_(
        "Takes the nearest (Euclidean) original row with the same quasi-identifiers; abstains if there is none."
    ),
    "attacker_euc2": N_("Nearest match, else nearest"),
    "attacker_euc2_assignment": N_("Nearest match, one to one"),
    "attacker_euc2_assignment_said": N_(
        "Like the nearest match, else nearest, but uses no original row twice: it finds the assignment of all rows with the smallest total distance."
    ),
    "attacker_euc2_said": N_(
        "Like the nearest match, but if no row has the same quasi-identifiers, it takes the nearest of all."
    ),
    "attacker_gower": N_("Nearest by Gower’s distance"),
    "attacker_gower_assignment": N_("Gower’s distance, one to one"),
    "attacker_gower_assignment_said": N_(
        "By Gower’s distance, but uses no original row twice: it finds the assignment of all rows with the smallest total distance."
    ),
    "attacker_gower_said": N_(
        "Takes the original row that is nearest over all columns, which all count equally."
    ),
    "attacker_id_rand": N_("Random match"),
    "attacker_id_rand_said": N_(
        "Picks one of the original rows with the same quasi-identifiers at random; the rate is what it finds on average."
    ),
    "attacker_id_sa": N_("Match, nearest in one attribute"),
    "attacker_id_sa_said": N_(
        "Takes the original row with the same quasi-identifiers that is nearest in one sensitive attribute; if there is none, the nearest of all."
    ),
    "attacker_jaccard": N_("Most similar goods"),
    "attacker_jaccard_assignment": N_("Similar goods, one to one"),
    "attacker_jaccard_assignment_said": N_(
        "By similar sets of goods, but uses no customer twice: it finds the best assignment of all customers."
    ),
    "attacker_jaccard_quantity": N_("Most similar quantities"),
    "attacker_jaccard_quantity_assignment": N_("Similar quantities, one to one"),
    "attacker_jaccard_quantity_assignment_said": N_(
        "By similar quantities, but uses no customer twice: it finds the best assignment of all customers."
    ),
    "attacker_jaccard_quantity_said": N_(
        "Takes the customer whose quantities of all goods are the most similar (Jaccard of multisets)."
    ),
    "attacker_jaccard_said": N_("Takes the customer whose set of goods is the most similar (Jaccard)."),
    "attacker_master_match": N_("Same sex, birthday and country"),
    "attacker_master_match_said": N_(
        "Takes the customer with the same sex, birthday and country; of several the one with the most similar goods."
    ),
    "attacker_own_row": N_("Same position"),
    "attacker_own_row_said": N_(
        "Says that individual j of the release is individual j of the original: right where nothing was shuffled."
    ),
    "attacker_random_in_cluster": N_("Random in the cluster"),
    "attacker_random_in_cluster_said": N_(
        "Knows which customers were made alike and picks one of them at random; as no attacker can know that, it never counts towards the risk."
    ),
    "attacker_receipt_match": N_("Same receipts"),
    "attacker_receipt_match_said": N_(
        "Every receipt number that the original also has votes for its customer."
    ),
    "attacker_record_keys": N_("Same purchases"),
    "attacker_record_keys_said": N_(
        "Parts of a purchase, such as its date and quantity or its goods and price, vote for the customers that have them; rare ones weigh more."
    ),
    "attacker_sa_nearest": N_("Nearest in one attribute"),
    "attacker_sa_nearest_said": N_(
        "Takes the original row with the nearest value of one sensitive attribute."
    ),
    "attacker_sa_rank": N_("Order of one attribute"),
    "attacker_sa_rank_said": N_("Sorts both tables by one sensitive attribute and matches the ranks."),
    "attacker_sort": N_("Order of the sums"),
    "attacker_sort_said": N_(
        "Sorts both tables by the sum of the sensitive attributes and matches equal ranks."
    ),
    "attacker_sort_spend": N_("Order of the spends"),
    "attacker_sort_spend_said": N_(
        "Sorts the customers of both tables by total spend and matches equal ranks."
    ),
    "attacker_tfidf": N_("Similar rare goods (tf-idf)"),
    "attacker_tfidf_said": N_("Takes the customer with the most similar goods where rare goods weigh more."),
    "board_organizers": N_("Only the organizers see the boards."),
    "board_public": N_("Everybody sees the boards."),
    "board_teams": N_("The teams and the organizers see the boards."),
    "data_microdata": N_("One table: a row is an individual. Everybody knows the original."),
    "data_transactions": N_(
        "Two tables: customers, a row each, and their purchases. Everybody knows the originals."
    ),
    "distance_euclidean": N_("Euclidean distance"),
    "distance_euclidean_said": N_(
        "Over the sensitive attributes in their own units. It has no upper end, so no individual may be deleted."
    ),
    "distance_gower": N_("Gower’s distance"),
    "distance_gower_said": N_(
        "The mean over all columns: 1 for a different quasi-identifier q; for a sensitive value l, the difference as a share of the column’s range ρ, at most 1."
    ),
    "distance_jaccard": N_("Jaccard distance of goods"),
    "distance_jaccard_quantity": N_("Jaccard distance of quantities"),
    "distance_jaccard_quantity_said": N_(
        "Like the Jaccard distance of goods, but every good counts as often as it was bought."
    ),
    "distance_jaccard_said": N_("The share of the goods of both baskets that only one of them has."),
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
    "files_release_microdata": N_(
        "anonymized.csv: the same header line as the original, columns in the same order; rows may be changed, put in another order and deleted. At least {kept}% of the rows must be left, and none may be added. UTF-8, {file_mb} MB a file at most."
    ),
    "files_release_transactions": N_(
        "customers.csv and transactions.csv with these header lines. Customers get new ids; they may be changed, put in another order and deleted, but at least {kept}% of them must be left. Purchases may be changed, added and deleted. UTF-8, {file_mb} MB a file at most."
    ),
    "guess_rules_link": N_(
        "In the re-identification phase, for each target: line j has the number of the individual in the original who is individual j of the target; 0 makes no guess."
    ),
    "limit_attempts_per_day": N_("Attempts a day, refused ones too"),
    "limit_attempts_total": N_("Attempts of a phase in all, refused ones too"),
    "limit_file_mb": N_("Size of a file in MB"),
    "limit_guesses_per_question": N_("Guesses on a target, for each question"),
    "limit_guesses_per_target": N_("Guesses on a target"),
    "limit_valid_per_day": N_("Valid submissions a day"),
    "limit_valid_total": N_("Valid submissions in all"),
    "measure_basket_k_mean": N_("Mean equal baskets"),
    "measure_basket_k_mean_said": N_(
        "How many customers of the release bought the same set of goods, on average over the sets."
    ),
    "measure_basket_k_min": N_("Fewest equal baskets"),
    "measure_basket_k_min_said": N_("The fewest customers of the release that bought the same set of goods."),
    "measure_classes": N_("Classes"),
    "measure_classes_said": N_("How many different combinations of quasi-identifiers the release has."),
    "measure_cmae_price": N_("Gap of mean prices"),
    "measure_cmae_price_said": N_(
        "How far customers’ mean unit price has moved in the cross-table of sex and country, averaged over its cells."
    ),
    "measure_cmae_spend": N_("Gap of total spends"),
    "measure_cmae_spend_said": N_(
        "How far customers’ total spend has moved in the cross-table of sex and country, averaged over its cells."
    ),
    "measure_cor_mae": N_("Gap of the correlations"),
    "measure_cor_mae_said": N_(
        "How far Pearson’s correlation of two sensitive attributes has moved, averaged over the pairs."
    ),
    "measure_cross_count": N_("Gap of the cross-tabulated counts"),
    "measure_cross_count_said": N_(
        "How far a cell’s count has moved in the cross-table over the quasi-identifiers, averaged over its cells."
    ),
    "measure_cross_mean": N_("Gap of the cross-tabulated means"),
    "measure_cross_mean_said": N_(
        "How far a cell’s mean has moved in the cross-table over the quasi-identifiers, averaged over its cells."
    ),
    "measure_direction": N_("Better"),
    "measure_goods_cosine": N_("Goods bought together"),
    "measure_goods_cosine_said": N_(
        "How much of the similarity between goods that the same customers buy has changed."
    ),
    "measure_information_loss": N_("Information loss"),
    "measure_information_loss_said": N_(
        "How far a sensitive cell is from the individual’s own original, as a share of the column’s range, averaged over the cells."
    ),
    "measure_k_mean": N_("Mean class"),
    "measure_k_mean_said": N_(
        "How many individuals of the release share all quasi-identifiers, on average over the classes."
    ),
    "measure_k_min": N_("Smallest class (k)"),
    "measure_k_min_said": N_(
        "The fewest individuals of the release that share all quasi-identifiers: the k of k-anonymity."
    ),
    "measure_l_diversity": N_("Diversity (l)"),
    "measure_l_diversity_said": N_("The fewest different values a sensitive attribute takes within a class."),
    "measure_mean_mae": N_("Gap of the means"),
    "measure_mean_mae_said": N_(
        "How far the mean of a sensitive attribute has moved, averaged over the attributes."
    ),
    "measure_rfm": N_("Gap of habits (RFM)"),
    "measure_rfm_said": N_(
        "How far the counts of customers have moved in the classes of recency, frequency and money."
    ),
    "measure_row_difference": N_("Row difference"),
    "measure_row_difference_said": N_(
        "By how many rows the release differs from the original; where purchases are released, by how many purchases."
    ),
    "measure_t_closeness": N_("Closeness (t)"),
    "measure_t_closeness_said": N_(
        "How far a class’s distribution of a sensitive attribute is from the whole table’s, at worst."
    ),
    "measure_top_goods": N_("Best-sellers lost"),
    "measure_top_goods_said": N_(
        "The share of the 100 goods with the most buyers that are not among the release’s 100."
    ),
    "measure_unique_share": N_("Unique rows"),
    "measure_unique_share_said": N_(
        "The share of rows whose quasi-identifiers no other row of the release has."
    ),
    "method_add_dummies": N_("Dummy purchases until baskets are equal"),
    "method_add_noise": N_("Noise"),
    "method_balance_clusters": N_("Clusters of balanced size"),
    "method_cheating_permutation": N_("Cheating permutation"),
    "method_cluster_kmeans_jaccard": N_("Clusters by Jaccard"),
    "method_cluster_tfidf": N_("Clusters by tf-idf"),
    "method_delete_customers": N_("Deleted customers"),
    "method_delete_records": N_("Deleted purchases"),
    "method_delete_rows": N_("Deleted rows"),
    "method_dummies in clusters": N_("Dummy purchases in clusters"),
    "method_group_permutation": N_("Permutation within groups"),
    "method_k_anonymize": N_("k-anonymization"),
    "method_microaggregate": N_("Microaggregation"),
    "method_permutation of customers": N_("Permutation of customers"),
    "method_random_permutation": N_("Random permutation"),
    "method_shift": N_("Shift by one row"),
    "method_swap_within_classes": N_("Swaps within classes"),
    "method_unify_columns": N_("Unified columns"),
    "method_unify_columns (in the cross-tables)": N_("Unified columns of the cross-tables"),
    "method_unify_columns (others)": N_("Unified columns outside the cross-tables"),
    "notation_microdata": N_(
        "In the formulas X is the original with n rows, Y the release with n′; Q are the quasi-identifiers, S the sensitive attributes; μ is a mean, s_j the row of X that row j of Y comes from, K the classes of rows of Y with equal quasi-identifiers."
    ),
    "notation_transactions": N_(
        "In the formulas n and n′ are the numbers of customers, m and m′ those of purchases, before and after; a stroke marks what belongs to the release. K are the classes of customers that are alike."
    ),
    "original_customers": N_("customers.csv"),
    "original_transactions": N_("transactions.csv"),
    "owners_hidden": N_(
        "Targets do not show their teams until the secrets are revealed. This is no guarantee: comparing targets with the boards may show which team made them."
    ),
    "owners_shown": N_("Each target shows the team that made it."),
    "parameter_column": N_("attribute"),
    "parameter_columns": N_("columns A"),
    "parameter_dense_limit": N_("exact up to (individuals)"),
    "parameter_give_up": N_("without a match"),
    "parameter_quasi_identifiers": N_("quasi-identifiers"),
    "parameter_sensitive": N_("sensitive attributes"),
    "parameter_target": N_("mean of b"),
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
    "secret_rules_permutation": N_(
        "Line j below the header line has the number of the individual in the original, counted from 1, who is individual j of the release. Or the other way round, with the header line anonymized_row: a line for each individual of the original, 0 if it was deleted. It is sealed on receipt."
    ),
    "source_tc400": N_(
        "Source: the purchases are 400 customers of Online Retail (D. Chen, UCI Machine Learning Repository, 2015), licensed CC BY 4.0; sex and birthday are invented."
    ),
    "takes_dense_limit": N_("Most individuals for the exact assignment"),
    "value_abstain": N_("no answer"),
    "value_all": N_("all"),
    "value_own_row": N_("the row’s own number"),
    "where_basket_k_mean": N_("K: classes of customers with equal sets of goods."),
    "where_basket_k_min": N_("K: classes of customers with equal sets of goods."),
    "where_cmae_price": N_(
        "Z: the cells, sex by country; p: the mean over a cell’s customers of their mean unit price, 0 in an empty cell."
    ),
    "where_cmae_spend": N_(
        "Z: the cells, sex by country; b: the mean over a cell’s customers of their total spend, 0 in an empty cell."
    ),
    "where_cor_mae": N_("r: Pearson’s correlation, 0 where a column is constant."),
    "where_cross_count": N_(
        "A: the columns of the cross-table; R(A): its cells, every combination of the values that its columns have in X or Y, whether anybody has it or not."
    ),
    "where_cross_mean": N_(
        "A: the columns of the cross-table; R(A): its cells, every combination of the values that its columns have in X or Y, whether anybody has it or not; b: the target; the mean of an empty cell is 0."
    ),
    "where_goods_cosine": N_(
        "σ: the cosine of two goods, by who bought them; over the pairs with a common buyer in the original; at most 1."
    ),
    "where_rfm": N_(
        "N: the customers in a cell; each of recency, frequency and money is cut into ten by the deciles of the original."
    ),
    "where_t_closeness": N_(
        "P: the share of values not above the v-th of the m different values, in the class and in the whole release."
    ),
    "where_top_goods": N_("G, G′: the 100 goods with the most buyers, before and after."),
}
