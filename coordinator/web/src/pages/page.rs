//! The frame of every page, and its response.

use std::{collections::BTreeMap, fmt::Display};

use askama::Template;
use axum::{
    extract::FromRequestParts,
    http::{HeaderValue, header, request::Parts},
    response::{Html, IntoResponse as _, Response},
};
use coordinator_core::{
    clock::Time,
    model::{Event, Reason, Refusal, Session, ShardState},
    reports::overview::PublicEvent,
};
use protocol::api::{problem::Code, work::Role};

use super::{
    assets,
    badge::Badge,
    format,
    words::{self, Language, Words},
};
use crate::{
    answer::{ApiError, ApiResult},
    app::App,
    http::auth,
};

/// The visitor of a page, resolved by `guard`. Handlers take it as an argument.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) language: Language,
    /// The session, if signed in.
    pub(crate) session: Option<Session>,
    /// The CSRF token of forms; empty without session and form cookie.
    pub(crate) form: String,
    /// The address below the language, with its query.
    pub(crate) rest: String,
    /// The page's [marks](coordinator_core::reports::marks::Marks), or empty if they are unknown.
    pub(crate) state: String,
    /// The server's name.
    pub(crate) server: String,
    /// Where volunteers clone the source from.
    pub(crate) source: Option<String>,
    /// The address of the engine for browsers.
    pub(crate) engine: Option<String>,
    /// The address at which the visitor reaches the server, such as `https://example.org`.
    pub(crate) origin: String,
    /// The time of the request.
    pub(crate) now: Time,
    /// Whether the visitor is on this machine: cookies may then be sent without TLS.
    pub(crate) is_local: bool,
}

impl Visitor {
    /// The frame of a page. `section` is its place in the menu; `json` the address of its data.
    #[must_use]
    pub(crate) fn page(&self, section: &'static str, title: impl Into<String>, json: impl Into<String>) -> Page {
        let (title, json) = (title.into(), json.into());
        Page {
            t: self.language.words(),
            visitor: self.clone(),
            section,
            title,
            json,
            more_json: Vec::new(),
            is_charted: false,
            notice: None,
        }
    }

    /// The session.
    ///
    /// # Errors
    ///
    /// If the visitor is anonymous.
    pub(crate) fn must_be_signed_in(&self) -> ApiResult<&Session> {
        self.session.as_ref().ok_or_else(|| Refusal::NotSignedIn.into())
    }

    /// The session, if its role suffices.
    ///
    /// # Errors
    ///
    /// If the visitor is anonymous, or the role does not suffice.
    pub(crate) fn must_be(&self, role: Role) -> ApiResult<&Session> {
        let session = self.must_be_signed_in()?;
        match auth::lacks(session.role, role) {
            None => Ok(session),
            Some(refusal) => Err(refusal.into()),
        }
    }

    /// Whether the visitor's role suffices.
    #[must_use]
    pub(crate) fn is(&self, role: Role) -> bool {
        self.session.as_ref().is_some_and(|session| session.role >= role)
    }

    /// The text of a refusal in the visitor's language.
    #[must_use]
    pub(crate) fn refusal(&self, refusal: &Refusal) -> String {
        words::refusal(self.language, refusal)
    }

    /// The address of a page in the visitor's language.
    #[must_use]
    pub(crate) fn link(&self, path: &str) -> String {
        format!("/{}{path}", self.language.code())
    }
}

impl FromRequestParts<App> for Visitor {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> ApiResult<Self> {
        let visitor = parts.extensions.get::<Self>().cloned();
        visitor.ok_or_else(|| ApiError::new(Code::Internal, "the page has no visitor"))
    }
}

