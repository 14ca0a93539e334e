//! Window functions: over a partition, over the rows up to the current one, or over rows around it.

use polars::lazy::dsl::{max_horizontal, min_horizontal};
use polars::prelude::*;
use sqlparser::ast::{
    Expr as Ast, Function, NamedWindowExpr, OrderByExpr, WindowFrame, WindowFrameBound,
    WindowFrameUnits, WindowSpec, WindowType,
};

use super::aggregate::{Aggregate, is_aggregate};
use super::order::Order;
use super::planner::Planner;
use super::scope::{Context, is_name};
use super::syntax::{arguments, name_of, whole};
use super::value::{Value, checked, common, typed};
use crate::error::{Result, refused};

/// Maximum number of rows between the two offsets of a frame.
const WIDEST: i64 = 256;

/// Rows covered by a window function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    Partition,
    /// From the first row to the last peer of the current row.
    Peers,
    /// From the first row to the current row.
    Before,
    /// From the current row to the last.
    After,
    /// From one offset to another.
    Around(i64, i64),
}

/// A window over the rows of a context, sorted by partition and by the order within it.
struct Window<'w, 'r, 'c> {
    planner: &'w mut Planner<'r>,
    context: &'w mut Context<'c>,
    partition: Vec<Expr>,
    /// Row number.
    row: Expr,
    /// Number shared by peers only: rows of a partition with equal sort keys.
    peers: Expr,
    /// Whether a row is the first of its peers.
    is_first: Expr,
    frame: Frame,
}

impl<'r> Planner<'r> {
    pub(super) fn window(
        &mut self,
        function: &Function,
        over: &WindowType,
        ast: &Ast,
        context: &mut Context,
    ) -> Result<Value> {
        if let Some(clause) = context.without_windows {
            return Err(refused(format!(
                "{clause} cannot have the window function `{ast}`: write it in a subquery, or QUALIFY"
            )));
        }
        if function.null_treatment.is_some() {
            return Err(refused(format!(
                "`{ast}`: IGNORE NULLS and RESPECT NULLS are not supported"
            )));
        }
        let spec = specification(over, context)?;
        let frame = frame_of(spec.window_frame.as_ref(), !spec.order_by.is_empty(), ast)?;
        let name = name_of(function);
        let is_value =
            ["FIRST_VALUE", "LAST_VALUE", "LAG", "LEAD", "NTH_VALUE"].contains(&name.as_str());
        let is_of_rows = is_aggregate(&name);
        let aggregate =
            if is_of_rows { Some(self.aggregate(function, ast, context)?) } else { None };
        let mut values = Vec::new();
        let args = if is_of_rows { Vec::new() } else { arguments(function, ast)? };
        if is_value {
            for arg in &args {
                let value = self.expression(arg, context)?;
                values.push(self.as_column(value, context));
            }
        }
        let (mut window, index) = self.windowed(&spec, frame, context)?;
        let value = match aggregate {
            Some(aggregate) => window.aggregate(&aggregate, ast)?,
            None => window.function(&name, &args, &values, ast)?,
        };
        let value = self.as_column(value, context);
        // Restore the order before the window.
        context.rows.frame =
            context.rows.frame.clone().sort_by_exprs([index], SortMultipleOptions::default());
        Ok(value)
    }

    /// Sorts the rows for a window, and returns the column of their order before it.
    fn windowed<'w, 'c>(
        &'w mut self,
        spec: &WindowSpec,
        frame: Frame,
        context: &'w mut Context<'c>,
    ) -> Result<(Window<'w, 'r, 'c>, Expr)> {
        let mut partition = Vec::new();
        for key in &spec.partition_by {
            let value = self.expression(key, context)?;
            partition.push(self.as_column(value, context).expr);
        }
        if partition.is_empty() {
            partition.push(self.as_column(Value::new(typed(0i64), DataType::Int64), context).expr);
        }
        let (order, keys) = self.window_order(&spec.order_by, context)?;
        let [index, row, peers, is_first] = [(); 4].map(|()| self.fresh());
        let mut sorting = Order::default();
        for key in &partition {
            if let Expr::Column(id) = key {
                sorting.push(id.clone(), &Default::default());
            }
        }
        let indexed = context.rows.frame.clone().with_row_index(index.clone(), None);
        let by_order = order.sorted(indexed);
        // Two stable sorts: by the order, then by the partition.
        context.rows.frame = sorting.sorted(by_order);
        let number = col(index.clone()).cum_count(false).over(&partition)?.cast(DataType::Int64);
        context.add(number, &row);
        let differs = keys.iter().map(|key| key.clone().neq_missing(key.clone().shift(lit(1))));
        let first = differs.fold(col(row.clone()).eq(lit(1)), Expr::or);
        context.add(first, &is_first);
        context.add(col(is_first.clone()).cast(DataType::Int64).cum_sum(false), &peers);
        let window = Window {
            planner: self,
            context,
            partition,
            row: col(row),
            peers: col(peers),
            is_first: col(is_first),
            frame,
        };
        Ok((window, col(index)))
    }

