//! Sign-in, accounts, tokens.

super::list::words! {
    /// Sign-in, accounts, tokens.
    Account {
        sign_in: "Sign in", "登录";
        sign_out: "Sign out", "退出";
        register: "Register", "注册";
        name: "Name", "名称";
        password: "Password", "密码";
        new_password: "New password", "新密码";
        old_password: "Present password", "当前密码";
        name_help: "1 to 64 letters, digits, \".\", \"_\" or \"-\".", "1 至 64 个字母、数字、“.”、“_”或“-”。";
        password_help: "At least 10 characters. A few words are good.", "至少 10 个字符，用几个词组合最好。";
        wrong: "Name or password is wrong.", "名称或密码错误。";
        too_often: "Too many attempts. Try again in {} {minute|minutes}.", "尝试次数过多，请在 {} 分钟后再试。";
        pending: "The account waits for a maintainer's approval.", "该账号正在等待维护者批准。";
        blocked: "The account is blocked.", "该账号已被停用。";
        no_account: "No account yet?", "还没有账号？";
        have_account: "Already have an account?", "已有账号？";
        invitation: "Invitation", "邀请码";
        optional: "optional", "选填";
        invitation_needed: "Accounts here are by invitation.", "此处注册需要邀请码。";
        approval_needed: "New accounts wait until a maintainer approves them.", "新账号需经维护者批准后生效。";
        consent: "I contribute my games under CC0 1.0: anyone may use them for anything.",
            "我同意以 CC0 1.0 协议贡献对局：任何人可用于任何用途。";
        consent_needed: "Games are contributed under CC0 1.0: tick the box to agree.",
            "对局以 CC0 1.0 协议贡献，请勾选同意。";
        registered: "Welcome, {}.", "欢迎，{}。";
        first_token: "This token lets a worker play for you. It is shown only once: copy it now.",
            "此令牌供工作机以您的名义下棋，只显示一次，请立即复制。";
        my_account: "My account", "我的账号";
        my_tokens: "My tokens", "我的令牌";
        my_machines: "My machines", "我的机器";
        my_games: "My games", "我的对局";
        tokens_none: "No tokens yet.", "还没有令牌。";
        machine_add: "Add a machine", "添加机器";
        machines_none: "No machine has offered to play yet.", "还没有机器接入。";
        games_none: "Nothing was delivered yet.", "尚未提交任何对局。";
        token_new: "New token", "新令牌";
        token_for: "What it is for", "用途";
        token_days: "Ends after days (empty: never)", "有效天数（留空：永久）";
        days_wrong: "A whole number from 1 to 65535, or nothing.", "请填写 1 至 65535 的整数，或留空。";
        token_create: "Create token", "创建令牌";
        token_begins: "Begins with", "开头";
        token_used: "Last used", "最近使用";
        token_ends: "Ends", "到期";
        revoke: "Revoke", "撤销";
        revoked: "revoked", "已撤销";
        never: "never", "从未";
        change_password: "Change password", "修改密码";
        password_changed: "The password was changed; all other sessions ended.", "密码已修改，其他会话均已结束。";
        role: "Role", "角色";
        rank: "Rank", "排名";
    }
}
