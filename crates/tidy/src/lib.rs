//! The house rules as tests: what no compiler lint can say of this repository is checked here.
