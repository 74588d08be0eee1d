//! The words that the database keeps, for people.

use super::Language;

/// What a state, kind, role or reason is called; what is not known here stays as it is.
#[must_use]
pub fn state(language: Language, word: &str) -> String {
    let found = STATES.iter().find(|(key, ..)| *key == word);
    match (found, language) {
        (Some((_, english, _)), Language::English) => (*english).to_owned(),
        (Some((.., chinese)), Language::Chinese) => (*chinese).to_owned(),
        (None, _) => word.replace('_', " "),
    }
}

const STATES: &[(&str, &str, &str)] = &[
    // Campaigns and their phases.
    ("running", "running", "进行中"),
    ("paused", "paused", "已暂停"),
    ("stuck", "stuck", "受阻"),
    ("stopped", "stopped", "已停止"),
    ("complete", "complete", "已完成"),
    ("collecting", "collecting games", "采集对局"),
    ("training", "training", "训练"),
    ("gating", "gate match", "晋级测试"),
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
    ("rejected", "rejected", "未通过"),
    ("disputed", "disputed", "存疑"),
    ("rolled_back", "rolled back", "已回退"),
    // Shards, audits and comparisons.
    ("received", "being checked", "待验证"),
    ("validated", "validated", "已验证"),
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
    // Outcomes, and why games ended.
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
    ("insufficient_material", "nobody can win", "无进攻子力"),
    ("bare", "nobody can win", "无进攻子力"),
    ("draw", "draw", "和棋"),
    ("move_limit", "natural limit", "自然限着"),
    ("bare_defenders", "nobody can win", "无进攻子力"),
    ("ply_cap", "ply limit", "步数上限"),
    ("time_loss", "lost on time", "超时判负"),
    ("adjudicated", "adjudicated", "判定"),
    ("adjudicated_win", "adjudicated win", "判胜"),
    ("adjudicated_draw", "adjudicated draw", "判和"),
    // How a net became champion.
    ("gate", "by its gate", "测试晋级"),
    ("hand", "by hand", "人工晋级"),
    ("rollback", "rollback", "回退"),
];
