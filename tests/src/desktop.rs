//! A desktop of its own for tests of the real window: a screen, a session bus, a window manager.
//!
//! The bus starts no services, so that nothing but what a test started is on it.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use process::BlockingChild;

use crate::environment::{Environment, executable};

/// The window's executable, beside the other one.
#[must_use]
pub fn desktop_executable() -> PathBuf {
    executable().with_file_name("workflow-code-desktop")
}

/// How long a part of the desktop may take to start.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running desktop. Everything it started ends with it.
#[derive(Debug)]
pub struct Desktop {
    /// The home in which everything is started.
    pub environment: Environment,
    display: String,
    bus: String,
    parts: Vec<Part>,
}

/// A program that runs in the background, with what it says.
#[derive(Debug)]
pub struct Part {
    child: BlockingChild,
    /// Lines of standard output and standard error, as they come.
    pub lines: Receiver<String>,
}

impl Part {
    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until a line has what `wanted` looks for, and returns that.
    ///
    /// # Errors
    ///
    /// When no such line came in half a minute, or the program has ended.
    pub fn wait_for<T>(&self, mut wanted: impl FnMut(&str) -> Option<T>) -> std::io::Result<T> {
        let deadline = Instant::now() + PATIENCE;
        let mut said = String::new();
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    if let Some(found) = wanted(&line) {
                        return Ok(found);
                    }
                    said += &line;
                    said.push('\n');
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Err(std::io::Error::other(format!("it never said what was waited for, but:\n{said}")));
                }
            }
        }
    }

    /// Waits for its end and returns its exit code; -1 when a signal ended it.
    ///
    /// # Errors
    ///
    /// When it has not ended in half a minute.
    pub fn wait(&mut self) -> std::io::Result<i32> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status.code().unwrap_or(-1));
            }
            std::thread::park_timeout(Duration::from_millis(5));
        }
        Err(std::io::Error::other("it has not ended"))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            process::tree::kill(self.child.id());
            let _ = self.child.wait();
        }
    }
}

impl Desktop {
    /// Starts a desktop with a screen of this size.
    ///
    /// # Errors
    ///
    /// When one of its programs is missing or does not start: `cargo xtask prepare` installs them.
    pub fn start(width: u32, height: u32) -> std::io::Result<Self> {
        let environment = Environment::new()?;
        let mut desktop = Self { environment, display: String::new(), bus: String::new(), parts: Vec::new() };
        let home = desktop.environment.home();
        let runtime = home.join("runtime");
        fs::create_dir(&runtime)?;
        fs::set_permissions(&runtime, fs::Permissions::from_mode(0o700))?;
        desktop.environment.set("XDG_RUNTIME_DIR", runtime.as_os_str());
        desktop.environment.set("LANG", "C.UTF-8");
        let bus = desktop.environment.write("bus.conf", bus_configuration(&runtime))?;
        let screen = format!("{width}x{height}x24");
        let server = ["-displayfd", "1", "-screen", "0", &screen, "-nolisten", "tcp", "-noreset"];
        let server = desktop.part("Xvfb", &server)?;
        let number: u32 = server.wait_for(|line| line.trim().parse().ok())?;
        desktop.display = format!(":{number}");
        desktop.parts.push(server);
        desktop.environment.set("DISPLAY", desktop.display.clone());
        let arguments = ["--nofork", "--print-address=1", "--config-file"].map(OsStr::new);
        let bus = desktop.part("dbus-daemon", &[&arguments[..], &[bus.as_os_str()]].concat())?;
        let address = bus.wait_for(|line| line.starts_with("unix:").then(|| line.trim().to_owned()))?;
        desktop.parts.push(bus);
        desktop.environment.set("DBUS_SESSION_BUS_ADDRESS", address.clone());
        desktop.bus = address;
        // What a window in a virtual screen needs: no portal, no accessibility bus, and frames that really appear.
        for (name, value) in [
            ("GDK_BACKEND", "x11"),
            ("NO_AT_BRIDGE", "1"),
            ("GTK_USE_PORTAL", "0"),
            ("WEBKIT_DISABLE_DMABUF_RENDERER", "1"),
        ] {
            desktop.environment.set(name, value);
        }
        let manager = desktop.part("openbox", &["--sm-disable"])?;
        desktop.parts.push(manager);
        desktop.wait_for_manager()?;
        Ok(desktop)
    }

