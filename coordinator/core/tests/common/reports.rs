//! Every report, for tests on both databases.

use coordinator_core::{
    games,
    model::{AccountId, AccountKey, CampaignId, CampaignKey, JobId, WorkerId},
    query,
    reports::{self, campaign, data, health, log, marks, matches, net, overview, people, standing},
    store::reports::{games as rows, matches as lines},
};
use dataset::Digest;

use super::lab::Lab;

/// Runs a report.
macro_rules! report {
    ($lab:expr, |$c:ident| $report:expr) => {
        $lab.store
            .report(query!(|connection| {
                let $c = &mut connection;
                $report.await.map(drop)
            }))
            .await
            .expect("it can be read")
    };
}

#[allow(unused_imports, reason = "not every test measures reports")]
pub(crate) use report;

/// Reads every report, of a campaign and of an account that is called `new`.
pub async fn read_all(lab: &Lab, campaign: i64, account: i64) {
    let account = AccountId(account);
    let now = lab.now();
    report!(lab, |c| overview::overview(c, now));
    report!(lab, |c| reports::campaigns(c));
    report!(lab, |c| net::list(c, None, 1_000));
    report!(lab, |c| people::workers(c, Some(account)));
    report!(lab, |c| people::all_accounts(c));
    report!(lab, |c| people::all_tokens(c, account));
    report!(lab, |c| campaign::progress(c, &campaign_key(campaign)));
    report!(lab, |c| data::data(c, now, 0));
    report!(lab, |c| health::counts(c, now));
    report!(lab, |c| log::before(c, i64::MAX));
    report!(lab, |c| marks::marks(c));
    report!(lab, |c| matches::list(c, 0));
    report!(lab, |c| net::list(c, None, 100));
    report!(lab, |c| people::machines(c, None, 0));
    report!(lab, |c| people::failures(c, None, 0));
    report!(lab, |c| people::audits(c, 0));
    report!(lab, |c| standing::explain(c, now, &AccountKey::Id(account)));
    report!(lab, |c| people::deliveries(c, account, 0));
    report!(lab, |c| people::ranking(c, 0, 50));
    report!(lab, |c| people::person(c, "new"));
    report!(lab, |c| people::days(c, account, now));
    report!(lab, |c| people::accounts(c, 0));
    report!(lab, |c| people::active_now(c, now));
    report!(lab, |c| games::shards(c, false, None, None));
    report!(lab, |c| games::shards(c, true, Some(JobId(1)), Some(9)));
    let hash: String = lab.value("SELECT hash FROM shards WHERE id = 1").await;
    let hash: Digest = hash.parse().expect("it is a hash");
    report!(lab, |c| rows::is_public(c, hash));
    report!(lab, |c| rows::job_of(c, hash));
    let pairs = [(WorkerId(1), AccountId(1)), (WorkerId(2), account)];
    report!(lab, |c| lines::names(c, pairs.into_iter()));
    if let Some(gate) = lab.rows::<(i64,)>("SELECT id FROM jobs WHERE gate IS NOT NULL").await.pop() {
        let job = JobId(gate.0);
        report!(lab, |c| lines::get(c, job));
        report!(lab, |c| lines::mark(c, job));
        report!(lab, |c| lines::played(c, job));
        report!(lab, |c| lines::shards(c, job, 0));
    }
    if let Some((hash,)) = lab.rows::<(String,)>("SELECT hash FROM nets").await.pop() {
        let hash = std::sync::Arc::<str>::from(hash);
        let card = lab.store.report(move |mut connection| {
            let hash = std::sync::Arc::clone(&hash);
            Box::pin(async move { net::card(&mut connection, &hash).await.map(drop) })
        });
        card.await.expect("it can be read");
    }
}

fn campaign_key(id: i64) -> CampaignKey {
    CampaignId(id).into()
}
