"""Targets and guesses."""

WORDS: dict[str, dict[str, str]] = {
    "all_as_zip": {"en": "Download all targets", "ja": "すべての攻撃対象をダウンロード"},
    "all_targets": {"en": "All targets", "ja": "攻撃対象の一覧"},
    "answered": {"en": "Rows answered", "ja": "回答行数"},
    "commitment_opened": {
        "en": "Check it: the SHA-256 of the salt’s bytes followed by secret.csv is the commitment.",
        "ja": "検証方法：ソルトのバイト列に secret.csv を続けたものの SHA-256 が、コミットメントと一致します。",
    },
    "done_guessed": {
        "en": "Your guess is taken in. The same file sent again counts once.",
        "ja": "推測を受け付けました。同じファイルを再送しても 1 回分として扱われます。",
    },
    "files": {"en": "Files", "ja": "ファイル"},
    "first_of": {"en": "The first {shown} of {total}:", "ja": "{total} 件中、最初の {shown} 件："},
    "guess_ERROR": {"en": "Error on our side; does not count", "ja": "システムエラー（回数に数えません）"},
    "guess_QUEUED": {"en": "Queued", "ja": "待機中"},
    "guess_SCORED": {"en": "Scored", "ja": "採点済み"},
    "guess_SCORING": {"en": "Scoring", "ja": "採点中"},
    "guess_cap_attempts_per_day": {"en": "Refused guesses today", "ja": "本日の受付不可"},
    "guess_cap_attempts_total": {"en": "Refused guesses in all", "ja": "受付不可の合計"},
    "guess_feedback_daily": {
        "en": "You see how many rows were right after midnight on the competition’s clock.",
        "ja": "的中数は、コンテストの時計で日付が変わると表示されます。",
    },
    "guess_feedback_hidden": {
        "en": "How many rows were right stays hidden until the competition closes.",
        "ja": "的中数はコンテスト終了まで公開されません。",
    },
    "guess_feedback_immediate": {
        "en": "You see how many rows were right as soon as the guess is scored.",
        "ja": "的中数は採点が終わり次第表示されます。",
    },
    "guess_file": {"en": "Guess file", "ja": "推測ファイル"},
    "guess_form": {
        "en": "CSV: the line original_row, then {rows} lines, each a number from 1 to {originals}, or 0 to abstain.",
        "ja": "CSV 形式。1 行目は original_row、続けて {rows} 行です。各行に 1〜{originals} の行番号を書き、答えない行は 0 とします。",
    },
    "guess_problem_quota_used_up": {
        "en": "Your team has used up what it may send for now.",
        "ja": "送信できる回数の上限に達しています。",
    },
    "guess_rate": {"en": "Rate", "ja": "再識別率"},
    "guess_refused": {
        "en": "The file was not taken in, and used up no guess.",
        "ja": "受付不可のファイルです。推測の回数は減っていません。",
    },
    "guess_sample": {"en": "Example of a guess file", "ja": "推測ファイルの例"},
    "guess_sample_note": {
        "en": "Row 1 of the target is taken for row 27 of the original, row 2 is left open, row 3 is taken for row 3.",
        "ja": "攻撃対象の 1 行目は元データの 27 行目、2 行目は無回答、3 行目は元データの 3 行目、という意味です。",
    },
    "guess_sent": {"en": "Sent", "ja": "送信日時"},
    "guess_state": {"en": "State", "ja": "状態"},
    "guesses_left": {"en": "Guesses left", "ja": "残り回数"},
    "guessing_closed": {
        "en": "The re-identification phase is over: no more guesses are taken.",
        "ja": "再識別フェーズは終了しました。推測の受付は締め切られています。",
    },
    "guessing_paused": {
        "en": "The organizers have paused the phase. No guess is taken until they resume it; the deadline moves by as much.",
        "ja": "主催者がフェーズを一時停止しています。再開まで推測は受け付けませんが、締切も停止した時間だけ延びます。",
    },
    "guide_commands": {"en": "The same on the command line", "ja": "コマンドラインで行う場合"},
    "guide_commands_note": {
        "en": "attack runs the built-in attackers and writes a guess of each: a start that every team has.",
        "ja": "attack は組み込みの攻撃者を実行し、それぞれの推測をファイルに書き出します。どのチームも使える出発点です。",
    },
    "guide_customers": {
        "en": "Here a row is a customer: a line of customers.csv.",
        "ja": "このコンテストでは、顧客 1 人（customers.csv の 1 行）を 1 行と数えます。",
    },
    "guide_file": {
        "en": "For each row of the target, write the number of the row of the original that you take it for, counted from 1. 0 means that you leave it open; a number may occur more than once.",
        "ja": "攻撃対象の各行について、元データの何行目にあたるか（1 から数えた行番号）を書きます。0 は無回答です。同じ番号を何度使ってもかまいません。",
    },
    "guide_oracle": {
        "en": "The number of right rows is a clue: the more often it is told, the fewer guesses reveal single rows. 50 rows with two candidates each fall to about 20 exact numbers.",
        "ja": "的中数は正答を探る手がかりにもなります。得られる的中数が増えるほど、少ない推測で個々の行が特定されます。候補が 2 つずつの 50 行なら、正確な的中数約 20 回分で決まります。",
    },
    "guide_send": {
        "en": "Open a target, choose the file, send it. A guess counts by the rows it has right; the best one on each target stands.",
        "ja": "攻撃対象のページでファイルを選んで送信します。推測は的中した行数で評価され、攻撃対象ごとに最良のものが採用されます。",
    },
    "guide_target": {
        "en": "A target is the release of another team: the individuals of the original, changed, in another order, under a name that says nothing.",
        "ja": "攻撃対象は、ほかのチームの匿名化データです。元データの個人の値が変更され、順序が入れ替わり、意味のない名前が付いています。",
    },
    "hidden": {"en": "hidden", "ja": "非公開"},
    "how_to_guess": {"en": "How to attack", "ja": "攻撃の手順"},
    "last_guess": {"en": "Your last guess,", "ja": "最新の推測"},
    "last_guess_told": {
        "en": "{right} of {rows} rows are right ({rate}).",
        "ja": "{rows} 行中 {right} 行が的中しました（{rate}）。",
    },
    "last_guess_waits": {
        "en": "is being scored; the result appears here.",
        "ja": "採点中です。結果はここに表示されます。",
    },
    "lines_from_to": {"en": "Rows {first}–{last}", "ja": "{first}〜{last} 行目"},
    "manifest": {"en": "Manifest (SHA-256)", "ja": "マニフェスト（SHA-256）"},
    "more_guesses": {"en": "{count} more, sent earlier:", "ja": "ほかに {count} 件："},
    "no_guess_left": {
        "en": "Your team has no guess left on this target.",
        "ja": "この攻撃対象への推測は、回数をすべて使い切りました。",
    },
    "no_own_guesses": {
        "en": "No guess yet. Choose a target, and read below how to attack it.",
        "ja": "推測はまだありません。攻撃対象を選び、下の手順に沿って始めてください。",
    },
    "no_targets": {
        "en": "No team has an accepted submission: there is nothing to attack.",
        "ja": "受理された提出がないため、攻撃対象はありません。",
    },
    "own_best": {"en": "Your best", "ja": "自チームの最良"},
    "own_guesses": {"en": "Your team’s guesses", "ja": "自チームの推測"},
    "own_target": {"en": "Yours", "ja": "自チーム"},
    "own_target_note": {
        "en": "This is your own team’s release: the others attack it.",
        "ja": "自チームの匿名化データです。ほかのチームが攻撃します。",
    },
    "problem_own_target": {
        "en": "This target is your own.",
        "ja": "自チームの攻撃対象には推測を送信できません。",
    },
    "problem_target_withdrawn": {
        "en": "This target has been withdrawn.",
        "ja": "この攻撃対象は取り下げられました。",
    },
    "refused_note": {
        "en": "Each target has guesses of its own. Beyond them, only guesses that were refused as malformed are counted.",
        "ja": "推測の回数は攻撃対象ごとに数えます。そのほかに数えるのは、受付不可となったファイルだけです。",
    },
    "reidentification_board": {"en": "Re-identification board", "ja": "再識別ボード"},
    "resets_at": {"en": "resets", "ja": "リセット："},
    "reveal": {"en": "Secrets and salts", "ja": "秘密ファイルとソルト"},
    "revealed_note": {
        "en": "The competition is over. Each target’s page has its secret and what opens its commitment.",
        "ja": "コンテストは終了しました。各攻撃対象のページで、秘密ファイルとコミットメントの検証に必要な値を確認できます。",
    },
    "right_rows": {"en": "Right", "ja": "的中"},
    "salt": {"en": "Salt", "ja": "ソルト"},
    "secret": {"en": "Secret", "ja": "秘密ファイル"},
    "send_guess": {"en": "Send a guess", "ja": "推測を送信"},
    "target": {"en": "Target", "ja": "攻撃対象"},
    "target_commitment": {"en": "Commitment", "ja": "コミットメント"},
    "target_commitment_note": {
        "en": "SHA-256 of a random salt, then the secret. Both are published when the competition closes: nobody can change the answer until then.",
        "ja": "乱数のソルトに続けて秘密ファイルを並べたものの SHA-256 です。終了後に両方を公開するため、それまで誰も秘密ファイルを差し替えられません。",
    },
    "target_owners": {"en": "Possible owners", "ja": "持ち主の候補"},
    "target_owners_note": {
        "en": "So many teams’ rows on the board fit this target, for all that anyone can compute of it when the targets appear. They are not equally likely.",
        "ja": "攻撃対象の公開時点で、ボードの値と、この攻撃対象から誰でも計算できる値に矛盾しないチームの数です。どのチームも同じ確からしさとは限りません。",
    },
    "target_rows": {"en": "Rows", "ja": "行数"},
    "targets_from": {"en": "It starts:", "ja": "開始："},
    "targets_later": {
        "en": "There is nothing to attack yet: the targets are published when the re-identification phase starts.",
        "ja": "攻撃対象はまだありません。再識別フェーズの開始と同時に公開されます。",
    },
    "targets_meanwhile": {
        "en": "Every team’s finals become targets for all the others. Until then, try the built-in attackers on your own releases: the kit on the rules page has what you need.",
        "ja": "各チームの最終提出が、ほかのすべてのチームの攻撃対象になります。それまでは、自チームの匿名化データに組み込みの攻撃者を試してみてください。必要なものは、ルールのページの参加キットにあります。",
    },
    "targets_note": {
        "en": "Say which row of the original each row of a target came from.",
        "ja": "攻撃対象の各行が、元データのどの行から作られたかを推測してください。",
    },
    "teams_only_guess": {
        "en": "Only teams of this competition send guesses.",
        "ja": "推測を送信できるのは、このコンテストのチームだけです。",
    },
    "this_target": {"en": "This target", "ja": "この攻撃対象"},
    "what_is_left": {"en": "What your team may still send", "ja": "送信の上限"},
    "withdrawn": {"en": "Withdrawn", "ja": "取り下げ"},
    "withdrawn_note": {
        "en": "It has been withdrawn: guesses on it do not count, and none are taken.",
        "ja": "この攻撃対象は取り下げられました。推測は採点されず、受付も停止しています。",
    },
}
