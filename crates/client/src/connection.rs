//! One exchange: a question, and an answer or an error.

use std::{io::Read, sync::Arc, sync::Once, time::Duration, time::SystemTime};

use protocol::api::{MOST_JSON_BYTES, VERSION_HEADER, problem::PROBLEM_TYPE};
use reqwest::{
    Method,
    blocking::{RequestBuilder, Response},
    header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, USER_AGENT},
    redirect::Policy,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::error::Category;

use crate::{
    address::ServerAddress,
    clock::Clock,
    error::{Asked, Error},
    token::Token,
};

/// How a coordinator is asked.
#[derive(Clone)]
pub struct Settings {
    /// Where it is.
    pub server: ServerAddress,
    /// Who asks; none for what anybody may ask.
    pub token: Option<Token>,
    /// What asks, such as `chuhe-worker`.
    pub program: &'static str,
    /// Its version.
    pub version: String,
    /// How long a connection may take, and any silence after it.
    pub patience: Duration,
    /// How long an exchange may take at most, however slowly it goes on; files are not bound by it.
    pub longest: Duration,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl Settings {
    /// As programs ask.
    #[must_use]
    pub fn new(server: ServerAddress, token: Option<Token>, clock: Arc<dyn Clock>) -> Self {
        Self {
            server,
            token,
            program: "chuhe",
            version: env!("CARGO_PKG_VERSION").to_owned(),
            patience: Duration::from_secs(30),
            longest: Duration::from_mins(2),
            clock,
        }
    }
}

/// Asks a coordinator. Clones ask the same one.
#[derive(Clone)]
pub struct Client {
    pub(crate) settings: Arc<Settings>,
    /// Follows nobody elsewhere: what is posted is meant for the coordinator.
    http: reqwest::blocking::Client,
    /// Files are named by their hashes, so it does not matter who sends them.
    files: reqwest::blocking::Client,
}

/// A body is given up if it goes slower than so many bytes a second.
const SLOWEST_BYTES: u64 = 64 << 10;

/// What goes with a question.
pub(crate) enum Body<'a, T> {
    Nothing,
    Json(&'a T),
    Bytes { kind: &'static str, bytes: Vec<u8>, headers: Vec<(&'static str, String)> },
}

