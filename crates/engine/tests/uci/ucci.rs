//! The other protocol, UCCI.

use crate::client::{Client, last_word};

#[test]
fn ucci_is_spoken() {
    let mut client = Client::new();
    let answer = client.request("ucci");
    assert!(answer.starts_with("id name Chuhe ") && answer.ends_with("\nucciok\n"), "{answer}");
    assert!(answer.contains("\noption usemillisec type check default true\n"), "{answer}");
    assert!(answer.contains("\noption hashsize type spin min 1 max 64 default 2\n"), "{answer}");
    let answer = client.request(
        "setoption hashsize 4
         setoption usemillisec true
         setoption newgame
         isready
         position startpos moves h2e2
         go time 60000 movestogo 40 opptime 60000 oppmovestogo 40 depth 4",
    );
    assert!(answer.starts_with("readyok\ninfo time ") && answer.contains("\ninfo depth 4 score "), "{answer}");
    assert!(!answer.contains("cp") && answer.contains(" pv ") && answer.contains("\nbestmove "), "{answer}");
    for go in
        ["go depth 2", "go nodes 500", "go draw depth 2", "go time 100 increment 0", "go depth infinite nodes 300"]
    {
        assert!(client.request(go).contains("bestmove "), "{go}");
    }
    client.send("setoption usemillisec false");
    client.send("go ponder time 1 increment 0");
    client.send("ponderhit");
    client.output.wait_for("bestmove ");
    client.output.take();
    client.send("go infinite");
    client.send("stop");
    client.output.wait_for("bestmove ");
    assert_eq!(client.request("setoption contempt 1"), "info message setoption: there is no option `contempt`\n");
    assert_eq!(client.request("setoption"), "info message setoption: it is `setoption <name>`, then perhaps a value\n");
    assert!(client.session.execute_line("quit").unwrap().is_break());
    assert_eq!(client.output.take(), "bye\n");
}

#[test]
fn banned_moves_are_not_played() {
    let mut client = Client::new();
    // A king with two moves.
    let position = "position fen 3k5/9/9/9/9/9/9/9/9/4K4 w";
    for (banned, best) in [("e0e1", "e0f0"), ("e0f0", "e0e1")] {
        let answer = client.request(&format!("ucci\n{position}\nbanmoves {banned}\ngo depth 2"));
        assert_eq!(last_word(&answer, "bestmove"), Some(best), "{answer}");
    }
    assert_eq!(client.request("banmoves e0e1 e0f0\ngo depth 2"), "nobestmove\n");
    // A ban does not outlive its position.
    assert!(client.request(&format!("{position}\ngo depth 2")).contains("bestmove "));
    assert!(client.request("banmoves a0a1").starts_with("info message banmoves: move 1: `a0a1`: "));
}
