//! Properties that hold for any input. The fuzz targets search for counterexamples; the tests
//! replay the corpora.

use std::sync::{Arc, OnceLock};

use nnue::{Evaluator, Kernel, Net, NetError, Parameters, architecture::Sizes};
use sha2::{Digest, Sha256};
use xiangqi::Position;

/// Bytes are rejected with an error of one line, or are the exact serialisation of the parsed net.
pub(crate) fn net_file(data: &[u8]) {
    match Parameters::from_bytes(data) {
        Ok(parameters) => assert!(parameters.to_bytes() == data, "read differently than written"),
        Err(error) => one_line(&error),
    }
}

/// A mutated file of a small net is rejected with an error of one line, or all kernels evaluate it
/// equally. A fuzzer cannot generate a net file from nothing: even the smallest is too large.
///
/// The first byte selects the change of length and checksum. Then each five bytes are a patch: a
/// place from the beginning or the end, and two bytes.
pub(crate) fn net_patch(data: &[u8]) {
    let Some((how, changes)) = data.split_first() else { return };
    let mut bytes = file().to_vec();
    bytes.truncate(bytes.len() - CHECKSUM);
    for change in changes.as_chunks::<5>().0 {
        let [a, b, c, new @ ..] = *change;
        let place = usize::from(a & 0x7f) << 16 | usize::from(b) << 8 | usize::from(c);
        let place = if a & 0x80 == 0 { place } else { bytes.len().saturating_sub(2 + place) };
        if let Some(old) = bytes.get_mut(place..place + 2) {
            old.copy_from_slice(&new);
        }
    }
    match how & 3 {
        1 => bytes.truncate(bytes.len() - usize::from(how >> 2)),
        2 => bytes.extend(vec![*how; usize::from(how >> 2)]),
        _ => {}
    }
    if how & 3 != 3 {
        let digest = Sha256::digest(&bytes);
        bytes.extend(&digest[..CHECKSUM]);
    }
    net_file(&bytes);
    match Net::from_bytes(&bytes) {
        Ok(net) => evaluates(&Arc::new(net)),
        Err(error) => one_line(&error),
    }
}

const CHECKSUM: usize = 8;

/// The file to mutate, of the smallest net.
fn file() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let sizes = Sizes::new(128, 8, 8, 1).expect("the smallest sizes");
        Parameters::random(sizes, 2).to_bytes()
    })
}

fn evaluates(net: &Arc<Net>) {
    let start = Position::start();
    let mut scores = Kernel::available().map(|kernel| Evaluator::new(Arc::clone(net), kernel).evaluate(&start));
    let scalar = scores.next();
    assert!(scores.all(|score| Some(score) == scalar), "kernels differ");
}

fn one_line(error: &NetError) {
    let text = error.to_string();
    assert!(!text.contains('\n') && text.len() < 250, "an error of more than one line: {text}");
}
