//! The engine in the browser.

super::list::words! {
    /// The engine in the browser.
    Play {
        title: "Play games in this browser", "用此浏览器对弈";
        lead: "No program to install: this page plays the games of a lease and uploads them. They are checked like any others, and count for your account.",
            "无需安装程序：本页下完领取的对局并上传。这些对局与其他对局一样经过检验，并计入您的账户。";
        link: "Or play in this browser, without installing anything.", "或直接用此浏览器对弈，无需安装。";
        token: "Token", "令牌";
        token_help: "It is shown after registering, and your page makes more. This browser keeps it.",
            "注册后显示；也可在您的页面上新建。此浏览器会保存它。";
        threads: "Threads", "线程";
        start: "Start", "开始";
        stop: "Stop after these games", "下完本局后停止";
        thread: "Thread", "线程";
        state: "State", "状态";
        games: "Games", "对局";
        uploaded: "Uploaded", "已上传";
        speed: "Nodes per second", "每秒节点数";
        starting: "loading", "载入中";
        measuring: "testing the engine", "正在检测引擎";
        waiting: "waiting for games", "等待对局";
        playing: "playing", "对弈中";
        uploading: "uploading", "上传中";
        retrying: "trying again", "重试中";
        finished: "stopped", "已停止";
        failed: "failed", "失败";
        leave: "Unfinished games are lost when this page is closed. Others play them later.",
            "关闭本页会丢失未完成的对局，之后由他人补下。";
        needs_script: "This page needs JavaScript and WebAssembly.", "本页需要 JavaScript 和 WebAssembly。";
        analysis: "Analysis", "分析";
        analyse: "Analyse", "分析";
        analyse_stop: "Stop", "停止";
        analysis_help: "The engine runs in your browser. Scores are seen from Red, in pawns.",
            "引擎在您的浏览器中运行。评分为红方视角，以兵为单位。";
        depth: "Depth", "深度";
        score: "Score", "评分";
        line: "Line", "变化";
        mate: "mate in {}", "{} 步杀";
    }
}
