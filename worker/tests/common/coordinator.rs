//! A fake coordinator: the API as far as workers use it.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ops::Range,
    path::Path,
    sync::{Arc, Mutex, MutexGuard},
    thread,
    time::Duration,
};

use dataset::{
    Book, Digest, Header, Record, RunDigest,
    shard::Shard,
    verify::{StartOf, Verifier},
};
use protocol::api::{
    problem::{Code, PROBLEM_TYPE, Problem},
    work::{
        Answer as WorkAnswer, Ask, Contribution, GiveBack, Lease, Live, Me, Notice, Receipt, ReceiptStatus, Renew,
        Renewed, Role, Server, Work, Worker,
    },
};
use serde::Serialize;
use testkit::http::{Listener, Request, Response};

/// Interval of heartbeats.
pub(crate) const HEARTBEAT_SECONDS: u32 = 60;

/// State of the coordinator.
pub(crate) struct State {
    pub(crate) header: Header,
    /// Number of games.
    pub(crate) games: u64,
    pub(crate) games_a_lease: u64,
    pub(crate) seconds: u32,
    free: VecDeque<Range<u64>>,
    next: u64,
    leases: BTreeMap<String, Range<u64>>,
    /// Games per lease that are neither submitted nor released.
    left: BTreeMap<String, BTreeSet<u64>>,
    /// Responses by nonce.
    pub(crate) answers: BTreeMap<String, WorkAnswer>,
    /// Accepted games with lease and shard.
    pub(crate) accepted: BTreeMap<u64, (Record, String, Digest)>,
    /// Violations of the protocol.
    pub(crate) faults: Vec<String>,
    pub(crate) duplicates: u64,
    /// Finished games of each renewed lease.
    pub(crate) renewals: BTreeMap<String, u64>,
    pub(crate) given_back: u64,
    pub(crate) asked: u64,
    /// Notices for the next response.
    pub(crate) notices: Vec<Notice>,
    /// Adds a field to leases that no worker knows.
    pub(crate) is_unreadable: bool,
    /// The account of the token.
    pub(crate) account: &'static str,
    /// The last lease request.
    pub(crate) last: Option<Ask>,
    /// The book of its games.
    pub(crate) book: Option<Book>,
    /// Files by hash.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) failures: Vec<String>,
    /// Whether every lease's games are watched.
    pub(crate) watched: bool,
    /// Live updates with their lease.
    pub(crate) shown: Vec<(String, Live)>,
    /// Rejects requests before anything else.
    pub(crate) refuse: Option<fn(&Request) -> Option<Problem>>,
    /// Number of requests rejected so.
    pub(crate) refused: u64,
}

/// The state and its HTTP listener.
pub(crate) struct Coordinator {
    state: Arc<Mutex<State>>,
    listener: Option<Listener>,
    address: String,
}