    /// The screen's name.
    #[must_use]
    pub fn display(&self) -> &str {
        &self.display
    }

    /// The session bus's address.
    #[must_use]
    pub fn bus(&self) -> &str {
        &self.bus
    }

    /// Starts a program here, in the background.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub fn part<S: AsRef<OsStr>>(&self, program: impl AsRef<OsStr>, arguments: &[S]) -> std::io::Result<Part> {
        let name = program.as_ref().to_string_lossy().into_owned();
        let mut child = self
            .environment
            .start(program, arguments)
            .map_err(|error| std::io::Error::other(format!("`{name}`: {error} (`cargo xtask prepare` installs it)")))?;
        let (sender, lines) = channel();
        let streams: [Option<Box<dyn Read + Send>>; 2] =
            [child.stdout.take().map(|one| Box::new(one) as _), child.stderr.take().map(|one| Box::new(one) as _)];
        for stream in streams.into_iter().flatten() {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
                    if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                        break;
                    }
                }
            });
        }
        Ok(Part { child, lines })
    }

    /// Takes a picture of the screen.
    ///
    /// # Errors
    ///
    /// When it cannot be taken or written.
    pub fn picture(&self, file: &Path) -> std::io::Result<()> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        let arguments = [OsStr::new("-window"), OsStr::new("root"), file.as_os_str()];
        let taken = self.environment.run_program("import", &arguments, b"")?;
        if taken.code == 0 { Ok(()) } else { Err(std::io::Error::other(taken.stderr)) }
    }

    /// The titles of the windows on the screen that have one.
    ///
    /// # Errors
    ///
    /// When the screen cannot be asked.
    pub fn titles(&self) -> std::io::Result<Vec<String>> {
        let mut titles = Vec::new();
        for id in self.windows()? {
            let name = self.property(&["-id", &id, "_NET_WM_NAME"])?;
            titles.extend(name.split_once(" = ").map(|(_, title)| title.trim().trim_matches('"').to_owned()));
        }
        Ok(titles)
    }

    /// Asks every window to close, as its button does.
    ///
    /// # Errors
    ///
    /// When the screen cannot be asked.
    pub fn close_windows(&self) -> std::io::Result<()> {
        for id in self.windows()? {
            self.environment.run_program("wmctrl", &["-i", "-c", &id], b"")?;
        }
        Ok(())
    }

    fn windows(&self) -> std::io::Result<Vec<String>> {
        let root = self.property(&["-root", "_NET_CLIENT_LIST"])?;
        Ok(root.split(['#', ',']).map(str::trim).filter(|id| id.starts_with("0x")).map(str::to_owned).collect())
    }

    fn property(&self, arguments: &[&str]) -> std::io::Result<String> {
        Ok(self.environment.run_program("xprop", arguments, b"")?.stdout)
    }

    fn wait_for_manager(&self) -> std::io::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if self.property(&["-root", "_NET_SUPPORTING_WM_CHECK"])?.contains("0x") {
                return Ok(());
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
        Err(std::io::Error::other("the window manager has not taken the screen"))
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        // The screen last: whoever is on it would complain.
        while let Some(part) = self.parts.pop() {
            drop(part);
        }
    }
}

fn bus_configuration(runtime: &Path) -> String {
    format!(
        "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\"\n \
         \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\n<busconfig>\n<type>session</type>\n\
         <listen>unix:path={}/bus</listen>\n<policy context=\"default\">\n<allow send_destination=\"*\"/>\n\
         <allow receive_sender=\"*\"/>\n<allow own=\"*\"/>\n</policy>\n</busconfig>\n",
        runtime.display()
    )
}
