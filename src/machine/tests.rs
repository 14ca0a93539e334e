use super::*;

fn preset(name: &str) -> Machine {
    load(name, &[]).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn every_preset_is_valid_and_survives_a_round_trip() {
    for name in preset_names() {
        let machine = preset(name);
        assert_eq!(machine.name, name);
        let again: Machine = toml::from_str(&machine.to_toml()).unwrap();
        assert_eq!(machine, again);
    }
}
