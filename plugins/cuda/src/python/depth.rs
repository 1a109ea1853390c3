//! The parser, and what walks its trees, descend once for each bracket, operator and block inside another, and a plugin's
//! stack is small: a text that goes deeper than anybody's is refused before. So is one whose brackets do not match: the
//! parser stays inside a bracket that another kind seems to close.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

use super::unsupported;
use crate::limits::PYTHON_DEPTH_MAX;
use crate::verdict::{Failure, Verdict};

pub(super) fn check(text: &str) -> Result<(), Failure> {
    let mut lexer = lexer::lex(text, Mode::Module);
    let mut blocks = 0_usize;
    // The kinds of the brackets that are open, and for each, and for what is outside of them, what may stand inside one
    // another since the last comma; `counted` is their sum.
    let mut brackets = Vec::new();
    let mut open = vec![0_usize];
    let mut counted = 0_usize;
    loop {
        let kind = lexer.next_token();
        let here = open.last_mut().expect("never empty");
        match kind {
            TokenKind::EndOfFile => return Ok(()),
            TokenKind::Indent => blocks += 1,
            TokenKind::Dedent => blocks = blocks.saturating_sub(1),
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => {
                brackets.push(kind);
                open.push(0);
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                if brackets.pop().is_none_or(|open| !closes(kind, open)) {
                    let reason = "the Python: a bracket is closed that was not opened";
                    return Err(Failure::new(Verdict::GenerationFailed, reason));
                }
                counted -= open.pop().unwrap_or_default();
            }
            TokenKind::Comma | TokenKind::Semi | TokenKind::Newline => {
                counted -= std::mem::take(here);
            }
            // Names, numbers, and texts that stand beside one another become one.
            TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::String
            | TokenKind::FStringStart
            | TokenKind::FStringMiddle
            | TokenKind::FStringEnd
            | TokenKind::NonLogicalNewline
            | TokenKind::Comment => {}
            _ => {
                *here += 1;
                counted += 1;
            }
        }
        if blocks + open.len() + counted > PYTHON_DEPTH_MAX {
            return Err(unsupported(format!(
                "its Python has more than {PYTHON_DEPTH_MAX} brackets, operators and blocks inside one another"
            )));
        }
    }
}

fn closes(bracket: TokenKind, open: TokenKind) -> bool {
    matches!(
        (open, bracket),
        (TokenKind::Lpar, TokenKind::Rpar)
            | (TokenKind::Lsqb, TokenKind::Rsqb)
            | (TokenKind::Lbrace, TokenKind::Rbrace)
    )
}
