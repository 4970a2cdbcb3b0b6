//! The kinds of secret that are known by their own shape. A table only: the
//! words that make it worth looking, and the expression that decides.

/// One kind.
pub(super) struct Token {
    pub(super) kind: &'static str,
    /// Literals of which one stands in every secret of this kind.
    pub(super) literals: &'static [&'static str],
    /// How many bytes before the literal the secret may begin.
    pub(super) back: usize,
    /// Must match from there on. The first group, if any, is the secret.
    pub(super) pattern: &'static str,
    /// What else must hold of the secret.
    pub(super) check: Check,
}

/// What a pattern cannot say.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// The pattern suffices.
    Shape,
    /// Letters and digits must be mixed as no word mixes them.
    Random,
}

/// Each row: the check, the bytes before the literal, the kind, the literals
/// and the pattern.
macro_rules! tokens {
    ($($check:ident $back:literal $kind:literal [$($literal:literal),*] $pattern:literal;)*) => {
        &[$(Token {
            kind: $kind,
            literals: &[$($literal),*],
            back: $back,
            pattern: $pattern,
            check: tokens!(@$check),
        }),*]
    };
    (@shape) => { Check::Shape };
    (@random) => { Check::Random };
}

/// Lengths are lower bounds a little under the real ones, because output is
/// often cut; the prefix makes up for it.
pub(super) const TOKENS: &[Token] = tokens! {
    // Clouds.
    shape 0 "aws-access-key" ["AKIA", "ASIA", "ABIA", "ACCA"] r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b";
    random 0 "aws-bedrock-key" ["ABSK"] r"ABSK[A-Za-z0-9+/]{40,}={0,2}";
    shape 0 "google-api-key" ["AIza"] r"AIza[A-Za-z0-9_-]{33,}";
    shape 0 "google-oauth" ["GOCSPX-"] r"GOCSPX-[A-Za-z0-9_-]{20,}";
    shape 0 "google-oauth" ["ya29."] r"ya29\.[A-Za-z0-9_.-]{20,}";
    random 0 "google-oauth" ["1//0"] r"1//0[A-Za-z0-9_-]{30,}";
    shape 4 "azure-client-secret" ["Q~"] r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{30,36}";
    random 0 "alibaba-key" ["LTAI"] r"LTAI[A-Za-z0-9]{12,24}\b";
    random 0 "tencent-key" ["AKID"] r"AKID[A-Za-z0-9]{32}\b";
    shape 0 "digitalocean-token" ["doo_v1_", "dop_v1_", "dor_v1_"] r"do[opr]_v1_[a-f0-9]{32,}";
    shape 0 "heroku-key" ["HRKU-"] r"HRKU-[A-Za-z0-9_-]{20,}";
    shape 0 "cloudflare-token" ["v1.0-"] r"v1\.0-[a-f0-9]{24}-[a-f0-9]{64,}";
    random 0 "cloudflare-token" ["cfut_", "cfat_", "cfk_"] r"cf(?:ut|at|k)_[A-Za-z0-9]{32,}";
    shape 0 "fly-token" ["fm1_", "fm2_", "fo1_"] r"(?:fm[12]|fo1)_[A-Za-z0-9+/_=-]{32,}";
    random 0 "vercel-token" ["vcp_", "vci_", "vca_", "vcr_", "vck_"] r"vc[piark]_[A-Za-z0-9]{24,}";
    random 0 "netlify-token" ["nfp_"] r"nfp_[A-Za-z0-9]{32,}";
    shape 0 "supabase-key" ["sbp_"] r"sbp_(?:v0_)?[a-f0-9]{40}";
    random 0 "supabase-key" ["sb_secret_"] r"sb_secret_[A-Za-z0-9_-]{20,}";
    shape 0 "planetscale-token" ["pscale_"] r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,}";
    random 0 "neon-key" ["napi_"] r"napi_[a-z0-9]{40,}";
    shape 0 "databricks-token" ["dapi"] r"dapi[a-f0-9]{32}(?:-\d)?\b";
    random 0 "snyk-token" ["snyk_"] r"snyk_[a-z]{3,4}\.[A-Za-z0-9_.-]{40,}";
    // Code and packages.
    shape 0 "github-token" ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"] r"gh[pousr]_[A-Za-z0-9_]{20,}";
    shape 0 "github-token" ["github_pat_"] r"github_pat_[A-Za-z0-9_]{22,}";
    random 0 "gitlab-token" ["glpat-", "gldt-", "glptt-", "glrt-", "glcbt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-", "glwt-"] r"gl(?:pat|dt|ptt|rt|cbt|ft|imt|agent|oas|soat|ffct|wt)-[A-Za-z0-9_.=-]{20,}";
    random 0 "gitlab-token" ["GR1348941"] r"GR1348941[A-Za-z0-9_-]{18,}";
    random 0 "bitbucket-token" ["ATBB"] r"ATBB[A-Za-z0-9]{20,}";
    random 0 "bitbucket-token" ["ATCTT"] r"ATCTT3[A-Za-z0-9_=-]{20,}";
    random 0 "atlassian-token" ["ATATT"] r"ATATT3[A-Za-z0-9_=-]{20,}";
    shape 0 "npm-token" ["npm_"] r"npm_[A-Za-z0-9]{36}\b";
    shape 0 "pypi-token" ["pypi-AgE"] r"pypi-AgE[A-Za-z0-9_-]{40,}";
    random 0 "crates-io-token" ["cio"] r"cio[A-Za-z0-9]{32}\b";
    shape 0 "rubygems-key" ["rubygems_"] r"rubygems_[a-f0-9]{40,}";
    random 0 "nuget-key" ["oy2"] r"oy2[a-z0-9]{43}\b";
    random 0 "clojars-token" ["CLOJARS_"] r"CLOJARS_[a-z0-9]{50,}";
    shape 0 "docker-token" ["dckr_"] r"dckr_[po]at_[A-Za-z0-9_-]{20,}";
    random 0 "jfrog-token" ["AKCp"] r"AKCp[A-Za-z0-9]{60,}";
    random 0 "jfrog-token" ["cmVmdGtu"] r"cmVmdGtu[A-Za-z0-9]{50,}";
    random 0 "sourcegraph-token" ["sgp_"] r"sgp_(?:[A-Za-z0-9]+_)?[a-f0-9]{40}";
    shape 0 "pulumi-token" ["pul-"] r"pul-[a-f0-9]{40}\b";
    shape 14 "terraform-token" [".atlasv1."] r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}";
    shape 0 "vault-token" ["hvs.", "hvb.", "hvr."] r"hv[sbr]\.[A-Za-z0-9_-]{20,}";
    shape 0 "doppler-token" ["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."] r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]+\.)?[A-Za-z0-9]{32,}";
    shape 0 "onepassword-token" ["ops_eyJ"] r"ops_eyJ[A-Za-z0-9+/=_-]{40,}";
    random 0 "circleci-token" ["CCIPAT_", "CCIPRJ_"] r"CCIP(?:AT|RJ)_[A-Za-z0-9_]{30,}";
    random 0 "buildkite-token" ["bkua_", "bkct_"] r"bk(?:ua|ct)_[A-Za-z0-9]{32,}";
    shape 0 "postman-key" ["PMAK-"] r"PMAK-[a-f0-9]{24}-[a-f0-9]{30,}";
    shape 0 "tailscale-key" ["tskey-"] r"tskey-[a-z]+-[A-Za-z0-9-]{16,}";
    // Models.
    shape 0 "anthropic-key" ["sk-ant-"] r"sk-ant-[A-Za-z0-9_-]{20,}";
    random 0 "openai-key" ["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"] r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}";
    random 0 "openai-key" ["sk-"] r"sk-[A-Za-z0-9]{20,}\b";
    shape 0 "openrouter-key" ["sk-or-"] r"sk-or-(?:v\d-)?[a-f0-9]{40,}";
    random 0 "huggingface-token" ["hf_"] r"hf_[A-Za-z0-9]{30,}";
    random 0 "huggingface-token" ["api_org_"] r"api_org_[A-Za-z0-9]{30,}";
    random 0 "groq-key" ["gsk_"] r"gsk_[A-Za-z0-9]{40,}";
    random 0 "replicate-token" ["r8_"] r"r8_[A-Za-z0-9]{30,}";
    random 0 "perplexity-key" ["pplx-"] r"pplx-[A-Za-z0-9]{40,}";
    random 0 "xai-key" ["xai-"] r"xai-[A-Za-z0-9]{60,}";
    random 0 "langsmith-key" ["lsv2_"] r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}";
    random 0 "pinecone-key" ["pcsk_"] r"pcsk_[A-Za-z0-9_]{40,}";
    // Money and shops.
    random 0 "stripe-key" ["sk_live_", "sk_test_", "rk_live_", "rk_test_"] r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}";
    random 0 "stripe-webhook-secret" ["whsec_"] r"whsec_[A-Za-z0-9+/=]{24,}";
    shape 0 "shopify-token" ["shpat_", "shpca_", "shppa_", "shpss_"] r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}";
    random 0 "square-token" ["sq0atp-", "sq0csp-", "sq0idp-"] r"sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}";
    random 0 "square-token" ["EAAA"] r"EAAA[A-Za-z0-9_-]{56,}";
    shape 0 "plaid-token" ["access-sandbox-", "access-development-", "access-production-"] r"access-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f-]{27}";
    shape 0 "paypal-token" ["access_token$"] r"access_token\$(?:production|sandbox)\$[a-z0-9]{10,}\$[a-f0-9]{32}";
    shape 0 "flutterwave-key" ["FLWSECK"] r"FLWSECK(?:_TEST)?-[A-Za-z0-9-]{12,}";
    random 0 "easypost-key" ["EZAK", "EZTK"] r"EZ[AT]K[A-Za-z0-9]{50,}";
    shape 0 "shippo-token" ["shippo_"] r"shippo_(?:live|test)_[a-f0-9]{40}";
    // Messages.
    random 0 "slack-token" ["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-"] r"xox[abcdeoprs][-.][A-Za-z0-9%.-]{10,}";
    random 0 "slack-token" ["xapp-"] r"xapp-\d-[A-Za-z0-9-]{20,}";
    shape 0 "slack-webhook" ["hooks.slack.com/"] r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{20,})";
    shape 0 "discord-webhook" ["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"] r"discord(?:app)?\.com/api/webhooks/(\d{10,}/[A-Za-z0-9_-]{20,})";
    shape 0 "discord-token" ["MTA", "MTE", "MTI", "MTM", "MTQ", "MTU", "MTY", "MTc", "MTg", "MTk", "OTA", "OTE", "OTI", "OTM", "OTQ", "OTU", "OTY", "OTc", "OTg", "OTk", "ODA", "ODE", "ODI", "ODM", "ODQ", "ODU", "ODY", "ODc", "ODg", "ODk", "NzA", "NzE", "NzI", "NzM", "NzQ", "NzU", "NzY", "Nzc", "Nzg", "Nzk", "NjA", "NjE", "NjI", "NjM", "NjQ", "NjU", "NjY", "Njc", "Njg", "Njk", "MzA", "MzE", "MzI", "MzM", "MzQ", "MzU", "MzY", "Mzc", "Mzg", "Mzk", "MjA", "MjE", "MjI", "MjM", "MjQ", "MjU", "MjY", "Mjc", "Mjg", "Mjk"] r"[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}";
    shape 0 "teams-webhook" ["webhook.office.com/"] r"webhook\.office\.com/webhookb2/([A-Za-z0-9@-]{30,}/IncomingWebhook/[A-Za-z0-9/-]{30,})";
    shape 12 "telegram-token" [":AA"] r"\d{7,12}:AA[A-Za-z0-9_-]{32,35}";
    shape 0 "sendgrid-key" ["SG."] r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}";
    shape 0 "mailgun-key" ["key-"] r"key-[0-9a-f]{32}\b";
    shape 32 "mailchimp-key" ["-us"] r"[0-9a-f]{32}-us\d{1,2}\b";
    random 0 "brevo-key" ["xkeysib-", "xsmtpsib-"] r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}";
    random 0 "resend-key" ["re_"] r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}";
    shape 0 "twilio-key" ["SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd", "SKe", "SKf"] r"SK[0-9a-f]{32}\b";
    random 0 "facebook-token" ["EAAC", "EAAB", "EAAG", "EAAM", "EAAJ"] r"EAA[A-Z][A-Za-z0-9]{60,}";
    // Watching.
    shape 0 "newrelic-key" ["NRAK-", "NRII-", "NRRA-", "NRJS-", "NRIQ-", "NRSP-"] r"NR(?:AK|II|RA|JS|IQ|SP)-[A-Za-z0-9_-]{18,}";
    shape 36 "newrelic-key" ["NRAL"] r"[a-f0-9]{36}NRAL\b";
    shape 0 "sentry-token" ["sntrys_", "sntryu_"] r"sntry[su]_[A-Za-z0-9+/=_-]{32,}";
    random 0 "grafana-token" ["glc_", "glsa_"] r"gl(?:c|sa)_[A-Za-z0-9+/_=]{30,}";
    random 0 "dynatrace-token" ["dt0c01.", "dt0s01.", "dt0s02."] r"dt0[cs]\d\d\.[A-Z0-9]{20,}\.[A-Z0-9]{40,}";
    random 0 "posthog-key" ["phx_"] r"phx_[A-Za-z0-9]{40,}";
    random 0 "honeycomb-key" ["hcaik_", "hcxik_", "hcamk_", "hcalk_"] r"hc[ax][a-z]k_[A-Za-z0-9]{32,}";
    // Work.
    random 0 "linear-key" ["lin_api_", "lin_oauth_"] r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}";
    random 0 "notion-token" ["ntn_"] r"ntn_[A-Za-z0-9]{40,}";
    random 0 "notion-token" ["secret_"] r"secret_[A-Za-z0-9]{43}\b";
    random 0 "airtable-token" ["pat"] r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b";
    random 0 "figma-token" ["figd_", "figu_"] r"fig[du]_[A-Za-z0-9_-]{36,}";
    random 0 "contentful-token" ["CFPAT-"] r"CFPAT-[A-Za-z0-9_-]{40,}";
    random 0 "typeform-token" ["tfp_"] r"tfp_[A-Za-z0-9_.=-]{40,}";
    shape 0 "readme-key" ["rdme_"] r"rdme_[a-z0-9]{60,}";
    shape 0 "mapbox-token" ["sk.eyJ"] r"sk\.eyJ[A-Za-z0-9_-]{30,}\.[A-Za-z0-9_-]{20,}";
    // Formats.
    // Armour in base64: of RSA, EC, OpenSSH, encrypted and plain private keys.
    shape 0 "private-key" ["LS0tLS1CRUdJTiBSU0EgUFJJ", "LS0tLS1CRUdJTiBFQyBQUkl", "LS0tLS1CRUdJTiBPUEVOU1NIIFBSS", "LS0tLS1CRUdJTiBFTkNSWVBURUQg", "LS0tLS1CRUdJTiBQUklWQVRF"] r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{20,}={0,2}";
    shape 0 "age-key" ["AGE-SECRET-KEY-"] r"(?i:AGE-SECRET-KEY-)(?:PQ-)?1[A-Za-z0-9]{40,}";
    shape 0 "jwt" ["eyJ"] r"eyJ[A-Za-z0-9_-]{8,}\.(?:eyJ[A-Za-z0-9_-]{8,}\.?[A-Za-z0-9_-]*|[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)*)";
    random 0 "grafana-token" ["eyJrIjoi"] r"eyJrIjoi[A-Za-z0-9+/_-]{40,}={0,2}";
    shape 0 "bitcoin-key" ["xprv"] r"xprv[1-9A-HJ-NP-Za-km-z]{100,}";
};
