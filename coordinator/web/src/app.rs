//! State of the web of a running coordinator: its service, and limits and caches in memory, which
//! may differ between coordinators without harm.

use std::{net::SocketAddr, ops::Deref, sync::Arc};

use axum::http::HeaderMap;
use coordinator_core::service::Service;
use protocol::api::problem::Code;

use crate::{
    answer::{ApiError, ApiResult},
    engine::Engine,
    limits::{Limits, registrant_in},
    live::Boards,
    memory::Memory,
};

/// The state of all handlers. It is a [`Service`] with the web's own memory.
#[derive(Clone)]
pub struct App {
    /// The database, the objects, the clock, the settings.
    pub service: Service,
    /// Rate limits and admission control.
    pub limits: Arc<Limits>,
    /// Live matches.
    pub live: Arc<Boards>,
    /// Memory of the pages: sign-in attempts and viewers.
    pub pages: Arc<Memory>,
    /// The engine for visitors' browsers.
    pub engine: Option<Arc<Engine>>,
}

impl Deref for App {
    type Target = Service;

    fn deref(&self) -> &Service {
        &self.service
    }
}

impl App {
    /// The state of a coordinator that begins to serve.
    #[must_use]
    pub fn new(service: Service, pages: Memory) -> Self {
        let settings = &service.settings;
        let limits = Limits::new(settings.most_requests, settings.requests_per_second, settings.burst);
        Self { service, limits: Arc::new(limits), live: Arc::default(), pages: Arc::new(pages), engine: None }
    }

    /// The state with an engine for visitors' browsers.
    #[must_use]
    pub fn with_engine(self, engine: Engine) -> Self {
        Self { engine: Some(Arc::new(engine)), ..self }
    }

    /// Rejects further registrations from an address after too many.
    pub(crate) fn may_register(&self, headers: &HeaderMap, peer: SocketAddr) -> ApiResult<()> {
        let registrant = registrant_in(headers, peer, self.settings.behind_proxy);
        self.limits.register(&registrant, self.clock.now()).map_err(|wait| {
            let detail = "many accounts were made from this address: try again later, or ask its operator for one";
            ApiError::new(Code::TooMany, detail).retry_after(wait)
        })
    }
}
