//! What measures an answer: units in several parts, angles, moduli, and the commands that only dress it.

use crate::pairs::{exact, text, wrong};

#[test]
fn units_in_latex() {
    exact(
        r"9.8\text{ m/s}^2",
        &[
            r"9.8\ \mathrm{m/s^2}",
            r"9.8\,\mathrm{m\,s^{-2}}",
            r"9.8 \frac{\text{m}}{\text{s}^2}",
            r"9.8\text{ m/s²}",
        ],
    );
    exact(r"72\text{ km/h}", &[r"72\frac{\text{km}}{\text{h}}", r"20\ \mathrm{m\,s^{-1}}"]);
    wrong(r"9.8\text{ m/s}^2", &[r"9.8\ \mathrm{m/s}", r"9.8 \frac{\text{s}^2}{\text{m}}"]);
}

#[test]
fn amounts_in_several_units() {
    exact(
        r"1 \text{ hour } 30 \text{ minutes}",
        &[
            r"90\text{ minutes}",
            r"1.5\text{ hours}",
            "1 hour and 30 minutes",
            r"1\text{ hour and }30\text{ minutes}",
            "1 h 30 min",
        ],
    );
    exact(r"\$20.58", &["20 dollars and 58 cents", r"20\text{ dollars and }58\text{ cents}"]);
    exact("5 ft 11 in", &["71 inches"]);
    exact(r"\$1,200", &[r"1.2\text{ thousand dollars}"]);
    wrong(
        r"1 \text{ hour } 30 \text{ minutes}",
        &[r"1\text{ hour }20\text{ minutes}", "1 hour", "30 minutes", "31"],
    );
    wrong("3 cm, 4 cm", &["7 cm"]);
    wrong("5 m, 20 cm", &["5.2 m", "5 m"]);
    wrong("5.2 m", &["5 m and 20 cm", "5 m, 20 cm"]);
}

#[test]
fn angles_convert() {
    exact(r"90^\circ", &[r"\frac{\pi}{2}", r"\frac{\pi}{2}\text{ radians}"]);
    exact(r"\frac{\pi}{3}", &[r"60^\circ", r"\frac{\pi}{3}\text{ rad}"]);
    wrong(r"90^\circ", &[r"\pi", r"90\pi", r"90\text{ rad}", r"\frac12"]);
    wrong(r"\frac{\pi}{3}", &["60", r"30^\circ"]);
}

#[test]
fn units_by_name_and_symbol() {
    exact(r"120\text{ N}", &[r"120\text{ newtons}", r"120\,\mathrm{N}"]);
    exact(r"3\text{ mol}", &["3 moles"]);
    exact(r"60\text{ W}", &["60 watts"]);
    wrong(r"120\text{ N}", &[r"120\text{ joules}", r"120\text{ J}", r"120\text{ watts}"]);
    wrong(r"60\text{ MW}", &["60 watts"]);
}

#[test]
fn values_of_one_variable_may_be_counted() {
    exact(
        r"x=\frac{-1\pm\sqrt{5}}{2}",
        &[r"x_1=\frac{-1+\sqrt5}{2}, x_2=\frac{-1-\sqrt5}{2}", r"x_{1,2}=\frac{-1\pm\sqrt5}{2}"],
    );
    wrong("x=2, x=3", &["x_1=2, y_1=3", "x_1=2, x_2=4", "x_1=2"]);
}

#[test]
fn percentages_are_no_amounts() {
    wrong(r"\$10", &[r"10\%", r"5\text{ cm}"]);
    wrong(r"5\text{ cm}", &[r"5\%"]);
    exact(r"10\%", &["10", "0.1", r"10\%\text{ of students}"]);
}

#[test]
fn residues() {
    exact(r"5 \pmod{7}", &["5", r"12 \pmod 7", "5 (mod 7)", r"x \equiv -2 \pmod{7}"]);
    exact(r"x \equiv 5 \pmod{7}", &[r"x\equiv5\ (\text{mod }7)", r"x \equiv 5\,(\bmod 7)"]);
    exact(r"n \equiv 1, 3 \pmod{8}", &[r"n\equiv 3, 1\pmod 8", "1, 3"]);
    wrong(r"5 \pmod{7}", &[r"5 \pmod{8}", r"6 \pmod{7}", "12", "7"]);
    wrong(r"x \equiv 5 \pmod{7}", &[r"y \equiv 5 \pmod{7}"]);
}

#[test]
fn commands_that_only_dress() {
    exact("x=5", &[r"\boldsymbol{x=5}", r"\textcolor{blue}{x=5}", r"\color{red}{x = 5}"]);
    exact("5", &[r"\large 5", r"\Large{5}", r"\colorbox{yellow}{5}", r"5 \checkmark"]);
    exact("(1, 2)", &[r"\mathbf{(1, 2)}", r"\boldsymbol{\left(1, 2\right)}"]);
    wrong("x=5", &[r"\boldsymbol{y=5}", r"\textcolor{blue}{x=6}"]);
}

#[test]
fn older_latex() {
    exact(r"\frac{3}{4}", &[r"{3 \over 4}"]);
    exact(r"2^{10}\cdot3^5", &[r"2^{10} 3^5"]);
    exact("120", &[r"{10 \choose 3}", r"\frac{10!}{3!7!}", "5!1!"]);
    exact(r"3\pm2\sqrt5", &[r"3\mp2\sqrt5"]);
    exact(r"(-\infty,2)\cup(3,\infty)", &[r"(-\infty,2)\bigcup(3,\infty)"]);
    wrong(r"\frac{3}{4}", &[r"{4 \over 3}"]);
    wrong("120", &[r"{10 \choose 4}", r"\frac{10!}{3!6!}"]);
}

#[test]
fn conditions_in_brackets() {
    exact(r"x=\frac{\pi}{5}+2k\pi", &[r"x=\frac{\pi}{5}+2k\pi \quad (k \in \mathbb{Z})"]);
    exact(r"2n\pi\ (n\in\mathbb{Z})", &[r"2k\pi, k\in\mathbb{Z}"]);
    wrong(r"x=2k\pi\ (k\in\mathbb{Z})", &[r"x=k\pi\ (k\in\mathbb{Z})"]);
}

#[test]
fn words_for_no_value() {
    text(r"\text{DNE}", &["does not exist", r"\text{The limit does not exist}"]);
    exact(r"\emptyset", &[r"\text{There is no solution}"]);
    wrong(r"\text{DNE}", &["0", r"\infty"]);
}

#[test]
fn numbers_in_units_count() {
    exact(r"\$1,200", &[r"1.2\text{ thousand dollars}", r"0.0012\text{ million dollars}"]);
    exact("3000000", &[r"3\text{ million people}"]);
    wrong(r"3\text{ parts per million}", &[r"3\text{ parts per billion}"]);
    wrong(r"\$500", &[r"5\text{ hundred thousand dollars}"]);
}
