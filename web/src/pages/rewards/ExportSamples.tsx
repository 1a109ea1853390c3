// A menu that saves the samples of a run or batch as a file. The browser writes it as it comes from the server.

import { Button, Menu } from "@mantine/core";
import { FILES, samplesUrl } from "./samples";

export function ExportSamples({ run, batch }: { run: string; batch?: string }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="xs" variant="default">
          Export samples
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {FILES.map((file) => (
          <Menu.Item key={file.label} component="a" href={samplesUrl(run, batch, file)} download>
            {file.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
