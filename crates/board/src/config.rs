//! What a workspace is configured to be: defaults, merged with what its file declares, checked as a whole.

use serde_json::{Map, Value, json};

use crate::error::{BoardError, Result};
use crate::vocabulary::{CARD_RESERVED_KEYS, Collection};

/// A checked configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// The project's name.
    pub name: String,
    /// The folder of everything, relative to the root.
    pub storage_root: String,
    /// The folder of everything that can be made again.
    pub cache: String,
    /// Cards.
    pub cards: CardsConfig,
    /// Documents.
    pub docs: DocsConfig,
    /// Changelog.
    pub changelog: ChangelogConfig,
    /// Memory.
    pub memory: MemoryConfig,
    /// Generated instructions.
    pub agents: AgentsConfig,
    /// Generated CI files.
    pub ci: CiConfig,
    /// The server.
    pub mcp: McpConfig,
    /// Search.
    pub search: SearchConfig,
}

/// `cards`.
#[derive(Debug, Clone)]
pub struct CardsConfig {
    /// Whether there are cards.
    pub enabled: bool,
    /// Folder of live cards.
    pub path: String,
    /// Folder of archived cards.
    pub archive_path: String,
    /// Folder of attached files.
    pub assets_path: String,
    /// What ids begin with.
    pub id_prefix: String,
    /// How many ancestors a card may have.
    pub max_depth: usize,
    /// After how many hours a claim is stale.
    pub lease_hours: f64,
    /// Whether `## Activity` is written.
    pub activity_trail: bool,
    /// The areas.
    pub areas: Vec<String>,
    /// Axes with their values.
    pub axes: Vec<(String, Vec<String>)>,
    /// Commands that cards may declare.
    pub commands: Vec<Vec<String>>,
    /// How long one may run.
    pub timeout_seconds: u64,
    /// Area (or `*`) to accepted methods.
    pub methods: Vec<(String, Vec<String>)>,
}

/// `docs`.
#[derive(Debug, Clone)]
pub struct DocsConfig {
    /// Whether there are documents.
    pub enabled: bool,
    /// Folder of managed documents.
    pub managed_path: String,
    /// Whether a kind has a folder.
    pub by_kind: bool,
    /// Globs of indexed documents.
    pub sources: Vec<String>,
    /// Globs that are left out.
    pub exclude: Vec<String>,
    /// Trees whose links are site routes.
    pub route_roots: Vec<String>,
    /// What ids begin with.
    pub id_prefix: String,
    /// The kinds.
    pub kinds: Vec<String>,
    /// The statuses.
    pub statuses: Vec<String>,
    /// The kind when none is given.
    pub default_kind: String,
    /// The status when none is given.
    pub default_status: String,
    /// Days until a review is due; 0 is never.
    pub review_interval_days: i64,
    /// The largest readable file.
    pub max_file_bytes: u64,
}

/// `changelog`.
#[derive(Debug, Clone)]
pub struct ChangelogConfig {
    /// Whether there is one.
    pub enabled: bool,
    /// Folder of unreleased fragments.
    pub fragments_path: String,
    /// Folder of releases.
    pub releases_path: String,
    /// The rendered file.
    pub output: String,
    /// `semver`, `calendar` or `freeform`.
    pub strategy: String,
    /// What fragments' ids begin with.
    pub id_prefix: String,
    /// What releases' ids begin with.
    pub release_prefix: String,
    /// The types in the order they are rendered in.
    pub types: Vec<String>,
    /// The visibilities.
    pub visibilities: Vec<String>,
    /// The type when none is given.
    pub default_type: String,
    /// The visibility when none is given.
    pub default_visibility: String,
}

/// `memory`.
#[derive(Debug, Clone)]
pub struct MemoryConfig {
    /// Whether there is one.
    pub enabled: bool,
    /// Its folder.
    pub path: String,
    /// The collections in use.
    pub collections: Vec<Collection>,
}

/// `agents`.
#[derive(Debug, Clone)]
pub struct AgentsConfig {
    /// Whether instructions are generated.
    pub enabled: bool,
    /// The protocol's file.
    pub canonical: String,
    /// Folder of workflows.
    pub workflows_path: String,
    /// What is generated.
    pub targets: Vec<String>,
}

/// `ci`.
#[derive(Debug, Clone)]
pub struct CiConfig {
    /// Whether CI files are generated.
    pub enabled: bool,
    /// Which.
    pub targets: Vec<String>,
    /// The runtime's version, where the install line needs one.
    pub node_version: String,
    /// The shell line that installs this program before the check; none when the machine has it.
    pub install: Option<String>,
}

