// The documentation: the pages of the book, of the release that this server is.

import { Anchor, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useLocation, useNavigate } from "@tanstack/react-router";
import { type MouseEvent, useEffect } from "react";
import { Page } from "../../parts/Page";
import { Answer, Empty } from "../../parts/states";
import { TextLink } from "../../parts/TextLink";
import { addressOf, type BookPage, PARTS, pageAt, textOf } from "./contents";
import { htmlOf } from "./html";

export function Book() {
  const { pathname } = useLocation();
  const path = decodeURIComponent(pathname.replace(/^\/book\/?/, ""));
  const page = pageAt(path);
  return (
    <Page
      title={page?.title ?? "Documentation"}
      crumbs={path === "" ? [] : [{ label: "Documentation", to: "/book" }]}
    >
      <Group align="flex-start" gap="xl" wrap="nowrap" className="book-frame">
        <div className="book-page">
          {page ? (
            <PageText page={page} key={page.path} />
          ) : (
            <Empty title="No such page">
              <TextLink to="/book">All pages</TextLink>
            </Empty>
          )}
        </div>
        <Contents at={path} />
      </Group>
    </Page>
  );
}

function PageText({ page }: { page: BookPage }) {
  const navigate = useNavigate();
  const { hash } = useLocation();
  const html = useQuery({
    queryKey: ["book", page.path],
    queryFn: async () => htmlOf(page, await textOf(page)),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const shown = html.data !== undefined;
  useEffect(() => {
    if (shown && hash) document.getElementById(hash)?.scrollIntoView();
  }, [shown, hash]);
  /** Links between pages do not load the dashboard anew. */
  const follow = (event: MouseEvent) => {
    const to = (event.target as Element).closest("a")?.getAttribute("href");
    if (!to || !/^(\/book|#)/.test(to) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const [path, anchor] = to.split("#");
    void navigate({ to: path || addressOf(page), ...(anchor ? { hash: anchor } : {}) });
  };
  return (
    <Answer query={html} what="the page" height={480}>
      {(text) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the links in it hear keys, which click them
        // biome-ignore lint/a11y/noStaticElementInteractions: the same
        <div
          className="rendered book"
          onClick={follow}
          // biome-ignore lint/security/noDangerouslySetInnerHtml: files of this repository, with HTML in them escaped
          dangerouslySetInnerHTML={{ __html: text }}
        />
      )}
    </Answer>
  );
}

function Contents({ at }: { at: string }) {
  return (
    <nav className="book-contents" aria-label="Pages of the documentation">
      {PARTS.map(({ title, pages }) => (
        <div key={title ?? ""}>
          {title && (
            <Text size="xs" fw={600} mt="sm" mb={2}>
              {title}
            </Text>
          )}
          {pages.map((page) => (
            <Anchor
              key={page.path}
              component={Link}
              to={addressOf(page)}
              size="sm"
              underline="hover"
              pl={page.depth * 12}
              aria-current={page.path === at ? "page" : undefined}
            >
              {page.title}
            </Anchor>
          ))}
        </div>
      ))}
    </nav>
  );
}
