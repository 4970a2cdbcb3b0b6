# Short names; the logic is in cargo, xtask and .ci/run.

# List the recipes.
default:
    @just --list

# Format, lint, invariants: what to run before every commit.
check:
    cargo fmt --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo xtask tidy

# The tests, or those whose name contains the filter.
test *filter:
    cargo test {{filter}}

# The same tests with nextest, where it is installed.
nextest *args:
    cargo nextest run --workspace {{args}}

# Format in place.
fmt:
    cargo fmt

# The API documentation, warnings included.
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --workspace

# What is generated and committed: manual pages, completions, schemas.
pages:
    rm -rf docs/man && cargo run --quiet -- man docs/man
    mkdir -p docs/completions
    cargo run --quiet -- completions bash > docs/completions/remora.bash
    cargo run --quiet -- completions zsh > docs/completions/_remora
    cargo run --quiet -- completions fish > docs/completions/remora.fish
    for name in $(cargo run --quiet -- hooks schema); do cargo run --quiet -- hooks schema $name > docs/schemas/$name.json; done

# The engine beside the real client.
client *args:
    cargo xtask client {{args}}

# One event through your hooks, for example: just try PreToolUse --tool Bash --command ls
try *args:
    cargo run --quiet -- hooks try {{args}}

# The tour.
demo:
    cargo run --release -- demo

# Licences, advisories and sources of the dependencies.
deny:
    cargo deny check

# Everything the gate runs.
ci:
    .ci/run
