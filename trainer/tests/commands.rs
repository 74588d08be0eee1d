//! The help as people read it. `TRYCMD=overwrite cargo test -p chuhe-trainer` writes it anew; read the difference before
//! committing it.

#[test]
fn transcripts() {
    trycmd::TestCases::new().case("tests/cmd/*.md");
}
