//! The stage `extract`: finds the program in a response.
//!
//! In order: the thoughts are cut off, fenced blocks are read (both by `assay_plugin::response`), the
//! last one of the right language is taken (`language` knows which toolchain a name means), and where
//! the prompt was the beginning of a program, prompt and response are put together (`completion`).

mod completion;
mod language;

use assay_plugin::response::{self, Block};
use assay_plugin::{Error, Request, exec};

use crate::label::Task;
use crate::limits::SOURCE_BYTES_MAX;
use crate::machine::Machine;
use crate::program::Program;
use crate::settings::{Accept, Settings};
pub(crate) use language::Languages;

/// The program, or why there is none: the latter is the response's fault.
pub(crate) fn extract<M: Machine>(
    machine: &M,
    settings: &Settings,
    task: &Task,
    request: &Request,
) -> Result<Result<Program, String>, Error> {
    let toolchains = machine.toolchains();
    if toolchains.is_empty() {
        return Err(Error::unavailable("this worker can run no programs"));
    }
    let languages = Languages::new(&toolchains, &settings.toolchains)?;
    let wanted = languages.wanted(task.language(), settings.language.as_deref())?;
    let answer = match response::answer(&request.response) {
        Some(answer) => answer,
        None => return Ok(Err("the response ends inside its thoughts".into())),
    };
    let found = match find(answer, wanted, &languages, settings, task.completes().is_some()) {
        Ok(found) => found,
        Err(reason) => return Ok(Err(reason)),
    };
    let code = match task.completes() {
        Some((prompt, entry_point)) => completion::assemble(prompt, entry_point, &found.code),
        None => found.code,
    };
    if code.len() > SOURCE_BYTES_MAX {
        let reason = format!("the program has {} bytes, at most {SOURCE_BYTES_MAX}", code.len());
        return Ok(Err(reason));
    }
    if code.contains('\0') {
        return Ok(Err("the program holds a NUL character".into()));
    }
    let toolchain = found.toolchain.id.clone();
    Ok(Ok(Program { toolchain, code, origin: found.origin, key: None }))
}

struct ExtractedCode<'a> {
    code: String,
    toolchain: &'a exec::Toolchain,
    /// The place from which the program was taken, for the explanation.
    origin: String,
}

fn find<'a>(
    answer: &str,
    wanted: Option<&'a exec::Toolchain>,
    languages: &Languages<'a>,
    settings: &Settings,
    completes: bool,
) -> Result<ExtractedCode<'a>, String> {
    let blocks = response::blocks(answer, |name| languages.toolchain(name).is_some());
    if blocks.is_empty() {
        let accepted = completes || settings.unfenced == Accept::Accept;
        let Some(toolchain) = wanted.filter(|_| accepted && !answer.trim().is_empty()) else {
            return Err(without_block(answer, accepted));
        };
        let origin = "the whole response".to_owned();
        return Ok(ExtractedCode { code: answer.to_owned(), toolchain, origin });
    }
    let chosen = match wanted {
        Some(toolchain) => of_language(&blocks, toolchain, languages)?,
        None => of_any_language(&blocks, languages)?,
    };
    let (block, toolchain) = chosen;
    if !block.closed && settings.unclosed == Accept::Refuse {
        return Err("the last block of code is not closed".into());
    }
    let name = if block.name.is_empty() { "unnamed" } else { &block.name };
    let unclosed = if block.closed { "" } else { ", which is not closed" };
    let origin = format!("the {name} block at line {}{unclosed}", block.line);
    Ok(ExtractedCode { code: block.content.clone(), toolchain, origin })
}

fn without_block(answer: &str, accepted: bool) -> String {
    match (answer.trim().is_empty(), accepted) {
        (true, _) => "the response is empty".into(),
        (false, true) => "the response has no block of code and no language is set".into(),
        (false, false) => "the response has no block of code".into(),
    }
}

/// The last block whose name means the toolchain, else the last of its language, such as another standard
/// of C++, else the last without a name.
fn of_language<'a, 'b>(
    blocks: &'b [Block],
    toolchain: &'a exec::Toolchain,
    languages: &Languages<'a>,
) -> Result<(&'b Block, &'a exec::Toolchain), String> {
    let last = |is_right: &dyn Fn(&str) -> bool| blocks.iter().rfind(|block| is_right(&block.name));
    let block = last(&|name| languages.means(name, toolchain))
        .or_else(|| last(&|name| languages.is_akin(name, toolchain)))
        .or_else(|| last(&str::is_empty));
    block.map(|block| (block, toolchain)).ok_or_else(|| {
        let last = blocks.last().map_or("", |block| block.name.as_str());
        let wanted = toolchain.languages.first().map_or(toolchain.id.as_str(), String::as_str);
        format!("no block of code is {wanted}; the last is {last}")
    })
}

/// The last block whose name is a language that can be run here.
fn of_any_language<'a, 'b>(
    blocks: &'b [Block],
    languages: &Languages<'a>,
) -> Result<(&'b Block, &'a exec::Toolchain), String> {
    let known = |block: &'b Block| Some((block, languages.toolchain(&block.name)?));
    blocks
        .iter()
        .rev()
        .find_map(known)
        .ok_or_else(|| "no block of code names a language that can be run here".into())
}

#[cfg(test)]
mod tests;
