//! Steering a campaign by the forms of its pages, as a browser without scripts sends them.

use protocol::api::work::Role;
use reqwest::StatusCode;

use crate::{
    bench::{Bench, CAMPAIGN, play, shard},
    paging::{Shown, Visitor},
};

/// A form of a page: its target, and its initial fields.
#[derive(Debug)]
struct Form {
    action: String,
    fields: Vec<(String, String)>,
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    let value = rest.split('"').next()?;
    Some(
        value
            .replace("&#34;", "\"")
            .replace("&#39;", "'")
            .replace("&#60;", "<")
            .replace("&#62;", ">")
            .replace("&#38;", "&"),
    )
}

/// The forms of a page, one for each button.
fn forms(page: &str) -> Vec<Form> {
    let mut all = Vec::new();
    for text in page.split("<form ").skip(1) {
        let (tag, body) = text.split_once('>').unwrap();
        let body = body.split("</form>").next().unwrap();
        let Some(action) = attribute(&format!(" {tag}"), "action").filter(|_| tag.contains("method=\"post\"")) else {
            continue;
        };
        let mut fields: Vec<(String, String)> = Vec::new();
        for input in body.split("<input").skip(1) {
            let input = input.split('>').next().unwrap();
            fields.extend(attribute(input, "name").map(|name| (name, attribute(input, "value").unwrap_or_default())));
        }
        let buttons = body.split("<button").skip(1).map(|button| button.split('>').next().unwrap());
        for button in buttons {
            let mut fields = fields.clone();
            fields.extend(attribute(button, "name").map(|name| (name, attribute(button, "value").unwrap_or_default())));
            all.push(Form { action: action.clone(), fields });
        }
    }
    all
}

/// Presses a button of a page, after filling in fields of its form.
async fn press(visitor: &mut Visitor<'_>, page: &str, button: &str, written: &[(&str, &str)]) -> Shown {
    let shown = visitor.get(page).await;
    let mut all = forms(&shown.text);
    let is_it = |form: &Form| form.fields.iter().any(|(_, value)| value == button) || form.action.ends_with(button);
    let place = all.iter().position(is_it).unwrap_or_else(|| panic!("{page} has no {button}: {all:?}"));
    let mut form = all.swap_remove(place);
    for (name, value) in written {
        form.fields.retain(|(field, _)| field != name);
        form.fields.push(((*name).to_owned(), (*value).to_owned()));
    }
    send(visitor, &form).await
}

/// Submits a form, also a stale one.
async fn send(visitor: &mut Visitor<'_>, form: &Form) -> Shown {
    let fields: Vec<(&str, &str)> = form.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    visitor.post(&form.action, &fields).await
}

/// Creates a net that waits for its gate, as if trained. Returns its hash.
async fn candidate(bench: &Bench, name: &str) -> String {
    let hash = dataset::Digest::of(name.as_bytes()).to_string();
    bench
        .execute(format!(
            "INSERT INTO nets (hash, name, state, campaign, generation, parent, bytes, architecture, created)
             SELECT '{hash}', '{name}', 'candidate', id, generation, champion, 100, 'small', 1 FROM campaigns;
             INSERT INTO trainings (campaign, generation, state, recipe, manifests, candidate, created)
             SELECT id, generation, 'done', '', '[]', '{hash}', 1 FROM campaigns;
             UPDATE campaigns SET phase = 'gating', training = (SELECT MAX(id) FROM trainings)"
        ))
        .await;
    hash
}

async fn state(bench: &Bench) -> i64 {
    let query =
        "SELECT CASE state WHEN 'running' THEN 1 WHEN 'paused' THEN 2 WHEN 'stopped' THEN 3 ELSE 0 END FROM campaigns";
    bench.number(query).await
}

