//! Nets, opening books and training sets.

use dataset::{
    Digest,
    manifest::{Entry, FORMAT, Manifest},
};
use nnue::architecture::{Inputs, Sizes};
use protocol::api::problem::Code;

use crate::{
    clock::Time,
    model::Refusal,
    store::{Connection, StoreError},
};

/// Checks that a net exists.
///
/// # Errors
///
/// If it does not.
pub async fn must_exist(connection: &mut Connection<'_>, net: Digest) -> Result<(), StoreError> {
    let query = "SELECT COUNT(*) FROM nets WHERE hash = $1";
    let here: i64 = sqlx::query_scalar(query).bind(net.to_string()).fetch_one(connection.raw()).await?;
    if here == 0 { Err(Refusal::NoNet { net: net.to_string() }.into()) } else { Ok(()) }
}

/// Checks that a book exists.
pub(crate) async fn book_must_exist(connection: &mut Connection<'_>, book: Digest) -> Result<(), StoreError> {
    let query = "SELECT COUNT(*) FROM books WHERE hash = $1";
    let here: i64 = sqlx::query_scalar(query).bind(book.to_string()).fetch_one(connection.raw()).await?;
    if here == 0 { Err(Refusal::NoBook { book: book.to_string() }.into()) } else { Ok(()) }
}

/// Returns a player's display name.
pub(crate) async fn name_of(connection: &mut Connection<'_>, net: Option<Digest>) -> Result<String, StoreError> {
    match net {
        None => Ok("the plain evaluation".to_owned()),
        Some(net) => name_of_text(connection, &net.to_string()).await,
    }
}

/// Returns the display name of the net with this hash.
pub(super) async fn name_of_text(connection: &mut Connection<'_>, net: &str) -> Result<String, StoreError> {
    let query = "SELECT name FROM nets WHERE hash = $1";
    let name: Option<String> = sqlx::query_scalar(query).bind(net.to_owned()).fetch_optional(connection.raw()).await?;
    Ok(name.unwrap_or_else(|| net.chars().take(12).collect()))
}

/// A net to add.
#[derive(Clone, Debug)]
pub struct NewNet {
    /// SHA-256 of its file, which is stored as an object.
    pub hash: Digest,
    /// Its display name.
    pub name: String,
    /// `base` (uploaded by a person) or `candidate`.
    pub state: &'static str,
    /// Size of its file.
    pub bytes: u64,
    /// Its architecture, as text for people.
    pub architecture: String,
    /// Its training manifest, if known.
    pub manifest: Option<String>,
    /// Its campaign and generation.
    pub campaign: Option<(i64, i64)>,
    /// The champion it is to beat.
    pub parent: Option<String>,
}

/// Adds a net; an existing one stays as it is.
pub async fn add(connection: &mut Connection<'_>, now: Time, net: &NewNet) -> Result<(), StoreError> {
    let query =
        "INSERT INTO nets (hash, name, state, campaign, generation, parent, bytes, manifest, architecture, created)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (hash) DO NOTHING";
    let query = sqlx::query(query).bind(net.hash.to_string()).bind(net.name.clone()).bind(net.state);
    let query = query.bind(net.campaign.map(|it| it.0)).bind(net.campaign.map(|it| it.1)).bind(net.parent.clone());
    let query = query.bind(net.bytes as i64).bind(net.manifest.clone()).bind(net.architecture.clone());
    query.bind(now.0).execute(connection.raw()).await?;
    Ok(())
}

/// Adds a candidate. A rejected one may return, if training reproduces the same net.
///
/// # Errors
///
/// If the net exists in another state.
pub(super) async fn add_candidate(connection: &mut Connection<'_>, now: Time, net: &NewNet) -> Result<(), StoreError> {
    add(connection, now, net).await?;
    let query = "UPDATE nets SET state = 'candidate' WHERE hash = $1 AND state IN ('candidate', 'rejected')";
    if sqlx::query(query).bind(net.hash.to_string()).execute(connection.raw()).await?.rows_affected() == 0 {
        return Err(StoreError::rejected(
            Code::Conflict,
            format!("the net {} is here already, as no candidate", net.hash),
        ));
    }
    Ok(())
}

