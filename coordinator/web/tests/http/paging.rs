//! A visitor of the pages: signs in, submits forms, keeps cookies. Real browsers are in
//! `tests/browser`.

use std::collections::BTreeMap;

use coordinator_core::{ops::accounts::SetPassword, people::passwords};
use protocol::api::work::Role;
use reqwest::{Client, Method, Response, StatusCode, header, redirect::Policy};

use crate::bench::Bench;

pub(crate) const PASSWORD: &str = "a quiet river at dawn";

pub(crate) struct Visitor<'b> {
    bench: &'b Bench,
    client: Client,
    pub(crate) cookies: BTreeMap<String, String>,
}

pub(crate) struct Shown {
    pub(crate) status: StatusCode,
    pub(crate) headers: header::HeaderMap,
    pub(crate) text: String,
}

impl<'b> Visitor<'b> {
    pub(crate) fn new(bench: &'b Bench) -> Self {
        let client = Client::builder().redirect(Policy::none()).build().unwrap();
        Self { bench, client, cookies: BTreeMap::new() }
    }

    /// A visitor with an account, signed in.
    pub(crate) async fn signed_in(bench: &'b Bench, name: &str, role: Role) -> Self {
        bench.account(name, role).await;
        set_password(bench, name).await;
        let mut visitor = Self::new(bench);
        let shown = visitor.sign_in(name, PASSWORD).await;
        assert_eq!(shown.status, StatusCode::SEE_OTHER, "{}", shown.text);
        visitor
    }

    pub(crate) async fn sign_in(&mut self, name: &str, password: &str) -> Shown {
        let form = self.form("/en/sign-in").await;
        self.post("/en/sign-in", &[("form", &form), ("name", name), ("password", password)]).await
    }

    pub(crate) async fn get(&mut self, path: &str) -> Shown {
        let request = self.client.get(self.address(path)).header(header::COOKIE, self.cookie());
        let answer = request.send().await.unwrap();
        self.take(answer).await
    }

    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Shown {
        self.post_from(path, fields, &[("sec-fetch-site", "same-origin")]).await
    }

    pub(crate) async fn post_from(&mut self, path: &str, fields: &[(&str, &str)], headers: &[(&str, &str)]) -> Shown {
        let mut request = self.client.request(Method::POST, self.address(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.header(header::COOKIE, self.cookie());
        let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let answer = request.body(serde_urlencoded::to_string(fields).unwrap()).send().await.unwrap();
        self.take(answer).await
    }

    /// The CSRF token of a page's forms.
    pub(crate) async fn form(&mut self, path: &str) -> String {
        let text = self.get(path).await.text;
        text.split_once("name=\"form\" value=\"").unwrap().1.split_once('"').unwrap().0.to_owned()
    }

    pub(crate) fn address(&self, path: &str) -> String {
        format!("http://{}{path}", self.bench.address)
    }

    fn cookie(&self) -> String {
        let pairs: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join("; ")
    }

    async fn take(&mut self, answer: Response) -> Shown {
        for cookie in answer.headers().get_all(header::SET_COOKIE) {
            let (name, rest) = cookie.to_str().unwrap().split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let (status, headers) = (answer.status(), answer.headers().clone());
        Shown { status, headers, text: answer.text().await.unwrap() }
    }
}

impl Shown {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// Sets an account's password to the one of these tests.
pub(crate) async fn set_password(bench: &Bench, name: &str) {
    let hash = passwords::hash(PASSWORD).unwrap();
    bench.service.run(SetPassword { account: name.into(), hash, by: None }).await.unwrap();
}
