//! The text of a module as declarations and statements. Names are not resolved here.

use crate::error::{ParseError, ParseProblem, ParseResult};
use crate::limits::{INSTRUCTIONS_MAX, SCOPE_DEPTH_MAX};
use crate::operand::{Space, Type};
use crate::token::{PtxToken, TokenKind};

#[derive(Debug, Clone, PartialEq)]
pub enum SyntaxArgument<'a> {
    /// A register, a name, a number.
    Word(&'a str),
    Negative(&'a str),
    /// `!p`
    Not(&'a str),
    /// `p|q`
    Pair(&'a str, &'a str),
    Vector(Vec<SyntaxArgument<'a>>),
    Address {
        base: &'a str,
        offset: u64,
    },
    List(Vec<&'a str>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct InstructionLine<'a> {
    pub line: u32,
    pub guard: Option<(&'a str, bool)>,
    pub opcode: &'a str,
    pub arguments: Vec<SyntaxArgument<'a>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Variable<'a> {
    pub line: u32,
    pub space: Space,
    pub name: &'a str,
    pub align: u64,
    pub bytes: u64,
    /// An `.extern` array without a size: dynamic shared memory.
    pub open: bool,
    pub data: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PtxStatement<'a> {
    Registers { line: u32, name: &'a str, count: Option<u32>, kind: Type },
    Variable(Variable<'a>),
    Label { line: u32, name: &'a str },
    Instruction(InstructionLine<'a>),
    Open,
    Close,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FunctionSyntax<'a> {
    pub line: u32,
    pub name: &'a str,
    pub is_kernel: bool,
    pub returns: Vec<Variable<'a>>,
    pub params: Vec<Variable<'a>>,
    /// A declaration has none.
    pub body: Option<Vec<PtxStatement<'a>>>,
    pub max_threads: Option<u32>,
}

#[derive(Debug, Default)]
pub struct TranslationUnit<'a> {
    pub functions: Vec<FunctionSyntax<'a>>,
    pub variables: Vec<Variable<'a>>,
}

pub struct PtxParser<'a> {
    pub(crate) tokens: &'a [PtxToken<'a>],
    pub(crate) at: usize,
    statements: usize,
}

pub fn parse<'a>(tokens: &'a [PtxToken<'a>]) -> ParseResult<TranslationUnit<'a>> {
    let mut parser = PtxParser::new(tokens);
    let mut unit = TranslationUnit::default();
    while parser.at < tokens.len() {
        parser.item(&mut unit)?;
    }
    Ok(unit)
}

impl<'a> PtxParser<'a> {
    pub(crate) fn new(tokens: &'a [PtxToken<'a>]) -> Self {
        Self { tokens, at: 0, statements: 0 }
    }

    pub(crate) fn peek(&self) -> Option<TokenKind<'a>> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    pub(crate) fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |token| token.line)
    }

    pub(crate) fn fault(&self, problem: ParseProblem) -> ParseError {
        let token = self.tokens.get(self.at);
        let text = token.map_or_else(|| "end of text".to_owned(), PtxToken::text);
        ParseError { line: self.line(), text, problem }
    }

    pub(crate) fn syntax<T>(&self, problem: &'static str) -> ParseResult<T> {
        Err(self.fault(ParseProblem::Syntax(problem)))
    }

    pub(crate) fn word(&mut self) -> ParseResult<&'a str> {
        let Some(TokenKind::Word(word)) = self.peek() else {
            return self.syntax("a word was expected");
        };
        self.at += 1;
        Ok(word)
    }

    pub(crate) fn takes(&mut self, mark: char) -> bool {
        let found = self.peek() == Some(TokenKind::Mark(mark));
        self.at += usize::from(found);
        found
    }

    pub(crate) fn takes_word(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(TokenKind::Word(word));
        self.at += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, mark: char) -> ParseResult<()> {
        if self.takes(mark) { Ok(()) } else { self.syntax("other punctuation was expected") }
    }

    fn skip_line(&mut self) -> ParseResult<()> {
        let line = self.line();
        while self.tokens.get(self.at).is_some_and(|token| token.line == line) {
            self.skip_token()?;
        }
        Ok(())
    }

    fn skip_past(&mut self, mark: char) -> ParseResult<()> {
        while self.at < self.tokens.len() && !self.takes(mark) {
            self.skip_token()?;
        }
        Ok(())
    }

    /// No kernel is passed over unread: `entries` tells of all that the text declares.
    fn skip_token(&mut self) -> ParseResult<()> {
        if self.peek() == Some(TokenKind::Word(".entry")) {
            return self.syntax("the directive before a kernel must end");
        }
        self.at += 1;
        Ok(())
    }

    fn item(&mut self, unit: &mut TranslationUnit<'a>) -> ParseResult<()> {
        match self.peek() {
            Some(TokenKind::Word(".version" | ".target" | ".file" | ".loc")) => self.skip_line()?,
            Some(TokenKind::Word(".address_size")) => {
                self.at += 1;
                if self.peek() != Some(TokenKind::Word("64")) {
                    return self.syntax("addresses have 64 bits");
                }
                self.at += 1;
            }
            Some(TokenKind::Word(".pragma")) => self.skip_past(';')?,
            Some(TokenKind::Word(".section")) => self.skip_past('}')?,
            Some(TokenKind::Word(".visible" | ".extern" | ".weak" | ".common")) => self.at += 1,
            Some(TokenKind::Word(".entry" | ".func")) => {
                let function = self.function()?;
                unit.functions.push(function);
            }
            Some(TokenKind::Word(".global" | ".const" | ".shared")) => {
                unit.variables.extend(self.variables()?)
            }
            Some(TokenKind::Mark(';')) => self.at += 1,
            _ => return Err(self.fault(ParseProblem::Unsupported("this directive".into()))),
        }
        Ok(())
    }

    fn function(&mut self) -> ParseResult<FunctionSyntax<'a>> {
        let line = self.line();
        let is_kernel = self.word()? == ".entry";
        let returns = if !is_kernel && self.peek() == Some(TokenKind::Mark('(')) {
            self.params()?
        } else {
            Vec::new()
        };
        let name = self.word()?;
        let params =
            if self.peek() == Some(TokenKind::Mark('(')) { self.params()? } else { Vec::new() };
        let max_threads = self.performance_directives()?;
        let body = if self.takes(';') { None } else { Some(self.body()?) };
        Ok(FunctionSyntax { line, name, is_kernel, returns, params, body, max_threads })
    }

    fn performance_directives(&mut self) -> ParseResult<Option<u32>> {
        let mut threads = None;
        while let Some(TokenKind::Word(word)) = self.peek() {
            let numbers = match word {
                ".maxntid" | ".reqntid" | ".minnctapersm" | ".maxnreg" | ".maxnctapersm" => {
                    self.at += 1;
                    let mut numbers = vec![self.number()?];
                    while self.takes(',') {
                        numbers.push(self.number()?);
                    }
                    numbers
                }
                ".noreturn" => {
                    self.at += 1;
                    Vec::new()
                }
                ".pragma" => {
                    self.skip_past(';')?;
                    Vec::new()
                }
                _ => return Err(self.fault(ParseProblem::Unsupported("this directive".into()))),
            };
            if matches!(word, ".maxntid" | ".reqntid") {
                let product = numbers.iter().fold(1u64, |all, one| all.saturating_mul(*one));
                threads = Some(u32::try_from(product).unwrap_or(u32::MAX));
            }
        }
        Ok(threads)
    }

    fn body(&mut self) -> ParseResult<Vec<PtxStatement<'a>>> {
        let mut statements = Vec::new();
        let mut depth = 0usize;
        self.expect('{')?;
        loop {
            self.statements += 1;
            if self.statements > INSTRUCTIONS_MAX {
                return Err(self.fault(ParseProblem::Limit("statements", INSTRUCTIONS_MAX as u64)));
            }
            match self.peek() {
                Some(TokenKind::Mark('{')) => {
                    self.at += 1;
                    depth += 1;
                    if depth > SCOPE_DEPTH_MAX {
                        let max = SCOPE_DEPTH_MAX as u64;
                        return Err(self.fault(ParseProblem::Limit("scopes in one another", max)));
                    }
                    statements.push(PtxStatement::Open);
                }
                Some(TokenKind::Mark('}')) => {
                    self.at += 1;
                    if depth == 0 {
                        return Ok(statements);
                    }
                    depth -= 1;
                    statements.push(PtxStatement::Close);
                }
                Some(TokenKind::Mark(';')) => self.at += 1,
                Some(TokenKind::Word(".loc" | ".file")) => self.skip_line()?,
                Some(TokenKind::Word(".pragma")) => self.skip_past(';')?,
                Some(TokenKind::Word(".reg")) => self.registers(&mut statements)?,
                Some(TokenKind::Word(".local" | ".shared" | ".param")) => {
                    statements.extend(self.variables()?.into_iter().map(PtxStatement::Variable));
                }
                Some(TokenKind::Word(word)) if word.starts_with('.') => {
                    return Err(self.fault(ParseProblem::Unsupported("this directive".into())));
                }
                _ => statements.push(self.statement()?),
            }
        }
    }

    fn registers(&mut self, statements: &mut Vec<PtxStatement<'a>>) -> ParseResult<()> {
        self.at += 1;
        let kind = self.kind()?;
        loop {
            let line = self.line();
            let name = self.word()?;
            let count = if self.takes('<') {
                let count = self.number()?;
                self.expect('>')?;
                Some(u32::try_from(count).unwrap_or(u32::MAX))
            } else {
                None
            };
            statements.push(PtxStatement::Registers { line, name, count, kind });
            if !self.takes(',') {
                return self.expect(';');
            }
        }
    }

    fn statement(&mut self) -> ParseResult<PtxStatement<'a>> {
        let line = self.line();
        let guard = if self.takes('@') {
            let negated = self.takes('!');
            Some((self.word()?, negated))
        } else {
            None
        };
        let opcode = self.word()?;
        if guard.is_none() && self.takes(':') {
            return Ok(PtxStatement::Label { line, name: opcode });
        }
        let mut arguments = Vec::new();
        while !self.takes(';') {
            if !arguments.is_empty() {
                self.expect(',')?;
            }
            arguments.push(self.argument()?);
        }
        Ok(PtxStatement::Instruction(InstructionLine { line, guard, opcode, arguments }))
    }

    fn argument(&mut self) -> ParseResult<SyntaxArgument<'a>> {
        if self.takes('{') {
            return Ok(SyntaxArgument::Vector(self.vector()?));
        }
        if self.takes('[') {
            let base = self.word()?;
            let offset = if self.takes('+') { self.signed()? } else { 0 };
            let offset = if self.takes('-') { self.number()?.wrapping_neg() } else { offset };
            self.expect(']')?;
            return Ok(SyntaxArgument::Address { base, offset });
        }
        if self.takes('(') {
            let mut names = Vec::new();
            while !self.takes(')') {
                names.push(self.word()?);
                self.takes(',');
            }
            return Ok(SyntaxArgument::List(names));
        }
        if self.takes('-') {
            return Ok(SyntaxArgument::Negative(self.word()?));
        }
        if self.takes('!') {
            return Ok(SyntaxArgument::Not(self.word()?));
        }
        let word = self.word()?;
        if self.takes('|') {
            Ok(SyntaxArgument::Pair(word, self.word()?))
        } else {
            Ok(SyntaxArgument::Word(word))
        }
    }

    /// A vector's elements are plain: no vector in a vector.
    fn vector(&mut self) -> ParseResult<Vec<SyntaxArgument<'a>>> {
        let mut elements = Vec::new();
        loop {
            let negative = self.takes('-');
            let word = self.word()?;
            elements.push(if negative {
                SyntaxArgument::Negative(word)
            } else {
                SyntaxArgument::Word(word)
            });
            if !self.takes(',') {
                self.expect('}')?;
                return Ok(elements);
            }
        }
    }
}
