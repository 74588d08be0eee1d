//! What every page has around it, and how one is answered.

use std::collections::BTreeMap;

use askama::Template;
use axum::{
    extract::FromRequestParts,
    http::{HeaderValue, header, request::Parts},
    response::{Html, IntoResponse as _, Response},
};
use protocol::api::{
    problem::{Code, Problem},
    work::Role,
};

use super::{
    assets, format,
    words::{self, Language, Words},
};
use crate::{
    clock::Time,
    http::answer::{Answer, Refusal},
    people::sessions::Session,
    sentences,
    service::Service,
};

/// Who looks at a page: their language, and who they are if they signed in. `guard` finds out; handlers take it as an
/// argument.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    /// In which language.
    pub(crate) language: Language,
    /// Whoever signed in.
    pub(crate) session: Option<Session>,
    /// What forms carry, so that no other page can send them; none where there is neither session nor form cookie.
    pub(crate) form: String,
    /// The address below the language, with its query.
    pub(crate) rest: String,
    /// Of which moment the page is: [marks](super::live::Marks), or nothing if they are not known.
    pub(crate) state: String,
    /// What the server is called.
    pub(crate) server: String,
    /// When.
    pub(crate) now: Time,
    /// Whether cookies may be sent over an open line: to this machine itself.
    pub(crate) is_local: bool,
}

impl Visitor {
    /// What a page has around it. `section` is its place in the menu; `json` the address of what it shows.
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

    /// Whoever signed in.
    ///
    /// # Errors
    ///
    /// If nobody did.
    pub(crate) fn must_be_known(&self) -> Answer<&Session> {
        self.session.as_ref().ok_or_else(|| Refusal::new(Code::NoToken, "sign in first"))
    }

    /// Whoever signed in, if they may do what this role may.
    ///
    /// # Errors
    ///
    /// If nobody did, or they may not.
    pub(crate) fn must_be(&self, role: Role) -> Answer<&Session> {
        let session = self.must_be_known()?;
        match Service::lacks(session.role, role) {
            None => Ok(session),
            Some(detail) => Err(Refusal::new(Code::Forbidden, detail)),
        }
    }

    /// Whether whoever looks may do what this role may.
    #[must_use]
    pub(crate) fn is(&self, role: Role) -> bool {
        self.session.as_ref().is_some_and(|session| session.role >= role)
    }

    /// Why something did not happen, in their language.
    #[must_use]
    pub(crate) fn refused(&self, problem: &Problem) -> String {
        sentences::refused(self.language, problem.code.name(), &problem.detail)
    }

    /// The address of a page in the visitor's language.
    #[must_use]
    pub(crate) fn link(&self, path: &str) -> String {
        format!("/{}{path}", self.language.code())
    }
}

impl FromRequestParts<Service> for Visitor {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &Service) -> Answer<Self> {
        let visitor = parts.extensions.get::<Self>().cloned();
        visitor.ok_or_else(|| Refusal::new(Code::Internal, "the page has no visitor"))
    }
}

/// What every page has around it: `page` in its template.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// All words of its language.
    pub(crate) t: &'static Words,
    /// Who looks.
    pub(crate) visitor: Visitor,
    /// Its place in the menu.
    pub(crate) section: &'static str,
    /// Its title.
    pub(crate) title: String,
    /// The address of what it shows; empty if it shows nothing.
    pub(crate) json: String,
    /// What else it shows: what that is called, and its address.
    pub(crate) more_json: Vec<(&'static str, String)>,
    /// Whether it has charts that a script may enhance.
    pub(crate) is_charted: bool,
    /// What was just done.
    pub(crate) notice: Option<String>,
}

impl Page {
    /// A page with charts.
    #[must_use]
    pub(crate) fn charted(mut self) -> Self {
        self.is_charted = true;
        self
    }

    /// A page that shows something else besides.
    #[must_use]
    pub(crate) fn also(mut self, name: &'static str, json: impl Into<String>) -> Self {
        self.more_json.push((name, json.into()));
        self
    }

    /// A page that says what was just done.
    #[must_use]
    pub(crate) fn noting(mut self, notice: Option<String>) -> Self {
        self.notice = notice;
        self
    }

    /// The address of a page in this one's language.
    #[must_use]
    pub(crate) fn link(&self, path: &str) -> String {
        self.visitor.link(path)
    }

    /// The same page in the other language.
    #[must_use]
    pub(crate) fn translated(&self) -> String {
        format!("/{}{}", self.visitor.language.other().code(), self.visitor.rest)
    }

    /// The address of a style or script.
    #[must_use]
    pub(crate) fn asset(&self, name: &str) -> String {
        assets::address(name)
    }

