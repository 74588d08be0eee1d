//! Net files: round trips, and rejection of anything else.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod common;

use common::{Numbers, sizes, with_attackers};
use nnue::{FileError, Net, NetError, Parameters, Section, architecture::Inputs};

/// The length of the header in version 1.
const HEADER_LENGTH: usize = 46;

fn small() -> Parameters {
    Parameters::random(sizes(128, 8, 8, 2), 1)
}

fn rejection(bytes: &[u8]) -> NetError {
    let error = Net::from_bytes(bytes).map(|net| net.hash()).expect_err("a damaged file is rejected");
    let text = error.to_string();
    assert!(text.len() < 200 && !text.contains('\n'), "{text}");
    error
}

#[test]
fn files_round_trip() {
    for sizes in [
        sizes(128, 8, 8, 1),
        sizes(192, 24, 40, 16),
        sizes(256, 16, 32, 8),
        sizes(1024, 32, 64, 3),
        with_attackers(sizes(128, 8, 8, 1)),
        with_attackers(sizes(256, 16, 32, 8)),
    ] {
        for seed in [2, 3] {
            let parameters = Parameters::random(sizes, seed);
            let bytes = parameters.to_bytes();
            assert_eq!(Parameters::from_bytes(&bytes).as_ref(), Ok(&parameters));
            let net = Net::from_bytes(&bytes).unwrap();
            assert_eq!(net.hash(), Net::new(&parameters).unwrap().hash());
            assert_eq!(net.sizes(), parameters.sizes);
            assert_eq!(net.description(), parameters.description);
        }
    }
}

/// Golden hashes: a change of format, hash or generator changes them.
#[test]
fn net_hashes_do_not_change() {
    let net = Net::random(sizes(128, 8, 8, 1), 0);
    let extended = Net::random(with_attackers(sizes(128, 8, 8, 1)), 0);
    assert_eq!(extended.hash().to_string(), "af23df5b9774972bd3224025a9ba692cda9fb029a34d5201221f4f58a91ed966");
    assert_eq!(net.hash().to_string(), "3456732f53ece14cc56dbc7b94f44c642fd3b9caf8ef695ecba739cf4f0bfd74");
}

#[test]
fn every_damaged_byte_is_detected() {
    for parameters in [small(), Parameters::random(with_attackers(sizes(128, 8, 8, 2)), 1)] {
        assert_every_damaged_byte_is_detected(&parameters);
    }
}

fn assert_every_damaged_byte_is_detected(parameters: &Parameters) {
    let bytes = parameters.to_bytes();
    let mut numbers = Numbers(1);
    let mut damaged = bytes.clone();
    let header = 0..HEADER_LENGTH + 2 + parameters.description.len();
    let anywhere: Vec<_> = (0..1000).map(|_| numbers.below(bytes.len())).collect();
    let end = bytes.len() - 100..bytes.len();
    for place in header.chain(anywhere).chain(end) {
        damaged[place] ^= 1 << numbers.below(8);
        rejection(&damaged);
        damaged[place] = bytes[place];
    }
    Net::from_bytes(&damaged).unwrap();
}

#[test]
fn every_truncated_file_is_rejected() {
    let bytes = small().to_bytes();
    for length in 0..bytes.len() {
        match Net::from_bytes(&bytes[..length]).map(|net| net.hash()) {
            Err(NetError::Foreign) => assert_eq!(length, 0),
            Err(NetError::Truncated { found, .. }) => assert_eq!(found, length),
            other => panic!("{length} bytes: {other:?}"),
        }
    }
}

#[test]
fn a_truncated_file_is_reported_with_its_section() {
    let parameters = small();
    let bytes = parameters.to_bytes();
    let stack = 8 * 4 + 8 * 128 + 8 * 4 + 8 * 16 + 4 + 8 * 2;
    let lengths = [
        (Section::Header, HEADER_LENGTH),
        (Section::Description, parameters.description.len()),
        (Section::TransformerBiases, 128 * 2),
        (Section::TransformerWeights, Inputs::Kings.count() * 128 * 2),
        (Section::Head, Inputs::Kings.count() * 2 * 4),
        (Section::Stack(0), stack),
        (Section::Stack(1), stack),
        (Section::Checksum, 8),
    ];
    let mut begin = 0;
    for (expected, length) in lengths {
        for found in [begin.max(1), begin + length - 1] {
            let NetError::Truncated { section, .. } = rejection(&bytes[..found]) else { panic!("{found}") };
            assert_eq!(section, expected, "{found}");
        }
        begin += length;
    }
    assert_eq!(begin, bytes.len());
    assert_eq!(
        rejection(&bytes[..begin - 1]).to_string(),
        format!("the net ends after {} of {begin} bytes, within its checksum", begin - 1)
    );
}

