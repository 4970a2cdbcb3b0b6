//! The layers by name: in reports and in lists.

/// Where a handler or a rule was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LayerSource {
    /// The organisation's managed settings.
    Policy,
    /// The user, for all projects.
    User,
    /// The project's settings, shared through the repository.
    Project,
    /// This user's own settings in the project, not shared.
    Local,
    /// `--settings` on the command line.
    Flag,
    /// The hooks file of a plugin.
    Plugin,
    /// The head of a skill that the session uses.
    Skill,
    /// The head of an agent that runs in the session.
    Agent,
    /// The host, for one session.
    Session,
    /// The host, in its own code.
    Callback,
}

impl LayerSource {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Policy,
        Self::User,
        Self::Project,
        Self::Local,
        Self::Flag,
        Self::Plugin,
        Self::Skill,
        Self::Agent,
        Self::Session,
        Self::Callback,
    ];

    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
            Self::Flag => "flag",
            Self::Plugin => "plugin",
            Self::Skill => "skill",
            Self::Agent => "agent",
            Self::Session => "session",
            Self::Callback => "callback",
        }
    }

    /// The label in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Policy => "[Policy]",
            Self::User => "[User]",
            Self::Project => "[Project]",
            Self::Local => "[Local]",
            Self::Flag => "[Flag]",
            Self::Plugin => "[Plugin]",
            Self::Skill => "[Skill]",
            Self::Agent => "[Agent]",
            Self::Session => "[Session]",
            Self::Callback => "[Callback]",
        }
    }
}
