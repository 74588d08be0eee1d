//! The commands as people type them. `TRYCMD=overwrite cargo test -p chuhe-worker --test commands` writes the transcripts
//! anew; read the difference before committing it.

#[test]
fn transcripts() {
    trycmd::TestCases::new().case("tests/cmd/*.md");
}