/// The frame of every page: `page` in its template.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// All texts of its language.
    pub(crate) t: &'static Words,
    /// The visitor.
    pub(crate) visitor: Visitor,
    /// The place in the menu.
    pub(crate) section: &'static str,
    pub(crate) title: String,
    /// The address of its data as JSON; empty without data.
    pub(crate) json: String,
    /// Names and addresses of further JSON.
    pub(crate) more_json: Vec<(&'static str, String)>,
    /// Whether it has charts that a script may enhance.
    pub(crate) is_charted: bool,
    /// The notice after a form.
    pub(crate) notice: Option<String>,
}

impl Page {
    /// A page with charts.
    #[must_use]
    pub(crate) fn charted(mut self) -> Self {
        self.is_charted = true;
        self
    }

    /// Adds further JSON.
    #[must_use]
    pub(crate) fn with_json(mut self, name: &'static str, json: impl Into<String>) -> Self {
        self.more_json.push((name, json.into()));
        self
    }

    /// Adds a notice.
    #[must_use]
    pub(crate) fn with_notice(mut self, notice: Option<String>) -> Self {
        self.notice = notice;
        self
    }

    /// The address of a page in this one's language.
    #[must_use]
    pub(crate) fn link(&self, path: &str) -> String {
        self.visitor.link(path)
    }

