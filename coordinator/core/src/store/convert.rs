//! Conversions between the model and the columns: ids are integers, states and kinds are words.

use dataset::Digest;
use protocol::api::work::Role;
use sqlx::{
    Any, Database, Decode, Encode, Row as _, Type,
    any::{AnyRow, AnyTypeInfo, AnyValueRef},
    encode::IsNull,
    error::BoxDynError,
};

use super::error::StoreError;
use crate::model::{self, LeaseToken, Reason};

type Buffer = <Any as Database>::ArgumentBuffer;

macro_rules! ids {
    ($($id:ident)*) => {$(
        impl Type<Any> for model::$id {
            fn type_info() -> AnyTypeInfo {
                <i64 as Type<Any>>::type_info()
            }

            fn compatible(found: &AnyTypeInfo) -> bool {
                <i64 as Type<Any>>::compatible(found)
            }
        }

        impl Encode<'_, Any> for model::$id {
            fn encode_by_ref(&self, buffer: &mut Buffer) -> Result<IsNull, BoxDynError> {
                <i64 as Encode<'_, Any>>::encode_by_ref(&self.0, buffer)
            }
        }

        impl<'r> Decode<'r, Any> for model::$id {
            fn decode(value: AnyValueRef<'r>) -> Result<Self, BoxDynError> {
                Ok(Self(<i64 as Decode<'r, Any>>::decode(value)?))
            }
        }
    )*};
}

macro_rules! words {
    ($($word:ident)*) => {$(
        impl Type<Any> for model::$word {
            fn type_info() -> AnyTypeInfo {
                <String as Type<Any>>::type_info()
            }

            fn compatible(found: &AnyTypeInfo) -> bool {
                <String as Type<Any>>::compatible(found)
            }
        }

        impl Encode<'_, Any> for model::$word {
            fn encode_by_ref(&self, buffer: &mut Buffer) -> Result<IsNull, BoxDynError> {
                <String as Encode<'_, Any>>::encode(self.name().to_owned(), buffer)
            }
        }

        impl<'r> Decode<'r, Any> for model::$word {
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
    AccountId
    WorkerId
    TokenId
    CampaignId
    JobId
    LeaseId
    ShardId
    ComparisonId
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
pub(super) fn role(row: &AnyRow, column: &str) -> Result<Role, sqlx::Error> {
    let text: String = row.try_get(column)?;
    text.parse().map_err(|source| sqlx::Error::ColumnDecode { index: column.to_owned(), source: Box::new(source) })
}

/// The hash in a text.
pub(super) fn digest(text: &str) -> Result<Digest, StoreError> {
    text.parse().map_err(|_| StoreError::Corrupt(format!("the hash {text:?}")))
}
