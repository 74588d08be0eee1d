//! Campaigns: their list, a campaign's page, and commands of maintainers.

use askama::Template;
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Redirect, Response},
    routing::{get, post},
};
use coordinator_core::{
    model::{CampaignCommand, CampaignKey, CampaignState, CampaignStep, PromotionKind, Refusal},
    ops::campaigns::{CommandCampaign, CreateCampaign, EditCampaign, RollBackCampaign},
    query,
    reports::{
        campaign::{self, Progress},
        overview::{self, Running},
    },
    store::StoreError,
};
use protocol::api::{problem::Code, work::Role};
use serde::Deserialize;

use super::{
    charts::{self, Bar, Step},
    form::Form,
    format,
    home::{Strength, strength},
    page::{Page, Visitor, show},
    words::{fill, state},
};
use crate::{
    answer::{ApiResult, Path},
    app::App,
};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/campaigns", get(list))
        .route("/campaigns/new", get(new_page).post(create))
        .route("/campaigns/{name}", get(one))
        .route("/campaigns/{name}/edit", get(edit_page).post(edit))
        .route("/campaigns/{name}/command", post(command))
        .route("/campaigns/{name}/rollback", post(roll_back))
}

#[derive(Template)]
#[template(path = "campaigns.html")]
struct ListPage {
    page: Page,
    campaigns: Vec<Running>,
}

async fn list(State(app): State<App>, visitor: Visitor) -> ApiResult<Response> {
    let campaigns = app.report(query!(|connection| overview::running(&mut connection, true).await)).await?;
    let page = visitor.page("campaigns", visitor.language.words().main.campaigns, "/api/v1/campaigns");
    show(&ListPage { page, campaigns })
}

#[derive(Template)]
#[template(path = "campaign.html")]
struct CampaignPage {
    page: Page,
    progress: Progress,
    broad: String,
    tall: String,
    positions: String,
    reasons: Vec<String>,
    outcomes: Vec<String>,
    strength: Strength,
    may: Available,
    rollback_fault: Option<&'static str>,
}

/// The commands available now.
#[allow(clippy::struct_excessive_bools, reason = "each is a button")]
struct Available {
    pause: bool,
    resume: bool,
    stop: bool,
    train: bool,
    judge: bool,
    roll_back: bool,
    edit: bool,
}

impl Available {
    fn of(progress: &Progress) -> Self {
        let (state, phase) = (progress.state, progress.phase);
        let is_alive = !is_over(progress);
        let last = progress.strength.last();
        Self {
            pause: state == CampaignState::Running,
            resume: matches!(state, CampaignState::Paused | CampaignState::Stuck),
            stop: is_alive,
            train: is_alive && phase == CampaignStep::Collecting && progress.games > 0,
            judge: is_alive && phase == CampaignStep::Gating,
            roll_back: progress.champion.is_some()
                && last.is_some_and(|_| {
                    progress
                        .strength
                        .iter()
                        .any(|point| point.kind != PromotionKind::Rollback && point.net == progress.champion)
                }),
            edit: is_alive,
        }
    }
}

/// Whether it has ended for good.
fn is_over(progress: &Progress) -> bool {
    matches!(progress.state, CampaignState::Stopped | CampaignState::Complete)
}

fn find(name: &str, app: &App) -> impl Future<Output = ApiResult<Progress>> + Send {
    let (name, app) = (CampaignKey::from(name.to_owned()), app.clone());
    async move {
        let found = app.report(query!(|connection| campaign::progress(&mut connection, &name).await));
        Ok(found.await?)
    }
}

async fn one(State(app): State<App>, visitor: Visitor, Path(name): Path<String>) -> ApiResult<Response> {
    shown(&app, &visitor, &name, None).await
}

