//! Rejected recipes and their error sentences.

use protocol::recipe::Recipe;

/// A minimal recipe with some lines replaced.
fn with(changes: &[(&str, &str)]) -> String {
    let mut text = "\
name = \"small\"
[architecture]
[data]
[[data.sources]]
manifest = \"gen0.json\"
[data.filter]
[loss]
[optimizer]
[schedule]
epochs = 40
positions_per_epoch = 1_000_000
[quantisation]
[seeds]
[stop]
[average]
"
    .to_owned();
    assert!(Recipe::from_text(&text).is_ok());
    for (line, new) in changes {
        assert!(text.contains(line), "{line}");
        text = text.replacen(line, new, 1);
    }
    text
}

#[track_caller]
fn refused(text: &str, sentence: &str) {
    match Recipe::from_text(text) {
        Ok(_) => panic!("read, not refused with: {sentence}\n{text}"),
        Err(error) => assert_eq!(error.to_string(), sentence, "\n{text}"),
    }
}

/// Each case: the header of a section, the lines under it, the sentence.
#[track_caller]
fn refused_under(cases: &[(&str, &str, &str)]) {
    for (header, lines, sentence) in cases {
        refused(&with(&[(header, &format!("{header}\n{lines}"))]), sentence);
    }
}

const KEYS_OF_A_RECIPE: &str = "a recipe may have name, architecture, data, loss, optimizer, schedule, average, \
                                quantisation, seeds, start, stop and stages";

#[test]
fn texts_that_are_not_toml() {
    let sentences = [
        ("name = ", "line 1, column 8: the text is not TOML: string values must be quoted, expected literal string"),
        (
            "\nname = small",
            "line 2, column 8: the text is not TOML: string values must be quoted, expected literal string, at \"small\"",
        ),
        ("name = \"a\"\nname = \"b\"\n", "line 2, column 1: the text is not TOML: duplicate key, at \"name\""),
        ("[loss]\n[loss]\n", "line 2, column 2: the text is not TOML: duplicate key, at \"loss\""),
        ("[data", "line 1, column 6: the text is not TOML: unclosed table, expected `]`"),
    ];
    for (text, sentence) in sentences {
        refused(text, sentence);
    }
}

#[test]
fn unknown_keys() {
    refused(
        &with(&[("[stop]", "[stopp]")]),
        &format!("line 14, column 2: `stopp` is no key of a recipe; {KEYS_OF_A_RECIPE}"),
    );
    refused(
        &with(&[("[architecture]", "\"a.b\" = 1")]),
        &format!("line 2, column 1: `a.b` is no key of a recipe; {KEYS_OF_A_RECIPE}"),
    );
    refused_under(&[
        (
            "[architecture]",
            "  widht = 256",
            "line 3, column 3: `architecture.widht` is no key of a recipe; `architecture` may have inputs, width, first, \
             second, stacks, activation, factorised and head",
        ),
        (
            "[data]",
            "blocks = 1",
            "line 4, column 1: `data.blocks` is no key of a recipe; `data` may have least_positions, validation_one_in, \
             pool_blocks, mirrored, streamed, filter, shares and sources",
        ),
        (
            "[[data.sources]]",
            "path = 1",
            "line 5, column 1: `data.sources[0].path` is no key of a recipe; `data.sources[0]` may have manifest, weight \
             and newest_positions",
        ),
        (
            "[data.filter]",
            "check = true",
            "line 7, column 1: `data.filter.check` is no key of a recipe; `data.filter` may have in_check, captures, \
             before_ply, beyond, contradicting, limit_above, repeated, duplicates and verdicts_as_draws",
        ),
        (
            "[loss]",
            "lambda = 1.0",
            "line 8, column 1: `loss.lambda` is no key of a recipe; `loss` may have exponent, lambda_start, lambda_end \
             and output_scale",
        ),
        (
            "[optimizer]",
            "name = \"adam\"",
            "line 9, column 1: `optimizer.name` is no key of a recipe; `optimizer` may have kind, beta1, beta2, epsilon, \
             weight_decay, lookahead_steps and lookahead_blend",
        ),
        (
            "[schedule]",
            "lr = 1",
            "line 10, column 1: `schedule.lr` is no key of a recipe; `schedule` may have batch, epochs, \
             positions_per_epoch, kind, learning_rate, final_learning_rate, decay, decay_epochs and warm_up_steps",
        ),
        (
            "[quantisation]",
            "bits = 8",
            "line 13, column 1: `quantisation.bits` is no key of a recipe; `quantisation` may have mode",
        ),
        (
            "[seeds]",
            "net = 8",
            "line 14, column 1: `seeds.net` is no key of a recipe; `seeds` may have weights and order",
        ),
        ("[stop]", "loss = 8", "line 15, column 1: `stop.loss` is no key of a recipe; `stop` may have explosion"),
        (
            "[stop]",
            "[start]\nrun = 8",
            "line 16, column 1: `start.run` is no key of a recipe; `start` may have checkpoint and net",
        ),
    ]);
}

