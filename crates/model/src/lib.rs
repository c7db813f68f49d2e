//! The nouns of Workflow Code and the rules about them that need no I/O.
//!
//! Here: ids, a run's states and the one function that moves between them, errors with stable codes,
//! parameters and forms as data, the report, the result envelope, clock and id source, commands to copy.
//!
//! Not here: reading a project (`project`), SQL (`store`), processes (`process`), JSON-RPC (`mcp`).
//! Every other crate may depend on this one; it depends on none of them.

mod clock;
mod depth;
mod entrypoint;
mod envelope;
mod error;
mod form;
mod ids;
mod limits;
mod member_record;
mod param;
mod plain_text;
mod report;
mod run;
mod shell;

pub use clock::{Clock, IdSource, ManualClock, SeededIds, SystemClock, SystemIds, TimestampMs, format_timestamp};
pub use depth::within_depth;
pub use entrypoint::{Annotations, Entrypoint, EntrypointSource, StructureError, StructureReport};
pub use envelope::{CreatedFile, Envelope, EnvelopeStatus, OutputTruncated, Pending, PendingField, beginning};
pub use error::{ErrorCode, RunError, with_causes};
pub use form::{Answer, AnswerAction, Approval, Form, Interaction, InteractionKind};
pub use ids::{EntrypointId, IdError, ProjectId, RunId};
pub use limits::Limits;
pub use member_record::{MemberLedger, MemberRecord, member_records};
pub use param::{Param, ParamOption, ParamType};
pub use plain_text::{escaped, is_hidden, title_from_id, visible_line, visible_text};
pub use report::{AgentUsage, Node, NodeKind, NodeStatus, Report};
pub use run::{CancelReason, ClientInfo, InvalidTransition, LaunchOptions, Origin, RunCaps, RunStatus};
pub use shell::{HistoryPlace, command_line, quote};
