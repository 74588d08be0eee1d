//! Ratings of champions, from matches between them.

use coordinator_core::{
    model::{CampaignCommand as Command, CampaignId},
    ops::matches::BeginRatings,
    ratings::{self, Plan},
};
use protocol::api::problem::Code;
use serde_json::Value;

use super::{
    campaigns::{command, gating, net, row},
    cases,
};
use crate::{
    common::lab::{Lab, SIGNATURE, code},
    op,
};

cases! {
    champions_meet_once_and_their_strength_is_known
    champions_meet_in_the_order_of_the_appendix
    without_champions_there_are_no_ratings
}

async fn begin(lab: &Lab, campaign: i64, pairs: u32) -> Result<Vec<i64>, Code> {
    let (campaign, plan) = (CampaignId(campaign).into(), Plan { pairs, nodes: None });
    let jobs = lab.run(BeginRatings { campaign, plan, bench_signature: SIGNATURE, by: None }).await;
    jobs.map(|jobs| jobs.into_iter().map(|job| job.0).collect()).map_err(code)
}

async fn history(lab: &Lab, campaign: i64) -> Vec<Value> {
    let history: Value = op!(lab.read, [], |c| ratings::history(&mut c, &CampaignId(campaign).into())).unwrap();
    history["nets"].as_array().unwrap().clone()
}

async fn champions_meet_once_and_their_strength_is_known(lab: Lab) {
    let judge = lab.judge("judge").await;
    let (id, _) = gating(&lab, judge, 0).await;
    command(&lab, id, Command::Promote).await.unwrap();
    assert_eq!(begin(&lab, id, 6).await.unwrap().len(), 1, "the plain evaluation and the net that beat it");
    lab.drive(id).await;
    lab.play(judge, 8).await;
    lab.drive(id).await;
    lab.train(judge, net(200)).await;
    lab.drive(id).await;
    assert_eq!(row(&lab, id).await.phase.name(), "gating");
    command(&lab, id, Command::Promote).await.unwrap();
    assert_eq!(begin(&lab, id, 6).await.unwrap().len(), 2, "the third meets both");
    assert_eq!(begin(&lab, id, 6).await, Ok(vec![]), "all have met");
    let strengths = history(&lab, id).await;
    assert_eq!(strengths.len(), 3);
    lab.clock.advance(3_600_000);
    lab.play(judge, 8).await;
    lab.conclude().await;
    let open = "SELECT COUNT(*) FROM jobs WHERE kind = 'rating' AND state = 'open'";
    assert_eq!(lab.value::<i64>(open).await, 0, "all pairs were played");
    let strengths = history(&lab, id).await;
    assert_eq!((strengths[0]["net"].is_null(), strengths[0]["elo"].as_f64()), (true, Some(0.0)));
    assert!(strengths[0]["error"].is_null(), "Elo is relative to the first");
    for one in &strengths {
        assert_eq!(one["games"], 24, "twelve games against each of two: {one}");
    }
    assert!(strengths[1..].iter().all(|one| one["error"].as_f64().is_some_and(|error| error > 0.0)));
    assert_eq!(row(&lab, id).await.generation, 2, "ratings decide nothing");
}

/// Five champions: the table for five or six players of the World rules, without the sixth.
async fn champions_meet_in_the_order_of_the_appendix(lab: Lab) {
    let (id, _) = lab.campaign("one").await;
    for number in 2..=5 {
        let net = net(number);
        lab.execute(&format!("INSERT INTO promotions (campaign, net, kind, at) VALUES ({id}, '{net}', 'hand', 0)"))
            .await;
    }
    assert_eq!(begin(&lab, id, 6).await.unwrap().len(), 10);
    let name = |text: &str| (2..=5).find(|number| net(*number).to_string() == text).unwrap_or(1);
    let query = "SELECT COALESCE(net, ''), COALESCE(opponent, '') FROM jobs WHERE kind = 'rating' ORDER BY id";
    let met: Vec<(String, String)> = lab.rows(query).await;
    let met: Vec<_> = met.iter().map(|(one, other)| [name(one), name(other)]).collect();
    // The newer net, with the greater number, is named first.
    let table = "2-5 3-4  5-3 1-2  3-1 4-5  1-4 2-3  4-2 5-1";
    let expected: Vec<_> = table
        .split_whitespace()
        .map(|pair| {
            pair.split_once('-').map(|(one, other)| [one, other].map(|text| text.parse::<u8>().unwrap())).unwrap()
        })
        .map(|[one, other]| [one.max(other), one.min(other)])
        .collect();
    assert_eq!(met, expected);
}

async fn without_champions_there_are_no_ratings(lab: Lab) {
    let (id, _) = lab.campaign("one").await;
    assert_eq!(begin(&lab, id, 6).await, Err(Code::Conflict));
    assert_eq!(begin(&lab, id, 0).await, Err(Code::Invalid));
    assert_eq!(history(&lab, id).await.len(), 1);
}
