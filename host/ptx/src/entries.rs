//! The kernels that a text declares, whether or not their instructions are simulated.

use crate::error::{ParseError, ParseProblem};
use crate::limits::TEXT_BYTES_MAX;
use crate::module::PtxParam;
use crate::syntax::PtxParser;
use crate::token::{TokenKind, tokens};

/// A kernel by its declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PtxEntry {
    pub name: String,
    pub params: Vec<PtxParam>,
    /// The most threads of a block, if the kernel states a bound.
    pub max_threads: Option<u32>,
}

/// The kernels with a body, in order. The bodies are not parsed.
pub fn entries(text: &str) -> Result<Vec<PtxEntry>, ParseError> {
    if text.len() > TEXT_BYTES_MAX {
        let problem = ParseProblem::Limit("bytes of text", TEXT_BYTES_MAX as u64);
        return Err(ParseError { line: 1, text: String::new(), problem });
    }
    let tokens = tokens(text)?;
    let mut parser = PtxParser::new(&tokens);
    let mut entries = Vec::new();
    while parser.peek().is_some() {
        if parser.takes_word(".entry") {
            entries.extend(entry(&mut parser)?);
        } else {
            parser.at += 1;
        }
    }
    Ok(entries)
}

/// `None` for one that is only announced.
fn entry(parser: &mut PtxParser<'_>) -> Result<Option<PtxEntry>, ParseError> {
    let name = parser.word()?.to_owned();
    let mut params = Vec::new();
    if parser.peek() == Some(TokenKind::Mark('(')) {
        let mut end = 0_u64;
        for param in parser.params()? {
            let offset = end.next_multiple_of(param.align.max(1));
            end = offset.saturating_add(param.bytes);
            params.push(PtxParam { offset, bytes: param.bytes });
        }
    }
    let mut max_threads = None;
    loop {
        if parser.takes(';') {
            return Ok(None);
        } else if parser.peek() == Some(TokenKind::Mark('{')) {
            return Ok(Some(PtxEntry { name, params, max_threads }));
        } else if parser.takes_word(".maxntid") || parser.takes_word(".reqntid") {
            let mut threads = parser.number()?;
            while parser.takes(',') {
                threads = threads.saturating_mul(parser.number()?);
            }
            max_threads = Some(u32::try_from(threads).unwrap_or(u32::MAX));
        } else if parser.peek().is_none() {
            return parser.syntax("a kernel's body was expected");
        } else {
            parser.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PtxModule;

    #[test]
    fn no_directive_hides_a_kernel_from_the_parser() {
        for hiding in [
            ".pragma \"x\" .entry k() { ret; }",
            ".version 9.0 .entry k() { ret; }",
            ".section .debug { .entry k() { ret; }",
            ".entry k() { .pragma \"x\" .entry l() { ret; } }",
        ] {
            assert!(entries(hiding).is_ok_and(|declared| !declared.is_empty()), "{hiding}");
            assert!(PtxModule::parse(hiding).is_err(), "{hiding}");
        }
    }

    #[test]
    fn declarations_are_read_and_bodies_are_not() {
        let text = "
            .version 9.0
            .entry announced(.param .u64 p);
            .func f(.param .b32 q) { ret; }
            .visible .entry k(
                .param .u8 k_0,
                .param .u64 .ptr .global .align 1 k_1,
                .param .align 16 .b8 k_2[24],
                .param .f32 k_3
            )
            .explicitcluster
            .reqnctapercluster 2, 1, 1
            .maxntid 16, 8, 2
            { wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2}, %rd1; { ret; } }
            .weak .entry m()
            { ret; }";
        let param = |offset, bytes| PtxParam { offset, bytes };
        assert_eq!(
            entries(text).unwrap(),
            [
                PtxEntry {
                    name: "k".into(),
                    params: vec![param(0, 1), param(8, 8), param(16, 24), param(40, 4)],
                    max_threads: Some(256),
                },
                PtxEntry { name: "m".into(), params: vec![], max_threads: None },
            ]
        );
    }

    #[test]
    fn what_ends_too_early_is_no_declaration() {
        for text in
            [".entry", ".entry k", ".entry k(", ".entry k(.param .u64", ".entry k() .maxntid"]
        {
            assert!(entries(text).is_err(), "{text}");
        }
    }
}
