//! Dataframes over the tables that Warpmem runs leave.
