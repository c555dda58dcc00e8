"""The rules of a competition."""

WORDS: dict[str, dict[str, str]] = {
    "rules_title": {"en": "Rules and data", "ja": "ルールとデータ"},
    "rules_contents": {"en": "On this page", "ja": "目次"},
    "rules_lead": {
        "en": "Everything here is read from the competition’s own file, by which the service scores.",
        "ja": "このページは、採点にも使われるコンテストの設定ファイルから作られています。",
    },
    "rules_data": {"en": "Data", "ja": "データ"},
    "rules_files": {"en": "What a team sends", "ja": "提出・送信するファイル"},
    "rules_scores": {"en": "How the scores are computed", "ja": "得点の決まり方"},
    "rules_measures": {"en": "Measures", "ja": "指標"},
    "rules_attackers": {"en": "Attackers", "ja": "攻撃者"},
    "rules_excess": {"en": "Excessive anonymization", "ja": "過剰匿名化の検査"},
    "rules_ranking": {"en": "Ranking and finals", "ja": "順位と最終提出"},
    "rules_limits": {"en": "Limits", "ja": "回数と大きさの上限"},
    "rules_visibility": {"en": "Who sees what, and when", "ja": "公開の範囲と時期"},
    "download_kit": {
        "en": "Kit: rules, data and an example (kit.zip)",
        "ja": "参加キット：ルール・データ・提出例（kit.zip）",
    },
    "download_original": {"en": "Original data: {file}", "ja": "元データ：{file}"},
    "download_rules": {
        "en": "The competition file (competition.toml)",
        "ja": "設定ファイル（competition.toml）",
    },
    "data_missing": {
        "en": "The original data are not there yet; as soon as the organizers have uploaded them, they and the kit can be downloaded here.",
        "ja": "元データはまだ登録されていません。登録されると、元データと参加キットをここからダウンロードできます。",
    },
    "data_microdata": {
        "en": "One table: a row is an individual. Everybody knows the original.",
        "ja": "1 つの表で、1 行が 1 人を表します。元データは全員に公開されます。",
    },
    "data_transactions": {
        "en": "Two tables: customers, a row each, and their purchases. Everybody knows the originals.",
        "ja": "顧客の表（1 行が 1 人）と購買レコードの表の 2 つです。元データは全員に公開されます。",
    },
    "data_quasi": {"en": "Quasi-identifiers", "ja": "準識別子"},
    "data_quasi_said": {
        "en": "Compared as text; an attacker may know them.",
        "ja": "攻撃者が知り得る属性です。文字列として比較されます。",
    },
    "data_sensitive": {"en": "Sensitive attributes", "ja": "機微属性"},
    "data_sensitive_said": {"en": "Numbers.", "ja": "数値です。"},
    "data_customers": {"en": "customers.csv", "ja": "customers.csv（顧客）"},
    "data_purchases": {"en": "transactions.csv", "ja": "transactions.csv（購買レコード）"},
    "data_individuals": {"en": "Individuals", "ja": "個人の数"},
    "data_tc400": {
        "en": "Source: the purchases are 400 customers of Online Retail (D. Chen, UCI Machine Learning Repository, 2015), licensed CC BY 4.0; sex and birthday are invented.",
        "ja": "出典：Online Retail（D. Chen、UCI Machine Learning Repository、2015 年、CC BY 4.0）の顧客 400 人分です。性別と誕生日は架空のものです。",
    },
    "files_release": {"en": "The release", "ja": "匿名化データ"},
    "files_release_microdata": {
        "en": "anonymized.csv: the same header line as the original, columns in the same order; rows may be changed, put in another order and deleted. At least {kept}% of the rows must be left, and none may be added. UTF-8, {file_mb} MB a file at most.",
        "ja": "anonymized.csv：ヘッダー行と列の順序は元データと同じです。行の値の変更、行の並べ替えと削除ができます。行の追加はできず、元データの行の {kept}% 以上を残す必要があります。UTF-8、1 ファイル {file_mb} MB までです。",
    },
    "files_release_transactions": {
        "en": "customers.csv and transactions.csv with these header lines. Customers get new ids; they may be changed, put in another order and deleted, but at least {kept}% of them must be left. Purchases may be changed, added and deleted. UTF-8, {file_mb} MB a file at most.",
        "ja": "次のヘッダー行をもつ customers.csv と transactions.csv です。顧客には新しい ID を付け、変更・並べ替え・削除ができますが、{kept}% 以上を残す必要があります。購買レコードは変更・追加・削除ができます。UTF-8、1 ファイル {file_mb} MB までです。",
    },
    "files_secret": {"en": "The secret", "ja": "秘密ファイル（対応表）"},
    "files_secret_said": {
        "en": "Line j below the header line names the individual of the original, counted from 1, that individual j of the release is. Or the other way round, headed anonymized_row: a line for each individual of the original, 0 if it was deleted. It is sealed on receipt.",
        "ja": "ヘッダー行の次から数えて j 行目に、匿名化データの j 番目の個人が元データの何番目（1 から数えます）かを書きます。逆向きに、ヘッダー行を anonymized_row として元データの個人ごとに 1 行ずつ書くこともできます（削除した個人は 0）。受付時に封印されます。",
    },
    "files_guess": {"en": "A guess", "ja": "推測"},
    "files_guess_said": {
        "en": "In the re-identification phase, for each target: line j names the individual of the original that individual j of the target is; 0 says nothing about it.",
        "ja": "再識別フェーズで攻撃対象ごとに送信します。j 行目に、攻撃対象の j 番目の個人が元データの何番目かを書きます。0 は無回答です。",
    },
    "notation_microdata": {
        "en": "In the formulas X is the original with n rows, Y the release with n′; Q are the quasi-identifiers, S the sensitive attributes; μ is a mean, s_j the row of X that row j of Y comes from, K the classes of rows of Y with equal quasi-identifiers.",
        "ja": "式の中で、X は元データ（n 行）、Y は匿名化データ（n′ 行）、Q は準識別子、S は機微属性、μ は平均、s_j は Y の j 行目の元となった X の行、K は準識別子の等しい Y の行の集まり（同値類）です。",
    },
    "notation_transactions": {
        "en": "In the formulas n and n′ are the numbers of customers, m and m′ those of purchases, before and after; a stroke marks what belongs to the release. K are the classes of customers that are alike.",
        "ja": "式の中で、n・n′ は元データ・匿名化データの顧客数、m・m′ は購買レコードの件数です。′ は匿名化データのものを表します。K は互いに等しい顧客の集まり（同値類）です。",
    },
    "where_cross_mean": {
        "en": "A: the columns of the cross-table; R(A): its cells, all combinations of values that occur; b: the target; the mean of an empty cell is 0.",
        "ja": "A：クロス集計の列、R(A)：そのセル（現れる値のすべての組み合わせ）、b：平均する列。空のセルの平均は 0 とします。",
    },
    "where_cross_count": {
        "en": "A: the columns of the cross-table; R(A): its cells, all combinations of values that occur.",
        "ja": "A：クロス集計の列、R(A)：そのセル（現れる値のすべての組み合わせ）。",
    },
    "where_cor_mae": {
        "en": "r: Pearson’s correlation, 0 where a column is constant.",
        "ja": "r：ピアソンの相関係数。値が一定の列では 0 とします。",
    },
    "where_t_closeness": {
        "en": "P: the share of values not above the v-th of the m different values, in the class and in the whole release.",
        "ja": "P：m 種類の値のうち小さいほうから v 番目以下の値の割合（同値類と表全体）。",
    },
    "where_cmae_price": {
        "en": "Z: the cells, sex by country; p: the mean over a cell’s customers of their mean unit price, 0 in an empty cell.",
        "ja": "Z：性別×国のセル、p：セル内の顧客の平均単価の平均（空のセルは 0）。",
    },
    "where_cmae_spend": {
        "en": "Z: the cells, sex by country; b: the mean over a cell’s customers of their total spend, 0 in an empty cell.",
        "ja": "Z：性別×国のセル、b：セル内の顧客の購入総額の平均（空のセルは 0）。",
    },
    "where_rfm": {
        "en": "N: the customers in a cell; each of recency, frequency and money is cut into ten by the deciles of the original.",
        "ja": "N：セルの人数。最終購入日・購入回数・購入総額を、それぞれ元データの十分位点で 10 区分に分けます。",
    },
    "where_goods_cosine": {
        "en": "σ: the cosine of two goods, by who bought them; over the pairs with a common buyer in the original; at most 1.",
        "ja": "σ：購入者から見た 2 商品のコサイン類似度。元データに共通の購入者がいる組について求めます（最大 1）。",
    },
    "where_top_goods": {
        "en": "G, G′: the 100 goods with the most buyers, before and after.",
        "ja": "G、G′：購入者数の上位 100 商品（元データ、匿名化データ）。",
    },
    "where_basket_k_min": {
        "en": "K: classes of customers with equal sets of goods.",
        "ja": "K：購入商品の集合が等しい顧客の集まり。",
    },
    "where_basket_k_mean": {
        "en": "K: classes of customers with equal sets of goods.",
        "ja": "K：購入商品の集合が等しい顧客の集まり。",
    },
    "score_1": {"en": "Score of a measure", "ja": "指標の得点"},
    "score_1_said": {
        "en": "A measure’s value v is held against its scale t: what it is on data in which nothing but each column’s own distribution is left. 0 is no loss, 1 is as bad as that.",
        "ja": "指標の値 v を、その尺度 t で割ります。t は、各列の分布だけを残して列どうしの関係をすべて壊したデータでの値です。0 は損失なし、1 が最悪です。",
    },
    "score_2": {"en": "Utility loss U", "ja": "有用性損失 U"},
    "score_2_said": {
        "en": "The mean of these scores by the weights w below. The other measures are only reported.",
        "ja": "指標の得点を下の重み w で加重平均したものです。重みのない指標は参考値です。",
    },
    "score_3": {"en": "Rate of an attacker", "ja": "再識別率"},
    "score_3_said": {
        "en": "An attacker answers g_j for individual j of the release; its rate is the share of right answers.",
        "ja": "攻撃者は匿名化データの j 番目の個人について g_j と答えます。正答の割合が再識別率です。",
    },
    "score_4": {"en": "Risk E", "ja": "リスク E"},
    "score_4_said": {
        "en": "The largest rate of the attackers that count, and of the other teams’ guesses once they are visible.",
        "ja": "算入される攻撃者と、公開された他チームの推測のうち、最大の再識別率です。",
    },
    "score_5": {"en": "Overall score", "ja": "総合点"},
    "score_5_score": {"en": "The lowest wins.", "ja": "最も小さいチームが優勝です。"},
    "score_5_rank_sum": {
        "en": "It is only reported. The ranking adds up the ranks in every measure with a weight and in E.",
        "ja": "参考値です。順位は、重みのある各指標と E の順位の和で決まります。",
    },
    "score_example": {"en": "For example", "ja": "計算例"},
    "score_example_said": {
        "en": "A release with these values and no other loss, in which the best attacker finds {found}% of the individuals:",
        "ja": "次の値をとり、ほかの損失がなく、最も成功した攻撃者が個人の {found}% を再識別した場合：",
    },
    "measure_direction": {"en": "Better", "ja": "良い方向"},
    "measure_weight": {"en": "Weight in U", "ja": "U での重み"},
    "measure_share": {"en": "share", "ja": "比率"},
    "measure_scale": {"en": "Scale t", "ja": "尺度 t"},
    "measure_only": {"en": "reported only", "ja": "参考値"},
    "score_of_it": {"en": "Score", "ja": "得点"},
    "attackers_said": {
        "en": "Every submission meets all of these when it is scored. Those that count set the risk.",
        "ja": "採点時に、次のすべての攻撃者が匿名化データを攻撃します。算入される攻撃者のうち最大の再識別率がリスクになります。",
    },
    "attacker_counts_word": {"en": "counts", "ja": "算入"},
    "attacker_reported_word": {"en": "reported only", "ja": "参考値"},
    "parameter_columns": {"en": "columns A", "ja": "列 A"},
    "parameter_target": {"en": "mean of b", "ja": "平均する列 b"},
    "parameter_column": {"en": "attribute", "ja": "使う属性"},
    "parameter_quasi_identifiers": {"en": "quasi-identifiers", "ja": "準識別子"},
    "parameter_sensitive": {"en": "sensitive attributes", "ja": "機微属性"},
    "parameter_give_up": {"en": "without a match", "ja": "一致しないとき"},
    "parameter_dense_limit": {"en": "exact up to (individuals)", "ja": "厳密に解く上限（人）"},
    "value_all": {"en": "all", "ja": "すべて"},
    "value_abstain": {"en": "no answer", "ja": "無回答"},
    "value_own_row": {"en": "the row’s own number", "ja": "その行と同じ番号"},
    "excess_said": {
        "en": "A release may not drift away from the people it is about: a table that is merely permuted looks useful and is not. d_i is the distance of individual i’s released data from their own original; a deleted individual counts 1.",
        "ja": "匿名化データは、本人の元データから離れすぎてはなりません。行を入れ替えただけの表は、統計上は有用に見えても誰についても正しくないためです。d_i は、個人 i の匿名化データと元データとの距離です。削除された個人の距離は 1 とします。",
    },
    "excess_none": {
        "en": "This competition has no threshold yet: nothing is rejected as excessive, the distances are only reported.",
        "ja": "しきい値はまだ設定されていません。距離は参考値で、却下されることはありません。",
    },
    "excess_II_average": {
        "en": "Rejected if the mean distance is above {threshold}.",
        "ja": "距離の平均が {threshold} を超える提出は却下されます。",
    },
    "excess_II_strict": {
        "en": "Rejected if anybody’s distance is above {threshold}.",
        "ja": "1 人でも距離が {threshold} を超える提出は却下されます。",
    },
    "excess_I": {
        "en": "Rejected if the released data of anybody lie within {threshold} of somebody else’s original.",
        "ja": "匿名化データが他人の元データから {threshold} 以内にある個人が 1 人でもいれば却下されます。",
    },
    "excess_distance": {"en": "The distance", "ja": "距離の定義"},
    "ranking_score": {
        "en": "Teams are ranked by the overall score of their best accepted submission, lowest first.",
        "ja": "各チームの最良の受理された提出の総合点で順位を付けます。小さいほど上位です。",
    },
    "ranking_rank_sum": {
        "en": "Teams are ranked by the sum of their submission’s ranks in every measure with a weight and in risk, lowest first.",
        "ja": "重みのある各指標とリスクの順位の和で順位を付けます。小さいほど上位です。",
    },
    "ranking_ties": {
        "en": "Equal ones share a rank; the earlier submission is listed first. A rejected submission has no rank.",
        "ja": "同点は同順位とし、先に提出したものを先に掲載します。却下された提出に順位は付きません。",
    },
    "ranking_finals": {
        "en": "Up to {finals} submissions of a team stand as finals at the deadline and become targets. If a team chooses none, its best ones are taken.",
        "ja": "締切時に 1 チーム最大 {finals} 件が最終提出となり、攻撃対象になります。選ばない場合は、成績の良いものが自動で選ばれます。",
    },
    "ranking_shuffled": {
        "en": "The service puts the rows of every release in a random order of its own.",
        "ja": "匿名化データの行は、システムが無作為に並べ替えます。",
    },
    "ranking_unshuffled": {
        "en": "Releases are published in the order of rows in which they were sent: shuffle yours.",
        "ja": "匿名化データは提出時の行の順序のまま攻撃対象になります。あらかじめ無作為に並べ替えてください。",
    },
    "limit_name": {"en": "For each team", "ja": "1 チームあたり"},
    "limit_most": {"en": "At most", "ja": "上限"},
    "limit_valid_per_day": {"en": "Valid submissions a day", "ja": "有効な提出（1 日）"},
    "limit_valid_total": {"en": "Valid submissions in all", "ja": "有効な提出（合計）"},
    "limit_attempts_per_day": {
        "en": "Attempts a day, refused ones too",
        "ja": "送信回数（1 日、受付不可を含む）",
    },
    "limit_attempts_total": {
        "en": "Attempts of a phase in all, refused ones too",
        "ja": "送信回数（フェーズ合計、受付不可を含む）",
    },
    "limit_guesses_per_target": {"en": "Guesses on a target", "ja": "攻撃対象 1 件への推測"},
    "limit_file_mb": {"en": "MB in a file", "ja": "1 ファイルの大きさ（MB）"},
    "limit_days": {"en": "Days are those of {zone}.", "ja": "1 日は {zone} の 0 時で区切ります。"},
    "board_public": {"en": "Everybody sees the boards.", "ja": "ボードは誰でも閲覧できます。"},
    "board_teams": {
        "en": "The teams and the organizers see the boards.",
        "ja": "ボードは参加チームと主催者が閲覧できます。",
    },
    "board_organizers": {
        "en": "Only the organizers see the boards.",
        "ja": "ボードは主催者だけが閲覧できます。",
    },
    "board_frozen": {
        "en": "From this moment until the close the boards stay as they are:",
        "ja": "次の時刻からコンテスト終了まで、ボードは凍結されます：",
    },
    "board_digits": {
        "en": "Until the secrets are revealed, of other teams’ releases the rank, the overall score with 4 decimals, and U and E with {digits} decimals are shown, nothing else of what depends on a secret.",
        "ja": "秘密が開示されるまで、他チームの提出については、順位、小数点以下 4 桁の総合点、小数点以下 {digits} 桁の U と E だけを示し、秘密に依存するその他の値は示しません。",
    },
    "owners_hidden": {
        "en": "Whose a target is stays hidden until the secrets are revealed.",
        "ja": "攻撃対象がどのチームのものかは、秘密が開示されるまで示しません。",
    },
    "owners_shown": {
        "en": "Whose a target is is shown from its publication on.",
        "ja": "攻撃対象がどのチームのものかは、公開時から示します。",
    },
    "feedback_hidden": {
        "en": "The scores of guesses stay hidden until the re-identification phase closes, and with them all that they would change. A score tells who was guessed right: whoever saw it could find the individuals by trying.",
        "ja": "推測の得点と、それによって変わる値は、再識別フェーズの終了まで公開されません。得点が見えると、推測を繰り返すことで個人を特定できてしまうためです。",
    },
    "feedback_immediate": {
        "en": "The scores of guesses are visible at once. That helps attackers: each score tells something about who was guessed right.",
        "ja": "推測の得点はすぐに公開されます。得点は正答を探る手がかりになるため、攻撃側に有利です。",
    },
    "feedback_daily": {
        "en": "The scores of guesses become visible at midnight. That helps attackers a little: each score tells something about who was guessed right.",
        "ja": "推測の得点は毎日 0 時に公開されます。得点は正答を探る手がかりになるため、攻撃側にやや有利です。",
    },
    "secrets_said": {
        "en": "Nobody sees a team’s secret before the reveal; then those of the targets are published. If the end of the last phase is moved nearer, the reveal waits until {hours} hours after that was announced.",
        "ja": "秘密ファイルは、公開の時まで誰も見ることができません。公開されるのは攻撃対象の秘密ファイルだけです。最後のフェーズの終了が早められた場合は、その通知から {hours} 時間が過ぎるまで公開されません。",
    },
}