/// `mcp`.
#[derive(Debug, Clone)]
pub struct McpConfig {
    /// Whether the server may start.
    pub enabled: bool,
    /// Whether it may write.
    pub allow_mutations: bool,
    /// Records in one page of resources.
    pub resource_page_size: usize,
    /// The longest line that is read.
    pub max_message_bytes: usize,
    /// The longest result.
    pub max_tool_result_bytes: usize,
}

/// `search`.
#[derive(Debug, Clone)]
pub struct SearchConfig {
    /// A semantic provider's id; none is built in.
    pub provider: Option<String>,
    /// Its weight.
    pub semantic_weight: f64,
    /// Records it may see.
    pub max_provider_records: u64,
}

fn defaults() -> Value {
    json!({
        "schemaVersion": 2,
        "name": "Unnamed project",
        "storage": { "root": ".project", "cache": ".project/.cache" },
        "cards": {
            "enabled": true, "path": ".project/cards", "archivePath": ".project/cards/archive", "assetsPath": ".project/assets",
            "idPrefix": "T", "maxHierarchyDepth": 2, "claimLeaseHours": 24, "activityTrail": true, "areas": ["general"],
            "axes": {}, "verification": { "commands": [], "timeoutSeconds": 600, "methods": {} }, "tags": [],
        },
        "docs": {
            "enabled": true, "managedPath": ".project/docs", "layout": "kind",
            "sources": ["README.md", "docs/**/*.md", ".project/specs/**/*.md"],
            "exclude": ["**/node_modules/**", "**/vendor/**", ".git/**", ".project/.cache/**"],
            "routeRoots": [], "idPrefix": "DOC",
            "kinds": ["architecture", "product", "runbook", "guide", "reference", "research", "spec", "handoff"],
            "statuses": ["draft", "current", "stale", "superseded", "archived"],
            "defaultKind": "reference", "defaultStatus": "draft", "reviewIntervalDays": 180, "maxFileBytes": 2_097_152,
        },
        "changelog": {
            "enabled": true, "fragmentsPath": ".project/changelog/unreleased", "releasesPath": ".project/changelog/releases",
            "output": "CHANGELOG.md", "releaseStrategy": "semver", "idPrefix": "CHG", "releasePrefix": "REL",
            "types": ["added", "changed", "fixed", "deprecated", "removed", "security", "internal"],
            "visibilities": ["public", "internal"], "defaultType": "changed", "defaultVisibility": "public",
        },
        "memory": {
            "enabled": true, "path": ".project/memory",
            "collections": ["learnings", "decisions", "incidents", "conventions", "context"],
        },
        "agents": {
            "enabled": true, "canonicalInstructions": ".project/agents/protocol.md",
            "workflowsPath": ".project/agents/workflows", "targets": ["agents-md"],
        },
        "ci": { "enabled": true, "targets": [], "nodeVersion": "22", "install": null },
        "mcp": {
            "enabled": true, "transport": "stdio", "allowMutations": true, "resourcePageSize": 100,
            "maxMessageBytes": 1_048_576, "maxToolResultBytes": 524_288,
        },
        "search": { "provider": null, "semanticWeight": 0.35, "maxProviderRecords": 500 },
        "ui": { "host": "127.0.0.1", "port": 4747, "open": true },
    })
}

/// Lays `over` over `under`: objects merge, everything else replaces.
fn merge(under: Value, over: Value) -> Value {
    match (under, over) {
        (Value::Object(mut under), Value::Object(over)) => {
            for (key, value) in over {
                let merged = match under.remove(&key) {
                    Some(below) => merge(below, value),
                    None => value,
                };
                under.insert(key, merged);
            }
            Value::Object(under)
        }
        (_, over) => over,
    }
}

/// What a path is refused with that leads out.
const OUTSIDE: &str = "CONFIG_PATH_OUTSIDE_WORKSPACE";

struct Checker<'a> {
    value: &'a Value,
    issues: Vec<(&'static str, String, String)>,
}

