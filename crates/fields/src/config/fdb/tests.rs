//! The conversion of FDB's configuration files: every key is honoured, noted or refused.

use super::*;
use crate::{Action, Config, Spread};
use isotach_mars::Key;

fn parsed(text: &str) -> Result<Config> {
    Config::parse(text, Path::new("/etc/fdb.yaml"))
}

fn parse(text: &str) -> Config {
    parsed(text).unwrap()
}

fn message(text: &str) -> String {
    parsed(text).unwrap_err().to_string()
}

fn dataset(text: &str) -> Key {
    text.parse().unwrap()
}

fn forbidden(config: &Config, space: usize) -> Vec<&'static str> {
    config.spaces[space].forbidden.iter().map(Action::name).collect()
}

/// The number of the space that takes a dataset first.
fn place(config: &Config, key: &str) -> Option<usize> {
    config.spaces.iter().position(|space| space.pattern.matches(&dataset(key)))
}

#[test]
fn each_root_of_a_local_fdb_is_a_space_of_its_own() {
    let config = parse(
        "---\ntype: local\nengine: toc\nspaces:\n- handler: Default\n  regex: \"od:.*\"\n  roots:\n  - path: /old/\n    \
         writable: false\n  - path: /data/./fields\n    list: true\n- roots: [{path: /rest}]\n",
    );
    let pools: Vec<String> = config.spaces.iter().map(|space| space.store.to_string()).collect();
    assert_eq!(pools, ["posix:/old", "posix:/data/fields", "posix:/rest"]);
    assert_eq!(config.spaces.iter().map(|space| space.group).collect::<Vec<_>>(), [0, 0, 1]);
    assert_eq!(place(&config, "class=od,expver=0001"), Some(0));
    assert_eq!(place(&config, "class=rd,expver=0001"), Some(2));
}

#[test]
fn every_switch_of_a_root_forbids_what_it_says() {
    for (switches, expected) in [
        ("list: false", &["list"][..]),
        ("retrieve: false", &["retrieve"]),
        ("archive: false", &["archive"]),
        ("wipe: false", &["wipe"]),
        ("visit: false", &["retrieve", "list"]),
        ("writable: false", &["archive", "wipe"]),
        ("writable: false, wipe: true", &["archive"]),
        ("visit: no, list: yes", &["retrieve"]),
        ("archive: off, wipe: 0, list: \"False\"", &["list", "archive", "wipe"]),
        ("writable: true, visit: on", &[]),
    ] {
        let config = parse(&format!("spaces: [{{roots: [{{path: /a, {switches}}}]}}]"));
        assert_eq!(forbidden(&config, 0), expected, "{switches}");
    }
    let said = message("spaces:\n- roots:\n  - path: /a\n    wipe: never\n");
    assert!(said.starts_with("/etc/fdb.yaml:") && said.contains("expected true or false"), "{said}");
}

#[test]
fn a_switch_above_the_roots_holds_for_all_of_them() {
    for (top, space, expected) in [
        ("wipe: false", "name: x", &["wipe"][..]),
        ("writable: false", "list: false", &["list", "archive", "wipe"]),
        ("visitable: false", "name: x", &["retrieve", "list"]),
        ("visit: false", "name: x", &["retrieve", "list"]),
        ("archive: true", "writable: false", &["archive", "wipe"]),
    ] {
        let config = parse(&format!("{{{top}, spaces: [{{{space}, roots: [{{path: /a, wipe: true}}]}}]}}"));
        assert_eq!(forbidden(&config, 0), expected, "{top} {space}");
    }
    let lane =
        parse("{type: select, fdbs: [{select: class=od, wipe: false, spaces: [{roots: [{path: /a}]}]}]}");
    assert_eq!(
        lane.spaces[0].forbidden.reason(Action::Wipe).unwrap(),
        "`wipe: false` of fdbs[0] in /etc/fdb.yaml"
    );
}

