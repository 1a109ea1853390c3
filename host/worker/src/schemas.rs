//! Golden cases against the schemas of their plugin: the server refuses a request whose settings or label do not match
//! them, so that the plugin never sees one.

use anyhow::Context as _;
use assay_core::plugin::Description;
use assay_sandbox::cases::GoldenCase;
use assay_schema::PluginSchemas;

/// The schemas that a plugin declares; the server refuses a plugin whose schemas cannot be used.
pub(crate) fn compile(description: &Description) -> anyhow::Result<PluginSchemas> {
    let Description { settings_schema, label_schema, .. } = description;
    PluginSchemas::compile(settings_schema, label_schema).context("the plugin's schemas")
}

/// Fails if the server would refuse the request of a case; the error names the field.
pub(crate) fn check(schemas: &PluginSchemas, case: &GoldenCase) -> Result<(), String> {
    if let Some(schema) = &schemas.settings {
        schema.validate(&case.settings()).map_err(|mismatch| mismatch.about("settings"))?;
    }
    if let (Some(schema), Some(label)) = (&schemas.label, case.label()) {
        schema.validate(&label).map_err(|mismatch| mismatch.about("label"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(settings: &str, request: &str) -> Option<String> {
        let schemas = PluginSchemas::compile(
            r#"{"required": ["url"], "properties": {"url": {"type": "string"}}}"#,
            r#"{"type": "object", "properties": {"tests": {"type": "array"}}}"#,
        );
        let text = format!("name: a\n{settings}request: {{response: b{request}}}\n");
        let case = GoldenCase::parse(&text).expect("a case");
        check(&schemas.expect("they are valid"), &case).err()
    }

    #[test]
    fn a_case_is_a_request_that_the_server_takes() {
        let settings = "settings: {url: here}\n";
        assert_eq!(problem(settings, ""), None, "the label is the plugin's to miss");
        assert_eq!(problem(settings, ", label: null"), None);
        assert_eq!(problem(settings, ", label: {tests: []}"), None);
        for (settings, request, field) in [
            (settings, ", label: 1", "label must be"),
            (settings, ", label: {tests: 1}", "label at `/tests` must be"),
            ("settings: {url: 1}\n", "", "settings at `/url` must be"),
            ("", "", "settings "),
        ] {
            let said = problem(settings, request).expect(field);
            assert!(said.starts_with(field), "{said}");
        }
    }
}
