"""A competition's first page."""

WORDS: dict[str, dict[str, str]] = {
    "about_microdata": {
        "en": "A contest on a table of {individuals} individuals with {columns} columns.",
        "ja": "{individuals} 人・{columns} 列の個票データを題材とするコンテストです。",
    },
    "about_missing": {
        "en": "The organizers have not uploaded the original data yet.",
        "ja": "元データはまだ登録されていません。",
    },
    "about_transactions": {
        "en": "A contest on the purchases of {individuals} customers, in two tables with {columns} columns together.",
        "ja": "顧客 {individuals} 人の購買履歴データ（2 つの表、計 {columns} 列）を題材とするコンテストです。",
    },
    "announcements": {"en": "Announcements", "ja": "お知らせ"},
    "announcements_none": {
        "en": "Nothing has been announced yet. The organizers’ announcements will appear here.",
        "ja": "お知らせはまだありません。主催者からの連絡はここに掲載されます。",
    },
    "announcements_older": {"en": "Older announcements", "ja": "以前のお知らせ"},
    "how_it_works": {"en": "How it works", "ja": "コンテストの流れ"},
    "how_1": {"en": "Anonymize", "ja": "匿名化"},
    "how_1_said": {
        "en": "Every team changes the same data so that they stay useful but nobody can be told from them. It sends its release together with the secret, which says who is who in it and is sealed on receipt.",
        "ja": "全チームが同じデータを、有用性を保ちながら個人が特定されないように匿名化します。匿名化データと、その各行が誰のものかを示す秘密ファイルを一緒に提出します。秘密ファイルは受付時に封印されます。",
    },
    "how_2": {"en": "Get scored", "ja": "採点"},
    "how_2_said": {
        "en": "At once the service measures how much utility is lost, and its {attackers} built-in attackers look for the individuals. A release that resembles the original too little is rejected.",
        "ja": "提出するとすぐに、失われた有用性が測定され、組み込みの攻撃者 {attackers} 種が個人の再識別を試みます。元データから離れすぎた提出は却下されます。",
    },
    "how_3": {"en": "Attack", "ja": "攻撃"},
    "how_3_said": {
        "en": "At the deadline the finals of each team, {finals} at most, become targets. All the other teams get them and guess who is who in them.",
        "ja": "締切後、各チームの最終提出（最大 {finals} 件）が攻撃対象になります。他チームはそれを入手し、各行が誰のものかを推測して送信します。",
    },
    "how_win": {"en": "Win", "ja": "順位"},
    "how_win_rank_sum": {
        "en": "Submissions are ranked in every measure that weighs and in risk; the lowest sum of ranks wins.",
        "ja": "重みのある各指標とリスクについて順位を付け、順位の和が最も小さいチームが優勝です。",
    },
    "how_win_score": {
        "en": "The overall score is the mean of utility loss and risk, the largest share of individuals that anyone finds: the lowest wins.",
        "ja": "総合点は、有用性損失とリスク（最も成功した攻撃者が再識別した個人の割合）の平均です。最も小さいチームが優勝です。",
    },
    "how_win_attackers": {
        "en": "The re-identification board ranks the attacks: whoever identifies the most individuals leads it.",
        "ja": "攻撃の成績は再識別ボードで競います。最も多くの個人を再識別したチームが首位です。",
    },
    "lead_anonymous": {
        "en": "Nobody has a rank yet. The first accepted submission leads the board.",
        "ja": "順位はまだありません。最初に受理された提出が首位になります。",
    },
    "lead_attackers": {
        "en": "On the re-identification board {team} leads: {identified} of {tried} individuals identified in {targets} targets.",
        "ja": "再識別ボードの首位は「{team}」です。攻撃対象 {targets} 件の計 {tried} 人中 {identified} 人を再識別しました。",
    },
    "lead_attackers_hidden": {
        "en": "The re-identification board opens when the phase has closed: the scores of guesses are hidden until then.",
        "ja": "再識別ボードは、推測の得点が公開されるフェーズ終了後に表示されます。",
    },
    "lead_closed": {
        "en": "The boards of this competition are not open to you at the moment.",
        "ja": "このコンテストのボードは現在公開されていません。",
    },
    "lead_found_by": {
        "en": "Of the attackers that count, “{attacker}” finds the most: {found}% of the individuals.",
        "ja": "算入される攻撃者のうち最も成功したのは「{attacker}」で、個人の {found}% を再識別しています。",
    },
    "lead_found_by_nobody": {
        "en": "No attacker that counts finds anybody.",
        "ja": "算入される攻撃者は誰も再識別していません。",
    },
    "lead_found_by_rival": {
        "en": "Another team’s guess finds the most: {found}% of the individuals.",
        "ja": "最も成功したのは他チームの推測で、個人の {found}% を再識別しています。",
    },
    "lead_frozen": {"en": "as it stood on", "ja": "次の時点の順位です："},
    "lead_said_coarse_rank_sum": {
        "en": "{team} leads with the lowest sum of ranks; its utility loss is {utility} and its risk {security}.",
        "ja": "首位は順位の和が最小の「{team}」です（有用性損失 {utility}、リスク {security}）。",
    },
    "lead_said_coarse_score": {
        "en": "{team} leads with the lowest overall score, {overall}; its utility loss is about {utility} and its risk about {security}.",
        "ja": "首位は「{team}」で、総合点は最小の {overall} です（有用性損失は約 {utility}、リスクは約 {security}）。",
    },
    "lead_said_rank_sum": {
        "en": "{team} leads with the lowest sum of ranks, {sum}; its utility loss is {utility} and its risk {security}.",
        "ja": "首位は「{team}」で、順位の和は最小の {sum} です（有用性損失 {utility}、リスク {security}）。",
    },
    "lead_said_score": {
        "en": "{team} leads with the lowest overall score, {overall}, the mean of utility loss {utility} and risk {security}.",
        "ja": "首位は「{team}」で、総合点は最小の {overall} です（有用性損失 {utility} とリスク {security} の平均）。",
    },
    "lead_tied": {"en": "{tied} teams share the first rank.", "ja": "{tied} チームが同率首位です。"},
    "lead_title": {"en": "Who leads, and why", "ja": "首位とその理由"},
    "lead_to_board": {"en": "The whole board", "ja": "ボード全体を見る"},
    "lead_to_attackers": {"en": "Re-identification board", "ja": "再識別ボードを見る"},
    "lead_vs_both": {
        "en": "It is both more useful and safer than {second} in second place (utility loss {utility}, risk {security}).",
        "ja": "次点の「{second}」（有用性損失 {utility}、リスク {security}）を、有用性でも安全性でも上回っています。",
    },
    "lead_vs_more_useful": {
        "en": "{second} in second place is no less safe (risk {security}) but loses more utility ({utility}).",
        "ja": "次点の「{second}」は、リスクは {security} で劣りませんが、有用性損失が {utility} と大きくなっています。",
    },
    "lead_vs_safer": {
        "en": "{second} in second place is no less useful (utility loss {utility}) but easier to attack (risk {security}).",
        "ja": "次点の「{second}」は、有用性損失は {utility} で劣りませんが、リスクが {security} と大きくなっています。",
    },
    "schedule": {"en": "Schedule", "ja": "日程"},
    "schedule_from": {"en": "From", "ja": "開始"},
    "schedule_none": {"en": "No phase has a date yet.", "ja": "日程はまだ決まっていません。"},
    "schedule_over": {"en": "Over", "ja": "終了"},
    "schedule_reveal": {
        "en": "The end was moved nearer, so it was announced, and the scores and the secrets wait until:",
        "ja": "終了時刻が早められたため、予告期間を置きます。得点と秘密ファイルの公開：",
    },
    "schedule_running": {"en": "Now", "ja": "開催中"},
    "schedule_to": {"en": "To", "ja": "終了"},
    "schedule_zone": {"en": "Times are those of {zone}.", "ja": "時刻は {zone} のものです。"},
    "step_data": {
        "en": "Teams cannot begin: the original data are missing.",
        "ja": "元データが未登録のため、チームはまだ始められません。",
    },
    "step_data_link": {"en": "Upload the data", "ja": "元データを登録"},
    "step_join": {
        "en": "To take part you need an invite code from the organizers, or from a team that you join.",
        "ja": "主催者、または参加するチームのメンバーから受け取った招待コードで参加できます。",
    },
    "step_join_link": {"en": "Join with a code", "ja": "招待コードで参加"},
    "step_next": {"en": "What to do next", "ja": "次にすること"},
    "step_organize": {
        "en": "You organize this competition.",
        "ja": "あなたはこのコンテストの主催者です。",
    },
    "step_organize_link": {"en": "Organize", "ja": "運営ページへ"},
    "step_over": {
        "en": "The contest is over. See how it ended.",
        "ja": "コンテストは終了しました。結果をご覧ください。",
    },
    "step_over_link": {"en": "See the boards", "ja": "ボードを見る"},
    "step_starts": {"en": "Start:", "ja": "開始："},
    "step_team_anonymization": {
        "en": "Send a release, see its score, and choose the submissions that stand for you as finals.",
        "ja": "匿名化データを提出して得点を確かめ、最終提出を選んでください。",
    },
    "step_team_anonymization_link": {"en": "Send a release", "ja": "提出する"},
    "step_team_between": {
        "en": "Your finals are fixed. The attacks begin with the next phase.",
        "ja": "最終提出は確定しました。次のフェーズから攻撃が始まります。",
    },
    "step_team_between_link": {"en": "See your submissions", "ja": "自チームの提出を見る"},
    "step_team_closed": {
        "en": "The contest is over. See how it ended.",
        "ja": "コンテストは終了しました。結果をご覧ください。",
    },
    "step_team_closed_link": {"en": "See the boards", "ja": "ボードを見る"},
    "step_team_draft": {
        "en": "Read the rules and get the kit: with it you can score your releases at home before the contest begins.",
        "ja": "ルールを読み、キットを入手してください。開始前でも手元で採点できます。",
    },
    "step_team_draft_link": {"en": "Rules and data", "ja": "ルールとデータ"},
    "step_team_paused": {
        "en": "The organizers have paused the phase; nothing is taken in until they resume it, and the deadline moves by as much.",
        "ja": "フェーズは一時停止中です。再開まで提出・送信はできませんが、締切は停止した時間だけ延びます。",
    },
    "step_team_paused_link": {"en": "Read the rules", "ja": "ルールを読む"},
    "step_team_reidentification": {
        "en": "Download the other teams’ targets and send your guesses.",
        "ja": "他チームの攻撃対象をダウンロードし、推測を送信してください。",
    },
    "step_team_reidentification_link": {"en": "Attack", "ja": "攻撃する"},
    "step_team_settling": {
        "en": "The deadline has passed. What came in time is still being scored.",
        "ja": "締切を過ぎました。期限内の提出を採点しています。",
    },
    "step_team_settling_link": {"en": "See your submissions", "ja": "自チームの提出を見る"},
    "step_visitor": {
        "en": "Sign in to take part. New here? The organizers give you an invite code.",
        "ja": "参加するにはサインインしてください。はじめての方は、主催者から招待コードを受け取ってください。",
    },
    "step_visitor_link": {"en": "Sign in", "ja": "サインイン"},
}