    fn window_order(
        &mut self,
        keys: &[OrderByExpr],
        context: &mut Context,
    ) -> Result<(Order, Vec<Expr>)> {
        let (mut order, mut columns) = (Order::default(), Vec::new());
        for key in keys {
            let value = self.expression(&key.expr, context)?;
            let value = self.as_column(value, context);
            if let Expr::Column(id) = &value.expr {
                order.push(id.clone(), &key.options);
            }
            columns.push(value.expr);
        }
        Ok((order, columns))
    }
}

/// Resolves the window that OVER defines or names.
fn specification(over: &WindowType, context: &Context) -> Result<WindowSpec> {
    let named = |name: &sqlparser::ast::Ident| {
        let windows = context.windows.iter().find(|window| is_name(name, &window.0.value));
        match windows.map(|window| &window.1) {
            Some(NamedWindowExpr::WindowSpec(spec)) => Ok(spec.clone()),
            Some(NamedWindowExpr::NamedWindow(_)) => {
                Err(refused(format!("the window `{name}` is the name of another: name that one")))
            }
            None => Err(refused(format!(
                "there is no window `{name}`: define it as WINDOW {name} AS (…)"
            ))),
        }
    };
    match over {
        WindowType::NamedWindow(name) => named(name),
        WindowType::WindowSpec(spec) => {
            let Some(name) = &spec.window_name else { return Ok(spec.clone()) };
            let base = named(name)?;
            let mut spec = spec.clone();
            if !spec.partition_by.is_empty()
                || (!base.order_by.is_empty() && !spec.order_by.is_empty())
                || base.window_frame.is_some()
            {
                return Err(refused(format!(
                    "OVER ({name} …) repeats a part of the window `{name}`"
                )));
            }
            spec.partition_by = base.partition_by;
            if spec.order_by.is_empty() {
                spec.order_by = base.order_by;
            }
            Ok(spec)
        }
    }
}

fn frame_of(frame: Option<&WindowFrame>, is_ordered: bool, ast: &Ast) -> Result<Frame> {
    use WindowFrameBound::{CurrentRow, Following, Preceding};
    let Some(frame) = frame else {
        return Ok(if is_ordered { Frame::Peers } else { Frame::Partition });
    };
    let is_rows = frame.units == WindowFrameUnits::Rows;
    let end = frame.end_bound.as_ref().unwrap_or(&CurrentRow);
    let offset = |bound: &WindowFrameBound| match bound {
        CurrentRow => Some(0),
        Preceding(Some(rows)) => whole(rows).map(|rows| -rows),
        Following(Some(rows)) => whole(rows),
        Preceding(None) | Following(None) => None,
    };
    match (&frame.start_bound, end) {
        (Preceding(None), Following(None)) => Ok(Frame::Partition),
        (Preceding(None), CurrentRow) if is_rows => Ok(Frame::Before),
        (CurrentRow, Following(None)) if is_rows => Ok(Frame::After),
        (Preceding(None), CurrentRow) if is_ordered => Ok(Frame::Peers),
        (Preceding(None), CurrentRow) => Ok(Frame::Partition),
        (start, end) if is_rows => match (offset(start), offset(end)) {
            (Some(start), Some(end)) if start > end => {
                Err(refused(format!("`{ast}`: the frame ends before it begins")))
            }
            (Some(start), Some(end)) if end - start < WIDEST => Ok(Frame::Around(start, end)),
            (Some(_), Some(_)) => {
                Err(refused(format!("`{ast}`: a frame has at most {WIDEST} rows")))
            }
            _ => Err(refused(format!(
                "`{ast}`: a frame begins at UNBOUNDED PRECEDING and ends at CURRENT ROW, or has two numbers of rows"
            ))),
        },
        _ => Err(refused(format!(
            "`{ast}`: frames of RANGE and GROUPS with offsets are not supported: use ROWS"
        ))),
    }
}

