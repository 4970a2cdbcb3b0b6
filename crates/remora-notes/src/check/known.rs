//! Words that say whether a name can be about this project at all: endings of
//! files, programs of the system, names of languages and libraries. Lists
//! only; every entry keeps a false alarm away.

use std::collections::HashSet;
use std::sync::LazyLock;

/// A list of words as a set.
pub(super) fn parse_word_set(list: &'static str) -> HashSet<&'static str> {
    list.split_ascii_whitespace().collect()
}

/// Extensions by which a name is recognised as a file.
static FILE_ENDINGS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    parse_word_set(
        "adoc astro avsc bash bat bazel bzl c cc cfg cjs clj cmake conf cpp cs csproj css csv cts cue \
     dart dockerfile ejs elm env erl ex exs fish fs gd go gradle graphql groovy h hbs hcl hpp hrl \
     hs htm html ini ipynb java jl js json json5 jsonc jsonl jsx just kt kts less lock log lua m \
     map md mdc mdx mjs mk ml mli mod mts nix php pl plist pm png prisma properties proto ps1 py \
     pyi r rb rs rst sass scala scss sh sol sql svelte svg swift tf tfvars thrift toml ts tsv tsx \
     txt vue wasm xml yaml yml zig zsh",
    )
});

/// Endings that a name without a folder does not make a file: `a.map` is far
/// more often a member of a value.
static MEMBER_ENDINGS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| parse_word_set("c env fs h log m map mod properties r"));

/// Extensions of prose. A name that only such a text holds is talked
/// about, not there.
static PROSE_ENDINGS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| parse_word_set("adoc log md mdc mdx rst txt"));

/// Folders that a project's own paths begin with.
static PROJECT_FOLDERS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    parse_word_set(
        ".cargo .circleci .claude .github .husky .vscode app apps assets backend bench benches bin ci \
     client cmd config crates deploy doc docs e2e examples fixtures frontend include infra \
     internal lib libs migrations modules packages pkg public scripts server services spec src \
     test tests tools web xtask",
    )
});

/// Files that are found in so many folders that a namesake elsewhere says
/// nothing.
static COMMON_FILES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    parse_word_set(
        "__init__.py app.py app.ts app.tsx build.rs cargo.toml changelog.md claude.md agents.md \
     cli.py config.js config.json config.py config.rs config.toml config.ts config.yaml \
     config.yml conftest.py dockerfile error.rs errors.rs go.mod index.css index.html index.js \
     index.jsx index.md index.ts index.tsx lib.rs main.c main.cpp main.go main.js main.py main.rs \
     main.ts main.tsx makefile mod.rs models.py package.json page.tsx layout.tsx pom.xml \
     pyproject.toml readme.md route.ts routes.ts settings.json settings.py setup.py tests.py \
     tests.rs todo.md tsconfig.json types.rs types.ts urls.py util.py utils.js utils.py utils.rs \
     utils.ts views.py",
    )
});

/// Files without an ending.
static BARE_FILES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    parse_word_set(
        "Brewfile Caddyfile Containerfile Dockerfile Gemfile GNUmakefile Jenkinsfile Justfile \
     Makefile Procfile Rakefile Taskfile Tiltfile Vagrantfile justfile makefile",
    )
});

/// Products whose name looks like a file.
static PRODUCT_NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    parse_word_set(
        "alpine.js asp.net backbone.js chart.js d3.js deno.land discord.js ember.js express.js \
     knockout.js moment.js nest.js next.js node.js nuxt.js p5.js react.js solid.js three.js \
     vue.js",
    )
});

/// Last parts of host names.
static TOP_LEVEL_DOMAINS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    parse_word_set("ai app cloud co com de dev edu eu gov info io land local net org uk us xyz")
});

/// First halves of media types.
static MEDIA_TYPES: LazyLock<HashSet<&str>> =
    LazyLock::new(|| parse_word_set("application audio font image multipart text video"));

/// Placeholders in paths.
static PLACEHOLDER_PARTS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    parse_word_set(
        "bar baz example feature file filename foo foo_test module my-app myapp name new qux \
     something test_foo thing whatever x xxx xyz y yourfile z",
    )
});

