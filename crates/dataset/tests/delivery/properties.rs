//! Properties that hold for any bytes.

use proptest::prelude::*;

use super::*;

/// Counts as great as the format allows, under the longest possible games, in a file of some
/// kilobytes.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_bounded_for_any_claimed_counts() {
    let memory = |what: &str| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
        line.split_ascii_whitespace().next().unwrap().parse::<u64>().unwrap()
    };
    let mut header = common::with_book(common::header(10));
    header.settings.ply_cap = 100_000;
    let before = memory("VmRSS:");
    let mut refused = 0;
    for payload in
        [vec![], vec![0; 5_000], vec![0xff; 5_000], (0..5_000_u32).map(|it| ((it * it) >> 3) as u8).collect()]
    {
        let block = Block { payload, games: 4_096, moves: 1 << 20 };
        let bytes = forge::file(&header.to_bytes(), &[block.clone(), block.clone(), block]);
        assert!(precheck(&bytes, &header, 10..10 + 3 * 4_096).is_ok());
        refused += u32::from(by_replay(&bytes, &header, 10..10 + 3 * 4_096, None).is_err());
    }
    let used = memory("VmHWM:") - before;
    assert!(refused == 4 && used < 16_384, "{used} KiB");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn cut_and_flipped_bytes_are_refused(cut in 0_usize..4_000, flips in proptest::collection::vec((0_usize..4_000, 1_u8..), 0..3)) {
        let mut header = common::header(10);
        header.settings.ply_cap = 20;
        let games = common::games(&header, 12);
        let honest = common::shard(&header, &games);
        let mut bytes = honest.clone();
        for (place, flip) in flips {
            let place = place % bytes.len();
            bytes[place] ^= flip;
        }
        bytes.truncate(cut);
        let (prechecked, replay) = (precheck(&bytes, &header, 10..22), by_replay(&bytes, &header, 10..22, None));
        prop_assert_eq!(replay.is_ok(), bytes == honest);
        prop_assert!(prechecked.is_ok() || replay.is_err());
        for refusal in prechecked.err().into_iter().chain(replay.err()) {
            code(&refusal);
        }
        let compared = compare(&honest, &bytes, 10..22);
        prop_assert_eq!(compared, if bytes == honest { Comparison::Equal } else { Comparison::Unreadable });
    }

    /// Bytes with valid checks around them.
    #[test]
    fn any_games_are_refused_or_proved(seed: u64, payload in proptest::collection::vec(any::<u8>(), 0..600), games in 1_u32..6, book: bool) {
        let mut header = common::header(seed);
        if book {
            header = common::with_book(header);
        }
        let numbers = header.first_game..header.first_game + u64::from(games);
        let bytes = forge::file(&header.to_bytes(), &[Block { payload, games, moves: 40 }]);
        if let Err(refusal) = by_replay(&bytes, &header, numbers.clone(), None) {
            code(&refusal);
        }
        prop_assert_ne!(compare(&bytes, &bytes, numbers.clone()), Comparison::Differ { first_game: numbers.start });
    }
}
