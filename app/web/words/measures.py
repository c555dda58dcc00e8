"""What measures, attackers, distances and sample methods are called, and what each says in a sentence.

``measure_<name>`` is a short title, ``measure_<name>_said`` its sentence; likewise ``attacker_`` and
``distance_``; ``method_<name>`` is a title only. A name that both tracks have is said in words that fit both.
"""

MEASURES: dict[str, dict[str, str]] = {
    "measure_mean_mae": {"en": "Gap of the means", "ja": "平均値の誤差"},
    "measure_mean_mae_said": {
        "en": "How far the mean of a sensitive attribute has moved, averaged over the attributes.",
        "ja": "機微属性ごとに平均値がどれだけずれたかを、全属性で平均した値です。",
    },
    "measure_cross_mean": {"en": "Gap of the cross-tabulated means", "ja": "クロス集計（平均）の誤差"},
    "measure_cross_mean_said": {
        "en": "How far a cell’s mean has moved in the cross-table over the quasi-identifiers, averaged over its cells.",
        "ja": "準識別子によるクロス集計表で、各セルの平均値がどれだけずれたかを、全セルで平均した値です。",
    },
    "measure_cross_count": {"en": "Gap of the cross-tabulated counts", "ja": "クロス集計（度数）の誤差"},
    "measure_cross_count_said": {
        "en": "How far a cell’s count has moved in the cross-table over the quasi-identifiers, averaged over its cells.",
        "ja": "準識別子によるクロス集計表で、各セルの度数がどれだけずれたかを、全セルで平均した値です。",
    },
    "measure_cor_mae": {"en": "Gap of the correlations", "ja": "相関係数の誤差"},
    "measure_cor_mae_said": {
        "en": "How far Pearson’s correlation of two sensitive attributes has moved, averaged over the pairs.",
        "ja": "機微属性 2 つずつの相関係数（ピアソン）がどれだけずれたかを、全組で平均した値です。",
    },
    "measure_information_loss": {"en": "Information loss", "ja": "情報損失"},
    "measure_information_loss_said": {
        "en": "How far a sensitive cell is from the individual’s own original, as a share of the column’s range, averaged over the cells.",
        "ja": "機微属性の各セルが本人の元の値からどれだけ離れたかを、列の値域に対する割合で測り、全セルで平均した値です。",
    },
    "measure_row_difference": {"en": "Row difference", "ja": "行数の差"},
    "measure_row_difference_said": {
        "en": "By how many rows the release differs from the original; where purchases are released, by how many purchases.",
        "ja": "匿名化データの行数が元データと何行違うかを数えます。購買履歴データでは購買レコードの件数の差です。",
    },
    "measure_k_min": {"en": "Smallest class (k)", "ja": "最小クラスの大きさ（k）"},
    "measure_k_min_said": {
        "en": "The fewest individuals of the release that share all quasi-identifiers: the k of k-anonymity.",
        "ja": "準識別子がすべて等しい個人の集まり（同値類）のうち、最も小さいものの人数です。k-匿名性の k にあたります。",
    },
    "measure_k_mean": {"en": "Mean class", "ja": "クラスの平均の大きさ"},
    "measure_k_mean_said": {
        "en": "How many individuals of the release share all quasi-identifiers, on average over the classes.",
        "ja": "準識別子がすべて等しい個人の集まり（同値類）の、平均の人数です。",
    },
    "measure_classes": {"en": "Classes", "ja": "クラス数"},
    "measure_classes_said": {
        "en": "How many different combinations of quasi-identifiers the release has.",
        "ja": "匿名化データに現れる準識別子の組み合わせの種類数です。",
    },
    "measure_unique_share": {"en": "Unique rows", "ja": "一意な行の割合"},
    "measure_unique_share_said": {
        "en": "The share of rows whose quasi-identifiers no other row of the release has.",
        "ja": "準識別子の組み合わせがほかに存在しない行の割合です。",
    },
    "measure_l_diversity": {"en": "Diversity (l)", "ja": "多様性（l）"},
    "measure_l_diversity_said": {
        "en": "The fewest different values a sensitive attribute takes within a class.",
        "ja": "同値類の中で機微属性がとる値の種類数のうち、最も少ないものです。",
    },
    "measure_t_closeness": {"en": "Closeness (t)", "ja": "近接性（t）"},
    "measure_t_closeness_said": {
        "en": "How far a class’s distribution of a sensitive attribute is from the whole table’s, at worst.",
        "ja": "同値類の中での機微属性の分布が、表全体の分布から最大でどれだけ離れているかを表します。",
    },
    "measure_cmae_price": {"en": "Gap of mean prices", "ja": "平均単価の誤差"},
    "measure_cmae_price_said": {
        "en": "How far customers’ mean unit price has moved in the cross-table of sex and country, averaged over its cells.",
        "ja": "性別と国によるクロス集計表で、顧客の平均単価がどれだけずれたかを、全セルで平均した値です。",
    },
    "measure_cmae_spend": {"en": "Gap of total spends", "ja": "購入総額の誤差"},
    "measure_cmae_spend_said": {
        "en": "How far customers’ total spend has moved in the cross-table of sex and country, averaged over its cells.",
        "ja": "性別と国によるクロス集計表で、顧客の購入総額がどれだけずれたかを、全セルで平均した値です。",
    },
    "measure_rfm": {"en": "Gap of habits (RFM)", "ja": "購買行動の誤差（RFM）"},
    "measure_rfm_said": {
        "en": "How far the counts of customers have moved in the classes of recency, frequency and money.",
        "ja": "最終購入日・購入回数・購入総額（RFM）で分けた各区分の人数がどれだけずれたかを、全区分で平均した値です。",
    },
    "measure_goods_cosine": {"en": "Goods bought together", "ja": "併売関係の誤差"},
    "measure_goods_cosine_said": {
        "en": "How much of the similarity between goods that the same customers buy has changed.",
        "ja": "同じ顧客に買われる商品どうしの類似度が、全体としてどれだけ変わったかを割合で表します。",
    },
    "measure_top_goods": {"en": "Best-sellers lost", "ja": "人気商品の入れ替わり"},
    "measure_top_goods_said": {
        "en": "The share of the 100 goods with the most buyers that are not among the release’s 100.",
        "ja": "購入者数の上位 100 商品のうち、匿名化データの上位 100 から外れたものの割合です。",
    },
    "measure_basket_k_min": {"en": "Fewest equal baskets", "ja": "同じ購入品の最少人数"},
    "measure_basket_k_min_said": {
        "en": "The fewest customers of the release that bought the same set of goods.",
        "ja": "購入した商品の集合が等しい顧客の集まりのうち、最も小さいものの人数です。",
    },
    "measure_basket_k_mean": {"en": "Mean equal baskets", "ja": "同じ購入品の平均人数"},
    "measure_basket_k_mean_said": {
        "en": "How many customers of the release bought the same set of goods, on average over the sets.",
        "ja": "購入した商品の集合が等しい顧客の集まりの、平均の人数です。",
    },
}

