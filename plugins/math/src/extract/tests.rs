use super::*;

fn check(response: &str, expected: Option<(&str, Source)>) {
    let found = find(response, AnswerFrom::Anywhere);
    let found = found.first().map(|found| (found.text.as_ref(), found.source));
    assert_eq!(found, expected, "{response}");
}

#[test]
fn finds_the_answer_where_models_put_it() {
    let marked = |text, mark| Some((text, Source::Marked(mark)));
    let (answer, is, hashes) = ("the last \"Answer:\"", "the last \"answer is\"", "the last ####");
    check(r"so \boxed{1}, thus \boxed{\frac{1}{2}}.", Some((r"\frac{1}{2}", Source::Boxed)));
    check(r"so \boxed{1} or \boxed{\frac{1}{2}}.", Some((r"1, \frac{1}{2}", Source::Boxed)));
    check(r"\boxed{\boxed{5}}", Some(("5", Source::Boxed)));
    check(r"\boxed 42.", Some(("42", Source::Boxed)));
    check(r"$\fbox{7}$ and 9", Some(("7", Source::Boxed)));
    check(r"\boxed{\{1, 2\}}", Some((r"\{1, 2\}", Source::Boxed)));
    check(r"\boxed{12", None);
    check("a\n#### 1,234", marked("1,234", hashes));
    check("#### Step 3\nThus $x = 5$", Some(("x = 5", Source::Formula)));
    check("#### Step 3: sum\n#### yes", marked("yes", hashes));
    check("A: 5\nA: 18", marked("18", "the last A:"));
    check("**Answer**: 3.14.", marked("3.14", answer));
    check("**Final Answer:**\n\n**12**", marked("12", answer));
    check("The answer is $\\frac12$. Done.", marked("$\\frac12$", is));
    check("the ANSWER IS: 4", marked("4", is));
    check("The answer isn't known, 4 say", Some(("4", Source::LastNumber)));
    check("Plan A: 5 or so, 7 in all", Some(("7", Source::LastNumber)));
    check("so\n> **A**: 5", marked("5", "the last A:"));
    check("it takes 1 1/2 cups", Some(("1 1/2", Source::LastNumber)));
    check("of group 2 10/4 are", Some(("10/4", Source::LastNumber)));
    check("DNA: 5", Some(("5", Source::LastNumber)));
    check(r"we get $x$ so $x = 5$ here", Some(("x = 5", Source::Formula)));
    check(r"we get $$x = 6$$", Some(("x = 6", Source::Formula)));
    check(r"we get \(x = 7\).", Some(("x = 7", Source::Formula)));
    check("pay $5 and $13, so $18 in all", Some(("18", Source::LastNumber)));
    check("pay $5, so $x = 3$ is left", Some(("x = 3", Source::Formula)));
    check("pay 9 * $2 = $18 a day", Some(("18", Source::LastNumber)));
    check("we get $ x = 7 $ here", Some(("x = 7", Source::Formula)));
    check("we get $x$, $y$ and $5$", Some(("y$ and $5", Source::Formula)));
    check("we get $$ x = 7 $$", Some(("x = 7", Source::Formula)));
    check("x is 2 or x = 3.", Some(("2 or x = 3", Source::LastNumber)));
    check("<answer>x + 7</answer> so", marked("x + 7", "the last <answer>"));
    check("<answer></answer> so 7", Some(("7", Source::LastNumber)));
    check("costs $5 and 12.50.", Some(("12.50", Source::LastNumber)));
    check("it is -3/4.", Some(("-3/4", Source::LastNumber)));
    check("10-3", Some(("10-3", Source::Bare)));
    check("we take 10-3", Some(("3", Source::LastNumber)));
    check(r"so it is \frac{7}{3}.", Some((r"\frac{7}{3}", Source::LastNumber)));
    check(r"\frac{7}{3}", Some((r"\frac{7}{3}", Source::Bare)));
    check("it costs 12 500 in all", Some(("12 500", Source::LastNumber)));
    check("it costs 1 234 567 in all", Some(("1 234 567", Source::LastNumber)));
    check("it is -12 500 in all", Some(("-12 500", Source::LastNumber)));
    check("in room 2024 500 sat", Some(("500", Source::LastNumber)));
    check("the key X2", None);
    check("The largest $k$ is 12.", Some(("12", Source::LastNumber)));
    check("We find $k = 4$ in 3 steps.", Some(("k = 4", Source::Formula)));
    check("either $1$ or $2$.", Some(("1$ or $2", Source::Formula)));
    check(r"\boxed{1} and \boxed{2}", Some(("1, 2", Source::Boxed)));
    check(r"\boxed{1}. No, \boxed{2}", Some(("2", Source::Boxed)));
    check(r"\boxed{1} = \boxed{2}", Some(("2", Source::Boxed)));
    check("<think>\\boxed{1}</think> It is 2", Some(("2", Source::LastNumber)));
    check("<think>\\boxed{1}</think> \\boxed{2", None);
    check("<think>\\boxed{1}</think>", Some(("1", Source::Boxed)));
    check("\\boxed{1} The final answer is $2$.", marked("$2$", is));
    check("The answer is:\n\\[\n x = 5\n\\]\nas it must.", marked("x = 5", is));
    check("about 50%", Some(("about 50%", Source::Bare)));
    check("it is 50%", Some(("50%", Source::LastNumber)));
    check("it is 50 m^2", Some(("50", Source::LastNumber)));
    check("no idea", None);
    check("", None);
}