/// A campaign's page, with the error of the rollback form, if there is one.
async fn shown(app: &App, visitor: &Visitor, name: &str, rollback_fault: Option<&'static str>) -> ApiResult<Response> {
    let mut progress = find(name, app).await?;
    let json = format!("/api/v1/campaigns/{}/progress", progress.name);
    let page = visitor.page("campaigns", progress.name.clone(), json).charted();
    let words = &page.t.campaigns;
    let steps = steps(visitor, &progress);
    let picture = |is_tall| charts::pipeline(words.pipeline, words.again, &steps, is_tall);
    let bars: Vec<Bar> = progress
        .generations
        .iter()
        .rev()
        .map(|it| Bar { name: it.generation.to_string(), value: it.positions })
        .collect();
    let union = |all: fn(&campaign::Generation) -> &std::collections::BTreeMap<String, i64>| {
        let mut labels: Vec<String> = progress.generations.iter().flat_map(|it| all(it).keys().cloned()).collect();
        labels.sort();
        labels.dedup();
        labels
    };
    let (reasons, outcomes) = (union(|it| &it.reasons), union(|it| &it.outcomes));
    let (may, points) = (Available::of(&progress), std::mem::take(&mut progress.strength));
    show(&CampaignPage {
        broad: picture(false),
        tall: picture(true),
        positions: charts::columns(visitor.language, words.per_generation, &bars),
        reasons,
        outcomes,
        strength: strength(visitor, points),
        may,
        rollback_fault,
        page,
        progress,
    })
}

/// The pipeline: the campaign's phase, and the time of each step.
fn steps(visitor: &Visitor, progress: &Progress) -> [Step; 4] {
    let (language, words) = (visitor.language, &visitor.language.words().campaigns);
    let here = CampaignStep::ALL.iter().position(|phase| progress.phase == *phase).unwrap_or(0);
    let is_over = is_over(progress);
    let last = |of: fn(&campaign::Generation) -> Option<i64>| progress.generations.iter().find_map(of);
    let times = [last(|it| it.collecting), last(|it| it.training), last(|it| it.gating)];
    let since = visitor.now.0 - progress.phase_since;
    let training = progress.training.as_ref().and_then(|training| {
        let figure = |key| training.progress.as_ref()?.get(key)?.as_f64();
        Some(figure("step")? / figure("steps")?.max(1.0))
    });
    let gate = progress.gate.as_ref().map(|gate| {
        let verdict = gate.standing.verdict;
        let bound = if verdict.llr > 0.0 { verdict.bounds.1 } else { verdict.bounds.0 };
        if bound == 0.0 { 0.0 } else { verdict.llr / bound }
    });
    let done = [Some(progress.positions as f64 / progress.wanted_positions.max(1) as f64), training, gate];
    let step = |index: usize, name: &str| {
        let class = match index {
            _ if is_over => "",
            index if index < here => "past",
            index if index == here && progress.state == CampaignState::Stuck => "ill",
            index if index == here => "here",
            _ => "",
        };
        let note = if index == here && !is_over {
            let time = fill(words.for_time, format::duration(language, since));
            match index {
                0 => format!("{} · {time}", format::percent(progress.positions, progress.wanted_positions)),
                1 => match &progress.training {
                    Some(training) => format!("{} · {time}", state(language, training.state.name())),
                    None => time,
                },
                _ => match &progress.gate {
                    Some(gate) => format!("LLR {} · {time}", format::signed(gate.standing.verdict.llr, 2)),
                    None => time,
                },
            }
        } else {
            times[index].map_or_else(String::new, |time| fill(words.last_time, format::duration(language, time)))
        };
        // Self-play continues during training and gate.
        let shows_done = !is_over && (index == here || (index == 0 && here > 0));
        Step { name: name.to_owned(), note, class, done: done[index].filter(|_| shows_done) }
    };
    let promotion = progress.strength.last().map(|point| point.name.clone()).unwrap_or_default();
    [
        step(0, words.step_games),
        step(1, words.step_training),
        step(2, words.step_gate),
        Step { name: words.step_promotion.to_owned(), note: promotion, class: "", done: None },
    ]
}

#[derive(Template)]
#[template(path = "campaign_new.html")]
struct TextPage {
    page: Page,
    /// The edited campaign and its revision; none for a new one.
    edited: Option<(String, i64)>,
    text: String,
    fault: Option<Fault>,
}

/// An error in a campaign's text, with its line if known.
struct Fault {
    message: String,
    line: Option<(usize, String)>,
}

impl Fault {
    /// Finds the line named by the message.
    fn of(visitor: &Visitor, refusal: &Refusal, text: &str) -> Self {
        let message = visitor.refusal(refusal);
        let detail = refusal.to_string();
        let number = detail.strip_prefix("line ").and_then(|rest| rest.split(',').next()?.parse::<usize>().ok());
        let line = number.and_then(|number| Some((number, text.lines().nth(number.checked_sub(1)?)?.to_owned())));
        Self { message, line }
    }
}

