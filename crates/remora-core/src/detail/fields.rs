//! The fields of details, grouped by what they hold, so that a field cannot be
//! read as something else. Their names are stored: never rename one.

macro_rules! detail_fields {
    ($($(#[$doc:meta])* $group:ident { $($(#[$field_doc:meta])* $field:ident = $name:literal;)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
            pub enum $group { $($(#[$field_doc])* $field,)* }

            impl $group {
                /// The name it is stored under.
                pub const fn name(self) -> &'static str {
                    match self { $(Self::$field => $name,)* }
                }
            }
        )*
    };
}

detail_fields! {
    /// A field that holds one text.
    DetailText {
        /// Of a command, a failure or a fix: the key that makes two runs the same
        /// command.
        Command = "command";
        /// Of a command or a failure: the tool whose output was recognised.
        Tool = "tool";
        /// Of a failure or a fix: the error's fingerprint.
        Fingerprint = "fingerprint";
        /// Of a fix: the uid of the failure that it is for.
        Error = "error";
        /// Of an edit that was reverted: its original title.
        Tried = "tried";
        /// Of a statement: why, if a reason was given.
        Reason = "reason";
        /// Of a statement: the sentence that takes something back.
        TakesBack = "takes_back";
        /// Of a statement: the request of the turn that it was made in.
        Subject = "subject";
        /// Of a summary: what was requested.
        Request = "request";
        /// Of a saved memory: whom it belongs to.
        Scope = "scope";
        /// Of a saved memory: what it is about.
        MemoryType = "type";
        /// Of a saved memory: its file.
        Path = "path";
        /// Of a commit: its short hash.
        CommitHash = "commit";
        /// Of a commit: the short hash of the one that reverts it.
        RevertedBy = "reverted_by";
    }

    /// A field that holds a list of texts.
    DetailList {
        /// Of a failure or a fix: the messages of the error.
        Says = "says";
        /// Of a fix: the uids of the steps that made the command pass.
        Edits = "edits";
        /// Of a fix: the uids of the passes that proved its change.
        Passes = "passes";
        /// Of a fix: other changes that fixed the error before.
        EarlierChanges = "earlier";
        /// Of an item that reverts edits: their uids. Of a commit: the hashes that it
        /// reverts.
        Reverts = "reverts";
        /// Of a statement or a summary: the files that it is about.
        Files = "files";
        /// Of a summary: what was looked into.
        Investigated = "investigated";
        /// Of a summary: what was learned.
        Learned = "learned";
        /// Of a summary: what was done.
        Completed = "completed";
        /// Of a summary: what is still to do.
        OpenSteps = "next_steps";
        /// Of a summary: the commands that fail.
        Failing = "failing";
        /// Of a summary: the commands that passed.
        Passed = "passed";
        /// Of a summary: statements of its turn.
        Notes = "notes";
        /// Of a summary: the prompts of the turn, one entry each.
        Asked = "asked";
        /// Of a summary: the agent's last message, one entry per line.
        Said = "said";
        /// Of a summary: the sentences of the message that conclude something, in
        /// order.
        Conclusion = "conclusion";
        /// Of a summary: what the turn gives up by name.
        GivesUp = "gives_up";
        /// Of a summary: hashes of the lines that its edits added.
        AddedLines = "added_lines";
        /// Of a summary: hashes of the lines that its edits removed.
        RemovedLines = "removed_lines";
        /// Of a summary: the sentences that explain an error. Set on a copy for one
        /// recall, never stored.
        Explains = "explains";
        /// Of a saved memory: claims of it that no longer hold.
        Doubts = "doubts";
    }

    /// A field that holds a number.
    DetailNumber {
        /// Of a statement: how sure it is that it is one, in percent.
        Confidence = "confidence";
        /// Of a fix: how often its change fixed the error.
        Fixed = "fixed";
        /// Of a fix: how often the command passed since.
        Held = "held";
        /// Of a fix: how often the error came back.
        Returned = "returned";
        /// Of a saved memory: its place in a briefing, the least first.
        Priority = "priority";
        /// Of a saved memory: the bytes of its file.
        Size = "size";
        /// Of a saved memory: when its file was written, in nanoseconds since 1970.
        Modified = "modified";
    }

    /// A field that is true or false.
    DetailFlag {
        /// Of a statement: whether the user asked for it to be remembered.
        OnPurpose = "on_purpose";
        /// Of a summary: whether its turn asks for something to be different than
        /// before.
        Turns = "turns";
        /// Of a saved memory: whether instructions name it.
        Named = "named";
        /// Of a saved memory: whether the user wrote it, or accepted what it says.
        Accepted = "accepted";
    }
}

/// Of a summary: the options that its message left to choose from, each a label and
/// a text.
pub(super) const OFFERED: &str = "offered";
