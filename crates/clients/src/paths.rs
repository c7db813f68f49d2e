//! Where clients keep their files, for a home folder and a platform that are given.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The operating system whose conventions hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// Linux and other free Unix systems.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Platform {
    /// Returns the platform this program was built for.
    #[must_use]
    pub fn current() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Linux
        }
    }
}

/// For whom a server is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// For the person, in every project.
    User,
    /// For whoever works in one project's folder.
    Project,
}

impl Scope {
    /// Returns `user` or `project`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// The folders of the person for whom configurations are written. All absolute.
#[derive(Debug, Clone)]
pub struct ClientPaths {
    /// Whose conventions hold.
    pub platform: Platform,
    /// The home folder.
    pub home: PathBuf,
    /// `XDG_CONFIG_HOME`, when set.
    pub config_home: Option<PathBuf>,
    /// `CODEX_HOME`, when set.
    pub codex_home: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`, when set.
    pub claude_config_dir: Option<PathBuf>,
    /// `APPDATA` (Windows), when set.
    pub app_data: Option<PathBuf>,
    /// The project's folder, for [`Scope::Project`].
    pub project: Option<PathBuf>,
}

impl ClientPaths {
    /// Makes paths of a home folder alone; the rest follows the platform's defaults.
    #[must_use]
    pub fn new(platform: Platform, home: impl Into<PathBuf>) -> Self {
        Self {
            platform,
            home: home.into(),
            config_home: None,
            codex_home: None,
            claude_config_dir: None,
            app_data: None,
            project: None,
        }
    }

    /// Adds the folder that [`Scope::Project`] means.
    #[must_use]
    pub fn with_project(mut self, project: impl Into<PathBuf>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// Returns where `place` lies, or `None` when it is another platform's or no project is given.
    pub(crate) fn locate(&self, place: &Place) -> Option<PathBuf> {
        if place.on.is_some_and(|platform| platform != self.platform) {
            return None;
        }
        let base = match place.base {
            Base::Home => self.home.clone(),
            Base::Config => self.config_home.clone().unwrap_or_else(|| self.join(&self.home, &[".config"])),
            Base::MacSupport => self.join(&self.home, &["Library", "Application Support"]),
            Base::AppData => self.app_data.clone().unwrap_or_else(|| self.join(&self.home, &["AppData", "Roaming"])),
            Base::Codex => self.codex_home.clone().unwrap_or_else(|| self.join(&self.home, &[".codex"])),
            Base::Claude => self.claude_config_dir.clone().unwrap_or_else(|| self.home.clone()),
            Base::Project => self.project.clone()?,
        };
        Some(self.join(&base, place.path))
    }

    /// Joins with the separator of the platform that is meant, which in tests is not always the one we run on.
    fn join(&self, base: &Path, parts: &[&str]) -> PathBuf {
        if self.platform == Platform::Windows && !cfg!(windows) {
            let mut text = base.to_string_lossy().into_owned();
            for part in parts {
                text.push('\\');
                text.push_str(part);
            }
            return PathBuf::from(text);
        }
        let mut path = base.to_path_buf();
        path.extend(parts);
        path
    }
}

/// The folder a place starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    Home,
    Config,
    MacSupport,
    AppData,
    Codex,
    Claude,
    Project,
}

/// A file or folder of a client: platform (or all), base, and the way from there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) on: Option<Platform>,
    pub(crate) base: Base,
    pub(crate) path: &'static [&'static str],
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place { on: None, base: Base::Config, path: &["zed", "settings.json"] };

    #[test]
    fn the_configuration_folder_is_the_one_given() {
        let mut paths = ClientPaths::new(Platform::Linux, "/home/zoë");
        assert_eq!(paths.locate(&PLACE), Some(PathBuf::from("/home/zoë/.config/zed/settings.json")));
        paths.config_home = Some(PathBuf::from("/cfg"));
        assert_eq!(paths.locate(&PLACE), Some(PathBuf::from("/cfg/zed/settings.json")));
    }

    #[test]
    fn windows_paths_have_backslashes_wherever_they_are_made() {
        let paths = ClientPaths::new(Platform::Windows, r"C:\Users\Zoë");
        let place = Place { on: Some(Platform::Windows), base: Base::AppData, path: &["Claude", "x.json"] };
        assert_eq!(paths.locate(&place), Some(PathBuf::from(r"C:\Users\Zoë\AppData\Roaming\Claude\x.json")));
        let other = Place { on: Some(Platform::MacOs), ..place };
        assert_eq!(paths.locate(&other), None);
    }

    #[test]
    fn a_project_file_needs_a_project() {
        let place = Place { on: None, base: Base::Project, path: &[".mcp.json"] };
        let paths = ClientPaths::new(Platform::Linux, "/h");
        assert_eq!(paths.locate(&place), None);
        assert_eq!(paths.with_project("/p").locate(&place), Some(PathBuf::from("/p/.mcp.json")));
    }
}
