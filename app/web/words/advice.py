"""The advisor on thresholds, and what is wrong with a competition's file."""

WORDS: dict[str, dict[str, str]] = {
    "adv_alone": {"en": "Alone in their group", "ja": "1 人だけのグループ"},
    "adv_allowed_interval": {"en": "thresholds that separate", "ja": "不正を防げるしきい値"},
    "adv_bits": {"en": "Certainty (bits)", "ja": "見逃しにくさ（2 のべき乗）"},
    "adv_bits_said": {
        "en": "A cheat is rejected except with a chance of 2 to the minus so many: 50 means never in practice.",
        "ja": "不正を見逃す確率を 2 のマイナス何乗未満に抑えるかを指定します。50 なら実際上ゼロです。",
    },
    "adv_bound_lower": {"en": "Certified lower bound", "ja": "証明付き下界"},
    "adv_bound_s_lower": {"en": "Simple lower bound", "ja": "簡易な下界"},
    "adv_bound_upper": {"en": "A permutation found", "ja": "実際に見つかった置換"},
    "adv_bounds": {"en": "How little a permutation can move people", "ja": "置換による平均距離の下界"},
    "adv_bounds_point": {
        "en": "{series}, {fixed} in place: {value}",
        "ja": "{series}、元の位置に {fixed} 人：{value}",
    },
    "adv_bounds_said": {
        "en": "If at most {fixed} individuals stay in place, the mean distance is at least {bound}; the recommended threshold is {threshold}.",
        "ja": "元の位置に残る人が {fixed} 人以下なら、平均距離は {bound} 以上です。推奨しきい値は {threshold} です。",
    },
    "adv_chance": {"en": "Chance of more", "ja": "それを超える確率"},
    "adv_cheat": {"en": "Cheat", "ja": "不正の種類"},
    "adv_cheat_group": {
        "en": "People exchanged within their group",
        "ja": "グループ内で入れ替え",
    },
    "adv_cheat_random": {"en": "People exchanged at random", "ja": "無作為に入れ替え"},
    "adv_cheat_shift": {"en": "Everybody in another’s place", "ja": "全員を別人と入れ替え"},
    "adv_cheats": {"en": "The cheats that it stops", "ja": "防げる不正"},
    "adv_distance": {"en": "Distance", "ja": "距離"},
    "adv_escapes": {
        "en": "Room for honest teams: up to {escapes} of {individuals} individuals may be moved more than half-way to their nearest other.",
        "ja": "正当な匿名化の余地：{individuals} 人中 {escapes} 人までは、最も近い他人までの半分を超えて動かせます。",
    },
    "adv_exact": {"en": "exact", "ja": "厳密値"},
    "adv_expected": {"en": "On average in place", "ja": "元の位置に残る平均人数"},
    "adv_failed": {
        "en": "The report could not be made. Ask again, or look at the health of the queue.",
        "ja": "レポートを作成できませんでした。もう一度作成するか、稼働状況を確認してください。",
    },
    "adv_fixed": {"en": "At most in place", "ja": "元の位置に残る人数の上限"},
    "adv_fixed_points": {"en": "Individuals that stay in place", "ja": "元の位置に残る人数"},
    "adv_fixed_rule": {"en": "assumed in place:", "ja": "想定する人数："},
    "adv_from": {"en": "From", "ja": "以上"},
    "adv_groups": {"en": "What a cheat may keep", "ja": "不正でも変わらない列"},
    "adv_groups_all": {
        "en": "Your cross-tables use every column, so all are ticked. In that many columns hardly anybody agrees with somebody else: if no threshold is found, tick fewer.",
        "ja": "クロス集計が全列を使う設定のため、すべて選択されています。列が多いと値の一致する人がほとんどいなくなるため、しきい値が見つからない場合は列を減らしてください。",
    },
    "adv_groups_said": {
        "en": "Somebody who cheats exchanges only people who agree in these columns, so that the table stays useful. Choose those of your cross-tables.",
        "ja": "不正をする側は、表の有用性を保つために、これらの列の値が同じ人どうしだけを入れ替えると想定します。クロス集計に使う列を選んでください。",
    },
    "adv_groups_count": {"en": "Groups", "ja": "グループ数"},
    "adv_individuals": {"en": "Individuals", "ja": "人数"},
    "adv_mean_distance": {"en": "Mean distance", "ja": "平均距離"},
    "adv_no_bounds": {"en": "There are no bounds to show.", "ja": "表示できる下界がありません。"},
    "adv_none": {
        "en": "No threshold both stops cheats and leaves room for honest teams.",
        "ja": "不正を防ぎつつ正当な匿名化の余地を残すしきい値はありません。",
    },
    "adv_nothing_simulated": {"en": "Nothing was simulated.", "ja": "シミュレーションは行われていません。"},
    "adv_outside": {
        "en": "The threshold in use ({threshold}) lies outside of what the latest report allows: above {low} and below {high}.",
        "ja": "使用中のしきい値（{threshold}）が、最新のレポートの有効範囲（{low} より大きく {high} より小さい）から外れています。",
    },
    "adv_outside_none": {
        "en": "The latest report finds no threshold that both stops cheats and leaves room for honest teams, and {threshold} is in use.",
        "ja": "しきい値 {threshold} を使用中ですが、最新のレポートでは、不正を防ぎつつ正当な匿名化の余地を残すしきい値は見つかっていません。",
    },
    "adv_permutations": {"en": "Permutations", "ja": "置換の数"},
    "adv_recommended": {"en": "Recommended threshold", "ja": "推奨しきい値"},
    "adv_recommended_said": {
        "en": "Any threshold above {low} and below {high} stops every cheat in the table below, except with a chance of {chance}. {threshold} is the largest round number among them, and leaves honest teams the most room.",
        "ja": "{low} より大きく {high} より小さいしきい値なら、下の表の不正をすべて防げます（見逃す確率は {chance} 未満）。{threshold} はその範囲で最大の切りのよい数で、正当な匿名化の余地が最も大きくなります。",
    },
    "adv_remedy_few": {
        "en": "Individuals are too few or too alike: take more of them, another distance, or less certainty.",
        "ja": "人数が少なすぎるか、互いに似すぎています。人数を増やす、別の距離を使う、見逃しにくさを下げる、のいずれかを試してください。",
    },
    "adv_remedy_groups": {
        "en": "Many individuals are alone in their group and stay in place whatever the cheat: choose fewer columns, or merge rare values.",
        "ja": "1 人だけのグループが多く、入れ替えても動かない人が多くいます。列を減らすか、まれな値をまとめてください。",
    },
    "adv_remedy_repeated": {
        "en": "Some individuals have the same data, so no distance tells them apart: take another distance or other columns, or remove the repetitions.",
        "ja": "同じデータの人がいるため、距離では区別できません。別の距離や列を試すか、重複を取り除いてください。",
    },
    "adv_simulated": {"en": "What cheating costs", "ja": "不正で生じる平均距離"},
    "adv_simulated_alone": {
        "en": "Mean distances of simulated cheats; no threshold separates them from honest work.",
        "ja": "不正をシミュレーションした平均距離です。不正と正当な匿名化を分けるしきい値はありません。",
    },
    "adv_simulated_each": {
        "en": "{name}: {count} permutations, from {least} to {largest}.",
        "ja": "{name}：{count} 通り、{least}〜{largest}。",
    },
    "adv_simulated_point": {
        "en": "{name}, {low} – {high}: {count}",
        "ja": "{name}、{low}〜{high}：{count} 通り",
    },
    "adv_simulated_said": {
        "en": "Mean distances of simulated cheats; thresholds between {low} and {high} separate, {threshold} is recommended.",
        "ja": "不正をシミュレーションした平均距離です。{low}〜{high} の間のしきい値なら不正を防げます。推奨は {threshold} です。",
    },
    "adv_simulated_table": {"en": "Simulated", "ja": "シミュレーション"},
    "adv_to": {"en": "To", "ja": "未満"},
    "expected_zone": {
        "en": "the name of a time zone such as Asia/Tokyo",
        "ja": "タイムゾーン名（例：Asia/Tokyo）",
    },
    "expected_window": {"en": "a phase that ends after it starts", "ja": "開始より後に終わる期間"},
    "expected_text": {
        "en": "a text of 1 to 200 characters without control characters",
        "ja": "制御文字を含まない 1〜200 文字のテキスト",
    },
    "expected_slug": {
        "en": "1 to 63 small letters, digits and inner hyphens",
        "ja": "英小文字・数字・ハイフン（先頭と末尾以外）1〜63 文字",
    },
    "expected_share": {"en": "a number from 0 to 1", "ja": "0〜1 の数"},
    "expected_phases": {"en": "a list of tables [[phases]]", "ja": "[[phases]] の並び"},
    "expected_order": {
        "en": "at most one anonymization and then one reidentification phase",
        "ja": "anonymization、reidentification の順に各 1 つまで",
    },
    "expected_number": {"en": "a finite number, 0 or more", "ja": "0 以上の有限の数"},
    "expected_one_of": {"en": "one of {choices}", "ja": "{choices} のいずれか"},
    "expected_names": {"en": "a list of column names", "ja": "列名のリスト"},
    "expected_moment": {
        "en": "a date and time such as 2027-01-10T09:00:00+09:00",
        "ja": "日付と時刻（例：2027-01-10T09:00:00+09:00）",
    },
    "expected_flag": {"en": "true or false", "ja": "true または false"},
    "expected_different": {"en": "a list without repetitions", "ja": "重複のないリスト"},
    "expected_hours": {
        "en": "a whole number of hours from 0 to 8,760",
        "ja": "0〜8,760 の整数（時間）",
    },
    "expected_count": {"en": "a whole number from 1 to 1,000,000", "ja": "1〜1,000,000 の整数"},
    "expected_apart": {"en": "phases that do not overlap", "ja": "互いに重ならない期間"},
    "invalid_attacker_never_counts": {
        "en": "This attacker never counts.",
        "ja": "この攻撃者は算入できません。",
    },
    "invalid_attacker_never_counts_name": {
        "en": "The attacker {key} never counts towards E.",
        "ja": "攻撃者 {key} は E に算入できません。",
    },
    "invalid_changed_meanwhile": {
        "en": "Somebody has changed the competition meanwhile. Look at it again, then save.",
        "ja": "この間に他の人が設定を変更しました。確認してから保存し直してください。",
    },
    "invalid_column_in_both_roles": {
        "en": "A column has one role only.",
        "ja": "1 つの列に 2 つの役割が指定されています。",
    },
    "invalid_column_in_both_roles_name": {
        "en": "The column {key} is listed in both roles.",
        "ja": "列 {key} に 2 つの役割が指定されています。",
    },
    "invalid_encoding": {"en": "The file is not UTF-8.", "ja": "ファイルが UTF-8 ではありません。"},
    "invalid_first_file_missing": {
        "en": "Upload the first file first.",
        "ja": "最初のファイルを先にアップロードしてください。",
    },
    "invalid_fixed": {
        "en": "There are submissions: data and columns are fixed, and the rules change only by a re-score set.",
        "ja": "すでに提出があるため、元データと列は変更できません。ルールの変更は再採点で行います。",
    },
    "invalid_fixed_address": {
        "en": "The address and the track cannot change.",
        "ja": "アドレスとトラックは変更できません。",
    },
    "invalid_notice_fixed": {
        "en": "There are submissions: the notice before an early reveal can only become longer.",
        "ja": "すでに提出があるため、公開を早めるときの予告時間は、長くすることしかできません。",
    },
    "invalid_password_needed": {
        "en": "This needs your password: it may end or show something sooner, let others see or guess more, or be beyond undoing.",
        "ja": "終了や公開が早まったり、公開する情報や推測が増えたり、元に戻せなくなったりするため、パスワードが必要です。",
    },
    "invalid_wrong_password": {"en": "The password is wrong.", "ja": "パスワードが違います。"},
    "invalid_too_many_tries": {
        "en": "Too many wrong passwords. Wait a while.",
        "ja": "パスワードの誤りが続きました。しばらくお待ちください。",
    },
    "invalid_malformed_upload": {"en": "The file cannot be used.", "ja": "このファイルは使えません。"},
    "invalid_measure_without_weight": {
        "en": "This measure is only reported and takes no weight.",
        "ja": "この指標は参考値で、重みを付けられません。",
    },
    "invalid_measure_without_weight_name": {
        "en": "The measure {key} is only reported and takes no weight.",
        "ja": "指標 {key} は参考値で、重みを付けられません。",
    },
    "invalid_missing_key": {"en": "A setting is missing.", "ja": "必要な設定項目がありません。"},
    "invalid_missing_key_key": {"en": "The setting {key} is missing.", "ja": "設定項目 {key} がありません。"},
    "invalid_no_original": {"en": "There are no original data yet.", "ja": "元データがまだありません。"},
    "invalid_no_recommendation": {
        "en": "This report recommends no threshold.",
        "ja": "このレポートに推奨値はありません。",
    },
    "invalid_no_weights": {"en": "No measure has a weight.", "ja": "重みのある指標がありません。"},
    "invalid_not_toml": {"en": "This is not valid TOML.", "ja": "TOML として読み取れません。"},
    "invalid_not_toml_place": {
        "en": "This is not valid TOML in line {line}, character {place}: {reason}.",
        "ja": "{line} 行目の {place} 文字目が TOML として読み取れません。",
    },
    "invalid_not_toml_end": {
        "en": "This is not valid TOML: something at its end is not closed.",
        "ja": "TOML として読み取れません（末尾が閉じられていません）。",
    },
    "invalid_too_many_reports": {
        "en": "Twenty reports of this competition are unfinished. Ask again when one of them is there.",
        "ja": "このコンペティションには未完了のレポートがすでに 20 件あります。いずれかが完成してから、もう一度依頼してください。",
    },
    "invalid_phase_paused": {
        "en": "A phase is paused: resume it first.",
        "ja": "フェーズが一時停止中です。先に再開してください。",
    },
    "invalid_phase_turned": {
        "en": "This phase has ended: its times are fixed.",
        "ja": "このフェーズはすでに終了しており、日程を変更できません。",
    },
    "invalid_phase_turned_phase": {
        "en": "This phase has ended, and its times are fixed: {phase}.",
        "ja": "終了したフェーズの日程は変更できません（{phase}）。",
    },
    "invalid_report_stale": {
        "en": "The data have changed since: ask for a new report.",
        "ja": "元データが変更されています。新しいレポートを作成してください。",
    },
    "invalid_rescore_open": {
        "en": "A re-score set is open: apply or cancel it first.",
        "ja": "進行中の再採点があります。先に適用するか取り消してください。",
    },
    "invalid_roles_missing": {
        "en": "Every column needs a role, and each role a column.",
        "ja": "すべての列に役割を選び、どちらの役割にも 1 列以上を割り当ててください。",
    },
    "invalid_too_large": {"en": "The file is too large.", "ja": "ファイルが大きすぎます。"},
    "invalid_unknown_attacker": {"en": "There is no such attacker.", "ja": "この攻撃者は存在しません。"},
    "invalid_unknown_attacker_name": {
        "en": "This track has no attacker {key}.",
        "ja": "このトラックに攻撃者 {key} はありません。",
    },
    "invalid_unknown_column": {"en": "There is no such column.", "ja": "この列は存在しません。"},
    "invalid_unknown_column_name": {
        "en": "{key} names {column}, which is no such column.",
        "ja": "{key} に指定された列 {column} は使えません。",
    },
    "invalid_unknown_distance": {"en": "There is no such distance.", "ja": "この距離は存在しません。"},
    "invalid_unknown_key": {"en": "There is no such setting.", "ja": "この設定項目は存在しません。"},
    "invalid_unknown_key_key": {"en": "There is no setting {key}.", "ja": "設定項目 {key} は存在しません。"},
    "invalid_unknown_measure": {"en": "There is no such measure.", "ja": "この指標は存在しません。"},
    "invalid_unknown_measure_name": {
        "en": "This track has no measure {key}.",
        "ja": "このトラックに指標 {key} はありません。",
    },
    "invalid_wrong_type": {"en": "A setting is of the wrong kind.", "ja": "設定の形式が違います。"},
    "invalid_wrong_type_key": {"en": "{key} must be a table.", "ja": "{key} はテーブルとしてください。"},
    "invalid_wrong_value": {"en": "A value is wrong.", "ja": "設定の値が正しくありません。"},
    "invalid_wrong_value_key": {
        "en": "{key} must be {expected}.",
        "ja": "{key} の値が正しくありません（指定できる値：{expected}）。",
    },
}
