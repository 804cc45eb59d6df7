//! Takes the time of hostile texts: long ones, and brackets without end; their class, and what they would open.

use std::path::Path;
use std::time::Instant;

use stayexec_policy::SecurityPolicy;
use stayexec_policy::forbidden::Operands;

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
        "time ",
        "f(){ $1;};f a b c d e f g h i;",
        "f(){ echo a;};f|f;",
        "for x in a b c d e f g h;do $x;done;",
        "a=(a b c);for x in \"${a[@]}\";do $x;done;",
        "cat <<<x|sed p|",
        "echo a|xargs ",
        "x=a;cat $x;",
        "read x<<<a;cat $x;",
        "$(cat <<<a)",
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
    // On their own: what the one leaves of memory slows the other.
    for unit in units {
        let text = unit.repeat((1 << 20) / unit.len());
        let start = Instant::now();
        let operands = Operands::of_command(&policy, &text, Path::new("/w"), Path::new("/h"));
        let gathered = start.elapsed();
        if gathered.as_millis() >= 50 {
            println!("{gathered:>12?} {:11} {unit:?}", operands.opened.len());
        }
    }
}
