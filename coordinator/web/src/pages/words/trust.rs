//! The price of trust, and its guarantees.

super::list::words! {
    /// The price of trust, and its guarantees.
    Trust {
        title: "Trust", "信任";
        about: "Accounts are only names, so nothing is believed that was not shown. That costs games that are played twice, and waiting.",
            "账号只是名字，未经证明的一概不信。代价是部分对局要下两遍，并需等待。";
        costs: "What it costs on this server", "在本服务器上的代价";
        validated: "Games validated", "已验证对局";
        replayed: "Of them played again", "其中重下的";
        disputed: "Games in dispute", "有争议的对局";
        quarantined: "Games in quarantine", "被隔离的对局";
        rulings: "Rulings of referees", "仲裁程序的裁定";
        accounts: "Accounts with proven work", "有已证工作量的账号";
        largest: "Share of the largest account", "最大账号的占比";
        guarantees: "What it guarantees", "所保证的";
        no_jobs: "No job is open.", "没有进行中的作业。";
        checked: "A referee is at work for every open job: the figures with checks apply. Uploads that wait for their check: {}.",
            "每个进行中的作业都有仲裁程序在工作：适用“有抽查”的数字。等待抽查的上传：{}。";
        unchecked: "{} of {} open jobs have no referee at work: for them the figures without checks apply, and disputed games wait for a trusted worker. This starts a referee:",
            "{} 个（共 {} 个）进行中的作业没有仲裁程序：对其适用“无抽查”的数字，争议对局须等待可信工作机。启动仲裁程序：";
        owner: "Owner's share of all accounts", "同一人占全部账号";
        with_checks: "With a referee's checks", "有抽查";
        without_checks: "Without checks", "无抽查";
        forged: "Forged games of a million", "每百万局伪造";
        gates: "Pairs forged in gates", "测试中伪造的对局对";
        delayed: "Honest games delayed", "诚实对局延迟";
        again: "Work played again", "重下工作量";
        simulated: "The worst of all strategies in each cell: {} simulations of these rules with {} leases, {} strategies, fleets of sixty accounts.",
            "每格取各策略中最坏者：以本规则模拟 {} 次、租约 {} 份、策略 {} 种，每次六十个账号。";
        chart: "Forged games of a million in training sets, without checks, by the owner's share of all accounts",
            "无抽查时训练集中每百万局的伪造局数，按其占全部账号的比例";
        more: "has the strategies, and what does not hold yet.", "列有各策略及尚未做到之处。";
        explained: "explains the standing of an account and its history.", "说明某账号的状况与经历。";
    }
}
