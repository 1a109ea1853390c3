use super::*;
use assay_exec::outcome::LimitKind;
use assay_exec::{JudgeInput, Party};

fn judging(input: &str, answer: &str) -> JudgeInput {
    JudgeInput {
        input: Blob::Inline(input.into()),
        answer: Blob::Inline(answer.into()),
        files: vec![],
        args: vec![],
        collect: vec![],
        limits: None,
    }
}

#[test]
fn a_checker_sees_all_there_is() {
    let mut fixture = Fixture::new();
    let checker = fixture.program(
        "cpython-3",
        "import sys
read = lambda name: open(name).read()
output = read('output')
assert output == sys.stdin.read()
ok = sorted(output.split()) == sorted(read('answer').split())
open('feedback', 'w').write(read('input') + sys.argv[1])
sys.exit(42 if ok else 43)",
    );
    let judging = JudgeInput {
        args: vec!["strict".into()],
        collect: vec!["feedback".into()],
        ..judging("n=2 ", "1 2")
    };
    let mut check = |output: &str| {
        let output = Blob::Inline(output.into());
        fixture.exec.check(&fixture.caller, &checker, &output, &judging).unwrap().ended
    };
    let good = check("2 1\n");
    assert_eq!(good.ending, ProgramEnding::Exited(42), "{}", text(&good.stderr));
    assert_eq!(text(&good.files[0].1), "n=2 strict");
    assert_eq!(check("2 2\n").ending, ProgramEnding::Exited(43));
}

const GUESSER: &str = "#include <stdio.h>
    int main() { int low = 1, high = 1000; char word[9];
        while (low <= high) { int middle = (low + high) / 2;
            printf(\"%d\\n\", middle); fflush(stdout);
            if (scanf(\"%8s\", word) != 1) return 1;
            if (word[0] == '=') return 0;
            if (word[0] == '<') high = middle - 1; else low = middle + 1; }
        return 2; }";

const HOST: &str = "
secret, tries = int(open('input').read()), 0
while True:
    guess = int(input()); tries += 1
    print('=' if guess == secret else '<' if secret < guess else '>', flush=True)
    if guess == secret: break
open('tries', 'w').write(str(tries))
";

#[test]
fn two_programs_talk() {
    let mut fixture = Fixture::new();
    let program = fixture.program("c11-gcc", GUESSER);
    let host = fixture.program("cpython-3", HOST);
    let judging = JudgeInput { collect: vec!["tries".into()], ..judging("777", "") };
    let dialogue = fixture.exec.interact(&fixture.caller, &program, &host, &judging, None).unwrap();
    assert_eq!(dialogue.program.ended.ending, OK);
    assert_eq!(dialogue.interactor.ended.ending, OK, "{}", text(&dialogue.interactor.ended.stderr));
    let tries: u32 = text(&dialogue.interactor.ended.files[0].1).parse().unwrap();
    assert!((1..=10).contains(&tries), "{tries}");
    assert!(dialogue.program.ended.stdout.data.is_empty());
}

#[test]
fn one_that_says_nothing_ends_at_its_wall() {
    let mut fixture = Fixture::new();
    let mute = fixture.program("c11-gcc", "#include <unistd.h>\nint main() { for (;;) pause(); }");
    let host = fixture.program("cpython-3", HOST);
    let judging = JudgeInput { limits: quick(3_000), ..judging("777", "") };
    let dialogue =
        fixture.exec.interact(&fixture.caller, &mute, &host, &judging, quick(10)).unwrap();
    assert_eq!(dialogue.program.ended.ending, ProgramEnding::Limited(LimitKind::Wall));
    assert_eq!(dialogue.interactor.ended.ending, ProgramEnding::Exited(1), "end of file");
    assert_eq!(dialogue.first_to_end, Party::Program);
}
