//! The OpenAPI document is true. Every path in it is served, and its schemas fit the bodies of
//! programs. Every path that programs use is in it.

use dataset::Digest;
use protocol::api::{
    path,
    problem::{Code, Problem},
    training::{Abandon, Accepted, Claim, Completion, Progress},
    work::{Contribution, GiveBack, Machine, Me, Receipt, ReceiptStatus, Renew, Renewed, Role, Worker},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    bench::{Bench, CAMPAIGN, ask, machine, read},
    plenty::{self, MATCH},
};

async fn document(bench: &Bench) -> Value {
    read(bench.request(Method::GET, "/api/v1/openapi.json", "").send().await.unwrap()).await
}

#[tokio::test]
async fn every_documented_path_is_served() {
    let bench = Bench::start().await;
    let document = document(&bench).await;
    assert_eq!(document["openapi"], "3.1.0");
    let mut tried = 0;
    for (template, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let address = template.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
            let address = format!("{}{}", path::ROOT, address.collect::<Vec<_>>().join("/"));
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let answer = bench.request(method.clone(), &address, "").send().await.unwrap();
            let status = answer.status();
            let open = operation.get("security").is_some_and(|security| security == &json!([]));
            assert_eq!(status == StatusCode::UNAUTHORIZED, !open, "{method} {template}: {status}");
            assert_ne!(status, StatusCode::METHOD_NOT_ALLOWED, "{method} {template}");
            if status == StatusCode::NOT_FOUND {
                let problem: Problem = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
                assert_ne!(problem.detail, "there is nothing at this address", "{method} {template}");
            }
            tried += 1;
        }
    }
    assert!(tried > 40, "{tried}");
}

#[tokio::test]
async fn every_path_of_programs_is_documented() {
    let bench = Bench::start().await;
    let document = document(&bench).await;
    let of = |address: String| {
        let rest = address.strip_prefix(path::ROOT).unwrap().to_owned();
        assert!(document["paths"].get(&rest).is_some(), "{rest}");
    };
    for address in [path::SERVER, path::ME, path::WORKERS, path::LEASES, path::FAILURES, path::TRAININGS, path::EVENTS]
    {
        of(address.to_owned());
    }
    of(path::renewal("{lease}"));
    of(path::release("{lease}"));
    of(path::games("{lease}", 0).replace("/0", "/{first}"));
    for of_training in [path::progress, path::candidate, path::curves, path::completion, path::abandonment] {
        of(of_training("{training}"));
    }
    of(path::net("{hash}"));
    of(path::book("{hash}"));
    of(path::shard("{hash}"));
    of(path::manifest("{hash}"));
}

/// Checks that a value is of its schema's type, and that its keys are those of the schema.
fn fits(document: &Value, schema: &Value, value: &Value, name: &str) {
    let schema = match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    };
    if let Some(choices) = schema.get("oneOf").and_then(Value::as_array) {
        let tag = |choice: &Value| choice.pointer("/properties/work/const").cloned();
        let choice = choices.iter().find(|choice| tag(choice).as_ref() == value.get("work"));
        return fits(document, choice.unwrap(), value, name);
    }
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        let choice = choices.iter().find(|choice| (choice["type"] == "null") == value.is_null());
        return fits(document, choice.unwrap_or_else(|| panic!("{name} is {value}")), value, name);
    }
    if let Some(wanted) = schema.get("type") {
        let found = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let is_of = |wanted: &Value| wanted == found || (wanted == "number" && found == "integer");
        let fits = wanted.as_array().map_or_else(|| is_of(wanted), |all| all.iter().any(is_of));
        assert!(fits, "{name} is {value}, not of type {wanted}");
    }
    for (place, value) in value.as_array().into_iter().flatten().enumerate() {
        let of_place = schema.get("prefixItems").and_then(|items| items.get(place));
        if let Some(item) = of_place.or_else(|| schema.get("items")) {
            fits(document, item, value, &format!("{name}[{place}]"));
        }
    }
    let (Some(properties), Some(object)) = (schema.get("properties").and_then(Value::as_object), value.as_object())
    else {
        return;
    };
    for (key, value) in object {
        let property = properties.get(key).unwrap_or_else(|| panic!("{name} has no {key}"));
        fits(document, property, value, &format!("{name}.{key}"));
    }
    let needed = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let missing: Vec<_> = needed.filter(|key| !object.contains_key(key.as_str().unwrap())).collect();
    assert!(missing.is_empty(), "{name} lacks {missing:?}");
}