#[test]
fn a_lane_takes_what_it_selects_and_no_other_lane_does() {
    let config = parse(
        "type: select\nfdbs:\n- select: class=od,expver=0...\n  excludes: ['stream=enfo,expver=0002']\n  spaces: [{roots: \
         [{path: /od}]}]\n- select: class=od|rd\n  type: local\n  spaces:\n  - regex: 'rd:.*'\n    roots: [{path: \
         /rd}]\n- spaces: [{roots: [{path: /rest}]}]\n",
    );
    for (key, expected) in [
        ("class=od,expver=0001,stream=oper", Some(0)),
        ("class=od,expver=0002,stream=enfo", None),
        ("class=od,expver=0003,stream=enfo", Some(0)),
        ("class=rd,expver=x001,stream=oper", Some(1)),
        ("class=od,expver=x001,stream=oper", None),
        ("class=ea,expver=x001,stream=oper", Some(2)),
        ("expver=0001", Some(2)),
    ] {
        assert_eq!(place(&config, key), expected, "{key}");
    }
}

#[test]
fn lanes_within_lanes_take_what_all_of_them_select() {
    let config = parse(
        "type: select\nfdbs:\n- select: class=od\n  type: select\n  fdbs:\n  - select: stream=oper\n    spaces: [{roots: \
         [{path: /a}]}]\n  - spaces: [{roots: [{path: /b}]}]\n",
    );
    assert_eq!(place(&config, "class=od,stream=oper"), Some(0));
    assert_eq!(place(&config, "class=od,stream=enfo"), Some(1));
    assert_eq!(place(&config, "class=rd,stream=oper"), None);
}

#[test]
fn a_handler_is_honoured_or_refused_by_name() {
    let of = |handler: &str| {
        parsed(&format!("spaces: [{{handler: {handler}, roots: [{{path: /a}}, {{path: /b}}]}}]"))
    };
    for (handler, expected) in [
        ("Default", Spread::First),
        ("First", Spread::First),
        ("expver", Spread::Expvers),
        ("RoundRobin", Spread::Datasets),
        ("Random", Spread::Datasets),
        ("PureRandom", Spread::Datasets),
    ] {
        assert_eq!(of(handler).unwrap().spaces[1].spread, expected, "{handler}");
    }
    for handler in
        ["LeastUsed", "LeastUsedPercent", "WeightedRandom", "WeightedRandomPercent", "envvar", "default"]
    {
        let said = of(handler).unwrap_err().to_string();
        assert!(said.contains(&format!("spaces[0].handler {handler}: expected ")), "{said}");
    }
    let one = parse("spaces: [{handler: LeastUsed, roots: [{path: /a, archive: false}, {path: /b}]}]");
    assert_eq!(one.spaces[0].spread, Spread::First, "there is nothing to choose");
}

#[test]
fn a_catalogue_and_a_store_may_have_roots_of_their_own() {
    let config =
        parse("spaces: [{catalogueRoots: [{path: /fast}], storeRoots: [{path: /big, retrieve: false}]}]");
    let space = &config.spaces[0];
    assert_eq!(
        (space.catalogue.to_string(), space.store.to_string()),
        ("posix:/fast".into(), "posix:/big".into())
    );
    assert_eq!(forbidden(&config, 0), ["retrieve"]);
    for (roots, expected) in [
        ("catalogueRoots: [{path: /a}]", "spaces[0].storeRoots: expected exactly one root"),
        ("roots: [{path: /a}], storeRoots: [{path: /a}]", "spaces[0].storeRoots: expected either roots"),
        ("name: x", "spaces[0].roots: expected either roots"),
        ("roots: []", "spaces[0].roots: expected at least one root"),
        ("marsDisks: true", "spaces[0].marsDisks: expected roots"),
    ] {
        let said = message(&format!("type: local\nspaces: [{{{roots}}}]"));
        assert!(said.contains(expected), "{roots}: {said}");
    }
}

#[test]
fn what_is_fdbs_own_layout_is_noted_and_has_no_effect() {
    let config = parse(
        "type: catalogue\nuseSubToc: true\ntocSerialisationVersion: 3\nserverPort: 7000\npermissions: 0644\nspaces: [{roots: \
         [{path: /a}]}]",
    );
    let noted: Vec<&str> = config.notes.iter().filter_map(|note| note.split(' ').nth(1)).collect();
    assert_eq!(noted, ["type", "permissions", "useSubToc", "tocSerialisationVersion", "serverPort"]);
    assert!(config.notes[2].starts_with("/etc/fdb.yaml: useSubToc has no effect: "), "{:?}", config.notes);
}

