//! Options.

use engine::{Strength, uci::Setup};
use nnue::{Kernel, Net, Parameters, architecture::Sizes};

use crate::client::{Client, last_word, setup};

#[test]
fn options_of_other_engines_are_accepted_where_they_mean_the_same() {
    let mut client = Client::new();
    let accepted = "setoption name Repetition Rule value AsianRule
        setoption name Rule60MaxPly value 100
        setoption name repetition rule value ComputerRule
        setoption name Draw Rule value None
        setoption name Sixty Move Rule value true
        setoption name Rule60MaxPly value 120
        setoption name MaxCheckCount value 0";
    assert_eq!(client.request(accepted), "");
    assert_eq!(client.session.game().rules().name(), "cxr");
    client.send("setoption name Repetition Rule value asianrule");
    assert_eq!(client.session.game().rules().name(), "axf");
    for (option, answer) in [
        ("Repetition Rule value SkyRule", "Repetition Rule: `SkyRule` is not one of AsianRule, ComputerRule"),
        ("Draw Rule value DrawAsBlackWin", "Draw Rule: `DrawAsBlackWin` is not one of None"),
        ("Sixty Move Rule value false", "Sixty Move Rule: `false` is not one of true"),
        ("Rule60MaxPly value 120", "Rule60MaxPly: `120` is not one of 100"),
        ("MaxCheckCount value 6", "MaxCheckCount: `6` is not one of 0"),
    ] {
        let line = format!("setoption name {option}");
        assert_eq!(client.request(&line), format!("info string setoption {answer}\n"));
    }
    assert_eq!(client.session.game().rules().name(), "axf");
}

#[test]
fn parameters_are_options_for_tuning() {
    let mut client = Client::with(Setup { tune: true, ..setup() });
    let answer = client.request("uci");
    let default = engine::tune::Parameter::find("lmr_base").unwrap().default;
    let line = format!("\noption name lmr_base type spin default {default} min 0 max 1500\n");
    assert!(answer.contains(&line), "{answer}");
    assert!(answer.contains("\noption name check_extension_see type spin default 0 min -200 max 200\n"), "{answer}");
    let mut nodes = |line: &str| {
        assert_eq!(client.request(line), "", "{line}");
        last_word(&client.request("ucinewgame\ngo depth 6"), "nodes").unwrap().to_owned()
    };
    let before = nodes("setoption name check_extension_see value 0");
    assert_ne!(nodes("setoption name LMR_base value 900"), before);
    assert_eq!(nodes(&format!("setoption name lmr_base value {default}")), before);
    assert_eq!(
        client.request("setoption name lmr_base value 1501"),
        "info string setoption lmr_base: `1501` is not a whole number from 0 to 1500\n"
    );
    // Players get no such options.
    assert_eq!(
        Client::new().request("setoption name lmr_base value 900"),
        "info string setoption: there is no option `lmr_base`\n"
    );
}

#[test]
fn options_are_found_in_any_case() {
    let mut client = Client::new();
    let answer = client.request(
        "setoption name move overhead value 100
         setoption name Clear Hash
         setoption name hash value 8
         setoption name THREADS value 2
         setoption name uci_variant value Xiangqi
         setoption name Ponder value true
         setoption name EvalFile value
         setoption name EvalFile value <plain>
         setoption name Rules value wxf",
    );
    assert_eq!(answer, "info string playing with the plain evaluation\n".repeat(2));
    assert_eq!(client.session.game().rules().name(), "wxf");
    assert!(client.request("go nodes 3000").contains("bestmove "));
}

#[test]
fn nets_are_loaded() {
    let folder = std::env::temp_dir().join(format!("chuhe-uci-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    // A file name with blanks.
    let file = folder.join("a  net.chuhe");
    let parameters = Parameters::from_piece_values(Sizes::new(128, 16, 32, 8).unwrap(), 1);
    std::fs::write(&file, parameters.to_bytes()).unwrap();
    let mut client = Client::new();
    let answer = client.request(&format!("setoption name EvalFile value {}\neval\ngo depth 3", file.display()));
    let playing = format!(
        "info string playing with net {} ({}…) on {}\n",
        file.display(),
        &Net::from_bytes(&parameters.to_bytes()).unwrap().hash().to_string()[..8],
        Kernel::best()
    );
    assert!(answer.starts_with(&playing), "{answer}");
    assert!(
        answer.contains(&format!(" for Red, by net {} (", file.display())) && answer.contains("bestmove "),
        "{answer}"
    );
    let answer = client.request("setoption name EvalFile value <plain>\neval");
    assert!(answer.ends_with(" for Red, by the plain evaluation\n"), "{answer}");
    let published = concat!(env!("CARGO_MANIFEST_DIR"), "/../../nets/season2-5-1/net.nnue");
    let answer = client.request(&format!("setoption name EvalFile value {published}"));
    assert_eq!(answer, format!("info string playing with net season2-5-1 (b97b62c9…) on {}\n", Kernel::best()));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_limited_engine_searches_few_nodes_and_errs() {
    let mut client = Client::new();
    let mut search = |options: &str| {
        assert_eq!(client.request(options), "", "{options}");
        let answer = client.request("position startpos moves h2e2\ngo depth 6");
        assert!(answer.contains("bestmove "), "{answer}");
        last_word(&answer, "nodes").map_or(0, |nodes| nodes.parse::<u64>().unwrap())
    };
    let limit = |elo| Strength::of_elo(elo).nodes;
    let full = search("");
    assert!(full > limit(Strength::MAX_ELO));
    for elo in [Strength::MIN_ELO, Strength::MAX_ELO] {
        let nodes = search(&format!(
            "setoption name UCI_LimitStrength value true
             setoption name UCI_Elo value {elo}"
        ));
        assert!(nodes <= limit(elo), "{nodes} at {elo}");
    }
    // The rating counts before the level.
    assert!(search("setoption name Skill Level value 0") > limit(Strength::MIN_ELO));
    assert!(search("setoption name UCI_LimitStrength value false") <= limit(Strength::MIN_ELO));
    assert_eq!(search("setoption name Skill Level value 20"), full);
    assert_eq!(
        client.request("setoption name UCI_Elo value 9000"),
        format!(
            "info string setoption UCI_Elo: `9000` is not a whole number from {} to {}\n",
            Strength::MIN_ELO,
            Strength::MAX_ELO
        )
    );
}
