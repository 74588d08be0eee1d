//! Cores and their threads.

use std::{collections::BTreeSet, fs, path::Path};

/// Linux's folder of processors.
const PROCESSORS_FOLDER: &str = "/sys/devices/system/cpu";

/// Returns what the owner should know before they choose a number of threads, if several share a
/// core.
pub(crate) fn hint(threads: usize) -> Option<String> {
    let cores = physical_cores(Path::new(PROCESSORS_FOLDER))?;
    (cores < threads).then(|| {
        format!(
            "These are the threads of {cores} cores. Two of one core share its units: the second adds much less than \
             a core, and makes it hotter."
        )
    })
}

/// Returns the number of cores that are on; none if the system does not tell.
fn physical_cores(processors: &Path) -> Option<usize> {
    let mut cores = BTreeSet::new();
    for entry in fs::read_dir(processors).ok()?.flatten() {
        let siblings = fs::read_to_string(entry.path().join("topology/thread_siblings_list"));
        cores.extend(siblings.map(|list| list.trim().to_owned()));
    }
    (!cores.is_empty()).then_some(cores.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_one_core_count_once() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(physical_cores(folder.path()), None);
        for (cpu, siblings) in [("cpu0", "0,2"), ("cpu1", "1,3"), ("cpu2", "0,2"), ("cpu3", "1,3")] {
            fs::create_dir_all(folder.path().join(cpu).join("topology")).unwrap();
            fs::write(folder.path().join(cpu).join("topology/thread_siblings_list"), format!("{siblings}\n")).unwrap();
        }
        fs::create_dir(folder.path().join("cpufreq")).unwrap();
        assert_eq!(physical_cores(folder.path()), Some(2));
    }
}
