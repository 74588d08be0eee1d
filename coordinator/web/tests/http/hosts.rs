//! Finds requests to other hosts in a page's text, before a browser does.

/// XML namespaces, which are never fetched.
const NAMES: [&str; 2] = ["http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"];

/// The references of a page, style or script to other hosts.
pub(crate) fn elsewhere(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    // Attributes that are fetched, followed or submitted to.
    for name in ["src", "href", "action", "formaction", "srcset", "poster", "data", "cite", "background", "ping"] {
        for (at, _) in text.match_indices(&format!("{name}=")) {
            let is_attribute = text[..at].ends_with([' ', '\n', '\t', ':', '"', '\'']);
            let value = value_of(&text[at + name.len() + 1..]);
            if is_attribute && !is_here(value) {
                found.push(format!("{name}={value}"));
            }
        }
    }
    // Fetches of styles and scripts.
    for call in ["url(", "fetch(", "EventSource(", "WebSocket(", "import(", "@import ", "importScripts(", "sendBeacon("]
    {
        for (at, _) in text.match_indices(call) {
            let value = value_of(text[at + call.len()..].trim_start());
            // An address in a variable is allowed here: the policy and the browser tests cover it.
            let is_text =
                text[at + call.len()..].trim_start().starts_with(['"', '\'', '`']) || call.starts_with(['u', '@']);
            if is_text && !is_here(value) {
                found.push(format!("{call}{value}"));
            }
        }
    }
    // Any address with a host.
    for (at, _) in text.match_indices("://") {
        let scheme = text[..at].rfind(|letter: char| !letter.is_ascii_alphanumeric()).map_or(0, |before| before + 1);
        let address = &text[scheme..];
        if at > scheme && !NAMES.iter().any(|name| address.starts_with(name)) {
            found.push(address.chars().take(60).collect());
        }
    }
    found
}

/// The quoted value, or the text up to the next separator.
fn value_of(text: &str) -> &str {
    match text.chars().next() {
        Some(quote @ ('"' | '\'' | '`')) => text[1..].split(quote).next().unwrap_or_default(),
        _ => text.split([' ', '>', ')', ';', '\n']).next().unwrap_or_default(),
    }
}

fn is_here(address: &str) -> bool {
    let address = address.trim();
    let is_below = address.starts_with('/') && !address.starts_with("//") && !address.starts_with("/\\");
    is_below
        || address.starts_with('#')
        || address.starts_with('?')
        || address.is_empty()
        || address.starts_with("data:")
}

#[test]
fn references_to_other_hosts_are_found() {
    for text in [
        "<script src=\"https://cdn.test/x.js\"></script>",
        "<img src='//cdn.test/x.png'>",
        "<img src=//cdn.test/x.png>",
        "<link rel=stylesheet href=\"HTTPS://cdn.test/x.css\">",
        "<form method=\"post\" action=\"//evil.test/form\">",
        "<button formaction=\"https:evil.test\">",
        "<a href=\"javascript:alert(1)\">",
        "<img srcset=\"//cdn.test/2x.png 2x\">",
        "a { background: url(//cdn.test/x.png) }",
        "a { background: url('https:cdn.test/x.png') }",
        "@import \"//cdn.test/x.css\";",
        "fetch(\"//cdn.test/x\")",
        "new EventSource('//cdn.test/x')",
        "const address = 'wss://cdn.test/x';",
        "<svg><use xlink:href=\"//cdn.test/x.svg#a\"/></svg>",
    ] {
        assert!(!elsewhere(text).is_empty(), "{text}");
    }
    for text in [
        "<a href=\"/en/nets\">",
        "<a href='?ply=3'>",
        "<use href=\"#piece-R\"/>",
        "<form action=\"\">",
        "fetch(location.href)",
        "<svg xmlns=\"http://www.w3.org/2000/svg\">",
        "a { fill: url(#x) }",
        "1 // 2",
    ] {
        assert_eq!(elsewhere(text), Vec::<String>::new(), "{text}");
    }
}
