//! Labels of the database's states, kinds, roles and reasons, in English and in Chinese.

/// The English and the Chinese label of a word.
#[must_use]
pub(super) fn label(word: &str) -> Option<(&'static str, &'static str)> {
    LABELS.iter().find(|(key, ..)| *key == word).map(|(_, english, chinese)| (*english, *chinese))
}

const LABELS: &[(&str, &str, &str)] = &[
    // Campaigns and their phases.
    ("running", "running", "进行中"),
    ("paused", "paused", "已暂停"),
    ("stuck", "stuck", "受阻"),
    ("stopped", "stopped", "已停止"),
    ("complete", "complete", "已完成"),
    ("collecting", "collecting games", "采集对局"),
    ("training", "training", "训练"),
    ("gating", "gate match", "晋级测试"),
    // Commands to campaigns.
    ("pause", "pause", "暂停"),
    ("resume", "resume", "继续"),
    ("stop", "stop", "永久停止"),
    ("train", "train", "立即训练"),
    ("reject", "reject", "放弃候选"),
    ("promote", "promote", "直接晋级候选"),
    // Jobs.
    ("open", "open", "进行中"),
    ("closed", "closed", "已结束"),
    ("selfplay", "self-play", "自对弈"),
    ("match", "match", "对抗赛"),
    ("rating", "rating match", "评级赛"),
    ("timed", "timed match, unprovable", "计时赛（不可复核）"),
    // Trainings and leases.
    ("leased", "under way", "进行中"),
    ("done", "done", "完成"),
    ("failed", "failed", "失败"),
    ("expired", "expired", "已过期"),
    ("returned", "given back", "已归还"),
    // Nets.
    ("base", "given", "导入"),
    ("candidate", "candidate", "候选"),
    ("promoted", "promoted", "已晋级"),
    ("rejected", "not promoted", "未通过"),
    ("disputed", "disputed", "存疑"),
    ("rolled_back", "rolled back", "已回退"),
    // Shards, audits and comparisons.
    ("received", "being checked", "待验证"),
    ("validated", "validated", "已验证"),
    ("rejected_shard", "rejected", "已拒绝"),
    ("quarantined", "in quarantine", "隔离中"),
    ("waiting", "waiting", "等待比较"),
    ("equal", "the same", "一致"),
    ("different", "different", "不一致"),
    ("settled", "settled", "已裁定"),
    ("void", "void", "作废"),
    ("wanted", "wanted", "待复核"),
    ("clean", "clean", "复核一致"),
    ("none", "none", "无"),
    // Accounts.
    ("pending", "waits for approval", "待批准"),
    ("active", "active", "正常"),
    ("blocked", "blocked", "已停用"),
    ("deleted", "deleted", "已删除"),
    ("volunteer", "volunteer", "志愿者"),
    ("trainer", "trainer", "训练者"),
    ("maintainer", "maintainer", "维护者"),
    ("admin", "administrator", "管理员"),
    // Outcomes, and reasons of games' ends.
    ("red_wins", "red wins", "红胜"),
    ("black_wins", "black wins", "黑胜"),
    ("draws", "draws", "和棋"),
    ("checkmate", "checkmate", "将死"),
    ("stalemate", "stalemate", "困毙"),
    ("perpetual_check", "perpetual check", "长将"),
    ("perpetual_chase", "perpetual chase", "长捉"),
    ("repetition", "repetition", "循环"),
    ("repetition_draw", "repetition, drawn", "循环作和"),
    ("natural_limit", "move limit", "自然限着"),
    ("insufficient_material", "insufficient material", "无进攻子力"),
    ("bare", "insufficient material", "无进攻子力"),
    ("draw", "draw", "和棋"),
    ("move_limit", "natural limit", "自然限着"),
    ("bare_defenders", "insufficient material", "无进攻子力"),
    ("ply_cap", "ply limit", "步数上限"),
    ("time_loss", "lost on time", "超时判负"),
    ("adjudicated", "adjudicated", "判定"),
    ("adjudicated_win", "adjudicated win", "判胜"),
    ("adjudicated_draw", "adjudicated draw", "判和"),
    // Registration modes.
    ("open_to_all", "everyone", "开放"),
    ("by_approval", "everyone, after approval", "经批准"),
    ("by_invitation", "by invitation", "凭邀请"),
    // Settings that administrators change.
    ("registration", "Who may register", "注册方式"),
    ("audit_percent", "Games played again, at least (%)", "最低复核比例（%）"),
    ("keep_days", "Days that files of games are kept", "对局文件保留天数"),
    // Settings of the command line.
    ("name", "Name", "名称"),
    ("least_worker", "Oldest worker", "最低工作机版本"),
    ("bench_signature", "Bench signature of the engine", "引擎基准签名"),
    ("source", "Source of the programs", "程序源码地址"),
    ("mirror", "Mirror", "镜像地址"),
    ("least_free_bytes", "Least free space", "最低剩余空间"),
    ("most_waiting", "Most uploads that wait", "最大待验证数"),
    ("quota_bytes", "Quota of an account", "账号额度"),
    ("most_requests", "Requests at the same time", "最大并发请求"),
    ("requests_per_second", "Requests a second, in the long run", "每秒请求数（长期）"),
    ("burst", "Requests at once, after a pause", "突发请求数"),
    ("behind_proxy", "Behind a proxy", "位于代理之后"),
    // Kinds of events.
    ("account_changed", "account changed", "账号变更"),
    ("account_created", "account created", "新建账号"),
    ("account_deleted", "account deleted", "删除账号"),
    ("campaign_command", "campaign command", "任务操作"),
    ("campaign_created", "campaign created", "新建任务"),
    ("campaign_edited", "campaign edited", "修改任务"),
    ("disk", "disk", "磁盘"),
    ("dispute", "dispute", "争议"),
    ("gate_reversed", "gate reversed", "测试结论反转"),
    ("invited", "invitation", "邀请"),
    ("live_began", "live game on", "开始直播"),
    ("live_ended", "live game off", "停止直播"),
    ("password_set", "password set", "更换密码"),
    ("promotion", "promotion", "晋级"),
    ("quarantine", "quarantine", "隔离"),
    ("quarantine_lifted", "quarantine lifted", "解除隔离"),
    ("rejection", "candidate not promoted", "候选未通过"),
    ("ruling", "ruling", "裁定"),
    ("settings_changed", "settings changed", "修改设置"),
    ("stall", "stall", "停滞"),
    ("token_created", "token created", "新建令牌"),
    ("token_revoked", "token revoked", "撤销令牌"),
    ("training_abandoned", "training given up", "放弃训练"),
    ("webhook_added", "webhook added", "新建通知"),
    ("webhook_removed", "webhook removed", "删除通知"),
    ("worker_blocked", "worker blocked", "停用工作机"),
    ("worker_trusted", "worker trusted", "可信工作机"),
    // Failure reports of workers.
    ("panic", "panic", "程序崩溃"),
    ("self_test", "failed self-test", "自检失败"),
    ("storage", "storage", "存储"),
    ("refused", "refused", "被拒绝"),
    // Kinds of promotions.
    ("gate", "by its gate", "测试晋级"),
    ("hand", "by hand", "人工晋级"),
    ("rollback", "rollback", "回退"),
];

#[cfg(test)]
mod tests {
    use coordinator_core::model::*;

    use super::label;

    #[test]
    fn each_word_of_the_database_has_a_label() {
        fn all(words: &[impl std::fmt::Display]) -> Vec<String> {
            words.iter().map(ToString::to_string).collect()
        }
        let words = [
            all(AccountState::ALL),
            all(AuditState::ALL),
            all(CampaignCommand::ALL),
            all(CampaignState::ALL),
            all(CampaignStep::ALL),
            all(ComparisonState::ALL),
            all(JobKind::ALL),
            all(JobState::ALL),
            all(NetState::ALL),
            all(PromotionKind::ALL),
            all(Registration::ALL),
            all(Setting::ALL),
            all(ShardState::ALL),
            all(TrainingState::ALL),
        ];
        for word in words.concat() {
            assert!(label(&word).is_some(), "{word}");
        }
    }
}
