//! Networks of routers, flit by flit.

pub(super) mod layout;
