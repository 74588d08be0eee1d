//! The coordinator's messages in each language: events, reasons, refusals. Their English texts are
//! written where they are defined.

use std::fmt::Display;

use coordinator_core::model::{AccountChange, Event, Reason, Refusal, Setting, Stall};
use protocol::api::problem::Code;

use super::{language::Language, states::state, titles::title};

/// The label of a word in Chinese.
fn label(word: &dyn Display) -> String {
    state(Language::Chinese, &word.to_string())
}

/// An event. One of an older version has only its English text.
#[must_use]
pub fn event(language: Language, kind: &str, data: Option<&str>, text: &str) -> String {
    match language {
        Language::English => text.to_owned(),
        Language::Chinese if text == Event::ERASED => "属于已删除的账号".to_owned(),
        Language::Chinese => Event::from_columns(kind, data).map_or_else(|| text.to_owned(), |event| chinese(&event)),
    }
}

fn chinese(event: &Event) -> String {
    let reason = |reason: &Reason| self::reason(Language::Chinese, reason);
    match event {
        Event::AccountChanged { change, message, .. } => {
            let change = match change {
                AccountChange::Role(role) => format!("角色改为{}", label(role)),
                AccountChange::State(state) => format!("状态改为{}", label(state)),
            };
            message.as_ref().map_or(change.clone(), |message| format!("{change}：{message}"))
        }
        Event::AccountCreated { name, role, state, .. } => format!("账号 {name}（{}，{}）", label(role), label(state)),
        Event::AccountDeleted { .. } => "已删除".to_owned(),
        Event::CampaignCommand { command, .. } => label(command),
        Event::CampaignCreated { campaign } => format!("任务 {campaign} 已开始"),
        Event::CampaignEdited { .. } => "任务文本已修改".to_owned(),
        Event::Candidate { name, .. } => format!("{name} 训练完成"),
        Event::Disk { is_low: true, free_mebibytes } => {
            format!("磁盘将满：仅剩 {free_mebibytes} MiB，已停止发放新对局")
        }
        Event::Disk { free_mebibytes, .. } => format!("磁盘空间已恢复：可用 {free_mebibytes} MiB"),
        Event::Dispute { game, .. } => format!("两台工作机下的第 {game} 局不一致"),
        Event::Disputed { name, pairs, .. } => {
            format!("{name}：{}", reason(&Reason::GateUnproven { pairs: *pairs }))
        }
        Event::GateReversed { name, pairs, .. } => {
            format!("{name} 曾未通过，而其测试的 {pairs} 个局对现在表明它更强")
        }
        Event::Gating { name, .. } => format!("{name} 开始与冠军对弈"),
        Event::Invited { role, .. } => format!("邀请一名{}", label(role)),
        Event::LiveBegan { job } => format!("对抗赛 {job} 开始直播"),
        Event::LiveEnded { job } => format!("对抗赛 {job} 停止直播"),
        Event::PasswordSet { .. } => "密码已更换".to_owned(),
        Event::Promoted { name, .. } => format!("{name}：其晋级测试重新成立"),
        Event::Promotion { name, generation, .. } => format!("{name} 成为第 {generation} 代冠军"),
        Event::Quarantine { reason: why, uploads, .. } => {
            format!("{}；该账号的 {uploads} 次提交移出数据池", reason(why))
        }
        Event::QuarantineLifted { reason: why, uploads, .. } => {
            format!("{}；该账号的 {uploads} 次提交恢复计入", reason(why))
        }
        Event::Rating { matches, .. } => format!("安排了 {matches} 场冠军之间的评级赛"),
        Event::Rejected { job, first, last, code, detail, .. } => {
            format!("作业 {job} 第 {first} 至 {last} 局：{}", rejection(Language::Chinese, *code, detail))
        }
        Event::Rejection { name, reason: why @ Reason::Inconclusive, .. } => format!("{name} 未定：{}", reason(why)),
        Event::Rejection { name, reason: why, .. } => format!("{name} 未通过：{}", reason(why)),
        Event::Rollback { name, reason: why, .. } => format!("{name} 已回退：{}", reason(why)),
        Event::Ruling { ruling, game, .. } => {
            format!("裁判已裁定第 {game} 局：证书 {ruling}，见 /api/v1/rulings/{ruling}")
        }
        Event::SettingsChanged { setting: Setting::Registration, value, before } => {
            format!("注册方式改为“{}”，原为“{}”", label(value), label(before))
        }
        Event::SettingsChanged { setting: Setting::KeepDays, value, before } => {
            format!("对局文件保留天数改为 {value}，原为 {before}")
        }
        Event::SettingsChanged { setting: Setting::AuditPercent, value, before } => {
            format!("最低复核比例改为 {value}%，原为 {before}%")
        }
        Event::Stall(Stall::Campaign { reason: why, .. }) => format!("等待维护者处理：{}", reason(why)),
        Event::Stall(Stall::Games { job, first, last, attempts }) => {
            format!("作业 {job} 的第 {first} 至 {last} 局再次发放，已是第 {attempts} 次")
        }
        Event::Timed { pairs, clock, .. } => format!("按时限 {clock} 下 {pairs} 个局对；无法证明，也不用于晋级"),
        Event::TokenCreated { begins, name, role, .. } => format!("令牌 {begins}…（{name}，{}）", label(role)),
        Event::TokenRevoked { .. } => "已撤销".to_owned(),
        Event::Training { generation, name, .. } => format!("第 {generation} 代对局已满：将训练 {name}"),
        Event::TrainingAbandoned { reason: why, .. } => reason(why),
        Event::WebhookAdded { address, kinds, .. } => format!("将向 {address} 通知 {}", kinds.join(", ")),
        Event::WebhookRemoved { .. } => "不再通知".to_owned(),
        Event::WorkerBlocked { message: Some(message), .. } => format!("已停用：{message}"),
        Event::WorkerBlocked { .. } => "已恢复参与".to_owned(),
        Event::WorkerTrusted { is_trusted: true, .. } => "已设为可信".to_owned(),
        Event::WorkerTrusted { .. } => "已取消可信".to_owned(),
    }
}

