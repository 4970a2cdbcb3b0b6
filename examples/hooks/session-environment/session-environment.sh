#!/bin/sh
# Gives every shell command of the session the right environment, and tells the
# model where it is.
#
# Events: SessionStart and CwdChanged. $CLAUDE_ENV_FILE is this handler's own
# file; the client reads it before each shell command. What we print on
# SessionStart becomes context; on CwdChanged it goes nowhere, which is fine.

cat >/dev/null

# The nearest folder at or above the working directory with a manifest, not
# higher than the project; without one, the working directory itself.
package=$PWD
while [ ! -f "$package/Cargo.toml" ] && [ ! -f "$package/package.json" ]; do
    case $package in
    "$CLAUDE_PROJECT_DIR" | /)
        package=$PWD
        break
        ;;
    esac
    package=$(dirname "$package")
done

# The value as one word for the shell, whatever is in it.
quoted() {
    printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"
}

if [ -n "$CLAUDE_ENV_FILE" ]; then
    {
        # A pager waits for a key that nobody presses.
        echo "export PAGER=cat"
        echo "export GIT_PAGER=cat"
        printf 'export PACKAGE_DIR=%s\n' "$(quoted "$package")"
        # Tools the package brings along, before those of the system.
        for tools in .venv/bin node_modules/.bin; do
            if [ -d "$package/$tools" ]; then
                printf 'export PATH=%s:"$PATH"\n' "$(quoted "$package/$tools")"
            fi
        done
    } >>"$CLAUDE_ENV_FILE"
fi

if [ -f "$package/Cargo.toml" ]; then
    echo "Package directory: $package (test with: cargo test)"
elif [ -f "$package/package.json" ]; then
    echo "Package directory: $package (test with: npm test)"
else
    echo "Package directory: $package"
fi
