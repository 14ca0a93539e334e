mod control_flow;
mod registry;