#[tokio::test]
async fn a_campaign_is_steered_by_forms_alone() {
    let bench = Bench::start().await;
    let mut boss = Visitor::signed_in(&bench, "boss", Role::Maintainer).await;
    let made = press(&mut boss, "/en/campaigns/new", "/campaigns/new", &[("text", CAMPAIGN)]).await;
    assert_eq!((made.status, made.header("location")), (StatusCode::SEE_OTHER, "/en/campaigns/quick"));
    bench.step().await;
    let page = "/en/campaigns/quick";
    let back = |shown: &Shown| {
        assert_eq!((shown.status, shown.header("location")), (StatusCode::SEE_OTHER, page), "{}", shown.text);
    };
    back(&press(&mut boss, page, "pause", &[]).await);
    assert_eq!(state(&bench).await, 2);
    assert!(boss.get(page).await.text.contains(">paused<"));
    back(&press(&mut boss, page, "resume", &[]).await);
    assert_eq!(state(&bench).await, 1);
    bench.step().await;
    // An edit; then a forbidden edit, whose error page keeps the input.
    let more = CAMPAIGN.replace("positions = 400", "positions = 900");
    back(&press(&mut boss, "/en/campaigns/quick/edit", "/edit", &[("text", &more)]).await);
    assert_eq!(bench.number("SELECT wanted_positions FROM campaigns").await, 900);
    let other = format!("seed = 8\n{}", more.trim_start());
    let refused = press(&mut boss, "/en/campaigns/quick/edit", "/edit", &[("text", &other)]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.text.contains("seed = 8"), "{}", refused.text);
    // With games, training can start at once.
    let token = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&token, "one").await;
    let lease = bench.lease(&token, worker, "a").await;
    let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
    assert_eq!(bench.upload(&token, &lease, bytes).await.status(), StatusCode::CREATED);
    bench.validate().await;
    // The scheduler finds that no other account may audit them.
    bench.draw_auditors().await;
    back(&press(&mut boss, page, "train", &[]).await);
    bench.step().await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM trainings").await, 1);
    // Stopping needs a confirmation, a summary that works without scripts.
    assert!(boss.get(page).await.text.contains("<details class=\"confirm\"><summary>Stop for good</summary>"));
    back(&press(&mut boss, page, "stop", &[]).await);
    assert_eq!(state(&bench).await, 3);
    let left = boss.get(page).await.text;
    assert!(!forms(&left).iter().any(|form| form.action.contains("/campaigns/")), "nothing is left to do: {left}");
}

#[tokio::test]
async fn candidates_are_rejected_promoted_and_rolled_back_by_forms_alone() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let mut boss = Visitor::signed_in(&bench, "boss", Role::Maintainer).await;
    let page = "/en/campaigns/quick";
    let mut nets = Vec::new();
    for (name, command) in [("w", "reject"), ("x", "promote"), ("y", "promote")] {
        nets.push(candidate(&bench, name).await);
        assert_eq!(press(&mut boss, page, command, &[]).await.status, StatusCode::SEE_OTHER, "{name}");
        if name == "x" {
            // X's card is open when Y is promoted.
            let card = boss.get(&format!("/en/nets/{}", nets[1])).await.text;
            nets.push(card);
        }
    }
    let [rejected, x, card, y] = nets.as_slice() else { panic!("three nets and a page") };
    let states = [(rejected, "rejected"), (x, "promoted"), (y, "promoted")];
    for (net, wanted) in states {
        let card = boss.get(&format!("/api/v1/nets/{net}/card")).await.text;
        let card: serde_json::Value = serde_json::from_str(&card).unwrap();
        assert_eq!(card["state"], wanted, "{net}");
    }
    let champion = |net: &str| {
        let query = format!("SELECT COUNT(*) FROM campaigns WHERE champion = '{net}'");
        bench.number(Box::leak(query.into_boxed_str()))
    };
    let rolled_back = "SELECT COUNT(*) FROM promotions WHERE kind = 'rollback'";
    let with_reason = |page: &str| {
        let mut form = forms(page).into_iter().find(|form| form.action.ends_with("/rollback")).unwrap();
        form.fields.retain(|(field, _)| field != "reason");
        form.fields.push(("reason".to_owned(), "it blunders".to_owned()));
        form
    };
    let late = send(&mut boss, &with_reason(card)).await;
    assert_eq!(late.status, StatusCode::PRECONDITION_FAILED, "{}", late.text);
    assert_eq!((champion(y).await, bench.number(rolled_back).await), (1, 0), "Y stays");
    // Idempotent: the same form rolls back once only.
    let form = with_reason(&boss.get(page).await.text);
    assert_eq!(send(&mut boss, &form).await.status, StatusCode::SEE_OTHER);
    assert_eq!(send(&mut boss, &form).await.status, StatusCode::PRECONDITION_FAILED);
    assert_eq!((champion(x).await, bench.number(rolled_back).await), (1, 1));
    // X's card rolls X back.
    let card = boss.get(&format!("/en/nets/{x}")).await.text;
    assert_eq!(send(&mut boss, &with_reason(&card)).await.status, StatusCode::SEE_OTHER);
    assert_eq!((champion(x).await, bench.number(rolled_back).await), (0, 2));
}
