"""Charts: ``chart_<word>`` for all of them, ``chart_<chart>_<word>`` for one. Braces hold numbers and names."""

WORDS: dict[str, dict[str, str]] = {
    "data_as_table": {"en": "The numbers as a table", "ja": "数値を表で見る"},
    "chart_attacker": {"en": "Attacker", "ja": "攻撃者"},
    "chart_baseline": {"en": "Sample methods", "ja": "サンプル手法"},
    "chart_high": {"en": "To", "ja": "上端"},
    "chart_low": {"en": "From", "ja": "下端"},
    "chart_none": {"en": "There is nothing to show yet.", "ja": "表示できるデータはまだありません。"},
    "chart_others": {"en": "Other teams", "ja": "他チーム"},
    "chart_own": {"en": "Your team", "ja": "自チーム"},
    "chart_teams": {"en": "Teams", "ja": "チーム"},
    "chart_team": {"en": "Team", "ja": "チーム"},
    "chart_threshold": {"en": "Threshold", "ja": "しきい値"},
    "chart_scatter_title": {"en": "Utility loss against risk", "ja": "有用性損失とリスク"},
    "chart_scatter_x": {"en": "Utility loss (lower is better)", "ja": "有用性損失（小さいほど良い）"},
    "chart_scatter_y": {"en": "Risk (lower is better)", "ja": "リスク（小さいほど良い）"},
    "chart_scatter_better": {"en": "better", "ja": "良い"},
    "chart_scatter_front": {"en": "Pareto front", "ja": "パレートフロント"},
    "chart_scatter_none": {
        "en": "No submission has been scored yet.",
        "ja": "採点済みの提出はまだありません。",
    },
    "chart_scatter_said": {
        "en": "Teams: {teams}. Points on the Pareto front: {front}. "
        "Utility loss from {x_least} to {x_largest}, risk from {y_least} to {y_largest}.",
        "ja": "{teams} チーム。パレートフロント上の点は {front} 個。"
        "有用性損失は {x_least}～{x_largest}、リスクは {y_least}～{y_largest} です。",
    },
    "chart_scatter_said_own": {
        "en": "{name}: utility loss {x}, risk {y}.",
        "ja": "{name}：有用性損失 {x}、リスク {y}。",
    },
    "chart_scatter_point": {
        "en": "{name}: utility loss {x}, risk {y}",
        "ja": "{name}：有用性損失 {x}、リスク {y}",
    },
    "chart_histogram_title": {
        "en": "Distance of individuals from their originals",
        "ja": "本人の元データからの距離",
    },
    "chart_histogram_x": {"en": "Distance", "ja": "距離"},
    "chart_histogram_y": {"en": "Individuals", "ja": "人数"},
    "chart_histogram_mean": {"en": "Mean", "ja": "平均"},
    "chart_histogram_beyond": {"en": "Beyond the threshold", "ja": "しきい値超過"},
    "chart_histogram_said": {
        "en": "Individuals: {count}, at distances from {least} to {largest}. "
        "Mean: {mean}; threshold: {threshold}; beyond the threshold: {beyond}.",
        "ja": "{count} 人の距離は {least}～{largest}。平均 {mean}、しきい値 {threshold}、超過 {beyond} 人です。",
    },
    "chart_histogram_point": {"en": "{low} – {high}: {count}", "ja": "{low}～{high}：{count} 人"},
    "chart_cheats_title": {
        "en": "What cheating by permutation costs",
        "ja": "順列による不正で生じる距離",
    },
    "chart_cheats_x": {"en": "Mean distance of a permutation", "ja": "順列の平均距離"},
    "chart_cheats_name": {"en": "Type of permutation", "ja": "順列の種類"},
    "chart_cheats_count": {"en": "Permutations", "ja": "順列の数"},
    "chart_cheats_threshold": {"en": "Recommended", "ja": "推奨値"},
    "chart_cheats_interval": {"en": "Possible thresholds", "ja": "設定できる範囲"},
    "chart_cheats_said": {
        "en": "Thresholds between {low} and {high} are possible; recommended: {threshold}.",
        "ja": "しきい値は {low} と {high} の間に設定できます。推奨値は {threshold} です。",
    },
    "chart_cheats_each": {
        "en": "{name}: {count} permutations, mean distances from {least} to {largest}.",
        "ja": "{name}：{count} 個の順列、平均距離 {least}～{largest}。",
    },
    "chart_cheats_point": {
        "en": "{name}, {low} – {high}: {count}",
        "ja": "{name}、{low}～{high}：{count} 個",
    },
    "chart_strip_value": {"en": "Value", "ja": "値"},
    "chart_strip_title": {"en": "Among all teams", "ja": "全チーム中の位置"},
    "chart_strip_said": {
        "en": "All teams: least {least}, median {median}, largest {largest}.",
        "ja": "全チーム：最小 {least}、中央値 {median}、最大 {largest}。",
    },
    "chart_strip_said_own": {"en": "Your team: {own}.", "ja": "自チーム：{own}。"},
    "chart_distribution_title": {"en": "Among all teams", "ja": "全チームの分布"},
    "chart_distribution_x": {"en": "Value", "ja": "値"},
    "chart_distribution_median": {"en": "Median", "ja": "中央値"},
    "chart_distribution_middle": {"en": "Middle half of the teams", "ja": "中央の 50 %"},
    "chart_distribution_said": {
        "en": "Teams: {count}. Least {least}, median {median}, largest {largest}.",
        "ja": "{count} チーム。最小 {least}、中央値 {median}、最大 {largest} です。",
    },
    "chart_distribution_said_own": {"en": "Your team: {own}.", "ja": "自チームは {own} です。"},
    "chart_distribution_point": {"en": "{name}: {value}", "ja": "{name}：{value}"},
    "chart_course_title": {"en": "Overall score over time", "ja": "総合点の推移"},
    "chart_course_x": {"en": "Time of receipt", "ja": "受付時刻"},
    "chart_course_y": {"en": "Overall score (lower is better)", "ja": "総合点（小さいほど良い）"},
    "chart_course_submission": {"en": "Submission", "ja": "提出"},
    "chart_course_received": {"en": "Received", "ja": "受付時刻"},
    "chart_course_state": {"en": "Result", "ja": "結果"},
    "chart_course_accepted": {"en": "Accepted", "ja": "受理"},
    "chart_course_rejected": {"en": "Rejected", "ja": "却下"},
    "chart_course_error": {"en": "Error on our side", "ja": "システムエラー"},
    "chart_course_best": {"en": "Best so far", "ja": "その時点の最良"},
    "chart_course_none": {"en": "No submission yet.", "ja": "提出はまだありません。"},
    "chart_course_said": {
        "en": "Submissions: {count}; accepted: {accepted}, rejected: {rejected}, errors: {error}.",
        "ja": "提出 {count} 件（受理 {accepted}、却下 {rejected}、エラー {error}）。",
    },
    "chart_course_said_best": {
        "en": "First accepted score: {first}; best: {best}.",
        "ja": "最初に受理された総合点は {first}、最良は {best} です。",
    },
    "chart_course_point": {
        "en": "{name}, {at}: {overall} ({state})",
        "ja": "{name}、{at}：{overall}（{state}）",
    },
    "chart_intervals_title": {"en": "What each attacker finds", "ja": "攻撃者ごとの再識別率"},
    "chart_intervals_x": {
        "en": "Share of rows found again (lower is better)",
        "ja": "再識別された行の割合（小さいほど良い）",
    },
    "chart_intervals_rate": {"en": "Rate", "ja": "再識別率"},
    "chart_intervals_interval": {
        "en": "95 % interval, or ± one deviation",
        "ja": "95 % 区間または ±標準偏差",
    },
    "chart_intervals_baseline": {"en": "Guessing at random", "ja": "無作為な推測"},
    "chart_intervals_said": {
        "en": "Attackers: {count}. {name} finds most: {rate}.",
        "ja": "{count} 種の攻撃者のうち、最も高いのは {name} の {rate} です。",
    },
    "chart_intervals_point": {
        "en": "{name}: {rate}, between {low} and {high}; at random {baseline}",
        "ja": "{name}：{rate}（区間 {low}～{high}）、無作為 {baseline}",
    },
    "chart_bounds_title": {"en": "Bounds of the mean distance", "ja": "平均距離の下界と上界"},
    "chart_bounds_x": {"en": "Individuals that stay in place", "ja": "元の位置に残る人数"},
    "chart_bounds_y": {"en": "Mean distance", "ja": "平均距離"},
    "chart_bounds_s_lower": {"en": "Lower bound s_lower", "ja": "下界 s_lower"},
    "chart_bounds_lower": {"en": "Certified lower bound", "ja": "証明付き下界"},
    "chart_bounds_upper": {"en": "Certified upper bound", "ja": "証明付き上界"},
    "chart_bounds_threshold": {"en": "Recommended threshold", "ja": "推奨しきい値"},
    "chart_bounds_fixed": {"en": "Largest number by chance:", "ja": "偶然に残る上限："},
    "chart_bounds_said": {
        "en": "If at most {fixed} individuals stay in place, the least mean distance is {bound}. "
        "Recommended threshold: {threshold}.",
        "ja": "元の位置に残る人が {fixed} 人以下なら、平均距離の最小値は {bound} です。"
        "推奨しきい値は {threshold} です。",
    },
    "chart_bounds_point": {
        "en": "{series}, at most {fixed} in place: {value}",
        "ja": "{series}、残る人数 {fixed} 以下：{value}",
    },
    "chart_heatmap_title": {"en": "Attackers and targets", "ja": "攻撃者と攻撃対象"},
    "chart_heatmap_corner": {"en": "Attacker", "ja": "攻撃者"},
    "chart_heatmap_own": {"en": "you", "ja": "自チーム"},
    "chart_heatmap_scale": {"en": "Share of rows found again", "ja": "再識別された行の割合"},
    "chart_heatmap_said": {
        "en": "Attackers: {attackers}; targets: {targets}; largest rate: {largest}.",
        "ja": "攻撃者 {attackers}、攻撃対象 {targets}。最大の再識別率は {largest} です。",
    },
}
