//! Machines: read, changed, checked, written.

use crate::error::{Error, OrRaise};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};
use std::path::Path;
use warpmem::machine::{self, flatten};

/// A machine, and its overridden parameters.
#[pyclass(frozen, module = "warpmem")]
#[derive(Clone)]
pub struct Machine {
    pub machine: machine::Machine,
    /// Name or file.
    pub origin: String,
    /// Overrides, `key=value` each.
    pub overrides: Vec<String>,
}

/// A parameter: key, value, unit, valid values, meaning.
type Key = (String, Py<PyAny>, &'static str, String, String);

#[pymethods]
impl Machine {
    #[new]
    fn new(name_or_file: String, overrides: Vec<String>) -> PyResult<Machine> {
        let machine = machine::load(&name_or_file, &overrides).or_raise()?;
        Ok(Machine { machine, origin: name_or_file, overrides })
    }

    /// Returns this machine with additional overrides.
    fn changed(&self, overrides: Vec<String>) -> PyResult<Machine> {
        let changed = self.machine.clone().with_overrides(&overrides, Path::new(""));
        let (machine, origin) = (changed.or_raise()?, self.origin.clone());
        let overrides = [self.overrides.clone(), overrides].concat();
        Ok(Machine { machine, origin, overrides })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.machine.name
    }

    #[getter]
    fn description(&self) -> &str {
        &self.machine.description
    }

    #[getter]
    fn overrides(&self) -> Vec<String> {
        self.overrides.clone()
    }

    fn get(&self, py: Python<'_>, key: &str) -> PyResult<Py<PyAny>> {
        match flatten(&self.machine).iter().find(|(name, _)| name == key) {
            Some((_, value)) => python(py, value),
            None => {
                // Same text as for setting an unknown key.
                let unknown = self.changed(vec![format!("{key}=0")]).err();
                Err(unknown.unwrap_or_else(|| Error::new_err(format!("`{key}` is no parameter"))))
            }
        }
    }

    /// Returns every parameter, in the order of the documentation.
    fn keys(&self, py: Python<'_>) -> PyResult<Vec<Key>> {
        let values = flatten(&self.machine);
        let described = machine::Machine::keys().into_iter();
        let keys = described.filter_map(|key| {
            let (_, value) = values.iter().find(|(name, _)| *name == key.path)?;
            let (valid, meaning) = (key.param.kind.expected(), key.meaning());
            Some(python(py, value).map(|value| (key.path, value, key.param.unit, valid, meaning)))
        });
        keys.collect()
    }

    fn to_toml(&self) -> String {
        self.machine.to_toml()
    }

    /// Returns a sentence for each clock that changed without the times counted in its cycles.
    fn clock_warnings(&self) -> Vec<String> {
        self.machine.clock_warnings()
    }

    /// Compares machines regardless of how DRAM timings were specified.
    fn __eq__(&self, other: &Machine) -> bool {
        let mut other = other.machine.clone();
        other.dram.given.clone_from(&self.machine.dram.given);
        self.machine == other
    }
}

fn python(py: Python<'_>, value: &toml::Value) -> PyResult<Py<PyAny>> {
    Ok(match value {
        toml::Value::Boolean(value) => PyBool::new(py, *value).to_owned().into_any().unbind(),
        toml::Value::Integer(value) => PyInt::new(py, *value).into_any().unbind(),
        toml::Value::Float(value) => PyFloat::new(py, *value).into_any().unbind(),
        toml::Value::String(value) => PyString::new(py, value).into_any().unbind(),
        toml::Value::Array(items) => {
            let items = items.iter().map(|item| python(py, item));
            items.collect::<PyResult<Vec<_>>>()?.into_pyobject(py)?.into_any().unbind()
        }
        other => PyString::new(py, &other.to_string()).into_any().unbind(),
    })
}