#[test]
fn a_misspelt_key_is_not_called_missing() {
    refused(
        &with(&[("epochs = 40", "epoch = 40")]),
        "line 10, column 1: `schedule.epoch` is no key of a recipe; `schedule` may have batch, epochs, \
         positions_per_epoch, kind, learning_rate, final_learning_rate, decay, decay_epochs and warm_up_steps",
    );
}

#[test]
fn missing_keys() {
    refused("", "line 1, column 1: `name` is missing");
    refused("name = \"a\"", "line 1, column 1: `data.sources` is missing");
    refused(&with(&[("name = \"small\"", "")]), "line 1, column 1: `name` is missing");
    refused(
        &with(&[("[[data.sources]]", ""), ("manifest = \"gen0.json\"", "")]),
        "line 3, column 1: `data.sources` is missing",
    );
    refused(&with(&[("manifest = \"gen0.json\"", "")]), "line 4, column 1: `data.sources[0].manifest` is missing");
    refused(
        "name = \"a\"\ndata.sources = [{ manifest = \"a\" }, { weight = 3 }]",
        "line 2, column 37: `data.sources[1].manifest` is missing",
    );
    refused(&with(&[("epochs = 40", "")]), "line 9, column 1: `schedule.epochs` is missing");
    refused(
        &with(&[("positions_per_epoch = 1_000_000", "")]),
        "line 9, column 1: `schedule.positions_per_epoch` is missing",
    );
    refused(&with(&[("[stop]", "[start]")]), "line 14, column 1: `start.checkpoint` is missing");
}

#[test]
fn values_that_are_not_tables() {
    refused(
        "name = \"a\"\nloss = 3\ndata.sources = [{ manifest = \"a\" }]",
        "line 2, column 8: `loss` is 3; it must be a table",
    );
    refused("name = \"a\"\n[[data]]", "line 2, column 1: `data` is a list; it must be a table");
    let list = "it must be a list of at least one table";
    refused("name = \"a\"\ndata.sources = []", &format!("line 2, column 16: `data.sources` is an empty list; {list}"));
    refused("name = \"a\"\n[data.sources]", &format!("line 2, column 1: `data.sources` is a table; {list}"));
    refused("name = \"a\"\ndata.sources = [3]", "line 2, column 17: `data.sources[0]` is 3; it must be a table");
}

#[test]
fn names() {
    let allowed = "it must be 1 to 64 letters, digits, `.`, `_` or `-`, of which the first is a letter or digit";
    let long = "a".repeat(65);
    for name in ["", "a b", "..", "-rf", "a/b", "棋", "a\\n", &long] {
        let text = with(&[("\"small\"", &format!("\"{name}\""))]);
        refused(&text, &format!("line 1, column 8: `name` is \"{name}\"; {allowed}"));
    }
    refused(&with(&[("\"small\"", "7")]), &format!("line 1, column 8: `name` is 7; {allowed}"));
    for name in ["a", "2.0", "Kings_256-b.c", &long[1..]] {
        assert_eq!(Recipe::from_text(&with(&[("small", name)])).unwrap().name, name);
    }
}

/// The header of a section, its line, a key, rejected values, the allowed ones.
type Values<'a> = (&'a str, usize, &'a str, &'a [&'a str], &'a str);

