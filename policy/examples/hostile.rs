//! Takes the time of hostile texts: long ones, and brackets without end.

use std::time::Instant;

use stayexec_policy::SecurityPolicy;

fn main() {
    let policy = SecurityPolicy::default();
    let _ = policy.classify_command("ls");
    let units = [
        "(",
        "((",
        "{ ",
        "$(",
        "${",
        "$((",
        "`",
        "\"$(",
        "\"${x:-",
        "[[ ",
        "if ",
        "case x in x) ",
        "<(",
        "a=(",
        "$[",
        "f() ",
        "\"",
        "'",
        "<<E\n",
        "((a ",
        "$((a $((",
        "\\`",
        "{a,",
        "a",
        "a ",
        "a;",
        "ls|",
        "ls;",
        "x=1 ",
        ">f ",
        "$x",
        "$(ls) ",
        "\\a",
        "#\n",
        "a&&",
        "$x;",
        "`ls`;",
        "[[ a ]];",
        "((1));",
        "$((1)) ",
        "a=(1) ",
        "sudo ",
        "sh -c '",
        "x=$x; ",
        "alias a=b;",
        "cat <<E\nE\n",
        "case x in x) ls;; esac;",
        "f() { ls; };",
        "f;",
        "ls a* ",
        "{a,b}",
        "{a,b} ",
        "{a..9}",
        "\"$x\"",
        "${x}",
        "$(ls)",
        "*",
        "~",
        "[a]",
        "x=$y;",
        "x+=1;",
        "x[1]=2;",
        "((x=1));",
        "[[ -v x ]];",
        "read x;",
        "declare -i x;",
        "export x=$y;",
        "ls $x $y ",
        "ls $(ls) ",
        "env -u $x ls;",
        "ls|while read x;do ls $x;done;",
        "for x in a;do ls $x;done;",
        "n=$(ls|wc -l);((n));",
        "psql -c 'select 1';",
        "fd -x ls ",
        "echo $'\\455';",
        "cat <<E\n$x\nE\n",
        "PATH=/x ls;",
        "set -e;",
        "xargs ",
        "eval \"",
        "x=a;$x;",
        "ls --a --b --c;",
        "find . -exec ls {} \\;;",
        "sed p;",
        "awk 1;",
    ];
    for unit in units {
        let text = unit.repeat((1 << 20) / unit.len());
        let start = Instant::now();
        let class = policy.classify_command(&text);
        let took = start.elapsed();
        if took.as_millis() >= 10 {
            println!("{took:>12?} {class:11} {unit:?}");
        }
    }
}
