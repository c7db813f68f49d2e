use super::*;
use crate::params::{Purpose, read_params};
use rstest::rstest;
use serde_json::json;
use std::os::unix::fs::{PermissionsExt, symlink};

struct World {
    folder: tempfile::TempDir,
    files: ManagedFiles,
}

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let files = ManagedFiles::new(folder.path().join("files"), folder.path().join("created"));
    World { folder, files }
}

impl World {
    fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn left_over(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.folder.path().join("files")) else { return Vec::new() };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with('.')).collect()
    }
}

const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_file_is_copied_under_its_digest_and_name() {
    let world = world();
    let path = world.write("Report É.txt", b"abc");
    let file = world.files.import(&path).unwrap();
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(
        file,
        FileRef {
            file: format!("{digest}/Report É.txt"),
            name: "Report É.txt".into(),
            size: 3,
            media_type: "text/plain".into()
        }
    );
    let stored = world.files.resolve(&file.file).unwrap();
    assert_eq!(std::fs::read(&stored).unwrap(), b"abc");
    assert_eq!(mode(&stored), 0o400);
    assert_eq!(mode(stored.parent().unwrap()), 0o700);
    // Again: the same handle, nothing left over. The source's later life is its own.
    assert_eq!(world.files.import(&path).unwrap(), file);
    std::fs::write(&path, b"changed").unwrap();
    assert_eq!(world.files.read(&file.file).unwrap(), b"abc");
    assert_ne!(world.files.import(&path).unwrap().file, file.file);
    assert!(world.left_over().is_empty());
    assert_eq!(world.files.info(&file.file).unwrap(), file);
}

#[test]
fn an_empty_file_is_a_file_and_a_link_keeps_the_name_that_was_given() {
    let world = world();
    let path = world.write("empty", b"");
    assert_eq!(world.files.import(&path).unwrap().file, format!("{EMPTY}/empty"));
    let link = world.folder.path().join("link.md");
    symlink(&path, &link).unwrap();
    let file = world.files.import(link.to_str().unwrap()).unwrap();
    assert_eq!((file.name.as_str(), file.media_type.as_str()), ("link.md", "text/markdown"));
}

#[rstest]
#[case::relative("docs/a.txt", "not the relative path \"docs/a.txt\"")]
#[case::file_url("file:///etc/hostname", "not the URL")]
#[case::http("https://example.com/a", "not the URL")]
#[case::data("data:text/plain;base64,YQ==", "not the data itself")]
#[case::base64("SGVsbG8=", "not the relative path")]
#[case::empty("", "not an empty text")]
#[case::nul("/etc/host\0name", "NUL")]
#[case::home("~/a.txt", "not the relative path")]
#[case::folder("/etc", "`/etc` is a folder")]
#[case::missing("/nowhere/none.txt", "`/nowhere/none.txt` does not exist")]
#[case::device("/dev/zero", "is a device")]
#[case::proc("/proc/self/environ", "is a view of the system")]
#[case::proc_link("/proc/self/fd/0/../../environ", "cannot be used")]
#[case::below_a_file("/etc/hostname/x", "does not exist")]
fn what_is_no_file_on_a_disk_is_refused(#[case] path: &str, #[case] words: &str) {
    let world = world();
    let message = world.files.import(path).unwrap_err().to_string();
    assert!(message.contains(words), "{message}");
    assert!(!world.folder.path().join("files").exists(), "nothing was created");
}

#[test]
fn pipes_and_sockets_are_refused_at_once() {
    let world = world();
    let pipe = world.folder.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    let message = world.files.import(pipe.to_str().unwrap()).unwrap_err().to_string();
    assert!(message.contains("a named pipe"), "{message}");
    let link = world.folder.path().join("link");
    symlink(&pipe, &link).unwrap();
    let message = world.files.import(link.to_str().unwrap()).unwrap_err().to_string();
    assert!(message.contains("a named pipe"), "{message}");
    let socket = world.folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let message = world.files.import(socket.to_str().unwrap()).unwrap_err().to_string();
    assert!(message.contains("a socket"), "{message}");
}

