//! The messages of workers.

use dataset::{Adjudication, Digest, GameSettings, Header, OpeningPolicy};
use protocol::api::work::{Answer, Lease, Notice, Work};
use serde_json::{Value, json};
use xiangqi::rules::RuleSet;

fn response() -> Answer {
    let settings = GameSettings {
        hash_mebibytes: 16,
        soft_nodes: None,
        hard_nodes: 5000,
        adjudication: Adjudication::default(),
        ply_cap: 400,
    };
    let terms = Header {
        bench_signature: 1,
        net: Some(Digest::of(b"net")),
        opponent: None,
        clock: None,
        parameters: dataset::Overrides::default(),
        opponent_parameters: dataset::Overrides::default(),
        rules: RuleSet::Cxr,
        settings,
        openings: OpeningPolicy { book: None, plies: 8, filter: None },
        seed: 1,
        first_game: 64,
    };
    let lease = Lease { token: "secret".to_owned(), terms, games: 32, seconds: 900, live: false };
    let notice = Notice { kind: "message".to_owned(), shard: None, code: None, text: "Hello.".to_owned() };
    Answer { work: Work::Games(lease), notices: vec![notice] }
}

#[test]
fn responses_round_trip() {
    let wait = Work::Wait { seconds: 60, reason: "The generation is full.".to_owned() };
    for response in [response(), Answer { work: wait, notices: Vec::new() }] {
        let text = serde_json::to_string(&response).unwrap();
        assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), response, "{text}");
    }
}

/// Leases with unknown fields are rejected: a field that runs a command would hand over the
/// machines of all volunteers.
#[test]
fn a_lease_with_anything_else_in_it_is_refused() {
    let sound = serde_json::to_value(response()).unwrap();
    for place in ["", "/terms", "/terms/settings", "/terms/openings", "/terms/settings/adjudication"] {
        for word in ["command", "engine", "program", "arguments", "environment"] {
            let mut lease = sound.clone();
            let Some(Value::Object(fields)) = lease.pointer_mut(place) else { panic!("{place}") };
            fields.insert(word.to_owned(), json!("rm -rf ~"));
            let error = serde_json::from_value::<Answer>(lease).unwrap_err().to_string();
            assert!(error.starts_with(&format!("unknown field `{word}`")), "{place}: {error}");
        }
    }
}
