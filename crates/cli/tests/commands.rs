//! Transcripts of the commands: output, stream, exit status. `TRYCMD=overwrite cargo test -p chuhe`
//! rewrites them; read the difference before committing it.

#[test]
fn transcripts() {
    trycmd::TestCases::new().case("tests/cmd/*.md");
}