    /// The word for a state of the database.
    #[must_use]
    pub(crate) fn word(&self, state: &str) -> String {
        words::state(self.visitor.language, state)
    }

    /// The word for a state of a shard: rejected games are something else than a rejected net.
    #[must_use]
    pub(crate) fn shard_word(&self, state: &str) -> String {
        words::state(self.visitor.language, if state == "rejected" { "rejected_shard" } else { state })
    }

    /// What the coordinator said, in the visitor's language.
    #[must_use]
    pub(crate) fn said(&self, sentence: &str) -> String {
        sentences::said(self.visitor.language, sentence)
    }

    /// The campaign that something happened to, if the sentence does not name it.
    #[must_use]
    pub(crate) fn unnamed<'a>(&self, subject: &'a str, sentence: &str) -> Option<&'a str> {
        subject.strip_prefix("campaign:").filter(|name| !sentence.contains(name))
    }

    /// Why something was refused, in the visitor's language.
    #[must_use]
    pub(crate) fn refused(&self, code: &Option<String>, detail: &str) -> String {
        sentences::refused(self.visitor.language, code.as_deref().unwrap_or_default(), detail)
    }

    /// How a state looks: good, bad, or waiting.
    #[must_use]
    pub(crate) fn mood(&self, state: &str) -> &'static str {
        match state {
            "running" | "promoted" | "validated" | "active" | "open" | "leased" | "equal" | "clean" => "good",
            "stuck" | "rejected" | "disputed" | "quarantined" | "blocked" | "failed" | "different" => "bad",
            "paused" | "pending" | "candidate" | "received" | "waiting" | "rolled_back" => "wait",
            _ => "",
        }
    }

    /// A word with something in its place.
    #[must_use]
    pub(crate) fn fill(&self, word: &str, what: impl std::fmt::Display) -> String {
        words::fill(word, what)
    }

    /// Whether whoever looks is a maintainer.
    #[must_use]
    pub(crate) fn is_maintainer(&self) -> bool {
        self.visitor.is(Role::Maintainer)
    }

    /// Whether whoever looks is an administrator.
    #[must_use]
    pub(crate) fn is_admin(&self) -> bool {
        self.visitor.is(Role::Admin)
    }

    /// A whole number.
    #[must_use]
    pub(crate) fn number(&self, number: &i64) -> String {
        format::number(*number)
    }

    /// A large number in few letters.
    #[must_use]
    pub(crate) fn short(&self, number: &i64) -> String {
        format::short(self.visitor.language, *number)
    }

    /// A length of a file.
    #[must_use]
    pub(crate) fn bytes(&self, bytes: &i64) -> String {
        format::bytes(*bytes)
    }

    /// A number with a sign and a digit after the point.
    #[must_use]
    pub(crate) fn signed(&self, number: &f64) -> String {
        format::signed(*number, 1)
    }

    /// A number with so many digits after the point.
    #[must_use]
    pub(crate) fn decimal(&self, number: &f64, places: usize) -> String {
        format::decimal(*number, places)
    }

    /// A number from 0 to 1, in percent.
    #[must_use]
    pub(crate) fn hundredths(&self, number: &f64) -> String {
        format::hundredths(*number)
    }

    /// How likely something is, from 0 to 1.
    #[must_use]
    pub(crate) fn likely(&self, share: &f64) -> String {
        format::likelihood(*share)
    }

    /// A part of a whole, in percent.
    #[must_use]
    pub(crate) fn share(&self, part: &i64, whole: &i64) -> String {
        format::percent(*part, *whole)
    }

    /// The share of a label among so many games.
    #[must_use]
    pub(crate) fn part(&self, labels: &BTreeMap<String, i64>, label: &str, whole: &i64) -> String {
        labels.get(label).map_or_else(|| "–".to_owned(), |games| format::percent(*games, *whole))
    }

    /// When it was, in words.
    #[must_use]
    pub(crate) fn ago(&self, time: &i64) -> String {
        format::ago(self.visitor.language, self.visitor.now, *time)
    }

    /// When it was, exactly.
    #[must_use]
    pub(crate) fn time(&self, time: &i64) -> String {
        format::time(*time)
    }

    /// How long it takes.
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

/// Answers with a page, which nobody keeps: it is of this moment, and of this visitor.
pub(crate) fn show(template: &impl Template) -> Answer<Response> {
    let text = template.render().map_err(|error| {
        tracing::error!(%error, "a page cannot be written");
        Refusal::new(Code::Internal, "the page cannot be written")
    })?;
    let mut response = Html(text).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    Ok(response)
}
