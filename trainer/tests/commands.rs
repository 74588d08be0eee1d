//! Transcripts of the help. `TRYCMD=overwrite cargo test -p chuhe-trainer` rewrites them; read the
//! difference before committing it.

#[test]
fn transcripts() {
    trycmd::TestCases::new().case("tests/cmd/*.md");
}
