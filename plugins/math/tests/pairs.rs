//! Pairs of answers: equal and unequal ones of every kind.

use assay_plugin_math::{AnswerFrom, Label, Settings, Verdict, verify};

fn judge(answer: &str, label: &str, settings: &Settings) -> Verdict {
    let label = Label::read(label).unwrap_or_else(|error| panic!("label {label}: {error:?}"));
    verify(&format!("so $\\boxed{{{answer}}}$."), &[label], settings).verdict
}

/// Fails with every pair that went wrong, not the first alone.
fn check(pairs: impl Iterator<Item = (String, Verdict, Verdict)>) {
    let failed: Vec<_> = pairs
        .filter(|(_, got, expected)| got != expected)
        .map(|(pair, got, expected)| format!("{pair}: {got:?}, not {expected:?}"))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// All of `answers` are `label`, however it is asked, and `label` is each of them.
fn equal(verdict: Verdict, label: &str, answers: &[&str]) {
    let settings = Settings::default();
    check(answers.iter().flat_map(|answer| {
        let there = (format!("{answer} for {label}"), judge(answer, label, &settings), verdict);
        let back = judge(label, answer, &settings);
        [there, (format!("{label} for {answer}"), back, verdict)]
    }));
}

pub(crate) fn exact(label: &str, answers: &[&str]) {
    equal(Verdict::CorrectExact, label, answers);
}

fn numeric(label: &str, answers: &[&str]) {
    equal(Verdict::CorrectNumeric, label, answers);
}

pub(crate) fn text(label: &str, answers: &[&str]) {
    equal(Verdict::CorrectText, label, answers);
}

pub(crate) fn wrong(label: &str, answers: &[&str]) {
    let settings = Settings::default();
    check(answers.iter().map(|answer| {
        let verdict = judge(answer, label, &settings);
        (format!("{answer} for {label}"), verdict, Verdict::Wrong)
    }));
}

#[test]
fn numbers() {
    exact(
        "18",
        &["18", "18.0", "18.", "+18", "018", "36/2", r"\frac{36}{2}", "(18)", "{18}", "9 \\cdot 2"],
    );
    exact("1234", &["1,234", "1{,}234", r"1\,234", r"1\!234", r"1,\!234", "1234.00", "1.234e3"]);
    exact("1234567", &["1,234,567", "1{,}234{,}567"]);
    exact("-3", &["-3", "−3", "–3", "-(3)", "0-3", "3 - 6"]);
    exact(
        "0.5",
        &["1/2", r"\frac12", r"\dfrac{1}{2}", r"\tfrac 1 2", ".5", "0.50", "5e-1", "½", "2^{-1}"],
    );
    exact(
        "1200000",
        &[r"1.2 \times 10^6", "1.2e6", "1.2 million", r"12 \cdot 10^{5}", "1.2*10**6"],
    );
    exact(r"3\frac{1}{2}", &["3.5", "7/2", "3 1/2", r"3\frac12", r"\frac{7}{2}"]);
    exact(r"-3\frac{1}{2}", &["-3.5", "-7/2", "-3 1/2"]);
    exact(
        "120",
        &[
            "5!",
            r"\binom{10}{3}",
            "|{-120}|",
            r"\left|-120\right|",
            r"\lfloor 120.7 \rfloor",
            "2^7 - 8",
        ],
    );
    exact("1024", &["2^10", "2^{10}", "4^5", "32²", "2**10"]);
    exact("2^{10^{10}}", &["2^{10^{10}}"]);
    numeric("1/3", &["0.3333333", "0.33333333333"]);
    numeric("3.14159265", &[r"\pi", "3.1415926535"]);
    wrong("18", &["19", "-18", "1.8", "18.001", "181", "1,8"]);
    wrong("10000000", &["10000001", "9999999"]);
    wrong("1/3", &["0.33", "0.34", "333333333/1000000000", "3"]);
    wrong("0", &["0.000001", "1", "-0.1"]);
    wrong("120000", &["120,006", "120,001"]);
    wrong("3", &["33", "1/3", "3.00001"]);
}

#[test]
fn percentages_and_money() {
    exact(
        r"50\%",
        &["50%", "0.5", "1/2", "50", "50 percent", r"50\text{ percent}", r"\frac{100}{2}\%"],
    );
    exact("0.125", &["12.5%", r"12.5\%"]);
    exact("18", &["$18", r"\$18", "18 dollars", "18$", "€18", r"18 \text{ euros}"]);
    exact(r"\$18", &["18", "$18.00", "18 dollars", "1800 cents"]);
    exact("-5", &["-$5", r"-\$5", "$-5"]);
    exact("500", &["Rs. 500", r"\text{Rs. } 500"]);
    wrong(r"50\%", &["5%", "0.05", "5", "500", "5000%"]);
    exact(r"\$15/hour", &["15", "$15 per hour", "15 per hour", r"15\text{ dollars per hour}"]);
    wrong(r"\$15/hour", &["€15/hour", "15/day", r"\$15", "15 apples"]);
    wrong(r"\$18", &["€18", "£18", "18 cents", "18 apples"]);
}

#[test]
fn units() {
    exact(
        "5",
        &[
            "5 cm",
            r"5\text{ cm}",
            r"5\,\mathrm{km}",
            "5 m",
            "5 apples",
            "5 duck eggs",
            r"5^\circ",
            "5 units",
        ],
    );
    exact(
        "5 km",
        &[
            "5000 m",
            "5",
            r"5\text{ km}",
            r"5 \, \text{kilometers}",
            "500000 centimetres",
            "5e3 meters",
        ],
    );
    exact("2 hours", &["120 minutes", "7200 s", "2", "2 h", r"120\text{ min}"]);
    exact(r"3\text{ m}^2", &["30000 cm^2", r"3\text{ square meters}", r"3\mathrm{m}^{2}", "3 m²"]);
    exact("36 km/h", &["10 m/s", r"10\text{ m/s}", "36 kilometers per hour"]);
    exact("1 L", &["1000 mL", r"1000\text{ cm}^3", "1 liter"]);
    exact("1.5 kg", &["1500 g", "1500 grams"]);
    exact(r"90^\circ", &["90", "90 degrees", "90°", r"90^{\circ}"]);
    exact("24 men", &["24", "24 Men"]);
    exact("24 eggs", &["24", "24 egg", r"24\text{ eggs}"]);
    exact("12 boxes", &["12", r"12\text{ box}"]);
    exact("250 mg", &["250mg", "250", r"250\text{ mg}", "0.25 g"]);
    exact("6 ft", &["6ft", "6 feet", "2 yards"]);
    exact("60 mph", &["60 miles per hour", r"60\text{ mi/h}"]);
    exact("36 km/h", &["36 kmph", "36 kph"]);
    exact(r"25^\circ\text{C}", &["25", "25 degrees Celsius", r"25^\circ C"]);
    exact(r"45^\circ", &["45 deg"]);
    exact("5 ohms", &["5", r"5\ \Omega", "5 Ω"]);
    exact(
        r"80\text{ miles}",
        &["80", r"\text{80 miles}", r"\textbf{80 miles}", r"\mathrm{80~miles}"],
    );
    exact("5000000", &[r"5\text{ million people}", "5 million people", r"\$5\text{ million}"]);
    exact(
        r"90^\circ-\alpha",
        &[r"90^{\circ} - \alpha", r"90-\alpha", r"\frac{180^\circ-2\alpha}{2}"],
    );
    exact("x^2", &[r"x^2 \text{ for all } x"]);
    exact(
        r"30^\circ + 360^\circ k",
        &["30+360k", r"360k^\circ + 30^\circ", r"30^\circ + 360^\circ \cdot k"],
    );
    wrong(r"30^\circ + 360^\circ k", &["390", "30"]);
    wrong("5", &[r"5\text{ million people}"]);
    wrong("12", &[r"\$12\text{ thousand dollars}"]);
    exact("5 KM", &["5", "5 km", "5000 m"]);
    exact("25", &["25cm^2", "25 cm^2", "25mL", "25 Kg"]);
    wrong("5 MW", &["5 mW", "5 kW"]);
    wrong(r"5\text{ mHz}", &[r"5\text{ MHz}"]);
    wrong("5 mg", &["5 Mg"]);
    wrong("5 km", &["5 m", "5 hours", "5 miles", "50 km", "5 kg"]);
    wrong("12 apples", &["12 oranges", "13 apples"]);
    wrong(r"90^\circ", &["80", "80°"]);
}

#[test]
fn roots_and_constants() {
    exact(
        r"\sqrt{8}",
        &[r"2\sqrt{2}", r"2\sqrt2", "2√2", "8^{1/2}", "sqrt(8)", r"\frac{4}{\sqrt{2}}", "2 sqrt 2"],
    );
    exact(r"\sqrt[3]{27}", &["3", "27^{1/3}", r"\sqrt{9}"]);
    exact(r"1+\sqrt{2}", &[r"\sqrt{2}+1", r"\frac{1}{\sqrt{2}-1}", r"\frac{2+\sqrt{8}}{2}"]);
    exact(r"\frac{\sqrt{3}}{3}", &[r"\frac{1}{\sqrt{3}}", r"\frac13\sqrt3", r"\sqrt{1/3}", "1/√3"]);
    exact(r"2\pi", &[r"\pi \cdot 2", "2π", "2*pi", r"\pi+\pi", r"\frac{4\pi}{2}"]);
    exact("9\\pi + 3", &["3(3\\pi+1)", "3+9π"]);
    exact("3+4i", &["4i+3", "(2+i)^2", "3 + 4 i"]);
    exact("e^2", &[r"e \cdot e", "e^{2}", "e**2"]);
    numeric(r"\sqrt{2}", &["1.41421356", "1.4142136"]);
    exact(r"\sqrt[3]{2}", &["2^{1/3}", r"\sqrt[3]{\frac{4}{2}}"]);
    numeric(r"\sqrt[3]{2}", &["1.25992105", r"\sqrt[6]{4}"]);
    numeric(r"\frac{\sqrt{2}}{2}", &[r"\sin(\pi/4)", r"\cos\frac{\pi}{4}", r"\sin(45^\circ)"]);
    numeric("1/2", &[r"\sin(30^\circ)", r"\cos(90^\circ - 30^\circ)", r"\sin{30^\circ}"]);
    exact(r"10\sin 50^\circ", &[r"10\sin(50^\circ)"]);
    numeric(r"\cos x", &[r"\sin(90^\circ - x)"]);
    numeric(r"\ln 8", &[r"3\ln 2", r"\ln(2)+\ln(4)"]);
    exact("3", &[r"\log 1 + 3"]);
    exact("3", &[r"\log_2 8", r"\log_{2}(8)", r"\log 1000"]);
    numeric("3", &[r"4\sin^2(\pi/3)"]);
    numeric(r"\arctan\frac12", &[r"\cot^{-1} 2"]);
    exact(r"\ln(1+\sqrt2)", &[r"\sinh^{-1}(1)"]);
    wrong(r"\cot^{-1} 2", &[r"\tan 2"]);
    numeric(r"\frac{\pi}{3}", &[r"\arccos\frac12", r"\cos^{-1}(1/2)", "1.0471975512"]);
    wrong(r"\sqrt{8}", &[r"\sqrt{7}", r"2\sqrt{3}", "2.83", r"-2\sqrt2", "8"]);
    wrong(r"2\pi", &["6.28", r"\pi", "2"]);
    wrong("3+4i", &["3-4i", "7", "4+3i"]);
}

#[test]
fn algebra() {
    exact("x^2-1", &["(x-1)(x+1)", "-1+x^2", "x*x - 1", r"\frac{(x^2-1)(x+2)}{x+2}", "x²-1"]);
    exact(
        "2x+1",
        &["1+2x", "2x + 1", r"2\left(x+\frac12\right)", "x+x+1", "y=2x+1", "f(x) = 2x+1"],
    );
    exact(r"\frac{x}{y}", &["x/y", "x y^{-1}", r"\frac{2x}{2y}"]);
    exact("a^2+2ab+b^2", &["(a+b)^2", "(a+b)(b+a)", "(-a-b)^2"]);
    exact("x_1+x_2", &["x_2+x_1", "x_{1} + x_{2}"]);
    exact(r"2\hat{i}-\hat{j}", &[r"-\hat{j}+2\hat{i}"]);
    exact(r"\alpha\beta", &[r"\beta \alpha", r"\beta\cdot\alpha"]);
    exact(r"\binom{n+1}{2}", &[r"\frac{n(n+1)}{2}", r"\binom{n+1}{1}\cdot\frac n2"]);
    exact(r"\frac{\pi}{3}+2k\pi", &[r"\frac{\pi}{3}+2k\pi, k \in \mathbb{Z}"]);
    wrong(r"\binom{n}{2}", &[r"\frac{n(n+1)}{2}", "n^2/2", r"\binom{n}{3}"]);
    exact("xy", &["yx", "x y", r"x \cdot y"]);
    // Short words are products too.
    exact(r"\frac12at^2", &[r"\frac{at^2}{2}", r"\frac{1}{2} a t^2"]);
    exact("ax+by=c", &["by+ax=c", "ax+by-c=0", "by + ax = c"]);
    exact("Ax+By=C", &["By+Ax=C", "C = Ax + By"]);
    exact("a_1+nd-d", &["a_1+(n-1)d"]);
    exact(r"\frac{mg}{2}", &[r"\frac12mg", r"\frac{m g}{2}"]);
    exact("bn+an^2", &["an^2+bn"]);
    exact("Ce^x", &["y = Ce^x", "y(x) = Ce^{x}"]);
    exact(r"mg\sin\theta", &[r"m g \sin\theta"]);
    wrong(r"\frac{1}{2}at^2", &[r"\frac12"]);
    wrong(r"ut+\frac12at^2", &[r"ut+\frac12"]);
    wrong("2mg", &["2"]);
    wrong(r"2\pi ft", &[r"2\pi"]);
    wrong("3by", &["3"]);
    wrong("5st", &["5"]);
    // Products that spell a unit.
    exact(r"\frac{1}{12}ML^2", &[r"\frac{ML^2}{12}", r"\frac{1}{12} M L^2"]);
    exact(r"2 m l \omega^2", &[r"2ml\omega^2", "2mlω^2"]);
    exact("2lb+2bh+2hl", &["2(lb+bh+hl)", "2bh+2hl+2lb"]);
    exact(r"\frac13\pi hr^2", &[r"\frac{\pi r^2h}{3}"]);
    exact(r"\frac12Mg", &[r"\frac{Mg}{2}"]);
    wrong(r"\frac{1}{12}ML^2", &[r"\frac{1}{12}"]);
    wrong(r"\pi hr^2", &[r"\pi"]);
    wrong("2ml^2", &["2"]);
    // After a variable a bracket, a root or a power is another factor.
    exact(r"\cos x(1+\sin x)", &[r"(1+\sin x)\cos x", r"\cos x+\sin x\cos x"]);
    exact(r"(x+1)\ln x", &[r"\ln x(x+1)"]);
    exact(r"e^x\sin x", &[r"\sin x\, e^x"]);
    exact(r"\sqrt2\sin x", &[r"\sin x\sqrt2"]);
    exact(r"\sin(2(x+1))", &[r"\sin 2(x+1)"]);
    exact(r"(\log x)^2", &[r"\log^2 x"]);
    // Functions of whole numbers, and of great ones.
    numeric(r"\binom{2n}{n}", &[r"\frac{(2n)!}{(n!)^2}"]);
    numeric(r"\binom{n}{k}", &[r"\binom{n}{n-k}", r"\frac{n!}{k!(n-k)!}"]);
    numeric("(-1)^{n+1}n", &["n(-1)^{n-1}"]);
    numeric("(n+1)!", &["(n+1)n!"]);
    numeric(r"\frac{\sqrt{x-5}}{x-5}", &[r"\frac{1}{\sqrt{x-5}}"]);
    numeric(r"\sqrt{xy}", &[r"\sqrt x\sqrt y"]);
    numeric(r"\ln(xy)", &[r"\ln x+\ln y"]);
    numeric("x^{2023}+1", &["1+x^{2023}"]);
    wrong("(n+1)!", &["n!", "(n+2)n!", "0"]);
    wrong("(-1)^n", &["(-1)^{n+1}", "1", "0"]);
    wrong(r"\binom{n}{k}", &[r"\binom{n}{k+1}", r"\binom{k}{n}", "0"]);
    wrong("x^{2023}", &["x^{30000}", "x^{2024}", "0"]);
    wrong(r"\ln|x|", &[r"\ln x"]);
    numeric(r"\sin^2 x", &[r"1-\cos^2 x", r"\frac{1-\cos 2x}{2}"]);
    exact(r"\sin^2 x", &[r"(\sin x)^2", r"\sin^{2}(x)"]);
    numeric("2^{x+1}", &[r"2\cdot 2^x", r"2^x+2^x"]);
    numeric(r"\sqrt{x^2}", &["|x|"]);
    numeric("e^{2x}", &["(e^x)^2", r"\exp(2x)"]);
    wrong("x^2-1", &["x^2+1", "(x-1)^2", "x-1", "y^2-1", "0"]);
    wrong(r"\sin x", &[r"\cos x", "x", r"\sin 2x", r"-\sin x"]);
    wrong("x-y", &["y-x", "0", "x+y"]);
    wrong(r"\sqrt{x^2}", &["x"]);
}

#[test]
fn equations() {
    exact("x = 5", &["5", "5 = x", "x=5.0", r"x = \frac{10}{2}"]);
    exact("5", &["x = 5", "2+3 = 5", r"\text{Area} = 5", "x = 2+3 = 5"]);
    exact("y = 2x + 1", &["2x + 1 = y", "y - 2x = 1", "y-2x-1 = 0", "2y = 4x+2", "2x - y = -1"]);
    exact("x^2+y^2=4", &["y^2 + x^2 = 4", "4 = x^2+y^2", r"\frac{x^2}{4}+\frac{y^2}{4}=1"]);
    exact("2e-2", &["2(e-1)", "2e - 2"]);
    exact("3e+1", &["3e + 1"]);
    wrong("2e-2", &["0.2", "2e"]);
    wrong("x = 5", &["y = 5", "x = 6", "6", "x = -5"]);
    wrong("y = 2x + 1", &["y = 2x", "y = x + 1", "x = 2y + 1", "2x+2"]);
    wrong("x^2+y^2=4", &["x^2+y^2=2", "x^2-y^2=4"]);
}

#[test]
fn collections() {
    exact(
        "(1,2)",
        &["(1, 2)", r"\left(1, \frac{4}{2}\right)", "(1.0,2.0)", "1<x<2", r"x \in (1,2)"],
    );
    exact("[0, 5)", &[r"\left[0,5\right)", r"0 \le x < 5", "[0,5)", r"5 > x \geq 0"]);
    exact(
        r"(-\infty, 3]",
        &[r"x \le 3", r"\left(-\infty,3\right]", "(-inf, 3]", "x <= 3", "3 >= x"],
    );
    exact(r"(2,\infty)", &["x > 2", r"(2,+\infty)", "2 < x", "(2, ∞)"]);
    exact(
        r"(-\infty,1)\cup(2,\infty)",
        &[r"(2,\infty)\cup(-\infty,1)", r"(-∞,1)∪(2,∞)", r"x\in(-\infty,1)\cup(2,\infty)"],
    );
    exact(
        r"\{1,2,3\}",
        &[r"\{3,2,1\}", "{1, 2, 3}", "1, 2, 3", "3,1 and 2", r"\left\{1,2,3\right\}", "1 , 3 , 2"],
    );
    exact(
        "2, -2",
        &[r"\pm 2", r"x = \pm 2", "-2, 2", "x=2 or x=-2", r"2 \text{ and } {-2}", "x = 2, -2"],
    );
    exact(r"1 \pm \sqrt{2}", &[r"1+\sqrt2, 1-\sqrt2", r"\{1-\sqrt{2}, 1+\sqrt{2}\}"]);
    exact(r"\emptyset", &[r"\varnothing", r"\{\}", "∅"]);
    exact(r"\{5\}", &["5", "x=5"]);
    exact(r"(\pm 3, 0)", &["(3,0),(-3,0)", r"(3,0)\text{ and }(-3,0)"]);
    exact(r"\{1,2,3\}", &[r"\{1,2\}\cup\{3\}", r"\{1,2\}\cup\{2,3\}"]);
    exact(r"(-\infty,1)\cup(3,\infty)", &[r"(-\infty,1) \text{ or } (3,\infty)"]);
    wrong(r"(\pm 3, 0)", &["(3,-3,0)", "(3,0)"]);
    exact("(1,2,3)", &[r"\langle 1,2,3\rangle", r"\left(\frac22,2,3\right)"]);
    exact(
        r"\begin{pmatrix}1&2\\3&4\end{pmatrix}",
        &[
            r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}",
            r"\begin{pmatrix} 1 & \frac{4}{2} \\ 3 & 4 \\ \end{pmatrix}",
            "[[1,2],[3,4]]",
            r"\left(\begin{array}{cc}1&2\\3&4\end{array}\right)",
            r"A = \begin{pmatrix}1&2\\3&4\end{pmatrix}",
        ],
    );
    wrong("(1,2)", &["(2,1)", "[1,2]", "(1,2]", "(1,2,3)", "1,2", r"\{1,2\}", "12"]);
    wrong(r"\{1,2,3\}", &[r"\{1,2\}", r"\{1,2,4\}", r"\{1,1,2\}", "(1,2,3)", "6"]);
    wrong(r"(2,\infty)", &[r"[2,\infty)", "x < 2", r"(-\infty,2)", r"(2,\infty]"]);
    wrong("2, -2", &["2", "-2", "2, 2"]);
    wrong(
        r"\begin{pmatrix}1&2\\3&4\end{pmatrix}",
        &[
            r"\begin{pmatrix}1&3\\2&4\end{pmatrix}",
            r"\begin{pmatrix}1&2&3&4\end{pmatrix}",
            r"\begin{pmatrix}1&2\\3&5\end{pmatrix}",
            "10",
        ],
    );
}