const VALUES: &[Values<'_>] = &[
    ("architecture", 2, "inputs", &["\"king\"", "1"], "\"kings\" or \"kings-attackers\""),
    ("architecture", 2, "width", &["64", "250", "1_088", "\"256\"", "256.0"], "a multiple of 64 from 128 to 1024"),
    ("architecture", 2, "first", &["0", "-8", "12", "40", "true"], "a multiple of 8 from 8 to 32"),
    ("architecture", 2, "second", &["0", "33", "72"], "a multiple of 8 from 8 to 64"),
    ("architecture", 2, "stacks", &["0", "17", "99999999999999999999"], "a whole number from 1 to 16"),
    ("architecture", 2, "activation", &["\"relu\""], "\"pairs\", \"clipped\" or \"pairs-skip\""),
    ("architecture", 2, "factorised", &["1", "\"true\""], "true or false"),
    ("architecture", 2, "head", &["\"piece_values\""], "\"piece-values\" or \"zero\""),
    ("data", 3, "least_positions", &["-1", "1e6", "1_000_000_000_001"], "a whole number from 0 to 1000000000000"),
    ("data", 3, "validation_one_in", &["0", "1", "1_000_001"], "a whole number from 2 to 1000000"),
    ("data", 3, "pool_blocks", &["0", "65_537"], "a whole number from 1 to 65536"),
    ("data", 3, "mirrored", &["1"], "true or false"),
    ("data", 3, "streamed", &["1"], "true or false"),
    ("data.filter", 6, "in_check", &["0"], "true or false"),
    ("data.filter", 6, "captures", &["\"no\""], "true or false"),
    ("data.filter", 6, "before_ply", &["-1", "100_001"], "a whole number from 0 to 100000"),
    ("data.filter", 6, "beyond", &["0", "32_768", "1.5"], "a whole number from 1 to 32767"),
    ("data.filter", 6, "contradicting", &["0", "32_768"], "a whole number from 1 to 32767"),
    ("data.filter", 6, "limit_above", &["-1", "1_001"], "a whole number from 0 to 1000"),
    ("data.filter", 6, "repeated", &["1"], "true or false"),
    ("data.filter", 6, "duplicates", &["1979-05-27"], "true or false"),
    ("data.filter", 6, "verdicts_as_draws", &["1"], "true or false"),
    ("loss", 7, "exponent", &["0.9", "5", "nan", "inf", "\"2\""], "a number from 1 to 4"),
    ("loss", 7, "lambda_start", &["-0.1", "1.01"], "a number from 0 to 1"),
    ("loss", 7, "lambda_end", &["-0.1", "1.01"], "a number from 0 to 1"),
    ("loss", 7, "output_scale", &["0", "10_001", "1e999"], "a number from 1 to 10000"),
    ("optimizer", 8, "kind", &["\"adam\""], "\"adamw\", \"radam\" or \"ranger\""),
    ("optimizer", 8, "beta1", &["-0.1", "1.0", "0.999999999"], "a number from 0 to 0.9999999"),
    ("optimizer", 8, "beta2", &["-0.1", "1"], "a number from 0 to 0.9999999"),
    ("optimizer", 8, "epsilon", &["0", "1.5", "1e-300"], "a number from 0.000000000001 to 1"),
    ("optimizer", 8, "weight_decay", &["-0.01", "1.5"], "a number from 0 to 1"),
    ("schedule", 9, "batch", &["0", "1_048_577"], "a whole number from 1 to 1048576"),
    ("schedule", 9, "kind", &["\"linear\""], "\"constant\", \"cosine\", \"step\" or \"one-cycle\""),
    ("schedule", 9, "learning_rate", &["0.0", "1.5", "-1e-3"], "a number above 0, at most 1"),
    ("schedule", 9, "final_learning_rate", &["-1e-5", "1.5"], "a number from 0 to 1"),
    ("schedule", 9, "warm_up_steps", &["-1", "0.5"], "a whole number from 0 to 9223372036854775807"),
    ("quantisation", 12, "mode", &["\"none\""], "\"clip\" or \"fake\""),
    ("seeds", 13, "weights", &["-1", "9223372036854775808"], "a whole number from 0 to 9223372036854775807"),
    ("seeds", 13, "order", &["-1", "0.5"], "a whole number from 0 to 9223372036854775807"),
    ("average", 15, "decay", &["-0.1", "1.01"], "a number from 0 to 1"),
    ("average", 15, "interval_steps", &["0", "1_000_001"], "a whole number from 1 to 1000000"),
    ("average", 15, "from_epoch", &["0", "1_000_001"], "a whole number from 1 to 1000000"),
    ("stop", 14, "explosion", &["1.0", "1_000_001"], "a number above 1, at most 1000000"),
];

#[test]
fn values_out_of_their_range() {
    for (section, line, key, values, allowed) in VALUES {
        for value in *values {
            let (line, column) = (line + 1, key.len() + 4);
            let sentence = format!("line {line}, column {column}: `{section}.{key}` is {value}; it must be {allowed}");
            refused_under(&[(&format!("[{section}]"), &format!("{key} = {value}"), &sentence)]);
        }
    }
}