/// A reason.
#[must_use]
pub fn reason(language: Language, reason: &Reason) -> String {
    if language == Language::English {
        return reason.to_string();
    }
    match reason {
        Reason::Text(text) => text.clone(),
        Reason::AccountDeleted => "该账号已删除".to_owned(),
        Reason::GamesOpen { games } => format!("下一训练集尚有 {games} 局等待复核"),
        Reason::AuditsMissing { games } => format!("测试已有结论；其中 {games} 局尚待他人复核"),
        Reason::CampaignStopped => "任务已停止".to_owned(),
        Reason::CandidatesRejected { candidates, generation } => {
            format!("第 {generation} 代已有 {candidates} 个候选未通过")
        }
        Reason::ChampionRolledBack => "其冠军已回退".to_owned(),
        Reason::GameDiffered { game, job } => format!("作业 {job} 第 {game} 局与可信工作机复核的结果不同"),
        Reason::GateUnproven { pairs } => format!("隔离之后其测试仅余 {pairs} 个连续局对，不足以证明"),
        Reason::GivenUp => "维护者放弃了它".to_owned(),
        Reason::InGame { game, ply, text } => format!("{}{text}", place(*game, *ply)),
        Reason::Inconclusive => "下完全部局对仍无定论".to_owned(),
        Reason::NoTrainer => "没有训练者完成训练".to_owned(),
        Reason::NotStronger => "未证明更强".to_owned(),
        Reason::Quarantined(why) => format!("您的对局已被隔离：{}", self::reason(language, why)),
        Reason::RuledWrong { game, job } => format!("作业 {job} 第 {game} 局与裁判复核的结果不同"),
        Reason::TrainingFailed => "训练失败".to_owned(),
    }
}

/// A place in a game.
fn place(game: u64, ply: Option<u64>) -> String {
    ply.map_or_else(|| format!("第 {game} 局："), |ply| format!("第 {game} 局第 {ply} 步："))
}

/// The rejection of a shard.
#[must_use]
pub fn rejection(language: Language, code: Code, detail: &Reason) -> String {
    match detail {
        Reason::InGame { game, ply, text } if language == Language::Chinese => {
            format!("{}{}", place(*game, *ply), problem(language, code, text))
        }
        Reason::Text(text) => problem(language, code, text),
        other => reason(language, other),
    }
}

/// A problem for programs: its code's title, and the original text.
fn problem(language: Language, code: Code, detail: &str) -> String {
    match title(code.name()) {
        Some(title) if language == Language::Chinese && detail.is_empty() => title.to_owned(),
        Some(title) if language == Language::Chinese => format!("{title}（{detail}）"),
        _ => detail.to_owned(),
    }
}

