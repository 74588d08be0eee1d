//! The commands as people type them: what they print, where, and with which exit status. `TRYCMD=overwrite cargo test
//! -p chuhe` writes the transcripts anew; read the difference before committing it.

#[test]
fn transcripts() {
    trycmd::TestCases::new().case("tests/cmd/*.md");
}
