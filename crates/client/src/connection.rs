//! One HTTP exchange: a request, and its response or an error.

use std::{io::Read, sync::Arc, sync::Once, time::Duration, time::SystemTime};

use protocol::api::{
    MAX_JSON_BYTES, VERSION_HEADER,
    problem::{PROBLEM_TYPE, Problem},
};
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
    error::{Error, HostLookup, RequestContext},
    text::printable,
    token::Token,
};

/// The settings of a client.
#[derive(Clone)]
pub struct Settings {
    /// The coordinator's address.
    pub server: ServerAddress,
    /// The caller's token; none for public requests.
    pub token: Option<Token>,
    /// The program's name in `User-Agent`, such as `chuhe-worker`.
    pub program: &'static str,
    /// The program's version.
    pub version: String,
    /// The connect timeout and the idle timeout of an exchange.
    pub idle_timeout: Duration,
    /// The total timeout of an exchange; downloads have none.
    pub total_timeout: Duration,
    /// The source of time, for timeouts and delays.
    pub clock: Arc<dyn Clock>,
}

impl Settings {
    /// The default settings.
    #[must_use]
    pub fn new(server: ServerAddress, token: Option<Token>, clock: Arc<dyn Clock>) -> Self {
        Self {
            server,
            token,
            program: "chuhe",
            version: env!("CARGO_PKG_VERSION").to_owned(),
            idle_timeout: Duration::from_secs(30),
            total_timeout: Duration::from_mins(2),
            clock,
        }
    }
}

/// A client of a coordinator. Clones share its settings and connections.
#[derive(Clone)]
pub struct Client {
    pub(crate) settings: Arc<Settings>,
    /// Follows no redirects: bodies are meant for the coordinator.
    http: reqwest::blocking::Client,
    /// Follows redirects: a download is verified by its hash, so its server does not matter.
    files: reqwest::blocking::Client,
}

/// The lowest transfer rate of a request body, in bytes a second; slower uploads time out.
const MIN_UPLOAD_RATE: u64 = 64 << 10;

/// The body of a request.
pub(crate) enum Body<'a, T> {
    Nothing,
    Json(&'a T),
    Bytes { kind: &'static str, bytes: Vec<u8>, headers: Vec<(&'static str, String)> },
}

