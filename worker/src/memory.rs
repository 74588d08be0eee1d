//! Memory that this process may use.

use std::{fs, path::Path};

/// Returns the machine's memory or the limit of this process's control group (container, service),
/// in MiB, if the system reports one.
pub(crate) fn total_mebibytes() -> Option<u64> {
    min_limit(Path::new("/proc"), Path::new("/sys/fs/cgroup"))
}

fn min_limit(proc: &Path, groups: &Path) -> Option<u64> {
    machine_memory(proc).into_iter().chain(cgroup_limits(proc, groups)).min()
}

fn machine_memory(proc: &Path) -> Option<u64> {
    let text = fs::read_to_string(proc.join("meminfo")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? / 1024)
}

/// Returns the limits of the control group and its ancestors. Inside a container the group itself
/// is the root, even if its path names the one outside.
fn cgroup_limits(proc: &Path, groups: &Path) -> impl Iterator<Item = u64> {
    let text = fs::read_to_string(proc.join("self/cgroup")).unwrap_or_default();
    let group = text.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default().to_owned();
    let own: Vec<_> = Path::new(&group).ancestors().map(|group| groups.join(group).join("memory.max")).collect();
    // Control groups v1.
    let v1 = groups.join("memory/memory.limit_in_bytes");
    own.into_iter().chain([v1]).filter_map(|file| {
        // `max` means no limit.
        let bytes: u64 = fs::read_to_string(file).ok()?.trim().parse().ok()?;
        Some(bytes >> 20)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_limit_counts() {
        let folder = tempfile::tempdir().unwrap();
        let (proc, groups) = (folder.path().join("proc"), folder.path().join("groups"));
        let write = |file: &Path, text: &str| {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        assert_eq!(min_limit(&proc, &groups), None);
        write(&proc.join("meminfo"), "MemFree:          1 kB\nMemTotal:        8388608 kB\n");
        assert_eq!(min_limit(&proc, &groups), Some(8192));
        // A service with a limit, in a slice with another.
        write(&proc.join("self/cgroup"), "0::/system.slice/chuhe-worker.service\n");
        write(&groups.join("system.slice/chuhe-worker.service/memory.max"), "max\n");
        assert_eq!(min_limit(&proc, &groups), Some(8192));
        write(&groups.join("system.slice/memory.max"), "4294967296\n");
        assert_eq!(min_limit(&proc, &groups), Some(4096));
        write(&groups.join("system.slice/chuhe-worker.service/memory.max"), "1073741824\n");
        assert_eq!(min_limit(&proc, &groups), Some(1024));
        // A container of 512 MiB.
        write(&proc.join("self/cgroup"), "0::/docker/0123\n");
        write(&groups.join("memory.max"), "536870912\n");
        assert_eq!(min_limit(&proc, &groups), Some(512));
        write(&groups.join("memory/memory.limit_in_bytes"), "268435456\n");
        assert_eq!(min_limit(&proc, &groups), Some(256));
    }
}