/// The text of a new campaign's form.
const EXAMPLE: &str = include_str!("../../assets/campaign.toml");

async fn new_page(visitor: Visitor) -> ApiResult<Response> {
    visitor.must_be(Role::Maintainer)?;
    let page = visitor.page("campaigns", visitor.language.words().campaigns.new_campaign, "");
    show(&TextPage { page, edited: None, text: EXAMPLE.to_owned(), fault: None })
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

async fn create(State(app): State<App>, form: Form<Text>) -> ApiResult<Response> {
    let Form(visitor, Text { text }) = form;
    let by = Some(visitor.must_be(Role::Maintainer)?.account);
    let made = app.run(CreateCampaign { text: text.clone(), by }).await;
    match made {
        Ok((_, name)) => Ok(Redirect::to(&visitor.link(&format!("/campaigns/{name}"))).into_response()),
        Err(StoreError::Rejected(refusal)) => {
            let page = visitor.page("campaigns", visitor.language.words().campaigns.new_campaign, "");
            let fault = Some(Fault::of(&visitor, &refusal, &text));
            let shown = show(&TextPage { page, edited: None, text, fault })?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, shown).into_response())
        }
        Err(other) => Err(other.into()),
    }
}

async fn edit_page(State(app): State<App>, visitor: Visitor, Path(name): Path<String>) -> ApiResult<Response> {
    visitor.must_be(Role::Maintainer)?;
    let progress = find(&name, &app).await?;
    let page = visitor.page("campaigns", progress.name.clone(), "");
    show(&TextPage { page, edited: Some((progress.name, progress.changed)), text: progress.text, fault: None })
}

#[derive(Deserialize)]
struct Edit {
    text: String,
    changed: i64,
}

async fn edit(State(app): State<App>, Path(name): Path<String>, form: Form<Edit>) -> ApiResult<Response> {
    let Form(visitor, Edit { text, changed }) = form;
    let by = Some(visitor.must_be(Role::Maintainer)?.account);
    let campaign = CampaignKey::from(name.clone());
    let done = app.run(EditCampaign { campaign, text: text.clone(), seen: Some(changed), by }).await;
    match done {
        Ok(()) => Ok(Redirect::to(&visitor.link(&format!("/campaigns/{name}"))).into_response()),
        Err(StoreError::Rejected(refusal)) if refusal.code() != Code::NotFound => {
            let page = visitor.page("campaigns", name.clone(), "");
            let fault = Some(Fault::of(&visitor, &refusal, &text));
            let shown = show(&TextPage { page, edited: Some((name, changed)), text, fault })?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, shown).into_response())
        }
        Err(other) => Err(other.into()),
    }
}

/// A command to a campaign, and the revision that the visitor saw (optimistic concurrency).
#[derive(Deserialize)]
struct CommandForm {
    command: CampaignCommand,
    changed: i64,
}

async fn command(State(app): State<App>, Path(name): Path<String>, form: Form<CommandForm>) -> ApiResult<Response> {
    let Form(visitor, CommandForm { command, changed }) = form;
    let by = Some(visitor.must_be(Role::Maintainer)?.account);
    let campaign = CampaignKey::from(name.clone());
    let now = app.clock.now();
    app.run(CommandCampaign::prepare(&app.store, campaign, command, Some(changed), by, now).await?).await?;
    Ok(Redirect::to(&visitor.link(&format!("/campaigns/{name}"))).into_response())
}

/// The reason of a rollback, and the champion that the visitor saw (optimistic concurrency).
#[derive(Clone, Deserialize)]
struct Why {
    reason: String,
    #[serde(default)]
    champion: String,
}

async fn roll_back(State(app): State<App>, Path(name): Path<String>, form: Form<Why>) -> ApiResult<Response> {
    let Form(visitor, why) = form;
    let by = Some(visitor.must_be(Role::Maintainer)?.account);
    let reason = why.reason.trim().to_owned();
    if reason.is_empty() {
        let fault = Some(visitor.language.words().campaigns.say_why);
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, shown(&app, &visitor, &name, fault).await?).into_response());
    }
    let campaign = CampaignKey::from(name.clone());
    app.run(RollBackCampaign { campaign, seen: Some(why.champion), reason, by }).await?;
    Ok(Redirect::to(&visitor.link(&format!("/campaigns/{name}"))).into_response())
}
