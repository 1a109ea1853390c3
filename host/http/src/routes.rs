//! The handlers: a folder for each noun and a file for each verb. The path of the interface is the path
//! of the source: every route of `/v1/batches` is below `batches/`.

pub(crate) mod audit;
pub(crate) mod batches;
pub(crate) mod bootstrap;
pub(crate) mod capacity;
pub(crate) mod incidents;
pub(crate) mod invitations;
pub(crate) mod keys;
pub(crate) mod live;
pub(crate) mod members;
pub(crate) mod metrics;
pub(crate) mod overview;
pub(crate) mod people;
pub(crate) mod plugins;
pub(crate) mod probes;
pub(crate) mod queue;
pub(crate) mod requests;
pub(crate) mod rewards;
pub(crate) mod runs;
pub(crate) mod samples;
pub(crate) mod session;
pub(crate) mod simulations;
pub(crate) mod tenants;
pub(crate) mod webhooks;
pub(crate) mod workers;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;
    use std::{fs, io};

    const DECLARATION: &str = " path = \"";

    /// The noun's folder or file of each handler, and the path that it declares.
    fn declared(
        folder: &Path,
        noun: Option<&str>,
        found: &mut Vec<(String, String)>,
    ) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            let noun = noun.unwrap_or(name);
            if path.is_dir() {
                declared(&path, Some(noun), found)?;
                continue;
            }
            let text = fs::read_to_string(&path)?;
            let lines = text.lines().filter(|line| !line.contains("DECLARATION"));
            for (_, rest) in lines.filter_map(|line| line.split_once(DECLARATION)) {
                let route = rest.split('"').next().unwrap_or_default();
                found.push((noun.to_owned(), route.to_owned()));
            }
        }
        Ok(())
    }

    #[test]
    fn each_route_is_in_the_folder_of_its_noun() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/routes");
        let mut found = Vec::new();
        declared(&folder, None, &mut found).expect("the sources are readable");
        for (noun, route) in &found {
            let mut words = route.split('/').filter(|word| !word.is_empty() && *word != "v1");
            assert_eq!(words.next(), Some(noun.as_str()), "{route}");
        }
        let found: BTreeSet<String> = found.into_iter().map(|(_, route)| route).collect();
        let served = crate::document().paths.paths.into_keys();
        // Those of trainers' protocols are declared in `protocols`.
        let served: BTreeSet<String> =
            served.filter(|route| !route.starts_with("/compat/")).collect();
        assert_eq!(found, served);
    }
}
