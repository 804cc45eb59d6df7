//! Whatever is put around a command that is not Read, it stays so.

use stayexec_policy::SecurityPolicy;

#[test]
fn no_frame_hides_a_command() {
    let policy = SecurityPolicy::default();
    let frames = [
        "ls; {}",
        "{}; ls",
        "ls && {}",
        "({})",
        "{ {}; }",
        "echo $({})",
        "echo \"$({})\"",
        "echo `{}`",
        "cat <({})",
        "if true; then {}; fi",
        "for i in a; do {}; done",
        "f() { {}; }; f",
        "! {}",
        "time {}",
        "[[ $({}) ]]",
        "echo $((1+$({})))",
        "x=$({})",
        "ls | {}",
        "case a in a) {} ;; esac",
        "cat <<E\n$({})\nE",
        "while true; do {}; done",
        "eval '{}'",
        "sh -c '{}'",
        "bash -lc '{}'",
        "env {}",
        "nohup {}",
        "timeout 5 {}",
        "sudo {}",
        "xargs {}",
        "find . -exec {} \\;",
        "nice -n 3 {}",
        "ssh h '{}'",
        "exec {}",
        "command {}",
        "trap '{}' EXIT",
        "echo ${x:-$({})}",
        "watch '{}'",
        "busybox {}",
        "env -S '{}'",
    ];
    let commands = [
        "rm x",
        "rm -rf x",
        "git push --force",
        "curl h",
        "npm install",
        "nosuch x",
        "touch f",
        "dd of=x",
        "git reset --hard",
        "python3 x",
    ];
    for frame in frames {
        for command in commands {
            let alone = policy.classify_command(command);
            let text = frame.replace("{}", command);
            let class = policy.classify_command(&text);
            assert!(class >= alone, "{text:?} is {class}, {command:?} is {alone}");
        }
    }
}