#[tokio::test]
async fn bodies_fit_their_schemas() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let token = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&token, "one").await;
    let answer = bench.ask(&token, worker, "a").await;
    let document = document(&bench).await;
    let hash = Digest::of(b"");
    let count = Contribution { games: 1, positions: 2 };
    let me = Me {
        account: "ann".to_owned(),
        role: Role::Volunteer,
        today: count,
        total: count,
        rank: Some(1),
        page: "/people/ann".to_owned(),
    };
    let machine: Machine = machine("one");
    let progress =
        Progress { step: 1, steps: 2, loss: Some(1.0), validation_loss: Some(1.0), positions_per_second: Some(1.0) };
    let text = String::new;
    let cases = [
        ("Answer", json!(answer)),
        ("Ask", json!(ask(1, "a"))),
        ("Machine", json!(machine)),
        ("Worker", json!(Worker { worker: 1 })),
        ("Me", json!(me)),
        ("Renew", json!(Renew { finished: 1 })),
        ("Renewed", json!(Renewed { seconds: 1, heartbeat_seconds: Some(30) })),
        ("GiveBack", json!(GiveBack { from: 1 })),
        ("Receipt", json!(Receipt { status: ReceiptStatus::Received, shard: hash, notices: Vec::new() })),
        ("Problem", json!(Problem::new(Code::Busy, "x"))),
        ("Claim", json!(Claim { name: text(), version: text(), backend: text() })),
        ("Progress", json!(progress)),
        ("Completion", json!(Completion { manifest: text() })),
        ("Accepted", json!(Accepted { net: hash })),
        ("Abandon", json!(Abandon { reason: text(), again: true })),
    ];
    for (name, value) in cases {
        let schema = document.pointer(&format!("/components/schemas/{name}")).unwrap();
        fits(&document, schema, &value, name);
    }
    let server: Value = read(bench.request(Method::GET, path::SERVER, "").send().await.unwrap()).await;
    fits(&document, &document["components"]["schemas"]["Server"], &server, "Server");
    let file = "1. 炮二平五 {why} 马8进7 红胜\n\n1. h2e2 h9g5 *\n";
    let judged = bench.request(Method::POST, "/api/v1/judge", "").body(file).send().await.unwrap();
    fits(&document, &document["components"]["schemas"]["JudgedFile"], &read(judged).await, "JudgedFile");
    // No JSON response is undescribed.
    for (template, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                let schema = response.pointer("/content/application~1json/schema");
                assert_ne!(schema, Some(&json!({})), "{method} {template}: {status}");
            }
        }
    }
}

/// Every JSON response to a read is described, and what a busy server sends is of that schema.
#[tokio::test]
async fn reads_fit_their_schemas() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    plenty::fill(&bench).await;
    let token = bench.account("root", Role::Admin).await;
    let worker = bench.worker(&token, "one").await;
    bench.ask(&token, worker, "a").await;
    let document = document(&bench).await;
    let net = format!("{:064x}", plenty::NETS);
    let job = MATCH.to_string();
    let mut seen = 0;
    for (template, methods) in document["paths"].as_object().unwrap() {
        let Some(schema) = methods.pointer("/get/responses/200/content/application~1json/schema") else { continue };
        let address = template.replace("{name}", if template.starts_with("/people") { "root" } else { "quick" });
        let address = address.replace("{job}", &job).replace("{hash}", &net);
        let query = match template.as_str() {
            "/sprt" => "?counts=10,20,40,25,15",
            "/judge" => "?moves=h2e2",
            _ => "",
        };
        let address = format!("{}{address}{query}", path::ROOT);
        let value = loop {
            let answer = bench.request(Method::GET, &address, &token).send().await.unwrap();
            match answer.status() {
                StatusCode::OK => break Some(read::<Value>(answer).await),
                // The match is being counted.
                StatusCode::SERVICE_UNAVAILABLE => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
                _ => break None,
            }
        };
        if let Some(value) = value {
            fits(&document, schema, &value, template);
            seen += 1;
        }
    }
    assert!(seen > 28, "only {seen} were read");
}