#[test]
fn the_limit_is_exactly_fifty_megabytes() {
    let world = world();
    // Sparse: no byte of it is written.
    let path = world.write("big.bin", b"");
    let file = File::options().write(true).open(&path).unwrap();
    file.set_len(Limits::FILE_BYTES + 1).unwrap();
    let message = world.files.import(&path).unwrap_err().to_string();
    assert!(message.contains("52428801 bytes") && message.contains("50 MB (52428800 bytes)"), "{message}");
    file.set_len(Limits::FILE_BYTES).unwrap();
    assert_eq!(world.files.import(&path).unwrap().size, Limits::FILE_BYTES);
}

#[test]
fn what_grows_while_it_is_copied_is_copied_as_it_was() {
    let world = world();
    let path = world.write("log.txt", b"one\n");
    let source = open_source(&path).unwrap();
    let mut appended = File::options().append(true).open(&path).unwrap();
    appended.write_all(&vec![b'x'; 100_000]).unwrap();
    let file = world.files.copy(&source).unwrap();
    assert_eq!((file.size, world.files.read(&file.file).unwrap()), (4, b"one\n".to_vec()));
}

#[test]
fn what_shrinks_or_is_rewritten_while_it_is_copied_is_refused() {
    let world = world();
    let path = world.write("a.txt", b"one two");
    let source = open_source(&path).unwrap();
    File::options().write(true).open(&path).unwrap().set_len(3).unwrap();
    assert!(matches!(world.files.copy(&source), Err(FileError::Changing { .. })));
    assert!(world.left_over().is_empty());
    // The import itself looks again, and finds a file that keeps still.
    assert_eq!(world.files.import(&path).unwrap().size, 3);
}

#[test]
fn an_exchanged_file_gives_the_old_or_the_new_one_but_no_mixture() {
    let world = world();
    let path = world.write("a.txt", b"old");
    let source = open_source(&path).unwrap();
    let new = world.write("b.txt", b"new and longer");
    std::fs::rename(new, &path).unwrap();
    let file = world.files.copy(&source).unwrap();
    assert_eq!(world.files.read(&file.file).unwrap(), b"old");
    let file = world.files.import(&path).unwrap();
    assert_eq!(world.files.read(&file.file).unwrap(), b"new and longer");
}

