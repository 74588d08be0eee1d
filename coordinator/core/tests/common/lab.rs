//! Test bench: a database, a manual clock, and shards that are lists of numbers.

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{Arc, Mutex},
};

use coordinator_core::{
    clock::{Clock, Time},
    model::{
        AccountId, AccountState, Auditor, CampaignCommand, CampaignId, Figures, Fleet, JobId, LeaseToken, NetState,
        NewNet, ShardId, ToCompare, ValidationReport,
    },
    ops::{
        accounts::{CreateAccount, DeleteAccount},
        campaigns::{AdvanceCampaign, CommandCampaign, CreateCampaign},
        disputes::{ClaimComparisons, DrawAuditors, RecordComparison, finish_reviews},
        leases::{AcquireLease, Caller, ExpireLeases, ReleaseLease, RenewLease},
        matches::{ConcludeMatches, CreateMatch, RecheckMatches},
        nets::CountFallen,
        trainings::{ClaimTraining, CompleteTraining, RecordTrainingFile},
        uploads::ReceiveUpload,
        validation::{AcceptShard, ClaimShards, RejectShard},
        workers::RegisterWorker,
    },
    people, query,
    rules::{granting::Policy, trainings::Uploaded},
    store::{
        Database, Operation, StoreError, Workers,
        counting::{self, Tally},
    },
};
use dataset::{
    Digest, Header,
    manifest::{Entry, Provenance},
};
use protocol::{
    api::{
        problem::Code,
        training::{Claim, Offer, Training},
        work::{Ask, Lease, Machine, ReceiptStatus, Role, Work},
    },
    campaign::Gate,
};

use super::truth::{self, Game};

/// The bench signature of the playing engine.
pub const SIGNATURE: u64 = 4_242;

/// Positions per game: the same as a new job assumes, so that the size of leases stays constant.
pub const POSITIONS: u64 = 100;

/// The nodes that most accounts have proven: more than any test lends.
pub const PROVEN_NODES: i64 = 1_000_000_000_000;

/// A draw that selects no shard for an audit.
pub const NO_AUDIT: u64 = 999;

/// A draw that selects any shard for an audit, and any account as its auditor.
pub const ALL_AUDITS: u64 = 0;

/// A small campaign; its gate is decided after a few dozen pairs.
pub const CAMPAIGN: &str = include_str!("campaign.toml");

/// An account and one of its workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Player {
    pub account: i64,
    pub worker: i64,
}

/// The contents of a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub seed: u64,
    pub first: u64,
    pub games: Vec<Game>,
    /// Whether its replay succeeds.
    pub is_valid: bool,
}

impl Object {
    /// Its hash.
    pub fn hash(&self) -> Digest {
        let mut bytes = [self.seed.to_le_bytes(), self.first.to_le_bytes()].concat();
        bytes.extend(self.games.iter().flat_map(|game| game.to_le_bytes()));
        bytes.push(u8::from(self.is_valid));
        Digest::of(&bytes)
    }

    /// Numbers of its games.
    pub fn numbers(&self) -> Range<u64> {
        self.first..self.first + self.games.len() as u64
    }
}

/// All shards that were ever uploaded.
pub type Objects = Arc<Mutex<BTreeMap<Digest, Object>>>;

/// The test bench.
#[derive(Clone)]
pub struct Lab {
    pub address: String,
    pub store: Database,
    pub clock: Clock,
    pub objects: Objects,
    /// The policy of all requests; none: the one that the scheduler would set.
    pub fixed_policy: Option<Policy>,
}

/// Runs an operation with clones of its captures: `op!(lab.write, [ask, policy], |c|
/// people::contribution(&mut c, …))`.
#[macro_export]
macro_rules! op {
    ($lab:ident . $how:ident, [$($name:ident),*], |$c:ident| $body:expr) => {{
        $(let $name = $name.clone();)*
        coordinator_core::store::Database::$how(&$lab.store, move |#[allow(unused_mut, reason = "a repository takes it")] mut $c| {
            $(let $name = $name.clone();)*
            Box::pin(async move { $body.await })
        }).await
    }};
}

/// A request for this many games.
pub fn lease_request(worker: i64, nonce: &str, games: u32) -> Ask {
    Ask {
        worker,
        nonce: nonce.to_owned(),
        threads: 1,
        // The cost of a game in this campaign, so that a second is a game.
        nodes_per_second: Some(66_600),
        most_seconds: Some(games),
        acknowledged: Vec::new(),
    }
}

