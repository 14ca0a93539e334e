//! Reads parts of the syntax tree: function names, arguments, and literals.

use sqlparser::ast::{
    Expr as Ast, Function, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator,
    Value as Literal,
};

use crate::error::{Result, refused};

/// Returns the name of a function in upper case.
pub(super) fn name_of(function: &Function) -> String {
    function.name.to_string().to_ascii_uppercase()
}

/// Returns the arguments of a function call that has no clauses.
pub(super) fn arguments<'a>(function: &'a Function, ast: &Ast) -> Result<Vec<&'a Ast>> {
    let refuse = || refused(format!("`{ast}` is not supported in this form"));
    let list = match &function.args {
        FunctionArguments::None => return Ok(Vec::new()),
        FunctionArguments::List(list) => list,
        FunctionArguments::Subquery(_) => return Err(refuse()),
    };
    let is_plain = list.duplicate_treatment.is_none()
        && list.clauses.is_empty()
        && function.filter.is_none()
        && function.null_treatment.is_none()
        && function.within_group.is_empty()
        && matches!(function.parameters, FunctionArguments::None);
    if !is_plain {
        return Err(refuse());
    }
    let arg = |arg: &'a FunctionArg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(ast)) => Ok(ast),
        _ => Err(refuse()),
    };
    list.args.iter().map(arg).collect()
}

/// Parses an expression as a whole number.
pub(super) fn whole(ast: &Ast) -> Option<i64> {
    match ast {
        Ast::Value(value) => match &value.value {
            Literal::Number(text, _) => text.parse().ok(),
            _ => None,
        },
        Ast::UnaryOp { op: UnaryOperator::Minus, expr } => Some(-whole(expr)?),
        Ast::Nested(inner) => whole(inner),
        _ => None,
    }
}

/// Returns the text of a literal.
pub(super) fn text_of(ast: &Ast) -> Option<String> {
    match ast {
        Ast::Value(value) => text_of_literal(&value.value),
        Ast::Nested(inner) => text_of(inner),
        _ => None,
    }
}

pub(super) fn text_of_literal(value: &Literal) -> Option<String> {
    match value {
        Literal::SingleQuotedString(text) | Literal::EscapedStringLiteral(text) => {
            Some(text.clone())
        }
        Literal::DollarQuotedString(text) => Some(text.value.clone()),
        _ => None,
    }
}

/// Converts the position `text`, counted from 1, to an index.
pub(super) fn position(text: &str, columns: usize, clause: &str) -> Result<usize> {
    match text.parse::<usize>() {
        Ok(position) if (1..=columns).contains(&position) => Ok(position - 1),
        _ => Err(refused(format!("{clause} {text}: the answer has columns 1 to {columns}"))),
    }
}
