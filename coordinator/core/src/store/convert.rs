//! Conversions between the model and the columns: ids are integers, states and kinds are words.
//! `row!` reads a struct from the columns of its fields' names.

use std::ops::Range;

use dataset::{Digest, Header};
use protocol::api::work::Role;
use sqlx::{
    Any, Database, Decode, Encode, Error, Row as _, Type,
    any::{AnyRow, AnyTypeInfo, AnyValueRef},
    encode::IsNull,
    error::BoxDynError,
};

use super::error::StoreError;
use crate::clock::Time;
#[allow(clippy::wildcard_imports, reason = "each id and word has columns")]
use crate::model::*;

/// Reads a struct from the columns of its fields' names. `field: function` names a function that
/// reads a column without a type of its own.
macro_rules! row {
    (@ $row:ident $field:ident) => { sqlx::Row::try_get($row, stringify!($field))? };
    (@ $row:ident $field:ident $read:ident) => { $read($row, stringify!($field))? };
    ($name:ident { $($field:ident $(: $read:ident)?),* $(,)? }) => {
        impl sqlx::FromRow<'_, sqlx::any::AnyRow> for $name {
            fn from_row(row: &sqlx::any::AnyRow) -> Result<Self, sqlx::Error> {
                Ok(Self { $($field: row!(@ row $field $($read)?),)* })
            }
        }
    };
}
pub(super) use row;

/// Reads 0 or 1.
pub(super) fn flag(row: &AnyRow, column: &str) -> Result<bool, Error> {
    Ok(row.try_get::<i64, _>(column)? != 0)
}

/// Reads how far a shard is proven.
pub(super) fn proof(row: &AnyRow, _: &str) -> Result<Proof, Error> {
    let (auditor, auditor_until) = (row.try_get("auditor")?, row.try_get("auditor_until")?);
    let (audit, validated) = (row.try_get("audit")?, row.try_get("validated")?);
    let (is_compared, is_checked) = (flag(row, "is_compared")?, flag(row, "is_checked")?);
    Ok(Proof { audit, auditor, auditor_until, is_compared, is_checked, validated })
}

/// Reads the columns `first` and `games`.
pub(super) fn numbers(row: &AnyRow, _: &str) -> Result<Range<i64>, Error> {
    let first: i64 = row.try_get("first")?;
    Ok(first..first + row.try_get::<i64, _>("games")?)
}

/// Reads a hash.
pub(super) fn hash(row: &AnyRow, column: &str) -> Result<Digest, Error> {
    let text: String = row.try_get(column)?;
    digest(&text).map_err(|error| Error::ColumnDecode { index: column.to_owned(), source: Box::new(error) })
}

/// Reads a job's header.
pub(super) fn header(row: &AnyRow, column: &str) -> Result<Header, Error> {
    let text: String = row.try_get(column)?;
    header_of(&text).map_err(|error| Error::ColumnDecode { index: column.to_owned(), source: Box::new(error) })
}

/// Parses a job's header.
fn header_of(text: &str) -> Result<Header, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Corrupt(format!("a header that is none: {error}")))
}

type Buffer = <Any as Database>::ArgumentBuffer;

macro_rules! ids {
    ($($id:ident)*) => {$(
        impl Type<Any> for $id {
            fn type_info() -> AnyTypeInfo {
                <i64 as Type<Any>>::type_info()
            }

            fn compatible(found: &AnyTypeInfo) -> bool {
                <i64 as Type<Any>>::compatible(found)
            }
        }

        impl Encode<'_, Any> for $id {
            fn encode_by_ref(&self, buffer: &mut Buffer) -> Result<IsNull, BoxDynError> {
                <i64 as Encode<'_, Any>>::encode_by_ref(&self.0, buffer)
            }
        }

        impl<'r> Decode<'r, Any> for $id {
            fn decode(value: AnyValueRef<'r>) -> Result<Self, BoxDynError> {
                Ok(Self(<i64 as Decode<'r, Any>>::decode(value)?))
            }
        }
    )*};
}

macro_rules! words {
    ($($word:ident)*) => {$(
        impl Type<Any> for $word {
            fn type_info() -> AnyTypeInfo {
                <String as Type<Any>>::type_info()
            }

            fn compatible(found: &AnyTypeInfo) -> bool {
                <String as Type<Any>>::compatible(found)
            }
        }

        impl Encode<'_, Any> for $word {
            fn encode_by_ref(&self, buffer: &mut Buffer) -> Result<IsNull, BoxDynError> {
                <String as Encode<'_, Any>>::encode(self.name().to_owned(), buffer)
            }
        }

        impl<'r> Decode<'r, Any> for $word {
            fn decode(value: AnyValueRef<'r>) -> Result<Self, BoxDynError> {
                Ok(<String as Decode<'r, Any>>::decode(value)?.parse()?)
            }
        }
    )*};
}

/// Values that are text, with their conversions to and from it.
macro_rules! texts {
    ($($type:ident: |$value:ident| $text:expr, $read:expr;)*) => {$(
        impl Type<Any> for $type {
            fn type_info() -> AnyTypeInfo {
                <String as Type<Any>>::type_info()
            }

            fn compatible(found: &AnyTypeInfo) -> bool {
                <String as Type<Any>>::compatible(found)
            }
        }

        impl Encode<'_, Any> for $type {
            fn encode_by_ref(&self, buffer: &mut Buffer) -> Result<IsNull, BoxDynError> {
                let $value = self;
                <String as Encode<'_, Any>>::encode($text, buffer)
            }
        }

        impl<'r> Decode<'r, Any> for $type {
            fn decode(value: AnyValueRef<'r>) -> Result<Self, BoxDynError> {
                Ok($read(<String as Decode<'r, Any>>::decode(value)?))
            }
        }
    )*};
}

ids! {
    Time
    AccountId
    WorkerId
    TokenId
    CampaignId
    JobId
    LeaseId
    ShardId
    ComparisonId
    RulingId
    TrainingId
    EventId
    WebhookId
    DeliveryId
}

texts! {
    LeaseToken: |token| token.0.clone(), LeaseToken;
    Reason: |reason| reason.to_column(), Reason::from_column;
}

words! {
    AccountState
    NetState
    CampaignState
    CampaignStep
    JobKind
    JobState
    LeaseKind
    LeaseState
    SegmentState
    ShardState
    AuditState
    ObjectState
    ComparisonState
    TrainingState
    PromotionKind
    CampaignCommand
    Setting
    Registration
}

/// The role in a column.
pub(super) fn role(row: &AnyRow, column: &str) -> Result<Role, Error> {
    let text: String = row.try_get(column)?;
    text.parse().map_err(|source| Error::ColumnDecode { index: column.to_owned(), source: Box::new(source) })
}

/// The hash in a text.
pub(super) fn digest(text: &str) -> Result<Digest, StoreError> {
    text.parse().map_err(|_| StoreError::Corrupt(format!("the hash {text:?}")))
}
