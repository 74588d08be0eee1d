//! A real browser: Debian's Chromium, headless, driven over `WebDriver` by its own driver. The
//! driver gets a free port, and ends with the test.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    time::Duration,
};

use reqwest::{Client, Method};
use serde_json::{Value, json};

/// The key of elements in responses (W3C `WebDriver`).
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

pub(crate) struct Browser {
    driver: Child,
    client: Client,
    session: String,
}

/// A browser's setup.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) dark: bool,
    pub(crate) scripts: bool,
}

pub(crate) const DESKTOP: Look = Look { width: 1280, height: 900, dark: false, scripts: true };
pub(crate) const PHONE: Look = Look { width: 375, height: 812, dark: false, scripts: true };

impl Browser {
    pub(crate) async fn start(look: Look) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let driver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is installed (apt-get install chromium chromium-driver), or CHUHE_SKIP_BROWSER=1");
        let client = Client::builder().timeout(Duration::from_mins(2)).build().unwrap();
        let mut browser = Self { driver, client, session: format!("http://127.0.0.1:{port}") };
        let scripts = if look.scripts { 1 } else { 2 };
        let mut args = vec![
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--disable-dev-shm-usage",
            "--lang=en",
            "--force-device-scale-factor=1",
            "--disable-background-networking",
        ];
        let size = format!("--window-size={},{}", look.width.max(500), look.height);
        args.push(&size);
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "timeouts": { "script": 300_000 },
            "goog:loggingPrefs": { "browser": "ALL" },
            "goog:chromeOptions": { "args": args,
                "prefs": { "profile.managed_default_content_settings.javascript": scripts } } } } });
        let mut made = Value::Null;
        for _ in 0..200 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            if let Ok(answer) = browser.send(Method::POST, "/session", &capabilities).await {
                made = answer;
                break;
            }
        }
        let id = made["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {made}"));
        browser.session = format!("{}/session/{id}", browser.session);
        let size =
            json!({ "width": look.width, "height": look.height, "deviceScaleFactor": 1, "mobile": look.width < 500 });
        browser.developer("Emulation.setDeviceMetricsOverride", size).await;
        let scheme = if look.dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.developer("Emulation.setEmulatedMedia", media).await;
        browser
    }

    async fn send(&self, method: Method, path: &str, body: &Value) -> Result<Value, String> {
        let request = self.client.request(method.clone(), format!("{}{path}", self.session));
        let request = if method == Method::POST {
            request.header("content-type", "application/json").body(body.to_string())
        } else {
            request
        };
        let answer = request.send().await.map_err(|error| error.to_string())?;
        let bytes = answer.bytes().await.map_err(|error| error.to_string())?;
        let answer: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        let value = answer["value"].clone();
        match value.get("error") {
            Some(_) => Err(value.to_string()),
            None => Ok(value),
        }
    }

    pub(crate) async fn developer(&self, command: &str, parameters: Value) -> Value {
        let body = json!({ "cmd": command, "params": parameters });
        self.send(Method::POST, "/goog/cdp/execute", &body).await.unwrap()
    }

    pub(crate) async fn open(&self, address: &str) {
        self.send(Method::POST, "/url", &json!({ "url": address })).await.unwrap();
    }

    pub(crate) async fn run(&self, script: &str) -> Value {
        self.send(Method::POST, "/execute/sync", &json!({ "script": script, "args": [] })).await.unwrap()
    }

    /// Runs a script that finishes by calling its last argument.
    pub(crate) async fn run_until(&self, script: &str) -> Value {
        self.send(Method::POST, "/execute/async", &json!({ "script": script, "args": [] })).await.unwrap()
    }

    async fn find(&self, css: &str) -> Result<String, String> {
        let found = self.send(Method::POST, "/element", &json!({ "using": "css selector", "value": css })).await?;
        Ok(found[ELEMENT].as_str().ok_or("no element")?.to_owned())
    }

    pub(crate) async fn click(&self, css: &str) {
        let element = self.find(css).await.unwrap_or_else(|error| panic!("{css}: {error}"));
        let done = self.send(Method::POST, &format!("/element/{element}/click"), &json!({})).await;
        done.unwrap_or_else(|error| panic!("{css}: {error}"));
    }

    pub(crate) async fn write(&self, css: &str, text: &str) {
        let element = self.find(css).await.unwrap_or_else(|error| panic!("{css}: {error}"));
        self.send(Method::POST, &format!("/element/{element}/clear"), &json!({})).await.unwrap();
        self.send(Method::POST, &format!("/element/{element}/value"), &json!({ "text": text })).await.unwrap();
    }

    /// Types into an element without clearing it, or at the page with `body`.
    pub(crate) async fn keys(&self, css: &str, text: &str) {
        let element = self.find(css).await.unwrap_or_else(|error| panic!("{css}: {error}"));
        self.send(Method::POST, &format!("/element/{element}/value"), &json!({ "text": text })).await.unwrap();
    }

    /// Reads an element's text. Retries: the page may be replaced between finding and reading.
    pub(crate) async fn text(&self, css: &str) -> String {
        let mut trouble = String::new();
        for _ in 0..50 {
            let found = match self.find(css).await {
                Ok(element) => self.send(Method::GET, &format!("/element/{element}/text"), &Value::Null).await,
                Err(error) => Err(error),
            };
            match found {
                Ok(text) => return text.as_str().unwrap().to_owned(),
                Err(error) => trouble = error,
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{css}: {trouble}");
    }

    pub(crate) async fn has(&self, css: &str) -> bool {
        self.find(css).await.is_ok()
    }

    pub(crate) async fn address(&self) -> String {
        self.send(Method::GET, "/url", &Value::Null).await.unwrap().as_str().unwrap().to_owned()
    }

    /// Waits until an element contains a text.
    pub(crate) async fn wait_for(&self, css: &str, text: &str) {
        let mut last = String::new();
        for _ in 0..300 {
            if let Ok(element) = self.find(css).await
                && let Ok(found) = self.send(Method::GET, &format!("/element/{element}/text"), &Value::Null).await
            {
                found.as_str().unwrap_or_default().clone_into(&mut last);
                if last.contains(text) {
                    return;
                }
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{css} says {last:?}, not {text:?}");
    }

    /// Waits until a script returns true.
    pub(crate) async fn wait_until(&self, script: &str) {
        for _ in 0..2_400 {
            if self.run(script).await == json!(true) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("it is never so: {script}\n{}", self.run("return document.body.innerText").await);
    }

    /// A screenshot of the whole page, as PNG in base64.
    pub(crate) async fn picture(&self) -> String {
        let shot = self.developer("Page.captureScreenshot", json!({ "captureBeyondViewport": true })).await;
        shot["data"].as_str().unwrap().to_owned()
    }

    /// Errors in the browser's log since the last call.
    pub(crate) async fn complaints(&self) -> Vec<String> {
        let log = self.send(Method::POST, "/se/log", &json!({ "type": "browser" })).await.unwrap();
        let severe = log.as_array().unwrap().iter().filter(|line| line["level"] == "SEVERE");
        severe.map(|line| line["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Ends the browser through its driver; a killed driver would leave it running.
    fn stop(&mut self) {
        let address = self.session.trim_start_matches("http://");
        if let Some((place, path)) = address.split_once('/')
            && let Ok(mut stream) = TcpStream::connect(place)
        {
            let request = format!("DELETE /{path} HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n");
            drop(stream.set_read_timeout(Some(Duration::from_secs(30))));
            drop(stream.write_all(request.as_bytes()));
            drop(stream.read(&mut [0]));
        }
        drop(self.driver.kill());
        drop(self.driver.wait());
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.stop();
    }
}
