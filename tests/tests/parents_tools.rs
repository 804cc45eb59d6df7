//! Tools that start many programs: git with hooks, make with jobs, cargo, npm and pip end as without the gate.

use anyhow::{Context, Result};
use stayexec_tests::{Scene, alike, cannot_run, full};
use std::path::Path;

/// Runs a shell text while a scene is prepared.
fn prepared(scene: &Scene, text: &str) -> Result<()> {
    let outcome = scene.ungated_launch(["bash", "-ec", text]).env("PATH", stayexec_tests::tools_path()).limit(300).finish()?;
    anyhow::ensure!(outcome.code() == 0, "{}", outcome.told());
    Ok(())
}

/// Whether a shell text succeeds; says what is missing where not.
fn works(text: &str, what: &str) -> Result<bool> {
    let found = Scene::new()?.ungated_launch(["bash", "-c", text]).env("PATH", stayexec_tests::tools_path()).finish()?;
    if found.code() != 0 {
        cannot_run(&format!("{what} is not installed"));
    }
    Ok(found.code() == 0)
}

const HOOK: &str = "#!/bin/sh\necho \"hook ${0##*/} $#\" >&2\ngit diff --cached --name-only | sort\n";

#[test]
fn git_with_hooks() -> Result<()> {
    if !works("command -v git", "git")? {
        return Ok(());
    }
    let pair = alike(|scene| {
        prepared(scene, "git init -q -b main . && git config user.name n && git config user.email e@x && echo one >a && git add a")?;
        for hook in ["pre-commit", "commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge"] {
            scene.program(&format!(".git/hooks/{hook}"), HOOK)?;
        }
        Ok(())
    })?;
    let pair = pair.env("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z").env("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z");
    let text = "git commit -m one && git checkout -b side && echo two >b && git add b && git commit -m two && git log --stat \
        && git checkout main && git merge --no-ff -m merged side && git rebase side; git log --graph --oneline | cat; git status; git fsck \
        && git config alias.sh '!echo from an alias; exit 9' && git sh";
    let outcome = pair.run(&["bash", "-c", text])?;
    outcome.expect_code(9).expect_line("from an alias");
    assert!(outcome.err().contains("hook commit-msg 1") && outcome.err().contains("hook post-checkout 3"), "{}", outcome.told());
    // A hook that says no.
    scene_says_no()
}

fn scene_says_no() -> Result<()> {
    let pair = alike(|scene| {
        prepared(scene, "git init -q -b main . && git config user.name n && git config user.email e@x && echo one >a && git add a")?;
        scene.program(".git/hooks/pre-commit", "#!/bin/sh\necho not this way >&2\nexit 1\n").map(drop)
    })?;
    pair.run(&["git", "commit", "-m", "one"])?.expect_code(1);
    Ok(())
}

const MAKEFILE: &str = "all: $(addprefix part-,1 2 3 4 5 6 7 8) below\n\t@cat part-* | sort\npart-%:\n\t@seq 1 $* | paste -sd+ | tee $@ >/dev/null; expr $* '*' 2 >>$@\n\
    below:\n\t@$(MAKE) --no-print-directory -C sub\nfails:\n\t@echo before; exit 3\n.PHONY: below fails\n";

#[test]
fn make_with_jobs() -> Result<()> {
    let pair = alike(|scene| {
        scene.file("Makefile", MAKEFILE)?;
        scene.file("sub/Makefile", "all: x y z\n\t@cat x y z\n%:\n\t@echo made $@ >$@\n").map(drop)
    })?;
    pair.run(&["make", "-j", "8", "--output-sync"])?.expect_code(0).expect_line("made z");
    pair.run(&["make", "-j4", "-k", "fails"])?.expect_code(2).expect_line("before");
    Ok(())
}

#[test]
fn cargo_test() -> Result<()> {
    let cargo = std::env::var("CARGO").context("cargo runs the tests")?;
    let folder = Path::new(&cargo).parent().context("its folder")?.display().to_string();
    let pair = alike(|scene| {
        scene.file("Cargo.toml", "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n")?;
        scene.file("src/lib.rs", include_str!("../fixtures/parents/small.rs.in")).map(drop)
    })?;
    let pair = pair.env("PATH", &format!("{folder}:/usr/local/bin:/usr/bin:/bin")).env("CARGO_TERM_COLOR", "never");
    // One test fails, one starts a program; one thread, so that they end in order.
    let outcome = pair.run(&[&cargo, "test", "--offline", "--quiet", "--lib", "--", "--test-threads=1"])?;
    outcome.expect_code(101);
    assert!(outcome.out().contains("2 passed; 1 failed"), "{}", outcome.told());
    Ok(())
}

