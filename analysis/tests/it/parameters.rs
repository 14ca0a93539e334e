use crate::common::{floats, strings};
use polars::df;
use polars::prelude::*;
use warpmem_analysis::{Error, RunsError, parameters};

fn columns(frame: LazyFrame) -> DataFrame {
    parameters(frame).unwrap().collect().unwrap()
}

#[test]
fn varying_overrides_become_typed_columns() {
    let runs = df!(
        "overrides" => [Some("a.count=2; a.name=x; a.same=1"), Some("a.on=true;a.rate=0.5"), None],
        "parameters" => [
            r#"{"a.count":2,"a.name":"x","a.on":false,"a.rate":1,"a.same":1,"other":1}"#,
            r#"{"a.count":1,"a.name":"m","a.on":true,"a.rate":0.5,"a.same":1,"other":2}"#,
            r#"{"a.count":1,"a.name":"m","a.on":false,"a.rate":1,"a.same":1,"other":3}"#,
        ],
    );
    let frame = columns(runs.unwrap().lazy());
    let names = ["overrides", "parameters", "a.count", "a.name", "a.on", "a.rate"];
    assert_eq!(frame.get_column_names(), names);
    let count: Vec<_> = frame.column("a.count").unwrap().i64().unwrap().iter().collect();
    assert_eq!(count, [2, 1, 1].map(Some));
    assert_eq!(strings(&frame, "a.name"), ["x", "m", "m"]);
    let on: Vec<_> = frame.column("a.on").unwrap().bool().unwrap().iter().collect();
    assert_eq!(on, [false, true, false].map(Some));
    assert_eq!(floats(&frame, "a.rate"), [1.0, 0.5, 1.0].map(Some));
}

#[test]
fn without_a_parameters_column_the_overrides_are_used() {
    let frame = columns(df!("overrides" => ["q=32", ""]).unwrap().lazy());
    let queue: Vec<_> = frame.column("q").unwrap().i64().unwrap().iter().collect();
    assert_eq!(queue, [Some(32), None]);
    let none = df!("trace" => ["t"]).unwrap();
    assert!(columns(none.clone().lazy()).equals(&none));
}

#[test]
fn malformed_parameters_are_refused() {
    for (column, text) in [("overrides", "q"), ("parameters", "{")] {
        let error = parameters(df!(column => [text]).unwrap().lazy()).err().unwrap();
        assert!(
            matches!(&error, Error::Runs(RunsError::Parameters { column: c, .. }) if c == column),
            "{error}"
        );
    }
}
