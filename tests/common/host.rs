//! What the tests of the C boundary share: where things are, which tools there are, the library as hosts get it.
#![allow(dead_code)] // each test binary uses its own part

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Says loudly that something was not tested, also where the test runner swallows output of passing tests.
pub fn skip(what: &str) {
    use std::io::Write;
    // The macro's output is captured; the stream itself is not.
    let _ = writeln!(std::io::stderr().lock(), "SKIP: {what}");
}

/// A tool on the search path.
pub fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|file| file.is_file())
}

/// The interpreter of the Python environment `NAME-python` below `target`, made once with these packages. They are pinned, so
/// that a test does not change because the world does. The error says why there is none.
pub fn python_environment(name: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let folder = target.join(format!("{name}-python"));
    let interpreter = folder.join("bin/python");
    let stamp = folder.join("packages");
    let wanted = packages.join(" ");
    // Other test programs may want the same at the same time.
    let lock = File::create(folder.with_extension("lock")).map_err(|e| e.to_string())?;
    lock.lock().map_err(|e| e.to_string())?;
    if interpreter.is_file() && fs::read_to_string(&stamp).is_ok_and(|text| text == wanted) {
        return Ok(interpreter);
    }
    let python = tool("python3").ok_or("python3 is not installed")?;
    let _ = fs::remove_dir_all(&folder);
    succeed(Command::new(python).args(["-m", "venv"]).arg(&folder))
        .map_err(|e| format!("python3 -m venv fails (is python3-venv installed?): {e}"))?;
    succeed(
        Command::new(&interpreter)
            .args(["-m", "pip", "install", "--quiet"])
            .args(["--disable-pip-version-check"])
            .args(["--timeout", "30", "--retries", "2"])
            .args(packages),
    )
    .map_err(|e| format!("pip fails (is there a network?): {e}"))?;
    fs::write(stamp, wanted).map_err(|e| e.to_string())?;
    Ok(interpreter)
}

/// The environment with Pinocchio, MuJoCo, SciPy and the robots that come with them; with versions, so that they stay the same. One
/// for all test programs: it takes more than a gigabyte.
pub fn mechanics_environment() -> Result<PathBuf, String> {
    const PACKAGES: [&str; 6] = [
        "pin==4.1.0",
        "mujoco==4.0.0",
        "gymnasium==1.4.0",
        "dm-control==1.0.50",
        "scipy==1.17.1",
        "example-robot-data==6.0.0",
    ];
    python_environment("import", &PACKAGES)
}

/// The error is the last line that the command says.
fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    Err(last.unwrap_or("it says nothing").to_owned())
}

/// A program under valgrind, which looks for wrong accesses and leaks and ends with 9 if it finds any; `None` and a SKIP line if
/// valgrind is missing or does not work here (it needs the symbols of the dynamic loader).
pub fn valgrind() -> Option<Command> {
    static WORKING: OnceLock<Option<PathBuf>> = OnceLock::new();
    let working = WORKING.get_or_init(|| {
        let Some(program) = tool("valgrind") else {
            skip("valgrind is not installed: leaks and wrong accesses are not looked for");
            return None;
        };
        let tried = succeed(Command::new(&program).args(["--quiet", "--error-exitcode=9", "true"]));
        if let Err(why) = &tried {
            skip(&format!("valgrind does not work here: {why}"));
        }
        tried.is_ok().then_some(program)
    });
    let mut command = without_library_path(working.as_ref()?);
    command.args([
        "--quiet",
        "--error-exitcode=9",
        "--leak-check=full",
        "--fair-sched=try",
    ]);
    Some(command)
}

/// A program that finds its library by its own run path: cargo's search path would come first.
pub fn without_library_path(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_remove("LD_LIBRARY_PATH")
        .env_remove("DYLD_FALLBACK_LIBRARY_PATH");
    command
}

/// The same, with addresses that are not random where that can be had: the sanitizer of threads has fixed places for its own memory
/// and fails now and then where the system has chosen them for something else.
pub fn with_fixed_addresses(program: &Path) -> Command {
    static SETARCH: OnceLock<Option<PathBuf>> = OnceLock::new();
    let setarch = SETARCH.get_or_init(|| {
        let found = tool("setarch")?;
        let works = succeed(Command::new(&found).args(["-R", "true"])).is_ok();
        works.then_some(found)
    });
    match setarch {
        None => without_library_path(program),
        Some(setarch) => {
            let mut command = without_library_path(setarch);
            command.arg("-R").arg(program);
            command
        }
    }
}

/// Those compilers that exist; a SKIP line for each that does not.
pub fn compilers(names: &[&str]) -> Vec<PathBuf> {
    let found = names.iter().filter_map(|name| {
        tool(name).or_else(|| {
            skip(&format!(
                "{name} is not installed: what it would compile is not tested with it"
            ));
            None
        })
    });
    found.collect()
}