ATTACKERS: dict[str, dict[str, str]] = {
    "attacker_id_rand": {"en": "Random match", "ja": "一致する行から無作為に選択"},
    "attacker_id_rand_said": {
        "en": "Picks one of the original rows with the same quasi-identifiers at random; the rate is what it finds on average.",
        "ja": "準識別子がすべて等しい元データの行から無作為に 1 行を選びます。再識別率は正確な期待値です。",
    },
    "attacker_id_sa": {"en": "Match, nearest in one attribute", "ja": "一致する行で 1 属性が最近傍"},
    "attacker_id_sa_said": {
        "en": "Among the original rows with the same quasi-identifiers takes the nearest in one sensitive attribute; without such rows, among all.",
        "ja": "準識別子が等しい元データの行の中で、1 つの機微属性の値が最も近い行を選びます。等しい行がなければ全行から選びます。",
    },
    "attacker_sort": {"en": "Order of the sums", "ja": "合計値の順位"},
    "attacker_sort_said": {
        "en": "Sorts both tables by the sum of the sensitive attributes and matches equal ranks.",
        "ja": "両方の表を機微属性の合計値で並べ、順位が同じ行どうしを対応させます。",
    },
    "attacker_sa_rank": {"en": "Order of one attribute", "ja": "1 属性の順位"},
    "attacker_sa_rank_said": {
        "en": "Sorts both tables by one sensitive attribute and matches the ranks.",
        "ja": "両方の表を 1 つの機微属性の値で並べ、順位どうしを対応させます。",
    },
    "attacker_sa_nearest": {"en": "Nearest in one attribute", "ja": "1 属性の最近傍"},
    "attacker_sa_nearest_said": {
        "en": "Takes the original row with the nearest value of one sensitive attribute.",
        "ja": "1 つの機微属性の値が最も近い元データの行を選びます。",
    },
    "attacker_euc1": {"en": "Nearest match", "ja": "一致する行の最近傍"},
    "attacker_euc1_said": {
        "en": "Among the original rows with the same quasi-identifiers takes the nearest in Euclidean distance; without such rows it gives up.",
        "ja": "準識別子が等しい元データの行の中で、ユークリッド距離が最も近い行を選びます。等しい行がなければ答えません。",
    },
    "attacker_euc2": {"en": "Nearest match, else nearest", "ja": "一致する行、なければ全行の最近傍"},
    "attacker_euc2_said": {
        "en": "Like the nearest match, but without rows of the same quasi-identifiers it takes the nearest of all.",
        "ja": "準識別子が等しい元データの行の中で最も近い行を選び、等しい行がなければ全行の中で最も近い行を選びます。",
    },
    "attacker_aya": {"en": "Nearest that is no twin", "ja": "同一の行を除く最近傍"},
    "attacker_aya_said": {
        "en": "Like the nearest match, but it distrusts original rows that are identical in every column and takes the next: made against rows put in each other’s place.",
        "ja": "最も近い行を選びますが、全列が同一の行は疑って除き、次に近い行を選びます。行の入れ替えに対抗する攻撃です。",
    },
    "attacker_own_row": {"en": "Same position", "ja": "同じ行番号"},
    "attacker_own_row_said": {
        "en": "Says that individual j of the release is individual j of the original: right where nothing was shuffled.",
        "ja": "匿名化データの j 番目は元データの j 番目であると答えます。並べ替えていない場合に的中します。",
    },
    "attacker_gower": {"en": "Nearest by Gower’s distance", "ja": "Gower 距離の最近傍"},
    "attacker_gower_said": {
        "en": "Takes the original row nearest over all columns, each of which counts alike.",
        "ja": "全列を同じ重みで比べる Gower 距離で、最も近い元データの行を選びます。",
    },
    "attacker_euc2_assignment": {"en": "Nearest match, one to one", "ja": "一致する行の最近傍（一対一）"},
    "attacker_euc2_assignment_said": {
        "en": "Like the nearest match, else nearest, but no original row is given away twice: the cheapest assignment of all rows at once.",
        "ja": "一致する行、なければ全行から近い行を探しますが、元データの同じ行を 2 度は使いません。全体の距離が最小になる一対一の対応を求めます。",
    },
    "attacker_gower_assignment": {"en": "Gower’s distance, one to one", "ja": "Gower 距離（一対一）"},
    "attacker_gower_assignment_said": {
        "en": "By Gower’s distance, but no original row is given away twice: the cheapest assignment of all rows at once.",
        "ja": "Gower 距離で、元データの同じ行を 2 度使わずに、全体の距離が最小になる一対一の対応を求めます。",
    },
    "attacker_jaccard": {"en": "Most similar goods", "ja": "購入商品の類似"},
    "attacker_jaccard_said": {
        "en": "Takes the customer whose set of goods is the most similar (Jaccard).",
        "ja": "購入した商品の集合が最も似ている（Jaccard 係数が最大の）顧客を選びます。",
    },
    "attacker_jaccard_quantity": {"en": "Most similar quantities", "ja": "購入数量の類似"},
    "attacker_jaccard_quantity_said": {
        "en": "Takes the customer whose quantities of all goods are the most similar (Jaccard of multisets).",
        "ja": "商品ごとの購入数量が最も似ている（多重集合の Jaccard 係数が最大の）顧客を選びます。",
    },
    "attacker_tfidf": {"en": "Similar rare goods (tf-idf)", "ja": "珍しい商品の類似（TF-IDF）"},
    "attacker_tfidf_said": {
        "en": "Takes the customer with the most similar goods where rare goods weigh more.",
        "ja": "購入者の少ない商品ほど重く数えて、購入商品が最も似ている顧客を選びます。",
    },
    "attacker_random_in_cluster": {"en": "Random in the cluster", "ja": "クラスタから無作為に選択"},
    "attacker_random_in_cluster_said": {
        "en": "Knows which customers were made alike and picks one of them at random; as no attacker can know that, it never counts towards the risk.",
        "ja": "同じ購入品にそろえられた顧客の集まりを知っているものとして、その中から無作為に選びます。実際には知り得ないため、リスクには算入されません。",
    },
    "attacker_master_match": {"en": "Same sex, birthday and country", "ja": "顧客属性の一致"},
    "attacker_master_match_said": {
        "en": "Takes the customer with the same sex, birthday and country; of several the one with the most similar goods.",
        "ja": "性別・誕生日・国が等しい顧客を選びます。複数いれば、購入商品が最も似ている顧客を選びます。",
    },
    "attacker_receipt_match": {"en": "Same receipts", "ja": "レシート番号の一致"},
    "attacker_receipt_match_said": {
        "en": "Every receipt number that the original also has votes for its customer.",
        "ja": "元データにも現れるレシート番号を手がかりに、最も多く一致する顧客を選びます。",
    },
    "attacker_sort_spend": {"en": "Order of the spends", "ja": "購入総額の順位"},
    "attacker_sort_spend_said": {
        "en": "Sorts the customers of both tables by total spend and matches equal ranks.",
        "ja": "両方の表の顧客を購入総額で並べ、順位が同じ顧客どうしを対応させます。",
    },
    "attacker_record_keys": {"en": "Same purchases", "ja": "購買レコードの一致"},
    "attacker_record_keys_said": {
        "en": "Parts of a purchase, such as its date and quantity or its goods and price, vote for the customers that have them; rare ones weigh more.",
        "ja": "日付と数量、商品と単価などの組が一致する顧客に投票し、得票の最も多い顧客を選びます。該当者の少ない組ほど重く数えます。",
    },
    "attacker_jaccard_assignment": {"en": "Similar goods, one to one", "ja": "購入商品の類似（一対一）"},
    "attacker_jaccard_assignment_said": {
        "en": "By similar sets of goods, but no customer is given away twice: the best assignment of all at once.",
        "ja": "購入商品の類似で、同じ顧客を 2 度使わずに、全体として最も似る一対一の対応を求めます。",
    },
    "attacker_jaccard_quantity_assignment": {
        "en": "Similar quantities, one to one",
        "ja": "購入数量の類似（一対一）",
    },
    "attacker_jaccard_quantity_assignment_said": {
        "en": "By similar quantities, but no customer is given away twice: the best assignment of all at once.",
        "ja": "購入数量の類似で、同じ顧客を 2 度使わずに、全体として最も似る一対一の対応を求めます。",
    },
}

