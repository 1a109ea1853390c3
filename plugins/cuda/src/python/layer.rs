//! Layers of `torch.nn` as a source of parameters and numbers: what they compute is PyTorch's own, and is not run.

use std::cell::RefCell;
use std::collections::BTreeMap;

use ruff_text_size::TextRange;

use super::attribute::name_below;
use super::call::CallArguments;
use super::run::Run;
use super::value::Value;
use crate::limits::PYTHON_ENTRIES_MAX;
use crate::verdict::Stop;

#[derive(Debug)]
pub(super) struct Layer {
    /// `Conv2d` of `torch.nn.Conv2d`.
    pub(super) kind: String,
    pub(super) arguments: BTreeMap<String, Value>,
    /// The name of the attribute that holds it; parameters are found below it.
    pub(super) name: RefCell<String>,
    /// The layers of a `Sequential` or a `ModuleList`.
    pub(super) children: RefCell<Vec<Value>>,
}

/// The parameters of constructors in their order, with the numbers that stand for those that are left out.
fn signature(kind: &str) -> &'static [(&'static str, Option<Value>)] {
    const NEEDED: Option<Value> = None;
    const ZERO: Option<Value> = Some(Value::Int(0));
    const ONE: Option<Value> = Some(Value::Int(1));
    const YES: Option<Value> = Some(Value::Bool(true));
    const NO: Option<Value> = Some(Value::Bool(false));
    const EPS: Option<Value> = Some(Value::Real(1e-5));
    match kind {
        "Linear" => &[("in_features", NEEDED), ("out_features", NEEDED), ("bias", YES)],
        "Conv1d" | "Conv2d" | "Conv3d" => &[
            ("in_channels", NEEDED),
            ("out_channels", NEEDED),
            ("kernel_size", NEEDED),
            ("stride", ONE),
            ("padding", ZERO),
            ("dilation", ONE),
            ("groups", ONE),
            ("bias", YES),
        ],
        "ConvTranspose1d" | "ConvTranspose2d" | "ConvTranspose3d" => &[
            ("in_channels", NEEDED),
            ("out_channels", NEEDED),
            ("kernel_size", NEEDED),
            ("stride", ONE),
            ("padding", ZERO),
            ("output_padding", ZERO),
            ("groups", ONE),
            ("bias", YES),
            ("dilation", ONE),
        ],
        "BatchNorm1d" | "BatchNorm2d" | "BatchNorm3d" => {
            &[("num_features", NEEDED), ("eps", EPS), ("momentum", Some(Value::Real(0.1)))]
        }
        "InstanceNorm1d" | "InstanceNorm2d" | "InstanceNorm3d" => &[
            ("num_features", NEEDED),
            ("eps", EPS),
            ("momentum", Some(Value::Real(0.1))),
            ("affine", NO),
        ],
        "GroupNorm" => {
            &[("num_groups", NEEDED), ("num_channels", NEEDED), ("eps", EPS), ("affine", YES)]
        }
        "LayerNorm" => &[("normalized_shape", NEEDED), ("eps", EPS)],
        "MaxPool1d" | "MaxPool2d" | "MaxPool3d" => {
            &[("kernel_size", NEEDED), ("stride", NEEDED), ("padding", ZERO), ("dilation", ONE)]
        }
        "AvgPool1d" | "AvgPool2d" | "AvgPool3d" => {
            &[("kernel_size", NEEDED), ("stride", NEEDED), ("padding", ZERO)]
        }
        "LeakyReLU" => &[("negative_slope", Some(Value::Real(0.01)))],
        "Embedding" => &[("num_embeddings", NEEDED), ("embedding_dim", NEEDED)],
        "Dropout" => &[("p", Some(Value::Real(0.5)))],
        "Softmax" | "LogSoftmax" => &[("dim", NEEDED)],
        _ => &[],
    }
}