impl Client {
    /// Creates a client without connecting.
    ///
    /// # Errors
    ///
    /// If the machine's root certificates cannot be loaded.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            // Another part of the program may have installed one before; any is good.
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let build = |redirects| {
            let mut headers = HeaderMap::new();
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
            let mut builder = reqwest::blocking::Client::builder()
                .default_headers(headers)
                .pool_max_idle_per_host(0)
                .connect_timeout(settings.idle_timeout)
                .timeout(settings.idle_timeout)
                .redirect(redirects);
            if settings.server.is_here() {
                builder = builder.no_proxy();
            }
            let context = RequestContext { action: "preparing to ask", server: settings.server.to_string() };
            builder.build().map_err(|error| Error::network(&context, &error))
        };
        let (http, files) = (build(Policy::none())?, build(Policy::limited(5))?);
        Ok(Self { settings: Arc::new(settings), http, files })
    }

    /// The coordinator's address.
    #[must_use]
    pub fn server_address(&self) -> &ServerAddress {
        &self.settings.server
    }

    pub(crate) fn context(&self, action: &'static str) -> RequestContext {
        RequestContext { action, server: self.settings.server.to_string() }
    }

    /// Sends a request and parses its JSON response.
    pub(crate) fn request<T: Serialize, A: DeserializeOwned>(
        &self,
        action: &'static str,
        method: Method,
        path: &str,
        body: Body<'_, T>,
    ) -> Result<A, Error> {
        let context = self.context(action);
        let response = self.exchange(&context, method, path, body)?;
        let bytes = self.read(&context, response)?;
        serde_json::from_slice(&bytes).map_err(|error| match error.classify() {
            // The JSON is whole, so this is no proxy's page and no truncated response.
            Category::Data => Error::Unexpected { context, cause: error.to_string() },
            _ => Error::malformed(&context, error),
        })
    }

    /// Sends a request whose successful response has no body.
    pub(crate) fn send<T: Serialize>(
        &self,
        action: &'static str,
        method: Method,
        path: &str,
        body: Body<'_, T>,
    ) -> Result<(), Error> {
        let context = self.context(action);
        let response = self.exchange(&context, method, path, body)?;
        // The coordinator answers with an empty 201 or 204. Any other success comes from something
        // in between, which never delivered the request.
        let status = response.status().as_u16();
        if !matches!(status, 201 | 204) {
            return Err(self.error_of(&context, response));
        }
        let text = String::from_utf8_lossy(&self.read(&context, response)?).into_owned();
        if text.is_empty() { Ok(()) } else { Err(Error::Status { context, status, text, retry_after: None }) }
    }

    fn exchange<T: Serialize>(
        &self,
        context: &RequestContext,
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
                let text = serde_json::to_vec(value).map_err(|error| Error::malformed(context, error))?;
                request.header(CONTENT_TYPE, "application/json").body(text)
            }
            Body::Bytes { kind, bytes, headers } => {
                // The timeout of a long body allows for a slow line.
                let extra_timeout = Duration::from_secs(bytes.len() as u64 / MIN_UPLOAD_RATE);
                let request = request.timeout(self.settings.idle_timeout + extra_timeout);
                let with = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
                with.header(CONTENT_TYPE, kind).body(bytes)
            }
        };
        let response = request.send().map_err(|error| Error::network(context, &error))?;
        if response.status().is_success() { Ok(response) } else { Err(self.error_of(context, response)) }
    }

    /// A request for a file, with the token only if it is sent to the coordinator.
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

    pub(crate) fn error_of(&self, context: &RequestContext, response: Response) -> Error {
        let status = response.status().as_u16();
        let headers = response.headers();
        let retry_after =
            headers.get(RETRY_AFTER).and_then(|value| parse_retry_after(value, self.settings.clock.since_1970()));
        let is_problem =
            headers.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(PROBLEM_TYPE.as_bytes()));
        let text = self.read(context, response).unwrap_or_default();
        match serde_json::from_slice::<Problem>(&text) {
            Ok(mut problem) if is_problem => {
                problem.detail = printable(&problem.detail);
                Error::Rejected { context: context.clone(), problem: Box::new(problem), retry_after }
            }
            _ => {
                let text = String::from_utf8_lossy(&text[..text.len().min(400)]).into_owned();
                Error::Status { context: context.clone(), status, text, retry_after }
            }
        }
    }

    /// Reads a small response.
    fn read(&self, context: &RequestContext, mut response: Response) -> Result<Vec<u8>, Error> {
        let Settings { clock, total_timeout, .. } = &*self.settings;
        let deadline = clock.now() + *total_timeout;
        let mut bytes = Vec::new();
        let mut piece = [0; 8192];
        loop {
            match response.read(&mut piece) {
                Ok(0) => return Ok(bytes),
                Ok(length) => bytes.extend(&piece[..length]),
                Err(error) => return Err(Error::network(context, &error)),
            }
            if bytes.len() as u64 > MAX_JSON_BYTES {
                return Err(Error::malformed(context, format_args!("it has more than {MAX_JSON_BYTES} bytes")));
            }
            if clock.now() > deadline {
                let cause = format!("the answer of {} took too long", context.server);
                return Err(Error::Network { context: context.clone(), cause, lookup: HostLookup::Found });
            }
        }
    }
}

/// Parses a `Retry-After` header: seconds, or a date.
fn parse_retry_after(value: &HeaderValue, now: Duration) -> Option<Duration> {
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
            assert_eq!(parse_retry_after(&value, now), seconds.map(Duration::from_secs), "{text}");
        }
    }
}