impl Window<'_, '_, '_> {
    /// Evaluates an expression over a partition, as a column.
    fn over(&mut self, expr: Expr) -> Result<Expr> {
        let expr = expr.over(&self.partition)?;
        Ok(self.column(expr))
    }

    /// Evaluates an expression over the peers of a row, as a column.
    fn over_peers(&mut self, expr: Expr) -> Result<Expr> {
        let expr = expr.over([self.peers.clone()])?;
        Ok(self.column(expr))
    }

    /// Adds a column to the rows. Polars does not nest windows.
    fn column(&mut self, expr: Expr) -> Expr {
        let id = self.planner.fresh();
        self.context.add(expr, &id);
        col(id)
    }

    fn rows(&mut self) -> Result<Expr> {
        self.over(self.row.clone().last())
    }

    fn function(
        &mut self,
        name: &str,
        args: &[&Ast],
        values: &[Value],
        ast: &Ast,
    ) -> Result<Value> {
        let number = |expr: Expr| Ok(Value::new(expr.cast(DataType::Int64), DataType::Int64));
        let float = |expr: Expr| Ok(Value::new(expr, DataType::Float64));
        match (name, args.len()) {
            ("ROW_NUMBER", 0) => number(self.row.clone()),
            ("RANK", 0) => number(self.rank()?),
            ("DENSE_RANK", 0) => {
                number(self.over(self.is_first.clone().cast(DataType::Int64).cum_sum(false))?)
            }
            ("PERCENT_RANK", 0) => {
                let others = (self.rows()? - lit(1)).cast(DataType::Float64);
                let part = (self.rank()? - lit(1)).cast(DataType::Float64) / others.clone();
                float(when(others.gt(lit(0))).then(part).otherwise(lit(0.0)))
            }
            ("CUME_DIST", 0) => {
                let before = self.over_peers(self.row.clone().last())?.cast(DataType::Float64);
                float(before / self.rows()?.cast(DataType::Float64))
            }
            ("NTILE", 1) => {
                let parts = whole(args[0]).filter(|parts| *parts > 0);
                let parts = parts
                    .ok_or_else(|| refused(format!("`{ast}`: NTILE takes a number from 1 on")))?;
                let (rows, row) = (self.rows()?, self.row.clone() - lit(1));
                let small = rows.clone().floor_div(lit(parts));
                let larger = rows - small.clone() * lit(parts);
                let boundary = larger.clone() * (small.clone() + lit(1));
                let within = row.clone().floor_div(small.clone() + lit(1));
                let small = when(small.clone().gt(lit(0))).then(small).otherwise(lit(1));
                let beyond = larger + (row.clone() - boundary.clone()).floor_div(small);
                number(when(row.lt(boundary)).then(within).otherwise(beyond) + lit(1))
            }
            ("LAG" | "LEAD", 1..=3) => self.neighbour(name == "LEAD", args, values, ast),
            ("FIRST_VALUE", 1) => self.end_of_frame(&values[0], true, ast),
            ("LAST_VALUE", 1) => self.end_of_frame(&values[0], false, ast),
            _ => Err(refused(format!("`{ast}`: {name} is not supported over a window"))),
        }
    }

    fn neighbour(
        &mut self,
        is_after: bool,
        args: &[&Ast],
        values: &[Value],
        ast: &Ast,
    ) -> Result<Value> {
        let offset = args.get(1).map_or(Some(1), |ast| whole(ast));
        let offset =
            offset.ok_or_else(|| refused(format!("`{ast}`: give the distance as a number")))?;
        let offset = if is_after { -offset } else { offset };
        let dtype = values
            .get(2)
            .map_or(Some(values[0].dtype.clone()), |value| common(&value.dtype, &values[0].dtype));
        let dtype =
            dtype.ok_or_else(|| refused(format!("`{ast}`: the default is of another type")))?;
        let shifted = self.over(values[0].clone().to(&dtype).expr.shift(lit(offset)))?;
        let Some(default) = values.get(2) else { return Ok(Value::new(shifted, dtype)) };
        let source = self.row.clone() - lit(offset);
        let is_there = source.clone().gt_eq(lit(1)).and(source.lt_eq(self.rows()?));
        let expr = when(is_there).then(shifted).otherwise(default.clone().to(&dtype).expr);
        Ok(Value::new(expr, dtype))
    }

    fn end_of_frame(&mut self, value: &Value, is_first: bool, ast: &Ast) -> Result<Value> {
        let own = value.expr.clone();
        let expr = match (self.frame, is_first) {
            (Frame::Partition | Frame::Peers | Frame::Before, true) => self.over(own.first())?,
            (Frame::Partition | Frame::After, false) => self.over(own.last())?,
            (Frame::Peers, false) => self.over_peers(own.last())?,
            (Frame::Before, false) | (Frame::After, true) => own,
            (Frame::Around(..), _) => {
                return Err(refused(format!(
                    "`{ast}`: a frame of offsets is not supported here: use LAG or LEAD"
                )));
            }
        };
        Ok(Value::new(expr, value.dtype.clone()))
    }

    fn aggregate(&mut self, aggregate: &Aggregate, ast: &Ast) -> Result<Value> {
        if self.frame == Frame::Partition {
            let value = aggregate.value()?;
            if matches!(value.dtype, DataType::List(_)) {
                return Err(refused(format!("`{ast}`: lists over windows are not supported")));
            }
            return Ok(Value::new(self.over(value.expr)?, value.dtype));
        }
        if aggregate.is_distinct {
            return Err(refused(format!(
                "`{ast}`: DISTINCT is supported only over whole partitions: leave out ORDER BY"
            )));
        }
        let of = &aggregate.values[0];
        let count = self.sum(of.expr.clone().is_not_null().cast(DataType::Int64))?;
        let is_any = count.clone().gt(lit(0));
        let or_null = |expr: Expr| when(is_any.clone()).then(expr).otherwise(lit(NULL));
        match aggregate.name.as_str() {
            "COUNT" => Ok(Value::new(count, DataType::Int64)),
            "SUM" => {
                let sum = self.total(&aggregate.numbers()?)?;
                Ok(Value::new(or_null(sum.expr), sum.dtype))
            }
            "AVG" | "MEAN" => {
                let sum = self.total(&aggregate.numbers()?)?;
                let mean = sum.float() / count.cast(DataType::Float64);
                Ok(Value::new(or_null(mean), DataType::Float64))
            }
            "MIN" => Ok(Value::new(self.extreme(&of.expr, false)?, of.dtype.clone())),
            "MAX" => Ok(Value::new(self.extreme(&of.expr, true)?, of.dtype.clone())),
            name => Err(refused(format!(
                "`{ast}`: {name} is supported only over whole partitions: leave out ORDER BY and the frame"
            ))),
        }
    }

    /// Returns the first row among the peers of the current row.
    fn rank(&mut self) -> Result<Expr> {
        self.over_peers(self.row.clone().first())
    }

    /// Sums the numbers of the frame; 0 if there are none.
    fn total(&mut self, number: &Value) -> Result<Value> {
        let is_whole = number.is_integer();
        let dtype = if is_whole { DataType::Int64 } else { DataType::Float64 };
        let own = number.clone().to(&dtype).expr.fill_null(lit(0));
        if !is_whole {
            return Ok(Value::new(self.sum(own)?, dtype));
        }
        let approximate = self.sum(own.clone().cast(DataType::Float64))?;
        Ok(Value::new(checked(self.sum(own)?, approximate), dtype))
    }

    /// Sums a column without nulls over the frame.
    fn sum(&mut self, own: Expr) -> Result<Expr> {
        match self.frame {
            Frame::Around(start, end) => {
                let mut sums = Vec::new();
                for offset in start..=end {
                    sums.push(self.over(own.clone().shift(lit(-offset)))?.fill_null(lit(0)));
                }
                Ok(paired(sums, |left, right| left + right).unwrap_or(own * lit(0)))
            }
            Frame::After => self.over(own.cum_sum(true)),
            Frame::Peers => {
                let running = self.over(own.cum_sum(false))?;
                self.over_peers(running.last())
            }
            Frame::Before | Frame::Partition => self.over(own.cum_sum(false)),
        }
    }

    fn extreme(&mut self, own: &Expr, greatest: bool) -> Result<Expr> {
        let running = |reverse: bool| match greatest {
            true => own.clone().cum_max(reverse),
            false => own.clone().cum_min(reverse),
        };
        // The running extreme is null where the value is.
        let filled = |reverse: bool| {
            let strategy = if reverse {
                FillNullStrategy::Backward(None)
            } else {
                FillNullStrategy::Forward(None)
            };
            running(reverse).fill_null_with_strategy(strategy)
        };
        match self.frame {
            Frame::Around(start, end) => {
                let mut values = Vec::new();
                for offset in start..=end {
                    values.push(self.over(own.clone().shift(lit(-offset)))?);
                }
                Ok(if greatest { max_horizontal(values)? } else { min_horizontal(values)? })
            }
            Frame::After => self.over(filled(true)),
            Frame::Peers => {
                let running = self.over(filled(false))?;
                self.over_peers(running.last())
            }
            Frame::Before | Frame::Partition => self.over(filled(false)),
        }
    }
}

/// Joins terms into a tree of minimal height.
fn paired(mut terms: Vec<Expr>, join: fn(Expr, Expr) -> Expr) -> Option<Expr> {
    while terms.len() > 1 {
        let pairs = terms.chunks(2).map(|pair| match pair {
            [left, right] => join(left.clone(), right.clone()),
            pair => pair[0].clone(),
        });
        terms = pairs.collect();
    }
    terms.pop()
}