impl Lab {
    /// Opens a database.
    pub async fn open(address: &str) -> Self {
        let store = Database::open(address, None).await.expect("the database can be opened");
        let address = address.to_owned();
        Self {
            address,
            store,
            clock: Clock::manual(Time(1_000_000_000_000)),
            objects: Objects::default(),
            fixed_policy: None,
        }
    }

    /// Runs an operation now.
    pub async fn run<O: Operation>(&self, operation: O) -> Result<O::Output, StoreError> {
        self.store.run(self.now(), operation).await
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Creates an account of much proven work, with a worker.
    pub async fn player(&self, name: &str) -> Player {
        let player = self.stranger(name).await;
        self.execute(&format!("UPDATE accounts SET proven_nodes = {PROVEN_NODES} WHERE id = {}", player.account)).await;
        player
    }

    /// Creates an account with a worker.
    pub async fn stranger(&self, name: &str) -> Player {
        let (name, role) = (name.to_owned(), Role::Volunteer);
        let account = self.run(CreateAccount { name, role, state: AccountState::Active, by: None }).await;
        self.machine(account.expect("the name is free").0, "machine").await
    }

    /// Registers another worker of an account.
    pub async fn machine(&self, account: i64, name: &str) -> Player {
        let machine = Machine {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            bench_signature: SIGNATURE,
            threads: 1,
            memory_mebibytes: 1_024,
            system: "linux-x86_64".to_owned(),
            instruction_set: "avx2".to_owned(),
        };
        let worker =
            self.run(RegisterWorker { account: AccountId(account), token: None, machine, network: None }).await;
        let worker = worker.expect("it is in order").0;
        // As if it had asked for games: a name alone audits nothing.
        self.execute(&format!("UPDATE workers SET asked = last_seen WHERE id = {worker}")).await;
        Player { account, worker }
    }

    /// Deletes a player's account.
    pub async fn delete(&self, player: Player) {
        let account = AccountId(player.account).into();
        self.run(DeleteAccount { account, by: None }).await.expect("there is one");
    }

    /// Creates an account with a trusted worker.
    pub async fn judge(&self, name: &str) -> Player {
        let player = self.player(name).await;
        self.execute(&format!("UPDATE workers SET trusted = 1 WHERE id = {}", player.worker)).await;
        player
    }

    /// Executes arbitrary SQL.
    pub async fn execute(&self, query: &str) {
        let query = query.to_owned();
        let done = self.store.write(move |mut c| {
            let query = query.clone();
            Box::pin(async move { Ok(sqlx::raw_sql(sqlx::AssertSqlSafe(query)).execute(c.raw()).await.map(drop)?) })
        });
        done.await.expect("it can be written");
    }

    /// Reads arbitrary rows.
    pub async fn rows<T>(&self, query: &str) -> Vec<T>
    where
        T: for<'r> sqlx::FromRow<'r, sqlx::any::AnyRow> + Send + Unpin + 'static,
    {
        let query = query.to_owned();
        let rows =
            self.store.read(query!(|c| Ok(sqlx::query_as(sqlx::AssertSqlSafe(query)).fetch_all(c.raw()).await?)));
        rows.await.expect("it can be read")
    }

    /// Reads one value.
    pub async fn value<T>(&self, query: &str) -> T
    where
        T: Send + Unpin + 'static,
        (T,): for<'r> sqlx::FromRow<'r, sqlx::any::AnyRow>,
    {
        self.rows::<(T,)>(query).await.pop().expect("there is a row").0
    }

    /// Creates a campaign like [`CAMPAIGN`] and its self-play job.
    pub async fn campaign(&self, name: &str) -> (i64, i64) {
        self.campaign_of(&CAMPAIGN.replace("\"test\"", &format!("{name:?}"))).await
    }

    /// Creates one that needs more games than any lease has.
    pub async fn long_campaign(&self) -> (i64, i64) {
        self.campaign_of(&CAMPAIGN.replace("positions = 3_000", "positions = 3_000_000")).await
    }

    async fn campaign_of(&self, text: &str) -> (i64, i64) {
        let id = self.create(text).await.expect("it can be run");
        self.drive(id).await;
        (id, self.value(&format!("SELECT selfplay FROM campaigns WHERE id = {id}")).await)
    }

    /// Creates a campaign.
    pub async fn create(&self, text: &str) -> Result<i64, StoreError> {
        self.run(CreateCampaign { text: text.to_owned(), by: None }).await.map(|(id, _)| id.0)
    }

    /// Advances a campaign by a step, for this engine.
    pub async fn advance(&self, id: i64, bench_signature: u64) -> Result<bool, StoreError> {
        let now = self.now();
        self.run(AdvanceCampaign::prepare(&self.store, CampaignId(id), bench_signature, 0, now).await?).await
    }

    /// Commands a campaign.
    pub async fn command(
        &self,
        id: i64,
        command: CampaignCommand,
        seen: Option<i64>,
        by: Option<i64>,
    ) -> Result<(), StoreError> {
        let (campaign, by) = (CampaignId(id).into(), by.map(AccountId));
        let now = self.now();
        self.run(CommandCampaign::prepare(&self.store, campaign, command, seen, by, now).await?).await
    }

    /// Creates a match; returns its job.
    pub async fn create_match(&self, kind: &str, header: Header, gate: Gate) -> i64 {
        let kind = kind.parse().expect("it is a kind");
        self.run(CreateMatch { kind, header, gate }).await.expect("it can be played").0
    }

    /// Advances a campaign as far as possible.
    pub async fn drive(&self, id: i64) {
        // Workers start with a new net a few milliseconds apart.
        self.clock.advance(1_000);
        while self.advance(id, SIGNATURE).await.expect("it can advance") {}
        self.clock.advance(1_000);
    }

    /// Draws an account as the auditor of all shards that it may audit.
    pub async fn draw_auditor(&self, player: Player) {
        self.draw_auditors(&[player]).await;
    }

    /// Draws the auditors of all shards, among these accounts.
    pub async fn draw_auditors(&self, players: &[Player]) {
        self.execute("UPDATE shards SET auditor = NULL, auditor_until = 0 WHERE audit = 'wanted'").await;
        let auditor =
            |player: &Player| Auditor { account: AccountId(player.account), proven_nodes: 1, is_trusted: false };
        let (auditors, bench_signature) = (players.iter().map(auditor).collect(), SIGNATURE as i64);
        self.run(DrawAuditors { auditors, bench_signature, draw: 1 }).await.expect("auditors can be drawn");
    }

    /// Requests this many games. An even draw makes the account the auditor of what it may audit.
    pub async fn request(&self, player: Player, nonce: &str, games: u32, draw: u64) -> Result<Work, StoreError> {
        if draw.is_multiple_of(2) {
            self.draw_auditor(player).await;
        }
        self.request_under(&self.policy().await, player, nonce, games, draw).await
    }

    /// The same under another policy.
    pub async fn request_under(
        &self,
        policy: &Policy,
        player: Player,
        nonce: &str,
        games: u32,
        draw: u64,
    ) -> Result<Work, StoreError> {
        let caller = Caller { account: AccountId(player.account), token: None, draw };
        let ask = lease_request(player.worker, nonce, games);
        let answer = self.run(AcquireLease { caller, ask, policy: policy.clone() }).await?;
        Ok(answer.work)
    }

    /// The policy that the scheduler would set now, but for leases of the size that is requested.
    pub async fn policy(&self) -> Policy {
        if let Some(policy) = &self.fixed_policy {
            return policy.clone();
        }
        let now = self.now();
        let fleet = self.store.read(query!(|c| Workers::on(c).fleet(now, SIGNATURE as i64).await));
        let fleet = Fleet { active: None, ..fleet.await.expect("they can be counted") };
        Policy { fleet, ..Policy::default() }
    }

    /// Decides the finished matches outside of campaigns.
    pub async fn conclude(&self) -> u64 {
        let matches = ConcludeMatches::prepare(&self.store).await.expect("they can be read");
        self.run(matches).await.expect("they can be decided")
    }

    /// Rechecks decided matches whose games have changed.
    pub async fn recheck(&self) -> u64 {
        let matches = RecheckMatches::prepare(&self.store).await.expect("they can be read");
        self.run(matches).await.expect("they can be rechecked")
    }

    /// Counts the games of training sets that are in quarantine.
    pub async fn count_fallen(&self) {
        let sets = CountFallen::prepare(&self.store).await.expect("they can be read");
        self.run(sets).await.expect("they can be stored");
    }

    /// Reviews accounts whose standing changed, to the end.
    pub async fn review(&self) {
        finish_reviews(&self.store, &self.clock).await.expect("uploads can be reviewed");
    }

    /// Leases this many games.
    pub async fn lease(&self, player: Player, nonce: &str, games: u32) -> Lease {
        match self.request(player, nonce, games, NO_AUDIT | 1).await.expect("it may play") {
            Work::Games(lease) => lease,
            Work::Wait { reason, .. } => panic!("no games for {nonce}: {reason}"),
        }
    }

    /// Leases an audit, if there is one.
    pub async fn audit(&self, player: Player, nonce: &str) -> Option<Lease> {
        match self.request(player, nonce, 1_000, ALL_AUDITS).await.expect("it may play") {
            Work::Games(lease) => Some(lease),
            Work::Wait { .. } => None,
        }
    }

    /// Sends a heartbeat.
    pub async fn renew(&self, player: Player, token: &str, finished: u64) -> Result<u32, Code> {
        let (account, lease) = (AccountId(player.account), LeaseToken(token.to_owned()));
        let done = self.run(RenewLease { account, lease, finished, fleet: None }).await;
        done.map(|renewed| renewed.seconds).map_err(code)
    }

    /// Releases the games of a lease from this one.
    pub async fn release(&self, player: Player, token: &str, from: u64) -> Result<(), Code> {
        let (account, lease) = (AccountId(player.account), LeaseToken(token.to_owned()));
        self.run(ReleaseLease { account, lease, from }).await.map_err(code)
    }

    /// Ends expired leases.
    pub async fn expire(&self) -> u64 {
        self.run(ExpireLeases).await.expect("leases can end")
    }

    /// The shard of these games of a lease, as an honest machine plays them.
    pub fn played(&self, lease: &Lease, games: Range<u64>) -> Object {
        let all = games.clone().map(|number| truth::game(&lease.terms, number)).collect();
        Object { seed: lease.terms.seed, first: games.start, games: all, is_valid: true }
    }

    /// The same with one wrong game.
    pub fn with_wrong_game(&self, lease: &Lease, games: Range<u64>, about: u64, salt: u64) -> Object {
        let mut object = self.played(lease, games);
        object.games[(about - object.first) as usize] = truth::wrong_game(&lease.terms, about, salt);
        object
    }

    /// Uploads a shard.
    pub async fn upload(&self, player: Player, token: &str, object: &Object) -> Result<ReceiptStatus, Code> {
        self.objects.lock().expect("no thread panics while holding it").insert(object.hash(), object.clone());
        let upload = ReceiveUpload {
            lease: LeaseToken(token.to_owned()),
            account: AccountId(player.account),
            token: None,
            hash: object.hash(),
            bytes: 8 * object.games.len() as u64,
            first: object.first,
            games: object.games.len() as u64,
            positions: POSITIONS * object.games.len() as u64,
        };
        self.run(upload).await.map(|(status, _)| status).map_err(code)
    }

    /// Plays and uploads a whole lease.
    pub async fn deliver(&self, player: Player, lease: &Lease) -> Object {
        let object = self.played(lease, lease.numbers());
        assert_eq!(self.upload(player, &lease.token, &object).await, Ok(ReceiptStatus::Received));
        object
    }

    /// Replays a shard; none if it is invalid.
    pub fn replay(&self, hash: &Digest, header: &Header) -> Option<ValidationReport> {
        let objects = self.objects.lock().expect("no thread panics while holding it");
        let object = objects.get(hash).expect("what was accepted is there");
        let games = object.games.len() as u64;
        let entry = Entry {
            sha256: hash.to_string(),
            bytes: 8 * games,
            games,
            positions: games * POSITIONS,
            outcomes: BTreeMap::new(),
            provenance: Provenance {
                bench_signature: header.bench_signature,
                net: None,
                opponent: None,
                rules: "cxr".to_owned(),
                hard_nodes: 1,
                soft_nodes: None,
                book: None,
                random_plies: 0,
                seed: header.seed,
                first_game: object.first,
            },
            scale_tenths: Some(4_000),
        };
        object.is_valid.then(|| ValidationReport {
            positions: games * POSITIONS,
            outcomes: "{}".to_owned(),
            reasons: "{}".to_owned(),
            pairs: header.opponent.is_some().then(|| truth::pairs(&object.games)),
            time_losses: header.clock.map(|_| vec![3; object.games.len() / 2]),
            entry: serde_json::to_string(&entry).expect("its keys are words"),
            figures: Figures { scores: vec![0, games as i64], pieces: vec![games as i64], ..Figures::default() },
        })
    }

    /// Records the verdict on a shard.
    pub async fn judge_shard(&self, shard: i64, report: Option<ValidationReport>, draw: u64) {
        let shard = ShardId(shard);
        let done = match report {
            Some(report) => self.run(AcceptShard { shard, report: Arc::new(report), draw }).await,
            None => {
                self.run(RejectShard { shard, code: Code::IllegalMove, detail: "no move".into(), is_fault: true }).await
            }
        };
        done.expect("a verdict can be given");
    }

    /// Validates all pending shards.
    pub async fn validate(&self, draw: u64) {
        let taken = self.run(ClaimShards { limit: 1_000, until: self.now().after(60_000) }).await;
        for task in taken.expect("tasks can be taken") {
            self.judge_shard(task.shard.0, self.replay(&task.hash, &task.header), draw).await;
        }
    }

    /// Returns the first game that differs, in the order of the comparison.
    pub fn difference(&self, task: &ToCompare) -> Option<u64> {
        let objects = self.objects.lock().expect("no thread panics while holding it");
        let [left, right] = [&task.left, &task.right].map(|hash| &objects[&hash.parse().expect("it is a hash")]);
        let differs =
            |number: &u64| left.games[(number - left.first) as usize] != right.games[(number - right.first) as usize];
        task.order().into_iter().flatten().find(differs)
    }

    /// Runs all pending comparisons; returns their number.
    pub async fn compare(&self) -> usize {
        let claim = ClaimComparisons { limit: 1_000, until: self.now().after(60_000) };
        let tasks = self.run(claim).await.expect("tasks can be taken");
        for task in &tasks {
            let (differs, comparison) = (self.difference(task), task.comparison);
            let done = self.run(RecordComparison { comparison, differs }).await;
            if done.expect("a comparison can be noted") {
                self.review().await;
            }
        }
        tasks.len()
    }
}

/// Counted games and positions of a job.
impl Lab {
    pub async fn tally(&self, job: i64) -> Tally {
        op!(self.read, [], |c| counting::tally(&mut c, JobId(job))).expect("it can be counted")
    }
}

/// The code of a rejected request.
pub fn code(failure: StoreError) -> Code {
    match failure {
        StoreError::Rejected(refusal) => refusal.code(),
        other => panic!("{other:?}"),
    }
}

/// A trainer that trains nothing.
impl Lab {
    /// Claims a training.
    pub async fn claim(&self, player: Player, name: &str) -> Option<Training> {
        let claim = Claim { name: name.to_owned(), version: "0.1.0".to_owned(), backend: "cpu".to_owned() };
        let (account, token) = (AccountId(player.account), people::secret("").expect("there are random numbers"));
        let offer = self.run(ClaimTraining { account, claim, token }).await;
        match offer.expect("trainings can be claimed") {
            Offer::Train(training) => Some(training),
            Offer::Wait { .. } => None,
        }
    }

