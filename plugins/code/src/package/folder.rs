//! Pairs of input and answer in a folder.

/// `(test, input, answer)` of every `NAME.in` that has a `NAME.ans` or `NAME.out`, by name.
///
/// The error names an input without an answer, unless answers may be missing.
pub(crate) fn pairs<'a>(
    paths: impl Iterator<Item = &'a str>,
) -> Result<Vec<(&'a str, &'a str, &'a str)>, String> {
    let paths: Vec<&str> = paths.collect();
    let known: std::collections::BTreeMap<&str, &str> = paths
        .iter()
        .filter_map(|path| {
            let stem = path.strip_suffix(".ans").or_else(|| path.strip_suffix(".out"))?;
            Some((stem, *path))
        })
        .collect();
    let mut pairs = Vec::new();
    for path in paths {
        let Some(stem) = path.strip_suffix(".in") else { continue };
        let answer = known.get(stem).ok_or_else(|| format!("{path} has no answer beside it"))?;
        pairs.push((stem, path, *answer));
    }
    Ok(pairs)
}