#[test]
fn words_and_choices() {
    text("B", &["B", "(B)", r"\text{B}", "B.", r"\textbf{(B)}", "b)", "(b)"]);
    text("yes", &["Yes", "YES", r"\text{Yes}", "yes."]);
    text("Monday", &["monday", r"\text{Monday}", "MONDAY."]);
    text("even function", &["Even Function", r"\text{even function}"]);
    // Words that are products of variables too, and capitals that are none.
    for (word, answers) in [
        ("odd", [r"\text{odd}", "Odd"]),
        ("red", [r"\text{red}", "Red"]),
        ("DNE", [r"\text{DNE}", r"\mathrm{DNE}"]),
        ("XIV", [r"\text{XIV}", "XIV"]),
        ("SAS", ["SAS", r"\textbf{SAS}"]),
        ("AC", [r"\text{AC}", r"\mathrm{AC}"]),
    ] {
        for answer in answers {
            assert_eq!(judge(answer, word, &Settings::default()), Verdict::CorrectText, "{answer}");
        }
    }
    wrong("XIV", &["XVI"]);
    wrong("XI", &["IX"]);
    wrong("SAS", &["SSA", "ASS"]);
    wrong("HTH", &["HHT"]);
    exact("CD", &["DC"]);
    // The letter or the answer of a multiple choice.
    for label in [r"\textbf{(D)}\ 26", "(D) 26", r"\text{(D) }26", r"\textbf{(D) 26}"] {
        assert_eq!(judge("D", label, &Settings::default()), Verdict::CorrectText, "{label}");
        assert_eq!(judge("26", label, &Settings::default()), Verdict::CorrectExact, "{label}");
        assert_eq!(judge("(D) 27", label, &Settings::default()), Verdict::Unparsable, "{label}");
        wrong(label, &["C", "27"]);
    }
    // As it is written in the label, also where it is no mathematics.
    let odd = r"(D) \(%ye,(D) \(%ye$s";
    assert_eq!(judge(odd, odd, &Settings::default()), Verdict::CorrectText);
    // The letter before an answer whose label has none.
    for answer in [r"\textbf{(D) } 26", r"\text{(D)}\ 26", "(D) 26"] {
        let no = Settings::default();
        assert_eq!(judge(answer, "26", &no), Verdict::CorrectExact, "{answer}");
        assert_eq!(judge(answer, "27", &no), Verdict::Wrong, "{answer}");
        assert_eq!(judge(answer, "B", &no), Verdict::Wrong, "{answer}");
    }
    wrong("26", &[r"\textbf{(D) } 26 \text{ or } 27"]);
    wrong("B", &["A", "(C)", "x", "12"]);
    wrong("yes", &["no", "Nope", "12"]);
    wrong("Monday", &["Tuesday", "mon"]);
    let no = Settings::default();
    assert_eq!(judge(r"\textbf{(B) } 12", "B", &no), Verdict::CorrectText);
    assert_eq!(judge("B = 12", "B", &no), Verdict::Wrong);
    assert_eq!(judge("Yes +", "yes", &no), Verdict::Wrong);
    assert_eq!(judge("Yes, because 4 is even", "yes", &no), Verdict::CorrectText);
    assert_eq!(judge("No, because 4 is even", "yes", &no), Verdict::Wrong);
}