fn has_parameters(kind: &str) -> bool {
    const KINDS: [&str; 14] = [
        "Linear",
        "Conv",
        "BatchNorm",
        "InstanceNorm",
        "GroupNorm",
        "LayerNorm",
        "RMSNorm",
        "Embedding",
        "PReLU",
        "Bilinear",
        "RNN",
        "LSTM",
        "GRU",
        "MultiheadAttention",
    ];
    KINDS.iter().any(|one| kind.starts_with(one))
}

/// How many numbers an attribute such as `stride` has: PyTorch repeats a single one.
fn dimensions(kind: &str) -> Option<usize> {
    let has_window = kind.starts_with("Conv");
    has_window.then(|| kind.chars().find_map(|letter| letter.to_digit(10)).unwrap_or(1) as usize)
}

impl Layer {
    pub(super) fn new(kind: &str, arguments: Vec<Value>, named: Vec<(String, Value)>) -> Self {
        let children = match (kind, &arguments[..]) {
            ("ModuleList", [list]) => list.sequence().unwrap_or_default(),
            ("Sequential", layers) => layers.to_vec(),
            _ => Vec::new(),
        };
        for (number, child) in children.iter().enumerate() {
            name_below(child, &number.to_string(), 0);
        }
        let signature = signature(kind);
        let mut found = BTreeMap::new();
        for (name, value) in signature {
            if let Some(value) = value {
                found.insert((*name).to_owned(), value.clone());
            }
        }
        for ((name, _), value) in signature.iter().zip(arguments) {
            found.insert((*name).to_owned(), value);
        }
        found.extend(named);
        if let Some(count) = dimensions(kind) {
            for name in ["kernel_size", "stride", "padding", "dilation", "output_padding"] {
                if let Some(Value::Int(one)) = found.get(name) {
                    let repeated = vec![Value::Int(*one); count];
                    found.insert(name.to_owned(), Value::list(repeated));
                }
            }
        }
        Self {
            kind: kind.to_owned(),
            arguments: found,
            name: RefCell::default(),
            children: children.into(),
        }
    }

    /// Whether it is a list of layers, which computes nothing by being asked for one.
    pub(super) fn holds_others(&self) -> bool {
        matches!(&*self.kind, "Sequential" | "ModuleList")
    }

    /// `self.conv.weight` and `self.conv.stride`.
    pub(super) fn attribute(&self, name: &str) -> Option<Value> {
        // `bias` is a flag when it is given and a parameter when it is asked for.
        let is_parameter = matches!(name, "weight" | "bias" | "in_proj_weight" | "in_proj_bias")
            || name.starts_with("weight_")
            || name.starts_with("bias_");
        if !is_parameter || !has_parameters(&self.kind) {
            return self.arguments.get(name).cloned();
        }
        let off = |flag: &str| self.arguments.get(flag).and_then(Value::truth) == Some(false);
        if (name == "bias" && off("bias")) || off("affine") || off("elementwise_affine") {
            return Some(Value::None);
        }
        Some(Value::Parameter(format!("{}.{name}", self.name.borrow()).into()))
    }
}

impl Run<'_> {
    pub(super) fn layer_method(
        &mut self,
        layer: &Layer,
        name: &str,
        taken: &CallArguments,
        range: TextRange,
    ) -> Result<Value, Stop> {
        let place = layer.children.borrow().len();
        match (name, &taken.values[..]) {
            ("append", [child @ (Value::Layer(_) | Value::Object(_))])
                if place < PYTHON_ENTRIES_MAX =>
            {
                // Nothing is borrowed meanwhile: a list of layers may be put into itself.
                let below = layer.name.borrow().clone();
                let begin = if below.is_empty() { "" } else { "." };
                name_below(child, &format!("{below}{begin}{place}"), 0);
                layer.children.borrow_mut().push(child.clone());
                Ok(Value::None)
            }
            _ => Err(self.unknown_call(range)),
        }
    }
}