    /// Uploads a net for a training.
    pub async fn put_net(&self, player: Player, token: &str, net: Digest) -> Result<(), Code> {
        let (account, token) = (AccountId(player.account), token.to_owned());
        self.run(RecordTrainingFile { account, token, file: Uploaded::Net, hash: net }).await.map_err(code)
    }

    /// Completes a training.
    pub async fn complete(&self, player: Player, token: &str, net: Digest) -> Result<(), Code> {
        let (account, token) = (AccountId(player.account), token.to_owned());
        self.run(CompleteTraining { account, token, net: new_net(net, NetState::Candidate) }).await.map_err(code)
    }

    /// Trains a candidate from claim to completion.
    pub async fn train(&self, player: Player, net: Digest) {
        let training = self.claim(player, "trainer").await.expect("there is something to train");
        self.put_net(player, &training.token, net).await.expect("it is the trainer's");
        self.complete(player, &training.token, net).await.expect("it was uploaded");
    }

    /// Plays until a job has no more games, up to this many leases; validates all of it.
    pub async fn play(&self, player: Player, leases: u32) {
        for number in 0..leases {
            let nonce = format!("{}-{number}", truth::mix(self.now().0 as u64, player.worker as u64));
            match self.request(player, &nonce, 16, NO_AUDIT).await.expect("it may play") {
                Work::Games(lease) => self.deliver(player, &lease).await,
                Work::Wait { .. } => break,
            };
        }
        self.clock.advance(1);
        self.validate(NO_AUDIT).await;
    }
}

/// A net to add.
pub fn new_net(hash: Digest, state: NetState) -> NewNet {
    NewNet {
        hash,
        name: format!("net-{}", &hash.to_string()[..8]),
        state,
        bytes: 1,
        architecture: "128".to_owned(),
        manifest: None,
        campaign: None,
        parent: None,
    }
}
