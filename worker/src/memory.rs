//! How much memory there is for this process.

use std::{fs, path::Path};

/// As much as the machine has, or the group of processes may have that this one is in (a container, a service), if the
/// system says so; in mebibytes.
pub(crate) fn total_mebibytes() -> Option<u64> {
    least(Path::new("/proc"), Path::new("/sys/fs/cgroup"))
}

fn least(proc: &Path, groups: &Path) -> Option<u64> {
    of_machine(proc).into_iter().chain(of_groups(proc, groups)).min()
}

fn of_machine(proc: &Path) -> Option<u64> {
    let text = fs::read_to_string(proc.join("meminfo")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? / 1024)
}

/// The bounds of the group and of all around it. A container sees its own group as the outermost one, also where its name
/// is that which it has outside.
fn of_groups(proc: &Path, groups: &Path) -> impl Iterator<Item = u64> {
    let text = fs::read_to_string(proc.join("self/cgroup")).unwrap_or_default();
    let group = text.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default().to_owned();
    let own: Vec<_> = Path::new(&group).ancestors().map(|group| groups.join(group).join("memory.max")).collect();
    // As it was called before there was one tree of groups.
    let older = groups.join("memory/memory.limit_in_bytes");
    own.into_iter().chain([older]).filter_map(|file| {
        // It says `max` where there is no bound.
        let bytes: u64 = fs::read_to_string(file).ok()?.trim().parse().ok()?;
        Some(bytes >> 20)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_bound_counts() {
        let folder = tempfile::tempdir().unwrap();
        let (proc, groups) = (folder.path().join("proc"), folder.path().join("groups"));
        let write = |file: &Path, text: &str| {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        assert_eq!(least(&proc, &groups), None);
        write(&proc.join("meminfo"), "MemFree:          1 kB\nMemTotal:        8388608 kB\n");
        assert_eq!(least(&proc, &groups), Some(8192));
        // A service with a bound, in a slice with another.
        write(&proc.join("self/cgroup"), "0::/system.slice/chuhe-worker.service\n");
        write(&groups.join("system.slice/chuhe-worker.service/memory.max"), "max\n");
        assert_eq!(least(&proc, &groups), Some(8192));
        write(&groups.join("system.slice/memory.max"), "4294967296\n");
        assert_eq!(least(&proc, &groups), Some(4096));
        write(&groups.join("system.slice/chuhe-worker.service/memory.max"), "1073741824\n");
        assert_eq!(least(&proc, &groups), Some(1024));
        // A container of 512 MiB.
        write(&proc.join("self/cgroup"), "0::/docker/0123\n");
        write(&groups.join("memory.max"), "536870912\n");
        assert_eq!(least(&proc, &groups), Some(512));
        write(&groups.join("memory/memory.limit_in_bytes"), "268435456\n");
        assert_eq!(least(&proc, &groups), Some(256));
    }
}