DISTANCES: dict[str, dict[str, str]] = {
    "distance_gower": {"en": "Gower’s distance", "ja": "Gower 距離"},
    "distance_gower_said": {
        "en": "The mean over all columns: 1 for another quasi-identifier q, for a sensitive value l the difference as a share of the column’s range ρ, 1 at most.",
        "ja": "全列の平均です。準識別子 q は異なれば 1、機微属性 l は値の差を列の値域 ρ で割った割合（最大 1）とします。",
    },
    "distance_euclidean": {"en": "Euclidean distance", "ja": "ユークリッド距離"},
    "distance_euclidean_said": {
        "en": "Over the sensitive attributes in their own units. It has no upper end, so no individual may be deleted.",
        "ja": "機微属性の値をそのまま用いた距離です。上限がないため、個人を削除することはできません。",
    },
    "distance_jaccard": {"en": "Jaccard distance of goods", "ja": "購入商品の Jaccard 距離"},
    "distance_jaccard_said": {
        "en": "The share of the goods of both baskets that only one of them has.",
        "ja": "購入商品の集合について、どちらかにしか現れない商品の割合です。",
    },
    "distance_jaccard_quantity": {"en": "Jaccard distance of quantities", "ja": "購入数量の Jaccard 距離"},
    "distance_jaccard_quantity_said": {
        "en": "Like the Jaccard distance of goods, but every good counts as often as it was bought.",
        "ja": "購入商品の Jaccard 距離と同様ですが、各商品を購入した個数だけ数えます。",
    },
}

