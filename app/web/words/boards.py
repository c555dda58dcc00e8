"""Boards."""

WORDS: dict[str, dict[str, str]] = {
    "all_columns": {"en": "All columns", "ja": "すべての列"},
    "as_of": {"en": "As of", "ja": "集計時点"},
    "attack_now": {"en": "To the targets", "ja": "攻撃対象へ"},
    "attacks_begin": {
        "en": "Teams attack each other in the re-identification phase. It begins",
        "ja": "再識別フェーズに、各チームが互いの匿名化データを攻撃します。開始時刻：",
    },
    "baselines": {
        "en": "Baselines: sample methods, outside the ranking",
        "ja": "ベースライン：サンプル手法（順位の対象外）",
    },
    "board_anonymization": {"en": "Anonymization board", "ja": "匿名化ボード"},
    "board_matrix": {"en": "Attack matrix", "ja": "攻撃マトリクス"},
    "board_reidentification": {"en": "Re-identification board", "ja": "再識別ボード"},
    "boards_nav": {"en": "Boards", "ja": "ボードの種類"},
    "closed_join": {"en": "Join a team", "ja": "チームに参加する"},
    "closed_organizers": {
        "en": "Only the organizers see this board for now. Your own results are on your submissions page.",
        "ja": "このボードは現在、主催者だけに公開されています。自チームの結果は「提出」のページで確認できます。",
    },
    "closed_teams": {
        "en": "Only the teams of the competition see this board.",
        "ja": "このボードはコンテストの参加チームだけに公開されています。",
    },
    "closed_teams_join": {
        "en": "Your account is in none of its teams. With an invite from a team or the organizers you can join one.",
        "ja": "あなたのアカウントはこのコンテストのチームに属していません。チームまたは主催者の招待コードで参加できます。",
    },
    "closed_teams_sign_in": {
        "en": "If you are in a team, sign in to see it.",
        "ja": "チームのメンバーはサインインすると閲覧できます。",
    },
    "built_in": {"en": "built-in", "ja": "組み込み"},
    "column_choice": {"en": "Columns", "ja": "表示する列"},
    "columns_attackers_only": {"en": "Attackers outside E", "ja": "E に算入しない攻撃者"},
    "columns_in_security": {"en": "Attackers in E", "ja": "E に算入する攻撃者"},
    "columns_in_utility": {"en": "Measures in U", "ja": "U に含む指標"},
    "columns_measures_only": {"en": "Measures outside U", "ja": "U に含めない指標"},
    "distribution_of": {"en": "Distribution of", "ja": "分布を表示する項目"},
    "entries": {"en": "Submissions", "ja": "提出数"},
    "finals_compared": {
        "en": "The finals of the anonymization phase are compared.",
        "ja": "匿名化フェーズの最終提出を比較しています。",
    },
    "freeze_ahead": {
        "en": "It will be frozen until the competition is over, from",
        "ja": "次の時刻からコンテスト終了まで凍結されます：",
    },
    "freeze_now": {
        "en": "Frozen until the competition is over: this is how it stood at",
        "ja": "コンテスト終了まで凍結中です。次の時刻の内容を表示しています：",
    },
    "freeze_others": {
        "en": "You see the live board. For everybody but the organizers it is frozen at",
        "ja": "主催者には最新の内容を表示しています。ほかの人には次の時刻で凍結した内容が表示されます：",
    },
    "frozen": {"en": "Frozen", "ja": "凍結中"},
    "guesses_daily": {
        "en": "Guesses count from the day after they were sent. Shown are those received before",
        "ja": "推測は送信の翌日に反映されます。表示しているのは次の時刻より前に受け付けた分です：",
    },
    "board_coarse": {
        "en": "Until the secrets are revealed, U and E of other teams have {digits} decimals, and what each measure and attacker found is shown to the team itself alone: exact numbers would tell whose target is whose, and more.",
        "ja": "秘密が開示されるまで、他チームの U と E は小数点以下 {digits} 桁で示し、各指標と各攻撃の値はそのチームだけに示します。正確な値からは、どの攻撃対象がどのチームのものかなどが分かってしまうためです。",
    },
    "guesses_hidden": {
        "en": "What the teams found out stays hidden until the re-identification phase has closed, so that nobody can use the scores to guess better. It closes",
        "ja": "得点が推測の手がかりにならないよう、攻撃の結果は再識別フェーズの終了まで公開されません。終了時刻：",
    },
    "identified": {"en": "Individuals identified", "ja": "再識別した人数"},
    "largest_rate": {"en": "bold: sets E", "ja": "太字：E となる値"},
    "matrix_note": {
        "en": "For each attacker and target: the share of the target’s individuals that the attacker’s best guess identified. A dash: no guess, as on a team’s own target.",
        "ja": "攻撃者と攻撃対象の組ごとに、最良の推測で再識別された個人の割合を示します。「—」は推測なしを表します（自チームの攻撃対象には推測できません）。",
    },
    "matrix_opaque": {
        "en": "The targets’ teams are named when the competition closes, together with the rates of the built-in attackers.",
        "ja": "攻撃対象のチーム名は、組み込みの攻撃者の再識別率とともに、コンテスト終了時に表示されます。",
    },
    "no_entries": {
        "en": "No submission has been scored yet. The first accepted one leads this board.",
        "ja": "採点済みの提出はまだありません。最初に受理された提出が首位になります。",
    },
    "no_scored_guesses": {
        "en": "No guess has been scored yet. The first one opens this board.",
        "ja": "採点済みの推測はまだありません。最初の推測からボードに表示されます。",
    },
    "no_scored_guesses_closed": {
        "en": "No team sent a guess that counts.",
        "ja": "採点の対象となる推測を送信したチームはありませんでした。",
    },
    "no_rank": {
        "en": "A team without an accepted submission is listed without a rank.",
        "ja": "受理された提出がないチームには順位が付きません。",
    },
    "no_second_phase": {
        "en": "This competition has no re-identification phase: only the built-in attackers attack.",
        "ja": "このコンテストに再識別フェーズはありません。攻撃は組み込みの攻撃者だけが行います。",
    },
    "of_rows": {"en": "of individuals", "ja": "対象の人数"},
    "overall": {"en": "Overall", "ja": "総合点"},
    "rank": {"en": "Rank", "ja": "順位"},
    "rank_sum": {"en": "Sum of ranks", "ja": "順位の和"},
    "ranked_by_rank_sum": {
        "en": "Each team’s best accepted submission. The teams are ranked in every measure that weighs in U and in E; the lowest sum of ranks leads. U is the utility loss, E the risk: the largest rate of an attacker that counts.",
        "ja": "各チームの最良の受理された提出を、U に含む各指標と E で順位付けし、順位の和が小さいチームを上位とします。U は有用性損失、E はリスク（算入される攻撃者の再識別率の最大値）です。",
    },
    "ranked_by_score": {
        "en": "Each team’s best accepted submission. U is the utility loss, E the risk: the largest rate of an attacker that counts. The overall score is the mean of both, and the lowest leads.",
        "ja": "各チームの最良の受理された提出です。U は有用性損失、E はリスク（算入される攻撃者の再識別率の最大値）、総合点は両者の平均で、小さいほど上位です。",
    },
    "reidentification_note": {
        "en": "A team’s score is the number of individuals that its best guess on each target identified, added up over the targets.",
        "ja": "攻撃対象ごとに最良の推測で再識別した人数を合計し、その多い順に並べます。",
    },
    "result_only": {"en": "The result only", "ja": "結果のみ"},
    "rivals": {"en": "Other teams", "ja": "他チームの推測"},
    "security": {"en": "Risk", "ja": "リスク"},
    "show": {"en": "Show", "ja": "表示"},
    "sort_by": {"en": "Sort by", "ja": "並べ替え："},
    "targets_tried": {"en": "Targets attacked", "ja": "攻撃した攻撃対象"},
    "to_submissions": {"en": "To your submissions", "ja": "自チームの提出へ"},
    "updated": {"en": "updated", "ja": "更新"},
    "utility": {"en": "Utility loss", "ja": "有用性損失"},
    "weight": {"en": "weight", "ja": "重み"},
    "you": {"en": "you", "ja": "自チーム"},
    "your_place": {"en": "Your team", "ja": "自チーム"},
    "your_place_none": {
        "en": "No accepted submission yet: your team has no rank.",
        "ja": "受理された提出がまだないため、順位はありません。",
    },
    "your_place_of": {"en": "of", "ja": "/"},
}