#[test]
fn a_writer_at_work_never_yields_a_torn_file() {
    let world = world();
    let path = world.write("busy.txt", &[b'a'; 200_000]);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut letter = b'b';
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                // Whole files, put in place at once, as careful writers do.
                let next = world.write("next", &vec![letter; 200_000 + usize::from(letter)]);
                std::fs::rename(next, &path).unwrap();
                letter = if letter == b'z' { b'a' } else { letter + 1 };
            }
        });
        for _ in 0..20 {
            match world.files.import(&path) {
                Ok(file) => {
                    let bytes = world.files.read(&file.file).unwrap();
                    assert!(bytes.iter().all(|byte| *byte == bytes[0]), "a mixture");
                }
                // Exchanged between the look and the opening.
                Err(FileError::Unusable { source: ReadError::Exchanged { .. } }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn a_damaged_copy_in_the_store_is_put_right() {
    let world = world();
    let path = world.write("a.txt", b"abc");
    let file = world.files.import(&path).unwrap();
    let stored = world.files.resolve(&file.file).unwrap();
    std::fs::remove_file(&stored).unwrap();
    std::fs::write(&stored, b"").unwrap();
    world.files.import(&path).unwrap();
    assert_eq!(world.files.read(&file.file).unwrap(), b"abc");
}

#[rstest]
#[case("../../etc/passwd")]
#[case("/etc/passwd")]
#[case("")]
#[case("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855/..")]
#[case("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855/../x/secret")]
#[case("E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855/empty")]
#[case("created/../files/x")]
#[case("created/20260828-abcd/../../secret")]
#[case("created/20260828-abcd/.")]
#[case("created/../secret")]
#[case("ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff/link")]
#[case("eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee/secret")]
fn handles_lead_to_stored_files_only(#[case] handle: &str) {
    let world = world();
    world.files.import(&world.write("empty", b"")).unwrap();
    let secret = world.write("secret", b"s");
    // Links that somebody put into the store.
    let folder = world.folder.path().join("files").join("f".repeat(64));
    std::fs::create_dir(&folder).unwrap();
    symlink(&secret, folder.join("link")).unwrap();
    symlink(world.folder.path(), world.folder.path().join("files").join("e".repeat(64))).unwrap();
    assert!(matches!(world.files.resolve(handle), Err(FileError::UnknownHandle { .. })));
}

#[test]
fn inputs_are_imported_by_name_and_turned_into_paths() {
    let world = world();
    let declarations =
        json!({"doc": {"type": "file"}, "more": {"type": "file", "multiple": true}, "text": {"type": "string"}});
    let params = read_params(&declarations, Purpose::Entrypoint).unwrap();
    let (a, b) = (world.write("a.txt", b"alpha\n"), world.write("b.txt", b"beta\n"));
    let mut input = json!({"doc": a, "more": [b, a], "text": "/etc/hostname"}).as_object().unwrap().clone();
    let imported = world.files.import_all(&params, &mut input).unwrap();
    assert_eq!(imported.len(), 3);
    assert_eq!(input["doc"]["name"], "a.txt");
    assert_eq!(input["more"][0]["size"], 5);
    assert_eq!(input["text"], "/etc/hostname");
    // A handle given on to a child stays what it is.
    let mut again = input.clone();
    world.files.import_all(&params, &mut again).unwrap();
    assert_eq!(again, input);
    let paths = world.files.with_paths(&params, &input).unwrap();
    let path = paths["doc"].as_str().unwrap();
    assert!(path.ends_with("/a.txt") && std::fs::read(path).unwrap() == b"alpha\n", "{path}");
}

#[test]
fn all_bad_files_are_named_together() {
    let world = world();
    let declarations = json!({"doc": {"type": "file"}, "more": {"type": "file", "multiple": true}});
    let params = read_params(&declarations, Purpose::Entrypoint).unwrap();
    let input = json!({"doc": "/dev/zero", "more": [world.write("a", b"x"), "none.txt"]});
    let faults = Faults { faults: probe_all(&params, &input) };
    assert_eq!(faults.faults.len(), 2);
    let message = faults.to_string();
    assert!(message.starts_with("`doc` cannot be used: `/dev/zero` is a device"), "{message}");
    assert!(message.contains("`more[1]` must be the absolute path of a file on this machine"), "{message}");
    assert!(!world.folder.path().join("files").exists(), "a look imports nothing");
    let forged = json!({"file": "../secret", "name": "x", "size": 1, "mediaType": "y"});
    let mut input = json!({ "doc": forged }).as_object().unwrap().clone();
    assert!(world.files.import_all(&params, &mut input).is_err());
}

#[test]
fn created_files_keep_what_a_handle_meant() {
    let world = world();
    let run: RunId = "20260828-abcd".parse().unwrap();
    assert!(world.files.list_created(&run).unwrap().is_empty());
    let one = world.files.create(&run, "page.md", b"one").unwrap();
    assert_eq!(one.file, "created/20260828-abcd/page.md");
    assert_eq!(world.files.create(&run, "page.md", b"one").unwrap(), one);
    let two = world.files.create(&run, "page.md", b"two").unwrap();
    assert_eq!(two.name, "page (2).md");
    assert_eq!(world.files.create(&run, "page.md", b"two").unwrap(), two);
    assert_eq!(world.files.read(&one.file).unwrap(), b"one");
    let odd = world.files.create(&run, "../../up/\u{7}x", b"3").unwrap();
    assert_eq!(odd.name, ".._.._up__x");
    let names: Vec<_> = world.files.list_created(&run).unwrap().into_iter().map(|file| file.name).collect();
    assert_eq!(names, [".._.._up__x", "page (2).md", "page.md"]);
    assert_eq!(mode(&world.files.resolve(&one.file).unwrap()), 0o400);
}

#[test]
fn a_created_file_has_the_same_limit() {
    let world = world();
    let run: RunId = "20260828-abcd".parse().unwrap();
    let bytes = vec![0; usize::try_from(Limits::FILE_BYTES).unwrap() + 1];
    assert!(matches!(world.files.create(&run, "big", &bytes), Err(FileError::TooLarge { .. })));
}
