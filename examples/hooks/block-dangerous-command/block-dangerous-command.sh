#!/bin/sh
# Denies shell commands that destroy a disk or rewrite shared history.
#
# Event: PreToolUse, matcher Bash. The event arrives on stdin as one line of
# JSON. Exit 2 denies the call and the model reads our stderr as the reason;
# exit 0 says nothing, so the usual permission rules decide.
#
# There is no `if` in the settings on purpose. A condition such as
# `Bash(rm *)` looks at the first word only, so it does not see `sudo rm`; and
# it starts its handler for every command it cannot parse. It saves a process,
# it does not decide. A guard has to look for itself.

# Bytes are bytes, whatever the locale.
export LC_ALL=C

# The text of the command, still with JSON's escapes. A quote inside a JSON
# string is always written \", so `"command":"` can only be the real key.
command=$(sed -nE 's/.*"command":[[:space:]]*"(([^"\\]|\\.)*)".*/\1/p')

# Without a command we cannot judge. Deny, as onFailure would.
if [ -z "$command" ]; then
    echo "Blocked: the command could not be read from the event." >&2
    exit 2
fi

reason=$(printf '%s\n' "$command" | awk '
{
    # Undo the escapes that matter, and make every kind of blank a blank.
    # \\ becomes a mark first, so that \\n is a backslash and an n.
    gsub(/\\\\/, "\001"); gsub(/\\n/, ";"); gsub(/\\[tr]/, " "); gsub(/\\"/, "\"")
    gsub(/\001/, "\\"); gsub(/\$[{]HOME[}]/, "$HOME")
    # One simple command per part; quotes and backslashes do not hide a word.
    count = split($0, parts, /[;&|()`{}]+|\$\(/)
    for (i = 1; i <= count; i++) {
        text = parts[i]
        gsub(/["\047\\]/, "", text)
        words = split(text, word, /[ \t]+/)
        judge()
    }
}

# Looks at word[1..words]. Programs that start another one are passed over.
function judge(    at, name) {
    for (at = 1; at <= words; at++) {
        name = word[at]
        sub(/.*\//, "", name)
        if (name == "rm") { remove(at + 1); return }
        if (name == "git") { push(at + 1); return }
        if (name ~ /^(dd|tee|cp)$/) { device(at + 1); return }
        if (name ~ /^mkfs/) { say("formatting a disk"); return }
        if (name !~ /^(sudo|doas|env|command|builtin|exec|eval|nohup|nice|time|timeout|xargs|sh|bash|dash|zsh|then|do|else|!)$/ \
            && word[at] !~ /^-/ && word[at] !~ /^[A-Za-z_][A-Za-z_0-9]*=/ \
            && word[at] !~ /^[0-9.]+[smhd]?$/ && word[at] != "" \
            && (at == 1 || word[at - 1] !~ /^-[A-Za-z]$/)) return
    }
}

# rm: recursive, and one of its targets is everything there is.
function remove(at,    recursive, target) {
    for (; at <= words; at++) {
        if (word[at] == "--recursive" || word[at] ~ /^-[A-Za-z]*[rR]/) recursive = 1
        else if (word[at] ~ /^(\/|~|\$HOME|\.\.?)\/*\.?\**$/ || word[at] == "*" \
            || word[at] ~ /^\/(bin|boot|dev|etc|home|lib|opt|root|sbin|sys|usr|var)\/?\**$/) target = word[at]
    }
    if (recursive && target != "") say("removing " target " and everything below it")
}

# git push: forced, unless a lease protects what others pushed meanwhile.
function push(at,    forced) {
    while (at <= words && word[at] ~ /^-/) at += (word[at] ~ /^-[cC]$/) ? 2 : 1
    if (word[at] != "push") return
    for (; at <= words; at++)
        if (word[at] == "--force" || word[at] ~ /^-[a-zA-Z]*f/ || word[at] ~ /^\+/) forced = 1
    if (forced) say("a forced push; use --force-with-lease on your own branch")
}

# Writing to a disk itself.
function device(at) {
    for (; at <= words; at++)
        if (word[at] ~ /^(of=)?\/dev\/(sd|hd|vd|nvme|mmcblk|disk)/) say("writing to a disk device")
}

function say(what) { if (!said) print what; said = 1 }
') || {
    # No verdict is not a yes: without a working awk nothing passes.
    echo "Blocked: the command could not be checked." >&2
    exit 2
}

if [ -n "$reason" ]; then
    echo "Blocked: $reason. Find a narrower command, or ask the user to run it." >&2
    exit 2
fi
exit 0
