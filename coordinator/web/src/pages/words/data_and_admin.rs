//! Data, workers, people, administration.

super::list::words! {
    /// Data, workers, people, administration.
    DataAndAdmin {
        shards: "Shards", "数据片";
        volume: "Games validated per day", "每日验证对局";
        volume_about: "The last {} {day|days} (UTC).", "最近 {} 天（UTC）。";
        bytes: "Bytes", "字节";
        outcomes: "Outcomes", "胜负";
        reasons: "Why games ended", "终局原因";
        figures: "What the positions are like", "局面构成";
        figures_about: "Positions of validated self-play games, which nets learn from; counted when a shard is validated.",
            "已验证自对弈对局的局面，即训练所用；在验证数据片时统计。";
        figures_none: "No positions were counted yet.", "尚未统计局面。";
        figures_counted: "Positions counted", "已统计局面";
        figures_repeated: "Already in the same shard", "同一数据片内重复";
        figures_unscored: "Without a score", "无评分";
        scores: "By score", "按评分";
        scores_about: "For the side to move, in pawns; the ends hold all beyond.", "行棋方视角，以兵为单位；两端包含更大的值。";
        pieces: "By pieces on the board", "按子数";
        pieces_about: "Both sides together; a game begins with 32.", "双方合计；开局为 32 子。";
        duplicates: "Games that two delivered", "重复提交的对局";
        duplicates_about: "The same games from two workers are compared: an audit that costs nothing.",
            "两台工作机提交的相同对局会互相比对，是无成本的复核。";
        manifests: "Training sets", "训练集";
        manifests_none: "No training set was frozen yet.", "尚无训练集。";
        set_aside: "What counts for nothing", "不计入的数据";
        set_aside_none: "Nothing was refused or set aside.", "没有被拒绝或隔离的数据。";
        job: "Job", "作业";
        numbers: "Games", "对局号";
        why: "Why", "原因";
        workers_sign_in: "Only owners and maintainers see machines: a public list would show strangers who has which computer, and when it is on. Here is only their number.",
            "机器详情仅其主人与维护者可见：公开名单会让外人知道谁有何种电脑、何时开机。此处仅显示数量。";
        owner: "Owner", "所有者";
        machine: "Machine", "机器";
        version: "Version", "版本";
        speed: "Nodes/s", "节点/秒";
        last_seen: "Last seen", "最近在线";
        accepted: "Accepted", "接受";
        rejected: "Rejected", "拒绝";
        rejected_why: "Last rejection", "最近一次拒绝";
        trusted: "trusted", "可信";
        trust: "Trust", "设为可信";
        distrust: "Do not trust", "取消可信";
        block: "Block", "停用";
        unblock: "Unblock", "启用";
        message: "Message", "消息";
        failures: "Failure reports", "故障报告";
        failures_none: "Nothing was reported.", "没有故障报告。";
        detail: "What it said", "内容";
        ranking: "Contributors by validated games", "贡献榜（按已验证对局）";
        ranking_none: "There are no contributors yet.", "还没有贡献者。";
        ranking_deleted: "a deleted account", "已删除的账号";
        person_none: "No games of this account were validated yet.", "该账号尚无已验证的对局。";
        person_about: "Validated games count, each once.", "仅计已验证的对局，每局一次。";
        person_own: "Private", "非公开内容";
        person_own_about: "Only this person and maintainers see what follows.", "以下内容仅本人与维护者可见。";
        person_days: "Games per day, the last 30 days (UTC)", "最近 30 天每日对局（UTC）";
        person_machines: "Machines", "机器";
        rank: "Rank", "排名";
        name: "Name", "名称";
        next: "Next page", "下一页";
        previous: "Previous page", "上一页";
        users: "Users", "用户";
        approve: "Approve", "批准";
        quarantine: "Quarantine", "隔离";
        lift: "Lift quarantine", "解除隔离";
        set_role: "Set role", "设置角色";
        delete: "Delete", "删除";
        clean: "Clean games", "复核一致对局";
        audits: "Audits and disputes", "复核与争议";
        audits_none: "No comparison is open.", "没有待处理的比对。";
        audits_wanted: "Shards to be played again", "待复核数据片";
        audits_leased: "Shards being played again", "复核中数据片";
        first_difference: "First difference", "首个差异";
        events: "Events", "事件";
        event: "Event", "事件";
        by: "By", "操作者";
        subject: "Subject", "对象";
        settings: "Settings", "设置";
        settings_about: "Changed by starting the coordinator again; \"serve --help\" explains it.", "修改需重新启动协调器，说明见“serve --help”。";
        choices: "What may be chosen here", "可在此修改";
        choices_about: "A change takes effect at once for all coordinators on this database, and overrides the command line. Only administrators may change settings; every change is an event.",
            "修改立即对使用此数据库的所有协调器生效，并优先于启动参数。仅管理员可修改，每次修改都记入事件。";
        about_registration: "Invited people need no approval. Workers need an account.", "受邀者无需等待批准；工作机须有账号。";
        about_audit_percent: "Of every account whose workers are not trusted. New accounts have at least 20\u{a0}%, those with many clean games 2\u{a0}%.",
            "适用于没有可信工作机的账号。新账号不低于 20%，复核一致较多者为 2%。";
        about_keep_days: "Of games that no published net learned from; 0: for ever. Counts and hashes always stay.",
            "仅限未用于训练已发布网络的对局；0 为永久保留。统计与哈希始终保留。";
        for_ever: "for ever", "永久";
        change: "Change", "修改";
        new_value: "New value", "新值";
        sure_setting: "This holds at once.", "修改立即生效。";
        setting_changed: "Changed: {}.", "已修改：{}。";
        started_with: "What it was started with", "启动参数";
        setting: "Setting", "项";
        value: "Value", "值";
        invite: "Invite", "邀请";
        invitation_made: "Invitation (shown once, good for a week): {}", "邀请码（仅显示一次，一周内有效）：{}";
        older: "Older", "更早";
    }
}
