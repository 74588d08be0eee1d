//! Home, campaigns, matches, nets.

super::list::words! {
    /// Home, campaigns, matches, nets.
    Campaigns {
        what_runs: "What is running", "正在进行";
        nothing_runs: "No campaign is running. A maintainer begins one: chuhe-coordinator admin campaign create FILE",
            "目前没有进行中的任务。维护者创建任务：chuhe-coordinator admin campaign create FILE";
        games_hour: "Games in the last hour", "近一小时对局";
        positions_hour: "Positions in the last hour", "近一小时局面";
        playing_now: "Being played", "正在下";
        playing_finished: "{} finished", "已下完 {}";
        workers_now: "Workers now", "在线工作机";
        threads: "{} {thread|threads}", "{} 线程";
        threads_now: "Threads now", "在线线程";
        games_total: "Games so far", "累计对局";
        positions_total: "{} {position|positions}", "{} 局面";
        current_net: "Current net", "当前网络";
        plain: "plain evaluation", "基础评估";
        strength: "Strength", "棋力";
        strength_about: "Elo over the campaign's first net: what each promoted net gained in its gate match, added up. The lines are 95 % intervals; the bias of sequential tests is corrected only approximately.",
            "相对任务初始网络的 Elo：各晋级网络在测试中所得之和，竖线为 95% 置信区间；序贯检验的偏差仅作近似处理。";
        strength_none: "Nothing was promoted yet.", "尚无晋级网络。";
        promoted_earlier: "{} earlier {one is|ones are} in the JSON", "更早的 {} 个见 JSON";
        promoted_nets: "promoted nets", "晋级网络";
        last_events: "Last events", "最近动态";
        events_none: "Nothing happened yet.", "暂无动态。";
        generation: "Generation", "代";
        generation_of: "generation {}", "第 {} 代";
        champion: "Champion", "冠军";
        state: "State", "状态";
        since: "Since", "开始于";
        when: "When", "时间";
        net: "Net", "网络";
        gain: "Gain", "增益";
        sum: "Sum", "累计";
        kind: "Kind", "方式";
        campaign: "Campaign", "任务";
        campaigns_none: "There are no campaigns yet.", "还没有任务。";
        new_campaign: "New campaign", "新建任务";
        new_about: "A campaign is a text (TOML). It begins as soon as it is created.", "任务以 TOML 文本描述，创建后立即开始。";
        text: "Text of the campaign", "任务文本";
        create: "Create campaign", "创建任务";
        fault_line: "Line {}", "第 {} 行";
        pipeline: "Pipeline", "流程";
        again: "promoted: the next generation · not promoted: more games", "晋级：进入下一代 · 未通过：继续采集";
        step_games: "Games", "对局";
        step_training: "Training", "训练";
        step_gate: "Gate match", "晋级测试";
        step_promotion: "Promotion", "晋级";
        last_time: "last time: {}", "上次 {}";
        for_time: "for {}", "已 {}";
        about_server: "Volunteers' computers play xiangqi against themselves here. Neural nets learn from the games, and a new net is promoted when a match proves it stronger.",
            "志愿者的电脑在这里自我对弈象棋；神经网络从对局中学习，经对抗赛证明更强后晋级。";
        join: "Take part", "参与贡献";
        join_register: "a name and a password, no e-mail.", "只需名称和密码，无需邮箱。";
        join_token: "Copy the token that is shown then.", "复制随后显示的令牌。";
        join_run: "Build the worker and start it. It asks for the token.", "编译并启动工作机，它会询问令牌。";
        join_now: "Build the worker and start it. It asks for this token, and your games appear on your page.",
            "编译并启动工作机，它会询问此令牌；您的对局将显示在您的页面上。";
        join_more: "Run these lines on the new machine. The worker asks for a token: make one for each machine, so that you can revoke it alone.",
            "在新机器上运行以下命令即可加入。工作机会询问令牌；每台机器各用一个令牌，便可单独撤销。";
        join_no_source: "This server does not name where its source is: ask its maintainer, and run the lines in that folder.",
            "本服务器未公布源码地址：请向维护者索取，并在源码目录中运行。";
        join_prepare: "The line with \"eval\" installs a compiler and Rust where they are missing, on Debian 12, Ubuntu 24.04 or newer. Elsewhere install them yourself and leave it out.",
            "含 eval 的一行会在 Debian 12、Ubuntu 24.04 或更新的系统上安装缺少的编译器和 Rust；其他系统请自行安装并略去此行。";
        join_commands: "Commands", "命令";
        stuck_help: "A maintainer decides: look at the last nets and matches, then sign in and press \"Resume\" here, or run this:",
            "由维护者决定：查看最近的网络与对抗赛，然后登录并点击“继续”，或运行：";
        stuck_why: "The campaign waits for a person: {}", "任务受阻，等待处理：{}";
        commands: "Commands", "操作";
        pause: "Pause", "暂停";
        resume: "Resume", "继续";
        stop: "Stop for good", "永久停止";
        train_now: "Train now", "立即训练";
        reject_candidate: "Reject the candidate", "放弃候选";
        promote_candidate: "Promote the candidate", "直接晋级候选";
        sure_stop: "A stopped campaign cannot be resumed. Games and nets stay.", "停止后不可恢复；对局与网络均保留。";
        sure_promote: "The candidate becomes champion, whatever its gate's verdict.", "无论测试结果如何，候选将成为冠军。";
        sure_reject: "The match ends and the candidate is given up.", "测试结束，候选被放弃。";
        sure_rollback: "The previous champion returns, and a new generation begins.", "上一任冠军复位，并开启新一代。";
        say_why: "Say why, in a few words.", "请简要说明原因。";
        fallen_training: "{} {game|games} that it learned from {is|are} in quarantine now.", "训练所用对局中已有 {} 局被隔离。";
        fallen_gate: "{} {game|games} of its gate match {is|are} in quarantine now.", "晋级测试对局中已有 {} 局被隔离。";
        roll_back: "Roll back", "回退";
        reason: "Reason", "原因";
        edit: "Edit", "编辑";
        edit_about: "Description, priority, other campaigns to learn from, generations, gate and recipe may be changed; what games are a function of may not.",
            "可修改说明、优先级、其他来源任务、代参数、测试与训练配方；决定对局内容的部分不可修改。";
        save: "Save", "保存";
        changed_done: "The campaign was changed.", "任务已修改。";
        command_done: "Done.", "操作完成。";
        per_generation: "Positions per generation", "各代局面数";
        labels: "How games ended", "终局统计";
        games: "Games", "对局";
        positions: "Positions", "局面";
        games_of_generation: "Games of generation {}", "第 {} 代对局";
        positions_of_generation: "Positions of generation {}", "第 {} 代局面";
        collecting_time: "Collecting", "采集";
        training_time: "Training", "训练";
        gating_time: "Gate", "测试";
        generations_none: "No games yet.", "还没有对局。";
        details: "The whole text", "完整文本";
        matches_none: "There are no matches yet.", "还没有对抗赛。";
        versus: "{} against", "{} 对";
        candidate: "Candidate", "候选";
        opponent: "Opponent", "对手";
        result: "Result", "结果";
        pairs: "Pairs", "局对";
        pairs_about: "pairs of games", "局对";
        score: "Score", "得分率";
        elo: "Elo", "Elo";
        interval: "95 % interval", "95% 区间";
        llr: "LLR", "LLR";
        being_counted: "The games of this match are being counted; the page is loaded again by itself.",
            "正在统计本赛对局，本页会自动重新载入。";
        llr_curve: "Log-likelihood ratio", "对数似然比";
        llr_about: "The test ends when the curve reaches a bound: above, the candidate is stronger; below, it is not.",
            "曲线触及上界则候选更强，触及下界则否。";
        bounds: "Bounds", "界限";
        hypotheses: "Hypotheses", "假设";
        games_left: "Games left, about", "预计剩余对局";
        chance: "Chance to pass", "通过概率";
        at_most: "{} {pair|pairs} at most", "最多 {} 局对";
        decided_h1: "stronger", "更强";
        decided_h0: "not stronger", "未证明更强";
        undecided: "undecided", "未定";
        in_progress: "in progress", "进行中";
        pentanomial: "Pairs by the candidate's points", "候选每个局对的得分分布";
        by_worker: "By worker", "各工作机成绩";
        by_worker_about: "Marked: more than three standard deviations from all others.", "标出者与其余相差超过三个标准差。";
        workers_more: "and {} more: all are in the JSON", "另有 {} 台，全部见 JSON";
        worker: "Worker", "工作机";
        deviation: "Deviations", "偏差";
        openings: "Openings", "开局";
        openings_of: "Openings of match {}", "对抗赛 {} 的开局";
        openings_all: "All openings with their results", "全部开局及结果";
        openings_later: "Openings with their results are shown when the match is over and its games are checked.",
            "对抗赛结束且对局复核后，将在此显示各开局及结果。";
        points: "Candidate's points", "候选得分";
        openings_plies: "{} random {ply|plies}", "随机 {} 步";
        openings_book: "from the book {}", "取自开局库 {}";
        openings_filter: "kept if even within {} {centipawn|centipawns}", "评估差在 {} 厘兵内";
        nodes: "Nodes a move", "每步节点";
        rules: "Rules", "规则";
        los: "Likelihood of superiority", "优势概率";
        see_games: "Games of this match", "本赛对局";
        nets_none: "There are no nets yet.", "还没有网络。";
        hash: "Hash", "哈希";
        architecture: "Architecture", "结构";
        size: "Size", "大小";
        made: "Made", "生成";
        download: "Download", "下载";
        manifest: "Manifest", "清单";
        recipe: "Recipe", "训练配方";
        curves: "Loss of the training", "训练损失";
        family: "Family", "谱系";
        gate_result: "Matches", "测试结果";
        champion_of: "Champion of {}", "{} 的冠军";
        trained_from: "Positions learned", "学习局面数";
        validation_loss: "Validation loss", "验证损失";
        steps: "Steps", "步数";
        sprt_about: "What a sequential test says of results, and how many games it takes.", "序贯检验的结论与所需对局数。";
        sprt_counts: "Pairs: lost both, 0.5, 1, 1.5, won both", "局对：0、0.5、1、1.5、2 分";
        sprt_elo0: "Elo 0", "Elo 0";
        sprt_elo1: "Elo 1", "Elo 1";
        sprt_alpha: "α", "α";
        sprt_beta: "β", "β";
        sprt_model: "Scale", "标度";
        sprt_ask: "Calculate", "计算";
        sprt_expected: "Expected games if results continue like this", "按此走势预计总对局数";
        normalized: "normalised Elo", "归一化 Elo";
        logistic: "logistic Elo", "逻辑斯谛 Elo";
        decision: "Decision", "结论";
        clock: "Clock", "计时";
        time_losses: "Lost on time", "超时判负";
        time_losses_of: "candidate {}, opponent {}", "候选 {}，对手 {}";
        unprovable: "Played under a clock by trusted workers. These games cannot be replayed, so they prove nothing to others, promote no net and train none.",
            "由受信工作机计时对弈：对局无法复现，故不可复核，不用于晋级，也不用于训练。";
        progress: "Progress", "进度";
    }
}
