//! The meaning of configuration files, and the messages about their mistakes.

use super::*;

#[track_caller]
fn message(text: &str) -> String {
    Config::parse(text, Path::new("/etc/isotach.yaml")).unwrap_err().to_string()
}

fn parse(text: &str) -> Config {
    Config::parse(text, Path::new("/etc/isotach.yaml")).unwrap()
}

fn dataset(text: &str) -> isotach_mars::Key {
    text.parse().unwrap()
}

#[test]
fn spaces_come_in_order_with_patterns_and_pools() {
    let config = parse(
        "schema: |\n  [ class, expver [ type [ step ]]]\nspaces:\n  - name: operations\n    match: {class: od|rd, expver: 0001}\n    \
         catalogue: posix:/fast\n    store: posix:/big?sync=no\n  - pool: posix:data/fields\n",
    );
    let [operations, rest] = &config.spaces[..] else { panic!("{:?}", config.spaces) };
    assert!(operations.pattern.matches(&dataset("class=rd,expver=0001")));
    assert!(!operations.pattern.matches(&dataset("class=rd,expver=0002")));
    assert_eq!(operations.catalogue.to_string(), "posix:/fast");
    assert_eq!(operations.store.to_string(), "posix:/big?sync=no");
    assert_eq!((rest.name.as_str(), rest.pattern.to_string().as_str()), ("default", "*"));
    assert!(config.schema.unwrap().starts_with("[ class"));
}

#[test]
fn relative_paths_are_relative_to_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("isotach.yaml");
    fs::write(folder.path().join("schema.txt"), "[ a [ b [ c ]]]").unwrap();
    fs::write(&file, "schema: schema.txt\nspaces:\n  - pool: posix:here\n").unwrap();
    let config = Config::read(&file).unwrap();
    assert_eq!(config.schema.as_deref(), Some("[ a [ b [ c ]]]"));
    assert_eq!(config.spaces[0].store.path(), folder.path().join("here").to_str().unwrap());
}

#[test]
fn each_mistake_is_named_with_its_place_and_what_was_expected() {
    for (text, expected) in [
        (
            "spaces:\n  - pool: posix:/a\nshema: x\n",
            ":3:1: unknown field `shema`: expected `schema` or `spaces`",
        ),
        ("schema: x\n", ":1:1: expected the key `spaces`"),
        ("spaces:\n  - name: a\n", ":2:3: spaces: a space: expected either pool, or catalogue and store"),
        ("spaces:\n  - pool: nonsense\n", ":2:5: spaces[0]: store \"nonsense\": expected a URI such as"),
        (
            "forecasts",
            ":1:1: invalid type: string \"forecasts\": expected a mapping with spaces, and perhaps schema",
        ),
        (
            "spaces:\n  - pool: posix:/a\n    match: {class: \"(\"}\n",
            "pattern \"class=(\": expected a regular expression",
        ),
        ("spaces: 3\n", ":1:9: spaces: invalid type: integer `3`: expected a sequence"),
        ("spaces: []\n", ":1:1: spaces: expected at least one space"),
        (
            "spaces:\n  - {name: a, pool: posix:/a}\n  - {name: a, pool: posix:/b}\n",
            "two spaces named \"a\": expected each name once",
        ),
        (
            "spaces:\n  - pool: posix:/a\n    match: {class: od, class: rd}\n",
            ":3:12: spaces[0].match: the key \"class\" twice: expected each key once",
        ),
        ("spaces:\n  - pool: posix:/a\n    pool: posix:/b\n", "duplicate field `pool`"),
        ("schema: none\nspaces: [{pool: 'posix:/a'}]\n", ":1:9: schema /etc/none: No such file"),
        ("schema: '[ a [ b ]]'\nspaces: [{pool: 'posix:/a'}]\n", ":1:1: schema: line 1, column "),
        (
            "schema: \"# none\\n\"\nspaces: [{pool: 'posix:/a'}]\n",
            ":1:1: a schema of 0 rules can take no field: expected at least one rule",
        ),
        (
            "schema: '[ class [ b [ c ]]]'\nspaces: [{pool: 'posix:/a', match: {klass: rd}}]\n",
            ":2:37: match: key \"klass\": expected a dataset key of the schema: class",
        ),
        ("spaces:\n  - pool: memory:\n", "in YAML it needs quotes, as \"memory:\""),
        ("- 1\n", "expected a mapping with spaces"),
        ("spaces: [1]\n", "expected a mapping with pool, or with catalogue and store"),
        ("spaces: [[1]]\n", "expected "),
        ("type: [1]\nspaces: []\n", "expected "),
        ("spaces: [\n", "expected YAML, but"),
        ("", "expected"),
    ] {
        let said = message(text);
        assert!(said.starts_with("/etc/isotach.yaml:") && said.contains(expected), "{text:?}: {said}");
        // The names of our types mean nothing to who wrote the file.
        assert!(!["struct ", "enum ", "tuple "].iter().any(|word| said.contains(word)), "{text:?}: {said}");
    }
}

#[test]
fn a_missing_file_is_named() {
    let error = Config::read(Path::new("/no/such/isotach.yaml")).unwrap_err();
    assert_eq!(error.to_string(), "file /no/such/isotach.yaml does not exist");
    assert_eq!(error.code(), "not-found");
}
