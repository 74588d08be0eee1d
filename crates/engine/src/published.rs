//! The published net, embedded in the program: the default evaluation.

use std::sync::{Arc, LazyLock};

use nnue::{Kernel, Net};

use crate::evaluation::Evaluation;

/// The name of the net; its provenance is in the folder of this name under `nets`.
pub const NAME: &str = "season2-5-1";

static NET: LazyLock<Arc<Net>> = LazyLock::new(|| {
    let bytes = include_bytes!("../../../nets/season2-5-1/net.nnue");
    Arc::new(Net::from_bytes(bytes).expect("the published net is valid"))
});

/// Returns the net, which is parsed at first use.
#[must_use]
pub fn net() -> Arc<Net> {
    Arc::clone(&NET)
}

/// Returns the evaluation by the net.
#[must_use]
pub fn evaluation(kernel: Kernel) -> Evaluation {
    Evaluation::Net(net(), kernel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_net_matches_its_manifest() {
        let manifest = include_str!("../../../nets/season2-5-1/net.json");
        assert!(manifest.contains(&format!("\"net\": \"{}\"", net().hash())));
        assert!(manifest.contains(&format!("\"name\": \"{NAME}\"")));
    }
}