impl Coordinator {
    pub(crate) fn new(header: Header, games: u64, games_a_lease: u64) -> Self {
        let state = State {
            header,
            games,
            games_a_lease,
            seconds: 900,
            free: VecDeque::new(),
            next: 0,
            leases: BTreeMap::new(),
            left: BTreeMap::new(),
            answers: BTreeMap::new(),
            accepted: BTreeMap::new(),
            faults: Vec::new(),
            duplicates: 0,
            renewals: BTreeMap::new(),
            given_back: 0,
            asked: 0,
            notices: Vec::new(),
            is_unreadable: false,
            account: "ann",
            last: None,
            book: None,
            files: BTreeMap::new(),
            failures: Vec::new(),
            watched: false,
            shown: Vec::new(),
            refuse: None,
            refused: 0,
        };
        let mut coordinator =
            Self { state: Arc::new(Mutex::new(state)), listener: None, address: "127.0.0.1:0".to_owned() };
        coordinator.start();
        coordinator.address = coordinator.listener.as_ref().unwrap().address().to_string();
        coordinator
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn socket(&self) -> std::net::SocketAddr {
        self.address.parse().unwrap()
    }

    /// Closes the listener.
    pub(crate) fn kill(&mut self) {
        self.listener = None;
    }

    pub(crate) fn start(&mut self) {
        let state = Arc::clone(&self.state);
        for _ in 0..100 {
            let state = Arc::clone(&state);
            let listener = Listener::start_at(&self.address, move |mut stream| {
                use std::io::Write as _;
                if let Ok((request, _)) = Request::read(&mut stream) {
                    let answer = state.lock().unwrap().answer(&request);
                    let _ = stream.write_all(&answer.to_bytes());
                }
            });
            if let Ok(listener) = listener {
                self.listener = Some(listener);
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("the port cannot be had again");
    }

    /// Leases no game that was not yet leased, and returns the number of all games.
    pub(crate) fn end_after_leased(&self) -> u64 {
        let mut state = self.state();
        state.games = state.next;
        state.next
    }

    /// Waits until this number of games is accepted, and in vain only if no more come.
    pub(crate) fn wait_for(&self, games: u64) {
        let (mut accepted, mut waits) = (0, 0);
        // Long enough for a busy machine.
        while waits < 20_000 {
            let now = self.state().accepted.len() as u64;
            if now >= games {
                return;
            }
            waits = if now > accepted { 0 } else { waits + 1 };
            accepted = now;
            thread::sleep(Duration::from_millis(20));
        }
        panic!("only {} of {games} games came", self.state().accepted.len());
    }

    /// Returns the games that need not be replayed: accepted ones, and finished ones in a worker's
    /// folder.
    pub(crate) fn known(&self, state: &Path) -> BTreeSet<u64> {
        let mut known = super::state_folder::finished(state);
        known.extend(self.state().accepted.keys());
        known
    }

    /// Returns the number of leased games that are neither submitted nor released.
    pub(crate) fn outstanding(&self) -> usize {
        self.state().left.values().map(BTreeSet::len).sum()
    }

    /// Checks that every game was accepted once and equals the reference.
    pub(crate) fn check(&self, expected: Digest) {
        let state = self.state();
        assert_eq!(state.faults, [""; 0]);
        let numbers: Vec<_> = state.accepted.keys().copied().collect();
        assert_eq!(numbers, (0..state.games).collect::<Vec<_>>());
        let mut digest = RunDigest::default();
        state.accepted.values().for_each(|(record, ..)| digest.add(record));
        assert_eq!(digest.digest(), expected);
    }
}

/// Rejects every upload; a retry may succeed.
pub(crate) fn reject_uploads(request: &Request) -> Option<Problem> {
    request.path.contains("/games/").then(|| Problem::new(Code::Quota, "too many games today"))
}

fn json(value: &impl Serialize) -> Response {
    Response::new(200, "application/json", serde_json::to_vec(value).unwrap())
}

fn problem(code: Code, detail: &str) -> Response {
    let problem = Problem::new(code, detail);
    Response::new(problem.status, PROBLEM_TYPE, serde_json::to_vec(&problem).unwrap())
}

impl State {
    fn answer(&mut self, request: &Request) -> Response {
        if let Some(problem) = self.refuse.and_then(|refuse| refuse(request)) {
            self.refused += 1;
            return Response::new(problem.status, PROBLEM_TYPE, serde_json::to_vec(&problem).unwrap());
        }
        let Some(path) = request.path.strip_prefix("/api/v1/") else {
            return problem(Code::NotFound, "there is nothing at this address");
        };
        let parts: Vec<_> = path.split('/').collect();
        if path != "server" && request.headers.get("authorization").is_none_or(|token| token != "Bearer secret") {
            return problem(Code::BadToken, "the token is not known here");
        }
        match (request.method.as_str(), &parts[..]) {
            ("GET", ["server"]) => json(&Server {
                name: "A server for tests".to_owned(),
                version: "0.1.0".to_owned(),
                least_worker: "0.1.0".to_owned(),
                time: 0,
                invitation_only: false,
                licence: "CC0-1.0".to_owned(),
                mirror: None,
            }),
            ("GET", ["me"]) => self.me(),
            ("POST", ["workers"]) => json(&Worker { worker: 1 }),
            ("POST", ["leases"]) => self.lease(&serde_json::from_slice(&request.body).unwrap()),
            ("POST", ["failures"]) => {
                self.failures.push(String::from_utf8_lossy(&request.body).into_owned());
                Response::new(204, "text/plain", "")
            }
            ("GET", ["nets" | "books", hash]) => match self.files.get(*hash) {
                Some(bytes) => Response::new(200, "application/octet-stream", &bytes[..]),
                None => problem(Code::NotFound, "there is no such object"),
            },
            ("POST", ["leases", lease, "renewal"]) => {
                let renew: Renew = serde_json::from_slice(&request.body).unwrap();
                // A resumed lease is tried so.
                if renew.finished == 0 {
                    let is_known = self.leases.contains_key(*lease);
                    let code = if is_known { Code::NoProgress } else { Code::NotFound };
                    return problem(code, "no game was finished since the last renewal");
                }
                let reported = self.renewals.entry((*lease).to_owned()).or_default();
                if renew.finished == *reported {
                    // The answer to the first request was lost.
                    return problem(Code::NoProgress, "no game was finished since the last renewal");
                }
                if renew.finished < *reported {
                    self.faults.push(format!("renewal with {} games after {reported}", renew.finished));
                }
                *reported = renew.finished;
                json(&Renewed { seconds: self.seconds, heartbeat_seconds: Some(HEARTBEAT_SECONDS) })
            }
            ("POST", ["leases", lease, "live"]) => {
                if !self.watched || !self.leases.contains_key(*lease) {
                    return problem(Code::Conflict, "no account watches these games");
                }
                self.shown.push(((*lease).to_owned(), serde_json::from_slice(&request.body).unwrap()));
                Response::new(204, "text/plain", "")
            }
            ("POST", ["leases", lease, "giving-back"]) => {
                let back: GiveBack = serde_json::from_slice(&request.body).unwrap();
                let Some(left) = self.left.get_mut(*lease) else {
                    return problem(Code::NotFound, "there is no such lease");
                };
                let back = left.split_off(&back.from);
                self.given_back += back.len() as u64;
                for game in back {
                    match self.free.back_mut() {
                        Some(range) if range.end == game => range.end += 1,
                        _ => self.free.push_back(game..game + 1),
                    }
                }
                Response::new(204, "text/plain", "")
            }
            ("PUT", ["leases", lease, "games", first]) => self.take(lease, first.parse().unwrap(), request),
            _ => problem(Code::NotFound, "there is nothing at this address"),
        }
    }

    fn me(&self) -> Response {
        let done = Contribution { games: self.accepted.len() as u64, positions: 0 };
        json(&Me {
            account: self.account.to_owned(),
            role: Role::Volunteer,
            today: done,
            total: done,
            rank: Some(3),
            page: "/people/ann".to_owned(),
        })
    }

    fn lease(&mut self, ask: &Ask) -> Response {
        self.asked += 1;
        self.last = Some(ask.clone());
        if let Some(answer) = self.answers.get(&ask.nonce) {
            return json(answer);
        }
        let range = self.free.pop_front().unwrap_or_else(|| {
            let end = (self.next + self.games_a_lease).min(self.games);
            std::mem::replace(&mut self.next, end)..end
        });
        let work = if range.is_empty() {
            Work::Wait { seconds: 1, reason: "there is nothing to play at the moment".to_owned() }
        } else {
            let token = format!("lease-{}", self.leases.len());
            self.leases.insert(token.clone(), range.clone());
            self.left.insert(token.clone(), range.clone().collect());
            let terms = Header { first_game: range.start, ..self.header.clone() };
            Work::Games(Lease {
                token,
                terms,
                games: range.end - range.start,
                seconds: self.seconds,
                live: self.watched,
            })
        };
        self.notices.retain(|notice| notice.shard.is_none_or(|shard| !ask.acknowledged.contains(&shard)));
        let answer = WorkAnswer { work, notices: self.pending_notices() };
        self.answers.insert(ask.nonce.clone(), answer.clone());
        if self.is_unreadable {
            let mut answer = serde_json::to_value(&answer).unwrap();
            answer["command"] = "make coffee".into();
            return json(&answer);
        }
        json(&answer)
    }

    /// Notices are repeated until they are acknowledged.
    fn pending_notices(&mut self) -> Vec<Notice> {
        let reported = self.notices.clone();
        self.notices.retain(|notice| notice.shard.is_some());
        reported
    }

    fn take(&mut self, lease: &str, first: u64, request: &Request) -> Response {
        let sha256 = Digest::of(&request.body);
        let said = &request.headers["chuhe-sha256"];
        if *said != sha256.to_string() {
            return problem(Code::BadHash, &format!("the body's SHA-256 is {sha256}; {said} was announced"));
        }
        let Some(range) = self.leases.get(lease).cloned() else {
            return problem(Code::NotFound, "there is no such lease");
        };
        let shard = match Shard::new(request.body.clone()) {
            Ok(shard) => shard,
            Err(error) => return problem(Code::Corrupt, &error.to_string()),
        };
        let games = first..first + shard.games();
        let right = shard.header().first_game == first && shard.header().differences(&self.header).is_empty();
        if !right || games.start < range.start || games.end > range.end {
            self.faults.push(format!("games {games:?} for the lease of {range:?}"));
            return problem(Code::WrongGames, "the games are not the lease's");
        }
        if self.header.opponent.is_some() && games.end % 2 != 0 {
            self.faults.push("half a pair".to_owned());
        }
        let header = shard.header().clone();
        let book = self.book.clone();
        let start_of = book.as_ref().map(|book| |seed: u64| book.pick(seed).clone());
        let mut verifier = Verifier::new(&header, start_of.as_ref().map(|start_of| start_of as &StartOf<'_>));
        let mut status = ReceiptStatus::Received;
        for game in shard.records() {
            let (number, record) = game.unwrap();
            if let Err(fault) = verifier.verify(number, &record) {
                self.faults.push(fault.to_string());
            }
            match self.accepted.get(&number) {
                Some((_, by, with)) if by == lease && *with == sha256 => status = ReceiptStatus::Duplicate,
                Some((_, by, with)) => {
                    self.faults.push(format!("game {number} by {by} ({with}) and {lease} ({sha256})"));
                }
                None => drop(self.accepted.insert(number, (record, lease.to_owned(), sha256))),
            }
        }
        self.duplicates += u64::from(status == ReceiptStatus::Duplicate);
        if let Some(left) = self.left.get_mut(lease) {
            left.retain(|game| !games.contains(game));
        }
        json(&Receipt { status, shard: sha256, notices: self.pending_notices() })
    }
}