/// Adds a book whose file is stored as an object.
pub async fn add_book(
    connection: &mut Connection<'_>,
    now: Time,
    hash: Digest,
    name: &str,
    bytes: u64,
    positions: u64,
) -> Result<(), StoreError> {
    let query = "INSERT INTO books (hash, name, bytes, positions, created) VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (hash) DO NOTHING";
    let query = sqlx::query(query).bind(hash.to_string()).bind(name.to_owned()).bind(bytes as i64);
    query.bind(positions as i64).bind(now.0).execute(connection.raw()).await?;
    Ok(())
}

/// Freezes a training set: the shards of these generations of which all games count. There must be
/// at least one.
pub(super) async fn freeze(
    connection: &mut Connection<'_>,
    now: Time,
    campaign: i64,
    first: i64,
    last: i64,
) -> Result<Digest, StoreError> {
    let query = "SELECT shards.entry FROM shards JOIN jobs ON jobs.id = shards.job
                 WHERE jobs.campaign = $1 AND jobs.kind = 'selfplay' AND jobs.generation >= $2 AND jobs.generation <= $3
                 AND shards.state = 'validated' AND shards.object = 'present' AND shards.games =
                 (SELECT SUM(segments.games) FROM segments WHERE segments.shard = shards.id AND segments.state = 'held')
                 ORDER BY jobs.generation, shards.job, shards.first";
    let query = sqlx::query_scalar(query).bind(campaign).bind(first).bind(last);
    let entries: Vec<Option<String>> = query.fetch_all(connection.raw()).await?;
    let entry = |text: Option<String>| serde_json::from_str::<Entry>(&text.unwrap_or_default());
    let shards = entries.into_iter().map(entry).collect::<Result<Vec<_>, _>>();
    let shards = shards.map_err(|error| StoreError::Corrupt(format!("a shard's line that is none: {error}")))?;
    if shards.is_empty() {
        return Err(Refusal::NoGames.into());
    }
    let (games, positions) =
        (shards.iter().map(|entry| entry.games).sum(), shards.iter().map(|entry| entry.positions).sum());
    let manifest = Manifest { format: FORMAT.to_owned(), games, positions, shards };
    let hash = manifest.hash();
    let query = "INSERT INTO manifests (hash, campaign, generation, games, positions, text, created)
                 VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (hash) DO NOTHING";
    let query = sqlx::query(query).bind(hash.to_string()).bind(campaign).bind(last).bind(games as i64);
    query.bind(positions as i64).bind(manifest.to_text()).bind(now.0).execute(connection.raw()).await?;
    Ok(hash)
}

/// Describes an architecture in one line; nets with the same line are equally fast.
#[must_use]
pub fn architecture_line(sizes: Sizes) -> String {
    let inputs = match sizes.inputs() {
        Inputs::Kings => "",
        Inputs::KingsAttackers => "kings and attackers, ",
    };
    let (width, first, second, stacks) = (sizes.width(), sizes.first(), sizes.second(), sizes.stacks());
    format!("{inputs}{width}×2, {first}, {second}, {stacks} stacks")
}

/// Rejects all candidates of a campaign.
pub(super) async fn reject_candidates(connection: &mut Connection<'_>, campaign: i64) -> Result<(), StoreError> {
    let query = "UPDATE nets SET state = 'rejected' WHERE campaign = $1 AND state = 'candidate'";
    sqlx::query(query).bind(campaign).execute(connection.raw()).await?;
    Ok(())
}

/// Returns the manifest of a net.
pub async fn manifest(connection: &mut Connection<'_>, net: Digest) -> Result<Option<String>, StoreError> {
    let query = "SELECT manifest FROM nets WHERE hash = $1 AND manifest IS NOT NULL";
    Ok(sqlx::query_scalar(query).bind(net.to_string()).fetch_optional(connection.raw()).await?)
}

/// Returns the manifest of a training set.
pub async fn training_manifest(connection: &mut Connection<'_>, hash: Digest) -> Result<Option<String>, StoreError> {
    let query = "SELECT text FROM manifests WHERE hash = $1";
    Ok(sqlx::query_scalar(query).bind(hash.to_string()).fetch_optional(connection.raw()).await?)
}
