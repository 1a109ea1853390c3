//! The page of the dashboard that asked for a sign-in. The browser returns to it; it never leads to another server.

use assay_core::limits;
use reqwest::Url;

const SIGN_IN: &str = "/sign-in";

/// The page that asked for a sign-in, as far as it is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct AskingPage {
    /// Path and query on this server, in ASCII.
    path: Option<String>,
    /// The tenant whose page it is.
    pub tenant: Option<String>,
}

impl AskingPage {
    /// Drops a `back` that is no page of this server, and a tenant whose name is too long for one.
    pub(crate) fn new(back: Option<&str>, tenant: Option<String>) -> Self {
        let is_name = |name: &String| name.len() <= limits::PLUGIN_NAME_BYTES_MAX;
        Self { path: back.and_then(own_path), tenant: tenant.filter(is_name) }
    }

    /// The path for a browser that has signed in.
    pub(crate) fn path(&self) -> &str {
        self.path.as_deref().unwrap_or("/")
    }

    /// The path of the sign-in page for a browser that was refused with this code.
    pub(crate) fn sign_in(&self, code: &str) -> String {
        let mut page = here();
        page.set_path(SIGN_IN);
        page.query_pairs_mut().append_pair("problem", code);
        if let Some(path) = &self.path {
            page.query_pairs_mut().append_pair("back", path);
        }
        relative(&page)
    }
}

/// The path and query of a page of this server as a browser reads it; `None` for every other address.
fn own_path(back: &str) -> Option<String> {
    let plain = back.starts_with('/') && !back.contains(char::is_control);
    if !plain || back.len() > limits::BACK_BYTES_MAX {
        return None;
    }
    let page = here().join(back).ok().filter(|page| page.origin() == here().origin())?;
    let path = relative(&page);
    // `/..//host` becomes `//host`, which names another server.
    (!path.starts_with("//")).then_some(path)
}

/// The address of a server of which only the path and query are used.
fn here() -> Url {
    Url::parse("http://server.invalid/").expect("a URL")
}

fn relative(page: &Url) -> String {
    page.query().map_or_else(|| page.path().to_owned(), |query| format!("{}?{query}", page.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_this_server_is_kept_in_ascii_without_its_hash() {
        for (back, path) in [
            ("/", "/"),
            ("/runs?q=x&sort=-mean", "/runs?q=x&sort=-mean"),
            ("/runs/a%2Fb?q=%22%C3%BC%22", "/runs/a%2Fb?q=%22%C3%BC%22"),
            ("/runs/ü x?q=ü", "/runs/%C3%BC%20x?q=%C3%BC"),
            ("/runs#assay_key", "/runs"),
            ("/runs?q=https://host/", "/runs?q=https://host/"),
        ] {
            assert_eq!(AskingPage::new(Some(back), None).path(), path, "{back}");
        }
    }

    #[test]
    fn no_other_server_is_led_to() {
        let long = format!("/{}", "a".repeat(limits::BACK_BYTES_MAX));
        for back in [
            "",
            "//host",
            "///host",
            "/\\host",
            "\\/host",
            "/\t/host",
            "/\n/host",
            "\t//host",
            "/runs\r\nSet-Cookie: a=b",
            "/..//host",
            "/.//host",
            "/%2e%2e//host",
            "/a/..\\\\host",
            "https://host/",
            "http:/host",
            "javascript:alert(1)",
            "host",
            "@host",
            &long,
        ] {
            assert_eq!(AskingPage::new(Some(back), None).path(), "/", "{back:?}");
        }
    }

    #[test]
    fn a_refused_browser_can_try_again_for_the_same_page() {
        let page = AskingPage::new(Some("/runs?q=a&b=c"), None);
        assert_eq!(
            page.sign_in("oidc_refused"),
            "/sign-in?problem=oidc_refused&back=%2Fruns%3Fq%3Da%26b%3Dc"
        );
        assert_eq!(AskingPage::default().sign_in("x"), "/sign-in?problem=x");
        let tenant = "t".repeat(limits::PLUGIN_NAME_BYTES_MAX + 1);
        assert_eq!(AskingPage::new(None, Some(tenant)).tenant, None);
    }
}
