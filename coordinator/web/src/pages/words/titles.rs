//! Chinese titles of all problem codes of the protocol.

/// The title of a problem code.
#[must_use]
pub(super) fn title(code: &str) -> Option<&'static str> {
    TITLES.iter().find(|(known, _)| *known == code).map(|(_, title)| *title)
}

const TITLES: &[(&str, &str)] = &[
    ("bad_request", "请求无法读取"),
    ("no_token", "缺少令牌"),
    ("bad_token", "令牌无效"),
    ("forbidden", "没有此项权限"),
    ("blocked", "工作机或账号已停用"),
    ("foreign", "该租约属于他人"),
    ("not_found", "没有此内容"),
    ("method_not_allowed", "此地址不支持该方法"),
    ("timeout", "请求超时"),
    ("conflict", "与现有内容冲突"),
    ("lease_lost", "租约已结束"),
    ("no_progress", "自上次续租以来没有完成对局"),
    ("precondition_failed", "内容已被他人修改"),
    ("too_large", "内容过大"),
    ("wrong_type", "内容类型不符"),
    ("bad_range", "没有所请求的字节"),
    ("invalid", "值不允许"),
    ("too_old", "程序版本过旧"),
    ("truncated", "对局不完整"),
    ("corrupt", "对局已损坏"),
    ("bomb", "对局超出内存上限"),
    ("not_a_shard", "内容不是对局"),
    ("wrong_net", "对局所用网络不符"),
    ("wrong_settings", "对局设置不符"),
    ("wrong_openings", "开局方式不符"),
    ("wrong_rules", "对局所用规则不符"),
    ("wrong_engine", "对局所用引擎不符"),
    ("wrong_seed", "对局种子不符"),
    ("wrong_games", "不是该租约的对局"),
    ("illegal_move", "着法不合法"),
    ("false_label", "终局结论不符"),
    ("wrong_opening", "开局与种子不符"),
    ("duplicate_game", "对局重复"),
    ("bad_score", "评分无效"),
    ("replayed", "对局曾为其他租约提交"),
    ("bad_hash", "SHA-256 不符"),
    ("bad_net", "内容不是网络"),
    ("too_many", "请求过多"),
    ("quota", "账号存储额度已用完"),
    ("internal", "协调器出错"),
    ("busy", "协调器繁忙"),
    ("stopping", "协调器正在停止"),
    ("disk_full", "协调器空间不足"),
];

#[cfg(test)]
mod tests {
    use protocol::api::problem::Code;

    use super::*;

    #[test]
    fn every_code_has_a_title() {
        for code in Code::ALL {
            assert!(title(code.name()).is_some(), "{code}");
        }
    }
}
