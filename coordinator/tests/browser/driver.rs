//! A real browser: Chromium without a window, told what to do through its driver (the WebDriver protocol).

use std::{
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::time::sleep;

/// The key for an element in answers of drivers.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Keys that are no letters.
pub(crate) mod key {
    pub(crate) const LEFT: &str = "\u{e012}";
    pub(crate) const RIGHT: &str = "\u{e014}";
    pub(crate) const UP: &str = "\u{e013}";
    pub(crate) const DOWN: &str = "\u{e015}";
}

/// A browser with one page.
pub(crate) struct Browser {
    driver: Child,
    client: Client,
    session: String,
    site: String,
}

impl Browser {
    /// Starts one for a site; none if tests are to pass by without it.
    pub(crate) async fn start(site: String) -> Option<Self> {
        if std::env::var_os("CHUHE_SKIP_BROWSER").is_some() {
            println!("SKIPPED in a browser: CHUHE_SKIP_BROWSER is set");
            return None;
        }
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let driver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is installed (on Debian: apt-get install chromium-driver); CHUHE_SKIP_BROWSER=1 passes by");
        let client = Client::new();
        let address = format!("http://127.0.0.1:{port}/session");
        let arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en-GB"];
        let wanted = json!({ "capabilities": { "alwaysMatch": { "browserName": "chrome",
            "goog:chromeOptions": { "args": arguments } } } });
        for _ in 0..150 {
            let asked = client.post(&address).body(wanted.to_string()).send().await;
            if let Ok(answer) = asked {
                let answer: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
                let id = answer["value"]["sessionId"].as_str().unwrap_or_else(|| panic!("no browser: {answer}"));
                let session = format!("{address}/{id}");
                let browser = Self { driver, client, session, site };
                browser.size(1200, 900).await;
                return Some(browser);
            }
            sleep(Duration::from_millis(100)).await;
        }
        panic!("the browser's driver does not answer");
    }

    async fn tell(&self, method: Method, command: &str, body: Value) -> Value {
        let request = self.client.request(method.clone(), format!("{}/{command}", self.session));
        let request = if method == Method::GET { request } else { request.body(body.to_string()) };
        let answer = request.send().await.unwrap().bytes().await.unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(answer["value"]["error"].is_null(), "{command}: {}", answer["value"]);
        answer["value"].clone()
    }

    /// Goes to an address of the site.
    pub(crate) async fn go(&self, path: &str) {
        self.tell(Method::POST, "url", json!({ "url": format!("{}{path}", self.site) })).await;
    }

    /// The address at which it is, within the site.
    pub(crate) async fn at(&self) -> String {
        let url = self.tell(Method::GET, "url", Value::Null).await;
        url.as_str().unwrap().strip_prefix(&self.site).unwrap().to_owned()
    }

    /// What a script says.
    pub(crate) async fn run(&self, script: &str) -> Value {
        self.tell(Method::POST, "execute/sync", json!({ "script": script, "args": [] })).await
    }

    async fn find(&self, selector: &str) -> String {
        let found = self.tell(Method::POST, "element", json!({ "using": "css selector", "value": selector })).await;
        found[ELEMENT].as_str().unwrap_or_else(|| panic!("{selector}: {found}")).to_owned()
    }

    /// What an element shows.
    pub(crate) async fn text(&self, selector: &str) -> String {
        let element = self.find(selector).await;
        let text = self.tell(Method::GET, &format!("element/{element}/text"), Value::Null).await;
        text.as_str().unwrap().to_owned()
    }

    /// Clicks on an element.
    pub(crate) async fn click(&self, selector: &str) {
        let element = self.find(selector).await;
        self.tell(Method::POST, &format!("element/{element}/click"), json!({})).await;
    }

    /// Types into an element, or at the page with `body`.
    pub(crate) async fn keys(&self, selector: &str, text: &str) {
        let element = self.find(selector).await;
        self.tell(Method::POST, &format!("element/{element}/value"), json!({ "text": text })).await;
    }

    /// Tells the browser what is no part of the protocol.
    pub(crate) async fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.tell(Method::POST, "goog/cdp/execute", json!({ "cmd": command, "params": parameters })).await
    }

    /// The size of the window's content.
    pub(crate) async fn size(&self, width: u32, height: u32) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    /// Dark or light.
    pub(crate) async fn dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        self.devtools("Emulation.setEmulatedMedia", media).await;
    }

    /// Waits until a script says that something is so.
    pub(crate) async fn wait(&self, script: &str) {
        for _ in 0..200 {
            if self.run(script).await == json!(true) {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
        panic!("it is never so: {script}\n{}", self.run("return document.body.innerText").await);
    }

    /// Keeps a picture of the whole page where `CHUHE_SCREENSHOTS` says, if it does.
    pub(crate) async fn picture(&self, name: &str) {
        let Some(folder) = std::env::var_os("CHUHE_SCREENSHOTS").map(PathBuf::from) else { return };
        let asked = json!({ "format": "png", "captureBeyondViewport": true });
        let picture = self.devtools("Page.captureScreenshot", asked).await;
        let bytes = from_base64(picture["data"].as_str().unwrap());
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), bytes).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver takes its browser with it when it is asked, and only then.
        let address = self.session.replace("http://", "");
        if let Some((host, path)) = address.split_once('/')
            && let Ok(mut stream) = std::net::TcpStream::connect(host)
        {
            use std::io::{Read as _, Write as _};
            drop(stream.set_read_timeout(Some(Duration::from_secs(5))));
            drop(write!(stream, "DELETE /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
            drop(stream.read(&mut [0; 256]));
        }
        drop(self.driver.kill());
        drop(self.driver.wait());
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut held, mut bits) = (0_u32, 0);
    for letter in text.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        held = held << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
        }
    }
    bytes
}