/// A refusal.
#[must_use]
pub fn refusal(language: Language, refusal: &Refusal) -> String {
    if language == Language::English {
        return refusal.to_string();
    }
    match refusal {
        Refusal::AccountBlocked { reason: why } => reason(language, why),
        Refusal::AccountDeleted => "该账号已删除".to_owned(),
        Refusal::AccountInactive { state } => format!("该账号{}", label(state)),
        Refusal::AccountInQuarantine => "该账号处于隔离中，须先解除隔离".to_owned(),
        Refusal::AccountPending => "该账号正在等待批准".to_owned(),
        Refusal::AccountTaken { name } => format!("账号 {name} 已存在"),
        Refusal::BadAuditPercent => "复核比例为 0 至 100 的整数".to_owned(),
        Refusal::BadInvitation => "邀请码无效或已被使用".to_owned(),
        Refusal::BadKeepDays => "保留天数为 0 至 36500 的整数".to_owned(),
        Refusal::BadName { name } => {
            format!("{name:?} 不是名称：1 至 64 个字母、数字、“.”、“_”或“-”，以字母或数字开头")
        }
        Refusal::BadPassword { min, max } => format!("密码长度为 {min} 至 {max} 个字符"),
        Refusal::BadRating => "对数为 1 至 100,000，每步节点为 1 至 1,000,000,000".to_owned(),
        Refusal::BadRegistration => "注册方式只能是开放、经批准或凭邀请".to_owned(),
        Refusal::UploadsReviewed => "隔离后正在复核上传的对局，请稍后再试".to_owned(),
        Refusal::BeingCounted => "正在统计该对抗赛的对局，请稍后再试".to_owned(),
        Refusal::CampaignChanged => "任务已被他人修改，请重新查看".to_owned(),
        Refusal::CampaignInStep { state, step } => {
            format!("任务{}，处于“{}”：现在不能这样做", label(state), label(step))
        }
        Refusal::CampaignOver { state } => format!("任务{}，不能再启动：请新建任务", label(state)),
        Refusal::CampaignTaken { name } => format!("任务 {name} 已存在"),
        Refusal::ChampionChanged => "任务的冠军已更换，请重新查看".to_owned(),
        Refusal::CoordinatorFailed => "协调器出错，原因见其日志".to_owned(),
        Refusal::DatabaseBusy => "数据库繁忙，请稍后再试".to_owned(),
        Refusal::DiskFull => "协调器磁盘已满，请稍后再试".to_owned(),
        Refusal::ReportSlow => "目前读取需时过长，请稍后再试".to_owned(),
        Refusal::ReportsBusy => "正在读取的页面过多，请稍后再试".to_owned(),
        Refusal::FixedKey { key } => format!("“{key}”不可修改，请新建任务"),
        Refusal::ForeignForm => "表单来自其他站点".to_owned(),
        Refusal::GateInUse => "测试进行中不可修改“gate”".to_owned(),
        Refusal::LacksRole { needed, own } => format!("此操作需要{}权限，您的身份为{}", label(needed), label(own)),
        Refusal::OtherToken { worker } => format!("工作机 {worker} 受信任，只能使用其当时的令牌"),
        Refusal::OwnQuarantine => "账号的隔离须由其他维护者解除".to_owned(),
        Refusal::GamesReceived { first, last } => format!("该租约的第 {first} 至 {last} 局已经收到"),
        Refusal::LeaseRejected { uploads } => format!("该租约已有 {uploads} 次上传被拒绝，其对局改由他人进行"),
        Refusal::UploadsWaiting { uploads } => format!("该账号有 {uploads} 次上传等待验证，请稍后再上传"),
        Refusal::LongForm => "表单内容过长".to_owned(),
        Refusal::MatchClosed { job, state } => format!("对抗赛 {job}：{}", label(state)),
        Refusal::AboveRole { own, theirs } => {
            format!("该账号的身份为{}，{}无权更改", label(theirs), label(own))
        }
        Refusal::NeedsOwnRole { role, own } => {
            format!("此操作需要本账号的{}令牌或登录，该令牌的身份为{}", label(role), label(own))
        }
        Refusal::RightsOutlive => "有期限的令牌不能生成邀请，也不能更改身份".to_owned(),
        Refusal::TokenOutlives => "令牌不能生成比自身有效期更长的令牌".to_owned(),
        Refusal::NoAccount { account } => format!("没有账号 {account}"),
        Refusal::NoAction => "没有此操作".to_owned(),
        Refusal::NoAddress => "此地址没有内容".to_owned(),
        Refusal::NoBook { book } => format!("没有开局库 {book}"),
        Refusal::NoCampaign { campaign } => format!("没有任务 {campaign}"),
        Refusal::NoCandidate => "任务没有候选".to_owned(),
        Refusal::NoGames => "尚无可供训练的对局".to_owned(),
        Refusal::NoMatch { job } => format!("没有对抗赛 {job}"),
        Refusal::NoMessage => "请写明对工作机的说明".to_owned(),
        Refusal::NoNet { net } => format!("没有网络 {net}"),
        Refusal::NoPromotion => "任务没有可回退的晋级".to_owned(),
        Refusal::NoReason => "请简要说明原因".to_owned(),
        Refusal::NoRole => "没有此角色".to_owned(),
        Refusal::NoSetting => "没有此设置".to_owned(),
        Refusal::NoShard => "没有此数据片，或其对局仍待验证".to_owned(),
        Refusal::NoToken { token } => format!("没有可撤销的令牌 {token}"),
        Refusal::NoWorker { worker } => format!("没有工作机 {worker}"),
        Refusal::NotFound => "没有此内容".to_owned(),
        Refusal::NotSignedIn => "请先登录".to_owned(),
        Refusal::ObjectsBusy => "对象存储没有响应，请稍后再试".to_owned(),
        Refusal::PairLeased { pair, next } => format!("第 {pair} 对已发放，下一对为 {next}"),
        Refusal::RecipeInUse => "训练进行中不可修改“recipe”".to_owned(),
        Refusal::StaleForm => "表单已过期，或浏览器禁用了 Cookie，请重新载入页面".to_owned(),
        Refusal::UnreadableAddress { error } => format!("无法解读此地址：{error}"),
        Refusal::UnreadableForm => "表单缺少某一项或无法解读，请重新载入页面".to_owned(),
        Refusal::Other(other) => problem(language, other.code, &other.detail),
    }
}