#[test]
fn what_cannot_be_honoured_is_refused_by_name_and_place() {
    for (text, expected) in [
        (
            "type: remote\nhost: x\nport: 1\n",
            "/etc/fdb.yaml:1:1: type remote: expected local or select: there is no",
        ),
        ("type: random\nfdbs: []\n", "type random: expected local or select: a dataset must be found"),
        ("type: dist\nspaces: []\n", "type dist: expected local or select"),
        ("type: local\nengine: daos\nspaces: []\n", ":2:1: engine daos: expected toc; for another engine"),
        ("type: local\nstore: remote\nspaces: []\n", ":2:1: store remote: expected file"),
        ("type: local\nstores: []\nspaces: []\n", ":2:1: stores: expected no servers"),
        ("type: local\npermissions: 0600\nspaces: []\n", ":2:1: permissions 0600: expected no such key"),
        ("type: select\n", "expected the key `fdbs`"),
        ("type: local\n", "expected the key `spaces`"),
        ("type: select\nspaces: []\n", ":2:1: spaces: expected fdbs"),
        ("type: local\nfdbs: []\n", ":2:1: fdbs: expected type: select"),
        ("type: select\nfdbs: [{type: remote, host: x}]\n", "fdbs[0].type remote: expected local or select"),
        (
            "type: select\nfdbs: [{select: class, spaces: []}]\n",
            "fdbs[0].select pattern \"class\": expected name=",
        ),
        ("type: local\nspaces: [{roots: [{path: /a, writeable: false}]}]", "unknown field `writeable`"),
        ("type: local\nwipeable: false\nspaces: []", "unknown field `wipeable`"),
    ] {
        let said = message(text);
        assert!(said.starts_with("/etc/fdb.yaml") && said.contains(expected), "{text:?}: {said}");
    }
}

#[test]
fn paths_are_taken_as_fdb_takes_them() {
    let config = parse("fdb_home: /opt/fdb\nspaces: [{roots: [{path: ~fdb/data}, {path: root}]}]");
    assert_eq!(config.spaces[0].store.to_string(), "posix:/opt/fdb/data");
    let here = std::env::current_dir().unwrap();
    assert_eq!(config.spaces[1].store.to_string(), format!("posix:{}/root", here.display()));
    let said = message("schema: no-such-schema\nspaces: [{roots: [{path: /a}]}]");
    let expected = format!(
        "/etc/fdb.yaml:1:1: schema no-such-schema: expected {}/no-such-schema, for FDB takes a relative path from the \
         working folder",
        here.display()
    );
    assert_eq!(said, expected);
    assert!(
        message("spaces: [{roots: [{path: ~nobody/x}]}]").contains("expected NOBODY_HOME in the environment")
    );
}

#[test]
fn lanes_share_one_schema() {
    let lanes = |first: &str, second: &str| {
        format!(
            "type: select\nschema: '[ class [ type [ step ]]]'\nfdbs:\n- select: class=od\n  {first}\n  spaces: [{{roots: [{{path: \
             /a}}]}}]\n- {second}\n  spaces: [{{roots: [{{path: /b}}]}}]\n"
        )
    };
    let own = "schema: '[ class [ type [ number ]]]'";
    assert!(parse(&lanes("type: local", "type: local")).schema.unwrap().contains("step"));
    assert!(message(&lanes("type: local", own)).contains("schema: expected one schema for all lanes"));
    assert!(message(&lanes("type: local", "select: klass=x")).contains("key \"klass\""));
}

#[test]
fn a_root_stands_once_in_a_space_for_its_switches_to_count() {
    let said = message("spaces: [{roots: [{path: /a}, {path: /a/, wipe: false}]}]");
    assert!(said.contains("spaces[0].path /a/: expected each root once in a space"), "{said}");
    // In another space it may stand again: the first one that takes a dataset rules it.
    parse("spaces: [{regex: \"od:.*\", roots: [{path: /a}]}, {roots: [{path: /a, wipe: false}]}]");
}

#[test]
fn a_wrong_value_is_reported_with_its_file_and_key() {
    for (text, told) in [
        ("spaces: [{regex: '([', roots: [{path: /a}]}]", "/etc/fdb.yaml:1:11: spaces[0].regex pattern"),
        ("spaces: [{roots: [{path: ''}]}]", "spaces[0].path an empty path: expected the path of a folder"),
    ] {
        let said = message(text);
        assert!(said.contains(told), "{said}");
    }
}
