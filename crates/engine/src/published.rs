//! The published net, which is part of the program: what plays where nobody names another.

use std::sync::{Arc, LazyLock};

use nnue::{Kernel, Net};

use crate::evaluation::Evaluation;

/// What it is called; what made it lies in the folder of this name under `nets`.
pub const NAME: &str = "gen2-256";

static NET: LazyLock<Arc<Net>> = LazyLock::new(|| {
    let bytes = include_bytes!("../../../nets/gen2-256/net.nnue");
    Arc::new(Net::from_bytes(bytes).expect("a published net is sound"))
});

/// The net. It is read once, when it is first asked for.
#[must_use]
pub fn net() -> Arc<Net> {
    Arc::clone(&NET)
}

/// The evaluation by it.
#[must_use]
pub fn evaluation(kernel: Kernel) -> Evaluation {
    Evaluation::Net(net(), kernel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_net_that_its_manifest_describes() {
        let manifest = include_str!("../../../nets/gen2-256/net.json");
        assert!(manifest.contains(&format!("\"net\": \"{}\"", net().hash())));
        assert!(manifest.contains(&format!("\"name\": \"{NAME}\"")));
    }
}