/// A directory of the test's own below the target directory; deleted when the test has passed, kept when it has failed.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Empty, named after its purpose.
    pub fn new(purpose: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(purpose);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a directory below target/tmp");
        Self(path)
    }

    /// Where.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// The built library.
pub struct Library {
    /// Shared.
    pub shared: PathBuf,
    /// Static.
    pub archive: PathBuf,
}

/// The library as this test has it, shared and static: cargo has built it already and says where.
pub fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut options = vec!["build", "--lib"];
        match profile_dir().ends_with("release") {
            true => options.push("--release"),
            false => options.extend(["--profile", "test"]),
        }
        build(&options, &target_dir(), &[])
    })
}

/// Environment of a build that is only for a test: without debugging information and what speeds up the next build it takes a
/// third of the disk.
pub const SMALL_BUILD: [(&str, &str); 2] =
    [("CARGO_PROFILE_DEV_DEBUG", "0"), ("CARGO_INCREMENTAL", "0")];

/// The library with the panic on demand, in a target directory of its own: it must never lie where the real one is found.
/// Not optimised, since all of it has to be compiled again for that.
pub fn library_with_faults() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        build(
            &["build", "--lib", "--features", "fault-injection"],
            &target_dir().join("fault-injection"),
            &SMALL_BUILD,
        )
    })
}

/// Where cargo has put this test: `<target>[/<triple>]/<profile>/deps/<test>`.
fn profile_dir() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own file");
    test.ancestors()
        .nth(2)
        .expect("cargo puts tests in <profile>/deps")
        .to_owned()
}

fn target_dir() -> PathBuf {
    // CARGO_TARGET_TMPDIR is <target>/tmp whatever the profile and the triple are.
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("it is below the target directory")
        .to_owned()
}

/// Builds the library and asks cargo where it is. Cargo holds no lock while tests run.
fn build(options: &[&str], target_dir: &Path, environment: &[(&str, &str)]) -> Library {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(options)
        .args(["--message-format", "json", "--target-dir"])
        .arg(target_dir)
        .envs(environment.iter().copied())
        .current_dir(root());
    let output = cargo.output().expect("cargo starts");
    assert!(
        output.status.success(),
        "the library does not build:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let files: Vec<PathBuf> = String::from_utf8(output.stdout)
        .expect("cargo writes text")
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| {
            message["reason"] == "compiler-artifact"
                && message["target"]["name"] == "biela"
                && message["target"]["kind"][0] != "bin"
        })
        .flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default())
        .filter_map(|file| file.as_str().map(PathBuf::from))
        .collect();
    let with = |extensions: &[&str]| {
        files
            .iter()
            .find(|file| {
                let extension = file.extension().and_then(OsStr::to_str);
                extension.is_some_and(|e| extensions.contains(&e))
            })
            .unwrap_or_else(|| panic!("cargo has made no {extensions:?} but {files:?}"))
            .clone()
    };
    Library {
        shared: with(&["so", "dylib", "dll"]),
        archive: with(&["a", "lib"]),
    }
}