#[test]
fn shares() {
    let refused = |keys: &str, sentence: &str| {
        let text = with(&[("[data]", &format!("[data]\nshares = [{{ {keys} }}]"))]);
        refused(&text, &format!("line 4, column {sentence}"));
    };
    refused("from_ply = 3", "11: `data.shares[0].percent` is missing");
    refused("percent = 101", "23: `data.shares[0].percent` is 101; it must be a whole number from 0 to 100");
    refused(
        "percent = 1, from_pieces = 20, to_pieces = 19",
        "56: `data.shares[0].to_pieces` is 19; it must be a whole number from 20 to 32",
    );
    refused(
        "percent = 1, from_ply = 20, to_ply = 9",
        "50: `data.shares[0].to_ply` is 9; it must be a whole number from 20 to 65535",
    );
    refused(
        "percent = 1, pieces = 9",
        "26: `data.shares[0].pieces` is no key of a recipe; `data.shares[0]` may have percent, from_pieces, to_pieces, \
         from_ply and to_ply",
    );
}

#[test]
fn values_out_of_their_range_elsewhere() {
    refused(
        &with(&[("epochs = 40", "epochs = 0")]),
        "line 10, column 10: `schedule.epochs` is 0; it must be a whole number from 1 to 1000000",
    );
    refused(
        &with(&[("= 1_000_000", "= 0")]),
        "line 11, column 23: `schedule.positions_per_epoch` is 0; it must be a whole number from 1 to 1000000000000",
    );
    refused_under(&[
        (
            "[[data.sources]]",
            "weight = -1",
            "line 5, column 10: `data.sources[0].weight` is -1; it must be a whole number from 0 to 1000000",
        ),
        (
            "[[data.sources]]",
            "newest_positions = 0",
            "line 5, column 20: `data.sources[0].newest_positions` is 0; it must be a whole number from 1 to 1000000000000",
        ),
        (
            "[optimizer]",
            "kind = \"ranger\"\nlookahead_steps = 0",
            "line 10, column 19: `optimizer.lookahead_steps` is 0; it must be a whole number from 1 to 1000",
        ),
        (
            "[optimizer]",
            "kind = \"ranger\"\nlookahead_blend = 1.5",
            "line 10, column 19: `optimizer.lookahead_blend` is 1.5; it must be a number above 0, at most 1",
        ),
        (
            "[schedule]",
            "kind = \"step\"\ndecay_epochs = 0",
            "line 11, column 16: `schedule.decay_epochs` is 0; it must be a whole number from 1 to 1000000",
        ),
        (
            "[schedule]",
            "kind = \"step\"\ndecay_epochs = 9\ndecay = 1.0",
            "line 12, column 9: `schedule.decay` is 1.0; it must be a number above 0, below 1",
        ),
        (
            "[stop]",
            "[start]\ncheckpoint = \"\"",
            "line 16, column 14: `start.checkpoint` is \"\"; it must be the name of a file",
        ),
        ("[stop]", "[start]\nnet = \"\"", "line 16, column 7: `start.net` is \"\"; it must be the name of a file"),
        (
            "[stop]",
            "[start]\ncheckpoint = \"a\"\nnet = \"b\"",
            "line 17, column 7: `start.net` and `start.checkpoint` exclude each other",
        ),
    ]);
    refused(
        &with(&[("\"gen0.json\"", "\"\"")]),
        "line 5, column 12: `data.sources[0].manifest` is \"\"; it must be the name of a file",
    );
}