METHODS: dict[str, dict[str, str]] = {
    "method_add_dummies": {"en": "Dummy purchases until baskets are equal", "ja": "ダミー購買の追加"},
    "method_add_noise": {"en": "Noise", "ja": "ノイズの付加"},
    "method_balance_clusters": {"en": "Clusters of balanced size", "ja": "大きさをそろえたクラスタ化"},
    "method_cheating_permutation": {"en": "Cheating permutation", "ja": "置換による不正"},
    "method_cluster_kmeans_jaccard": {"en": "Clusters by Jaccard", "ja": "Jaccard 係数によるクラスタ化"},
    "method_cluster_tfidf": {"en": "Clusters by tf-idf", "ja": "TF-IDF によるクラスタ化"},
    "method_delete_customers": {"en": "Deleted customers", "ja": "顧客の削除"},
    "method_delete_records": {"en": "Deleted purchases", "ja": "購買レコードの削除"},
    "method_delete_rows": {"en": "Deleted rows", "ja": "行の削除"},
    "method_group_permutation": {"en": "Permutation within groups", "ja": "グループ内の置換"},
    "method_k_anonymize": {"en": "k-anonymization", "ja": "k-匿名化"},
    "method_microaggregate": {"en": "Microaggregation", "ja": "ミクロアグリゲーション"},
    "method_random_permutation": {"en": "Random permutation", "ja": "無作為な置換"},
    "method_shift": {"en": "Shift by one row", "ja": "1 行ずつのずらし"},
    "method_swap_within_classes": {"en": "Swaps within classes", "ja": "同値類内の入れ替え"},
    "method_unify_columns": {"en": "Unified columns", "ja": "列の値の統一"},
}

WORDS: dict[str, dict[str, str]] = MEASURES | ATTACKERS | DISTANCES | METHODS