impl Client {
    /// A client. Nothing is asked yet.
    ///
    /// # Errors
    ///
    /// If the machine's certificates cannot be had.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            // Another one is as good, if another part of the program was faster.
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let build = |redirects| {
            let mut headers = HeaderMap::new();
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
            let mut builder = reqwest::blocking::Client::builder()
                .default_headers(headers)
                .pool_max_idle_per_host(0)
                .connect_timeout(settings.patience)
                .timeout(settings.patience)
                .redirect(redirects);
            if settings.server.is_here() {
                builder = builder.no_proxy();
            }
            let asked = Asked { what: "preparing to ask", server: settings.server.to_string() };
            builder.build().map_err(|error| Error::network(&asked, error))
        };
        let (http, files) = (build(Policy::none())?, build(Policy::limited(5))?);
        Ok(Self { settings: Arc::new(settings), http, files })
    }

    /// Where the coordinator is.
    #[must_use]
    pub fn server_address(&self) -> &ServerAddress {
        &self.settings.server
    }

    pub(crate) fn asked(&self, what: &'static str) -> Asked {
        Asked { what, server: self.settings.server.to_string() }
    }

    /// Asks, and reads a JSON answer.
    pub(crate) fn ask_for<T: Serialize, A: DeserializeOwned>(
        &self,
        what: &'static str,
        method: Method,
        path: &str,
        body: Body<'_, T>,
    ) -> Result<A, Error> {
        let asked = self.asked(what);
        let response = self.exchange(&asked, method, path, body)?;
        let bytes = self.read(&asked, response)?;
        serde_json::from_slice(&bytes).map_err(|error| match error.classify() {
            // It is whole JSON, and no page or half an answer.
            Category::Data => Error::Strange { asked, cause: error.to_string() },
            _ => Error::answer(&asked, error),
        })
    }

    /// Asks, where a success says everything.
    pub(crate) fn tell<T: Serialize>(
        &self,
        what: &'static str,
        method: Method,
        path: &str,
        body: Body<'_, T>,
    ) -> Result<(), Error> {
        let asked = self.asked(what);
        let response = self.exchange(&asked, method, path, body)?;
        // The coordinator says nothing more. Whoever does, and says that all is well, never heard what was told.
        let status = response.status().as_u16();
        if !matches!(status, 201 | 204) {
            return Err(self.refusal(&asked, response));
        }
        let text = String::from_utf8_lossy(&self.read(&asked, response)?).into_owned();
        if text.is_empty() { Ok(()) } else { Err(Error::Status { asked, status, text, again_after: None }) }
    }

    fn exchange<T: Serialize>(
        &self,
        asked: &Asked,
        method: Method,
        path: &str,
        body: Body<'_, T>,
    ) -> Result<Response, Error> {
        let mut request = self.with_names(self.http.request(method, self.settings.server.of(path)));
        if let Some(token) = &self.settings.token {
            request = request.header(AUTHORIZATION, token.header());
        }
        request = match body {
            Body::Nothing => request,
            Body::Json(value) => {
                let text = serde_json::to_vec(value).map_err(|error| Error::answer(asked, error))?;
                request.header(CONTENT_TYPE, "application/json").body(text)
            }
            Body::Bytes { kind, bytes, headers } => {
                // Long bodies take their time, also on a slow line.
                let longer = Duration::from_secs(bytes.len() as u64 / SLOWEST_BYTES);
                let request = request.timeout(self.settings.patience + longer);
                let with = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
                with.header(CONTENT_TYPE, kind).body(bytes)
            }
        };
        let response = request.send().map_err(|error| Error::network(asked, error))?;
        if response.status().is_success() { Ok(response) } else { Err(self.refusal(asked, response)) }
    }

    /// A request for a file, with the token only if it goes to the coordinator.
    pub(crate) fn request_file(&self, address: &str, with_token: bool) -> RequestBuilder {
        let request = self.with_names(self.files.get(address));
        match &self.settings.token {
            Some(token) if with_token => request.header(AUTHORIZATION, token.header()),
            _ => request,
        }
    }

    fn with_names(&self, request: RequestBuilder) -> RequestBuilder {
        let Settings { program, version, .. } = &*self.settings;
        request.header(USER_AGENT, format!("{program}/{version}")).header(VERSION_HEADER, version)
    }

    pub(crate) fn refusal(&self, asked: &Asked, response: Response) -> Error {
        let status = response.status().as_u16();
        let headers = response.headers();
        let again_after =
            headers.get(RETRY_AFTER).and_then(|value| retry_after(value, self.settings.clock.since_1970()));
        let is_problem =
            headers.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(PROBLEM_TYPE.as_bytes()));
        let text = self.read(asked, response).unwrap_or_default();
        match serde_json::from_slice(&text) {
            Ok(problem) if is_problem => {
                Error::Refused { asked: asked.clone(), problem: Box::new(problem), again_after }
            }
            _ => {
                let text = String::from_utf8_lossy(&text[..text.len().min(400)]).into_owned();
                Error::Status { asked: asked.clone(), status, text, again_after }
            }
        }
    }

    /// All of a small answer.
    fn read(&self, asked: &Asked, mut response: Response) -> Result<Vec<u8>, Error> {
        let Settings { clock, longest, .. } = &*self.settings;
        let until = clock.now() + *longest;
        let mut bytes = Vec::new();
        let mut piece = [0; 8192];
        loop {
            match response.read(&mut piece) {
                Ok(0) => return Ok(bytes),
                Ok(length) => bytes.extend(&piece[..length]),
                Err(error) => return Err(Error::Network { asked: asked.clone(), cause: error.to_string() }),
            }
            if bytes.len() as u64 > MOST_JSON_BYTES {
                return Err(Error::answer(asked, format_args!("it has more than {MOST_JSON_BYTES} bytes")));
            }
            if clock.now() > until {
                return Err(Error::Network { asked: asked.clone(), cause: "the answer took too long".to_owned() });
            }
        }
    }
}

/// Seconds, or a date.
fn retry_after(value: &HeaderValue, now: Duration) -> Option<Duration> {
    let text = value.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(date.saturating_sub(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = Duration::from_secs(784_111_777); // Sun, 06 Nov 1994 08:49:37 GMT
        for (text, seconds) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sun, 06 Nov 1994 08:40:37 GMT", Some(0)),
            ("soon", None),
            ("-1", None),
        ] {
            let value = HeaderValue::from_str(text).unwrap();
            assert_eq!(retry_after(&value, now), seconds.map(Duration::from_secs), "{text}");
        }
    }
}