impl Checker<'_> {
    fn fail(&mut self, code: &'static str, path: &str, message: impl Into<String>) {
        self.issues.push((code, path.to_owned(), message.into()));
    }

    fn at(&self, path: &str) -> &Value {
        path.split('.').fold(self.value, |value, key| value.get(key).unwrap_or(&Value::Null))
    }

    fn flag(&mut self, path: &str, code: &'static str) -> bool {
        self.at(path).as_bool().unwrap_or_else(|| {
            self.fail(code, path, format!("`{path}` must be true or false"));
            true
        })
    }

    fn text(&mut self, path: &str, code: &'static str) -> String {
        match self.at(path).as_str() {
            Some(text) if !text.trim().is_empty() => text.to_owned(),
            _ => {
                self.fail(code, path, format!("`{path}` must be a text that is not empty"));
                String::new()
            }
        }
    }

    /// A path inside the workspace, with `/` and without `.`.
    fn path(&mut self, path: &str) -> String {
        self.path_or(path, OUTSIDE)
    }

    fn path_or(&mut self, path: &str, code: &'static str) -> String {
        let before = self.issues.len();
        let text = self.text(path, code);
        match crate::paths::inside(&text) {
            Some(clean) if !clean.is_empty() => clean,
            // One fault is said once.
            _ if self.issues.len() > before => text,
            _ => {
                self.fail(code, path, format!("`{path}` must lie inside the workspace"));
                text
            }
        }
    }

    /// Paths or globs inside the workspace, with `/` and without `.`.
    fn paths(&mut self, path: &str) -> Vec<String> {
        let list = self.list(path, true);
        list.into_iter()
            .map(|text| {
                crate::paths::inside(&text).unwrap_or_else(|| {
                    self.fail(OUTSIDE, path, format!("`{text}` of `{path}` must lie inside the workspace"));
                    text
                })
            })
            .collect()
    }

    fn integer(&mut self, path: &str, range: std::ops::RangeInclusive<i64>, code: &'static str) -> i64 {
        match self.at(path).as_i64() {
            Some(number) if range.contains(&number) => number,
            _ => {
                self.fail(
                    code,
                    path,
                    format!("`{path}` must be a whole number from {} to {}", range.start(), range.end()),
                );
                *range.start()
            }
        }
    }

    fn number(&mut self, path: &str, valid: fn(f64) -> bool, code: &'static str) -> f64 {
        match self.at(path).as_f64() {
            Some(number) if valid(number) => number,
            _ => {
                self.fail(code, path, format!("`{path}` is out of range"));
                1.0
            }
        }
    }

    fn prefix(&mut self, path: &str, code: &'static str) -> String {
        let text = self.at(path).as_str().unwrap_or("").to_owned();
        let valid = text.len() <= 8
            && text.starts_with(|one: char| one.is_ascii_uppercase())
            && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        if !valid {
            self.fail(code, path, format!("`{path}` must be one to eight capitals and digits"));
        }
        text
    }

    fn list(&mut self, path: &str, may_be_empty: bool) -> Vec<String> {
        self.list_with(
            path,
            may_be_empty,
            ["CONFIG_LIST_INVALID", "CONFIG_LIST_EMPTY", "CONFIG_LIST_VALUE_INVALID", "CONFIG_LIST_VALUE_DUPLICATE"],
        )
    }

    fn list_with(&mut self, path: &str, may_be_empty: bool, codes: [&'static str; 4]) -> Vec<String> {
        let value = self.at(path).clone();
        self.list_of(&value, path, may_be_empty, codes)
    }

    fn list_of(&mut self, value: &Value, path: &str, may_be_empty: bool, codes: [&'static str; 4]) -> Vec<String> {
        let Value::Array(items) = value else {
            self.fail(codes[0], path, format!("`{path}` must be a list"));
            return Vec::new();
        };
        if items.is_empty() && !may_be_empty {
            self.fail(codes[1], path, format!("`{path}` must not be empty"));
        }
        let mut texts = Vec::new();
        for item in items {
            match item.as_str().map(str::trim) {
                Some(text) if !text.is_empty() => {
                    if texts.iter().any(|one| one == text) {
                        self.fail(codes[3], path, format!("`{path}` names `{text}` twice"));
                    } else {
                        texts.push(text.to_owned());
                    }
                }
                _ => self.fail(codes[2], path, format!("`{path}` holds something that is no text")),
            }
        }
        texts
    }

    fn choice(&mut self, path: &str, allowed: &[&str], code: &'static str) -> String {
        let text = self.at(path).as_str().unwrap_or("").to_owned();
        if !allowed.contains(&text.as_str()) {
            self.fail(code, path, format!("`{path}` must be one of {}", allowed.join(", ")));
        }
        text
    }

    fn targets(&mut self, path: &str, allowed: &[&str], code: &'static str) -> Vec<String> {
        let list = self.list(path, true);
        for target in &list {
            if !allowed.contains(&target.as_str()) {
                self.fail(code, path, format!("`{target}` is no target of `{path}`: {}", allowed.join(", ")));
            }
        }
        list
    }

    fn listed(&mut self, path: &str, list: &[String], code: &'static str) -> String {
        let text = self.at(path).as_str().unwrap_or("").to_owned();
        if !list.contains(&text) {
            self.fail(code, path, format!("`{path}` must be one of {}", list.join(", ")));
        }
        text
    }

    fn axes(&mut self) -> Vec<(String, Vec<String>)> {
        let Value::Object(axes) = self.at("cards.axes").clone() else {
            self.fail("CONFIG_CARDS_AXES_INVALID", "cards.axes", "`cards.axes` must be an object");
            return Vec::new();
        };
        let mut found = Vec::new();
        for (name, values) in axes {
            let path = format!("cards.axes.{name}");
            let valid = name.starts_with(|one: char| one.is_ascii_lowercase())
                && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
            if !valid {
                self.fail("CONFIG_CARDS_AXIS_NAME_INVALID", &path, format!("`{name}` cannot name an axis"));
            } else if CARD_RESERVED_KEYS.contains(&name.as_str()) {
                self.fail("CONFIG_CARDS_AXIS_RESERVED", &path, format!("`{name}` is a field of cards already"));
            }
            let codes = [
                "CONFIG_LIST_INVALID",
                "CONFIG_LIST_EMPTY",
                "CONFIG_LIST_VALUE_INVALID",
                "CONFIG_LIST_VALUE_DUPLICATE",
            ];
            let values = self.list_of(&values, &path, false, codes);
            found.push((name, values));
        }
        found
    }

    fn commands(&mut self) -> Vec<Vec<String>> {
        const PATH: &str = "cards.verification.commands";
        let Value::Array(commands) = self.at(PATH).clone() else {
            self.fail("CONFIG_CARDS_VERIFICATION_INVALID", PATH, format!("`{PATH}` must be a list of argument lists"));
            return Vec::new();
        };
        let mut found: Vec<Vec<String>> = Vec::new();
        for command in commands {
            let words: Option<Vec<String>> = command.as_array().map(|words| {
                words
                    .iter()
                    .filter_map(Value::as_str)
                    .filter(|word| !word.is_empty() && !word.chars().any(char::is_control))
                    .map(str::to_owned)
                    .collect()
            });
            let whole = command.as_array().map_or(0, Vec::len);
            match words {
                Some(words) if !words.is_empty() && words.len() == whole && !found.contains(&words) => {
                    found.push(words);
                }
                _ => self.fail("CONFIG_CARDS_VERIFY_COMMAND_INVALID", PATH, "a command is a list of texts, named once"),
            }
        }
        found
    }

    fn methods(&mut self) -> Vec<(String, Vec<String>)> {
        const PATH: &str = "cards.verification.methods";
        let Value::Object(methods) = self.at(PATH).clone() else {
            self.fail("CONFIG_CARDS_VERIFICATION_METHODS_INVALID", PATH, format!("`{PATH}` must be an object"));
            return Vec::new();
        };
        let mut found = Vec::new();
        for (area, accepted) in methods {
            let codes = ["CONFIG_CARDS_VERIFICATION_METHODS_INVALID"; 4];
            let accepted = self.list_of(&accepted, &format!("{PATH}.{area}"), false, codes);
            if accepted.iter().any(|method| !matches!(method.as_str(), "local" | "ci" | "manual")) {
                self.fail("CONFIG_CARDS_VERIFICATION_METHOD_INVALID", PATH, "a method is `local`, `ci` or `manual`");
            }
            found.push((area, accepted));
        }
        found
    }

    /// One line for a shell.
    fn install(&mut self) -> Option<String> {
        match self.at("ci.install").clone() {
            Value::Null => None,
            Value::String(line) if !line.trim().is_empty() && !line.chars().any(char::is_control) => {
                Some(line.trim().to_owned())
            }
            _ => {
                self.fail("CONFIG_CI_INSTALL_INVALID", "ci.install", "`ci.install` must be one line of text, or null");
                None
            }
        }
    }

    fn collections(&mut self) -> Vec<Collection> {
        let names = self.list("memory.collections", true);
        let mut found: Vec<Collection> = Vec::new();
        for name in &names {
            if Collection::named(name).is_none() {
                self.fail(
                    "CONFIG_MEMORY_COLLECTION_UNSUPPORTED",
                    "memory.collections",
                    format!("`{name}` is no collection"),
                );
            }
        }
        found.extend(Collection::ALL.into_iter().filter(|one| names.iter().any(|name| name == one.name())));
        found
    }
}

impl Config {
    /// Checks what a file declares; `declared` is laid over the defaults.
    ///
    /// # Errors
    ///
    /// The first problem's code; `details.issues` has all of them.
    pub fn from_value(declared: Value) -> Result<Self> {
        const SECTIONS: [(&str, &str); 9] = [
            ("storage", "CONFIG_STORAGE_REQUIRED"),
            ("cards", "CONFIG_CARDS_REQUIRED"),
            ("docs", "CONFIG_DOCS_REQUIRED"),
            ("changelog", "CONFIG_CHANGELOG_REQUIRED"),
            ("memory", "CONFIG_MEMORY_REQUIRED"),
            ("agents", "CONFIG_AGENTS_REQUIRED"),
            ("ci", "CONFIG_CI_REQUIRED"),
            ("mcp", "CONFIG_MCP_REQUIRED"),
            ("search", "CONFIG_SEARCH_REQUIRED"),
        ];
        if !declared.is_object() {
            return Err(BoardError::new("CONFIG_INVALID", "a configuration must be an object"));
        }
        let mut whole = merge(defaults(), declared);
        // A section that is none is one fault, and not one for every setting that it does not have.
        let no_sections: Vec<(&str, &str)> =
            SECTIONS.into_iter().filter(|(section, _)| !whole.get(*section).is_some_and(Value::is_object)).collect();
        for (section, _) in &no_sections {
            whole[*section] = defaults()[*section].clone();
        }
        let mut check = Checker { value: &whole, issues: Vec::new() };
        if check.at("schemaVersion").as_i64() != Some(2) {
            check.fail("CONFIG_SCHEMA_UNSUPPORTED", "schemaVersion", "only schema version 2 is supported");
        }
        for (section, code) in no_sections {
            check.fail(code, section, format!("`{section}` must be an object"));
        }
        let config = check.read();
        let issues = check.issues;
        let Some((code, _, message)) = issues.first() else { return Ok(config) };
        let listed: Vec<Value> = issues
            .iter()
            .map(|(code, path, message)| json!({ "severity": "error", "code": code, "path": path, "message": message }))
            .collect();
        Err(BoardError::new(code, message.clone()).with(json!({ "issues": listed })))
    }

    /// The values of an axis.
    #[must_use]
    pub fn axis(&self, name: &str) -> Option<&[String]> {
        self.cards.axes.iter().find(|(axis, _)| axis == name).map(|(_, values)| values.as_slice())
    }

    /// The methods accepted for `area`; `None` is any.
    #[must_use]
    pub fn methods(&self, area: &str) -> Option<&[String]> {
        let of = |name: &str| {
            self.cards.methods.iter().find(|(area, _)| area == name).map(|(_, accepted)| accepted.as_slice())
        };
        of(area).or_else(|| of("*"))
    }

    /// The effective schema: vocabularies and paths, as a client needs them.
    #[must_use]
    pub fn schema(&self) -> Value {
        use crate::vocabulary as words;
        let pairs = |pairs: &[(String, Vec<String>)]| -> Map<String, Value> {
            pairs.iter().map(|(name, values)| (name.clone(), json!(values))).collect()
        };
        let collections: Vec<Value> = self
            .memory
            .collections
            .iter()
            .map(|one| json!({ "id": one.name(), "singular": one.singular(), "idPrefix": one.prefix(), "statuses": one.statuses() }))
            .collect();
        let weight: Value =
            serde_json::Number::from_f64(self.search.semantic_weight).map_or(Value::Null, Value::Number);
        json!({
            "schemaVersion": 2,
            "modules": {
                "cards": self.cards.enabled, "docs": self.docs.enabled, "changelog": self.changelog.enabled,
                "memory": self.memory.enabled, "agents": self.agents.enabled, "ci": self.ci.enabled, "mcp": self.mcp.enabled,
            },
            "cards": {
                "statuses": words::STATUSES, "types": words::TYPES, "priorities": words::PRIORITIES, "efforts": words::EFFORTS,
                "areas": self.cards.areas, "axes": pairs(&self.cards.axes),
                "verification": {
                    "commands": self.cards.commands, "timeoutSeconds": self.cards.timeout_seconds, "methods": pairs(&self.cards.methods),
                },
            },
            "docs": {
                "kinds": self.docs.kinds, "statuses": self.docs.statuses, "layout": if self.docs.by_kind { "kind" } else { "flat" },
                "managedPath": self.docs.managed_path,
                "defaults": { "kind": self.docs.default_kind, "status": self.docs.default_status },
            },
            "memory": { "collections": collections },
            "agents": {
                "targets": self.agents.targets, "canonicalInstructions": self.agents.canonical, "workflowsPath": self.agents.workflows_path,
            },
            "ci": { "targets": self.ci.targets, "nodeVersion": self.ci.node_version },
            "mcp": { "transport": "stdio", "allowMutations": self.mcp.allow_mutations, "resourcePageSize": self.mcp.resource_page_size },
            "search": {
                "provider": self.search.provider, "semanticWeight": weight, "maxProviderRecords": self.search.max_provider_records,
            },
            "changelog": {
                "releaseStrategy": self.changelog.strategy, "types": self.changelog.types, "visibilities": self.changelog.visibilities,
                "defaults": { "type": self.changelog.default_type, "visibility": self.changelog.default_visibility },
            },
        })
    }
}

impl Checker<'_> {
    fn read(&mut self) -> Config {
        let name = self.text("name", "CONFIG_NAME_REQUIRED");
        let storage_root = self.path("storage.root");
        let cache = self.path("storage.cache");
        let cards = CardsConfig {
            enabled: self.flag("cards.enabled", "CONFIG_CARDS_REQUIRED"),
            path: self.path("cards.path"),
            archive_path: self.path("cards.archivePath"),
            assets_path: self.path("cards.assetsPath"),
            id_prefix: self.prefix("cards.idPrefix", "CONFIG_CARD_PREFIX_INVALID"),
            max_depth: usize::try_from(self.integer(
                "cards.maxHierarchyDepth",
                0..=10,
                "CONFIG_HIERARCHY_DEPTH_INVALID",
            ))
            .unwrap_or(0),
            lease_hours: self.number("cards.claimLeaseHours", |hours| hours > 0.0, "CONFIG_CLAIM_LEASE_INVALID"),
            activity_trail: self.flag("cards.activityTrail", "CONFIG_CARDS_REQUIRED"),
            areas: self.list_with(
                "cards.areas",
                false,
                [
                    "CONFIG_CARDS_AREAS_REQUIRED",
                    "CONFIG_CARDS_AREAS_REQUIRED",
                    "CONFIG_CARDS_AREA_INVALID",
                    "CONFIG_CARDS_AREA_DUPLICATE",
                ],
            ),
            axes: self.axes(),
            commands: self.commands(),
            timeout_seconds: u64::try_from(self.integer(
                "cards.verification.timeoutSeconds",
                1..=43_200,
                "CONFIG_CARDS_VERIFY_TIMEOUT_INVALID",
            ))
            .unwrap_or(600),
            methods: self.methods(),
        };
        let kinds = self.list("docs.kinds", false);
        let statuses = self.list("docs.statuses", false);
        let docs = DocsConfig {
            enabled: self.flag("docs.enabled", "CONFIG_DOCS_REQUIRED"),
            managed_path: self.path("docs.managedPath"),
            by_kind: self.choice("docs.layout", &["kind", "flat"], "CONFIG_DOC_LAYOUT_INVALID") == "kind",
            sources: self.paths("docs.sources"),
            exclude: self.paths("docs.exclude"),
            route_roots: self.paths("docs.routeRoots"),
            id_prefix: self.prefix("docs.idPrefix", "CONFIG_DOC_PREFIX_INVALID"),
            default_kind: self.listed("docs.defaultKind", &kinds, "CONFIG_DOC_DEFAULT_KIND_INVALID"),
            default_status: self.listed("docs.defaultStatus", &statuses, "CONFIG_DOC_DEFAULT_STATUS_INVALID"),
            kinds,
            statuses,
            review_interval_days: self.integer(
                "docs.reviewIntervalDays",
                0..=1_000_000,
                "CONFIG_DOC_REVIEW_INTERVAL_INVALID",
            ),
            max_file_bytes: u64::try_from(self.integer(
                "docs.maxFileBytes",
                1024..=1_073_741_824,
                "CONFIG_DOC_MAX_FILE_BYTES_INVALID",
            ))
            .unwrap_or(0),
        };
        let types = self.list("changelog.types", false);
        let visibilities = self.list("changelog.visibilities", false);
        let changelog = ChangelogConfig {
            enabled: self.flag("changelog.enabled", "CONFIG_CHANGELOG_REQUIRED"),
            fragments_path: self.path("changelog.fragmentsPath"),
            releases_path: self.path("changelog.releasesPath"),
            output: self.path("changelog.output"),
            strategy: self.choice(
                "changelog.releaseStrategy",
                &["semver", "calendar", "freeform"],
                "CONFIG_RELEASE_STRATEGY_INVALID",
            ),
            id_prefix: self.prefix("changelog.idPrefix", "CONFIG_CHANGELOG_PREFIX_INVALID"),
            release_prefix: self.prefix("changelog.releasePrefix", "CONFIG_RELEASE_PREFIX_INVALID"),
            default_type: self.listed("changelog.defaultType", &types, "CONFIG_CHANGELOG_DEFAULT_TYPE_INVALID"),
            default_visibility: self.listed(
                "changelog.defaultVisibility",
                &visibilities,
                "CONFIG_CHANGELOG_DEFAULT_VISIBILITY_INVALID",
            ),
            types,
            visibilities,
        };
        let memory = MemoryConfig {
            enabled: self.flag("memory.enabled", "CONFIG_MEMORY_REQUIRED"),
            path: self.path("memory.path"),
            collections: self.collections(),
        };
        let agents = AgentsConfig {
            enabled: self.flag("agents.enabled", "CONFIG_AGENTS_REQUIRED"),
            canonical: self.path_or("agents.canonicalInstructions", "CONFIG_AGENT_PATH_INVALID"),
            workflows_path: self.path_or("agents.workflowsPath", "CONFIG_AGENT_PATH_INVALID"),
            targets: self.targets(
                "agents.targets",
                &["agents-md", "claude", "cursor", "copilot"],
                "CONFIG_AGENT_TARGET_UNSUPPORTED",
            ),
        };
        let ci = CiConfig {
            enabled: self.flag("ci.enabled", "CONFIG_CI_REQUIRED"),
            targets: self.targets("ci.targets", &["github", "gitlab", "generic"], "CONFIG_CI_TARGET_UNSUPPORTED"),
            node_version: self.text("ci.nodeVersion", "CONFIG_CI_NODE_VERSION_INVALID"),
            install: self.install(),
        };
        let limit = |check: &mut Self, path, range| {
            usize::try_from(check.integer(path, range, "CONFIG_MCP_LIMIT_INVALID")).unwrap_or(1024)
        };
        self.choice("mcp.transport", &["stdio"], "CONFIG_MCP_TRANSPORT_INVALID");
        let mcp = McpConfig {
            enabled: self.flag("mcp.enabled", "CONFIG_MCP_BOOLEAN_INVALID"),
            allow_mutations: self.flag("mcp.allowMutations", "CONFIG_MCP_BOOLEAN_INVALID"),
            resource_page_size: limit(self, "mcp.resourcePageSize", 1..=500),
            max_message_bytes: limit(self, "mcp.maxMessageBytes", 1024..=16_777_216),
            max_tool_result_bytes: limit(self, "mcp.maxToolResultBytes", 1024..=16_777_216),
        };
        let provider = match self.at("search.provider").clone() {
            Value::Null => None,
            Value::String(id) if !id.trim().is_empty() => Some(id),
            _ => {
                self.fail(
                    "CONFIG_SEARCH_PROVIDER_INVALID",
                    "search.provider",
                    "`search.provider` must be an id or null",
                );
                None
            }
        };
        let search = SearchConfig {
            provider,
            semantic_weight: self.number(
                "search.semanticWeight",
                |weight| (0.0..=1.0).contains(&weight),
                "CONFIG_SEARCH_WEIGHT_INVALID",
            ),
            max_provider_records: u64::try_from(self.integer(
                "search.maxProviderRecords",
                1..=5000,
                "CONFIG_SEARCH_PROVIDER_LIMIT_INVALID",
            ))
            .unwrap_or(1),
        };
        self.integer("ui.port", 0..=65_535, "CONFIG_UI_PORT_INVALID");
        Config { name, storage_root, cache, cards, docs, changelog, memory, agents, ci, mcp, search }
    }
}