/// Returns a changed file with a valid checksum.
fn with_valid_checksum(parameters: &Parameters, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = parameters.to_bytes();
    bytes.truncate(bytes.len() - 8);
    change(&mut bytes);
    let digest = <sha2::Sha256 as sha2::Digest>::digest(&bytes);
    bytes.extend(&digest[..8]);
    bytes
}

#[test]
fn errors_are_one_clear_sentence() {
    let net = small();
    let with = |place: usize, new: &[u8]| {
        with_valid_checksum(&net, |bytes| bytes[place..place + new.len()].copy_from_slice(new))
    };
    let text = |bytes: &[u8]| rejection(bytes).to_string();
    let foreign = "this is not a Chuhe net: it does not begin with `CHUHENET`";
    assert_eq!(text(b""), foreign);
    assert_eq!(text(b"CHUHENOT a net"), foreign);
    assert_eq!(text(b"CHUHEN"), "the net ends after 6 of 46 bytes, within its header");
    assert_eq!(text(&with(8, &[3])), "the net has format version 3; this program reads versions 1 and 2");
    assert_eq!(
        text(&with(20, &[96])),
        "the net's sizes are not possible: the transformer's width is 96; it must be a multiple of 64 from 128 to 1024"
    );
    assert_eq!(text(&with(28, &[254])), "the net's transformer scale is 254; this program's is 255");
    assert!(text(&with(12, &[1, 2])).starts_with("the net is of architecture "));
    // Other sizes have another architecture id.
    assert!(text(&with(20, &[192])).starts_with("the net is of architecture "));
    assert_eq!(text(&with(44, &[1, 4])), "the net's description has 1025 bytes; it may have 1024");
    assert_eq!(text(&with(48, &[0xff])), "the net's description is not UTF-8 at its byte 2");
    let length = net.to_bytes().len();
    assert_eq!(
        text(&with_valid_checksum(&net, |bytes| bytes.extend([0; 3]))),
        format!("the net has {} bytes, 3 more than it should", length + 3)
    );
    let mut damaged = net.to_bytes();
    damaged[length / 2] ^= 1;
    assert!(text(&damaged).starts_with("the net is damaged: its checksum is "));
    // An output bias so large that only the proof rejects it.
    let high = with(length - 8 - 8 * 2 - 4, &i32::MAX.to_le_bytes());
    assert!(
        text(&high).starts_with("the net is refused: neuron 0 of the output of stack 1 can reach 2"),
        "{}",
        text(&high)
    );
}

/// Version 2 has the inputs in its header, and is not for nets of version 1.
#[test]
fn inputs_are_in_the_header_of_version_2() {
    let net = Parameters::random(with_attackers(sizes(128, 8, 8, 2)), 1);
    let bytes = net.to_bytes();
    assert_eq!((small().to_bytes()[8], bytes[8], &bytes[28..30]), (1, 2, &[1, 0][..]));
    let with = |place: usize, new: &[u8]| {
        with_valid_checksum(&net, |bytes| bytes[place..place + new.len()].copy_from_slice(new))
    };
    let text = |bytes: &[u8]| rejection(bytes).to_string();
    for (number, found) in [([0, 0], 0), ([2, 0], 2), ([1, 1], 257)] {
        let expected = format!("the net's inputs have the number {found}; format version 2 knows 1, kings-attackers");
        assert_eq!(text(&with(28, &number)), expected);
    }
    assert_eq!(text(&bytes[..47]), "the net ends after 47 of 48 bytes, within its header");
    // Read as the other version, scales or architecture differ.
    assert_eq!(text(&with(8, &[1])), "the net's transformer scale is 16711681; this program's is 255");
    assert!(
        text(&with_valid_checksum(&small(), |bytes| {
            bytes[8] = 2;
            bytes.splice(28..28, [1, 0]);
        }))
        .starts_with("the net is of architecture ")
    );
}

#[test]
fn a_description_may_be_empty_or_full() {
    for length in [0, 1, Parameters::MAX_DESCRIPTION] {
        let mut parameters = small();
        parameters.description = "d".repeat(length);
        assert_eq!(Parameters::from_bytes(&parameters.to_bytes()), Ok(parameters));
    }
}

#[test]
fn a_file_is_read_or_its_path_reported() {
    let folder = std::env::temp_dir().join(format!("chuhe-nnue-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("small.net");
    let error = Net::from_file(&path).unwrap_err();
    assert!(matches!(error, FileError::Unreadable { .. }));
    assert!(error.to_string().starts_with(&format!("cannot read the net {}: ", path.display())));
    std::fs::write(&path, small().to_bytes()).unwrap();
    assert_eq!(Net::from_file(&path).unwrap().hash(), Net::new(&small()).unwrap().hash());
    std::fs::write(&path, b"something else").unwrap();
    let error = Net::from_file(&path).unwrap_err().to_string();
    assert_eq!(error, format!("{}: this is not a Chuhe net: it does not begin with `CHUHENET`", path.display()));
    std::fs::remove_dir_all(folder).unwrap();
}