#[test]
fn keys_that_contradict_each_other() {
    refused(
        &with(&[("[data]", "[data]\nstreamed = true"), ("[data.filter]", "[data.filter]\nduplicates = true")]),
        "line 8, column 14: `data.filter.duplicates` goes with `data.streamed` \"false\", not with \"true\"",
    );
    refused_under(&[
        (
            "[architecture]",
            "activation = \"clipped\"",
            "line 3, column 14: the activation `clipped`, that of Fairy-Stockfish, needs `inputs = \"kings\", width = 512, \
             first = 16, second = 32, stacks = 8`",
        ),
        (
            "[architecture]",
            "activation = \"pairs-skip\"\nwidth = 1024\nstacks = 16",
            "line 3, column 14: the activation `pairs-skip`, that of Pikafish, needs `inputs = \"kings-attackers\", \
             width = 1024, first = 16, second = 32, stacks = 16`",
        ),
        ("[loss]", "lambda_end = 0.7", "line 8, column 14: `loss.lambda_end` needs `loss.lambda_start`"),
        (
            "[optimizer]",
            "lookahead_steps = 6",
            "line 9, column 19: `optimizer.lookahead_steps` goes with `optimizer.kind` \"ranger\", not with \"adamw\"",
        ),
        (
            "[optimizer]",
            "kind = \"radam\"\nlookahead_blend = 0.5",
            "line 10, column 19: `optimizer.lookahead_blend` goes with `optimizer.kind` \"ranger\", not with \"radam\"",
        ),
        (
            "[schedule]",
            "final_learning_rate = 1e-5\nkind = \"constant\"",
            "line 10, column 23: `schedule.final_learning_rate` goes with `schedule.kind` \"cosine\" or \"one-cycle\", \
             not with \"constant\"",
        ),
        (
            "[schedule]",
            "final_learning_rate = 1e-5\nkind = \"step\"\ndecay_epochs = 10",
            "line 10, column 23: `schedule.final_learning_rate` goes with `schedule.kind` \"cosine\" or \"one-cycle\", \
             not with \"step\"",
        ),
        (
            "[schedule]",
            "decay = 0.1",
            "line 10, column 9: `schedule.decay` goes with `schedule.kind` \"step\", not with \"cosine\"",
        ),
        (
            "[schedule]",
            "decay_epochs = 10\nkind = \"one-cycle\"",
            "line 10, column 16: `schedule.decay_epochs` goes with `schedule.kind` \"step\", not with \"one-cycle\"",
        ),
        ("[schedule]", "kind = \"step\"", "line 10, column 8: `schedule.kind` \"step\" needs `schedule.decay_epochs`"),
        (
            "[schedule]",
            "final_learning_rate = 0.1",
            "line 10, column 23: `schedule.learning_rate` is 0.001, below `schedule.final_learning_rate`, which is 0.1",
        ),
        (
            "[schedule]",
            "learning_rate = 1e-6",
            "line 10, column 17: `schedule.learning_rate` is 0.000001, below `schedule.final_learning_rate`, which is \
             0.00001 unless given",
        ),
        (
            "[schedule]",
            "warm_up_steps = 2_481",
            "line 10, column 17: `schedule.warm_up_steps` is 2481, but its schedule has 2480 steps",
        ),
        (
            "[data.filter]",
            "[[data.sources]]\nmanifest = \"gen1.json\"\n[[data.sources]]\nmanifest = \"gen0.json\"",
            "line 10, column 12: `data.sources[2].manifest` is \"gen0.json\", which `data.sources[0].manifest` is already",
        ),
        (
            "[average]",
            "from_epoch = 41",
            "line 16, column 14: no weights count in the mean: `average.from_epoch` is 41 and \
             `average.interval_steps` is 10, but the last stage has 40 epochs of 62 steps",
        ),
        (
            "[average]",
            "from_epoch = 40\ninterval_steps = 63",
            "line 17, column 18: no weights count in the mean: `average.from_epoch` is 40 and \
             `average.interval_steps` is 63, but the last stage has 40 epochs of 62 steps",
        ),
        // The stages before the last one have enough epochs.
        (
            "[average]",
            "from_epoch = 4\n[[stages]]\n[stages.schedule]\nepochs = 3",
            "line 16, column 14: no weights count in the mean: `average.from_epoch` is 4 and \
             `average.interval_steps` is 10, but the last stage has 3 epochs of 62 steps",
        ),
        ("[[data.sources]]", "weight = 0", "line 5, column 10: `data.sources` has no source with a weight above 0"),
    ]);
    assert!(Recipe::from_text(&with(&[("[average]", "[average]\nfrom_epoch = 40\ninterval_steps = 62")])).is_ok());
    let warm_up = with(&[("epochs = 40", "epochs = 40\nwarm_up_steps = 2_480")]);
    assert_eq!(Recipe::from_text(&warm_up).unwrap().schedule.warm_up_steps, 2480);
}

#[test]
fn places_count_characters_and_any_line_ends() {
    refused(
        "name = \"a\"\r\n# 楚河\r\nloss = { exponent = 2, \"楚河\" = 1 }\r\ndata.sources = [{ manifest = \"a\" }]",
        "line 3, column 24: `loss.楚河` is no key of a recipe; `loss` may have exponent, lambda_start, lambda_end and \
         output_scale",
    );
    refused(
        "name = \"a\"\ndata.sources = [{ manifest = \"楚河\", weight = -1 }]",
        "line 2, column 45: `data.sources[0].weight` is -1; it must be a whole number from 0 to 1000000",
    );
}
