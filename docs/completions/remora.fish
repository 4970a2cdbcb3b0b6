# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_remora_global_optspecs
    string join \n h/help V/version
end

function __fish_remora_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_remora_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_remora_using_subcommand
    set -l cmd (__fish_remora_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c remora -n "__fish_remora_needs_command" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_needs_command" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_needs_command" -f -a "install" -d 'Install Remora\'s hooks into an agent\'s settings, and test them'
complete -c remora -n "__fish_remora_needs_command" -f -a "uninstall" -d 'Remove Remora\'s hooks from an agent\'s settings'
complete -c remora -n "__fish_remora_needs_command" -f -a "search" -d 'Search what was done, said and learned'
complete -c remora -n "__fish_remora_needs_command" -f -a "show" -d 'Show items in full'
complete -c remora -n "__fish_remora_needs_command" -f -a "sessions" -d 'List sessions, newest first'
complete -c remora -n "__fish_remora_needs_command" -f -a "timeline" -d 'Show what happened, in order'
complete -c remora -n "__fish_remora_needs_command" -f -a "recap" -d 'Summarize recent work by project and session'
complete -c remora -n "__fish_remora_needs_command" -f -a "context" -d 'Preview the context Remora would inject, and why'
complete -c remora -n "__fish_remora_needs_command" -f -a "ledger" -d 'Show what was injected into past sessions and whether it was used'
complete -c remora -n "__fish_remora_needs_command" -f -a "folders" -d 'Write notes on recent work into the folders of a project'
complete -c remora -n "__fish_remora_needs_command" -f -a "permissions" -d 'Show what was allowed and denied, and suggest permission rules'
complete -c remora -n "__fish_remora_needs_command" -f -a "pause" -d 'Pause capture and recall'
complete -c remora -n "__fish_remora_needs_command" -f -a "mcp" -d 'Serve memory to an agent over MCP, on stdin and stdout'
complete -c remora -n "__fish_remora_needs_command" -f -a "memory" -d 'Manage saved memories: add, list, check, review'
complete -c remora -n "__fish_remora_needs_command" -f -a "remember" -d 'Save a fact for later sessions; the same as `memory add`'
complete -c remora -n "__fish_remora_needs_command" -f -a "wrong" -d 'Mark an item as wrong, so that it is never injected again'
complete -c remora -n "__fish_remora_needs_command" -f -a "edit" -d 'Replace an item\'s text with your own'
complete -c remora -n "__fish_remora_needs_command" -f -a "pin" -d 'Inject an item at the start of every session of a project'
complete -c remora -n "__fish_remora_needs_command" -f -a "forget" -d 'Delete items, sessions or projects for good, or a saved fact'
complete -c remora -n "__fish_remora_needs_command" -f -a "status" -d 'Show how much is stored and whether everything runs'
complete -c remora -n "__fish_remora_needs_command" -f -a "doctor" -d 'Diagnose problems and suggest fixes'
complete -c remora -n "__fish_remora_needs_command" -f -a "rebuild" -d 'Rebuild the database from archived events'
complete -c remora -n "__fish_remora_needs_command" -f -a "projects" -d 'List projects; join checkouts and keys of one'
complete -c remora -n "__fish_remora_needs_command" -f -a "prune" -d 'Remove old items and archived events'
complete -c remora -n "__fish_remora_needs_command" -f -a "audit" -d 'Scan everything stored for secrets'
complete -c remora -n "__fish_remora_needs_command" -f -a "export" -d 'Export everything as JSON lines'
complete -c remora -n "__fish_remora_needs_command" -f -a "import" -d 'Import past sessions and memories'
complete -c remora -n "__fish_remora_needs_command" -f -a "bench" -d 'Measure how well search and recall work'
complete -c remora -n "__fish_remora_needs_command" -f -a "worker" -d 'Control the background process that stores captured events'
complete -c remora -n "__fish_remora_needs_command" -f -a "models" -d 'Choose the model that prompt and agent hooks ask'
complete -c remora -n "__fish_remora_needs_command" -f -a "conformance" -d 'Play recorded cases against an engine'
complete -c remora -n "__fish_remora_needs_command" -f -a "instructions" -d 'Show which instruction files are in the prompt, and why'
complete -c remora -n "__fish_remora_needs_command" -f -a "demo" -d 'Play recorded sessions: what hooks do, what is stored, what the next session gets'
complete -c remora -n "__fish_remora_needs_command" -f -a "man" -d 'Write manual pages, one a verb'
complete -c remora -n "__fish_remora_needs_command" -f -a "completions" -d 'Print a completion script for your shell'
complete -c remora -n "__fish_remora_needs_command" -f -a "hooks" -d 'Test, lint, explain, edit and measure hooks'
complete -c remora -n "__fish_remora_needs_command" -f -a "config" -d 'Show and change settings'
complete -c remora -n "__fish_remora_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand install" -l scope -d 'For whom: user (all your projects) or project (this one, for everybody who shares it)' -r -f -a "user\t''
project\t''"
complete -c remora -n "__fish_remora_using_subcommand install" -l user -d 'The same as --scope user'
complete -c remora -n "__fish_remora_using_subcommand install" -l project -d 'The same as --scope project'
complete -c remora -n "__fish_remora_using_subcommand install" -l allow-reads -d 'Let the agent read memory without asking: its read-only tools, `remora search` and `remora show`'
complete -c remora -n "__fish_remora_using_subcommand install" -l no-mcp -d 'Leave out the MCP server'
complete -c remora -n "__fish_remora_using_subcommand install" -l dry-run -d 'Show what would change, and change nothing'
complete -c remora -n "__fish_remora_using_subcommand install" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand install" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c remora -n "__fish_remora_using_subcommand install" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand uninstall" -l scope -d 'From where: user (your own settings) or project (those of the current directory)' -r -f -a "user\t''
project\t''"
complete -c remora -n "__fish_remora_using_subcommand uninstall" -l user -d 'The same as --scope user'
complete -c remora -n "__fish_remora_using_subcommand uninstall" -l project -d 'The same as --scope project'
complete -c remora -n "__fish_remora_using_subcommand uninstall" -l purge -d 'Remove the data directory, too: all that was remembered, of all projects'
complete -c remora -n "__fish_remora_using_subcommand uninstall" -l yes -d 'With --purge: do not ask'
complete -c remora -n "__fish_remora_using_subcommand uninstall" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand uninstall" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c remora -n "__fish_remora_using_subcommand uninstall" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand search" -l project -d 'In the project with this key, name or path' -r
complete -c remora -n "__fish_remora_using_subcommand search" -l kind -d 'Only this kind; may be given several times' -r -f -a "decision\t''
preference\t''
correction\t''
bugfix\t''
feature\t''
refactor\t''
change\t''
discovery\t''
failure\t''
command\t''
task\t''
prompt\t''
message\t''
summary\t''
fix\t''
memory\t''
commit\t''"
complete -c remora -n "__fish_remora_using_subcommand search" -l file -d 'Only what read or changed this file, or a file in this folder' -r
complete -c remora -n "__fish_remora_using_subcommand search" -l since -d 'From this time on: 2026-11-15, "2026-11-15 14:30", today, yesterday, monday, "last week", 3d, 2h' -r
complete -c remora -n "__fish_remora_using_subcommand search" -l until -d 'Up to this time; a day or week counts to its end' -r
complete -c remora -n "__fish_remora_using_subcommand search" -l session -d 'Only this session; the beginning of its id is enough' -r
complete -c remora -n "__fish_remora_using_subcommand search" -l agent -d 'Only this agent' -r
complete -c remora -n "__fish_remora_using_subcommand search" -s n -l limit -d 'How many results at most' -r
complete -c remora -n "__fish_remora_using_subcommand search" -l tier -d 'How thorough: fast (words, nothing to load) or full (also embeddings)' -r -f -a "fast\t'Words and what items are about; nothing to load'
full\t'Also the embeddings of the encoder'"
complete -c remora -n "__fish_remora_using_subcommand search" -l all -d 'In every project, not only the one of the current directory'
complete -c remora -n "__fish_remora_using_subcommand search" -l explain -d 'Show what each score is made of'
complete -c remora -n "__fish_remora_using_subcommand search" -l open -d 'Show the best result in full'
complete -c remora -n "__fish_remora_using_subcommand search" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand search" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand search" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand show" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand show" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand show" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand sessions" -l project -d 'In the project with this key, name or path' -r
complete -c remora -n "__fish_remora_using_subcommand sessions" -l since -d 'From this time on: 2026-11-15, "2026-11-15 14:30", today, yesterday, monday, "last week", 3d, 2h' -r
complete -c remora -n "__fish_remora_using_subcommand sessions" -l until -d 'Up to this time; a day or week counts to its end' -r
complete -c remora -n "__fish_remora_using_subcommand sessions" -l agent -d 'Only this agent' -r
complete -c remora -n "__fish_remora_using_subcommand sessions" -s n -l limit -d 'How many sessions at most' -r
complete -c remora -n "__fish_remora_using_subcommand sessions" -l all -d 'In every project, not only the one of the current directory'
complete -c remora -n "__fish_remora_using_subcommand sessions" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand sessions" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand sessions" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand timeline" -l around -d 'What came before and after this item' -r
complete -c remora -n "__fish_remora_using_subcommand timeline" -l project -d 'In the project with this key, name or path' -r
complete -c remora -n "__fish_remora_using_subcommand timeline" -l since -d 'From this time on: 2026-11-15, "2026-11-15 14:30", today, yesterday, monday, "last week", 3d, 2h' -r
complete -c remora -n "__fish_remora_using_subcommand timeline" -l until -d 'Up to this time; a day or week counts to its end' -r
complete -c remora -n "__fish_remora_using_subcommand timeline" -l session -d 'Only this session; the beginning of its id is enough' -r
complete -c remora -n "__fish_remora_using_subcommand timeline" -l agent -d 'Only this agent' -r
complete -c remora -n "__fish_remora_using_subcommand timeline" -s n -l limit -d 'How many lines at most; with --around, before and after it each [default: 50, around: 10]' -r
complete -c remora -n "__fish_remora_using_subcommand timeline" -l all -d 'In every project, not only the one of the current directory'
complete -c remora -n "__fish_remora_using_subcommand timeline" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand timeline" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand timeline" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand recap" -l project -d 'In the project with this key, name or path' -r
complete -c remora -n "__fish_remora_using_subcommand recap" -l since -d 'From this time on: 2026-11-15, today, monday, "last week", 3d, 2h' -r
complete -c remora -n "__fish_remora_using_subcommand recap" -l until -d 'Up to this time; a day or week counts to its end' -r
complete -c remora -n "__fish_remora_using_subcommand recap" -l agent -d 'Only this agent' -r
complete -c remora -n "__fish_remora_using_subcommand recap" -l all -d 'In every project, not only the one of the current directory'
complete -c remora -n "__fish_remora_using_subcommand recap" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand recap" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand recap" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand context" -l prompt -d 'As for this prompt' -r
complete -c remora -n "__fish_remora_using_subcommand context" -l file -d 'As before this file is read' -r
complete -c remora -n "__fish_remora_using_subcommand context" -l error -d 'As after a command failed with this; `-` reads it from stdin' -r
complete -c remora -n "__fish_remora_using_subcommand context" -l command -d 'The command that failed' -r
complete -c remora -n "__fish_remora_using_subcommand context" -l task -d 'As for a subagent that begins with this task' -r
complete -c remora -n "__fish_remora_using_subcommand context" -l event -d 'As at this event' -r -f -a "start\t'A session begins'
resume\t'A session goes on'
compact\t'A session was compacted; needs --session'
subagent\t'A subagent begins; needs --session'"
complete -c remora -n "__fish_remora_using_subcommand context" -l session -d 'As within this session: what was injected already is left out' -r
complete -c remora -n "__fish_remora_using_subcommand context" -l agent -d 'As in a session of this agent [default: that of the project\'s last session]' -r
complete -c remora -n "__fish_remora_using_subcommand context" -l text -d 'Only the text, as a model would get it'
complete -c remora -n "__fish_remora_using_subcommand context" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand context" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c remora -n "__fish_remora_using_subcommand context" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand ledger" -l project -d 'In the project with this key, name or path' -r
complete -c remora -n "__fish_remora_using_subcommand ledger" -l session -d 'Only this session; the beginning of its id is enough' -r
complete -c remora -n "__fish_remora_using_subcommand ledger" -l since -d 'From this time on: 2026-11-15, "2026-11-15 14:30", today, yesterday, monday, "last week", 3d, 2h' -r
complete -c remora -n "__fish_remora_using_subcommand ledger" -l until -d 'Up to this time; a day or week counts to its end' -r
complete -c remora -n "__fish_remora_using_subcommand ledger" -s n -l limit -d 'How many of the last lines are shown; the sums are those of all' -r
complete -c remora -n "__fish_remora_using_subcommand ledger" -l all -d 'In every project, not only the one of the current directory'
complete -c remora -n "__fish_remora_using_subcommand ledger" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand ledger" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand ledger" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand folders" -l days -d 'How many days back' -r
complete -c remora -n "__fish_remora_using_subcommand folders" -l write -d 'Write the tables; without it they are only shown'
complete -c remora -n "__fish_remora_using_subcommand folders" -l clean -d 'Remove exactly what was written'
complete -c remora -n "__fish_remora_using_subcommand folders" -l dry-run -d 'Change nothing, and show what would change'
complete -c remora -n "__fish_remora_using_subcommand folders" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand folders" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand folders" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand permissions" -l project -d 'In the project with this key, name or path' -r
complete -c remora -n "__fish_remora_using_subcommand permissions" -l since -d 'From this time on: 2026-11-15, today, monday, "last week", 3d, 2h' -r
complete -c remora -n "__fish_remora_using_subcommand permissions" -l at-least -d 'Propose a rule after so many answers, all of them the same' -r
complete -c remora -n "__fish_remora_using_subcommand permissions" -l all -d 'In every project, not only the one of the current directory'
complete -c remora -n "__fish_remora_using_subcommand permissions" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand permissions" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand permissions" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand pause" -l project -d 'Only the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand pause" -l session -d 'Only this session' -r
complete -c remora -n "__fish_remora_using_subcommand pause" -l for -d 'End by itself after this time: 30m, 2h, 1d' -r
complete -c remora -n "__fish_remora_using_subcommand pause" -l recall -d 'Pause recall alone: capture goes on, nothing is injected'
complete -c remora -n "__fish_remora_using_subcommand pause" -l off -d 'End the pause'
complete -c remora -n "__fish_remora_using_subcommand pause" -l status -d 'Show what is paused, and change nothing'
complete -c remora -n "__fish_remora_using_subcommand pause" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand pause" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand pause" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand mcp" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand mcp" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand memory; and not __fish_seen_subcommand_from add list show edit accept rm check index path review help" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand memory; and not __fish_seen_subcommand_from add list show edit accept rm check index path review help" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand memory; and not __fish_seen_subcommand_from add list show edit accept rm check index path review help" -f -a "add" -d 'Save a fact for later sessions'
complete -c remora -n "__fish_remora_using_subcommand memory; and not __fish_seen_subcommand_from add list show edit accept rm check index path review help" -f -a "list" -d 'List what is saved'
complete -c remora -n "__fish_remora_using_subcommand memory; and not __fish_seen_subcommand_from add list show edit accept rm check index path review help" -f -a "show" -d 'Show memories in full'
complete -c remora -n "__fish_remora_using_subcommand memory; and not __fish_seen_subcommand_from add list show edit accept rm check index path review help" -f -a "edit" -d 'Change a memory'
complete -c remora -n "__fish_remora_using_subcommand memory; and not __fish_seen_subcommand_from add list show edit accept rm check index path review help" -f -a "accept" -d 'Accept memories that a repository brought along or an agent saved, after reading them'
complete -c remora -n "__fish_remora_using_subcommand memory; and not __fish_seen_subcommand_from add list show edit accept rm check index path review help" -f -a "rm" -d 'Remove memories'
complete -c remora -n "__fish_remora_using_subcommand memory; and not __fish_seen_subcommand_from add list show edit accept rm check index path review help" -f -a "check" -d 'Verify what memories name against the working tree'
complete -c remora -n "__fish_remora_using_subcommand memory; and not __fish_seen_subcommand_from add list show edit accept rm check index path review help" -f -a "index" -d 'Make the index true again'
complete -c remora -n "__fish_remora_using_subcommand memory; and not __fish_seen_subcommand_from add list show edit accept rm check index path review help" -f -a "path" -d 'Say where memories lie'
complete -c remora -n "__fish_remora_using_subcommand memory; and not __fish_seen_subcommand_from add list show edit accept rm check index path review help" -f -a "review" -d 'Propose what to move, join and remove; change nothing'
complete -c remora -n "__fish_remora_using_subcommand memory; and not __fish_seen_subcommand_from add list show edit accept rm check index path review help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from add" -l title -d 'What to call it [default: its first sentence]' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from add" -l name -d 'The name of its file [default: made from the title]' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from add" -l description -d 'One line that says when it matters' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from add" -l type -d 'What it is about [default: guessed from its words]' -r -f -a "user\t'Who you are: role, skills, preferences'
feedback\t'How you want work to be done'
project\t'Who does what, why, and until when'
reference\t'Where outside information lives'"
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from add" -l priority -d '1 to 5; 1 and 2 are core [default: 3]' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from add" -l scope -d 'Whose: project (yours, in this project), team (shared in the repository) or user (yours, everywhere)' -r -f -a "project\t''
team\t''
user\t''"
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from add" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from add" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from add" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from add" -l team -d 'The same as --scope team'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from add" -l user -d 'The same as --scope user'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from add" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from add" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from list" -l type -d 'Only this type' -r -f -a "user\t'Who you are: role, skills, preferences'
feedback\t'How you want work to be done'
project\t'Who does what, why, and until when'
reference\t'Where outside information lives'"
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from list" -l scope -d 'Whose: project (yours, in this project), team (shared in the repository) or user (yours, everywhere)' -r -f -a "project\t''
team\t''
user\t''"
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from list" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from list" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from list" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from list" -l core -d 'Only those of priority 1 and 2'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from list" -l team -d 'The same as --scope team'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from list" -l user -d 'The same as --scope user'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from list" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from show" -l scope -d 'Whose: project (yours, in this project), team (shared in the repository) or user (yours, everywhere)' -r -f -a "project\t''
team\t''
user\t''"
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from show" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from show" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from show" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from show" -l team -d 'The same as --scope team'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from show" -l user -d 'The same as --scope user'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from show" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from edit" -l text -d 'New words; `-` reads them from stdin. Without any flag, $EDITOR opens the file' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from edit" -l title -d 'A new title' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from edit" -l description -d 'A new description' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from edit" -l type -d 'Another type' -r -f -a "user\t'Who you are: role, skills, preferences'
feedback\t'How you want work to be done'
project\t'Who does what, why, and until when'
reference\t'Where outside information lives'"
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from edit" -l priority -d 'Another priority, 1 to 5' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from edit" -l scope -d 'Whose: project (yours, in this project), team (shared in the repository) or user (yours, everywhere)' -r -f -a "project\t''
team\t''
user\t''"
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from edit" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from edit" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from edit" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from edit" -l team -d 'The same as --scope team'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from edit" -l user -d 'The same as --scope user'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from edit" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from edit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from edit" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from accept" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from accept" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from accept" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from accept" -l all -d 'All that wait'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from accept" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from accept" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from accept" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from rm" -l scope -d 'Whose: project (yours, in this project), team (shared in the repository) or user (yours, everywhere)' -r -f -a "project\t''
team\t''
user\t''"
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from rm" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from rm" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from rm" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from rm" -l team -d 'The same as --scope team'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from rm" -l user -d 'The same as --scope user'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from rm" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from rm" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from rm" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from check" -l scope -d 'Whose: project (yours, in this project), team (shared in the repository) or user (yours, everywhere)' -r -f -a "project\t''
team\t''
user\t''"
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from check" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from check" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from check" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from check" -l all -d 'Also list what holds, and what cannot be decided'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from check" -l team -d 'The same as --scope team'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from check" -l user -d 'The same as --scope user'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from check" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from check" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from index" -l scope -d 'Whose: project (yours, in this project), team (shared in the repository) or user (yours, everywhere)' -r -f -a "project\t''
team\t''
user\t''"
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from index" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from index" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from index" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from index" -l check -d 'Only say whether it is true; exit code 1 when it is not'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from index" -l team -d 'The same as --scope team'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from index" -l user -d 'The same as --scope user'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from index" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from index" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from index" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from path" -l scope -d 'Whose: project (yours, in this project), team (shared in the repository) or user (yours, everywhere)' -r -f -a "project\t''
team\t''
user\t''"
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from path" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from path" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from path" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from path" -l team -d 'The same as --scope team'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from path" -l user -d 'The same as --scope user'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from path" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from path" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from review" -l apply -d 'Carry out one proposal, by its number or key, after showing its diff' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from review" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from review" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from review" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from review" -l dry-run -d 'With --apply: only show the diff'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from review" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from review" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from review" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from help" -f -a "add" -d 'Save a fact for later sessions'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from help" -f -a "list" -d 'List what is saved'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show memories in full'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from help" -f -a "edit" -d 'Change a memory'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from help" -f -a "accept" -d 'Accept memories that a repository brought along or an agent saved, after reading them'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from help" -f -a "rm" -d 'Remove memories'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from help" -f -a "check" -d 'Verify what memories name against the working tree'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from help" -f -a "index" -d 'Make the index true again'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from help" -f -a "path" -d 'Say where memories lie'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from help" -f -a "review" -d 'Propose what to move, join and remove; change nothing'
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand remember" -l title -d 'What to call it [default: its first sentence]' -r
complete -c remora -n "__fish_remora_using_subcommand remember" -l name -d 'The name of its file [default: made from the title]' -r
complete -c remora -n "__fish_remora_using_subcommand remember" -l description -d 'One line that says when it matters' -r
complete -c remora -n "__fish_remora_using_subcommand remember" -l type -d 'What it is about [default: guessed from its words]' -r -f -a "user\t'Who you are: role, skills, preferences'
feedback\t'How you want work to be done'
project\t'Who does what, why, and until when'
reference\t'Where outside information lives'"
complete -c remora -n "__fish_remora_using_subcommand remember" -l priority -d '1 to 5; 1 and 2 are core [default: 3]' -r
complete -c remora -n "__fish_remora_using_subcommand remember" -l scope -d 'Whose: project (yours, in this project), team (shared in the repository) or user (yours, everywhere)' -r -f -a "project\t''
team\t''
user\t''"
complete -c remora -n "__fish_remora_using_subcommand remember" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand remember" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand remember" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand remember" -l team -d 'The same as --scope team'
complete -c remora -n "__fish_remora_using_subcommand remember" -l user -d 'The same as --scope user'
complete -c remora -n "__fish_remora_using_subcommand remember" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand remember" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c remora -n "__fish_remora_using_subcommand remember" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand wrong" -l because -d 'Why it is wrong; shown wherever the item would have come' -r
complete -c remora -n "__fish_remora_using_subcommand wrong" -l undo -d 'Take it back'
complete -c remora -n "__fish_remora_using_subcommand wrong" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand wrong" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand wrong" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand edit" -l title -d 'The new title' -r
complete -c remora -n "__fish_remora_using_subcommand edit" -l text -d 'The new text' -r
complete -c remora -n "__fish_remora_using_subcommand edit" -l undo -d 'Bring the extracted words back'
complete -c remora -n "__fish_remora_using_subcommand edit" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand edit" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand edit" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand pin" -l off -d 'End the pin'
complete -c remora -n "__fish_remora_using_subcommand pin" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand pin" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand pin" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand forget" -l session -d 'Everything of this session' -r
complete -c remora -n "__fish_remora_using_subcommand forget" -l project -d 'Everything of the project with this key, name or path; with --matching, only in it' -r
complete -c remora -n "__fish_remora_using_subcommand forget" -l matching -d 'Everything with all of these words' -r
complete -c remora -n "__fish_remora_using_subcommand forget" -l scope -d 'Whose: project (yours, in this project), team (shared in the repository) or user (yours, everywhere)' -r -f -a "project\t''
team\t''
user\t''"
complete -c remora -n "__fish_remora_using_subcommand forget" -l cwd -d 'The directory that a saved memory is of [default: the current one]' -r -F
complete -c remora -n "__fish_remora_using_subcommand forget" -l home -d 'The home directory that a saved memory is in [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand forget" -l all -d 'With --matching: in all projects'
complete -c remora -n "__fish_remora_using_subcommand forget" -s y -l yes -d 'Do not ask'
complete -c remora -n "__fish_remora_using_subcommand forget" -l dry-run -d 'Show what would be deleted, and delete nothing'
complete -c remora -n "__fish_remora_using_subcommand forget" -l team -d 'The same as --scope team'
complete -c remora -n "__fish_remora_using_subcommand forget" -l user -d 'The same as --scope user'
complete -c remora -n "__fish_remora_using_subcommand forget" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand forget" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand forget" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand status" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand status" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand status" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand doctor" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand doctor" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand rebuild" -l vectors -d 'Embed all items again, for search, and leave the items as they are'
complete -c remora -n "__fish_remora_using_subcommand rebuild" -l missing -d 'With --vectors: only items that still wait for it'
complete -c remora -n "__fish_remora_using_subcommand rebuild" -l dry-run -d 'Say what would change, and change nothing'
complete -c remora -n "__fish_remora_using_subcommand rebuild" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand rebuild" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand rebuild" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand projects; and not __fish_seen_subcommand_from join leave help" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand projects; and not __fish_seen_subcommand_from join leave help" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand projects; and not __fish_seen_subcommand_from join leave help" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand projects; and not __fish_seen_subcommand_from join leave help" -f -a "join" -d 'Let this checkout share the memory of its remote, or bring the memory of an old key under a new one'
complete -c remora -n "__fish_remora_using_subcommand projects; and not __fish_seen_subcommand_from join leave help" -f -a "leave" -d 'Give a checkout a memory of its own from now on'
complete -c remora -n "__fish_remora_using_subcommand projects; and not __fish_seen_subcommand_from join leave help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand projects; and __fish_seen_subcommand_from join" -l dry-run -d 'Say what would go where, and change nothing'
complete -c remora -n "__fish_remora_using_subcommand projects; and __fish_seen_subcommand_from join" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand projects; and __fish_seen_subcommand_from join" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand projects; and __fish_seen_subcommand_from join" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand projects; and __fish_seen_subcommand_from leave" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand projects; and __fish_seen_subcommand_from leave" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand projects; and __fish_seen_subcommand_from leave" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand projects; and __fish_seen_subcommand_from help" -f -a "join" -d 'Let this checkout share the memory of its remote, or bring the memory of an old key under a new one'
complete -c remora -n "__fish_remora_using_subcommand projects; and __fish_seen_subcommand_from help" -f -a "leave" -d 'Give a checkout a memory of its own from now on'
complete -c remora -n "__fish_remora_using_subcommand projects; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand prune" -l older-than -d 'Remove what is older, such as `90d`, `12w` or `2026-01-31` [default: retention.days]' -r
complete -c remora -n "__fish_remora_using_subcommand prune" -l max-mb -d 'Remove the oldest until the database is smaller, in megabytes [default: `retention.max_mb`]' -r
complete -c remora -n "__fish_remora_using_subcommand prune" -l project -d 'Only in the project with this key, name or path' -r
complete -c remora -n "__fish_remora_using_subcommand prune" -l everything -d 'Also decisions, preferences, corrections, fixes and memories'
complete -c remora -n "__fish_remora_using_subcommand prune" -l dry-run -d 'Say what would go, and remove nothing'
complete -c remora -n "__fish_remora_using_subcommand prune" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand prune" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand prune" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand audit" -l fix -d 'Take out what is found'
complete -c remora -n "__fish_remora_using_subcommand audit" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand audit" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand audit" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand export" -l project -d 'Only the project with this key, name or path' -r
complete -c remora -n "__fish_remora_using_subcommand export" -l since -d 'Only what is newer, such as `7d`, `yesterday` or `2026-01-31`' -r
complete -c remora -n "__fish_remora_using_subcommand export" -l out -d 'Write to this file instead of stdout' -r -F
complete -c remora -n "__fish_remora_using_subcommand export" -l events -d 'Also the raw events of the archive, redacted'
complete -c remora -n "__fish_remora_using_subcommand export" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand export" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand import; and not __fish_seen_subcommand_from jsonl claude-code codex claude-mem git memory help" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand import; and not __fish_seen_subcommand_from jsonl claude-code codex claude-mem git memory help" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand import; and not __fish_seen_subcommand_from jsonl claude-code codex claude-mem git memory help" -f -a "jsonl" -d 'JSON lines: an export of Remora, or messages of conversations'
complete -c remora -n "__fish_remora_using_subcommand import; and not __fish_seen_subcommand_from jsonl claude-code codex claude-mem git memory help" -f -a "claude-code" -d 'Past sessions of Claude Code, from its transcripts'
complete -c remora -n "__fish_remora_using_subcommand import; and not __fish_seen_subcommand_from jsonl claude-code codex claude-mem git memory help" -f -a "codex" -d 'Past sessions of Codex CLI, from its transcripts'
complete -c remora -n "__fish_remora_using_subcommand import; and not __fish_seen_subcommand_from jsonl claude-code codex claude-mem git memory help" -f -a "claude-mem" -d 'The database of claude-mem'
complete -c remora -n "__fish_remora_using_subcommand import; and not __fish_seen_subcommand_from jsonl claude-code codex claude-mem git memory help" -f -a "git" -d 'What commits say: messages with a body, reverts, pull requests'
complete -c remora -n "__fish_remora_using_subcommand import; and not __fish_seen_subcommand_from jsonl claude-code codex claude-mem git memory help" -f -a "memory" -d 'A folder of Markdown notes, as saved memories'
complete -c remora -n "__fish_remora_using_subcommand import; and not __fish_seen_subcommand_from jsonl claude-code codex claude-mem git memory help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from jsonl" -l project -d 'Put everything into the project with this key, name or path; a new key begins a project [default: as the lines say]' -r
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from jsonl" -l skip-bad -d 'Leave out lines that cannot be read, instead of refusing the file'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from jsonl" -l no-vectors -d 'Leave embedding to the worker'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from jsonl" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from jsonl" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from jsonl" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from claude-code" -l project -d 'Put everything into the project with this key, name or path; a new key begins a project [default: that of the folder each was written in]' -r
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from claude-code" -l since -d 'Only what happened since: 2026-11-15, yesterday, "last week", 30d' -r
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from claude-code" -l dry-run -d 'Only say what would be read'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from claude-code" -l no-vectors -d 'Leave embedding to the worker'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from claude-code" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from claude-code" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from claude-code" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from codex" -l project -d 'Put everything into the project with this key, name or path; a new key begins a project [default: that of the folder each was written in]' -r
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from codex" -l since -d 'Only what happened since: 2026-11-15, yesterday, "last week", 30d' -r
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from codex" -l dry-run -d 'Only say what would be read'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from codex" -l no-vectors -d 'Leave embedding to the worker'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from codex" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from codex" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from codex" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from claude-mem" -l project -d 'Put their project THEIRS into OURS (a key, name or path), or everything into OURS; moves what was imported before [default: that of this folder or any other, if it has the same name]' -r
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from claude-mem" -l no-vectors -d 'Leave embedding to the worker'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from claude-mem" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from claude-mem" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from claude-mem" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from git" -l project -d 'The checkout, or a project by key or name [default: that of this folder]' -r
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from git" -l since -d 'Only commits written since: 2026-11-15, yesterday, "last week", 30d' -r
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from git" -l limit -d 'The newest so many commits that say something' -r
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from git" -l dry-run -d 'Only say what would be imported'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from git" -l no-vectors -d 'Leave embedding to the worker'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from git" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from git" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from git" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from memory" -l scope -d 'Whose: project (yours, in this project), team (shared in the repository) or user (yours, everywhere)' -r -f -a "project\t''
team\t''
user\t''"
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from memory" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from memory" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from memory" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from memory" -l split -d 'Make a memory of every part under a `##` heading'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from memory" -l dry-run -d 'Only say what would be saved'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from memory" -l team -d 'The same as --scope team'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from memory" -l user -d 'The same as --scope user'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from memory" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from memory" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from memory" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from help" -f -a "jsonl" -d 'JSON lines: an export of Remora, or messages of conversations'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from help" -f -a "claude-code" -d 'Past sessions of Claude Code, from its transcripts'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from help" -f -a "codex" -d 'Past sessions of Codex CLI, from its transcripts'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from help" -f -a "claude-mem" -d 'The database of claude-mem'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from help" -f -a "git" -d 'What commits say: messages with a body, reverts, pull requests'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from help" -f -a "memory" -d 'A folder of Markdown notes, as saved memories'
complete -c remora -n "__fish_remora_using_subcommand import; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand bench; and not __fish_seen_subcommand_from retrieval recall decisions replay help" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand bench; and not __fish_seen_subcommand_from retrieval recall decisions replay help" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand bench; and not __fish_seen_subcommand_from retrieval recall decisions replay help" -f -a "retrieval" -d 'Import a corpus, ask the queries, write what was found'
complete -c remora -n "__fish_remora_using_subcommand bench; and not __fish_seen_subcommand_from retrieval recall decisions replay help" -f -a "recall" -d 'Play situations, and compare what would be injected with what should be'
complete -c remora -n "__fish_remora_using_subcommand bench; and not __fish_seen_subcommand_from retrieval recall decisions replay help" -f -a "decisions" -d 'Play chats in which something was decided, and see whether a task gets the decision'
complete -c remora -n "__fish_remora_using_subcommand bench; and not __fish_seen_subcommand_from retrieval recall decisions replay help" -f -a "replay" -d 'Play past sessions in the order of time, and see whether what would have been injected was of use'
complete -c remora -n "__fish_remora_using_subcommand bench; and not __fish_seen_subcommand_from retrieval recall decisions replay help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from retrieval" -l set -d 'A folder with corpus.jsonl and queries.jsonl; may be given several times' -r -F
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from retrieval" -l corpus -d 'Messages, one a line: id, conv, session, seq, timestamp, speaker, text; as often as --queries' -r -F
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from retrieval" -l queries -d 'Queries, one a line: id, conv, category, text, relevant' -r -F
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from retrieval" -l tier -d 'Which tier of search is asked' -r -f -a "fast\t'Words and what items are about; nothing to load'
full\t'Also the embeddings of the encoder'"
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from retrieval" -l out -d 'Where results go, one line a query: id, results, ms; with several sets a folder' -r -F
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from retrieval" -l ablate -d 'Ask again with each part of the ranking switched off'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from retrieval" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from retrieval" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from retrieval" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from recall" -l set -d 'A folder with halves.json and one folder a project; in Remora\'s repository `fixtures/recall` is meant' -r -F
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from recall" -l half -d 'Only the projects of this half' -r -f -a "dev\t'Where thresholds may be chosen'
test\t'Where they are reported'"
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from recall" -l tier -d 'Which tier of search is asked' -r -f -a "fast\t'Words and what items are about; nothing to load'
full\t'Also the embeddings of the encoder'"
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from recall" -l verbose -d 'Tell of each situation what was missed and what was wrong'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from recall" -l rows -d 'List what is stored of each project with its labels, and judge nothing'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from recall" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from recall" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from recall" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from decisions" -l corpus -d 'Messages of chats, one a line: id, session, seq, timestamp, speaker, text' -r -F
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from decisions" -l queries -d 'Tasks, one a line: id, category, text, and in `relevant` the messages of the chats that decided it' -r -F
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from decisions" -l tier -d 'Which tier of search is asked' -r -f -a "fast\t'Words and what items are about; nothing to load'
full\t'Also the embeddings of the encoder'"
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from decisions" -l verbose -d 'Show for each task what is injected and what was considered'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from decisions" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from decisions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from decisions" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from replay" -l transcripts -d 'A folder with Claude Code transcripts; each folder directly in it is a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from replay" -l tier -d 'Which tier of search is asked' -r -f -a "fast\t'Words and what items are about; nothing to load'
full\t'Also the embeddings of the encoder'"
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from replay" -l sample -d 'How many injections at prompts, and how many after failures, are written out to be read' -r
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from replay" -l out -d 'Where they go; they hold words of the sessions' -r -F
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from replay" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from replay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from replay" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "retrieval" -d 'Import a corpus, ask the queries, write what was found'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "recall" -d 'Play situations, and compare what would be injected with what should be'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "decisions" -d 'Play chats in which something was decided, and see whether a task gets the decision'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "replay" -d 'Play past sessions in the order of time, and see whether what would have been injected was of use'
complete -c remora -n "__fish_remora_using_subcommand bench; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand worker; and not __fish_seen_subcommand_from start stop restart status logs run drain retry help" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand worker; and not __fish_seen_subcommand_from start stop restart status logs run drain retry help" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand worker; and not __fish_seen_subcommand_from start stop restart status logs run drain retry help" -f -a "start" -d 'Start it, unless it runs'
complete -c remora -n "__fish_remora_using_subcommand worker; and not __fish_seen_subcommand_from start stop restart status logs run drain retry help" -f -a "stop" -d 'End it; what waits stays in the spool'
complete -c remora -n "__fish_remora_using_subcommand worker; and not __fish_seen_subcommand_from start stop restart status logs run drain retry help" -f -a "restart" -d 'End it and start it again'
complete -c remora -n "__fish_remora_using_subcommand worker; and not __fish_seen_subcommand_from start stop restart status logs run drain retry help" -f -a "status" -d 'Say whether it runs, and what it has done'
complete -c remora -n "__fish_remora_using_subcommand worker; and not __fish_seen_subcommand_from start stop restart status logs run drain retry help" -f -a "logs" -d 'Show what it wrote down'
complete -c remora -n "__fish_remora_using_subcommand worker; and not __fish_seen_subcommand_from start stop restart status logs run drain retry help" -f -a "run" -d 'Be the worker, in this process'
complete -c remora -n "__fish_remora_using_subcommand worker; and not __fish_seen_subcommand_from start stop restart status logs run drain retry help" -f -a "drain" -d 'Wait until everything captured so far can be searched'
complete -c remora -n "__fish_remora_using_subcommand worker; and not __fish_seen_subcommand_from start stop restart status logs run drain retry help" -f -a "retry" -d 'Try dead letters again'
complete -c remora -n "__fish_remora_using_subcommand worker; and not __fish_seen_subcommand_from start stop restart status logs run drain retry help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from start" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from start" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from start" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from stop" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from stop" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from stop" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from restart" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from restart" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from restart" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from status" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from status" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from logs" -s n -l lines -d 'The last lines to show' -r
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from logs" -l event -d 'Only lines about this event' -r
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from logs" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from logs" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from run" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from drain" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from drain" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from drain" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from retry" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from retry" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from retry" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from help" -f -a "start" -d 'Start it, unless it runs'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from help" -f -a "stop" -d 'End it; what waits stays in the spool'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from help" -f -a "restart" -d 'End it and start it again'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from help" -f -a "status" -d 'Say whether it runs, and what it has done'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from help" -f -a "logs" -d 'Show what it wrote down'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from help" -f -a "run" -d 'Be the worker, in this process'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from help" -f -a "drain" -d 'Wait until everything captured so far can be searched'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from help" -f -a "retry" -d 'Try dead letters again'
complete -c remora -n "__fish_remora_using_subcommand worker; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand models; and not __fish_seen_subcommand_from use off show test help" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand models; and not __fish_seen_subcommand_from use off show test help" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand models; and not __fish_seen_subcommand_from use off show test help" -f -a "use" -d 'Switch a model on: from now on, hooks that ask one send it their event'
complete -c remora -n "__fish_remora_using_subcommand models; and not __fish_seen_subcommand_from use off show test help" -f -a "off" -d 'Ask no model'
complete -c remora -n "__fish_remora_using_subcommand models; and not __fish_seen_subcommand_from use off show test help" -f -a "show" -d 'Show what is configured, and where its key comes from'
complete -c remora -n "__fish_remora_using_subcommand models; and not __fish_seen_subcommand_from use off show test help" -f -a "test" -d 'Ask the configured model one short question'
complete -c remora -n "__fish_remora_using_subcommand models; and not __fish_seen_subcommand_from use off show test help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from use" -l model -d 'The model for questions that name none' -r
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from use" -l key-file -d 'A file with the key, readable by you alone' -r -F
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from use" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from use" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from use" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from off" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from off" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from off" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from show" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from test" -l timeout -d 'How many seconds it may take' -r
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from test" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from test" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from test" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from help" -f -a "use" -d 'Switch a model on: from now on, hooks that ask one send it their event'
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from help" -f -a "off" -d 'Ask no model'
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show what is configured, and where its key comes from'
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from help" -f -a "test" -d 'Ask the configured model one short question'
complete -c remora -n "__fish_remora_using_subcommand models; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand conformance" -l engine -d 'The engine\'s command line, run by sh once a case' -r
complete -c remora -n "__fish_remora_using_subcommand conformance" -l cases -d 'The recorded cases' -r -F
complete -c remora -n "__fish_remora_using_subcommand conformance" -l filter -d 'Only cases whose name or family holds this text' -r
complete -c remora -n "__fish_remora_using_subcommand conformance" -s j -l jobs -d 'How many cases are played at once [default: two a core]' -r
complete -c remora -n "__fish_remora_using_subcommand conformance" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand conformance" -l as-engine -d 'Answer one request on stdin with this engine'
complete -c remora -n "__fish_remora_using_subcommand conformance" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand conformance" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand instructions; and not __fish_seen_subcommand_from show why lint approve load help" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand instructions; and not __fish_seen_subcommand_from show why lint approve load help" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand instructions; and not __fish_seen_subcommand_from show why lint approve load help" -f -a "show" -d 'List what is in the prompt, in order, with the reason'
complete -c remora -n "__fish_remora_using_subcommand instructions; and not __fish_seen_subcommand_from show why lint approve load help" -f -a "why" -d 'Say whether a file is in the prompt, and why or why not (exit 1: there is no such file)'
complete -c remora -n "__fish_remora_using_subcommand instructions; and not __fish_seen_subcommand_from show why lint approve load help" -f -a "lint" -d 'Find what should be fixed: dead imports, rules that never match, contradictions (exit 1: an error)'
complete -c remora -n "__fish_remora_using_subcommand instructions; and not __fish_seen_subcommand_from show why lint approve load help" -f -a "approve" -d 'Allow this project\'s files to import files from outside it'
complete -c remora -n "__fish_remora_using_subcommand instructions; and not __fish_seen_subcommand_from show why lint approve load help" -f -a "load" -d 'Load as a session would, and run hooks for each file'
complete -c remora -n "__fish_remora_using_subcommand instructions; and not __fish_seen_subcommand_from show why lint approve load help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from show" -l format -d 'How to show it' -r -f -a "tree\t'One line per file, with its cost'
prompt\t'The text that a model reads'
system\t'Our own system-prompt text, each part with its source'
json\t'Everything, for programs'"
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from show" -l budget -d 'How many tokens instructions may cost; bars show shares of it' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from show" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from show" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from show" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from show" -l managed -d 'The directory of managed files [default: the system\'s own]' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from show" -l add-dir -d 'Directories that the session adds' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from show" -l setting-sources -d 'Which of user, project and local are read, separated by commas' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from show" -l settings -d 'One more settings layer' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from show" -l agent -d 'What this subagent gets, instead of the session itself' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from show" -l read -d 'A file that the session reads; may be given several times, in order' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from show" -l json -d 'The same as --format json'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from show" -l bare -d 'As with the client\'s --bare: nothing is loaded'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from why" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from why" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from why" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from why" -l managed -d 'The directory of managed files [default: the system\'s own]' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from why" -l add-dir -d 'Directories that the session adds' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from why" -l setting-sources -d 'Which of user, project and local are read, separated by commas' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from why" -l settings -d 'One more settings layer' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from why" -l agent -d 'What this subagent gets, instead of the session itself' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from why" -l read -d 'A file that the session reads; may be given several times, in order' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from why" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from why" -l bare -d 'As with the client\'s --bare: nothing is loaded'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from why" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from why" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from lint" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from lint" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from lint" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from lint" -l managed -d 'The directory of managed files [default: the system\'s own]' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from lint" -l add-dir -d 'Directories that the session adds' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from lint" -l setting-sources -d 'Which of user, project and local are read, separated by commas' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from lint" -l settings -d 'One more settings layer' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from lint" -l agent -d 'What this subagent gets, instead of the session itself' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from lint" -l read -d 'A file that the session reads; may be given several times, in order' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from lint" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from lint" -l bare -d 'As with the client\'s --bare: nothing is loaded'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from lint" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from lint" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from approve" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from approve" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from approve" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from approve" -l managed -d 'The directory of managed files [default: the system\'s own]' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from approve" -l add-dir -d 'Directories that the session adds' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from approve" -l setting-sources -d 'Which of user, project and local are read, separated by commas' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from approve" -l settings -d 'One more settings layer' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from approve" -l agent -d 'What this subagent gets, instead of the session itself' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from approve" -l read -d 'A file that the session reads; may be given several times, in order' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from approve" -l revoke -d 'Take it back'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from approve" -l dry-run -d 'Only list what would be allowed'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from approve" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from approve" -l bare -d 'As with the client\'s --bare: nothing is loaded'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from approve" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from approve" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from load" -l reset -d 'Play a compaction, or a cleared cache, after the reads' -r -f -a "compact\t'The conversation was compacted: hooks hear of the files again'
clear\t'A cache was cleared: hooks hear nothing'"
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from load" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from load" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from load" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from load" -l managed -d 'The directory of managed files [default: the system\'s own]' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from load" -l add-dir -d 'Directories that the session adds' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from load" -l setting-sources -d 'Which of user, project and local are read, separated by commas' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from load" -l settings -d 'One more settings layer' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from load" -l agent -d 'What this subagent gets, instead of the session itself' -r
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from load" -l read -d 'A file that the session reads; may be given several times, in order' -r -F
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from load" -l fire -d 'Run the hooks that listen to `InstructionsLoaded`'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from load" -l json -d 'Print JSON lines instead of text'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from load" -l bare -d 'As with the client\'s --bare: nothing is loaded'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from load" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from load" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from help" -f -a "show" -d 'List what is in the prompt, in order, with the reason'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from help" -f -a "why" -d 'Say whether a file is in the prompt, and why or why not (exit 1: there is no such file)'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from help" -f -a "lint" -d 'Find what should be fixed: dead imports, rules that never match, contradictions (exit 1: an error)'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from help" -f -a "approve" -d 'Allow this project\'s files to import files from outside it'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from help" -f -a "load" -d 'Load as a session would, and run hooks for each file'
complete -c remora -n "__fish_remora_using_subcommand instructions; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand demo" -l json -d 'Print JSON lines instead of text'
complete -c remora -n "__fish_remora_using_subcommand demo" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand demo" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand man" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand man" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand completions" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand completions" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -f -a "lint" -d 'Find what is wrong, or likely not meant, in the hooks of settings files'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -f -a "test" -d 'Play the test cases of hooks and compare what they decide'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -f -a "record" -d 'Record every event of a session, as a hook'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -f -a "serve" -d 'Serve sessions to an agent in any language, on stdin and stdout'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -f -a "ui" -d 'Browse and edit hooks in the terminal'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -f -a "remove" -d 'Take a hook out of its settings file'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -f -a "enable" -d 'Switch a hook on again'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -f -a "disable" -d 'Switch a hook off, and keep it in its settings file'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -f -a "try" -d 'Build an event from flags and run (or explain) it'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -f -a "add" -d 'Put a hook into a settings file'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -f -a "run" -d 'Run one event\'s handlers for real and print the merged decision'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -f -a "explain" -d 'Say for every handler of an event whether it would run, and why; runs nothing'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -f -a "list" -d 'List all hooks by event, with the layer they come from'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -f -a "health" -d 'Show how hooks fared in past sessions, failing ones first'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -f -a "replay" -d 'Play recorded events again and show what would be decided otherwise'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -f -a "schema" -d 'Print a JSON schema of what hooks read and write'
complete -c remora -n "__fish_remora_using_subcommand hooks; and not __fish_seen_subcommand_from lint test record serve ui remove enable disable try add run explain list health replay schema help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from lint" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from lint" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from lint" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from lint" -l managed -d 'The directory of managed settings [default: the system\'s own]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from lint" -l settings -d 'One more settings layer' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from lint" -l plugin -d 'A plugin directory; may be given several times' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from lint" -l setting-sources -d 'Which of user, project and local are read, separated by commas' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from lint" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from lint" -l sarif -d 'Print SARIF 2.1.0 instead of text'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from lint" -l strict -d 'Fail on warnings too'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from lint" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from lint" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from test" -l filter -d 'Only cases whose name holds this text' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from test" -s j -l jobs -d 'How many cases are played at once [default: one a core]' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from test" -l junit -d 'Also write the results to this file, as XML in the form of `JUnit`' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from test" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from test" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from test" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from test" -l managed -d 'The directory of managed settings [default: the system\'s own]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from test" -l settings -d 'One more settings layer' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from test" -l plugin -d 'A plugin directory; may be given several times' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from test" -l setting-sources -d 'Which of user, project and local are read, separated by commas' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from test" -l all-layers -d 'Test all settings of a session, not only those beside the file'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from test" -l watch -d 'Play the cases again whenever settings, scripts or cases change'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from test" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from test" -s v -l verbose -d 'Show what every hook did, also of cases that pass'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from test" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from test" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from record" -l print-settings -d 'Print settings that record every event, and record nothing'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from record" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from record" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from serve" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from serve" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from ui" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from ui" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from ui" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from ui" -l managed -d 'The directory of managed settings [default: the system\'s own]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from ui" -l settings -d 'One more settings layer' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from ui" -l plugin -d 'A plugin directory; may be given several times' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from ui" -l setting-sources -d 'Which of user, project and local are read, separated by commas' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from ui" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from ui" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from remove" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from remove" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from remove" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from remove" -l dry-run -d 'Change nothing, and show what would change'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from remove" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from remove" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from enable" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from enable" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from enable" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from enable" -l dry-run -d 'Change nothing, and show what would change'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from enable" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from enable" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from enable" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from disable" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from disable" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from disable" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from disable" -l dry-run -d 'Change nothing, and show what would change'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from disable" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from disable" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from disable" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l tool -d 'The tool that is called' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l command -d 'The command of a Bash call' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l file-path -d 'The path of a file tool; also of file events' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l content -d 'The content of a Write call' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l url -d 'The URL of a `WebFetch` call' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l tool-input -d 'The whole tool input, as JSON' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l tool-response -d 'The tool\'s answer, as JSON or text' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l error -d 'The error of a failed call' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l prompt -d 'The user\'s prompt' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l source -d 'The `source` field' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l trigger -d 'The `trigger` field' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l reason -d 'The `reason` field' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l message -d 'The message of a notification' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l notification-type -d 'The type of a notification' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l agent-type -d 'The type of a subagent' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l field -d 'Any other field: NAME=JSON, or NAME=TEXT' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l managed -d 'The directory of managed settings [default: the system\'s own]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l settings -d 'One more settings layer' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l plugin -d 'A plugin directory; may be given several times' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l mcp-config -d 'More MCP servers, in a file or as JSON; may be given several times' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l setting-sources -d 'Which of user, project and local are read, separated by commas' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l permission-mode -d 'The permission mode, instead of the event\'s own' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l explain -d 'Only say what would run'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l wait -d 'Wait for handlers in the background instead of ending them'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l stop-hook-active -d 'A stop that follows a block'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l bare -d 'As with the client\'s --bare: managed hooks only'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l safe-mode -d 'As with the client\'s --safe-mode: managed hooks only'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l interactive -d 'Treat the session as interactive'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l trusted -d 'The folder counts as trusted'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l untrusted -d 'The folder counts as not trusted'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -s v -l verbose -d 'Trace every step on stderr'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -l to -d 'The settings file' -r -f -a "user\t'The user\'s, for all projects'
project\t'The project\'s, shared with everyone who works on it'
local\t'The user\'s own in this project'"
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -l matcher -d 'What the event is matched against; without it everything' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -l command -d 'The command to run' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -l arg -d 'An argument: the command is then a program, run without a shell' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -l url -d 'The address to post the event to' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -l prompt -d 'The question to a model' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -l handler -d 'The whole handler, as JSON' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -l if -d 'Only for calls that this rule covers, such as `Bash(git *)`' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -l timeout -d 'Its time limit, in seconds' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -l status-message -d 'What the user sees while it runs' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -l async -d 'Do not wait for it'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -l dry-run -d 'Change nothing, and show what would change'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -l input -d 'Read the event from a file instead of stdin' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -l managed -d 'The directory of managed settings [default: the system\'s own]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -l settings -d 'One more settings layer' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -l plugin -d 'A plugin directory; may be given several times' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -l mcp-config -d 'More MCP servers, in a file or as JSON; may be given several times' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -l setting-sources -d 'Which of user, project and local are read, separated by commas' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -l permission-mode -d 'The permission mode, instead of the event\'s own' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -l event -d 'The event\'s name, if the JSON lacks `hook_event_name`' -r -f -a "SessionStart\t''
Setup\t''
InstructionsLoaded\t''
UserPromptSubmit\t''
UserPromptExpansion\t''
MessageDisplay\t''
PreToolUse\t''
PermissionRequest\t''
PermissionDenied\t''
PostToolUse\t''
PostToolUseFailure\t''
PostToolBatch\t''
SubagentStart\t''
SubagentStop\t''
TaskCreated\t''
TaskCompleted\t''
TeammateIdle\t''
Stop\t''
StopFailure\t''
PreCompact\t''
PostCompact\t''
PreModelSwitch\t''
PostModelSwitch\t''
Notification\t''
Elicitation\t''
ElicitationResult\t''
ConfigChange\t''
CwdChanged\t''
FileChanged\t''
DirectoryAdded\t''
WorktreeCreate\t''
WorktreeRemove\t''
SessionEnd\t''"
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -l wait -d 'Wait for handlers in the background instead of ending them'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -l bare -d 'As with the client\'s --bare: managed hooks only'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -l safe-mode -d 'As with the client\'s --safe-mode: managed hooks only'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -l interactive -d 'Treat the session as interactive'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -l trusted -d 'The folder counts as trusted'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -l untrusted -d 'The folder counts as not trusted'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -s v -l verbose -d 'Trace every step on stderr'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from run" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -l input -d 'Read the event from a file instead of stdin' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -l managed -d 'The directory of managed settings [default: the system\'s own]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -l settings -d 'One more settings layer' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -l plugin -d 'A plugin directory; may be given several times' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -l mcp-config -d 'More MCP servers, in a file or as JSON; may be given several times' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -l setting-sources -d 'Which of user, project and local are read, separated by commas' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -l permission-mode -d 'The permission mode, instead of the event\'s own' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -l event -d 'The event\'s name, if the JSON lacks `hook_event_name`' -r -f -a "SessionStart\t''
Setup\t''
InstructionsLoaded\t''
UserPromptSubmit\t''
UserPromptExpansion\t''
MessageDisplay\t''
PreToolUse\t''
PermissionRequest\t''
PermissionDenied\t''
PostToolUse\t''
PostToolUseFailure\t''
PostToolBatch\t''
SubagentStart\t''
SubagentStop\t''
TaskCreated\t''
TaskCompleted\t''
TeammateIdle\t''
Stop\t''
StopFailure\t''
PreCompact\t''
PostCompact\t''
PreModelSwitch\t''
PostModelSwitch\t''
Notification\t''
Elicitation\t''
ElicitationResult\t''
ConfigChange\t''
CwdChanged\t''
FileChanged\t''
DirectoryAdded\t''
WorktreeCreate\t''
WorktreeRemove\t''
SessionEnd\t''"
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -l bare -d 'As with the client\'s --bare: managed hooks only'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -l safe-mode -d 'As with the client\'s --safe-mode: managed hooks only'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -l interactive -d 'Treat the session as interactive'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -l trusted -d 'The folder counts as trusted'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -l untrusted -d 'The folder counts as not trusted'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -s v -l verbose -d 'Trace every step on stderr'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from explain" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -l managed -d 'The directory of managed settings [default: the system\'s own]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -l settings -d 'One more settings layer' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -l plugin -d 'A plugin directory; may be given several times' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -l mcp-config -d 'More MCP servers, in a file or as JSON; may be given several times' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -l setting-sources -d 'Which of user, project and local are read, separated by commas' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -l permission-mode -d 'The permission mode, instead of the event\'s own' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -l event -d 'Only this event' -r -f -a "SessionStart\t''
Setup\t''
InstructionsLoaded\t''
UserPromptSubmit\t''
UserPromptExpansion\t''
MessageDisplay\t''
PreToolUse\t''
PermissionRequest\t''
PermissionDenied\t''
PostToolUse\t''
PostToolUseFailure\t''
PostToolBatch\t''
SubagentStart\t''
SubagentStop\t''
TaskCreated\t''
TaskCompleted\t''
TeammateIdle\t''
Stop\t''
StopFailure\t''
PreCompact\t''
PostCompact\t''
PreModelSwitch\t''
PostModelSwitch\t''
Notification\t''
Elicitation\t''
ElicitationResult\t''
ConfigChange\t''
CwdChanged\t''
FileChanged\t''
DirectoryAdded\t''
WorktreeCreate\t''
WorktreeRemove\t''
SessionEnd\t''"
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -l bare -d 'As with the client\'s --bare: managed hooks only'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -l safe-mode -d 'As with the client\'s --safe-mode: managed hooks only'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -l interactive -d 'Treat the session as interactive'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -l trusted -d 'The folder counts as trusted'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -l untrusted -d 'The folder counts as not trusted'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Trace every step on stderr'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from health" -l days -d 'Only runs of the last days' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from health" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from health" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from health" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from health" -l managed -d 'The directory of managed settings [default: the system\'s own]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from health" -l settings -d 'One more settings layer' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from health" -l plugin -d 'A plugin directory; may be given several times' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from health" -l setting-sources -d 'Which of user, project and local are read, separated by commas' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from health" -l event -d 'Only this event' -r -f -a "SessionStart\t''
Setup\t''
InstructionsLoaded\t''
UserPromptSubmit\t''
UserPromptExpansion\t''
MessageDisplay\t''
PreToolUse\t''
PermissionRequest\t''
PermissionDenied\t''
PostToolUse\t''
PostToolUseFailure\t''
PostToolBatch\t''
SubagentStart\t''
SubagentStop\t''
TaskCreated\t''
TaskCompleted\t''
TeammateIdle\t''
Stop\t''
StopFailure\t''
PreCompact\t''
PostCompact\t''
PreModelSwitch\t''
PostModelSwitch\t''
Notification\t''
Elicitation\t''
ElicitationResult\t''
ConfigChange\t''
CwdChanged\t''
FileChanged\t''
DirectoryAdded\t''
WorktreeCreate\t''
WorktreeRemove\t''
SessionEnd\t''"
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from health" -l all -d 'The transcripts of all projects'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from health" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from health" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from health" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l decisions -d 'Where decisions are kept [default: FILE.decisions.json]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l project -d 'In the project with this key, name or path [default: this one]' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l cwd -d 'In this directory, which need not be the top of a project' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l home -d 'The home directory [default: $HOME]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l managed -d 'The directory of managed settings [default: the system\'s own]' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l settings -d 'One more settings layer' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l plugin -d 'A plugin directory; may be given several times' -r -F
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l mcp-config -d 'More MCP servers, in a file or as JSON; may be given several times' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l setting-sources -d 'Which of user, project and local are read, separated by commas' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l permission-mode -d 'The permission mode, instead of the event\'s own' -r
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l event -d 'Only this event' -r -f -a "SessionStart\t''
Setup\t''
InstructionsLoaded\t''
UserPromptSubmit\t''
UserPromptExpansion\t''
MessageDisplay\t''
PreToolUse\t''
PermissionRequest\t''
PermissionDenied\t''
PostToolUse\t''
PostToolUseFailure\t''
PostToolBatch\t''
SubagentStart\t''
SubagentStop\t''
TaskCreated\t''
TaskCompleted\t''
TeammateIdle\t''
Stop\t''
StopFailure\t''
PreCompact\t''
PostCompact\t''
PreModelSwitch\t''
PostModelSwitch\t''
Notification\t''
Elicitation\t''
ElicitationResult\t''
ConfigChange\t''
CwdChanged\t''
FileChanged\t''
DirectoryAdded\t''
WorktreeCreate\t''
WorktreeRemove\t''
SessionEnd\t''"
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l save -d 'Keep the decisions, to compare later ones with them'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l plan -d 'Run nothing, and compare which hooks would run'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l bare -d 'As with the client\'s --bare: managed hooks only'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l safe-mode -d 'As with the client\'s --safe-mode: managed hooks only'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l interactive -d 'Treat the session as interactive'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l trusted -d 'The folder counts as trusted'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l untrusted -d 'The folder counts as not trusted'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -s v -l verbose -d 'Trace every step on stderr'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from replay" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from schema" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from schema" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "lint" -d 'Find what is wrong, or likely not meant, in the hooks of settings files'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "test" -d 'Play the test cases of hooks and compare what they decide'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "record" -d 'Record every event of a session, as a hook'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "serve" -d 'Serve sessions to an agent in any language, on stdin and stdout'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "ui" -d 'Browse and edit hooks in the terminal'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Take a hook out of its settings file'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "enable" -d 'Switch a hook on again'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "disable" -d 'Switch a hook off, and keep it in its settings file'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "try" -d 'Build an event from flags and run (or explain) it'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "add" -d 'Put a hook into a settings file'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "run" -d 'Run one event\'s handlers for real and print the merged decision'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "explain" -d 'Say for every handler of an event whether it would run, and why; runs nothing'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "list" -d 'List all hooks by event, with the layer they come from'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "health" -d 'Show how hooks fared in past sessions, failing ones first'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "replay" -d 'Play recorded events again and show what would be decided otherwise'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "schema" -d 'Print a JSON schema of what hooks read and write'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand config; and not __fish_seen_subcommand_from show path set unset help" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand config; and not __fish_seen_subcommand_from show path set unset help" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand config; and not __fish_seen_subcommand_from show path set unset help" -f -a "show" -d 'Every value, where it comes from and what it means'
complete -c remora -n "__fish_remora_using_subcommand config; and not __fish_seen_subcommand_from show path set unset help" -f -a "path" -d 'Where the file is'
complete -c remora -n "__fish_remora_using_subcommand config; and not __fish_seen_subcommand_from show path set unset help" -f -a "set" -d 'Change a value'
complete -c remora -n "__fish_remora_using_subcommand config; and not __fish_seen_subcommand_from show path set unset help" -f -a "unset" -d 'Go back to the default'
complete -c remora -n "__fish_remora_using_subcommand config; and not __fish_seen_subcommand_from show path set unset help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from show" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from path" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from path" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from set" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from set" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from unset" -l json -d 'Print JSON instead of text'
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from unset" -s h -l help -d 'Print help'
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from unset" -s V -l version -d 'Print version'
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "show" -d 'Every value, where it comes from and what it means'
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "path" -d 'Where the file is'
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "set" -d 'Change a value'
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "unset" -d 'Go back to the default'
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "install" -d 'Install Remora\'s hooks into an agent\'s settings, and test them'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "uninstall" -d 'Remove Remora\'s hooks from an agent\'s settings'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "search" -d 'Search what was done, said and learned'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "show" -d 'Show items in full'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "sessions" -d 'List sessions, newest first'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "timeline" -d 'Show what happened, in order'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "recap" -d 'Summarize recent work by project and session'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "context" -d 'Preview the context Remora would inject, and why'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "ledger" -d 'Show what was injected into past sessions and whether it was used'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "folders" -d 'Write notes on recent work into the folders of a project'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "permissions" -d 'Show what was allowed and denied, and suggest permission rules'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "pause" -d 'Pause capture and recall'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "mcp" -d 'Serve memory to an agent over MCP, on stdin and stdout'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "memory" -d 'Manage saved memories: add, list, check, review'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "remember" -d 'Save a fact for later sessions; the same as `memory add`'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "wrong" -d 'Mark an item as wrong, so that it is never injected again'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "edit" -d 'Replace an item\'s text with your own'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "pin" -d 'Inject an item at the start of every session of a project'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "forget" -d 'Delete items, sessions or projects for good, or a saved fact'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "status" -d 'Show how much is stored and whether everything runs'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "doctor" -d 'Diagnose problems and suggest fixes'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "rebuild" -d 'Rebuild the database from archived events'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "projects" -d 'List projects; join checkouts and keys of one'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "prune" -d 'Remove old items and archived events'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "audit" -d 'Scan everything stored for secrets'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "export" -d 'Export everything as JSON lines'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "import" -d 'Import past sessions and memories'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "bench" -d 'Measure how well search and recall work'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "worker" -d 'Control the background process that stores captured events'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "models" -d 'Choose the model that prompt and agent hooks ask'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "conformance" -d 'Play recorded cases against an engine'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "instructions" -d 'Show which instruction files are in the prompt, and why'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "demo" -d 'Play recorded sessions: what hooks do, what is stored, what the next session gets'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "man" -d 'Write manual pages, one a verb'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "completions" -d 'Print a completion script for your shell'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "hooks" -d 'Test, lint, explain, edit and measure hooks'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "config" -d 'Show and change settings'
complete -c remora -n "__fish_remora_using_subcommand help; and not __fish_seen_subcommand_from install uninstall search show sessions timeline recap context ledger folders permissions pause mcp memory remember wrong edit pin forget status doctor rebuild projects prune audit export import bench worker models conformance instructions demo man completions hooks config help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from memory" -f -a "add" -d 'Save a fact for later sessions'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from memory" -f -a "list" -d 'List what is saved'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from memory" -f -a "show" -d 'Show memories in full'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from memory" -f -a "edit" -d 'Change a memory'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from memory" -f -a "accept" -d 'Accept memories that a repository brought along or an agent saved, after reading them'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from memory" -f -a "rm" -d 'Remove memories'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from memory" -f -a "check" -d 'Verify what memories name against the working tree'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from memory" -f -a "index" -d 'Make the index true again'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from memory" -f -a "path" -d 'Say where memories lie'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from memory" -f -a "review" -d 'Propose what to move, join and remove; change nothing'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from projects" -f -a "join" -d 'Let this checkout share the memory of its remote, or bring the memory of an old key under a new one'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from projects" -f -a "leave" -d 'Give a checkout a memory of its own from now on'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from import" -f -a "jsonl" -d 'JSON lines: an export of Remora, or messages of conversations'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from import" -f -a "claude-code" -d 'Past sessions of Claude Code, from its transcripts'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from import" -f -a "codex" -d 'Past sessions of Codex CLI, from its transcripts'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from import" -f -a "claude-mem" -d 'The database of claude-mem'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from import" -f -a "git" -d 'What commits say: messages with a body, reverts, pull requests'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from import" -f -a "memory" -d 'A folder of Markdown notes, as saved memories'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "retrieval" -d 'Import a corpus, ask the queries, write what was found'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "recall" -d 'Play situations, and compare what would be injected with what should be'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "decisions" -d 'Play chats in which something was decided, and see whether a task gets the decision'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from bench" -f -a "replay" -d 'Play past sessions in the order of time, and see whether what would have been injected was of use'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from worker" -f -a "start" -d 'Start it, unless it runs'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from worker" -f -a "stop" -d 'End it; what waits stays in the spool'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from worker" -f -a "restart" -d 'End it and start it again'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from worker" -f -a "status" -d 'Say whether it runs, and what it has done'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from worker" -f -a "logs" -d 'Show what it wrote down'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from worker" -f -a "run" -d 'Be the worker, in this process'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from worker" -f -a "drain" -d 'Wait until everything captured so far can be searched'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from worker" -f -a "retry" -d 'Try dead letters again'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from models" -f -a "use" -d 'Switch a model on: from now on, hooks that ask one send it their event'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from models" -f -a "off" -d 'Ask no model'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from models" -f -a "show" -d 'Show what is configured, and where its key comes from'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from models" -f -a "test" -d 'Ask the configured model one short question'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from instructions" -f -a "show" -d 'List what is in the prompt, in order, with the reason'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from instructions" -f -a "why" -d 'Say whether a file is in the prompt, and why or why not (exit 1: there is no such file)'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from instructions" -f -a "lint" -d 'Find what should be fixed: dead imports, rules that never match, contradictions (exit 1: an error)'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from instructions" -f -a "approve" -d 'Allow this project\'s files to import files from outside it'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from instructions" -f -a "load" -d 'Load as a session would, and run hooks for each file'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "lint" -d 'Find what is wrong, or likely not meant, in the hooks of settings files'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "test" -d 'Play the test cases of hooks and compare what they decide'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "record" -d 'Record every event of a session, as a hook'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "serve" -d 'Serve sessions to an agent in any language, on stdin and stdout'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "ui" -d 'Browse and edit hooks in the terminal'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "remove" -d 'Take a hook out of its settings file'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "enable" -d 'Switch a hook on again'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "disable" -d 'Switch a hook off, and keep it in its settings file'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "try" -d 'Build an event from flags and run (or explain) it'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "add" -d 'Put a hook into a settings file'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "run" -d 'Run one event\'s handlers for real and print the merged decision'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "explain" -d 'Say for every handler of an event whether it would run, and why; runs nothing'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "list" -d 'List all hooks by event, with the layer they come from'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "health" -d 'Show how hooks fared in past sessions, failing ones first'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "replay" -d 'Play recorded events again and show what would be decided otherwise'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "schema" -d 'Print a JSON schema of what hooks read and write'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "show" -d 'Every value, where it comes from and what it means'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "path" -d 'Where the file is'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "set" -d 'Change a value'
complete -c remora -n "__fish_remora_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "unset" -d 'Go back to the default'
complete -c remora -n "__fish_remora_using_subcommand install" -f -a "claude-code" -d 'Claude Code'
complete -c remora -n "__fish_remora_using_subcommand install" -f -a "codex" -d 'Codex CLI'
complete -c remora -n "__fish_remora_using_subcommand uninstall" -f -a "claude-code" -d 'Claude Code'
complete -c remora -n "__fish_remora_using_subcommand uninstall" -f -a "codex" -d 'Codex CLI'
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from try" -f -a "SessionStart Setup InstructionsLoaded UserPromptSubmit UserPromptExpansion MessageDisplay PreToolUse PermissionRequest PermissionDenied PostToolUse PostToolUseFailure PostToolBatch SubagentStart SubagentStop TaskCreated TaskCompleted TeammateIdle Stop StopFailure PreCompact PostCompact PreModelSwitch PostModelSwitch Notification Elicitation ElicitationResult ConfigChange CwdChanged FileChanged DirectoryAdded WorktreeCreate WorktreeRemove SessionEnd"
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from add" -f -a "SessionStart Setup InstructionsLoaded UserPromptSubmit UserPromptExpansion MessageDisplay PreToolUse PermissionRequest PermissionDenied PostToolUse PostToolUseFailure PostToolBatch SubagentStart SubagentStop TaskCreated TaskCompleted TeammateIdle Stop StopFailure PreCompact PostCompact PreModelSwitch PostModelSwitch Notification Elicitation ElicitationResult ConfigChange CwdChanged FileChanged DirectoryAdded WorktreeCreate WorktreeRemove SessionEnd"
complete -c remora -n "__fish_remora_using_subcommand hooks; and __fish_seen_subcommand_from schema" -f -a "event answer settings cases report explanation rpc"
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from set" -f -a "capture.skip_tools capture.ignore capture.git redact.patterns redact.deny_paths spool.fsync worker.idle_minutes archive.max_mb retention.days retention.max_mb search.model search.background recall.start_tokens recall.index_rows recall.summaries recall.prompt_tokens recall.suggest_saves recall.guard_edits ui.greet mcp.all_projects folders.auto models.provider models.url models.model models.key_file models.names models.verifier_shell"
complete -c remora -n "__fish_remora_using_subcommand config; and __fish_seen_subcommand_from unset" -f -a "capture.skip_tools capture.ignore capture.git redact.patterns redact.deny_paths spool.fsync worker.idle_minutes archive.max_mb retention.days retention.max_mb search.model search.background recall.start_tokens recall.index_rows recall.summaries recall.prompt_tokens recall.suggest_saves recall.guard_edits ui.greet mcp.all_projects folders.auto models.provider models.url models.model models.key_file models.names models.verifier_shell"
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from show" -f -a "(remora complete memories (commandline -ct) 2>/dev/null)"
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from edit" -f -a "(remora complete memories (commandline -ct) 2>/dev/null)"
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from accept" -f -a "(remora complete memories (commandline -ct) 2>/dev/null)"
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from rm" -f -a "(remora complete memories (commandline -ct) 2>/dev/null)"
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from check" -f -a "(remora complete memories (commandline -ct) 2>/dev/null)"
complete -c remora -n "__fish_remora_using_subcommand memory; and __fish_seen_subcommand_from path" -f -a "(remora complete memories (commandline -ct) 2>/dev/null)"
complete -c remora -n "__fish_remora_using_subcommand search" -l agent -x -a "(remora complete agents (commandline -ct) 2>/dev/null)"
complete -c remora -n "__fish_remora_using_subcommand sessions" -l agent -x -a "(remora complete agents (commandline -ct) 2>/dev/null)"
complete -c remora -n "__fish_remora_using_subcommand timeline" -l agent -x -a "(remora complete agents (commandline -ct) 2>/dev/null)"
complete -c remora -n "__fish_remora_using_subcommand recap" -l agent -x -a "(remora complete agents (commandline -ct) 2>/dev/null)"
complete -c remora -n "__fish_remora_using_subcommand context" -l agent -x -a "(remora complete agents (commandline -ct) 2>/dev/null)"
