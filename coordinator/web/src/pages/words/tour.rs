//! The guided tour.

super::list::words! {
    /// The guided tour.
    Tour {
        title: "From one game to a net", "从一局棋到一个网络";
        link: "See with one game what this is about", "用一局棋看懂本项目";
        lead: "A net played this game against itself. It is number {} of a published run.", "此局由一个网络自我对弈而成，是公开数据中的第 {} 局。";
        judged: "1. The arbiter judges it", "1. 裁判裁定";
        judged_about: "Black is lost, and his chariot chases Red's cannon without end. A program that draws every repetition calls that a draw. The rules do not: the side that chases on has lost. Step through the moves; the arbiter decides again whenever this page is opened.",
            "黑方败势已定，以车长捉红炮，无休无止。凡重复即和的程序判和，而棋规不然：长捉的一方判负。可逐步查看着法；每次打开本页，裁判都会重新裁定。";
        chase_about: "At plies 126 and 128 the chariot follows the cannon; at plies 130 and 132 Black's king answers a check while the chariot still attacks it, so all four moves chase.",
            "第 126、128 步黑车追捉红炮；第 130、132 步黑将应将，而车仍捉着炮，所以四步都算捉。";
        labels: "2. What the label would be without rules", "2. 若无棋规，标签会是什么";
        labels_about: "The same moves under the rule set \"simple\", which draws every repetition. A net that learned this label would believe that chasing saves a lost game.",
            "同样的着法按“simple”规则（凡重复即和）裁定。以此标签训练的网络会以为长捉可以求和。";
        proof: "3. The proof", "3. 证明";
        proof_about: "No label is taken on trust. An upload counts only after the coordinator has replayed each move and decided the end itself. The digest is the SHA-256 of the whole game. Another machine that plays with the same net, rules and seed gets the same game, and so the same digest.",
            "标签从不轻信：协调器逐着复盘并自行裁定之后，提交才计入。摘要是整局棋的 SHA-256。另一台机器以相同的网络、规则与种子来下，得到同一局棋，摘要也就相同。";
        proof_command: "Replay the whole file in a clone of the source:", "在源码目录中复盘整个文件：";
        learned: "4. The net that learned from it", "4. 从中学习的网络";
        learned_about: "With its label, the game is in the training set of the next net. That net's manifest names the set, the set names the file.",
            "该局连同标签进入下一网络的训练集：网络的清单列出训练集，训练集列出文件。";
        rulebook: "Rule set", "规则";
        label: "Label", "标签";
        file: "File", "文件";
        attempt: "Attempt of the opening", "开局尝试";
        digest: "Digest", "摘要";
        training_set: "Training set", "训练集";
        player: "Both players", "双方";
        other_rules: "Judge it by other rules", "按其他规则裁定";
    }
}
