//! Detection of battery power.

use std::{fs, path::Path};

/// Linux's folder of power supplies.
pub const SUPPLIES_FOLDER: &str = "/sys/class/power_supply";

/// Returns whether the machine's own battery discharges and no supply is plugged in. Batteries of
/// devices such as mice are ignored. Without these files the machine counts as plugged in.
#[must_use]
pub(crate) fn is_on_battery(supplies: &Path) -> bool {
    let Ok(entries) = fs::read_dir(supplies) else { return false };
    let (mut discharging, mut plugged) = (false, false);
    for entry in entries.flatten() {
        let read = |name: &str| fs::read_to_string(entry.path().join(name)).unwrap_or_default().trim().to_owned();
        match read("type").as_str() {
            "Battery" => discharging |= read("scope") != "Device" && read("status") == "Discharging",
            "Mains" | "USB" | "Wireless" => plugged |= read("online") == "1",
            _ => {}
        }
    }
    discharging && !plugged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_on_battery_if_its_own_battery_discharges() {
        let folder = tempfile::tempdir().unwrap();
        let supply = |name: &str, fields: &[(&str, &str)]| {
            let supply = folder.path().join(name);
            fs::create_dir_all(&supply).unwrap();
            for (field, value) in fields {
                fs::write(supply.join(field), format!("{value}\n")).unwrap();
            }
        };
        assert!(!is_on_battery(&folder.path().join("nowhere")));
        supply("mouse", &[("type", "Battery"), ("scope", "Device"), ("status", "Discharging")]);
        assert!(!is_on_battery(folder.path()));
        supply("BAT0", &[("type", "Battery"), ("status", "Discharging")]);
        supply("AC", &[("type", "Mains"), ("online", "0")]);
        assert!(is_on_battery(folder.path()));
        supply("AC", &[("online", "1")]);
        assert!(!is_on_battery(folder.path()));
        supply("AC", &[("online", "0")]);
        supply("BAT0", &[("status", "Full")]);
        assert!(!is_on_battery(folder.path()));
    }
}
