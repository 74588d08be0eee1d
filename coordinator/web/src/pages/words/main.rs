//! Texts of most pages.

super::list::words! {
    /// Texts of most pages.
    Main {
        tagline: "A river of games for xiangqi nets", "象棋神经网络的棋局之河";
        skip: "To the content", "跳到正文";
        menu: "Menu", "菜单";
        home: "Home", "首页";
        campaigns: "Campaigns", "任务";
        matches: "Matches", "对抗赛";
        nets: "Nets", "网络";
        data: "Data", "数据";
        workers: "Workers", "工作机";
        people: "People", "贡献者";
        games: "Games", "对局";
        judge: "Judge", "裁判";
        sprt: "SPRT calculator", "SPRT 计算器";
        admin: "Administration", "管理";
        json: "JSON of this page", "本页 JSON";
        source: "Games are CC0 1.0", "对局以 CC0 1.0 发布";
        error: "That did not work", "出错了";
        error_help: "Go back, or begin at the home page.", "请返回，或从首页开始。";
        not_found: "There is nothing at this address.", "此地址没有内容。";
        colon: ": ", "：";
        no: "no", "否";
        yes: "yes", "是";
        none: "none", "无";
        of: "of", "共";
        now: "now", "此刻";
        day_ago: "{} d ago", "{} 天前";
        hour_ago: "{} h ago", "{} 小时前";
        minute_ago: "{} min ago", "{} 分钟前";
        second_ago: "{} s ago", "{} 秒前";
        days: "{} d", "{} 天";
        hours: "{} h", "{} 小时";
        minutes: "{} min", "{} 分钟";
        seconds: "{} s", "{} 秒";
    }
}
