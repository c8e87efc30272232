//! The providers of models, each through a server that stands in for it and speaks as it does.