    /// The same page in the other language, and then also the page that follows it.
    #[must_use]
    pub(crate) fn translated(&self) -> String {
        let (language, rest) = (self.visitor.language, &self.visitor.rest);
        let address = |rest: &str| format!("/{}{rest}", language.other().code());
        let Some((path, query)) = rest.split_once('?') else { return address(rest) };
        let Ok(mut query) = serde_urlencoded::from_str::<Vec<(String, String)>>(query) else { return address(rest) };
        for (_, next) in query.iter_mut().filter(|(name, _)| name == "next") {
            let own = next.strip_prefix(&self.link("")).filter(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
            *next = own.map_or_else(|| next.clone(), address);
        }
        address(&serde_urlencoded::to_string(query).map_or_else(|_| rest.clone(), |query| format!("{path}?{query}")))
    }

    /// The address of a style or script.
    #[must_use]
    pub(crate) fn asset(&self, name: &str) -> String {
        assets::address(name)
    }

    /// The label of a state of the database.
    #[must_use]
    pub(crate) fn state_label(&self, state: impl Display) -> String {
        words::state(self.visitor.language, &state.to_string())
    }

    /// The label of a shard's state: a rejected shard differs from a rejected net.
    #[must_use]
    pub(crate) fn shard_state_label(&self, state: &ShardState) -> String {
        words::state(
            self.visitor.language,
            if *state == ShardState::Rejected { "rejected_shard" } else { state.name() },
        )
    }

    /// The text of an event.
    #[must_use]
    pub(crate) fn event(&self, kind: &str, data: &Option<String>, text: &str) -> String {
        words::event(self.visitor.language, kind, data.as_deref(), text)
    }

    /// The text of a reason.
    #[must_use]
    pub(crate) fn reason(&self, reason: &Reason) -> String {
        words::reason(self.visitor.language, reason)
    }

    /// The campaign of an event, unless the message names it.
    #[must_use]
    pub(crate) fn unnamed<'a>(&self, subject: &'a str, sentence: &str) -> Option<&'a str> {
        subject.strip_prefix("campaign:").filter(|name| !sentence.contains(name))
    }

    /// The text of a shard's rejection.
    #[must_use]
    pub(crate) fn rejection(&self, code: &Option<String>, detail: &Reason) -> String {
        words::rejection(self.visitor.language, Code::from_name(code.as_deref().unwrap_or_default()), detail)
    }

    /// The CSS class of a state.
    #[must_use]
    pub(crate) fn badge_class(&self, state: &impl Badge) -> &'static str {
        state.class()
    }

    /// Fills a text's placeholder.
    #[must_use]
    pub(crate) fn fill(&self, text: &str, value: impl Display) -> String {
        words::fill(text, value)
    }

    /// Whether the visitor is a maintainer.
    #[must_use]
    pub(crate) fn is_maintainer(&self) -> bool {
        self.visitor.is(Role::Maintainer)
    }

    /// Whether the visitor is an administrator.
    #[must_use]
    pub(crate) fn is_admin(&self) -> bool {
        self.visitor.is(Role::Admin)
    }

    /// A whole number.
    #[must_use]
    pub(crate) fn number(&self, number: &i64) -> String {
        format::number(*number)
    }

    /// A large number in short.
    #[must_use]
    pub(crate) fn short(&self, number: &i64) -> String {
        format::short(self.visitor.language, *number)
    }

    /// A file's length.
    #[must_use]
    pub(crate) fn bytes(&self, bytes: &i64) -> String {
        format::bytes(*bytes)
    }

    /// A number with a sign and one decimal.
    #[must_use]
    pub(crate) fn signed(&self, number: &f64) -> String {
        format::signed(*number, 1)
    }

    /// A number with `places` decimals.
    #[must_use]
    pub(crate) fn decimal(&self, number: &f64, places: usize) -> String {
        format::decimal(*number, places)
    }

    /// A share from 0 to 1, in percent.
    #[must_use]
    pub(crate) fn hundredths(&self, number: &f64) -> String {
        format::hundredths(*number)
    }

    /// A probability from 0 to 1, in percent.
    #[must_use]
    pub(crate) fn likelihood(&self, share: &f64) -> String {
        format::likelihood(*share)
    }

    /// A part of a whole, in percent.
    #[must_use]
    pub(crate) fn share(&self, part: &i64, whole: &i64) -> String {
        format::percent(*part, *whole)
    }

    /// The share of a label among all. Audits and repeated games have labels too.
    #[must_use]
    pub(crate) fn part(&self, labels: &BTreeMap<String, i64>, label: &str) -> String {
        let whole = labels.values().sum();
        labels.get(label).map_or_else(|| "–".to_owned(), |games| format::percent(*games, whole))
    }

    /// The time since then, in words.
    #[must_use]
    pub(crate) fn ago(&self, time: &i64) -> String {
        format::ago(self.visitor.language, self.visitor.now, *time)
    }

    /// How long a state has lasted.
    #[must_use]
    pub(crate) fn lasting(&self, since: &i64) -> String {
        self.fill(self.t.campaigns.for_time, format::duration(self.visitor.language, self.visitor.now.0 - since))
    }

    /// The address of the page about an event: its match, its net, or its campaign.
    #[must_use]
    pub(crate) fn event_address(&self, event: &PublicEvent) -> Option<String> {
        let known = Event::from_columns(&event.kind, event.data.as_deref());
        if let Some(job) = known.as_ref().and_then(Event::job_of_match) {
            return Some(self.link(&format!("/matches/{job}")));
        }
        let net = known.as_ref().and_then(Event::net).or_else(|| event.subject.strip_prefix("net:"));
        let campaign = || Some(format!("/campaigns/{}", event.subject.strip_prefix("campaign:")?));
        net.map(|net| format!("/nets/{net}")).or_else(campaign).map(|path| self.link(&path))
    }

    /// The exact time.
    #[must_use]
    pub(crate) fn time(&self, time: &i64) -> String {
        Time(*time).to_text()
    }

    /// Formats a duration in milliseconds for people.
    #[must_use]
    pub(crate) fn duration(&self, milliseconds: &i64) -> String {
        format::duration(self.visitor.language, *milliseconds)
    }

    /// The beginning of a hash.
    #[must_use]
    pub(crate) fn brief<'a>(&self, hash: &'a str) -> &'a str {
        hash.get(..12).unwrap_or(hash)
    }
}

/// Responds with a page, which caches must revalidate: it belongs to this visitor and this moment.
pub(crate) fn show(template: &impl Template) -> ApiResult<Response> {
    let text = template.render().map_err(|error| {
        tracing::error!(%error, "a page cannot be written");
        ApiError::new(Code::Internal, "the page cannot be written")
    })?;
    let mut response = Html(text).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    Ok(response)
}