/// Panics with everything a program said unless it ended with 0; its standard output otherwise.
pub fn expect_success(what: &str, output: &Output) -> String {
    assert!(
        output.status.success(),
        "{what} ended with {}\n--- standard output\n{}\n--- standard error\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout.clone()).expect("programs write text")
}

/// Compares with a committed list; `BIELA_BLESS=1` rewrites it.
pub fn expect_committed(path: &Path, fresh: &str) {
    if std::env::var_os("BIELA_BLESS").is_some() {
        fs::write(path, fresh).expect("the list can be written");
    }
    let committed = fs::read_to_string(path).expect("the list is committed");
    assert!(
        committed == fresh,
        "{} no longer holds: the interface has changed.\n--- committed\n{committed}\n--- now\n{fresh}\n\
         If that is meant, run again with BIELA_BLESS=1 and say so in the change log.",
        path.display()
    );
}

/// A number printed by C's `%a`, exactly.
pub fn parse_hex_float(text: &str) -> f64 {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let magnitude = match digits {
        "inf" => f64::INFINITY,
        "nan" => f64::NAN,
        _ => {
            let digits = digits.strip_prefix("0x").expect("%a begins with 0x");
            let (mantissa, exponent) = digits.split_once('p').expect("%a has an exponent");
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let bits = u64::from_str_radix(&format!("{whole}{fraction}"), 16).expect("hex digits");
            let exponent: i32 = exponent.parse().expect("a decimal exponent");
            // At most 53 significant bits: the conversion and both products are exact, also for subnormal results.
            let scale = exponent - 4 * fraction.len() as i32;
            let half = scale / 2;
            bits as f64 * 2f64.powi(half) * 2f64.powi(scale - half)
        }
    };
    if negative { -magnitude } else { magnitude }
}

/// Compiles programs of `c_tests` and `examples/c`.
pub struct Compiler {
    program: PathBuf,
    standard: &'static str,
    flags: Vec<&'static str>,
}

/// Which library a program is linked with.
#[derive(Clone, Copy)]
pub enum Linked<'a> {
    /// The shared one, found again at run time by its path.
    Shared(&'a Library),
    /// The static one, with the system libraries the Rust standard library needs.
    Static(&'a Library),
    /// None: the program opens it itself, or needs only the header.
    Nothing,
}

impl Compiler {
    /// For C; `None` and a SKIP line where there is none.
    pub fn c() -> Option<Self> {
        Self::first(&["cc", "gcc", "clang"], "-std=c11")
    }

    /// For C++; `None` and a SKIP line where there is none.
    pub fn cpp() -> Option<Self> {
        Self::first(&["c++", "g++", "clang++"], "-std=c++17")
    }

    /// A certain one; `None` and a SKIP line where it is not installed.
    pub fn named(name: &str, standard: &'static str) -> Option<Self> {
        Self::first(&[name], standard)
    }

    fn first(names: &[&str], standard: &'static str) -> Option<Self> {
        let Some(program) = names.iter().find_map(|name| tool(name)) else {
            skip(&format!(
                "none of {names:?} is installed: nothing is tested from that language"
            ));
            return None;
        };
        Some(Self {
            program,
            standard,
            flags: vec!["-O1", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"],
        })
    }

    /// With the sanitizers of addresses and undefined behaviour, if they work here.
    pub fn with_sanitizers(self) -> Option<Self> {
        self.with_working(&["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
    }

    /// With the sanitizer of threads, if it works here.
    pub fn with_thread_sanitizer(self) -> Option<Self> {
        self.with_working(&["-fsanitize=thread"])
    }

    /// With these flags, if a program that is built with them runs.
    fn with_working(mut self, flags: &[&'static str]) -> Option<Self> {
        self.flags.extend(flags);
        // Tests that run side by side ask at the same time.
        static PROBES: AtomicUsize = AtomicUsize::new(0);
        let number = PROBES.fetch_add(1, Ordering::Relaxed);
        let scratch = Scratch::new(&format!("sanitizer-probe-{number}"));
        let source = scratch.path().join("probe.c");
        fs::write(&source, "int main(void) { return 0; }\n").unwrap();
        let program = scratch.path().join("probe");
        let built = self.command(&source, Linked::Nothing, &program).output();
        let runs = built.is_ok_and(|output| output.status.success())
            && with_fixed_addresses(&program)
                .output()
                .is_ok_and(|output| output.status.success());
        if !runs {
            skip(&format!(
                "{flags:?} of the C compiler does not work here: the C programs are not run with it"
            ));
        }
        runs.then_some(self)
    }

    /// With one more flag.
    pub fn with(mut self, flag: &'static str) -> Self {
        self.flags.push(flag);
        self
    }

    /// Compiles `source` (relative to the repository) into `scratch`.
    pub fn build(&self, source: &str, linked: Linked, scratch: &Scratch) -> PathBuf {
        let name = Path::new(source).file_name().expect("a file");
        let kind = match linked {
            Linked::Shared(_) => "shared",
            Linked::Static(_) => "static",
            Linked::Nothing => "alone",
        };
        let program = scratch
            .path()
            .join(format!("{}-{kind}", name.to_string_lossy()));
        let output = self
            .command(&root().join(source), linked, &program)
            .output()
            .expect("the compiler starts");
        expect_success(&format!("compiling {source}"), &output);
        program
    }

    fn command(&self, source: &Path, linked: Linked, program: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(self.standard).args(&self.flags);
        command.arg("-I").arg(root().join("include")).arg(source);
        match linked {
            Linked::Shared(library) => {
                let directory = library.shared.parent().expect("a file is in a directory");
                command.arg("-L").arg(directory).arg("-lbiela");
                command.arg(format!("-Wl,-rpath,{}", directory.display()));
            }
            Linked::Static(library) => {
                command.arg(&library.archive);
                // The standard library in it has debugging information: 15 MB in each program.
                #[cfg(target_os = "linux")]
                command.arg("-Wl,--strip-debug");
                #[cfg(target_os = "linux")]
                command.args(["-lgcc_s", "-lutil", "-lrt"]);
            }
            Linked::Nothing => {}
        }
        command.args(["-pthread", "-ldl", "-lm", "-o"]).arg(program);
        command
    }
}

/// The model that all hosts drive.
pub fn slider_crank() -> PathBuf {
    root().join("models/slider_crank.toml")
}
