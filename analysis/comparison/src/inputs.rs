//! The inputs of a run apart from its name and its policies.

use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// Columns of `runs` that identify the inputs of a run.
pub(crate) const INPUTS: [&str; 3] = ["trace_hash", PARAMETERS, "engine_version"];
/// Column of the machine parameters, a JSON object with dotted names.
pub(crate) const PARAMETERS: &str = "parameters";

/// Values of [`INPUTS`].
pub(crate) type Inputs = [Option<String>; INPUTS.len()];

/// Removes the policies, which are compared, from the parameters.
pub(crate) fn without_policies([trace, parameters, engine]: Inputs) -> Result<Inputs> {
    let machine = |text: String| match parse_parameters(&text) {
        Some(mut parameters) => {
            parameters.retain(|key, _| !key.starts_with("policy."));
            Ok(Value::from(parameters).to_string())
        }
        None => Err(Error::Parameters { column: PARAMETERS.to_owned(), text }),
    };
    Ok([trace, parameters.map(machine).transpose()?, engine])
}

pub(crate) fn parse_parameters(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}
