//! Empty: the manifest enables features of dependencies.
