//! Launch files: plans in TOML.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::argument::{Argument, is_name};
use crate::buffer::BufferSpec;
use crate::element::Element;
use crate::error::CaptureError;
use crate::expectation::Expectation;
use crate::fill::Fill;
use crate::number::Number;
use crate::plan::{Dimensions, Plan, PlannedBuffer, PlannedLaunch};
use crate::texture::TextureSpec;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LaunchFile {
    module: PathBuf,
    #[serde(default = "first_seed")]
    seed: u64,
    #[serde(default)]
    buffers: BTreeMap<String, Buffer>,
    #[serde(default)]
    textures: BTreeMap<String, TextureSpec>,
    launches: Vec<Launch>,
}

fn first_seed() -> u64 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Buffer {
    #[serde(rename = "type")]
    element: Option<String>,
    shape: Option<Shape>,
    fill: Option<FillValue>,
    file: Option<PathBuf>,
    output: Option<PathBuf>,
    expect: Option<PathBuf>,
    #[serde(default)]
    absolute: f64,
    #[serde(default)]
    relative: f64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Shape {
    Elements(u64),
    Sizes(Vec<u64>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum FillValue {
    Whole(i64),
    Real(f64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Launch {
    kernel: String,
    grid: Sizes,
    block: Sizes,
    cluster: Option<Sizes>,
    #[serde(default)]
    shared: u32,
    #[serde(default)]
    arguments: Vec<Value>,
    #[serde(default = "once")]
    repeat: u32,
}

fn once() -> u32 {
    1
}

/// Most launches of a file, repeats included: each is planned before the first one starts.
const MAX_LAUNCHES: usize = 1 << 20;

#[derive(Deserialize)]
#[serde(untagged)]
enum Sizes {
    X(u32),
    Several(Vec<u32>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Whole(i64),
    Real(f64),
    Text(String),
    Members(Vec<Value>),
}

impl Plan {
    /// Reads a launch file.
    ///
    /// # Errors
    /// When it cannot be read or is invalid.
    pub fn read(path: &Path) -> Result<Plan, CaptureError> {
        let failed = |source| CaptureError::File { action: "read", path: path.to_owned(), source };
        let text = warpmem_support::files::text::read(path).map_err(failed)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        parse(&text, folder)
            .map_err(|what| CaptureError::LaunchFile { path: path.to_owned(), what })
    }

    /// Parses the text of a launch file; its files are relative to `folder`.
    ///
    /// # Errors
    /// When it is invalid; the message names the place and the reason.
    pub fn parse(text: &str, folder: PathBuf) -> Result<Plan, String> {
        parse(text, folder)
    }
}

/// Builds the plan; file names are relative to `folder`.
pub(crate) fn parse(text: &str, folder: PathBuf) -> Result<Plan, String> {
    let file: LaunchFile = toml::from_str(text).map_err(|error| error.to_string())?;
    let buffers = file.buffers.into_iter().map(|(name, buffer)| planned(name, buffer));
    let buffers = buffers.collect::<Result<Vec<_>, _>>()?;
    let mut launches = Vec::new();
    for (at, launch) in file.launches.into_iter().enumerate() {
        let repeat = launch.repeat as usize;
        if repeat > MAX_LAUNCHES - launches.len() {
            return Err(format!(
                "launches[{at}].repeat: {repeat} is too large: expected at most {MAX_LAUNCHES} launches in all"
            ));
        }
        let launch = launch_of(launch).map_err(|what| format!("launches[{at}]: {what}"))?;
        launches.extend(std::iter::repeat_n(launch, repeat));
    }
    let (module, seed) = (folder.join(file.module), file.seed);
    let textures = file.textures.into_iter().collect();
    Ok(Plan { module, folder, seed, buffers, textures, launches })
}

fn planned(name: String, buffer: Buffer) -> Result<PlannedBuffer, String> {
    let refused = |what: String| format!("buffers.{name}: {what}");
    if !is_name(&name) {
        return Err(refused("a name consists of letters, digits and _".into()));
    }
    let spec = spec(&buffer).map_err(refused)?;
    let Buffer { output, expect, absolute, relative, .. } = buffer;
    for (key, tolerance) in [("absolute", absolute), ("relative", relative)] {
        if tolerance.is_nan() || tolerance < 0.0 {
            return Err(format!("buffers.{name}.{key}: {tolerance} is not a tolerance"));
        }
    }
    let expectation = expect.map(|file| Expectation { file, absolute, relative });
    Ok(PlannedBuffer { name, spec, output, expectation })
}

fn spec(buffer: &Buffer) -> Result<BufferSpec, String> {
    let element = match &buffer.element {
        None => None,
        Some(name) => Some(
            Element::named(name)
                .ok_or_else(|| format!("type: `{name}` is none; valid: {}", Element::names()))?,
        ),
    };
    let shape = match &buffer.shape {
        None => Vec::new(),
        Some(Shape::Elements(count)) => vec![*count],
        Some(Shape::Sizes(sizes)) => sizes.clone(),
    };
    if shape.contains(&0) {
        return Err(format!("shape: {shape:?} has no elements"));
    }
    let fill = match (&buffer.fill, &buffer.file, element) {
        (Some(_), Some(_), _) => return Err("`fill` and `file` exclude each other".into()),
        (None, Some(file), _) => {
            return Ok(BufferSpec { element, shape, fill: Fill::File(file.clone()) });
        }
        (_, None, None) => return Err("it needs a `type` or a `file`".into()),
        (None, None, _) => Fill::Constant(Number::Whole(0)),
        (Some(FillValue::Whole(whole)), None, _) => Fill::Constant(Number::Whole((*whole).into())),
        (Some(FillValue::Real(real)), None, _) => Fill::Constant(Number::Real(*real)),
        (Some(FillValue::Text(text)), None, Some(element)) => {
            Fill::parse(text, element).map_err(|what| format!("fill: {what}"))?
        }
    };
    match shape.is_empty() {
        true => Err("it needs a `shape`".into()),
        false => Ok(BufferSpec { element, shape, fill }),
    }
}

fn launch_of(launch: Launch) -> Result<PlannedLaunch, String> {
    let arguments = (0..).zip(launch.arguments).map(|(at, value): (usize, _)| {
        argument(value).map_err(|what| format!("arguments[{at}]: {what}"))
    });
    Ok(PlannedLaunch {
        arguments: arguments.collect::<Result<_, _>>()?,
        grid: dimensions(launch.grid).map_err(|what| format!("grid: {what}"))?,
        block: dimensions(launch.block).map_err(|what| format!("block: {what}"))?,
        cluster: (launch.cluster.map(dimensions).transpose())
            .map_err(|what| format!("cluster: {what}"))?,
        kernel: launch.kernel,
        shared: launch.shared,
    })
}

fn argument(value: Value) -> Result<Argument, String> {
    match value {
        Value::Whole(whole) => Ok(Argument::Number(Number::Whole(whole.into()))),
        Value::Real(real) => Ok(Argument::Number(Number::Real(real))),
        Value::Text(text) => Argument::parse(&text),
        Value::Members(members) => {
            members.into_iter().map(argument).collect::<Result<_, _>>().map(Argument::Struct)
        }
    }
}

fn dimensions(sizes: Sizes) -> Result<Dimensions, String> {
    let given = match sizes {
        Sizes::X(x) => vec![x],
        Sizes::Several(sizes) => sizes,
    };
    let mut dimensions = [1; 3];
    if given.is_empty() || given.len() > 3 || given.contains(&0) {
        return Err(format!("expected one to three positive sizes, found {given:?}"));
    }
    dimensions[..given.len()].copy_from_slice(&given);
    Ok(Dimensions(dimensions))
}