/// A configuration of nothing but defaults.
impl Default for Config {
    fn default() -> Self {
        let whole = defaults();
        Checker { value: &whole, issues: Vec::new() }.read()
    }
}

/// Turns TOML into the same data.
pub(crate) fn from_toml(text: &str) -> std::result::Result<Value, String> {
    fn value(item: &toml_edit::Value) -> Value {
        match item {
            toml_edit::Value::String(text) => Value::String(text.value().clone()),
            toml_edit::Value::Integer(number) => json!(number.value()),
            toml_edit::Value::Float(number) => json!(number.value()),
            toml_edit::Value::Boolean(yes) => json!(yes.value()),
            toml_edit::Value::Datetime(time) => Value::String(time.value().to_string()),
            toml_edit::Value::Array(items) => Value::Array(items.iter().map(value).collect()),
            toml_edit::Value::InlineTable(table) => {
                Value::Object(table.iter().map(|(key, item)| (key.to_owned(), value(item))).collect())
            }
        }
    }
    fn item(found: &toml_edit::Item) -> Value {
        match found {
            toml_edit::Item::None => Value::Null,
            toml_edit::Item::Value(inner) => value(inner),
            toml_edit::Item::Table(inner) => table(inner),
            toml_edit::Item::ArrayOfTables(tables) => Value::Array(tables.iter().map(table).collect()),
        }
    }
    fn table(found: &toml_edit::Table) -> Value {
        Value::Object(found.iter().map(|(key, inner)| (key.to_owned(), item(inner))).collect())
    }
    let document: toml_edit::DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    Ok(table(document.as_table()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[test]
    fn an_empty_configuration_is_the_default() {
        let config = Config::from_value(json!({})).expect("defaults are valid");
        assert_eq!(config.schema(), Config::default().schema());
        assert_eq!(config.cards.areas, ["general"]);
    }

    #[rstest]
    #[case(json!({"schemaVersion": 3}), "CONFIG_SCHEMA_UNSUPPORTED")]
    #[case(json!({"name": " "}), "CONFIG_NAME_REQUIRED")]
    #[case(json!({"cards": 1}), "CONFIG_CARDS_REQUIRED")]
    #[case(json!({"cards": {"path": "../out"}}), "CONFIG_PATH_OUTSIDE_WORKSPACE")]
    #[case(json!({"storage": {"root": "/etc"}}), "CONFIG_PATH_OUTSIDE_WORKSPACE")]
    #[case(json!({"agents": {"canonicalInstructions": "../out/p.md"}}), "CONFIG_AGENT_PATH_INVALID")]
    #[case(json!({"agents": {"workflowsPath": "/etc"}}), "CONFIG_AGENT_PATH_INVALID")]
    #[case(json!({"docs": {"sources": ["../*.md"]}}), "CONFIG_PATH_OUTSIDE_WORKSPACE")]
    #[case(json!({"docs": {"sources": ["/etc/*.md"]}}), "CONFIG_PATH_OUTSIDE_WORKSPACE")]
    #[case(json!({"docs": {"routeRoots": ["a/../../b"]}}), "CONFIG_PATH_OUTSIDE_WORKSPACE")]
    #[case(json!({"cards": {"idPrefix": "t"}}), "CONFIG_CARD_PREFIX_INVALID")]
    #[case(json!({"cards": {"areas": []}}), "CONFIG_CARDS_AREAS_REQUIRED")]
    #[case(json!({"cards": {"areas": ["a", "a"]}}), "CONFIG_CARDS_AREA_DUPLICATE")]
    #[case(json!({"cards": {"axes": {"Status": ["a"]}}}), "CONFIG_CARDS_AXIS_NAME_INVALID")]
    #[case(json!({"cards": {"axes": {"status": ["a"]}}}), "CONFIG_CARDS_AXIS_RESERVED")]
    #[case(json!({"cards": {"axes": {"shift": []}}}), "CONFIG_LIST_EMPTY")]
    #[case(json!({"cards": {"verification": {"commands": [["a\n"]]}}}), "CONFIG_CARDS_VERIFY_COMMAND_INVALID")]
    #[case(json!({"cards": {"verification": {"methods": {"api": ["magic"]}}}}), "CONFIG_CARDS_VERIFICATION_METHOD_INVALID")]
    #[case(json!({"docs": {"defaultKind": "poem"}}), "CONFIG_DOC_DEFAULT_KIND_INVALID")]
    #[case(json!({"changelog": {"releaseStrategy": "x"}}), "CONFIG_RELEASE_STRATEGY_INVALID")]
    #[case(json!({"memory": {"collections": ["poems"]}}), "CONFIG_MEMORY_COLLECTION_UNSUPPORTED")]
    #[case(json!({"mcp": {"maxMessageBytes": 1023}}), "CONFIG_MCP_LIMIT_INVALID")]
    #[case(json!({"search": {"semanticWeight": 2}}), "CONFIG_SEARCH_WEIGHT_INVALID")]
    #[case(json!({"ui": {"port": 70000}}), "CONFIG_UI_PORT_INVALID")]
    fn a_wrong_setting_is_named(#[case] declared: Value, #[case] code: &str) {
        assert_eq!(Config::from_value(declared).expect_err("wrong").code, code);
    }

    #[test]
    fn all_problems_are_listed() {
        let error = Config::from_value(json!({"name": "", "cards": {"claimLeaseHours": 0}})).expect_err("wrong");
        let issues = error.details.and_then(|details| details["issues"].as_array().map(Vec::len));
        assert_eq!((error.code, issues), ("CONFIG_NAME_REQUIRED", Some(2)));
        for declared in [json!({"docs": 5}), json!({"cards": []}), json!({"cards": {"path": ""}})] {
            let error = Config::from_value(declared.clone()).expect_err("wrong");
            let issues = error.details.and_then(|details| details["issues"].as_array().map(Vec::len));
            assert_eq!(issues, Some(1), "{declared}");
        }
    }

    #[test]
    fn policies_do_not_reach_what_is_built_in() {
        let config = Config::from_value(json!({"cards": {"verification": {"methods": {"*": ["ci"]}}}})).expect("valid");
        assert_eq!(config.methods("toString"), Some(["ci".to_owned()].as_slice()));
        assert_eq!(Config::default().methods("api"), None);
    }

    #[test]
    fn toml_is_the_same_data() {
        let value = from_toml("name = 'x'\n[cards]\nareas = ['a']\n[cards.axes]\nshift = ['day']\n").expect("TOML");
        assert_eq!(value, json!({"name": "x", "cards": {"areas": ["a"], "axes": {"shift": ["day"]}}}));
        assert!(from_toml("name =").is_err());
    }
}
