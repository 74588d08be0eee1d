//! Transcripts of the command line. `TRYCMD=overwrite cargo test -p chuhe-worker --test commands`
//! rewrites them; review the difference before committing it.

#[test]
fn transcripts() {
    trycmd::TestCases::new().case("tests/cmd/*.md");
}
