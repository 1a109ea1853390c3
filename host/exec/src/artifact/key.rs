//! The key of a compiled program: the hash of everything that it was made from.

use assay_core::id::{Digest, TenantId};
use sha2::{Digest as _, Sha256};

use crate::blob::ProgramSource;
use crate::limits::BoxLimits;
use crate::toolchain::{Leaves, ToolchainSpec};

/// The format's version. It must change with the meaning of the fields; older programs are then not found.
const FORMAT: &[u8] = b"assay artifact 1";

pub(crate) struct Recipe<'a> {
    pub tenant: TenantId,
    pub spec: &'a ToolchainSpec,
    pub version: &'a str,
    pub source: &'a ProgramSource,
    pub limits: &'a BoxLimits,
}

impl Recipe<'_> {
    /// The key. Different recipes have different keys, since every part is hashed with its length.
    pub fn key(&self) -> Digest {
        let mut hash = KeyHasher(Sha256::new());
        hash.part(FORMAT);
        hash.part(self.tenant.0.as_bytes());
        hash.part(self.spec.id.as_bytes());
        hash.part(self.version.as_bytes());
        match &self.spec.compile {
            None => hash.count(0),
            Some(compile) => {
                hash.count(1);
                hash.list(compile.command.words());
                match compile.leaves() {
                    Leaves::Binary => hash.list(&[]),
                    Leaves::Files(files) => hash.list(files),
                }
                hash.count(compile.env.len());
                for (name, value) in &compile.env {
                    hash.part(name.as_bytes());
                    hash.part(value.as_bytes());
                }
            }
        }
        hash.part(self.source.main.as_bytes());
        hash.list(&self.source.options);
        let limits = self.limits;
        for number in [
            u64::from(limits.cpu_ms),
            u64::from(limits.wall_ms),
            limits.memory_bytes,
            limits.stdout_bytes,
            limits.stderr_bytes,
            limits.disk_bytes,
            u64::from(limits.processes),
            u64::from(limits.open_files),
        ] {
            hash.part(&number.to_le_bytes());
        }
        let mut files: Vec<_> =
            self.source.files.iter().map(|file| (&file.path, file.content.digest())).collect();
        files.sort_unstable();
        hash.count(files.len());
        for (path, digest) in files {
            hash.part(path.as_bytes());
            hash.part(&digest.0);
        }
        Digest(hash.0.finalize().into())
    }
}

struct KeyHasher(Sha256);

impl KeyHasher {
    fn count(&mut self, count: usize) {
        self.0.update((count as u64).to_le_bytes());
    }

    fn part(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.0.update(bytes);
    }

    fn list(&mut self, words: &[String]) {
        self.count(words.len());
        words.iter().for_each(|word| self.part(word.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::blob::{Blob, SourceFile};
    use crate::toolchain::read_all;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.into(), content: Blob::Inline(text.into()) }
    }

    fn source() -> ProgramSource {
        ProgramSource {
            toolchain: "cpp17-gcc".into(),
            files: vec![file("main.cpp", "int main() {}"), file("a.h", "")],
            main: "main.cpp".into(),
            options: vec!["-DA".into()],
        }
    }

    #[test]
    fn everything_counts_but_the_order_of_files() {
        let (specs, _) = read_all(None);
        let [one, two] = [TenantId::generate(), TenantId::generate()];
        let key = |tenant, id: &str, version, source: &ProgramSource, limits: &BoxLimits| {
            Recipe { tenant, spec: &specs[id], version, source, limits }.key()
        };
        let id = "cpp17-gcc";
        let changed = |change: &dyn Fn(&mut ProgramSource)| {
            let mut source = source();
            change(&mut source);
            key(one, id, "1", &source, &BoxLimits::COMPILE)
        };
        let same = changed(&|_| {});
        assert_eq!(changed(&|source| source.files.reverse()), same);
        let stored = Blob::Stored(Blob::Inline("int main() {}".into()).digest());
        assert_eq!(changed(&|source| source.files[0].content = stored.clone()), same);
        let keys = [
            same,
            key(two, id, "1", &source(), &BoxLimits::COMPILE),
            key(one, "cpp20-gcc", "1", &source(), &BoxLimits::COMPILE),
            key(one, "c11-gcc", "1", &source(), &BoxLimits::COMPILE),
            key(one, "cpython-3", "1", &source(), &BoxLimits::COMPILE),
            key(one, id, "2", &source(), &BoxLimits::COMPILE),
            key(one, id, "1", &source(), &BoxLimits { cpu_ms: 1, ..BoxLimits::COMPILE }),
            changed(&|source| source.main = "a.h".into()),
            changed(&|source| source.options.clear()),
            changed(&|source| source.options = vec!["-D".into(), "A".into()]),
            changed(&|source| source.files[0] = file("main.cpp", "int main() { }")),
            changed(&|source| source.files[1] = file("b.h", "")),
            changed(&|source| drop(source.files.pop())),
        ];
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
    }
}
