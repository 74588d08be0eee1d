//! Games, the judge, the live board.

super::list::words! {
    /// Games, the judge, the live board.
    Boards {
        game_of: "Game {}", "第 {} 局";
        red: "Red", "红方";
        black: "Black", "黑方";
        plain: "plain evaluation", "基础评估";
        step_first: "First move", "开局";
        step_back: "One move back", "后退一步";
        step_on: "One move on", "前进一步";
        step_last: "Last move", "终局";
        flip: "Turn the board", "翻转棋盘";
        steps: "Steps", "步进";
        keys: "Keys: ← → step, F turns the board. While the board has the focus (click it): ↑ ↓ first and last, PgUp PgDn ten moves.",
            "键盘：← → 逐步，F 翻转棋盘；点选棋盘后：↑ ↓ 首末，PgUp PgDn 十步。";
        board: "Board", "棋盘";
        moves_before: "Earlier moves", "更早的着法";
        moves_after: "Later moves", "其后的着法";
        beginning: "Starting position", "初始局面";
        moves: "Moves", "着法";
        notation: "Notation", "记谱法";
        notation_chinese: "Chinese", "中文";
        scores: "Score by move, seen from Red, in pawns", "各步评分（红方视角，以兵为单位）";
        opening_moves: "{} opening {move|moves}", "开局 {} 步";
        verdict: "The arbiter's verdict", "裁判结论";
        ongoing: "The game continues.", "对局继续。";
        ongoing_help: "No rule ends the game in this position.", "此局面下没有任何规则终止对局。";
        ongoing_counter: "{} {ply is|plies are} counted toward the natural limit.", "自然限着已计 {} 步。";
        red_wins: "Red wins", "红胜";
        black_wins: "Black wins", "黑胜";
        draw: "Draw", "和棋";
        cycle: "The cycle, move by move", "循环逐步分析";
        cycle_help: "The position after ply {} came back; these are the moves in between. A side offends only by what it does on every one of its moves.",
            "第 {} 步后的局面重复出现，以下为其间各步。只有一方每一步都做的，才算其违规行为。";
        cycle_ply: "Ply", "步";
        cycle_move: "Move", "着法";
        cycle_facts: "What it does", "性质";
        class_of: "All of {}'s moves", "{}全部着法";
        class_allowed: "nothing in common that is forbidden: allowed", "允许循环";
        class_chase: "perpetual chase", "长捉";
        class_chase_pinned_chariot: "perpetual chase of a chariot pinned by the chaser's horse (graver)",
            "长捉被己方马牵制的车（违规等级较高）";
        class_mate_threat: "perpetual threat of mate", "长杀";
        class_check: "perpetual check", "长将";
        marks: "Arrows: red gives check, blue chases, violet threatens mate, grey does not count.",
            "箭头：红为将军，蓝为捉，紫为要杀，灰为不计。";
        pgn: "Download PGN", "下载 PGN";
        to_judge: "Open in the judge", "在裁判页打开";
        all_of_shard: "All games of the shard", "该数据片全部对局";
        rules: "Rules", "规则";
        seed: "Seed", "种子";
        shard: "Shard", "数据片";
        job: "Job", "作业";
        number: "Number", "编号";
        ending: "Ending", "结局";
        plies: "Plies", "步数";
        positions: "Positions", "局面数";
        outcomes: "Outcomes", "结果";
        next_game: "Next game", "下一局";
        previous_game: "Previous game", "上一局";
        games_title: "Games", "对局";
        games_help: "A game is public once its job is over and no audit of it is pending. Games of trusted workers are public at once.",
            "作业结束且复核完成后，对局才会公开；可信工作机的对局即时公开。";
        games_of_job: "Games of job {}", "作业 {} 的对局";
        games_of_shard: "Games of a shard", "数据片中的对局";
        games_none: "There are no such games yet.", "还没有这样的对局。";
        not_yet: "still being checked", "复核中";
        any_reason: "any ending", "全部结局";
        older: "Older", "更早";
        more: "More", "更多";
        newest: "Newest", "最新";
        judge_title: "The judge", "裁判";
        judge_lead: "Paste a position, moves or a file of games, and see what the rules say and why.",
            "粘贴局面、着法或棋谱文件，查看规则的结论与依据。";
        judge_fen: "Position (FEN); empty for the start of a game", "局面（FEN），留空为开局";
        judge_moves: "Moves in any notation: UCI (h2e2), WXF (C2=5), Chinese (炮二平五); PGN and \"position … moves …\" too",
            "着法（任何记谱法）：UCI（h2e2）、WXF（C2=5）、中文（炮二平五），也可粘贴 PGN 或“position … moves …”";
        judge_file: "Or a file of games in PGN: at most 500 games and 1 MB", "或上传 PGN 棋谱文件：最多 500 局、1 MB";
        judge_rules_tagged: "of the game's tag, or cxr", "按棋谱标签，否则 cxr";
        judge_do: "Judge", "裁决";
        judge_examples: "Worked examples of the rulebook", "规则书例题";
        judge_examples_help: "From the rules of computer xiangqi competitions (2023).", "出自《象棋程序竞赛规则》（2023）。";
        judge_example: "Example {}", "例 {}";
        judge_surplus: "The game was over then; {} further {move was|moves were} ignored.", "此时对局已结束，其后 {} 步未予考虑。";
        judge_permanent: "The address of this page can be kept: it holds the position and the moves.",
            "本页地址可收藏：其中包含局面与着法。";
        judge_address: "An address that can be kept", "可收藏的地址";
        judge_claimed: "The text claims: {}.", "文本自称：{}。";
        judge_hint: "Perhaps another side moves first: {}.", "先走方可能有误：{}。";
        judge_skipped: "Parts of the text that were not used: {}", "文本中未采用的部分：{}";
        judge_skipped_more: "and {} more", "另有 {} 处";
        judge_list: "Judged games", "裁决结果";
        judge_list_game: "Game", "局";
        judge_list_line: "Line", "行";
        judge_list_players: "Red – Black", "红方 – 黑方";
        judge_list_claimed: "Claimed", "自称结果";
        judge_list_rules: "By the rules", "按规则";
        judge_list_ply: "Ply", "步数";
        judge_list_verdict: "Comparison", "比较";
        judge_ongoing: "ongoing", "未结束";
        judge_nothing: "nothing", "无";
        judge_agrees: "agrees", "一致";
        judge_differs: "differs", "不同";
        judge_undecided: "undecided", "规则未定";
        judge_refused: "refused", "无法读取";
        judge_games: "Games", "局数";
        judge_comments: "Comments skipped", "略过注释";
        judge_variations: "Variations skipped", "略过变着";
        judge_glyphs: "Glyphs skipped", "略过评注符号";
        judge_others: "Other parts skipped", "略过其他部分";
        judge_undecided_help: "Undecided: the rules do not end the game, as after a resignation. A game's number leads to its board.",
            "规则未定：规则没有终结该局，例如认输。点击局号可看棋盘。";
        rules_cxr: "computer competitions (cxr)", "程序竞赛规则（cxr）";
        rules_wxf: "World Xiangqi Federation (wxf)", "世界象棋联合会（wxf）";
        rules_axf: "Asian Xiangqi Federation (axf)", "亚洲象棋联合会（axf）";
        rules_wikibook: "older custom (wikibook)", "旧例（wikibook）";
        rules_simple: "every repetition a draw (simple)", "重复即和（simple）";
        live_title: "Live game", "现场直播";
        live_none: "No game is shown live at the moment.", "目前没有正在直播的对局。";
        live_none_help: "A gate appears here by itself when it begins; a maintainer can mark any match.",
            "晋级测试开始后会自动显示于此；维护者也可标记任意对抗赛。";
        live_waits: "Match {} is chosen. Its next game appears here as soon as it begins.", "已选定对抗赛 {}，下一局开始后即在此显示。";
        live_pair: "Match {}", "对抗赛 {}";
        colon: ": ", "：";
        live_report: "Last report", "最近所报";
        live_depth: "Depth", "深度";
        live_speed: "Nodes/s", "节点/秒";
        live_score: "Score", "评分";
        live_score_help: "seen from Red, in pawns", "红方视角，以兵为单位";
        live_variation: "Expected line", "主要变例";
        live_nodes: "{} {node|nodes}", "{} 节点";
        live_limit: "{} a move", "每步 {}";
        live_clock_help: "These games are limited by nodes, not by time. In place of clocks: each side's nodes in the game, and its limit per move.",
            "本局按节点数而非时间限制：原本显示用时之处，为双方本局已搜索的节点数与每步上限。";
        live_thinks: "thinks", "思考中";
        live_over: "The game is over: {}.", "对局结束：{}。";
        live_silent: "The worker was last heard {}.", "工作机最近一次消息：{}。";
        live_lost: "The connection broke; trying again.", "连接中断，正在重试。";
        live_word: "What is shown is the worker's word; games count when they are delivered and proved.",
            "直播内容为工作机自述；对局须提交并验证后才计入。";
        live_begin: "Show this match live", "直播此对抗赛";
        live_end: "Stop showing it", "停止直播";
    }
}