#[test]
fn unreadable_answers_are_no_mathematics() {
    for answer in [r"\frac{1", "2 +", "x^", r"\unknown{3}", "((1)", "1 2 3", "4 = = 4"] {
        let response = format!("The answer is {answer}\n");
        let label = Label::read("17").expect("a label");
        let settings = Settings { answer_from: AnswerFrom::Formula, ..Settings::default() };
        let verdict = verify(&response, &[label], &settings).verdict;
        assert_eq!(verdict, Verdict::Unparsable, "{answer}");
    }
}

#[test]
fn strict_takes_no_hints() {
    let strict = Settings { strict: true, ..Settings::default() };
    let check = |answer, label, correct| {
        assert_eq!(judge(answer, label, &strict).is_correct(), correct, "{answer} for {label}");
    };
    check("5 km", "5", false);
    check("5000 m", "5 km", true);
    check("50%", "50", false);
    check("0.5", r"50\%", false);
    check(r"50\%", r"\frac{100}{2}\%", true);
    check("x = 5", "5", false);
    check("1/2", "0.5", true);
}

#[test]
fn the_tolerance_is_a_setting() {
    let loose = Settings { tolerance: 0.01, ..Settings::default() };
    assert_eq!(judge("3.14", r"\pi", &loose), Verdict::CorrectNumeric);
    assert_eq!(judge("3.24", r"\pi", &loose), Verdict::Wrong);
    assert_eq!(judge("100", "101", &loose), Verdict::Wrong, "whole numbers stay exact");
    let none = Settings { tolerance: 0.0, ..Settings::default() };
    assert_eq!(judge("0.3333333333", "1/3", &none), Verdict::Wrong);
    assert_eq!(judge("0.5", "1/2", &none), Verdict::CorrectExact);
    let two = Settings { decimals: Some(2), ..Settings::default() };
    for (answer, label) in
        [("3.14", r"\pi"), ("1.41", r"\sqrt2"), ("0.00", "0.001"), ("3.14", "3.1421")]
    {
        assert_eq!(judge(answer, label, &two), Verdict::CorrectNumeric, "{answer}");
    }
    assert_eq!(judge("3.15", r"\pi", &two), Verdict::Wrong);
    assert_eq!(judge("3", r"\pi", &two), Verdict::Wrong, "a whole number is no rounding");
}

#[test]
fn ratios_and_times() {
    exact("3:4", &[r"3\text{:}4", "6:8", "3/4", "0.75", r"\frac{3}{4}", r"3 \colon 4"]);
    exact("7:12", &[r"\frac{7}{12}", "7/12", r"\frac{14}{24}"]);
    wrong("7:12", &["14:24", "12/7", r"\frac{7}{13}", "7"]);
    // Times that would be whole as a ratio, or that no ratio is written like.
    wrong("22:11", &["2"]);
    wrong("12:02", &["6", "6:1"]);
    exact("3:30 PM", &["15:30"]);
}
