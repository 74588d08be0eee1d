//! Pages that take long to read delay neither authentication nor leases, and are limited in number.

use coordinator_core::store::MAX_REPORTS;
use futures_util::future::join_all;
use protocol::api::{path, problem::Code, work::Role};
use reqwest::{Method, StatusCode};
use tokio::sync::watch;

use crate::bench::{Bench, CAMPAIGN, ask, problem};

#[tokio::test]
async fn slow_pages_delay_no_lease() {
    let bench = Bench::start().await;
    let token = bench.account("anna", Role::Volunteer).await;
    let worker = bench.worker(&token, "anvil").await;
    bench.campaign(CAMPAIGN).await;
    // As many reports as may run, none of which ends by itself.
    let (end, ended) = watch::channel(false);
    let reports = join_all((0..MAX_REPORTS).map(|_| {
        let ended = ended.clone();
        bench.service.report(move |_| {
            let mut ended = ended.clone();
            Box::pin(async move {
                drop(ended.wait_for(|ended| *ended).await);
                Ok(())
            })
        })
    }));
    let others = async {
        bench.lease(&token, worker, "one").await;
        let unknown = bench.post(path::LEASES, "chuhe_unknown", &ask(worker, "two")).await;
        problem(unknown, Code::BadToken).await;
        let ready = bench.request(Method::GET, "/readyz", "").send().await.unwrap();
        assert_eq!(ready.status(), StatusCode::OK);
        let games = bench.request(Method::GET, "/api/v1/games", "").send().await.unwrap();
        assert!(games.headers().contains_key("retry-after"));
        let busy = problem(games, Code::Busy).await;
        assert!(busy.detail.starts_with("too many pages"), "{}", busy.detail);
        let page = bench.request(Method::GET, "/en/games", "").send().await.unwrap();
        assert_eq!(page.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(page.text().await.unwrap().contains("too many pages are being read"));
        end.send_replace(true);
    };
    let (reports, ()) = tokio::join!(biased; reports, others);
    assert!(reports.iter().all(Result::is_ok));
    let page = bench.request(Method::GET, "/en/games", "").send().await.unwrap();
    assert_eq!(page.status(), StatusCode::OK);
}