/// Programs of the system or of a language, never a project's own.
static SYSTEM_PROGRAMS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    parse_word_set(
        "ansible apt apt-get awk aws az biome black brew bundle cat chmod chown claude clang cmake \
     code conda cp crontab ctest curl dig docker docker-compose dotnet echo eslint export fd find \
     flake8 flutter fly gcc gcloud gh git glab go gradle grep gunzip gzip head helm heroku htop \
     jest journalctl jq kill kubectl less ln ls lsof man mkdir mv mvn mypy mysql netlify nginx \
     ninja nix npx nvm open openssl pip pip3 pipx pkill playwright podman prettier printf prisma \
     ps psql pwd pytest rails rake redis-cli rg rm rsync ruff rustc rustfmt rustup scp sed set \
     sqlite3 ssh sudo supabase systemctl tail tar tee terraform tmux touch tsc turbo unzip vercel \
     vi vim vite vitest watch wc wget which wrangler xargs zip",
    )
});

/// Names that need no project to be true: of languages, their libraries, and
/// of naming itself.
static GENERIC_NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    parse_word_set(
        "AbortController Array ArrayList BTreeMap BTreeSet BigQuery Boolean Box Cell Command \
     CloudFront ConcurrentModificationException Cow Date DateTime Default DevTools Duration \
     DynamoDB Error Exception FastAPI FnMut FnOnce GitHub GitLab GraphQL HashMap HashSet \
     IllegalStateException ImportError Instant Into IntelliJ Iterator JSON JavaScript KeyError \
     LangChain LinkedList List LocalStorage Map Math ModuleNotFoundError MongoDB Mutex MySQL \
     NextJS NodeJS NonNull None NullPointerException Number Object Ok OnceCell OnceLock OpenAI \
     OpenAPI Option Ordering PascalCase Path PathBuf PhantomData PostgreSQL PowerShell Promise \
     PyTorch React RefCell RegExp Result RuntimeError RwLock Self Set Some StackOverflow String \
     SyntaxError SystemTime TensorFlow True False TypeError TypeScript Uint8Array \
     UnboundLocalError UpperCamelCase VSCode ValueError Vec VecDeque WeakMap WebAssembly \
     WebSocket YouTube Arc Rc addEventListener alert all any append assert assertEqual async \
     await bool boolean camelCase char clone close collect const create_all dataclass dbg default \
     describe double else enumerate eval exec exit expect export false fetch filter find float \
     fmod forEach format from getElementById getattr global hasattr import input into isinstance \
     iter join kebab-case lambda localStorage lowerCamelCase main malloc map memcpy mixedCase \
     node_modules none null open panic parse parseFloat parseInt preventDefault print printf \
     println push querySelector range reduce require return self sessionStorage setInterval \
     setTimeout setattr size_t sleep snake_case sort split sprintf static strcpy string strlen \
     super this thread_local throw toString trim true try_into try_from type typeof undefined \
     unimplemented unsafe unwrap unwrap_or unwrap_or_default unwrap_or_else useCallback \
     useContext useEffect useLayoutEffect useMemo useReducer useRef useState void warn while \
     with_capacity writeln yield zip snake_cased iOS macOS iPhone eBPF gRPC pgAdmin npmjs nodemon \
     to_string to_owned read_to_string is_some is_none as_str as_ref iter_mut into_iter for_each \
     filter_map flat_map created_at updated_at en_US en_GB de_DE x86_64 aarch64 amd64 utf_8",
    )
});

/// First parts of names that belong to a language or a library.
static LIBRARY_ROOTS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    parse_word_set(
        "Array Box Command Date Duration HashMap HashSet Instant Intl JSON Math Number Object Option \
     Path PathBuf Promise React Reflect Regex Result String Symbol System Vec alloc arr array \
     asyncio collections console core ctx datetime df document dplyr err error event expect fmt \
     fs functools global http.client io itertools java javax jest json list localStorage logging \
     math module navigator np numpy obj os pandas pathlib pd plt process pytest random re req \
     request res response sessionStorage shutil std str string strings subprocess sys tf \
     threading time torch typing unittest vi vscode window",
    )
});

/// First parts of variables that other programs read.
static FOREIGN_VARIABLE_PREFIXES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    parse_word_set(
        "ANDROID ANTHROPIC AWS AZURE BASH BUILDKIT CARGO CC CI CLAUDE COMPOSE CONDA CUDA CXX DATABASE \
     DB DEBUG DENO DJANGO DOCKER E ERR FLASK FORCE GCP GEM GH GIT GITHUB GITLAB GOOGLE GRADLE HF \
     HTTP HTTPS HUSKY JAVA JEST KUBE LANG LC LD LLVM MAVEN MYSQL NEXT NIX NO NODE NPM NVM O \
     OPENAI OTEL PG PIP PLAYWRIGHT POSTGRES PUPPETEER PWD PYTEST PYTHON RAILS REDIS RUBY RUST \
     RUSTC RUSTUP S SENTRY SIG SLACK SPRING SSH SSL STRIPE TERM TF TZ UV VERCEL VITE WSL XDG",
    )
});

