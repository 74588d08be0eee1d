//! A site in a browser: addresses within it, keys, and looks that change.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    driver::{Browser, DESKTOP},
    looking::keep,
};

/// Keys that are no letters.
pub(crate) mod key {
    pub(crate) const LEFT: &str = "\u{e012}";
    pub(crate) const RIGHT: &str = "\u{e014}";
    pub(crate) const UP: &str = "\u{e013}";
    pub(crate) const DOWN: &str = "\u{e015}";
}

pub(crate) struct Site {
    browser: Browser,
    address: String,
}

impl Site {
    pub(crate) async fn open(address: String) -> Self {
        Self { browser: Browser::start(DESKTOP).await, address }
    }

    /// Goes to an address of the site.
    pub(crate) async fn go(&self, path: &str) {
        self.browser.open(&format!("{}{path}", self.address)).await;
    }

    /// The address at which it is, within the site.
    pub(crate) async fn at(&self) -> String {
        let address = self.browser.address().await;
        address.strip_prefix(&self.address).unwrap().to_owned()
    }

    /// What a script says.
    pub(crate) async fn run(&self, script: &str) -> Value {
        self.browser.run(script).await
    }

    /// What an element shows.
    pub(crate) async fn text(&self, css: &str) -> String {
        self.browser.text(css).await
    }

    pub(crate) async fn click(&self, css: &str) {
        self.browser.click(css).await;
    }

    /// Types into an element, or at the page with `body`.
    pub(crate) async fn keys(&self, css: &str, text: &str) {
        self.browser.keys(css, text).await;
    }

    /// Tells the browser what is no part of the protocol.
    pub(crate) async fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.browser.developer(command, parameters).await
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
        for _ in 0..600 {
            if self.run(script).await == json!(true) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("it is never so: {script}\n{}", self.run("return document.body.innerText").await);
    }

    /// Keeps a picture of the whole page where `CHUHE_SCREENSHOTS` says, if it does.
    pub(crate) async fn picture(&self, name: &str) {
        keep(&self.browser, name).await;
    }
}