/// A package with the scripts that npm runs, packed as the registry would hand it out.
const PACKAGE: &str = "mkdir -p dep/bin && cd dep && cat >package.json <<'END'\n\
    {\"name\":\"dep\",\"version\":\"1.2.3\",\"bin\":{\"dep\":\"bin/dep\"},\"scripts\":{\"preinstall\":\"echo pre >made\",\
    \"install\":\"node -e \\\"require('fs').appendFileSync('made','install\\\\n')\\\"\",\"postinstall\":\"sh -c 'echo post >>made'\"}}\nEND\n\
    printf '#!/usr/bin/env node\\nconsole.log(\"dep runs\", require(\"fs\").readFileSync(__dirname + \"/../made\", \"utf8\").split(\"\\\\n\").join(\" \"))\\n' >bin/dep\n\
    chmod +x bin/dep; npm pack --silent; mv dep-1.2.3.tgz ..; cd ..; rm -r dep\n\
    echo '{\"name\":\"app\",\"version\":\"1.0.0\",\"dependencies\":{\"dep\":\"file:dep-1.2.3.tgz\"},\"scripts\":{\"go\":\"dep && exit 6\"}}' >package.json\n\
    npm install --package-lock-only --offline --no-audit --no-fund --silent";

#[test]
fn npm_ci() -> Result<()> {
    if !works("command -v npm", "npm")? {
        return Ok(());
    }
    let pair = alike(|scene| prepared(scene, PACKAGE))?.env("NO_UPDATE_NOTIFIER", "1").env("npm_config_loglevel", "error");
    pair.run(&["npm", "ci", "--offline", "--no-audit", "--no-fund", "--foreground-scripts"])?.expect_code(0);
    let outcome = pair.run(&["npm", "run", "go"])?;
    outcome.expect_code(6).expect_line("dep runs pre install post ");
    Ok(())
}

#[test]
fn npm_ci_of_a_package_from_the_registry() -> Result<()> {
    if !full() || !works("npm ping --silent", "npm, or a registry that it reaches,")? {
        return Ok(());
    }
    let text = "echo '{\"name\":\"app\",\"version\":\"1.0.0\",\"dependencies\":{\"esbuild\":\"0.25.0\"}}' >package.json\n\
        npm install --no-audit --no-fund --silent && rm -r node_modules";
    let pair = alike(|scene| prepared(scene, text))?.env("NO_UPDATE_NOTIFIER", "1");
    pair.run(&["npm", "ci", "--offline", "--no-audit", "--no-fund"])?.expect_code(0);
    pair.run(&["npx", "--offline", "esbuild", "--version"])?.expect_code(0).expect_line("0.25.0");
    Ok(())
}

/// A wheel with a module and a command, and a folder of its own for what pip installs.
const WHEEL: &str = "/usr/bin/python3 -m venv venv && /usr/bin/python3 - <<'END'\n\
import base64, hashlib, zipfile\n\
files = {'small/__init__.py': 'def main():\\n    import subprocess\\n    print(\"small\", subprocess.check_output([\"expr\", \"6\", \"*\", \"7\"], text=True).strip())\\n    return 5\\n',\n\
    'small-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\\nName: small\\nVersion: 1.0\\n',\n\
    'small-1.0.dist-info/WHEEL': 'Wheel-Version: 1.0\\nGenerator: hand\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n',\n\
    'small-1.0.dist-info/entry_points.txt': '[console_scripts]\\nsmall = small:main\\n'}\n\
digest = lambda text: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()\n\
files['small-1.0.dist-info/RECORD'] = ''.join(f'{n},sha256={digest(t)},{len(t)}\\n' for n, t in files.items()) + 'small-1.0.dist-info/RECORD,,\\n'\n\
with zipfile.ZipFile('small-1.0-py3-none-any.whl', 'w') as wheel:\n    [wheel.writestr(n, t) for n, t in files.items()]\n\
END";

#[test]
fn pip_install() -> Result<()> {
    if !works("/usr/bin/python3 -c 'import ensurepip, venv'", "python3-venv")? {
        return Ok(());
    }
    let pair = alike(|scene| prepared(scene, WHEEL))?.env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    pair.run(&["venv/bin/pip", "install", "--no-index", "./small-1.0-py3-none-any.whl"])?.expect_code(0);
    pair.run(&["venv/bin/small"])?.expect_code(5).expect_line("small 42");
    pair.run(&["venv/bin/pip", "list", "--format=freeze"])?.expect_line("small==1.0");
    Ok(())
}

#[test]
fn pip_install_of_a_wheel_from_the_index() -> Result<()> {
    if !full() || !works("/usr/bin/python3 -c 'import ensurepip, venv'", "python3-venv")? {
        return Ok(());
    }
    let text = "/usr/bin/python3 -m venv venv && venv/bin/pip download --quiet --dest wheels PyYAML==6.0.2";
    let pair = alike(|scene| prepared(scene, text))?.env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    pair.run(&["venv/bin/pip", "install", "--no-index", "--find-links", "wheels", "PyYAML"])?.expect_code(0);
    pair.run(&["venv/bin/python", "-c", "import yaml; print(yaml.safe_load('{a: [1, 2]}'))"])?.expect_line("{'a': [1, 2]}");
    Ok(())
}