#[cfg(test)]
mod tests {
    use coordinator_core::model::{AccountId, CampaignCommand, JobId};
    use protocol::api::problem::Problem;

    use super::*;

    fn shown(event: &Event) -> [String; 2] {
        let (kind, data) = event.to_columns().expect("its keys are words");
        let show = |language| super::event(language, &kind, Some(&data), &event.to_string());
        [show(Language::English), show(Language::Chinese)]
    }

    #[test]
    fn an_event_is_shown_in_both_languages() {
        let created = Event::CampaignCreated { campaign: "yangtze".to_owned() };
        assert_eq!(shown(&created), ["campaign yangtze began", "任务 yangtze 已开始"]);
        let reason = Reason::GameDiffered { game: 7, job: JobId(2) };
        let (english, chinese) = (
            "game 7 of job 2 came out otherwise when a trusted worker played it",
            "作业 2 第 7 局与可信工作机复核的结果不同",
        );
        assert_eq!(
            shown(&Event::Quarantine { account: AccountId(3), reason, uploads: 4 }),
            [
                format!("{english}; 4 uploads of the account left the pool"),
                format!("{chinese}；该账号的 4 次提交移出数据池"),
            ]
        );
        let games = Event::Stall(Stall::Games { job: JobId(7), first: 40, last: 79, attempts: 3 });
        assert_eq!(shown(&games)[1], "作业 7 的第 40 至 79 局再次发放，已是第 3 次");
        let undecided = Event::Rejection {
            campaign: "x".to_owned(),
            net: "00".to_owned(),
            name: "x-1-1".to_owned(),
            reason: Reason::Inconclusive,
            job: None,
        };
        let texts =
            ["x-1-1 is undecided after all pairs of its gate, and not promoted", "x-1-1 未定：下完全部局对仍无定论"];
        assert_eq!(shown(&undecided), texts, "such a gate has rejected nothing");
        let words = CampaignCommand::ALL
            .iter()
            .map(|&command| shown(&Event::CampaignCommand { campaign: String::new(), command })[1].clone());
        assert!(words.clone().all(|word| !word.is_ascii()), "{:?}", words.collect::<Vec<_>>());
    }

    #[test]
    fn an_event_of_an_older_version_is_shown_by_its_text() {
        let text = "it waits for a maintainer: 3 candidates of generation 2 were rejected";
        for language in [Language::English, Language::Chinese] {
            assert_eq!(event(language, "stall", None, text), text);
        }
        assert_eq!(event(Language::Chinese, "invited", None, Event::ERASED), "属于已删除的账号");
    }

    #[test]
    fn a_rejected_game_is_named_in_both_languages() {
        let detail = Reason::InGame { game: 1, ply: Some(9), text: "the move is not legal".to_owned() };
        let shown =
            [Language::English, Language::Chinese].map(|language| rejection(language, Code::IllegalMove, &detail));
        assert_eq!(
            shown,
            ["game 1 ply 9: the move is not legal", "第 1 局第 9 步：着法不合法（the move is not legal）"]
        );
        let old = Reason::from("game 1 ply 9: the move is not legal");
        let shown = rejection(Language::Chinese, Code::IllegalMove, &old);
        assert_eq!(shown, "着法不合法（game 1 ply 9: the move is not legal）", "an older version's");
    }

    #[test]
    fn a_problem_for_programs_has_at_least_its_title() {
        let other = Refusal::Other(Problem::new(Code::Corrupt, "strange"));
        assert_eq!(refusal(Language::Chinese, &other), "对局已损坏（strange）");
        assert_eq!(refusal(Language::English, &other), "strange");
        assert_eq!(problem(Language::Chinese, Code::Unknown, "strange"), "strange");
        assert_eq!(refusal(Language::Chinese, &Refusal::NoReason), "请简要说明原因");
    }
}