/// Words next to a name that lives outside the code.
static NON_CODE_NOUNS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    parse_word_set(
        "account board branch bucket channel cluster column container crate dashboard database \
     dataset db domain env environment extension gem group host image index issue label library \
     login machine model namespace package plugin pod project queue realm repo repository role \
     schema secret server service stage status table tag team tenant ticket token tool topic user \
     username view workspace",
    )
});

/// Words next to a name that is part of the code.
static CODE_NOUNS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    parse_word_set(
        "class component const constant enum field fixture fn function handler helper hook interface \
     macro method middleware mixin module reducer struct trait type variable wrapper",
    )
});

/// Flags that every program has.
static COMMON_FLAGS: LazyLock<HashSet<&str>> = LazyLock::new(|| parse_word_set("--help --version"));

fn find_ending(name: &str) -> Option<&str> {
    let (stem, ending) = name.rsplit_once('.')?;
    (!stem.is_empty()).then_some(ending)
}

/// Whether the last part of a path has the ending of a file.
pub(super) fn is_file_name(name: &str) -> bool {
    find_ending(name).is_some_and(|e| FILE_ENDINGS.contains(e.to_ascii_lowercase().as_str()))
}

/// Whether a name without a folder is a file rather than a member of a value.
pub(super) fn is_lone_file_name(name: &str) -> bool {
    BARE_FILES.contains(name)
        || (is_file_name(name)
            && !find_ending(name).is_some_and(|e| MEMBER_ENDINGS.contains(e))
            && !PRODUCT_NAMES.contains(name.to_ascii_lowercase().as_str()))
}

/// Whether this is only the ending itself, such as `.rs`.
pub(super) fn is_ending(text: &str) -> bool {
    text.strip_prefix('.')
        .is_some_and(|e| e != "env" && (e.len() < 3 || FILE_ENDINGS.contains(e)))
}

/// Whether a file holds prose.
pub(super) fn is_prose(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match find_ending(name) {
        Some(end) => PROSE_ENDINGS.contains(end.to_ascii_lowercase().as_str()),
        None => matches!(
            name,
            "README" | "CHANGELOG" | "CHANGES" | "NEWS" | "LICENSE" | "NOTICE"
        ),
    }
}

pub(super) fn is_folder(part: &str) -> bool {
    PROJECT_FOLDERS.contains(part)
}

pub(super) fn is_common_file(name: &str) -> bool {
    COMMON_FILES.contains(name.to_ascii_lowercase().as_str())
}

pub(super) fn is_host(part: &str) -> bool {
    find_ending(part).is_some_and(|e| TOP_LEVEL_DOMAINS.contains(e))
}

pub(super) fn is_media(part: &str) -> bool {
    MEDIA_TYPES.contains(part)
}

/// Whether a part of a path is a placeholder.
pub(super) fn is_stand_in(part: &str) -> bool {
    // `foo.test.ts` is a placeholder as much as `foo`.
    let stem = part.split('.').next().unwrap_or(part);
    PLACEHOLDER_PARTS.contains(stem.to_ascii_lowercase().as_str())
}

pub(super) fn is_program(word: &str) -> bool {
    SYSTEM_PROGRAMS.contains(word)
}

pub(super) fn is_name(word: &str) -> bool {
    GENERIC_NAMES.contains(word)
}

pub(super) fn is_root(word: &str) -> bool {
    LIBRARY_ROOTS.contains(word) || GENERIC_NAMES.contains(word)
}

pub(super) fn is_foreign_variable(word: &str) -> bool {
    let first = word.split('_').next().unwrap_or(word);
    FOREIGN_VARIABLE_PREFIXES.contains(first)
}

pub(super) fn is_thing(word: &str) -> bool {
    is_among(&NON_CODE_NOUNS, word)
}

pub(super) fn is_part(word: &str) -> bool {
    is_among(&CODE_NOUNS, word)
}

fn is_among(list: &HashSet<&str>, word: &str) -> bool {
    // The lists hold singular forms; a plural `s` is enough for these words.
    let lower = word.to_lowercase();
    list.contains(lower.as_str())
        || lower
            .strip_suffix('s')
            .is_some_and(|one| list.contains(&one))
}

pub(super) fn is_common_flag(flag: &str) -> bool {
    COMMON_FLAGS.contains(flag)
}
