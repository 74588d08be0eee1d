//! The parameters themselves, by the file that reads them.
//!
//! To add one, add a row here and in `docs/PARAMETERS.md`, and read it where it applies. Ranges are
//! bounds within which a search is sound: no overflow, no endless loop. The step is the size of a
//! change worth a test, and the first perturbation of `chuhe tune`.

use super::parameters;

parameters! {
    // The root: search/deepening.rs.
    aspiration_delta = 26, 4, 80, 3: "initial half width of the aspiration window";
    aspiration_depth = 4, 2, 10, 1: "first depth with an aspiration window";
    aspiration_max_reduction = 3, 0, 5, 1: "most plies less after fail highs at the root";
    aspiration_score_divisor = 220, 50, 1000, 40: "the window grows by the score's size divided by this";
    aspiration_score_max = 4000, 500, 8000, 500: "greatest size of the score in that growth";
    aspiration_widening = 50, 20, 200, 10: "growth of the window at each failure, in percent";
    time_effort_base = 160, 110, 250, 8: "soft time in percent, less the best move's share of nodes";
    time_fall_divisor = 2, 1, 10, 1: "the fall of the score divided by this is added to soft time, in percent";
    time_fall_max = 100, 20, 300, 20: "greatest fall of the score that adds time";
    time_forced_depth = 4, 1, 20, 1: "depth at which the only legal move is played";
    time_stability_base = 140, 100, 250, 8: "soft time in percent, for a best move that just changed";
    time_stability_max = 8, 1, 12, 1: "iterations after which a stable best move saves no more time";
    time_stability_step = 9, 0, 15, 1: "percent of soft time saved by each iteration with the same best move";

    // Nodes: search/node.rs.
    check_extension_depth = 10, 0, 20, 2: "greatest depth of the check extension";
    check_extension_see = 0, -200, 200, 30: "SEE that a check must reach to be extended";
    fail_low_bonus = 120, 0, 300, 15: "history bonus of the move that made a node fail low, in percent";
    futility_base = 9, 0, 300, 15: "futility pruning: margin at reduced depth 0";
    futility_depth = 8, 2, 14, 1: "futility pruning: greatest reduced depth";
    futility_history = 100, 20, 2000, 20: "futility pruning: history divided by this is added to the margin";
    futility_slope = 57, 20, 200, 10: "futility pruning: margin for each ply of reduced depth";
    history_bonus_max = 1639, 400, 5000, 200: "greatest history bonus of a cutoff";
    history_bonus_offset = -139, -300, 400, 40: "taken off the history bonus";
    history_bonus_slope = 230, 40, 500, 20: "history bonus for each ply of depth";
    history_pruning_depth = 5, 1, 10, 1: "history pruning: greatest depth";
    history_pruning_margin = 5955, 500, 10000, 400: "history pruning: the history is worse than minus this times depth";
    history_quiet_weight = 2, 0, 4, 1: "butterfly history's weight beside continuation history, in pruning and LMR";
    iir_depth = 4, 2, 10, 1: "internal iterative reduction: least depth";
    lmp_base = 5, 1, 30, 1: "late move pruning: moves at depth 0";
    lmp_slope = 3, 1, 6, 1: "late move pruning: moves for each squared ply";
    lmr_capture = 778, 0, 2500, 120: "less reduction for captures, in 1/1024 of a ply";
    lmr_capture_history = 8, 2, 40, 2: "capture history divided by this lessens the reduction";
    lmr_check = 759, 0, 2500, 120: "less reduction for checks";
    lmr_cut_node = 1676, 0, 3000, 150: "more reduction in expected cut nodes";
    lmr_cutoffs = 3, 1, 8, 1: "cutoffs of the children, above which reductions grow";
    lmr_cutoffs_reduction = 627, 0, 2500, 120: "more reduction above that number of cutoffs";
    lmr_deeper_margin = 41, 8, 200, 8: "re-search a ply deeper this far above the best score";
    lmr_depth = 2, 2, 6, 1: "least depth of late move reductions";
    lmr_not_improving = 336, 0, 2000, 100: "more reduction without improvement";
    lmr_pv = 500, 0, 2000, 100: "less reduction in PV nodes, beside that of the table's PV mark";
    lmr_quiet_history = 11, 3, 60, 2: "quiet history divided by this lessens the reduction";
    lmr_shallower_margin = 9, 0, 60, 3: "re-search a ply less below this above the best score";
    lmr_tt_capture = 814, 0, 2500, 120: "more reduction after a table move that captures";
    lmr_tt_pv = 836, 0, 2500, 120: "less reduction where the table has a PV mark";
    null_depth = 3, 1, 8, 1: "null move: least depth";
    null_margin_base = 111, 0, 400, 20: "null move: the static evaluation must exceed beta by this at depth 0";
    null_margin_slope = 18, 0, 60, 3: "null move: that margin falls by this a ply";
    null_reduction_base = 3, 2, 6, 1: "null move: reduction at depth 0";
    null_reduction_divisor = 4, 2, 8, 1: "null move: depth divided by this is added to the reduction";
    null_reduction_evaluation = 181, 50, 500, 25: "null move: each such surplus over beta reduces by a ply";
    null_reduction_max = 3, 0, 6, 1: "null move: most plies for the surplus";
    null_verification_depth = 14, 8, 30, 2: "null move: least depth that is verified";
    probcut_depth = 5, 3, 10, 1: "ProbCut: least depth";
    probcut_improving = 60, 0, 200, 12: "ProbCut: the margin is lower by this if improving";
    probcut_margin = 153, 40, 500, 25: "ProbCut: margin above beta";
    probcut_reduction = 4, 2, 6, 1: "ProbCut: plies less in its search";
    probcut_return = 95, 0, 300, 20: "ProbCut: taken off the returned score";
    razoring_base = 86, 0, 400, 25: "razoring: margin at depth 0";
    razoring_depth = 3, 0, 6, 1: "razoring: greatest depth";
    razoring_slope = 287, 60, 600, 25: "razoring: margin a ply";
    rfp_depth = 8, 2, 14, 1: "reverse futility pruning: greatest depth";
    rfp_improving = 8, 0, 200, 10: "reverse futility pruning: the margin is lower by this if improving";
    rfp_slope = 83, 20, 200, 8: "reverse futility pruning: margin a ply";
    see_pruning_curve = 28, 0, 100, 4: "SEE pruning of quiet moves: the loss allowed for each squared ply";
    see_pruning_slope = 49, 0, 300, 8: "SEE pruning of quiet moves: the loss allowed for each ply of reduced depth";
    singular_depth = 7, 4, 12, 1: "singular extension: least depth";
    singular_depth_divisor = 2, 2, 3, 1: "singular extension: its search has this part of the depth";
    singular_double_margin = 20, 0, 100, 5: "singular extension: double this far below its bound";
    singular_double_max = 8, 0, 16, 1: "singular extension: double ones on a path";
    singular_margin = 15, 0, 64, 4: "singular extension: its bound is lower by this times depth, in sixteenths";
    singular_negative_beta = 2, 0, 3, 1: "negative extension if the table's score is above beta";
    singular_negative_cut = 1, 0, 3, 1: "negative extension in expected cut nodes";
    singular_tt_depth = 3, 1, 6, 1: "singular extension: plies that the table's depth may lack";
    tt_upper_depth = 1, 0, 4, 1: "plies more that the table needs to cut off for a fail low";

    // Late move reductions: search/reductions.rs.
    lmr_base = 665, 0, 1500, 60: "reduction of every late move, in 1/1024 of a ply";
    lmr_divisor = 223, 120, 500, 12: "ln(depth) times ln(move) is divided by a hundredth of this";

    // Quiescence: search/quiescence.rs.
    qs_check_see = 0, -200, 200, 20: "SEE that a quiet check must reach";
    qs_checks = 1, 0, 4, 1: "moves of a side, the first ones, with quiet checks";
    qs_delta_margin = 220, 40, 500, 20: "delta pruning: what a capture may gain beyond its victim";
    qs_evasions = 3, 1, 10, 1: "in check, moves after which losing captures are skipped";
    qs_see = -44, -150, 150, 20: "SEE that a capture must reach";

    // Histories: history.rs.
    capture_history_limit = 8192, 1024, 32000, 1000: "bound of capture history";
    continuation_history_limit = 16384, 1024, 32000, 2000: "bound of continuation history";
    correction_bonus_max = 189, 32, 1024, 32: "greatest single change of correction history";
    correction_continuation = 79, 0, 300, 10: "weight of the corrections by the last moves, in 1/1024";
    correction_depth_divisor = 8, 2, 32, 1: "correction history learns the error times depth divided by this";
    correction_limit = 1024, 256, 8192, 128: "bound of correction history";
    correction_material = 42, 0, 300, 10: "weight of the correction by material";
    correction_non_pawn = 80, 0, 300, 10: "weight of the corrections by each colour's other pieces";
    correction_pawn = 25, 0, 300, 10: "weight of the correction by pawns";
    pawn_history_limit = 8192, 1024, 32000, 1000: "bound of pawn history";
    quiet_history_limit = 8192, 1024, 32000, 1000: "bound of butterfly history";

    // Move ordering: picker.rs.
    mvv_advisor = 200, 0, 1000, 25: "value of a captured advisor in the order";
    mvv_cannon = 450, 0, 1500, 40: "value of a captured cannon in the order";
    mvv_chariot = 900, 0, 2000, 60: "value of a captured chariot in the order";
    mvv_elephant = 200, 0, 1000, 25: "value of a captured elephant in the order";
    mvv_factor = 18, 1, 64, 2: "weight of the victim's value beside capture history";
    mvv_horse = 400, 0, 1500, 40: "value of a captured horse in the order";
    mvv_pawn = 120, 0, 800, 20: "value of a captured pawn in the order";
    picker_check_bonus = 14588, 0, 60000, 1500: "bonus of a quiet move that gives check";
    picker_check_see = -59, -400, 200, 20: "SEE that such a check must reach";
    picker_pawn_weight = 1, 0, 4, 1: "pawn history's weight beside continuation history, in the order";
    picker_quiet_weight = 2, 0, 4, 1: "butterfly history's weight beside continuation history, in the order";

    // The transposition table: table.rs.
    tt_age_weight = 8, 0, 32, 1: "replacement: plies of depth that each earlier search costs an entry";
    tt_keep_margin = 4, 0, 12, 1: "an entry this many plies deeper is not overwritten by a bound of its position";

    // Time: budget.rs.
    time_hard_factor = 5, 1, 12, 1: "ratio of hard to soft limit";
    time_last_percent = 85, 50, 95, 3: "greatest percentage of the clock for the last move before a control";
    time_max_percent = 60, 20, 90, 5: "greatest percentage of the clock for another move";
    time_moves_to_go = 40, 15, 80, 3: "moves over which the clock is divided, at most";
    time_pool_divisor = 4, 1, 12, 1: "at least the clock divided by this is there to divide";
}
